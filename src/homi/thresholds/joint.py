"""Predict whole label sets: those of greatest expected utility under a joint model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit, log_softmax, softmax

from homi.base.classifier import agreeing
from homi.joint.label_sets import LabelSets, seen_sets
from homi.model.blend import LogOdds, fit_log_odds
from homi.thresholds.discriminant import (
    MOST_LABELS,
    SHRINKAGES,
    Discriminant,
    fit_discriminant,
)
from homi.thresholds.objectives import OBJECTIVES
from homi.typing import Array, Indices, Mask

#: What labels are drawn from: sets seen in training, independently, or neither: labels
#: are then predicted where scores exceed 0.
Source: TypeAlias = Literal["zero", "independent", "sets"]
SOURCES: tuple[Source, ...] = ("zero", "independent", "sets")

#: Entries of a table of rows that is computed at a time.
_BLOCK = 4_000_000
#: Most sets that are compared.
_SETS = 1000
#: Rows for the weights, and parts of them whose discriminant is that of other rows.
_ROWS, _PARTS = 1000, 5
#: Weights w where there is nothing to fit them to.
_USUAL = (0.8, 0.5, 0.3, 0.0, 0.0)
#: Log-odds against a set that only the row itself has.
_NEVER = 1e3
#: Seen sets of a row that are compared by their expected Jaccard index.
_BEST = 50


@dataclass(frozen=True)
class JointSets:
    r"""Label sets of greatest expected utility.

    .. math:: \pi(T \mid x) \propto \exp\Big(w_0 \sum_{j \in T} s_j + w_1 \log f_T -
              w_2 \log \prod_j f_j + w_3\, \ell_T(s) + w_4\, c_T\Big)

    over label sets T seen in training, with log-odds s, the frequency of T, the one
    that T would have with independent labels, and the linear and the quadratic term of
    a discriminant.

    Attributes
    ----------
    objective : str
        Utility: one that is a mean over rows.
    source : {"zero", "independent", "sets"}
        What the expectation is over.
    log_odds : LogOdds
        Log-odds of scores.
    sets : LabelSets
        Seen sets.
    weights : ndarray of shape (5,), or (3,) without a discriminant
        w.
    discriminant : Discriminant or None
        What log-odds say about sets as a whole; None with many labels.
    """

    objective: str
    source: Source
    log_odds: LogOdds
    sets: LabelSets
    weights: Array
    discriminant: Discriminant | None = None

    def __call__(self, S: Array) -> Array:
        """Return the decisions for scores."""
        P = expit(self.log_odds(S))
        return agreeing(P, self.predict(S)) - 0.5

    def predict(self, S: Array, own: OwnSets | None = None) -> Mask:
        """Return the label sets for scores; ``own`` is that of ``posterior``."""
        if self.source == "zero":
            return S > 0
        odds = self.log_odds(S)
        if self.source == "independent":
            return _INDEPENDENT[self.objective](expit(odds))
        decide, members = _OF_SETS[self.objective], self.sets.members
        step = max(1, _BLOCK // max(S.shape[1] ** 2, len(members)))
        found = np.empty(S.shape, bool)
        for start in range(0, len(S), step):
            rows = slice(start, start + step)
            without = None if own is None else own.within(start, start + step)
            found[rows] = decide(posterior(self, odds[rows], without), members)
        return found


def fit_joint(
    S: Array, Y: Mask, objective: str, cells: Array | None = None
) -> JointSets:
    """Fit the posterior over sets, and choose what the expectation is over.

    Each row is judged without its own label set: the set is counted once less, and the
    discriminant is that of other rows. Thresholds at 0 are kept unless another choice
    is better by more than one standard error.
    """
    if objective not in _OF_SETS:
        raise ValueError(
            "strategy='joint' predicts the label set of each row, and objective="
            f"{objective!r} is not a mean over rows; pass one of {', '.join(_OF_SETS)}."
        )
    if cells is not None and np.ptp(cells) > 0:
        raise ValueError(
            "strategy='joint' counts label sets: it needs all labels of rows of equal "
            "weight; pass strategy='per_label', or leave out rows with missing labels."
        )
    labels = Y.astype(np.float64)
    log_odds, sets = fit_log_odds(S, labels), seen_sets(labels, most=_SETS)
    weights = np.array(_USUAL[: 5 if Y.shape[1] <= MOST_LABELS else 3])
    rule = JointSets(objective, "zero", log_odds, sets, weights)
    fits = []
    for shrinkage in SHRINKAGES[: len(weights) - 2]:
        judged = list(_judged(rule, S, Y, shrinkage))
        fits.append((*_fit_weights(rule, judged), shrinkage, judged))
    _, weights, shrinkage, judged = max(fits, key=lambda fit: fit[0])
    discriminant = fit_discriminant(log_odds(S), labels, sets, shrinkage)
    rule = replace(rule, weights=weights, discriminant=discriminant)
    return _choose(rule, judged)


class Judged(NamedTuple):
    """Rows, and the discriminant of all other rows."""

    S: Array
    Y: Mask
    own: OwnSets
    discriminant: Discriminant | None


def _judged(rule: JointSets, S: Array, Y: Mask, shrinkage: float) -> Iterator[Judged]:
    """Yield parts of at most ``_ROWS`` rows."""
    order = np.random.default_rng(0).permutation(len(Y))
    for rows in np.array_split(order[:_ROWS], min(_PARTS, len(order))):
        rest = np.setdiff1d(order, rows)
        some = rest if len(rest) else rows
        odds, labels = rule.log_odds(S[some]), Y[some].astype(np.float64)
        discriminant = fit_discriminant(odds, labels, rule.sets, shrinkage)
        own = _own_sets(rule.sets, Y[rows], len(Y))
        yield Judged(S[rows], Y[rows], own, discriminant)


class OwnSets(NamedTuple):
    """Label sets of training rows, to count each once less.

    ``rows`` are those whose set was kept, ``places`` which it is, and ``changes`` by
    how much its log-frequency changes: minus infinity for the set of a single row.
    """

    rows: Indices
    places: Indices
    changes: Array

    def within(self, start: int, stop: int) -> OwnSets:
        """Return those of some rows."""
        some = (self.rows >= start) & (self.rows < stop)
        return OwnSets(self.rows[some] - start, self.places[some], self.changes[some])


def _own_sets(sets: LabelSets, Y: Mask, n_samples: int) -> OwnSets:
    places, rows = sets.places(Y)
    count = np.rint(n_samples * np.exp(sets.frequency[places]))
    with np.errstate(divide="ignore"):
        return OwnSets(rows, places, np.log1p(-1.0 / count))


def _choose(rule: JointSets, judged: list[Judged]) -> JointSets:
    """Return the rule with the source of greatest utility."""
    rules = [replace(rule, source=source) for source in SOURCES]
    values = [_utilities(each, judged) for each in rules]
    gains = [value - values[0] for value in values]
    best = int(np.argmax([gain.mean() for gain in gains]))
    error = gains[best].std() / np.sqrt(len(gains[best]))
    return rules[best] if gains[best].mean() > error else rule


def _utilities(rule: JointSets, judged: list[Judged]) -> Array:
    """Return the utility of each row, by the discriminant of others."""
    rules = [replace(rule, discriminant=part.discriminant) for part in judged]
    found = [
        utility(rule.objective, part.Y, each.predict(part.S, part.own))
        for each, part in zip(rules, judged, strict=True)
    ]
    return np.concatenate(found)


def utility(objective: str, Y: Mask, predicted: Mask) -> Array:
    """Return the value of each row."""
    hits, k, p = (Y & predicted).sum(axis=1), predicted.sum(axis=1), Y.sum(axis=1)
    return OBJECTIVES[objective].value(hits, k, p)


def _fit_weights(rule: JointSets, judged: list[Judged]) -> tuple[float, Array]:
    """Return weights that make the sets of rows likely, and their log-likelihood.

    The set of each row is counted once less.
    """
    F, places = [], []
    for part in judged:
        # The set of a single row would not have been seen without it.
        seen = np.isfinite(part.own.changes)
        own, odds = part.own.places[seen], rule.log_odds(part.S[part.own.rows[seen]])
        features = _features(replace(rule, discriminant=part.discriminant), odds)
        features[1, np.arange(len(own)), own] += part.own.changes[seen]
        F.append(features)
        places.append(own)
    every, chosen = np.concatenate(F, axis=1), np.concatenate(places)
    weights = _softmax_regression(every, chosen)
    shares = log_softmax(np.tensordot(weights, every, 1), axis=1)
    return float(shares[np.arange(len(chosen)), chosen].sum()), weights


def _softmax_regression(F: Array, own: Indices) -> Array:
    """Return weights of features F (d, n, m) that make `own` likely, by Newton."""
    start = np.array(_USUAL[: len(F)])
    weights, rows = start.copy(), np.arange(len(own))
    for _ in range(30):
        shares = softmax(np.tensordot(weights, F, 1), axis=1)
        mean = np.einsum("nm,dnm->nd", shares, F)
        gradient = (F[:, rows, own].T - mean).sum(axis=0) - (weights - start)
        second = np.einsum("nm,dnm,enm->de", shares, F, F, optimize=True)
        step = np.linalg.solve(second - mean.T @ mean + np.eye(len(F)), gradient)
        weights += np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-4:
            break
    found: Array = weights
    return found


def _features(rule: JointSets, odds: Array) -> Array:
    """Return what the weights multiply, of shape (n_weights, n_samples, n_sets)."""
    sets = rule.sets
    own = odds @ sets.members.T
    frequency = np.broadcast_to(sets.frequency, own.shape)
    parts = [own, frequency, -np.broadcast_to(sets.independent, own.shape)]
    if rule.discriminant is not None:
        parts += rule.discriminant.features(odds)
    return np.stack(parts)


def posterior(rule: JointSets, odds: Array, own: OwnSets | None = None) -> Array:
    """Return the probability of each seen set in each row.

    With ``own``, each row's label set is counted once less.
    """
    scores = np.tensordot(rule.weights, _features(rule, odds), 1)
    if own is not None:
        seen = np.isfinite(own.changes)
        finite = np.where(seen, own.changes, 0.0)
        change = np.where(seen, rule.weights[1] * finite, -_NEVER)
        scores[own.rows, own.places] += change
    found: Array = softmax(scores, axis=1)
    return found


def _most_likely(shares: Array, members: Array) -> Mask:
    found: Mask = members[shares.argmax(axis=1)] > 0
    return found


def _marginal(shares: Array, members: Array) -> Mask:
    return shares @ members > 0.5


def _above_half(P: Array) -> Mask:
    return P > 0.5


def _best_f1(shares: Array, members: Array) -> Mask:
    """Return the maximizer of expected F1 over all sets (Dembczyński et al., 2011).

    Among sets of k labels, those with the greatest ``Σ_T π(T) 2 [j ∈ T] / (k + |T|)``;
    k is at most twice the size of the largest seen set.
    """
    sizes, group = np.unique(members.sum(axis=1), return_inverse=True)
    by_size = np.stack(
        [shares[:, group == s] @ members[group == s] for s in range(len(sizes))]
    )
    k = np.arange(1, min(members.shape[1], 2 * int(sizes.max()) + 1) + 1)
    gains = np.einsum("ks,snj->nkj", 2.0 / (k[:, None] + sizes), by_size, optimize=True)
    order = np.argsort(-gains, axis=2, kind="stable")
    ranked = np.take_along_axis(gains, order, axis=2)
    values = np.cumsum(ranked, axis=2)[:, k - 1, k - 1]
    best = values.argmax(axis=1)
    return _first(order[np.arange(len(shares)), best], best + 1)


def _best_f1_alone(P: Array) -> Mask:
    return _best_prefix(P, lambda hits, k, total: 2.0 * hits / (k + total))


def _best_jaccard_alone(P: Array) -> Mask:
    return _best_prefix(P, lambda hits, k, total: hits / (k + total - hits))


def _best_prefix(P: Array, value: Callable[[Array, Array, Array], Array]) -> Mask:
    """Return the k most probable labels with the best value of expected counts."""
    order = np.argsort(-P, axis=1, kind="stable")
    hits = np.cumsum(np.take_along_axis(P, order, axis=1), axis=1)
    k = np.arange(1.0, P.shape[1] + 1)
    return _first(order, value(hits, k, hits[:, -1:]).argmax(axis=1) + 1)


def _first(order: Indices, counts: Indices) -> Mask:
    """Return True for as many labels of each row as counted, in the given order."""
    found = np.zeros(order.shape, bool)
    np.put_along_axis(found, order, np.arange(order.shape[1]) < counts[:, None], axis=1)
    return found


def _best_jaccard(shares: Array, members: Array) -> Mask:
    """Return the best of the row's likeliest sets and of its most probable labels."""
    return np.vstack([_best_jaccard_row(share, members) for share in shares])


