"""How the results were made: code, versions, machine."""

from __future__ import annotations

from homi.benchmark.tables import NOT_RUN
from homi.report.document import Listing, Prose, Section
from homi.report.paper.drawing import table
from homi.report.paper.given import Given

#: These belong to single cells and are in their files.
_OWN = ("seed", "test_rows_sha256", "data_sha256")


def making(given: Given) -> Section:
    wanted = sum(1 for _ in given.experiment.tasks())
    there = len(given.made_with)
    lead = Prose(
        f"{there} of {wanted} results are there. Every one of them is a file that also "
        "has its seed, the checksum of the data and that of the rows of its test fold; "
        "`homi bench verify` computes a sample again."
    )
    rows = [
        [name, ", ".join(sorted(map(str, given.made_with[name].dropna().unique())))]
        for name in given.made_with.columns
        if name not in _OWN
    ]
    rows = rows or [["results", NOT_RUN]]
    caption = "Everything that the results were made with"
    return Section(
        "How this was made",
        (lead, Listing("made-with", table(caption, ["what", "which"], rows))),
    )
