"""Two experiments as files, and the quick experiment as a program of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from homi.cli.app import app

SMALL = """
name = "small"
protocols = ["clean", "as-published"]
datasets = ["yeast"]
methods = ["HOMI", "ML-LRC"]
folds = 2

[search.ML-LRC]
points = 2

[[rule]]
protocol = "as-published"
set = { standardize = false }

[[rule]]
method = "HOMI"
dataset = ["yeast", "emotions"]
set = { n_neighbors = 2 }
"""

FULL = """
name = "small"
protocols = ["clean", "as-published"]
datasets = ["yeast", "emotions"]
methods = ["HOMI", "HOMI gamma=0", "ML-KNN"]
baselines = ["ridge"]
folds = 2

[[rule]]
method = "HOMI"
set = { n_neighbors = 3, lam = 2 }

[sensitivity]
datasets = ["yeast"]
gamma = [0, 0.5]
lam = [5]

[studies]
characteristics = ["yeast"]
convergence = ["yeast"]
correlations = ["yeast"]
folds = ["yeast"]

[quick]
datasets = ["yeast"]
methods = ["HOMI"]
folds = 2
"""


# The quick experiment as a program of its own, and what two runs of it share.


FILE = Path(__file__).parent.parent / "benchmarks" / "paper.toml"

#: No directory of data: yeast comes with river.
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if key != "HOMI_DATA"},
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


def start(results, *options):
    words = ["-m", "homi", "bench", "run", str(FILE), "--quick"]
    command = [sys.executable, *words, "--results", str(results), *options]
    return subprocess.Popen(command, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE)


def done(*words):
    """Run a command in this process."""
    words = ["bench", *map(str, words)]
    result = CliRunner().invoke(app, words, env={"HOMI_DATA": None})
    assert result.exit_code == 0, result.output
    return result.output


def run(results, *options):
    return done("run", FILE, "--quick", "--results", results, *options)


def report(results, target):
    return done("report", FILE, "--quick", "--results", results, "--output", target)


def files(directory):
    """The bytes of every file, by name."""
    found = sorted(path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in found}


def records(results):
    """Every result by its file, without the seconds that it took."""
    found = {name: json.loads(content) for name, content in files(results).items()}
    for record in found.values():
        record.pop("seconds", None)
    return found
