"""TunedThresholds in a model file: its threshold rule and calibration maps."""

from __future__ import annotations

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from homi.io.errors import ModelFileError
from homi.io.fitted import number
from homi.io.joint_kind import dump_sets, load_sets
from homi.io.tensors import Out, Source
from homi.io.values import decode, encode
from homi.linear import Sigmoids
from homi.model.blend import LogOdds
from homi.thresholds.calibrate import CalibrationMaps, Isotonics, Map
from homi.thresholds.discriminant import Discriminant
from homi.thresholds.joint import ROW_OBJECTIVES, SOURCES, JointSets
from homi.thresholds.rules import (
    Cardinality,
    Rule,
    SeenLabels,
    Thresholds,
    TopLabels,
)
from homi.typing import Array, Fields


def dump_rule(found: SeenLabels, out: Out) -> Fields:
    """Return the rule for the header, and put its tensors into `out`."""
    out.put("seen", found.seen)
    rule = found.rule
    if isinstance(rule, Thresholds):
        out.put("thresholds", rule.values)
        return {"kind": "thresholds"}
    if isinstance(rule, TopLabels):
        return {"kind": "top_k", "k": int(rule.k)}
    if isinstance(rule, Cardinality):
        return {
            "kind": "cardinality",
            "threshold": encode(float(rule.threshold), "the cardinality's threshold"),
            **_dump_regression(rule.regression, out),
        }
    if isinstance(rule, JointSets):
        return _dump_joint(rule, out)
    raise ModelFileError(f"a rule of type {type(rule).__name__} cannot be saved.")


def load_rule(about: Fields, source: Source, n_labels: int) -> SeenLabels:
    """Return the threshold rule of a header."""
    seen = source.flags("seen", (n_labels,))
    return SeenLabels(_load_rule(about, source, int(seen.sum())), seen)


def _load_rule(about: Fields, source: Source, n_seen: int) -> Rule:
    if about["kind"] == "thresholds":
        # Infinite where a label is never, or always, predicted.
        return Thresholds(source.floats("thresholds", (n_seen,), finite=False))
    if about["kind"] == "top_k":
        k = about["k"]
        if type(k) is not int or not 0 <= k <= n_seen:
            raise ModelFileError(f"{str(k)[:40]} labels per row are impossible.")
        return TopLabels(k)
    if about["kind"] == "joint":
        return _load_joint(about, source, n_seen)
    if about["kind"] == "cardinality":
        threshold = decode(about["threshold"])  # infinite where no row has a label
        if not isinstance(threshold, int | float) or np.isnan(threshold):
            raise ModelFileError("the threshold of the cardinality is not a number.")
        return Cardinality(_load_regression(about, source, n_seen), float(threshold))
    raise ModelFileError(f"a rule of kind {str(about['kind'])[:40]!r} is unknown.")


def _dump_joint(rule: JointSets, out: Out) -> Fields:
    out.put("odds_slope", rule.log_odds.slope)
    out.put("odds_offset", rule.log_odds.offset)
    out.put("weights", rule.weights)
    about: Fields = {"objective": rule.objective, "source": rule.source}
    if rule.discriminant is not None:
        about["discriminant"] = True
        for name, value in rule.discriminant._asdict().items():
            out.put(name, value)
    return {"kind": "joint", **about, "n_sets": dump_sets(rule.sets, out)}


def _load_joint(about: Fields, source: Source, n_seen: int) -> JointSets:
    objective, origin = about["objective"], about["source"]
    if objective not in ROW_OBJECTIVES or origin not in SOURCES:
        raise ModelFileError(
            f"label sets for {str(objective)[:40]!r} or of their source are unknown."
        )
    slope, offset = (source.floats(f"odds_{n}", (n_seen,)) for n in ("slope", "offset"))
    sets = load_sets(about["n_sets"], source, n_seen)
    discriminant = None
    # Files of earlier versions, and of many labels, have none.
    if about.get("discriminant", False):
        q, t = n_seen, len(sets.members)
        shapes = {"directions": (t, q), "center": (q,), "quadratic": (t,)}
        parts = (source.floats(name, shape) for name, shape in shapes.items())
        discriminant = Discriminant(*parts)
    weights = source.floats("weights", (3 if discriminant is None else 5,))
    odds = LogOdds(slope, offset)
    return JointSets(objective, origin, odds, sets, weights, discriminant)


