"""Export a fitted model to ONNX, for programs without Python."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from homi.atomic_write import whole_file
from homi.base.classifier import MultiLabelClassifier
from homi.extras import optional
from homi.io.errors import ModelFileError
from homi.model.forest import Forest
from homi.model.homi import HOMI
from homi.model.homi_cv import HOMICV
from homi.thresholds import TunedThresholds
from homi.thresholds.rules import fitted_rule, is_agreeing
from homi.typing import Array

if TYPE_CHECKING:
    import onnx

    from homi.io.onnx_graph import Graph

Input = Literal["double", "float"]

NO_KNOWN = (
    "known labels have no ONNX form: ONNX has no operator that solves a linear system; "
    "export without known, which predicts from features alone, or keep the model file "
    "and use predict_proba(X, known=...) in Python or homi predict --known."
)
#: Largest size of a protobuf message.
_MAX_BYTES = 2**31 - 1


def export_onnx(
    model: MultiLabelClassifier,
    path: str | os.PathLike[str],
    *,
    input_type: Input = "double",
    known: bool = False,
) -> list[str]:
    """Export a fitted multi-label model to ONNX.

    Parameters
    ----------
    model : HOMI, HOMICV or TunedThresholds
        Fitted on a 0/1 column for each label. A TunedThresholds must wrap one of the
        other two. Every kernel that has a name is exported.
    path : path
        File to write. An existing file is replaced once the new one is complete.
    input_type : {"double", "float"}, default="double"
        Type of the input ``X`` of shape (rows, n_features). Everything is computed in
        double precision: with "float" only X itself is rounded.
    known : bool, default=False
        Whether the model should take known labels as a second input. True raises an
        error: see Notes.

    Returns
    -------
    outputs : list of str
        Names of the outputs: ``scores`` (``decision_function``, double), ``labels``
        (``predict``, int64, by the thresholds if they were tuned) and
        ``probabilities`` (``predict_proba``, double). Isotonic maps have no ONNX
        form, and no such output.

    Raises
    ------
    ModelFileError
        If the model, or a part of it such as a text's TF-IDF, has no ONNX form here,
        and if ``known`` is True.

    Notes
    -----
    The graph predicts from features alone. Labels that are known need the solution of a
    linear system of each row, for which ONNX has no operator. The metadata say so under
    ``known_labels``: "none".

    Opset 17 and IR version 8, which onnxruntime reads since 1.13. The names of the
    labels are in the metadata, as a JSON list under ``labels``.
    """
    with optional("export to ONNX"):
        from homi.io.onnx_graph import Graph

        graph = Graph()
    if input_type not in _TYPES:
        raise ValueError(
            f"input_type={input_type!r}; expected one of {', '.join(_TYPES)}."
        )
    if known:
        raise ModelFileError(NO_KNOWN)
    _check_kind(model)
    built, outputs = _built(graph, model, _TYPES[input_type])
    data = built.SerializeToString()
    if len(data) > _MAX_BYTES:
        raise ModelFileError("the model is larger than 2 GiB, which ONNX cannot hold.")
    with whole_file(Path(path)) as unfinished:
        unfinished.write_bytes(data)
    return outputs


_TYPES: dict[str, type] = {"double": np.float64, "float": np.float32}


def _check_kind(model: BaseEstimator) -> None:
    if isinstance(model, Pipeline):
        raise ModelFileError(
            "a model of texts has no ONNX form here: ONNX cannot take words apart as "
            "scikit-learn does; export its last step, model[-1], which takes TF-IDF "
            "features."
        )
    check_is_fitted(model)
    inner = model.estimator_ if isinstance(model, TunedThresholds) else model
    if isinstance(inner, Pipeline) and inner is not model:
        _check_kind(inner)
    if not isinstance(inner, HOMI | HOMICV):
        raise ModelFileError(
            f"a {type(inner).__name__} has no ONNX form here; export a HOMI or HOMICV, "
            "or a TunedThresholds around one."
        )
    if model.target_encoding_.kind != "multilabel-indicator":
        raise ModelFileError(
            "the model was fitted on a 1-D y; fit it on a 0/1 column for each label "
            "to export it."
        )


def _built(
    graph: Graph, model: BaseEstimator, dtype: type
) -> tuple[onnx.ModelProto, list[str]]:
    from homi.io import onnx_parts as parts

    inner = model.estimator_ if isinstance(model, TunedThresholds) else model
    linear = inner.best_estimator_ if isinstance(inner, HOMICV) else inner
    X = rows = "X" if dtype is np.float64 else graph.cast("X", np.float64)
    kernel_map = getattr(linear, "kernel_map_", None)
    if kernel_map is not None:
        X = parts.kernel_features(graph, X, kernel_map)
    weights = graph.constant(linear.coef_.T.astype(np.float64))
    intercept = graph.constant(linear.intercept_.astype(np.float64))
    raw = graph.op("Add", graph.op("MatMul", X, weights), intercept)
    probable = parts.bent
    if getattr(inner, "odds_slope_", None) is not None:
        raw = parts.log_odds(graph, raw, inner.odds_slope_, inner.odds_offset_)
        if getattr(inner, "forest_", None) is not None:
            trees = _trees(graph, rows, inner.forest_, inner.forest_slope_)
            raw = graph.op("Add", raw, trees)
        if getattr(inner, "logistic_coef_", None) is not None:
            coef = graph.constant(inner.logistic_coef_)
            raw = graph.op("Add", raw, graph.op("MatMul", rows, coef))
        probable = parts.probable
    scores, probabilities = raw, None
    if isinstance(model, TunedThresholds):
        rule, maps = fitted_rule(model)
        scores = parts.decisions(graph, raw, rule)
        if model.calibration is not None and maps is not None:
            probabilities = parts.calibrated(graph, raw, maps)
        elif model.estimator_.target_encoding_.kind == "multilabel-indicator":
            probabilities = probable(graph, raw)
        if probabilities is not None and is_agreeing(model):
            probabilities = parts.agreeing(graph, probabilities, scores)
    else:
        probabilities = probable(graph, raw)
    labels = graph.cast(graph.op("Greater", scores, graph.number(0.0)), np.int64)
    q = len(model.label_names_)
    outputs = {"scores": (scores, np.float64, q), "labels": (labels, np.int64, q)}
    if probabilities is not None:
        outputs["probabilities"] = (probabilities, np.float64, q)
    about = {"labels": json.dumps([str(name) for name in model.label_names_])}
    about["known_labels"] = "none"
    inputs = {"X": (dtype, int(linear.n_features_in_))}
    return graph.model(inputs, outputs, about), list(outputs)


def _trees(graph: Graph, X: str, forest: Forest, slope: Array) -> str:
    from homi.io.onnx_forest import forest_log_odds

    trees = forest_log_odds(graph, X, forest)
    return str(graph.op("Mul", trees, graph.constant(slope)))
