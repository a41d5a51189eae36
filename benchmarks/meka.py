"""MEKA, and the MULAN that it wraps, beside homi: the same folds, times and quality.

Maven fetches MEKA by its coordinates into a build directory; nothing of it is
committed. MEKA reads the folds as ARFF files and prints its confidences. Results are
appended to results/meka.jsonl, so that a run that was stopped goes on where it was.
Without Java or Maven the script says so and measures nothing; it writes the page all
the same.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from homi import HOMICV
from homi.arrays import dense
from homi.benchmark.compute import processor
from homi.benchmark.protocols import Split, split
from homi.benchmark.tables import Entry, Table
from homi.datasets import Dataset, write
from homi.estimators import (
    HOMER,
    RAKEL,
    BinaryRelevance,
    CalibratedLabelRanking,
    ClassifierChain,
    EnsembleOfChains,
    LabelPowerset,
    MLkNN,
)
from homi.metrics import macro_auc, micro_f1, ranking_loss

VERSION = "1.9.7"
DATASETS = ("emotions", "birds", "Water-quality", "yeast", "scene")
#: Processor seconds that a run of MEKA may take.
LIMIT = 1200

POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>homi</groupId><artifactId>meka-beside-homi</artifactId><version>1</version>
<dependencies><dependency>
<groupId>net.sf.meka</groupId><artifactId>meka</artifactId><version>{VERSION}</version>
</dependency></dependencies></project>
"""

TREE, MACHINE = "weka.classifiers.trees.J48", "weka.classifiers.functions.SMO"
#: C = 1 of homi is a ridge of 1/2: Weka does not halve the squared norm.
LOGISTIC = "weka.classifiers.functions.Logistic -- -R"
ML = "meka.classifiers.multilabel"


class Machine(SVC):
    """A linear support vector machine with probabilities of 0 and 1, as those of SMO.

    Of more than two classes, there is a machine for each pair, and they vote.
    """

    def predict_proba(self, X: Any) -> Any:
        return (self.predict(X)[:, None] == self.classes_).astype(float)


def machine() -> Any:
    """Return SMO: features from 0 to 1, C = 1."""
    return make_pipeline(MinMaxScaler(), Machine(kernel="linear", C=1.0))


def tree() -> DecisionTreeClassifier:
    """Return what is nearest to J48: entropy, two rows in a leaf."""
    return DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=2, random_state=0
    )


class Pair(NamedTuple):
    """A method of MEKA, what is nearest to it in homi, and how they differ."""

    meka: str
    ours: Callable[[], Any] | None
    note: str
    #: What should be equal, because both fit the same model.
    same: Literal["scores", "votes", "labels"] | None = None
    #: Whether homi gets dense rows, because scaling to 0 and 1 needs them.
    is_dense: bool = False


