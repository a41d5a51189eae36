"""How fast files are read, as ratios measured side by side in one process.

Two rows, each with its goal: the first parse of delicious against one bare parse by
liac-arff, and a load from the cache against ``numpy.load`` of the same bytes. Without
delicious in HOMI_DATA, random data of its shape stand for it.
"""

from __future__ import annotations

import argparse
import gc
import lzma
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arff
import numpy as np
from scipy import sparse

from homi.datasets import Dataset, load, read, write

GOAL = 3.0

#: Rows, features, labels of delicious, and their shares of non-zeros.
SHAPE, DENSITIES = (16105, 500, 983), (0.037, 0.019)


def real(directory: Path) -> str | None:
    """Put delicious into the directory as plain text; its name, or None."""
    source = Path(os.environ.get("HOMI_DATA") or "nowhere")
    packed, plain = source / "delicious.arff.xz", source / "delicious.arff"
    target = directory / "delicious.arff"
    if packed.is_file():
        with lzma.open(packed) as text, target.open("wb") as file:
            shutil.copyfileobj(text, file)
    elif plain.is_file():
        shutil.copyfile(plain, target)
    else:
        return None
    return "delicious"


def random(directory: Path) -> str:
    """Write a sparse ARFF file of the shape and the densities of delicious."""
    rng = np.random.default_rng(0)
    n, m, q = SHAPE
    X = sparse.random_array((n, m), density=DENSITIES[0], format="csr", rng=rng)
    X.data[:] = 1.0
    Y = (rng.random((n, q)) < DENSITIES[1]).astype(np.int8)
    names = [f"x{j}" for j in range(m)], [f"y{j}" for j in range(q)]
    write(Dataset(X, Y, *names), directory / "random.arff")
    return "random"


def liac(path: Path) -> Any:
    with path.open(encoding="utf-8") as file:
        return arff.load(file, return_type=arff.LOD)


def arrays(path: Path) -> dict[str, Any]:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def seconds(call: Callable[[], Any], loops: int) -> float:
    gc.collect()
    started = time.perf_counter()
    for _ in range(loops):
        call()
    return (time.perf_counter() - started) / loops


def compare(
    title: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    repeats: int,
    loops: int = 1,
) -> None:
    """Time both in turns, so that a busy machine is busy for both."""
    pairs = [(seconds(ours, loops), seconds(theirs, loops)) for _ in range(repeats)]
    a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(x / y for x, y in pairs)
    mark = "ok" if ratio <= GOAL else "TOO SLOW"
    print(f"| {title} | {a:.3f} s | {b:.3f} s | {ratio:.2f} | {GOAL:g} | {mark} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7, metavar="N")
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as temporary:
        directory, cache = Path(temporary, "data"), Path(temporary, "cache")
        directory.mkdir()
        os.environ["HOMI_CACHE"] = str(cache)
        name = real(directory) or random(directory)
        path = directory / f"{name}.arff"
        print("| what | homi | against | ratio | goal | |\n|---|---|---|---|---|---|")
        first = f"first parse of {name} / liac-arff"
        labels = f"last {SHAPE[2]}"
        compare(first, lambda: read(path, labels), lambda: liac(path), repeats)
        if name == "delicious":  # as a user has it, packed or not
            directory = Path(os.environ["HOMI_DATA"])
        load(name, directory)
        kept = max(cache.rglob("*.npz"), key=lambda file: file.stat().st_size)
        again = f"load of {name} from the cache / numpy.load"
        compare(again, lambda: load(name, directory), lambda: arrays(kept), repeats, 5)


if __name__ == "__main__":
    main()
