"""Run a function in a process of its own, within limits of processor time and memory.

Processor time is what a method costs, whatever else runs on the machine.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

#: Wall-clock limit, as a multiple of the processor time: ends processes that wait.
_PATIENCE = 4
#: Seconds after the soft limit of processor time until the process is killed.
_GRACE = 30
#: Messages of allocations that failed outside Python.
_NO_MEMORY = ("bad_alloc", "bad allocation", "Unable to allocate", "out of memory")


class Stopped(NamedTuple):
    """A call that exceeded a limit: "time" or "memory"."""

    reason: str


def within(
    minutes: float, gigabytes: float, function: Callable[..., Any], *arguments: Any
) -> Any:
    """Return the function's result, or Stopped if it exceeded a limit.

    Raises
    ------
    RuntimeError
        If the function failed, with its message, or its process died.
    """
    if sys.platform == "win32":
        raise OSError(
            "limits of processor time and memory need Linux or macOS; remove [limit] "
            "from the experiment."
        )
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "homi.benchmark.compute"])
    receiver, sender = context.Pipe(duplex=False)
    limits = (int(60 * minutes), int(gigabytes * 2**30))
    process = context.Process(
        target=_work, args=(sender, limits, function, arguments), daemon=False
    )
    process.start()
    sender.close()
    try:
        return _answer(receiver, process, 60 * minutes)
    finally:
        process.kill()
        process.join()
        receiver.close()


def _answer(receiver: Connection, process: Any, seconds: float) -> Any:
    if not receiver.poll(_PATIENCE * seconds):
        return Stopped("time")
    try:
        kind, value = receiver.recv()
    except EOFError:
        process.join()
        if process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL):
            return Stopped("time")
        raise RuntimeError(f"its process ended with {process.exitcode}") from None
    if kind == "failed":
        raise RuntimeError(value)
    return value if kind == "value" else Stopped(kind)


def _work(
    sender: Connection,
    limits: tuple[int, int],
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    import resource

    seconds, size = limits
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + _GRACE))
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    try:
        sender.send(("value", function(*arguments)))
    except MemoryError:
        sender.send(("memory", ""))
    except TimeoutError:  # of a process that this one has started
        sender.send(("time", ""))
    except Exception as error:  # any error concerns this call only
        message = f"{type(error).__name__}: {error}"
        lacks = any(words in message for words in _NO_MEMORY)
        sender.send(("memory" if lacks else "failed", message))
