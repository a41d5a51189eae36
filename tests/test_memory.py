"""Memory and time: how much there is, what is refused, what a fit will cost."""

import subprocess
import sys

import numpy as np
import pytest

from homi import memory
from homi.model.cost import Rates, Size, measure_rates, plan

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


# The cost model: what it must say whatever the machine is.


RATES = Rates(product=4e10, sigmoid=5e-9, city_block=5e-10)


def test_rates_are_those_of_a_machine():
    product, sigmoid, city_block = measure_rates()
    assert 1e8 < product < 1e14
    assert 1e-11 < sigmoid < 1e-5
    assert 1e-12 < city_block < 1e-6


def test_time_of_many_rows_is_linear_and_memory_that_of_the_data():
    sizes = [Size(n, 120, 101, 120 * n) for n in (10**6, 10**7, 10**8)]
    plans = [plan(size, RATES) for size in sizes]
    times = np.log10([found.seconds for found in plans])
    assert np.diff(times) == pytest.approx(1.0, abs=0.15)
    assert plans[2].bytes - plans[1].bytes == pytest.approx(9e7 * 8 * 221)
    trees = [found.seconds_with_trees - found.seconds for found in plans]
    assert 0 < trees[0] == pytest.approx(trees[2])  # those of the sample


def test_few_rows_have_trees_and_no_passes():
    small = plan(Size(2_000, 120, 101, 240_000), RATES)
    assert small.seconds < small.seconds_with_trees
    assert "at once" in small.route
    assert "two passes over 50,000 rows" in plan(Size(50_000, 9, 2, 9), RATES).route


def test_trees_are_planned_where_they_are_grown():
    few, many = 300_000, 6_000_000
    grown = plan(Size(50_000, 9, 2, 450_000, few), RATES)
    assert grown.seconds < grown.seconds_with_trees
    left_out = plan(Size(12_000, 9, 983, 108_000, many), RATES)
    assert left_out.seconds == left_out.seconds_with_trees
    wide = plan(Size(100_000, 50_000, 100, 10**7, few), RATES)
    assert wide.seconds == wide.seconds_with_trees


def test_sparse_rows_cost_less_than_dense_ones():
    thin = plan(Size(100_000, 50_000, 100, 10**7), RATES)
    dense = plan(Size(100_000, 50_000, 100, 5 * 10**9), RATES)
    assert thin.seconds < dense.seconds
    assert thin.bytes < dense.bytes


def test_logistic_regressions_of_sparse_rows_are_counted():
    sparse = plan(Size(5_000, 10_000, 100, 500_000), RATES)
    fewer = plan(Size(5_000, 10_000, 100, 50_000), RATES)
    assert sparse.seconds > fewer.seconds + 20 * 450_000 * 100 * RATES.sigmoid
