"""What was found and why, in five sentences and one picture."""

from __future__ import annotations

from collections import Counter

from homi.benchmark.protocols import DOUBLED
from homi.metrics import METRICS
from homi.paper.cell_verdicts import (
    EXPLAINED,
    NO_DATA,
    OPEN,
    POSSIBLE,
    REPRODUCED,
    cell_verdicts,
)
from homi.paper.rank_picture import (
    CLEAN,
    HOMICV,
    PRINTED,
    PUBLISHED,
    homi_ranks,
    rank_picture,
)
from homi.paper.results import PaperResults
from homi.paper.sections.drawing import picture, table
from homi.report.document import Listing, Prose, Section

_WORDS = (
    "**printed** is what the paper prints. **as published** runs HOMI as its authors "
    "did, and every compared method on the rows that its printed losses point to. "
    "**clean** learns everything inside the training fold, on the whole data, with an "
    "AUC that counts ties as one half. † marks a method whose equations had to be "
    "reconstructed."
)


def cause(paper: PaperResults) -> Section | None:
    """Return the summary of the report, if a data set has results of all methods."""
    counts = Counter(item.verdict for item in cell_verdicts(paper))
    ranks = homi_ranks(paper)
    names = ranks.attrs["datasets"]
    if not names:
        return None
    losses = "ranking_loss"
    sentences = (
        f"The comparison is not between equals: on {' and '.join(DOUBLED)} HOMI was "
        "run on files in which every row stands twice, so that four of five test rows "
        "are training rows too; by [their printed losses]"
        "(#which-rows-the-compared-methods-had), the compared methods were not, except "
        "perhaps ML-LRC.",
        "What is printed as HOMI's macro AUC is 1 − Hamming loss, which is near 1 "
        "wherever labels are rare.",
        f"Of {counts.total() - counts[NO_DATA]} printed HOMI cells that were run "
        f"again, {counts[REPRODUCED]} are reproduced with the settings of the text, "
        f"{counts[EXPLAINED]} are explained by stacked rows, 1 − Hamming loss, another "
        f"γ or s, or truncated print, {counts[POSSIBLE]} are met by a setting that the "
        f"paper does not state, and [{counts[OPEN]} stay open](#cell-by-cell).",
        "With everything learned inside the training fold, HOMI's average rank among "
        f"the eleven methods by {METRICS[losses].title.lower()} is "
        f"{ranks.loc[CLEAN, losses]:.1f} instead of {ranks.loc[PRINTED, losses]:.1f}.",
        "`HOMICV`, which chooses by cross-validation what HOMI fixes, has rank "
        f"{ranks.loc[HOMICV, losses]:.1f} in its place; this is optimistic, because "
        "its defaults were chosen with these data sets in view.",
    )
    lead = [Prose(f"{i}. {text}") for i, text in enumerate(sentences, start=1)]
    drawing = picture(
        "ranks-of-homi",
        f"Average rank of HOMI among the eleven methods on {len(names)} data sets: as "
        "printed, as published (as its authors ran it), clean, and HOMICV in its "
        "place.",
        rank_picture(ranks),
        "Four metrics; the numbers are in the table below.",
    )
    rows = [
        [kind, *(f"{rank:.2f}" for rank in ranks.loc[kind])]
        for kind in (PRINTED, PUBLISHED, CLEAN, HOMICV)
    ]
    titles = [METRICS[str(metric)].title for metric in ranks.columns]
    caption = f"Average ranks among eleven methods on {', '.join(names)}"
    listing = Listing("ranks-of-homi", table(caption, ["", *titles], rows))
    return Section("What was found", (*lead, drawing, listing, Prose(_WORDS)))
