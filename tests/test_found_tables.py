"""Tables as people have them, from file to predictions: tags in one column."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from homi.cli.app import app
from homi.cli.tags import TagColumn, are_tags
from homi.io import load_file

WORDS = {"python": "import def", "numpy": "array axis", "C, C++": "pointer malloc"}


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(app, list(map(str, arguments)), input=stdin)
    assert result.exit_code == code, result.output
    return result


def refused(*arguments):
    (line,) = run(*arguments, code=1).stderr.splitlines()
    return line


def posts(n=40, seed=0):
    """Texts with the words of their tags, and these tags."""
    Y = np.random.default_rng(seed).random((n, 3)) < 0.5
    tags = [[tag for tag, y in zip(WORDS, row, strict=True) if y] for row in Y]
    body = [" ".join(["the", *(WORDS[tag] for tag in row)]) for row in tags]
    return pd.DataFrame({"body": body}), tags


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    """A directory with a file of texts and tags, and a model of it."""
    directory = tmp_path_factory.mktemp("tagged")
    table, tags = posts()
    table["tags"] = ["; ".join(row) for row in tags]
    table.to_csv(directory / "posts.csv", index=False)
    options = ["--text", "body", "--tags", "tags", "--paper", "-q", "-o"]
    run("fit", directory / "posts.csv", *options, directory / "m.homi")
    return directory


def test_tags_come_back_in_the_form_of_training(tagged, tmp_path):
    assert load_file(tagged / "m.homi").preprocessing["tags"] == ["tags", ";"]
    posts(20, 1)[0].to_csv(tmp_path / "new.csv", index=False)
    model, new, out = tagged / "m.homi", tmp_path / "new.csv", tmp_path / "out.csv"
    run("predict", model, new, "-o", out, "--scores")
    found = pd.read_csv(out, keep_default_na=False)
    names = sorted(WORDS)
    assert list(found) == ["tags", *(f"score:{name}" for name in names)]
    above = found.drop(columns="tags").to_numpy() > 0
    tags = [[n for n, y in zip(names, row, strict=True) if y] for row in above]
    assert found["tags"].tolist() == [";".join(row) for row in tags]
    assert max(map(len, tags)) > 1
    by_row = json.loads(run("predict", model, new, "--json").stdout)
    assert by_row["labels"] == names
    assert [row["labels"] for row in by_row["rows"]] == tags
    assert "omit --keep" in refused(
        "predict", model, tagged / "posts.csv", "--keep", "tags"
    )


@pytest.mark.parametrize(
    ("join", "separator"),
    [
        (json.dumps, "json"),
        (str, "json"),  # as Python prints a list
        ("|".join, "|"),
        (" / ".join, " / "),
    ],
)
def test_forms_of_tags_are_the_same_model(join, separator, tagged, tmp_path):
    table, tags = posts()
    table["tags"] = [join(row) for row in tags]
    table.to_csv(tmp_path / "posts.csv", index=False)
    options = ["--text", "body", "--tags", "tags", "--paper", "-q"]
    options += ["--tag-sep", separator] if separator == " / " else []
    run("fit", tmp_path / "posts.csv", *options, "-o", tmp_path / "m.homi")
    new = posts(10, 1)[0]
    new.to_csv(tmp_path / "new.csv", index=False)
    outputs = []
    for directory in (tagged, tmp_path):
        model, path = directory / "m.homi", tmp_path / "out.csv"
        run("predict", model, tmp_path / "new.csv", "-o", path, "--scores", "-q")
        outputs.append(pd.read_csv(path, keep_default_na=False))
    scores = [found.drop(columns="tags") for found in outputs]
    pd.testing.assert_frame_equal(*scores)
    column = TagColumn("tags", separator)
    assert [column.split(cell) for cell in outputs[1]["tags"]] == [
        cell.split(";") if cell else [] for cell in outputs[0]["tags"]
    ]


def test_one_hot_columns_are_the_same_model(tagged, tmp_path):
    table, tags = posts()
    for tag in sorted(WORDS):
        table[tag] = [int(tag in row) for row in tags]
    table.to_csv(tmp_path / "hot.csv", index=False)
    names = [word for tag in WORDS for word in ("--labels", tag)]
    options = ["--text", "body", *names, "--paper", "-q", "-o", tmp_path / "hot.homi"]
    run("fit", tmp_path / "hot.csv", *options)
    found = [
        json.loads(run("evaluate", model, file, "--json").stdout)
        for model in (tagged / "m.homi", tmp_path / "hot.homi")
        for file in (tmp_path / "hot.csv",)
    ]
    by_tags = run("evaluate", tagged / "m.homi", tagged / "posts.csv", "--json")
    assert found[0] == found[1] == json.loads(by_tags.stdout)
    other = ["--tags", "tags", "--tag-sep", ";"]
    by_option = run(
        "evaluate", tmp_path / "hot.homi", tagged / "posts.csv", *other, "--json"
    )
    assert found[0] == json.loads(by_option.stdout)


def test_unknown_tags_are_told_in_one_line(tagged, tmp_path):
    table, tags = posts(20, 2)
    table["topics"] = [";".join([*row, "rust", "go"]) for row in tags]
    table.to_csv(tmp_path / "test.csv", index=False)
    options = ["evaluate", tagged / "m.homi", tmp_path / "test.csv"]
    (line,) = run(*options, "--tags", "topics", "--json").stderr.splitlines()
    assert "2 tag(s)" in line
    assert "unknown to the model and not measured: 'go', 'rust'" in line
    assert "no column 'tags'" in refused(*options)


def test_cv_and_explain_take_tags(tagged, tmp_path):
    file = tagged / "posts.csv"
    options = ["--text", "body", "--tags", "tags", "--paper", "-k", "2", "--json"]
    assert len(json.loads(run("cv", file, *options).stdout)["folds"]) == 2
    page = ["-o", tmp_path / "page.html"]
    run("explain", tagged / "m.homi", "--data", file, "--row", 0, file, *page)
    assert "C, C++" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "homi fit posts.csv --tags tags" in refused(
        "explain", "--data", "posts.csv", "--tags", "tags", *page
    )


@pytest.mark.parametrize("labels", [[], ["--labels", "tags"]])
def test_the_error_of_tags_names_the_option(labels, tagged):
    text = refused("fit", tagged / "posts.csv", "--text", "body", *labels)
    assert "column 'tags' holds tags, such as 'python; numpy; C, C++'" in text
    assert "pass --tags tags" in text


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (["[1]", "[2]"], "'[1]' in row 1, which is not a list of texts"),
        (['["a"]', "[" * 20_000 + "]"], "is not a list of texts"),
        (["", "NA"], "holds no tag"),
    ],
)
def test_cells_that_hold_no_tags(cells, sentence, tmp_path):
    table = pd.DataFrame({"body": ["one", "two"], "tags": cells})
    table.to_csv(tmp_path / "posts.csv", index=False)
    words = ["fit", tmp_path / "posts.csv", "--text", "body", "--tags", "tags"]
    assert sentence in refused(*words, "-o", tmp_path / "m.homi")


def test_many_distinct_tags_are_refused_before_memory_is_taken(tmp_path):
    names = [f"{i};{i + 10**6}" for i in range(20_000)]
    table = pd.DataFrame({"body": "a", "tags": names})
    table.to_csv(tmp_path / "posts.csv", index=False)
    words = ["fit", tmp_path / "posts.csv", "--text", "body", "--tags", "tags"]
    assert "20,000 rows of 40,000 labels need more" in refused(*words)


def test_tags_and_labels_are_one_too_many(tagged):
    words = ["fit", tagged / "posts.csv", "--tags", "tags", "--labels", "tags"]
    run(*words, code=2)


def test_what_is_certainly_tags():
    assert are_tags(["a;b", "b", "a"])
    assert not are_tags(["Rome, Italy", "Oslo, Norway"])
    assert not are_tags(["a", "b"])
    assert not are_tags([])
