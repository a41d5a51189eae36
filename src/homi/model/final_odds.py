"""Log-odds of the final model from held-out scores of all rows, with trees or not."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from homi.arrays import dense
from homi.linalg import Array
from homi.model.batches import Batches, RowsInMemory, Sample, is_whole
from homi.model.blend import LogOdds, fit_blend, fit_log_odds
from homi.model.block_scores import ScoreTable, tabulated
from homi.model.chosen_fit import Chosen
from homi.model.forest import Forest
from homi.model.search import Search
from homi.typing import Indices, Matrix

#: Trees of a forest, and most labels in all of their leaves.
_TREES, _MOST_VALUES = 300, 4e7


class FinalOdds(NamedTuple):
    """Log-odds of the scores, the forest that they use, and held-out log-odds.

    Those of the sample, and of all rows if they are kept. ``odds`` is None without
    calibration.
    """

    odds: LogOdds | None
    forest: Forest | None
    sample: Array
    held_out: Array | None


def plain_scores(
    search: Search, batches: Batches, chosen: Chosen, *, keep: bool
) -> FinalOdds:
    """Return the held-out scores as they are, if they are to be kept."""
    scores = chosen.scores
    if keep and chosen.of_blocks is not None:
        scores, _ = _all_scores(search, batches, chosen, keep=True)
    return FinalOdds(None, None, chosen.scores, scores if keep else None)


def fit_final_odds(
    search: Search,
    batches: Batches,
    chosen: Chosen,
    *,
    trees: bool | str,
    keep: bool,
    seed: int,
    n_jobs: int | None,
) -> FinalOdds:
    """Fit log-odds to the held-out scores of all rows.

    Where the sample has not all rows, a table of the scores stands for them. ``keep``
    says whether to return the log-odds of all rows.
    """
    rows, forest = _held(batches), None
    labels = chosen.labels if isinstance(rows, Sample) else getattr(rows, "Y", None)
    if rows is not None and _has_room(labels, trees, search):
        grow = partial(
            Forest.fit,
            rows.X,
            np.asarray(dense(labels), dtype=np.float64),
            n_trees=_TREES,
            seed=seed,
            sample_weight=rows.weights,
            n_jobs=n_jobs,
        )
        forest = search.timed("trees", grow, batches.n)
    scores, table = chosen.scores, None
    if chosen.of_blocks is not None:
        kept = keep or forest is not None
        scores, table = _all_scores(search, batches, chosen, keep=kept)
    if forest is None:
        if table is not None:
            odds = fit_log_odds(*table.points())
        else:
            odds = fit_log_odds(scores, batches.sample.Y, batches.sample.cells)
        of_sample = odds(chosen.scores)
        of_all = of_sample if is_whole(batches) else odds(scores)
        return FinalOdds(odds, None, of_sample, of_all if keep else None)
    assert rows is not None
    return _blended(scores, forest, rows, batches.sample.rows)


def _blended(
    scores: Array, forest: Forest, rows: RowsInMemory | Sample, places: Indices
) -> FinalOdds:
    trees, forest.oob_log_odds = forest.oob_log_odds, None
    assert trees is not None
    Y = np.asarray(dense(rows.Y), dtype=np.float64)
    weights = rows.cells if isinstance(rows, Sample) else rows.weights
    odds = fit_blend(scores, trees, Y, weights)
    used = forest if odds.forest_slope is not None else None
    held_out = odds(scores, trees)
    of_sample = held_out if len(places) == len(held_out) else held_out[places]
    return FinalOdds(odds, used, of_sample, held_out)


def _held(batches: Batches) -> RowsInMemory | Sample | None:
    """Return all rows if they are in memory."""
    if is_whole(batches):
        return batches.sample
    return batches if isinstance(batches, RowsInMemory) else None


def _has_room(Y: Matrix, trees: bool | str, search: Search) -> bool:
    """Return True if trees were asked for, or there is time and memory for them."""
    if isinstance(trees, bool):
        return trees
    ones = int(Y.nnz if sparse.issparse(Y) else np.count_nonzero(Y))
    return not search.is_late and float(_TREES) * ones <= _MOST_VALUES


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
