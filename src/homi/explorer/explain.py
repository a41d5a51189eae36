"""Write the page that shows how the labels of a fitted model depend on each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from homi.atomic_write import whole_file
from homi.explorer.facts import Facts, facts
from homi.explorer.notebook import Page
from homi.explorer.page import html
from homi.typing import MatrixLike


def explain(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    X: MatrixLike | None = None,
    y: MatrixLike | None = None,
    *,
    X_test: MatrixLike | None = None,
    y_test: MatrixLike | None = None,
    rows: MatrixLike | None = None,
    row_labels: MatrixLike | None = None,
    row_names: Sequence[str] | None = None,
    row_texts: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    audit: Any = None,
    other: Any = None,
    title: str = "Label explorer",
) -> Path | Page:
    """Write the label explorer of a fitted ``HOMI`` or ``HOMICV``.

    The page is one HTML file that needs no network. It shows how labels occur together
    and depend on each other, lets a person enter known labels and see the effect,
    explains the scores of rows, lists labels that are probably wrong, and shows which
    labels are confused.

    The model may be the last step of a pipeline or inside a ``TunedThresholds``. Rows
    are then the input of the whole model, and its thresholds are used. The page of a
    ``LabelDependence`` of any classifier, or of another classifier of homi, has all but
    the contributions to scores.

    Parameters
    ----------
    model : HOMI, HOMICV, LabelDependence or another classifier of homi
        The fitted model, or a Pipeline or TunedThresholds with one inside.
    path : path, optional
        The file to write, atomically. Default: no file is written, and the page is
        returned; a notebook shows it.
    X, y : array-like, optional
        Rows and labels, such as the training data: how labels occur together is counted
        in them, and contributions to a score are relative to the mean of X.
    X_test, y_test : array-like, optional
        Rows and labels that the model was not fitted to. Predictions are judged by
        these, or else by X and y, which is optimistic.
    rows : array-like of shape (n_rows, n_features), optional
        Rows to explain. Default: up to 150 of those judged, with the rows of suspicious
        and confused labels among them.
    row_labels : array-like of shape (n_rows, n_labels), optional
        True labels of ``rows``, if known.
    row_names, row_texts : sequence of str, optional
        Names of the rows, and a text, a link or the path of an image to show of each:
        of ``rows``, or else of all rows judged. Default: the index and the texts of a
        data frame, or texts that are rows; otherwise "row 0", "row 1", ….
    label_names, feature_names : sequence of str, optional
        Names to show instead of the model's own.
    audit : AuditFrame or mapping, optional
        Result of :func:`homi.dependence.audit` of X and y. Default: the labels of the
        rows judged are audited by the fitted model.
    other : classifier or OtherModel, optional
        A second fitted model of the same rows, to show where the two disagree.
    title : str, default="Label explorer"
        Title of the page.

    Returns
    -------
    Path or str
        The file that was written, or the page if no path was given: a ``Page``, a
        str that a notebook shows.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi import HOMI
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> page = explain(HOMI().fit(X, Y), X=X, y=Y, title="Four labels")
    >>> page.startswith("<!DOCTYPE html>"), "<title>Four labels</title>" in page
    (True, True)
    """
    if path is not None and not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"path must be the name of a file, got {_kind(path)}; pass data by name: "
            "explain(X=X, y=y), explain('labels.html', X, y), or for one row why(x)."
        )
    known = facts(
        model,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        rows=rows,
        row_labels=row_labels,
        row_names=row_names,
        row_texts=row_texts,
        label_names=label_names,
        feature_names=feature_names,
        audit=audit,
        other=other,
    )
    if path is None:
        return Page(html(known, title))
    return write(known, Path(path), title)


def _kind(data: Any) -> str:
    shape = getattr(data, "shape", None)
    return f"a {type(data).__name__}" + (f" of shape {shape}" if shape else "")


def write(facts: Facts, path: Path, title: str) -> Path:
    """Write the page atomically; the same facts give the same bytes.

    Parameters
    ----------
    facts : Facts
        What the page shows.
    path : Path
        The HTML file.
    title : str
        Title of the page.

    Returns
    -------
    Path
        The file.
    """
    text = html(facts, title)
    with whole_file(path) as unfinished:
        # File names need not be UTF-8, but the page must be.
        unfinished.write_text(text, encoding="utf-8", errors="replace")
    return path