PAIRS = {
    "BR, logistic": Pair(
        f"{ML}.BR -W {LOGISTIC} 0.5",
        lambda: BinaryRelevance(loss="log"),
        "the same model",
        same="scores",
    ),
    "BR, J48": Pair(
        f"{ML}.BR -W {TREE}",
        lambda: BinaryRelevance(tree(), standardize=False),
        "J48 prunes its trees, those of scikit-learn are not pruned",
    ),
    "BR, SMO": Pair(
        f"{ML}.BR -W {MACHINE}",
        lambda: BinaryRelevance(machine(), standardize=False),
        "the same model",
        same="scores",
        is_dense=True,
    ),
    "CC, logistic": Pair(
        f"{ML}.CC -W {LOGISTIC} 0.5",
        lambda: ClassifierChain(loss="log", order=None),
        "MEKA gives 0 or 1, homi probabilities; Weka scales the labels that are "
        "features to unit variance, homi does not",
        same="labels",
    ),
    "CC, J48": Pair(
        f"{ML}.CC -W {TREE}",
        lambda: ClassifierChain(tree(), order=None, standardize=False),
        "as BR, J48",
    ),
    "CC, SMO": Pair(
        f"{ML}.CC -W {MACHINE}",
        lambda: ClassifierChain(machine(), order=None, standardize=False),
        "the same model",
        same="labels",
        is_dense=True,
    ),
    "ECC of 10, logistic": Pair(
        f"{ML}.meta.BaggingML -I 10 -P 100 -W {ML}.CC -- -W {LOGISTIC} 0.5",
        lambda: EnsembleOfChains(n_chains=10, loss="log"),
        "random orders and rows; MEKA averages votes, homi probabilities",
    ),
    "ECC of 10, J48": Pair(
        f"{ML}.meta.BaggingML -I 10 -P 100 -W {ML}.CC -- -W {TREE}",
        lambda: EnsembleOfChains(tree(), n_chains=10, standardize=False),
        "as ECC, logistic; trees as BR, J48",
    ),
    "ECC of 10, SMO": Pair(
        f"{ML}.meta.BaggingML -I 10 -P 100 -W {ML}.CC -- -W {MACHINE}",
        lambda: EnsembleOfChains(machine(), n_chains=10, standardize=False),
        "random orders and rows; both average votes",
        is_dense=True,
    ),
    "RAkEL, 10 sets of 3, J48": Pair(
        f"{ML}.RAkEL -k 3 -M 10 -W {TREE}",
        lambda: RAKEL(tree(), labelset_size=3, n_labelsets=10, standardize=False),
        "random label sets, of which MEKA may draw one twice or leave labels out; MEKA "
        "predicts a label with one vote, homi with more than half; trees as BR, J48",
    ),
    "RAkEL, 10 sets of 3, SMO": Pair(
        f"{ML}.RAkEL -k 3 -M 10 -W {MACHINE}",
        lambda: RAKEL(machine(), labelset_size=3, n_labelsets=10, standardize=False),
        "as RAkEL, J48; machines as BR, SMO",
        is_dense=True,
    ),
    "CLR, logistic": Pair(
        f"{ML}.MULAN -S CLR -W {LOGISTIC} 16.667",
        lambda: CalibratedLabelRanking(C=0.03),
        "Weka scales features anew for the rows of each pair of labels, homi once for "
        "all rows; homi subtracts the votes of the virtual label, MEKA does not",
        same="votes",
    ),
    "ML-kNN, k = 10": Pair(
        f"{ML}.MULAN -S MLkNN",
        lambda: make_pipeline(MinMaxScaler(), MLkNN(10)),
        "the same model; rows at equal distances may differ",
        same="scores",
        is_dense=True,
    ),
    "HOMER, 3 children, J48": Pair(
        f"{ML}.MULAN -S HOMER.BalancedClustering.3.BR -W {TREE}",
        lambda: HOMER(BinaryRelevance(tree(), standardize=False), n_children=3),
        "random clusters; trees as BR, J48",
    ),
    "HOMER, 3 children, SMO": Pair(
        f"{ML}.MULAN -S HOMER.BalancedClustering.3.BR -W {MACHINE}",
        lambda: HOMER(BinaryRelevance(machine(), standardize=False), n_children=3),
        "random clusters; why MULAN is near or below chance here is not known",
        is_dense=True,
    ),
    "EPS of 10, J48": Pair(
        f"{ML}.meta.BaggingML -I 10 -P 67 -W {ML}.PS -- -P 1 -N 1 -W {TREE}",
        None,
        "homi prunes label sets (below) and has no ensemble of them",
    ),
    "EPS of 10, SMO": Pair(
        f"{ML}.meta.BaggingML -I 10 -P 67 -W {ML}.PS -- -P 1 -N 1 -W {MACHINE}",
        None,
        "as EPS of 10, J48",
    ),
    "PS, J48": Pair(
        f"{ML}.PS -P 1 -W {TREE}",
        lambda: LabelPowerset(tree(), min_rows=2, standardize=False),
        "trees as BR, J48",
    ),
    "PS, SMO": Pair(
        f"{ML}.PS -P 1 -W {MACHINE}",
        lambda: LabelPowerset(machine(), min_rows=2, standardize=False),
        "the same model; votes may tie",
        same="labels",
        is_dense=True,
    ),
    "HOMICV": Pair("", HOMICV, "the model that homi recommends"),
}

#: A run of MEKA that learns nothing: the time of the virtual machine and of the files.
NOTHING = f"{ML}.MajorityLabelset"


def main() -> None:
    arguments = parse()
    journal = arguments.results
    done = [json.loads(line) for line in journal.open()] if journal.exists() else []
    lacking = [name for name in ("java", "mvn") if shutil.which(name) is None]
    if lacking:
        print(f"skipped: {' and '.join(lacking)} not installed", file=sys.stderr)
    else:
        run(arguments, journal, done)
    if done:
        arguments.output.write_text(page(done), encoding="utf-8")


