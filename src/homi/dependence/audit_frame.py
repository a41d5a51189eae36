"""The result of an audit: a data frame with an estimate, and corrections."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from homi.arrays import check_label_order, dense


class AuditFrame(pd.DataFrame):  # type: ignore[misc]
    """Suspicious labels, most suspicious first: a data frame of pandas.

    Its columns are those of :func:`homi.dependence.audit`. Some of its rows, such as
    ``found[found.score > 0.8]``, are an audit, too.
    """

    @property
    def _constructor(self) -> Any:
        return AuditFrame

    @property
    def n_wrong(self) -> float:
        """Estimated number of wrong labels of all rows, listed or not."""
        return float(self.attrs["n_wrong"])

    @property
    def interval(self) -> tuple[float, float]:
        """Least and greatest number of wrong labels that is plausible."""
        low, high = self.attrs["interval"]
        return float(low), float(high)

    def corrected(self, Y: Any, threshold: float = 0.5) -> Any:
        """Return a copy of Y in which suspicious labels are changed.

        Parameters
        ----------
        Y : {array-like, sparse matrix, data frame} of shape (n_samples, n_labels)
            The labels that were audited.
        threshold : float in [0, 1], default=0.5
            Change the listed labels whose score exceeds this.

        Returns
        -------
        Y : like Y
        """
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold must be between 0 and 1, got {threshold!r}.")
        check_label_order(getattr(Y, "columns", None), self.attrs["labels"], "Y")
        # np.array of a data frame of pandas 2.2 may be a view.
        values = np.asarray(dense(Y) if sparse.issparse(Y) else Y).copy()
        if values.shape != self.attrs["shape"]:
            raise ValueError(
                f"Y has shape {values.shape}, and the audited labels had "
                f"{self.attrs['shape']}; pass these."
            )
        chosen = self[self["score"] > threshold]
        place = {name: j for j, name in enumerate(self.attrs["labels"])}
        rows = chosen["row"].to_numpy()
        columns = np.array([place[name] for name in chosen["label"]], dtype=np.intp)
        given = chosen["given"].to_numpy()
        if not np.array_equal(values[rows, columns].astype(int), given):
            raise ValueError("Y is not what was audited; pass the same labels.")
        values[rows, columns] = (1 - given).astype(values.dtype)
        if sparse.issparse(Y):
            return type(Y)(values)
        if isinstance(Y, pd.DataFrame):
            return pd.DataFrame(values, index=Y.index, columns=Y.columns)
        if hasattr(Y, "columns"):  # polars
            return type(Y)(values, schema=Y.schema)
        return values
