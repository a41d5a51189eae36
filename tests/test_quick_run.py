"""The quick experiment end to end: killed and resumed, on a cluster, reported."""

import os
import random
import signal
import threading
import time

import pytest

from homi.benchmark.store import stored
from quick_bench import files, records, report, run, start


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


def test_an_interrupted_run_says_how_to_go_on(tmp_path):
    process = start(tmp_path)
    assert "20 of 20 tasks" in process.stdout.readline()
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    assert output.endswith("run it again to go on.\n")
    assert 0 < len(list(tmp_path.rglob("*.json"))) < 20


def test_kills_change_nothing(quick_run, tmp_path):
    """SIGKILL at random moments; the report is the same, byte for byte."""
    results = tmp_path / "results"
    moments, kills = random.Random(0), 0
    while kills < 2:
        process = start(results)
        process.stdout.readline()  # it works now
        time.sleep(moments.random() / 3)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        # A run that was too fast to be killed counts as none: it starts again.
        if process.returncode == -signal.SIGKILL:
            kills += 1
        elif len(list(stored(results))) == 12:
            for path in sorted(results.rglob("*.json"))[:4]:
                path.unlink()
    # What kills have left of files is removed by a run that comes later.
    for left in results.rglob("*.tmp"):
        os.utime(left, (0, 0))
    run(results)
    assert not list(results.rglob("*.tmp"))
    assert records(results) == records(quick_run / "results")
    report(results, tmp_path / "report")
    found, expected = files(tmp_path / "report"), files(quick_run / "report")
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == []


def test_a_cluster_gives_the_same_though_a_worker_dies(
    quick_run, tmp_path, monkeypatch
):
    """Two real worker processes on loopback; one is killed in the middle."""
    dask = pytest.importorskip("dask", reason="no extra dask")
    distributed = pytest.importorskip("distributed", reason="no extra dask")
    monkeypatch.delenv("HOMI_DATA", raising=False)  # for the workers, as for runs
    # A fork server may be older than this environment.
    spawn = {"distributed.worker.multiprocessing-method": "spawn"}
    with (
        dask.config.set(spawn),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
    ):
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
