"""A fitted model -> the page that shows how its labels depend on each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from homi.atomic_write import whole_file
from homi.explorer.facts import Facts, facts
from homi.explorer.page import html


def explain(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    X: Any = None,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    rows: Any = None,
    row_labels: Any = None,
    row_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    title: str = "Label explorer",
) -> Path | str:
    """Write the label explorer of a fitted ``HOMI`` or ``HOMICV``.

    These may be the last step of a pipeline or inside a ``TunedThresholds``; then rows
    are what the whole model takes, and its thresholds say what is predicted.

    One HTML file that needs no network: the graph and the matrix of B, sets of labels
    that explain a label, why a row has its scores, and what the data say.

    Parameters
    ----------
    model : HOMI, HOMICV, or a Pipeline or TunedThresholds with one inside
        Fitted.
    path : path, optional
        The file to write. It appears whole or not at all. Default: none is written,
        and the page is returned as text.
    X, y : array-like, optional
        Rows and labels to look at beside B, such as those that it was fitted to.
        Contributions to a score are counted from the mean of X.
    X_test, y_test : array-like, optional
        Rows that the model has not seen, for the quality of each label.
    rows : array-like of shape (n_rows, n_features), optional
        Rows to take apart. Default: six of X, evenly spaced.
    row_labels : array-like of shape (n_rows, n_labels), optional
        The labels that they have, if that is known.
    row_names : sequence of str, optional
        Their names. Default: "row 0", "row 1", ….
    label_names, feature_names : sequence of str, optional
        Names to show in place of the model's own.
    title : str, default="Label explorer"
        The name of the page.

    Returns
    -------
    Path or str
        The file that was written, or the text of the page if no path was given.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi import HOMI
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> page = explain(HOMI().fit(X, Y), X=X, y=Y, title="Four labels")
    >>> page.startswith("<!DOCTYPE html>"), "<title>Four labels</title>" in page
    (True, True)
    """
    known = facts(
        model,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        rows=rows,
        row_labels=row_labels,
        row_names=row_names,
        label_names=label_names,
        feature_names=feature_names,
    )
    return html(known, title) if path is None else write(known, Path(path), title)


def write(facts: Facts, path: Path, title: str) -> Path:
    """Write the page of facts, whole or not at all; the same facts give the same bytes.

    Parameters
    ----------
    facts : Facts
        What it shows.
    path : Path
        The HTML file.
    title : str
        The name of the page.

    Returns
    -------
    Path
        The file.
    """
    text = html(facts, title)
    with whole_file(path) as unfinished:
        # Names of files need not be UTF-8, and a page must be.
        unfinished.write_text(text, encoding="utf-8", errors="replace")
    return path
