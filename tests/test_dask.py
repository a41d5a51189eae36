"""HOMI on dask collections: the model of one machine, whatever the blocks are."""

from itertools import cycle, pairwise, product

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from conftest import random_rows
from homi import HOMI
from homi.distributed import fused, tree_sum
from homi.graph.reservoir import drawn, sample_rows

dd = pytest.importorskip("dask.dataframe", reason="needs pandas and pyarrow")

#: One, many, uneven ones, one smaller than s, and one without rows.
CHUNKS = [(300,), (50,) * 6, (120, 7, 173), (200, 0, 100)]

GRAPHS = [
    {"gamma": 0},
    {"graph": "exact"},
    {"graph": "anchors", "random_state": 3},
]


def assert_same_model(found, expected, gap=1e-8):
    for name in (
        *("feature_weights_", "feature_bias_", "label_correlation_", "label_bias_"),
        *("coef_", "intercept_"),
    ):
        one, other = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(one, other, rtol=gap, atol=gap * np.abs(other).max())
    assert found.graph_ == expected.graph_
    assert list(found.label_names_) == list(expected.label_names_)


def sparse_rows(seed=0, n=300, m=60):
    """Thin rows without two that are alike, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, m), density=0.04, random_state=rng, format="csr")
    X = X + sparse.csr_array(rng.normal(size=(n, 3)) @ np.eye(3, m))
    Y = (X @ rng.normal(size=(m, 4)) > 0).astype(int)
    return sparse.csr_array(X), Y


def from_blocks(A, chunks):
    """A dask array whose blocks are whatever slices of A are."""
    ends = np.cumsum([0, *chunks])
    return da.concatenate(
        [
            da.from_delayed(
                dask.delayed(A[start:stop]), (stop - start, A.shape[1]), meta=A[:0]
            )
            for start, stop in pairwise(ends)
        ]
    )


@pytest.mark.parametrize("parameters", GRAPHS, ids=str)
@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
@pytest.mark.parametrize("standardize", [True, False])
def test_dense_blocks_give_the_model_of_one_machine(parameters, chunks, standardize):
    X, Y = random_rows(n=300, m=9)
    model = HOMI(**parameters, standardize=standardize)
    alone = HOMI(**model.get_params()).fit(X, Y)
    dX = da.from_array(X, chunks=(chunks, 4))
    dY = da.from_array(Y, chunks=(77, 3))
    assert_same_model(model.fit(dX, dY), alone)


@pytest.mark.parametrize("parameters", GRAPHS, ids=str)
@pytest.mark.parametrize("chunks", CHUNKS[:3], ids=str)
@pytest.mark.parametrize("standardize", [True, False])
def test_sparse_blocks_give_the_model_of_one_machine(parameters, chunks, standardize):
    X, Y = sparse_rows()
    model = HOMI(**parameters, standardize=standardize)
    alone = HOMI(**model.get_params()).fit(X, Y)
    dX, dY = from_blocks(X, chunks), from_blocks(sparse.csr_array(Y), (100, 200))
    assert_same_model(model.fit(dX, dY), alone)


def test_auto_goes_by_the_number_of_rows(monkeypatch):
    X, Y = random_rows(n=60)
    dX, dY = da.from_array(X, chunks=(20, -1)), da.from_array(Y)
    assert HOMI().fit(dX, dY).graph_ == "exact"
    for name in ("_ALWAYS", "_MOST"):
        monkeypatch.setattr(f"homi.model.graphs.{name}", 59)
    assert HOMI().fit(dX, dY).graph_ == "anchors"


def test_blocks_of_scipys_matrices_side_by_side():
    X, Y = sparse_rows()
    X = sparse.csr_matrix(X)
    parts = [from_blocks(X[:, :20], (120, 180)), from_blocks(X[:, 20:], (120, 180))]
    dX = da.concatenate(parts, axis=1)
    assert dX.numblocks == (2, 2)
    model = HOMI(graph="anchors", random_state=0)
    alone = HOMI(graph="anchors", random_state=0).fit(X, Y)
    assert_same_model(model.fit(dX, da.from_array(Y)), alone)


def test_more_rows_than_the_sample_holds():
    X, Y = random_rows(n=25_000, m=5)
    model = HOMI(graph="anchors", random_state=1)
    alone = HOMI(graph="anchors", random_state=1).fit(X, Y)
    dX, dY = da.from_array(X, chunks=(4001, -1)), da.from_array(Y, chunks=(9000, -1))
    assert_same_model(model.fit(dX, dY), alone)
    np.testing.assert_array_equal(X[drawn(*X.shape, 5)], sample_rows(X, 5))


def test_unknown_lengths_of_blocks():
    X, Y = random_rows(n=300)
    dX, dY = da.from_array(X, chunks=(60, -1)), da.from_array(Y, chunks=(90, -1))
    kept = X[:, 0] > np.median(X[:, 0])
    dX, dY = dX[dX[:, 0] > np.median(X[:, 0])], dY[da.from_array(kept, chunks=90)]
    assert np.isnan(dX.shape[0])
    assert_same_model(HOMI().fit(dX, dY), HOMI().fit(X[kept], Y[kept]))
    assert np.isnan(dX.shape[0]), "the user's array was changed"


def filtered_frames(X, Y, group, dropped):
    """Frames of six partitions, of which a filter leaves some without rows."""
    pd = pytest.importorskip("pandas")
    pair = []
    for A, names in ((X, "abcdef"), (Y, "uvw")):
        frame = pd.DataFrame(A, columns=list(names)).assign(group=group)
        frame = dd.from_pandas(frame, npartitions=6, sort=False)
        pair.append(frame[~frame.group.isin(dropped)][list(names)])
    return pair


def filtered_arrays(X, Y, group, dropped):
    kept = da.from_array(~np.isin(group, dropped), chunks=50)
    return [da.from_array(A, chunks=(50, -1))[kept] for A in (X, Y)]


def arrays_of_filtered_frames(*given):
    return [frame.to_dask_array() for frame in filtered_frames(*given)]


def labels_cut_otherwise(X, Y, group, dropped):
    X, _ = filtered_arrays(X, Y, group, dropped)
    return X, da.from_array(Y[~np.isin(group, dropped)], chunks=(35, -1))


FILTERS = [
    filtered_frames,
    filtered_arrays,
    arrays_of_filtered_frames,
    labels_cut_otherwise,
]
DROPPED = [[2], [0, 5], [1, 2], [0, 1, 2, 4, 5]]


# Three graphs beside four of each: every two of the three things meet.
@pytest.mark.parametrize(
    ("make", "dropped", "parameters"),
    [
        (*case, graph)
        for case, graph in zip(product(FILTERS, DROPPED), cycle(GRAPHS), strict=False)
    ],
)
def test_a_filter_may_leave_blocks_without_rows(make, dropped, parameters):
    X, Y = random_rows(n=300, m=6, q=3)
    group = np.repeat(np.arange(6), 50)
    kept = ~np.isin(group, dropped)
    dX, dY = make(X, Y.astype(int), group, dropped)
    model = HOMI(**parameters).fit(dX, dY)
    alone = HOMI(**parameters).fit(X[kept], Y[kept].astype(int))
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-7, atol=1e-9)
    for method in ("predict", "decision_function", "predict_proba"):
        found, expected = getattr(model, method)(dX), getattr(alone, method)(X[kept])
        np.testing.assert_allclose(found.compute(), expected, atol=1e-8)
        assert found.dtype == expected.dtype
    with pytest.raises(ValueError, match="0 sample"):
        HOMI(**parameters).fit(*make(X, Y, group, range(6)))
    nothing = model.predict(make(X, Y, group, range(6))[0]).compute()
    assert nothing.shape == (0, 3)


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_filter_by_a_list_of_values(partitions):
    """Dask keeps the values under a name that is not the one their node has."""
    pd = pytest.importorskip("pandas")
    X, Y = random_rows(n=90)
    X, Y = (pd.DataFrame(A).rename(columns="x{}".format) for A in (X, Y))
    kept = X.x0.round().isin([-1, 0, 1])
    dX = dd.from_pandas(X, npartitions=partitions, sort=False)
    dX = dX[dX.x0.round().isin([-1, 0, 1])]
    dY = dd.from_pandas(Y[kept], npartitions=2, sort=False)
    assert_same_model(HOMI().fit(dX, dY), HOMI().fit(X[kept], Y[kept]))


def test_data_frames_keep_their_names():
    pd = pytest.importorskip("pandas")
    X, Y = random_rows(n=200)
    X = pd.DataFrame(X, columns=[f"size {j}" for j in range(X.shape[1])])
    Y = pd.DataFrame(Y.astype(np.int8), columns=list("abcd"))
    dX, dY = dd.from_pandas(X, npartitions=3), dd.from_pandas(Y, npartitions=2)
    alone, model = HOMI().fit(X, Y), HOMI().fit(dX, dY)
    assert_same_model(model, alone)
    assert list(model.feature_names_in_) == list(X.columns)
    assert list(model.label_names_) == list("abcd")
    assert model.predict(dX).dtype == np.int8
    np.testing.assert_array_equal(model.predict(dX).compute(), alone.predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(dX[list(X.columns[::-1])])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_of_a_1d_y(n_classes):
    X, _ = random_rows(n=150)
    y = np.array(list("xyz"))[(np.digitize(X[:, 0], [-0.5, 0.5]) % n_classes)]
    # Sorted, so that no block has all classes.
    order = np.argsort(y)
    X, y = X[order], y[order]
    dX, dy = da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=40)
    alone, model = HOMI().fit(X, y), HOMI().fit(dX, dy)
    assert_same_model(model, alone)
    for method in ("predict", "decision_function", "predict_proba"):
        found = getattr(model, method)(dX)
        assert found.shape == getattr(alone, method)(X).shape
    np.testing.assert_array_equal(model.predict(dX).compute(), alone.predict(X))


@pytest.mark.parametrize(
    "method", ["predict", "decision_function", "predict_proba", "ranking_scores"]
)
def test_predictions_are_lazy_and_the_same(method):
    X, Y = random_rows(n=90)
    calls = []

    def noted(block):
        calls.append(len(block))
        return block

    model = HOMI(graph="anchors", random_state=0).fit(X, Y)
    dX = da.from_array(X, chunks=(40, 3)).map_blocks(noted, meta=X[:0])
    scores = getattr(model, method)(dX)
    assert isinstance(scores, da.Array)
    assert scores.chunks == ((40, 40, 10), (4,))
    assert not calls
    expected = getattr(model, method)(X)
    assert scores.dtype == expected.dtype
    np.testing.assert_allclose(scores.compute(scheduler="sync"), expected, rtol=1e-12)
    assert calls


def test_partial_fit_goes_on_from_a_fit_on_blocks():
    X, Y = random_rows(n=400)
    kept = HOMI(graph="anchors", random_state=0)
    kept.fit(da.from_array(X[:300], chunks=(70, -1)), da.from_array(Y[:300]))
    alone = HOMI(graph="anchors", random_state=0).fit(X[:300], Y[:300])
    assert_same_model(
        kept.partial_fit(X[300:], Y[300:]), alone.partial_fit(X[300:], Y[300:])
    )


def bad_rows(kind):
    X, Y = random_rows(n=100)
    if kind == "NaN":
        X[64, 2] = np.nan
    elif kind == "labels":
        Y[64, 1] = 2
    return X, Y


@pytest.mark.parametrize("graph", ["anchors", "exact"])
@pytest.mark.parametrize(
    ("kind", "message"),
    [("NaN", "Input.*contains NaN"), ("labels", "only 0 and 1, got 0.0, 1.0, 2.0")],
)
def test_a_bad_value_names_its_block_and_row(graph, kind, message):
    X, Y = bad_rows(kind)
    dX, dY = da.from_array(X, chunks=(30, 3)), da.from_array(Y, chunks=(50, -1))
    where = r"^block 3, row 5 of it \(row 65 of all\): "
    with pytest.raises(ValueError, match=where + f"(.|\n)*{message}"):
        HOMI(graph=graph).fit(dX, dY)


def test_a_block_of_another_size_is_named():
    X, Y = random_rows(n=60)
    dY = da.from_array(Y, chunks=(20, -1))
    for bad, message in (
        (X[20:40, :7], "block 2: X has 7 features, but HOMI is expecting 8"),
        (X[20:41], "block 2: X has 21 rows, but 20 by the chunks"),
    ):
        parts = [dask.delayed(x) for x in (X[:20], bad, X[40:])]
        dX = da.concatenate([da.from_delayed(p, (20, 8), float) for p in parts])
        with pytest.raises(ValueError, match=message):
            HOMI(gamma=0).fit(dX, dY)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": "array"}, TypeError, "y is a ndarray; pass both as Dask"),
        ({"X": "array"}, TypeError, "X is a ndarray; pass both as Dask"),
        ({"X": "delayed"}, TypeError, "X must be a dask array or data frame"),
        ({"X": "1-D"}, ValueError, "Expected 2D array, got 1D array"),
        ({"y": "short"}, ValueError, "X has 60 rows in its blocks and y has 59"),
        ({"kernel": "rbf"}, ValueError, "cannot be used with kernel='rbf'"),
        ({"graph": "approximate"}, ValueError, 'use graph="auto" or "exact" or'),
        ({"correlation": "held-out"}, ValueError, "correlation='held-out'"),
    ],
    ids=str,
)
def test_what_cannot_be_learnt_is_refused(change, error, message):
    X, Y = random_rows(n=60)
    given = {"X": da.from_array(X, chunks=(20, -1)), "y": da.from_array(Y)}
    plain = {"array": {"X": X, "y": Y}, "short": {"y": given["y"][:-1]}}
    plain |= {"delayed": {"X": dask.delayed(X)}, "1-D": {"X": given["X"][:, 0]}}
    parameters = {k: v for k, v in change.items() if k not in given}
    given |= {k: plain[v][k] for k, v in change.items() if k in given}
    with pytest.raises(error, match=message):
        HOMI(**parameters).fit(**given)


def test_few_features_or_rows_are_said():
    X, Y = random_rows(n=8)
    dX, dY = da.from_array(X, chunks=(3, -1)), da.from_array(Y)
    exact = HOMI(n_neighbors=9, graph="exact")
    with pytest.warns(UserWarning, match="all 7 others"):
        model = exact.fit(dX, dY)
    with pytest.warns(UserWarning, match="all 7 others"):
        assert_same_model(model, clone(exact).fit(X, Y))
    with pytest.warns(UserWarning, match="no graph is used"):
        HOMI(graph="exact").fit(dX[:, :2], dY)


def test_a_part_is_one_task_and_shared_tasks_stay():
    made = []

    def make(i):
        made.append(i)
        return np.full(3, i)

    shared = dask.delayed(make)(100)
    rows = [dask.delayed(make)(i) for i in range(4)]
    # Each made array is used twice, by one part: a diamond inside.
    parts = [dask.delayed(np.dot)(x + shared, dask.delayed(abs)(x)) for x in rows]
    joined = fused(parts)
    graph = dict(joined[0].__dask_graph__())
    assert len(graph) == 4 + 1
    total = dask.compute(tree_sum(joined), scheduler="sync")[0]
    assert total == sum(3 * (i + 100) * i for i in range(4))
    assert sorted(made) == [0, 1, 2, 3, 100]


@pytest.mark.parametrize("chunks", [(20, 20, 20), (20, 25, 15)], ids=str)
def test_rows_that_labels_are_made_of_are_made_once(chunks):
    made = []

    def rows(block_info=None):
        place = block_info[None]
        made.append(place["chunk-location"][0])
        return np.random.default_rng(made[-1]).normal(size=place["chunk-shape"])

    X = da.map_blocks(rows, chunks=((20, 20, 20), (5,)), meta=np.empty((0, 0)))
    Y = X.map_blocks(lambda x: (x[:, :2] > 0).astype(int), chunks=((20,) * 3, (2,)))
    with dask.config.set(scheduler="sync"):
        HOMI(gamma=0).fit(X, Y.rechunk((chunks, -1)))
    assert sorted(made) == [0, 1, 2]


def test_sums_are_taken_in_one_order():
    values = np.random.default_rng(0).normal(size=100) * 1e8
    parts = [dask.delayed(x) for x in values]
    sums = {dask.compute(tree_sum(parts), scheduler=s)[0] for s in ("sync", "threads")}
    assert len(sums) == 1
    np.testing.assert_allclose(sums.pop(), values.sum(), rtol=1e-12)
