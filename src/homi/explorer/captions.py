"""Captions of the page: the meaning and the strength of B."""

from __future__ import annotations

import numpy as np

from homi.explorer.evidence import agreement
from homi.explorer.facts import Facts
from homi.explorer.layout import off_diagonal
from homi.explorer.pack import rounding

#: An entry below this share of the mean diagonal hardly changes a score.
_SMALL = 0.05

_MEANINGS = {
    "labels": (
        "B was learned from the labels, together with the feature weights, as in the "
        "paper. Entry (i,\u00a0j) is the effect of the score of label i on label j; "
        "it need not equal entry (j,\u00a0i)."
    ),
    "held-out": (
        "B was not learned from which labels occur together, but from held-out scores, "
        "and was shrunk toward the identity (correlation = held-out). Entry "
        "(i,\u00a0j) is how much the score of label i corrects that of label j. Its "
        "sign may differ from that of the correlation of the two labels."
    ),
    "identity": (
        "This model learns no correlation (correlation = identity): B is the identity, "
        "labels do not affect each other, and the graph has no arrows."
    ),
}


def meaning(facts: Facts) -> str:
    """Explain an entry of B, which depends on how B was learned."""
    return _MEANINGS[facts.model.correlation]


def strength(facts: Facts) -> str:
    """Compare the strongest entry with the diagonal."""
    known = facts.model
    if len(facts.arrows) == 0:
        return "No entry of B off its diagonal differs from 0."
    i, j = facts.arrows[0]
    largest, own = known.B[i, j], float(np.abs(np.diag(known.B)).mean())
    number = f"{largest:+.3g}".replace("-", "−")
    text = (
        f"The strongest entry is {number} ({known.names[i]} → {known.names[j]}); "
        f"the diagonal is {own:.2f} on average."
    )
    if abs(largest) < _SMALL * own:
        text += (
            " B is close to the identity: labels hardly affect each other, and the "
            "signs of small entries mean little. A larger λ makes labels depend more "
            "on each other, but predictions may get worse."
        )
    return text


def check(facts: Facts) -> str:
    """Compare the signs of B with those of the data."""
    if facts.data is None:
        return ""
    same, pairs = agreement(facts.model.B, facts.data)
    if pairs == 0:
        return "B has no entry to compare with the data."
    return (
        f"{same:,} of {pairs:,} entries of B ({same / pairs:.0%}) have the sign of φ. "
        "They may differ: B is the effect of a label when all others are known, φ the "
        "correlation of two labels alone."
    )


def left_out(facts: Facts) -> str:
    """Say which entries of B the page omits or rounds."""
    n_labels = len(facts.model.B)
    present = int(np.count_nonzero(off_diagonal(facts.model.B)))
    parts = []
    if len(facts.arrows) < present:
        parts.append(
            f"The graph can show the {len(facts.arrows):,} strongest of {present:,} "
            "entries; the matrix and the lists have all of them."
        )
    if error := rounding(facts):
        parts.append(
            f"With {n_labels:,} labels, entries of B are rounded, by at most "
            f"{error:.1g}."
        )
    return " ".join(parts)
