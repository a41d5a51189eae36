"""Fit or predict in the environment of another package.

python rival_environment_child.py PACKAGE fit|predict DIRECTORY [name=value ...]

Reads ``rows.npz``. Writes or reads ``model``, and writes ``scores.npy``: probabilities
less one half. Prints the processor seconds of its start. Run by
:mod:`homi.benchmark.rival_environments` with another interpreter.
"""

from __future__ import annotations

import importlib
import io
import json
import pickle
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def rows_of(place: Path) -> tuple[Any, Any]:
    """Read features and, if there are any, labels."""
    from scipy import sparse

    with np.load(place / "rows.npz") as given:
        Y = given.get("Y")
        if "X" in given:
            return given["X"].astype(np.float32), Y
        parts = tuple(given[name] for name in ("data", "indices", "indptr"))
        X = sparse.csr_matrix(parts, shape=tuple(given["shape"]))
        return X.astype(np.float32), Y


def boomer(X: Any, Y: Any, seed: int, **options: Any) -> Any:
    """Fit BOOMER with one thread."""
    from mlrl.boosting import BoomerClassifier

    parts = ("rule_refinement", "statistic_update", "prediction")
    threads: dict[str, Any] = {f"parallel_{part}": "false" for part in parts}
    model = BoomerClassifier(
        random_state=seed % 2**16 + 1,
        probability_predictor="output-wise",
        **threads,
        **options,
    )
    return model.fit(X, Y)


class Machine:
    """xRFM on standardized features, with the interface of a classifier."""

    def __init__(self, X: Any, Y: Any, seed: int, bandwidth: float) -> None:
        import torch
        from sklearn.preprocessing import StandardScaler
        from xrfm import xRFM

        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.scaler = StandardScaler().fit(_dense(X))
        rows, Y = self.scaler.transform(_dense(X)), Y.astype(np.float32)
        # It takes the best iteration by a seventh of the rows.
        is_held = np.random.default_rng(seed).random(len(Y)) < 1 / 7
        kernel = {
            "kernel": "l2",
            "bandwidth": bandwidth,
            "exponent": 1.0,
            "diag": False,
        }
        self.model = xRFM(
            {"model": kernel, "fit": {"reg": 1e-3, "iters": 3, "verbose": False}},
            tuning_metric="mse",
            device="cpu",
            n_threads=1,
            random_state=seed,
            verbose=False,
        )
        parts = (rows[~is_held], Y[~is_held], rows[is_held], Y[is_held])
        self.model.fit(*parts)

    def predict_proba(self, X: Any) -> Any:
        """Return scores about 0 and 1."""
        found = self.model.predict(self.scaler.transform(_dense(X)))
        return np.asarray(found).reshape(X.shape[0], -1)


class PerLabel:
    """A predictor of AutoGluon for each label that varies, kept as its files.

    A label for which nothing could be fitted in its time has its share of the rows.
    """

    def __init__(self, X: Any, Y: Any, seed: int, seconds: float) -> None:
        self.share = Y.mean(axis=0)
        each = seconds / Y.shape[1]
        varies = (self.share > 0) & (self.share < 1)
        found = {j: _fit_label(X, Y[:, j], each) for j in np.flatnonzero(varies)}
        self.files = {j: files for j, files in found.items() if files is not None}

    def predict_proba(self, X: Any) -> Any:
        """Return probabilities."""
        from autogluon.tabular import TabularPredictor

        P = np.tile(self.share, (X.shape[0], 1))
        for j, files in self.files.items():
            with tempfile.TemporaryDirectory() as place:
                with tarfile.open(fileobj=io.BytesIO(files)) as archive:
                    archive.extractall(place, filter="data")
                model = TabularPredictor.load(place, verbosity=0)
                P[:, j] = model.predict_proba(_frame(X))[1]
        return P


def _fit_label(X: Any, y: Any, seconds: float) -> bytes | None:
    from autogluon.tabular import TabularPredictor

    with tempfile.TemporaryDirectory() as place:
        model = TabularPredictor(
            "label",
            problem_type="binary",
            eval_metric="log_loss",
            path=place,
            verbosity=0,
        )
        rows = _frame(X).assign(label=y)
        limits = {"time_limit": seconds, "num_cpus": 1, "num_gpus": 0}
        model.fit(rows, raise_on_no_models_fitted=False, **limits)
        if not model.model_names():
            return None
        model.save_space()
        kept = io.BytesIO()
        with tarfile.open(fileobj=kept, mode="w") as archive:
            archive.add(place, arcname="")
        return kept.getvalue()


def _frame(X: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(_dense(X)).rename(columns=str)


def _dense(X: Any) -> Any:
    return X if isinstance(X, np.ndarray) else X.toarray()


FITS: dict[str, Callable[..., Any]] = {
    "mlrl-boomer": boomer,
    "xrfm": Machine,
    "autogluon.tabular": PerLabel,
}
#: Modules to import before the work begins, if their names differ.
MODULES = {"mlrl-boomer": "mlrl.boosting"}


def main() -> None:
    """Run one task."""
    package, task, directory, *settings = sys.argv[1:]
    place = Path(directory)
    importlib.import_module(MODULES.get(package, package))
    X, Y = rows_of(place)
    # The parent takes the seconds of the start off its costs.
    print(time.process_time())
    if task == "fit":
        pairs = (setting.partition("=") for setting in settings)
        options = {key: json.loads(value) for key, _, value in pairs}
        with (place / "model").open("wb") as file:
            pickle.dump(FITS[package](X, Y, **options), file)
        return
    with (place / "model").open("rb") as file:
        model = pickle.load(file)
    P = model.predict_proba(X)
    np.save(place / "scores.npy", np.asarray(P, dtype=np.float64) - 0.5)


if __name__ == "__main__":
    main()