def _best_jaccard_row(share: Array, members: Array) -> Mask:
    order = np.argsort(-(share @ members), kind="stable")
    prefixes = np.zeros((len(order), len(order)))
    prefixes[:, order] = np.tril(np.ones((len(order), len(order))))
    likeliest = np.argsort(-share, kind="stable")[:_BEST]
    candidates = np.vstack([members[likeliest], prefixes])
    hits = candidates @ members.T
    union = candidates.sum(axis=1)[:, None] + members.sum(axis=1) - hits
    values = hits / np.maximum(union, 1.0) @ share
    best: Mask = candidates[values.argmax()] > 0
    return best


#: Label sets of greatest expected utility, by objective: of a posterior over sets.
_OF_SETS: dict[str, Callable[[Array, Array], Mask]] = {
    "subset_accuracy": _most_likely,
    "example_f1": _best_f1,
    "jaccard": _best_jaccard,
    "hamming": _marginal,
}

#: Likewise of independent labels.
_INDEPENDENT: dict[str, Callable[[Array], Mask]] = {
    "subset_accuracy": _above_half,
    "example_f1": _best_f1_alone,
    "jaccard": _best_jaccard_alone,
    "hamming": _above_half,
}

#: Objectives of which a row has an expected value.
ROW_OBJECTIVES = tuple(_OF_SETS)
