"""Every kind of model that a file can hold: estimator <-> header and tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

from homi.dependence import LabelDependence
from homi.io.compose_kinds import (
    WORDS,
    Dump,
    Load,
    dump_columns,
    dump_union,
    load_columns,
    load_union,
)
from homi.io.errors import ModelFileError
from homi.io.fitted import facts_of, params_of, rebuilt, set_facts
from homi.io.homi_kinds import CODE, dump_homi, dump_homi_cv, load_homi, load_homi_cv
from homi.io.joint_kind import dump_joint_model, load_joint_model
from homi.io.method_kinds import METHODS, check_method, dump_method, load_method
from homi.io.nested_kinds import NESTED_METHODS
from homi.io.table_kind import dump_table, load_table
from homi.io.tensors import Out, Source
from homi.io.text_kind import (
    check_savable,
    dump_counts,
    dump_tfidf,
    load_counts,
    load_tfidf,
)
from homi.io.transformer_kinds import (
    CLASSES,
    check_transformer,
    dump_transformer,
    load_transformer,
)
from homi.io.tuned_kind import dump_maps, dump_rule, load_maps, load_rule
from homi.io.values import decode, encode
from homi.model.homi import HOMI
from homi.model.homi_cv import HOMICV
from homi.tables import TableModel, TableVectorizer
from homi.thresholds import TunedThresholds
from homi.thresholds.rules import fitted_rule, rule_attributes
from homi.thresholds.wrapper import WrappedClassifier
from homi.typing import Fields

Node = Fields
W = TypeVar("W", bound=WrappedClassifier)
Loader = Callable[[Node, Source, int], BaseEstimator]

#: Nesting of models that is read; deeper files could exhaust the stack.
_MAX_DEPTH = 8
_ODDS = ("odds_slope_", "odds_offset_")
_MEASURED = ("strategy_", "held_out_score_", "calibration_error_")


def dump(model: BaseEstimator, out: Out, *, fitted: bool = True) -> Node:
    """Return the header of a model, and put its tensors into `out`."""
    kind = type(model).__name__
    if type(model) not in _CLASSES:
        raise ModelFileError(
            f"a {kind} cannot be saved; a model file holds a classifier of homi, or a "
            "TunedThresholds, LabelDependence or Pipeline around one. Steps of a "
            f"Pipeline are {', '.join(_STEPS)}."
        )
    if callable(getattr(model, "kernel", None)):
        raise ModelFileError(CODE)
    if fitted:
        check_is_fitted(model)
    if kind in _CHECKS:
        _CHECKS[kind](model)
    node: Node = {"kind": kind, **_output(model)}
    if kind in _NESTED:
        return {**node, **_NESTED[kind](model, out, dump, fitted)}
    left_out = ("estimator",) if type(model) in _WRAPPERS else ()
    node["params"] = params_of(model, left_out)
    if left_out:
        node["estimator"] = dump(model.estimator, out, fitted=False)
    if fitted:
        node["fitted"] = _DUMP[kind](model, out)
    return node


def load(node: object, source: Source, depth: int = 0) -> BaseEstimator:
    """Return the model of a header."""
    node = node if isinstance(node, dict) else {}
    kind = node.get("kind")
    if kind not in _LOAD or depth > _MAX_DEPTH:
        raise ModelFileError(f"a model of kind {str(kind)[:40]!r} is unknown here.")
    model = _LOAD[kind](node, source, depth)
    if "output" in node:
        if node["output"] not in _OUTPUTS or not hasattr(model, "set_output"):
            raise ModelFileError("its output is of an unknown kind.")
        model.set_output(transform=node["output"])
    return model


def _output(model: BaseEstimator) -> Node:
    """Return the kind of output that ``set_output`` was given, if it was."""
    chosen = getattr(model, "_sklearn_output_config", {}).get("transform")
    return {} if chosen is None else {"output": chosen}


def _dump_pipeline(model: Pipeline, out: Out, dump: Dump, fitted: bool) -> Node:
    if model.memory is not None:
        raise ModelFileError(
            "a Pipeline with memory cannot be saved; set it to None by "
            "set_params(memory=None)."
        )
    steps = [
        [name, s if s in WORDS else dump(s, out.under(f"step{j}"), fitted=fitted)]
        for j, (name, s) in enumerate(model.steps)
    ]
    options = params_of(model, ("steps",))
    return {"params": options, "steps": steps, "fitted": fitted}


def _load_pipeline(node: Node, source: Source, depth: int) -> Pipeline:
    steps = []
    for j, (name, step) in enumerate(node["steps"]):
        if not isinstance(name, str):
            raise ModelFileError("a step of the pipeline has no name.")
        part = source.under(f"step{j}")
        steps.append((name, step if step in WORDS else load(step, part, depth + 1)))
    if node["params"].get("memory") is not None:
        # joblib would read pickles from there.
        raise ModelFileError("its Pipeline names a directory for its memory.")
    if not all(s in WORDS or hasattr(s, "transform") for _, s in steps[:-1]):
        raise ModelFileError(
            "a step before the last of its Pipeline transforms nothing."
        )
    cls = TableModel if node["kind"] == "TableModel" else Pipeline
    return rebuilt(cls, node["params"], steps=steps)


def _dump_tuned(model: TunedThresholds, out: Out) -> Node:
    measured = {name: encode(getattr(model, name), name) for name in _MEASURED}
    node: Node = {**facts_of(model), **measured}
    rule, maps = fitted_rule(model)
    node["rule"] = dump_rule(rule, out.under("rule"))
    if maps is not None:
        node["maps"] = dump_maps(maps, out.under("maps"))
    node["estimator"] = dump(model.estimator_, out.under("estimator"))
    return node


def _load_tuned(model: TunedThresholds, fitted: Node, source: Source, q: int) -> None:
    for name in _MEASURED:
        setattr(model, name, decode(fitted[name]))
    rule, maps = load_rule(fitted["rule"], source.under("rule"), q), None
    if "maps" in fitted:
        maps = load_maps(fitted["maps"], source.under("maps"), q)
    model.__dict__.update(rule_attributes(rule, maps))


def _dump_dependence(model: LabelDependence, out: Out) -> Node:
    for name in _ODDS:
        out.put(name, getattr(model, name))
    node: Node = facts_of(model)
    if model.joint_model_ is not None:
        node["joint"] = dump_joint_model(model.joint_model_, out.under("joint"))
    node["estimator"] = dump(model.estimator_, out.under("estimator"))
    return node


def _load_dependence(
    model: LabelDependence, fitted: Node, source: Source, q: int
) -> None:
    for name in _ODDS:
        setattr(model, name, source.floats(name, (q,)))
    model.joint_model_ = None
    if "joint" in fitted:
        joint = source.under("joint")
        model.joint_model_ = load_joint_model(fitted["joint"], joint, q)


def _wrapper(
    cls: type[W], set_fitted: Callable[[W, Node, Source, int], None]
) -> Loader:
    """Return a function that loads a classifier around another one."""

    def load_wrapper(node: Node, source: Source, depth: int) -> W:
        estimator = load(node["estimator"], source, depth + 1)
        model = rebuilt(cls, node["params"], estimator=estimator)
        if (fitted := node.get("fitted")) is not None:
            set_fitted(model, fitted, source, set_facts(model, fitted))
            part = source.under("estimator")
            model.estimator_ = load(fitted["estimator"], part, depth + 1)
        return model

    return load_wrapper


def _simple(read: Callable[[Any, Any, Source], BaseEstimator]) -> Loader:
    return lambda node, source, depth: read(
        node.get("params"), node.get("fitted"), source
    )


def _nested(read: Callable[[Node, Source, Load], BaseEstimator]) -> Loader:
    """Return a function that loads a transformer made of others."""

    def load_nested(node: Node, source: Source, depth: int) -> BaseEstimator:
        def load_step(part: Node, of: Source) -> BaseEstimator:
            step = load(part, of, depth + 1)
            if not hasattr(step, "transform"):
                raise ModelFileError("a step of its preprocessing transforms nothing.")
            return step

        return read(node, source, load_step)

    return load_nested


#: Kinds of output of transformers.
_OUTPUTS = ("default", "pandas", "polars")

_METHODS = METHODS | NESTED_METHODS
_TEXTS = ("CountVectorizer", "TfidfVectorizer")
_STEPS = sorted(
    [*CLASSES, *_TEXTS, "ColumnTransformer", "FeatureUnion", "TableVectorizer"]
)

_WRAPPERS = (TunedThresholds, LabelDependence)
_CLASSES = (
    *(HOMI, HOMICV, *_WRAPPERS, Pipeline, TableModel),
    *(TfidfVectorizer, CountVectorizer),
    *(ColumnTransformer, FeatureUnion, TableVectorizer, *CLASSES.values()),
    *(method.cls for method in _METHODS.values()),
)

_CHECKS: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys(_TEXTS, check_savable),
    **dict.fromkeys(CLASSES, check_transformer),
    **dict.fromkeys(_METHODS, check_method),
}

_NESTED: dict[str, Callable[..., Node]] = {
    **dict.fromkeys(("Pipeline", "TableModel"), _dump_pipeline),
    "ColumnTransformer": dump_columns,
    "FeatureUnion": dump_union,
    "TableVectorizer": dump_table,
}

_DUMP: dict[str, Callable[[Any, Out], Node]] = {
    "HOMI": dump_homi,
    "HOMICV": dump_homi_cv,
    "TunedThresholds": _dump_tuned,
    "LabelDependence": _dump_dependence,
    "TfidfVectorizer": dump_tfidf,
    "CountVectorizer": dump_counts,
    **{kind: partial(dump_method, method) for kind, method in _METHODS.items()},
    **dict.fromkeys(CLASSES, dump_transformer),
}

_LOAD: dict[str, Loader] = {
    "HOMI": _simple(load_homi),
    "HOMICV": _simple(load_homi_cv),
    "TfidfVectorizer": _simple(load_tfidf),
    "TunedThresholds": _wrapper(TunedThresholds, _load_tuned),
    "LabelDependence": _wrapper(LabelDependence, _load_dependence),
    **dict.fromkeys(("Pipeline", "TableModel"), _load_pipeline),
    "CountVectorizer": _simple(load_counts),
    "ColumnTransformer": _nested(load_columns),
    "FeatureUnion": _nested(load_union),
    "TableVectorizer": _nested(load_table),
    **{
        kind: _simple(partial(load_method, method)) for kind, method in _METHODS.items()
    },
    **{kind: _simple(partial(load_transformer, kind)) for kind in CLASSES},
}
