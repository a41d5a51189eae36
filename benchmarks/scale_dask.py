"""Two Dask workers against one, and the bytes that they move.

``python benchmarks/scale_dask.py`` writes ``docs/measured/scale_dask.md``. The rows are
made on the workers, block by block, from a seed. Worker processes have one thread each,
for BLAS too. Clusters of one and of two work in turns, so that what other programs do
meets both alike.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
os.environ.update(dict.fromkeys(THREADS, "1"))

import dask  # noqa: E402
import dask.array as da  # noqa: E402
import distributed  # noqa: E402
import numpy as np  # noqa: E402

import homi  # noqa: E402
from homi import HOMI  # noqa: E402
from homi.moments import Moments  # noqa: E402

#: As mediamill, with its share of ones among the labels.
FEATURES, LABELS, ANCHORS = 120, 101, 64
GOAL = 1.7


def rows(block_info: Any = None) -> np.ndarray:
    """A block of rows around a hundred centers, by its number."""
    place = block_info[None]
    rng = np.random.default_rng([1, place["chunk-location"][0]])
    centers = np.random.default_rng(0).normal(size=(100, FEATURES))
    X = rng.standard_normal(place["chunk-shape"])
    X += centers[rng.integers(len(centers), size=len(X))]
    return X


def labels(X: np.ndarray, block_info: Any = None) -> np.ndarray:
    rng = np.random.default_rng([2, block_info[None]["chunk-location"][0]])
    W = np.random.default_rng(3).normal(size=(FEATURES, LABELS))
    scores = X @ W / np.sqrt(2 * FEATURES) + rng.standard_normal((len(X), LABELS))
    return (scores > 2.43).astype(np.int8)


def collections(n: int, block: int) -> tuple[da.Array, da.Array]:
    sizes = tuple(min(block, n - start) for start in range(0, n, block))
    like = np.empty((0, 0))
    X = da.map_blocks(rows, chunks=(sizes, (FEATURES,)), meta=like)
    Y = X.map_blocks(labels, chunks=(sizes, (LABELS,)), meta=like.astype(np.int8))
    return X, Y


@contextmanager
def cluster(n_workers: int) -> Iterator[distributed.Client]:
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as workers,
        distributed.Client(workers, set_as_default=False) as client,
    ):
        yield client


def fit(
    client: distributed.Client, n: int, block: int, **how: Any
) -> tuple[Any, float]:
    with client.as_current(), dask.config.set(scheduler=client.get):
        begin = time.perf_counter()
        model = HOMI(random_state=0, **how).fit(*collections(n, block))
        return model, time.perf_counter() - begin


def sent(client: distributed.Client) -> int:
    """Bytes that the workers have sent, by Dask's own counter."""
    counts = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(counts.values())


def moved(client: distributed.Client, n: int, block: int, **how: Any) -> int:
    before = sent(client)
    fit(client, n, block, **how)
    return sent(client) - before


