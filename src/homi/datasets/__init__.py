"""Data sets by name."""

from homi.datasets.dataset import Dataset
from homi.datasets.load import load

__all__ = ["Dataset", "load"]
