"""ONNX: what onnxruntime says is what the model says."""

import json
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from conftest import random_rows
from homi import HOMI, HOMICV
from homi.datasets.registry import registry
from homi.io import ModelFileError, export_onnx
from homi.thresholds import TunedThresholds

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

X, Y = random_rows(n=60, m=7, q=4)
NYSTROEM = {"n_components": 20, "random_state": 0}
#: The second label never occurs: its threshold is infinite.
RARE = Y * [1, 0, 1, 1]

MODELS = {
    "plain": (HOMI(), Y),
    "calibrated": (HOMI(calibration="sigmoid"), Y),
    "rbf": (HOMI(kernel="rbf", **NYSTROEM), Y),
    "rbf, as given": (HOMI(kernel="rbf", standardize=False, **NYSTROEM), Y),
    "laplacian": (HOMI(kernel="laplacian", **NYSTROEM), Y),
    "cosine": (HOMI(kernel="cosine", **NYSTROEM), Y),
    "polynomial": (HOMI(kernel="polynomial", **NYSTROEM), Y),
    "quadratic": (
        HOMI(kernel="polynomial", kernel_params={"degree": 2, "coef0": 0}, **NYSTROEM),
        Y,
    ),
    "HOMICV": (HOMICV(lams=[1.0], random_state=0, n_components=20), Y),
    **{
        f"{strategy}, {calibration}, {'rare' if labels is RARE else 'all'}": (
            TunedThresholds(
                HOMI(),
                objective="example_f1",
                strategy=strategy,
                calibration=calibration,
                random_state=0,
            ),
            labels,
        )
        for strategy, calibration, labels in [
            ("global", "sigmoid", Y),
            ("per_label", "sigmoid", RARE),
            ("per_label", None, Y),
            ("top_k", "isotonic", Y),
            ("top_k", "sigmoid", RARE),
            ("cardinality", "sigmoid", Y),
            ("cardinality", None, RARE),
        ]
    },
}


def run(path, rows):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows}), strict=True))


