"""HOMI and HOMICV in a model file: coefficients, and the landmarks of a kernel."""

from __future__ import annotations

from homi.io.errors import ModelFileError
from homi.io.fitted import (
    facts_of,
    features_of,
    number,
    params_of,
    rebuilt,
    scalars_of,
    set_facts,
    set_features,
    set_scalars,
)
from homi.io.joint_kind import dump_joint_model, load_joint_model
from homi.io.method_parts import dump_scaler, load_scaler
from homi.io.tensors import Out, Source
from homi.io.values import decode, encode
from homi.model.forest import Forest
from homi.model.forest_arrays import TYPES
from homi.model.held_out_quality import LABEL_COLUMNS, METRICS
from homi.model.homi import HOMI
from homi.model.homi_cv import HOMICV
from homi.model.kernel_map import KERNELS, RATES, KernelMap
from homi.typing import Fields

CODE = (
    "the kernel is a function, and a model file holds no code; fit with one of "
    f"{', '.join(KERNELS)} to save the model."
)

#: Shapes of tensors: p features after the feature map, q labels.
_SHAPES = {
    "feature_weights_": "pq",
    "feature_bias_": "q",
    "label_correlation_": "qq",
    "label_bias_": "q",
    "coef_": "qp",
    "intercept_": "q",
}

#: What turns scores into log-odds.
_ODDS = ("odds_slope_", "odds_offset_")


def dump_homi(model: HOMI, out: Out) -> Fields:
    """Return the fitted part of a header, and put the tensors into `out`."""
    fitted = {**facts_of(model), **features_of(model)}
    fitted["scalars"] = scalars_of(model)
    fitted["history_"] = encode(list(model.history_), "history_")
    if (kernel_map := getattr(model, "kernel_map_", None)) is not None:
        fitted["kernel"] = _dump_kernel(kernel_map, out.under("kernel"))
    for name in _SHAPES:
        out.put(name, getattr(model, name))
    if getattr(model, "odds_slope_", None) is not None:
        fitted["odds"] = True
        for name in _ODDS:
            out.put(name, getattr(model, name))
        if model.joint_model_ is not None:
            fitted["joint"] = dump_joint_model(model.joint_model_, out.under("joint"))
    return fitted


def load_homi(params: object, fitted: Fields | None, source: Source) -> HOMI:
    """Return the HOMI of a header."""
    model: HOMI = rebuilt(HOMI, params)
    if fitted is None:
        return model
    set_scalars(model, fitted["scalars"])
    sizes = {"q": set_facts(model, fitted), "p": set_features(model, fitted)}
    model.kernel_map_ = None
    if "kernel" in fitted:
        about = fitted["kernel"]
        loaded = _load_kernel(about, source.under("kernel"), sizes["p"])
        model.kernel_map_, sizes["p"] = loaded, len(loaded.indices)
    for name, letters in _SHAPES.items():
        shape = tuple(sizes[letter] for letter in letters)
        setattr(model, name, source.floats(name, shape))
    model.history_ = decode(fitted["history_"])
    model.odds_slope_ = model.odds_offset_ = model.joint_model_ = None
    # Files of earlier versions have neither.
    if fitted.get("odds", False):
        model.odds_slope_, model.odds_offset_ = (
            source.floats(name, (sizes["q"],)) for name in _ODDS
        )
        if "joint" in fitted:
            part = source.under("joint")
            model.joint_model_ = load_joint_model(fitted["joint"], part, sizes["q"])
    return model


#: Parameters of kernels. Files of earlier versions have null for those not set.
_KERNEL_PARAMS = ("gamma", "degree", "coef0", "laplacian_gamma")


def _dump_kernel(kernel_map: KernelMap, out: Out) -> Fields:
    if not isinstance(kernel_map.kernel, str):
        raise ModelFileError(CODE)
    # As it was fitted: parameters may have been set since.
    about: Fields = {
        "name": kernel_map.kernel,
        "scaled": dump_scaler(kernel_map.scaler, out),
    }
    about |= {
        name: encode(kernel_map.params.get(name), f"{name} of the kernel")
        for name in _KERNEL_PARAMS
    }
    out.put("component_indices", kernel_map.indices)
    about["n_components"] = len(kernel_map.indices)
    about["landmarks"] = out.put_matrix("landmarks", kernel_map.landmarks)
    if kernel_map.normalization is not None:
        turn = out.put_matrix("normalization", kernel_map.normalization)
        about["normalization"] = turn
    return about


def _load_kernel(about: Fields, source: Source, m: int) -> KernelMap:
    name = about["name"]
    if name not in tuple(KERNELS):
        raise ModelFileError(f"the kernel {str(name)[:40]!r} is unknown here.")
    given = {
        key: number(about[key], key)
        for key in _KERNEL_PARAMS
        if about.get(key) is not None and key in KERNELS[name]
    }
    missing = sorted(set(RATES.get(name, {}).values()) - set(given))
    if missing:
        raise ModelFileError(f"the kernel {name!r} lacks {', '.join(missing)}.")
    count = int(number(about["n_components"], "n_components"))
    turn = about.get("normalization")
    return KernelMap(
        name,
        given,
        load_scaler(about["scaled"], source, m),
        source.matrix("landmarks", (count, m), about["landmarks"]),
        source.integers("component_indices", (count,)),
        None if turn is None else source.matrix("normalization", (count, count), turn),
    )


