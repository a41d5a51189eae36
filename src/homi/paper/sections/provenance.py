"""How the results were made: code, versions, machine."""

from __future__ import annotations

from homi.benchmark.tables import NOT_RUN
from homi.datasets.summary import Summary
from homi.paper.data_tables import LEGEND, paper_tables
from homi.paper.results import PaperResults
from homi.paper.sections.drawing import table
from homi.report.document import Listing, Prose, Section

#: Entries that differ from cell to cell.
_OWN = ("seed", "test_rows_sha256", "data_sha256")


def provenance(paper: PaperResults) -> Section:
    """Return the table of versions, commits and machines."""
    wanted = sum(1 for _ in paper.experiment.tasks())
    there = len(paper.made_with)
    lead = Prose(
        f"{there} of {wanted} results are there. Each also has its seed, the checksum "
        "of the data and that of the rows of its test fold; `homi bench verify` "
        "computes a sample again."
    )
    rows = [
        [name, ", ".join(sorted(map(str, paper.made_with[name].dropna().unique())))]
        for name in paper.made_with.columns
        if name not in _OWN
    ]
    rows = rows or [["results", NOT_RUN]]
    caption = "Everything that the results were made with"
    return Section(
        "How this was made",
        (lead, Listing("made-with", table(caption, ["what", "which"], rows))),
    )


def datasets(paper: PaperResults) -> Section:
    """Return Tables 1 and 2."""
    measured = {
        name: Summary(**found)
        for (_, name, kind), found in paper.studies.items()
        if kind == "characteristics"
    }
    tables, notes = paper_tables(measured)
    listings = [
        Listing(f"table-{number}", table(found.title, found.columns, found.rows))
        for number, found in enumerate(tables, start=1)
    ]
    numbered = [Prose(f"[{i}] {note}") for i, note in enumerate(notes, start=1)]
    return Section("Data sets", (Prose(LEGEND), *listings, *numbered))
