"""Multi-label classifiers with scikit-learn's contract."""

from homi.estimators.base import LinearMultiLabelClassifier, MultiLabelClassifier
from homi.estimators.bilas import BILAS
from homi.estimators.binary_relevance import BinaryRelevance
from homi.estimators.classifier_chain import ClassifierChain
from homi.estimators.clml import CLML
from homi.estimators.ensemble_of_chains import EnsembleOfChains
from homi.estimators.glocal import GLOCAL
from homi.estimators.homi import HOMI
from homi.estimators.homi_cv import HOMICV
from homi.estimators.label_ranking import CalibratedLabelRanking
from homi.estimators.lflc import LFLC
from homi.estimators.lift import LIFT
from homi.estimators.ml_knn import MLkNN
from homi.estimators.ml_lrc import MLLRC
from homi.estimators.mlsf import MLSF
from homi.estimators.rakel import RAKEL
from homi.estimators.wrap import WRAP

__all__ = [
    "BILAS",
    "CLML",
    "GLOCAL",
    "HOMI",
    "HOMICV",
    "LFLC",
    "LIFT",
    "MLLRC",
    "MLSF",
    "RAKEL",
    "WRAP",
    "BinaryRelevance",
    "CalibratedLabelRanking",
    "ClassifierChain",
    "EnsembleOfChains",
    "LinearMultiLabelClassifier",
    "MLkNN",
    "MultiLabelClassifier",
    "all_estimators",
]


def all_estimators() -> list[tuple[str, type[MultiLabelClassifier]]]:
    """Name and class of every classifier here, by name.

    Examples
    --------
    >>> from homi.estimators import all_estimators
    >>> "HOMI" in dict(all_estimators())
    True
    """
    exported = ((name, globals()[name]) for name in __all__)
    return sorted(
        ((name, item) for name, item in exported if _is_complete(item)),
        key=lambda pair: pair[0].lower(),
    )


def _is_complete(item: object) -> bool:
    return (
        isinstance(item, type)
        and issubclass(item, MultiLabelClassifier)
        and not item.__module__.endswith(".base")
    )
