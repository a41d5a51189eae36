"""Arrays and names of a fitted HOMI, or of one inside another estimator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.pipeline import Pipeline

from homi.arrays import as_numbers, canonical, check_label_order
from homi.base.tags import indicator_of, tag_rows
from homi.joint import JointModel
from homi.thresholds.wrapper import WrappedClassifier
from homi.typing import Array, Fields, Indices, Matrix, MatrixLike, Values

#: Parameters that the page shows, with their symbols.
_SYMBOLS = {"lam": "λ", "beta": "β", "gamma": "γ", "n_neighbors": "s"}


@dataclass(frozen=True)
class ModelSummary:
    """Arrays and names of a fitted model.

    Attributes
    ----------
    names : list of str
        Names of the labels.
    W, z, B, t : arrays
        Parameters of the model, as in the paper.
    correlation : str
        How B was learned: the parameter ``correlation`` of ``HOMI``.
    kernel : bool
        Whether the rows of W are landmarks of a kernel, and not columns of a row.
    settings : str
        The parameters as text.
    history : list of dict
        Terms of the objective after each sweep.
    feature_names : list of str
        Names of the columns of a row.
    thresholds : array of shape (n_labels,)
        A label is predicted where its score exceeds its threshold. NaN where there is
        no fixed threshold: for classes of a 1-D y, or the k highest scores of a row.
    odds : pair of arrays or None
        Slope and offset of each label that map ``g(x) - 1/2`` to log-odds, as in
        ``HOMICV``; None where g(x) is the score.
    trees : pair of Forest and array, or None
        The forest whose log-odds are added, and the factor of each label.
    logistic : array of shape (n_features, n_labels) or None
        Coefficients of logistic regressions whose log-odds are added.
    neighbors : array of int or None
        With a kernel, the training row that each of its features compares with.
    joint : JointModel or None
        What known labels of a row say about the others.
    triangle : array of shape (n_landmarks, n_landmarks) or None
        With a kernel, the Cholesky factor of its landmarks' matrix.
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
    trees: tuple[Any, Array] | None = None
    logistic: Array | None = None
    neighbors: Indices | None = None
    joint: JointModel | None = None
    triangle: Array | None = None

    @property
    def explains_rows(self) -> bool:
        """Whether a score is a sum of contributions: that of HOMI and HOMICV is."""
        return len(self.W) > 0


