"""The demonstration, whole, as `make demo` runs it."""

import io
import sys

import numpy as np
import pytest
from rich.console import Console
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from homi import HOMICV
from homi.__main__ import main
from homi.cli import comparison, demo
from homi.cli.app import app


def test_the_command_shows_scores_and_a_picture(tmp_path, monkeypatch):
    # A forest, and HOMICV with everything, take longer than a test should.
    quick = HOMICV(kernels=(), trees=False)
    genes = {name: comparison.GENES[name] for name in ("BR", "HOMI, s = 2")}
    texts = {"HOMICV": make_pipeline(comparison._WORDS, quick)}
    texts["BR"] = comparison.TEXTS["BR"]
    monkeypatch.setattr(comparison, "GENES", {"HOMICV": quick, **genes})
    monkeypatch.setattr(comparison, "TEXTS", texts)
    monkeypatch.setattr(comparison, "N_TRAIN", 400)
    output = tmp_path / "new" / "place"
    result = CliRunner().invoke(app, ["demo", "--output", str(output), "--folds", "2"])
    assert result.exit_code == 0, result.output
    for text in ("fold 2/2", "texts, BR", "Hamming", "HOMICV", "fit, s", "±"):
        assert text in result.output
    tables = (output / "tables.md").read_text(encoding="utf-8")
    assert tables.count("±") == 1 + 4 * len(comparison.GENES)
    assert "python-functions, 400 texts" in tables
    assert (output / "tags.png").read_bytes()[:4] == b"\x89PNG"
    assert {path.suffix for path in output.iterdir()} == {".md", ".png"}


def test_help_teaches():
    for arguments in ([], ["--help"], ["demo", "--help"]):
        output = CliRunner().invoke(app, arguments).output
        assert "demo" in output
    assert "Example" in output


def test_version():
    import homi

    assert CliRunner().invoke(app, ["--version"]).output.strip() == homi.__version__


def test_the_table_is_mean_and_standard_deviation():
    scores = {name: [0.1, 0.3] for name in comparison.PAPER_METRICS}
    result = comparison.Comparison("title", {"method": scores}, {"method": [1.0]})
    header, row = result.table()
    assert header[1] == "Hamming loss ↓"
    assert row == ["method"] + ["0.200 ± 0.141"] * 4 + ["1"]
    assert np.std([0.1, 0.3], ddof=1) == pytest.approx(0.141, abs=5e-4)


def test_the_table_fits_80_columns():
    scores = {name: [0.1, 0.3] for name in comparison.PAPER_METRICS}
    names = ("random forest", "HOMI, s = 10")
    seconds = {name: [132.4] for name in names}
    result = comparison.Comparison("title", dict.fromkeys(names, scores), seconds)
    text = io.StringIO()
    demo._print(Console(file=text, width=80), result)
    lines = [line.strip() for line in text.getvalue().splitlines() if line.strip()]
    assert (
        lines[2]
        == "random forest " + "0.200 ± 0.141  " * 2 + "0.200 ± 0.141 " * 2 + "132"
    )
    assert len(lines) == 4


def test_the_module_is_the_command(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["homi", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.strip()


def test_without_its_packages_the_command_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "homi.cli.app")
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"package typer.*pip install .* homi-learn"):
        main()
