"""A forest that predicts log-odds of all labels, also of its training rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit

from homi.arrays import dense
from homi.model.forest_arrays import checked
from homi.model.tree_growth import grow_trees, single
from homi.model.trees import Trees
from homi.typing import Array, Matrix

#: Bytes of the rows, and of the nodes that they are at, of one block.
_BLOCK = 2**25
#: Rows whose contributions are found together: the shares of all nodes on their paths
#: are kept.
_ROWS_SPLIT = 8
#: How far probabilities are shrunk toward the share of the label.
SHRINKAGE = 0.01


class Contributions(NamedTuple):
    """Contributions of features to the log-odds of one row.

    ``start + features.sum(axis=0)`` are the log-odds; the arrays have shape (n_labels,)
    and (n_features, n_labels).
    """

    start: Array
    features: Array


class Forest:
    """Randomized trees of all labels, grown on bootstrap samples.

    The probability of a label is the mean over the trees of its share among the
    training rows of a leaf, shrunk toward its share among all rows. Its log-odds are
    finite, and labels that no tree expects are still ranked by their frequency.

    Parameters
    ----------
    trees : Trees
    share : ndarray of shape (n_labels,)
        Share of the rows that have a label, strictly inside (0, 1).
    n_features : int

    Attributes
    ----------
    trees, share, n_features, n_labels
    oob_log_odds : ndarray of shape (n_samples, n_labels) or None
        Log-odds of each training row by the trees that were grown without it; those of
        ``share`` where there is no such tree. None after ``from_arrays``.
    """

    def __init__(self, trees: Trees, share: Array, n_features: int) -> None:
        self.trees, self.share = trees, share
        self.n_features, self.n_labels = n_features, len(share)
        self.oob_log_odds: Array | None = None

    @classmethod
    def fit(
        cls,
        X: Matrix,
        Y: Matrix,
        *,
        n_trees: int = 300,
        seed: int,
        sample_weight: Array | None = None,
        n_jobs: int | None = None,
        splitter: str = "random",
        min_samples_leaf: int = 1,
        max_features: str | float = "sqrt",
    ) -> Self:
        """Grow a forest.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows, finite. They are compared in single precision.
        Y : array or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1.
        n_trees : int, default=300
        seed : int
            Equal seeds give equal forests, for any ``n_jobs``.
        sample_weight : ndarray of shape (n_samples,), optional
            Weights of the rows, at least 0 and not all 0. Bootstrap samples are drawn
            from the rows with a positive weight, then weighted.
        n_jobs : int or None, default=None
            Number of threads; None is one, -1 as many as processors.
        splitter, min_samples_leaf, max_features
            As in scikit-learn's DecisionTreeRegressor: "random" gives extremely
            randomized trees, "best" a random forest.
        """
        Y = np.ascontiguousarray(dense(Y), dtype=np.float64)
        weights = np.ones(len(Y)) if sample_weight is None else sample_weight
        weights = weights * (np.count_nonzero(weights) / weights.sum())
        trees, leaf, ends = grow_trees(
            X,
            Y,
            weights,
            n_trees=n_trees,
            seed=seed,
            n_jobs=n_jobs,
            splitter=splitter,
            min_samples_leaf=min_samples_leaf,
            max_features=max_features,
        )
        # One more row that has half of each label: none is certain.
        share = (weights @ Y + 0.5) / (weights.sum() + 1.0)
        forest = cls(trees, share, X.shape[1])
        count = np.diff(ends)[:, None]
        p = np.where(count > 0, trees.sums(leaf, ends) / np.maximum(count, 1), share)
        forest.oob_log_odds = forest.as_log_odds(p)
        return forest

    def log_odds(self, X: Matrix) -> Array:
        """Return the log-odds of rows, of shape (n_rows, n_labels)."""
        n_trees, sums = self.trees.n_trees, []
        for rows in self._blocks(X):
            leaf = self.trees.apply(rows).ravel()
            sums.append(self.trees.sums(leaf, np.arange(0, len(leaf) + 1, n_trees)))
        return self.as_log_odds(np.vstack(sums) / n_trees)

    def with_label(self, share: float) -> Self:
        """Return the forest with one more label, which no tree expects anywhere."""
        trees = self.trees
        leaves = trees.leaves.copy()
        leaves.resize(leaves.shape[0], self.n_labels + 1)
        parts = trees.n_trees, trees.feature, trees.threshold, leaves, trees.weight
        return type(self)(Trees(*parts), np.append(self.share, share), self.n_features)

    def as_log_odds(self, p: Array) -> Array:
        """Return the log-odds of mean probabilities of the trees, after shrinkage."""
        return logit(p + SHRINKAGE * (self.share - p))

    def contributions(self, x: Array) -> Contributions:
        """Split the log-odds of one row into contributions of features.

        On the way of a row down a tree, the share of a label among a node's training
        rows changes from node to node. The feature that the node compares contributes
        the change (Saabas). The means over the trees sum to the probability of the row
        minus that of the roots. Multiplied by the mean slope of the log-odds between
        these two probabilities, one number for each label, they sum to the log-odds of
        the row minus ``start``, the log-odds of the roots.

        Parameters
        ----------
        x : ndarray of shape (n_features,)
            The row.

        Returns
        -------
        contributions : Contributions
        """
        return next(self.contributions_of(x[None]))

    def contributions_of(self, X: Matrix) -> Iterator[Contributions]:
        """Yield the contributions to each row, several times as fast as one by one."""
        for rows in self._blocks(X, _ROWS_SPLIT):
            leaves = self.trees.apply(rows)
            for root, features in self.trees.changes(leaves, self.n_features):
                yield self._contributions(root, features)

    def _contributions(self, root: Array, features: Array) -> Contributions:
        change = features.sum(axis=0)
        start, end = self.as_log_odds(np.vstack([root, root + change]))
        shrunk = root + SHRINKAGE * (self.share - root)
        slope = (1.0 - SHRINKAGE) / (shrunk * (1.0 - shrunk))
        moved = np.abs(change) > 1e-9
        slope[moved] = (end - start)[moved] / change[moved]
        return Contributions(start, features * slope)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what ``from_arrays`` needs: 1-D arrays by name."""
        trees = self.trees
        return {
            "sizes": np.array([trees.n_trees, self.n_features], dtype=np.int64),
            "share": self.share,
            "feature": trees.feature,
            "threshold": trees.threshold,
            "value": trees.leaves.data.astype(np.float32),
            "label": trees.leaves.indices.astype(np.int32),
            "end": trees.leaves.indptr[1:].astype(np.int64),
            "weight": trees.weight,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the forest of ``arrays``, which may come from anywhere.

        Raises
        ------
        ValueError
            If they are not the arrays of a forest.
        """
        a = checked(arrays)
        n_trees, n_features = a["sizes"].tolist()
        ends = np.concatenate([[0], a["end"]]).astype(np.int32)
        parts = a["value"].astype(np.float64), a["label"], ends
        leaves = sparse.csr_array(parts, shape=(len(a["end"]), len(a["share"])))
        trees = Trees(n_trees, a["feature"], a["threshold"], leaves, a["weight"])
        return cls(trees, a["share"], n_features)

    def _blocks(
        self, X: Matrix, most: int | None = None
    ) -> Iterator[NDArray[np.float32]]:
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} features, but the forest has {self.n_features}; "
                "pass the features that it was fitted to."
            )
        count = max(1, _BLOCK // (4 * self.n_features + 32 * self.trees.n_trees))
        count = min(count, most or count)
        X = X.tocsr() if sparse.issparse(X) else X
        for i in range(0, max(X.shape[0], 1), count):
            yield dense(single(X[i : i + count]))
