"""Interrupts of a long run: Ctrl-C, and SIGTERM as if it were Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts() -> Iterator[Callable[[], None]]:
    """Treat SIGTERM as Ctrl-C, and yield a check that raises an interrupt again.

    By default SIGTERM would leave the processes running. An interrupt is lost if it
    comes while C calls Python, as it does whenever threadpoolctl lists libraries.
    """
    received = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    def check() -> None:
        if received:
            raise KeyboardInterrupt

    # A shell makes background jobs ignore SIGINT: they go on doing so.
    numbers = {signal.SIGTERM, signal.SIGINT}
    ignored = {n for n in numbers if signal.getsignal(n) is signal.SIG_IGN}
    before = {n: signal.signal(n, interrupt) for n in numbers - ignored}
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
