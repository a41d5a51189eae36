"""The approximate graph against the exact one, and what "auto" chooses."""

import logging

import numpy as np
import pytest
from scipy import sparse

from conftest import random_rows
from homi import HOMI
from homi.graph import nearest, neighbor_laplacian
from homi.graph.approximate import TARGET_RECALL, ApproximateSearch
from homi.graph.choose import choose_graph

UNITS = {"mean": None, "scale": None}


def clustered(n=4000, m=20, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(40, m))
    return centers[rng.integers(40, size=n)] + 0.5 * rng.normal(size=(n, m))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_recall_is_what_it_says(kind):
    X = np.random.default_rng(0).normal(size=(4000, 20))
    search = ApproximateSearch(0)
    found, exact = search(kind(X), 10, **UNITS), nearest(X, 10)
    pairs = zip(found.indices, exact.indices, strict=True)
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in pairs])
    assert search.recall >= TARGET_RECALL
    # Measured on 200 rows, with the row itself among them.
    assert recall == pytest.approx(search.recall, abs=0.03)
    assert recall < 1
    rows = np.arange(len(X))[:, None]
    assert (found.indices != rows).all()
    R = np.corrcoef(X)
    expected = np.take_along_axis(R, found.indices, axis=1)
    np.testing.assert_allclose(found.correlations, expected, atol=1e-5)


def test_units_are_those_of_the_exact_search():
    X = clustered(seed=1) * np.geomspace(1, 100, 20)
    units = {"mean": X.mean(axis=0), "scale": X.std(axis=0)}
    L = neighbor_laplacian(X, 10, **units, search=ApproximateSearch(0)).toarray()
    exact = neighbor_laplacian(X, 10, **units).toarray()
    assert np.trace(L) == pytest.approx(np.trace(exact), rel=0.02)
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-10)


def test_few_and_flat_rows():
    X = random_rows(0, n=30, m=6)[0]
    X[:5] = 1.0
    search = ApproximateSearch(0)
    found, exact = search(X, 4, **UNITS), nearest(X, 4)
    assert search.recall == 1
    np.testing.assert_allclose(
        np.maximum(found.correlations, 0), np.maximum(exact.correlations, 0), atol=1e-6
    )


def test_the_estimator_keeps_its_recall():
    X, Y = clustered(2000), (clustered(2000) > 1)[:, :4].astype(int)
    near = HOMI(graph="approximate", random_state=0).fit(X, Y)
    exact = HOMI(graph="exact").fit(X, Y)
    assert near.graph_ == "approximate"
    assert TARGET_RECALL <= near.graph_recall_ <= 1
    assert not hasattr(exact, "graph_recall_")
    gap = np.abs(near.decision_function(X) - exact.decision_function(X)).max()
    assert 0 < gap < 0.02


class Rows:
    """As much of rows as the choice looks at."""

    def __init__(self, n, m):
        self.shape = (n, m)


@pytest.mark.parametrize(
    ("n", "m", "gigabytes", "expected"),
    [
        (43_907, 120, 0.001, "exact"),
        (50_000, 5_000, 16, "exact"),
        (100_000, 120, 16, "exact"),
        (100_000, 1_000, 16, "approximate"),
        (1_000_000, 120, 16, "approximate"),
        (1_000_000, 120, 0.9, "anchors"),
        (1_000_000, 100_000, 16, "anchors"),
        (20_000_000, 10, 16, "anchors"),
    ],
)
def test_auto_looks_at_rows_and_memory(n, m, gigabytes, expected):
    chosen, why = choose_graph(Rows(n, m), free=gigabytes * 1e9)
    assert chosen == expected
    assert f"{n:,} rows" in why


def test_auto_looks_at_sparsity():
    thin = sparse.random_array(
        (90_000, 2_000),
        density=0.001,
        format="csr",
        random_state=np.random.default_rng(0),
    )
    assert choose_graph(thin, free=1e6)[0] == "exact"
    assert choose_graph(Rows(90_000, 2_000), free=1e6)[0] == "anchors"


def test_auto_says_what_it_chose(monkeypatch, caplog):
    X, Y = random_rows(1, n=300, m=6)
    with caplog.at_level(logging.INFO, "homi"):
        assert HOMI().fit(X, Y).graph_ == "exact"
    assert "graph='auto' is 'exact': all pairs of 300 rows" in caplog.text
    monkeypatch.setattr("homi.graph.choose._ALWAYS", 200)
    monkeypatch.setattr("homi.graph.choose._MOST", 200)
    assert HOMI(random_state=0).fit(X, Y).graph_ == "approximate"
    monkeypatch.setattr("homi.memory.available", lambda: 10_000)
    assert HOMI(random_state=0).fit(X, Y).graph_ == "anchors"
    assert HOMI(gamma=0).fit(X, Y).graph_ == "none"
