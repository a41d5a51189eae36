"""The results stored with the code, and the page of HOMI at its best."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from homi.benchmark.exchange import wrong_folds
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.runner import sort_out
from homi.benchmark.store import stored, stored_studies
from homi.paper.best_page import BEFORE, ENTRIES, OURS, STEPS, best_page
from homi.paper.cell_verdicts import EXPLAINED, OPEN, REPRODUCED, cell_verdicts
from homi.paper.page import DOCUMENTED_FIGURES, documented_page
from homi.paper.published import distances, sources
from homi.paper.results import read_paper_results
from homi.paper.sections.cause import cause
from homi.paper.sections.cells import cells
from homi.paper.sections.claims import claimed
from homi.paper.sections.comparison import comparisons
from homi.paper.sections.provenance import datasets
from homi.report import Page, markdown

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "paper"


@pytest.fixture(scope="module")
def paper():
    experiment = read_experiment(ROOT / "benchmarks" / "paper.toml")
    return read_paper_results(experiment, RESULTS)


@pytest.mark.parametrize("table", sorted((ROOT / "results").glob("*.parquet")))
def test_no_stored_result_is_stale_or_foreign(table):
    experiment = read_experiment(ROOT / "benchmarks" / f"{table.stem}.toml")
    found = sort_out(experiment, table.with_suffix(""))
    assert found.current
    assert found.stale == found.foreign == []


#: Printed cells of HOMI, of data sets that are here, which no result explains.
OPEN_CELLS = {
    ("langlog", "one_error"),
    ("corel5k", "ranking_loss"),
    *(("bibtex", metric) for metric in ("ranking_loss", "one_error")),
    ("corel16k001", "one_error"),
}


def test_every_printed_cell_has_its_verdict(paper):
    verdicts = {(v.dataset, v.metric): v.verdict for v in cell_verdicts(paper)}
    found = {key for key, verdict in verdicts.items() if verdict == OPEN}
    assert {key for key in found if key[0] != "delicious"} == OPEN_CELLS
    for metric in ("hamming_loss", "ranking_loss", "one_error"):
        assert {verdicts[name, metric] for name in ("emotions", "birds")} == {
            REPRODUCED
        }
        assert {verdicts[name, metric] for name in ("yeast", "scene", "enron")} == {
            EXPLAINED
        }


def test_the_compared_methods_had_plain_rows(paper):
    """But for ML-LRC, the printed losses are far from those of stacked rows."""
    found = sources(paper.results)
    assert {name for name, rows in found.items() if rows == "whitened"} == {"ML-LRC"}
    stacked = distances(paper.results, ["enron", "bibtex"])
    assert (stacked["clean"] < stacked["whitened"]).drop("ML-LRC").all()


def test_every_result_says_how_it_was_made():
    for cell, record in stored(RESULTS):
        made = record["made_with"]
        assert len(made["commit"]) == 40, cell
        assert made["threads"] == 1
        for key in ("data_sha256", "test_rows_sha256"):
            assert len(made[key]) == 64, cell


def test_the_folds_are_stored():
    """The fold of every row of each data set, and in each cell the checksum of one."""
    studied = {
        (study.protocol, study.dataset)
        for study, _ in stored_studies(RESULTS)
        if study.kind == "folds"
    }
    assert {(cell.protocol, cell.dataset) for cell, _ in stored(RESULTS)} <= studied
    assert wrong_folds(RESULTS) == []


def test_the_tables_are_small():
    tables = list((ROOT / "results").glob("*.parquet"))
    assert {table.stem for table in tables} >= {"paper", "best"}
    assert sum(table.stat().st_size for table in tables) < 3_000_000


def test_the_page_in_the_documentation_is_theirs(paper):
    """Its tables; the figures are drawn from the same numbers."""
    makers = (cause, cells, claimed, comparisons, datasets)
    parts = tuple(make(paper) for make in makers)
    page = documented_page(Page("", "", parts))
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    sections = markdown(page).split("\n## ")[1:]
    assert len(sections) == 4
    for section in sections:
        assert section.strip() in text
    assert len(text.split()) < 6000
    figures = re.findall(r"\]\((figures/[^)]+)\)", text)
    assert sorted(figures) == [f"figures/{n}.svg" for n in sorted(DOCUMENTED_FIGURES)]
    for figure in figures:
        assert (ROOT / "docs" / figure).is_file()


def test_the_table_in_the_readme_is_theirs(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import readme

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.updated(text) == text
    assert "| **`HOMICV()`** |" in readme.table()
    sys.modules.pop("readme")


# The page of HOMI at its best, from results made up for it.


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
    assert row[2].strip() == "**1.00**"
    assert "No entry was run on three." in page
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


def test_cells_that_were_better_before_are_named():
    def with_before(frame):
        old = frame[frame["method"] == OURS].assign(method=BEFORE)
        old = old[(old["dataset"] != "two") | (old["fold"] < 4)]
        change = 0.01 * (old["fold"] - 1)
        old = old.assign(roc_auc=old["roc_auc"] + change, one_error=0.0)
        return pd.concat([frame, old.assign(hamming_loss=old["hamming_loss"] + change)])

    assert "before" not in best_page(results(), DATASETS)
    page = best_page(results(with_before), DATASETS)
    assert "in 1 of 4 cells and worse in 2; its variants" in page
    lines = [line for line in page.splitlines() if ", before " in line]
    assert [line.split(":")[0] for line in lines] == [
        "- One-error of one",
        "- Macro AUC of one",
    ]
    assert "before 0.0000" in lines[0]
    table = page.split("HOMICV less HOMICV before", 1)[1]
    assert "(-1.4)" in table.split("| one |", 1)[1].split("\n", 1)[0]
    assert table.split("| two |", 1)[1].split("|")[0].strip() == "not run"


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
