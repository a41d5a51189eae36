"""A claim, its evidence and its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pandas as pd

from homi.paper.data_tables import printed_tables

#: Ours: a measured share or ratio confirms a claimed one from this part of it on.
ENOUGH = 0.9


@dataclass(frozen=True)
class Evidence:
    """Results that claims are checked against."""

    summary: pd.DataFrame
    seconds: pd.DataFrame
    studies: Mapping[tuple[str, str, str], Any]
    datasets: Sequence[str]
    protocols: Sequence[str]

    def datasets_of(self, protocol: str) -> list[str]:
        """Return the data sets with results, or those of the paper if printed."""
        if protocol == "printed":
            return [entry["name"] for entry in printed_tables()]
        return list(self.datasets)

    def with_printed(self, *, homi: bool) -> Evidence:
        """Return the results as published, with printed ones of HOMI or of the others.

        They are the protocol "mixed", the only one.
        """
        found = self.summary.reset_index()
        is_printed = (found["method"] == "HOMI") == homi
        wanted = is_printed.map({True: "printed", False: "as-published"})
        mixed = found[found["protocol"] == wanted].assign(protocol="mixed")
        summary = mixed.set_index(self.summary.index.names).sort_index()
        return replace(self, summary=summary, protocols=("mixed",))


class Finding(NamedTuple):
    """What was measured, in words, and whether the claim holds."""

    text: str
    holds: bool


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and the finding of each protocol; None for no result.

    ``cause`` is why it holds as published, but not clean; ``printed_of`` is whose
    printed results must take the place of ours for it to hold as published.
    """

    text: str
    findings: dict[str, Finding | None]
    cause: str = ""
    printed_of: str = ""

    @property
    def verdict(self) -> str:
        """Whether all protocols with results confirm the claim, or some, or none."""
        holds = {name: found.holds for name, found in self.findings.items() if found}
        if not holds:
            return "not run"
        if all(holds.values()):
            return "confirmed"
        if not any(holds.values()):
            return "not confirmed"
        if self.cause and holds.get("as-published") and not holds.get("clean"):
            return f"explained by {self.cause}"
        if self.printed_of and holds.get("printed") and sum(holds.values()) == 1:
            return f"explained by what is printed of {self.printed_of}"
        return f"{' and '.join(name for name, true in holds.items() if true)} only"


def claim(
    evidence: Evidence,
    text: str,
    find: Callable[..., Finding | None],
    *arguments: Any,
    printed: bool = False,
    cause: str = "",
) -> Claim:
    """Return a claim with ``find(evidence, protocol, ...)`` for each protocol.

    With ``printed`` also for the printed tables.
    """
    protocols = [*(["printed"] if printed else []), *evidence.protocols]
    found = {name: find(evidence, name, *arguments) for name in protocols}
    needed = _printed_of(evidence, find, *arguments) if printed else ""
    return Claim(text, found, cause, needed)


def _printed_of(
    evidence: Evidence, find: Callable[..., Finding | None], *arguments: Any
) -> str:
    """Return whose printed results a claim needs to hold as published."""
    if "as-published" not in evidence.protocols:
        return ""
    for homi, name in ((True, "HOMI"), (False, "the compared methods")):
        mixed = find(evidence.with_printed(homi=homi), "mixed", *arguments)
        if mixed is None:
            return ""
        if mixed.holds:
            return name
    return "HOMI and of the compared methods"


def percent(won: int, total: int, claimed: float) -> Finding | None:
    """Compare a share of cases with the claimed one; None if there are no cases."""
    if not total:
        return None
    share = 100 * won / total
    return Finding(f"{share:.1f} % ({won} of {total})", share >= ENOUGH * claimed)
