"""A fitted HOMICV says what was chosen, how good it is, and of which labels."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from conftest import random_rows
from homi import HOMICV
from homi.io import ModelFileError, load_model, save
from homi.metrics import hamming_loss, macro_auc, macro_f1, micro_f1
from homi.model.held_out_quality import held_out_quality
from sample_files import opened, put_together

NAMES = ["joy", "<i>fear</i>", "calm", "rage"]
X, Y = random_rows(0, n=60, m=5, q=4)
FRAME = pd.DataFrame(Y.astype(int), columns=NAMES)
SMALL = {"lams": [1.0, 10.0], "widths": [1.0], "random_state": 0}


@pytest.fixture(scope="module")
def fitted():
    model = HOMICV(**SMALL)
    return model, model.fit_held_out(X, FRAME)


def test_metrics_are_those_of_the_held_out_scores(fitted):
    model, scores = fitted
    expected = {
        "hamming_loss": hamming_loss(Y, scores > 0),
        "micro_f1": micro_f1(Y, scores > 0),
        "macro_f1": macro_f1(Y, scores > 0),
        "macro_auc": macro_auc(Y, scores, ties="half"),
    }
    assert model.held_out_metrics_ == pytest.approx(expected)
    table = pd.DataFrame(model.held_out_labels_).set_index("label")
    assert table.index.tolist() == NAMES
    assert table["positives"].tolist() == Y.sum(axis=0).tolist()
    np.testing.assert_allclose(table["auc"], roc_auc_score(Y, scores, average=None))
    assert table["f1"].mean() == pytest.approx(expected["macro_f1"])


def test_only_known_labels_are_rated():
    rng = np.random.default_rng(0)
    scores, known = rng.normal(size=Y.shape), rng.random(Y.shape) < 0.7
    found, table = held_out_quality(Y, scores, scores > 0, np.array(NAMES), known)
    hidden = np.where(known, Y, 1 - Y)
    assert held_out_quality(hidden, scores, scores > 0, np.array(NAMES), known) == (
        found,
        table,
    )
    j, seen = 2, known[:, 2]
    assert table["auc"][j] == pytest.approx(roc_auc_score(Y[seen, j], scores[seen, j]))
    assert found["hamming_loss"] == pytest.approx(((scores > 0) != Y)[known].mean())


def test_labels_that_are_constant_have_no_auc():
    labels = np.column_stack([Y[:, 0], np.zeros(60), np.ones(60)])
    S = np.random.default_rng(0).normal(size=labels.shape)
    found, table = held_out_quality(labels, S, S > 0, np.array(["a", "b", "c"]))
    assert np.isnan(table["auc"]).tolist() == [False, True, True]
    assert found["macro_auc"] == pytest.approx(table["auc"][0])
    only = held_out_quality(labels[:, 1:], S[:, 1:], S[:, 1:] > 0, np.array(["b", "c"]))
    assert np.isnan(only[0]["macro_auc"])


def test_classes_of_a_1_d_y_are_rated_by_what_is_predicted():
    y = np.array(["a", "b", "c"])[(Y[:, 0] + Y[:, 1]).astype(int)]
    model = HOMICV(**SMALL, trees=False)
    scores = model.fit_held_out(X, y)
    wrong = model.classes_[scores.argmax(axis=1)] != y
    expected = 2 * wrong.mean() / 3  # one class too many, and one missing
    assert model.held_out_metrics_["hamming_loss"] == pytest.approx(expected)


def test_the_summary_names_choice_metrics_and_labels(fitted):
    model, _ = fitted
    text = model.summary()
    assert text.startswith("HOMICV: 4 labels, 5 features\nchosen: ")
    for name in NAMES:
        assert f"  {name}: AUC " in text
    assert f"macro-AUC {model.held_out_metrics_['macro_auc']:.3f}" in text
    with pytest.raises(NotFittedError):
        HOMICV().summary()


def test_a_notebook_shows_the_diagram_and_the_summary(fitted):
    model, _ = fitted
    for page in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "sk-top-container" in page
        assert "macro-AUC" in page
        assert "&lt;i&gt;fear&lt;/i&gt;" in page
        assert "<i>fear" not in page
    assert "macro-AUC" not in HOMICV()._repr_html_()
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")


def test_a_file_keeps_the_summary_and_refuses_another(fitted, tmp_path):
    model, _ = fitted
    save(model, tmp_path / "model.homi")
    assert load_model(tmp_path / "model.homi").summary() == model.summary()
    header, tensors = opened(tmp_path / "model.homi")
    quality = header["model"]["fitted"]["held_out_labels_"]["dict"]
    for bad in ([0.5], ["<script>"] * 4, [None] * 4):
        quality["auc"] = bad
        put_together(tmp_path / "bad.homi", header, tensors)
        with pytest.raises(ModelFileError, match="held-out rows"):
            load_model(tmp_path / "bad.homi")
    for name in ("held_out_labels_", "held_out_metrics_"):
        del header["model"]["fitted"][name]
    put_together(tmp_path / "old.homi", header, tensors)
    assert "held-out" not in load_model(tmp_path / "old.homi").summary()
