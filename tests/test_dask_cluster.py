"""HOMI on real worker processes: the same model, also when workers are killed."""

import os
import random
import signal
import threading
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from conftest import random_rows
from homi import HOMI, HOMICV
from homi.model import batches
from test_dask import assert_same_model

dd = pytest.importorskip("dask.dataframe", reason="needs pandas and pyarrow")
distributed = pytest.importorskip("distributed", reason="no extra dask")

GRAPHS = [
    {"gamma": 0},
    {"graph": "exact"},
    {"graph": "anchors", "random_state": 3},
]
N, BLOCK = 1200, 150


@pytest.fixture(scope="module")
def client():
    """Two workers of one thread each, on loopback."""
    if os.name == "posix":
        import stream_worker

        stream_worker.serve()
    with (
        dask.config.set(
            {
                # A killed process is called for so long; half a minute otherwise.
                "distributed.comm.timeouts.connect": "5s",
                # A worker that starts again is given up after so long; if it is killed
                # twice, 15 seconds can be over while it starts.
                "distributed.deploy.lost-worker-timeout": "1h",
            }
        ),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def slowly(block, directory, seconds):
    """The block, with a file for each time that it is made."""
    if len(block):
        time.sleep(seconds)
        name = f"{os.getpid()}-{time.monotonic_ns()}"
        (Path(directory) / name).touch()
    return block


def collections(directory=None, seconds=0.02):
    X, Y = random_rows(n=N)
    dX = da.from_array(X, chunks=(BLOCK, -1))
    dY = da.from_array(Y, chunks=(BLOCK, -1))
    if directory is not None:
        dX = dX.map_blocks(slowly, str(directory), seconds, meta=X[:0])
    return dX, dY


@pytest.mark.parametrize("parameters", GRAPHS, ids=str)
def test_processes_give_the_model_of_one_machine(client, parameters):
    alone = HOMI(**parameters).fit(*random_rows(n=N))
    assert_same_model(HOMI(**parameters).fit(*collections()), alone)


def test_predictions_are_made_by_the_workers(client):
    X, Y = random_rows(n=N)
    model = HOMI(gamma=0).fit(X, Y)
    labels = model.predict(client.persist(collections()[0]))
    np.testing.assert_array_equal(labels.compute(), model.predict(X))


def test_homicv_gives_the_model_of_one_machine(client, monkeypatch):
    monkeypatch.setattr(batches, "SAMPLE_ROWS", 300)
    X, Y = (pd.DataFrame(A) for A in random_rows(n=N))
    X, Y = X.add_prefix("feature "), Y.add_prefix("label ")
    model = HOMICV(trees=False, n_components=40, widths=[1.0])
    alone = clone(model).fit(X, Y)
    rows = dd.from_pandas(X, npartitions=5)
    model.fit(rows, dd.from_pandas(Y, npartitions=5))
    assert model.best_params_ == alone.best_params_
    np.testing.assert_allclose(
        model.decision_function(rows).compute(), alone.decision_function(X), atol=1e-8
    )


def test_persisted_blocks(client):
    parameters = {"graph": "anchors", "random_state": 0}
    dX, dY = client.persist(collections())
    alone = HOMI(**parameters).fit(*random_rows(n=N))
    assert_same_model(HOMI(**parameters).fit(dX, dY), alone)


def test_a_bad_block_is_named_through_the_cluster(client):
    X, _ = random_rows(n=N)
    X[777, 0] = np.inf
    dX = da.from_array(X, chunks=(BLOCK, -1))
    with pytest.raises(ValueError, match=r"^block 6, row 28 of it \(row 778 of all\)"):
        HOMI().fit(dX, collections()[1])


def killed_while(fit, client, directory, counts):
    """The result of ``fit``; a worker is killed each time so many blocks were made."""
    killed = []

    def kill():
        for count in counts:
            while len(os.listdir(directory)) < count and not done.is_set():
                time.sleep(0.005)
            if done.is_set():
                return
            # The one that made the last block, so that it is in the middle of work.
            newest = max(os.listdir(directory), key=lambda x: int(x.split("-")[1]))
            pid = int(newest.split("-")[0])
            if pid in workers(client):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    done = threading.Event()
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        result = fit()
    finally:
        done.set()
        killer.join()
    return result, killed


def workers(client):
    """Processes of the test's own cluster."""
    return {nanny.pid for nanny in client.cluster.workers.values()}


def test_a_killed_worker_changes_nothing(client, tmp_path):
    """With an exact graph, which compares pairs of blocks; the slow test has all."""
    parameters = {"graph": "exact"}
    whole = HOMI(**parameters).fit(*collections())
    blocks = collections(tmp_path)
    fit = HOMI(**parameters).fit
    model, killed = killed_while(lambda: fit(*blocks), client, tmp_path, [3])
    assert len(killed) == 1
    assert_same_model(model, whole, gap=1e-10)


@pytest.mark.slow
def test_twenty_killed_workers_change_nothing(client, tmp_path):
    moments, n_killed, turn = random.Random(0), 0, 0
    whole = [HOMI(**parameters).fit(*collections()) for parameters in GRAPHS]
    while n_killed < 20:
        parameters = GRAPHS[turn % len(GRAPHS)]
        directory = tmp_path / str(turn)
        directory.mkdir()
        blocks = collections(directory, 0.05)
        counts = sorted(moments.sample(range(1, N // BLOCK), 2))
        fit = HOMI(**parameters).fit
        model, killed = killed_while(lambda: fit(*blocks), client, directory, counts)  # noqa: B023
        assert_same_model(model, whole[turn % len(GRAPHS)], gap=1e-10)
        n_killed, turn = n_killed + len(killed), turn + 1


def sent(client):
    """Bytes that all workers have sent, to each other and to the client."""
    counts = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(counts.values())


def made(n_blocks, n_rows, m=40, q=10):
    """Rows that the workers make, and labels made of them."""

    def rows(block_info=None):
        number = block_info[None]["chunk-location"][0]
        return np.random.default_rng(number).normal(size=(n_rows, m))

    chunks = ((n_rows,) * n_blocks, (m,))
    X = da.map_blocks(rows, chunks=chunks, meta=np.empty((0, 0)))
    Y = X.map_blocks(lambda x: (x[:, :q] > 0).astype(int), chunks=(chunks[0], (q,)))
    return X, Y


def test_bytes_moved_do_not_depend_on_rows(client):
    """Per block they are those of its moments, for any number of rows in it."""
    m, q = 40, 10
    moments = 8 * (m * m + m * q + q * q + m + q)
    per_block = []
    for n_blocks, n_rows in ((16, 250), (16, 4000), (32, 2000)):
        before = sent(client)
        HOMI(gamma=0).fit(*made(n_blocks, n_rows, m, q))
        per_block.append((sent(client) - before) / n_blocks)
    # Sums of blocks are moved as well. The rows of a block have up to 1.6 MB. How many
    # are moved is up to the scheduler: on a busy machine one worker may do nearly all.
    assert max(per_block) > 0
    assert max(per_block) < 1.2 * moments
