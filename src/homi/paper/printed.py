"""Tables 3 to 8 of the paper as printed, slips included."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple


class Printed(NamedTuple):
    """A cell: mean and standard deviation of five folds, as printed."""

    mean: float
    std: float


class PrintedTest(NamedTuple):
    """A row of Table 8: HOMI against a method, as printed."""

    z: float
    p: float
    level: float


@cache
def printed_results() -> dict[tuple[str, str, str], Printed]:
    """Every cell of Tables 3 to 6, by metric, method and data set.

    Examples
    --------
    >>> printed_results()["hamming_loss", "HOMI", "emotions"].mean
    0.205
    """
    return {
        (row["metric"], row["method"], row["dataset"]): Printed(
            float(row["mean"]), float(row["std"])
        )
        for row in _rows("tables_3_to_6.csv")
    }


@cache
def printed_marks() -> dict[tuple[str, str, str], str]:
    """Return the ● and ○ of Tables 3 to 6, by metric, method and data set."""
    marks = {"better_or_equal": "●", "worse": "○"}
    return {
        (row["metric"], row["method"], row["dataset"]): marks[row["homi_is"]]
        for row in _rows("tables_3_to_6.csv")
        if row["homi_is"] in marks
    }


@cache
def printed_friedman() -> dict[str, tuple[float, float]]:
    """Table 7: F and its critical value, by metric."""
    return {
        row["metric"]: (float(row["F_F"]), float(row["critical_value"]))
        for row in _rows("table_7.csv")
    }


@cache
def printed_holm() -> dict[tuple[str, str], PrintedTest]:
    """Table 8, by metric and method, in the printed order.

    Examples
    --------
    >>> printed_holm()["hamming_loss", "CLML"].z
    -4.801
    """
    return {
        (row["metric"], row["method"]): PrintedTest(
            float(row["z"]), float(row["p"]), float(row["level"])
        )
        for row in _rows("table_8.csv")
    }


def _rows(name: str) -> csv.DictReader[str]:
    text = resources.files(__package__).joinpath(name).read_text("utf-8")
    return csv.DictReader(text.splitlines())
