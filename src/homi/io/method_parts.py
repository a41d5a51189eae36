"""Parts of the compared methods in a model file: margins, sigmoids, chains, indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from homi.base.scaling import Scaler
from homi.io.errors import ModelFileError
from homi.io.tensors import Out, Source
from homi.linear import LinearMargins, Sigmoids
from homi.methods.chains import LinearChain
from homi.methods.label_models import LinearModel
from homi.typing import Array, Fields, Indices

T = TypeVar("T")


class Sizes(NamedTuple):
    """Numbers of features and of labels."""

    p: int
    q: int


def load_indices(
    source: Source, name: str, shape: tuple[int, ...], below: int
) -> Indices:
    """Take indices from 0 to below - 1."""
    found = source.integers(name, shape)
    if found.size and not 0 <= found.min() <= found.max() < below:
        raise ModelFileError(f"{name} holds an index that is not below {below}.")
    return found.astype(np.intp, copy=False)


def load_order(source: Source, name: str, count: int) -> Indices:
    """Take a permutation."""
    found = load_indices(source, name, (count,), count)
    if len(np.unique(found)) < count:
        raise ModelFileError(f"{name} is not an order of {count} labels.")
    return found


def dump_lists(lists: Sequence[ArrayLike], name: str, out: Out) -> None:
    """Put lists of indices as one array and the ends of its parts."""
    parts = [np.asarray(part, dtype=np.int64) for part in lists]
    out.put(name, np.concatenate([np.empty(0, np.int64), *parts]))
    out.put(f"{name}.ends", np.cumsum([len(part) for part in parts], dtype=np.int64))


def load_lists(source: Source, name: str, below: int) -> list[Indices]:
    """Take lists of indices from 0 to below - 1; none of them is empty."""
    count, total = source.length(f"{name}.ends"), source.length(name)
    ends = source.integers(f"{name}.ends", (count,))
    starts = np.concatenate([[0], ends])[:-1]
    if (ends <= starts).any() or (count and ends[-1] != total):
        raise ModelFileError(f"{name} is cut in the wrong places.")
    found = load_indices(source, name, (total,), below)
    return [found[a:b] for a, b in zip(starts, ends, strict=True)]


def dump_linear(linear: LinearMargins, out: Out) -> Fields:
    """Put margins; return their layout."""
    out.put("intercept", linear.intercept)
    return {
        "coef": out.put_matrix("coef", linear.coef),
        "unfinished": int(linear.unfinished),
    }


def load_linear(about: Fields, source: Source, sizes: Sizes) -> LinearMargins:
    """Take margins."""
    coef = source.matrix("coef", (sizes.p, sizes.q), about["coef"])
    unfinished = about["unfinished"]
    if type(unfinished) is not int or not isinstance(coef, np.ndarray):
        raise ModelFileError("the linear classifiers are malformed.")
    return LinearMargins(coef, source.floats("intercept", (sizes.q,)), unfinished)


def dump_sigmoids(sigmoids: Sigmoids, out: Out) -> None:
    """Put sigmoids."""
    out.put("slope", sigmoids.slope)
    out.put("offset", sigmoids.offset)


def load_sigmoids(source: Source, n_labels: int) -> Sigmoids:
    """Take sigmoids."""
    return Sigmoids(
        source.floats("slope", (n_labels,)), source.floats("offset", (n_labels,))
    )


def dump_linear_model(model: LinearModel, out: Out) -> Fields:
    """Put margins and sigmoids; return their layout."""
    dump_sigmoids(model.sigmoids, out)
    return dump_linear(model.linear, out)


def load_linear_model(about: Fields, source: Source, sizes: Sizes) -> LinearModel:
    """Take margins and sigmoids."""
    linear = load_linear(about, source, sizes)
    return LinearModel(linear, load_sigmoids(source, sizes.q))


def dump_chain(chain: LinearChain, out: Out) -> Fields:
    """Put a chain; return the layout of its margins."""
    out.put("order", np.asarray(chain.order, dtype=np.int64))
    out.put("weights", chain.weights)
    dump_sigmoids(chain.sigmoids, out)
    return dump_linear(chain.linear, out)


def load_chain(about: Fields, source: Source, sizes: Sizes) -> LinearChain:
    """Take a chain."""
    q = sizes.q
    return LinearChain(
        load_order(source, "order", q),
        load_linear(about, source, sizes),
        source.floats("weights", (q, q)),
        load_sigmoids(source, q),
    )


def dump_scaler(scaler: Scaler | None, out: Out) -> bool:
    """Put a scaler, if there is one; return whether there is."""
    for name in ("mean", "shift", "scale") if scaler is not None else ():
        out.put(name, getattr(scaler, name))
    return scaler is not None


def load_scaler(has_one: object, source: Source, m: int) -> Scaler | None:
    """Take a scaler, if there is one."""
    if not has_one:
        return None
    mean, shift, scale = (source.floats(n, (m,)) for n in ("mean", "shift", "scale"))
    if not (scale > 0).all():
        raise ModelFileError("a feature has a scale that is not positive.")
    return Scaler(mean, shift, scale)


def each(
    abouts: object, source: Source, name: str, load: Callable[[Any, Source], T]
) -> list[T]:
    """Load parts ``name0``, ``name1``, …, one for each entry of a header's list."""
    if not isinstance(abouts, list):
        raise ModelFileError(f"the {name}s are not a list.")
    return [load(about, source.under(f"{name}{i}")) for i, about in enumerate(abouts)]


def shares(source: Source, name: str, shape: tuple[int, ...]) -> Array:
    """Take numbers from 0 to 1."""
    found = source.floats(name, shape)
    if ((found < 0) | (found > 1)).any():
        raise ModelFileError(f"{name} holds a number that is no share.")
    return found
