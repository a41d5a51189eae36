"""The results stored with the code: what they say, and what is said of them."""

import re
import sys
from pathlib import Path

import pytest

from homi.benchmark.exchange import wrong_folds
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.runner import sort_out
from homi.benchmark.store import stored, stored_studies
from homi.metrics import PAPER_METRICS
from homi.paper.cell_verdicts import EXPLAINED, OPEN, REPRODUCED, cell_verdicts
from homi.paper.page import DOCUMENTED_FIGURES, documented_page
from homi.paper.published import distances, sources
from homi.paper.results import read_paper_results
from homi.paper.sections.cause import cause
from homi.paper.sections.cells import cells
from homi.paper.sections.claims import claimed
from homi.paper.sections.comparison import comparisons
from homi.paper.sections.provenance import datasets, provenance
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
    *(("CAL500", metric) for metric in ("ranking_loss", "one_error")),
    *(("langlog", metric) for metric in PAPER_METRICS),
    *(("corel5k", metric) for metric in ("ranking_loss", "one_error")),
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
    makers = (cause, cells, claimed, comparisons, datasets, provenance)
    parts = tuple(make(paper) for make in makers)
    page = documented_page(Page("", "", parts))
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    sections = markdown(page).split("\n## ")[1:]
    assert len(sections) == 6
    for section in sections:
        assert section.strip() in text
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
