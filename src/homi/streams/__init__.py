"""Fits from data larger than memory, batch by batch."""

from homi.streams.fit import fit_stream
from homi.streams.run import Progress

__all__ = ["Progress", "fit_stream"]
