"""fit_stream from every source: the model of all rows, through kills and bad input."""

import contextlib
import os
import random
import signal
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import clone

import stream_worker
from homi import HOMI, fit_stream
from homi.streams import Progress
from homi.streams.checkpoint import load, save
from homi.streams.sources import open_source
from stream_sources import (
    LABELS,
    MODEL,
    SOURCES,
    Stop,
    assert_same_model,
    cut,
    parquet,
    parquet_files,
    some_rows,
    stopping,
    text,
)


@pytest.fixture(scope="module")
def rows():
    return some_rows()


@pytest.fixture(scope="module")
def whole(rows):
    return clone(MODEL).fit(*rows)


each_source = pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)


@each_source
def test_every_source_gives_the_model_of_all_rows(make, rows, whole, tmp_path):
    source, options = make(*rows, tmp_path)
    model = fit_stream(source, MODEL, batch_size=150, **options)
    assert_same_model(model, whole)
    assert model.graph_ == "anchors"
    framed = isinstance(source, tuple) and hasattr(source[0], "columns")
    if framed or "labels" in options:
        assert list(model.label_names_) == LABELS


@each_source
def test_any_batch_can_be_the_first(make, rows, tmp_path):
    source, options = make(*rows, tmp_path)
    stream = open_source(source, options.get("labels"), 150)
    batches = list(stream.batches())
    assert sum(X.shape[0] for X, _ in batches) == 1000
    for start in (0, 1, 4, len(batches) - 1, len(batches)):
        rest = list(stream.batches(start))
        assert len(rest) == len(batches) - start
        for (X, Y), (X_all, Y_all) in zip(rest, batches[start:], strict=True):
            for one, other in ((X, X_all), (Y, Y_all)):
                gap = one - other if sparse.issparse(one) else None
                gap = np.asarray(one) - np.asarray(other) if gap is None else gap
                assert abs(gap).max() == 0


def test_more_rows_than_the_sample_holds(monkeypatch, rows):
    monkeypatch.setattr("homi.graph.reservoir._MOST", 200)
    monkeypatch.setattr("homi.graph.reservoir._FEWEST", 200)
    expected = clone(MODEL).fit(*rows)
    assert len(expected._sums.plan.anchors) < 64
    assert_same_model(fit_stream(cut(*rows), MODEL), expected)


def test_without_a_graph_one_pass_is_enough(rows):
    passes = []

    def batches():
        passes.append(1)
        return iter(cut(*rows))

    model = fit_stream(batches, HOMI(gamma=0))
    assert len(passes) == 2  # one of them for the first batch alone
    expected = HOMI(gamma=0).fit(*rows)
    assert_same_model(model, expected, atol=1e-8)


def test_progress_counts_rows(rows):
    seen = []
    fit_stream(cut(*rows), MODEL, progress=seen.append)
    assert [p.stage for p in seen] == ["sample"] * 7 + ["sums"] * 7
    assert [p.rows for p in seen[7:]] == [150, 300, 450, 600, 750, 900, 1000]
    assert all(isinstance(p, Progress) and p.rows_per_second > 0 for p in seen)
    assert str(Progress("sums", 3, 4000, 2.0)) == (
        "sums: 4,000 rows in 3 batches, 2,000 rows per second"
    )


def test_partial_fit_goes_on_after_a_stream(rows):
    X, Y = rows
    model = fit_stream(cut(X[:900], Y[:900]), MODEL).partial_fit(X[900:], Y[900:])
    assert model._sums.total.moments.n == 1000


def test_the_given_model_is_not_changed(rows):
    model = clone(MODEL)
    assert fit_stream(cut(*rows), model) is not model
    assert not hasattr(model, "classes_")


def test_one_dimensional_classes(rows):
    X, Y = rows
    y = np.array(["a", "b", "c"], dtype=object)[Y.argmax(axis=1)]
    model = fit_stream(cut(X, y), MODEL, classes=["a", "b", "c"])
    np.testing.assert_array_equal(
        model.predict(X), clone(MODEL).fit(X, y.astype(str)).predict(X)
    )


