"""Search for settings that give the printed HOMI cells which stay open.

    python benchmarks/open_cells.py --minutes 180

One fold of the authors' five (seed 1), a bounded grid: rows whitened, standardized or
raw; γ, s, λ; sweeps from a uniform random start. Two more kinds of rows are tried with
the paper's γ, s and λ only: principal components that are not scaled, and rows of unit
length. So are the shares of labels as scores of every row, which is where a large γ
leads. The setting that is nearest to the printed row is then run on the other folds;
CAL500 has all five folds. Every setting is one line of results/open_cells.csv. A run
that is interrupted, or out of time, goes on where it stopped.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.linalg
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold
from sklearn.preprocessing import normalize

from homi.atomic_write import whole_file
from homi.benchmark.protocols import DOUBLED, whiten
from homi.datasets import load
from homi.graph import neighbor_laplacian
from homi.metrics import hamming_loss, one_error, ranking_loss
from homi.moments import Moments
from homi.paper.cell_verdicts import FOLDS, SHARES, distance, tried_settings
from homi.solver import Params, Problem, random_params, solve

OUTPUT = Path(__file__).parent.parent / "results" / "open_cells.csv"
ROWS = ("whitened", "standardized", "raw")
#: Rows that are tried with the paper's settings only.
MORE_ROWS = ("principal components", "unit length")


class Grid(NamedTuple):
    """Settings to try on a data set; the number of sweeps is read off on the way."""

    sweeps: tuple[int, ...]
    gammas: tuple[float, ...] = (0.0, 0.1, 0.3, 1.0, 10.0, 30.0)
    lams: tuple[float, ...] = (1.0,)
    neighbors: tuple[int, ...] = (10, 2)
    folds: tuple[tuple[int, int], ...] = ((0, 5),)


#: Those that say most for their time first. Of bibtex also one of ten folds: more
#: copies of test rows are then among the training rows.
GRIDS = {
    "langlog": Grid((1, 2, 5, 100), lams=(1.0, 100.0)),
    "corel16k001": Grid((1, 2, 5, 20)),
    "delicious": Grid((1, 2, 5), neighbors=(10,)),
    "corel5k": Grid((1, 2, 5, 20)),
    "bibtex": Grid((1, 2, 20), neighbors=(2,), folds=((0, 5), (0, 10))),
    "CAL500": Grid(
        (1, 2, 5, 100),
        (0.0, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
        folds=tuple((k, 5) for k in range(5)),
    ),
}


class Setting(NamedTuple):
    """A line of the table, but for what was measured."""

    dataset: str
    rows: str
    n_neighbors: int
    lam: float
    gamma: float
    fold: int
    folds: int


MEASURED = ("sweeps", "hamming_loss", "ranking_loss", "one_error")


def main() -> None:
    """Try what is missing until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=180.0)
    parser.add_argument("--datasets", nargs="+", choices=GRIDS, default=list(GRIDS))
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    lines = read()
    done = {tuple(line[: len(Setting._fields)]) for line in lines}
    for dataset in asked.datasets:
        lines += label_shares(dataset, done)
    for setting, split in itertools.chain(
        missing(asked.datasets, done), other_folds(asked.datasets, done)
    ):
        lines += [[*map(str, setting), *found] for found in measure(setting, split)]
        write(lines)
        print(setting, flush=True)
        if time.monotonic() > end:
            break


def read() -> list[list[str]]:
    """Return the lines that are there."""
    if not OUTPUT.exists():
        return []
    with OUTPUT.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def write(lines: list[list[str]]) -> None:
    """Write all lines."""
    with whole_file(OUTPUT) as path, path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*Setting._fields, *MEASURED])
        writer.writerows(lines)


class Split(NamedTuple):
    """Moments of the training rows with their graph, and the test rows."""

    moments: Moments
    X: NDArray[np.float64]
    Y: NDArray[np.int8]


def missing(
    datasets: list[str], done: set[tuple[str, ...]]
) -> Iterator[tuple[Setting, Split]]:
    """Yield settings without a line; rows and graph are made once for all γ and λ."""
    for dataset, rows in itertools.product(datasets, (*MORE_ROWS, *ROWS)):
        grid = GRIDS[dataset]
        if rows in MORE_ROWS:
            grid = grid._replace(
                gammas=(1.0,), lams=(1.0,), neighbors=grid.neighbors[:1]
            )
        prepared = cache(partial(prepare, dataset, rows))
        for (fold, folds), s in itertools.product(grid.folds, grid.neighbors):
            # Without a graph there are no neighbors to choose.
            settings = [
                Setting(dataset, rows, s, lam, gamma, fold, folds)
                for lam, gamma in itertools.product(grid.lams, grid.gammas)
                if gamma or s == grid.neighbors[0]
            ]
            left = [one for one in settings if tuple(map(str, one)) not in done]
            split = cut(*prepared(), s, fold, folds) if left else None
            yield from ((setting, split) for setting in left if split)


