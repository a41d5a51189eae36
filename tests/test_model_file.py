"""The model file: what is saved is what is loaded, and a strange file is refused."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from conftest import random_rows
from homi import HOMI, HOMICV
from homi.cli.app import app
from homi.io import ModelFileError, fingerprint, load_file, load_model, save
from homi.thresholds import TunedThresholds
from sample_files import assert_same_responses, opened, put_together, raw, sealed

X, Y = random_rows(n=60, m=7, q=4)
SPARSE = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
FRAME = pd.DataFrame(X, columns=[f"höhe {j}" for j in range(7)])
LABELS = pd.DataFrame(Y.astype(int), columns=["rock", "jazz", "a/../b", "\0 ÿ"])
SMALL = {"lams": (0.1, 1.0), "gammas": [0.1], "betas": [1.0], "widths": [1.0]}
NYSTROEM = {"n_components": 20, "random_state": 0}

MODELS = {
    "plain": (HOMI(), X, Y),
    "named": (HOMI(lam=np.float64(0.5), standardize=False), FRAME, LABELS),
    "sparse": (HOMI(gamma=0.0), SPARSE, Y),
    "held-out": (HOMI(correlation="held-out"), X, Y),
    "identity": (HOMI(correlation="identity"), X.astype(np.float32), Y),
    "paper sweep": (HOMI(sweep="paper", init="random", random_state=3), X, Y),
    "1-D y": (HOMI(), X, Y[:, 0]),
    "classes": (HOMI(), X, np.array(["a", "bb", "c"] * 20)),
    "one label": (HOMI(), X, Y[:, :1]),
    "rbf": (HOMI(kernel="rbf", **NYSTROEM), X, Y),
    "rbf, as given": (HOMI(kernel="rbf", standardize=False, **NYSTROEM), X, Y),
    "rbf, sparse": (HOMI(kernel="rbf", **NYSTROEM), SPARSE, Y),
    "rbf, float32": (HOMI(kernel="rbf", **NYSTROEM), X.astype(np.float32), Y),
    "laplacian": (HOMI(kernel="laplacian", **NYSTROEM), X, Y),
    "cosine": (HOMI(kernel="cosine", **NYSTROEM), X, Y),
    "polynomial": (
        HOMI(
            kernel="polynomial", kernel_params={"degree": 2, "coef0": 0.5}, **NYSTROEM
        ),
        X,
        Y,
    ),
    "HOMICV": (HOMICV(random_state=0, n_components=20, **SMALL), FRAME, LABELS),
    "HOMICV, array": (HOMICV(lams=np.array([1.0, 2.0]), widths=[]), X, Y),
    **{
        f"{strategy}, {calibration}": (
            TunedThresholds(
                HOMI(lam=2.0),
                objective="macro_f1",
                strategy=strategy,
                calibration=calibration,
                random_state=0,
            ),
            FRAME,
            LABELS,
        )
        for strategy in ("global", "per_label", "top_k", "cardinality")
        for calibration in ("sigmoid", "isotonic", None)
    },
    "tuned HOMICV": (
        TunedThresholds(HOMICV(random_state=0, **SMALL), cv="own", strategy="auto"),
        X,
        Y,
    ),
    "tuned, a label never seen": (
        TunedThresholds(HOMI(), strategy="cardinality", random_state=0),
        X,
        Y * [1, 1, 0, 1],
    ),
    "tuned, 1-D y": (TunedThresholds(HOMI(), random_state=0), X, Y[:, 0]),
}

TEXTS = [f"word{i % 3} and wörd{i % 5} again {'x' * (i % 4 + 2)}" for i in range(60)]
STOP = ["and", "again"]
TEXT_MODELS = {
    "default": make_pipeline(TfidfVectorizer(), HOMI()),
    "options": make_pipeline(
        TfidfVectorizer(
            ngram_range=(1, 2), stop_words=STOP, sublinear_tf=True, dtype=np.float32
        ),
        HOMICV(random_state=0, **SMALL),
    ),
    "counts": make_pipeline(TfidfVectorizer(use_idf=False, norm=None), HOMI()),
    "vocabulary": make_pipeline(
        TfidfVectorizer(vocabulary=["word0", "wörd1"]), HOMI(gamma=0.0)
    ),
    "tuned inside": make_pipeline(
        TfidfVectorizer(), TunedThresholds(HOMI(), random_state=0)
    ),
    "tuned outside": TunedThresholds(
        make_pipeline(TfidfVectorizer(), HOMI()), random_state=0
    ),
}

ATTRIBUTES = [
    *("coef_", "intercept_", "feature_weights_", "feature_bias_", "label_bias_"),
    *("label_correlation_", "history_", "n_iter_", "classes_", "label_names_"),
    *("n_features_in_", "feature_names_in_", "best_params_", "best_score_"),
    "label_weight_",
    *("cv_results_", "thresholds_", "top_k_", "held_out_score_"),
    *("calibration_error_", "strategy_"),
]


@pytest.fixture(scope="module")
def plain():
    return HOMI().fit(FRAME, LABELS)


def same_params(one, two):
    assert set(one) == set(two)
    for name, value in one.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, two[name])
        elif hasattr(value, "get_params"):
            assert type(value) is type(two[name])
        elif not name.endswith("steps"):
            assert value == two[name]
            assert type(two[name]) is type(value) or isinstance(value, np.generic)


def round_trip(model, rows, path):
    save(model, path)
    loaded = load_model(path)
    assert type(loaded) is type(model)
    assert_same_responses(model, loaded, rows)
    same_params(model.get_params(), loaded.get_params())
    for name in ATTRIBUTES:
        assert hasattr(model, name) == hasattr(loaded, name), name
        if hasattr(model, name):
            np.testing.assert_equal(getattr(loaded, name), getattr(model, name))
    return loaded


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_predicts_the_same_bit_for_bit(name, tmp_path):
    model, rows, labels = MODELS[name]
    model.fit(rows, labels)
    loaded = round_trip(model, rows, tmp_path / "model.homi")
    # It is a model like any other, and can be saved again.
    round_trip(loaded, rows, tmp_path / "again.homi")


def test_a_loaded_model_can_be_fitted(plain, tmp_path):
    save(plain, tmp_path / "model.homi")
    loaded = load_model(tmp_path / "model.homi").fit(FRAME, LABELS)
    assert_same_responses(plain, loaded, FRAME)


@pytest.mark.parametrize("name", TEXT_MODELS)
def test_texts(name, tmp_path):
    model = TEXT_MODELS[name].fit(TEXTS, Y)
    fresh = [*TEXTS, "nothing known", ""]
    loaded = round_trip(model, fresh, tmp_path / "model.homi")
    if hasattr(model, "steps"):
        assert loaded[0].vocabulary_ == model[0].vocabulary_


@pytest.mark.parametrize("name", ["emotions", "yeast", "enron"])
def test_real_data(name, data, tmp_path):
    dataset = data(name)
    rows = dataset.X[:400]
    model = HOMI(kernel="rbf", n_components=100, gamma=0.0, random_state=0)
    round_trip(model.fit(rows, dataset.Y[:400]), rows, tmp_path / "model.homi")


def test_no_row_is_in_the_file_but_landmarks(tmp_path):
    rows = X + 1000.0
    save(HOMI().fit(rows, Y), tmp_path / "linear.homi")
    save(HOMI(kernel="rbf", standardize=False, **NYSTROEM).fit(rows, Y), tmp_path / "k")
    found = {}
    for path in sorted(tmp_path.iterdir()):
        data = path.read_bytes()
        found[path.name] = sum(row.tobytes() in data for row in rows)
    assert found == {"k": 20, "linear.homi": 0}


def test_labels_that_were_filled_in_stay_out(tmp_path):
    unknown = Y.copy()
    unknown[::7, 0] = np.nan
    model = HOMI(missing_labels="ignore").fit(X, unknown)
    assert hasattr(model, "filled_labels_")
    save(model, tmp_path / "model.homi")
    loaded = load_model(tmp_path / "model.homi")
    assert not hasattr(loaded, "filled_labels_")
    assert_same_responses(model, loaded, X)


def test_nothing_of_it_is_a_pickle(tmp_path, plain):
    save(plain, tmp_path / "model.homi")
    header, tensors = opened(tmp_path / "model.homi")
    assert set(header) == {"format", "model", "preprocessing", "provenance"}
    assert {value.dtype.kind for value in tensors.values()} == {"f"}


def test_what_is_kept_beside_the_model(tmp_path, plain):
    path = tmp_path / "model.homi"
    kept = {"columns": ["a"], "fill": {"a": float("nan")}}
    save(plain, path, preprocessing=kept, provenance={"data": fingerprint(X, Y)})
    found = load_file(path)
    np.testing.assert_equal(found.preprocessing, kept)
    assert found.provenance["data"]["rows"] == 60
    assert found.provenance["versions"]["numpy"] == np.__version__
    assert found.provenance["date"].endswith("+00:00")


def test_fingerprints_tell_data_apart():
    same = [fingerprint(X, Y), fingerprint(sparse.csc_array(X), sparse.coo_array(Y))]
    assert same[0] == same[1] == fingerprint(FRAME, Y.astype(bool))
    other = X.copy()
    other[3, 3] = np.nextafter(other[3, 3], 9)
    assert fingerprint(other, Y) != same[0]
    assert fingerprint(X[:, ::-1], Y) != same[0]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (HOMI(kernel=lambda a, b: float(a @ b)), "the kernel is a function"),
        (HOMI(random_state=np.random.RandomState(0)), "random_state of HOMI"),
        (HOMICV(lambda Y, S: 0.0, widths=[]), "scoring of HOMICV"),
        (TunedThresholds(LogisticRegression()), "a LogisticRegression cannot"),
    ],
    ids=["kernel", "seed", "scoring", "other"],
)
def test_what_cannot_be_saved(model, reason, tmp_path):
    model.fit(X, Y[:, 0] if "Logistic" in reason else Y)
    with pytest.raises(ModelFileError, match=reason):
        save(model, tmp_path / "model.homi")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "options",
    [{"tokenizer": str.split, "token_pattern": None}, {"input": "filename"}],
    ids=["tokenizer", "files"],
)
def test_texts_that_cannot_be_saved(options, tmp_path):
    (tmp_path / "text").write_text("some words")
    texts = [str(tmp_path / "text")] * 60
    model = make_pipeline(TfidfVectorizer(**options), HOMI(gamma=0.0)).fit(texts, Y)
    with pytest.raises(ModelFileError, match="Tfidf"):
        save(model, tmp_path / "model.homi")


def test_only_what_is_fitted_is_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save(HOMI(), tmp_path / "model.homi")


def test_what_was_fitted_counts(tmp_path):
    """Parameters that were set after the fit are kept, and change no prediction."""
    model = HOMI(kernel="laplacian", **NYSTROEM).fit(X, Y)
    round_trip(
        model.set_params(kernel="rbf", standardize=False), X, tmp_path / "m.homi"
    )
    round_trip(model.set_params(kernel=None), X, tmp_path / "m.homi")
    options = {"lams": [1.0], "widths": [], "gammas": [], "betas": []}
    for fitted, later in (("sigmoid", None), (None, "sigmoid")):
        chosen = HOMICV(calibration=fitted, random_state=0, **options).fit(X, Y)
        round_trip(chosen.set_params(calibration=later), X, tmp_path / "m.homi")
    tuned = TunedThresholds(HOMI(), strategy="top_k", random_state=0).fit(X, Y)
    tuned.set_params(calibration=None, strategy="global", estimator=HOMI(lam=9.0))
    round_trip(tuned, X, tmp_path / "m.homi")


def test_a_file_that_is_not_there(tmp_path, plain):
    with pytest.raises(FileNotFoundError, match="create it first"):
        save(plain, tmp_path / "no" / "model.homi")
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "no.homi")
    with pytest.raises(ModelFileError, match="not a file"):
        load_model(tmp_path)


def test_the_checksum_is_as_documented(tmp_path, plain):
    save(plain, tmp_path / "model.homi")
    header, tensors = opened(tmp_path / "model.homi")
    put_together(tmp_path / "twin.homi", header, tensors)
    assert_same_responses(plain, load_model(tmp_path / "twin.homi"), FRAME)
    assert len(sealed("", {})) == 64


def test_a_newer_file(tmp_path, plain):
    save(plain, tmp_path / "model.homi")
    header, tensors = opened(tmp_path / "model.homi")
    put_together(tmp_path / "new.homi", header | {"format": 3, "model": []}, tensors)
    with pytest.raises(ModelFileError, match=r"format 3.*newer.*upgrade"):
        load_model(tmp_path / "new.homi")


def test_an_older_file_lacks_a_parameter(tmp_path, plain):
    save(plain, tmp_path / "model.homi")
    header, tensors = opened(tmp_path / "model.homi")
    del header["model"]["params"]["correlation"]
    put_together(tmp_path / "old.homi", header, tensors)
    assert load_model(tmp_path / "old.homi").correlation == "labels"


@pytest.mark.slow
def test_a_write_that_is_killed_leaves_what_was_there(tmp_path, plain):
    """Save over and over in another process, kill it amid, and find a whole file."""
    path = tmp_path / "model.homi"
    save(plain, path)
    script = (
        "import sys; from homi.io import load_model, save\n"
        "model = load_model(sys.argv[1]); print('ready', flush=True)\n"
        "while True: save(model, sys.argv[1])\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    process.stdout.readline()
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert_same_responses(plain, load_model(path), FRAME)


def test_a_failed_write_leaves_what_was_there(tmp_path, plain, monkeypatch):
    path = tmp_path / "model.homi"
    save(plain, path)
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("full")))
    before = path.read_bytes()
    with pytest.raises(OSError, match="full"):
        save(plain, path)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["model.homi"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"short",
        b"\x80\x04\x95 a pickle, and not a model",
        raw({}),
        raw({"__metadata__": {"homi": "{}", "sha256": ""}}),
        raw({"__metadata__": {"homi": "[]", "sha256": ""}}),
        raw({"__metadata__": {"homi": '{"format": NaN}', "sha256": ""}}),
        raw({"__metadata__": {"homi": '{"format": true}', "sha256": ""}}),
        raw({"__metadata__": {"homi": "[" * 10**6, "sha256": ""}}),
        raw(b"[" * 10**6),
        raw({"__metadata__": {"homi": f"[{'9' * 10**5}]", "sha256": ""}}),
        raw({"x": {"dtype": "F64", "shape": [2**40, 2**40], "data_offsets": [0, 0]}}),
        raw({"x": {"dtype": "F64", "shape": [2**60], "data_offsets": [0, 2**63]}}),
        raw({"x": {"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}}, b"8" * 8),
        raw({"x": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}, b"22"),
        raw({"x": {"dtype": "OBJ", "shape": [1], "data_offsets": [0, 8]}}, b"8" * 8),
        b"\xff" * 8 + b"{}",
    ],
)
def test_files_that_are_no_model(data, tmp_path):
    path = tmp_path / "strange.homi"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=r"strange\.homi is .*[.]$"):
        load_model(path)


# Model files that earlier versions wrote load, and score as they did.
#
# Those in ``files/old_models`` were written at commit 1a9e08a, in format 1; do not
# write them again. ``rows.csv`` is random, 60 rows; ``scores.json`` has the scores of
# the first twelve.
#
# - ``onehot``: ``homi fit rows.csv --labels 'tag_*' --drop id --drop body --missing
#   mean --paper``; ``codes`` with ``--nominal codes`` too; ``tuned`` with
#   ``--tune macro_f1``.
# - ``text``: ``homi fit rows.csv --labels 'tag_*' --text body --linear``.
# - ``text_tuned``: ``homi fit rows.csv --labels 'tag_*' --text body --paper --tune
#   micro_f1``.
# - ``kernel``: ``HOMI(kernel="rbf", n_components=8, random_state=0)`` of ``size``
#   (0 where it is missing) and ``weight``.


HERE = Path(__file__).parent / "files" / "old_models"
SCORES = json.loads((HERE / "scores.json").read_text())

pytest.importorskip("safetensors")


@pytest.mark.parametrize("name", sorted(set(SCORES) - {"kernel"}))
def test_predict_gives_the_scores_of_then(name):
    given = [str(HERE / f"{name}.homi"), str(HERE / "rows.csv"), "--scores", "--json"]
    result = CliRunner().invoke(app, ["predict", *given])
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["rows"][:12]
    found = [list(row["scores"].values()) for row in rows]
    np.testing.assert_allclose(found, SCORES[name], rtol=1e-6, atol=1e-7)


def test_a_kernel_gives_the_scores_of_then():
    with open(HERE / "rows.csv", newline="") as file:
        rows = list(csv.DictReader(file))[:12]
    X = np.array([[float(row["size"] or 0), float(row["weight"])] for row in rows])
    found = load_model(HERE / "kernel.homi").decision_function(X)
    np.testing.assert_allclose(found, SCORES["kernel"], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["onehot", "text", "tuned"])
def test_explain_and_evaluate_still_read_them(name, tmp_path):
    model, rows = str(HERE / f"{name}.homi"), str(HERE / "rows.csv")
    page = str(tmp_path / "page.html")
    for command in (
        ["evaluate", model, rows],
        ["explain", model, "--data", rows, "--row", "3", rows, "-o", page],
    ):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, (command, result.output)
