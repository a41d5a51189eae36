"""Optional packages: which extra installs each, and the error if one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

#: Name of the distribution; the import name and the command are ``homi``.
DISTRIBUTION = "homi-learn"

#: Import name of an optional package -> the extra that installs it.
EXTRAS = {
    "anywidget": "notebook",
    "arff": "data",
    "catboost": "arena",
    "dask": "dask",
    "defusedxml": "data",
    "distributed": "dask",
    "faiss": "faiss",
    "lightgbm": "arena",
    "matplotlib": "plot",
    "networkx": "explorer",
    "onnx": "onnx",
    "onnxruntime": "onnx",
    "pandas": "data",
    "pooch": "data",
    "pyarrow": "data",
    "requests": "data",
    "river": "data",
    "scikit_posthocs": "bench",
    "tokenizers": "sentences",
    "xgboost": "arena",
}


@contextmanager
def optional(what: str, extra: str | None = None) -> Iterator[None]:
    """Name the extra to install if an import inside the block fails.

    Parameters
    ----------
    what : str
        What needs the package, the subject of the message.
    extra : str, optional
        Extra to name, also for an error that names another one. Default: the one of
        `EXTRAS`; a package that no extra installs has its error raised as it is.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        is_told = extra is None and "pip install" in str(error)
        if package not in EXTRAS or is_told:
            raise
        raise ModuleNotFoundError(
            f"{what} needs the package {package}, which is not installed; install it "
            f"with: {install(extra or EXTRAS[package])}",
            name=error.name,
        ) from error


def install(extra: str) -> str:
    """Return the command that installs an extra.

    Examples
    --------
    >>> install("plot")
    "pip install 'homi-learn[plot]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"
