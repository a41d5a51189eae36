"""The page inside a notebook: a frame, and what was chosen in it."""

from __future__ import annotations

from html import escape
from importlib import resources
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
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return a frame that holds the page."""
        return (
            f'<iframe title="Label explorer" sandbox="{_SANDBOX}" '
            f'style="width:100%;height:{_HEIGHT}px;border:0" '
            f'srcdoc="{escape(self)}"></iframe>'
        )

    def widget(self) -> Any:
        """Return the page as a widget that knows what was chosen in it.

        Needs the package anywidget (``pip install 'homi-learn[notebook]'``).

        Returns
        -------
        widget : anywidget.AnyWidget
            Show it as the last line of a cell. ``widget.label`` is the name of the
            label chosen last, ``widget.row`` the number of the row, -1 for none, and
            ``widget.decisions`` lists what was decided about suspicious labels, as
            (row, label, decision). They can be observed as traits.
        """
        with optional("Page.widget"):
            import anywidget
            import traitlets

        source = resources.files("homi.explorer").joinpath("js/widget.js")

        class ExplorerWidget(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore]
            _esm = source.read_text("utf-8")
            page = traitlets.Unicode().tag(sync=True)
            label = traitlets.Unicode().tag(sync=True)
            row = traitlets.Int(-1).tag(sync=True)
            decisions: Any = traitlets.List().tag(sync=True)

        return ExplorerWidget(page=str(self))
