"""Thread counts for small matrices.

BLAS threads cost more than they give below a few hundred rows: an eigenvalue
problem of 174 × 174 can take thirty times as long with two threads as with one,
and so can the sweeps where another program has work for the same cores.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

#: Products that cost less than those of square matrices of this size get one thread.
SMALL = 384


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    # Looking for the loaded libraries takes milliseconds: look once.
    return ThreadpoolController()


def for_product(m: int, k: int, n: int) -> AbstractContextManager[Any]:
    """One thread inside the ``with`` block if m × k by k × n products are small."""
    return _controller().limit(limits=1) if m * k * n < SMALL**3 else nullcontext()
