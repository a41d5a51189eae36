"""Seeded problems, and the real data where they are at hand."""

import faulthandler
import os
import signal
import sys

import numpy as np
import polars as pl
import pytest
import sklearn
from hypothesis import settings
from sklearn.base import clone
from sklearn.model_selection import KFold

import experiments
from browser import LABELS, MANY, Opened, launched, tab_of, written
from homi.benchmark import protocols, studies
from homi.benchmark.experiment_file import read_experiment
from homi.datasets import Dataset, load
from homi.datasets.load import at_hand
from homi.graph import neighbor_laplacian
from homi.metrics import PAPER_METRICS, evaluate, macro_auc
from homi.model import final_odds
from homi.moments import Moments
from homi.solver import Problem

# A slow machine is no error.
settings.register_profile("homi", deadline=None, max_examples=40)
settings.load_profile("homi")

if os.name == "posix":
    # Workers of Dask are forked from a process that has imported most already.
    os.environ["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = "forkserver"


def random_rows(seed=0, n=40, m=8, q=4):
    """Features around a mean, and labels that depend on them and on each other."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) + rng.normal(size=m)
    signal = X @ rng.normal(size=(m, q))
    signal[:, -1] += 2 * signal[:, 0]
    noise = rng.normal(size=(n, q))
    return X, (signal + noise > np.median(signal, axis=0)).astype(float)


@pytest.fixture
def few_rows(monkeypatch):
    """Few enough rows that a fit takes milliseconds, whatever the data set."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    Y = (X @ rng.normal(size=(6, 3)) > 0).astype(np.int8)
    given = Dataset(X, Y, list("abcdef"), list("xyz"))
    monkeypatch.setattr(protocols, "load", lambda name: given)
    monkeypatch.setattr(studies, "load", lambda name: given)
    protocols.rows_of.cache_clear()
    yield given
    protocols.rows_of.cache_clear()


@pytest.fixture
def small_file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(experiments.SMALL, encoding="utf-8")
    return path


@pytest.fixture
def full_file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(experiments.FULL, encoding="utf-8")
    return path


@pytest.fixture
def experiment(full_file):
    return read_experiment(full_file)


def make_problem(X, Y, n_neighbors=5, *, standardize=False, **hyper):
    moments = Moments.from_rows(X, Y)
    mean, scale = None, None
    if standardize:
        mean, scale = moments.x_mean, moments.scale()
    L = neighbor_laplacian(X, n_neighbors, mean=mean, scale=scale)
    moments = moments.with_graph(X, L)
    return Problem(moments.standardized() if standardize else moments, **hyper)


SKLEARN = tuple(map(int, sklearn.__version__.split(".")[:2]))

#: Data frames of polars, where names of features are expected.
POLARS = pytest.param(
    pl.DataFrame,
    marks=pytest.mark.xfail(
        SKLEARN < (1, 9) and not hasattr(pl.DataFrame, "__dataframe__"),
        reason="scikit-learn before 1.9 does not see the column names of polars 2",
    ),
)

#: scikit-learn has callbacks since 1.9; before, set_callbacks refuses them.
HAS_CALLBACKS = SKLEARN >= (1, 9)
needs_callbacks = pytest.mark.skipif(
    not HAS_CALLBACKS, reason="callbacks need scikit-learn 1.9"
)


class Callback:
    """A callback of scikit-learn's that does nothing but hear."""

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass


class Watch(Callback):
    """Counts sweeps, keeps a model of each, and may stop the fit."""

    max_propagation_depth = None

    def __init__(self, stop_after=None):
        self.objectives, self.models = [], []
        self.stop_after = stop_after

    def on_fit_task_end(self, estimator, context, *, metadata, fitted_estimator):
        if context.task_name != "sweep":
            return False
        self.objectives.append(sum(metadata["objective"].values()))
        self.models.append(fitted_estimator)
        return len(self.objectives) == self.stop_after


class FiveFolds:
    """Values of the paper's four metrics, one row per fold."""

    def __init__(self, values):
        self.means = np.mean(values, axis=0)
        self.deviations = np.std(values, axis=0, ddof=1)

    def agree_with(self, means, deviations=2.0):
        """Means of an independent run, None for one that is not compared."""
        compared = np.array([mean is not None for mean in means])
        gaps = np.abs(self.means - np.array(means, dtype=float))[compared]
        # The figures to compare with are rounded to three digits.
        allowed = deviations * self.deviations[compared] + 0.0005
        assert (gaps <= allowed).all(), (self.means, self.deviations, means)


def five_folds(model, dataset):
    """Cross-validate; labels without an AUC count as 0, as in the runs compared."""
    X, Y, *_ = dataset
    values = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        fitted = clone(model).fit(X[train], Y[train])
        scores = fitted.ranking_scores(X[test])
        labels = fitted.predict(X[test])
        values.append(
            [
                *evaluate(Y[test], scores, labels, PAPER_METRICS[:3]).values(),
                macro_auc(Y[test], scores, undefined="zero"),
            ]
        )
    return FiveFolds(values)


def pytest_configure():
    """Programs that tests start can be interrupted, also if tests run in background.

    A shell makes its background jobs ignore SIGINT, which their children inherit.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionfinish():
    """What libraries leave behind must not keep a process from ending.

    It says where it hangs. All tests have been told of by then, so that they decide.
    """
    faulthandler.dump_traceback_later(60, exit=True, file=sys.__stderr__)


def pytest_unconfigure():
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True, scope="session")
def cache_of_the_tests(tmp_path_factory):
    """What tests parse or fetch stays out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMI_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


#: Trees of a forest of HOMICV, and how many most tests grow.
ALL_TREES, FEW_TREES = final_odds.TREES, 20


@pytest.fixture(autouse=True, scope="session")
def forests_of_the_tests():
    """Forests are small where a test does not ask for ``all_trees``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(final_odds, "TREES", FEW_TREES)
        yield


@pytest.fixture(scope="module")
def all_trees():
    """As many trees as HOMICV grows for a user, until the module ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(final_odds, "TREES", ALL_TREES)
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


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory):
    """A directory with ``results`` of the quick experiment, and their ``report``."""
    directory = tmp_path_factory.mktemp("quick")
    assert "20 of 20 tasks to run" in experiments.run(directory / "results")
    experiments.report(directory / "results", directory / "report")
    return directory


@pytest.fixture(scope="module")
def chromium():
    """A real browser, for the tests of one module."""
    with launched() as browser:
        yield browser


@pytest.fixture
def tab(chromium):
    """A fresh tab; the test fails if its page complains or asks the network."""
    with tab_of(chromium) as tab:
        yield tab


@pytest.fixture(scope="session")
def page_of_six(tmp_path_factory):
    return written(tmp_path_factory.mktemp("six"), 6, LABELS)


@pytest.fixture(scope="session")
def page_of_many(tmp_path_factory):
    return written(tmp_path_factory.mktemp("many"), 983, MANY)


@pytest.fixture
def six(tab, page_of_six):
    """The label explorer of six labels."""
    return Opened(tab, page_of_six)


@pytest.fixture
def many(tab, page_of_many):
    """The label explorer of 983 labels."""
    return Opened(tab, page_of_many)
