"""Measure available memory, and raise MemoryError before the work begins."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

if sys.platform != "win32":
    import resource

#: Files with the memory limit and usage of a container: cgroups 2, then 1.
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
    """Return the number of available bytes, or None if it is unknown.

    It is the minimum over the machine, the container, and the limits of the process
    (``ulimit -v`` and ``-d``).
    """
    machine = _sizes(_MACHINE).get("MemAvailable")
    containers = (_of_container(limit, taken) for limit, taken in _CONTAINERS)
    found = [machine, *containers, *_of_process()]
    return min((free for free in found if free is not None), default=None)


def check(needed: int, what: str, advice: str = "") -> None:
    """Raise MemoryError if ``what`` needs more bytes than are available."""
    there = available()
    if there is not None and needed > there:
        advice = advice or (
            "fit fewer labels at a time, keep fewer features, or use a machine with "
            "more memory"
        )
        raise MemoryError(
            f"{what} needs about {needed:,} bytes ({needed / 1e9:.1f} GB) of memory, "
            f"and {there:,} ({there / 1e9:.1f} GB) are available; {advice}."
        )


def check_labels(needed: Callable[[int], int], n_labels: int, what: str) -> None:
    """Raise MemoryError if the labels do not fit in memory, and say how many would."""
    there = available()
    if there is None or needed(n_labels) <= there:
        return
    fits = _largest(lambda count: needed(count) <= there, n_labels)
    advice = (
        f"about {fits:,} labels would fit: fit the labels in groups of that size, or "
        "drop rare ones"
        if fits
        else "not even one label would fit: keep fewer rows or features"
    )
    check(needed(n_labels), f"{what} with {n_labels:,} labels", advice)


def _largest(fits: Callable[[int], bool], bound: int) -> int:
    """Find the largest number below ``bound`` that fits, by bisection; 0 if none."""
    low, high = 0, bound
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _of_container(limit: Path, taken: Path) -> int | None:
    try:
        return int(limit.read_text("ascii")) - int(taken.read_text("ascii"))
    except (OSError, ValueError):  # no container, or "max"
        return None


def _of_process() -> list[int]:
    """Return the remaining bytes for each limit of this process."""
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
    """Parse lines such as ``MemAvailable:  123 kB`` to bytes."""
    try:
        lines = file.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in lines if line.endswith(" kB"))
    return {name: 1024 * int(size.split()[0]) for name, size in pairs}
