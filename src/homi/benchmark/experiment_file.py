"""Experiment files: TOML, read and checked."""

from __future__ import annotations

import tomllib
from inspect import signature
from pathlib import Path
from typing import Any

from homi.benchmark.cells import STUDIES
from homi.benchmark.experiment import Experiment, Search, Sensitivity
from homi.benchmark.methods import EVERYTHING, variant
from homi.benchmark.names import check_names
from homi.benchmark.protocols import PROTOCOLS
from homi.datasets.registry import registry


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

        [sensitivity]
        datasets = ["yeast"]
        beta = [0.5, 1, 2]

        [studies]
        convergence = ["yeast"]

        [quick]
        datasets = ["yeast"]
        methods = ["HOMI"]
        folds = 2
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
    check_names("entry", given, _PLAIN | _PARTS)
    for what in ("name", "protocols", "datasets", "methods"):
        if what not in given:
            raise ValueError(f"no {what}: an experiment needs one.")
    _check_known(given)
    quick = given.get("quick", {})
    check_names("entry of [quick]", quick, _PLAIN - {"name"})
    if quick:
        _check_known({"protocols": [], "methods": [], "datasets": [], **quick})
    plain: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in given.items()
        if key in _PLAIN
    }
    return Experiment(
        **plain,
        searches=_searches(given),
        rules=_rules(given),
        sensitivity=_sensitivity(given),
        studies=_studies(given),
        quick=quick,
    )


_PLAIN = {"name", "protocols", "datasets", "methods", "baselines", "folds", "threads"}
_PARTS = {"search", "rule", "sensitivity", "studies", "quick"}


def _check_known(given: dict[str, Any]) -> None:
    check_names("protocol", given["protocols"], PROTOCOLS)
    check_names("data set", given["datasets"], registry())
    for name in [*given["methods"], *given.get("baselines", [])]:
        base, settings = variant(name)
        check_names("method", [base], EVERYTHING)
        check_names(
            f"parameter of {base}", settings, signature(EVERYTHING[base]).parameters
        )


def _searches(given: dict[str, Any]) -> dict[str, Search]:
    check_names("method", given.get("search", {}), given["methods"])
    return {name: Search(**value) for name, value in given.get("search", {}).items()}


def _rules(given: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    rules = tuple(given.get("rule", ()))
    for rule in rules:
        check_names("key of a rule", rule, {"protocol", "dataset", "method", "set"})
        if not isinstance(rule.get("set"), dict):
            raise ValueError("a rule needs set = { parameter = value }.")
    return rules


def _sensitivity(given: dict[str, Any]) -> Sensitivity:
    part = dict(given.get("sensitivity", {}))
    datasets = tuple(part.pop("datasets", ()))
    check_names("data set", datasets, given["datasets"])
    check_names("parameter of HOMI", part, signature(EVERYTHING["HOMI"]).parameters)
    return Sensitivity(datasets, {key: tuple(value) for key, value in part.items()})


def _studies(given: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    part = given.get("studies", {})
    check_names("study", part, STUDIES)
    for wanted in part.values():
        check_names("data set", wanted, given["datasets"])
    return {kind: tuple(wanted) for kind, wanted in part.items()}
