"""Claims on the rank of the labels and on sensitivity to parameters."""

from __future__ import annotations

from collections.abc import Iterator

from homi.benchmark.methods import variant
from homi.paper.claims.claim import Claim, Evidence, Finding, claim
from homi.paper.data_tables import printed_tables
from homi.paper.published import LOSSES
from homi.paper.results import SYMBOLS

#: Ours: a parameter matters if it makes a loss larger by more than this share.
INSENSITIVE = 0.1


def properties(evidence: Evidence) -> Iterator[Claim]:
    """Yield the claims on rank and sensitivity."""
    text = "the label matrix has full rank, or nearly"
    yield Claim(text, {"clean": _rank(evidence)})
    text = "emotions: HOMI is stable over a wide range of β, γ, λ and s"
    yield claim(evidence, text, stable)


def _rank(evidence: Evidence) -> Finding | None:
    known = {entry["name"] for entry in printed_tables()}
    found = {
        dataset: (int(item["rank"]), int(item["n_labels"]))
        for (_, dataset, kind), item in evidence.studies.items()
        if kind == "characteristics" and dataset in known
    }
    if not found:
        return None
    lacking = {name: pair for name, pair in found.items() if pair[0] < pair[1]}
    text = f"full on {len(found) - len(lacking)} of {len(found)} data sets"
    text += "".join(f"; {name} {r} of {n}" for name, (r, n) in lacking.items())
    text += "; but see how few components hold most of Y"
    return Finding(text, all(r > 0.9 * n for r, n in found.values()))


def stable(evidence: Evidence, protocol: str) -> Finding | None:
    """Say at how many values of its parameters HOMI is as good as with the paper's."""
    changes = largest_changes(evidence, protocol)
    if not changes:
        return None
    broken = {name: change for name, change in changes.items() if change > INSENSITIVE}
    text = f"no loss grows by more than {INSENSITIVE:.0%} at "
    text += f"{len(changes) - len(broken)} of {len(changes)} values"
    if broken:
        worst = sorted(broken.items(), key=lambda item: -item[1])
        listed = ", ".join(f"{name} (+{change:.0%})" for name, change in worst)
        text += f"; it does at {listed}"
    return Finding(text, not broken)


def largest_changes(evidence: Evidence, protocol: str) -> dict[str, float]:
    """Return the largest growth of a loss on emotions, by parameter and value."""
    means = evidence.summary["mean"]
    if (protocol, "emotions", "HOMI", LOSSES[0]) not in means.index:
        return {}
    here = means.loc[protocol, "emotions"].unstack("metric")[list(LOSSES)]
    found = {}
    for method in here.index:
        base, settings = variant(method)
        if base == "HOMI" and len(settings) == 1:
            [(key, value)] = settings.items()
            growth = here.loc[method] / here.loc["HOMI"] - 1
            found[f"{SYMBOLS.get(key, key)} = {value:g}"] = float(growth.max())
    return found
