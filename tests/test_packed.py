"""The table of an experiment: it restores the journal, and refuses what is damaged."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from homi.benchmark import runner
from homi.benchmark.cells import Cell
from homi.benchmark.exchange import wrong_folds
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.journal import encode
from homi.benchmark.packed import read_row, read_table, table_of, write_table
from homi.benchmark.results import read_results
from homi.benchmark.store import everything, recall, store
from homi.cli.app import app

EXPERIMENT = """
name = "tiny"
protocols = ["clean"]
datasets = ["yeast"]
methods = ["HOMI", "ML-KNN", "HOMI gamma=0"]
folds = 2

[studies]
characteristics = ["yeast"]
correlations = ["yeast"]
folds = ["yeast"]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(EXPERIMENT, encoding="utf-8")
    return path


@pytest.fixture
def experiment(file):
    return read_experiment(file)


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    return tmp_path_factory.mktemp("computed")


@pytest.fixture
def journal(few_rows, experiment, computed, tmp_path):
    """A journal with every result of the experiment; the first test computes them."""
    missing = runner.missing(experiment, experiment.tasks(), computed)
    assert runner.run(experiment, missing, computed) == []
    return shutil.copytree(computed, tmp_path / "results" / "tiny")


@pytest.fixture
def bench(file, journal):
    """Run a command on the experiment; return its exit code and what it printed."""

    def call(command, *options):
        words = ["bench", command, str(file), "--results", str(journal), *options]
        done = CliRunner().invoke(app, words)
        return done.exit_code, done.output

    return call


def files(directory):
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*.json")
    }


def texts(records):
    return {task: encode(task, record) for task, record in records.items()}


def test_pack_and_unpack_restore_every_byte(bench, journal):
    before = files(journal)
    code, text = bench("pack")
    assert code == 0, text
    assert f"9 results packed into {table_of(journal)}" in text
    assert files(journal) == before
    shutil.rmtree(journal)
    code, text = bench("unpack")
    assert (code, "9 results unpacked" in text) == (0, True), text
    assert files(journal) == before


def test_packing_twice_gives_the_same_bytes(bench, journal):
    bench("pack")
    first = table_of(journal).read_bytes()
    shutil.rmtree(journal)
    assert bench("pack")[0] == 0
    assert table_of(journal).read_bytes() == first


def test_a_clone_without_a_journal_reports_and_resumes(bench, journal, experiment):
    bench("pack")
    shutil.rmtree(journal)
    assert "9 of 9 tasks are there" in bench("status")[1]
    assert "0 of 9 tasks to run" in bench("run")[1]
    assert len(read_results(journal, experiment)) == 6
    task = next(experiment.tasks(methods=["HOMI"]))
    assert recall(journal, task)["metrics"]
    assert not journal.exists()


def test_the_journal_has_precedence(bench, journal, experiment):
    bench("pack")
    task = next(experiment.tasks(methods=["HOMI"]))
    record = recall(journal, task)
    record["metrics"]["one_error"] = 0.125
    store(journal, task, record)
    assert everything(journal)[task]["metrics"]["one_error"] == 0.125
    code, text = bench("unpack")
    assert code == 0
    assert "1 files differ from the table and are kept" in text
    assert recall(journal, task)["metrics"]["one_error"] == 0.125
    bench("pack")
    assert read_row(table_of(journal), task)["metrics"]["one_error"] == 0.125


def test_stale_and_foreign_rows_are_named_and_left_out(bench, journal, file):
    bench("pack")
    shutil.rmtree(journal)
    text = EXPERIMENT.replace('"ML-KNN", ', "").replace("folds = 2", "folds = 3", 1)
    file.write_text(text, encoding="utf-8")
    code, shown = bench("status")
    assert code == 0
    table = table_of(journal)
    assert f"{table}: clean  yeast  HOMI  fold 0  out of date" in shown
    assert f"{table}: clean  yeast  ML-KNN  fold 1  of no task of tiny" in shown
    with pytest.raises(ValueError, match=r"5 stale results.*HOMI"):
        read_results(journal, read_experiment(file))
    # The two studies that do not depend on the folds are left.
    code, shown = bench("pack")
    assert (code, "2 results packed" in shown) == (0, True), shown


def test_nothing_to_pack_or_unpack_is_an_error(bench, journal):
    shutil.rmtree(journal)
    for command, reason in (
        ("pack", "has no current results to pack"),
        ("unpack", "there is no table"),
        ("verify", "nothing to verify"),
    ):
        code, text = bench(command)
        assert (code, reason in text) == (1, True), text
    assert not table_of(journal).exists()


def test_merge_takes_a_table(bench, journal, file, tmp_path):
    bench("pack")
    other = tmp_path / "other" / "tiny"
    words = ["bench", "merge", str(file), str(table_of(journal))]
    shutil.rmtree(journal)
    done = CliRunner().invoke(app, [*words, "--results", str(other)])
    assert done.exit_code == 0, done.output
    assert "9 results copied" in done.output
    missing = CliRunner().invoke(app, [*words[:3], str(tmp_path / "nowhere")])
    assert missing.exit_code == 1
    assert "has no results" in missing.stderr


