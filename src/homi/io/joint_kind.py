"""A joint model in a model file: covariance, label sets, weights."""

from __future__ import annotations

import numpy as np

from homi.io.errors import ModelFileError
from homi.io.fitted import number
from homi.io.tensors import Out, Source
from homi.joint import JointModel
from homi.joint.label_sets import MOST_SETS, LabelSets, Sharpness
from homi.joint.low_rank import RANK, Covariance, LowRank
from homi.joint.model import Weights
from homi.typing import Array, Fields

#: Factor of the log-frequency of a set in files of earlier versions.
_PRIOR = 0.3


def dump_joint_model(model: JointModel, out: Out) -> Fields:
    """Return the joint model for the header, and put its tensors into `out`."""
    out.put("gates", model.gates)
    return {
        **_dump_covariance(model.covariance, out),
        "n_sets": dump_sets(model.sets, out),
        "sharpness": list(map(float, model.sharpness)),
        "weights": list(map(float, model.weights)),
        "gates": True,
    }


def load_joint_model(about: Fields, source: Source, n_labels: int) -> JointModel:
    """Return the joint model of a header; it must be of this number of labels.

    Raises
    ------
    ModelFileError
        If a tensor is missing or of another shape, or the covariance is not one.
    """
    C = _load_covariance(about, source, n_labels)
    sets = load_sets(about["n_sets"], source, n_labels)
    weights = Weights(*_numbers(about, "weights", 3))
    if about.get("gates", False):
        sharpness = Sharpness(*_numbers(about, "sharpness", 4))
        gates = source.floats("gates", (n_labels,))
        if (gates < 0).any():
            raise ModelFileError("a gate of the joint model is negative.")
    else:  # files of earlier versions
        scores, known = _numbers(about, "sharpness", 2)
        sharpness = Sharpness(scores, known, _PRIOR * scores, _PRIOR * scores)
        gates = np.ones(n_labels)
    return JointModel(C, sets, sharpness, weights, gates)


def _dump_covariance(C: Covariance, out: Out) -> Fields:
    if not isinstance(C, LowRank):
        out.put("covariance", C)
        return {}
    out.put("factors", C.factors)
    out.put("variances", C.variances)
    return {"rank": C.factors.shape[1]}


def _load_covariance(about: Fields, source: Source, n_labels: int) -> Covariance:
    if "rank" not in about:
        C = source.floats("covariance", (n_labels, n_labels))
        _check_covariance(C)
        return C
    rank = about["rank"]
    if type(rank) is not int or not 1 <= rank <= RANK:
        raise ModelFileError(f"{str(rank)[:40]} is not a rank of the joint model.")
    factors = source.floats("factors", (n_labels, rank))
    variances = source.floats("variances", (n_labels,))
    if (variances <= 0).any():
        raise ModelFileError("a variance of the joint model is not positive.")
    return LowRank(factors, variances)


def dump_sets(sets: LabelSets, out: Out) -> int:
    """Put label sets into `out`; return their number."""
    out.put("members", sets.members.astype(bool))
    out.put("frequency", sets.frequency)
    out.put("independent", sets.independent)
    return len(sets.members)


def load_sets(count: object, source: Source, n_labels: int) -> LabelSets:
    """Return the given number of label sets of a file."""
    if type(count) is not int or not 1 <= count <= MOST_SETS:
        raise ModelFileError(f"{str(count)[:40]} is not a number of label sets.")
    return LabelSets(
        source.flags("members", (count, n_labels)).astype(np.float64),
        source.floats("frequency", (count,)),
        source.floats("independent", (count,)),
    )


def _check_covariance(C: Array) -> None:
    wrong = not np.array_equal(C, C.T)
    try:
        np.linalg.cholesky(C)
    except np.linalg.LinAlgError:
        wrong = True
    if wrong:
        raise ModelFileError("the covariance of the joint model is not one.")


def _numbers(about: Fields, name: str, count: int) -> list[float]:
    values = about[name]
    if not isinstance(values, list) or len(values) != count:
        raise ModelFileError(f"the {name} of the joint model are not {count} numbers.")
    return [number(value, f"{name} of the joint model") for value in values]
