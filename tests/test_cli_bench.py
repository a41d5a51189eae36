"""`homi bench run` and `status`: what they print, and how a run is interrupted."""

import ctypes
import os
import signal

import pytest
from typer.testing import CliRunner

from homi.benchmark import compute
from homi.cli.app import app


def test_the_command(few_rows, small_file, tmp_path):
    call = CliRunner().invoke
    arguments = [str(small_file), "--results", str(tmp_path / "out")]
    first = call(app, ["bench", "run", *arguments, "--methods", "HOMI"])
    assert first.exit_code == 0, first.output
    assert "4 of 4 tasks to run" in first.output
    assert "clean  yeast  HOMI  fold 1" in first.output
    again = call(app, ["bench", "run", *arguments, "--methods", "HOMI"])
    assert "0 of 4 tasks to run" in again.output
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
