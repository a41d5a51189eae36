"""Size of a data set and statistics of its labels."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.arrays import dense
from homi.datasets.dataset import Dataset
from homi.datasets.load import at_hand, load
from homi.datasets.registry import lookup

#: Data sets of the paper, in the order of its Tables 1 and 2.
PAPER_DATASETS = (
    *("mediamill", "CAL500", "emotions", "enron", "bibtex", "delicious", "langlog"),
    *("birds", "yeast", "scene", "corel5k", "corel16k001"),
)

#: Primes just below 2²³: a sum of 64 products of residues is exact in float64.
_PRIMES, _PANEL = (8388593, 8388587), 64


@dataclass(frozen=True)
class Summary:
    """Size of a data set and statistics of its labels.

    Attributes
    ----------
    name : str
        Name of the data set.
    n_samples, n_features, n_labels : int
        n, m and l in the paper.
    cardinality : float
        LCard: mean number of labels of a sample.
    density : float
        LDen: cardinality / n_labels.
    distinct : int
        DL: number of distinct label sets, the empty set included.
    rank : int
        Rank of the n × l label matrix.
    imbalance_mean, imbalance_max : float
        Mean and largest IRLbl. The IRLbl of a label is the count of the most frequent
        label divided by its own count. Labels that never occur are left out (and
        listed in ``empty_labels``); NaN if no label occurs.
    scumble : float
        Mean over the samples of 1 − G / A, where G is the geometric and A the
        arithmetic mean of the IRLbl of the sample's labels; 0 for a sample without
        labels. Near 0 if frequent and rare labels seldom occur in one sample.
    unlabelled : int
        Number of samples without any label.
    duplicates : tuple of tuple of str
        Groups of labels whose columns are equal.
    empty_labels : tuple of str
        Labels that never occur.

    References
    ----------
    F. Charte, A. Rivera, M. J. del Jesus, F. Herrera. Concurrence among Imbalanced
    Labels and Its Influence on Multilabel Resampling Algorithms. HAIS 2014.
    """

    name: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    density: float
    distinct: int
    rank: int
    imbalance_mean: float
    imbalance_max: float
    scumble: float
    unlabelled: int
    duplicates: tuple[tuple[str, ...], ...]
    empty_labels: tuple[str, ...]


def summarize(dataset: Dataset, name: str = "") -> Summary:
    """Compute the statistics of a data set.

    Parameters
    ----------
    dataset : Dataset
        Features, labels and names. It is not changed.
    name : str, optional
        Name of the data set.

    Returns
    -------
    Summary
        Size and label statistics.

    Examples
    --------
    >>> from homi.datasets import load, summarize
    >>> yeast = summarize(load("yeast"), "yeast")
    >>> yeast.n_samples, yeast.n_labels, yeast.distinct, yeast.rank
    (2417, 14, 198, 14)
    >>> round(yeast.cardinality, 3), round(yeast.scumble, 3)
    (4.237, 0.104)
    """
    Y, names = _labels(dataset)
    sets, repeats = _label_sets(Y)
    counts = np.count_nonzero(Y, axis=0)
    ratios = counts.max() / counts[counts > 0]
    return Summary(
        name=name,
        n_samples=Y.shape[0],
        n_features=dataset.X.shape[1],
        n_labels=Y.shape[1],
        cardinality=float(counts.sum() / Y.shape[0]),
        density=float(counts.sum() / Y.size),
        distinct=len(sets),
        rank=_rank(sets),
        imbalance_mean=float(ratios.mean()) if len(ratios) else float("nan"),
        imbalance_max=float(ratios.max()) if len(ratios) else float("nan"),
        scumble=float(_scumble(sets, counts) @ repeats / Y.shape[0]),
        unlabelled=int(repeats[~sets.any(axis=1)].sum()),
        duplicates=_duplicates(Y, names),
        empty_labels=tuple(names[j] for j in np.flatnonzero(counts == 0)),
    )


def cooccurrence(dataset: Dataset) -> NDArray[np.int64]:
    """Count the samples that have both of two labels.

    Parameters
    ----------
    dataset : Dataset
        Features, labels and names.

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        Entry (i, j) is the number of samples with both labels i and j. The diagonal
        has the count of each label.
    """
    return _gram(_labels(dataset)[0])


def summary(
    names: Sequence[str] | None = None,
    directory: str | os.PathLike[str] | None = None,
) -> list[Summary]:
    """Compute the statistics of the paper's data sets, without a download.

    Parameters
    ----------
    names : sequence of str, optional
        Data sets, which must all be available. Default: those of the paper's twelve
        that are available, in the paper's order.
    directory : path, optional
        Directory to search first, as in :func:`homi.datasets.load`.

    Returns
    -------
    list of Summary
        One for each data set.
    """
    if isinstance(names, str):
        raise TypeError(
            f"names must be a list of names, got the string {names!r}; pass "
            f"[{names!r}]."
        )
    wanted = list(PAPER_DATASETS)
    if names is not None:
        wanted = [e.name if (e := lookup(name)) else name for name in names]
    here = [name for name in wanted if at_hand(name, directory)]
    if names is not None and (missing := [n for n in wanted if n not in here]):
        raise FileNotFoundError(
            f"not available: {', '.join(missing)}; load them once first, because a "
            "summary downloads nothing, or pass their directory, or set HOMI_DATA to "
            "it."
        )
    return [summarize(load(name, directory), name) for name in here]


def describe(dataset: Dataset, name: str) -> str:
    """Describe a data set in a few lines.

    Parameters
    ----------
    dataset : Dataset
        Features, labels and names.
    name : str
        Name of the data set.

    Returns
    -------
    str
        Size, label statistics, most and least frequent labels, and the labels that
        occur together most.
    """
    facts = summarize(dataset, name)
    counts = cooccurrence(dataset)
    form = "sparse" if sparse.issparse(dataset.X) else "dense"
    facts_and_texts = [
        ("samples", f"{facts.n_samples}, {facts.unlabelled} of them without a label"),
        ("features", f"{facts.n_features}, {form}"),
        ("labels", f"{facts.n_labels}, rank of the label matrix {facts.rank}"),
        ("labels per sample", f"{facts.cardinality:.3f} (density {facts.density:.3f})"),
        ("distinct label sets", f"{facts.distinct}"),
        (
            "imbalance (IRLbl)",
            f"mean {facts.imbalance_mean:.1f}, largest {facts.imbalance_max:.1f}",
        ),
        ("SCUMBLE", f"{facts.scumble:.3f}"),
        *_frequencies(dataset.label_names, np.diagonal(counts), facts.n_samples),
        *_strongest_pairs(dataset.label_names, counts),
        ("labels that never occur", ", ".join(facts.empty_labels) or "none"),
        (
            "labels that are equal",
            "; ".join(" = ".join(group) for group in facts.duplicates) or "none",
        ),
    ]
    width = max(len(fact) for fact, _ in facts_and_texts)
    lines = [f"  {fact:<{width}}  {text}" for fact, text in facts_and_texts]
    return "\n".join([name, *lines]) + "\n"


def _labels(dataset: Dataset) -> tuple[NDArray[np.bool_], list[str]]:
    Y = np.asarray(dense(dataset.Y))
    if Y.ndim != 2 or 0 in Y.shape:
        raise ValueError(
            f"Y must be (n_samples, n_labels) with at least one of each, got shape "
            f"{Y.shape}; pass one row per sample and one 0/1 column per label."
        )
    if Y.shape[0] != dataset.X.shape[0] or Y.shape[1] != len(dataset.label_names):
        raise ValueError(
            f"Y has shape {Y.shape}, but there are {dataset.X.shape[0]} rows in X and "
            f"{len(dataset.label_names)} label names; they must agree."
        )
    if not ((Y == 0) | (Y == 1)).all():
        raise ValueError(
            f"Y must hold only 0 and 1, got {np.unique(Y)[:4].tolist()}; "
            "for -1/+1 labels pass Y > 0."
        )
    return Y.astype(bool), list(dataset.label_names)


def _label_sets(Y: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return the distinct rows and their counts; packed bits sort fast."""
    packed = np.packbits(Y, axis=1)
    _, first, repeats = np.unique(packed, axis=0, return_index=True, return_counts=True)
    return Y[first], repeats


