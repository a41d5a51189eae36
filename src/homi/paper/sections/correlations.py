"""Figure 1: the label correlations that HOMI learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from homi.benchmark.figures import label_graph, label_matrices
from homi.paper.circumplex import ANGLES, circumplex, cosine_signs
from homi.paper.results import PaperResults
from homi.paper.sections.drawing import picture, table
from homi.report.document import Item, Listing, Prose, Section
from homi.typing import Fields

#: Entries of B below this part of its largest off the diagonal are drawn as weak.
_WEAK = 0.1


def correlations(paper: PaperResults) -> Section | None:
    """Return Figure 1, if B was studied."""
    parts = [
        _part(dataset, protocol, found)
        for (protocol, dataset, kind), found in paper.studies.items()
        if kind == "correlations"
    ]
    if not parts:
        return None
    lead = Prose(
        "B learned from all rows. Entry (i, j) says how the score of label i moves "
        "label j. The paper's Figure 1 shows emotions. The signs that it describes are "
        "those of γ = 0.01, the value of the authors' first version, and not of γ = 1, "
        "the value of the text. Either way B is close to the identity, so the colors "
        "leave the diagonal out."
    )
    return Section("Figure 1: what B learned", (lead, *parts))


def _part(dataset: str, protocol: str, found: Fields) -> Section:
    names = list(found["labels"])
    matrices = {float(gamma): np.asarray(B) for gamma, B in found["B"].items()}
    stem, where = f"{dataset.lower()}-{protocol}", f"{dataset}, {protocol}"
    titles = {f"B of {where}, γ = {g:g}": B for g, B in sorted(matrices.items())}
    alt = f"The entries of B of {where}; they are in the tables of the same name."
    items: list[Item] = [
        picture(
            f"figure-1-{stem}",
            f"B of {where}: γ = 0.01 beside γ = 1, colors by the entries off the "
            "diagonal.",
            label_matrices(titles, names, normalized=False),
            alt,
        ),
        picture(
            f"figure-1-{stem}-normalized",
            f"B of {where}, scaled to the range from 0 to 1 as in the paper's Figure "
            "1a.",
            label_matrices(titles, names, normalized=True),
            alt,
        ),
    ]
    for gamma, B in sorted(matrices.items()):
        items += _one_gamma(
            f"{stem}-gamma-{gamma:g}".replace(".", ""), where, gamma, B, names
        )
    return Section(f"{dataset}, {protocol}", tuple(items))


def _one_gamma(
    stem: str, where: str, gamma: float, B: Any, names: list[str]
) -> list[Item]:
    where = f"{where}, γ = {gamma:g}"
    rows = [
        [name, *(f"{b:.4f}" for b in row)] for name, row in zip(names, B, strict=True)
    ]
    items: list[Item] = [
        picture(
            f"figure-1-{stem}-graph",
            f"Label graph of {where}: red positive, green negative, yellow weak (below "
            f"{_WEAK:.0%} of the largest).",
            label_graph(B, names, f"Label graph, {where}", weak=_WEAK * _largest(B)),
            f"The entries of B of {where}; they are in the table below.",
        ),
        Listing(
            f"figure-1-{stem}-matrix", table(f"B of {where}", ["from", *names], rows)
        ),
    ]
    return items + (
        _russell(stem, where, B, names) if set(names) == set(ANGLES) else []
    )


def _largest(B: Any) -> float:
    means = (B + B.T) / 2
    return float(np.max(np.abs(means - np.diag(np.diagonal(means))), initial=0.0))


def _russell(stem: str, where: str, B: Any, names: list[str]) -> list[Item]:
    angles = [ANGLES[name] for name in names]
    signs = cosine_signs(names, angles, B)
    judged = signs["agree"].dropna()
    agree = f"{int(judged.sum())} of {len(judged)}"
    figure = circumplex(names, angles, B, f"Russell's circumplex, {where}")
    rows = [
        [
            row.label_a,
            row.label_b,
            f"{row.cosine:+.3f}",
            f"{row.b:+.4f}",
            {True: "yes", False: "no", None: "right angle"}[row.agree],
        ]
        for row in signs.itertuples()
    ]
    caption = f"Signs of cosines and of B, {where}: {agree} agree"
    columns = ["label", "label", "cosine", "mean of both entries of B", "agree"]
    return [
        picture(
            f"figure-1-{stem}-circumplex",
            "The labels on Russell's circumplex, and whether the sign of the cosine "
            f"between two is that of B ({where}).",
            figure,
            f"{agree} pairs of labels agree in sign; see the table.",
        ),
        Listing(f"figure-1-{stem}-signs", table(caption, columns, rows)),
    ]
