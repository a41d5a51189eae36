"""The quick experiment end to end, and what `homi bench run` and `status` print."""

import ctypes
import os
import random
import signal
import threading
import time

import pytest
from typer.testing import CliRunner

import stream_worker
from experiments import FILE, files, records, run, start
from homi.benchmark import compute
from homi.benchmark.experiment_file import read_experiment
from homi.cli.app import app
from homi.paper.results import read_paper_results
from homi.paper.sections.cells import cells
from homi.paper.sections.claims import claimed
from homi.paper.sections.comparison import comparisons
from homi.paper.sections.provenance import datasets, provenance
from homi.paper.sections.running import running_times
from homi.report.document import Page
from homi.report.markdown import markdown


def test_the_report_has_everything(quick_run):
    whole = files(quick_run / "report")
    assert {"index.html", "report.md", "tables/table-7.tex"} <= whole.keys()
    page = whole["index.html"].decode()
    for title in ("Cell by cell", "Claims", "Figure 1", "Table 3", "Figure 6"):
        assert title in page
    for name, content in whole.items():
        assert content, name
    text = whole["report.md"].decode()
    assert "| HOMI |" in text
    assert "not run" in text


def words_of_report(results):
    """The sections without figures, which are drawn from the same numbers."""
    paper = read_paper_results(read_experiment(FILE).quickly(), results)
    makers = (cells, claimed, comparisons, running_times, datasets, provenance)
    return markdown(Page("", "", tuple(make(paper) for make in makers)))


def test_interrupts_and_kills_change_nothing(quick_run, tmp_path):
    """SIGTERM, then SIGKILL at a random moment; the report says the same."""
    results = tmp_path / "results"
    process = start(results)
    assert "20 of 20 tasks" in process.stdout.readline()
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    assert output.endswith("run it again to go on.\n")
    assert 0 < len(list(results.rglob("*.json"))) < 20
    killed = False
    while not killed:
        process = start(results)
        process.stdout.readline()  # it works now
        time.sleep(random.Random(0).random() / 3)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed = process.returncode == -signal.SIGKILL
        if not killed:  # it was too fast
            for path in sorted(results.rglob("*.json"))[:4]:
                path.unlink()
    # What kills have left of files is removed by a run that comes later.
    for left in results.rglob("*.tmp"):
        os.utime(left, (0, 0))
    run(results)
    assert not list(results.rglob("*.tmp"))
    assert records(results) == records(quick_run / "results")
    assert words_of_report(results) == words_of_report(quick_run / "results")


def test_a_cluster_gives_the_same_though_a_worker_dies(quick_run, tmp_path):
    """Two real worker processes on loopback; one is killed in the middle."""
    distributed = pytest.importorskip("distributed", reason="no extra dask")
    stream_worker.serve()
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
        env={"HOMI_DATA": ""},  # none for the workers, as for runs
    ) as cluster:
        victim = next(iter(cluster.workers.values())).pid

        def kill_in_the_middle():
            while len(list(tmp_path.rglob("*.json"))) < 4:
                time.sleep(0.02)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill_in_the_middle)
        killer.start()
        address = cluster.scheduler_address
        run(tmp_path, "--engine", "dask", "--scheduler", address)
        killer.join()
    assert records(tmp_path) == records(quick_run / "results")


# `homi bench run` and `status`: what they print, and how a run is interrupted.


def test_the_command(few_rows, small_file, tmp_path):
    call = CliRunner().invoke
    arguments = [str(small_file), "--results", str(tmp_path / "out")]
    first = call(app, ["bench", "run", *arguments, "--methods", "HOMI"])
    assert first.exit_code == 0, first.output
    assert "4 of 4 tasks to run" in first.output
    assert "clean  yeast  HOMI  fold 1" in first.output
    again = call(app, ["bench", "run", *arguments, "--methods", "HOMI"])
    assert "0 of 4 tasks to run" in again.output
    forced = call(app, ["bench", "run", *arguments, "--methods", "HOMI", "--again"])
    assert "4 of 4 tasks to run" in forced.output
    state = call(app, ["bench", "status", *arguments])
    assert "4 of 8 tasks are there" in state.output
    assert "ML-LRC" in state.output
    assert "2/4" in state.output
    wrong = call(app, ["bench", "run", *arguments, "--methods", "HOMY"])
    assert wrong.exit_code == 1
    assert "did you mean HOMI" in wrong.stderr


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_not_lost(sent, few_rows, small_file, tmp_path, monkeypatch):
    """Python drops it if it comes within a callback, as threadpoolctl has them."""
    task_result = compute.compute
    callback = ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), sent))

    def interrupted(*arguments):
        callback()
        return task_result(*arguments)

    monkeypatch.setattr("homi.benchmark.runner.compute", interrupted)
    arguments = [str(small_file), "--results", str(tmp_path), "--methods", "HOMI"]
    result = CliRunner().invoke(app, ["bench", "run", *arguments])
    assert result.exit_code == 130
    assert result.output.endswith("run it again to go on.\n")
    assert len(list(tmp_path.rglob("*.json"))) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "dask"], "needs the address of a scheduler"),
        (["--scheduler", "tcp://127.0.0.1:1"], "pass that too"),
    ],
)
def test_engines_that_make_no_sense(options, message, few_rows, full_file, tmp_path):
    command = ["bench", "run", str(full_file), "--results", str(tmp_path / "out")]
    shown = CliRunner().invoke(app, [*command, *options])
    assert shown.exit_code == 1
    assert message in " ".join(shown.stderr.split())
