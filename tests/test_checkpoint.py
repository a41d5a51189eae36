"""A resumed fit goes on only if the batches that it skips are what they were."""

import os
import random
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import stream_worker
from homi import fit_stream
from homi.streams import fingerprint
from homi.streams.checkpoint import load
from stream_sources import (
    LABELS,
    MODEL,
    SOURCES,
    Stop,
    assert_same_model,
    cut,
    some_rows,
    stopping,
    table,
)

#: Those read from files that tests below write.
FILES = ["Parquet", "Parquet files", "CSV", "packed CSV", "LIBSVM", "memory maps"]


@pytest.fixture(scope="module")
def rows():
    return some_rows()


def stopped(source, options, path, at, model=MODEL):
    """Leave a checkpoint of a fit that ended after so many batches of both passes."""
    done = []

    def count(progress):
        done.append(progress)
        if len(done) == at:
            raise Stop

    with pytest.raises(Stop):
        fit_stream(
            source,
            model,
            batch_size=150,
            checkpoint=path,
            every=0,
            progress=count,
            **options,
        )


def resumed(source, options, path, model=MODEL):
    return fit_stream(source, model, batch_size=150, checkpoint=path, **options)


def spoil(X, row):
    X = X.copy()
    X[row, 2] += 1
    return X


def flip(Y, row):
    Y = Y.copy()
    Y[row, 1] = 1 - Y[row, 1]
    return Y


@pytest.mark.parametrize(
    ("name", "at"), [*((name, 9) for name in FILES), ("CSV", 3), ("Parquet", 13)]
)
def test_a_change_of_what_was_read_is_refused(name, at, rows, tmp_path):
    X, Y = rows
    source, options = SOURCES[name](X, Y, tmp_path)
    path = tmp_path / "c.npz"
    stopped(source, options, path, at)
    SOURCES[name](spoil(X, 200), Y, tmp_path)
    file = r"(rows\.|0\.parquet|X\.npy)"
    with pytest.raises(
        ValueError,
        match=rf"{file}.*has changed since.*c\.npz.*batch 2 has other values",
    ):
        resumed(source, options, path)
    SOURCES[name](X, Y, tmp_path)
    expected = fit_stream(source, MODEL, batch_size=150, **options)
    assert_same_model(resumed(source, options, path), expected, atol=0)


def test_labels_that_were_summed_may_not_change(rows, tmp_path):
    X, Y = rows
    source, options = SOURCES["Parquet"](X, Y, tmp_path)
    path = tmp_path / "c.npz"
    stopped(source, options, path, 7 + 3)
    SOURCES["Parquet"](X, flip(Y, 440), tmp_path)
    with pytest.raises(ValueError, match=r"rows\.parquet.*batch 3 has other labels"):
        resumed(source, options, path)
    # Nobody has used these yet: a label can be mended.
    SOURCES["Parquet"](X, flip(Y, 460), tmp_path)
    expected = fit_stream(source, MODEL, batch_size=150, **options)
    assert_same_model(resumed(source, options, path), expected, atol=0)


@pytest.mark.parametrize(
    ("name", "at"),
    [*((name, 9) for name in FILES), *(("Parquet", at) for at in (3, 7, 8, 13, 14))],
)
def test_a_file_that_was_cut_is_refused(name, at, rows, tmp_path):
    X, Y = rows
    source, options = SOURCES[name](X, Y, tmp_path)
    path = tmp_path / "c.npz"
    if at == 14:
        resumed(source, options, path)
    else:
        stopped(source, options, path, at)
    SOURCES[name](X[:100], Y[:100], tmp_path)
    with pytest.raises(
        ValueError, match=r"batch 1 had 150 rows and has 100; .* bytes and has "
    ):
        resumed(source, options, path)


def test_the_file_that_ends_early_is_named(rows, tmp_path):
    source, options = SOURCES["CSV"](*rows, tmp_path)
    path, text = tmp_path / "c.npz", source.read_text()
    resumed(source, options, path)
    lines = text.splitlines(keepends=True)
    source.write_text("".join(lines[:301]))
    with pytest.raises(ValueError, match=r"rows\.csv.*ends after batch 2 of 7; .*had"):
        resumed(source, options, path)
    source.write_text("".join([*lines, *lines[1:]]))
    with pytest.raises(ValueError, match=r"batch 7 had 100 rows and has 150"):
        resumed(source, options, path)


