"""Entries of the arena whose packages have an environment of their own.

Rows and scores are exchanged by files. The program that runs there,
``rival_environment_child.py``, needs nothing of homi.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from homi.benchmark.rival import LabeledRows, Rival
from homi.typing import Array, Fields, Matrix

_CHILD = Path(__file__).with_name("rival_environment_child.py")


def python_of(package: str, extras: str = "") -> Path:
    """Return the interpreter of an environment, below ``HOMI_ARENA_ENVS``.

    ``extras`` of the package, such as ``[all]``, are for the commands of the error.

    Raises
    ------
    FileNotFoundError
        If there is no such environment, with the commands that make it.
    """
    base = Path(os.environ.get("HOMI_ARENA_ENVS", "build/envs"))
    python = base / package / "bin" / "python"
    if not python.exists():
        raise FileNotFoundError(
            f"there is no environment of {package} at {base / package}; make it by "
            f"`python -m venv {base / package}` and `{python} -m pip install "
            f"'{package}{extras}'`, or name the directory of environments in "
            "HOMI_ARENA_ENVS."
        )
    return python


class _Elsewhere(Rival):
    """A model of another environment, kept as the bytes that it was saved in."""

    #: Distribution that has the model, and name of its environment.
    _package = ""
    #: Extras of that distribution.
    _extras = ""
    #: Processor seconds of starting other processes, which are no cost of the model.
    start_seconds_ = 0.0

    def _fit_model(
        self, rows: LabeledRows, setting: Fields, held: LabeledRows | None
    ) -> Any:
        with tempfile.TemporaryDirectory() as place:
            path = Path(place)
            _write(path / "rows.npz", rows.X, Y=rows.Y.astype(np.uint8))
            options = [f"{key}={value}" for key, value in setting.items()]
            self._call("fit", path, f"seed={self._seed()}", *options)
            return (path / "model").read_bytes()

    def _respond(self, model: Any, X: Matrix) -> Array:
        with tempfile.TemporaryDirectory() as place:
            path = Path(place)
            (path / "model").write_bytes(model)
            _write(path / "rows.npz", X)
            self._call("predict", path)
            found: Array = np.load(path / "scores.npy").astype(np.float64)
            return found

    def _call(self, task: str, place: Path, *options: str) -> None:
        python = str(python_of(self._package, self._extras))
        # With -P, modules beside the program do not hide those of the same name.
        command = [python, "-P", str(_CHILD), self._package, task]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        done = subprocess.run(
            [*command, str(place), *options],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == -signal.SIGXCPU:
            raise TimeoutError(f"{self._package} exceeded the limit of time")
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or [str(done.returncode)]
            raise RuntimeError(f"{self._package}: {last[0]}")
        self.start_seconds_ += float(done.stdout.split()[0])


def _write(path: Path, X: Matrix, **others: Any) -> None:
    if sparse.issparse(X):
        csr = sparse.csr_matrix(X)
        parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}
        np.savez(path, **parts, shape=np.array(X.shape), **others)
    else:
        np.savez(path, X=X, **others)


class BoomerRival(_Elsewhere):
    """BOOMER, 1,000 gradient boosted rules: the shrinkage is tuned."""

    _package = "mlrl-boomer"

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return [{"shrinkage": s, "max_rules": 1000} for s in (0.1, 0.3)]


class XRFMRival(_Elsewhere):
    """xRFM, kernel machines that learn their features: the bandwidth is tuned."""

    _package = "xrfm"
    _margins = True

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return [{"bandwidth": width} for width in (5.0, 10.0, 20.0)]


class AutoGluonRival(_Elsewhere):
    """AutoGluon without networks for each label: 3 s a label, at least 60 s a fit."""

    _package = "autogluon.tabular"
    _extras = "[lightgbm,catboost,xgboost]"

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return [{"seconds": max(60.0, 3.0 * rows.Y.shape[1])}]
