"""Binary relevance against scikit-learn's one-versus-rest and the paper's row."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from homi.estimators.binary_relevance import BinaryRelevance


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        BinaryRelevance(),
        BinaryRelevance(loss="log", standardize=False),
        BinaryRelevance(LogisticRegression()),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