CELL = Cell("clean", "yeast", "HOMI", 0)
RECORD = {
    "metrics": {"roc_auc": float("nan"), "one_error": 0.1, "hamming_loss": 1},
    "seconds": {"search": 0, "fit": 1.5, "predict": -0.0},
    "iterations": None,
    "asked": {"b": [1, 2.0, None, True], "a": {}},
    "made_with": {},
    "parameters": {"größe": 1e-300},
}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"iterations": 3},
        {"made_with": {"z": "1", "a": 2**40, "with.dot": None}},
        {"parameters": {"seed": 2**70}},
        {"new part": "text"},
    ],
)
def test_any_record_of_json_is_restored(change, tmp_path):
    records = {CELL: RECORD | change, Cell("clean", "yeast", "BR", 1): RECORD}
    path = tmp_path / "t.parquet"
    write_table(path, records)
    for task, row in pq.read_table(path).to_pandas().iterrows():
        assert row["protocol"] == "clean", task
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("homi.benchmark.packed.check_record", lambda record, *_: record)
        found = read_table(path)
    assert texts(found) == texts(records)


def test_a_file_that_homi_did_not_write_is_not_packed(bench, journal):
    path = next(journal.rglob("0.json"))
    path.write_text(json.dumps(json.loads(path.read_text())), encoding="utf-8")
    code, text = bench("pack")
    assert (code, f"{path} is not as homi writes it" in text) == (1, True), text
    assert not table_of(journal).exists()


def test_every_damaged_byte_is_seen(bench, journal):
    """Anywhere in the file: a number that is slightly wrong would not be noticed."""
    bench("pack")
    shutil.rmtree(journal)
    table = table_of(journal)
    content = table.read_bytes()
    expected, errors = read_table(table), []
    for position in range(0, len(content), 97):
        changed = bytearray(content)
        changed[position] ^= 0xFF
        table.write_bytes(changed)
        try:
            found = read_table(table)
        except ValueError as error:
            errors.append(str(error))
            continue
        # Statistics and padding of the file hold no results.
        assert texts(found) == texts(expected)
    assert len(errors) > 50
    assert all(str(table) in error and "\n" not in error for error in errors)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "damaged, or no table"),
        (b"PAR1" * 20, "damaged, or no table"),
        (b"version https://git-lfs.github.com/spec/v1", "damaged, or no table"),
        (None, "no checksum of homi"),
    ],
)
def test_a_damaged_table_is_one_sentence(content, reason, bench, journal):
    table = table_of(journal)
    if content is None:
        pq.write_table(pa.table({"a": [1]}), table)
    else:
        table.write_bytes(content)
    before = table.read_bytes()
    for command in ("status", "run", "report", "pack", "verify", "unpack"):
        code, text = bench(command)
        assert code == 1
        assert reason in text
        assert "restore the table from version control" in text
        assert len(text.strip().splitlines()) == 1
        assert table.read_bytes() == before


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ({"dataset": "../../out"}, "is no name of a dataset"),
        ({"method": ".."}, "is no name of a method"),
        ({"protocol": None}, "None is no name of a protocol"),
        ({"fold": None}, "damaged, or no table"),
        ({"study": "none"}, "unknown kind, 'none'"),
        ({"metrics.one_error": 0.7}, "its checksum does not match"),
        ({"method": "ML-KNN"}, "it has two rows of"),
    ],
)
def test_a_hostile_row_is_refused(names, reason, bench, journal):
    bench("pack")
    table = table_of(journal)
    columns = pq.read_table(table)
    rows = columns.to_pylist()
    place = next(
        i for i, r in enumerate(rows) if (r["method"], r["fold"]) == ("HOMI", 0)
    )
    rows[place] |= names
    pq.write_table(pa.Table.from_pylist(rows, columns.schema), table)
    shutil.rmtree(journal)
    with pytest.raises(ValueError, match=reason):
        everything(journal)
    code, _ = bench("unpack")
    assert code == 1
    assert not journal.exists()


def test_a_row_with_a_damaged_result_is_named(bench, journal):
    record = recall(journal, CELL)
    record["metrics"]["one_error"] = 7.0
    write_table(table_of(journal), {CELL: record})
    shutil.rmtree(journal)
    fault = r"row clean  yeast  HOMI  fold 0, is not .*7\.0, not a number"
    for read in (recall, lambda directory, _: everything(directory)):
        with pytest.raises(ValueError, match=fault):
            read(journal, CELL)


def test_the_folds_are_checked(bench, journal, experiment):
    assert wrong_folds(journal) == []
    task = next(experiment.tasks(methods=["HOMI"]))
    record = recall(journal, task)
    record["made_with"]["test_rows_sha256"] = "0" * 64
    store(journal, task, record)
    assert wrong_folds(journal) == [task]
    code, text = bench("verify", "--methods", "ML-KNN", "--sample", "1")
    assert code == 1
    assert f"{task}  was not tested on the rows of the stored fold" in text


def test_results_of_other_test_rows_are_unlike(bench, journal, experiment):
    task = next(experiment.tasks(methods=["HOMI"]))
    record = recall(journal, task)
    record["made_with"]["test_rows_sha256"] = "0" * 64
    store(journal, task, record)
    code, text = bench("verify", "--methods", "HOMI")
    assert code == 1
    assert f"{task}  differs by inf" in text
