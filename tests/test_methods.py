"""Methods by name, with settings."""

import pytest

from homi.benchmark.methods import variant, with_settings


def test_a_name_carries_settings():
    name = with_settings("HOMI", beta=0.5, standardize=False)
    assert name == "HOMI beta=0.5 standardize=false"
    assert variant(name) == ("HOMI", {"beta": 0.5, "standardize": False})
    assert variant("ML-KNN") == ("ML-KNN", {})


@pytest.mark.parametrize(
    "name", ["HOMI beta", "HOMI beta=x", "HOMI  beta=1", "HOMI =1"]
)
def test_a_setting_that_is_none(name):
    with pytest.raises(ValueError, match="is not a setting; write parameter=value"):
        variant(name)
