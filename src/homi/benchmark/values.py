"""Check values that people write into a file."""

from __future__ import annotations

from typing import Any

from homi.typing import Fields


def said(value: object) -> str:
    """Return a value for a message, cut short."""
    text = repr(value)
    return "absent" if value is None else text[:60] + "..." * (len(text) > 60)


def table(what: str, value: object) -> Fields:
    """Return a table of TOML."""
    if not isinstance(value, dict):
        raise ValueError(f"{what} is {said(value)}; expected a table of key = value.")
    return value


def whole_number(what: str, value: object, low: int, high: int) -> int:
    """Return a whole number within limits."""
    if type(value) is bool or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(
            f"{what} is {said(value)}; expected a whole number from {low:,} to "
            f"{high:,}."
        )
    return value


def names(what: str, value: object, may_be_empty: bool = False) -> tuple[str, ...]:
    """Return a list of names, each once."""
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        raise ValueError(f'{what} is {said(value)}; expected a list, ["NAME", ...].')
    if not value and not may_be_empty:
        raise ValueError(f"{what} is empty; name at least one.")
    return tuple(dict.fromkeys(value))


def plain_value(what: str, value: Any) -> Any:
    """Return a text, truth value or finite number, or a list of them."""
    for part in value if isinstance(value, list) else [value]:
        is_plain = isinstance(part, str | bool) or (
            isinstance(part, int | float) and abs(part) < 2**63
        )
        if not is_plain:
            raise ValueError(
                f"{what} is {said(part)}; expected a text, true or false, a finite "
                "number, or a list of these."
            )
    return value
