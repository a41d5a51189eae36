"""scikit-learn's checks of an estimator, as one test."""

from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


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


#: The same as check_estimator_sparse_array; tests of our own have every sparse form.
REPEATED = {"check_estimator_sparse_matrix"}

#: Checks of what the base class does with input, whatever the parameters are; each
#: takes several fits.
OF_BASE_CLASS = REPEATED | {
    "check_classifier_data_not_an_array",
    "check_classifiers_multilabel_representation_invariance",
    "check_complex_data",
    "check_dtype_object",
    "check_estimator_sparse_array",
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
    assert _passed(estimator, expected, REPEATED) > 40


def check_parameters(estimator, expected):
    """Run those checks that a class or its parameters may decide."""
    assert _passed(estimator, expected, OF_BASE_CLASS) > 30


def _passed(estimator, expected, left_out):
    """Return the number of checks that passed; the others are as expected."""
    failed, n_passed = set(), 0
    for model, one in estimator_checks_generator(estimator):
        name = one.func.__name__
        # Read-only rows are asked too, and find all that others do.
        repeated = name == "check_classifiers_train" and not one.keywords
        if name in left_out or repeated:
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
    return n_passed
