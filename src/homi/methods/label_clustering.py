"""Meta-labels: clusters of labels, and an encoding of each cluster."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from homi.arrays import columns_of
from homi.methods.label_graph import jaccard_similarity
from homi.moments import Moments
from homi.typing import Array, Indices, Matrix


def affinity(moments: Moments, alpha: float, epsilon: float) -> Array:
    """Compute ``α Jac(p, q) + (1 - α) exp(-‖c_p - c_q‖)``; 0 if below ε or p = q.

    c_p is the mean row of label p. The second term is 0 for a label without rows.
    """
    count = moments.b
    centroids = (moments.C / np.maximum(count, 1.0)).T
    near = np.exp(-cdist(centroids, centroids)) * np.outer(count > 0, count > 0)
    A = alpha * jaccard_similarity(moments.YtY) + (1.0 - alpha) * near
    A[epsilon > A] = 0.0
    np.fill_diagonal(A, 0.0)
    return A


def group_labels(A: Array, n_groups: int, seed: int) -> list[Indices]:
    """Return the labels of each group, by spectral clustering of the affinity."""
    if n_groups == 1:
        return [np.arange(len(A))]
    degree = np.maximum(A.sum(axis=1), np.finfo(float).eps)
    M = A / np.sqrt(np.outer(degree, degree))
    # The original takes the eigenvalues of largest magnitude. Negative ones, due to the
    # empty diagonal, would separate labels of one group.
    q = len(A)
    _, leading = scipy.linalg.eigh(M, subset_by_index=[q - n_groups, q - 1])
    length = np.linalg.norm(leading, axis=1, keepdims=True)
    leading = leading / np.where(length > 0, length, 1.0)
    found = KMeans(n_groups, n_init=10, random_state=seed).fit(leading).labels_
    groups = (np.flatnonzero(found == group) for group in range(n_groups))
    return [group for group in groups if len(group)]


def combination_code(Y: Matrix, group: Indices) -> Array:
    """Return the rank of each row's combination of the group's labels, from 0 to 1.

    Combinations that occur are ordered as binary numbers whose least significant bit
    is the first label.
    """
    labels = columns_of(Y, group)
    _, rank = np.unique(labels[:, ::-1], axis=0, return_inverse=True)
    return rank.ravel() / max(1, rank.max())
