"""Figures and rows of text, as items of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.figure import Figure

from homi.benchmark.figures import pdf, svg
from homi.benchmark.tables import Entry, Table
from homi.report.document import Picture


def picture(name: str, caption: str, figure: Figure, alt: str) -> Picture:
    """Return a figure as SVG and PDF."""
    return Picture(name, caption, svg(figure, name), pdf(figure), alt)


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table of plain text."""
    entries = tuple(tuple(Entry(cell) for cell in row) for row in rows)
    return Table(caption, tuple(columns), entries)
