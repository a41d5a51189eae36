"""Parts of a benchmark: protocols, methods by name, ablations, statistics, tables."""

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scipy import sparse, stats

from homi import HOMI
from homi.benchmark import protocols, runner
from homi.benchmark.ablations import StepWise, WithoutLabels
from homi.benchmark.cells import Cell, seed_of
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.methods import METHODS, marked, variant, with_settings
from homi.benchmark.results import means_of, read_results
from homi.benchmark.statistics import (
    average_ranks,
    friedman,
    holm,
    rank_intervals,
    stopped_last,
    wilcoxon_holm,
    wins_ties_losses,
)
from homi.datasets.dataset import Dataset
from homi.graph import neighbor_laplacian
from homi.metrics import METRICS, PAPER_METRICS
from homi.paper.comparison import gap
from homi.paper.printed import printed_results
from homi.paper.results import summarize_with_printed


def test_seeds_depend_on_the_named_parts_alone():
    one, other = Cell("clean", "yeast", "HOMI", 0), Cell("clean", "yeast", "BR", 0)
    assert one.seed("dataset") == other.seed("dataset") == seed_of("yeast")
    assert one.seed("dataset", "method") != other.seed("dataset", "method")
    # Seeds are part of stored results: they may never change.
    assert seed_of("yeast") == 3879909240


def test_folds_are_the_same_clean_and_whitened(few_rows):
    clean, white = (
        [protocols.split(protocol, "yeast", fold, 3) for fold in range(3)]
        for protocol in ("clean", "whitened")
    )
    for one, other in zip(clean, white, strict=True):
        np.testing.assert_array_equal(one.test_indices, other.test_indices)
        assert len(one.train.Y) + len(one.test.Y) == 60
    together = np.concatenate([fold.test_indices for fold in clean])
    np.testing.assert_array_equal(np.sort(together), np.arange(60))


def test_published_folds_are_those_of_seed_1(few_rows):
    """As ``np.random.seed(1)`` before an unseeded KFold shuffles them."""
    order = np.arange(60)
    np.random.RandomState(1).shuffle(order)
    for fold in range(3):
        found = protocols.split("as-published", "yeast", fold, 3).test_indices
        np.testing.assert_array_equal(found, np.sort(order[20 * fold :][:20]))


def test_the_clean_protocol_changes_nothing(few_rows):
    fold = protocols.split("clean", "yeast", 0, 3)
    np.testing.assert_array_equal(fold.test.X, few_rows.X[fold.test_indices])
    np.testing.assert_array_equal(fold.test.Y, few_rows.Y[fold.test_indices])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_published_rows_are_white(kind, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 8)) + 3.0
    given = Dataset(kind(X), np.ones((40, 2), np.int8), [], [])
    monkeypatch.setattr(protocols, "load", lambda name: given)
    white = protocols.whitened("yeast").X
    assert white.shape == (40, 5)
    np.testing.assert_allclose(white.T @ white / 40, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-10)


def test_published_enron_is_its_first_rows_twice(monkeypatch):
    rng = np.random.default_rng(0)
    given = Dataset(rng.normal(size=(1702, 3)), np.eye(1702, 5, dtype=np.int8), [], [])
    monkeypatch.setattr(protocols, "load", lambda name: given)
    X, Y = protocols.whitened("enron")
    assert len(X) == 2 * 1123
    np.testing.assert_allclose(X[:1123], X[1123:], atol=1e-12)
    np.testing.assert_array_equal(Y[:1123], given.Y[:1123])


def test_counts_of_words_become_tfidf_of_the_training_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(0.5, size=(40, 6)).astype(float))
    given = Dataset(X, np.ones((40, 2), np.int8), [], [])
    monkeypatch.setattr(protocols, "load", lambda name: given)
    protocols.rows_of.cache_clear()
    fold = protocols.split("clean", "yahoo-arts", 0, 4)
    protocols.rows_of.cache_clear()
    known = np.setdiff1d(np.arange(40), fold.test_indices)
    often = (X.toarray()[known] > 0).sum(axis=0)
    weights = X.toarray()[fold.test_indices] * (np.log(31 / (1 + often)) + 1)
    norms = np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(fold.test.X.toarray(), weights / norms)


