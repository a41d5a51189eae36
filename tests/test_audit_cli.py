"""`homi audit`, `homi ask` and `homi predict --known`, from files to files."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from typer.testing import CliRunner

from homi.cli.app import app
from homi.dependence import ask
from homi.io import load_model

TAGS = ["tag_a", "tag_b", "tag_c"]
NAMES = [
    tag.removeprefix("tag_") for tag in TAGS
]  # of the model, and all that people read


def frame(seed, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    cause = 3 * rng.normal(size=(n, 1)) * [1, 1, -1]
    Y = (rng.random((n, 3)) < expit(3 * X + cause)).astype(int)
    return pd.DataFrame(X, columns=list("xyz")).join(pd.DataFrame(Y, columns=TAGS))


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    pytest.importorskip("safetensors")
    path = tmp_path_factory.mktemp("audit")
    frame(0).to_csv(path / "train.csv", index=False)
    new = frame(1, n=40)
    new.loc[::2, "tag_a"] = np.nan
    new["tag_b"] = np.nan
    new.drop(columns="tag_c").to_csv(path / "new.csv", index=False)
    fit = ["fit", path / "train.csv", "--labels", "tag_*", "--linear"]
    run(*fit, "-o", path / "model.homi")
    return path


def test_predict_with_known_labels(here):
    model, new = load_model(here / "model.homi"), pd.read_csv(here / "new.csv")
    rows = ["predict", here / "model.homi", here / "new.csv", "--known", "tag_*"]
    run(*rows, "--proba", "-o", here / "out.csv")
    found = pd.read_csv(here / "out.csv")
    known = new[["tag_a", "tag_b"]].set_axis(["a", "b"], axis=1)
    expected = model.predict_proba(new[["x", "y", "z"]], known=known)
    columns = [f"probability:{name}" for name in NAMES]
    np.testing.assert_allclose(found[columns], expected, atol=1e-12)
    given = known["a"].notna()
    np.testing.assert_array_equal(found["a"][given], known["a"][given])
    np.testing.assert_array_equal(found[NAMES], expected > 0.5)


def test_known_labels_of_a_tuned_model(here):
    train = [here / "train.csv", "--labels", "tag_*", "--linear"]
    tune = ["--tune", "macro_f1", "--strategy", "per_label"]
    run("fit", *train, *tune, "-o", here / "tuned.homi")
    rows = [here / "tuned.homi", here / "new.csv", "--known", "tag_*"]
    run("predict", *rows, "--proba", "-o", here / "tuned.csv")
    found, new = pd.read_csv(here / "tuned.csv"), pd.read_csv(here / "new.csv")
    model = load_model(here / "tuned.homi")
    known = new[["tag_a", "tag_b"]].set_axis(["a", "b"], axis=1)
    expected = model.predict(new[["x", "y", "z"]], known=known)
    np.testing.assert_array_equal(found[NAMES], expected)
    given = known["a"].notna()
    np.testing.assert_array_equal(found["a"][given], known["a"][given])
    asked = json.loads(run("ask", *rows, "--json").stdout)["rows"]
    assert len(asked) == len(new)


def test_ask(here):
    new = pd.read_csv(here / "new.csv")
    rows = ["ask", here / "model.homi", here / "new.csv", "--known", "tag_*", "-k", 2]
    found = json.loads(run(*rows, "--json").stdout)["rows"]
    model = load_model(here / "model.homi")
    known = new[["tag_a", "tag_b"]].set_axis(["a", "b"], axis=1)
    assert found == ask(model, new[["x", "y", "z"]], known, 2)
    run(*rows, "-o", here / "ask.csv")
    table = pd.read_csv(here / "ask.csv", keep_default_na=False)
    assert list(table.columns) == ["row", "ask_1", "ask_2"]
    assert table["ask_1"].tolist() == [row[0] for row in found]
    assert len(json.loads(run(*rows[:3], "--json").stdout)["rows"][0]) == 3


AUDIT = ["--labels", "tag_*", "--linear"]


def test_audit_and_apply(here):
    before = (here / "train.csv").read_bytes()
    train = pd.read_csv(here / "train.csv")
    audit = ["audit", here / "train.csv", *AUDIT]
    result = run(*audit, "--top", 50, "-o", here / "audit.csv")
    assert "labels are wrong (90 % interval" in result.stderr
    found = pd.read_csv(here / "audit.csv", keep_default_na=False)
    assert list(found.columns) == [
        *("row", "label", "given", "probability", "score", "reason", "decision")
    ]
    assert len(found) == 50
    assert set(found["label"]) == set(NAMES)
    assert not found["reason"].str.contains("tag_").any()
    assert found["reason"].head(20).str.contains("[xyz] = ").all()
    found["decision"] = found["decision"].astype(object)
    found.loc[[0, 3], "decision"] = (1 - found.loc[[0, 3], "given"]).astype(str)
    found.loc[1, "decision"] = str(found.loc[1, "given"])
    found.to_csv(here / "decisions.csv", index=False)
    apply = [*audit, "--apply", here / "decisions.csv"]
    assert "2 label(s) changed" in run(*apply, "-o", here / "fixed.csv").stderr
    for place in (0, 3):
        row, label = found.loc[place, ["row", "label"]]
        column = f"tag_{label}"
        train.loc[row, column] = 1 - train.loc[row, column]
    pd.testing.assert_frame_equal(pd.read_csv(here / "fixed.csv"), train)
    assert (here / "train.csv").read_bytes() == before
    for name in ("train.csv", "decisions.csv"):
        assert "which would be lost" in run(*apply, "-o", here / name, code=1).stderr


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("decision", "2", "decides '2'"),
        ("label", "q", "about 'q'"),
        ("row", "-1", "of row '-1'"),
        ("row", "999", "is not about"),
        ("given", "0", "is not about"),
    ],
)
def test_malformed_decisions(here, column, value, message):
    (row,) = np.flatnonzero(pd.read_csv(here / "train.csv")["tag_a"])[:1]
    cells = {"row": row, "label": "a", "given": 1, "decision": 0}
    table = pd.DataFrame([cells]).astype(object)
    table.loc[0, column] = value
    table.to_csv(here / "bad.csv", index=False)
    apply = ["audit", here / "train.csv", *AUDIT, "--apply", here / "bad.csv"]
    result = run(*apply, "-o", here / "never.csv", code=1)
    assert message in result.stderr
    assert not (here / "never.csv").exists()


def test_malformed_known_labels(here):
    start = ["predict", here / "model.homi", here / "new.csv", "--known"]
    assert "no label of" in run(*start, "x", code=1).stderr
    assert "no column fits 'q*'" in run(*start, "q*", code=1).stderr
    new = pd.read_csv(here / "new.csv").assign(tag_a=0.5)
    new.to_csv(here / "half.csv", index=False)
    start[2] = here / "half.csv"
    assert "tag_a" in run(*start, "tag_a", code=1).stderr
    paper = ["fit", here / "train.csv", "--labels", "tag_*", "--paper"]
    run(*paper, "-o", here / "paper.homi")
    rows = ["ask", here / "paper.homi", here / "new.csv"]
    assert "has no joint model" in run(*rows, code=1).stderr


def test_texts(here):
    words = {"tag_cat": "meow purr", "tag_dog": "bark fetch"}
    rng = np.random.default_rng(0)
    Y = rng.random((60, 2)) < 0.5
    texts = [" ".join(np.array([*words.values()])[row]) + " the" for row in Y]
    table = pd.DataFrame(Y.astype(int), columns=[*words]).assign(body=texts)
    table.loc[5, "tag_cat"] = 1 - table.loc[5, "tag_cat"]
    table.to_csv(here / "posts.csv", index=False)
    given = ["audit", here / "posts.csv", "--text", "body", "--labels", "tag_*"]
    found = json.loads(run(*given, "--linear", "--json").stdout)["labels"]
    assert (found[0]["row"], found[0]["label"]) == (5, "cat")


def test_decisions_about_tags_in_one_column(tmp_path):
    cells = ["red; round", "round", "", "red"] * 10
    table = pd.DataFrame({"x": range(40), "y": [3, 1, 0, 2] * 10, "tags": cells})
    table.to_csv(tmp_path / "train.csv", index=False)
    decided = [(0, "red", 1, 0), (2, "round", 0, 1), (3, "round", 0, 0)]
    names = ["row", "label", "given", "decision"]
    decisions = pd.DataFrame(decided, columns=names)
    decisions.to_csv(tmp_path / "decided.csv", index=False)
    audit = ["audit", tmp_path / "train.csv", "--tags", "tags"]
    run(*audit, "--apply", tmp_path / "decided.csv", "-o", tmp_path / "fixed.csv")
    table.loc[[0, 2], "tags"] = "round"
    found = pd.read_csv(tmp_path / "fixed.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(found, table)
