"""Time to start, beside `import numpy`, and the size of what each extra installs.

New processes in turns, processor time, medians. The goal of `import homi` and of
every help is 1.5 times `import numpy` plus 0.3 s. Sizes are of the distributions in
this environment.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import sklearn
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from scale_sparse import write

from homi.cli.lazy import COMMANDS

FACTOR, PLUS = 1.5, 0.3

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"

#: What is started -> the arguments of Python.
CALLS = {
    "import homi": ["-c", "import homi"],
    "homi --version": ["-m", "homi", "--version"],
    "homi --help": ["-m", "homi", "--help"],
    **{f"homi {name} --help": ["-m", "homi", name, "--help"] for name in COMMANDS},
    "from homi import HOMICV": ["-c", "from homi import HOMICV"],
    "import sklearn.linear_model": ["-c", "import sklearn.linear_model"],
    "import numpy": ["-c", "import numpy"],
}

#: Those that the goal is for.
QUICK = [name for name in CALLS if name.startswith(("import homi", "homi "))]

PROJECT = tomllib.loads(
    (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
)["project"]
EXTRAS = ["", *PROJECT["optional-dependencies"]]

SIZES = (
    "\n## Size\n\nDistributions that an extra installs, and their files without "
    "bytecode, in MB of 10⁶ bytes. The core is in none of the other rows.\n\n"
    "| extra | distributions | MB | largest |\n| --- | --- | --- | --- |\n"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="Page to write.")
    parser.add_argument("--repeat", type=int, default=7)
    arguments = parser.parse_args()
    for call in CALLS.values():
        seconds(call)  # writes bytecode
    samples: dict[str, list[float]] = {name: [] for name in CALLS}
    for _ in range(arguments.repeat):
        for name, call in CALLS.items():
            samples[name].append(seconds(call))
    medians = {name: statistics.median(times) for name, times in samples.items()}
    goal = FACTOR * medians["import numpy"] + PLUS
    page = head(arguments.repeat) + "".join(
        row(name, value, medians["import numpy"], goal)
        for name, value in medians.items()
    )
    page += SIZES + "".join(size_row(extra) for extra in EXTRAS)
    if arguments.output:
        write(arguments.output, page)
    else:
        print(page, end="")


def seconds(call: list[str]) -> float:
    """Processor time of a new Python, which keeps its bytecode."""
    environment = {k: v for k, v in os.environ.items() if k != NO_BYTECODE}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *call], check=True, capture_output=True, env=environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def head(repeat: int) -> str:
    return (
        "# Time to start\n\n"
        "Written by `python benchmarks/startup.py`: seconds of processor time of a new "
        f"process, medians of {repeat} in turns; Python {platform.python_version()}, "
        f"numpy {np.__version__}, scikit-learn {sklearn.__version__}. The goal is "
        f"{FACTOR} × `import numpy` + {PLUS} s. A command imports scikit-learn when it "
        "runs; that is most of its time to start.\n\n"
        "| | seconds | × `import numpy` | goal, seconds |\n| --- | --- | --- | --- |\n"
    )


def row(name: str, value: float, numpy: float, goal: float) -> str:
    met = f"<= {goal:.2f}: {'pass' if value <= goal else 'MISS'}"
    target = met if name in QUICK else "-"
    return f"| `{name}` | {value:.2f} | {value / numpy:.1f} | {target} |\n"


def size_row(extra: str) -> str:
    """Count what an extra installs; of an extra, what the core does not have."""
    name = f"`{extra}`" if extra else "none: the core"
    core = closure(PROJECT["dependencies"])
    try:
        wanted = closure(PROJECT["optional-dependencies"][extra]) if extra else core
    except PackageNotFoundError as error:
        return f"| {name} | – | – | {error.name} was not installed |\n"
    wanted = {n: size for n, size in wanted.items() if not extra or n not in core}
    most = sorted(wanted, key=lambda name: -wanted[name])[:3]
    largest = ", ".join(f"{name} {wanted[name]:.0f}" for name in most)
    return f"| {name} | {len(wanted)} | {sum(wanted.values()):.0f} | {largest} |\n"


def closure(lines: list[str]) -> dict[str, float]:
    """Size of each distribution that requirements need, directly or not."""
    sizes: dict[str, float] = {}
    todo = [(Requirement(line), "") for line in lines]
    seen: set[tuple[str, frozenset[str]]] = set()
    while todo:
        needed, extra = todo.pop()
        if needed.marker and not needed.marker.evaluate({"extra": extra}):
            continue
        name, extras = canonicalize_name(needed.name), frozenset(needed.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        if name == PROJECT["name"]:
            own = PROJECT["optional-dependencies"]
            todo += [(Requirement(line), "") for e in extras for line in own[e]]
            continue
        found = distribution(needed.name)
        sizes[name] = megabytes(found)
        for line in found.requires or []:
            todo += [(Requirement(line), e) for e in extras or {""}]
    return sizes


def megabytes(found: Distribution) -> float:
    files = [file for file in found.files or [] if file.suffix != ".pyc"]
    return sum(file.size or 0 for file in files) / 1e6


if __name__ == "__main__":
    main()
