"""Every claim of the paper with a verdict."""

from __future__ import annotations

from homi.paper.claims import ENOUGH, Claim, Evidence, claims
from homi.paper.results import PaperResults
from homi.paper.sections.drawing import table
from homi.report.document import Listing, Prose, Section

_SOURCES = {
    "printed": "printed tables",
    "as-published": "as-published",
    "clean": "clean",
}


def claimed(paper: PaperResults) -> Section:
    """Return the table of claims."""
    evidence = Evidence(
        paper.summary,
        paper.seconds,
        paper.studies,
        paper.datasets,
        paper.experiment.protocols,
    )
    found = list(claims(evidence))
    columns = ["claim of the paper", "verdict", *_SOURCES.values()]
    rows = [
        [
            claim.text,
            claim.verdict,
            *(_finding(claim, name) for name in _SOURCES),
        ]
        for claim in found
    ]
    refuted = sum(claim.verdict == "not confirmed" for claim in found)
    lead = Prose(
        f"Of {len(found)} claims, {refuted} are not confirmed by any of the results "
        "that could speak to them. A share or a ratio confirms a claim from "
        f"{ENOUGH:.0%} of the claimed figure on. Where mediamill was not run, 2500 of "
        "its rows stand in for it, and the finding says so."
    )
    listing = Listing("claims", table("The paper's claims", columns, rows))
    return Section("What we could not confirm", (lead, listing))


def _finding(claim: Claim, protocol: str) -> str:
    found = claim.findings.get(protocol)
    return found.text if found else "–"
