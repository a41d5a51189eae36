"""Label similarities and their Laplacian against loops over pairs of labels."""

import numpy as np
import pytest

from homi.methods.label_graph import cosine_similarity, jaccard_similarity, laplacian


@pytest.fixture
def Y():
    Y = (np.random.default_rng(0).random((30, 6)) < 0.4).astype(float)
    Y[:, 2], Y[:, 3], Y[:, 4] = 0, 1, Y[:, 0]
    return Y


def test_cosine(Y):
    S = cosine_similarity(Y.T @ Y)
    for p in range(6):
        for q in range(6):
            length = np.linalg.norm(Y[:, p]) * np.linalg.norm(Y[:, q])
            expected = Y[:, p] @ Y[:, q] / length if length else 0.0
            assert S[p, q] == pytest.approx(expected)
    assert S[0, 4] == pytest.approx(1.0)


def test_jaccard(Y):
    S = jaccard_similarity(Y.T @ Y)
    for p in range(6):
        for q in range(6):
            both, either = (Y[:, p] * Y[:, q]).sum(), np.maximum(Y[:, p], Y[:, q]).sum()
            assert S[p, q] == pytest.approx(both / either if either else 0.0)
    assert S[2, 2] == 0.0


def test_laplacian_measures_differences(Y):
    S = cosine_similarity(Y.T @ Y)
    L = laplacian(S)
    V = np.random.default_rng(1).normal(size=(4, 6))
    expected = 0.5 * sum(
        S[p, q] * np.sum((V[:, p] - V[:, q]) ** 2) for p in range(6) for q in range(6)
    )
    assert np.trace(V @ L @ V.T) == pytest.approx(expected)
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-12)
