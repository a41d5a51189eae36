"""Moments against their definitions: additive, one for sparse and dense, lean."""

import dataclasses
import itertools
import subprocess
import sys
import weakref

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import homi.row_products
from homi.moments import Moments

repeatable = settings(derandomize=True, max_examples=30)

FIELDS = [field.name for field in dataclasses.fields(Moments)]

FORMATS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_matrix": sparse.csc_matrix,
    "coo_array": sparse.coo_array,
}

# Above and below the share of non-zeros at which rows are multiplied dense.
PATHS = {"dense blocks": 0, "sparse products": 1}

# Few distinct values, so that zeros and constant columns are the rule.
VALUES = st.integers(-8, 8).map(lambda value: value / 4)


@st.composite
def problems(draw, min_rows=1):
    n = draw(st.integers(min_rows, 12))
    X = draw(hnp.arrays(float, (n, draw(st.integers(1, 5))), elements=VALUES))
    labels = hnp.arrays(
        float, (n, draw(st.integers(1, 4))), elements=st.sampled_from([0.0, 1.0])
    )
    return X, draw(labels)


@st.composite
def graphs(draw):
    """Rows, labels and the Laplacian of any weighted graph of the rows."""
    X, Y = draw(problems(min_rows=2))
    weights = st.integers(0, 4).map(lambda value: value / 4)
    return X, Y, laplacian_of(draw(hnp.arrays(float, (len(X),) * 2, elements=weights)))


def laplacian_of(weights):
    S = weights + weights.T
    return np.diag(S.sum(axis=1)) - S


