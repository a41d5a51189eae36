"""Labels that are probably wrong, for a person to decide about."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from homi.dependence.reasons import Reasons
from homi.dependence.suspicion import suspicion
from homi.explorer.model import innermost
from homi.joint import JointModel
from homi.typing import Array, Matrix

#: Labels that are listed.
_MOST = 300


class Suspect(NamedTuple):
    """A given label that is probably wrong; fields as in :func:`homi.audit`."""

    row: int
    label: int
    given: int
    probability: float
    score: float
    reason: str


class Suspects(NamedTuple):
    """Suspicious labels, most suspicious first.

    ``held_out`` says whether rows were judged by a model not fitted to them, as far as
    that is known; ``n_wrong`` estimates the number of wrong labels, and ``plausible``
    is the range that it may lie in.
    """

    listed: list[Suspect]
    n_wrong: float | None
    plausible: tuple[float, float] | None
    held_out: bool


def find_suspects(
    model: Any,
    joint: JointModel,
    rows: tuple[Matrix, Array, Array],
    names: list[str],
    *,
    held_out: bool,
) -> Suspects:
    """Judge the given labels of rows by the fitted model.

    Parameters
    ----------
    model : classifier
        The fitted model.
    joint : JointModel
        Its joint model of labels.
    rows : tuple of X, log-odds and given labels
        Rows as the innermost model takes them.
    names : list of str
        Names of the labels.
    held_out : bool
        Whether the model has not seen these rows.
    """
    X, log_odds, Y = rows
    found = suspicion(log_odds, Y, joint)
    order = np.argsort(-found.wrong, axis=None, kind="stable")[:_MOST]
    cells = np.column_stack(np.unravel_index(order, Y.shape))
    reasons = Reasons(innermost(model), joint, X, Y, log_odds, np.asarray(names))
    # Features are no part of a reason here: the row, which can be opened, shows them.
    listed = [
        Suspect(
            int(i),
            int(j),
            int(Y[i, j]),
            float(found.probability[i, j]),
            float(found.wrong[i, j]),
            reason,
        )
        for (i, j), reason in zip(cells, reasons(cells, found, 0), strict=True)
    ]
    return Suspects(listed, found.n_wrong, found.interval, held_out)


def suspects_of_audit(audit: Any, names: list[str]) -> Suspects:
    """Return the first labels of an audit: a data frame or a dict of columns.

    Parameters
    ----------
    audit : AuditFrame or mapping
        Columns of :func:`homi.dependence.audit`.
    names : list of str
        Names of the labels of the model.
    """
    place = {name: j for j, name in enumerate(names)}
    columns = [list(audit[name])[:_MOST] for name in Suspect._fields]
    listed = []
    for row, label, given, probability, score, reason in zip(*columns, strict=True):
        if str(label) not in place:
            raise ValueError(
                f"the audit is about the label {str(label)!r}, which the model does "
                "not have; pass an audit of the same labels."
            )
        numbers = int(given), float(probability), float(score)
        listed.append(Suspect(int(row), place[str(label)], *numbers, str(reason)))
    facts = getattr(audit, "attrs", {})
    n_wrong, plausible = facts.get("n_wrong"), facts.get("interval")
    return Suspects(listed, n_wrong, plausible, held_out=True)
