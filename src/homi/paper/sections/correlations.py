"""Figure 1: the label correlations that HOMI learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from homi.benchmark.figures import label_graph, label_matrix
from homi.paper.circumplex import circumplex, cosine_signs
from homi.paper.results import PaperResults
from homi.paper.sections.drawing import picture, table
from homi.report.document import Item, Listing, Prose, Section
from homi.typing import Fields

#: Where the labels of emotions lie on Russell's circle. Three are concepts of his own
#: abstract (pleasure 0°, depression 225°, sleepiness 270°, relaxation 315°); surprise
#: is put midway from excitement to arousal, anger midway from arousal to distress.
ANGLES = {
    "happy-pleased": 0.0,
    "amazed-suprised": 67.5,
    "angry-aggresive": 112.5,
    "sad-lonely": 225.0,
    "quiet-still": 270.0,
    "relaxing-calm": 315.0,
}

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
        "label j. The paper's Figure 1 shows emotions."
    )
    return Section("Figure 1: what B learned", (lead, *parts))


def _part(dataset: str, protocol: str, found: Fields) -> Section:
    B, names = np.asarray(found["B"]["1.0"]), list(found["labels"])
    stem, where = f"{dataset.lower()}-{protocol}", f"{dataset}, {protocol}"
    alt = f"The entries of B of {where}; they are in the table of the same name."
    items: list[Item] = [
        picture(
            f"figure-1-{stem}-normalized",
            f"B of {where}, scaled to the range from 0 to 1.",
            label_matrix(B, names, f"B normalized, {where}", normalized=True),
            alt,
        ),
        picture(
            f"figure-1-{stem}-raw",
            f"B of {where} as it is.",
            label_matrix(B, names, f"B, {where}", normalized=False),
            alt,
        ),
        picture(
            f"figure-1-{stem}-graph",
            f"Label graph of {where}: red positive, green negative, yellow weak (below "
            f"{_WEAK:.0%} of the largest).",
            label_graph(B, names, f"Label graph, {where}", weak=_WEAK * _largest(B)),
            alt,
        ),
        Listing(
            f"figure-1-{stem}-matrix",
            table(
                f"B of {where}",
                ["from", *names],
                [
                    [name, *(f"{b:.4f}" for b in row)]
                    for name, row in zip(names, B, strict=True)
                ],
            ),
        ),
    ]
    if set(names) == set(ANGLES):
        items += _russell(stem, where, B, names)
    return Section(f"{dataset}, {protocol}", tuple(items))


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
