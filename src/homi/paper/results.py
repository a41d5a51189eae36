"""Everything that the paper's report is made from, read once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from homi.benchmark.cells import USUAL_AUC, Cell, Study
from homi.benchmark.experiment import Experiment
from homi.benchmark.results import KEYS, as_frame, summarize
from homi.benchmark.runner import sort_out
from homi.benchmark.store import stored
from homi.paper.printed import printed_results
from homi.paper.published import LOSSES, with_published

#: The paper's symbol of each parameter that it varies.
SYMBOLS = {"beta": "β", "gamma": "γ", "lam": "λ", "n_neighbors": "s"}

#: What a setting tried for open cells consists of, besides the data set.
SETTING = ("rows", "gamma", "n_neighbors", "lam", "sweeps", "folds")

#: Methods whose printed "macro-averaging AUC" is 1 − Hamming loss on all twelve data
#: sets; so it is in the results of the protocol as-published.
ACCURACY_FOR_AUC = ("HOMI", "ML-LRC")


@dataclass(frozen=True)
class PaperResults:
    """An experiment, its cells, and the findings of its studies.

    Attributes
    ----------
    experiment : Experiment
        What was asked for.
    results : DataFrame
        A row per stored cell.
    studies : dict
        Findings by protocol, data set and kind.
    made_with : DataFrame
        A row per stored cell or study: versions, commit, machine.
    tried : DataFrame
        Settings tried for open cells, ``benchmarks/open_cells.py``.
    homicv : DataFrame
        Cells of HOMICV on the same folds, ``benchmarks/best.toml``.
    """

    experiment: Experiment
    results: pd.DataFrame
    studies: dict[tuple[str, str, str], Any]
    made_with: pd.DataFrame
    tried: pd.DataFrame
    homicv: pd.DataFrame

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Means and standard deviations, measured and printed.

        As published: HOMI as its authors ran it, every other method on the rows that
        its printed losses point to.
        """
        published = "as-published" in self.protocols
        results = with_published(self.results) if published else self.results
        return summarize_with_printed(results)

    @property
    def protocols(self) -> tuple[str, ...]:
        """Protocols of the experiment that tables show; whitened is a source only."""
        return tuple(name for name in self.experiment.protocols if name != "whitened")

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data sets of the experiment with results."""
        there = set(self.results["dataset"])
        return tuple(name for name in self.experiment.datasets if name in there)

    @property
    def absent(self) -> tuple[str, ...]:
        """Data sets of the experiment without results."""
        return tuple(n for n in self.experiment.datasets if n not in self.datasets)

    @property
    def folds(self) -> int:
        """Number of folds of the experiment."""
        return self.experiment.folds

    @cached_property
    def seconds(self) -> pd.DataFrame:
        """Mean seconds to fit and predict one fold under the clean protocol."""
        clean = self.results[self.results["protocol"] == "clean"]
        total = (clean["fit"] + clean["predict"]).astype(float)
        keys = [clean["dataset"], clean["method"]]
        there = [name for name in self.datasets if name in set(clean["dataset"])]
        if not self.experiment.times or not there:
            return pd.DataFrame()
        return total.groupby(keys).mean().unstack("method").reindex(there)


def read_paper_results(experiment: Experiment, directory: Path) -> PaperResults:
    """Read the current results of an experiment."""
    current = sort_out(experiment, directory).current
    return PaperResults(
        experiment,
        as_frame((task, record) for task, record in current if isinstance(task, Cell)),
        {
            (task.protocol, task.dataset, task.kind): record["found"]
            for task, record in current
            if isinstance(task, Study)
        },
        pd.DataFrame([record["made_with"] for _, record in current]),
        _tried(directory.parent / "open_cells.csv"),
        _homicv(directory.parent / "best"),
    )


def _tried(path: Path) -> pd.DataFrame:
    if path.is_file():
        return pd.read_csv(path)
    return pd.DataFrame(columns=["dataset", *SETTING, "fold", *LOSSES], dtype=float)


def _homicv(directory: Path) -> pd.DataFrame:
    cells = [(cell, r) for cell, r in stored(directory) if cell.method == "HOMICV"]
    return as_frame(cells)


def summarize_with_printed(results: pd.DataFrame) -> pd.DataFrame:
    """Summarize results, and add what the paper prints as protocol ``"printed"``.

    The AUC of the clean protocol counts ties as one half. Under the protocol
    as-published it is what was published under this name.
    """
    measured = summarize(_under_published_names(_with_usual_auc(results)))
    whole = pd.concat([measured, _printed()]) if len(measured) else _printed()
    return whole.sort_index()


def _with_usual_auc(results: pd.DataFrame) -> pd.DataFrame:
    clean = results["protocol"] == "clean"
    return results.assign(
        macro_auc=results["macro_auc"].where(~clean, results[USUAL_AUC])
    )


def _under_published_names(results: pd.DataFrame) -> pd.DataFrame:
    """Put 1 − Hamming loss where the authors print it as AUC."""
    bases = results["method"].str.split(r"[ ]|-without|-step", regex=True).str[0]
    there = (results["protocol"] == "as-published") & bases.isin(ACCURACY_FOR_AUC)
    auc = results["macro_auc"].where(~there, 1 - results["hamming_loss"])
    return results.assign(macro_auc=auc)


def _printed() -> pd.DataFrame:
    rows = {
        ("printed", dataset, method, metric): (cell.mean, cell.std, 5)
        for (metric, method, dataset), cell in printed_results().items()
    }
    index = pd.MultiIndex.from_tuples(rows, names=[*KEYS, "metric"])
    return pd.DataFrame(list(rows.values()), index, ["mean", "std", "folds"])
