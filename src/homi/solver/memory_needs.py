"""Memory that a fit needs, in bytes."""

from __future__ import annotations

from homi.solver.conjugate_gradients import RANK
from homi.solver.label_blocks import EXACT_LABELS
from homi.solver.row_space import saves_products

#: Arrays of the size of W at the peak of the descent: two points with their
#: gradients, the steps remembered, and those being computed.
_LIKE_W = 10

#: Arrays of rows × labels: targets, scores, their graph products, the gradient.
_LIKE_SCORES = 5


def bytes_iterative(n: int, m: int, n_labels: int, nnz: int) -> int:
    """Bytes that the iterative solver needs in addition to X and Y."""
    if not saves_products(n, m, nnz):
        return 8 * _descent(n, m, n_labels) + 24 * nnz
    # The factor of the rows' Gram matrix and its copies; then the descent; then the
    # model, which has W twice: alone and times B.
    compact = 4 * (n + 1) ** 2
    descent = compact + _descent(n, n + 1, n_labels)
    model = compact + 2 * (m + n) * n_labels + 2 * n_labels**2
    return 8 * max(descent, model) + 24 * nnz


def _descent(n: int, m: int, n_labels: int) -> int:
    """Numbers stored at the peak of the descent."""
    # B itself; for an exact step also the factor, its inverse and the eigenvectors.
    like_B = 5 if n_labels <= EXACT_LABELS else 2
    numbers = _LIKE_W * m * n_labels + _LIKE_SCORES * n * n_labels
    return numbers + like_B * n_labels**2 + 3 * min(RANK, m // 4) * m


def bytes_direct(m: int, n_labels: int) -> int:
    """Bytes of the arrays that the direct solver holds at its peak."""
    return 6 * 8 * (m**2 + n_labels**2)


def bytes_least_direct(m: int, n_labels: int) -> int:
    """Smallest number of bytes that the direct solver can work with: G, H and YᵀY."""
    return 8 * (2 * m**2 + 4 * n_labels**2 + 2 * m * n_labels)
