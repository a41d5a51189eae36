"""Memory that a fit needs, in bytes."""

from __future__ import annotations

from homi.solver.label_blocks import EXACT_LABELS

#: Arrays of the size of the weights at the peak of the descent: two points with their
#: gradients, the steps remembered, and those being computed.
_LIKE_W = 14

#: Arrays of rows × labels: targets, and scores and graph products of two points, of the
#: direction between them, and of all blocks of a subspace.
_LIKE_SCORES = 20


def bytes_iterative(
    n: int,
    m: int,
    n_labels: int,
    nnz: int,
    *,
    factored: bool = False,
    compact: bool = False,
) -> int:
    """Bytes that the iterative solver needs in addition to X and Y.

    With ``factored``, it factors a Gram matrix; with ``compact``, in the space of rows.
    """
    if not compact:
        gram = 3 * m**2 if factored else 0
        return 8 * (gram + _descent(n, m, n_labels)) + 24 * nnz
    # The factor of the rows' Gram matrix and its copies; then the descent; then the
    # model, which has W twice: alone and times B.
    rows = 5 * (n + 1) ** 2
    descent = rows + _descent(n, n + 1, n_labels)
    model = rows + 2 * (m + n) * n_labels + 2 * n_labels**2
    return 8 * max(descent, model) + 24 * nnz


def _descent(n: int, m: int, n_labels: int) -> int:
    """Numbers stored at the peak of the descent."""
    # B itself; for an exact step also the factor, its inverse and the eigenvectors.
    like_B = 8 if n_labels <= EXACT_LABELS else 2
    numbers = _LIKE_W * m * n_labels + _LIKE_SCORES * n * n_labels
    return numbers + like_B * n_labels**2


def bytes_direct(m: int, n_labels: int) -> int:
    """Bytes of the arrays that the direct solver holds at its peak."""
    return 6 * 8 * (m**2 + n_labels**2)


def bytes_least_direct(m: int, n_labels: int) -> int:
    """Smallest number of bytes that the direct solver can work with: G, H and YᵀY."""
    return 8 * (2 * m**2 + 4 * n_labels**2 + 2 * m * n_labels)
