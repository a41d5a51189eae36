"""Check names that people type, and suggest the nearest known one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches


def check_names(what: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise ValueError at the first name that is not known."""
    for name in names:
        if name not in known:
            near = get_close_matches(str(name), map(str, known), n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}."
            raise ValueError(f"no {what} is called {name!r}; {hint}")
