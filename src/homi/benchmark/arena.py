"""Results of the arena as tables: ranks, tests, records, costs, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from homi.benchmark.cells import USUAL_AUC, Cell
from homi.benchmark.experiment import Experiment
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.measures import MEASURES
from homi.benchmark.methods import variant
from homi.benchmark.runner import sort_out
from homi.benchmark.statistics import (
    average_ranks,
    rank_intervals,
    stopped_last,
    wilcoxon_holm,
    wins_ties_losses,
)
from homi.benchmark.tables import NOT_RUN, Entry, Table
from homi.metrics import METRICS

#: The entry that all others are compared with.
OURS = "arena-homicv"

#: Least data sets of a comparison of most entries.
_FEW = 3

#: Metrics of rankings, then of label sets and probabilities, with titles.
RANKING = {
    "ranking_loss": "Ranking loss",
    "one_error": "One-error",
    USUAL_AUC: "Macro AUC",
    "average_precision": "LRAP",
    "micro_average_precision": "Micro AP",
    "macro_average_precision": "Macro AP",
    "precision_at_3": "P@3",
    "precision_at_5": "P@5",
}
LABELS = {
    "hamming_loss": "Hamming loss",
    "exact_match": "Exact match",
    "micro_f1": "Micro F1",
    "macro_f1": "Macro F1",
    "example_f1": "Example F1",
    "tuned_micro_f1": "Micro F1, tuned",
    "tuned_macro_f1": "Macro F1, tuned",
    "tuned_example_f1": "Example F1, tuned",
    "calibration_error": "Calibration error",
}
QUALITY = RANKING | LABELS
#: What to do about a metric on which HOMICV is not first.
_ADVICE = {
    "exact_match": "A threshold of 0.5 suits the Hamming loss; `TunedThresholds(model, "
    'strategy="joint", objective="subset_accuracy")` predicts whole label sets.',
    **dict.fromkeys(
        ("micro_f1", "macro_f1", "example_f1"),
        "A threshold of 0.5 suits the Hamming loss; `TunedThresholds` chooses "
        'thresholds for F1: compare the columns "tuned".',
    ),
    "calibration_error": "If probabilities matter more than ranks, take "
    "`HOMICV(trees=False)`.",
}
#: Metrics of the README.
SUMMARIZED = (
    *("ranking_loss", "micro_average_precision", USUAL_AUC),
    *("hamming_loss", "micro_f1", "tuned_macro_f1"),
)
#: How the first results name their processor. Several kinds of it have this name, so
#: their times are not compared.
NAMELESS = "AMD EPYC, 2 cores"
#: Metrics whose values are shown for every data set.
SHOWN = ("micro_average_precision", "ranking_loss", USUAL_AUC, "tuned_macro_f1")


class Results(NamedTuple):
    """A row per cell, and the experiment."""

    cells: pd.DataFrame
    experiment: Experiment
    made_with: pd.DataFrame

    def means(self, metric: str) -> pd.DataFrame:
        """Return means over folds, a column per method; NaN if stopped."""
        return self.cells.groupby(["dataset", "method"])[metric].mean().unstack()

    def timed(self) -> pd.DataFrame:
        """Return the cells whose times can be compared."""
        return self.cells[self.cells["processor"] != NAMELESS]

    def whole(self) -> pd.DataFrame:
        """Return whether all folds of a method are there, per data set."""
        count = self.cells.groupby(["dataset", "method"])["fold"].count().unstack()
        folds = {d: self.experiment.folds_of(d) for d in count.index}
        return count.eq(pd.Series(folds), axis=0)

    def is_stopped(self) -> pd.DataFrame:
        """Return whether a method was stopped, per data set."""
        stopped = self.cells["stopped"].notna()
        keys = [self.cells["dataset"], self.cells["method"]]
        return stopped.groupby(keys).any().unstack(fill_value=False)


class Chosen(NamedTuple):
    """Data sets and methods of a comparison without gaps."""

    datasets: list[str]
    methods: list[str]


def read(file: Path, directory: Path) -> Results:
    """Read the current results of an experiment of the arena."""
    experiment = read_experiment(file)
    rows, made = [], []
    for task, record in sort_out(experiment, directory).current:
        if not isinstance(task, Cell):
            continue
        cost = record.get("cost", {})
        fit = cost.get("fit", record["seconds"]["fit"])
        if record.get("stopped") == "time" and experiment.limit:
            fit = 60.0 * experiment.limit.minutes
        elif "stopped" in record:
            fit = np.nan
        rows.append(
            {
                **{"dataset": task.dataset, "method": task.method, "fold": task.fold},
                **record["metrics"],
                **{"fit": fit, "predict": cost.get("predict", np.nan)},
                "memory": cost.get("peak_bytes", np.nan) / 2**20,
                "size": cost.get("model_bytes", np.nan) / 1e6,
                "stopped": record.get("stopped"),
                "spent": record["seconds"]["fit"],
                "processor": record["made_with"]["processor"],
            }
        )
        made.append(record["made_with"])
    return Results(pd.DataFrame(rows), experiment, pd.DataFrame(made))


def choose(
    results: Results, datasets: Sequence[str], *, most_entries: bool = False
) -> Chosen:
    """Return a comparison without gaps: most data sets times rivals.

    With ``most_entries`` the most entries that share three data sets, or all there are.
    """
    there = results.whole().reindex(datasets, fill_value=False)
    there = there[there.get(OURS, False)] if OURS in there else there.iloc[:0]
    order = there.sum(axis=1).sort_values(ascending=False, kind="stable").index
    best, most = Chosen([], []), (0, 0)
    for k in range(1, len(order) + 1):
        methods = there.loc[order[:k]].all()
        found = Chosen(
            [d for d in datasets if d in order[:k]], [*methods[methods].index]
        )
        size = (k * (len(found.methods) - 1), k)
        if most_entries:
            size = (len(found.methods) if k >= min(_FEW, len(order)) else 0, k)
        if size >= most:
            best, most = found, size
    listed = [m for m in results.experiment.methods if m in best.methods]
    return best._replace(methods=listed)


def shown(method: str) -> str:
    """Return the name of an entry in tables."""
    base, settings = variant(method)
    name = base.removeprefix("arena-")
    name = {"homicv": "HOMICV", "homi": "HOMI of the paper"}.get(name, name)
    return f"{name} without trees" if settings.get("trees") is False else name


def greater(metric: str) -> bool:
    """Return True if a greater value of the metric is better."""
    if metric == USUAL_AUC:
        return True
    found = METRICS.get(metric) or MEASURES[metric]
    return bool(found.greater_is_better)


def ranked(results: Results, chosen: Chosen, metric: str) -> pd.DataFrame:
    """Return means for ranks: a method that was stopped is last."""
    means = results.means(metric).loc[chosen.datasets, chosen.methods]
    return stopped_last(means, greater_is_better=greater(metric))


def verdicts_table(results: Results, chosen: Chosen) -> Table:
    """Return HOMICV and its best rival by each metric, with uncertainty."""
    rivals = [m for m in chosen.methods if not m.startswith(OURS)]
    rows = []
    for metric, title in QUALITY.items():
        means, up = ranked(results, chosen, metric), greater(metric)
        ranks = average_ranks(means, greater_is_better=up)
        ends = rank_intervals(means, greater_is_better=up)
        best = str(ranks[rivals].idxmin())
        shown_ranks = (
            f"{ranks[m]:.1f} ({ends.low[m]:.1f}–{ends.high[m]:.1f})"
            for m in (OURS, best)
        )
        ours, theirs = shown_ranks
        place = int((ranks < ranks[OURS]).sum()) + 1
        text = (
            str(place),
            shown(best),
            theirs,
            _verdict(results, chosen, metric, best),
        )
        rows.append((Entry(title), Entry(ours, place == 1), *map(Entry, text)))
    caption = (
        "HOMICV and its best rival by average rank. In brackets: 95 % bootstrap "
        "interval over data sets. Record: wins–ties–losses of HOMICV against that "
        "rival at one standard error over folds. p: Wilcoxon's signed-rank test over "
        "data sets, adjusted by Holm's procedure for all entries"
    )
    columns = ("", "HOMICV", "place", "best rival", "its rank", "record, p")
    return Table(caption, columns, tuple(rows))


def _verdict(results: Results, chosen: Chosen, metric: str, rival: str) -> str:
    """Return wins, ties and losses against a rival, and the adjusted p."""
    found = wins_ties_losses(gaps(results, metric, rival).loc[chosen.datasets])
    means = results.means(metric).loc[chosen.datasets, chosen.methods]
    table = wilcoxon_holm(means, OURS, greater_is_better=greater(metric))
    p = table.loc[rival, "p_holm"]
    shown_p = "< 0.001" if p < 0.001 else f"{p:.3f}"
    return f"{'–'.join(map(str, found))}, {shown_p}"


def ranks_table(results: Results, chosen: Chosen, metrics: dict[str, str]) -> Table:
    """Return the average ranks of all entries by each metric."""
    columns = {}
    for metric in metrics:
        means = ranked(results, chosen, metric)
        ranks = average_ranks(means, greater_is_better=greater(metric))
        columns[metric] = [
            Entry(f"{ranks[m]:.1f}", bool(ranks[m] == ranks.min()))
            for m in chosen.methods
        ]
    rows = zip(*columns.values(), strict=True)
    body = ((Entry(shown(m)), *r) for m, r in zip(chosen.methods, rows, strict=True))
    caption = f"Average ranks of {len(chosen.methods)} entries"
    return Table(caption, ("", *metrics.values()), tuple(body))


def mean_ranks(results: Results, chosen: Chosen) -> pd.Series:
    """Return the mean over all quality metrics of the average ranks."""
    ranks = [
        average_ranks(ranked(results, chosen, m), greater_is_better=greater(m))
        for m in QUALITY
    ]
    return pd.concat(ranks, axis=1).mean(axis=1)


def ratios(results: Results, column: str) -> pd.DataFrame:
    """Return times as multiples of HOMICV's, a column per entry.

    Both are times of the same fold on the same machine: times of two machines are not
    compared. NaN where no machine ran both; medians over folds.
    """
    cells = results.timed()[["dataset", "fold", "processor", "method", column]]
    keys = ["dataset", "fold", "processor"]
    ours = cells[cells["method"] == OURS].set_index(keys)[column].rename("ours")
    both = cells.join(ours, on=keys)
    ratio = both[column] / both["ours"]
    medians = ratio.groupby([both["dataset"], both["method"]]).median().unstack()
    there = results.means(column)
    return medians.reindex(index=there.index, columns=there.columns)


def our_fits(results: Results) -> pd.Series:
    """Return processor seconds of a fit of HOMICV: means over folds."""
    cells = results.timed()
    return cells[cells["method"] == OURS].groupby("dataset")["fit"].mean()


def costs_table(results: Results, chosen: Chosen) -> Table:
    """Return times relative to HOMICV's, memory and model size beside the mean rank."""
    fit, predict = (ratios(results, name) for name in ("fit", "predict"))
    quality, stopped = mean_ranks(results, chosen), results.is_stopped()
    sizes = [results.means(name).loc[chosen.datasets] for name in ("memory", "size")]
    rows = []
    for m in chosen.methods:
        there = fit.loc[chosen.datasets, m].dropna()
        over = int(stopped.loc[chosen.datasets, m].sum())
        text = (
            f"{quality[m]:.1f}",
            _two_digits(there.median()),
            f"{_two_digits(there.min())}–{_two_digits(there.max())}"
            if len(there)
            else "",
            str(len(there)),
            _two_digits(predict.loc[chosen.datasets, m].median()),
            *(f"{values[m].median():.3g}" for values in sizes),
            str(over or ""),
        )
        rows.append((Entry(shown(m)), *map(Entry, text)))
    titles = (
        *("", "mean rank of all metrics", "fit", "range", "data sets", "predict"),
        *("memory, MB", "model, MB", "over the limit"),
    )
    caption = (
        "Processor times of fit and prediction as multiples of HOMICV's, and their "
        "medians over data sets. Both are measured on the same folds of one machine; "
        "data sets where no machine ran both are left out. An entry over the limit of "
        "time counts as that limit; one over that of memory is left out"
    )
    return Table(caption, titles, tuple(rows))


