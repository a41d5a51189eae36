"""Multi-label classifiers with scikit-learn's contract."""

from homi.base.classifier import LinearMultiLabelClassifier, MultiLabelClassifier
from homi.methods.bilas import BILAS
from homi.methods.binary_relevance import BinaryRelevance
from homi.methods.classifier_chain import ClassifierChain
from homi.methods.clml import CLML
from homi.methods.ensemble_of_chains import EnsembleOfChains
from homi.methods.glocal import GLOCAL
from homi.methods.homer import HOMER
from homi.methods.label_powerset import LabelPowerset
from homi.methods.label_ranking import CalibratedLabelRanking
from homi.methods.label_space_partition import LabelSpacePartition
from homi.methods.leml import LEML
from homi.methods.lflc import LFLC
from homi.methods.lift import LIFT
from homi.methods.ml_knn import MLkNN
from homi.methods.ml_lrc import MLLRC
from homi.methods.mlsf import MLSF
from homi.methods.rakel import RAKEL
from homi.methods.wrap import WRAP
from homi.model.homi import HOMI
from homi.model.homi_cv import HOMICV

__all__ = [
    "BILAS",
    "CLML",
    "GLOCAL",
    "HOMER",
    "HOMI",
    "HOMICV",
    "LEML",
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
    "LabelPowerset",
    "LabelSpacePartition",
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
        and not item.__module__.startswith("homi.base.")
    )
