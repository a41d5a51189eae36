"""Experiments: their tasks, and the settings of each task."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from homi.benchmark.cells import Cell, Study, Task
from homi.benchmark.methods import variant, with_settings
from homi.datasets.registry import registry
from homi.typing import Fields


@dataclass(frozen=True)
class Search:
    """Search for parameters in the paper's grid inside a training fold.

    ``points`` of the grid are tried, drawn without replacement, and the one with the
    lowest ``metric`` on a share ``validation`` of the training rows is taken.
    """

    points: int
    validation: float = 0.25
    metric: str = "ranking_loss"


@dataclass(frozen=True)
class Ask:
    """Settings of a task: parameters of the method, and its search."""

    parameters: Fields
    search: Search | None = None


@dataclass(frozen=True)
class Sensitivity:
    """Data sets on which HOMI is run with one parameter changed, and the values."""

    datasets: tuple[str, ...] = ()
    values: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def methods(self) -> list[str]:
        """Return the name of HOMI with each value of each parameter."""
        return [
            with_settings("HOMI", **{parameter: value})
            for parameter, values in self.values.items()
            for value in values
        ]


@dataclass(frozen=True)
class Large:
    """Data sets of more rows than this have another number of folds."""

    rows: int
    folds: int


@dataclass(frozen=True)
class Limit:
    """Minutes of processor time, and gigabytes, that a cell may take."""

    minutes: int
    gigabytes: int


@dataclass(frozen=True)
class Experiment:
    """Cells = protocols × data sets × methods × folds, and rules for parameters.

    ``studies`` names the data sets of each kind of study. ``baselines`` are methods of
    the clean protocol alone. ``only`` names the methods of a protocol that
    does not have all. ``times`` says whether running times are reported. ``metrics``
    are measured beside the paper's, ``groups`` are names of lists of data sets, and a
    cell beyond ``limit`` is stopped.
    """

    name: str
    protocols: tuple[str, ...]
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    baselines: tuple[str, ...] = ()
    folds: int = 5
    threads: int = 1
    times: bool = True
    metrics: tuple[str, ...] = ()
    large: Large | None = None
    limit: Limit | None = None
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    only: dict[str, tuple[str, ...]] = field(default_factory=dict)
    searches: dict[str, Search] = field(default_factory=dict)
    rules: tuple[Fields, ...] = ()
    sensitivity: Sensitivity = Sensitivity()
    studies: dict[str, tuple[str, ...]] = field(default_factory=dict)
    quick: Fields = field(default_factory=dict)

    def tasks(
        self,
        datasets: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        protocols: Sequence[str] | None = None,
    ) -> Iterator[Task]:
        """Yield studies and cells, or those of some names, in file order.

        A choice of methods leaves the studies out.
        """
        check_names("protocol", protocols or (), self.protocols)
        check_names("data set", datasets or (), self.datasets)
        everything = {name for d in self.datasets for name in self._methods("clean", d)}
        check_names("method", methods or (), sorted(everything))
        for dataset in datasets or self.datasets:
            for protocol in protocols or self.protocols:
                if methods is None:
                    yield from self._studies(protocol, dataset)
                yield from self._cells(protocol, dataset, methods)

    def _studies(self, protocol: str, dataset: str) -> Iterator[Study]:
        for kind, wanted in self.studies.items():
            if dataset in wanted and self._has_study(protocol, kind):
                yield Study(protocol, dataset, kind)

    def _has_study(self, protocol: str, kind: str) -> bool:
        """Characteristics are the same under all protocols; folds need no method."""
        if kind == "characteristics":
            return protocol == self.protocols[0]
        return kind == "folds" or self._runs(protocol, Study.method)

    def _runs(self, protocol: str, method: str) -> bool:
        return method in self.only.get(protocol, (method,))

    def _cells(
        self, protocol: str, dataset: str, methods: Sequence[str] | None
    ) -> Iterator[Cell]:
        # Folds outside methods: a run that ends early leaves fair comparisons.
        for fold in range(self.folds_of(dataset)):
            for method in self._methods(protocol, dataset):
                if methods is None or method in methods:
                    yield Cell(protocol, dataset, method, fold)

    def folds_of(self, dataset: str) -> int:
        """Return the number of folds of a data set."""
        rows = registry()[dataset].n_samples
        is_large = self.large is not None and rows > self.large.rows
        return self.large.folds if self.large and is_large else self.folds

    def _methods(self, protocol: str, dataset: str) -> Iterator[str]:
        yield from (name for name in self.methods if self._runs(protocol, name))
        if protocol == "clean":
            yield from self.baselines
        if dataset in self.sensitivity.datasets and self._runs(protocol, "HOMI"):
            yield from (n for n in self.sensitivity.methods() if n not in self.methods)

    def ask(self, task: Task) -> Ask:
        """Return the settings of a task: the rules in order, then those of its name.

        A rule for a method holds for its variants too.
        """
        if isinstance(task, Study) and task.kind == "folds":
            return Ask({"folds": self.folds_of(task.dataset)})
        base, settings = variant(task.method)
        names = {"protocol": task.protocol, "dataset": task.dataset, "method": base}
        parameters: Fields = {}
        for rule in self.rules:
            if all(_matches(rule, key, value) for key, value in names.items()):
                parameters |= rule["set"]
        return Ask(parameters | settings, self.searches.get(task.method))

    def varied_on(self, datasets: Sequence[str]) -> Experiment:
        """Return the experiment with HOMI's parameters varied on more data sets."""
        check_names("data set", datasets, self.datasets)
        asked = self.sensitivity
        names = dict.fromkeys([*asked.datasets, *datasets])
        return replace(self, sensitivity=replace(asked, datasets=tuple(names)))

    def quickly(self) -> Experiment:
        """Return the small part that the file names under ``[quick]``."""
        if not self.quick:
            raise ValueError(
                f"the experiment {self.name} has no [quick] part; say there which "
                "datasets, methods and how many folds a quick run has."
            )
        kept = self.quick.get("methods", self.methods)
        changed: Fields = {
            "name": f"{self.name}-quick",
            "searches": {k: v for k, v in self.searches.items() if k in kept},
            **self.quick,
        }
        # Running times of a run of seconds mean nothing.
        return replace(self, times=False, quick={}, **changed)


def _matches(rule: Fields, key: str, value: str) -> bool:
    wanted = rule.get(key, value)
    return value in ([wanted] if isinstance(wanted, str) else wanted)


def check_names(what: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise ValueError at the first name that is not known."""
    for name in names:
        if name not in known:
            near = get_close_matches(str(name), map(str, known), n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}."
            raise ValueError(f"no {what} is called {name!r}; {hint}")
