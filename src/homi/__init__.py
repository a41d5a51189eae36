"""Multi-label classification that learns how labels depend on each other."""

from homi.answers import predict_tags, top_k, why
from homi.estimators import HOMI, HOMICV
from homi.streams import fit_stream

__version__ = "0.1.0"

__all__ = [
    "HOMI",
    "HOMICV",
    "__version__",
    "fit_stream",
    "predict_tags",
    "top_k",
    "why",
]
