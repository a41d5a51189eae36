"""The label explorer as a method of a fitted model."""

from __future__ import annotations

import os
from typing import Any

from homi.typing import MatrixLike


class ExplainMixin:
    """Add ``explain``."""

    def explain(
        self,
        path: str | os.PathLike[str] | None = None,
        X: MatrixLike | None = None,
        y: MatrixLike | None = None,
        **options: Any,
    ) -> Any:
        """Show how labels depend on each other, and why rows have theirs, on a page.

        Parameters
        ----------
        path : path, default=None
            The HTML file to write; None to get the page, which a notebook shows.
        X, y : array-like, default=None
            Rows and labels, such as those of ``fit``.
        **options
            Further options of :func:`homi.explorer.explain`: ``X_test`` and ``y_test``,
            ``rows`` to explain, an ``audit``, an ``other`` model, names and a title.

        Returns
        -------
        path or page : Path or str
            The file that was written, or the page: a str that a notebook shows.
        """
        from homi.explorer import explain

        return explain(self, path, X, y, **options)
