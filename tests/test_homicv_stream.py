"""HOMICV from streams: the model of fit, through kills and changes."""

import os
import signal
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import stream_worker
from homi import HOMICV, fit_stream
from homi.datasets import make_correlated
from homi.model import batches
from stream_sources import SOURCES, Stop, cut, some_rows

MODEL = HOMICV(
    trees=False, n_components=40, widths=[1.0], lams=[0.1, 1.0, 10.0], random_state=3
)


@pytest.fixture(autouse=True)
def _small_sample(monkeypatch):
    monkeypatch.setattr(batches, "SAMPLE_ROWS", 300)


@pytest.fixture(scope="module")
def rows():
    return some_rows()


@pytest.fixture
def whole(rows):
    return HOMICV(**MODEL.get_params()).fit(*rows)


def assert_same(found, whole, X):
    assert found.best_params_ == whole.best_params_
    scores = whole.decision_function(X)
    np.testing.assert_allclose(found.decision_function(X), scores, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ["Parquet files", "CSV", "memory maps", "LIBSVM"])
def test_files_give_the_model_of_all_rows(name, rows, whole, tmp_path):
    X = rows[0]
    source, options = SOURCES[name](*rows, tmp_path)
    stages = []
    model = fit_stream(
        source,
        MODEL,
        batch_size=150,
        progress=lambda p: stages.append(p.stage),
        **options,
    )
    if name == "LIBSVM":
        X = sparse.csr_array(X)
        whole = HOMICV(**MODEL.get_params()).fit(X, rows[1])
    assert_same(model, whole, X)
    assert list(dict.fromkeys(stages)) == ["sample", "moments", "scores"]
    assert model.held_out_labels_["label"] == model.label_names_.tolist()


def test_trees_of_the_sample_join_the_mean(rows, tmp_path):
    X, Y = rows
    model = clone(MODEL).set_params(trees="auto")
    whole = clone(model).fit(X, Y)
    given = {"batch_size": 150, "checkpoint": tmp_path / "c.npz", "every": 0}
    done = []

    def stop(progress):
        done.append(progress)
        if len(done) == 11:
            raise Stop

    with pytest.raises(Stop):
        fit_stream((X, Y), model, progress=stop, **given)
    found = fit_stream((X, Y), model, **given)
    assert found.forest_ is not None
    assert_same(found, whole, X)
    report = dict(zip(*map(found.search_report_.get, ("stage", "rows")), strict=True))
    assert report["trees"] == 300
    # Trees calibrate on the sample: the rows are not read a third time.
    assert "held-out scores" not in report


def test_few_rows_are_fitted_in_memory(rows):
    X, Y = rows[0][:300], rows[1][:300]
    model = fit_stream((X, Y), MODEL, batch_size=100)
    scores = HOMICV(**MODEL.get_params()).fit(X, Y).decision_function(X)
    assert np.array_equal(model.decision_function(X), scores)


def test_classes_and_no_calibration(rows):
    X, y = rows[0], rows[1] @ [4, 2, 1]
    model = HOMICV(**MODEL.get_params()).set_params(calibration=None)
    whole = HOMICV(**model.get_params()).fit(X, y)
    found = fit_stream(cut(X, y), model, classes=np.unique(y))
    assert_same(found, whole, X)
    assert np.array_equal(found.predict(X), whole.predict(X))


@pytest.mark.parametrize("at", [3, 10, 21])
def test_a_stopped_fit_resumes(at, rows, whole, tmp_path):
    source, options = SOURCES["Parquet"](*rows, tmp_path)
    given = {"batch_size": 150, "checkpoint": tmp_path / "c.npz", "every": 0} | options
    done = []

    def count(progress):
        done.append(progress)
        if len(done) == at:
            raise Stop

    with pytest.raises(Stop):
        fit_stream(source, MODEL, progress=count, **given)
    found = fit_stream(source, MODEL, progress=done.append, **given)
    assert_same(found, whole, rows[0])
    # A finished fit reads nothing again.
    before = len(done)
    assert_same(
        fit_stream(source, MODEL, progress=done.append, **given), found, rows[0]
    )
    assert len(done) == before


def test_a_killed_process_resumes(tmp_path):
    X, Y, *_ = make_correlated(3000, n_features=6, n_labels=5, random_state=0)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "Y.npy", Y)
    paths = tmp_path / "X.npy", tmp_path / "Y.npy"
    checkpoint, kills = tmp_path / "c.npz", 0
    for stage in ("sample", "moments", "scores"):
        process, told = stream_worker.start(
            stream_worker.fit_homicv, MODEL, paths, str(checkpoint), 300
        )
        while told.recv() != stage:
            pass
        time.sleep(0.01)
        process.kill()
        process.join()
        kills += process.exitcode == -signal.SIGKILL
        told.close()
    assert kills == 3
    assert os.path.exists(checkpoint)
    found = fit_stream(paths, MODEL, batch_size=50, checkpoint=checkpoint)
    assert_same(found, HOMICV(**MODEL.get_params()).fit(X, Y), X)


def test_changes_are_refused(rows, tmp_path):
    X, Y = rows
    given = {"batch_size": 150, "checkpoint": tmp_path / "c.npz"}
    fit_stream((X, Y), MODEL, **given)
    other = HOMICV(**MODEL.get_params()).set_params(widths=[2.0])
    with pytest.raises(ValueError, match="checkpoint of another fit: parameters"):
        fit_stream((X, Y), other, **given)
    changed = Y.copy()
    changed[500, 1] = 1 - changed[500, 1]
    with pytest.raises(ValueError, match="batch 4 has other labels"):
        fit_stream((X, changed), MODEL, **given)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gammas": [0.1]}, r"a stream of 1,000 rows .* gammas=\[0.1\]"),
        ({"trees": True}, "trees=True, which needs all rows in one place"),
        ({"time_budget": 5.0}, "time_budget=5 cannot be used with a checkpoint"),
        ({"trees": True, "calibration": None}, "trees=True needs calibration"),
        ({"n_components": 0}, "n_components"),
    ],
)
def test_what_a_stream_cannot_do_is_refused(parameters, message, rows, tmp_path):
    model = HOMICV(**MODEL.get_params()).set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        fit_stream(rows, model, checkpoint=tmp_path / "c.npz")