def assert_equal(model, found, rows, tolerance=1e-5):
    expected = model.decision_function(rows)
    np.testing.assert_allclose(found["scores"], expected, rtol=0, atol=tolerance)
    # A score within the tolerance of its threshold may fall on either side.
    clear = np.abs(expected) > tolerance
    np.testing.assert_array_equal(found["labels"][clear], model.predict(rows)[clear])
    if "probabilities" in found:
        P = model.predict_proba(rows)
        np.testing.assert_allclose(found["probabilities"], P, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", MODELS)
def test_equal_scores_labels_and_probabilities(name, tmp_path):
    model, labels = MODELS[name]
    model.fit(X, labels)
    path = tmp_path / "model.onnx"
    # Rows far outside as well: tails of probabilities, zero rows for the cosine.
    rows = np.vstack([X, 100 * X, np.zeros((1, 7))])
    outputs = export_onnx(model, path)
    found = run(path, rows)
    assert outputs == list(found)
    assert_equal(model, found, rows, 1e-9)
    isotonic = getattr(model, "calibration", None) == "isotonic"
    assert ("probabilities" in found) != isotonic
    export_onnx(model, path, input_type="float")
    # The same rounded rows for both: all the rest is in double precision.
    rounded = X.astype(np.float32)
    assert_equal(model, run(path, rounded), rounded.astype(float), 1e-9)


def test_probabilities_stay_inside(tmp_path):
    model = HOMI().fit(X, Y)
    export_onnx(model, tmp_path / "model.onnx")
    for size in (1e3, 1e10, 1e20):
        P = run(tmp_path / "model.onnx", size * X)["probabilities"]
        np.testing.assert_allclose(P, model.predict_proba(size * X), rtol=1e-6)
        assert ((P > 0) & (P < 1)).all()


def test_sparse_landmarks(tmp_path):
    rows = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    model = HOMI(kernel="rbf", **NYSTROEM).fit(rows, Y)
    export_onnx(model, tmp_path / "model.onnx")
    assert_equal(model, run(tmp_path / "model.onnx", rows.toarray()), rows, 1e-9)


def test_the_file_is_one_that_others_read(tmp_path):
    model = HOMI().fit(X, Y)
    export_onnx(model, tmp_path / "model.onnx")
    found = onnx.load(tmp_path / "model.onnx")
    onnx.checker.check_model(found, full_check=True)
    assert found.ir_version == 8
    assert [opset.version for opset in found.opset_import] == [17]
    about = {item.key: item.value for item in found.metadata_props}
    assert json.loads(about["labels"]) == ["y0", "y1", "y2", "y3"]
    assert about["known_labels"] == "none"


def test_known_labels_have_no_onnx_form(tmp_path):
    model = HOMI(calibration="sigmoid").fit(X, Y)
    with pytest.raises(ModelFileError, match=r"or homi predict --known\.$"):
        export_onnx(model, tmp_path / "model.onnx", known=True)
    assert not list(tmp_path.iterdir())
    export_onnx(model, tmp_path / "model.onnx")
    found = onnx.load(tmp_path / "model.onnx")
    assert [given.name for given in found.graph.input] == ["X"]


@pytest.mark.parametrize(
    ("model", "labels", "reason"),
    [
        (HOMI(kernel=lambda a, b: float(a @ b), gamma=0.0), Y, "has no ONNX form"),
        (HOMI(), Y[:, 0], "1-D y"),
        (TunedThresholds(HOMI(), random_state=0), Y[:, 0], "1-D y"),
    ],
)
def test_what_has_no_onnx_form(model, labels, reason, tmp_path):
    with pytest.raises(ModelFileError, match=reason):
        export_onnx(model.fit(X, labels), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_texts_have_no_onnx_form(tmp_path):
    texts = [f"word{i % 3} wörd{i % 5}" for i in range(60)]
    pipeline = make_pipeline(TfidfVectorizer(), HOMI(gamma=0.0))
    for model in (pipeline, TunedThresholds(pipeline, random_state=0)):
        with pytest.raises(ModelFileError, match="texts has no ONNX form"):
            export_onnx(model.fit(texts, Y), tmp_path / "model.onnx")


def test_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'homi-learn\[onnx\]'"):
        export_onnx(HOMI().fit(X, Y), tmp_path / "model.onnx")


def test_a_wrong_type_of_input(tmp_path):
    with pytest.raises(ValueError, match="expected one of double, float"):
        export_onnx(HOMI().fit(X, Y), tmp_path / "model.onnx", input_type="half")


def differences(dataset, model, path):
    """Largest differences of scores, with rows in double and in single precision."""
    rows = dataset.X[:1500]
    model.fit(rows, dataset.Y[:1500])
    dense = rows.toarray() if sparse.issparse(rows) else rows
    expected, found = model.decision_function(rows), []
    for input_type, dtype in (("double", np.float64), ("float", np.float32)):
        export_onnx(model, path, input_type=input_type)
        scores = run(path, dense.astype(dtype))["scores"]
        found.append(float(np.abs(scores - expected).max()))
    return found


@pytest.mark.parametrize("name", ["emotions", "yeast"])
def test_real_data(name, data, tmp_path):
    double, single = differences(data(name), HOMI(), tmp_path / "model.onnx")
    assert double < 1e-9
    assert single < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("name", list(registry()))
def test_every_data_set(name, data, tmp_path):
    dataset = data(name)
    options = {"gamma": 0.0, "n_components": 200, "random_state": 0}
    kernels = [HOMI(kernel=name, **options) for name in ("rbf", "laplacian")]
    for model in (HOMI(tol=1e-2), *kernels):
        double, single = differences(dataset, model, tmp_path / "model.onnx")
        print(name, model.kernel, f"double {double:.1e}, float {single:.1e}")
        assert double < 1e-5
