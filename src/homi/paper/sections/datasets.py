"""Tables 1 and 2: ranks and characteristics of the data sets."""

from __future__ import annotations

from homi.datasets.summary import Summary
from homi.paper.data_tables import LEGEND, paper_tables
from homi.paper.results import PaperResults
from homi.paper.sections.drawing import table
from homi.report.document import Listing, Prose, Section


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
