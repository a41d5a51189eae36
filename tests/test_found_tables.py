"""Tables as people have them, from file to predictions."""

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import homi
from homi import HOMI
from homi.budget import Budget
from homi.cli.app import app
from homi.cli.tags import TagColumn, are_tags
from homi.datasets import plain_csv, read, tables
from homi.datasets.parquet_pages import page_bytes
from homi.datasets.plain_csv import UnequalRows
from homi.datasets.sniff import Dialect, sniff
from homi.io import load_file, load_model
from homi.tables import TableVectorizer
from homi.tables.kinds import date_order, date_parts

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


@pytest.mark.parametrize("join", ["|".join, ",".join, json.dumps])
def test_other_files_may_write_tags_in_another_way(join, tmp_path):
    table, tags = posts(60)
    tags = [[tag.replace(", ", "/") for tag in row] for row in tags]
    model, options = tmp_path / "m.homi", ["--tags", "tags", "--paper", "-q", "-o"]

    def write(name, join):
        path = tmp_path / name
        table.assign(tags=[join(row) for row in tags]).to_csv(path, index=False)
        return path

    def measures(data):
        result = run("evaluate", model, data, "--json")
        assert "unknown to the model" not in result.stderr
        return json.loads(result.stdout)["metrics"]

    ours, other = write("a.csv", "; ".join), write("b.csv", join)
    run("fit", ours, *options, model)
    expected = measures(ours)
    assert measures(other) == expected
    run("fit", other, *options, model)
    assert measures(ours) == expected


def test_lists_in_parquet_come_back_as_lists(tmp_path):
    table, tags = posts()
    path, model, out = (
        tmp_path / name for name in ("a.parquet", "m.homi", "b.parquet")
    )
    table.assign(tags=tags).to_parquet(path)
    options = ["--text", "body", "--tags", "tags", "--paper", "-q", "-o"]
    run("fit", path, *options, model)
    run("predict", model, path, "--keep", "body", "-o", out)
    found = pd.read_parquet(out)["tags"]
    assert [list(row) for row in found] == homi.predict_tags(
        load_model(model), table["body"].tolist()
    )
    result = run("evaluate", model, out, "--json")
    assert json.loads(result.stdout)["metrics"]["hamming_loss"] == 0


def test_tags_between_spaces_and_rows_without_tags_are_told(tmp_path):
    path, table = tmp_path / "rows.csv", posts()[0]
    tags = ["red round", "red", "round", "", "red small", "small"] * 7
    table.assign(tags=tags[:40]).to_csv(path, index=False)
    words = ["fit", path, "--tags", "tags", "--paper", "-o", tmp_path / "m.homi"]
    told = run(*words).stdout
    assert "5 different ones, 0.82 per row, none in 7 of 40 rows." in told
    assert "if spaces separate them, pass --tag-sep ' '." in told
    told = run(*words, "--tag-sep", " ").stdout
    assert "separated by ' ': 3 different ones" in told
    assert "if spaces" not in told


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
    texts = [f"On day {i}, note {i}, we saw {i} birds" for i in range(20)]
    assert not are_tags(["hello, world", "hello", "world", *texts])


def test_a_column_that_is_nearly_there_is_named(tagged):
    text = refused("fit", tagged / "posts.csv", "--tags", "tgas")
    assert "has no column 'tgas'; did you mean 'tags'? It has 'body', 'tags'" in text


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_a_note_stands_on_a_line_of_its_own():
    """A line of progress is on the terminal when the note comes."""
    code = (
        "import time; from homi.cli.terminal import working, print_note\n"
        "with working('Predicting', quiet=False):\n"
        "    time.sleep(0.3); print_note('Note: this.', quiet=False)"
    )
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    subprocess.run(
        [sys.executable, "-c", code], stderr=theirs, env=environment, check=True
    )
    os.close(theirs)
    screen = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "Predicting" in screen
    before, _, _ = screen.partition("Note: this.")
    assert before.endswith(("\n", "\x1b[2K"))