def _two_digits(value: float) -> str:
    """Write a number to two digits; nothing for NaN."""
    return "" if np.isnan(value) else f"{float(f'{value:.2g}'):g}"


def summary_table(results: Results, names: dict[str, str]) -> Table:
    """Return ranks on the judged data sets, and relative fit times, of some entries.

    ``names`` has what the table calls each entry. Ranks are among all entries that were
    run on the data sets; an entry that was not run on all of them is left out.
    """
    chosen = choose(results, results.experiment.groups["judged"])
    there = [m for m in names if m in chosen.methods]
    ranks = {}
    for metric in SUMMARIZED:
        means = ranked(results, chosen, metric)
        ranks[metric] = average_ranks(means, greater_is_better=greater(metric))
    fits = ratios(results, "fit").loc[chosen.datasets].median()
    seconds = our_fits(results).reindex(chosen.datasets)
    rows = [
        (
            Entry(names[m]),
            *(Entry(f"{r[m]:.1f}", bool(r[m] == r.min())) for r in ranks.values()),
            Entry(_two_digits(fits[m])),
        )
        for m in there
    ]
    caption = (
        f"Average ranks on {len(chosen.datasets)} data sets kept for judgment (1 is "
        f"best of {len(chosen.methods)} entries). A fit of `HOMICV()` takes "
        f"{_two_digits(seconds.min())} to {_two_digits(seconds.max())} s"
    )
    columns = ("", *(QUALITY[metric] for metric in SUMMARIZED), "Fit time")
    return Table(caption, columns, tuple(rows))


