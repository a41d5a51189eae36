"""The paper's claims, against results made up so that the answer is known."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from homi.benchmark.methods import METHODS, WITHOUT_GRAPH
from homi.benchmark.results import as_frame
from homi.metrics import PAPER_METRICS
from homi.paper.circumplex import ANGLES
from homi.paper.claims import Claim, Evidence, Finding, cases_won, claims
from homi.paper.claims.ablations import ablations
from homi.paper.claims.comparisons import comparisons
from homi.paper.claims.matrix import matrix
from homi.paper.claims.properties import properties
from homi.paper.claims.running import running
from homi.paper.comparison import comparison, side_by_side
from homi.paper.results import summarize_with_printed

DATASETS = ["emotions", "bibtex"]
REDUCED = ["HOMI-without-B", "HOMI-step-wise", WITHOUT_GRAPH]


def summary(values, folds=2):
    """From {(protocol, data set, method): loss}, equal in all folds; AUC = 1 - loss."""
    rows = [
        {
            "protocol": protocol,
            "dataset": dataset,
            "method": method,
            "fold": fold,
            "hamming_loss": loss,
            "ranking_loss": loss,
            "one_error": loss,
            "macro_auc": 1 - loss,
            "roc_auc": 1 - loss,
        }
        for (protocol, dataset, method), loss in values.items()
        for fold in range(folds)
    ]
    return summarize_with_printed(as_frame([]) if not rows else pd.DataFrame(rows))


def evidence(values, studies=None, seconds=None):
    return Evidence(
        summary(values),
        pd.DataFrame() if seconds is None else seconds,
        studies or {},
        DATASETS,
        ["clean", "as-published"],
    )


def found(told, words):
    """The first of these claims that has these words; those after it are not made."""
    return next(claim for claim in told if words in claim.text)


@pytest.fixture(scope="module")
def of_nothing():
    """All claims, where nothing was run: what the printed tables say of them."""
    return list(claims(evidence({})))


@pytest.mark.parametrize(
    ("metric", "percent", "marked", "unmarked"),
    [
        ("Hamming loss", "84.2 %", 101, 1),
        ("Ranking loss", "70.0 %", 85, 1),
        ("One-error", "65.0 %", 78, 1),
        ("Macro AUC", "90.8 %", 109, 0),
    ],
)
def test_the_printed_share(metric, percent, marked, unmarked, of_nothing):
    claim = found(of_nothing, f"{metric}: HOMI is superior")
    text = claim.findings["printed"].text
    assert text.startswith(percent)
    assert f"{marked} marked ● and {unmarked} not marked" in text
    assert claim.verdict == "confirmed"


def test_the_share_of_methods_that_homi_is_at_least_as_good_as():
    values = {("clean", "emotions", name): 0.5 for name in METHODS}
    values["clean", "emotions", "BR"] = 0.4
    values["clean", "bibtex", "HOMI"] = 0.1
    values["clean", "bibtex", "ECC"] = 0.2
    claim = found(comparisons(evidence(values)), "Hamming loss: HOMI is superior")
    # Nine ties, one loss, one win: where HOMI was not run nothing is counted.
    assert claim.findings["clean"] == Finding("90.9 % (10 of 11)", True)
    assert claim.findings["as-published"] is None


def test_cases_are_compared_at_three_decimals():
    values = {("clean", "emotions", name): 0.1234 for name in METHODS}
    values["clean", "emotions", "BR"] = 0.1233
    values["clean", "emotions", "ECC"] = 0.1224
    claim = found(comparisons(evidence(values)), "Hamming loss: HOMI is superior")
    assert claim.findings["clean"] == Finding("90.0 % (9 of 10)", True)


@pytest.mark.parametrize(
    ("loss", "verdict"),
    [(0.7, "confirmed"), (0.5, "explained by stacked rows of bibtex")],
)
def test_ratios_of_the_text(loss, verdict):
    values = {(p, "bibtex", "HOMI"): 0.1 for p in ("clean", "as-published")}
    values["as-published", "bibtex", "ML-KNN"] = 0.7
    values["clean", "bibtex", "ML-KNN"] = loss
    claim = found(comparisons(evidence(values)), "better than ML-KNN by One-error")
    assert claim.findings["printed"] == Finding("6.34 (0.837 and 0.132)", True)
    assert claim.findings["clean"].text.startswith(f"{10 * loss:.2f} (")
    assert claim.verdict == verdict


def test_the_printed_tables_contradict_the_text(of_nothing):
    """Table 8 itself does not find BR worse by ranking loss and one-error."""
    text = found(of_nothing, "significantly better than BR").findings["printed"].text
    assert text == "in 2 of 4 tests: BR by Hamming loss, BR by Macro AUC"
    text = found(of_nothing, "all first- and second-order").findings["printed"].text
    assert text.endswith("11 of 12 comparisons; not than BR by Ranking loss")
    assert found(of_nothing, "F exceeds its").findings["printed"].holds


def test_significance_needs_the_right_side():
    names = ["emotions", "bibtex", "scene", "enron", "yeast", "birds", "CAL500"]
    values = {
        ("clean", dataset, method): 0.01 * (1 + place) if method != "HOMI" else 0.001
        for dataset in names
        for place, method in enumerate(METHODS)
    }
    told = list(comparisons(replace(evidence(values), datasets=names)))
    # CLML is last but for HOMI, ECC is next to it.
    assert found(told, "GLOCAL and ML-LRC").findings["clean"].holds
    assert not found(told, "than all high-order").findings["clean"].holds
    apt = found(told, "LFLC and BILAS").findings["clean"].text
    assert "LFLC: scene 7.0, enron 7.0, bibtex 7.0" in apt
    apt = found(comparisons(evidence(values)), "LFLC and BILAS").findings["clean"]
    assert apt is None  # two data sets only
    worst = {key: 1 - loss for key, loss in values.items()}
    told = list(comparisons(replace(evidence(worst), datasets=names)))
    for others, tests in (("BR", 4), ("GLOCAL and ML-LRC", 8)):
        claim = found(told, f"significantly better than {others}")
        assert claim.findings["clean"].text == f"in 0 of {tests} tests"


def test_cases_won_are_strict():
    values = {("clean", d, "HOMI"): 0.3 for d in DATASETS}
    values["clean", "emotions", WITHOUT_GRAPH] = 0.3
    values["clean", "bibtex", WITHOUT_GRAPH] = 0.4
    table = summary(values)
    assert cases_won(table, "clean", WITHOUT_GRAPH, DATASETS) == (4, 8)
    assert cases_won(table, "as-published", WITHOUT_GRAPH, DATASETS) == (0, 0)
    assert cases_won(table, "clean", WITHOUT_GRAPH, ["emotions"]) == (0, 4)


@pytest.mark.parametrize(("loss", "verdict"), [(0.5, "confirmed"), (0.2, "not conf")])
def test_times_better(loss, verdict):
    values = {("clean", "bibtex", "HOMI"): 0.1}
    values["clean", "bibtex", "HOMI-without-B"] = loss
    claim = found(ablations(evidence(values)), "bibtex: the one-error without B")
    assert claim.verdict.startswith(verdict)
    assert f"{loss / 0.1:.2f} times" in claim.findings["clean"].text


def test_a_part_stands_in_for_the_whole():
    values = {("clean", "mediamill-2500", "HOMI"): 0.01}
    values["clean", "mediamill-2500", "HOMI-step-wise"] = 0.2
    claim = found(ablations(evidence(values)), "mediamill: the ranking loss")
    assert claim.findings["clean"].text.endswith("on mediamill-2500")
    assert claim.verdict == "confirmed"


def test_claims_of_every_kind_are_there(of_nothing):
    for words in ("by One-error", "without B", "Russell", "full rank", "50 iterations"):
        assert any(words in claim.text for claim in of_nothing)


def test_what_was_not_run(of_nothing):
    for claim in of_nothing:
        if "printed" not in claim.findings:
            assert claim.verdict == "not run"


def test_verdicts():
    yes, no = Finding("", True), Finding("", False)
    assert Claim("", {"clean": yes, "as-published": yes}).verdict == "confirmed"
    assert Claim("", {"clean": yes, "as-published": None}).verdict == "confirmed"
    assert Claim("", {"clean": no, "as-published": no}).verdict == "not confirmed"
    assert Claim("", {"clean": no, "as-published": yes}).verdict == "as-published only"
    assert Claim("", {"clean": None}).verdict == "not run"


def test_what_B_says():
    labels = ["amazed-suprised", "happy-pleased", "relaxing-calm", "quiet-still"]
    labels += ["sad-lonely", "angry-aggresive"]
    B = np.full((6, 6), -0.1)
    B[2, 3] = 0.3
    B[5, 0] = 0.2
    studies = {
        ("clean", "emotions", "correlations"): {"labels": labels, "B": {"1.0": B}}
    }
    given = evidence({}, studies)
    assert found(matrix(given), "relaxing-calm and quiet-still").verdict == "confirmed"
    assert found(matrix(given), "happy-pleased and sad-lonely").verdict == "confirmed"
    assert found(matrix(given), "lowers all other labels").verdict == "confirmed"
    B[5, 1] = 0.1
    assert found(matrix(given), "lowers all other labels").verdict == "not confirmed"
    B[4, 1] = 0.3
    assert (
        found(matrix(given), "happy-pleased and sad-lonely").verdict == "not confirmed"
    )


def test_B_as_published_is_that_of_the_small_gamma():
    labels = list(ANGLES)
    places = np.radians(list(ANGLES.values()))
    agreeing = np.cos(places[:, None] - places)
    B = {"0.01": agreeing.tolist(), "1.0": (-agreeing).tolist()}
    studies = {
        (protocol, "emotions", "correlations"): {"labels": labels, "B": B}
        for protocol in ("clean", "as-published")
    }
    claim = found(matrix(evidence({}, studies)), "Russell's circumplex")
    assert claim.findings["as-published"] == Finding("13 of 13 pairs", True)
    assert claim.findings["clean"] == Finding("0 of 13 pairs", False)
    assert claim.verdict == "explained by γ = 0.01 instead of 1"


def test_a_parameter_matters_if_a_loss_grows_by_a_tenth():
    values = {
        ("clean", "emotions", name): loss
        for name, loss in [
            ("HOMI", 0.2),
            ("HOMI gamma=0.1", 0.219),
            ("HOMI gamma=10", 0.25),
            ("HOMI lam=5", 0.1),
        ]
    }
    finding = found(properties(evidence(values)), "stable over a wide range").findings[
        "clean"
    ]
    assert finding == Finding(
        "no loss grows by more than 10% at 2 of 3 values; it does at γ = 10 (+25%)",
        False,
    )


def test_full_rank():
    studies = {
        ("clean", name, "characteristics"): {"rank": rank, "n_labels": 10}
        for name, rank in [("yeast", 10), ("corel5k", 7), ("mediamill-2500", 1)]
    }
    finding = found(properties(evidence({}, studies)), "full rank").findings["clean"]
    assert finding.text.startswith("full on 1 of 2 data sets; corel5k 7 of 10;")
    assert not finding.holds


def test_sweeps():
    fast, slow = [3.0, 1.0, 1.0], [2.0] * 60 + [1.0]
    studies = {
        ("clean", "emotions", "convergence"): {"paper": fast},
        ("clean", "bibtex", "convergence"): {"paper": slow},
    }
    claim = found(running(evidence({}, studies)), "about 50 iterations")
    assert "on 1 of 2 data sets; the slowest, bibtex, at sweep 61" in (
        claim.findings["clean"].text
    )
    assert claim.verdict == "not confirmed"


def test_times():
    seconds = pd.DataFrame({"HOMI": [1.0, 1.0], "BILAS": [2.0, np.nan]}, DATASETS)
    given = evidence({}, seconds=seconds)
    assert (
        found(running(given), "faster than BILAS")
        .findings["clean"]
        .text.endswith("1 of 1 data sets")
    )
    assert found(running(given), "faster than ECC").verdict == "not run"


def test_the_published_name_of_accuracy():
    """By the protocol that does as was published, HOMI's AUC is 1 - Hamming loss."""
    rows = [
        {
            "protocol": protocol,
            "dataset": "yeast",
            "method": method,
            "fold": 0,
            **dict.fromkeys(PAPER_METRICS, 0.25),
            "roc_auc": 0.125,
        }
        for protocol in ("clean", "as-published")
        for method in ("HOMI", "HOMI gamma=0", "HOMI-without-B", "ML-LRC", "CLML")
    ]
    table = summarize_with_printed(pd.DataFrame(rows))["mean"]
    for method in ("HOMI", "HOMI gamma=0", "HOMI-without-B", "ML-LRC"):
        assert table["as-published", "yeast", method, "macro_auc"] == 0.75
        assert table["clean", "yeast", method, "macro_auc"] == 0.125
    assert table["as-published", "yeast", "CLML", "macro_auc"] == 0.25


