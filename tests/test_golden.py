"""Log-odds of HOMICV stay what they are; `make golden` writes them anew.

Trees are scikit-learn's, and may differ between its versions, so there are none here.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from homi import HOMICV

GOLDEN = Path(__file__).parent / "files" / "golden.json"


def of_numbers():
    """Return rows of numbers, with labels that need a kernel and depend on others."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(170, 6))
    F = np.column_stack([X[:, 0] * X[:, 1], X[:, 2] ** 2 - 1, X[:, 3], X[:, 4] - 1.5])
    F = np.column_stack([F, F[:, 0] + F[:, 2]])
    Y = F + 0.3 * rng.normal(size=F.shape) > 0
    return X * [1, 9, 0.5, 1, 4, 0.1], Y.astype(int)


def of_words():
    """Return sparse rows of few words, with labels of a logistic model."""
    rng = np.random.RandomState(1)
    X = (rng.rand(320, 60) < 0.1) * 1.0
    F = X @ rng.normal(scale=4, size=(60, 4)) - 3
    return sparse.csr_array(X), (rng.rand(*F.shape) < expit(F)).astype(int)


CASES = {
    "numbers": (of_numbers, {}),
    "words": (of_words, {"kernels": ()}),
    "linear": (of_numbers, {"kernels": (), "label_weights": ()}),
}


def log_odds(name):
    """Return what is stored: the log-odds of 20 rows by a fit to the others."""
    data, options = CASES[name]
    X, Y = data()
    model = HOMICV(trees=False, **options).fit(X[20:], Y[20:])
    return model, model.decision_function(X[:20])


@pytest.mark.parametrize("name", CASES)
def test_log_odds_are_those_of_before(name):
    """Other builds of BLAS and versions of scikit-learn only round differently."""
    stored = np.array(json.loads(GOLDEN.read_text(encoding="utf-8"))[name])
    np.testing.assert_allclose(log_odds(name)[1], stored, rtol=0, atol=1e-7)


def test_these_cases_use_what_they_are_to_watch():
    numbers, words, linear = (log_odds(name)[0] for name in CASES)
    assert numbers.best_params_["kernel"] is not None
    assert numbers.label_weight_ is not None
    assert words.logistic_coef_ is not None
    assert linear.best_params_["correlation"] == "held-out"


if __name__ == "__main__":
    found = {name: log_odds(name)[1].round(9).tolist() for name in CASES}
    GOLDEN.write_text(json.dumps(found) + "\n", encoding="utf-8")