def run(arguments: argparse.Namespace, journal: Path, done: list[Any]) -> None:
    """Measure what is not done, and append it to the journal and to ``done``."""
    jars, machine = fetched(arguments.build), made_with()
    keys = {tuple(r["key"]) for r in done}
    for fold in range(arguments.folds):
        for dataset in arguments.datasets:
            todo = [n for n in PAIRS if (dataset, fold, n) not in keys]
            if not todo:
                continue
            for record in measured(dataset, fold, todo, jars):
                record["made_with"] = machine
                done.append(record)
                with journal.open("a") as out:
                    out.write(json.dumps(record) + "\n")
                print(record["key"], record["meka"], record["ours"], flush=True)


def made_with() -> str:
    """Name the processor and the versions."""
    version = subprocess.run(["java", "-version"], capture_output=True, text=True)
    return (
        f"{processor()}; {version.stderr.splitlines()[0]}; Python "
        f"{platform.python_version()}, numpy {np.__version__}, scikit-learn "
        f"{sklearn.__version__}"
    )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--folds", type=int, default=3, help="of the five, to run")
    parser.add_argument("--build", type=Path, default=Path("build/meka"))
    results, output = Path("results/meka.jsonl"), Path("docs/measured/meka.md")
    parser.add_argument("--results", type=Path, default=results)
    parser.add_argument("--output", type=Path, default=output)
    return parser.parse_args()


def fetched(build: Path) -> Path:
    """Return the directory of MEKA's jars, fetched by Maven if it is not there."""
    jars = build / "lib"
    if not (jars / f"meka-{VERSION}.jar").exists():
        build.mkdir(parents=True, exist_ok=True)
        (build / "pom.xml").write_text(POM, encoding="utf-8")
        command = ["mvn", "-q", "-B", "dependency:copy-dependencies"]
        where = f"-DoutputDirectory={jars.absolute()}"
        subprocess.run([*command, where], cwd=build, check=True)
    return jars


def measured(dataset: str, fold: int, names: list[str], jars: Path) -> Any:
    given = split("clean", dataset, fold, 5)
    with tempfile.TemporaryDirectory() as place:
        files = [Path(place) / "train.arff", Path(place) / "test.arff"]
        for path, rows in zip(files, (given.train, given.test), strict=True):
            # MEKA needs no names, and some are not to its taste.
            features = [f"f{j}" for j in range(rows.X.shape[1])]
            labels = [f"y{j}" for j in range(rows.Y.shape[1])]
            write(Dataset(rows.X, rows.Y, features, labels), path)
        start, _ = java(NOTHING, files, jars, given.test.Y)
        for name in names:
            pair = PAIRS[name]
            theirs = scores = None
            if pair.meka:
                theirs, scores = of_meka(pair.meka, files, jars, given, start or 0.0)
            ours, own = of_homi(pair, given)
            gap = None
            if scores is not None and own is not None and pair.same:
                gap = alike(scores, own, pair.same)
            key = [dataset, fold, name]
            yield {"key": key, "meka": theirs, "ours": ours, "equal": gap}


def alike(theirs: Any, ours: Any, what: str) -> float:
    """Return the share of equal labels, or of scores that differ by less than 0.002.

    Of votes, those of the virtual label are a term that all labels of a row share.
    """
    if what == "labels":
        return float(np.mean((theirs > 0.5) == (ours > 0.5)))
    if what == "votes":
        theirs, ours = (S - S.mean(axis=1, keepdims=True) for S in (theirs, 2 * ours))
    return float(np.mean(np.abs(theirs - ours) < 0.002))


def of_meka(
    command: str, files: list[Path], jars: Path, given: Split, start: float
) -> tuple[Any, Any]:
    """Return seconds less those of a run that learns nothing, quality, and scores."""
    seconds, scores = java(command, files, jars, given.test.Y)
    if seconds is None:
        return None, None
    found = quality(given.test.Y, scores, scores > 0.5)
    return [max(seconds - start, 0.0), *found], scores


