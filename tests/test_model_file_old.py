"""Model files that earlier versions wrote load, and score as they did.

Those in ``files/old_models`` were written at commit 1a9e08a, in format 1; do not write
them again. ``rows.csv`` is random, 60 rows; ``scores.json`` has the scores of the first
twelve.

- ``onehot``: ``homi fit rows.csv --labels 'tag_*' --drop id --drop body --missing mean
  --paper``; ``codes`` with ``--nominal codes`` too; ``tuned`` with ``--tune macro_f1``.
- ``text``: ``homi fit rows.csv --labels 'tag_*' --text body --linear``.
- ``text_tuned``: ``homi fit rows.csv --labels 'tag_*' --text body --paper --tune
  micro_f1``.
- ``kernel``: ``HOMI(kernel="rbf", n_components=8, random_state=0)`` of ``size``
  (0 where it is missing) and ``weight``.
"""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from homi.cli.app import app
from homi.io import load_model

HERE = Path(__file__).parent / "files" / "old_models"
SCORES = json.loads((HERE / "scores.json").read_text())

pytest.importorskip("safetensors")


@pytest.mark.parametrize("name", sorted(set(SCORES) - {"kernel"}))
def test_predict_gives_the_scores_of_then(name):
    given = [str(HERE / f"{name}.homi"), str(HERE / "rows.csv"), "--scores", "--json"]
    result = CliRunner().invoke(app, ["predict", *given])
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["rows"][:12]
    found = [list(row["scores"].values()) for row in rows]
    np.testing.assert_allclose(found, SCORES[name], rtol=1e-6, atol=1e-7)


def test_a_kernel_gives_the_scores_of_then():
    with open(HERE / "rows.csv", newline="") as file:
        rows = list(csv.DictReader(file))[:12]
    X = np.array([[float(row["size"] or 0), float(row["weight"])] for row in rows])
    found = load_model(HERE / "kernel.homi").decision_function(X)
    np.testing.assert_allclose(found, SCORES["kernel"], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["onehot", "text", "tuned"])
def test_explain_and_evaluate_still_read_them(name, tmp_path):
    model, rows = str(HERE / f"{name}.homi"), str(HERE / "rows.csv")
    page = str(tmp_path / "page.html")
    for command in (
        ["evaluate", model, rows],
        ["explain", model, "--data", rows, "--row", "3", rows, "-o", page],
    ):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, (command, result.output)
