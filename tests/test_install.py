"""What is shipped and what it needs: extras, the wheel, the README's lines."""

import gzip
import importlib
import re
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import homi
from homi.budget import Budget
from homi.cli import doctor
from homi.cli.app import app
from homi.cli.lazy import COMMANDS
from homi.datasets import plain_csv, tables
from homi.extras import EXTRAS, optional

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]

#: Import name -> name of the distribution, where they differ.
RENAMED = {
    "arff": "liac-arff",
    "faiss": "faiss-cpu",
    "scikit_posthocs": "scikit-posthocs",
    "distributed": "dask",
}

#: Start of a script in which no optional package can be imported.
WITHOUT_EXTRAS = f"""
import sys
from homi.__main__ import main
from importlib.machinery import PathFinder
class Finder(PathFinder):
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] not in {sorted(EXTRAS)}:
            return PathFinder.find_spec(name, path, target)
sys.meta_path = [Finder if f is PathFinder else f for f in sys.meta_path]
def run(*words):
    sys.argv = ["homi", *words]
    try:
        main()
    except SystemExit as ended:
        return ended.code
"""


def python(code, *arguments, cwd=None):
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd)


def texts():
    """Every file of the tree that may tell somebody what to install."""
    tops = [ROOT / name for name in ("src", "tests", "docs", "examples", "benchmarks")]
    tops += [ROOT / ".github", ROOT / "Makefile", *ROOT.glob("*.md")]
    tops += [*ROOT.glob("*.toml"), *ROOT.glob(".*.yaml")]
    for top in tops:
        for path in [top] if top.is_file() else top.rglob("*"):
            known = path.suffix in {".py", ".md", ".toml", ".yml", ".yaml", ""}
            if known and path.is_file() and path != Path(__file__):
                yield path, path.read_text(encoding="utf-8")


def test_nobody_is_told_to_install_the_other_homi():
    old = re.compile(r"""pip install [^\n`]*?(?<![\w-])homi(?![\w-])|["']homi\[""")
    assert old.search("pip install 'homi[data]'")
    assert old.search("pip install --upgrade homi")
    assert not old.search("pip install 'homi-learn[data]'")
    found = {str(path.relative_to(ROOT)) for path, text in texts() if old.search(text)}
    assert not found


def test_the_names():
    assert PROJECT["name"] == "homi-learn"
    assert list(PROJECT["scripts"]) == ["homi"]
    assert dir(homi) == sorted({*dir(homi), *homi.__all__, "datasets", "estimators"})
    with pytest.raises(AttributeError, match="'homi' has no attribute 'HOMIE'"):
        homi.HOMIE


def test_each_optional_package_is_in_its_extra():
    extras = PROJECT["optional-dependencies"]
    for package, extra in EXTRAS.items():
        name = RENAMED.get(package, package)
        assert any(re.match(rf"{name}\b", line) for line in extras[extra]), package


def test_an_error_that_no_extra_mends_is_raised_as_it_is():
    with pytest.raises(ModuleNotFoundError) as raised, optional("this"):
        importlib.import_module("nothing_such")
    assert str(raised.value) == "No module named 'nothing_such'"


def test_no_help_imports_a_heavy_package():
    words = [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)]
    code = f"""
    import sys
    from homi.__main__ import main
    for words in {words}:
        sys.argv = ["homi", *words]
        try:
            main()
        except SystemExit as ended:
            assert not ended.code
        heavy = {{"numpy", "sklearn", "scipy", "pandas", "pyarrow", "matplotlib"}}
        assert not heavy & set(sys.modules), words
    """
    result = python(code)
    assert result.returncode == 0, result.stderr
    assert not result.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_the_help_of_each(name):
    command = typer.main.get_command(app).commands[name]
    assert " ".join(command.imported.help.split("\n\n")[0].split()) == COMMANDS[name]


