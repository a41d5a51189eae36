"""How fast fit and predict are, as ratios measured side by side in one process.

Four tables, each with its goal and a mark per row: fit against the paper's
equations taken literally, fit against the least work that any fit must do, the
memory of a fit, and predict against one matrix product. One thread throughout.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import gc
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from timeit import timeit
from typing import Any, NamedTuple

import faiss
import joblib
import numpy as np
import scipy.linalg
import sklearn
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

import homi
from homi import HOMI
from homi.datasets import load
from homi.datasets.load import at_hand
from homi.graph import neighbor_laplacian
from homi.moments import Moments
from homi.solver import Problem, solve, solve_stepwise, total
from homi.solver.descend import descend
from homi.solver.moments_form import MomentsForm

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from sweep_variants import Extrapolation, Newton

import reference

#: Seconds: when repeats end (two are always made), how short a first one must be to
#: count as a warm-up only, and how long one lasts at least, by looping.
BUDGET, QUICK, SAMPLE = 25.0, 1.0, 0.1

NEIGHBOURS, PAPER_SWEEPS, MOST_SWEEPS = 10, 100, 1000

#: How many times faster a fit shall be, and the sweeps of the reference to time.
REFERENCE = {"emotions": (100, 100), "birds": (100, 100), "CAL500": (50, 100)}
REFERENCE |= {"yeast": (200, 5), "scene": (200, 5)}
FLOOR_GOAL, PREDICT_GOAL = 2.0, 1.5
#: Data sets that miss the floor by their sweeps.
MANY_SWEEPS = ("CAL500", "corel5k")

#: Processor time leaves out what other programs use; wall clock is what a user waits.
CLOCKS = {"processor": time.process_time, "wall": time.perf_counter}
clock = "processor"

Row = dict[str, Any]
Calls = dict[str, Callable[[], Any]]

#: Rows, features, labels; share of non-zeros of X (None: dense) and of Y.
SHAPES = {
    "emotions": (593, 72, 6, None, 0.311),
    "birds": (645, 260, 19, None, 0.053),
    "CAL500": (502, 68, 174, None, 0.150),
    "yeast": (2417, 103, 14, None, 0.303),
    "scene": (2407, 294, 6, None, 0.179),
    "enron": (1702, 1001, 53, 0.084, 0.064),
    "langlog": (1460, 1004, 75, None, 0.016),
    "corel5k": (5000, 499, 374, 0.017, 0.009),
    "bibtex": (7395, 1836, 159, 0.037, 0.015),
    "corel16k001": (13766, 500, 153, 0.017, 0.019),
    "delicious": (16105, 500, 983, 0.037, 0.019),
    "mediamill": (43907, 120, 101, None, 0.043),
}


class Data(NamedTuple):
    """Rows X, dense or CSR, int8 labels Y, and where they come from."""

    name: str
    X: Any
    Y: Any
    source: str

    def about(self) -> Row:
        (n, m), q = self.X.shape, self.Y.shape[1]
        kind = f"{self.source}, {'sparse' if sparse.issparse(self.X) else 'dense'}"
        return {"data set": self.name, "n×m×l": f"{n}×{m}×{q}", "data": kind}


@functools.cache
def data(name: str) -> Data:
    """The data set if it is at hand, else random data of its shape."""
    if at_hand(name) is None:
        return Data(name, *random_data(*SHAPES[name]), "random")
    found = load(name)
    return Data(name, found.X, found.Y, "real")


def random_data(n: int, m: int, q: int, density: Any, share: float) -> tuple[Any, Any]:
    """Labels that depend on the features, each with its share of positive rows."""
    rng = np.random.default_rng(0)
    if density is None:
        X = rng.standard_normal((n, m))
    else:
        X = sparse.random_array((n, m), density=density, format="csr", rng=rng)
        X.data[:] = 1.0
    scores = X @ rng.standard_normal((m, q)) / np.sqrt(m)
    scores += rng.standard_normal(scores.shape)
    positive = max(1, round(share * n))
    threshold = np.partition(scores, -positive, axis=0)[-positive]
    return X, (scores >= threshold).astype(np.int8)


def prepare(given: Data) -> tuple[Any, Any, Any, Problem]:
    """Dense standardized rows Z, Y in float64, L, and what the sweeps are given."""
    Y = given.Y.astype(np.float64)
    moments = Moments.from_rows(given.X, Y)
    mean, scale = moments.x_mean, moments.scale()
    L = neighbor_laplacian(given.X, NEIGHBOURS, mean=mean, scale=scale)
    problem = Problem(moments.with_graph(given.X, L).standardized())
    dense = given.X.toarray() if sparse.issparse(given.X) else given.X
    return (dense - mean) / scale, Y, L, problem


def race(calls: Calls, repeats: int) -> dict[str, float]:
    """Median seconds of each call, taken in turns so that noise meets all alike."""
    seconds = functools.partial(timeit, timer=CLOCKS[clock], number=1)
    first = {name: seconds(call) for name, call in calls.items()}
    spent = sum(first.values())
    samples = {name: [] if spent < QUICK else [once] for name, once in first.items()}
    rounds = min(repeats, max(2, int(BUDGET / spent))) - (spent >= QUICK)
    for _ in range(rounds):
        for name, call in calls.items():
            loops = max(1, int(SAMPLE / first[name]))
            samples[name] += [seconds(call) for _ in range(loops)]
    return {name: statistics.median(times) for name, times in samples.items()}


def mark(goal_met: bool) -> str:
    return "pass" if goal_met else "MISS"


def reference_row(given: Data, repeats: int) -> Row:
    """Time of the reference implementation (the paper's equations: graph and 100
    sweeps) divided by the time of a whole fit that stops at the same objective. Then
    the number of sweeps to that objective; gain is joint sweeps divided by accelerated
    sweeps."""
    (Z, Y, L, problem), (goal, timed) = prepare(given), REFERENCE[given.name]
    literal = reference.Given(Z, Y, L.toarray())  # one L for both, so one objective
    is_singular = np.linalg.matrix_rank(Z.T @ (L @ Z)) < Z.shape[1]
    # The paper's inverse does not exist where XᵀLX is singular.
    reference.inv = np.linalg.pinv if is_singular else scipy.linalg.inv
    target = _paper_objective(problem, literal, timed) * (1 + 1e-9)
    fast, plain = (_sweeps_to(target, problem, way) for way in (True, False))
    model = HOMI(max_iter=fast or MOST_SWEEPS, tol=0)
    calls = {
        "graph": lambda: reference.laplacian(reference.similarity(Z, NEIGHBOURS)),
        "sweeps": lambda: _literal_sweeps(literal, timed),
        "ours": lambda: model.fit(given.X, given.Y),
    }
    seconds = race(calls, repeats)
    theirs = seconds["graph"] + seconds["sweeps"] * PAPER_SWEEPS / timed
    how = "whole" if timed == PAPER_SWEEPS else f"from {timed} sweeps"
    return given.about() | {
        "reference s": theirs,
        "timed": how + (", pseudo-inverse" if is_singular else ""),
        "HOMI s": seconds["ours"],
        "times faster": theirs / seconds["ours"],
        "goal": f">= {goal}",
        "mark": mark(fast is not None and theirs >= goal * seconds["ours"]),
        "sweeps: paper": PAPER_SWEEPS,
        "joint": plain or f"not in {MOST_SWEEPS}",
        "accelerated": fast or f"not in {MOST_SWEEPS}",
        "gain": plain / fast if plain and fast else "-",
    }


def _literal_sweeps(literal: Any, sweeps: int) -> Any:
    now = reference.zeros(literal)
    for _ in range(sweeps):
        now = reference.sweep(literal, now)
    return now


def _paper_objective(problem: Problem, literal: Any, timed: int) -> float:
    """The objective after a hundred sweeps of the reference."""
    if timed == PAPER_SWEEPS:
        return reference.objective(literal, _literal_sweeps(literal, timed))
    # The library's own paper sweep has the same iterates to 1e-8, in far less time.
    twin = solve(problem, sweep="paper", max_iter=PAPER_SWEEPS, tol=0)
    return total(twin.history[-1])


def _sweeps_to(target: float, problem: Problem, accelerate: bool) -> int | None:
    """After how many joint sweeps the objective is at most ``target``."""
    reached = {"on_sweep": lambda terms, _: total(terms) <= target}
    options = {"accelerate": accelerate, "max_iter": MOST_SWEEPS, "tol": 0}
    history = solve(problem, **options, **reached).history
    return len(history) if total(history[-1]) <= target else None


def floor_row(given: Data, repeats: int) -> Row:
    """Time of a whole HOMI().fit divided by the time of the bare calls: one FAISS
    search, the products XᵀX, XᵀLX, XᵀY and YᵀY by BLAS on dense rows, one generalized
    eigenvalue problem."""
    Z, Y, L, problem = prepare(given)
    solution = solve(problem)  # also fills the problem's caches
    calls = floor_calls(Z, Y, L, problem.moments)
    fit = {"fit": lambda: HOMI().fit(given.X, given.Y)}
    seconds = race(calls | fit | {"sweeps": lambda: solve(problem)}, repeats)
    floor, whole = sum(seconds[part] for part in calls), seconds["fit"]
    ended = "yes" if solution.converged else "no"
    return given.about() | {f"{part} s": seconds[part] for part in calls} | {
        "floor s": floor,
        "fit s": whole,
        "of it sweeps": f"{seconds['sweeps'] / whole:.0%}",
        "converged (sweeps)": f"{ended} ({len(solution.history)})",
        "ratio": whole / floor,
        "goal": f"<= {FLOOR_GOAL:g}",
        "mark": mark(whole <= FLOOR_GOAL * floor),
    }  # fmt: skip


def floor_calls(Z: Any, Y: Any, L: Any, moments: Moments) -> Calls:
    """Bare calls on arrays laid out for them beforehand."""
    LZ, H, A = L @ Z, moments.H, moments.G + np.eye(Z.shape[1])
    unit = Z - Z.mean(axis=1, keepdims=True)
    length = np.linalg.norm(unit, axis=1, keepdims=True)
    rows = (unit / np.where(length == 0, 1.0, length)).astype(np.float32)
    metric = faiss.METRIC_INNER_PRODUCT
    return {
        "search": lambda: faiss.knn(rows, rows, NEIGHBOURS + 1, metric=metric),
        "products": lambda: (Z.T @ Z, Z.T @ LZ, Z.T @ Y, Y.T @ Y),
        "eigh": lambda: scipy.linalg.eigh(H, A),
    }


def memory_row(given: Data, repeats: int) -> Row:
    """Peak resident memory minus that before the fit, in a new process. The target is
    three times X plus 300 MB. Linux only."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "rows")
        joblib.dump((given.X, given.Y), file)
        command = [sys.executable, __file__, "--memory", file]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    X, extra = given.X, int(answer) / 1e6
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    size = sum(part.nbytes for part in parts) / 1e6
    return given.about() | {
        "X MB": size,
        "Y MB": given.Y.nbytes / 1e6,
        "peak above MB": extra,
        "goal": f"<= {3 * size + 300:.0f}",
        "mark": mark(extra <= 3 * size + 300),
    }