# Checkpoints


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_stopped_fit_goes_on_to_the_same_model(kind, rows, tmp_path):
    X, Y = rows
    batches = [(kind(x), y) for x, y in cut(X, Y)]
    expected = fit_stream(batches, MODEL)
    for at in range(1, 15):
        path = tmp_path / f"{at}.npz"
        with pytest.raises(Stop):
            fit_stream(stopping(batches, at), MODEL, checkpoint=path)
        seen = []
        model = fit_stream(batches, MODEL, checkpoint=path, progress=seen.append)
        assert len(seen) == 15 - at
        assert_same_model(model, expected, atol=0)


def test_a_finished_checkpoint_solves_for_other_parameters(rows, tmp_path):
    path = tmp_path / "sums.npz"
    fit_stream(cut(*rows), MODEL, checkpoint=path)
    seen = []
    other = clone(MODEL).set_params(lam=50.0, gamma=0.1)
    model = fit_stream(cut(*rows), other, checkpoint=path, progress=seen.append)
    assert not seen
    assert_same_model(model, fit_stream(cut(*rows), other), atol=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_neighbors": 3}, "n_neighbors was 10 and is 3"),
        ({"n_anchors": 9}, "n_anchors was 64 and is 9"),
        ({"random_state": 1}, "random_state was 0 and is 1"),
        ({"standardize": False}, "standardize was True and is False"),
        ({"gamma": 0}, "graph was True and is False"),
    ],
)
def test_a_checkpoint_of_other_parameters_is_refused(rows, tmp_path, change, message):
    path = tmp_path / "sums.npz"
    fit_stream(cut(*rows), MODEL, checkpoint=path)
    with pytest.raises(ValueError, match=f"sums.npz is the checkpoint of.*{message}"):
        fit_stream(cut(*rows), clone(MODEL).set_params(**change), checkpoint=path)


def test_a_checkpoint_of_other_data_is_refused(rows, tmp_path):
    X, Y = rows
    path = tmp_path / "sums.npz"
    fit_stream(cut(X, Y), MODEL, checkpoint=path)
    with pytest.raises(ValueError, match=r"another fit: features was 6 and is 5"):
        fit_stream(cut(X[:, 1:], Y), MODEL, checkpoint=path)
    for other, change in (
        (cut(X + 1, Y), "batch 1 has other values in its features"),
        (cut(X, 1 - Y), "batch 1 has other labels"),
        (cut(X, Y, 100), "batch 1 had 150 rows and has 100"),
    ):
        with pytest.raises(ValueError, match=f"the source has changed since.*{change}"):
            fit_stream(other, MODEL, checkpoint=path)
    np.savez(path, x=np.ones(3))
    with pytest.raises(ValueError, match="is not a checkpoint of fit_stream"):
        fit_stream(cut(X, Y), MODEL, checkpoint=path)
    path.write_bytes(b"not even an archive")
    with pytest.raises(ValueError, match="is not a checkpoint of fit_stream"):
        fit_stream(cut(X, Y), MODEL, checkpoint=path)


def test_a_write_never_touches_the_file_before(rows, tmp_path, monkeypatch):
    path = tmp_path / "sums.npz"
    fit_stream(cut(*rows), MODEL, checkpoint=path)
    content, state = path.read_bytes(), load(path, {})
    with path.open("rb") as before:
        save(path, state, {"another": "longer one"})
        assert before.read() == content

    def full(descriptor):
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", full)
    content = path.read_bytes()
    with pytest.raises(OSError, match="no space left"):
        save(path, state, {})
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["sums.npz"]


def through(directory):
    """A fit that nobody disturbs, from the checkpoint if there is one."""
    process, told = stream_worker.start(
        stream_worker.fit, directory / "c.npz", directory / "coef.npy"
    )
    with contextlib.suppress(EOFError):
        while True:
            told.recv()
    process.join()
    assert process.exitcode == 0
    return np.load(directory / "coef.npy")


