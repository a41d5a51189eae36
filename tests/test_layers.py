"""Imports point downwards only, and private names of scikit-learn have one door."""

import ast
import re
from functools import cache
from pathlib import Path

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

#: The imports that point up: methods that open the page of their model, or explain it.
#: The class is for type checkers only.
UPWARDS = {
    "homi.base.classifier": {"homi.explorer.why.why", "homi.explorer.why.Explanation"},
    "homi.model.explain_mixin": {"homi.explorer.explain"},
    "homi.tables.pipeline": {"homi.explorer.why.why"},
}


@cache
def trees():
    """Module -> its syntax tree."""
    return {
        ".".join(("homi", *(part for part in path.parts if part != "__init__"))): tree
        for path, tree in (
            (file.relative_to(SOURCE).with_suffix(""), ast.parse(file.read_bytes()))
            for file in sorted(SOURCE.rglob("*.py"))
        )
    }


def names_in(nodes):
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imports():
    """Module -> all that it imports, also inside functions."""
    return {module: {*names_in(ast.walk(tree))} for module, tree in trees().items()}


def layer_of(module):
    parts = module.split(".")
    known = set().union(*LAYERS)
    name = parts[1] if len(parts) > 1 and parts[1] in known else "homi"
    return next(level for level, names in enumerate(LAYERS) if name in names)


def those(condition):
    """Return the imports that meet a condition of module and name."""
    found = {m: {n for n in names if condition(m, n)} for m, names in imports().items()}
    return {module: names for module, names in found.items() if names}


def is_private(name):
    return name.startswith("sklearn") and any(p[0] == "_" for p in name.split("."))


def test_every_file_is_seen():
    assert {"homi", "homi.model.homi", "homi.cli.app"} <= {*imports()}
    assert "numpy" in imports()["homi.linalg"]


def test_imports_point_downwards():
    upwards = those(
        lambda module, name: (
            name.split(".")[0] == "homi" and layer_of(name) > layer_of(module)
        )
    )
    assert upwards == UPWARDS


def test_the_import_that_points_up_waits_until_the_method_is_called():
    for module, names in UPWARDS.items():
        assert not names & {*names_in(trees()[module].body)}


def test_the_mathematics_knows_nothing_of_scikit_learn():
    mathematics = {"linalg", "moments", "graph", "solver"}
    found = those(lambda _, name: name.startswith("sklearn"))
    assert not {m for m in found if {*m.split(".")[1:2]} & mathematics}


def test_private_names_of_scikit_learn_come_through_one_file():
    found = those(lambda _, name: is_private(name))
    assert {*found} == {"homi.base._compat"}


#: scikit-learn has no public name for these.
PRIVATE_IN_IO = {"_build_f", "_sklearn_output_config", "_tfidf", "_validate_params"}


def private_reads(tree):
    """Yield the private attributes of other objects, also as text in getattr."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") != "self":
            yield node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr":
            yield from (a.value for a in node.args if isinstance(a, ast.Constant))


def test_model_files_are_made_of_public_attributes():
    found = {
        name
        for module, tree in trees().items()
        if module.startswith("homi.io.")
        for name in private_reads(tree)
        if re.match("_[a-z]", str(name))
    }
    # A method of every NamedTuple.
    assert found - {"_asdict"} == PRIVATE_IN_IO
