"""Experiment files: TOML, read and checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

from homi.benchmark.cells import STUDIES
from homi.benchmark.experiment import (
    Experiment,
    Large,
    Limit,
    Search,
    Sensitivity,
    check_names,
)
from homi.benchmark.measures import MEASURES
from homi.benchmark.methods import EVERYTHING, variant
from homi.benchmark.protocols import PROTOCOLS
from homi.benchmark.values import (
    names,
    plain_value,
    said,
    table,
    whole_number,
)
from homi.datasets.registry import registry
from homi.metrics import METRICS
from homi.typing import Fields

T = TypeVar("T", Large, Limit)


def read_experiment(path: Path) -> Experiment:
    """Read and check an experiment file.

    Examples
    --------
    A file that has every kind of entry::

        name = "small"
        protocols = ["clean"]
        datasets = ["yeast"]
        methods = ["HOMI", "LFLC"]
        metrics = ["micro_f1"]
        folds = 5

        [large]
        rows = 5000
        folds = 3

        [limit]
        minutes = 20
        gigabytes = 8

        [groups]
        music = ["yeast"]

        [only]
        clean = ["HOMI", "LFLC"]

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
        given = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not TOML: {error}.") from error
    try:
        return _experiment(given)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _experiment(given: Fields) -> Experiment:
    check_names("entry", given, _PLAIN | _PARTS)
    for what in ("name", "protocols", "datasets", "methods"):
        if what not in given:
            raise ValueError(f"no {what}: an experiment needs one.")
    if not (isinstance(given["name"], str) and _NAME.fullmatch(given["name"])):
        raise ValueError(
            f"name is {said(given['name'])}, and names a directory of results; "
            "expected up to 100 letters, digits, spaces and ._+- that begin with a "
            "letter or digit."
        )
    return Experiment(
        **_plain(given),
        only=_only(given),
        large=_large(given),
        limit=_limit(given),
        groups=_groups(given),
        searches=_searches(given),
        rules=_rules(given),
        sensitivity=_sensitivity(given),
        studies=_studies(given),
        quick=_plain(table("quick", given.get("quick", {})), "quick."),
    )


_NUMBERS = {"folds": (2, 100), "threads": (1, 1024)}
_LISTS = {"protocols", "datasets", "methods", "baselines", "metrics"}
_MAY_BE_EMPTY = {"baselines", "metrics"}
_PLAIN = {"name", *_LISTS, *_NUMBERS}
_PARTS = {"only", "search", "rule", "sensitivity", "studies", "quick"}
_PARTS |= {"large", "limit", "groups"}

_NAME = re.compile(r"[^\W_][\w .+-]{0,99}")


def _plain(given: Fields, where: str = "") -> Fields:
    """Return the entries that are names and numbers, after checking each."""
    if where:
        check_names("entry of [quick]", given, _PLAIN - {"name"})
    found: Fields = {}
    for key in sorted(_PLAIN & given.keys()):
        value, what = given[key], f"{where}{key}"
        if key in _NUMBERS:
            found[key] = whole_number(what, value, *_NUMBERS[key])
        elif key in _LISTS:
            found[key] = names(what, value, may_be_empty=key in _MAY_BE_EMPTY)
        else:
            found[key] = value
    check_names("protocol", found.get("protocols", ()), PROTOCOLS)
    check_names("metric", found.get("metrics", ()), MEASURES)
    check_names("data set", found.get("datasets", ()), registry())
    for name in (*found.get("methods", ()), *found.get("baselines", ())):
        base, settings = variant(name)
        _check_parameters([base], settings)
    return found


def _check_parameters(methods: Iterable[str], given: Any) -> None:
    for method in methods:
        check_names("method", [method], EVERYTHING)
        known = signature(EVERYTHING[method]).parameters
        check_names(f"parameter of {method}", given, known)


def _large(given: Fields) -> Large | None:
    return _numbers(given, "large", Large, {"rows": 10**9, "folds": 100})


def _limit(given: Fields) -> Limit | None:
    return _numbers(given, "limit", Limit, {"minutes": 10**6, "gigabytes": 10**6})


