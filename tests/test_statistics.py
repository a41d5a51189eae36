"""Ranks, Friedman and Holm from the printed tables, against scipy and by hand."""

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scipy import stats

from homi.benchmark.statistics import (
    average_ranks,
    friedman,
    holm,
    rank_intervals,
    stopped_last,
    wilcoxon_holm,
    wins_ties_losses,
)
from homi.metrics import METRICS, PAPER_METRICS
from homi.paper.printed import printed_results


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
