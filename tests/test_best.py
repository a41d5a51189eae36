"""The k largest scores of each row, ties included, against a sort of all scores."""

import numpy as np
import pytest

from homi.graph.best import Best


def best_of_all(scores, k):
    ids = np.arange(scores.shape[1])
    order = [np.lexsort((ids, -row))[:k] for row in scores]
    return np.array(order), np.take_along_axis(scores, np.array(order), axis=1)


def collected(scores, k, height, width):
    best = Best(len(scores), k)
    for column in range(0, scores.shape[1], width):
        for row in range(0, len(scores), height):
            best.add(scores[row : row + height, column : column + width], row, column)
    return best


@pytest.mark.parametrize("values", [3, 40, 10**6])
@pytest.mark.parametrize(("height", "width"), [(60, 300), (7, 11), (64, 64), (20, 3)])
@pytest.mark.parametrize("k", [1, 5, 30])
def test_the_best_are_those_of_a_sort(values, height, width, k):
    rng = np.random.default_rng(values)
    scores = rng.integers(-values, values + 1, size=(60, 300)).astype(np.float32)
    scores /= np.float32(values)
    best = collected(scores, k, height, width)
    indices, expected = best_of_all(scores, k)
    np.testing.assert_array_equal(best.indices(), indices)
    np.testing.assert_array_equal(best.scores(), expected)


def test_negative_zero_is_zero():
    best = collected(np.array([[-0.0, 0.0, -1.0]], dtype=np.float32), 2, 1, 3)
    assert best.indices().tolist() == [[0, 1]]


def test_a_row_with_fewer_candidates_than_places():
    best = collected(np.array([[1.0, 2.0]], dtype=np.float32), 3, 1, 2)
    assert best.indices().tolist() == [[1, 0, -1]]
