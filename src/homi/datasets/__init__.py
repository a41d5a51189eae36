"""Data sets by name or file, synthetic data, label statistics and folds."""

from homi.datasets.dataset import Dataset
from homi.datasets.fetch import FetchError, fetch
from homi.datasets.fixed_folds import FixedFolds, load_folds, save_folds
from homi.datasets.folds import IterativeStratifiedKFold
from homi.datasets.load import load
from homi.datasets.oversample import imbalance_ratios, oversample
from homi.datasets.read import read
from homi.datasets.split import train_test_split
from homi.datasets.summary import Summary, cooccurrence, summarize, summary
from homi.datasets.synthetic import make_correlated, make_correlated_batches
from homi.datasets.write import write

__all__ = [
    "Dataset",
    "FetchError",
    "FixedFolds",
    "IterativeStratifiedKFold",
    "Summary",
    "cooccurrence",
    "fetch",
    "imbalance_ratios",
    "load",
    "load_folds",
    "make_correlated",
    "make_correlated_batches",
    "oversample",
    "read",
    "save_folds",
    "summarize",
    "summary",
    "train_test_split",
    "write",
]
