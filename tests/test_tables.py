"""Data frames with columns of any kind -> features, models, files, predictions."""

import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from typer.testing import CliRunner

import homi
from homi.cli.app import app
from homi.datasets import read
from homi.estimators import HOMI, HOMICV, BinaryRelevance
from homi.io import ModelFileError, load_model, save
from homi.tables import TableVectorizer
from homi.tables.frame import Frame

WORDS = {"python": "import def module", "numpy": "array axis shape"}


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


def posts(n=60, seed=0):
    """A table with a column of each kind, and tags that texts and sizes tell."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, 3)) < 0.5
    tags = [
        [tag for tag, y in zip((*WORDS, "large"), row, strict=True) if y] for row in Y
    ]
    body = [
        " ".join([f"post number {i}", *(WORDS[t] for t in row if t in WORDS)])
        for i, row in enumerate(tags)
    ]
    frame = pd.DataFrame({"post_id": rng.permutation(n), "body": body})
    frame["size"] = 1e4 * (rng.random(n) + Y[:, 2])
    frame["color"] = pd.Categorical(rng.choice(["red", "blue"], n))
    frame["sent"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        rng.integers(0, 500, n), unit="D"
    )
    frame["paid"] = rng.random(n) < 0.5
    frame["count"] = pd.array(rng.integers(0, 5, n), dtype="Int64")
    frame["vector"] = list(rng.normal(size=(n, 2)))
    frame.loc[[3, 4], "size"] = np.nan
    frame.loc[5, "count"] = pd.NA
    frame.loc[6, "sent"] = pd.NaT
    frame.loc[7, "body"] = None
    return frame, tags


FEATURES = [
    *("size", "color=blue", "color=red", "paid", "count"),
    *(f"sent.{part}" for part in ("year", "month", "day", "weekday", "hour")),
    *("vector[0]", "vector[1]"),
]


def agreement(found, truth):
    """Return the share of labels that are right."""
    pairs = zip(found, truth, strict=True)
    return 1 - sum(len({*a} ^ {*b}) for a, b in pairs) / (3 * len(truth))


def quick():
    return HOMICV(widths=[], trees=False)


@pytest.fixture(scope="module")
def fitted():
    frame, tags = posts()
    return homi.table_model(classifier=quick()).fit(frame, tags)


def test_what_each_column_becomes():
    frame, _ = posts()
    vectorizer = TableVectorizer()
    X = vectorizer.fit_transform(frame)
    names = vectorizer.get_feature_names_out().tolist()
    assert names[: len(FEATURES)] == FEATURES
    assert "body:axis" in names
    assert "Left out as identifiers: 'post_id'." in vectorizer.notes_
    assert "Read as texts: 'body'." in vectorizer.notes_
    assert sparse.issparse(X)
    assert X.shape == (len(frame), len(names))
    # Each part has rows of length 1 on average, and numbers have mean 0.
    X = X.toarray()
    for part in (X[:, :10], X[:, 10:12]):
        assert (part**2).sum(axis=1).mean() == pytest.approx(1)
    assert X[:, 0].mean() == pytest.approx(0, abs=1e-12)
    np.testing.assert_array_equal(X[:, 2] > 0, frame["color"] == "red")
    words = TfidfVectorizer(sublinear_tf=True, max_features=2000)
    expected = words.fit_transform(frame["body"].fillna(""))
    np.testing.assert_allclose(X[:, 12:], expected.toarray(), rtol=1e-12)


def test_one_kind_of_columns_is_not_scaled():
    table = {"size": [1.0, None, 3.0], "kind": ["cat", "dog", "cat"]}
    found = TableVectorizer(missing="median").fit_transform(table)
    assert found.tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0]]
    texts = ["red ball", "blue ball"]
    vectorizer = TableVectorizer().fit(texts)
    assert vectorizer.get_feature_names_out().tolist() == ["ball", "blue", "red"]


def test_polars_and_dicts_are_the_same(fitted):
    frame, _ = posts(20, 1)
    expected = fitted.predict_proba(frame)
    columns = {name: frame[name].tolist() for name in frame}
    for same in (pl.from_pandas(frame), columns, frame[frame.columns[::-1]]):
        np.testing.assert_array_equal(fitted.predict_proba(same), expected)


def test_the_model_names_words_and_columns(fitted):
    frame, tags = posts(40, 2)
    assert agreement(homi.predict_tags(fitted, frame), tags) > 0.9
    assert fitted.predict_tags(frame) == homi.predict_tags(fitted, frame)
    assert fitted.top_k(frame, 2) == homi.top_k(fitted, frame, 2)
    ((name, probability), *_) = homi.top_k(fitted, frame[:1], 3)[0]
    assert name in tags[0]
    assert probability > 0.5
    row = next(i for i, row in enumerate(tags) if "large" in row and "numpy" in row)
    for label, feature in (("numpy", "body:axis"), ("large", "size")):
        found = homi.why(fitted, frame.iloc[row], [label])
        strongest = max(
            (t for t in found.terms if t.kind == "feature"),
            key=lambda t: t.contribution,
        )
        assert strongest.name.split(":")[0] == feature.split(":")[0]
        total = sum(term.contribution for term in found.terms)
        assert total == pytest.approx(found.scores[label])
    # As the table has it, although the model takes it scaled.
    assert strongest.value == pytest.approx(frame["size"][row])
    assert fitted.why(frame.iloc[row], [label]) == found


def test_a_notebook_shows_the_summary_of_the_model(fitted):
    assert fitted.summary() == fitted[-1].summary()
    for page in (fitted._repr_html_(), fitted._repr_mimebundle_()["text/html"]):
        assert "macro-AUC" in page
    assert "macro-AUC" not in homi.table_model()._repr_html_()
    other = homi.table_model(classifier=BinaryRelevance())
    assert not hasattr(other, "summary")
    assert "macro-AUC" not in other._repr_html_()


def test_files_hold_the_whole_pipeline(fitted, tmp_path):
    frame, _ = posts(20, 3)
    save(fitted, tmp_path / "m.homi")
    same = load_model(tmp_path / "m.homi")
    expected = fitted.predict_proba(frame)
    np.testing.assert_array_equal(same.predict_proba(frame), expected)
    assert same[0].notes_ == fitted[0].notes_
    assert clone(same)[0].get_params() == fitted[0].get_params()
    frame.to_parquet(tmp_path / "new.parquet")
    frame.to_json(
        tmp_path / "new.jsonl", orient="records", lines=True, date_format="iso"
    )
    for file in ("new.parquet", "new.jsonl"):
        out = run("predict", tmp_path / "m.homi", tmp_path / file, "--proba", "-q")
        found = pd.read_csv(io.StringIO(out.stdout)).filter(like="probability:")
        np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-9)


def test_a_file_with_other_columns_is_refused(fitted, tmp_path):
    model = homi.table_model(classifier=BinaryRelevance())
    frame, tags = posts()
    model.fit(frame, tags)
    model[0].scaling_[0][1][0] = 0.0
    save(model, tmp_path / "m.homi")
    with pytest.raises(ModelFileError, match="not positive"):
        load_model(tmp_path / "m.homi")


def test_the_command_takes_texts_beside_other_columns(tmp_path):
    frame, tags = posts()
    frame["tags"] = tags
    frame.to_parquet(tmp_path / "posts.parquet")  # tags and vectors are lists
    words = ["fit", tmp_path / "posts.parquet", "--text", "body", "--tags", "tags"]
    model = tmp_path / "m.homi"
    text = run(*words, "--linear", "-o", model).stdout
    assert "Read as vectors of 2 numbers: 'vector'." in text
    assert "imputed: 2 in 'size', 1 in 'count', 1 in 'sent.year'" in text
    loaded = load_model(model)
    assert {*FEATURES, "body:axis"} <= {*loaded[0].get_feature_names_out()}
    new, truth = posts(30, 4)
    new.to_parquet(tmp_path / "new.parquet")
    out = run("predict", model, tmp_path / "new.parquet", "-q").stdout
    found = pd.read_csv(io.StringIO(out))["tags"].map(json.loads)
    assert found.tolist() == homi.predict_tags(loaded, new)
    assert agreement(found, truth) > 0.9
    row = run("explain", model, tmp_path / "new.parquet", "--row", 0).stdout
    assert "body:" in row
    assert f"size = {new['size'][0]:g}" in row
    assert "Read as numbers: 'size', 'paid', 'count'." in text
    assert "Read as words: 'color'." in text
    options = {"orient": "records", "lines": True, "date_format": "iso"}
    frame.to_json(tmp_path / "rows.jsonl", **options)
    words[1] = tmp_path / "rows.jsonl"
    folds = run("cv", *words[1:], "--linear", "-k", 2, "--json").stdout
    assert json.loads(folds)["mean"]["hamming_loss"] < 0.1


def test_embeddings_of_a_file(tmp_path):
    frame, tags = posts()
    vectors = np.stack(frame.pop("vector"))
    frame["tags"] = [";".join(row) for row in tags]
    frame[["body", "tags"]].to_csv(tmp_path / "posts.csv", index=False)
    np.save(tmp_path / "v.npy", vectors.astype(np.float32))
    model, file = tmp_path / "m.homi", tmp_path / "posts.csv"
    words = ["--tags", "tags", "--linear", "-q", "-o", model]
    given = ["--embeddings", tmp_path / "v.npy"]
    run("fit", file, *words, *given)
    names = load_model(model)[0].get_feature_names_out().tolist()
    assert names[:2] == ["embeddings[0]", "embeddings[1]"]
    run("evaluate", model, file, *given, "--json")
    error = run("predict", model, file, code=1).stderr
    assert "fitted with --embeddings; pass those of the rows" in error
    np.save(tmp_path / "v.npy", vectors[1:])
    error = run("predict", model, file, *given, code=1).stderr
    assert "has 59 rows" in error
    (tmp_path / "v.npy").write_bytes(b"no array")
    assert "numpy.save" in run("predict", model, file, *given, code=1).stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.drop(columns=["size", "sent"]), "lacks 2 of the 7 columns"),
        (lambda f: f.assign(size="tall"), "held numbers in training"),
        (lambda f: f.assign(vector=[[1.0]] * len(f)), "held lists of 2 numbers"),
        (lambda f: f.assign(vector=1.0), "holds no lists"),
        (lambda f: f.assign(sent="soon"), "held dates as year-month-day"),
        (lambda f: f.to_numpy(), "expected a data frame"),
    ],
)
def test_rows_that_differ_from_training(change, words, fitted):
    with pytest.raises((TypeError, ValueError), match=words):
        fitted.predict(change(posts(20, 1)[0]))


def test_columns_that_are_named_must_be_there():
    with pytest.raises(ValueError, match="no column 'title'"):
        homi.table_model("title").fit(*posts())
    frame, tags = posts()
    model = homi.table_model(drop=["vector", "sent"], classifier=BinaryRelevance())
    names = model.fit(frame, tags)[0].get_feature_names_out()
    assert not any(name.startswith(("vector", "sent")) for name in names)
    with pytest.raises(ValueError, match="lists of numbers have 1 to 2 entries"):
        TableVectorizer().fit({"v": [[1.0], [1.0, 2.0]]})


def test_missing_values_of_every_kind():
    cells = [None, float("nan"), pd.NA, pd.NaT, "x"]
    assert Frame.of({"a": cells}).columns[0] == ["", "", "", "", "x"]
    (column,) = Frame.of({"a": [True, None, 2]}).columns
    np.testing.assert_array_equal(column, [1, np.nan, 2])


def test_lists_in_parquet_have_a_budget(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMI_MAX_MEMORY", "2e6")
    for name, cell in (("zeros", [0.0] * 10_000), ("words", ["x" * 1000] * 5_000)):
        table = pa.table({"a": [cell] * 20, "tag": [0, 1] * 10})
        pq.write_table(table, tmp_path / f"{name}.parquet")
        assert (tmp_path / f"{name}.parquet").stat().st_size < 1e5
        options = ["--labels", "tag"] if name == "zeros" else ["--tags", "a"]
        error = run("fit", tmp_path / f"{name}.parquet", *options, code=1).stderr
        assert "need more than the 2 MB of memory" in error


def words_with_parts(n=150):
    """Texts of words that occur once; a label depends on how a word begins or ends."""
    rng = np.random.default_rng(0)
    letters = [
        ["".join(rng.choice([*"aeioulmnt"], 7)) for _ in range(3)] for _ in "x" * n
    ]
    Y = (rng.random((n, 2)) < 0.5).astype(int)
    texts = [
        f"{'pre' * a}{one} {two} {three}{'ing' * b}"
        for (one, two, three), (a, b) in zip(letters, Y, strict=True)
    ]
    return texts, Y


def test_auto_takes_characters_where_they_are_better(tmp_path):
    texts, Y = words_with_parts()
    last = HOMICV(kernels=(), trees=False, logistic=False)
    model = homi.table_model(classifier=last).fit(texts[:120], Y[:120])
    vectorizer = model[0]
    assert vectorizer.text_features_ == "characters"
    assert vectorizer.text_scores_["characters"] > vectorizer.text_scores_["tfidf"]
    assert np.mean(model.predict(texts[120:]) == Y[120:]) > 0.8
    names = vectorizer.get_feature_names_out()
    assert {"pre…", "…ing"} <= set(names)
    assert len(set(names)) == len(names) == vectorizer.transform(texts[:1]).shape[1]
    save(model, tmp_path / "model.homi")
    again = load_model(tmp_path / "model.homi")
    np.testing.assert_array_equal(
        again.decision_function(texts[120:]), model.decision_function(texts[120:])
    )
    words = TfidfVectorizer(sublinear_tf=True, max_features=2000).fit(texts[:120])
    found = TableVectorizer(text_features="tfidf").fit(texts[:120]).transform(texts)
    np.testing.assert_array_equal(found.toarray(), words.transform(texts).toarray())


def test_few_texts_and_texts_without_labels_become_words():
    texts, Y = words_with_parts()
    assert TableVectorizer().fit(texts[:99], Y[:99]).text_features_ == "tfidf"
    assert TableVectorizer().fit(texts).text_features_ == "tfidf"
    forced = TableVectorizer(text_features="characters").fit(texts[:9])
    assert forced.letters_ is not None


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame])
def test_a_table_model_answers_a_data_frame_by_one(form):
    given, tags = {"a": np.arange(30.0) % 7}, [["x"], ["x", "y"], []] * 10
    model = homi.table_model(classifier=BinaryRelevance()).fit(form(given), tags)
    for method in ("predict", "predict_proba", "decision_function"):
        found = getattr(model, method)(form(given))
        assert isinstance(found, form)
        assert list(found.columns) == ["x", "y"]
        np.testing.assert_array_equal(found, getattr(model, method)(given))
    assert type(clone(model)) is type(model)


def test_a_table_model_keeps_the_index_and_its_kind_in_a_file(fitted, tmp_path):
    frame = posts(9)[0].set_index(pd.Index(range(10, 19)))
    assert fitted.predict(frame).index.tolist() == frame.index.tolist()
    save(fitted, tmp_path / "model.homi")
    loaded = load_model(tmp_path / "model.homi")
    pd.testing.assert_frame_equal(loaded.predict(frame), fitted.predict(frame))
    assert list(loaded.predict_proba(frame).columns) == ["large", "numpy", "python"]


def test_a_table_model_has_the_methods_of_its_classifier():
    model = homi.table_model(classifier=Ridge())
    assert not hasattr(model, "predict_proba")


def test_empty_columns_are_left_out():
    a = np.arange(30.0) ** 2
    frame = pd.DataFrame({"a": a, "b": np.nan, "c": None, "d": " "})
    vectorizer = TableVectorizer().fit(frame)
    assert vectorizer.get_feature_names_out().tolist() == ["a"]
    assert vectorizer.notes_ == [
        "Left out, because every cell is empty: 'b', 'c', 'd'."
    ]
    assert vectorizer.transform(frame[["a"]]).shape == (30, 1)
    with pytest.raises(ValueError, match="no feature column is left: 'b', 'c', 'd'"):
        TableVectorizer().fit(frame.drop(columns="a"))


def test_a_trailing_comma_is_no_column(tmp_path):
    path, new = tmp_path / "rows.csv", tmp_path / "new.csv"
    rows = [f"{i % 7},{i % 3},{int(i % 7 > 3)}" for i in range(40)]
    path.write_text("\n".join(f"{row}," for row in ["a,b,tag_x", *rows]))
    new.write_text("a,b\n1,2\n6,2\n")
    model = tmp_path / "model.homi"
    result = run("fit", path, "--labels", "tag_*", "--linear", "-o", model)
    assert "Left out, because every cell is empty: ''." in result.stdout
    assert run("predict", model, new).stdout == "x\n0\n1\n"


def test_texts_alone_are_the_one_column_of_texts():
    texts = ["a purring cat", "a barking dog", "cat and dog", "a bird"] * 15
    tags = [[tag for tag in ("cat", "dog") if tag in text] for text in texts]
    one = homi.table_model(text="body", classifier=HOMI())
    one.fit(pd.DataFrame({"body": texts}), tags)
    assert one.predict_tags(texts[:4]) == one.predict_tags({"body": texts[:4]})
    assert homi.why(one, texts[0]).scores
    two = homi.table_model(text="body", classifier=HOMI())
    two.fit({"body": texts, "size": [*map(len, texts)]}, tags)
    with pytest.raises(ValueError, match=r"lacks 2 of the 2 columns .*'size', 'body'"):
        two.predict(texts[:4])


def test_what_is_no_table_is_explained():
    with pytest.raises(ValueError, match="the table has no rows"):
        homi.table_model().fit(pd.DataFrame({"a": []}), [])
    frame = pd.DataFrame({"a": [1.0, np.inf, 3.0]})
    with pytest.raises(ValueError, match="column 'a' is infinite"):
        homi.table_model().fit(frame, [["x"], [], ["x"]])
    with pytest.raises(TypeError, match="got one text; pass it as"):
        TableVectorizer().fit("a cat")


def test_a_missing_text_is_an_empty_one():
    texts = ["a cat", None, "a dog", float("nan")]
    X = TableVectorizer().fit_transform(texts)
    assert np.diff(X.indptr).tolist() == [1, 0, 1, 0]


def test_columns_that_count_rows_are_left_out():
    n = 30
    frame = pd.DataFrame({"row": range(n), "nr": range(1, n + 1), "a": [0, 1] * 15})
    frame["year"] = range(1990, 1990 + n)
    vectorizer = TableVectorizer().fit(frame)
    assert vectorizer.get_feature_names_out().tolist() == ["a", "year"]
    assert vectorizer.notes_ == ["Left out as identifiers: 'row', 'nr'."]


def test_features_of_texts_that_are_nearly_as_good_are_the_cheaper_ones(monkeypatch):
    for characters, chosen in ((-0.995, "tfidf"), (-0.98, "characters")):
        scores = iter([-1.0, characters])
        monkeypatch.setattr(
            "homi.tables.vectorizer.held_out_score", lambda X, y, s=scores: next(s)
        )
        vectorizer = TableVectorizer("text")
        vectorizer.fit({"text": ["a cat", "a dog"] * 60}, [["x"], []] * 60)
        assert vectorizer.text_features_ == chosen


def test_texts_without_a_known_word_are_counted(tmp_path):
    path, model = tmp_path / "posts.csv", tmp_path / "model.homi"
    rows = [f"{text},{tag}" for text, tag in (("a cat", "cat"), ("the dog", "dog"))]
    path.write_text("\n".join(["body,tags", *rows * 20]))
    new = tmp_path / "new.csv"
    new.write_text('body\na cat\n""\n😀\n')
    run("fit", path, "--text", "body", "--tags", "tags", "--linear", "-o", model)
    assert "texts of 2 row(s) have no word" in run("predict", model, new).stderr
    assert run("predict", model, path).stderr == ""


def test_a_summary_tells_what_labels_may_hide(tmp_path):
    path = tmp_path / "posts.csv"
    cells = ["cat|Cat", "dog", "Cat"]
    path.write_text("a,tags\n" + "".join(f"{i},{cells[i % 3]}\n" for i in range(12)))
    found = run("fit", path, "--tags", "tags", "--linear", "-o", tmp_path / "m.homi")
    assert "Tags in 'tags', separated by '|': 3 different ones, 1.3 per row." in (
        found.stdout
    )
    assert "although only their case differs: 'Cat', 'cat'." in found.stdout
    assert "Fewer than 20 rows" in found.stdout
    path.write_text("a,tag_x,tag_y,tag_z\n" + "1,0,1,0\n2,0,1,1\n" * 20)
    found = run("fit", path, "-l", "tag_*", "--linear", "-o", tmp_path / "m.homi")
    assert "No row has 'x'," in found.stdout
    assert "Every row has 'y'," in found.stdout


def test_labels_may_be_yes_and_no(tmp_path):
    words = [("yes", "no"), ("Y", "n"), ("TRUE", "False"), ("1", "0"), ("t", "f")]
    for yes, no in words:
        path = tmp_path / f"{yes}.csv"
        rows = [f"{i},{yes if i % 2 else no}" for i in range(10)]
        path.write_text("\n".join(["a,tag_x", *rows]))
        assert read(path, labels="tag_*").Y[:, 0].tolist() == [0, 1] * 5


def test_rows_without_labels_are_counted_where_they_make_metrics_worse(tmp_path):
    path, model = tmp_path / "rows.csv", tmp_path / "model.homi"
    path.write_text("a,tags\n" + "1,cat\n2,\n3,dog\n" * 10)
    run("fit", path, "--tags", "tags", "--linear", "-o", model)
    assert "10 of 30 rows have no label" in run("evaluate", model, path).stderr
    found = run("cv", path, "--tags", "tags", "--linear", "--folds", "2")
    assert "10 of 30 rows have no label" in found.stderr


def test_training_rows_are_noticed_where_they_are_measured(tmp_path):
    path, model, other = (tmp_path / n for n in ("a.csv", "model.homi", "b.csv"))
    path.write_text("a,tags\n" + "1,cat\n2,cat;dog\n3,dog\n" * 10)
    other.write_text("a,tags\n1,cat\n3,dog\n")
    run("fit", path, "--tags", "tags", "--linear", "-o", model)
    assert "was fitted to these rows" in run("evaluate", model, path).stderr
    assert run("evaluate", model, other).stderr == ""


def test_a_plan_takes_texts_and_tags(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text("body,tags\n" + "a cat,cat\nthe dog,dog\n" * 60)
    options = ("--text", "body", "--tags", "tags", "--json")
    found = json.loads(run("doctor", "--plan", path, *options).stdout)
    assert (found["rows"], found["features"], found["labels"]) == (120, 7000, 2)
    assert "--plan" in run("doctor", "--tags", "tags", code=1).stderr


def test_tables_say_where_they_are_written(tmp_path):
    path, model = tmp_path / "rows.csv", tmp_path / "model.homi"
    path.write_text("a,tag_x,tag_y\n" + "1,0,1\n2,1,0\n3,1,1\n" * 10)
    run("fit", path, "-l", "tag_*", "--linear", "-o", model)
    out = tmp_path / "out.csv"
    audit = run("audit", path, "-l", "tag_*", "--linear", "-o", out)
    assert f"{out} is written" in audit.stderr
    assert f"{out} is written: 30 row(s)." in run("ask", model, path, "-o", out).stderr