def measured(n=60, seed=0):
    """Numbers, words that are no ASCII, and two labels."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 2)).round(4), columns=["größe", "b"])
    table["ort"] = rng.choice(["Köln", "Århus"], n)
    table["tag_x"] = (table["größe"] > 0).astype(int)
    table["tag_y"] = (table["b"] + (table["ort"] == "Köln") > 0).astype(int)
    return table


def packed_as(suffix, data, path):
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("__MACOSX/x", b"aside")
            archive.writestr("../rows.csv", data)
        return
    packers = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}
    path.write_bytes((packers | {".bz2": bz2.compress})[suffix](data))


FORMS = {
    "excel": (";", ",", "cp1252", "\r\n", ".csv.gz"),
    "tabs": ("\t", ".", "utf-16", "\n", ".csv"),
    "bars": ("|", ".", "utf-8-sig", "\r\n", ".csv.xz"),
    "zip": (",", ".", "utf-8", "\n", ".csv.zip"),
    "commas": (",", ".", "latin-1", "\n", ".tsv.bz2"),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    directory = tmp_path_factory.mktemp("plain")
    measured().to_csv(directory / "rows.csv", index=False)
    options = ["-l", "tag_*", "--paper", "--neighbors", "2", "-o"]
    result = run("fit", directory / "rows.csv", *options, directory / "m.homi")
    assert "Read as: " not in result.stdout
    return directory


@pytest.mark.parametrize("form", FORMS)
def test_every_way_to_write_a_table_is_the_same_table(form, plain, tmp_path):
    delimiter, decimal, encoding, end, suffix = FORMS[form]
    text = measured().to_csv(
        sep=delimiter, decimal=decimal, index=False, lineterminator=end
    )
    path = tmp_path / f"rows{suffix}"
    packed_as(path.suffix if suffix.count(".") > 1 else "", text.encode(encoding), path)
    options = ["-l", "tag_*", "--paper", "--neighbors", "2", "-o"]
    result = run("fit", path, *options, tmp_path / "m.homi")
    if form == "excel":
        said = "Read as: encoding cp1252, cells between semicolons, decimal commas."
        assert said in result.stdout
    outputs = []
    for model, file in (
        (plain / "m.homi", plain / "rows.csv"),
        (tmp_path / "m.homi", path),
    ):
        words = ["predict", model, file, "--scores", "--keep", "ort"]
        outputs.append(run(*words).stdout)
    assert outputs[0] == outputs[1]
    assert "Köln" in outputs[0]


def test_json_lines_are_a_table(plain, tmp_path):
    path = tmp_path / "rows.jsonl"
    measured().to_json(path, orient="records", lines=True, double_precision=15)
    words = ["--scores", "--keep", "ort"]
    expected = run("predict", plain / "m.homi", plain / "rows.csv", *words).stdout
    assert run("predict", plain / "m.homi", path, *words).stdout == expected


def test_json_lines_with_lists_of_tags(tmp_path):
    table, tags = posts()
    rows = [
        json.dumps({"body": text, "tags": row} if row else {"body": text, "tags": None})
        for text, row in zip(table["body"], tags, strict=True)
    ]
    (tmp_path / "posts.ndjson").write_text("\n".join(rows))
    options = ["--text", "body", "--tags", "tags", "--paper", "-q", "-o"]
    run("fit", tmp_path / "posts.ndjson", *options, tmp_path / "m.homi")
    out = run("predict", tmp_path / "m.homi", tmp_path / "posts.ndjson").stdout
    found = pd.read_csv(io.StringIO(out))["tags"].map(json.loads)
    assert found.map(set).isin([set(row) for row in tags]).all()
    assert "json" in load_file(tmp_path / "m.homi").preprocessing["tags"]


def test_the_same_without_pyarrow(tmp_path, monkeypatch):
    text = measured().to_csv(sep=";", decimal=",", index=False)
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode("cp1252"))
    fast = read(path, labels="tag_*")
    parsers = sys.modules["homi.datasets.read"]  # not the function
    monkeypatch.setattr(parsers, "find_spec", lambda name: None)
    slow = read(path, labels="tag_*")
    np.testing.assert_array_equal(fast.X, slow.X)
    assert fast.feature_names == slow.feature_names == ["größe", "b", "ort"]
    np.testing.assert_array_equal(fast.X[:, 0], measured()["größe"])


def test_the_first_byte_that_is_not_utf8_may_be_late(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b,y\n" + b"1,x,0\n" * 20_000 + b"2,\xe9,1\n")
    assert sniff(path, Budget.of(path)).encoding == "cp1252"
    assert len(read(path, labels="y").Y) == 20_001


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a, in m;b\n1,5;2\n1;2\n", ";"),
        ("a;b,y\n1,2\n", ","),
        ('"a;b",y\n1,2\n', ","),
        ("body\nfirst; second\n", ","),
        ("a,b\n1\n", ","),
    ],
)
def test_delimiters(text, delimiter, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    assert sniff(path, Budget.of(path)).delimiter == delimiter


def test_bombs_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMI_MAX_MEMORY", "2e7")
    line = b"1,2\n" * (1 << 20)
    with zipfile.ZipFile(
        tmp_path / "bomb.csv.zip", "w", zipfile.ZIP_DEFLATED
    ) as archive:
        archive.writestr("bomb.csv", b"a,tag\n" + line * 6)
    text = refused("fit", tmp_path / "bomb.csv.zip", "-l", "tag")
    assert "need more than the 20 MB of memory" in text
    with zipfile.ZipFile(tmp_path / "two.csv.zip", "w") as archive:
        archive.writestr("a.csv", b"a")
        archive.writestr("b.csv", b"a")
    assert "an archive of 2 files" in refused("fit", tmp_path / "two.csv.zip")
    (tmp_path / "no.csv.zip").write_bytes(b"PK\x03\x04 no")
    assert "no zip archive" in refused("fit", tmp_path / "no.csv.zip")
    keys = "\n".join(json.dumps({str(i): 1}) for i in range(3_000))
    (tmp_path / "keys.jsonl").write_text(keys)
    assert "3,000 columns need more" in refused("fit", tmp_path / "keys.jsonl")


def test_zip_archives_are_not_written(plain, tmp_path):
    words = ["predict", plain / "m.homi", plain / "rows.csv"]
    run(*words, "-o", tmp_path / "tags.csv.zip", code=2)


def mixed_table(n=60, seed=0):
    """A table with all kinds of columns, and labels that depend on the dates."""
    rng = np.random.default_rng(seed)
    days = pd.to_timedelta(rng.integers(0, 1500, n), unit="D")
    table = pd.DataFrame({"order_id": rng.permutation(n), "key": rng.random(n)})
    table["key"] = [f"k-{value:.9f}" for value in table["key"]]
    table["when"] = pd.Timestamp("2020-01-05 10:30") + days
    table["paid"] = rng.random(n) < 0.5
    table["size"] = rng.normal(size=n)
    table["tag_weekend"] = (table["when"].dt.day_of_week >= 5).astype(int)
    table["tag_new"] = (table["when"].dt.year > 2021).astype(int)
    table.loc[3, "when"] = pd.NaT
    table.loc[[4, 5], "size"] = np.nan
    return table


NUMBERS = ["when.year", "when.month", "when.day", "when.weekday", "when.hour", "size"]


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_dates_gaps_booleans_and_identifiers(suffix, tmp_path):
    path, table = tmp_path / f"rows{suffix}", mixed_table()
    if suffix == ".parquet":
        table.to_parquet(path)
    elif suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        rows = table.assign(when=table["when"].astype(str).replace("NaT", None))
        rows.to_json(path, orient="records", lines=True)
    options = ["-l", "tag_*", "--paper", "--neighbors", "2", "-o", tmp_path / "m.homi"]
    text = run("fit", path, *options).stdout
    assert "Left out as identifiers: 'order_id', 'key'." in text
    assert "Read as dates (year-month-day): 'when', as year, month, day" in text
    assert "imputed: 2 in 'size', 1 in 'when.year'" in text
    model = load_file(tmp_path / "m.homi")
    features = list(model.model.feature_names_in_)
    assert set(NUMBERS) <= {*features}
    assert any(name.startswith("paid") for name in features)
    assert model.preprocessing["dropped"] == ["order_id", "key"]
    words = ["predict", tmp_path / "m.homi", path, "--scores", "--keep", "when"]
    result = run(*words)
    assert "unknown to the model" not in result.stderr
    # The same by hand.
    when, paid = table["when"], table["paid"].astype(int)
    X = pd.DataFrame({"size": table["size"]})
    for part in ("year", "month", "day", "hour"):
        X[f"when.{part}"] = getattr(when.dt, part)
    X["when.weekday"] = when.dt.day_of_week
    X = X.fillna(X.mean())
    for name in features:
        if name.startswith("paid"):
            is_false = name.lower().endswith("=false")
            X[name] = 1 - paid if is_false else paid
    Y = table[["tag_weekend", "tag_new"]].to_numpy()
    expected = HOMI(n_neighbors=2).fit(X[features].to_numpy(), Y)
    found = pd.read_csv(io.StringIO(result.stdout)).filter(like="score:")
    np.testing.assert_allclose(
        found, expected.decision_function(X[features].to_numpy()), atol=1e-6
    )


def test_parts_of_a_date():
    found = date_parts(["2024-02-29 13:45:10", "NA"], "ymd", "day")
    assert found == [["2024", ""], ["2", ""], ["29", ""], ["3", ""], ["13", ""]]
    assert date_parts(["31.1.2024"], "dmy", "day")[:2] == [["2024"], ["1"]]
    assert date_order(["1/2/2024", "13/2/2024"]) == "dmy"
    assert date_order(["1/2/24"]) is None


def test_dates_must_be_dates_when_predicting(tmp_path):
    table = mixed_table()
    table["when"] = table["when"].dt.strftime("%d.%m.%Y")
    table.to_csv(tmp_path / "rows.csv", index=False)
    options = ["-l", "tag_*", "--paper", "--neighbors", "2", "-o", tmp_path / "m.homi"]
    assert (
        "dates (day/month/year)" in run("fit", tmp_path / "rows.csv", *options).stdout
    )
    table.loc[7, "when"] = "soon"
    table.to_csv(tmp_path / "new.csv", index=False)
    words = ["predict", tmp_path / "m.homi", tmp_path / "new.csv"]
    assert "'soon' in row 8, and held dates as day/month/year" in refused(*words)
    table.drop(columns="when").to_csv(tmp_path / "new.csv", index=False)
    assert "lacks the column(s) 'when'" in refused(*words)


def test_texts_are_found_alone_and_beside_other_columns(tmp_path):
    table, tags = posts()
    table["body"] += [f" number {i}" for i in range(len(table))]
    table["url"] = [f"https://example.org/{i}" for i in range(len(table))]
    table["tags"] = [";".join(row) for row in tags]
    table.to_csv(tmp_path / "posts.csv", index=False)
    words = ["fit", tmp_path / "posts.csv", "--tags", "tags", "--paper"]
    text = run(*words, "-o", tmp_path / "m.homi").stdout
    assert "Left out as identifiers: 'url'." in text
    assert "Read as texts: 'body'." in text
    assert load_file(tmp_path / "m.homi").preprocessing["text"] == ["body"]
    run("predict", tmp_path / "m.homi", tmp_path / "posts.csv")
    rng = np.random.default_rng(0)
    table = pd.concat([table] * 10).assign(size=rng.normal(size=400))
    table["city"] = [f"city {i % 300}" for i in range(400)]
    table["body"] += [f" {i}" for i in range(400)]
    table.to_csv(tmp_path / "posts.csv", index=False)
    text = run(*words, "--json", "-o", tmp_path / "m.homi").stdout
    features = load_model(tmp_path / "m.homi")[0].get_feature_names_out()
    assert json.loads(text)["features"] == len(features)
    assert {"size", "city=city 0", "body:import"} <= {*features}


def test_predictions_have_names_without_the_prefix(plain):
    model, file = plain / "m.homi", plain / "rows.csv"
    header = run("predict", model, file, "--scores").stdout.splitlines()[0]
    assert header == "x,y,score:x,score:y"
    rows = json.loads(run("predict", model, file, "--json").stdout)
    assert rows["labels"] == ["x", "y"]
    run("evaluate", model, file, "--json")  # which finds tag_x and tag_y


def test_rare_words_become_one(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"city": [f"c{i % 300}" for i in range(400)]})
    table["size"] = rng.normal(size=400)
    table["tag_a"] = (table["size"] > 0).astype(int)
    table["tag_b"] = (rng.random(400) < 0.5).astype(int)
    table.to_csv(tmp_path / "rows.csv", index=False)
    options = ["-l", "tag_*", "--paper", "--neighbors", "2", "-o", tmp_path / "m.homi"]
    text = run("fit", tmp_path / "rows.csv", *options).stdout
    assert "All but the 255 most frequent words are one: 'city'." in text
    model = load_file(tmp_path / "m.homi").model
    assert model.n_features_in_ == 257
    assert "city=(other)" in model.feature_names_in_
    kept = {name.removeprefix("city=") for name in model.feature_names_in_}
    assert {f"c{i}" for i in range(100)} <= kept  # these occur twice
    rare = min({*table["city"]} - kept)
    new = pd.DataFrame({"city": ["nowhere", rare, "c1"], "size": [0.5, 0.5, 0.5]})
    new.to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", tmp_path / "m.homi", tmp_path / "new.csv", "--scores")
    lines = result.stdout.splitlines()
    assert lines[1] == lines[2] != lines[3]
    assert result.stderr == ""


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_rows_from_standard_input(form, plain, tmp_path):
    path, table = tmp_path / f"rows.{form}", measured()
    if form == "csv":
        table.to_csv(path, index=False, sep=";", decimal=",", encoding="cp1252")
    elif form == "jsonl":
        table.to_json(path, orient="records", lines=True, double_precision=15)
    else:
        table.to_parquet(path)
    model = plain / "m.homi"
    expected = run("predict", model, plain / "rows.csv", "--scores").stdout
    data = path.read_bytes()
    assert run("predict", model, "-", "--scores", stdin=data).stdout == expected
    lines = run("predict", model, "-", "--json-lines", "-q", stdin=data).stdout
    rows = [json.loads(line) for line in lines.splitlines()]
    by_row = json.loads(run("predict", model, path, "--json", "-q").stdout)
    assert rows == by_row["rows"]
    found = run("evaluate", model, "-", "--json", "-q", stdin=data).stdout
    assert found == run("evaluate", model, path, "--json", "-q").stdout


def test_standard_input_that_cannot_be_read(plain):
    words = ["predict", plain / "m.homi", "-"]
    assert "standard input: is empty" in run(*words, code=1, stdin=b"").stderr
    run(*words, "--json-lines", "-o", "tags.csv", code=2)
    text = run(*words, code=1, stdin=b"a,b\n1\n").stderr
    assert "standard input: line 2: Expected 2 columns" in text
    text = run(*words, code=1, stdin=b"a,b\n1,2\n").stderr
    assert "stdin.csv: lacks 2 of the 3 columns" in text


# Sizes of pages are those of their headers, whatever the footer says.


OPTIONS = [
    {},
    {"compression": "zstd"},
    {"compression": "none", "use_dictionary": False},
    {"compression": "gzip", "data_page_version": "2.0"},
    {"data_page_size": 5000, "write_page_checksum": True},
    {"row_group_size": 700},
]


def written(table, **options):
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_headers_and_footer_agree_in_a_sound_file(options):
    rng = np.random.default_rng(0)
    columns = {
        "number": rng.normal(size=2000),
        "word": [f"w{i % 500}" for i in range(2000)],
        "list": [[1, 2]] * 2000,
        "gap": pa.array([None, 1.5] * 1000),
    }
    buffer = written(pa.table(columns), **options)
    metadata = pq.ParquetFile(buffer).metadata
    sizes = page_bytes(buffer)
    assert len(sizes) == metadata.num_row_groups
    for i, size in enumerate(sizes):
        # The footer counts the headers as well.
        stated = metadata.row_group(i).total_byte_size
        assert 0.9 * stated < size <= stated


def varint(value, length=None):
    """A zigzag number of the Thrift compact protocol, padded to a length."""
    value, out = value << 1, bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    for _ in range((length or 0) - len(out)):
        out[-1] |= 128
        out.append(0)
    return bytes(out)


def test_a_footer_that_understates_its_pages_is_not_believed(tmp_path):
    n = 10_000_000
    table = pa.table({"x": np.zeros(n), "y": np.zeros(n, np.int8)})
    data = bytearray(
        written(
            table, compression="zstd", use_dictionary=False, data_page_size=2**30
        ).getvalue()
    )
    assert len(data) < 1_000_000
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    group = metadata.row_group(0)
    sizes = [group.column(j).total_uncompressed_size for j in range(2)]
    footer = int.from_bytes(data[-8:-4], "little")
    head, tail = bytes(data[: -8 - footer]), bytes(data[-8 - footer :])
    for told in {n, group.total_byte_size, *sizes}:
        tail = tail.replace(varint(told), varint(2, len(varint(told))))
    path = tmp_path / "lie.parquet"
    path.write_bytes(head + tail)
    assert pq.ParquetFile(path).metadata.num_rows == 2
    with pytest.raises(ValueError, match=r"its pages .* more than the 50 MB"):
        read(path, ["y"], max_memory=50e6)


@pytest.mark.parametrize("byte", [0x00, 0x1B, 0x1F, 0xF5, 0xFF])
def test_a_damaged_header_is_one_sentence(byte, tmp_path):
    table = pa.table({"x": np.arange(50.0), "y": np.arange(50) % 2})
    data = bytearray(written(table, compression="none").getvalue())
    data[4:24] = bytes([byte]) * 20
    path = tmp_path / "damaged.parquet"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"damaged\.parquet: has a|cannot be read"):
        read(path, ["y"])


def test_a_column_that_pyarrow_aborts_on(tmp_path):
    """A histogram of levels in a column that says it has none."""
    table = pa.table({"x": pa.array([None, 1.0] * 25), "y": np.arange(50) % 2})
    data = written(table, compression="none").getvalue()
    optional, required = b"\x25\x02\x18\x01x", b"\x25\x00\x18\x01x"
    assert data.count(optional) == 1
    path = tmp_path / "odd.parquet"
    path.write_bytes(data.replace(optional, required))
    # An abort would end this process. Older pyarrow writes no histograms.
    with contextlib.suppress(ValueError):
        read(path, ["y"])


def test_all_lines_of_another_length_are_told_with_a_command(tmp_path, monkeypatch):
    lines = ["size,price,name,tag_a,tag_b"]
    lines += [f"{i},{i},{'xyz'[i % 3]},{i % 2},{i // 2 % 2}" for i in range(30)]
    lines[4] += ",1"
    lines[9] = "1,2"
    lines[20] = "9 cm,3 x,x,1,0"
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    words = ["fit", str(path), "--labels", "tag_*", "--paper"]
    words += ["-o", str(tmp_path / "m.homi")]
    monkeypatch.setattr("sys.argv", ["homi", *words])
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    said = " ".join(result.stderr.split())
    for text in ("line 5: Expected 5 columns, got 6", "All 2 such lines: 5, 10."):
        assert text in said
    for text in ("2 columns cannot be read", "'9 cm'", "'3 x'"):
        assert text in said
    command = re.search(r"`sed '(.*?)' (\S+) > (\S+) && homi (.*?)`", said)
    assert command is not None
    deleted = {int(line) for line in re.findall(r"(\d+)d;", command[1])}
    kept = [line for i, line in enumerate(lines, 1) if i not in deleted]
    Path(command[3]).write_text("\n".join(kept) + "\n")
    result = CliRunner().invoke(app, shlex.split(command[4]))
    assert result.exit_code == 0, result.stderr


def test_a_header_alone_and_a_single_tag_are_told(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,tags\n")
    assert "has no rows" in refused("fit", path, "--tags", "tags")
    path.write_text("a,b,tags\n" + "1,2,x\n2,1,\n" * 10)
    words = ["fit", path, "--tags", "tags", "--paper", "-o", tmp_path / "m.homi"]
    assert "one tag, 0.5 per row" in run(*words).stdout


@pytest.mark.parametrize("parsers", [tables, plain_csv])
def test_many_lines_of_another_length_are_counted(parsers, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "1,2\n3\n" * 20)
    budget = Budget.of(path)
    named = ", ".join(str(line) for line in range(3, 23, 2))
    with pytest.raises(UnequalRows, match=rf"All 20 such lines: {named}, and 10 more"):
        parsers.text_columns(path, budget, Dialect())


def test_lines_of_a_packed_file_are_told_without_a_command(tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b,tags\n1,2,x\n3\n1,3,y\n"))
    result = CliRunner().invoke(app, ["fit", str(path), "--tags", "tags"])
    said = " ".join(result.stderr.split())
    assert "line 3: Expected 3 columns, got 1: 3. Correct them, or" in said
    assert "sed" not in said


def test_all_columns_that_cannot_be_read_are_told_at_once(tmp_path, monkeypatch):
    lines = ["size,price,name,tag_a,tag_b"]
    lines += [f"{i},{i},word,{i % 2},{i // 2 % 2}" for i in range(8)]
    lines += ["9 cm,3 x,word,1,2"]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    words = ["fit", str(path), "--labels", "tag_*", "-o", str(tmp_path / "m.homi")]
    monkeypatch.setattr("sys.argv", ["homi", *words])
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    for text in ("3 columns cannot be read", "'9 cm'", "'3 x'", "'tag_b' is 2"):
        assert text in result.stderr
    (command,) = re.findall("`(.*)`", result.stderr)
    ready = shlex.split(command)
    drops = ["--drop", "size", "--drop", "price", "--drop", "tag_b"]
    assert ready == ["homi", *words, *drops]
    assert CliRunner().invoke(app, ready[1:]).exit_code == 0


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_one_column_of_missing_vectors_is_named_with_a_command(
    suffix, tmp_path, monkeypatch
):
    table, tags = posts()
    vectors = [None if i % 9 == 0 else [i / 2.0, 1.0] for i in range(len(table))]
    table = table.assign(tags=tags, vector=vectors)
    path = tmp_path / f"rows{suffix}"
    if suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_json(path, orient="records", lines=True)
    words = ["fit", str(path), "--tags", "tags", "--paper"]
    words += ["-o", str(tmp_path / "m.homi")]
    monkeypatch.setattr("sys.argv", ["homi", *words])
    error = refused(*words)
    assert "column 'vector': " in error
    (command,) = re.findall("`(.*)`", error)
    assert shlex.split(command) == ["homi", *words, "--drop", "vector"]
    run(*shlex.split(command)[1:])
    with pytest.raises(ValueError, match=r"column 'vector': 5 of 40 rows have no list"):
        TableVectorizer().fit(table.drop(columns="tags"))