def gaps(results: Results, metric: str, rival: str) -> pd.DataFrame:
    """Return differences by data set and fold, above 0 where HOMICV is better."""
    table = results.cells.set_index(["dataset", "fold", "method"])[metric].unstack()
    sign = 1.0 if greater(metric) else -1.0
    return (sign * (table[OURS] - table[rival])).unstack("fold")


def records_table(results: Results, chosen: Chosen) -> Table:
    """Return the record of HOMICV against each other entry, and p values."""
    rows = [
        (
            Entry(shown(m)),
            *(Entry(_verdict(results, chosen, metric, m)) for metric in SHOWN),
        )
        for m in chosen.methods
        if m != OURS
    ]
    caption = (
        "HOMICV against each entry: wins–ties–losses and p, as above. Data sets on "
        "which the entry is over the limit are left out"
    )
    return Table(caption, ("", *(QUALITY[m] for m in SHOWN)), tuple(rows))


def not_first(results: Results, chosen: Chosen, where: str) -> list[str]:
    """Return a line for each metric on which another entry has the better rank."""
    lines = []
    for metric, title in QUALITY.items():
        means = ranked(results, chosen, metric)
        ranks = average_ranks(means, greater_is_better=greater(metric))
        first = str(ranks.idxmin())
        if ranks[OURS] == ranks.min():
            continue
        place = int((ranks < ranks[OURS]).sum()) + 1
        line = (
            f"- {title}, {where}: place {place}, average rank {ranks[OURS]:.2f} "
            f"against {ranks[first]:.2f} of {shown(first)}"
        )
        others = ranks[[m for m in ranks.index if not m.startswith(OURS)]]
        if first.startswith(OURS) and len(others):
            rival = str(others.idxmin())
            line += f", and {others[rival]:.2f} of the best rival, {shown(rival)}"
        lines.append(f"{line}. {_ADVICE.get(metric, '')}".rstrip())
    return lines


