"""How much memory there is, and what is refused before it is taken."""

import subprocess
import sys

import pytest

from homi import memory

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="what a process has taken is told by Linux only"
)


def test_a_container_counts_and_what_it_does_not_say_does_not(tmp_path, monkeypatch):
    limit, taken = tmp_path / "max", tmp_path / "current"
    monkeypatch.setattr(memory, "_CONTAINERS", ((limit, taken),))
    free = memory.available()
    limit.write_text("max\n")
    assert memory.available() == pytest.approx(free, rel=0.2)
    limit.write_text("5000000\n")
    taken.write_text("3000000\n")
    assert memory.available() == 2_000_000


def test_how_many_labels_would_fit_is_said(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 8 * 100**2)
    memory.check_labels(lambda q: 8 * q**2, 100, "a model")
    with pytest.raises(MemoryError, match=r"with 101 labels.*about 100 labels would"):
        memory.check_labels(lambda q: 8 * q**2, 101, "a model")
    with pytest.raises(MemoryError, match="not even one label"):
        memory.check_labels(lambda q: 10**6, 101, "a model")


MANY_LABELS = """
import numpy as np
from scipy import sparse
from homi import estimators, memory
print(memory.available())
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 20))
Y = sparse.random_array((300, 20_000), density=1e-3, random_state=rng, format="csr") > 0
for name in ("HOMI", "HOMICV", "CLML", "GLOCAL", "LFLC", "MLLRC", "MLSF", "WRAP"):
    try:
        getattr(estimators, name)().fit(X, Y)
    except MemoryError as error:
        assert str(error).startswith(f"{name} with 20,000 labels needs about ")
        assert "labels would fit" in str(error)
        print(name)
"""


@linux
def test_too_many_labels_for_a_limited_process_are_refused_before_the_fit():
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))\n"
    command = [sys.executable, "-c", limit + MANY_LABELS]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    free, *refused = found.stdout.split()
    assert 2**30 < int(free) < 2**32
    assert len(refused) == 8
