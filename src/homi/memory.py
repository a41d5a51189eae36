"""Memory that can still be had, and refusals before the work begins."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

if sys.platform != "win32":
    import resource

#: Files that tell what a container may have and has taken: cgroups 2, then 1.
_CONTAINERS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)
_MACHINE = Path("/proc/meminfo")
_PROCESS = Path("/proc/self/status")


def available() -> int | None:
    """Bytes that can still be had, or None where that cannot be told.

    The least of what the machine has, what the container may have, and what is left
    of the limits of the process (``ulimit -v`` and ``-d``).
    """
    found = [_of_machine(), *(_of_container(*c) for c in _CONTAINERS), *_of_process()]
    return min((free for free in found if free is not None), default=None)


def check(needed: int, what: str, advice: str = "") -> None:
    """Raise MemoryError if ``what`` needs more bytes than there are."""
    there = available()
    if there is not None and needed > there:
        advice = advice or (
            "fit fewer labels at a time, keep fewer features, or take a machine with "
            "more memory"
        )
        raise MemoryError(
            f"{what} needs about {needed:,} bytes ({needed / 1e9:.1f} GB) of memory, "
            f"and {there:,} ({there / 1e9:.1f} GB) are available; {advice}."
        )


def check_labels(needed: Callable[[int], int], n_labels: int, what: str) -> None:
    """Raise MemoryError if so many labels do not fit, and say how many would."""
    there = available()
    if there is None or needed(n_labels) <= there:
        return
    fits = _largest(lambda count: needed(count) <= there, n_labels)
    advice = (
        f"about {fits:,} labels would fit: fit the labels in groups of that size, or "
        "leave out rare ones"
        if fits
        else "not even one label would fit: keep fewer rows or features"
    )
    check(needed(n_labels), f"{what} with {n_labels:,} labels", advice)


def _largest(fits: Callable[[int], bool], bound: int) -> int:
    """The largest number below ``bound`` that fits, by bisection; 0 if none does."""
    low, high = 0, bound
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _of_machine() -> int | None:
    return _sizes(_MACHINE).get("MemAvailable")


def _of_container(limit: Path, taken: Path) -> int | None:
    try:
        return int(limit.read_text("ascii")) - int(taken.read_text("ascii"))
    except (OSError, ValueError):  # no container, or "max"
        return None


def _of_process() -> list[int]:
    """What is left of the limits of this process, where it has any."""
    if sys.platform == "win32":
        return []
    taken, left = _sizes(_PROCESS), []
    for name, limit in (
        ("VmSize", resource.RLIMIT_AS),
        ("VmData", resource.RLIMIT_DATA),
    ):
        soft, _ = resource.getrlimit(limit)
        if name in taken and soft != resource.RLIM_INFINITY:
            left.append(soft - taken[name])
    return left


def _sizes(file: Path) -> dict[str, int]:
    """Lines such as ``MemAvailable:  123 kB``, in bytes."""
    try:
        lines = file.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in lines if line.endswith(" kB"))
    return {name: 1024 * int(size.split()[0]) for name, size in pairs}
