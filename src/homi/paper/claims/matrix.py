"""Claims on the matrix B of emotions; labels are spelled as in the data.

As published has γ = 0.01, the value that gives the paper's Figure 1; clean has γ = 1,
the value of its text.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from homi.paper.circumplex import ANGLES, cosine_signs
from homi.paper.claims.claim import Claim, Evidence, Finding, claim

#: γ of each protocol.
_GAMMA = {"as-published": "0.01", "clean": "1.0"}

_CAUSE = "γ = 0.01 instead of 1"

_SIGNS = [
    ("relaxing-calm", "quiet-still", 1),
    ("amazed-suprised", "sad-lonely", -1),
    ("happy-pleased", "sad-lonely", -1),
    ("angry-aggresive", "relaxing-calm", -1),
]


def matrix(evidence: Evidence) -> Iterator[Claim]:
    """Yield the claims on the matrix B."""
    for one, other, sign in _SIGNS:
        word = "positively" if sign > 0 else "negatively"
        text = f"emotions: {one} and {other} are {word} related in B"
        yield claim(evidence, text, _related, one, other, sign, cause=_CAUSE)
    text = "emotions: angry-aggresive lowers all other labels except amazed-suprised"
    yield claim(evidence, text, _angry)
    yield claim(evidence, "emotions: the diagonal of B is large", _diagonal)
    text = "emotions: the signs of B agree with Russell's circumplex"
    yield claim(evidence, text, _russell, cause=_CAUSE)


def _B(evidence: Evidence, protocol: str) -> pd.DataFrame | None:
    found = evidence.studies.get((protocol, "emotions", "correlations"))
    if found is None:
        return None
    return pd.DataFrame(found["B"][_GAMMA[protocol]], found["labels"], found["labels"])


def _related(
    evidence: Evidence, protocol: str, one: str, other: str, sign: int
) -> Finding | None:
    B = _B(evidence, protocol)
    if B is None:
        return None
    there, back = B.loc[one, other], B.loc[other, one]
    return Finding(f"{there:+.4f} and {back:+.4f}", sign * (there + back) > 0)


def _angry(evidence: Evidence, protocol: str) -> Finding | None:
    B = _B(evidence, protocol)
    if B is None:
        return None
    row = B.loc["angry-aggresive"].drop("angry-aggresive")
    raised = list(row.index[row > 0])
    amazed = row["amazed-suprised"]
    text = f"it raises {', '.join(raised) if raised else 'none'}"
    text += f" (amazed-suprised {amazed:+.4f})"
    return Finding(text, raised == ["amazed-suprised"])


def _diagonal(evidence: Evidence, protocol: str) -> Finding | None:
    B = _B(evidence, protocol)
    if B is None:
        return None
    own = np.diagonal(B.to_numpy())
    others = np.abs(B.to_numpy() - np.diag(own)).max()
    text = f"at least {own.min():.3f}; off the diagonal at most {others:.4f}"
    return Finding(text, bool(own.min() > others))


def _russell(evidence: Evidence, protocol: str) -> Finding | None:
    B = _B(evidence, protocol)
    if B is None:
        return None
    names = list(B.index)
    signs = cosine_signs(names, [ANGLES[name] for name in names], B.to_numpy())
    judged = signs["agree"].dropna()
    agree = int(judged.sum())
    # Ours: 10 of 13, which random signs reach with a probability of 0.05.
    return Finding(f"{agree} of {len(judged)} pairs", agree >= 0.75 * len(judged))
