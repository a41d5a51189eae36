"""Tables of results, beside those that are printed."""

import pytest

from homi.benchmark import runner
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.methods import METHODS, marked
from homi.benchmark.results import means_of, read_results
from homi.paper.comparison import gap
from homi.paper.printed import printed_results
from homi.paper.results import summarize_with_printed


def test_the_summary(few_rows, small_file, tmp_path):
    experiment = read_experiment(small_file)
    runner.run(experiment, experiment.tasks(), tmp_path)
    results = read_results(tmp_path)
    assert len(results) == 8
    summary = summarize_with_printed(results)
    here = results[(results["protocol"] == "clean") & (results["method"] == "HOMI")]
    row = summary.loc["clean", "yeast", "HOMI", "one_error"]
    assert row["mean"] == pytest.approx(here["one_error"].mean())
    assert row["std"] == pytest.approx(here["one_error"].std(ddof=1))
    assert row["folds"] == 2
    printed = printed_results()["one_error", "HOMI", "yeast"]
    assert summary.loc["printed", "yeast", "HOMI", "one_error"]["mean"] == printed.mean
    expected = (row["mean"] - printed.mean) / max(row["std"], printed.std)
    assert gap(row, summary.loc["printed", "yeast", "HOMI", "one_error"]) == (
        pytest.approx(expected)
    )
    assert means_of(summary, "printed", "one_error").shape == (12, 11)
    assert marked("ML-LRC") == "ML-LRC†"


def test_every_printed_method_can_be_run():
    assert {method for _, method, _ in printed_results()} == set(METHODS)
