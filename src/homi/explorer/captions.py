"""Sentences of the page that depend on the model and the data."""

from __future__ import annotations

from homi.explorer.evidence import agreement
from homi.explorer.facts import Facts

_B = {
    "labels": (
        "B was learned from the labels, together with the feature weights, as in the "
        "paper: an edge is the effect of the score of one label on another when all "
        "others are known."
    ),
    "held-out": (
        "B was learned from held-out scores and shrunk toward the identity: an edge is "
        "how much the score of one label corrects that of another."
    ),
}


def relation_captions(facts: Facts) -> dict[str, str]:
    """Return what an edge of each relation means, by its key."""
    found = {}
    for relation in facts.graph.relations:
        if relation.key == "phi":
            found["phi"] = (
                "An edge is φ, the correlation of two labels in the rows: blue if they "
                "occur together more often than by chance, orange if less often."
            )
        elif relation.key == "errors":
            found["errors"] = (
                "An edge is the partial correlation of held-out errors: what two "
                "labels say about each other beyond the features and all other labels. "
                "Blue raises, orange lowers." + _no_effect(facts)
            )
        else:
            found["B"] = _B.get(facts.model.correlation, "") + _signs(facts)
    return found


def unrelated(facts: Facts) -> str:
    """Say why there is no graph, where there is none."""
    if facts.graph.relations:
        return ""
    if len(facts.model.names) == 1:
        return "There is only one label."
    return "The model has no B. Pass labels to see how they occur together."


def _no_effect(facts: Facts) -> str:
    joint = facts.model.joint
    if joint is None or joint.has_effect:
        return ""
    return " On held-out rows it did not help to predict labels from each other."


def _signs(facts: Facts) -> str:
    """Compare the signs of B with those of the data."""
    if facts.data is None:
        return ""
    same, pairs = agreement(facts.model.B, facts.data)
    return (
        f" {same:,} of {pairs:,} entries have the sign of φ; they may differ, as φ "
        "looks at two labels alone."
    )


def size(facts: Facts) -> str:
    """Return the number of labels and rows, and the settings of the model."""
    n_labels = len(facts.model.names)
    text = f"{n_labels:,} label{'' if n_labels == 1 else 's'}"
    if facts.data is not None:
        text += f" in {facts.data.n_samples:,} rows"
    return f"{text} · {facts.model.settings}"


def judged(facts: Facts) -> str:
    """Say which rows predictions are judged by."""
    rows = facts.judged
    if rows is None:
        return ""
    count = len(rows.places)
    which = f"{rows.n_rows:,} rows"
    if count < rows.n_rows:
        which = f"{count:,} of {rows.n_rows:,} rows (evenly spaced)"
    if rows.held_out:
        return f"Measured on {which} that were passed as test rows."
    return (
        f"Measured on {which}. If the model was fitted to these rows, this is "
        "optimistic: pass rows that it has not seen."
    )


def shown(facts: Facts) -> str:
    """Say which rows can be opened."""
    total = 0 if facts.judged is None else facts.judged.n_rows
    count = len(facts.rows)
    if not total or count >= total or facts.rows[0].index is None:
        return ""
    return (
        f"{count:,} of {total:,} rows: some that other parts of this page name, and "
        "others that are evenly spaced."
    )


def audited(facts: Facts) -> str:
    """Say how labels were judged, and how many are wrong."""
    found = facts.suspects
    if found is None:
        return ""
    text = ""
    if found.n_wrong is not None:
        text = f"About {found.n_wrong:,.0f} labels of the rows judged are wrong"
        if found.plausible is not None:
            low, high = found.plausible
            text += f", plausibly {low:,.0f} to {high:,.0f}"
        text += ". "
    if not found.held_out:
        text += (
            "If the model was fitted to these rows, it may agree with their errors; "
            "for a better list, pass the result of homi.dependence.audit(model, X, y) "
            "as audit, or the file that homi audit wrote as --audit. "
        )
    return text


def compared(facts: Facts) -> str:
    """Say how often two models disagree."""
    found = facts.comparison
    if found is None:
        return ""
    differ = int(found.first.sum() + found.second.sum())
    total = found.n_rows * len(found.labels)
    return (
        f"The two models disagree about {differ:,} of {total:,} labels of "
        f"{found.n_rows:,} rows ({100 * differ / total:.1f} %): these are predicted by "
        "only one of them."
    )
