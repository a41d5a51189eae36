"""Find labels that are probably wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from homi.arrays import check_label_order, dense
from homi.base.tags import Tags, indicator_of, tag_rows
from homi.base.targets import check_target
from homi.dependence.label_dependence import LabelDependence
from homi.dependence.reasons import Reasons
from homi.dependence.suspicion import Suspicion, suspicion
from homi.extras import optional
from homi.joint import JointModel
from homi.thresholds import TunedThresholds
from homi.typing import Array, MatrixLike, Names

if TYPE_CHECKING:
    from homi.dependence.audit_frame import AuditFrame


def audit(
    model: Any,
    X: MatrixLike,
    Y: MatrixLike,
    *,
    held_out: bool = True,
    n_listed: int | None = 1000,
    n_explained: int = 20,
) -> AuditFrame:
    """Find labels that are probably wrong: spurious and missing ones.

    A label is suspicious if it is improbable by the features of its row *and* the other
    labels of the row. The rates of spurious and of missing labels are estimated from
    labels that contradict even certain predictions.

    Parameters
    ----------
    model : classifier
        Multi-label classifier, fitted or not, such as ``HOMICV()``.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows.
    Y : {array-like, sparse matrix, data frame} of shape (n_samples, n_labels)
        Their labels, 0 or 1, to be audited.
    held_out : bool, default=True
        Whether to judge each row by a model that was not fitted to it: a clone of
        ``model`` is fitted to X and Y, with its own held-out scores if it has a method
        ``fit_held_out``, otherwise with five folds. False uses the fitted ``model`` as
        it is, for rows that it has not seen; on its training rows, it would agree with
        their errors.
    n_listed : int or None, default=1000
        Number of labels to list; None for all of all rows.
    n_explained : int, default=20
        Number of labels whose reason also names features.

    Returns
    -------
    found : AuditFrame
        A data frame of pandas, most suspicious first, with the columns ``row``, counted
        from 0; ``label``, its name; ``given``, 0 or 1; ``probability`` of the label by
        the features and the row's other labels; ``score``, the probability that the
        given label is wrong; ``reason``, in words. ``found.n_wrong`` estimates how many
        labels are wrong, ``found.interval`` is the range that is plausible, and
        ``found.corrected(Y)`` returns a copy of Y without the probable errors.

    Notes
    -----
    How many labels are wrong cannot be known where predictions are uncertain: noise
    looks like chance. The interval is therefore wide. It ends where even the surest
    predictions would be contradicted less often. It begins at the lower 5 % limit of
    two estimates, by features and given the other labels; if labels that are hard to
    predict look like missing ones, this is too high.

    A label that is given instead of another one agrees with the rest of its row. Such
    pairs are judged together, by features, where the likelihood of all pairs says that
    labels are swapped; the reason names the other label.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi import HOMICV
    >>> from homi.dependence import audit
    >>> X, Y = make_multilabel_classification(300, n_classes=4, random_state=0)
    >>> Y[7, 2] = 1 - Y[7, 2]
    >>> found = audit(HOMICV(widths=[], trees=False), X, Y)
    >>> list(found.columns)
    ['row', 'label', 'given', 'probability', 'score', 'reason']
    """
    if n_listed is not None and n_listed < 1:
        raise ValueError(
            f"n_listed must be at least 1, or None for all, got {n_listed}."
        )
    fixed = None if held_out else getattr(model, "label_names_", None)
    given, names = _audited(Y, fixed)
    fitted, log_odds = _log_odds(model, X, Y, held_out=held_out)
    if log_odds.shape != given.shape:
        raise ValueError(
            f"Y has shape {given.shape}, and the model scores {log_odds.shape}; pass "
            "the rows and labels of the model."
        )
    joint = fitted.joint_model_
    assert isinstance(joint, JointModel)
    found = suspicion(log_odds, given, None if held_out else joint)
    order = np.argsort(-found.wrong, axis=None, kind="stable")[:n_listed]
    cells = np.column_stack(np.unravel_index(order, given.shape))
    reasons = Reasons(fitted, joint, X, given, log_odds, names)
    return _frame(found, given, names, cells, reasons(cells, found, n_explained))


def _audited(Y: MatrixLike, fixed: Names | None) -> tuple[Array, Names]:
    """Return labels as 0 and 1, and their names: ``fixed``, those of a fitted model."""
    if fixed is not None and (tags := tag_rows(Y)) is not None:
        return _known_tags(tags, fixed), fixed
    target = check_target(Y)
    if target.encoding.kind != "multilabel-indicator":
        raise ValueError(
            "an audit needs a 0/1 column for each label, got a 1-D Y; pass "
            "Y.reshape(-1, 1) or one column per class."
        )
    check_label_order(getattr(Y, "columns", None), fixed, "Y")
    return np.asarray(dense(target.indicator), dtype=np.float64), target.names


def _known_tags(tags: list[Tags], names: Names) -> Array:
    found, others = indicator_of(tags, names)
    if others.any():
        i = int(others.argmax())
        strange = next(tag for tag in tags[i] if tag not in names)
        raise ValueError(
            f"row {i} of Y has the tag {strange!r}, which the model does not know; "
            "leave it out, or fit the model again."
        )
    return found.astype(np.float64)


def _log_odds(
    model: Any, X: MatrixLike, Y: MatrixLike, *, held_out: bool
) -> tuple[Any, Array]:
    """Return a fitted model with a joint model, and log-odds of the rows."""
    if isinstance(model, TunedThresholds):
        model = model.estimator if held_out else model.estimator_
    if not held_out:
        check_is_fitted(model)
        if getattr(model, "joint_model_", None) is None:
            raise ValueError(
                f"{type(model).__name__} has no joint model of labels; pass HOMICV, "
                "LabelDependence(...), or held_out=True to fit one."
            )
        return model, np.asarray(model.decision_function(X), dtype=np.float64)
    fitted = clone(model)
    if hasattr(fitted, "fit_held_out"):
        scores = fitted.fit_held_out(X, Y)
        if getattr(fitted, "joint_model_", None) is not None:
            return fitted, scores
        fitted = LabelDependence(model, cv="own")
    else:
        fitted = LabelDependence(model)
    return fitted, fitted.fit_held_out(X, Y)


def _frame(
    found: Suspicion,
    Y: Array,
    names: NDArray[Any],
    cells: NDArray[np.intp],
    reasons: list[str],
) -> AuditFrame:
    with optional("audit"):
        from homi.dependence.audit_frame import AuditFrame

    rows, columns = cells.T
    frame = AuditFrame(
        {
            "row": rows,
            "label": names[columns],
            "given": Y[rows, columns].astype(int),
            "probability": found.probability[rows, columns],
            "score": found.wrong[rows, columns],
            "reason": reasons,
        }
    )
    frame.attrs = {
        "n_wrong": found.n_wrong,
        "interval": list(found.interval),
        "shape": Y.shape,
        "labels": names.tolist(),
    }
    return frame
