"""Fits from data larger than memory, batch by batch."""

from homi.streams.fit import Progress, fit_stream

__all__ = ["Progress", "fit_stream"]