# Methods by name, with settings.


def test_a_name_carries_settings():
    name = with_settings("HOMI", beta=0.5, standardize=False)
    assert name == "HOMI beta=0.5 standardize=false"
    assert variant(name) == ("HOMI", {"beta": 0.5, "standardize": False})
    assert variant("ML-KNN") == ("ML-KNN", {})


@pytest.mark.parametrize(
    "name", ["HOMI beta", "HOMI beta=x", "HOMI  beta=1", "HOMI =1"]
)
def test_a_setting_that_is_none(name):
    with pytest.raises(ValueError, match="is not a setting; write parameter=value"):
        variant(name)


# HOMI with a part taken out, against the equations written out.


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 7)) * np.arange(1, 8) + 2.0
    Y = (X @ rng.normal(size=(7, 4)) + rng.normal(size=(80, 4)) > 0).astype(int)
    return X, Y


def test_without_B_the_first_model_predicts(rows):
    X, Y = rows
    full, part = HOMI().fit(X, Y), WithoutLabels().fit(X, Y)
    expected = X @ full.feature_weights_ + full.feature_bias_ - 0.5
    np.testing.assert_allclose(part.decision_function(X), expected, atol=1e-10)
    np.testing.assert_array_equal(part.predict(X), expected > 0)
    np.testing.assert_allclose(part.label_correlation_, full.label_correlation_)


def test_step_by_step_learns_labels_alone_first(rows):
    """(B, t) is ridge regression of Y on Y and 1, every coefficient penalized."""
    X, Y = rows
    lam, beta = 0.7, 1.3
    model = StepWise(lam=lam, beta=beta).fit(X, Y)
    with_ones = np.column_stack([Y, np.ones(len(Y))])
    gram = beta * with_ones.T @ with_ones + lam * np.eye(5)
    expected = np.linalg.solve(gram, beta * with_ones.T @ Y)
    np.testing.assert_allclose(model.label_correlation_, expected[:-1], atol=1e-9)
    np.testing.assert_allclose(model.label_bias_, expected[-1], atol=1e-9)


def test_step_by_step_learns_features_second(rows):
    """The gradient of the objective by W and z vanishes, B and t held."""
    X, Y = rows
    lam, gamma = 0.7, 0.9
    model = StepWise(lam=lam, gamma=gamma, n_neighbors=3, standardize=False).fit(X, Y)
    W, z, B = model.feature_weights_, model.feature_bias_, model.label_correlation_
    L = neighbor_laplacian(X, 3, mean=np.zeros(7), scale=np.ones(7))
    error = X @ W + z - Y
    by_W = X.T @ error + lam * W + gamma * X.T @ (L @ (X @ W @ B)) @ B.T
    np.testing.assert_allclose(by_W, 0, atol=1e-7)
    np.testing.assert_allclose(error.sum(axis=0) + lam * z, 0, atol=1e-8)


def test_joint_learning_is_never_worse_by_the_objective(rows):
    joint, steps = HOMI(tol=1e-10).fit(*rows), StepWise().fit(*rows)
    assert sum(joint.history_[-1].values()) < sum(steps.history_[-1].values())
    assert steps.n_iter_ == 1


# Ranks, Friedman and Holm from the printed tables, against scipy and by hand.


def printed(metric):
    """Printed means of one metric: a row per data set, a column per method."""
    cells = {
        (dataset, method): value.mean
        for (name, method, dataset), value in printed_results().items()
        if name == metric
    }
    return pd.Series(cells).unstack()


def greater(metric):
    return METRICS[metric].greater_is_better