def texts(table, row):
    return next([e.text for e in line] for line in table.rows if line[0].text == row)


def test_comparison():
    values = {("clean", "emotions", name): 0.5 for name in METHODS}
    values["clean", "emotions", "BR"] = 0.4
    values["clean", "emotions", "ECC"] = 0.6
    values["clean", "bibtex", "HOMI"] = 0.1
    whole = comparison(summary(values), "clean", "one_error", DATASETS, folds=2)
    assert texts(whole, "BR")[1:] == ["0.400 ± 0.000 ○", "not run", "1.00"]
    assert texts(whole, "ECC")[1].endswith("●")
    assert texts(whole, "HOMI") == ["HOMI", "0.500 ± 0.000", "0.100 ± 0.000", "6.00"]
    best = {line[0].text for line in whole.rows if line[1].best}
    assert best == {"BR"}
    # Ranks need all folds; what there is is shown with its count.
    part = comparison(summary(values), "clean", "one_error", DATASETS, folds=5)
    assert texts(part, "BR")[1:] == [
        "0.400 ± 0.000 (2 of 5 folds) ○",
        "not run",
        "–",
    ]
    greater = comparison(summary(values), "clean", "macro_auc", DATASETS, folds=2)
    assert texts(greater, "BR")[-1] == "1.00"