def better_more_often(results: Results, chosen: Chosen, where: str) -> list[str]:
    """Return a line for each rival that is clearly better on more sets than worse.

    Its average rank may be the worse one: it ranks last where it is over the limit.
    """
    lines = []
    stopped = results.is_stopped().loc[chosen.datasets]
    for rival in chosen.methods:
        if rival.startswith(OURS):
            continue
        records = {
            title: wins_ties_losses(gaps(results, metric, rival).loc[chosen.datasets])
            for metric, title in QUALITY.items()
        }
        found = [
            f"{title} {'–'.join(map(str, record))}"
            for title, record in records.items()
            if record.losses > record.wins
        ]
        if found:
            line = f"- {shown(rival)}, {where}: {', '.join(found)}."
            over = [d for d in chosen.datasets if stopped.loc[d, rival]]
            if over:
                line += f" It is over the limit on {', '.join(over)}, and last there."
            lines.append(line)
    return lines


def instead(results: Results) -> Table:
    """Return the entry of each data set that is clearly better than HOMICV."""
    rows = []
    whole = results.whole()
    ours = whole.get(OURS, {})
    for dataset in results.experiment.datasets:
        if ours.get(dataset, False):
            better = (Entry(_better(results, dataset, metric)) for metric in SHOWN)
            rows.append((Entry(dataset), *better))
    titles = (QUALITY[metric] for metric in SHOWN)
    caption = (
        "The best entry of each data set, if its mean difference from HOMICV exceeds "
        "one standard error, and by how much; – where none does"
    )
    return Table(caption, ("data set", *titles), tuple(rows))


