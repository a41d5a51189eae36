"""What a fitted HOMI, or a model around one, knows: plain arrays and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline

Array = NDArray[np.float64]

#: Parameters that a person wants to see, with their symbols.
_SYMBOLS = {"lam": "λ", "beta": "β", "gamma": "γ", "n_neighbors": "s"}


@dataclass(frozen=True)
class Learnt:
    """A fitted model as it is explained.

    Attributes
    ----------
    names : list of str
        Names of the labels.
    W, z, B, t : arrays
        The model, as in the paper.
    correlation : str
        What B was learnt from, the parameter of ``HOMI``.
    kernel : bool
        Whether the features are those of a kernel, which have no names.
    settings : str
        The parameters, for a person.
    history : list of dict
        Terms of the objective after each sweep.
    feature_names : list of str
        Names of the features; empty with a kernel.
    thresholds : array of shape (n_labels,)
        What each label's score must exceed for it to be predicted; NaN where no fixed
        number decides, as among classes of a 1-D y or the k highest scores of a row.
    odds : pair of arrays or None
        Slope and offset of each label that make log-odds of ``g(x) - 1/2``, as of
        ``HOMICV``; None where g(x) is the score.
    """

    names: list[str]
    W: Array
    z: Array
    B: Array
    t: Array
    correlation: str
    kernel: bool
    settings: str
    history: list[dict[str, float]]
    feature_names: list[str]
    thresholds: Array
    odds: tuple[Array, Array] | None = None


def learnt(
    model: Any,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Learnt:
    """Read a fitted model; names given here win over its own."""
    inner, core = innermost(model), fitted_core(model)
    n_features, n_labels = core.feature_weights_.shape
    params = core.get_params()
    _check_finite(core, params)
    kernel = params["kernel"] is not None
    labels = _names(label_names, inner.label_names_, n_labels, "label")
    own = getattr(inner, "feature_names_in_", [f"x{f}" for f in range(n_features)])
    features = [] if kernel else _names(feature_names, own, n_features, "feature")
    return Learnt(
        names=labels,
        W=core.feature_weights_,
        z=core.feature_bias_,
        B=core.label_correlation_,
        t=core.label_bias_,
        correlation=params["correlation"],
        kernel=kernel,
        settings=_settings(type(inner).__name__, params),
        history=core.history_,
        feature_names=features,
        thresholds=_thresholds(model, n_labels),
        odds=_odds(inner),
    )


def _check_finite(core: Any, params: dict[str, Any]) -> None:
    names = ("feature_weights_", "feature_bias_", "label_correlation_", "label_bias_")
    if not all(np.isfinite(getattr(core, name)).all() for name in names):
        given = ", ".join(f"{name}={params[name]:g}" for name in _SYMBOLS)
        raise ValueError(
            f"the model holds NaN or infinite weights, so there is nothing to explain; "
            f"fit it with numbers nearer to 1 (it has {given}) or with scaled features."
        )


def _odds(model: Any) -> tuple[Array, Array] | None:
    slope = getattr(model, "odds_slope_", None)
    return None if slope is None else (slope, model.odds_offset_)


def _thresholds(model: Any, n_labels: int) -> Array:
    """Thresholds in the unit of the scores shown: g(x), or log-odds."""
    step, inner = _last_step(model), innermost(model)
    own = 0.5 if _odds(inner) is None else 0.0
    if inner._target.kind == "multiclass":
        return np.full(n_labels, np.nan)
    if step is inner:
        return np.full(n_labels, own)
    tuned = np.asarray(getattr(step, "thresholds_", np.full(n_labels, np.nan)))
    return np.where(np.isfinite(tuned), own + tuned, np.nan)


def innermost(model: Any) -> Any:
    """The HOMI or HOMICV inside pipelines and tuned thresholds."""
    while (inside := _wrapped(model)) is not None:
        model = inside
    return model


def _wrapped(model: Any) -> Any:
    if isinstance(model, Pipeline):
        return model[-1]
    return getattr(model, "estimator_", None)


def _last_step(model: Any) -> Any:
    return _last_step(model[-1]) if isinstance(model, Pipeline) else model


def innermost_rows(model: Any, X: Any) -> Any:
    """Rows as the innermost model takes them: each pipeline transforms them."""
    while (inside := _wrapped(model)) is not None:
        if isinstance(model, Pipeline) and len(model) > 1:
            X = model[:-1].transform(X)
        model = inside
    return X


def fitted_core(model: Any) -> Any:
    """The HOMI that scores are linear by, inside a HOMICV and what is around it."""
    inner = innermost(model)
    core = getattr(inner, "best_estimator_", inner)
    if not hasattr(core, "label_correlation_"):
        raise ValueError(
            f"there is nothing to explain in {type(inner).__name__}: it has no "
            "label_correlation_; fit a HOMI or a HOMICV first."
        )
    return core


def features_of(model: Any, X: Any) -> Any:
    """Checked rows as what the scores are linear in: kernel features if it has them."""
    rows = innermost(model)._checked_rows(innermost_rows(model, X))
    return fitted_core(model)._features(rows)


def indicator(model: Any, y: Any, n_labels: int) -> Any:
    """Labels as a 0/1 matrix with the model's columns."""
    if not sparse.issparse(y):
        y = np.asarray(y)
        if y.ndim == 1:
            classes = model.classes_[-n_labels:]
            y = (y[:, None] == classes).astype(np.int8)
    if y.ndim != 2 or y.shape[1] != n_labels:
        raise ValueError(
            f"y has shape {y.shape}, and the model has {n_labels} labels; pass one 0/1 "
            "column for each, in the order of label_names_."
        )
    return y


def _names(given: Any, own: Any, count: int, what: str) -> list[str]:
    names = [str(name) for name in (own if given is None else given)]
    if len(names) != count:
        raise ValueError(
            f"{len(names)} {what}_names were given, and the model has {count} "
            f"{what}s; pass one name for each."
        )
    return names


def _settings(kind: str, params: dict[str, Any]) -> str:
    numbers = [f"{symbol} = {params[name]:g}" for name, symbol in _SYMBOLS.items()]
    others = [f"correlation = {params['correlation']}"]
    if params["kernel"] is not None:
        others.append(f"kernel = {params['kernel']}")
    return f"{kind}: " + ", ".join([*numbers, *others])
