"""Fuzzing of what reads files: data sets, model files, checkpoints of streams.

``make slow`` runs it for ten minutes in all; ``HOMI_FUZZ_SECONDS`` sets another time,
``HOMI_FUZZ_SEED`` the seed. Coverage guides it where atheris is installed. A finding is
an exception that is no ValueError, more than 300 MB of memory, or more than 10 seconds.
"""

import contextlib
import gzip
import io
import json
import os
import random
import subprocess
import sys
import time
import warnings
import zipfile
from pathlib import Path

import pytest

SECONDS = float(os.environ.get("HOMI_FUZZ_SECONDS", "600"))
SEED = int(os.environ.get("HOMI_FUZZ_SEED", random.randrange(2**31)))
MAGIC = b"\x93NUMPY"


class DataSets:
    """Bytes of a file; the first one says of which format."""

    def __init__(self, directory):
        from test_read_malformed import FILES, outcome

        self.kinds = [*FILES.values()]
        self.directory, self.outcome = directory, outcome

    def seeds(self):
        for number, (suffix, data, _) in enumerate(self.kinds):
            data = arrays_of(data) if suffix == ".npz" else data
            yield bytes([number]) + data

    def __call__(self, data):
        suffix, _, labels = self.kinds[data[0] % len(self.kinds)]
        data = archive_of(data[1:]) if suffix == ".npz" else data[1:]
        self.outcome(self.directory, suffix, data, labels)
        if suffix.count(".") == 1:
            packed = gzip.compress(data)
            self.outcome(self.directory, f"{suffix}.gz", packed, labels)


class ModelFiles:
    """A header with the tensors of a kind of model, or a whole file, sealed anew."""

    def __init__(self, directory):
        self.path, self.tensors = directory / "model.homi", []

    def seeds(self):
        from homi.io import save
        from sample_files import opened
        from test_model_file_hostile import KINDS, Y

        for number, (model, rows) in enumerate(KINDS.values()):
            save(model.fit(rows, Y), self.path)
            header, tensors = opened(self.path)
            self.tensors.append(tensors)
            yield bytes([number]) + json.dumps(header).encode()
        yield bytes([len(KINDS)]) + self.path.read_bytes()

    def __call__(self, data):
        from homi.io import ModelFileError, load_model
        from sample_files import opened, put_together

        kind = data[0] % (len(self.tensors) + 1)
        self.path.write_bytes(data[1:])
        with contextlib.suppress(Exception):  # what cannot be sealed stays as it is
            if kind < len(self.tensors):
                put_together(self.path, data[1:].decode(), self.tensors[kind])
            else:
                put_together(self.path, *opened(self.path))
        with contextlib.suppress(ModelFileError):
            load_model(self.path)


class Checkpoints:
    """Arrays of a checkpoint, one after the other."""

    def __init__(self, directory):
        self.path = directory / "checkpoint.npz"

    def seeds(self):
        import homi
        from conftest import random_rows

        homi.fit_stream(random_rows(n=40, m=5, q=3), checkpoint=self.path)
        yield arrays_of(self.path.read_bytes())

    def __call__(self, data):
        from homi.streams.checkpoint import load

        self.path.write_bytes(archive_of(data))
        with contextlib.suppress(ValueError):
            load(self.path, {})


TARGETS = {"data": DataSets, "model": ModelFiles, "checkpoint": Checkpoints}


