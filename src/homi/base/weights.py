"""Checks of ``sample_weight``, and ``fit`` with and without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from homi.arrays import check_label_order
from homi.base.validation import checks_parameters
from homi.moments import check_weights
from homi.typing import Array, Matrix, MatrixLike, Names

#: Classifiers whose ``fit`` takes ``sample_weight``.
WEIGHTED = (
    *("HOMICV", "HOMI", "BinaryRelevance", "CalibratedLabelRanking", "ClassifierChain"),
    *("EnsembleOfChains", "GLOCAL", "LEML", "LFLC", "MLLRC", "MLSF", "RAKEL", "WRAP"),
)


class SampleWeightMixin:
    """Fit with weights of the rows; ``_fit`` takes them as its third argument."""

    @checks_parameters
    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        **unsupported: object,
    ) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1 or boolean with one column per label, or 1-D classes.
        sample_weight : array-like of shape (n_samples,) or float, default=None
            Weights of the rows: one of weight w counts as w equal rows, and one of
            weight 0 not at all. None for 1 each.
        **unsupported
            Nothing more; ``label_weight`` is an error that says why.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        this: Any = self
        _refuse_others(self, unsupported)
        rows, target = this._check_fit_input(X, y)
        weights = check_sample_weight(sample_weight, rows.shape[0])
        rows, Y, weights = drop_zero_weight(rows, target.indicator, weights)
        this._fit(rows, replace(target, indicator=Y), weights)
        return self


class UnweightedMixin:
    """Refuse weights of the rows, with a reason."""

    #: Why there are none, as a sentence.
    _unweighted: str

    def fit(self, X: MatrixLike, y: MatrixLike, **unsupported: object) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1 or boolean with one column per label, or 1-D classes.
        **unsupported
            Nothing more; ``sample_weight`` and ``label_weight`` are errors that say
            why.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        name = type(self).__name__
        if unsupported.pop("sample_weight", None) is not None:
            raise ValueError(
                f"{name} takes no sample_weight: {self._unweighted}; leave it out, or "
                f"use one of {', '.join(WEIGHTED)}."
            )
        _refuse_others(self, unsupported)
        fitted: Self = super().fit(X, y)  # type: ignore[misc]
        return fitted


def _refuse_others(model: object, given: Mapping[str, object]) -> None:
    """Raise an error for arguments of ``fit`` that no compared method takes."""
    name = type(model).__name__
    others = [key for key in given if key != "label_weight"]
    if others:
        raise TypeError(
            f"{name}.fit() got an unexpected keyword argument {others[0]!r}"
        )
    if given.get("label_weight") is not None:
        raise ValueError(
            f"{name} takes no label_weight: its losses count all labels alike; leave "
            "it out, or use HOMICV or HOMI."
        )


def check_sample_weight(sample_weight: ArrayLike | None, n: int) -> Array | None:
    """Return one weight for each of n rows, or None where all are 1.

    A single number is the weight of every row.
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    weights = check_weights(weights, n, "sample_weight")
    return None if (weights == 1).all() else weights


def drop_zero_weight(
    X: Matrix, Y: Matrix, weights: Array | None
) -> tuple[Matrix, Matrix, Array | None]:
    """Return rows of positive weight, their labels and weights."""
    if weights is None or weights.all():
        return X, Y, weights
    kept = np.flatnonzero(weights)
    return X[kept], Y[kept], weights[kept]


def check_label_weight(label_weight: ArrayLike | None, names: Names) -> Array | None:
    """Return one positive weight for each label, or None where all are 1."""
    if label_weight is None:
        return None
    check_label_order(getattr(label_weight, "index", None), names, "label_weight")
    weights = np.asarray(label_weight, dtype=np.float64)
    if weights.shape != names.shape:
        raise ValueError(
            f"label_weight has shape {weights.shape} for {len(names)} labels; pass one "
            "number for each label."
        )
    wrong = ~((weights > 0) & np.isfinite(weights))
    if wrong.any():
        first = int(wrong.argmax())
        raise ValueError(
            "label_weight must hold positive finite numbers, got "
            f"{weights[first]:g} for the label {names[first]!r}; leave labels that "
            "must not count out of Y."
        )
    return None if (weights == 1).all() else weights
