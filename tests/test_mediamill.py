"""mediamill, which few have: a file of its form takes part in a benchmark."""

import numpy as np
import pytest

from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.results import read_results
from homi.benchmark.runner import run
from homi.datasets import load
from homi.datasets.load import at_hand
from homi.paper.results import read_paper_results

EXPERIMENT = """
name = "small"
protocols = ["clean", "as-published"]
datasets = ["mediamill", "yeast"]
methods = ["HOMI"]
folds = 2
"""


@pytest.fixture
def mediamill(tmp_path, monkeypatch):
    """120 numbers and 101 labels a row, as in the file of the registry."""
    rng = np.random.default_rng(0)
    X, Y = rng.random((80, 120)), rng.random((80, 101)) < 0.3
    header = [f"@attribute Att{i} numeric" for i in range(120)]
    header += [f"@attribute Class{i} {{0,1}}" for i in range(101)]
    rows = [
        ",".join([*(f"{x:.4f}" for x in features), *map(str, labels.astype(int))])
        for features, labels in zip(X, Y, strict=True)
    ]
    lines = ["@relation mediamill", *header, "@data", *rows, ""]
    (tmp_path / "mediamill.arff").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setenv("HOMI_DATA", str(tmp_path))
    monkeypatch.setenv("HOMI_CACHE", str(tmp_path / "cache"))
    return Y


def test_the_benchmark_includes_it(mediamill, tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    experiment, journal = read_experiment(file), tmp_path / "small"
    assert read_paper_results(experiment, journal).absent == ("mediamill", "yeast")
    assert at_hand("mediamill").place == "directory"
    with pytest.warns(UserWarning, match="is not the mediamill of the registry"):
        np.testing.assert_array_equal(load("mediamill").Y, mediamill)
    assert run(experiment, experiment.tasks(["mediamill"]), journal) == []
    assert len(read_results(journal, experiment)) == 4
    paper = read_paper_results(experiment, journal)
    assert (paper.datasets, paper.absent) == (("mediamill",), ("yeast",))
