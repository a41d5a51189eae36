"""HOMICV on Dask collections: the model of one machine."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from homi import HOMICV
from homi.datasets import make_correlated
from homi.model import batches
from test_dask import from_blocks

N, CHUNKS = 900, (250, 1, 0, 449, 200)
QUICK = {"trees": False, "n_components": 40, "widths": [1.0], "lams": [0.1, 1.0, 10.0]}


@pytest.fixture(autouse=True)
def _small_sample(monkeypatch):
    monkeypatch.setattr(batches, "SAMPLE_ROWS", 300)


@pytest.fixture(scope="module")
def data():
    X, Y, *_ = make_correlated(N, n_features=8, n_labels=5, random_state=0)
    return X, np.asarray(Y)


def assert_same(found, alone, X):
    """Compare what both models say of rows, to 1e-8, and what they chose."""
    assert found.best_params_ == alone.best_params_
    scores = alone.decision_function(X)
    np.testing.assert_allclose(found.decision_function(X), scores, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kernels", [["rbf"], ["laplacian"], []], ids=str)
def test_blocks_give_the_model_of_one_machine(data, kernels):
    X, Y = data
    model = HOMICV(kernels=kernels, **QUICK)
    alone = HOMICV(kernels=kernels, **QUICK).fit(X, Y)
    model.fit(from_blocks(X, CHUNKS), from_blocks(Y, (900,)))
    assert_same(model, alone, X)
    assert model.search_report_["rows"] == alone.search_report_["rows"]


def test_sparse_blocks(data):
    X, Y = data
    X = sparse.csr_array(np.where(X > 0.5, X, 0.0))
    alone = HOMICV(**QUICK).fit(X, Y)
    model = HOMICV(**QUICK).fit(from_blocks(X, CHUNKS), from_blocks(Y, CHUNKS))
    assert_same(model, alone, X)


def test_trees_are_grown_on_the_sample(data):
    X = data[0]
    Y = (X[:, :5] * X[:, 1:6] > 0).astype(int)  # nothing that is linear
    parameters = QUICK | {"trees": "auto", "kernels": []}
    alone = HOMICV(**parameters).fit(X, Y)
    model = HOMICV(**parameters).fit(from_blocks(X, CHUNKS), from_blocks(Y, CHUNKS))
    assert model.forest_ is not None
    assert_same(model, alone, X)


def test_few_rows_are_fitted_in_memory(data):
    X, Y = data[0][:300], data[1][:300]
    parameters = QUICK | {"trees": True, "kernels": []}
    alone = HOMICV(**parameters).fit(X, Y)
    parts = [from_blocks(A, (100, 200)) for A in (X, Y)]
    model = HOMICV(**parameters).fit(*parts)
    assert "trees" in model.search_report_["stage"]
    np.testing.assert_array_equal(
        model.decision_function(X), alone.decision_function(X)
    )


def test_bytes_moved_do_not_grow_with_the_rows_of_a_block(data):
    X, Y = data
    sizes = []

    class Counting(batches.RowsInMemory):
        def summed(self, stage, function):
            parts = [
                function(self.X[rows], self.Y[rows], None, rows.start)
                for rows in (slice(0, 100), slice(100, 900))
            ]
            for part in parts:
                arrays = [A for A in vars(part).values() if isinstance(A, np.ndarray)]
                sizes.append(sum(A.nbytes for A in arrays))
            return parts[0] + parts[1]

    model = HOMICV(**QUICK)
    model._check_fit_input(X, Y)
    model._fit_batches(Counting(X, Y, None, 0, 300), None, lambda s: None, keep=False)
    assert sizes[0] == sizes[1]
    assert sizes[2] == sizes[3]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gammas": [0.1]}, r"a Dask collection of 900 rows .* gammas=\[0.1\]"),
        ({"trees": True}, "trees=True, which needs all rows in one place"),
    ],
)
def test_what_needs_all_rows_is_refused(data, parameters, message):
    parts = [from_blocks(A, CHUNKS) for A in data]
    with pytest.raises(ValueError, match=message):
        HOMICV(**(QUICK | parameters)).fit(*parts)


def test_weights_and_held_out_scores_of_collections_are_refused(data):
    parts = [from_blocks(A, CHUNKS) for A in data]
    with pytest.raises(ValueError, match="leave sample_weight out"):
        HOMICV(**QUICK).fit(*parts, sample_weight=np.ones(N))
    with pytest.raises(TypeError, match="got a Dask collection"):
        HOMICV(**QUICK).fit_held_out(*parts)
    with pytest.raises(TypeError, match="X is a Dask collection and y is a ndarray"):
        HOMICV(**QUICK).fit(parts[0], data[1])


def test_a_bad_block_is_named(data):
    X, Y = data[0].copy(), data[1]
    X[800, 0] = np.nan
    with pytest.raises(ValueError, match=r"row 801 of all"):
        HOMICV(**QUICK).fit(da.from_array(X, chunks=(300, 8)), from_blocks(Y, (900,)))
