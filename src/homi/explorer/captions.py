"""Sentences that the page says of a model: what B means, and how much it does."""

from __future__ import annotations

import numpy as np

from homi.explorer.evidence import agreement
from homi.explorer.facts import Facts
from homi.explorer.layout import off_diagonal
from homi.explorer.pack import rounding

#: An entry below this share of the labels' own hardly moves a score.
_SMALL = 0.05

_MEANINGS = {
    "labels": (
        "B was learnt from the labels, together with the weights of the features, as "
        "in the paper. Entry (i,\u00a0j) says how the score of label i moves label j; "
        "it need not equal entry (j,\u00a0i)."
    ),
    "held-out": (
        "This B was not learnt from which labels occur together, but from scores of "
        "held-out rows, drawn to the identity (correlation = held-out). Entry "
        "(i,\u00a0j) says how far the score of label i corrects that of label j, and "
        "may differ in sign from how the two occur together."
    ),
    "identity": (
        "This model was told to learn no correlation (correlation = identity): B is "
        "the identity, labels do not move each other, and the graph has no arrows."
    ),
}


def meaning(facts: Facts) -> str:
    """What an entry of B says, which depends on what it was learnt from."""
    return _MEANINGS[facts.learnt.correlation]


def strength(facts: Facts) -> str:
    """How strong the strongest entry is beside the labels' own."""
    known = facts.learnt
    if len(facts.arrows) == 0:
        return "No entry of B off its diagonal differs from 0."
    i, j = facts.arrows[0]
    largest, own = known.B[i, j], float(np.abs(np.diag(known.B)).mean())
    number = f"{largest:+.3g}".replace("-", "−")
    text = (
        f"The strongest entry is {number} ({known.names[i]} → {known.names[j]}); "
        f"a label's own score counts {own:.2f} on average."
    )
    if abs(largest) < _SMALL * own:
        text += (
            " So B is close to the identity here: labels hardly move each other, and "
            "signs of small entries mean little. A larger λ makes labels lean more on "
            "each other, but may predict worse."
        )
    return text


def check(facts: Facts) -> str:
    """Whether the signs of B are those of the data."""
    if facts.data is None:
        return ""
    same, pairs = agreement(facts.learnt.B, facts.data)
    if pairs == 0:
        return "There is no entry of B to compare with the data."
    return (
        f"{same:,} of {pairs:,} entries of B ({same / pairs:.0%}) have the sign of φ. "
        "They need not: B tells what a label adds when all others are known, φ how two "
        "occur together."
    )


def left_out(facts: Facts) -> str:
    """What of B the page does not hold, or holds rounded."""
    n_labels = len(facts.learnt.B)
    present = int(np.count_nonzero(off_diagonal(facts.learnt.B)))
    parts = []
    if len(facts.arrows) < present:
        parts.append(
            f"The graph can draw the {len(facts.arrows):,} strongest of {present:,} "
            "entries; the matrix and the lists know all of them."
        )
    if error := rounding(facts):
        parts.append(
            f"With {n_labels:,} labels, entries of B are rounded: by {error:.1g} at "
            "most."
        )
    return " ".join(parts)
