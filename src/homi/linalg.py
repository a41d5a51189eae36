"""Factorizations that are computed once and used often; numpy and scipy only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy import sparse

from homi.typing import Array as Array

#: A dense or a sparse matrix.
Matrix = Array | sparse.csr_array

_EPS = float(np.finfo(np.float64).eps)


class Pencil(NamedTuple):
    """Coordinates in which ``VᵀAV = I`` and ``VᵀHV = diag(mu)``, ``mu >= 0``.

    V has as many columns as the rank of A, so it is square unless A is singular.
    """

    mu: Array
    V: Array


def factor_pencil(A: Array, H: Array | None) -> Pencil:
    """Diagonalize positive semi-definite A and H together; H may be None for 0.

    The null space of A must be in that of H: a feature combination that is constant
    over all rows is constant along every edge too. It is left out, so solutions in
    terms of V are those of least norm.
    """
    triangle = _well_conditioned_cholesky(A)
    if triangle is None:
        return _factor_singular_pencil(A, H)
    if H is None:
        V = scipy.linalg.solve_triangular(
            triangle, np.eye(len(A)), trans="T", lower=True, check_finite=False
        )
        return Pencil(np.zeros(len(A)), V)
    mu, V = scipy.linalg.eigh(H, A, check_finite=False)
    return Pencil(np.maximum(mu, 0.0), V)


def _well_conditioned_cholesky(A: Array) -> Array | None:
    """Return the lower factor of A, or None if A is singular to working precision."""
    triangle, failed = scipy.linalg.lapack.dpotrf(A, lower=1)
    if failed:
        return None
    # Pivots are not enough: a singular matrix need not have a small one.
    norm = np.abs(A).sum(axis=0).max()
    reciprocal, _ = scipy.linalg.lapack.dpocon(triangle, norm, uplo="L")
    return triangle if reciprocal > 10 * len(A) * _EPS else None


def _factor_singular_pencil(A: Array, H: Array | None) -> Pencil:
    values, vectors = positive_eigenpairs(A)
    whiten = vectors / np.sqrt(values)
    if H is None:
        return Pencil(np.zeros(len(values)), whiten)
    mu, rotation = scipy.linalg.eigh(whiten.T @ H @ whiten, check_finite=False)
    return Pencil(np.maximum(mu, 0.0), whiten @ rotation)


def positive_eigenpairs(A: Array) -> tuple[Array, Array]:
    """Return eigenvalues above the rounding level of A, ascending, and eigenvectors."""
    values, vectors = np.linalg.eigh(A)
    keep = values > 10 * len(A) * _EPS * max(values[-1], 0.0)
    return (values, vectors) if keep.all() else (values[keep], vectors[:, keep])


def largest_eigenvalue(A: Array) -> float:
    """Return the largest eigenvalue of a symmetric A; 0 if it is empty."""
    last = len(A) - 1
    if last < 0:
        return 0.0
    only = [last, last]
    return float(scipy.linalg.eigvalsh(A, subset_by_index=only, check_finite=False)[0])


def solve_two_sided(pencil: Pencil, M: Array, R: Array) -> Array:
    """Solve ``A X + H X M = R`` with the factored (A, H) and a symmetric ``M >= 0``."""
    nu, Q = scipy.linalg.eigh(M, check_finite=False)
    denominator = 1.0 + np.outer(pencil.mu, np.maximum(nu, 0.0))
    return pencil.V @ ((pencil.V.T @ R @ Q) / denominator) @ Q.T


def solve_psd(A: Array, R: Array) -> Array:
    """Solve ``A X = R`` for a positive semi-definite A; least norm if singular."""
    triangle = _well_conditioned_cholesky(A)
    if triangle is not None:
        return scipy.linalg.cho_solve((triangle, True), R, check_finite=False)
    values, vectors = positive_eigenpairs(A)
    return vectors @ ((vectors.T @ R) / values[:, None])


def inner(A: Array, B: Array) -> float:
    """Return the inner product of two matrices, ``tr(AᵀB)``."""
    return float(np.vdot(A, B))