def memory_child(file: Path) -> None:
    """Fit what the parent has saved and print the bytes that it took at most."""
    X, Y = joblib.load(file)  # arrays are read straight to their place: no peak
    HOMI().fit(*random_data(50, 5, 3, None, 0.3))
    gc.collect()
    with contextlib.suppress(OSError):  # asks Linux to forget the peak of the imports
        Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    HOMI().fit(X, Y)
    print(_resident("VmHWM") - before)


def _resident(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(s.split()[1]) for s in lines if s.startswith(field + ":"))


def predict_row(given: Data, repeats: int) -> Row:
    """Time of HOMI.predict(X) divided by that of X @ coef_.T, for all rows."""
    # What the weights are makes no difference here: the quickest fit will do.
    model, X = HOMI(gamma=0, max_iter=1).fit(given.X, given.Y), given.X
    calls = {"product": lambda: X @ model.coef_.T, "predict": lambda: model.predict(X)}
    product, predict = (1e6 * seconds for seconds in race(calls, repeats).values())
    return given.about() | {
        "product µs": product,
        "predict µs": predict,
        "overhead µs": predict - product,
        "ratio": predict / product,
        "goal": f"<= {PREDICT_GOAL:g}",
        "mark": mark(predict <= PREDICT_GOAL * product),
    }


