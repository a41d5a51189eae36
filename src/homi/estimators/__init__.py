"""Multi-label classifiers with scikit-learn's contract."""

from homi.estimators.base import LinearMultiLabelClassifier, MultiLabelClassifier
from homi.estimators.glocal import GLOCAL
from homi.estimators.homi import HOMI
from homi.estimators.ml_knn import MLkNN
from homi.estimators.ml_lrc import MLLRC

__all__ = [
    "GLOCAL",
    "HOMI",
    "MLLRC",
    "LinearMultiLabelClassifier",
    "MLkNN",
    "MultiLabelClassifier",
    "all_estimators",
]


def all_estimators() -> list[tuple[str, type[MultiLabelClassifier]]]:
    """Name and class of every classifier here, by name.

    Examples
    --------
    >>> "HOMI" in dict(all_estimators())
    True
    """
    exported = ((name, globals()[name]) for name in __all__)
    return sorted((name, item) for name, item in exported if _is_complete(item))


def _is_complete(item: object) -> bool:
    return (
        isinstance(item, type)
        and issubclass(item, MultiLabelClassifier)
        and not item.__module__.endswith(".base")
    )