def speed(n: int, block: int, repeats: int) -> list[str]:
    """Clusters come and go in turns: an idle one would take some of the processors."""
    taken: dict[int, list[float]] = {1: [], 2: []}
    bare: dict[int, list[float]] = {1: [], 2: []}
    models = {}
    for _ in range(repeats):
        for count in (1, 2):
            with cluster(count) as client:
                fit(client, 2 * block, block, graph="anchors")
                models[count], seconds = fit(client, n, block, graph="anchors")
                taken[count].append(seconds)
            bare[count].append(without_dask(count, n // block // 4, block))
    gap = float(np.abs(models[1].coef_ - models[2].coef_).max())
    ratio, possible = gain(taken), gain(bare)
    return [
        "## Two workers against one",
        "",
        f"Seconds of a whole fit of {n:,} rows in blocks of {block:,}, with the rows "
        "generated on the workers; medians of alternating runs. For comparison, the "
        "same machine without Dask: one or two processes that generate a quarter of "
        "the rows and compute their moments.",
        "",
        "| processes | with Dask, s | all of them | without, s | all of them |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {k} | {median(taken[k]):.2f} | {listed(taken[k])} | "
            f"{median(bare[k]):.2f} | {listed(bare[k])} |"
            for k in taken
        ),
        "",
        f"{ratio:.2f} times as fast with Dask, {possible:.2f} times without; target at "
        f"least {GOAL}: {'pass' if ratio >= GOAL else 'MISS'}. "
        f"The largest difference of a weight between the two models is {gap:.1e}.",
        "",
    ]


def gain(taken: dict[int, list[float]]) -> float:
    return median(taken[1]) / median(taken[2])


def listed(times: list[float]) -> str:
    return ", ".join(f"{t:.2f}" for t in times)


def without_dask(processes: int, blocks: int, block: int) -> float:
    """Seconds in which so many processes make blocks of rows and their moments."""
    shares = [range(k, blocks, processes) for k in range(processes)]
    with get_context("spawn").Pool(processes) as pool:
        pool.map(_moments, [(range(1), block)] * processes, chunksize=1)
        begin = time.perf_counter()
        pool.map(_moments, [(share, block) for share in shares], chunksize=1)
        return time.perf_counter() - begin


def _moments(given: tuple[range, int]) -> None:
    numbers, block = given
    for number in numbers:
        shape = {"chunk-location": (number, 0), "chunk-shape": (block, FEATURES)}
        X = rows(block_info={None: shape})
        Moments.from_rows(X, labels(X, block_info={None: shape}))


def traffic(block: int) -> list[str]:
    m, q, a = FEATURES, LABELS, ANCHORS
    moments = 8 * (m * m + m * q + q * q + m + q)
    lines = [
        "## Bytes moved",
        "",
        "Bytes that two workers sent to each other and to the client. A block has "
        f"{moments:,} bytes of moments and, with anchors, {8 * (a * m + a):,} bytes of "
        "edges. The sample for the anchors is moved once; its size is the same for all "
        "numbers of rows above 10,000.",
        "",
        "| graph | rows | rows of a block | blocks | bytes of a block's rows | bytes "
        "moved | for each block |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    with cluster(2) as client:
        fit(client, 2 * block, block, gamma=0)
        for name, how in (("none", {"gamma": 0}), ("anchors", {"graph": "anchors"})):
            found = {}
            for blocks, size in ((16, block), (32, block), (16, 2 * block)):
                found[blocks, size] = moved(client, blocks * size, size, **how)
                total = found[blocks, size]
                lines.append(
                    f"| {name} | {blocks * size:,} | {size:,} | {blocks} | "
                    f"{size * (8 * m + q):,} | {total:,} | {total / blocks:,.0f} |"
                )
            more = (found[32, block] - found[16, block]) / 16
            lines.append(
                f"| {name} | each block more | {block:,} | | | | {more:,.0f} |"
            )
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--block", type=int, default=16384)
    parser.add_argument("--repeats", type=int, default=5)
    page = Path("docs/measured/scale_dask.md")
    parser.add_argument("--output", type=Path, default=page)
    given = parser.parse_args()
    load = os.getloadavg()[0]
    about = {"homi": homi, "numpy": np, "dask": dask, "distributed": distributed}
    versions = ", ".join(f"{name} {part.__version__}" for name, part in about.items())
    text = "\n".join(
        [
            "# Dask workers",
            "",
            f"- python {platform.python_version()}, {versions}",
            f"- {platform.machine()}, {os.cpu_count()} cores; {FEATURES} features, "
            f"{LABELS} labels, {ANCHORS} anchors",
            f"- load of the machine before the start: {load:.1f}; above 0, other "
            "programs used the same cores",
            "- written by `python benchmarks/scale_dask.py`",
            "",
            *speed(given.rows, given.block, given.repeats),
            *traffic(given.block),
        ]
    )
    temporary = given.output.with_name(f".{given.output.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, given.output)
    print(text)


if __name__ == "__main__":
    main()
