"""scikit-learn's checks of an estimator, as one test."""

import pytest
from sklearn.utils.estimator_checks import check_estimator


def without_weights(estimator):
    """Return the checks that fail, with the reason, if ``estimator`` has no weights."""
    if getattr(estimator, "estimator", None) is None:
        return {}
    reason = "sample_weight is an error: the classifier inside is not given any"
    names = (
        "check_sample_weights_list",
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_classifiers_one_label_sample_weights",
    )
    return dict.fromkeys(names, reason)


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
