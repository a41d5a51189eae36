"""The page of HOMI at its best, from results made up for it."""

import numpy as np
import pandas as pd
import pytest

from homi.benchmark.experiment_file import read_experiment
from homi.paper.best_page import ENTRIES, OURS, STEPS, best_page

DATASETS = ("one", "two", "three")


def results(change=None):
    """Every entry and step with losses by its place, ours the least everywhere."""
    rng = np.random.default_rng(0)
    names = list(dict.fromkeys([*ENTRIES, *STEPS.values()]))
    rows = []
    for dataset in DATASETS[:2]:
        for place, method in enumerate(names):
            loss = 0.01 if method == OURS else 0.1 + 0.01 * place
            for fold in range(5):
                now = loss + 1e-4 * rng.normal()
                rows.append(
                    {
                        "protocol": "clean",
                        "dataset": dataset,
                        "method": method,
                        "fold": fold,
                        "hamming_loss": now,
                        "ranking_loss": now,
                        "one_error": now,
                        "macro_auc": 0.5,
                        "roc_auc": 1 - now,
                    }
                )
    frame = pd.DataFrame(rows)
    return frame if change is None else change(frame)


def row_of(page, title, first):
    """The row of a name in the first table under a title."""
    part = page.split(f"{title}\n\n|", 1)[1].split("\n\n", 1)[0]
    return next(line for line in part.splitlines() if line.startswith(f"| {first} "))


def test_ours_is_first_where_it_is():
    page = best_page(results(), DATASETS)
    row = row_of(page, "Hamming loss", OURS).split("|")[2:-1]
    assert row[0].strip().startswith(("**0.01", "**0.00"))
    assert row[2].strip() == "not run"
    assert row[-1].strip() == "**1.00**"
    assert "Nowhere." in page
    assert "average rank (2 data sets)" in page


def test_who_is_ahead_is_named_with_the_distance():
    def worse(frame):
        there = (frame["method"] == OURS) & (frame["dataset"] == "two")
        return frame.assign(one_error=frame["one_error"] + 0.125 * there)

    page = best_page(results(worse), DATASETS)
    line = next(line for line in page.splitlines() if line.startswith("- "))
    assert line.startswith("- One-error, two: place 5, 0.13")
    assert " of ECC " in line
    assert "Hamming loss, two: place" not in page


def test_differences_are_in_standard_errors():
    def paired(frame):
        rival = frame["method"] == "tuned-ridge"
        ours = frame[frame["method"] == OURS].set_index(["dataset", "fold"])
        keys = pd.MultiIndex.from_frame(frame[["dataset", "fold"]])
        base = ours["ranking_loss"].reindex(keys).to_numpy()
        moved = base + 0.1 + 0.01 * frame["fold"]
        return frame.assign(ranking_loss=frame["ranking_loss"].where(~rival, moved))

    page = best_page(results(paired), DATASETS)
    row = page.split("HOMICV less tuned-ridge", 1)[1].split("| one |", 1)[1]
    error = np.std([0.0, 0.01, 0.02, 0.03, 0.04], ddof=1) / np.sqrt(5)
    assert row.split("|")[1].strip() == f"+0.1200 (+{0.12 / error:.1f})"


def test_an_entry_without_all_folds_is_not_compared():
    def cut(frame):
        return frame[~((frame["method"] == "ECC") & (frame["fold"] == 4))]

    page = best_page(results(cut), DATASETS)
    assert "not run" in row_of(page, "Hamming loss", "ECC")
    assert "average rank (0 data sets)" in page
    # And no other is called the best there.
    assert "**" not in row_of(page, "Hamming loss", OURS)


@pytest.fixture
def repository(request):
    return request.config.rootpath


def test_every_step_is_asked_for_in_the_experiments(repository):
    experiments = [
        read_experiment(repository / "benchmarks" / f"{name}.toml")
        for name in ("best", "paper")
    ]
    asked = {name for e in experiments for name in (*e.methods, *e.baselines)}
    assert {*STEPS.values(), *ENTRIES} <= asked
