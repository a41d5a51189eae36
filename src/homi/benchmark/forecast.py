"""Forecast of the time that is left of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from homi.benchmark.cells import Cell, Record, Task

#: Names shared by similar tasks: fewer names, less similar.
_Kin = tuple[str, ...]


class Forecast:
    """Seconds left, estimated from the most similar tasks.

    Folds of a method on a data set take alike; next best are those by the other
    protocol, then all that ran on the data set, then all.
    """

    def __init__(self, todo: Iterable[Task], workers: int) -> None:
        self._todo = Counter(_kin(task)[0] for task in todo)
        self._workers = workers
        self._seconds: dict[_Kin, tuple[float, int]] = {}

    def learn(self, task: Task, record: Record) -> None:
        """Record the seconds of a task."""
        seconds = sum(record["seconds"].values())
        for kin in _kin(task):
            total, count = self._seconds.get(kin, (0.0, 0))
            self._seconds[kin] = total + seconds, count + 1

    def done(self, task: Task) -> None:
        """Record that a task has ended, successfully or not."""
        self._todo[_kin(task)[0]] -= 1

    def left(self) -> float | None:
        """Return the seconds left, or None if no task has ended yet."""
        if not self._seconds:
            return None
        expected = (count * self._expected(kin) for kin, count in self._todo.items())
        return sum(expected) / self._workers

    def _expected(self, nearest: _Kin) -> float:
        known = next(kin for kin in _wider(nearest) if kin in self._seconds)
        total, count = self._seconds[known]
        return total / count


def _kin(task: Task) -> list[_Kin]:
    what = task.method if isinstance(task, Cell) else task.kind
    return list(_wider((task.dataset, what, task.protocol)))


def _wider(kin: _Kin) -> Iterator[_Kin]:
    for length in range(len(kin), -1, -1):
        yield kin[:length]


def in_words(seconds: float | None) -> str:
    """Format the time left.

    Examples
    --------
    >>> in_words(None), in_words(20), in_words(1000), in_words(20000)
    ('', 'under 1 min left', 'about 17 min left', 'about 5 h 33 min left')
    """
    if seconds is None:
        return ""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "under 1 min left"
    hours, rest = divmod(minutes, 60)
    return f"about {f'{hours} h ' if hours else ''}{rest} min left"
