"""Save and load a fitted model as one file, without pickle."""

from __future__ import annotations

import datetime
import hashlib
import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from homi.base.classifier import MultiLabelClassifier
from homi.io.container import FORMAT, read_container, write_container
from homi.io.errors import ModelFileError
from homi.io.kinds import dump, load
from homi.io.preprocessing_kind import dump_column_transformer, load_column_transformer
from homi.io.tensors import Out, Source, Tensors
from homi.io.values import decode, encode
from homi.typing import Fields, Matrix
from homi.version import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn")

#: What homi, numpy and scikit-learn raise on malformed values.
_MALFORMED = (
    AttributeError,
    LookupError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True)
class ModelFile:
    """Content of a model file.

    Attributes
    ----------
    model : estimator
        The fitted model.
    preprocessing : dict
        How columns of a table become rows of the model; empty unless given to ``save``.
    provenance : dict
        Versions, date, and what ``save`` was given.
    transformer : ColumnTransformer or None
        Fitted preprocessing, if ``save`` was given any.
    """

    model: MultiLabelClassifier | Pipeline
    preprocessing: Fields
    provenance: Fields
    transformer: ColumnTransformer | None = None


def save(
    model: MultiLabelClassifier | Pipeline,
    path: str | os.PathLike[str],
    *,
    preprocessing: Fields | None = None,
    transformer: ColumnTransformer | None = None,
    provenance: Fields | None = None,
) -> None:
    """Save a fitted model as one file: tensors and a JSON header, no pickle.

    Parameters
    ----------
    model : classifier of homi, TunedThresholds, LabelDependence or Pipeline
        Fitted. Steps of a Pipeline before the classifier may be TfidfVectorizer,
        CountVectorizer, TfidfTransformer, StandardScaler, MinMaxScaler, MaxAbsScaler,
        Normalizer, SimpleImputer, OneHotEncoder, TruncatedSVD, TableVectorizer, and a
        ColumnTransformer, FeatureUnion or Pipeline of these.
    path : path
        File to write, by convention with the suffix ``.homi``. An existing file is
        replaced once the new one is complete.
    preprocessing : dict, optional
        Plain values that say how columns of a table become rows of the model.
    transformer : ColumnTransformer, optional
        Fitted preprocessing of arrays of numbers. Its steps are SimpleImputer with
        ``keep_empty_features=True``, OneHotEncoder with given ``categories`` and
        ``handle_unknown="ignore"``, pipelines of these, or ``"passthrough"``.
    provenance : dict, optional
        Plain values to keep beside versions and date, such as ``{"data":
        fingerprint(X, Y)}``.

    Raises
    ------
    ModelFileError
        If the model holds code, such as a kernel that is a function, or is of a kind
        that a model file does not hold.

    Notes
    -----
    The file holds parts of the training data: the landmarks of a kernel, which are
    rows, labels in the leaves of trees, all rows of MLkNN, LIFT and BILAS with their
    labels, the vocabulary of texts, categories and, for predictions given known labels,
    at most 3,000 label sets. ``filled_labels_``, labels of the training rows, are not
    saved.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi import HOMI
    >>> from homi.io import load_model, save
    >>> X, Y = make_multilabel_classification(50, n_classes=3, random_state=0)
    >>> model = HOMI().fit(X, Y)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory) / "model.homi"
    ...     save(model, path)
    ...     same = load_model(path)
    >>> bool((same.decision_function(X) == model.decision_function(X)).all())
    True
    """
    tensors: Tensors = {}
    header = {
        "model": dump(model, Out(tensors)),
        "preprocessing": encode(preprocessing or {}, "preprocessing"),
        "provenance": encode(_made() | (provenance or {}), "provenance"),
    }
    if transformer is not None:
        out = Out(tensors).under("transformer")
        header["transformer"] = dump_column_transformer(transformer, out)
    write_container(Path(path), header, tensors)


def load_model(path: str | os.PathLike[str]) -> MultiLabelClassifier | Pipeline:
    """Load a model that ``save`` or ``homi fit`` wrote. No code of the file is run.

    Parameters
    ----------
    path : path
        A model file.

    Returns
    -------
    model : estimator
        Its predictions are those of the model that was saved, bit for bit, with the
        same versions of numpy, scipy and scikit-learn on the same kind of machine.

    Raises
    ------
    ModelFileError
        If the file is damaged, truncated, made by a newer version, or not a model.
    FileNotFoundError
        If the file does not exist.
    """
    return load_file(path).model


def load_file(path: str | os.PathLike[str]) -> ModelFile:
    """Load a model with its preprocessing and provenance.

    Parameters and errors are those of ``load_model``.
    """
    header, tensors = read_container(path)
    source = Source(tensors)
    try:
        model = load(header["model"], source)
        transformer = None
        if "transformer" in header:
            part = source.under("transformer")
            transformer = load_column_transformer(header["transformer"], part)
        source.check_all_taken()
        preprocessing = _dict(header, "preprocessing")
        provenance = _dict(header, "provenance")
    except MemoryError as error:
        raise ModelFileError(f"{path} needs more memory than there is.") from error
    except ModelFileError as error:
        raise ModelFileError(f"{path} is refused: {error}") from error
    except _MALFORMED as error:
        raise ModelFileError(
            f"{path} is refused: its header is not one of format {FORMAT} "
            f"({type(error).__name__}: {str(error)[:100]})."
        ) from error
    return ModelFile(model, preprocessing, provenance, transformer)


def _dict(header: Fields, name: str) -> Fields:
    found = decode(header[name])
    if not isinstance(found, dict):
        raise ModelFileError(f"its {name} is not a dict.")
    return found


def fingerprint(X: Matrix, Y: Matrix) -> Fields:
    """Return what identifies data without holding them: sizes, and their SHA-256.

    Examples
    --------
    >>> from homi.io import fingerprint
    >>> found = fingerprint([[1.0, 0.0]], [[1, 0, 1]])
    >>> found["rows"], found["features"], found["labels"], found["sha256"][:8]
    (1, 2, 3, '342dffcb')
    """
    digest = hashlib.sha256()
    shapes = []
    for values in (X, Y):
        dense = values if sparse.issparse(values) else np.asarray(values, dtype=float)
        coo = sparse.coo_array(dense)
        coo.sum_duplicates()  # also sorts the entries
        coo.eliminate_zeros()
        shapes.append(coo.shape if coo.ndim == 2 else (*coo.shape, 1))
        for part in (np.array(coo.shape), *coo.coords, coo.data.astype(np.float64)):
            wide = part if part.dtype == np.float64 else part.astype(np.int64)
            digest.update(wide.tobytes())
    (rows, features), (_, labels) = shapes
    return {
        "rows": int(rows),
        "features": int(features),
        "labels": int(labels),
        "sha256": digest.hexdigest(),
    }


def _made() -> Fields:
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    versions = {"python": platform.python_version(), "homi": __version__}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "unknown"
    return {"date": now, "versions": versions}
