"""scikit-learn's checks of an estimator, as one test."""

from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator


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


#: Checks of what the base class does with input, whatever the parameters are, and one
#: that another repeats; each takes several fits.
OF_ALL_PARAMETERS = {
    "check_classifier_data_not_an_array",
    "check_classifiers_multilabel_representation_invariance",
    "check_complex_data",
    "check_dtype_object",
    "check_estimator_sparse_matrix",
    "check_estimators_dtypes",
    "check_estimators_empty_data_messages",
    "check_estimators_nan_inf",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_supervised_y_2d",
}


def check(estimator, expected):
    """Run all checks: those that are expected to fail do, and no others."""
    found = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    failed = {one["check_name"] for one in found if one["status"] == "xfail"}
    assert failed == set(expected)
    assert sum(one["status"] == "passed" for one in found) > 40


def check_parameters(estimator, expected):
    """Run those checks that the parameters of a classifier may decide."""
    failed, n_passed = set(), 0
    for model, one in estimator_checks_generator(estimator):
        name = one.func.__name__
        if name in OF_ALL_PARAMETERS:
            continue
        try:
            one(model)
            n_passed += 1
        except SkipTest:
            continue
        except Exception:
            if name not in expected:
                raise
            failed.add(name)
    assert failed == set(expected)
    assert n_passed > 30
