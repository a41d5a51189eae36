"""Time and memory of HOMICV against rows, beside the bare products of its features.

Every point is a process of its own, with one thread. Rows have 120 features and 101
labels, 4 % of them positive, as mediamill. The bare products are XᵀX and XᵀY of as many
rows of 1,500 features, timed before and after the fit on blocks of 4,096 rows. Points
are kept in a journal, so that the script resumes where it was stopped. The sparse point
has 50,000 features and 100 labels, and one-vs-rest logistic regression beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scale_sparse import THREADS, write
from scipy import sparse

FEATURES, LABELS, LANDMARKS, BLOCK = 120, 101, 1_500, 4_096
ROWS = (31_623, 100_000, 316_228, 1_000_000)

#: Rows, features, labels and words of a text of the sparse point.
SPARSE = (100_000, 50_000, 100, 100)

#: Data sets of which estimates are compared with the time taken; left out if absent.
DATA = ("emotions", "birds", "yeast", "enron", "mediamill-2500")

#: Rows, features and labels of the table of estimates.
SIZES = [
    (n, m, n_labels)
    for n in (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
    for m, n_labels in ((20, 10), (100, 100), (1_000, 100), (100, 1_000))
]

GOALS = {"ratio": 3.0, "peak": 4.0, "exponent": 1.05, "sparse": 5.0, "sparse peak": 8.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="Markdown file; else to the screen")
    parser.add_argument("--journal", type=Path, default=Path("build/scale_homicv"))
    parser.add_argument("--point", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.point:
        kind, *rest = json.loads(arguments.point)
        kinds = {"dense": dense_point, "sparse": sparse_point, "data": data_point}
        print(json.dumps(kinds[kind](*rest)))
        return
    dense = [kept(["dense", n], arguments.journal) for n in ROWS]
    thin = kept(["sparse", *SPARSE], arguments.journal)
    compared = [kept(["data", name], arguments.journal) for name in DATA if there(name)]
    text = page(dense, thin) + estimates(compared)
    if arguments.output:
        write(arguments.output, text)
    else:
        print(text, end="")


def kept(point: list[Any], journal: Path) -> dict[str, Any]:
    """Return a point from the journal, or measure it in a process of its own."""
    path = journal / f"{'-'.join(map(str, point))}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    command = [sys.executable, __file__, "--point", json.dumps(point)]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | dict.fromkeys(THREADS, "1"),
    )
    journal.mkdir(parents=True, exist_ok=True)
    write(path, done.stdout)
    print(done.stdout, file=sys.stderr, flush=True)
    return json.loads(done.stdout)


def dense_point(n: int) -> dict[str, Any]:
    from homi import HOMICV

    X, Y = rows(n)
    before = peak()
    bare = [bare_seconds(Y, n)]
    start = time.process_time()
    model = HOMICV().fit(X, Y)
    seconds = time.process_time() - start
    bare.append(bare_seconds(Y, n))
    return {
        "rows": n,
        "seconds": seconds,
        "bare": sum(bare) / 2,
        "peak": peak(),
        "before": before,
        "kernel": model.best_params_["kernel"],
        "groups": 1 if model.label_weight_ is None else len(set(model.label_weight_)),
    }


def rows(n: int) -> tuple[Any, Any]:
    """Rows with a hidden cause of 30 numbers, and rare labels of it."""
    rng = np.random.default_rng(0)
    X, Y = np.empty((n, FEATURES)), np.empty((n, LABELS), np.int8)
    A, C = rng.normal(size=(30, FEATURES)), rng.normal(size=(30, 60))
    W, cut = rng.normal(size=(60, LABELS)), rng.uniform(1.2, 3.0, LABELS)
    for first in range(0, n, BLOCK):
        part = slice(first, first + BLOCK)
        Z = rng.normal(size=(len(X[part]), 30))
        X[part] = np.tanh(0.3 * Z @ A) + 0.3 * rng.normal(size=(len(Z), FEATURES))
        S = np.cos(0.3 * Z @ C) @ W / 5 + 0.3 * rng.normal(size=(len(Z), LABELS))
        Y[part] = cut < S
    return X, Y


def bare_seconds(Y: Any, n: int, repeat: int = 4) -> float:
    """Seconds of XᵀX and XᵀY of n rows of features."""
    K = np.random.default_rng(0).random((BLOCK, LANDMARKS))
    y = Y[:BLOCK].astype(float)
    start = time.process_time()
    for _ in range(repeat):
        _ = K.T @ K, K.T @ y
    return (time.process_time() - start) / repeat * n / BLOCK


def sparse_point(n: int, m: int, n_labels: int, words: int) -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    from homi import HOMICV
    from homi.metrics import METRICS

    X, Y = text(n + n // 10, m, n_labels, words)
    train, test = slice(0, n), slice(n, None)
    others = OneVsRestClassifier(LogisticRegression(max_iter=1000))
    found: dict[str, Any] = {"rows": n, "features": m, "labels": n_labels}
    for name, model in (("HOMICV", HOMICV()), ("logistic", others)):
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[train], Y[train])
        found[name] = {"seconds": time.process_time() - start, "peak": peak()}
        scores = model.decision_function(X[test])
        for metric in ("ranking_loss", "macro_auc"):
            found[name][metric] = METRICS[metric](Y[test], scores)
        if name == "HOMICV":
            found["kernel"] = model.best_params_["kernel"]
    return found


def data_point(name: str) -> dict[str, Any]:
    """Time of fits to a data set, with and without trees, beside the estimates."""
    from homi import HOMICV
    from homi.datasets import load
    from homi.model.cost import Size, measure_rates, plan

    X, Y, *_ = load(name)
    stored = int(X.nnz if sparse.issparse(X) else X.size)
    size = Size(*X.shape, Y.shape[1], stored, int(Y.sum()))
    planned = plan(size, measure_rates())
    found: dict[str, Any] = {"name": name, "size": size, "planned": planned}
    for key, trees in (("plain", False), ("trees", "auto")):
        start = time.process_time()
        HOMICV(trees=trees).fit(X, Y)
        found[key] = time.process_time() - start
    return found


def there(name: str) -> bool:
    from homi.datasets.load import at_hand

    return bool(at_hand(name))


def estimates(compared: list[dict[str, Any]]) -> str:
    from homi.model.cost import Rates, Size, measure_rates, plan

    lines = [
        "\n## Estimates\n",
        "`homi doctor --plan FILE` counts operations and measures how long one takes "
        "on the machine at hand. Estimated and measured processor seconds of fits:\n",
        "| data | estimate | measured | estimate, with trees | measured |",
        "| --- | --- | --- | --- | --- |",
    ]
    for p in compared:
        _, plain, trees, _ = p["planned"]
        lines.append(
            f"| {p['name']} | {plain:.1f} | {p['plain']:.1f} | {trees:.1f} "
            f"| {p['trees']:.1f} |"
        )
    rates = Rates(*measure_rates())
    lines += [
        "\nEstimates for dense rows on the same machine, "
        f"{rates.product / 1e9:.0f} · 10⁹ operations per second in a product, and "
        "three labels per row.\n",
        "| rows | features | labels | `HOMICV(trees=False)`, s | `HOMICV()`, s "
        "| memory, GiB |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for n, m, n_labels in SIZES:
        found = plan(Size(n, m, n_labels, n * m, 3 * n), rates)
        trees = shown(found.seconds_with_trees)
        lines.append(
            f"| {n:,} | {m:,} | {n_labels:,} | {shown(found.seconds)} "
            f"| {trees} | {found.bytes / 2**30:.1f} |"
        )
    return "\n".join([*lines, ""])


def shown(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds < 100 else f"{seconds:,.0f}"


def text(n: int, m: int, n_labels: int, words: int) -> tuple[Any, Any]:
    """TF-IDF of words by Zipf's law, half of them from the topics of the labels."""
    from sklearn.feature_extraction.text import TfidfTransformer

    rng = np.random.default_rng(0)
    common = 1.0 / np.arange(1, m + 1)
    topics = common * rng.gamma(0.1, size=(n_labels, m))
    topics = np.cumsum(topics / topics.sum(axis=1, keepdims=True), axis=1)
    common = np.cumsum(common / common.sum())
    popular = np.arange(1, n_labels + 1) ** -0.7
    popular /= popular.sum()
    Y = np.zeros((n, n_labels), np.int8)
    places, counts = [], np.zeros(n + 1, np.int64)
    for i in range(n):
        labels = rng.choice(n_labels, rng.integers(1, 4), replace=False, p=popular)
        Y[i, labels] = 1
        share = words // 2 // len(labels)
        parts = [np.searchsorted(common, rng.random(words // 2))]
        parts += [np.searchsorted(topics[j], rng.random(share)) for j in labels]
        places.append(np.minimum(np.concatenate(parts), m - 1))
        counts[i + 1] = counts[i] + len(places[-1])
    data = np.ones(counts[-1])
    X = sparse.csr_array((data, np.concatenate(places), counts), shape=(n, m))
    X.sum_duplicates()
    return sparse.csr_array(TfidfTransformer().fit_transform(X)), Y


def peak() -> float:
    """Peak memory of this process in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def page(dense: list[dict[str, Any]], thin: dict[str, Any]) -> str:
    sizes, times = (np.log([p[key] for p in dense]) for key in ("rows", "seconds"))
    exponent = float(np.polyfit(sizes, times, 1)[0])
    lines = [
        "# HOMICV: time and memory against rows\n",
        "Written by `python benchmarks/scale_homicv.py`: `HOMICV()` on "
        f"{FEATURES} features and {LABELS} labels, processor time, one thread, one "
        f"process per line; Python {platform.python_version()}, numpy "
        f"{np.__version__}, scipy {scipy.__version__}. “Bare products” are XᵀX and XᵀY "
        f"of {LANDMARKS:,} features of as many rows. The peak is that of the process, "
        "with libraries and with X and Y as given; “fit” is the peak less what was "
        "taken before. Above 20,000 rows, [features are made in blocks]"
        "(../big_data.md#homicv).\n",
        "| rows | fit, s | bare products, s | ratio | peak, GiB | fit, GiB |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for p in dense:
        ratio = p["seconds"] / p["bare"]
        lines.append(
            f"| {p['rows']:,} | {p['seconds']:.1f} | {p['bare']:.1f} | {ratio:.2f} "
            f"| {p['peak']:.2f} | {p['peak'] - p['before']:.2f} |"
        )
    last = dense[-1]
    ratio = last["seconds"] / last["bare"]
    lines += [
        "",
        f"- At {last['rows']:,} rows, {ratio:.2f} times the bare products: "
        f"{verdict(ratio, GOALS['ratio'])}.",
        f"- Peak {last['peak']:.2f} GiB: {verdict(last['peak'], GOALS['peak'])}.",
        f"- Time grows with the power {exponent:.2f} of the rows: "
        f"{verdict(exponent, GOALS['exponent'])}.",
        "\n## Sparse text\n",
        f"{thin['rows']:,} rows of {thin['features']:,} features (TF-IDF of words by "
        f"Zipf's law) and {thin['labels']} labels; one-vs-rest "
        "`LogisticRegression(max_iter=1000)` on the same rows; ranking loss and macro "
        "AUC on a tenth as many other rows.\n",
        f"HOMICV chose {chosen(thin['kernel'])}.\n",
        "| | fit, s | peak, GiB | ranking loss | macro AUC |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name in ("HOMICV", "logistic"):
        p = thin[name]
        lines.append(
            f"| {name} | {p['seconds']:.1f} | {p['peak']:.2f} | "
            f"{p['ranking_loss']:.4f} | {p['macro_auc']:.4f} |"
        )
    ratio = thin["HOMICV"]["seconds"] / thin["logistic"]["seconds"]
    memory = thin["HOMICV"]["peak"]
    lines += [
        "",
        f"- {ratio:.2f} times logistic regression: {verdict(ratio, GOALS['sparse'])}.",
        f"- Peak {memory:.2f} GiB: {verdict(memory, GOALS['sparse peak'])}.",
        "",
    ]
    return "\n".join(lines)


def chosen(kernel: str | None) -> str:
    if kernel is None:
        return "a linear model, in 1,500 directions by random projections"
    return f"the kernel {kernel} with {LANDMARKS:,} landmarks"


def verdict(value: float, goal: float) -> str:
    return f"target of {goal:g} {'met' if value <= goal else 'MISS'}"


if __name__ == "__main__":
    main()
