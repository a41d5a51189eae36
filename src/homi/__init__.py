"""Multi-label classification that learns how labels depend on each other."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from homi.version import __version__

__all__ = [
    "HOMI",
    "HOMICV",
    "__version__",
    "fit_stream",
    "predict_tags",
    "table_model",
    "top_k",
    "why",
]

#: Name -> its module. Names are imported when they are used: `homi --help` and tools
#: that only look at the package need not wait for scikit-learn.
_MODULES = {
    "HOMI": "homi.estimators",
    "HOMICV": "homi.estimators",
    "fit_stream": "homi.streams",
    "predict_tags": "homi.named_predictions",
    "table_model": "homi.tables",
    "top_k": "homi.named_predictions",
    "why": "homi.named_predictions",
}

#: Public modules: attributes of the package without an import of their own.
_PUBLIC = ("datasets", "estimators", "io", "metrics", "streams", "tables", "thresholds")

if TYPE_CHECKING:
    from homi.estimators import HOMI, HOMICV
    from homi.named_predictions import predict_tags, top_k, why
    from homi.streams import fit_stream
    from homi.tables import table_model
else:

    def __getattr__(name):
        if name in _MODULES:
            return getattr(import_module(_MODULES[name]), name)
        if name in _PUBLIC:
            return import_module(f"homi.{name}")
        raise AttributeError(f"module 'homi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_PUBLIC})
