"""Multi-label classifiers with scikit-learn's contract."""

from homi.estimators.base import LinearMultiLabelClassifier, MultiLabelClassifier
from homi.estimators.homi import HOMI
from homi.estimators.ml_knn import MLkNN

__all__ = ["HOMI", "LinearMultiLabelClassifier", "MLkNN", "MultiLabelClassifier"]
