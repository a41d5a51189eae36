import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from homi.estimators.chains import ClassifierChain, EnsembleOfChains


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        ClassifierChain(),
        ClassifierChain(LogisticRegression(), order=None),
        EnsembleOfChains(),
        EnsembleOfChains(loss="squared_hinge", n_chains=2, sample="subset"),
        EnsembleOfChains(LogisticRegression(), n_chains=2),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
