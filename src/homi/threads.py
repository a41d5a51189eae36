"""Thread counts for small matrices.

BLAS threads slow down problems below a few hundred rows: an eigenvalue problem of size
174 can take 30 times as long with two threads as with one. So can the sweeps, if
another program uses the same cores.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

from threadpoolctl import ThreadpoolController

#: Products cheaper than those of square matrices of this size use one thread.
SMALL = 384


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    # Finding the loaded libraries takes milliseconds: do it once.
    return ThreadpoolController()


def one_thread(user_api: str | None = None) -> AbstractContextManager[object]:
    """Use one thread in the ``with`` block, of BLAS, of OpenMP, or of both."""
    return _controller().limit(limits=1, user_api=user_api)


def for_product(m: int, k: int, n: int) -> AbstractContextManager[object]:
    """Use one thread in the ``with`` block if products of m × k by k × n are small."""
    return one_thread() if m * k * n < SMALL**3 else nullcontext()
