"""Scores taken apart: literal sums, and bars that add up to the score."""

import numpy as np
import pytest
from scipy import sparse

from conftest import random_rows
from homi import HOMI, HOMICV
from homi.explorer import explain, steps, waterfalls
from homi.explorer.waterfall import forest_waterfalls
from homi.model.forest import Forest
from test_explorer import page_facts


@pytest.fixture(scope="module")
def rows():
    return random_rows(seed=1, n=60, m=5, q=4)


def literal_parts(x, W, z, B, t, j):
    """What features, the bias and other labels add to label j, one number at a time."""
    own = [x[f] * W[f, j] * B[j, j] for f in range(len(x))]
    score = [sum(x[f] * W[f, i] for f in range(len(x))) for i in range(len(z))]
    others = [0.0 if i == j else score[i] * B[i, j] for i in range(len(z))]
    bias = sum(z[i] * B[i, j] for i in range(len(z))) + t[j]
    return own, others, bias


def test_a_waterfall_is_its_definition(rows):
    model = HOMI(lam=3.0).fit(*rows)
    x = rows[0][3]
    fitted = (model.feature_weights_, model.feature_bias_)
    fitted += (model.label_correlation_, model.label_bias_)
    parts = waterfalls(x, *fitted)
    for j in range(4):
        own, others, bias = literal_parts(x, *fitted, j)
        np.testing.assert_allclose(parts.features[:, j], own, rtol=1e-12)
        np.testing.assert_allclose(parts.labels[:, j], others, rtol=1e-11, atol=1e-15)
        np.testing.assert_allclose(parts.start[j], bias, rtol=1e-11)


@pytest.mark.parametrize("with_data", [True, False])
@pytest.mark.parametrize("form", ["dense", "sparse", "kernel", "cv", "held-out"])
def test_waterfalls_add_up_to_the_score(rows, form, with_data):
    X, Y = rows
    X = sparse.csr_array(X) if form == "sparse" else X
    made = {"kernel": HOMI(kernel="rbf"), "held-out": HOMI(correlation="held-out")}
    made["cv"] = HOMICV(random_state=0, lams=[1.0], widths=[], gammas=[])
    model = made.get(form, HOMI()).fit(X, Y)
    given = {"X": X, "y": Y} if with_data else {"rows": X[:7]}
    page = page_facts(explain(model, None, **given))
    # Log-odds of HOMICV are shown as they are.
    assert page["logOdds"] == (form == "cv")
    scores = model.decision_function(X) + (0.0 if form == "cv" else 0.5)
    numbers = [int(row["name"].removeprefix("row ")) for row in page["rows"]]
    assert len(numbers) == (60 if with_data else 7)
    for number, row in zip(numbers, page["rows"], strict=True):
        assert [w["label"] for w in row["why"]] == (-scores[number]).argsort().tolist()
        for why in row["why"]:
            ends = why["start"] + sum(value for _, _, value, _ in why["steps"])
            assert ends == pytest.approx(why["score"], rel=1e-12, abs=1e-12)
            wanted = scores[number, why["label"]]
            assert why["score"] == pytest.approx(wanted, rel=1e-9, abs=1e-11)
        if with_data:
            assert row["truth"] == np.flatnonzero(Y[number]).tolist()


def test_what_is_left_is_one_bar_that_keeps_the_sum():
    rng = np.random.default_rng(0)
    W, B = rng.normal(size=(30, 12)), rng.normal(size=(12, 12))
    W[3] = 0.0
    z, t, x = rng.normal(size=12), rng.normal(size=12), rng.normal(size=30)
    parts = waterfalls(x, W, z, B, t, rng.normal(size=30))
    bars = steps(parts, 5, most=4)
    assert [bar.count for bar in bars] == [1, 1, 1, 1, 25, 1, 1, 1, 1, 7]
    values = np.abs([bar.value for bar in bars if bar.kind == "feature"][:4])
    np.testing.assert_allclose(values, np.sort(np.abs(parts.features[:, 5]))[:-5:-1])
    g = (x @ W + z) @ B + t
    total = parts.start[5] + sum(bar.value for bar in bars)
    assert total == pytest.approx(g[5], rel=1e-12)
    assert all(bar.count == 1 for bar in steps(parts, 5, most=28))


@pytest.mark.parametrize("weight", [0.5, np.array([0.0, 0.2, 0.7, 1.0])])
def test_a_forest_and_a_linear_model_have_one_waterfall(rows, weight):
    X, Y = rows
    model, forest = HOMI().fit(X, Y), Forest.fit(X, Y, n_trees=20, seed=0)
    slope, offset = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 0.5, -0.5, 1.0])
    fitted = (model.feature_weights_, model.feature_bias_)
    fitted += (model.label_correlation_, model.label_bias_)
    linear = waterfalls(X[0], *fitted, X.mean(axis=0)).as_log_odds(slope, offset)
    parts = linear.blended(next(forest_waterfalls(forest, X[:1])), weight)
    own = model.decision_function(X[:1])[0] * slope + offset
    wanted = (1 - weight) * own + weight * forest.log_odds(X[:1])[0]
    np.testing.assert_allclose(parts.scores, wanted, rtol=1e-9)
    for j in range(4):
        total = parts.start[j] + sum(bar.value for bar in steps(parts, j, most=2))
        assert total == pytest.approx(wanted[j], rel=1e-9)