def arrays_of(data):
    """The members of an archive: name, zero byte, array."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        return b"".join(n.encode() + b"\0" + archive.read(n) for n in names)


def archive_of(data):
    """An archive of such members, whatever they hold, with the right checksums."""
    buffer = io.BytesIO()
    start, *rest = data.split(b"\0" + MAGIC)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in rest:
            name = start[-40:].rpartition(b"\n")[2]
            name = name[name.rfind(b"\0") + 1 :].decode("latin-1") or "X.npy"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a name twice
                archive.writestr(name, MAGIC + part)
            start = part
    return buffer.getvalue()


def checked(target):
    """The target with limits to its time and memory."""
    from test_budget import memory  # imports homi, which is instrumented by now

    base = memory("VmHWM")

    def run(data):
        started = time.process_time()
        target(data or b"\0")
        assert time.process_time() - started < 10, "took more than 10 s"
        assert memory("VmHWM") - base < 300e6, "took more than 300 MB"

    return run


ODD = [None, True, [], {}, -1, 0, 2**70, 1e308, "", "x" * 5000, "HOMI", [[[]]] * 9]
ODD += [
    {"tuple": [1]},
    {"float": "inf"},
    {"dict": {}},
    {"set": ["a"]},
    {"type": "float64"},
]
ODD += [{"array": {"dtype": "str", "shape": [2], "values": ["a", "b"]}}, {"array": {}}]


def edited(text, rng):
    """JSON with one value replaced, taken out, or put where another was."""
    header = json.loads(text)
    places = [(header, key) for key in header]
    for place, key in places:
        below = place[key]
        keys = range(len(below)) if isinstance(below, list) else below
        places += [(below, k) for k in keys] if isinstance(below, list | dict) else []
    (place, key), (other, name) = rng.choice(places), rng.choice(places)
    value = rng.choice([*ODD, other[name]])
    if rng.random() < 0.2:
        del place[key]
    else:
        place[key] = json.loads(json.dumps(value))
    return json.dumps(header).encode()


def mutated(data, rng):
    from test_read_malformed import MUTATIONS

    if data.startswith(b"{") and rng.random() < 0.8:
        with contextlib.suppress(ValueError, IndexError, RecursionError):
            return edited(data, rng)
    for _ in range(rng.choice([1, 1, 2, 4])):
        data = rng.choice(MUTATIONS)(data or b"\n", rng)
    return data


def fuzz(name, seconds, seed, directory):
    """Run until the time is over, or to the first finding, which is left in a file."""
    target = TARGETS[name](directory)
    seeds = [*target.seeds()]
    for data in seeds:
        target(data)
    run = checked(target)
    if atheris is not None:
        return guided(run, seeds, seconds, seed, directory)
    rng, end = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        data = rng.choice(seeds)
        data = data[:1] + mutated(data[1:], rng)
        (directory / "crash").write_bytes(data)
        run(data)


def guided(run, seeds, seconds, seed, directory):
    corpus = directory / "corpus"
    corpus.mkdir()
    for number, data in enumerate(seeds):
        (corpus / str(number)).write_bytes(data)

    def mutate(data, max_size, number):
        rng = random.Random(number)
        if rng.random() < 0.5:
            return atheris.Mutate(data, max_size)
        return data[:1] + mutated(data[1:], rng)[: max_size - 1]

    options = [f"-max_total_time={seconds:.0f}", f"-seed={seed or 1}", "-max_len=65536"]
    options += [f"-artifact_prefix={directory}/", "-timeout=30", "-rss_limit_mb=4096"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], run, custom_mutator=mutate)
    atheris.Fuzz()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks need /proc")
@pytest.mark.parametrize("name", TARGETS)
def test_fuzz(name, tmp_path, capsys):
    with capsys.disabled():
        print(f"\nfuzzing {name}: HOMI_FUZZ_SEED={SEED}, {SECONDS / 3:.0f} s")
    command = [sys.executable, __file__, name, SECONDS / len(TARGETS), SEED, tmp_path]
    found = subprocess.run([*map(str, command)], capture_output=True, text=True)
    said = found.stderr[-4000:]
    assert found.returncode == 0, f"{[*tmp_path.glob('*crash*')]}, seed {SEED}:\n{said}"


if __name__ == "__main__":
    try:
        import atheris

        instrumented = atheris.instrument_imports(["homi", "arff"])
    except ImportError:
        atheris, instrumented = None, contextlib.nullcontext()
    with instrumented:
        import homi.datasets
        import homi.datasets.tables
        import homi.io
        import homi.streams.checkpoint  # noqa: F401
    warnings.simplefilter("error")
    kind, duration, start, place = sys.argv[1:]
    fuzz(kind, float(duration), int(start), Path(place))