def _dump_regression(regression: Pipeline, out: Out) -> Fields:
    scaler, ridge = regression
    for name in ("mean_", "scale_", "var_"):
        out.put(name, getattr(scaler, name))
    out.put("coef_", ridge.coef_)
    out.put("intercept_", np.reshape(ridge.intercept_, (1,)))
    return {"n_rows": int(scaler.n_samples_seen_)}


def _load_regression(about: Fields, source: Source, n_seen: int) -> Pipeline:
    scaler, ridge = StandardScaler(), Ridge(alpha=1.0)
    for name in ("mean_", "scale_", "var_"):
        setattr(scaler, name, source.floats(name, (n_seen,)))
    scaler.n_samples_seen_ = int(number(about["n_rows"], "the number of rows"))
    ridge.coef_ = source.floats("coef_", (n_seen,))
    ridge.intercept_ = source.floats("intercept_", (1,))[0]
    scaler.n_features_in_ = ridge.n_features_in_ = n_seen
    return make_pipeline(scaler, ridge)


def dump_maps(maps: CalibrationMaps, out: Out) -> Fields:
    """Return the calibration maps for the header, and put their tensors into `out`."""
    out.put("weight", maps.weight)
    return {
        "own": _dump_map(maps.own, out.under("own")),
        "pooled": _dump_map(maps.pooled, out.under("pooled")),
    }


def load_maps(about: Fields, source: Source, n_labels: int) -> CalibrationMaps:
    """Return the calibration maps of a header."""
    return CalibrationMaps(
        source.floats("weight", (n_labels,)),
        _load_map(about["own"], source.under("own"), n_labels),
        _load_map(about["pooled"], source.under("pooled"), 1),
    )


def _dump_map(found: Map, out: Out) -> Fields:
    if isinstance(found, Sigmoids):
        out.put("slope", found.slope)
        out.put("offset", found.offset)
        return {"kind": "sigmoid"}
    if not isinstance(found, Isotonics):
        raise ModelFileError(f"a map of type {type(found).__name__} cannot be saved.")
    steps = [function.X_thresholds_ for function in found.functions]
    out.put("x", np.concatenate(steps))
    out.put("y", np.concatenate([f.y_thresholds_ for f in found.functions]))
    ends = np.cumsum([len(step) for step in steps], dtype=np.int64)
    out.put("ends", ends)
    return {"kind": "isotonic", "margin": float(found.margin)}


def _load_map(about: Fields, source: Source, count: int) -> Map:
    if about["kind"] == "sigmoid":
        return Sigmoids(
            source.floats("slope", (count,)), source.floats("offset", (count,))
        )
    if about["kind"] != "isotonic":
        raise ModelFileError(f"a map of kind {str(about['kind'])[:40]!r} is unknown.")
    total = source.length("x")
    x, y = source.floats("x", (total,)), source.floats("y", (total,))
    ends = source.integers("ends", (count,))
    starts = np.concatenate([[0], ends[:-1]])
    if (ends <= starts).any() or ends[-1] != total:
        raise ModelFileError("the steps of an isotonic map have wrong ends.")
    pieces = [slice(a, b) for a, b in zip(starts, ends, strict=True)]
    margin = number(about["margin"], "the margin of an isotonic map")
    return Isotonics([_isotonic(x[piece], y[piece]) for piece in pieces], margin)


def _isotonic(x: Array, y: Array) -> IsotonicRegression:
    if (np.diff(x) <= 0).any() or (np.diff(y) < 0).any():
        raise ModelFileError("the steps of an isotonic map do not increase.")
    found = IsotonicRegression(out_of_bounds="clip")
    found.X_thresholds_, found.y_thresholds_ = x, y
    found.X_min_, found.X_max_, found.increasing_ = x[0], x[-1], True
    # As scikit-learn does when it unpickles one.
    found._build_f(x, y)
    return found
