"""What is predicted is said alike by predict, evaluate, explain and its page."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from homi import HOMI, HOMICV
from homi.cli.app import app
from homi.explorer import explain
from homi.io import load_model
from homi.thresholds import TunedThresholds
from homi.verdict import predicted_labels
from test_explorer import page_facts

TAGS = ["tag_often", "tag_half", "tag_rare"]


def run(*words):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 0, result.output
    return result.stdout


def some_rows(n=120, seed=0):
    """Labels whose best thresholds are not those of the models by themselves."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    signal = X @ np.random.default_rng(7).normal(size=(4, 3))
    noise = 1.5 * rng.normal(size=(n, 3))
    return X, (signal + noise > [-1.0, 0.3, 2.5]).astype(int)


def searched(**given):
    return HOMICV(lams=[1.0], gammas=[], betas=[], label_weights=[], **given)


def tuned(model, strategy):
    return TunedThresholds(
        model, objective="macro_f1", strategy=strategy, random_state=0
    )


MODELS = {
    "HOMI": HOMI(),
    "HOMICV": searched(widths=[], random_state=0),
    "HOMICV of a kernel": searched(random_state=0),
    "HOMICV, not calibrated": searched(widths=[], calibration=None),
    "per label": tuned(HOMI(), "per_label"),
    "per label, HOMICV": tuned(searched(widths=[]), "per_label"),
    "top k": tuned(HOMI(), "top_k"),
    "cardinality": tuned(HOMI(), "cardinality"),
    "in a pipeline": make_pipeline(StandardScaler(), tuned(HOMI(), "per_label")),
    "a pipeline inside": tuned(make_pipeline(StandardScaler(), HOMI()), "global"),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_page_says_what_predict_says(name):
    X, Y = some_rows()
    model = MODELS[name].fit(X, Y)
    page = page_facts(explain(model, X=X, y=Y, rows=X, row_labels=Y))
    said = np.zeros(Y.shape, dtype=int)
    for i, row in enumerate(page["rows"]):
        for why in row["why"]:
            said[i, why["label"]] = why["predicted"]
            limit = page["thresholds"][why["label"]]
            # A score within rounding of its threshold may be on either side.
            if limit is not None and abs(why["score"] - limit) > 1e-9:
                assert (why["score"] > limit) == why["predicted"]
    np.testing.assert_array_equal(said, model.predict(X))
    assert (None in page["thresholds"]) == (name in {"top k", "cardinality"})


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_of_one_dimension(n_classes):
    X, Y = some_rows()
    y = np.array(["a", "b", "c"])[np.minimum(Y.sum(axis=1), n_classes - 1)]
    model = HOMI().fit(X, y)
    n_labels = len(model.label_names_)
    page = page_facts(explain(model, X=X, y=y, X_test=X, y_test=y))
    for row in page["rows"]:
        at = int(row["name"].removeprefix("row "))
        said = {why["label"] for why in row["why"] if why["predicted"]}
        classes = model.classes_[-n_labels:]
        assert said == set(np.flatnonzero(classes == model.predict(X)[at]))
    found = page["quality"]["recall"]
    right = [np.mean(model.predict(X)[y == c] == c) for c in classes]
    assert found == pytest.approx(right)
    assert page["thresholds"] == ([None] * 3 if n_classes == 3 else [0.5])


def test_data_frames_and_lists_are_taken_apart_too():
    X, Y = some_rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    for rows in (frame, X.tolist()):
        model = HOMI().fit(rows, Y)
        assert len(page_facts(explain(model, X=rows, y=Y))["rows"]) == len(Y)


def test_labels_of_a_wrong_count_are_refused():
    X, Y = some_rows()
    with pytest.raises(ValueError, match="for 2 labels"):
        predicted_labels(HOMI().fit(X, Y), X, 2)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    directory = tmp_path_factory.mktemp("verdict")
    for name, seed in (("train", 0), ("test", 1)):
        X, Y = some_rows(seed=seed)
        table = pd.DataFrame(X, columns=list("abcd"))
        words = ["meow", "bark", "wheel"]
        table["body"] = [
            " ".join(["the", *np.array(words)[row > 0], *np.array(words)[x[:3] > 1]])
            for x, row in zip(X, Y, strict=True)
        ]
        table[TAGS] = Y
        table.to_csv(directory / f"{name}.csv", index=False)
    return directory


TABLE, TEXT = ["--drop", "body"], ["--text", "body"]
PER_LABEL = ["--tune", "macro_f1", "--strategy", "per_label"]
COMMANDS = {
    "chosen": [*TABLE, "--time-budget", "2"],
    "paper": [*TABLE, "--paper"],
    "tuned": [*TABLE, "--linear", *PER_LABEL],
    "texts": [*TEXT, "--linear", *PER_LABEL],
    "texts, paper": [*TEXT, "--paper", *PER_LABEL],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_commands_agree(here, tmp_path, name):
    model, page = tmp_path / "model.homi", tmp_path / "page.html"
    run("fit", here / "train.csv", "-l", "tag_*", *COMMANDS[name], "-o", model)
    test = here / "test.csv"
    rows = json.loads(run("predict", model, test, "--json"))["rows"]
    for i in range(4):
        words = "explain", model, test, "--row", i, "-o", page
        found = json.loads(run(*words, "--json"))["row"]["why"]
        said = [why["label"] for why in found if why["predicted"]]
        labels = sorted(rows[i]["labels"])
        assert sorted(said) == labels
        titles = re.findall(r": (often|half|rare),\s+(not )?predicted", run(*words))
        shown = [label for label, no in titles if not no]
        assert sorted(shown) == labels


def test_the_page_measures_as_evaluate_does(here, tmp_path):
    model = tmp_path / "model.homi"
    run("fit", here / "train.csv", "-l", "tag_*", *COMMANDS["tuned"], "-o", model)
    each = json.loads(run("evaluate", model, here / "test.csv", "--json"))["labels"]
    table = pd.read_csv(here / "test.csv")
    test = table[list("abcd")], table[TAGS]
    page = page_facts(explain(load_model(model), X_test=test[0], y_test=test[1]))
    for key, column in (("f1", "f1"), ("recall", "recall"), ("auc", "auc")):
        assert page["quality"][key] == pytest.approx([row[column] for row in each])


def test_the_best_threshold_is_one_of_the_scores_that_predict_writes(here, tmp_path):
    model = tmp_path / "model.homi"
    run("fit", here / "train.csv", "-l", "tag_*", *COMMANDS["tuned"], "-o", model)
    each = json.loads(run("evaluate", model, here / "test.csv", "--json"))["labels"]
    output = tmp_path / "tags.csv"
    run("predict", model, here / "test.csv", "--scores", "-o", output)
    tags, truth = pd.read_csv(output), pd.read_csv(here / "test.csv")
    for row in each:
        y = truth[f"tag_{row['label']}"] == 1
        score = tags[f"score:{row['label']}"]
        said = score > row["best_threshold"]
        f1 = 2 * (y & said).sum() / (y.sum() + said.sum())
        assert f1 == pytest.approx(row["best_f1"])
        assert row["best_f1"] >= row["f1"]