def test_all_cells_are_there():
    assert len(printed_results()) == 4 * 11 * 12
    assert printed("one_error").shape == (12, 11)


def test_ranks_by_hand():
    means = pd.DataFrame({"a": [0.1, 0.2], "b": [0.1, 0.1], "c": [0.3, 0.3]})
    low = average_ranks(means, greater_is_better=False)
    assert low.to_dict() == {"a": 1.75, "b": 1.25, "c": 3.0}
    high = average_ranks(means, greater_is_better=True)
    assert high.to_dict() == {"a": 2.25, "b": 2.75, "c": 1.0}


@pytest.mark.parametrize(
    ("metric", "f"),
    [
        ("hamming_loss", 6.26),
        ("ranking_loss", 6.97),
        ("one_error", 7.64),
        ("macro_auc", 9.98),
    ],
)
def test_friedman_of_the_printed_means(metric, f):
    means = printed(metric)
    found = friedman(means, greater_is_better=greater(metric))
    assert found.f == pytest.approx(f, abs=0.005)
    assert found.critical_value == pytest.approx(1.9178, abs=5e-5)
    peer = stats.friedmanchisquare(*means.to_numpy().T)
    assert found.chi2 == pytest.approx(peer.statistic, rel=1e-9)
    assert found.p == pytest.approx(peer.pvalue, rel=1e-9)


def test_without_ties_both_statistics_agree_with_scipy():
    rng = np.random.default_rng(0)
    means = pd.DataFrame(rng.random((9, 5)))
    found = friedman(means, greater_is_better=False)
    chi2 = stats.friedmanchisquare(*means.to_numpy().T).statistic
    expected = 8 * chi2 / (9 * 4 - chi2)
    assert found.f == pytest.approx(expected, rel=1e-9)
    assert found.f_ties == pytest.approx(expected, rel=1e-9)


def test_methods_that_always_rank_alike():
    means = pd.DataFrame([[1.0, 2.0, 3.0]] * 4)
    assert friedman(means, greater_is_better=False).f == float("inf")


@pytest.mark.parametrize("metric", PAPER_METRICS)
def test_holm_of_the_printed_means(metric):
    means = printed(metric)
    table = holm(means, "HOMI", greater_is_better=greater(metric))
    ranks = average_ranks(means, greater_is_better=greater(metric))
    for method, row in table.iterrows():
        z = (ranks["HOMI"] - ranks[method]) / np.sqrt(11 * 12 / (6 * 12))
        assert row["z"] == pytest.approx(z, rel=1e-9, abs=1e-12)
        assert row["p"] == pytest.approx(2 * stats.norm.cdf(-abs(z)), rel=1e-9)
    assert table["p"].is_monotonic_increasing
    assert table["level"].tolist() == pytest.approx(
        [0.05 / j for j in range(10, 0, -1)]
    )
    # Holm by hand: reject until the first p above its level.
    above = table["p"].to_numpy() > table["level"].to_numpy()
    first = above.argmax() if above.any() else 10
    assert table["rejected"].tolist() == [True] * first + [False] * (10 - first)


def test_critical_differences_come_from_the_same_ranks():
    """The diagram's pairwise test finds HOMI's largest differences as Holm does."""
    means = printed("hamming_loss")
    nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(means)
    table = holm(means, "HOMI", greater_is_better=False)
    assert nemenyi.loc["HOMI"].drop("HOMI").idxmin() == table.index[0] == "CLML"


def test_holm_is_that_of_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    rng = np.random.default_rng(0)
    for _ in range(5):
        means = pd.DataFrame(rng.random((9, 6)), columns=list("abcdef"))
        means["a"] -= rng.random()
        table = holm(means, "a", greater_is_better=False)
        rejected, adjusted, *_ = multitest.multipletests(table["p"], method="holm")
        np.testing.assert_allclose(table["p_holm"], adjusted)
        np.testing.assert_array_equal(table["rejected"], rejected)


