"""The compared methods in a model file: what each has learned, checked on loading.

MLkNN, LIFT and BILAS compare rows with training rows, so a file of these holds them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from homi.base.classifier import LinearMultiLabelClassifier, MultiLabelClassifier
from homi.io import method_parts as parts
from homi.io.errors import ModelFileError
from homi.io.fitted import (
    facts_of,
    features_of,
    number,
    rebuilt,
    scalars_of,
    set_facts,
    set_features,
    set_scalars,
)
from homi.io.method_parts import Sizes
from homi.io.tensors import Out, Source
from homi.io.values import decode, encode
from homi.methods.bilas import BILAS
from homi.methods.binary_relevance import BinaryRelevance, linear_attributes
from homi.methods.classifier_chain import ClassifierChain
from homi.methods.clml import CLML
from homi.methods.ensemble_of_chains import EnsembleOfChains
from homi.methods.glocal import GLOCAL
from homi.methods.label_powerset import LabelPowerset
from homi.methods.label_ranking import CalibratedLabelRanking
from homi.methods.leml import LEML
from homi.methods.lflc import LFLC
from homi.methods.lift import LIFT
from homi.methods.ml_knn import MLkNN, training_attributes, training_rows
from homi.methods.ml_lrc import MLLRC
from homi.methods.mlsf import MLSF
from homi.methods.prototype_classifier import Part, PrototypeClassifier, Prototypes
from homi.methods.rakel import RAKEL
from homi.methods.wrap import WRAP
from homi.typing import Fields

M = TypeVar("M", bound=MultiLabelClassifier)


class Method(NamedTuple, Generic[M]):
    """A class, and how its fitted state is put into a file and set from one."""

    cls: type[M]
    dump: Callable[[M, Out], Fields | list[Fields] | None]
    load: Callable[[M, Any, Source, Sizes], None]


def dump_method(method: Method[M], model: M, out: Out) -> Fields:
    """Return the fitted part of a header, and put the tensors into `out`."""
    fitted = {**facts_of(model), **features_of(model), "scalars": scalars_of(model)}
    if hasattr(model, "history_"):
        fitted["history_"] = encode(list(model.history_), "history_")
    return {**fitted, "state": method.dump(model, out)}


def load_method(
    method: Method[M], params: object, fitted: Fields | None, source: Source
) -> M:
    """Return the classifier of a header."""
    model = rebuilt(method.cls, params)
    if fitted is None:
        return model
    set_scalars(model, fitted["scalars"])
    q = set_facts(model, fitted)
    if "history_" in fitted:
        model.history_ = decode(fitted["history_"])
    sizes = Sizes(set_features(model, fitted), q)
    method.load(model, fitted["state"], source, sizes)
    return model


def check_method(model: MultiLabelClassifier) -> None:
    """Refuse classifiers that were passed to others."""
    if (inside := getattr(model, "estimator", None)) is not None:
        raise ModelFileError(
            f"{type(model).__name__}(estimator={str(inside)[:60]}) cannot be saved: a "
            "model file holds no classifier that was passed to another; fit it with "
            "estimator=None."
        )


#: Shapes of the arrays of linear methods: p features, q labels, d of neither.
_LINEAR = {"coef_": "qp", "intercept_": "q"}
_MORE = {
    "LEML": {"feature_factors_": "pd", "label_factors_": "qd"},
    "LFLC": {"coarse_coef_": "qp", "fine_coef_": "qp"},
    "WRAP": {"embedding_": "pd", "label_weights_": "dq"},
}


def _dump_linear(model: LinearMultiLabelClassifier, out: Out) -> Fields:
    names = [*_LINEAR, *_MORE.get(type(model).__name__, {})]
    matrices = [n for n in names if getattr(model, n).ndim == 2]
    for name in set(names) - set(matrices):
        out.put(name, getattr(model, name))
    about: Fields = {n: out.put_matrix(n, getattr(model, n)) for n in matrices}
    if isinstance(model, WRAP):
        about["d"] = int(model.label_weights_.shape[0])
    if isinstance(model, LEML):
        about["d"] = int(model.label_factors_.shape[1])
    return about


def _load_linear(
    model: LinearMultiLabelClassifier, about: Fields, source: Source, sizes: Sizes
) -> None:
    lengths = {"p": sizes.p, "q": sizes.q, "d": about.get("d", 0)}
    shapes = _LINEAR | _MORE.get(type(model).__name__, {})
    for name, letters in shapes.items():
        shape = tuple(lengths[letter] for letter in letters)
        is_matrix = len(shape) == 2
        value = (
            source.matrix(name, shape, about[name])
            if is_matrix
            else source.floats(name, shape)
        )
        setattr(model, name, value)


def _dump_relevance(model: BinaryRelevance, out: Out) -> Fields:
    return parts.dump_linear_model(model.label_model_, out)


def _load_relevance(
    model: BinaryRelevance, about: Fields, source: Source, sizes: Sizes
) -> None:
    fitted = parts.load_linear_model(about, source, sizes)
    model.__dict__.update(linear_attributes(fitted))


def _dump_one_chain(model: ClassifierChain, out: Out) -> Fields:
    return parts.dump_chain(model.label_model_, out)


def _load_one_chain(
    model: ClassifierChain, about: Fields, source: Source, sizes: Sizes
) -> None:
    model.label_model_ = parts.load_chain(about, source, sizes)
    model.order_ = model.label_model_.order


def _dump_ensemble(model: EnsembleOfChains, out: Out) -> list[Fields]:
    chains = enumerate(model.chains_)
    return [parts.dump_chain(chain, out.under(f"chain{i}")) for i, chain in chains]


def _load_ensemble(
    model: EnsembleOfChains, abouts: object, source: Source, sizes: Sizes
) -> None:
    model.chains_ = parts.each(
        abouts, source, "chain", lambda a, s: parts.load_chain(a, s, sizes)
    )
    if not model.chains_:
        raise ModelFileError("the ensemble has no chain.")
    model.orders_ = [chain.order for chain in model.chains_]
    model.threshold_ = number(model.threshold_, "the threshold")


def _dump_mlsf(model: MLSF, out: Out) -> Fields:
    parts.dump_lists(model.groups_, "groups", out)
    parts.dump_lists(model.selected_, "selected", out)
    return parts.dump_chain(model.chain_, out)


def _load_mlsf(model: MLSF, about: Fields, source: Source, sizes: Sizes) -> None:
    model.groups_ = parts.load_lists(source, "groups", sizes.q)
    model.selected_ = parts.load_lists(source, "selected", sizes.p)
    model.chain_ = parts.load_chain(about, source, sizes)


_VOTES = {"coef_": "qp", "intercept_": "q", "pair_coef_": "cp", "pair_intercept_": "c"}


def _dump_ranking(model: CalibratedLabelRanking, out: Out) -> None:
    for name in _VOTES:
        out.put(name, getattr(model, name))


def _load_ranking(
    model: CalibratedLabelRanking, _: object, source: Source, sizes: Sizes
) -> None:
    p, q = sizes
    lengths = {"p": p, "q": q, "c": q * (q - 1) // 2}
    for name, letters in _VOTES.items():
        shape = tuple(lengths[letter] for letter in letters)
        # An intercept is infinite where all rows have a label, or none.
        finite = len(shape) == 2
        setattr(model, name, source.floats(name, shape, finite=finite))
    model.pairs_ = np.column_stack(np.triu_indices(q, 1))


def _dump_neighbors(model: MLkNN, out: Out) -> Fields:
    out.put("posterior_", model.posterior_)
    rows, labels, k = training_rows(model)
    return {
        "n_rows": int(labels.shape[0]),
        "rows": out.put_matrix("rows", rows),
        "labels": out.put_matrix("labels", labels),
        "n_neighbors": k,
    }


def _load_neighbors(model: MLkNN, about: Fields, source: Source, sizes: Sizes) -> None:
    n, k = int(number(about["n_rows"], "n_rows")), about["n_neighbors"]
    if type(k) is not int or not 1 <= k < n:
        raise ModelFileError(f"{str(k)[:40]} of {n} rows cannot be neighbors.")
    rows = source.matrix("rows", (n, sizes.p), about["rows"])
    labels = source.matrix("labels", (n, sizes.q), about["labels"])
    if not isinstance(labels, sparse.csr_array) or (labels.data != 1).any():
        raise ModelFileError("the labels of the neighbors are not 0 and 1.")
    model.posterior_ = parts.shares(source, "posterior_", (sizes.q, k + 1))
    model.__dict__.update(training_attributes(rows, labels, k))


def _dump_prototypes(model: PrototypeClassifier, out: Out) -> Fields:
    found = model.prototypes_
    out.put("shift", found.shift)
    out.put("prior", found.prior)
    if found.scaler.scale_ is not None:
        out.put("scale", found.scaler.scale_)
    if isinstance(model, BILAS):
        out.put("pairs", np.asarray(model.pairs_, dtype=np.int64))
    return {
        "n_rows": int(found.rows.shape[0]),
        "rows": out.put_matrix("rows", found.rows),
        "scaled": found.scaler.scale_ is not None,
        "n_pairs": len(getattr(model, "pairs_", ())),
        "parts": [
            _dump_part(part, out.under(f"part{i}"))
            for i, part in enumerate(found.parts)
        ],
    }


def _dump_part(part: Part, out: Out) -> Fields:
    out.put("labels", np.asarray(part.labels, dtype=np.int64))
    parts.dump_lists(
        np.split(part.members.indices, part.members.indptr[1:-1]), "members", out
    )
    out.put("intercept", part.intercept)
    return {"coef": out.put_matrix("coef", part.coef)}


def _load_part(about: Fields, source: Source, n_rows: int, n_labels: int) -> Part:
    count = source.length("labels")
    labels = parts.load_indices(source, "labels", (count,), n_labels).tolist()
    members = parts.load_lists(source, "members", n_rows)
    indices = np.concatenate(members).astype(np.int32)
    bounds = np.cumsum([0, *map(len, members)], dtype=np.int32)
    marked = (np.ones(len(indices), bool), indices, bounds)
    matrix = sparse.csr_array(marked, (len(members), n_rows))
    coef = source.matrix("coef", (len(members), count), about["coef"])
    return Part(labels, matrix, coef, source.floats("intercept", (count,)))


def _load_prototypes(
    model: PrototypeClassifier, about: Fields, source: Source, sizes: Sizes
) -> None:
    p, q = sizes
    n = int(number(about["n_rows"], "n_rows"))
    scaler = StandardScaler(with_mean=False, with_std=bool(about["scaled"]))
    scaler.scale_ = source.floats("scale", (p,)) if about["scaled"] else None
    if scaler.scale_ is not None and not (scaler.scale_ > 0).all():
        raise ModelFileError("a feature has a scale that is not positive.")
    scaler.n_features_in_ = p
    if isinstance(model, BILAS):
        n_pairs = int(number(about["n_pairs"], "n_pairs"))
        model.pairs_ = parts.load_indices(source, "pairs", (n_pairs, 2), q)
    found = Prototypes(
        scaler,
        source.floats("shift", (p,)),
        source.matrix("rows", (n, p), about["rows"]),
        parts.shares(source, "prior", (q,)),
        parts.each(about["parts"], source, "part", lambda a, s: _load_part(a, s, n, q)),
    )
    model.set_prototypes(found)


def _dump_rakel(model: RAKEL, out: Out) -> Fields:
    parts.dump_lists(model.labelsets_, "labelsets", out)
    sets = []
    for i, (rows, inside) in enumerate(
        zip(model.combinations_, model.estimators_, strict=True)
    ):
        part = out.under(f"set{i}")
        part.put("combinations", rows.astype(bool))
        _dump_classes(inside, part)
        sets.append({"n_combinations": len(rows)})
    return {"sets": sets, "scaled": parts.dump_scaler(model.scaler_, out)}


def _load_rakel(model: RAKEL, about: Fields, source: Source, sizes: Sizes) -> None:
    model.labelsets_ = parts.load_lists(source, "labelsets", sizes.q)
    if len(model.labelsets_) != len(about["sets"]):
        raise ModelFileError("the sets of labels are not as many as their models.")
    if len(np.unique(np.concatenate(model.labelsets_))) < sizes.q:
        raise ModelFileError("a label is in no set of labels.")
    model.scaler_ = parts.load_scaler(about["scaled"], source, sizes.p)
    widths = iter([len(labels) for labels in model.labelsets_])
    fitted = parts.each(
        about["sets"],
        source,
        "set",
        lambda a, s: _load_set(a, s, next(widths), sizes.p),
    )
    model.combinations_, model.estimators_ = map(list, zip(*fitted, strict=True))


def _load_set(
    about: Fields, source: Source, width: int, p: int
) -> tuple[NDArray[np.int8], LogisticRegression | None]:
    count = int(number(about["n_combinations"], "n_combinations"))
    rows = source.flags("combinations", (count, width)).astype(np.int8)
    return rows, _load_classes(source, count, p)


def _dump_classes(model: LogisticRegression | None, out: Out) -> None:
    """Put a logistic regression of classes 0, 1, …; None where there is one class."""
    if model is not None:
        out.put("coef_", model.coef_)
        out.put("intercept_", model.intercept_)


def _load_classes(source: Source, count: int, p: int) -> LogisticRegression | None:
    """Take a logistic regression of classes 0, 1, …; None where there is one class."""
    if count == 1:
        return None
    model = LogisticRegression()
    lines = 1 if count == 2 else count
    model.coef_ = source.floats("coef_", (lines, p))
    model.intercept_ = source.floats("intercept_", (lines,))
    model.classes_, model.n_features_in_ = np.arange(count), p
    return model


def _dump_powerset(model: LabelPowerset, out: Out) -> Fields:
    out.put("label_sets", model.label_sets_.astype(bool))
    _dump_classes(model.estimator_, out)
    scaled = parts.dump_scaler(model.scaler_, out)
    return {"n_sets": len(model.label_sets_), "scaled": scaled}


def _load_powerset(
    model: LabelPowerset, about: Fields, source: Source, sizes: Sizes
) -> None:
    count = int(number(about["n_sets"], "n_sets"))
    sets = source.flags("label_sets", (count, sizes.q))
    if not count:
        raise ModelFileError("there is no set of labels.")
    model.label_sets_ = sets.astype(np.int8)
    model.estimator_ = _load_classes(source, count, sizes.p)
    model.scaler_ = parts.load_scaler(about["scaled"], source, sizes.p)


_PROTOTYPES = (_dump_prototypes, _load_prototypes)
METHODS: dict[str, Method[Any]] = {
    cls.__name__: Method(cls, *how)
    for cls, how in [
        *(
            (cls, (_dump_linear, _load_linear))
            for cls in (CLML, GLOCAL, LEML, LFLC, MLLRC, WRAP)
        ),
        (BILAS, _PROTOTYPES),
        (LIFT, _PROTOTYPES),
        (BinaryRelevance, (_dump_relevance, _load_relevance)),
        (CalibratedLabelRanking, (_dump_ranking, _load_ranking)),
        (ClassifierChain, (_dump_one_chain, _load_one_chain)),
        (EnsembleOfChains, (_dump_ensemble, _load_ensemble)),
        (MLSF, (_dump_mlsf, _load_mlsf)),
        (MLkNN, (_dump_neighbors, _load_neighbors)),
        (LabelPowerset, (_dump_powerset, _load_powerset)),
        (RAKEL, (_dump_rakel, _load_rakel)),
    ]
}