def random_problem(seed, shape=(60, 20), n_labels=3, density=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(1.0, 1.0, shape) * (rng.random(shape) < density)
    Y = (rng.random((shape[0], n_labels)) < 0.3).astype(float)
    return X, Y, laplacian_of(rng.random((shape[0],) * 2))


def literal(X, Y, L=None):
    """The definitions, with a dense L."""
    x_mean, y_mean = X.mean(axis=0), Y.mean(axis=0)
    x, y = X - x_mean, Y - y_mean
    H = None if L is None else X.T @ L @ X
    return Moments(len(X), x_mean, y_mean, x.T @ x, x.T @ y, y.T @ y, H)


def standardized(X):
    """Every column at mean 0 and variance 1; constant ones at 0."""
    spread = np.where(np.ptp(X, axis=0) == 0, 1.0, X.std(axis=0))
    return (X - X.mean(axis=0)) / spread


def assert_same(actual, expected, tol=1e-12):
    assert actual.n == expected.n
    for name in FIELDS[1:]:
        one, other = getattr(actual, name), getattr(expected, name)
        if other is None:
            assert one is None
            continue
        assert one.dtype == np.float64, name
        assert one.shape == other.shape, name
        atol = tol * max(1.0, np.abs(other).max())
        np.testing.assert_allclose(one, other, rtol=0, atol=atol, err_msg=name)


@pytest.fixture(params=PATHS)
def path(request, monkeypatch):
    monkeypatch.setattr(homi.row_products, "THIN", PATHS[request.param])


# Definitions


@repeatable
@given(problems(), st.sampled_from(list(FORMATS)), st.sampled_from(list(FORMATS)))
def test_fields_equal_their_definitions(problem, X_format, Y_format):
    X, Y = problem
    moments = Moments.from_rows(FORMATS[X_format](X), FORMATS[Y_format](Y))
    assert_same(moments, literal(X, Y))


@repeatable
@given(problems(), st.sampled_from(list(FORMATS)))
def test_raw_products_equal_their_names(problem, X_format):
    X, Y = problem
    moments, one = Moments.from_rows(FORMATS[X_format](X), Y), np.ones(len(X))
    np.testing.assert_allclose(moments.G, X.T @ X, atol=1e-12)
    np.testing.assert_allclose(moments.C, X.T @ Y, atol=1e-12)
    np.testing.assert_allclose(moments.YtY, Y.T @ Y, atol=1e-12)
    np.testing.assert_allclose(moments.a, X.T @ one, atol=1e-12)
    np.testing.assert_allclose(moments.b, Y.T @ one, atol=1e-12)


@pytest.mark.parametrize("name", FIELDS)
def test_fields_are_frozen(name):
    X, Y, _ = random_problem(0)
    moments = Moments.from_rows(X, Y)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(moments, name, getattr(moments, name))


# Additivity


@repeatable
@given(problems(min_rows=2), st.data())
def test_moments_of_stacked_rows_are_the_sum(problem, data):
    X, Y = problem
    cut = data.draw(st.integers(1, len(X) - 1))
    top, bottom = (
        Moments.from_rows(X[:cut], Y[:cut]),
        Moments.from_rows(X[cut:], Y[cut:]),
    )
    assert_same(top + bottom, literal(X, Y))
    assert_same(bottom + top, literal(X, Y))


@repeatable
@given(problems(min_rows=3), st.data())
def test_sum_is_associative_to_rounding(problem, data):
    X, Y = problem
    first = data.draw(st.integers(1, len(X) - 2))
    second = data.draw(st.integers(first + 1, len(X) - 1))
    a, b, c = (
        Moments.from_rows(X[i:j], Y[i:j])
        for i, j in [(0, first), (first, second), (second, len(X))]
    )
    assert_same((a + b) + c, a + (b + c))


@repeatable
@given(problems(), st.data())
def test_batches_equal_the_whole(problem, data):
    X, Y = problem
    n_cuts = data.draw(st.integers(0, len(X) - 1))
    cuts = data.draw(st.permutations(range(1, len(X))))[:n_cuts]
    edges = [0, *sorted(cuts), len(X)]
    convert = FORMATS[data.draw(st.sampled_from(list(FORMATS)))]
    read = []

    def batches():
        for i, j in itertools.pairwise(edges):
            read.append((i, j))
            yield convert(X[i:j]), Y[i:j]

    assert_same(Moments.from_batches(batches()), literal(X, Y))
    assert read == list(itertools.pairwise(edges))


def test_batches_are_read_one_at_a_time():
    """A batch is kept no longer than until the next one has come."""
    X, Y, _ = random_problem(1)
    seen = []

    def batches():
        for rows in np.array_split(np.arange(len(X)), 6):
            batch = X[rows]
            seen.append(weakref.ref(batch))
            yield batch, Y[rows]
            del batch
            assert sum(one() is not None for one in seen) <= 1

    assert_same(Moments.from_batches(batches()), literal(X, Y))
    assert len(seen) == 6


def test_graphs_of_parts_become_one_without_edges_between():
    X, Y, _ = random_problem(2)
    parts, blocks = [], []
    for seed, rows in enumerate([slice(0, 25), slice(25, 60)]):
        n = rows.stop - rows.start
        L = laplacian_of(np.random.default_rng(seed).random((n, n)))
        part = Moments.from_rows(X[rows], Y[rows])
        parts.append(part.with_graph(X[rows], sparse.csr_array(L)))
        blocks.append(L)
    whole = literal(X, Y, scipy.linalg.block_diag(*blocks))
    assert_same(parts[0] + parts[1], whole)


# Sparse, dense, any dtype


@pytest.mark.parametrize("X_format", FORMATS)
@pytest.mark.parametrize("density", [0.02, 0.5])
def test_formats_are_equal(X_format, density):
    X, Y, L = random_problem(3, density=density)
    thin = homi.row_products.is_thin(sparse.csr_array(X))
    assert thin == (density < homi.row_products.THIN)
    X_in, expected = FORMATS[X_format](X), literal(X, Y, L)
    for convert in FORMATS.values():
        moments = Moments.from_rows(X_in, convert(Y))
        assert_same(moments.with_graph(X_in, sparse.csr_array(L)), expected)


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64]
)
@pytest.mark.parametrize("format_", ["dense", "csr_array", "csc_matrix"])
@pytest.mark.usefixtures("path")
def test_dtypes_are_equal(dtype, format_):
    """Large enough for sums and products of 8-bit integers to overflow."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 128, (500, 6)).astype(dtype)
    Y = rng.integers(0, 2, (500, 3)).astype(dtype)
    L = laplacian_of(rng.random((500, 500)))
    X_in, Y_in = FORMATS[format_](X), FORMATS[format_](Y)
    moments = Moments.from_rows(X_in, Y_in).with_graph(X_in, sparse.csr_array(L))
    expected = literal(X.astype(float), Y.astype(float), L)
    assert_same(moments, expected)
    assert moments.Sxx.dtype == moments.H.dtype == np.float64


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("format_", FORMATS)
def test_arguments_are_not_changed(format_):
    X, Y, L = random_problem(5, density=0.3)
    X_in, Y_in, L_in = FORMATS[format_](X), FORMATS[format_](Y), sparse.csr_array(L)
    for given_ in (X_in, Y_in, L_in):
        array = given_.data if sparse.issparse(given_) else given_
        array.flags.writeable = False
    without = Moments.from_rows(X_in, Y_in)
    with_ = without.with_graph(X_in, L_in)
    with_.standardized()
    assert without.H is None
    assert_same(with_, literal(X, Y, L))


@pytest.mark.parametrize("n_bytes", [1, 100, 1000])
@pytest.mark.parametrize("X_format", ["dense", "csr_array"])
@pytest.mark.parametrize("Y_format", ["dense", "csr_array"])
@pytest.mark.usefixtures("path")
def test_block_size_has_no_effect(monkeypatch, n_bytes, X_format, Y_format):
    X, Y, L = random_problem(6, density=0.3)
    monkeypatch.setattr(homi.row_products, "BLOCK_BYTES", n_bytes)
    X_in = FORMATS[X_format](X)
    moments = Moments.from_rows(X_in, FORMATS[Y_format](Y))
    moments = moments.with_graph(X_in, sparse.csr_array(L))
    assert_same(moments, literal(X, Y, L))


# Digits


def exactly(X, Y):
    """The definitions with more digits than float64 has."""
    X, Y = X.astype(np.longdouble), Y.astype(np.longdouble)
    moments = literal(X, Y)
    changes = {name: np.float64(getattr(moments, name)) for name in FIELDS[1:-1]}
    return dataclasses.replace(moments, **changes)


@pytest.mark.parametrize("format_", ["dense", "fortran", "csr_array"])
def test_float32_rows_are_accumulated_in_float64(format_):
    rng = np.random.default_rng(7)
    X = rng.normal(1000, 1, (100_000, 4)).astype(np.float32)
    Y = (X[:, :2] > 1000).astype(np.float32)
    moments, expected = Moments.from_rows(FORMATS[format_](X), Y), exactly(X, Y)
    np.testing.assert_allclose(moments.x_mean, expected.x_mean, rtol=1e-12)
    for name in ("Sxx", "Sxy", "Syy"):
        one, other = getattr(moments, name), getattr(expected, name)
        np.testing.assert_allclose(
            one, other, rtol=0, atol=1e-9 * np.abs(other).max(), err_msg=name
        )


@pytest.mark.parametrize("format_", ["dense", "csr_array"])
@pytest.mark.parametrize("n_batches", [1, 7])
def test_a_large_mean_beside_a_small_spread(format_, n_batches):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(700, 40)) * (rng.random((700, 40)) < 0.01)
    X[:, 0] = 1e8 + rng.normal(size=700)
    Y = (X[:, :2] > [1e8, 0]).astype(float)
    parts = zip(np.split(X, n_batches), np.split(Y, n_batches), strict=True)
    moments = Moments.from_batches((FORMATS[format_](X), Y) for X, Y in parts)
    # Means that are added up are known to 1e-16 of themselves, 1e-8 of the spread.
    assert_same(moments.standardized(), exactly(X, Y).standardized(), tol=1e-6)
    assert moments.scale()[0] == pytest.approx(np.std(X[:, 0] - 1e8), rel=1e-8)


# Standardization


@repeatable
@given(graphs(), st.sampled_from(list(FORMATS)), st.sampled_from(list(PATHS.values())))
def test_standardized_are_the_moments_of_standardized_rows(problem, format_, thin):
    X, Y, L = problem
    X_in = FORMATS[format_](X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(homi.row_products, "THIN", thin)
        moments = Moments.from_rows(X_in, Y).with_graph(X_in, sparse.csr_array(L))
    assert_same(moments.standardized(), literal(standardized(X), Y, L), tol=1e-10)


def test_standardizing_without_a_graph_makes_none():
    X, Y, _ = random_problem(9)
    moments = Moments.from_rows(X, Y).standardized()
    assert_same(moments, literal(standardized(X), Y))


def test_standardizing_twice_changes_nothing():
    X, Y, L = random_problem(10)
    once = Moments.from_rows(X, Y).with_graph(X, sparse.csr_array(L)).standardized()
    assert_same(once.standardized(), once)
    np.testing.assert_allclose(once.scale(), 1.0)


def test_scale_is_the_standard_deviation():
    X, Y, _ = random_problem(11)
    X[:, 3] = 0.0
    expected = X.std(axis=0)
    expected[3] = 1.0
    np.testing.assert_allclose(Moments.from_rows(X, Y).scale(), expected)


def test_a_tiny_spread_about_zero_is_no_constant():
    X, Y, _ = random_problem(12)
    X = 1e-100 * (X - X.mean(axis=0))
    np.testing.assert_allclose(Moments.from_rows(X, Y).scale(), X.std(axis=0))


@pytest.mark.parametrize("format_", ["dense", "csr_array"])
@pytest.mark.parametrize(
    ("n_rows", "n_batches"),
    [
        (1, 1),
        (1000, 1),
        (1000, 10),
        (20_000, 1),
    ],
)
def test_constant_features_stay_at_0_with_scale_1(format_, n_rows, n_batches):
    """Constants that are no round numbers, stored ones in sparse rows included."""
    rng = np.random.default_rng(13)
    shape = (n_rows, 11 if format_ == "dense" else 600)
    X = rng.normal(size=shape) * (rng.random(shape) < 0.01)
    X[:, :10] = rng.normal(size=10) * 10.0 ** np.arange(-4, 6)
    Y = (rng.random((n_rows, 2)) < 0.5).astype(float)
    parts = zip(np.array_split(X, n_batches), np.array_split(Y, n_batches), strict=True)
    moments = Moments.from_batches((FORMATS[format_](X), Y) for X, Y in parts)
    np.testing.assert_array_equal(moments.scale()[:10], 1.0)
    after, rounding = moments.standardized(), 1e-12 * n_rows * np.abs(X[0, :10])
    assert (after.x_mean == 0).all()
    assert (np.abs(after.Sxx[:10]).max(axis=1) <= rounding).all()
    assert (np.abs(after.Sxy[:10]).max(axis=1) <= rounding).all()


# The graph


@repeatable
@given(graphs(), st.sampled_from(list(FORMATS)), st.sampled_from(list(PATHS.values())))
def test_H_equals_its_definition(problem, format_, thin):
    X, Y, L = problem
    X_in = FORMATS[format_](X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(homi.row_products, "THIN", thin)
        moments = Moments.from_rows(X_in, Y).with_graph(X_in, sparse.csr_array(L))
    assert_same(moments, literal(X, Y, L))
    np.testing.assert_array_equal(moments.H, moments.H.T)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("format_", ["dense", "csr_array"])
@pytest.mark.parametrize(("shift", "tol"), [(10.0, 1e-11), (1000.0, 1e-7)])
def test_H_does_not_depend_on_the_mean(format_, shift, tol):
    X, Y, L = random_problem(14)
    shifted = FORMATS[format_](X + shift * np.arange(X.shape[1]))
    moments = Moments.from_rows(shifted, Y).with_graph(shifted, sparse.csr_array(L))
    expected = X.T @ L @ X
    atol = tol * np.abs(expected).max()
    np.testing.assert_allclose(moments.H, expected, rtol=0, atol=atol)


def test_H_keeps_digits_beside_a_large_mean():
    X, Y, L = random_problem(15)
    shifted = X + 1e8
    moments = Moments.from_rows(shifted, Y).with_graph(shifted, sparse.csr_array(L))
    centered = shifted - 1e8
    expected = centered.T @ L @ centered
    atol = 1e-6 * np.abs(expected).max()
    np.testing.assert_allclose(moments.H, expected, rtol=0, atol=atol)


# What is refused


@pytest.mark.parametrize("format_", ["dense", "csr_array"])
def test_other_numbers_of_rows_are_refused(format_):
    X, Y, _ = random_problem(16)
    convert = FORMATS[format_]
    with pytest.raises(ValueError, match=r"X has 60 rows and Y has 59; pass one row"):
        Moments.from_rows(convert(X), convert(Y[:-1]))


@pytest.mark.parametrize("format_", ["dense", "csr_array"])
def test_no_rows_are_refused(format_):
    convert = FORMATS[format_]
    with pytest.raises(ValueError, match=r"no rows: moments need at least one row"):
        Moments.from_rows(convert(np.zeros((0, 3))), convert(np.zeros((0, 2))))


@pytest.mark.parametrize("batches", [[], iter(())], ids=["list", "iterator"])
def test_no_batches_are_refused(batches):
    with pytest.raises(ValueError, match=r"no batches: moments need at least one"):
        Moments.from_batches(batches)


@pytest.mark.parametrize("graph_first", [True, False])
def test_a_graph_beside_none_is_refused(graph_first):
    X, Y, L = random_problem(17)
    without = Moments.from_rows(X, Y)
    parts = [without.with_graph(X, sparse.csr_array(L)), without]
    first, second = parts if graph_first else parts[::-1]
    with pytest.raises(ValueError, match=r"one part has a graph .* both without"):
        first + second


# Memory

PEAK = """
import resource, sys
import numpy as np
from scipy import sparse
from homi.graph import Neighbors, laplacian, neighbor_laplacian
from homi.moments import Moments