def test_a_stopped_method_ranks_last():
    means = pd.DataFrame({"a": [0.1, np.nan], "b": [0.2, 0.3], "c": [np.nan, 0.1]})
    for greater, expected in ((False, [2.0, 2.0, 2.0]), (True, [2.5, 1.0, 2.5])):
        whole = stopped_last(means, greater_is_better=greater)
        ranks = average_ranks(whole, greater_is_better=greater)
        assert ranks.tolist() == expected
    assert means.isna().sum().sum() == 2


def test_intervals_of_ranks_hold_the_average_and_shrink_with_data_sets():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(100, 4)) + 0.3 * np.arange(4)
    wide = pd.DataFrame(values, columns=[*"abcd"])
    widths = []
    for n in (8, 100):
        found = rank_intervals(wide[:n], greater_is_better=True)
        ranks = average_ranks(wide[:n], greater_is_better=True)
        assert ((found["low"] <= ranks) & (ranks <= found["high"])).all()
        widths.append((found["high"] - found["low"]).mean())
    assert widths[1] < widths[0] / 2
    # Of the normal approximation: 1.96 standard errors on either side.
    ranks = wide.rank(axis=1, ascending=False)
    half = 1.96 * ranks.std() / 10
    np.testing.assert_allclose((found["high"] - found["low"]) / 2, half, rtol=0.15)


def test_wilcoxon_against_scipy_and_holm_by_hand():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(12, 3)) + np.array([0, 1, 0.2])
    means = pd.DataFrame(values, columns=[*"abc"])
    table = wilcoxon_holm(means, "a", greater_is_better=False)
    p = {m: stats.wilcoxon(means[m] - means["a"]).pvalue for m in "bc"}
    assert table["p"].to_dict() == pytest.approx(p)
    assert table.loc["b", "median"] == pytest.approx((means["b"] - means["a"]).median())
    low, high = sorted(p, key=p.get)
    assert table.loc[low, "p_holm"] == pytest.approx(2 * p[low])
    assert table.loc[high, "p_holm"] == pytest.approx(max(2 * p[low], p[high]))
    same = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]})
    assert wilcoxon_holm(same, "a", greater_is_better=True).loc["b", "p_holm"] == 1.0


def test_wins_ties_and_losses():
    gaps = pd.DataFrame(
        [
            [0.1, 0.1, 0.1],
            [0.3, -0.3, 0.05],
            [-0.2, -0.1, np.nan],
            [0.0, 0.0, 0.0],
            [np.nan] * 3,
        ]
    )
    assert wins_ties_losses(gaps) == (1, 2, 1)


# Tables of results, beside those that are printed.


def test_the_summary(few_rows, small_file, tmp_path):
    experiment = read_experiment(small_file)
    runner.run(experiment, experiment.tasks(), tmp_path)
    results = read_results(tmp_path)
    assert len(results) == 8
    summary = summarize_with_printed(results)
    here = results[(results["protocol"] == "clean") & (results["method"] == "HOMI")]
    row = summary.loc["clean", "yeast", "HOMI", "one_error"]
    assert row["mean"] == pytest.approx(here["one_error"].mean())
    assert row["std"] == pytest.approx(here["one_error"].std(ddof=1))
    assert row["folds"] == 2
    printed = printed_results()["one_error", "HOMI", "yeast"]
    assert summary.loc["printed", "yeast", "HOMI", "one_error"]["mean"] == printed.mean
    expected = (row["mean"] - printed.mean) / max(row["std"], printed.std)
    assert gap(row, summary.loc["printed", "yeast", "HOMI", "one_error"]) == (
        pytest.approx(expected)
    )
    assert means_of(summary, "printed", "one_error").shape == (12, 11)
    assert marked("ML-LRC") == "ML-LRC†"


def test_every_printed_method_can_be_run():
    assert {method for _, method, _ in printed_results()} == set(METHODS)
