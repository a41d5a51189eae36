"""Write docs/arena.md and its two figures from the stored results of the arena.

homi bench run benchmarks/arena.toml --jobs 2
homi bench pack benchmarks/arena.toml
python benchmarks/arena.py

Works on partial results, and says what has not been run. ``--study`` names the printed
table of the comprehensive study, which is not in the repository.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from homi.benchmark.arena import (
    OURS,
    QUALITY,
    SHOWN,
    Chosen,
    Results,
    better_more_often,
    choose,
    costs_table,
    greater,
    instead,
    mean_ranks,
    missing_line,
    not_first,
    our_fits,
    ranked,
    ranks_table,
    ratios,
    read,
    records_table,
    shown,
    values_table,
    verdicts_table,
)
from homi.benchmark.experiment import Experiment
from homi.benchmark.figures.critical_difference import critical_difference
from homi.benchmark.figures.files import svg
from homi.benchmark.figures.style import HOMI_COLOR, QUIET, settled
from homi.benchmark.methods import EVERYTHING, variant
from homi.benchmark.statistics import average_ranks, stopped_last
from homi.benchmark.tables import Entry, Table
from homi.datasets.registry import registry

#: Metrics of the comprehensive study, by its names.
STUDY = {
    "label_ranking_loss": "ranking_loss",
    "one_error": "one_error",
    "label_ranking_average_precision": "average_precision",
    "auprc_micro": "micro_average_precision",
    "hamming_loss_example_based": "hamming_loss",
    "subset_accuracy": "exact_match",
    "micro_f1": "tuned_micro_f1",
    "macro_f1": "tuned_macro_f1",
    "f1_example_based": "tuned_example_f1",
}

#: Judged data sets that were seen before the code was settled.
SEEN = {"reuters-k500": "looked at once, for rare labels"}

HEAD = """# The arena

