"""All that a report is made from, read once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from homi.benchmark.cells import Cell, Study
from homi.benchmark.experiment import Experiment
from homi.benchmark.results import as_frame, summarise
from homi.benchmark.runner import sort_out

#: The paper's name of each parameter that it varies.
SYMBOLS = {"beta": "β", "gamma": "γ", "lam": "λ", "n_neighbors": "s"}


@dataclass(frozen=True)
class Given:
    """An experiment, its cells, and what its studies found.

    Attributes
    ----------
    experiment : Experiment
        What was asked for.
    results : DataFrame
        A row per stored cell.
    studies : dict
        What was found, by protocol, data set and kind.
    made_with : DataFrame
        A row per stored cell or study: versions, commit, machine.
    """

    experiment: Experiment
    results: pd.DataFrame
    studies: dict[tuple[str, str, str], Any]
    made_with: pd.DataFrame

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Means and deviations, with the printed ones."""
        return summarise(self.results)

    @property
    def datasets(self) -> tuple[str, ...]:
        return self.experiment.datasets

    @property
    def folds(self) -> int:
        return self.experiment.folds

    @cached_property
    def seconds(self) -> pd.DataFrame:
        """Fit and predict of a fold by the clean protocol, the mean over folds."""
        clean = self.results[self.results["protocol"] == "clean"]
        total = (clean["fit"] + clean["predict"]).astype(float)
        keys = [clean["dataset"], clean["method"]]
        there = [name for name in self.datasets if name in set(clean["dataset"])]
        if not self.experiment.times or not there:
            return pd.DataFrame()
        return total.groupby(keys).mean().unstack("method").reindex(there)


def read_given(experiment: Experiment, directory: Path) -> Given:
    """Read the stored results of an experiment, those that it asks for now."""
    current = sort_out(experiment, directory).current
    return Given(
        experiment,
        as_frame((task, record) for task, record in current if isinstance(task, Cell)),
        {
            (task.protocol, task.dataset, task.kind): record["found"]
            for task, record in current
            if isinstance(task, Study)
        },
        pd.DataFrame([record["made_with"] for _, record in current]),
    )