def killed(directory, kills, seed=0):
    """The model after so many kills at random moments."""
    moments, hits, path = random.Random(seed), 0, directory / "c.npz"
    while hits < kills:
        process, told = stream_worker.start(
            stream_worker.fit, path, directory / "coef.npy"
        )
        with contextlib.suppress(EOFError):
            for _ in range(moments.randrange(1, 15)):
                told.recv()
        time.sleep(moments.random() / 50)
        process.kill()
        process.join()
        if process.exitcode == -signal.SIGKILL:
            hits += 1
        else:
            # It was through: the next one begins anew.
            path.unlink()
    for left in directory.glob(".*.tmp"):
        os.utime(left, (0, 0))
    model = through(directory)
    assert list(directory.glob(".*.tmp")) == []
    return model


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return through(tmp_path_factory.mktemp("undisturbed"))


def test_kills_change_nothing(undisturbed, tmp_path):
    np.testing.assert_array_equal(killed(tmp_path, 5), undisturbed)


@pytest.mark.slow
def test_twenty_kills_change_nothing(undisturbed, tmp_path):
    for round_ in range(4):
        directory = tmp_path / str(round_)
        directory.mkdir()
        found = killed(directory, 5, seed=round_ + 1)
        np.testing.assert_array_equal(found, undisturbed)


def without_reader(path, kills, seed=0):
    """The model after the process that reads was killed so often."""
    moments, readers, hits = random.Random(seed), [], 0

    def batches():
        reading, last = stream_worker.from_reader(readers), moments.randrange(1, 15)
        for number, batch in enumerate(reading):
            yield batch
            if number == last and hits < kills:
                readers[-1].kill()

    while True:
        try:
            model = fit_stream(
                batches, stream_worker.small_model(), checkpoint=path, every=0
            )
        except EOFError:
            hits += 1
            assert path.exists()
        else:
            return model.coef_, hits


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_killed_readers_change_nothing(kills, undisturbed, tmp_path):
    found, hits = without_reader(tmp_path / "c.npz", kills)
    assert hits == kills
    np.testing.assert_array_equal(found, undisturbed)


# Bad input


def replaced(batches, k, X=None, Y=None):
    batches = list(batches)
    batches[k] = (
        batches[k][0] if X is None else X(batches[k][0]),
        batches[k][1] if Y is None else Y(batches[k][1]),
    )
    return batches


def spoilt(row, value):
    def change(A):
        A = A.astype(float)
        A[row, 1] = value
        return A

    return change