def test_appended_rows_are_refused_once_the_end_was_read(rows, tmp_path):
    X, Y = rows
    batches = cut(X, Y, 200)
    done, halfway = tmp_path / "done.npz", tmp_path / "halfway.npz"
    resumed(batches[:4], {}, done)
    stopped(batches[:4], {}, halfway, 6)
    for path in (done, halfway):
        with pytest.raises(ValueError, match=r"batch 5 is new.*partial_fit"):
            resumed(batches, {}, path)
    # Before that they are rows like others that are still to be read.
    path = tmp_path / "early.npz"
    stopped(batches[:4], {}, path, 2)
    assert_same_model(resumed(batches, {}, path), fit_stream(batches, MODEL), atol=0)


def test_without_a_graph_one_pass_is_compared(rows, tmp_path):
    X, Y = rows
    flat, path = clone(MODEL).set_params(gamma=0.0), tmp_path / "c.npz"
    stopped(cut(X, Y), {}, path, 3, flat)
    for other in (cut(spoil(X, 200), Y), cut(X, flip(Y, 200))):
        with pytest.raises(ValueError, match="batch 2 has other"):
            resumed(other, {}, path, flat)
    # The rest was not read yet.
    changed = cut(spoil(X, 700), Y)
    model = resumed(changed, {}, path, flat)
    assert_same_model(model, fit_stream(changed, flat), atol=0)
    with pytest.raises(ValueError, match="batch 5 has other values"):
        resumed(cut(X, Y), {}, path, flat)


def test_a_source_that_differs_from_pass_to_pass_is_refused(rows, tmp_path):
    X, Y = rows
    calls = iter(range(100))

    def batches():
        return iter(cut(X + next(calls), Y))

    with pytest.raises(ValueError, match="batch 1 has other values"):
        fit_stream(batches, MODEL, checkpoint=tmp_path / "c.npz")


def test_other_classes_are_another_fit(rows, tmp_path):
    X, Y = rows
    y = np.array(["a", "b", "b"])[Y.argmax(axis=1)]
    path = tmp_path / "c.npz"
    fit_stream(cut(X, y), MODEL, classes=["a", "b", "c"], checkpoint=path)
    with pytest.raises(ValueError, match="another fit: classes was"):
        fit_stream(cut(X, y), MODEL, classes=["a", "b", "d"], checkpoint=path)


@pytest.mark.parametrize("name", FILES)
def test_files_that_nobody_touched_are_not_read_again(
    name,
    rows,
    tmp_path,
    monkeypatch,
):
    source, options = SOURCES[name](*rows, tmp_path)
    path, looks = tmp_path / "c.npz", []
    monkeypatch.setattr(fingerprint, "_TICK", 0.0)
    stopped(source, options, path, 10)
    monkeypatch.setattr(
        "homi.streams.run.fingerprint_batch",
        lambda *batch: looks.append(1) or fingerprint.fingerprint_batch(*batch),
    )
    n_batches = len(load(path, {}).read)
    expected = fit_stream(source, MODEL, batch_size=150, **options)
    assert_same_model(resumed(source, options, path), expected, atol=0)
    assert len(looks) == 2 * n_batches - 10
    looks.clear()
    resumed(source, options, path, clone(MODEL).set_params(lam=3.0))
    assert looks == []


def test_times_that_are_set_back_hide_nothing(rows, tmp_path, monkeypatch):
    X, Y = rows
    monkeypatch.setattr(fingerprint, "_TICK", 0.0)
    source, options = SOURCES["memory maps"](X, Y, tmp_path)
    path, file = tmp_path / "c.npz", tmp_path / "X.npy"
    resumed(source, options, path)
    before = file.stat()
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    with file.open("r+b") as opened:
        opened.write(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ValueError, match=r"X\.npy and .*batch 7 has other values"):
        resumed(source, options, path)


