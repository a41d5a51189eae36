"""Tables 3 to 6 of the paper as printed, slips included."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple


class Printed(NamedTuple):
    """A cell: mean and standard deviation of five folds, as printed."""

    mean: float
    std: float


@cache
def printed_results() -> dict[tuple[str, str, str], Printed]:
    """Every printed cell, by metric, method and data set.

    Examples
    --------
    >>> printed_results()["hamming_loss", "HOMI", "emotions"].mean
    0.205
    """
    text = resources.files(__package__).joinpath("tables_3_to_6.csv").read_text("utf-8")
    return {
        (row["metric"], row["method"], row["dataset"]): Printed(
            float(row["mean"]), float(row["std"])
        )
        for row in csv.DictReader(text.splitlines())
    }
