"""Descriptions of functions in installed packages: real texts with tags."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import pkgutil
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from homi.datasets.dataset import Dataset, label_dtype

NAME = "python-functions"

#: Import name of a package -> its tag.
PACKAGES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
    "pandas": "pandas",
}
#: Names of parameters -> the tag of functions that have one of them.
PARAMETERS = {
    "axis": "axis",
    "copy": "copy",
    "dtype": "dtype",
    "inplace": "inplace",
    "max_iter": "iterations",
    "maxiter": "iterations",
    "n_jobs": "parallel",
    "out": "out",
    "random_state": "random",
    "rng": "random",
    "sample_weight": "weights",
    "seed": "random",
    "tol": "tolerance",
    "weights": "weights",
}
#: Modules that hold tests, wrappers, or other names of functions elsewhere.
_LEFT_OUT = re.compile(
    r"_.*|tests?|testing|api|conftest|compat|core|ctypeslib|distutils|errors|"
    r"experimental|externals|f2py|fftpack|matlib|misc|odr|setup|typing|version"
)
#: Signatures, each on lines of its own, with which docstrings of C functions begin.
_SIGNATURES = re.compile(
    r"\A(?:[\w.]+\((?:[^()]|\([^()]*\))*\)(?: *->[^\n]*)?\s*(?:\n|\Z))+"
)
#: Fewest words of a text, and fewest texts of a tag.
_WORDS, _TEXTS = 6, 30


class Function(NamedTuple):
    """A function, class or method: its name, what it does, and its tags."""

    name: str
    text: str
    tags: list[str]


def python_functions() -> list[Function]:
    """Return the functions of numpy, scipy, scikit-learn and pandas, by name.

    The text is the docstring without signature and sections. Tags come from the
    package, the modules, the class and the parameters; those of fewer than 30 texts
    are left out. pandas is optional. Modules are imported, and nothing is called.
    """
    found: dict[str, Function] = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for package in PACKAGES:
            for module in _modules(package):
                for name, doc in _documented(module):
                    function = _function(name, doc)
                    if len(function.text.split()) >= _WORDS:
                        found.setdefault(function.text, function)
    counts = Counter(tag for function in found.values() for tag in function.tags)
    return [
        function._replace(tags=[t for t in function.tags if counts[t] >= _TEXTS])
        for function in sorted(found.values())
    ]


def as_dataset(functions: list[Function]) -> Dataset:
    """Return functions as a data set; X holds their texts."""
    names = sorted({tag for function in functions for tag in function.tags})
    given = [[tag in f.tags for tag in names] for f in functions]
    Y = np.array(given, dtype=label_dtype(len(names)))
    texts = np.array([function.text for function in functions], dtype=object)
    return Dataset(texts, Y, ["text"], names)


def _modules(package: str) -> Iterator[ModuleType]:
    """Yield a package, its public modules, and the packages in these."""
    root = _imported(package)
    if root is None:
        return
    yield root
    for one in _public(root):
        if module := _imported(f"{package}.{one.name}"):
            yield module
            for two in _public(module):
                inner = f"{module.__name__}.{two.name}"
                if two.ispkg and (found := _imported(inner)):
                    yield found


def _public(module: ModuleType) -> list[pkgutil.ModuleInfo]:
    found = pkgutil.iter_modules(getattr(module, "__path__", []))
    return sorted(m for m in found if not _LEFT_OUT.fullmatch(m.name))


def _imported(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except Exception:  # modules of other packages may raise anything
        return None


def _documented(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield names and docstrings of functions, classes and their methods."""
    listed = getattr(module, "__all__", None)
    for name in sorted(filter(_is_public, listed or dir(module))):
        try:
            value = getattr(module, name)
        except (AttributeError, ImportError):
            continue
        is_own = listed or getattr(value, "__module__", None) == module.__name__
        if is_own and callable(value) and not inspect.ismodule(value):
            yield from _docs(f"{module.__name__}.{name}", value)


def _docs(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if doc := _doc(value):
        yield name, doc
    if inspect.isclass(value):
        for method in sorted(filter(_is_public, vars(value))):
            if doc := _doc(inspect.getattr_static(value, method)):
                yield f"{name}.{method}", doc


def _is_public(name: str) -> bool:
    return not name.startswith("_")


def _doc(value: Any) -> str:
    doc = getattr(value, "__doc__", None)
    return inspect.cleandoc(doc) if isinstance(doc, str) else ""


def _function(name: str, doc: str) -> Function:
    sections = re.split(r"^([A-Z][\w ]+)\n[-=]{3,}\n", doc, flags=re.MULTILINE)
    parts = dict(zip(sections[1::2], sections[2::2], strict=True))
    path, tags = name.split("."), set()
    tags.add(PACKAGES[path[0]])
    tags.update(path[1:-1])
    parameters = parts.get("Parameters", "")
    for line in re.findall(r"^[\w*, ]+(?= ?:|$)", parameters, flags=re.MULTILINE):
        tags.update(PARAMETERS[n] for n in re.split(r"[, *]+", line) if n in PARAMETERS)
    if re.search(r"\bsparse\b", parameters):
        tags.add("sparse")
    return Function(name, _prose(sections[0]), sorted(tags))


def _prose(text: str) -> str:
    """Return a text without signature, directives, links and their markup."""
    lines = _without_directives(_SIGNATURES.sub("", text).splitlines())
    text = re.sub(r"(Read more|See more) in the :ref:`[^`]*`\.?", "", " ".join(lines))
    plain = re.sub(r":\w+:`~?([^`]*)`", r"\1", text)
    return " ".join(plain.replace("`", "").split())


def _without_directives(lines: list[str]) -> Iterator[str]:
    """Yield lines but for directives such as ``.. math::`` and what is indented."""
    is_inside = False
    for line in lines:
        is_inside = line.startswith("..") or (is_inside and line[:1] in ("", " "))
        if not is_inside:
            yield line
