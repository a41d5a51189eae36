"""Types that signatures share."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray


class HasShape(Protocol):
    """A matrix that numpy does not convert by itself, such as a sparse one."""

    @property
    def shape(self) -> Any:
        """Numbers of rows and columns."""


#: Numbers.
Array: TypeAlias = NDArray[np.float64]
#: Indices of rows, features or labels, and counts.
Indices: TypeAlias = NDArray[np.intp]
#: Truth values.
Mask: TypeAlias = NDArray[np.bool_]

#: Names of labels or features, as a user gave them.
Names: TypeAlias = NDArray[np.object_]
#: Classes of a 1-D y, or values of any one type.
Values: TypeAlias = NDArray[np.generic]

#: What users pass: an array, nested lists, a data frame or a sparse matrix.
MatrixLike: TypeAlias = ArrayLike | HasShape
#: A checked matrix: an ndarray, or a CSR or CSC array. scipy has no types yet.
Matrix: TypeAlias = Any

#: Values by name: parameters of an estimator, a record of a file, options.
Fields: TypeAlias = dict[str, Any]

#: A seed, as scikit-learn takes it.
RandomState: TypeAlias = int | np.random.RandomState | None

#: Terms of an objective after each iteration.
History: TypeAlias = list[dict[str, float]]