def tried_row(given: Data, repeats: int) -> Row:
    """Ways to make fewer or cheaper sweeps where they take most of the time: seconds,
    sweeps, and how far the objective ends above the least of these, in millionths.
    *Labels first* starts at the B of the labels alone; *single* has moments in single
    precision; *extrapolation* is Anderson acceleration of plain steps; *Newton* takes
    truncated Newton steps, with six Hessian products each. HOMI uses the first."""
    problem = prepare(given)[3]
    moments = problem.moments
    single = {
        name: np.asarray(value, np.float32)
        for name, value in vars(moments).items()
        if isinstance(value, np.ndarray)
    }
    cheap = dataclasses.replace(problem, moments=dataclasses.replace(moments, **single))
    labels_first = solve_stepwise(problem).params
    ways: Calls = {
        "L-BFGS": lambda: solve(problem),
        "labels first": lambda: solve(problem, start=labels_first),
        "single": lambda: solve(cheap),
        "tol=1e-5": lambda: solve(problem, tol=1e-5),
        "extrapolation": lambda: _solve_by(Extrapolation, problem),
        "Newton": lambda: _solve_by(Newton, problem),
    }
    found = {name: solution().history for name, solution in ways.items()}
    least = min(total(history[-1]) for history in found.values())
    took = race(ways, repeats)
    return given.about() | {
        name: f"{_text(took[name])} s, {len(history)}, "
        f"{1e6 * (total(history[-1]) / least - 1):.0f}"
        for name, history in found.items()
    }


