"""Every kind of model that a file can hold: estimator <-> header and tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from homi.dependence import LabelDependence
from homi.io.errors import ModelFileError
from homi.io.fitted import facts_of, params_of, rebuilt, set_facts
from homi.io.homi_kinds import CODE, dump_homi, dump_homi_cv, load_homi, load_homi_cv
from homi.io.joint_kind import dump_joint_model, load_joint_model
from homi.io.method_kinds import METHODS, check_method, dump_method, load_method
from homi.io.tensors import Out, Source
from homi.io.text_kind import check_savable, dump_tfidf, load_tfidf
from homi.io.tuned_kind import dump_maps, dump_rule, load_maps, load_rule
from homi.io.values import decode, encode
from homi.model.homi import HOMI
from homi.model.homi_cv import HOMICV
from homi.thresholds import TunedThresholds
from homi.typing import Fields

Node = Fields

#: Nesting of models that is read; deeper files could exhaust the stack.
_MAX_DEPTH = 8
_ODDS = ("odds_slope_", "odds_offset_")
_MEASURED = ("strategy_", "held_out_score_", "calibration_error_")


def dump(model: Any, out: Out, *, fitted: bool = True) -> Node:
    """Return the header of a model, and put its tensors into `out`."""
    kind = type(model).__name__
    if type(model) not in _CLASSES:
        raise ModelFileError(
            f"a {kind} cannot be saved; a model file holds a classifier of homi, or a "
            "TunedThresholds, a LabelDependence or a Pipeline of TfidfVectorizer "
            "around one."
        )
    if callable(getattr(model, "kernel", None)):
        raise ModelFileError(CODE)
    if fitted:
        check_is_fitted(model)
    if type(model) is TfidfVectorizer:
        check_savable(model)
    if kind in METHODS:
        check_method(model)
    node: Node = {"kind": kind}
    if type(model) is Pipeline:
        return {**node, **_dump_pipeline(model, out, fitted=fitted)}
    left_out = ("estimator",) if type(model) in _WRAPPERS else ()
    node["params"] = params_of(model, left_out)
    if left_out:
        node["estimator"] = dump(model.estimator, out, fitted=False)
    if fitted:
        node["fitted"] = _DUMP[kind](model, out)
    return node


def load(node: Any, source: Source, depth: int = 0) -> Any:
    """Return the model of a header."""
    kind = node.get("kind") if isinstance(node, dict) else None
    if kind not in _LOAD or depth > _MAX_DEPTH:
        raise ModelFileError(f"a model of kind {str(kind)[:40]!r} is unknown here.")
    return _LOAD[kind](node, source, depth)


def _dump_pipeline(model: Pipeline, out: Out, *, fitted: bool) -> Node:
    if model.memory is not None:
        raise ModelFileError(
            "a Pipeline with memory cannot be saved; set it to None by "
            "set_params(memory=None)."
        )
    steps = [
        [name, dump(step, out.under(f"step{j}"), fitted=fitted)]
        for j, (name, step) in enumerate(model.steps)
    ]
    options = params_of(model, ("steps",))
    return {"params": options, "steps": steps, "fitted": fitted}


def _load_pipeline(node: Node, source: Source, depth: int) -> Pipeline:
    steps = []
    for j, (name, step) in enumerate(node["steps"]):
        if not isinstance(name, str):
            raise ModelFileError("a step of the pipeline has no name.")
        steps.append((name, load(step, source.under(f"step{j}"), depth + 1)))
    if node["params"].get("memory") is not None:
        # joblib would read pickles from there.
        raise ModelFileError("its Pipeline names a directory for its memory.")
    if [type(step) for _, step in steps[:-1]] != [TfidfVectorizer] * (len(steps) - 1):
        raise ModelFileError(
            "its Pipeline has a step other than TfidfVectorizer before the model."
        )
    return rebuilt(Pipeline, node["params"], steps=steps)


def _dump_tuned(model: TunedThresholds, out: Out) -> Node:
    measured = {name: encode(getattr(model, name), name) for name in _MEASURED}
    node: Node = {**facts_of(model), **measured}
    node["rule"] = dump_rule(model._rule, out.under("rule"))
    if hasattr(model, "_maps"):
        node["maps"] = dump_maps(model._maps, out.under("maps"))
    node["estimator"] = dump(model.estimator_, out.under("estimator"))
    return node


def _load_tuned(node: Node, source: Source, depth: int) -> TunedThresholds:
    estimator = load(node["estimator"], source, depth + 1)
    model: TunedThresholds = rebuilt(
        TunedThresholds, node["params"], estimator=estimator
    )
    fitted = node.get("fitted")
    if fitted is None:
        return model
    n_labels = set_facts(model, fitted)
    for name in _MEASURED:
        setattr(model, name, decode(fitted[name]))
    model._rule = load_rule(fitted["rule"], source.under("rule"), n_labels)
    model._show_rule(n_labels)
    if "maps" in fitted:
        model._maps = load_maps(fitted["maps"], source.under("maps"), n_labels)
    model.estimator_ = load(fitted["estimator"], source.under("estimator"), depth + 1)
    return model


def _dump_dependence(model: LabelDependence, out: Out) -> Node:
    for name in _ODDS:
        out.put(name, getattr(model, name))
    node: Node = facts_of(model)
    if model.joint_model_ is not None:
        node["joint"] = dump_joint_model(model.joint_model_, out.under("joint"))
    node["estimator"] = dump(model.estimator_, out.under("estimator"))
    return node


def _load_dependence(node: Node, source: Source, depth: int) -> LabelDependence:
    estimator = load(node["estimator"], source, depth + 1)
    model: LabelDependence = rebuilt(
        LabelDependence, node["params"], estimator=estimator
    )
    fitted = node.get("fitted")
    if fitted is None:
        return model
    n_labels = set_facts(model, fitted)
    for name in _ODDS:
        setattr(model, name, source.floats(name, (n_labels,)))
    model.joint_model_ = None
    if "joint" in fitted:
        joint = source.under("joint")
        model.joint_model_ = load_joint_model(fitted["joint"], joint, n_labels)
    model.estimator_ = load(fitted["estimator"], source.under("estimator"), depth + 1)
    return model


def _simple(read: Callable[[Any, Any, Source], Any]) -> Callable[..., Any]:
    return lambda node, source, depth: read(
        node.get("params"), node.get("fitted"), source
    )


_WRAPPERS = (TunedThresholds, LabelDependence)
_CLASSES = (
    *(HOMI, HOMICV, *_WRAPPERS, Pipeline, TfidfVectorizer),
    *(method.cls for method in METHODS.values()),
)

_DUMP: dict[str, Callable[[Any, Out], Node]] = {
    "HOMI": dump_homi,
    "HOMICV": dump_homi_cv,
    "TunedThresholds": _dump_tuned,
    "LabelDependence": _dump_dependence,
    "TfidfVectorizer": dump_tfidf,
    **dict.fromkeys(METHODS, dump_method),
}

_LOAD: dict[str, Callable[..., Any]] = {
    "HOMI": _simple(load_homi),
    "HOMICV": _simple(load_homi_cv),
    "TfidfVectorizer": _simple(load_tfidf),
    "TunedThresholds": _load_tuned,
    "LabelDependence": _load_dependence,
    "Pipeline": _load_pipeline,
    **{kind: _simple(partial(load_method, kind)) for kind in METHODS},
}
