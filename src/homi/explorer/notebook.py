"""The page inside a notebook: a frame, and what was chosen in it."""

from __future__ import annotations

from html import escape
from importlib import resources
from importlib.util import find_spec
from typing import Any

from homi.extras import optional

#: Pixels of the frame in a cell.
_HEIGHT = 760

#: The page runs its script, gives a file to download, and can do nothing else.
_SANDBOX = "allow-scripts allow-downloads"


class Page(str):
    """Text of an HTML page, which a notebook shows in its cell.

    It is a ``str``: write it to a file, or show it. The frame needs no network, and the
    page cannot reach the notebook.

    With the package anywidget (``pip install 'homi-learn[notebook]'``), the attributes
    have what was chosen in the cell.

    Attributes
    ----------
    label : str
        Name of the label chosen last; empty for none.
    row : int
        Number of the row opened last; -1 for none.
    decisions : list
        Decisions about suspicious labels: (row, label, decision).
    """

    def __repr__(self) -> str:
        """Return a short text: a notebook stores it beside the page."""
        return f"<Page of {len(self):,} characters>"

    def _repr_html_(self) -> str:
        """Return a frame that holds the page."""
        return (
            f'<iframe title="Label explorer" sandbox="{_SANDBOX}" '
            f'style="width:100%;height:{_HEIGHT}px;border:0" '
            f'srcdoc="{escape(self)}"></iframe>'
        )

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return the widget, if anywidget is installed; notebooks add the frame."""
        if find_spec("anywidget") is None:
            return {}
        return self.widget()._repr_mimebundle_(**options)

    @property
    def label(self) -> str:
        """Name of the label chosen last in the cell; empty for none."""
        return str(self.widget().label)

    @property
    def row(self) -> int:
        """Number of the row opened last in the cell; -1 for none."""
        return int(self.widget().row)

    @property
    def decisions(self) -> list[list[Any]]:
        """Decisions about suspicious labels: row, label and decision."""
        return list(self.widget().decisions)

    def widget(self) -> Any:
        """Return the widget of the page, the same at every call.

        Needs the package anywidget (``pip install 'homi-learn[notebook]'``).

        Returns
        -------
        widget : anywidget.AnyWidget
            Its traits ``label``, ``row`` and ``decisions`` can be observed.
        """
        if not hasattr(self, "_widget"):
            self._widget = _widget(str(self))
        return self._widget


def _widget(page: str) -> Any:
    with optional("what was chosen in a page"):
        import anywidget
        import traitlets

    source = resources.files("homi.explorer").joinpath("js/widget.js")

    class ExplorerWidget(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore]
        _esm = source.read_text("utf-8")
        page = traitlets.Unicode().tag(sync=True)
        label = traitlets.Unicode().tag(sync=True)
        row = traitlets.Int(-1).tag(sync=True)
        decisions: Any = traitlets.List().tag(sync=True)

    return ExplorerWidget(page=page)