def test_side_by_side():
    values = {("clean", "emotions", "HOMI"): 0.309}
    values["clean", "mediamill-2500", "HOMI"] = 0.2
    names = ["emotions", "mediamill-2500"]
    table = side_by_side(summary(values), "hamming_loss", names, folds=2)
    rows = [[e.text for e in line] for line in table.rows if line[0].text == "HOMI"]
    assert rows == [
        ["HOMI", "printed", "0.205 ± 0.023", "–"],
        ["HOMI", "as-published", "not run", "not run"],
        ["HOMI", "clean", "0.309 ± 0.000 (+4.5)", "0.200 ± 0.000"],
    ]


@pytest.mark.parametrize(
    ("ml_knn", "homi", "whose"),
    [
        (0.837, 0.5, "HOMI"),
        (0.5, 0.13, "the compared methods"),
        (0.5, 0.5, "HOMI and of the compared methods"),
    ],
)
def test_whose_printed_results_a_claim_needs(ml_knn, homi, whose):
    """Printed are 0.837 and 0.132, and the claim is a ratio of more than 6."""
    losses = {
        (protocol, "bibtex", name): loss
        for protocol in ("clean", "as-published")
        for name, loss in (("ML-KNN", ml_knn), ("HOMI", homi))
    }
    told = comparisons(evidence(losses))
    verdict = found(told, "more than 6 times better than ML-KNN").verdict
    assert verdict == f"explained by what is printed of {whose}"
