"""Compare probabilities with frequencies: reliability curve, calibration error."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from homi.arrays import check_label_order, dense
from homi.typing import Array, Indices, MatrixLike
from homi.warn import warn_of_row_order

Binning: TypeAlias = Literal["uniform", "quantile"]


class Reliability(NamedTuple):
    """Contents of each bin of probabilities; empty bins are left out.

    Attributes
    ----------
    probability : ndarray of shape (n_bins,)
        Mean probability.
    frequency : ndarray of shape (n_bins,)
        Fraction of positives; equal to ``probability`` if that is calibrated.
    size : ndarray of shape (n_bins,)
        Number of entries.
    """

    probability: Array
    frequency: Array
    size: Indices


def reliability_curve(
    Y: MatrixLike,
    P: MatrixLike,
    n_bins: int = 15,
    strategy: Binning = "uniform",
    *,
    sample_weight: ArrayLike | None = None,
) -> Reliability:
    """Compute frequencies against probabilities, over all labels of all rows.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
        Labels, 0 or 1.
    P : array-like of the same shape
        Probabilities.
    n_bins : int, default=15
        Number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of about equal size. Equal probabilities share a
        bin, so there may be fewer quantile bins than ``n_bins``.
    sample_weight : array-like of shape (n_samples,) or (n_samples, n_labels), optional
        Weights of the rows, or of each label of each row; ``size`` is then a sum of
        weights. None for 1 each.

    Returns
    -------
    curve : Reliability

    Examples
    --------
    >>> from homi.thresholds import reliability_curve
    >>> curve = reliability_curve([0, 0, 1, 1], [0.25, 0.25, 0.25, 0.75], n_bins=2)
    >>> curve.size
    array([3, 1])
    >>> curve.probability
    array([0.25, 0.75])
    """
    check_label_order(getattr(P, "columns", None), getattr(Y, "columns", None), "P")
    warn_of_row_order(Y, P, "Y", "P")
    y, p = _check(Y, P)
    bins = _bins(p, n_bins, strategy)
    w = None if sample_weight is None else _entries(sample_weight, np.shape(Y))
    size = np.bincount(bins, w)
    used = np.flatnonzero(size)
    one = 1.0 if w is None else w
    sums = (np.bincount(bins, one * values)[used] for values in (p, y))
    probability, frequency = (total / size[used] for total in sums)
    return Reliability(probability, frequency, size[used])


def _entries(sample_weight: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return the weight of each entry."""
    w = np.asarray(sample_weight, dtype=np.float64)
    if w.shape not in (shape, shape[:1]) or not (np.isfinite(w) & (w >= 0)).all():
        raise ValueError(
            f"sample_weight has shape {w.shape} for Y of shape {shape}; pass one "
            "number of at least 0 for each row, or for each label of each row."
        )
    w = w if w.shape == shape else w.reshape(-1, *[1] * (len(shape) - 1))
    return np.broadcast_to(w, shape).ravel()


def expected_calibration_error(
    Y: MatrixLike,
    P: MatrixLike,
    n_bins: int = 15,
    strategy: Binning = "uniform",
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the mean distance between probability and frequency over bins.

    .. math:: \sum_b \frac{n_b}{n} |\bar p_b - \bar y_b|

    Parameters
    ----------
    Y, P, n_bins, strategy, sample_weight
        As in :func:`reliability_curve`.

    Returns
    -------
    error : float
        0 is best. Calibrated probabilities have an error of about
        :math:`\sqrt{b/n}` by chance, for b bins and n entries.

    References
    ----------
    M. P. Naeini, G. F. Cooper, M. Hauskrecht. Obtaining well calibrated probabilities
    using Bayesian binning. AAAI 2015.

    Examples
    --------
    >>> from homi.thresholds import expected_calibration_error
    >>> expected_calibration_error([0, 0, 1, 1], [0.25, 0.25, 0.5, 0.5], n_bins=2)
    0.375
    """
    curve = reliability_curve(Y, P, n_bins, strategy, sample_weight=sample_weight)
    gaps = np.abs(curve.probability - curve.frequency)
    return float(np.average(gaps, weights=curve.size))


def _bins(p: Array, n_bins: int, strategy: Binning) -> Indices:
    """Return the bin of each probability; a bin includes its lower edge."""
    if strategy == "uniform":
        return np.minimum((p * n_bins).astype(np.intp), n_bins - 1)
    inner = np.quantile(p, np.arange(1, n_bins) / n_bins, method="higher")
    return np.searchsorted(np.unique(inner), p, side="right")


def _check(Y: MatrixLike, P: MatrixLike) -> tuple[Array, Array]:
    y = np.ravel(np.asarray(dense(Y))).astype(float)
    p = np.ravel(np.asarray(P)).astype(float)
    if np.shape(Y) != np.shape(P) or not p.size:
        raise ValueError(
            f"Y has shape {np.shape(Y)} and P has shape {np.shape(P)}; pass the same "
            "samples and labels in both, and at least one."
        )
    if not np.isin(y, (0, 1)).all():
        raise ValueError(
            f"Y must hold only 0 and 1, got {np.unique(y)[:4].tolist()}; "
            "for -1/+1 labels pass Y > 0."
        )
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(
            f"P must hold probabilities, got values from {p.min()} to {p.max()}; "
            "pass the output of predict_proba."
        )
    return y, p