def _numbers(given: Fields, part: str, kind: type[T], most: dict[str, int]) -> T | None:
    """Return a table of whole numbers, all of which must be there."""
    if part not in given:
        return None
    found = table(part, given[part])
    check_names(f"key of [{part}]", found, most)
    low = {"folds": 2}
    return kind(
        **{
            key: whole_number(f"{part}.{key}", found.get(key), low.get(key, 1), high)
            for key, high in most.items()
        }
    )


def _groups(given: Fields) -> dict[str, tuple[str, ...]]:
    part = table("groups", given.get("groups", {}))
    found = {name: names(f"groups.{name}", value) for name, value in part.items()}
    for group in found.values():
        check_names("data set", group, given["datasets"])
    return found


def _only(given: Fields) -> dict[str, tuple[str, ...]]:
    part = table("only", given.get("only", {}))
    check_names("protocol", part, given["protocols"])
    found = {protocol: names(f"only.{protocol}", part[protocol]) for protocol in part}
    for methods in found.values():
        check_names("method", methods, given["methods"])
    return found


def _searches(given: Fields) -> dict[str, Search]:
    searches = table("search", given.get("search", {}))
    check_names("method", searches, given["methods"])
    return {
        name: _search(f"search.{name}", table(f"search.{name}", value))
        for name, value in searches.items()
    }


def _search(what: str, given: Fields) -> Search:
    check_names(f"key of [{what}]", given, [field.name for field in fields(Search)])
    points = whole_number(f"{what}.points", given.get("points"), 1, 1_000_000)
    found = Search(**{**given, "points": points})
    share = found.validation
    if isinstance(share, bool) or not isinstance(share, float) or not 0 < share < 1:
        raise ValueError(
            f"{what}.validation is {said(share)}; expected a share between 0 and 1."
        )
    if not isinstance(found.metric, str):
        raise ValueError(f"{what}.metric is {said(found.metric)}; expected a name.")
    check_names("metric", [found.metric], METRICS)
    return found


def _rules(given: Fields) -> tuple[Fields, ...]:
    rules = given.get("rule", [])
    if not isinstance(rules, list):
        raise ValueError("a rule is written as [[rule]], with two brackets.")
    for rule in rules:
        table("a rule", rule)
        check_names("key of a rule", rule, {*_RULED, "set"})
        if not isinstance(rule.get("set"), dict):
            raise ValueError("a rule needs set = { parameter = value }.")
        for key, known in _RULED.items():
            if key in rule:
                check_names(key, _one_or_more(key, rule[key]), known)
        for parameter, value in rule["set"].items():
            plain_value(f"the {parameter} of a rule", value)
        _check_parameters(_one_or_more("method", rule.get("method", [])), rule["set"])
    return tuple(rules)


#: Keys that restrict a rule, and their known values.
_RULED: Fields = {
    "protocol": PROTOCOLS,
    "dataset": registry(),
    "method": EVERYTHING,
}


def _one_or_more(key: str, value: Any) -> tuple[str, ...]:
    what = f"the {key} of a rule"
    return names(what, [value] if isinstance(value, str) else value, may_be_empty=True)


def _sensitivity(given: Fields) -> Sensitivity:
    part = dict(table("sensitivity", given.get("sensitivity", {})))
    datasets = names("sensitivity.datasets", part.pop("datasets", []), True)
    check_names("data set", datasets, given["datasets"])
    _check_parameters(["HOMI"], part)
    for key, values in part.items():
        if not isinstance(values, list):
            raise ValueError(
                f"sensitivity.{key} is {said(values)}; expected a list of values."
            )
        for value in values:
            plain_value(f"sensitivity.{key}", value)
    found = Sensitivity(datasets, {key: tuple(value) for key, value in part.items()})
    for method in found.methods():
        variant(method)
    return found


def _studies(given: Fields) -> dict[str, tuple[str, ...]]:
    part = table("studies", given.get("studies", {}))
    check_names("study", part, STUDIES)
    found = {kind: names(f"studies.{kind}", v, True) for kind, v in part.items()}
    for wanted in found.values():
        check_names("data set", wanted, given["datasets"])
    return found