def _better(results: Results, dataset: str, metric: str) -> str:
    means, whole = results.means(metric), results.whole()
    row = means.loc[dataset].where(whole.loc[dataset]).dropna()
    best = str(row.idxmax() if greater(metric) else row.idxmin())
    if best == OURS:
        return "–"
    there = gaps(results, metric, best).loc[[dataset]]
    if wins_ties_losses(there).losses == 0:
        return "–"
    return f"{shown(best)}, {-there.mean(axis=1).iloc[0]:.4f}"


def values_table(results: Results, metric: str) -> Table:
    """Return the values of a metric on every data set that was run."""
    means, whole = results.means(metric), results.whole()
    stopped = results.is_stopped()
    datasets = [d for d in results.experiment.datasets if d in whole.index]
    rows = []
    for m in results.experiment.methods:
        entries = []
        if m not in whole:
            continue
        for d in datasets:
            if not whole.loc[d, m]:
                entries.append(Entry(NOT_RUN))
            elif stopped.loc[d, m]:
                entries.append(Entry(_over(results, d, m)))
            else:
                value, others = means.loc[d, m], means.loc[d]
                top = others.max() if greater(metric) else others.min()
                entries.append(Entry(f"{value:.4f}", bool(value == top)))
        rows.append((Entry(shown(m)), *entries))
    return Table(QUALITY[metric], ("", *datasets), tuple(rows))


def _over(results: Results, dataset: str, method: str) -> str:
    """Name the limit that a method exceeded, and the time that it took till then."""
    cells, limit = results.cells, results.experiment.limit
    of_this = (cells["dataset"] == dataset) & (cells["method"] == method)
    stopped = cells[of_this & cells["stopped"].notna()]
    assert limit is not None
    if (stopped["stopped"] == "time").any():
        return f"over the limit ({60 * limit.minutes} s)"
    return f"over the limit ({limit.gigabytes} GB, {stopped['spent'].max():.0f} s)"


def missing_line(results: Results) -> str:
    """Say what has not been run, data sets that lack the same entries together."""
    whole, experiment = results.whole(), results.experiment
    lacking: dict[tuple[str, ...], list[str]] = {}
    for d in experiment.datasets:
        out = tuple(
            shown(m)
            for m in experiment.methods
            if d not in whole.index or m not in whole or not whole.loc[d, m]
        )
        lacking.setdefault(out, []).append(d)
    nothing = tuple(map(shown, experiment.methods))
    lines = [
        f"- {', '.join(datasets)}: "
        + ("nothing." if out == nothing else f"all but {', '.join(out)}.")
        for out, datasets in lacking.items()
        if out
    ]
    if not lines:
        return "All cells have been run.\n"
    return "Not everything has been run. There is:\n\n" + "\n".join(lines) + "\n"
