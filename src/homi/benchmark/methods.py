"""Registry of methods, by name.

A name may carry settings: ``"HOMI gamma=0"`` is HOMI without its graph. A variant of
a method is a method of its own, with its own results.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from homi.benchmark.ablations import StepWise, WithoutLabels
from homi.benchmark.baselines import (
    Logistic,
    NystroemRidge,
    RandomForest,
    Ridge,
    TunedLogistic,
    TunedNystroemRidge,
    TunedRidge,
)
from homi.benchmark.homicv_variants import BestHOMI
from homi.benchmark.rival_distances import DistancesRival
from homi.benchmark.rival_environments import (
    AutoGluonRival,
    BoomerRival,
    XRFMRival,
)
from homi.benchmark.rival_trees import (
    CatBoostRival,
    ExtraTreesRival,
    ForestRival,
    LightGBMRival,
    XGBoostRival,
)
from homi.benchmark.rivals import (
    ChainsRival,
    HOMICVRival,
    LinearSVMRival,
    LogisticRival,
    MLkNNRival,
    NetworkRival,
    NystroemRival,
    PaperRival,
    PowersetRival,
    RBFSVMRival,
    RidgeRival,
    TreeChainsRival,
)
from homi.benchmark.values import plain_value
from homi.estimators import (
    BILAS,
    CLML,
    GLOCAL,
    HOMI,
    LFLC,
    MLLRC,
    MLSF,
    WRAP,
    BinaryRelevance,
    EnsembleOfChains,
    MLkNN,
    MultiLabelClassifier,
)
from homi.typing import Fields

#: In the order of the paper's tables, HOMI last.
METHODS: dict[str, type[MultiLabelClassifier]] = {
    "ECC": EnsembleOfChains,
    "BR": BinaryRelevance,
    "ML-KNN": MLkNN,
    "WRAP": WRAP,
    "MLSF": MLSF,
    "LFLC": LFLC,
    "BILAS": BILAS,
    "GLOCAL": GLOCAL,
    "ML-LRC": MLLRC,
    "CLML": CLML,
    "HOMI": HOMI,
}

#: Standard classifiers.
BASELINES: dict[str, type[MultiLabelClassifier]] = {
    "ridge": Ridge,
    "nystroem-ridge": NystroemRidge,
    "random-forest": RandomForest,
    "logistic": Logistic,
}

#: HOMI with one part removed.
ABLATIONS: dict[str, type[MultiLabelClassifier]] = {
    "HOMI-without-B": WithoutLabels,
    "HOMI-step-wise": StepWise,
}

#: HOMICV, and standard classifiers with tuned hyperparameters.
BEST: dict[str, type[MultiLabelClassifier]] = {
    "HOMICV": BestHOMI,
    "tuned-ridge": TunedRidge,
    "tuned-nystroem-ridge": TunedNystroemRidge,
    "tuned-logistic": TunedLogistic,
}

#: Entries of the arena, each tuned inside the training fold.
ARENA: dict[str, type[MultiLabelClassifier]] = {
    "arena-homicv": HOMICVRival,
    "arena-homi": PaperRival,
    "arena-logistic": LogisticRival,
    "arena-ridge": RidgeRival,
    "arena-nystroem": NystroemRival,
    "arena-linear-svm": LinearSVMRival,
    "arena-rbf-svm": RBFSVMRival,
    "arena-ml-knn": MLkNNRival,
    "arena-network": NetworkRival,
    "arena-forest": ForestRival,
    "arena-extra-trees": ExtraTreesRival,
    "arena-lightgbm": LightGBMRival,
    "arena-xgboost": XGBoostRival,
    "arena-catboost": CatBoostRival,
    "arena-ecc-logistic": ChainsRival,
    "arena-ecc-trees": TreeChainsRival,
    "arena-powerset-forest": PowersetRival,
    "arena-ml-mlm": DistancesRival,
    "arena-boomer": BoomerRival,
    "arena-xrfm": XRFMRival,
    "arena-autogluon": AutoGluonRival,
}

EVERYTHING = METHODS | BASELINES | ABLATIONS | BEST | ARENA

#: HOMI without its graph needs no class of its own.
WITHOUT_GRAPH = "HOMI gamma=0"


class Variant(NamedTuple):
    """A method, and the parameters that its name sets."""

    base: str
    settings: Fields


def variant(name: str) -> Variant:
    """Read a name such as ``"HOMI beta=0.5"``.

    Examples
    --------
    >>> variant("HOMI beta=0.5 n_neighbors=2")
    Variant(base='HOMI', settings={'beta': 0.5, 'n_neighbors': 2})
    """
    if len(name) > 200 or not name.isprintable() or "/" in name or "\\" in name:
        raise ValueError(
            f"the method {name[:60]!r} cannot be the name of a directory of results; "
            "give a name of at most 200 characters, without slashes."
        )
    base, *words = name.split(" ")
    return Variant(base, dict(_setting(name, word) for word in words))


def _setting(name: str, word: str) -> tuple[str, Any]:
    key, equals, value = word.partition("=")
    try:
        if key.isidentifier() and equals:
            return key, plain_value(key, json.loads(value))
    except ValueError:
        pass
    raise ValueError(
        f"{word!r} in the method {name!r} is not a setting; write parameter=value, the "
        "value as in JSON, and one space before it."
    )


def with_settings(base: str, **settings: Any) -> str:
    """Return the name of a variant.

    Examples
    --------
    >>> with_settings("HOMI", beta=0.5)
    'HOMI beta=0.5'
    """
    words = (f"{key}={json.dumps(value)}" for key, value in settings.items())
    return " ".join([base, *words])


def marked(method: str) -> str:
    """Return a method's name for a table, with † if it is a reconstruction."""
    return f"{method}†" if EVERYTHING[method].reconstruction else method
