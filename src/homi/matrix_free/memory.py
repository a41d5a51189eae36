"""How much memory a fit needs, and whether it is there."""

from __future__ import annotations

from pathlib import Path

from homi.matrix_free.compact import saves_products
from homi.matrix_free.gradients import RANK
from homi.matrix_free.solve import EXACT_LABELS

#: Arrays of the size of W at the height of the descent: two points with their
#: gradients, the steps remembered, and those under way.
_LIKE_W = 10

#: Arrays of rows × labels: targets, scores, the same along the graph, its push.
_LIKE_SCORES = 5

#: Files that tell what a container may have, and what it has taken.
_LIMIT = Path("/sys/fs/cgroup/memory.max")
_TAKEN = Path("/sys/fs/cgroup/memory.current")
_MACHINE = Path("/proc/meminfo")


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


def available() -> int | None:
    """Bytes that can still be had, or None where that cannot be told."""
    found = [free for free in (_of_machine(), _of_container()) if free is not None]
    return min(found) if found else None


def _of_machine() -> int | None:
    try:
        lines = _MACHINE.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    sizes = dict(line.split(":", 1) for line in lines if ":" in line)
    if "MemAvailable" not in sizes:
        return None
    return int(sizes["MemAvailable"].split()[0]) * 1024


def _of_container() -> int | None:
    try:
        limit = _LIMIT.read_text(encoding="ascii").strip()
        return None if limit == "max" else int(limit) - int(_TAKEN.read_text("ascii"))
    except (OSError, ValueError):
        return None


def check(needed: int, what: str) -> None:
    """Refuse before the work begins what would end in being killed."""
    there = available()
    if there is not None and needed > there:
        raise MemoryError(
            f"{what} needs about {needed:,} bytes ({needed / 1e9:.1f} GB) of memory, "
            f"and {there:,} ({there / 1e9:.1f} GB) are available; fit fewer labels at "
            "a time, keep fewer features, or take a machine with more memory."
        )
