"""The quick experiment end to end: killed and resumed, on a cluster, reported."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from homi.benchmark.store import stored

ROOT = Path(__file__).parent.parent
FILE = ROOT / "benchmarks" / "paper.toml"

# One process has the report of the undisturbed run.
pytestmark = pytest.mark.xdist_group("quick")

#: No directory of data: yeast comes with river.
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if key != "HOMI_DATA"},
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


def bench(command, directory, *options, **how):
    words = ["-m", "homi", "bench", command, str(FILE), "--quick"]
    where = ["--results", str(directory / "results")]
    return subprocess.Popen(
        [sys.executable, *words, *where, *options], env=ENVIRONMENT, text=True, **how
    )


def run(directory, *options):
    process = bench("run", directory, *options, stdout=subprocess.PIPE)
    output = process.communicate(timeout=300)[0]
    assert process.returncode == 0, output
    return output


def report(directory):
    """The bytes of every file of the report."""
    target = directory / "report"
    process = bench("report", directory, "--output", str(target))
    assert process.wait(timeout=300) == 0
    files = sorted(path for path in target.rglob("*") if path.is_file())
    return {str(path.relative_to(target)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The report of a run that nothing disturbed."""
    directory = tmp_path_factory.mktemp("whole")
    output = run(directory)
    assert "19 of 19 tasks to run" in output
    return report(directory)


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == []


def test_the_report_has_everything(whole):
    assert {"index.html", "report.md", "tables/table-7.tex"} <= whole.keys()
    page = whole["index.html"].decode()
    for title in ("What we could not confirm", "Figure 1", "Table 3", "Figure 6"):
        assert title in page
    for name, content in whole.items():
        assert content, name
    text = whole["report.md"].decode()
    assert "| HOMI |" in text
    assert "not run" in text


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on(sent, tmp_path):
    process = bench("run", tmp_path, stdout=subprocess.PIPE)
    assert "19 of 19 tasks" in process.stdout.readline()
    process.stdout.readline()
    process.send_signal(sent)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    assert output.endswith("run it again to go on.\n")
    assert 0 < len(list((tmp_path / "results").rglob("*.json"))) < 19


def test_kills_change_nothing(whole, tmp_path):
    """SIGKILL at random moments; the report is the same, byte for byte."""
    moments, kills = random.Random(0), 0
    while kills < 4:
        process = bench("run", tmp_path, stdout=subprocess.PIPE)
        # Some die while they start, most while they work.
        if moments.random() < 0.8:
            process.stdout.readline()
        time.sleep(moments.random() / 3)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        # A run that was too fast to be killed counts as none: it starts again.
        if process.returncode == -signal.SIGKILL:
            kills += 1
        elif len(list(stored(tmp_path / "results"))) == 12:
            some = sorted((tmp_path / "results").rglob("*.json"))[:4]
            for path in some:
                path.unlink()
    # What kills have left of files is removed by a run that comes later.
    for left in (tmp_path / "results").rglob("*.tmp"):
        os.utime(left, (0, 0))
    run(tmp_path)
    assert not list((tmp_path / "results").rglob("*.tmp"))
    assert_same(report(tmp_path), whole)


def test_a_cluster_gives_the_same_bytes_though_a_worker_dies(whole, tmp_path):
    """Two real worker processes on loopback; one is killed in the middle."""
    distributed = pytest.importorskip("distributed", reason="pip install homi[dask]")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as cluster:
        victim = next(iter(cluster.workers.values())).pid
        results = tmp_path / "results"

        def kill_in_the_middle():
            while len(list(results.rglob("*.json"))) < 4:
                time.sleep(0.02)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill_in_the_middle)
        killer.start()
        address = cluster.scheduler_address
        run(tmp_path, "--engine", "dask", "--scheduler", address)
        killer.join()
    assert_same(report(tmp_path), whole)
