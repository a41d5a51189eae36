"""Experiment files: which cells there are, and what each of them asks for."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from homi.benchmark.cells import Cell
from homi.benchmark.methods import METHODS
from homi.benchmark.protocols import PROTOCOLS
from homi.datasets.registry import registry


@dataclass(frozen=True)
class Search:
    """How a method chooses parameters from the paper's grid inside a training fold.

    ``points`` of the grid are tried, drawn without replacement, and the one with the
    lowest ``metric`` on a share ``validation`` of the training rows is taken.
    """

    points: int
    validation: float = 0.25
    metric: str = "ranking_loss"


@dataclass(frozen=True)
class Ask:
    """What a cell is made with: parameters of the method, and how it searches."""

    parameters: dict[str, Any]
    search: Search | None = None


@dataclass(frozen=True)
class Experiment:
    """Cells = protocols × data sets × methods × folds, and rules for parameters."""

    name: str
    protocols: tuple[str, ...]
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    folds: int = 5
    threads: int = 1
    searches: dict[str, Search] = field(default_factory=dict)
    rules: tuple[dict[str, Any], ...] = ()

    def cells(
        self,
        datasets: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
    ) -> Iterator[Cell]:
        """All cells, or those of some data sets and methods, in the file's order."""
        _check("data set", datasets or (), self.datasets)
        _check("method", methods or (), self.methods)
        for protocol in self.protocols:
            for dataset in datasets or self.datasets:
                # Folds outside methods: a run that ends early leaves fair comparisons.
                for fold in range(self.folds):
                    for method in methods or self.methods:
                        yield Cell(protocol, dataset, method, fold)

    def ask(self, cell: Cell) -> Ask:
        """What the rules, later ones last, say of a cell."""
        parameters: dict[str, Any] = {}
        for rule in self.rules:
            if all(_matches(rule, key, getattr(cell, key)) for key in _KEYS):
                parameters |= rule["set"]
        return Ask(parameters, self.searches.get(cell.method))


_KEYS = ("protocol", "dataset", "method")


def _matches(rule: dict[str, Any], key: str, value: str) -> bool:
    wanted = rule.get(key, value)
    return value in ([wanted] if isinstance(wanted, str) else wanted)


def read_experiment(path: Path) -> Experiment:
    """Read and check an experiment file.

    Examples
    --------
    A file that has every kind of entry::

        name = "small"
        protocols = ["clean"]
        datasets = ["yeast"]
        methods = ["HOMI", "LFLC"]
        folds = 5

        [search.LFLC]
        points = 10

        [[rule]]
        method = "HOMI"
        dataset = ["yeast"]
        set = { n_neighbors = 2 }
    """
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}.") from error
    try:
        return _experiment(given)
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def _experiment(given: dict[str, Any]) -> Experiment:
    known = {"name", "protocols", "datasets", "methods", "folds", "threads"}
    _check("entry", given, known | {"search", "rule"})
    for what in ("name", "protocols", "datasets", "methods"):
        if what not in given:
            raise ValueError(f"no {what}: an experiment needs one.")
    _check("protocol", given["protocols"], PROTOCOLS)
    _check("data set", given["datasets"], registry())
    _check("method", given["methods"], METHODS)
    searches = {
        name: Search(**value) for name, value in given.get("search", {}).items()
    }
    _check("method", searches, given["methods"])
    rules = tuple(given.get("rule", ()))
    for rule in rules:
        _check("key of a rule", rule, {*_KEYS, "set"})
        if not isinstance(rule.get("set"), dict):
            raise ValueError("a rule needs set = { parameter = value }.")
    plain = {key: given[key] for key in known & set(given)}
    lists = {key: tuple(plain[key]) for key in ("protocols", "datasets", "methods")}
    return Experiment(**plain | lists, searches=searches, rules=rules)


def _check(what: str, names: Any, known: Any) -> None:
    for name in names:
        if name not in known:
            near = get_close_matches(str(name), map(str, known), n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}."
            raise ValueError(f"no {what} is called {name!r}; {hint}")
