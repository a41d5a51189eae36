"""What a fit costs: processor time, peak memory, size of the saved model."""

from __future__ import annotations

import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any

from homi.io import ModelFileError, save
from homi.typing import Fields


class Usage:
    """Processor seconds and peak memory since it was made, other processes included."""

    def __init__(self) -> None:
        self._seconds, self._peak = _now()

    def seconds(self) -> float:
        """Return processor seconds since the start or the last call."""
        before, self._seconds = self._seconds, _now()[0]
        return self._seconds - before

    def peak_bytes(self) -> int:
        """Return by how much the peak of the memory has grown."""
        return _now()[1] - self._peak


def _now() -> tuple[float, int]:
    import resource  # not on Windows

    unit = 1 if sys.platform == "darwin" else 1024
    own, others = (
        resource.getrusage(who)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    seconds = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
    return seconds, unit * (own.ru_maxrss + others.ru_maxrss)


class _Counter:
    """A file that counts bytes instead of keeping them."""

    size = 0

    def write(self, data: Any) -> int:
        """Count the bytes."""
        count = memoryview(data).nbytes
        self.size += count
        return count


def saved_bytes(model: Any) -> int:
    """Return the size of a model file of homi, or of a pickle where there is none."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "model.homi"
        try:
            save(model, path)
            return path.stat().st_size
        except (ModelFileError, TypeError, ValueError, AttributeError):
            pass
    counter = _Counter()
    pickle.dump(model, counter, protocol=5)
    return counter.size


def cost(fit: float, predict: float, usage: Usage, model: Any) -> Fields:
    """Return the costs of a cell as its record has them."""
    return {
        "fit": fit,
        "predict": predict,
        "peak_bytes": usage.peak_bytes(),
        "model_bytes": saved_bytes(model),
    }
