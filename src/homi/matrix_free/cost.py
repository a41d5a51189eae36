"""How much memory a fit needs."""

from __future__ import annotations

from homi.matrix_free.compact import saves_products
from homi.matrix_free.gradients import RANK
from homi.matrix_free.solve import EXACT_LABELS

#: Arrays of the size of W at the height of the descent: two points with their
#: gradients, the steps remembered, and those under way.
_LIKE_W = 10

#: Arrays of rows × labels: targets, scores, the same along the graph, its push.
_LIKE_SCORES = 5


def bytes_iterative(n: int, m: int, n_labels: int, nnz: int) -> int:
    """Bytes that the iterative solver needs beside X and Y themselves."""
    if not saves_products(n, m, nnz):
        return 8 * _descent(n, m, n_labels) + 24 * nnz
    # The factor of the rows' products, and what is made of it; the descent on that;
    # and then the model, which has W twice: alone and times B.
    compact = 4 * (n + 1) ** 2
    descent = compact + _descent(n, n + 1, n_labels)
    model = compact + 2 * (m + n) * n_labels + 2 * n_labels**2
    return 8 * max(descent, model) + 24 * nnz


def _descent(n: int, m: int, n_labels: int) -> int:
    """Numbers that are there at the height of the descent."""
    # B itself, and while it is exact the factor, its inverse and the eigenvectors.
    like_B = 5 if n_labels <= EXACT_LABELS else 2
    numbers = _LIKE_W * m * n_labels + _LIKE_SCORES * n * n_labels
    return numbers + like_B * n_labels**2 + 3 * min(RANK, m // 4) * m


def bytes_direct(m: int, n_labels: int) -> int:
    """Bytes of the arrays that the direct solver holds at a time."""
    return 6 * 8 * (m**2 + n_labels**2)


def bytes_least_direct(m: int, n_labels: int) -> int:
    """Bytes without which the direct solver cannot be: G and H, and Y's as many."""
    return 8 * (2 * m**2 + 4 * n_labels**2 + 2 * m * n_labels)