BAD = {
    "other columns": ({"X": lambda X: X[:, 1:]}, "batch 4: X has 5 features"),
    "NaN": ({"X": spoilt(6, np.nan)}, r"batch 4, row 7 of it \(row 457 of all\)"),
    "a label of 3": ({"Y": spoilt(8, 3)}, r"batch 4, row 9 of it.*only 0 and 1"),
    "no rows": ({"X": lambda X: X[:0], "Y": lambda Y: Y[:0]}, "batch 4: .*0 sample"),
    "too few labels": ({"Y": lambda Y: Y[:, :2]}, r"batch 4: Y has 2 label.*had 3"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_batch_is_named_and_what_was_read_is_kept(kind, rows, tmp_path):
    change, message = BAD[kind]
    good, path = cut(*rows), tmp_path / "sums.npz"
    with pytest.raises(ValueError, match=message):
        fit_stream(replaced(good, 3, **change), MODEL, checkpoint=path, every=1e9)
    seen = []
    model = fit_stream(good, MODEL, checkpoint=path, progress=seen.append)
    # Bad rows are met in the first pass, bad labels in the second.
    assert len(seen) == (4 if "Y" in change and "X" not in change else 4 + 7)
    assert_same_model(model, fit_stream(good, MODEL), atol=0)


def test_a_batch_that_is_no_pair_is_named(rows):
    with pytest.raises(TypeError, match="batch 2 is a int; expected a pair"):
        fit_stream([cut(*rows)[0], 5], MODEL)


def test_a_truncated_parquet_file_is_named(rows, tmp_path):
    (first, second, third), options = parquet_files(*rows, tmp_path)
    content = third.read_bytes()
    for damaged in (content[: len(content) // 2], content[:4] + content[500:]):
        third.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"batch 7 cannot be read: .*2\.parquet"):
            fit_stream([first, second, third], MODEL, batch_size=150, **options)


def test_damage_inside_a_parquet_file_is_named(rows, tmp_path):
    path, options = parquet(*rows, tmp_path)
    at = pq.ParquetFile(path).metadata.row_group(3).column(0).data_page_offset
    sound = path.read_bytes()
    for start, message in (
        (at, r"rows\.parquet: has a damaged page at byte"),
        (at + 100, r"batch 5 cannot be read: .*rows\.parquet"),
    ):
        path.write_bytes(sound[:start] + b"\xff" * 40 + sound[start + 40 :])
        with pytest.raises(ValueError, match=message):
            fit_stream(path, MODEL, batch_size=150, **options)


def test_bad_text_is_named(rows, tmp_path):
    path, options = text(".csv")(*rows, tmp_path)
    lines = path.read_text().splitlines()
    for spoil, message in (
        (
            lines[400].replace(lines[400].split(",")[2], "many"),
            r"row 100 of it: column",
        ),
        (lines[400] + ",1", r"row 400 of the file: Expected 9 columns, got 10"),
        (",".join(["", *lines[400].split(",")[1:]]), r"batch 3, row 100 of it.*NaN"),
    ):
        path.write_text("\n".join([*lines[:400], spoil, *lines[401:]]))
        with pytest.raises(ValueError, match=message):
            fit_stream(path, MODEL, batch_size=150, **options)
    second = tmp_path / "other.csv"
    second.write_text("\n".join([lines[0].replace("joy", "glee"), *lines[1:]]))
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"batch 8 .*other.csv: has the columns"):
        fit_stream([path, second], MODEL, batch_size=150, **options)


def test_bad_lines_of_libsvm_are_named(rows, tmp_path):
    path, _ = text(".libsvm")(*rows, tmp_path)
    lines = path.read_text().splitlines()
    for line, message in (("1 2:x", "line 401"), ("1 99:1", "row 100 of it: feature")):
        path.write_text("\n".join([*lines[:400], line, *lines[401:]]))
        with pytest.raises(ValueError, match=f"batch 3 cannot be read: .*{message}"):
            fit_stream(path, MODEL, batch_size=150)


@pytest.mark.parametrize(
    ("source", "options", "error", "message"),
    [
        (iter([]), {}, TypeError, "Pass the function that makes it"),
        ([], {}, ValueError, "no batches"),
        (7, {}, TypeError, "not a source of batches"),
        ("absent.csv", {}, FileNotFoundError, "there is no file absent.csv"),
        ([(1, 2)], {"labels": "last 3"}, ValueError, "chooses columns of a file"),
        ((np.ones((3, 2)), np.ones((2, 1))), {}, ValueError, "3 rows and Y has 2"),
    ],
)
def test_sources_that_are_none(source, options, error, message):
    with pytest.raises(error, match=message):
        fit_stream(source, MODEL, **options)


def test_a_model_that_needs_all_rows_is_refused(rows):
    with pytest.raises(ValueError, match="needs all rows at once"):
        fit_stream(cut(*rows), HOMI(graph="exact"))


def test_memory_does_not_grow_with_the_rows():
    """A hundred batches have 16 MB, of which a few are in memory at a time."""
    process, told = stream_worker.start(stream_worker.peak, 100)
    assert told.recv() < 8e6
    process.join()
