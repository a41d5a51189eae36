"""A forest in a model file: the arrays of its trees."""

from __future__ import annotations

from homi.io.errors import ModelFileError
from homi.io.tensors import Out, Source
from homi.model.forest import Forest
from homi.model.forest_arrays import TYPES


def dump_forest(forest: Forest, out: Out) -> None:
    """Put the tensors of a forest into `out`."""
    for name, value in forest.arrays().items():
        out.put(name, value)


def load_forest(source: Source, n_features: int, n_labels: int) -> Forest:
    """Return the forest of a file; it must have these numbers of features and labels.

    Raises
    ------
    ModelFileError
        If the tensors are missing, or are not those of such a forest.
    """
    shapes = {name: (source.length(name),) for name in TYPES}
    arrays = {
        name: (source.floats if kind.startswith("float") else source.integers)(
            name, shapes[name]
        )
        for name, kind in TYPES.items()
    }
    try:
        forest = Forest.from_arrays(arrays)
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    if (forest.n_features, forest.n_labels) != (n_features, n_labels):
        raise ModelFileError("the forest is of other features or labels.")
    return forest