#: How HOMICV chose its model.
_OF_CHOICE = (
    "best_params_",
    "best_score_",
    "label_weight_",
    "cv_results_",
    "search_report_",
)
#: Its quality on held-out rows; files of earlier versions have none.
_QUALITY = ("held_out_metrics_", "held_out_labels_")


def dump_homi_cv(model: HOMICV, out: Out) -> Fields:
    """Return the fitted part of a header, and put the tensors into `out`."""
    best = model.best_estimator_
    # As it was fitted: the parameter may have been set since.
    has_odds = model.odds_slope_ is not None
    for name in _ODDS if has_odds else ():
        out.put(name, getattr(model, name))
    forest = getattr(model, "forest_", None)
    if forest is not None and model.forest_slope_ is not None:
        out.put("forest_slope_", model.forest_slope_)
        dump_forest(forest, out.under("forest"))
    logistic = getattr(model, "logistic_coef_", None)
    if logistic is not None:
        out.put("logistic_coef_", logistic)
    joint: Fields = {}
    if (joint_model := getattr(model, "joint_model_", None)) is not None:
        joint["joint"] = dump_joint_model(joint_model, out.under("joint"))
    return {
        **joint,
        "odds": has_odds,
        "trees": forest is not None,
        "logistic": logistic is not None,
        **facts_of(model),
        **features_of(model),
        **{name: encode(getattr(model, name), name) for name in _OF_CHOICE},
        **{n: encode(getattr(model, n), n) for n in _QUALITY if hasattr(model, n)},
        "best": {"params": params_of(best), "fitted": dump_homi(best, out)},
    }


def load_homi_cv(params: object, fitted: Fields | None, source: Source) -> HOMICV:
    """Return the HOMICV of a header."""
    model: HOMICV = rebuilt(HOMICV, params)
    if fitted is None:
        return model
    n_labels, n_features = set_facts(model, fitted), set_features(model, fitted)
    for name in _OF_CHOICE:
        # Files of earlier versions have no report.
        if name in fitted or name != "search_report_":
            setattr(model, name, decode(fitted[name]))
    _set_quality(model, fitted, n_labels)
    best = load_homi(fitted["best"]["params"], fitted["best"]["fitted"], source)
    sizes = (len(best.label_names_), best.n_features_in_)
    if sizes != (n_labels, n_features):
        raise ModelFileError("the chosen model is of other features or labels.")
    model.best_estimator_ = best
    has_odds = fitted.get("odds", False)
    for name in _ODDS:
        setattr(model, name, source.floats(name, (n_labels,)) if has_odds else None)
    model.forest_ = model.forest_slope_ = None
    if fitted.get("trees", False):
        if not has_odds:
            raise ModelFileError("there is a forest without log-odds.")
        model.forest_slope_ = source.floats("forest_slope_", (n_labels,))
        model.forest_ = load_forest(source.under("forest"), n_features, n_labels)
    model.logistic_coef_ = None
    if fitted.get("logistic", False):
        if not has_odds:
            raise ModelFileError("there is a logistic regression without log-odds.")
        shape = n_features, n_labels
        model.logistic_coef_ = source.floats("logistic_coef_", shape)
    model.joint_model_ = None
    # Files of earlier versions have none.
    if "joint" in fitted:
        part = source.under("joint")
        model.joint_model_ = load_joint_model(fitted["joint"], part, n_labels)
    return model


def _set_quality(model: HOMICV, fitted: Fields, n_labels: int) -> None:
    """Set the quality on held-out rows: numbers, and a table of the labels."""
    if not all(name in fitted for name in _QUALITY):
        return
    metrics, table = (decode(fitted[name]) for name in _QUALITY)
    sizes = {len(column) for column in table.values()}
    if set(metrics) != set(METRICS) or set(table) != set(LABEL_COLUMNS):
        raise ModelFileError("the quality on held-out rows has other metrics.")
    if sizes != {n_labels}:
        raise ModelFileError("the quality on held-out rows is of other labels.")
    numbers = [*metrics.values(), *table["positives"], *table["auc"], *table["f1"]]
    if not all(type(value) in (int, float) for value in numbers):
        raise ModelFileError("the quality on held-out rows is not made of numbers.")
    model.held_out_metrics_, model.held_out_labels_ = metrics, table


def dump_forest(forest: Forest, out: Out) -> None:
    """Put the tensors of a forest into `out`."""
    for name, value in forest.arrays().items():
        out.put(name, value)


def load_forest(source: Source, n_features: int, n_labels: int) -> Forest:
    """Return the forest of a file; it must have these numbers of features and labels.

    Raises
    ------
    ModelFileError
        If the tensors are missing, or are not those of such a forest.
    """
    shapes = {name: (source.length(name),) for name in TYPES}
    arrays = {
        name: (source.floats if kind.startswith("float") else source.integers)(
            name, shapes[name]
        )
        for name, kind in TYPES.items()
    }
    try:
        forest = Forest.from_arrays(arrays)
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    if (forest.n_features, forest.n_labels) != (n_features, n_labels):
        raise ModelFileError("the forest is of other features or labels.")
    return forest
