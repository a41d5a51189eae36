"""Multi-label classifiers with scikit-learn's contract."""

from homi.estimators.base import LinearMultiLabelClassifier, MultiLabelClassifier
from homi.estimators.homi import HOMI

__all__ = ["HOMI", "LinearMultiLabelClassifier", "MultiLabelClassifier"]
