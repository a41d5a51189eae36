"""The result of a task: fit, predict, measure, and record the provenance."""

from __future__ import annotations

import hashlib
import os
import platform
import time
import warnings
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid, train_test_split
from threadpoolctl import threadpool_limits

from homi.benchmark.cells import USUAL_AUC, Cell, Record, Study, Task
from homi.benchmark.experiment import Ask, Experiment, Search
from homi.benchmark.measures import Outcome, measure
from homi.benchmark.methods import EVERYTHING, variant
from homi.benchmark.protocols import PreparedRows, Split, fold_of_rows, rows_of, split
from homi.benchmark.studies import FIND
from homi.benchmark.usage import Usage, cost
from homi.datasets.cache import file_sha256
from homi.datasets.load import at_hand
from homi.datasets.registry import registry
from homi.metrics import METRICS, PAPER_METRICS, evaluate, macro_auc
from homi.typing import Fields, Matrix
from homi.version import __version__

#: Packages that a result may depend on.
_PACKAGES = ("numpy", "scipy", "scikit-learn", "faiss-cpu", "threadpoolctl")


def compute(experiment: Experiment, task: Task, commit: str = "") -> Record:
    """Compute the result of a task with the experiment's number of threads."""
    with threadpool_limits(experiment.threads), warnings.catch_warnings():
        # The record says whether a method converged; warnings would repeat it.
        warnings.simplefilter("ignore")
        if isinstance(task, Cell):
            record = _measured(experiment, task)
        else:
            record = _studied(experiment, task)
    return _signed(experiment, task, commit, record)


def _signed(experiment: Experiment, task: Task, commit: str, record: Record) -> Record:
    """Return the record with what was asked for and what it was made with."""
    made_with = {
        "homi": __version__,
        "commit": commit,
        "python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
        "processor": processor(),
        "threads": experiment.threads,
        "data_sha256": _data_sha256(task.dataset),
    }
    made_with |= record["made_with"]
    return {**record, "asked": asked(experiment, task), "made_with": made_with}


def _measured(experiment: Experiment, cell: Cell) -> Record:
    ask = experiment.ask(cell)
    folds = experiment.folds_of(cell.dataset)
    given = split(cell.protocol, cell.dataset, cell.fold, folds)
    seed = ask.parameters.get("random_state", cell.seed("dataset", "method", "fold"))
    started = time.perf_counter()
    parameters = ask.parameters | _chosen(cell, ask, given.train, seed)
    searched = time.perf_counter()
    model = _make(cell.method, parameters, seed)
    if experiment.metrics:
        found = _entered(model, given, experiment.metrics)
    else:
        found = _answered(model, given)
    return {
        "metrics": found.pop("metrics"),
        "parameters": parameters,
        "iterations": getattr(model, "n_iter_", None),
        "seconds": {"search": searched - started, **found.pop("seconds")},
        **found,
        "made_with": {
            "seed": seed,
            "test_rows_sha256": rows_digest(given.test_indices),
        },
    }


def _answered(model: Any, given: Split) -> Fields:
    """Fit and predict; return the paper's metrics and the seconds."""
    started = time.perf_counter()
    model.fit(*given.train)
    fitted = time.perf_counter()
    scores = model.ranking_scores(given.test.X)
    labels = model.predict(given.test.X)
    ended = time.perf_counter()
    return {
        "metrics": _metrics(given.test.Y, scores, labels),
        "seconds": {"fit": fitted - started, "predict": ended - fitted},
    }


def _entered(model: Any, given: Split, names: Iterable[str]) -> Fields:
    """Fit and predict an entry of the arena; return more metrics, and costs."""
    usage, started = Usage(), time.perf_counter()
    model.fit(*given.train)
    fitted, fit_cost = time.perf_counter(), usage.seconds()
    start = getattr(model, "start_seconds_", 0.0)
    answers = model.answers(given.test.X)
    ended, predict_cost = time.perf_counter(), usage.seconds()
    predict_cost -= getattr(model, "start_seconds_", 0.0) - start
    rows, held_out = model.held_out_
    outcome = Outcome(
        given.test.Y > 0,
        answers.scores,
        answers.labels,
        answers.probabilities,
        given.train.Y[rows] > 0,
        held_out,
    )
    metrics = _metrics(given.test.Y, answers.scores, answers.labels)
    return {
        "metrics": metrics | measure(outcome, names),
        "seconds": {"fit": fitted - started, "predict": ended - fitted},
        "cost": cost(fit_cost - start, predict_cost, usage, model.model_),
        "setting": model.setting_,
    }