def _scumble(sets: NDArray[np.bool_], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1 − geometric / arithmetic mean of the IRLbl of each label set."""
    ratios = counts.max() / np.maximum(counts, 1)
    S = sparse.csr_array(sets, dtype=np.float64)
    sizes = np.maximum(S.sum(axis=1), 1)
    geometric = np.exp(S @ np.log(np.maximum(ratios, 1)) / sizes)
    arithmetic = S @ ratios / sizes
    quotient = np.divide(
        geometric, arithmetic, out=np.ones(len(sizes)), where=arithmetic > 0
    )
    return np.maximum(1 - quotient, 0)


def _duplicates(
    Y: NDArray[np.bool_], names: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    groups: dict[bytes, list[str]] = {}
    for column, name in zip(np.packbits(Y, axis=0).T, names, strict=True):
        groups.setdefault(column.tobytes(), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _gram(Y: NDArray[np.bool_]) -> NDArray[np.int64]:
    """YᵀY in integers."""
    S = sparse.csr_array(Y, dtype=np.int64)
    return (S.T @ S).toarray()


def _rank(Y: NDArray[np.bool_]) -> int:
    """Rank of a 0/1 matrix, exact and without an SVD.

    YᵀY has the rank of Y. Its rank modulo a prime is at most its rank, and smaller only
    if the prime divides certain determinants. If it is not full, a second prime is
    tried.
    """
    gram = _gram(Y if Y.shape[0] >= Y.shape[1] else Y.T).astype(np.float64)
    rank = 0
    for prime in _PRIMES:
        rank = max(rank, _rank_modulo(gram, prime))
        if rank == len(gram):
            break
    return rank


def _rank_modulo(A: NDArray[np.float64], prime: int) -> int:
    """Count the pivots of an elimination modulo a prime, panel by panel."""
    A, rank = A % prime, 0
    while len(A):
        panel, columns = _echelon(A[:_PANEL], prime)
        A = (A[_PANEL:] - A[_PANEL:, columns] @ panel) % prime
        rank += len(columns)
    return rank


def _echelon(
    A: NDArray[np.float64], prime: int
) -> tuple[NDArray[np.float64], list[int]]:
    """Return the nonzero rows of the reduced A modulo a prime, and their pivots."""
    rows: list[int] = []
    columns: list[int] = []
    for i in range(len(A)):
        if not A[i].any():
            continue
        j = int(A[i].argmax())
        pivot_row = A[i] * pow(int(A[i, j]), -1, prime) % prime
        A = (A - np.outer(A[:, j], pivot_row)) % prime
        A[i] = pivot_row
        rows.append(i)
        columns.append(j)
    return A[rows], columns


def _frequencies(
    names: Sequence[str], counts: NDArray[np.int64], n_samples: int, n_shown: int = 5
) -> Iterator[tuple[str, str]]:
    order = np.argsort(-counts, kind="stable")
    n_shown = max(1, min(n_shown, len(order) // 2))
    ends = {"most frequent": order[:n_shown], "least frequent": order[::-1][:n_shown]}
    for fact, chosen in ends.items():
        shares = counts[chosen] / n_samples
        texts = [
            f"{names[j]} {counts[j]} ({share:.1%})"
            for j, share in zip(chosen, shares, strict=True)
        ]
        yield fact, ", ".join(texts)


def _strongest_pairs(
    names: Sequence[str], counts: NDArray[np.int64]
) -> Iterator[tuple[str, str]]:
    """Describe the most frequent pair, and the most similar pair that differs."""
    alone = np.diagonal(counts)
    either = alone[:, None] + alone - counts
    share = counts / np.maximum(either, 1)
    first, second = np.triu_indices(len(names), k=1)
    together, alike = counts[first, second], share[first, second]
    for fact, strength in (
        ("most often together", together + alike / 2),
        ("most alike, not equal", np.where(alike < 1, alike, 0)),
    ):
        if not len(strength) or strength.max() == 0:
            yield fact, "none"
            continue
        best = int(strength.argmax())
        i, j = first[best], second[best]
        yield (
            fact,
            f"{names[i]} and {names[j]}: {counts[i, j]} samples, "
            f"{share[i, j]:.1%} of those that have either",
        )
