"""Every claim of the paper with a verdict."""

from __future__ import annotations

from homi.paper.claims import ENOUGH, INSENSITIVE, Claim, Evidence, claims
from homi.paper.results import PaperResults
from homi.paper.sections.drawing import table
from homi.report.document import Listing, Prose, Section

_SOURCES = {
    "printed": "printed tables",
    "as-published": "as-published",
    "clean": "clean",
}


def claim_evidence(paper: PaperResults) -> Evidence:
    """Return what claims are checked against."""
    return Evidence(
        paper.summary,
        paper.seconds,
        paper.studies,
        paper.datasets,
        paper.protocols,
    )


def claimed(paper: PaperResults) -> Section:
    """Return the table of claims."""
    found = list(claims(claim_evidence(paper)))
    columns = ["claim of the paper", "verdict", *_SOURCES.values()]
    rows = [
        [
            claim.text,
            claim.verdict,
            *(_finding(claim, name) for name in _SOURCES),
        ]
        for claim in found
    ]
    verdicts = [claim.verdict for claim in found]
    refuted = verdicts.count("not confirmed")
    explained = sum(verdict.startswith("explained") for verdict in verdicts)
    in_print = sum("what is printed" in verdict for verdict in verdicts)
    partly = sum(verdict.endswith("only") for verdict in verdicts)
    rest = f"; {partly} hold only where the verdict says" if partly else ""
    lead = Prose(
        f"Of {len(found)} claims, {verdicts.count('confirmed')} are confirmed by all "
        f"results that can speak to them, {explained - in_print} hold as published and "
        f"are explained by how it was run, {in_print} hold in the printed tables only, "
        f"and {refuted} are confirmed by none{rest}. A claim that holds in the printed "
        "tables only is explained by what is printed of HOMI, of the compared methods, "
        "or of both: with those numbers in the place of ours it holds as published. "
        "Cases are compared at three decimals, as printed. Thresholds are ours: a "
        f"share or a ratio confirms a claim from {ENOUGH:.0%} of the claimed figure "
        "on, from 80% where the paper says nearly; parameters matter if a loss grows "
        f"by more than {INSENSITIVE:.0%}. B as published is that of γ = 0.01, which "
        "gives the paper's Figure 1. Where mediamill was not run, 2500 of its rows "
        "stand in for it, and the finding says so."
    )
    listing = Listing("claims", table("The paper's claims", columns, rows))
    return Section("Claims", (lead, listing))


def _finding(claim: Claim, protocol: str) -> str:
    found = claim.findings.get(protocol)
    return found.text if found else "–"