#: Python that needs an extra, or words of a command -> the extra.
NEEDS = {
    "import homi.plots": "plot",
    "import homi.report": "bench",
    "import homi.distributed": "dask",
    "import homi.datasets.arff": "data",
    "homi.datasets.labels.label_names('x.xml')": "data",
    "homi.fit_stream('x.csv')": "data",
    "homi.datasets.read('x.parquet')": "data",
    "homi.datasets.fetch('emotions')": "data",
    "list(homi.benchmark.engines.cluster('x')(0, 0))": "dask",
    "homi.HOMI(graph='anchors').fit(X, Y)": "faiss",
    "homi.HOMI().fit(X, Y).explain('x.html')": "explorer",
    "homi.io.export_onnx(None, 'x.onnx')": "onnx",
    ("bench", "run", "x.toml"): "bench",
    ("demo",): "demo",
    ("data", "table"): "data",
    ("fit", "x.arff"): "data",
    ("fit", "x.parquet", "--labels", "b"): "data",
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Run the core, and then everything of `NEEDS`, in a Python without extras."""
    directory = tmp_path_factory.mktemp("bare")
    for name in ("x.csv", "x.arff", "x.parquet"):
        (directory / name).write_text("a,b\n1,2\n")
    rows = np.random.default_rng(0).normal(size=(60, 4)).round(3)
    lines = [
        f"{a},{b},{c},{d},{'red' if a > 0 else 'blue'},{a > 0:d},{b > 0:d}"
        for a, b, c, d in rows
    ]
    head = "a,b,c,d,color,tag_x,tag_y"
    (directory / "train.csv").write_text("\n".join([head, *lines]) + "\n")
    code = f"""{WITHOUT_EXTRAS}
assert not run("fit", "train.csv", "--labels=tag_*", "--paper", "-o", "model.homi")
assert not run("predict", "model.homi", "train.csv", "--keep=color", "-o", "tags.csv")
assert not run("evaluate", "model.homi", "train.csv", "--quiet")
assert not run("explain", "model.homi", "train.csv", "--row=0", "--quiet")
assert not run("doctor")
assert not run("data", "list")
from homi.datasets.python_functions import python_functions
assert any(function.name.startswith("scipy.") for function in python_functions())
import homi.benchmark.engines
X, Y, *_ = homi.datasets.read("train.csv", labels="tag_*", nominal="onehot")
homi.HOMICV().fit(X, Y).predict_proba(X)
print("The core works.")
for what in {list(NEEDS)}:
    if isinstance(what, tuple):
        assert run(*what) == 1
        continue
    try:
        exec(what)
    except ImportError as error:
        print(error, file=sys.stderr)
"""
    return directory, python(code, cwd=directory)


def test_the_core_fits_and_predicts_without_any_extra(bare):
    directory, result = bare
    assert "The core works." in result.stdout, result.stderr
    tags = (directory / "tags.csv").read_text().splitlines()
    assert tags[0] == "color,x,y"
    assert len(tags) == 61


def test_each_missing_extra_is_named(bare):
    lines = bare[1].stderr.splitlines()
    assert len(lines) == len(NEEDS), lines
    for (what, extra), line in zip(NEEDS.items(), lines, strict=True):
        assert line.endswith(f"with: pip install 'homi-learn[{extra}]'"), (what, line)
        assert line.startswith("Error: ") == isinstance(what, tuple)


TABLES = [
    "a,b,c\n1,2,3\n4,,6\n",
    "a,b\r\n1, x \r\n\r\n2,y\r\n",
    '\ufeff"a, b",c\n"one\ntwo",1\n"say ""hi""",?\n',
    "a,b\n1e3,true\n-inf,false\n",
    "a\n1\n2\n",
    "a,b\n",
    "a,b\n+1,01\n1_0,2\n",
    "day,b\n2024-01-02,1\n",
    "a,b\n1,2\n3\n",
    "a,b\n1,2\n3,4,5\n",
    "a,b\nx,1\n3,4\n",
    "",
    "a,é\nü,1\n",
    "text\n" + "x" * 200_000 + "\n",
]


@pytest.mark.parametrize("text", TABLES)
@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz"])
def test_a_table_reads_the_same_without_pyarrow(text, suffix, tmp_path):
    path = tmp_path / f"rows{suffix}"
    text = text.replace(",", "\t") if suffix.startswith(".tsv") else text
    data = text.encode()
    path.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)

    def outcome(parse):
        try:
            table = parse(path, Budget.of(path)).table
        except ValueError as error:
            return str(error)
        return table.names, table.nominal, np.nan_to_num(table.values).tolist()

    assert outcome(plain_csv.parse_text) == outcome(tables.parse_text)


def test_the_doctor_finds_the_other_homi(monkeypatch):
    found = {"homi": "0.2.2"}
    monkeypatch.setattr(doctor, "_version", lambda name: found.get(name, "1.0"))
    said = CliRunner().invoke(app, ["doctor"]).output
    assert "Warning: the distribution homi 0.2.2 is installed beside homi-learn" in said
    assert "pip uninstall -y homi" in said
    found["homi"] = None
    assert "Warning" not in CliRunner().invoke(app, ["doctor"]).output


# What is shipped: the README's lines run, the wheel is whole, the names are there.


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
    assert "[::4]" in block
    fewer = block.replace("[::4]", "[::20]")  # seconds instead of many
    exec(compile(fewer, "README.md", "exec"), {})
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
