"""Imports point downwards only, and private names of scikit-learn have one door."""

import ast
import re
from pathlib import Path

import pytest

import homi

SOURCE = Path(homi.__file__).parent

ROOT = Path(__file__).parent.parent


def layers():
    """Names in the first column of the table in CONTRIBUTING.md, lowest first.

    A module may import from its own layer and from those before it.
    """
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.split("| --- | --- |\n", 1)[1].split("\n\n", 1)[0]
    cells = [line.split("|")[1] for line in table.splitlines()]
    return [set(re.findall(r"`(\w+)`", cell)) for cell in cells]


LAYERS = layers()

FILES = sorted(SOURCE.rglob("*.py"))


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer_of(module):
    parts = module.split(".")
    known = set().union(*LAYERS)
    name = parts[1] if len(parts) > 1 and parts[1] in known else "homi"
    return next(level for level, names in enumerate(LAYERS) if name in names)


def module_of(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(("homi", *(part for part in parts if part != "__init__")))


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_imports_point_downwards(path):
    here = layer_of(module_of(path))
    for name in imported(path):
        if name.split(".")[0] == "homi":
            assert layer_of(name) <= here, f"{module_of(path)} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_the_mathematics_knows_nothing_of_scikit_learn(path):
    top = module_of(path).split(".")[1:2]
    if top and top[0] in {"linalg", "moments", "graph", "solver"}:
        assert not any(name.startswith("sklearn") for name in imported(path))


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_private_names_of_scikit_learn_come_through_one_file(path):
    private = [
        name
        for name in imported(path)
        if name.startswith("sklearn") and any(p[0] == "_" for p in name.split("."))
    ]
    assert not private or path.name == "_compat.py"