def test_a_copy_of_the_data_elsewhere_will_do(rows, tmp_path):
    source, options = SOURCES["Parquet"](*rows, tmp_path)
    path, moved = tmp_path / "c.npz", tmp_path / "moved.parquet"
    stopped(source, options, path, 9)
    # Cut into other row groups: the rows are what counts.
    pq.write_table(table(*rows), moved, row_group_size=77)
    source.unlink()
    model = resumed(moved, {"labels": LABELS}, path)
    assert_same_model(model, fit_stream(cut(*rows), MODEL), atol=0)


# Several processes, and damage


def test_processes_that_share_a_checkpoint_end_in_one_model(tmp_path):
    """Real processes, each writing after every batch, each from what it finds."""
    models = []
    for round_ in range(2):
        running = [
            stream_worker.start(
                stream_worker.shared, tmp_path / "c.npz", tmp_path / f"{round_}-{i}.npy"
            )
            for i in range(3)
        ]
        assert [told.recv() for _, told in running] == ["", "", ""]
        for i, (process, _) in enumerate(running):
            process.join()
            models.append(np.load(tmp_path / f"{round_}-{i}.npy"))
    for model in models:
        np.testing.assert_array_equal(model, models[0])


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """One of each stage, small."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    batches = cut(X, (X[:, :2] > 0).astype(int), 10)
    model = clone(MODEL).set_params(n_anchors=3)
    found = []
    for at in (2, 6, 99):
        path = tmp_path_factory.mktemp("checkpoints") / f"{at}.npz"
        if at == 99:
            resumed(batches, {}, path, model)
        else:
            with pytest.raises(Stop):
                fit_stream(stopping(batches, at), model, checkpoint=path)
        found.append(path)
    return found


def mutated(content, chance):
    """A file with some bytes changed, cut out, put in, or moved."""
    data, at = bytearray(content), chance.randrange(len(content))
    size = chance.choice((1, 1, 1, 2, 8, 100))
    noise = bytes(chance.randrange(256) for _ in range(size))
    match chance.randrange(6):
        case 0:
            data[at] ^= 1 << chance.randrange(8)
        case 1:
            data[at : at + size] = noise
        case 2:
            del data[at : at + size]
        case 3:
            data[at:at] = noise
        case 4:
            del data[at:]
        case 5:
            to = chance.randrange(len(content))
            data[at : at + size] = content[to : to + size]
    return bytes(data)


def tried(path):
    """What is found in a checkpoint, and what is said of it."""
    try:
        state = load(path, {})
    except ValueError as error:
        return None, str(error)
    plan = vars(state.plan) if state.plan else None
    return (state.stage, state.batches, state.read, vars(state.reservoir), plan), ""


def test_damage_is_one_kind_of_error_or_harmless(checkpoints, tmp_path):
    chance, path = random.Random(0), tmp_path / "c.npz"
    whole = [(path.read_bytes(), tried(path)[0]) for path in checkpoints]
    n_refused = 0
    for k in range(600):
        content, expected = whole[k % 3]
        path.write_bytes(mutated(content, chance))
        found, said = tried(path)
        if said:
            assert "c.npz is" in said, k
            assert "\n" not in said, k
            n_refused += 1
        else:
            # Bytes that say nothing, such as the time of a member.
            np.testing.assert_equal(found, expected)
    assert n_refused > 400


def test_what_is_no_file_is_refused_before_a_row_is_read(rows, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, message in (
        (tmp_path / "pipe", "a named pipe"),
        (tmp_path, "a directory"),
        (tmp_path / "none" / "c.npz", "there is no directory"),
    ):
        with pytest.raises(OSError, match=message):
            fit_stream(lambda: 1 / 0, MODEL, checkpoint=path)


def test_a_checkpoint_behind_a_link(rows, tmp_path):
    (tmp_path / "disk").mkdir()
    link, file = tmp_path / "c.npz", tmp_path / "disk" / "c.npz"
    link.symlink_to(file)
    stopped(cut(*rows), {}, link, 4)
    assert link.is_symlink()
    shutil.copy(file, tmp_path / "copy.npz")
    model = resumed(cut(*rows), {}, link)
    assert_same_model(model, resumed(cut(*rows), {}, tmp_path / "copy.npz"), atol=0)
