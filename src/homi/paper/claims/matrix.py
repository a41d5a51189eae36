"""Claims on the matrix B of emotions; labels are spelled as in the data."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from homi.paper.claims.claim import Claim, Evidence, Finding, claim

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
        yield claim(evidence, text, _related, one, other, sign)
    text = "emotions: angry-aggresive lowers all other labels except amazed-suprised"
    yield claim(evidence, text, _angry)


def _B(evidence: Evidence, protocol: str) -> pd.DataFrame | None:
    found = evidence.studies.get((protocol, "emotions", "correlations"))
    if found is None:
        return None
    return pd.DataFrame(found["B"]["1.0"], found["labels"], found["labels"])


def _related(
    evidence: Evidence, protocol: str, one: str, other: str, sign: int
) -> Finding | None:
    B = _B(evidence, protocol)
    if B is None:
        return None
    there, back = B.loc[one, other], B.loc[other, one]
    return Finding(f"{there:+.3f} and {back:+.3f}", sign * (there + back) > 0)


def _angry(evidence: Evidence, protocol: str) -> Finding | None:
    B = _B(evidence, protocol)
    if B is None:
        return None
    row = B.loc["angry-aggresive"].drop("angry-aggresive")
    raised = list(row.index[row > 0])
    text = f"it raises {', '.join(raised) if raised else 'none'}"
    return Finding(text, raised == ["amazed-suprised"])
