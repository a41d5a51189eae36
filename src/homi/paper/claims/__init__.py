"""Claims of the paper, and whether the stored results confirm them."""

from __future__ import annotations

from collections.abc import Iterator

from homi.paper.claims.ablations import ablations, cases_won
from homi.paper.claims.claim import ENOUGH, Claim, Evidence, Finding
from homi.paper.claims.comparisons import comparisons
from homi.paper.claims.matrix import matrix
from homi.paper.claims.properties import INSENSITIVE, properties, stable
from homi.paper.claims.running import CONVERGED, running, sweeps_needed

__all__ = [
    "CONVERGED",
    "ENOUGH",
    "INSENSITIVE",
    "Claim",
    "Evidence",
    "Finding",
    "cases_won",
    "claims",
    "stable",
    "sweeps_needed",
]


def claims(evidence: Evidence) -> Iterator[Claim]:
    """Yield every claim of the paper that these results can check."""
    for part in (comparisons, ablations, matrix, properties, running):
        yield from part(evidence)
