"""Protocols: seeds, folds, and what is done to rows before the folds."""

import numpy as np
import pytest
from scipy import sparse

from homi.benchmark import protocols
from homi.benchmark.cells import Cell, seed_of
from homi.datasets.dataset import Dataset


def test_seeds_depend_on_the_named_parts_alone():
    one, other = Cell("clean", "yeast", "HOMI", 0), Cell("clean", "yeast", "BR", 0)
    assert one.seed("dataset") == other.seed("dataset") == seed_of("yeast")
    assert one.seed("dataset", "method") != other.seed("dataset", "method")
    # Seeds are part of stored results: they may never change.
    assert seed_of("yeast") == 3879909240


def test_folds_are_the_same_clean_and_whitened(few_rows):
    clean, white = (
        [protocols.split(protocol, "yeast", fold, 3) for fold in range(3)]
        for protocol in ("clean", "whitened")
    )
    for one, other in zip(clean, white, strict=True):
        np.testing.assert_array_equal(one.test_indices, other.test_indices)
        assert len(one.train.Y) + len(one.test.Y) == 60
    together = np.concatenate([fold.test_indices for fold in clean])
    np.testing.assert_array_equal(np.sort(together), np.arange(60))


def test_published_folds_are_those_of_seed_1(few_rows):
    """As ``np.random.seed(1)`` before an unseeded KFold shuffles them."""
    order = np.arange(60)
    np.random.RandomState(1).shuffle(order)
    for fold in range(3):
        found = protocols.split("as-published", "yeast", fold, 3).test_indices
        np.testing.assert_array_equal(found, np.sort(order[20 * fold :][:20]))


def test_the_clean_protocol_changes_nothing(few_rows):
    fold = protocols.split("clean", "yeast", 0, 3)
    np.testing.assert_array_equal(fold.test.X, few_rows.X[fold.test_indices])
    np.testing.assert_array_equal(fold.test.Y, few_rows.Y[fold.test_indices])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_published_rows_are_white(kind, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 8)) + 3.0
    given = Dataset(kind(X), np.ones((40, 2), np.int8), [], [])
    monkeypatch.setattr(protocols, "load", lambda name: given)
    white = protocols.whitened("yeast").X
    assert white.shape == (40, 5)
    np.testing.assert_allclose(white.T @ white / 40, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-10)


def test_published_enron_is_its_first_rows_twice(monkeypatch):
    rng = np.random.default_rng(0)
    given = Dataset(rng.normal(size=(1702, 3)), np.eye(1702, 5, dtype=np.int8), [], [])
    monkeypatch.setattr(protocols, "load", lambda name: given)
    X, Y = protocols.whitened("enron")
    assert len(X) == 2 * 1123
    np.testing.assert_allclose(X[:1123], X[1123:], atol=1e-12)
    np.testing.assert_array_equal(Y[:1123], given.Y[:1123])


def test_counts_of_words_become_tfidf_of_the_training_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(0.5, size=(40, 6)).astype(float))
    given = Dataset(X, np.ones((40, 2), np.int8), [], [])
    monkeypatch.setattr(protocols, "load", lambda name: given)
    protocols.rows_of.cache_clear()
    fold = protocols.split("clean", "yahoo-arts", 0, 4)
    protocols.rows_of.cache_clear()
    known = np.setdiff1d(np.arange(40), fold.test_indices)
    often = (X.toarray()[known] > 0).sum(axis=0)
    weights = X.toarray()[fold.test_indices] * (np.log(31 / (1 + often)) + 1)
    norms = np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(fold.test.X.toarray(), weights / norms)