def java(
    command: str, files: list[Path], jars: Path, Y: Any
) -> tuple[float | None, Any]:
    """Return processor seconds and confidences; None for a run over the limit."""
    options = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4", "-Xmx4g"]
    name, _, rest = command.partition(" ")
    known = ["-t", str(files[0]), "-T", str(files[1]), "-threshold", "0.5"]
    known += ["-verbosity", "8"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        ["java", *options, "-cp", f"{jars}/*", name, *known, *rest.split()],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode < 0 or done.returncode > 128:
        return None, None
    lines = re.findall(r"^\|\s*\d+ \[([01 ]+)\] \[([^\]]+)\]", done.stdout, re.M)
    if len(lines) != len(Y):
        raise RuntimeError(f"{command}: {done.stderr[-500:]}{done.stdout[-500:]}")
    truth = np.array([line[0].split() for line in lines])
    scores = np.array([line[1].split() for line in lines])
    if not np.array_equal(truth.astype(int), Y):
        raise RuntimeError(f"{command}: MEKA has other rows or labels")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, scores.astype(float)


def of_homi(pair: Pair, given: Split) -> tuple[Any, Any]:
    if pair.ours is None:
        return None, None
    X, new = given.train.X, given.test.X
    if pair.is_dense:
        X, new = dense(X), dense(new)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # SciPy and others are loaded by the first fit.
        pair.ours().fit(dense(X[:60]), given.train.Y[:60])
        started = time.process_time()
        model = pair.ours().fit(X, given.train.Y)
        P = np.asarray(model.predict_proba(new))
        seconds = time.process_time() - started
        labels = np.asarray(model.predict(new))
    return [seconds, *quality(given.test.Y, P, labels)], P


def quality(Y: Any, scores: Any, labels: Any) -> list[float]:
    auc = macro_auc(Y, scores, ties="half")
    return [ranking_loss(Y, scores), auc, micro_f1(Y, labels)]


def page(done: list[Any]) -> str:
    parts = [
        "# Beside MEKA\n\n"
        f"Written by `python benchmarks/meka.py`: MEKA {VERSION}, with the MULAN that "
        "it wraps, and the nearest method of homi, on the same folds of the clean "
        "protocol, both with one thread; labels by each one's own rule, in MEKA a "
        "threshold of 0.5. Processor seconds of fit and prediction; those of MEKA are "
        "less a run that learns nothing, that is without the start of the virtual "
        "machine and the reading of files. "
        "MEKA prints three digits of its confidences, so more labels are tied. "
        f"{'. '.join(dict.fromkeys(r['made_with'] for r in done))}.\n",
    ]
    columns = ("seconds", "ranking loss", "macro AUC", "micro F1")
    for dataset in dict.fromkeys(r["key"][0] for r in done):
        here = [r for r in done if r["key"][0] == dataset]
        counts = Counter(r["key"][1] for r in here)
        whole = [fold for fold in counts if counts[fold] == len(PAIRS)]
        # Folds that are under way wait until another one is complete.
        here = [r for r in here if not whole or r["key"][1] in whole]
        n_folds = len(whole) or len(counts)
        rows = [row(name, [r for r in here if r["key"][2] == name]) for name in PAIRS]
        head = ("method", *(f"{c}, {who}" for c in columns for who in ("MEKA", "homi")))
        caption = f"## {dataset}\n\nMeans of {n_folds} of 5 folds"
        parts.append(Table(caption, (*head, "alike"), tuple(rows)).markdown())
    notes = (f"- {name}: {pair.note}." for name, pair in PAIRS.items())
    parts.append("## What differs\n\n" + "\n".join(notes) + "\n")
    parts.append(
        '"Alike" is the share of scores that differ by less than 0.002, where both fit '
        "the same model; of chains and pruned sets, whose scores are 0 or 1 in MEKA, "
        "the share of equal labels; of CLR, the share of votes that are equal.\n"
    )
    return "\n".join(parts)


def row(name: str, found: list[Any]) -> tuple[Entry, ...]:
    entries = [Entry(name)]
    for k in range(4):
        for who in ("meka", "ours"):
            values = [r[who][k] for r in found if r[who] is not None]
            form = "{:.3g}" if k == 0 else "{:.4f}"
            whole = values and len(values) == len(found)
            text = form.format(np.mean(values)) if whole else _why(found, who)
            entries.append(Entry(text))
    equal = [r["equal"] for r in found if r["equal"] is not None]
    return (*entries, Entry(f"{np.mean(equal):.3f}" if equal else ""))


def _why(found: list[Any], who: str) -> str:
    if not found:
        return "not run"
    name = found[0]["key"][2]
    has = PAIRS[name].meka if who == "meka" else PAIRS[name].ours
    return "over the limit" if has else "–"


if __name__ == "__main__":
    main()
