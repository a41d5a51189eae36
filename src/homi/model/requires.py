"""Which parameters of HOMI go together: one table, its errors, and its paragraph."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from numbers import Real
from typing import NamedTuple, TypeVar

C = TypeVar("C", bound=type)

#: A number above 0.
POSITIVE = "a positive number"


class Way(NamedTuple):
    """A way to fit, the values that it takes, and what to do with others."""

    takes: dict[str, tuple[object, ...]]
    why: str
    instead: str


#: Values with which moments, sums over rows, are all that a fit needs.
_MOMENTS: dict[str, tuple[object, ...]] = {
    "kernel": (None,),
    "correlation": ("labels", "identity"),
    "missing_labels": ("error",),
    "solver": ("auto", "direct"),
    "calibration": (None,),
}

REQUIRES = {
    "partial_fit": Way(
        {"graph": ("auto", "anchors"), **_MOMENTS},
        "which needs all rows at once",
        "use fit",
    ),
    "a Dask collection": Way(
        {"graph": ("auto", "exact", "anchors"), **_MOMENTS, "sample_weight": (None,)},
        "which needs all rows in one place",
        "compute the collection first",
    ),
    'solver="iterative"': Way(
        {
            "graph": ("auto", "exact", "approximate"),
            "kernel": (None,),
            "correlation": ("labels",),
            "missing_labels": ("error",),
            "sweep": ("joint",),
            "init": ("zeros",),
            "penalize_bias": (True,),
            "lam": (POSITIVE,),
            "sample_weight": (None,),
            "label_weight": (None,),
        },
        "which it has no form for",
        'use solver="direct"',
    ),
    "sample_weight": Way(
        {"graph": ("auto", "exact", "anchors")},
        "which does not know how many copies of a row there are",
        "leave the weights out",
    ),
    "label_weight": Way(
        {"sweep": ("joint",)},
        "whose steps have no closed form with unequal weights",
        "leave the weights out",
    ),
}


def unmet(way: str, given: Mapping[str, object]) -> str:
    """Describe the first given value that a way to fit does not take; "" for none."""
    takes, why, instead = REQUIRES[way]
    for name, allowed in takes.items():
        if name in given and not _is_allowed(name, given, allowed):
            value = given[name]
            shown = name if name.endswith("_weight") else f"{name}={value!r}"
            return (
                f"{way} cannot be used with {shown}, {why}; {_advice(name, allowed)}, "
                f"or {instead}."
            )
    return ""


def check(way: str, given: Mapping[str, object]) -> None:
    """Raise ValueError for a value that a way to fit does not take."""
    if problem := unmet(way, given):
        raise ValueError(problem)


def paragraph() -> str:
    """Return the table as a paragraph of a docstring."""
    ways = (
        f"{way if ' ' in way else f'``{way}``'} needs "
        + ", ".join(_listed(name, allowed) for name, allowed in takes.items())
        for way, (takes, _, _) in REQUIRES.items()
    )
    return (
        "Some parameters go together. "
        + ". ".join(f"{way[0].upper()}{way[1:]}" for way in ways)
        + ". With γ = 0 there is no graph, and ``graph`` may be anything."
    )


def documents_requirements(cls: C) -> C:
    """Write the paragraph into the docstring of a class, at ``{requires}``."""
    if cls.__doc__ is not None:
        lines = textwrap.fill(paragraph(), 84, break_on_hyphens=False)
        indented = textwrap.indent(lines, "    ")
        cls.__doc__ = cls.__doc__.replace("    {requires}", indented)
    return cls


def _is_allowed(
    name: str, given: Mapping[str, object], allowed: tuple[object, ...]
) -> bool:
    value = given[name]
    if name == "graph" and given.get("gamma", 1) == 0:
        return True
    if allowed == (POSITIVE,):
        return isinstance(value, Real) and float(value) > 0
    if name.endswith("_weight"):
        return value is None
    return value in allowed


def _advice(name: str, allowed: tuple[object, ...]) -> str:
    if name.endswith("_weight"):
        return f"leave {name} out"
    return f"use {_listed(name, allowed).replace('``', '')}"


def _listed(name: str, allowed: tuple[object, ...]) -> str:
    if allowed == (POSITIVE,):
        return f"``{name} > 0``"
    if name.endswith("_weight"):
        return f"no ``{name}``"
    values = [f'"{v}"' if isinstance(v, str) else repr(v) for v in allowed]
    return f"``{name}={' or '.join(values)}``"
