"""Fits in processes of their own, that tests kill or measure."""

import multiprocessing
import resource
import sys
import time
from multiprocessing import forkserver

import numpy as np

from homi import HOMI, fit_stream
from homi.model import batches

# Forked from a server that has imported everything: a kill costs no new import, and
# no thread pool of the tests is inherited.
CONTEXT = multiprocessing.get_context("forkserver")
IMPORTED = [
    "pytest",
    "dask.dataframe",
    "distributed",
    "homi.estimators",
    "homi.streams",
]


#: Bytes in which the peak of memory is told.
UNIT = 1 if sys.platform == "darwin" else 1024


def serve():
    """Start the server, if it does not run; Dask forks its workers from it, too."""
    CONTEXT.set_forkserver_preload(IMPORTED)
    forkserver.ensure_running()


def slow_batches(told):
    for i in range(30):
        rng = np.random.default_rng(i)
        X = rng.normal(size=(200, 30))
        told.send(i)
        time.sleep(0.005)
        yield X, (X[:, :9] + rng.normal(size=(200, 9)) > 1).astype(int)


def read(told):
    """A reader: it sends the batches that another process learns from."""
    for batch in slow_batches(told):
        told.send(batch)


def from_reader(readers):
    """Batches of a reader of their own, which is told of; EOFError if it dies."""
    process, told = start(read)
    readers.append(process)
    try:
        for _ in range(30):
            told.recv()
            yield told.recv()
    finally:
        told.close()
        process.kill()
        process.join()


def fit(checkpoint, target, told):
    model = fit_stream(
        lambda: slow_batches(told),
        small_model(),
        checkpoint=checkpoint,
        every=0,
    )
    np.save(target, model.coef_)


def fit_homicv(model, paths, checkpoint, sample, told):
    """A fit of HOMICV with a small sample; it tells its stages."""
    batches.SAMPLE_ROWS = sample
    fit_stream(
        paths,
        model,
        batch_size=50,
        checkpoint=checkpoint,
        every=0,
        progress=lambda progress: told.send(progress.stage),
    )


def shared(checkpoint, target, told):
    """A fit among others with the same checkpoint; it tells its error, if any."""
    try:
        fit(checkpoint, target, _Silent())
    except Exception as error:
        told.send(repr(error))
    else:
        told.send("")


class _Silent:
    def send(self, message):
        pass


def small_model():
    return HOMI(graph="anchors", random_state=0)


def many_batches(count):
    for i in range(count):
        X = np.random.default_rng(i).normal(size=(1000, 20))
        yield X, (X[:, :5] > 0).astype(np.int8)


def peak(count, told):
    """Tell by how many bytes a fit makes the peak of memory grow, after a first fit."""
    peaks = []
    for n_batches in (2, count):
        fit_stream(lambda n=n_batches: many_batches(n), small_model())
        peaks.append(UNIT * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    told.send(peaks[1] - peaks[0])


def start(target, *args):
    """A process, and the end of the pipe that it talks into."""
    serve()
    ours, theirs = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=target, args=(*args, theirs))
    process.start()
    theirs.close()
    return process, ours
