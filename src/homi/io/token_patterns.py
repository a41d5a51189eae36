r"""Regular expressions that a model file may hold: those that take linear time.

Python's `re` backtracks where a match fails late, which can take exponential time. Two
kinds of pattern never do:

- Where one item repeats without end, everything before it can match in a few ways only,
  and nothing after it can fail. ``[a-z]+``, ``\w+(?:-\w+)*``.
- Letters, digits and ``_`` after ``\b``, with one repetition without end: a word is
  tried once, from its start. ``\b\w\w+\b``, scikit-learn's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from homi.io.errors import ModelFileError

#: Length of a pattern, and ways in which a part of it may match at one place.
_MAX_LENGTH, _MAX_WAYS = 1000, 64

_CHARACTERS = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN)
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
_WORD = (codes.CATEGORY_WORD, codes.CATEGORY_DIGIT)

#: Opcode and arguments, as the parser of ``re`` gives them.
Item = tuple[object, Any]
Items = Sequence[Item]


def check_token_pattern(pattern: str | None) -> None:
    """Refuse a pattern of a TfidfVectorizer that could take exponential time."""
    if pattern is None:
        return
    shown = repr(str(pattern)[:60])
    try:
        re.compile(pattern)
        if len(pattern) <= _MAX_LENGTH and _is_linear(list(_parser.parse(pattern))):
            return
    except (re.error, RecursionError, OverflowError, TypeError) as error:
        raise ModelFileError(
            f"token_pattern={shown} is not a regular expression."
        ) from error
    raise ModelFileError(
        f"token_pattern={shown} could take very long on some texts, so a model file "
        "does not hold it; use scikit-learn's default, or a pattern in which nothing "
        "that must match follows a repetition, such as '[a-z]+', and fit again."
    )


def _is_linear(items: Items) -> bool:
    items = _flat(items)
    while items and _cannot_fail(*items[-1]):
        items = items[:-1]
    if not items or _is_word(items):
        return True
    *front, (kind, content) = items
    if _ways(front) > _MAX_WAYS:
        return False
    if kind is codes.SUBPATTERN:
        return _is_linear(list(content[-1]))
    if kind is codes.BRANCH:
        return all(_is_linear(list(branch)) for branch in content[1])
    if kind in _REPEATS and content[0] <= _MAX_WAYS:
        least, _, body = content
        is_character = len(body) == 1 and body[0][0] in _CHARACTERS
        return is_character or (least <= 1 and _is_linear(list(body)))
    return _ways(items[-1:]) <= _MAX_WAYS


def _flat(items: Items) -> list[Item]:
    """Replace groups that change no flag by their items."""
    found: list[Item] = []
    for kind, content in items:
        is_plain = kind is codes.SUBPATTERN and not any(content[1:3])
        found += _flat(list(content[3])) if is_plain else [(kind, content)]
    return found


def _cannot_fail(kind: object, content: Any) -> bool:
    """Return True for an optional item that takes linear time."""
    return kind in _REPEATS and not content[0] and _is_linear(list(content[2]))


def _ways(items: Items) -> float:
    """Bound the number of ways in which items match at one place, times letters."""
    total = 1.0
    for kind, content in items:
        if kind in _REPEATS:
            most, body = content[1:]
            if most > _MAX_WAYS:
                return float("inf")
            total *= (most + 1) * min(_ways(body), 1000) ** most
        elif kind is codes.SUBPATTERN:
            total *= _ways(content[-1])
        elif kind is codes.BRANCH:
            total *= sum(map(_ways, content[1]))
        elif kind in (codes.ASSERT, codes.ASSERT_NOT):
            total *= _ways(content[1])
        elif kind not in (*_CHARACTERS, codes.AT):
            return float("inf")  # back references, conditions, later opcodes
    return total


def _is_word(items: Items) -> bool:
    r"""Return True for ``\b`` and word characters, at most one repeated freely."""
    if items[:1] != [(codes.AT, codes.AT_BOUNDARY)]:
        return False
    n_free = 0
    for kind, content in items[1:]:
        one = (kind, content)
        if kind in _REPEATS and len(content[2]) == 1:
            one = content[2][0]
            n_free += content[0] != content[1]
        if one != (codes.AT, codes.AT_BOUNDARY) and not _is_word_character(*one):
            return False
    return n_free <= 1


def _is_word_character(kind: object, content: Any) -> bool:
    if kind is codes.LITERAL:
        return _is_ascii_word(content)
    if kind is codes.RANGE:
        return all(map(_is_ascii_word, range(content[0], min(content[1], 128) + 1)))
    if kind is codes.CATEGORY:
        return content in _WORD
    return kind is codes.IN and all(_is_word_character(*part) for part in content)


def _is_ascii_word(code: int) -> bool:
    return code < 128 and (chr(code).isalnum() or chr(code) == "_")
