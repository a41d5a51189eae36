"""Seeded problems, and the real data where they are at hand."""

import os

import numpy as np
import pytest

from homi.datasets import load
from homi.datasets.load import at_hand
from homi.graph import neighbour_laplacian
from homi.moments import Moments
from homi.solver import Problem


def random_rows(seed=0, n=40, m=8, q=4):
    """Features around a mean, and labels that depend on them and on each other."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) + rng.normal(size=m)
    signal = X @ rng.normal(size=(m, q))
    signal[:, -1] += 2 * signal[:, 0]
    noise = rng.normal(size=(n, q))
    return X, (signal + noise > np.median(signal, axis=0)).astype(float)


def make_problem(X, Y, n_neighbors=5, *, standardize=False, **hyper):
    moments = Moments.from_rows(X, Y)
    mean, scale = None, None
    if standardize:
        mean, scale = moments.x_mean, moments.scale()
    L = neighbour_laplacian(X, n_neighbors, mean=mean, scale=scale)
    moments = moments.with_graph(X, L)
    return Problem(moments.standardized() if standardize else moments, **hyper)


@pytest.fixture(autouse=True, scope="session")
def cache_of_the_tests(tmp_path_factory):
    """What tests parse or fetch stays out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMI_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def data():
    """``data("emotions")``: the data set, or a skip that says what is missing."""

    def get(name):
        if at_hand(name) is None:
            place = os.environ.get("HOMI_DATA") or "no directory"
            pytest.skip(f"{name} is not at hand: HOMI_DATA names {place}")
        return load(name)

    return get
