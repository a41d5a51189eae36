"""The cost model: what it must say whatever the machine is."""

import numpy as np
import pytest

from homi.model.cost import Rates, Size, measure_rates, plan

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
    assert plans[0].seconds == plans[0].seconds_with_trees


def test_few_rows_have_trees_and_no_passes():
    small = plan(Size(2_000, 120, 101, 240_000), RATES)
    assert small.seconds < small.seconds_with_trees
    assert "at once" in small.route
    assert "two passes over 50,000 rows" in plan(Size(50_000, 9, 2, 9), RATES).route


def test_sparse_rows_cost_less_than_dense_ones():
    thin = plan(Size(100_000, 50_000, 100, 10**7), RATES)
    dense = plan(Size(100_000, 50_000, 100, 5 * 10**9), RATES)
    assert thin.seconds < dense.seconds
    assert thin.bytes < dense.bytes


def test_logistic_regressions_of_sparse_rows_are_counted():
    sparse = plan(Size(5_000, 10_000, 100, 500_000), RATES)
    fewer = plan(Size(5_000, 10_000, 100, 50_000), RATES)
    assert sparse.seconds > fewer.seconds + 20 * 450_000 * 100 * RATES.sigmoid
