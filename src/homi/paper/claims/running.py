"""Claims on convergence and running time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from homi.paper.claims.claim import ENOUGH, Claim, Evidence, Finding, claim

#: An objective has converged within this part of its last value.
CONVERGED = 1e-3


def running(evidence: Evidence) -> Iterator[Claim]:
    """Yield the claims on convergence and running time."""
    text = "the objective converges in about 50 iterations on nearly all data sets"
    yield claim(evidence, text, _converged)
    if not evidence.seconds.empty:
        yield from _times(evidence.seconds)


def _converged(evidence: Evidence, protocol: str) -> Finding | None:
    counts = {
        dataset: sweeps_needed(found["paper"])
        for (of, dataset, kind), found in evidence.studies.items()
        if (of, kind) == (protocol, "convergence")
    }
    if not counts:
        return None
    early = sum(count <= 50 for count in counts.values())
    text = (
        f"within {CONVERGED:.1%} of the value at sweep 100 by sweep 50 on {early} of "
        f"{len(counts)} data sets; the slowest, {max(counts, key=counts.__getitem__)}, "
        f"at sweep {max(counts.values())}"
    )
    return Finding(text, early >= ENOUGH * len(counts))


def sweeps_needed(objective: Sequence[float]) -> int:
    """Return the first sweep with an objective within 0.1 % of its last value.

    Examples
    --------
    >>> sweeps_needed([9.0, 2.0, 1.0005, 1.0])
    3
    """
    values = np.asarray(objective)
    return int(np.argmax(values <= (1 + CONVERGED) * values[-1])) + 1


def _times(seconds: pd.DataFrame) -> Iterator[Claim]:
    for name in ("BILAS", "WRAP", "ECC"):
        both = seconds.reindex(columns=["HOMI", name]).dropna()
        faster = int((both["HOMI"] < both[name]).sum())
        text = f"HOMI is faster on {faster} of {len(both)} data sets"
        found = Finding(text, faster > len(both) / 2) if len(both) else None
        yield Claim(f"HOMI is usually faster than {name}", {"clean": found})
