"""What is shipped: the README's lines run, the wheel is whole, the names are there."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import homi

ROOT = Path(__file__).parents[1]


def test_public_names():
    answers = {"predict_tags", "table_model", "top_k", "why"}
    names = {"HOMI", "HOMICV", "__version__", "fit_stream"}
    assert set(homi.__all__) == names | answers
    from homi.datasets import load
    from homi.estimators import HOMI
    from homi.metrics import hamming_loss, macro_auc, one_error, ranking_loss

    assert HOMI is homi.HOMI
    assert all(map(callable, (load, hamming_loss, ranking_loss, one_error, macro_auc)))


def test_the_python_of_the_readme_runs(capsys):
    (block,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S
    )
    assert len(block.strip().splitlines()) <= 12
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out


def test_the_readme_names_its_commands_and_files():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / target).exists(), target


def test_the_readme_is_short_and_states_the_claims_of_the_report():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"(?<!!)\[[^]]*\]\(", text)) <= 10
    report = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    (numbers,) = re.findall(
        r"Of (\d+) claims, (\d+) are .*?, (\d+) hold .*?, and (\d+) are", report
    )
    said = r"of {} claims, {} are .*?, {} hold .*?, and {} are".format(*numbers)
    assert re.search(said, " ".join(text.split()))
    assert (ROOT / "docs" / "texts.png").stat().st_size < 150_000


def test_the_version_is_one():
    assert f"version: {homi.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {homi.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_wheel_is_whole(tmp_path):
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    subprocess.run([*command, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    shipped = {Path(name) for name in zipfile.ZipFile(wheel).namelist()}
    wanted = (ROOT / "src" / "homi").rglob("*")
    expected = {
        path.relative_to(ROOT / "src")
        for path in wanted
        if path.suffix in {".py", ".toml", ".typed", ".csv", ".css", ".js"}
    }
    assert expected <= shipped


def test_every_dependency_has_a_tested_version():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(name for extra in extras for name in extra)]
    names = {re.match(r"[\w.-]+", line)[0].lower() for line in wanted} - {"homi-learn"}
    tested = (ROOT / "constraints.txt").read_text().lower().replace("_", "-")
    missing = {n for n in names if not re.search(rf"^{re.escape(n)}==", tested, re.M)}
    assert not missing
