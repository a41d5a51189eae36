"""Multi-label classification that learns how labels depend on each other."""

from homi.estimators import HOMI

__version__ = "0.1.0"

__all__ = ["HOMI", "__version__"]
