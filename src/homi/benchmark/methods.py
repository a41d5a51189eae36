"""HOMI and the ten methods that the paper compares with, by their printed names."""

from __future__ import annotations

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


def marked(method: str) -> str:
    """A method's name in a table: † for one whose equations are a reconstruction."""
    return f"{method}†" if METHODS[method].reconstruction else method