HOMICV against tuned rivals, on data sets that its design has seen and on data sets that
it has not ("judged"). [How it was measured](#how-it-was-measured) is at the end.
Written by `python benchmarks/arena.py` from `results/arena.parquet`, which has the
values of all metrics, data sets and folds.
"""

RULES = """## How it was measured

- Folds of the clean protocol, the same for all entries: five, and three above 5,000
  rows. Everything is learned inside the training fold, TF-IDF of word counts included.
- All entries are tuned alike: settings are compared by micro average precision on
  held-out rows of the training fold. These are three folds up to 2,000 rows, one
  quarter of the rows beyond, and at most 4,000 rows. The best setting is fitted to all
  rows of the fold. Boosted trees and networks stop early on held-out rows. A third of
  the trees of a forest, and one network of three, rank settings as well.
- Sigmoids map margins to probabilities, fitted to held-out scores. Metrics named
  "tuned" use thresholds chosen for the metric on held-out scores: one for micro F1 and
  example F1, one per label for macro F1. Other metrics use the entry's own threshold.
- Macro AUC counts ties as one half and leaves out labels that all test rows have, or
  none. Macro AP leaves out labels that no test row has. Macro F1 counts 0 for a label
  without true and predicted rows.
- Times are processor seconds of one thread, tuning and held-out scores included. They
  are compared on the same folds of one machine only. The first results do not name the
  generation of their processor: their times are left out, and the first fold of each
  data set was run again to time it.
- Memory is the growth of the peak. The size of a model is that of its model file, or of
  a pickle if homi has none.
- A cell may take 20 minutes of processor time and 8 GB. An entry beyond that in the
  first fold is "over the limit": its other folds are not tried, and it ranks last.
- Grids of rivals were changed once, after first results on eight data sets, four of
  them judged, because settings at the end of a grid had often been the best. Nyström
  features and forests got one more setting each, the C of chains and the widths of the
  RBF machines were moved up. Later, sparse rows were tried unscaled, with larger values
  of C, because TF-IDF is used so. All entries concerned were run again; on PlantPseAAC
  and GnegativeGO only after the first tables had been shown, which had earlier grids
  there.
- Of HOMICV, the speed was changed, and which of two equally good choices it takes.
  Later changes concern more than 20,000 rows, wide dense rows, and time budgets, none
  of which is here.
- AutoGluon has no multi-label model: each label has a predictor of its own, without
  networks, which need torch. What it fits in its time depends on the machine.
- MEKA has [a page of its own](measured/meka.md).
"""


def data_table(results: Results) -> Table:
    experiment, rows = results.experiment, []
    fits = our_fits(results)
    for name in experiment.datasets:
        entry = registry()[name]
        size = f"{entry.n_samples:,} × {entry.n_features:,} × {entry.n_labels}"
        is_judged = name in experiment.groups["judged"]
        use = "judged" if is_judged else "design"
        use += f"; {SEEN[name]}" if name in SEEN else ""
        prepared = "TF-IDF in the fold" if entry.counts else "as it is"
        seconds = f"{fits[name]:.2g}" if name in fits else ""
        text = (name, entry.domain, size, prepared, use, seconds)
        rows.append(tuple(map(Entry, text)))
    caption = (
        "Data sets. HOMICV's defaults may be tuned on those for design; the others are "
        "for judgment. All of these were also run once, on the settled code, for "
        "[the page of times](measured/homicv_speed.md). No default of HOMICV was "
        "changed after one of them was seen. Last, mean processor seconds of a fit of "
        "HOMICV"
    )
    titles = ("name", "kind", "rows × features × labels", "features", "use", "fit, s")
    return Table(caption, titles, tuple(rows))


def entries_table(experiment: Experiment) -> Table:
    rows = []
    for method in experiment.methods:
        base, settings = variant(method)
        line = (EVERYTHING[base].__doc__ or "").split("\n")[0].replace("``", "`")
        given = ", ".join(f"{name}={value}" for name, value in settings.items())
        line = f"The same with `{given}`." if given else line
        rows.append((Entry(shown(method)), Entry(line)))
    return Table("Entries", ("", "what it is, and what is tuned"), tuple(rows))


def study_part(results: Results, path: Path | None) -> str:
    """HOMICV beside the printed table of the comprehensive study."""
    title = "## Beside the comprehensive study\n\n"
    if path is None or not path.is_file():
        return f"{title}The printed table was not at hand: pass it by `--study`.\n"
    printed = pd.read_csv(path).set_index(["metric", "data"])
    whole = results.whole()
    whole = whole[OURS][whole[OURS]].index if OURS in whole else []
    rows = []
    for theirs, ours in STUDY.items():
        table = printed.loc[theirs]
        up, datasets = greater(ours), [d for d in table.index if d in whole]
        if not datasets:
            continue
        table, mine = table.loc[datasets], results.means(ours).loc[datasets, OURS]
        # A one-error of 0 is a fault of the printed table.
        table = table.where(table > 0) if theirs == "one_error" else table
        both = stopped_last(table.assign(HOMICV=mine), greater_is_better=up)
        ranks = average_ranks(both, greater_is_better=up).sort_values()
        second = [name for name in ranks.index if name != "HOMICV"][:2]
        best = table.max(axis=1) if up else table.min(axis=1)
        better = int((mine > best).sum() if up else (mine < best).sum())
        text = (QUALITY[ours], str(len(datasets)), f"{ranks['HOMICV']:.1f}")
        text += (*(f"{name} {ranks[name]:.1f}" for name in second), str(better))
        rows.append(tuple(map(Entry, text)))
    caption = (
        "Bogatinovski et al., Comprehensive comparative study of multi-label "
        "classification methods (2022): 28 methods on one split, **other folds than "
        "ours**, an anchor and no paired comparison. Average ranks of HOMICV among the "
        "29, those of the two best printed methods, and the data sets on which HOMICV "
        "is better than all 28. Printed values of 0 under one-error are left out"
    )
    columns = ("", "data sets", "HOMICV", "best printed", "second", "better than all")
    return title + Table(caption, columns, tuple(rows)).markdown()


def draw_time(results: Results, chosen: Chosen) -> Figure:
    """Draw mean rank against relative fit times, and a line of undominated entries."""
    y = mean_ranks(results, chosen)
    x = ratios(results, "fit").loc[chosen.datasets, chosen.methods].median().dropna()
    front = [m for m in x.sort_values().index if not ((x <= x[m]) & (y < y[m])).any()]
    figure = Figure(figsize=(9.0, 5.5), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(x[front], y[front], color="0.7", zorder=1)
    for m in x.index:
        color = HOMI_COLOR if m.startswith(OURS) else QUIET
        axes.scatter(x[m], y[m], color=color, zorder=2)
        axes.annotate(shown(m), (x[m], y[m]), (5, 4), textcoords="offset points")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel("fit time, tuning included, as a multiple of HOMICV's: median")
    axes.set_ylabel("mean rank over all quality metrics (1 is best)")
    axes.set_title(f"Quality against time ({len(chosen.datasets)} data sets)")
    return settled(figure)


def page(results: Results, study: Path | None) -> str:
    experiment = results.experiment
    parts = [HEAD, missing_line(results)]
    lines: list[str] = []
    others: list[str] = []
    for where, chosen, datasets in comparisons(results):
        parts.append(f"## Ranks {where}\n")
        if len(chosen.datasets) < 2 or len(chosen.methods) < 2:
            parts.append("Not enough has been run.\n")
            continue
        parts.append(_scope(chosen, datasets, experiment.methods))
        parts += [verdicts_table(results, chosen).markdown()]
        parts += [ranks_table(results, chosen, QUALITY).markdown()]
        lines += not_first(results, chosen, where)
        others += better_more_often(results, chosen, where)
    parts += ["## Where HOMICV is not first\n"]
    parts += ["\n".join(lines or ["Nowhere, by average rank."]) + "\n"]
    if others:
        parts += ["Entries that are clearly better on more data sets than worse, with"]
        parts += ["wins–ties–losses of HOMICV at one standard error:\n"]
        parts += ["\n".join(others) + "\n"]
    parts += [instead(results).markdown()]
    chosen = choose(results, experiment.datasets)
    if len(chosen.datasets) > 1 and len(chosen.methods) > 1:
        parts += ["## Quality against time\n", "![](figures/arena-time.svg)\n"]
        parts += [costs_table(results, chosen).markdown()]
        parts += ["## Each rival\n", "![](figures/arena-ranks.svg)\n"]
        parts += [records_table(results, chosen).markdown()]
    parts += [study_part(results, study), "## Values\n"]
    parts += [values_table(results, SHOWN[0]).markdown()]
    parts += ["## Data and entries\n", data_table(results).markdown()]
    parts += [entries_table(experiment).markdown(), RULES + _machine(results)]
    return "\n".join(parts)


def comparisons(results: Results) -> Iterator[tuple[str, Chosen, list[str]]]:
    """Yield names, entries and data sets of the comparisons without gaps."""
    every = list(results.experiment.datasets)
    judged = list(results.experiment.groups["judged"])
    yield "on the judged data sets", choose(results, judged), judged
    usual = choose(results, every)
    yield "on all data sets", usual, every
    widest = choose(results, every, most_entries=True)
    if len(widest.methods) > len(usual.methods):
        yield f"of {len(widest.methods)} entries", widest, every


def _scope(chosen: Chosen, datasets: Sequence[str], methods: Iterable[str]) -> str:
    out = [d for d in datasets if d not in chosen.datasets]
    lacking = [shown(m) for m in methods if m not in chosen.methods]
    text = f"{len(chosen.datasets)} of {len(datasets)} data sets: "
    text += ", ".join(chosen.datasets) + "."
    text += f" Not run, or not by all entries: {', '.join(out)}." if out else ""
    text += f" Entries without all of these: {', '.join(lacking)}." if lacking else ""
    return text + "\n"


def _machine(results: Results) -> str:
    names = ("processor", "python", "numpy", "scikit-learn")
    found = (", ".join(sorted(results.made_with[n].unique())) for n in names)
    processor, python, numpy, sklearn = found
    commits = ", ".join(sorted({c[:10] for c in results.made_with["commit"]}))
    cells = results.cells
    fits = cells["fit"].where(cells["stopped"].isna(), cells["spent"])
    hours = (fits.sum() + cells["predict"].sum()) / 3600
    return (
        f"- {processor}; Python {python}, numpy {numpy}, scikit-learn {sklearn}; homi "
        f"at {commits}. {len(cells):,} cells, {hours:.1f} hours of processor "
        "time.\n"
    )


def main() -> None:
    here = Path(__file__).parent
    data = os.environ.get("HOMI_DATA")
    study = Path(data) / "arena" / "comprehensive_study.csv" if data else None
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("results/arena"))
    parser.add_argument("--study", type=Path, default=study)
    parser.add_argument("--output", type=Path, default=Path("docs/arena.md"))
    arguments = parser.parse_args()
    results = read(here / "arena.toml", arguments.results)
    arguments.output.write_text(page(results, arguments.study), encoding="utf-8")
    chosen = choose(results, results.experiment.datasets)
    figures = arguments.output.parent / "figures"
    figures.mkdir(exist_ok=True)
    if len(chosen.datasets) > 1 and len(chosen.methods) > 1:
        means = ranked(results, chosen, "micro_average_precision")
        drawn = critical_difference(
            means.rename(columns=shown),
            "Micro average precision",
            greater_is_better=True,
        )
        drawings = {"arena-ranks": drawn, "arena-time": draw_time(results, chosen)}
        for name, figure in drawings.items():
            (figures / f"{name}.svg").write_text(svg(figure, name), encoding="utf-8")


if __name__ == "__main__":
    main()