def label_shares(dataset: str, done: set[tuple[str, ...]]) -> Iterator[list[str]]:
    """Yield the lines of scores that are the same for every row: no feature is used."""
    Y = load(dataset).Y
    Y = Y[np.tile(np.arange(DOUBLED[dataset]), 2)] if dataset in DOUBLED else Y
    folds = KFold(FOLDS, shuffle=True, random_state=1).split(Y)
    for fold, (train, test) in enumerate(folds):
        line = [*map(str, Setting(dataset, SHARES, 0, 0.0, 0.0, fold, FOLDS))]
        if tuple(line) not in done:
            shares = np.tile(Y[train].mean(axis=0), (len(test), 1))
            yield [*line, "0", *losses(Y[test], shares)]


def other_folds(
    datasets: list[str], done: set[tuple[str, ...]]
) -> Iterator[tuple[Setting, Split]]:
    """Yield the setting nearest to the printed row on the folds without a line."""
    for dataset in datasets:
        first = tried_settings(pd.read_csv(OUTPUT), dataset, folds=1)
        rows, gamma, s, lam, _, folds = distance(first, dataset).idxmin()
        prepared = cache(partial(prepare, dataset, rows))
        for fold in range(1, folds):
            setting = Setting(dataset, rows, s, lam, gamma, fold, folds)
            if tuple(map(str, setting)) not in done:
                yield setting, cut(*prepared(), s, fold, folds)


def prepare(dataset: str, rows: str) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return all rows as the authors' loader stacks them, scaled before any split."""
    X, Y, *_ = load(dataset)
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
    if dataset in DOUBLED:
        twice = np.tile(np.arange(DOUBLED[dataset]), 2)
        X, Y = X[twice], Y[twice]
    if rows == "whitened":
        return whiten(X), Y
    if rows == "standardized":
        scale = X.std(axis=0)
        return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0), Y
    if rows == "principal components":
        X = X - X.mean(axis=0)
        return X @ scipy.linalg.eigh(X.T @ X, check_finite=False)[1], Y
    if rows == "unit length":
        return normalize(X), Y
    return X.astype(float), Y


def cut(
    X: NDArray[np.float64], Y: NDArray[np.int8], s: int, fold: int, folds: int
) -> Split:
    """Return the moments of a training fold, and its test rows."""
    splits = KFold(folds, shuffle=True, random_state=1).split(X)
    train, test = next(itertools.islice(splits, fold, None))
    moments = Moments.from_rows(X[train], Y[train].astype(float))
    L = neighbor_laplacian(X[train], s)
    return Split(moments.with_graph(X[train], L), X[test], Y[test])


def measure(setting: Setting, split: Split) -> Iterator[list[str]]:
    """Yield the losses on the test rows after each number of sweeps."""
    problem = Problem(split.moments, lam=setting.lam, gamma=setting.gamma)
    wanted, found = GRIDS[setting.dataset].sweeps, []
    count = itertools.count(1)

    def look(_: object, params: Callable[[], Params]) -> bool:
        if (sweep := next(count)) in wanted:
            found.append([str(sweep), *losses(split.Y, scores(split, params()))])
        return False

    start = random_params(problem, np.random.RandomState(1))
    solve(
        problem,
        start=start,
        sweep="paper",
        max_iter=max(wanted),
        tol=0,
        on_sweep=look,
    )
    yield from found


def scores(split: Split, params: Params) -> NDArray[np.float64]:
    """Return the scores of the test rows."""
    return (split.X @ params.W + params.z) @ params.B + params.t


def losses(Y: NDArray[np.int8], scores: NDArray[np.float64]) -> list[str]:
    """Return the three losses of the scores, four decimals each."""
    values = (
        hamming_loss(Y, (scores > 0.5).astype(int)),
        ranking_loss(Y, scores),
        one_error(Y, scores),
    )
    return [f"{value:.4f}" for value in values]


if __name__ == "__main__":
    main()