def peak():
    try:  # getrusage also counts the process that started this one
        with open("/proc/self/status") as status:
            return next(int(s.split()[1]) * 2**10 for s in status if "VmHWM" in s)
    except FileNotFoundError:
        unit = 1 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

n, m, s = int(sys.argv[2]), int(sys.argv[3]), 10
rng = np.random.default_rng(0)
X = sparse.random_array((n, m), density=0.005, format="csr", random_state=rng)
Y = sparse.random_array((n, 20), density=0.05, format="csr", random_state=rng)
Y.data[:] = 1
moments = Moments.from_rows(X, Y)
mean, scale = moments.x_mean, moments.scale()
moments = moments.standardized()
if sys.argv[1] == "search":
    L = neighbor_laplacian(X, s, mean=mean, scale=scale)
else:
    others = (np.arange(n)[:, None] + rng.integers(1, n, (n, s))) % n
    L = laplacian(Neighbors(others, rng.random((n, s))))
moments = moments.with_graph(X, L, scale=scale)
assert abs(np.trace(moments.Sxx) / (n * m) - 1) < 1e-9
assert L.nnz > n * s
print(peak())
"""


@pytest.mark.parametrize(
    ("graph", "n", "m", "limit"),
    [
        ("random", 40_000, 2_000, 600e6),
        pytest.param("search", 80_000, 3_000, 2**30, marks=pytest.mark.slow),
    ],
)
def test_many_sparse_rows_need_little_memory(graph, n, m, limit):
    pytest.importorskip("resource")
    child = [sys.executable, "-c", PEAK, graph, str(n), str(m)]
    run = subprocess.run(child, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < limit < 8 * n * m


def test_a_graph_may_be_added_after_standardizing():
    X, Y, L = random_problem(18)
    L = sparse.csr_array(L)
    before = Moments.from_rows(X, Y)
    one = before.with_graph(X, L).standardized()
    assert_same(before.standardized().with_graph(X, L, scale=before.scale()), one)


def test_rows_of_another_problem_are_refused():
    X, Y, L = random_problem(19)
    moments = Moments.from_rows(X, Y)
    with pytest.raises(ValueError, match=r"moments of \d+ rows, got \d+ rows of X"):
        moments.with_graph(X[1:], sparse.csr_array(L))
    with pytest.raises(ValueError, match="only rows with the same columns"):
        moments + Moments.from_rows(X[:, :1], Y)
