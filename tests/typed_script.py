"""A user's script, which ``make types`` checks by ``mypy --strict``; nothing runs it.

Each line of ``wrong_arguments`` must be an error: mypy reports an unused ignore.
"""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from homi import HOMI, HOMICV
from homi.datasets import load
from homi.estimators import (
    BILAS,
    CLML,
    GLOCAL,
    HOMER,
    LEML,
    LFLC,
    LIFT,
    MLLRC,
    MLSF,
    RAKEL,
    WRAP,
    BinaryRelevance,
    CalibratedLabelRanking,
    ClassifierChain,
    EnsembleOfChains,
    LabelPowerset,
    LabelSpacePartition,
    MLkNN,
    MultiLabelClassifier,
)
from homi.io import load_model, save
from homi.metrics import evaluate, hamming_loss, scorers
from homi.thresholds import (
    TunedThresholds,
    expected_calibration_error,
    reliability_curve,
)


def right_arguments() -> None:
    data = load("emotions")
    X, Y = np.asarray(data.X), np.asarray(data.Y)

    classifiers: list[MultiLabelClassifier] = [
        BILAS(0.2, C=1.0),
        CLML(threshold="accuracy"),
        GLOCAL(n_latent=5),
        HOMI(0.5, n_neighbors=5, kernel="rbf"),
        HOMICV(scoring="ranking_loss", kernels=(), time_budget=10.0),
        LFLC(1.0, eta=0.0),
        LIFT(0.1, n_jobs=-1),
        MLLRC(1.0, 2.0),
        MLSF(random_state=None),
        RAKEL(labelset_size=3),
        HOMER(n_children=4),
        LEML(5, 1.0),
        LabelPowerset(min_rows=2),
        LabelSpacePartition(resolution=1.5),
        WRAP(5, fit_intercept=False),
        BinaryRelevance(loss="log"),
        CalibratedLabelRanking(votes="soft"),
        ClassifierChain(order=[1, 0]),
        EnsembleOfChains(threshold="pcut"),
        MLkNN(5, smoothing=0.5),
    ]
    for classifier in classifiers:
        assert_type(classifier.fit(X, Y), MultiLabelClassifier)
        assert_type(classifier.decision_function(X), NDArray[np.float64])
        assert_type(classifier.ranking_scores(X), NDArray[np.float64])
        assert_type(classifier.predict_proba(X), NDArray[np.float64])
        labels = classifier.predict(X)
        values = evaluate(Y, classifier.ranking_scores(X), labels)
        assert_type(values, dict[str, float])

    assert_type(MLkNN(3).fit([[0.0], [1.0]], [[0, 1], [1, 0]]), MLkNN)
    assert_type(MLkNN(3).fit([[0.0], [1.0]], ["a", "b"]), MLkNN)
    assert_type(HOMI().fit(X, Y, sample_weight=np.ones(len(X))), HOMI)
    assert_type(HOMI(graph="anchors").partial_fit(X, Y), HOMI)
    assert_type(HOMICV().fit(X, Y), HOMICV)

    tuned = TunedThresholds(BinaryRelevance(), objective="macro_f1", cv=3).fit(X, Y)
    assert_type(tuned, TunedThresholds)
    assert_type(tuned.predict_proba(X), NDArray[np.float64])
    print(hamming_loss(Y, tuned.predict(X)), tuned.thresholds_.mean(), scorers())
    print(expected_calibration_error(Y, tuned.predict_proba(X)))
    print(reliability_curve(Y, tuned.predict_proba(X)).frequency)

    save(tuned, "model.homi")
    again = load_model("model.homi")
    print(again.predict(X))


def wrong_arguments() -> None:
    MLkNN(n_neighbors="ten")  # type: ignore[arg-type]
    RAKEL(overlaps=True)  # type: ignore[call-arg]
    MLkNN().fit([[0.0], [1.0]])  # type: ignore[call-arg]
    HOMI(graph="exat")  # type: ignore[arg-type]
