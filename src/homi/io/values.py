"""Plain values of Python and numpy <-> strict JSON, without loss.

A value that JSON lacks is an object of one key, which names its kind:
``{"tuple": [1, 2]}``, ``{"float": "inf"}``. A dict of the model is one of these too,
so that no content of a file can pass for another kind of value.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from homi.io.errors import ModelFileError
from homi.typing import Fields

#: What JSON can say.
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_KINDS = "biufUO"
#: A type with a size in its name, such as U1000000000, could claim any memory.
_DTYPES = frozenset(
    ["bool", "str", "object", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)


def encode(value: object, what: str) -> Json:
    """Return the JSON form of a value; `what` names it in an error."""
    if isinstance(value, np.generic) and not isinstance(value, float | str):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, list):
        return [encode(item, what) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(item, what) for item in value]}
    if isinstance(value, set | frozenset) and all(isinstance(v, str) for v in value):
        return {type(value).__name__: sorted(value)}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: encode(item, what) for key, item in value.items()}}
    if isinstance(value, type) and issubclass(value, np.number):
        return {"type": value.__name__}
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        return {"array": _array(value, what)}
    raise ModelFileError(
        f"{what} is {str(value)[:80]!r} of type {type(value).__name__}, and a model "
        "file holds plain values only (numbers, texts, lists, arrays), never code; "
        "set another value, for instance by set_params, and save again."
    )


def _array(value: NDArray[np.generic], what: str) -> dict[str, Json]:
    kind = value.dtype.kind
    return {
        "dtype": {"U": "str", "O": "object"}.get(kind, value.dtype.name),
        "shape": list(value.shape),
        "values": [encode(item, what) for item in value.ravel().tolist()],
    }


def decode(value: object) -> Any:
    """Return the value that ``encode`` was given; raise ModelFileError otherwise."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise ModelFileError(
            f"a value with the keys {_some(value)} is of no known kind."
        )
    ((tag, content),) = value.items()
    try:
        return _DECODERS[tag](content)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"a value of kind {tag[:40]!r} is malformed.") from error


def _some(value: Fields) -> str:
    return ", ".join(repr(key[:40]) for key in list(value)[:4]) or "(none)"


def _decoded_array(content: Fields) -> NDArray[np.generic]:
    name, shape, values = content["dtype"], content["shape"], content["values"]
    values = [decode(item) for item in values]
    if name == "str" and not all(isinstance(item, str) for item in values):
        raise ModelFileError("an array of texts holds something else.")
    if name not in _DTYPES:
        raise ModelFileError(f"an array of type {str(name)[:40]!r} is not read.")
    flat = np.empty(len(values), dtype=object)
    flat[:] = values
    return flat.reshape(_checked_shape(shape, len(values))).astype(
        object if name == "object" else np.dtype(name)
    )


def _checked_shape(shape: list[int], count: int) -> list[int]:
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ModelFileError(f"{str(shape)[:40]} is not a shape.")
    if math.prod(shape) != count:
        raise ModelFileError(f"{count} values have the shape {str(shape)[:40]}.")
    return shape


def _texts(content: object) -> list[str]:
    if not isinstance(content, list) or not all(isinstance(t, str) for t in content):
        raise ModelFileError("a set holds something other than texts.")
    return content


def _number_type(content: str) -> type:
    known = (np.float64, np.float32, np.int64, np.int32)
    return {kind.__name__: kind for kind in known}[content]


_DECODERS: Fields = {
    "float": lambda content: _FLOATS[content],
    "tuple": lambda content: tuple([decode(item) for item in _listed(content)]),
    "dict": lambda content: {key: decode(item) for key, item in content.items()},
    "set": lambda content: set(_texts(content)),
    "frozenset": lambda content: frozenset(_texts(content)),
    "type": _number_type,
    "array": _decoded_array,
}


def _listed(content: object) -> list[object]:
    if not isinstance(content, list):
        raise ModelFileError("a tuple is not written as a list.")
    return content
