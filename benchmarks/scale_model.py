"""What a fit costs in flops, bytes and memory, and how long it would take on a cluster.

``python benchmarks/scale_model.py`` measures, in this process and at one thread, how
fast blocks become moments and how long the solver takes, and writes
``docs/measured/how_big.md``: the model, the rates, and what they say of more rows and
workers. ``--rows``, ``--features``, ``--labels`` and ``--workers`` ask for other sizes.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
os.environ.update(dict.fromkeys(THREADS, "1"))

import numpy as np  # noqa: E402

import homi  # noqa: E402
from homi.distributed.tasks import _ARITY  # noqa: E402
from homi.graph import anchor_moments, plan_anchors  # noqa: E402
from homi.graph.reservoir import Reservoir  # noqa: E402
from homi.solver import Problem, solve  # noqa: E402

#: Share of ones among the labels.
ONES = 0.02
#: What is assumed of a cluster: a core is the one that measures, and these.
NETWORK, STORE, TASK = 1e9, 200e6, 1e-3


@dataclass(frozen=True)
class Size:
    """A fit: rows, features, labels, anchors, workers and rows of a block."""

    n: int
    m: int
    q: int
    anchors: int
    workers: int
    block: int

    @property
    def blocks(self) -> int:
        return math.ceil(self.n / self.block)

    @property
    def moments(self) -> int:
        """Bytes of the moments and ties of any number of rows."""
        m, q, a = self.m, self.q, self.anchors
        return 8 * (m * m + m * q + q * q + m + q + a * m + a)

    @property
    def flops(self) -> float:
        """Of all rows, with XᵀX, XᵀY and YᵀY as dense products, and the ties."""
        m, q = self.m, self.q
        return 2.0 * self.n * (m * m + m * q + q * q + self.anchors * m)

    @property
    def exact_flops(self) -> float:
        """Of all pairs of rows."""
        return 2.0 * self.n * self.n * self.m

    @property
    def tasks(self) -> int:
        """One for each block, and a tree of sums above them."""
        count, level = self.blocks, self.blocks
        while level > 1:
            level = math.ceil(level / _ARITY)
            count += level
        return count

    @property
    def moved(self) -> int:
        """Bytes of all that is summed, if each is moved once: the most there can be."""
        return self.tasks * self.moments

    @property
    def row_bytes(self) -> int:
        """Features in float64, labels in one byte."""
        return 8 * self.m + self.q

    @property
    def memory(self) -> int:
        """Of a worker: one block with a float64 copy of its labels, and a sum."""
        return self.block * (self.row_bytes + 8 * self.q) + (_ARITY + 1) * self.moments

    @property
    def sampled_blocks(self) -> int:
        """Blocks that have rows of the sample, which are read twice."""
        rows = Reservoir(self.m, 0).size * self.block / self.n
        return math.ceil(self.blocks * (1 - math.exp(-rows)))


@dataclass(frozen=True)
class Rates:
    """What this machine does at one thread."""

    flops: float
    gemm: float
    solver: float
    sweeps: int
    plan: float
    adding: float


def timed(function: Callable[[], Any], repeats: int = 3) -> tuple[Any, float]:
    best = math.inf
    for _ in range(repeats):
        begin = time.process_time()
        value = function()
        best = min(best, time.process_time() - begin)
    return value, best


def measured(size: Size, rows: int) -> Rates:
    """Rates by so many rows of this many features and labels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, size.m)) + rng.normal(size=size.m)
    W = rng.normal(size=(size.m, size.q)) / np.sqrt(size.m)
    scores = X @ W + rng.standard_normal((rows, size.q))
    Y = (scores > np.quantile(scores[:1000], 1 - ONES, axis=0)).astype(np.int8)
    del scores
    plan, plan_seconds = timed(lambda: plan_anchors(X, n_anchors=size.anchors), 1)
    part, seconds = timed(lambda: anchor_moments(X, Y, plan))
    _, adding = timed(lambda: part + part)
    here = replace(size, n=rows)
    A = rng.standard_normal((2000, 2000))
    _, gemm = timed(lambda: A @ A)
    problem = Problem(part.with_graph(plan).standardized())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution, solver = timed(lambda: solve(problem, max_iter=100, tol=1e-6), 1)
    return Rates(
        flops=here.flops / seconds,
        gemm=2.0 * len(A) ** 3 / gemm,
        solver=solver,
        sweeps=len(solution.history),
        plan=plan_seconds,
        adding=adding,
    )


def estimate(size: Size, rates: Rates) -> dict[str, float]:
    """Seconds of each stage; stages follow each other, workers share a stage."""
    w = size.workers
    read = size.n * size.row_bytes / (w * STORE)
    sampled = size.sampled_blocks * size.block * 8 * size.m / (w * STORE)
    sample = Reservoir(size.m, 0).size * 8 * size.m
    levels = math.ceil(math.log(max(size.blocks / w, 1), _ARITY)) + math.ceil(
        math.log(max(w, 2), _ARITY)
    )
    return {
        "sample: reading": sampled,
        "sample: to the client": sample / NETWORK,
        "plan of the anchors, on the client": rates.plan,
        "reading": read,
        "moments": size.flops / (w * rates.flops),
        "sums: adding": size.tasks * rates.adding * _ARITY / (_ARITY - 1) / w
        + levels * rates.adding,
        "sums: moving": size.moved / (w * NETWORK)
        + levels * (_ARITY - 1) * size.moments / NETWORK,
        "scheduler": (size.tasks + size.sampled_blocks) * TASK,
        "solver, on the client": rates.solver,
    }


