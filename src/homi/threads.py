"""Thread counts for small matrices.

BLAS threads cost more than they give below a few hundred rows: an eigenvalue
problem of 174 × 174 can take thirty times as long with two threads as with one.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

#: Matrices with fewer rows than this are worked on by one thread.
SMALL = 384


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    # Looking for the loaded libraries takes milliseconds: look once.
    return ThreadpoolController()


def for_size(size: int) -> AbstractContextManager[Any]:
    """One thread inside the ``with`` block if matrices of this size are small."""
    return _controller().limit(limits=1) if size < SMALL else nullcontext()
