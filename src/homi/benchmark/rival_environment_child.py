"""Fit or predict in the environment of another package.

python rival_environment_child.py PACKAGE fit|predict DIRECTORY [name=value ...]

Reads ``rows.npz``. Writes or reads ``model``, and writes ``scores.npy``: probabilities
less one half. Prints the processor seconds of its start. Run by
:mod:`homi.benchmark.rival_environments` with another interpreter.
"""

from __future__ import annotations

import importlib
import json
import pickle
import sys
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


def _dense(X: Any) -> Any:
    return X if isinstance(X, np.ndarray) else X.toarray()


FITS: dict[str, Callable[..., Any]] = {"mlrl-boomer": boomer, "xrfm": Machine}
#: Modules to import before the work begins.
MODULES = {"mlrl-boomer": "mlrl.boosting", "xrfm": "xrfm"}


def main() -> None:
    """Run one task."""
    package, task, directory, *settings = sys.argv[1:]
    place = Path(directory)
    importlib.import_module(MODULES[package])
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