def human(amount: float) -> str:
    """Bytes in the unit that suits them."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            return f"{amount:.3g} {unit}"
        amount /= 1000
    raise AssertionError


def page(size: Size, rates: Rates, rows: int) -> str:
    stages = estimate(size, rates)
    others = [replace(size, workers=w) for w in (1, 10, 100, 1000)]
    totals = [sum(estimate(other, rates).values()) for other in others]
    return "\n".join(
        [
            "# How big can it go: a cost model, and an extrapolation",
            "",
            "Written by `python benchmarks/scale_model.py`. A cost model, rates "
            "measured on one machine, and an extrapolation. No fit of this size "
            "was run.",
            "",
            "## The model",
            "",
            "n rows, m features, l labels, a anchors, w workers, blocks of b rows.",
            "",
            "| what | anchors, or no graph (a = 0) | exact graph, in addition |",
            "| --- | --- | --- |",
            "| flops, shared by the workers | 2n(m² + ml + l² + am) | 2n²m |",
            f"| bytes moved, in sum | 8(m² + ml + l² + am) for each of n/b blocks and "
            f"{_ARITY}-ary sums | 8nm to each worker, at most |",
            f"| memory of a worker | a block, and {_ARITY + 1} × 8(m² + ml + l² + am) "
            "| its share of the rows, 8nm/w |",
            "| reads of the rows | 1, and the blocks that have rows of the sample once "
            "more | 1 |",
            "| on the client | O(m³ + l³) and the sweeps, for any n | the same |",
            "",
            "Bytes moved depend on n only through the number of blocks: larger blocks "
            "move less. Sparse labels need fewer flops than counted here, so the rate "
            "below may exceed that of BLAS.",
            "",
            "## Measured here",
            "",
            f"python {platform.python_version()}, homi {homi.__version__}, numpy "
            f"{np.__version__}, {platform.machine()}, one thread, processor time; "
            f"{rows:,} rows of {size.m} features and {size.q:,} labels, "
            f"{100 * ONES:.0f} % of them ones.",
            "",
            "| what | value |",
            "| --- | --- |",
            f"| rows to moments and ties | {rates.flops / 1e9:.3g} Gflop/s |",
            f"| a 2000 × 2000 product by BLAS | {rates.gemm / 1e9:.3g} Gflop/s |",
            f"| adding two moments | {rates.adding:.3g} s |",
            f"| plan of {size.anchors} anchors | {rates.plan:.3g} s |",
            f"| solver, {rates.sweeps} sweeps | {rates.solver:.3g} s |",
            "",
            f"## {size.n:,} rows × {size.m:,} × {size.q:,} on {size.workers} workers",
            "",
            "Assumptions: a worker is one core as fast as this one, with no other "
            f"load; it reads {human(STORE)} and moves {human(NETWORK)} per second; the "
            f"scheduler takes {1000 * TASK:g} ms per task; stages do not overlap; "
            "no worker is lost; time is linear in the rows. "
            f"Blocks of {size.block:,} rows, features in float64, labels in one byte.",
            "",
            "| what | value |",
            "| --- | --- |",
            f"| rows, as they are read | {human(size.n * size.row_bytes)} |",
            f"| blocks, and tasks in all | {size.blocks:,}, {size.tasks:,} |",
            f"| flops | {size.flops:.3g} |",
            f"| moments and ties of a block | {human(size.moments)} |",
            f"| bytes moved | {human(size.moved)}, "
            f"{100 * size.moved / (size.n * size.row_bytes):.2g} % of the rows |",
            f"| memory of a worker | {human(size.memory)} |",
            f"| all pairs of rows, for comparison | {size.exact_flops:.3g} flops, "
            f"{size.exact_flops / size.flops:,.0f} times as many |",
            "",
            "| stage | seconds |",
            "| --- | --- |",
            *(f"| {name} | {seconds:,.3g} |" for name, seconds in stages.items()),
            f"| **all** | **{sum(stages.values()):,.0f}** |",
            "| moments, if labels were dense and all was done at the rate of BLAS | "
            f"{size.flops / (size.workers * rates.gemm):,.3g} |",
            "",
            "| workers | hours | times as fast as one |",
            "| --- | --- | --- |",
            *(
                f"| {other.workers:,} | {t / 3600:,.3g} | {totals[0] / t:,.3g} |"
                for other, t in zip(others, totals, strict=True)
            ),
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000_000)
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--block", type=int, default=100_000)
    parser.add_argument("--measured", type=int, default=20_000, help="rows to measure")
    output = Path("docs/measured/how_big.md")
    parser.add_argument("--output", type=Path, default=output)
    given = parser.parse_args()
    shape = given.rows, given.features, given.labels
    size = Size(*shape, anchors=64, workers=given.workers, block=given.block)
    text = page(size, measured(size, given.measured), given.measured)
    temporary = given.output.with_name(f".{given.output.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, given.output)
    print(text)


if __name__ == "__main__":
    main()
