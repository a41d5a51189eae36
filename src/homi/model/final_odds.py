"""Log-odds of the final model from held-out scores of all rows and other models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from homi.arrays import dense
from homi.linalg import Array
from homi.model.batches import Batches, HeldRows, is_whole, rows_in_memory
from homi.model.blend import LogOdds, fit_blend, fit_log_odds
from homi.model.block_scores import ScoreTable, tabulated
from homi.model.chosen_fit import Chosen
from homi.model.final_features import is_reduced
from homi.model.forest import Forest
from homi.model.logistic import Logistic, fit_logistic, wants_logistic
from homi.model.search import Search
from homi.typing import Indices

T = TypeVar("T")

#: Trees of a forest, and most labels in all of their leaves: gigabytes.
TREES, _MOST_VALUES = 300, 4e7
#: Most rows times features that are tried at a split: minutes.
_MOST_TRIED = 3e6


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
    """Fit log-odds to held-out scores.

    The mean with other models is fitted to the rows of the sample. Without others, and
    if the sample lacks some rows, a table of the scores represents all of them.
    ``keep`` says whether to return the log-odds of all rows.
    """
    linear = _regressed(search, batches, chosen, logistic, seed, n_jobs)
    forest = _grown(search, batches, trees, chosen.labels, seed, n_jobs)
    if linear is not None or forest is not None:
        found = _blended(search, batches, chosen, linear, forest, keep=keep)
        if found is not None:
            return found
    scores, table = chosen.scores, None
    if chosen.of_blocks is not None:
        scores, table = _all_scores(search, batches, chosen, keep=keep)
    if table is not None:
        odds = fit_log_odds(*table.points())
    else:
        odds = fit_log_odds(scores, batches.sample.Y, batches.sample.cells)
    of_sample = odds(chosen.scores)
    of_all = of_sample if is_whole(batches) else odds(scores)
    return FinalOdds(odds, of_sample, of_all if keep else None)


def _regressed(
    search: Search,
    batches: Batches,
    chosen: Chosen,
    logistic: bool | str,
    seed: int,
    n_jobs: int | None,
) -> Logistic | None:
    """Fit logistic regressions if they were requested, or suit the rows."""
    rows = rows_in_memory(batches)
    if rows is None or not wants_logistic(batches, logistic):
        return None
    # They have the directions that a reduced linear model lacks: no budget ends them.
    reduced = is_reduced(rows.X, chosen.params, chosen.model.n_components)
    given = partial(fit_logistic, rows, search, seed=seed, n_jobs=n_jobs)
    asked = reduced or logistic
    return _in_time(search, "logistic regression", asked, given, batches.n)


def _grown(
    search: Search,
    batches: Batches,
    trees: bool | str,
    labels: Array,
    seed: int,
    n_jobs: int | None,
) -> Forest | None:
    """Grow trees: by default of the sample, wherever the other rows are.

    ``labels`` are those of the sample, where missing ones were filled in.
    """
    if not trees:
        return None
    rows: HeldRows = batches.sample
    if trees != "auto" and not is_whole(batches):
        every = rows_in_memory(batches)
        assert every is not None
        rows = every
        labels = np.asarray(dense(rows.Y), dtype=np.float64)
    if trees == "auto":
        n, m = rows.X.shape
        too = too_large(n, m, int(np.count_nonzero(labels)))
        if too is not None:
            search.leave_out("trees", f"not grown: {too}")
            return None
    grow = partial(
        Forest.fit,
        rows.X,
        labels,
        n_trees=TREES,
        seed=seed,
        sample_weight=rows.weights,
        n_jobs=n_jobs,
    )
    return _in_time(search, "trees", trees, grow, len(labels))


def _in_time(
    search: Search, name: str, asked: bool | str, fit: Callable[[], T], rows: int
) -> T | None:
    """Fit another model, unless time is over and it was not asked for."""

    def stage() -> T | None:
        return None if asked == "auto" and search.out_of_time(name) else fit()

    return search.timed(name, stage, rows)


def _blended(
    search: Search,
    batches: Batches,
    chosen: Chosen,
    linear: Logistic | None,
    forest: Forest | None,
    *,
    keep: bool,
) -> FinalOdds | None:
    """Fit the log-odds of a mean of all models, by the rows of the sample.

    None if no other model is in the mean, and the sample lacks some rows.
    """
    places, whole = batches.sample.rows, is_whole(batches)
    others: dict[str, Array] = {}
    if linear is not None:
        others["logistic"] = linear.held_out
    if forest is not None and forest.oob_log_odds is not None:
        others["forest"], forest.oob_log_odds = forest.oob_log_odds, None
    sampled = {name: _rows_of(S, places) for name, S in others.items()}
    parts = {"scores": chosen.scores, **sampled}
    blend = fit_blend(list(parts.values()), batches.sample.Y, batches.sample.cells)
    slopes, offset = dict(zip(parts, blend.slopes, strict=True)), blend.offset
    if not whole and all(slopes[name] is None for name in others):
        return None
    of_sample = blend(list(parts.values()))
    held_out = of_sample if keep and whole else None
    if keep and not whole:
        of_all = {"scores": _all_scores(search, batches, chosen, keep=True)[0]}
        if forest is not None and len(others["forest"]) < batches.n:
            others["forest"] = _unseen_odds(forest, batches, others["forest"])
        held_out = blend(list((of_all | others).values()))
    coef, share = None, slopes.get("logistic")
    if linear is not None and share is not None:
        coef = linear.margins.coef * share
        offset = offset + linear.margins.intercept * share
    slope = slopes["scores"]
    odds = LogOdds(
        np.zeros_like(offset) if slope is None else slope, offset, slopes.get("forest")
    )
    kept_forest = None if odds.forest_slope is None else forest
    return FinalOdds(odds, of_sample, held_out, kept_forest, coef)


def _rows_of(scores: Array, places: Indices) -> Array:
    """Return the scores of the sample, if others have them too."""
    return scores if len(scores) == len(places) else scores[places]


def _unseen_odds(forest: Forest, batches: Batches, of_sample: Array) -> Array:
    """Return the forest's log-odds of all rows; those of the sample are held out."""
    rows = rows_in_memory(batches)
    assert rows is not None
    odds = forest.log_odds(rows.X)
    odds[batches.sample.rows] = of_sample
    return odds


def too_large(n: int, m: int, positives: int) -> str | None:
    """Say what is too much for trees of n rows, m features, and labels of rows."""
    if float(TREES) * positives > _MOST_VALUES:
        return "the labels in their leaves are many"
    if n * np.sqrt(m) > _MOST_TRIED:
        return "rows and features are many"
    return None


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
