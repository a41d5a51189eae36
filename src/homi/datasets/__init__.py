"""Data sets by name."""

from homi.datasets.arff import Dataset
from homi.datasets.load import load

__all__ = ["Dataset", "load"]
