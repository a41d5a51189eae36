"""Time what the README tells people to run, in a fresh virtual environment.

Elapsed seconds, seconds of processor time, the bytes of the environment, and what each
command printed last. The file posts.csv of the shell lines is made of the docstrings of
the environment.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Writes posts.csv and new.csv: texts and their tags, and texts only.
FILES = """
import csv
from homi.datasets.python_functions import python_functions

functions = python_functions()[::4]
for name, is_new in (("posts.csv", False), ("new.csv", True)):
    with open(name, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["body"] if is_new else ["body", "tags"])
        for i, function in enumerate(functions):
            if is_new == (i % 5 == 0):
                cells = [function.text, ";".join(function.tags)]
                rows.writerow(cells[:1] if is_new else cells)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    print(
        "| command | seconds | of a processor | last line |\n| --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory(prefix="homi-readme-") as directory:
        here = Path(directory)
        timed("python -m venv", [sys.executable, "-m", "venv", "venv"], here)
        python = here / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        pip = [str(python), "-m", "pip", "install", "--quiet", "--no-compile"]
        (extras,) = re.findall(r"pip install 'homi-learn(\[.*?\])'", readme)
        timed("pip install", [*pip, f"{ROOT}{extras}"], here)
        print(f"| size of the environment | | | {megabytes(here / 'venv'):.0f} MB |")
        (block,) = re.findall(r"```python\n(.*?)```", readme, re.S)
        timed("the Python of the README", [str(python), "-c", block], here)
        quick = (ROOT / "docs" / "quick_start.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```", quick, re.S)
        timed("docs/quick_start.md", [str(python), "-c", "\n".join(blocks)], here)
        timed("posts.csv", [str(python), "-c", FILES], here)
        for line in commands(readme):
            timed(line, [str(python), "-m", *line.split()], here)
        timed("homi demo", [str(python), "-m", "homi", "demo"], here)


def commands(readme: str) -> list[str]:
    """Return the lines of shell in the README, without comments."""
    (block,) = re.findall(r"```sh\n(.*?)```", readme, re.S)
    return [line.split("#")[0].strip() for line in block.splitlines()]


def timed(name: str, command: list[str], here: Path) -> None:
    """Run a command, and print a row of the table; stop where one fails."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    started, used = time.perf_counter(), _processor()
    done = subprocess.run(
        command, cwd=here, capture_output=True, text=True, env=environment
    )
    seconds = time.perf_counter() - started
    lines = (done.stdout or done.stderr).strip().splitlines() or [""]
    used = _processor() - used
    print(f"| `{name}` | {seconds:.1f} | {used:.1f} | {lines[-1][:100]} |", flush=True)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr}")


def _processor() -> float:
    """Return the processor seconds of all commands so far."""
    times = os.times()
    return times.children_user + times.children_system


def megabytes(directory: Path) -> float:
    files = (path for path in directory.rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files) / 1e6


if __name__ == "__main__":
    main()
