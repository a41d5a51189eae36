"""The paper's Tables 1 and 2, printed beside what the data measure."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from homi.typing import Fields

if TYPE_CHECKING:
    from homi.datasets.summary import Summary

_TITLES = {
    "table_1": "Table 1: rank of the label matrix",
    "table_2": "Table 2: characteristics of the data sets",
}
_FIGURES = {
    "table_1": ("labels", "samples", "size", "rank"),
    "table_2": ("n", "m", "l", "LCard", "LDen", "DL"),
}


def compare_with_paper(summaries: Iterable[Summary]) -> str:
    """Return the paper's Tables 1 and 2 as Markdown, measured beside printed.

    Parameters
    ----------
    summaries : iterable of Summary
        What was measured. A data set of the paper that is missing here is shown with
        its printed figures; one that is not of the paper is shown after them.

    Returns
    -------
    str
        Two tables and their notes. A figure that differs from the printed one is
        explained there, or said to be unexplained.
    """
    measured: dict[str, Summary] = {}
    for item in summaries:
        if item.name in measured:
            raise ValueError(
                f"two summaries are named {item.name!r}; pass each data set once."
            )
        measured[item.name] = item
    tables, notes = paper_tables(measured)
    lines = [f"{number}. {note}" for number, note in enumerate(notes, start=1)]
    texts = [_markdown(table) for table in tables]
    return "\n\n".join([*texts, LEGEND, "\n".join(lines)]).strip() + "\n"


#: How a cell of the tables reads.
LEGEND = "Each cell: measured / printed in the paper. A number in brackets is a note."


class PaperTable(NamedTuple):
    """A table of the paper beside measured values, all cells as text."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def paper_tables(
    measured: Mapping[str, Summary],
) -> tuple[list[PaperTable], list[str]]:
    """Return Tables 1 and 2, and the notes that their cells refer to by number.

    Parameters
    ----------
    measured : mapping of str to Summary
        What was measured, by name.
    """
    entries = printed_tables() + _not_in_the_paper(measured)
    notes: list[str] = []
    tables = [
        PaperTable(
            title,
            ["data set", *_FIGURES[table], ""],
            [
                _row(table, entry, measured.get(entry["name"]), notes)
                for entry in entries
            ],
        )
        for table, title in _TITLES.items()
    ]
    return tables, notes


def _markdown(table: PaperTable) -> str:
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    rows = [f"| {' | '.join(line)} |" for line in cells]
    return "\n".join([f"**{table.title}**\n", *rows])


@cache
def printed_tables() -> list[Fields]:
    """Return what the paper prints for each data set, and the notes on it."""
    text = (resources.files("homi.paper") / "data_tables.toml").read_text("utf-8")
    entries: list[Fields] = tomllib.loads(text)["data_set"]
    return entries


def _not_in_the_paper(measured: Mapping[str, Summary]) -> list[Fields]:
    known = {entry["name"] for entry in printed_tables()}
    return [{"name": name} for name in measured if name not in known]


def _row(
    table: str, entry: Fields, item: Summary | None, notes: list[str]
) -> list[str]:
    """Return a row of cells, and add to the notes."""
    cells, agree = [], True
    for figure in _FIGURES[table]:
        printed = entry.get(table, {}).get(figure)
        found = None if item is None else _measured(item, figure, printed)
        agree &= found == printed
        cells.append(f"{found or '–'} / {printed or '–'}")
        note = _note(entry, figure, found, printed)
        if note is not None:
            if note not in notes:
                notes.append(note)
            cells[-1] += f" [{notes.index(note) + 1}]"
    state = "as printed" if agree else "differs"
    if item is None:
        state = "not at hand"
    elif table not in entry:
        state = "not in the paper"
    return [entry["name"], *cells, state]


def _measured(item: Summary, figure: str, printed: str | None) -> str:
    """Format a measured value with as many decimals as the paper prints."""
    n, m, l_, decimals = item.n_samples, item.n_features, item.n_labels, 3
    if printed is not None:
        decimals = len(printed.partition(".")[2])
    return {
        "labels": f"{l_}",
        "samples": f"{n}",
        "size": f"{n} × {l_}",
        "rank": f"{item.rank}",
        "n": f"{n}",
        "m": f"{m}",
        "l": f"{l_}",
        "LCard": f"{item.cardinality:.{decimals}f}",
        "LDen": f"{item.density:.{decimals}f}",
        "DL": f"{item.distinct}",
    }[figure]


def _note(
    entry: Fields, figure: str, found: str | None, printed: str | None
) -> str | None:
    """Return the note on a value; values that share a note get the same text."""
    if printed is None:
        return None
    for note in entry.get("note", []):
        subject = f"{entry['name']}, {' and '.join(note['figures'])}"
        if figure not in note["figures"]:
            continue
        if "found" not in note:
            if found is None or (found == printed and not note.get("unchecked")):
                return f"{subject}: {note['why']}"
        elif found is None:
            return (
                f"{subject}: printed {printed}; not at hand, known to be "
                f"{note['found']}. {note['why']}"
            )
        elif found == note["found"] != printed:
            return f"{subject}: printed {printed}, measured {found}. {note['why']}"
    if found is None or found == printed:
        return None
    subject = f"{entry['name']}, {figure}"
    return f"{subject}: printed {printed}, measured {found}. This is unexplained."
