"""scikit-learn's checks of an estimator, as one test."""

import pytest
from sklearn.utils.estimator_checks import check_estimator


def parametrize(estimators, expected_failed_checks=lambda estimator: {}):
    """Parametrize a test by estimators and the checks that fail, with the reason."""
    pairs = [(model, expected_failed_checks(model)) for model in estimators]
    ids = [" ".join(str(model).split()) for model, _ in pairs]
    return pytest.mark.parametrize(("estimator", "expected"), pairs, ids=ids)


def check(estimator, expected):
    """Run all checks: those that are expected to fail do, and no others."""
    found = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    failed = {one["check_name"] for one in found if one["status"] == "xfail"}
    assert failed == set(expected)
    assert sum(one["status"] == "passed" for one in found) > 40