def _solve_by(kind: type[Extrapolation | Newton], problem: Problem) -> Any:
    form = MomentsForm(problem)
    start = form.start(np.zeros((problem.n_labels, problem.n_labels)))
    return descend(form, start, max_iter=100, tol=1e-6, sweep=kind(form))


#: Titles, and the functions that make a row and say in words what it holds.
TABLES: dict[str, tuple[str, Callable[[Data, int], Row]]] = {
    "reference": ("Fit against the reference implementation", reference_row),
    "floor": ("Fit against the floor", floor_row),
    "memory": ("Peak memory of a fit above X and Y", memory_row),
    "predict": ("Predict against one bare matrix product", predict_row),
    "tried": ("Fewer or cheaper sweeps: what was tried", tried_row),
}


def measure(kind: str, names: Sequence[str], repeats: int) -> list[Row]:
    """The rows of a table, for those of the data sets that it is about."""
    if kind == "reference":
        names = [name for name in names if name in REFERENCE]
    if kind == "tried":
        names = [name for name in names if name in MANY_SWEEPS]
    if kind == "memory" and not Path("/proc/self/status").exists():
        names = []
    rows = []
    for name in names:
        print(f"measuring {kind}: {name}", file=sys.stderr, flush=True)
        rows.append(TABLES[kind][1](data(name), repeats))
    return rows


def render(title: str, lead: str, rows: list[Row]) -> str:
    """A Markdown table that can also be read as it is."""
    top = f"## {title}\n\n{' '.join(lead.split())}\n"
    if not rows:
        return f"{top}\nNothing to measure.\n"
    cells = [list(rows[0]), *([_text(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    lines = [f"| {' | '.join(map(str.ljust, line, widths))} |" for line in cells]
    marks = [row["mark"] == "pass" for row in rows if "mark" in row]
    met = [f"{sum(marks)} of {len(marks)} meet the target.", ""] if marks else []
    return "\n".join([top, *lines, "", *met])


def _text(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:#.3g}"


def head() -> str:
    """Versions, processor and threads; nothing that names the machine."""
    modules = (homi, np, scipy, sklearn, faiss)
    versions = ", ".join(f"{each.__name__} {each.__version__}" for each in modules)
    pools = threadpool_info()
    blas = {f"{p['version']} for {p['architecture']}" for p in pools if p["version"]}
    return (
        f"# Speed\n\n- python {platform.python_version()}, {versions}\n"
        f"- {platform.processor() or platform.machine()}, {os.cpu_count()} cores, "
        f"{max(p['num_threads'] for p in pools)} used; BLAS {', '.join(sorted(blas))}\n"
        f"- seconds of {clock} time, medians of alternating repeats\n"
        "- random data has the shape and density of the data set it replaces\n"
        "- written by `python benchmarks/speed.py`; ratios near a target vary between "
        "runs\n"
    )


EPILOG = """\
HOMI_DATA names a directory of <name>.arff and <name>.xml files. A data set that is
not there is replaced by random data of its shape, and the table says so.

examples:
  speed.py                                everything, some minutes
  speed.py --tables predict --repeats 20  one table, with more care
  speed.py --datasets birds --output a.md one data set, kept as Markdown
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EPILOG)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    option = functools.partial(parser.add_argument, metavar="NAME")
    for name, known in {"datasets": SHAPES, "tables": TABLES}.items():
        text = f"some of {', '.join(known)} (default: all)"
        option(f"--{name}", nargs="+", choices=known, default=list(known), help=text)
    text = "repeats of a measurement, fewer where it takes long (default: 5)"
    option("--repeats", type=int, default=5, metavar="N", help=text)
    option("--output", type=Path, metavar="FILE", help="also write the tables there")
    option("--clock", choices=CLOCKS, default=clock, help="default: processor")
    option("--memory", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {options.repeats}")
    if options.output and not options.output.parent.is_dir():
        parser.error(f"--output: there is no directory {options.output.parent}")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    global clock
    options = parse(arguments)
    clock = options.clock
    warnings.simplefilter("ignore", ConvergenceWarning)
    faiss.omp_set_num_threads(1)
    with threadpool_limits(limits=1):
        if options.memory:
            return memory_child(options.memory)
        parts = [head()]
        print(parts[0], flush=True)
        for kind in options.tables:
            rows = measure(kind, options.datasets, options.repeats)
            title, row = TABLES[kind]
            parts.append(render(title, row.__doc__, rows))
            print(parts[-1], flush=True)
    if options.output:
        unfinished = options.output.with_name(options.output.name + ".part")
        unfinished.write_text("\n".join(parts), encoding="utf-8")
        unfinished.replace(options.output)


if __name__ == "__main__":
    main()
