"""Fit of the hyper-parameters that a search has chosen, to all rows."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from homi.linalg import Array
from homi.model.batches import Batches, is_whole
from homi.model.block_scores import BlockScores, block_scores
from homi.model.features import FeatureSpace, with_labels
from homi.model.final_features import final_features
from homi.model.fold_scores import (
    RidgesByFolds,
    corrections_by_folds,
    held_out_rows,
)
from homi.model.graphs import neighbor_graph
from homi.model.grid import Grid
from homi.model.homi import HOMI
from homi.model.missing_labels import fill_by_folds
from homi.model.route import Fitted
from homi.model.search import Search, climb
from homi.solver import (
    Correction,
    Params,
    Path,
    RowsOnPath,
    Solution,
    ridge_path,
    shares,
    with_shares,
)
from homi.typing import Fields, Mask


class Chosen(NamedTuple):
    """The model, its parameters and label weights, and held-out scores.

    ``scores`` are those of the rows of the sample, and ``of_blocks`` gives those of any
    rows; it is None where the sample has all rows.
    """

    model: HOMI
    params: Fields
    label_weight: Array | None
    scores: Array
    #: Labels of these rows, where missing ones were filled in.
    labels: Array
    of_blocks: BlockScores | None = None


class ChosenFit:
    """Fits what was chosen to all rows; λ and label weights are chosen once more.

    They, and the label correction, are chosen by leave-one-out scores of the sample,
    each by the model of all other rows.

    Parameters
    ----------
    batches : Batches
        All rows, and the sample.
    search : Search
        The search, after its run.
    grid : Grid
        Values that it tried.
    n_components : int
        Most landmarks of a kernel.
    seed : int
    alone : bool
        Whether no logistic regressions join, which see all directions of wide rows.
    """

    def __init__(
        self,
        batches: Batches,
        search: Search,
        grid: Grid,
        *,
        n_components: int,
        seed: int,
        alone: bool = False,
    ) -> None:
        self._alone = alone
        self._batches = batches
        self._X, self._Y, self._weights, _, self._known = batches.sample
        self._search, self._grid = search, grid
        self._n_components, self._seed = n_components, seed

    def __call__(self) -> Chosen:
        """Fit, and return the model with its held-out scores."""
        search, n_components, seed = self._search, self._n_components, self._seed
        build = partial(
            final_features,
            self._batches,
            search.best.params,
            n_components=n_components,
            seed=seed,
            alone=self._alone,
        )
        if is_whole(self._batches):
            return search.timed("fit", lambda: self._fit(build()), len(self._Y))
        space = search.timed("moments", build, self._batches.n)
        return search.timed("penalty", partial(self._fit, space), len(self._Y))

    def _fit(self, space: FeatureSpace) -> Chosen:
        params = self._search.best.params
        if self._known is not None:
            return self._with_missing(params, space, self._known)
        if params["gamma"] > 0:
            return self._with_graph(params, space)
        all_lams = ridge_path(space.moments)
        rows = all_lams.of(space.features, space.mean, space.scale, self._weights)
        lam = self._lam(all_lams, rows, params["lam"])
        params = params | {"lam": lam}
        path, rows = all_lams.with_lam(lam), rows.with_lam(all_lams.values, lam)
        label_weight = self._label_weight(path, rows)
        weight = self._ones if label_weight is None else label_weight
        scores = rows.weighted(self._Y, path.values, weight)
        chosen = self._stored(path, space, params, label_weight, scores, self._Y)
        calibrates = self._search.measure.calibrates
        if calibrates:
            given = self._Y, rows.y_mean, rows.n, self._weights
            chosen = chosen._replace(scores=with_shares(chosen.scores, *given))
        if is_whole(self._batches):
            return chosen
        correction = chosen.model.label_correlation_, chosen.model.label_bias_
        of_blocks = block_scores(
            space, all_lams, lam, weight, *correction, self._seed, calibrates
        )
        return chosen._replace(of_blocks=of_blocks)

    def _with_missing(self, params: Fields, space: FeatureSpace, known: Mask) -> Chosen:
        """Fit with missing labels filled in; rows are held out by folds."""
        filled = fill_by_folds(space, self._Y, known, self._seed)
        space = with_labels(space, filled.labels)
        ridges = RidgesByFolds(space, filled, self._seed)

        def value(lam: float) -> float:
            return self._search.measure(filled.labels, ridges(lam), filled.cells)

        found = climb(self._search.lams(self._grid), value, params["lam"])
        lam = max(found, key=found.__getitem__)
        params = params | {"lam": lam}
        label_weight = self._search.given
        if label_weight is None and self._search.best.weighted:
            label_weight = ridges.own_weights(lam, self._grid.label_weights)
        scores = ridges(lam, self._ones if label_weight is None else label_weight)
        path = ridge_path(space.moments).with_lam(lam)
        labels = filled.labels
        return self._stored(path, space, params, label_weight, scores, labels)

    def _stored(
        self,
        path: Path,
        space: FeatureSpace,
        params: Fields,
        label_weight: Array | None,
        scores: Array,
        Y: Array,
    ) -> Chosen:
        """Return the fitted model; ``path`` is that of label weights."""
        weight = self._ones if label_weight is None else label_weight
        W = path.weights(shares(path.values, weight))
        z = space.moments.y_mean - space.moments.x_mean @ W
        B, t, scores = self._corrected(scores, params, label_weight, Y)
        terms = _terms(path, params["lam"], weight)
        solution = Solution(Params(W, z, B, t), [terms], converged=True)
        fitted = Fitted(
            solution, space.scaling, "none", "direct", len(t), space.kernel_map
        )
        model = self._homi(params)
        model._check_fit_input(self._X, self._Y)
        model._store(fitted)
        return Chosen(model, params, label_weight, scores - 0.5, Y)

    @property
    def _ones(self) -> Array:
        return np.ones(self._Y.shape[1])

    def _lam(self, path: Path, rows: RowsOnPath, start: float) -> float:
        def value(lam: float) -> float:
            inverse = 1.0 / (path.values + lam)
            scores = measure.held_out(rows, self._Y, inverse)
            return measure(self._Y, scores, self._weights)

        measure = self._search.measure
        found = climb(self._search.lams(self._grid), value, start)
        return max(found, key=found.__getitem__)

    def _label_weight(self, path: Path, rows: RowsOnPath) -> Array | None:
        given = self._search.given
        if given is not None or not self._search.best.weighted:
            return given
        return rows.own_weights(self._Y, path.values, self._grid.label_weights)

    def _corrected(
        self, scores: Array, params: Fields, label_weight: Array | None, Y: Array
    ) -> tuple[Array, Array, Array]:
        """Return B, t, and scores of each fold corrected by those of the others."""
        n_labels = scores.shape[1]
        if params["correlation"] == "identity":
            return np.eye(n_labels), np.zeros(n_labels), scores
        weights, beta = self._weights, params["beta"]
        B, t = Correction(scores, Y, weights, label_weight)(beta)
        corrected = np.empty_like(scores)
        for rows in held_out_rows(len(Y), self._seed):
            others = np.setdiff1d(np.arange(len(Y)), rows)
            w = None if weights is None else weights[others]
            correct = Correction(scores[others], Y[others], w, label_weight)
            own, shift = correct(beta)
            corrected[rows] = scores[rows] @ own + shift
        return B, t, corrected

    def _with_graph(self, params: Fields, space: FeatureSpace) -> Chosen:
        """Fit with a graph; its rows are held out by folds."""
        graph = neighbor_graph(space, self._X, params["n_neighbors"], self._seed)
        label_weight = None
        if self._search.best.weighted:
            label_weight = self._search.label_weight(params, graph, self._Y, self._grid)
        betas = [params["beta"]] if "beta" in params else []
        given = graph.space, self._Y, graph.L, params, betas, self._seed
        found = corrections_by_folds(*given, label_weight)
        scores = found[label_weight is not None, betas[0] if betas else 0.0]
        model = self._homi(params)
        model.fit(self._X, self._Y, self._weights, label_weight)
        return Chosen(model, params, label_weight, scores - 0.5, self._Y)

    def _homi(self, params: Fields) -> HOMI:
        return HOMI(
            **params,
            n_components=self._n_components,
            penalize_bias=False,
            random_state=self._seed,
        )


def _terms(path: Path, lam: float, weight: Array) -> dict[str, float]:
    """Return the objective in named terms, in the coordinates of the path."""
    kept = shares(path.values, weight) * path.C
    gram = (1.0 - path.values)[:, None]
    errors = np.diag(path.moments.Syy) + np.einsum(
        "ij,ij->j", kept, gram * kept - 2.0 * path.C
    )
    ridge = float(np.sum(path.values[:, None] * kept * kept))
    loss = float(weight @ np.maximum(errors, 0.0))
    return {"features": loss + ridge, "labels": lam * len(weight), "graph": 0.0}
