"""Log-odds of the final model from held-out scores of all rows and other models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from scipy import sparse

from homi.arrays import dense
from homi.linalg import Array
from homi.model.batches import Batches, is_whole, rows_in_memory
from homi.model.blend import LogOdds, fit_blend, fit_log_odds
from homi.model.block_scores import ScoreTable, tabulated
from homi.model.chosen_fit import Chosen
from homi.model.forest import Forest
from homi.model.logistic import Logistic, fit_logistic, wants_logistic
from homi.model.search import Search
from homi.typing import Matrix

T = TypeVar("T")

#: Trees of a forest, and most labels in all of their leaves.
TREES, _MOST_VALUES = 300, 4e7


class FinalOdds(NamedTuple):
    """Log-odds of the scores, the models that they use, and held-out log-odds.

    Those of the sample, and of all rows if they are kept. ``odds`` is None without
    calibration. ``logistic_coef`` are coefficients of the rows; the offset of ``odds``
    has the intercepts.
    """

    odds: LogOdds | None
    sample: Array
    held_out: Array | None
    forest: Forest | None = None
    logistic_coef: Array | None = None


def plain_scores(
    search: Search, batches: Batches, chosen: Chosen, *, keep: bool
) -> FinalOdds:
    """Return the held-out scores as they are, if they are to be kept."""
    scores = chosen.scores
    if keep and chosen.of_blocks is not None:
        scores, _ = _all_scores(search, batches, chosen, keep=True)
    return FinalOdds(None, chosen.scores, scores if keep else None)


def fit_final_odds(
    search: Search,
    batches: Batches,
    chosen: Chosen,
    *,
    trees: bool | str,
    logistic: bool | str,
    keep: bool,
    seed: int,
    n_jobs: int | None,
) -> FinalOdds:
    """Fit log-odds to the held-out scores of all rows.

    If the sample lacks some rows, a table of the scores represents all of them.
    ``keep`` says whether to return the log-odds of all rows.
    """
    linear, rows = None, rows_in_memory(batches)
    if rows is not None and wants_logistic(batches, logistic):
        given = partial(fit_logistic, rows, search, seed=seed, n_jobs=n_jobs)
        linear = _in_time(search, "logistic regression", logistic, given, batches.n)
    forest = _grown(search, batches, chosen, trees, seed, n_jobs)
    scores, table = chosen.scores, None
    if chosen.of_blocks is not None:
        kept = keep or forest is not None or linear is not None
        scores, table = _all_scores(search, batches, chosen, keep=kept)
    if forest is not None or linear is not None:
        return _blended(scores, forest, linear, batches)
    if table is not None:
        odds = fit_log_odds(*table.points())
    else:
        odds = fit_log_odds(scores, batches.sample.Y, batches.sample.cells)
    of_sample = odds(chosen.scores)
    of_all = of_sample if is_whole(batches) else odds(scores)
    return FinalOdds(odds, of_sample, of_all if keep else None)


def _grown(
    search: Search,
    batches: Batches,
    chosen: Chosen,
    trees: bool | str,
    seed: int,
    n_jobs: int | None,
) -> Forest | None:
    rows = rows_in_memory(batches)
    if rows is None:
        if trees:
            search.leave_out("trees", "not grown: they need all rows in memory")
        return None
    labels = chosen.labels if is_whole(batches) else rows.Y
    if not _has_room(labels, trees):
        if trees:
            search.leave_out("trees", "not grown: the labels in their leaves are many")
        return None
    grow = partial(
        Forest.fit,
        rows.X,
        np.asarray(dense(labels), dtype=np.float64),
        n_trees=TREES,
        seed=seed,
        sample_weight=rows.weights,
        n_jobs=n_jobs,
    )
    return _in_time(search, "trees", trees, grow, batches.n)


def _in_time(
    search: Search, name: str, asked: bool | str, fit: Callable[[], T], rows: int
) -> T | None:
    """Fit another model, unless time is over and it was not asked for."""

    def stage() -> T | None:
        return None if asked == "auto" and search.out_of_time(name) else fit()

    return search.timed(name, stage, rows)


def _blended(
    scores: Array, forest: Forest | None, linear: Logistic | None, batches: Batches
) -> FinalOdds:
    """Fit the log-odds of a mean of all models."""
    rows, places = rows_in_memory(batches), batches.sample.rows
    assert rows is not None
    parts = {"scores": scores}
    if linear is not None:
        parts["logistic"] = linear.held_out
    if forest is not None and forest.oob_log_odds is not None:
        parts["forest"], forest.oob_log_odds = forest.oob_log_odds, None
    Y = np.asarray(dense(rows.Y), dtype=np.float64)
    blend = fit_blend(list(parts.values()), Y, rows.cells)
    slopes, offset = dict(zip(parts, blend.slopes, strict=True)), blend.offset
    held_out = blend(list(parts.values()))
    coef, share = None, slopes.get("logistic")
    if linear is not None and share is not None:
        coef = linear.margins.coef * share
        offset = offset + linear.margins.intercept * share
    slope = slopes["scores"]
    odds = LogOdds(
        np.zeros_like(offset) if slope is None else slope, offset, slopes.get("forest")
    )
    return FinalOdds(
        odds,
        held_out if len(places) == len(held_out) else held_out[places],
        held_out,
        None if odds.forest_slope is None else forest,
        coef,
    )


def _has_room(Y: Matrix, trees: bool | str) -> bool:
    """Return True if trees were requested, or there is memory for them."""
    if isinstance(trees, bool):
        return trees
    return can_grow_trees(int(Y.nnz if sparse.issparse(Y) else np.count_nonzero(Y)))


def can_grow_trees(positives: int) -> bool:
    """Return True if the leaves of all trees have room for this many labels of rows."""
    return float(TREES) * positives <= _MOST_VALUES


def _all_scores(
    search: Search, batches: Batches, chosen: Chosen, *, keep: bool
) -> tuple[Array, ScoreTable]:
    """Return held-out scores of all rows, if they are kept, and their table."""
    assert chosen.of_blocks is not None
    out = np.empty((batches.n if keep else 0, chosen.scores.shape[1]))
    score = partial(
        tabulated,
        scores=chosen.of_blocks,
        empty=ScoreTable.empty(chosen.scores),
        out=out if keep else None,
    )
    run = partial(batches.summed, "scores", score)
    return out, search.timed("held-out scores", run, batches.n)