def summarize_model(
    model: Any,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> ModelSummary:
    """Read a fitted model; names passed here replace its own."""
    inner, core = innermost(model), fitted_core(model)
    if core is None:
        return _without_parameters(model, label_names)
    n_features, n_labels = core.n_features_in_, core.feature_weights_.shape[1]
    params = core.get_params()
    _check_finite(core, params)
    kernel = params["kernel"] is not None
    labels = _names(label_names, own_label_names(model), n_labels, "label")
    own = own_feature_names(model, n_features)
    return ModelSummary(
        names=labels,
        W=core.feature_weights_,
        z=core.feature_bias_,
        B=core.label_correlation_,
        t=core.label_bias_,
        correlation=params["correlation"],
        kernel=kernel,
        settings=_settings(type(inner).__name__, params),
        history=core.history_,
        feature_names=_names(feature_names, own, n_features, "feature"),
        thresholds=_thresholds(model, n_labels),
        odds=_odds(inner),
        trees=_trees(inner),
        logistic=getattr(inner, "logistic_coef_", None),
        neighbors=_neighbors(core),
        joint=getattr(inner, "joint_model_", None),
        triangle=landmark_triangle(core),
    )


def _without_parameters(model: Any, label_names: Sequence[str] | None) -> ModelSummary:
    """Summarize a classifier whose scores are not split into contributions."""
    own, inner = own_label_names(model), innermost(model)
    n_labels = len(own)
    return ModelSummary(
        names=_names(label_names, own, n_labels, "label"),
        W=np.zeros((0, n_labels)),
        z=np.zeros(n_labels),
        B=np.eye(n_labels),
        t=np.zeros(n_labels),
        correlation="identity",
        kernel=False,
        settings=type(inner).__name__,
        history=[],
        feature_names=[],
        thresholds=_thresholds(model, n_labels),
        joint=getattr(inner, "joint_model_", None),
    )


def _check_finite(core: Any, params: Fields) -> None:
    names = ("feature_weights_", "feature_bias_", "label_correlation_", "label_bias_")
    if not all(np.isfinite(getattr(core, name)).all() for name in names):
        given = ", ".join(f"{name}={params[name]:g}" for name in _SYMBOLS)
        raise ValueError(
            "the model has NaN or infinite weights, so it cannot be explained; fit it "
            f"with less extreme parameters (it has {given}) or with scaled features."
        )


def _odds(model: Any) -> tuple[Array, Array] | None:
    slope = getattr(model, "odds_slope_", None)
    return None if slope is None else (slope, model.odds_offset_)


def _trees(model: Any) -> tuple[Any, Array] | None:
    forest = getattr(model, "forest_", None)
    return None if forest is None else (forest, model.forest_slope_)


def _neighbors(core: Any) -> Indices | None:
    """Return the landmarks; None where a feature is no single one (older files)."""
    kernel_map = getattr(core, "kernel_map_", None)
    if kernel_map is None or kernel_map.normalization is not None:
        return None
    return np.asarray(kernel_map.indices, dtype=np.intp)


def landmark_triangle(core: Any) -> Array | None:
    """Return the Cholesky factor of the landmarks' kernel matrix, if there is one."""
    kernel_map = getattr(core, "kernel_map_", None)
    if kernel_map is None or kernel_map.normalization is not None:
        return None
    triangle: Array = kernel_map.triangle
    return triangle


def _thresholds(model: Any, n_labels: int) -> Array:
    """Return thresholds on the scale of the scores shown: g(x), or log-odds."""
    step, inner = _last_step(model), innermost(model)
    own = 0.5 if _odds(inner) is None else 0.0
    if inner.target_encoding_.kind == "multiclass":
        return np.full(n_labels, np.nan)
    if step is inner:
        return np.full(n_labels, own)
    tuned = np.asarray(getattr(step, "thresholds_", np.full(n_labels, np.nan)))
    return np.where(np.isfinite(tuned), own + tuned, np.nan)


def innermost(model: Any) -> Any:
    """Return the HOMI or HOMICV inside pipelines and tuned thresholds."""
    while (inside := _wrapped(model)) is not None:
        model = inside
    return model


def _wrapped(model: Any) -> Any:
    if isinstance(model, Pipeline):
        return model[-1]
    if getattr(model, "joint_model_", None) is not None:
        return None  # LabelDependence: its log-odds are not those of what it wraps
    # Others with an estimator_, such as LabelPowerset, have scores of their own.
    return model.estimator_ if isinstance(model, WrappedClassifier) else None


def _last_step(model: Any) -> Any:
    return _last_step(model[-1]) if isinstance(model, Pipeline) else model


def innermost_rows(model: Any, X: MatrixLike) -> MatrixLike:
    """Transform rows by all pipelines, as the innermost model expects them."""
    while (inside := _wrapped(model)) is not None:
        if isinstance(model, Pipeline) and len(model) > 1:
            X = model[:-1].transform(X)
        model = inside
    return X


def unscaled_values(model: Any, values: dict[int, float]) -> dict[int, float]:
    """Return values of features in the units of the table that a pipeline takes."""
    while (inside := _wrapped(model)) is not None:
        if isinstance(model, Pipeline) and len(model) > 1:
            unscaled = getattr(model[-2], "unscaled", None)
            values = values if unscaled is None else unscaled(values)
        model = inside
    return values


def own_label_names(model: Any) -> list[Any]:
    """Return the names of the labels, by the outermost model that knows them."""
    while not hasattr(model, "label_names_"):
        model = _wrapped(model)
    names: list[Any] = model.label_names_.tolist()
    return names


def own_feature_names(model: Any, n_features: int) -> list[str]:
    """Return the names of the innermost model's features: words of texts, columns."""
    found = getattr(innermost(model), "feature_names_in_", None)
    while found is None and (inside := _wrapped(model)) is not None:
        if isinstance(model, Pipeline) and len(model) > 1:
            found = _names_out(model[:-1])
        model = inside
    if found is None or len(found) != n_features:
        return [f"x{f}" for f in range(n_features)]
    return [str(name) for name in found]


def _names_out(steps: Pipeline) -> Any:
    try:
        return steps.get_feature_names_out()
    except (AttributeError, ValueError):  # a step that does not name its output
        return None


def fitted_core(model: Any) -> Any:
    """Return the HOMI with the linear scores, also inside a HOMICV.

    None for another classifier of homi, whose scores are not explained.
    """
    inner = innermost(model)
    core = getattr(inner, "best_estimator_", inner)
    if hasattr(core, "label_correlation_"):
        return core
    if not hasattr(inner, "label_names_"):
        raise ValueError(
            f"{type(inner).__name__} cannot be explained: it has no label_names_; fit "
            "a HOMI or a HOMICV first, or LabelDependence(...) of another classifier."
        )
    return None


def checked_rows(model: Any, X: MatrixLike) -> Matrix:
    """Return rows as the innermost model takes them, checked."""
    rows: Matrix = innermost(model)._checked_rows(innermost_rows(model, X))
    return rows


def features_of(model: Any, X: MatrixLike) -> Matrix:
    """Return the features that scores are linear in: rows or kernel features."""
    return fitted_core(model)._features(checked_rows(model, X))


def log_odds_of(model: Any, rows: Matrix, n_labels: int) -> Array:
    """Return the log-odds of rows of the innermost model, without its thresholds.

    Of a model whose scores are no log-odds, these are the log-odds of
    ``predict_proba``.
    """
    inner = innermost(model)
    if _odds(inner) is not None or getattr(inner, "joint_model_", None) is not None:
        scores = np.asarray(inner.decision_function(rows), dtype=np.float64)
        return scores.reshape(-1, n_labels)
    P = np.asarray(inner.predict_proba(rows), dtype=np.float64)
    found: Array = logit(P[:, -n_labels:])
    return found


def indicator(model: Any, y: Matrix, n_labels: int) -> Matrix:
    """Return labels as a 0/1 matrix with the model's columns."""
    names = own_label_names(model)
    if (tags := tag_rows(y)) is not None:
        return indicator_of(tags, names)[0]
    check_label_order(getattr(y, "columns", None), names, "y")
    if sparse.issparse(y):
        y = sparse.csr_array(canonical(y))
    else:
        y = as_numbers(np.asarray(y))
    if y.ndim == 1:
        classes = model.classes_[-n_labels:]
        y = (y[:, None] == classes).astype(np.int8)
    if y.ndim != 2 or y.shape[1] != n_labels:
        raise ValueError(
            f"y has shape {y.shape}, but the model has {n_labels} labels; pass one 0/1 "
            "column per label, in the order of label_names_."
        )
    _check_values(y.data if sparse.issparse(y) else y)
    return y


def _check_values(stored: Values) -> None:
    wrong = (stored != 0) & (stored != 1)
    if wrong.any():
        found = ", ".join(np.unique(stored[wrong].astype(str))[:4].tolist())
        raise ValueError(
            f"y must hold only 0 and 1, got {found}; leave out rows whose labels are "
            "missing, and for -1/+1 labels pass (y > 0)."
        )


def _names(
    given: Sequence[str] | None, own: Iterable[str], count: int, what: str
) -> list[str]:
    names = [str(name) for name in (own if given is None else given)]
    if len(names) != count:
        raise ValueError(
            f"got {len(names)} {what}_names, but the model has {count} {what}s; pass "
            "one name for each."
        )
    return names


def _settings(kind: str, params: Fields) -> str:
    shown = {n: s for n, s in _SYMBOLS.items() if n != "n_neighbors" or params["gamma"]}
    numbers = [f"{symbol} = {_number(params[name])}" for name, symbol in shown.items()]
    others = [f"correlation = {params['correlation']}"]
    if params["kernel"] is not None:
        others.append(f"kernel = {params['kernel']}")
    return f"{kind}: " + ", ".join([*numbers, *others])


def _number(value: float) -> str:
    """Return three digits of a parameter: 1000, 3.16, 0.001."""
    found: str = np.format_float_positional(value, 3, fractional=False, trim="-")
    return found