def stopped(
    experiment: Experiment, cell: Cell, commit: str, reason: str, seconds: float
) -> Record:
    """Return the record of a cell that exceeded a limit: without values."""
    ask = experiment.ask(cell)
    rows, folds = registry()[cell.dataset].n_samples, experiment.folds_of(cell.dataset)
    of_rows = fold_of_rows(cell.protocol, cell.dataset, rows, folds)
    names = asked(experiment, cell)["metrics"]
    record = {
        "metrics": dict.fromkeys(names, float("nan")),
        "parameters": ask.parameters,
        "iterations": None,
        "seconds": {"search": 0.0, "fit": seconds, "predict": 0.0},
        "stopped": reason,
        "made_with": {
            "seed": cell.seed("dataset", "method", "fold"),
            "test_rows_sha256": rows_digest(np.flatnonzero(of_rows == cell.fold)),
        },
    }
    return _signed(experiment, cell, commit, record)


def _metrics(Y: Matrix, scores: Any, labels: Any) -> dict[str, float]:
    """Return the paper's metrics, and the AUC that counts ties as one half."""
    usual = macro_auc(Y, scores, ties="half")
    return {**evaluate(Y, scores, labels, PAPER_METRICS), USUAL_AUC: usual}


def _studied(experiment: Experiment, study: Study) -> Record:
    parameters = experiment.ask(study).parameters
    rows = rows_of(study.protocol, study.dataset)
    started = time.perf_counter()
    found = FIND[study.kind](study, rows, parameters)
    return {
        "found": found,
        "parameters": parameters,
        "seconds": {"study": time.perf_counter() - started},
        "made_with": {},
    }


def asked(experiment: Experiment, task: Task) -> Fields:
    """Return what a task is asked for; a record of anything else is out of date."""
    ask = experiment.ask(task)
    if isinstance(task, Study):
        return {"parameters": ask.parameters}
    search = asdict(ask.search) if ask.search else None
    return {
        "parameters": ask.parameters,
        "search": search,
        "folds": experiment.folds_of(task.dataset),
        "metrics": [*PAPER_METRICS, USUAL_AUC, *experiment.metrics],
    }


def _make(method: str, parameters: Fields, seed: int) -> Any:
    model = EVERYTHING[variant(method).base](**parameters)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return model


def _chosen(cell: Cell, ask: Ask, train: PreparedRows, seed: int) -> Fields:
    """Return the best of some points of the paper's grid on validation rows."""
    if ask.search is None:
        return {}
    rows = train_test_split(
        np.arange(len(train.Y)), test_size=ask.search.validation, random_state=seed
    )
    learn, held_out = (PreparedRows(train.X[part], train.Y[part]) for part in rows)
    metric = METRICS[ask.search.metric]
    values = []
    points = _points(cell.method, ask.search, seed)
    for point in points:
        model = _make(cell.method, ask.parameters | point, seed).fit(*learn)
        output = (
            model.predict(held_out.X)
            if metric.response == "predict"
            else model.ranking_scores(held_out.X)
        )
        values.append(metric(held_out.Y, output))
    best = np.argmax(values) if metric.greater_is_better else np.argmin(values)
    return points[int(best)]


def _points(method: str, search: Search, seed: int) -> list[Fields]:
    """Sample points of the method's grid without replacement, in its order."""
    grid = ParameterGrid(EVERYTHING[variant(method).base].paper_grid)
    count = min(search.points, len(grid))
    rng = np.random.default_rng(seed)
    return [grid[int(i)] for i in np.sort(rng.choice(len(grid), count, replace=False))]


def rows_digest(rows: Any) -> str:
    """Return the checksum of row numbers, 64-bit little-endian."""
    return hashlib.sha256(np.asarray(rows, dtype="<i8").tobytes()).hexdigest()


def _data_sha256(dataset: str) -> str:
    """Return the checksum of the file that ``load`` would read now."""
    found = at_hand(dataset)
    return file_sha256(found.path) if found else ""


@cache
def processor() -> str:
    """Return name and generation of the processor: speeds differ between them."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    found = {key.strip(): value.strip() for key, value in pairs}
    name = found.get("model name", platform.machine())
    if "cpu family" in found:
        name += f" (family {found['cpu family']}, model {found['model']})"
    return f"{name}, {os.cpu_count()} cores"
