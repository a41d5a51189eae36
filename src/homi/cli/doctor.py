"""`homi doctor`: check the installation."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import homi
from homi.cli.options import FORMATS, AsJson, ColumnChoice, Quiet, Recipe
from homi.cli.terminal import print_json
from homi.extras import DISTRIBUTION, install

if TYPE_CHECKING:
    from homi.typing import Fields, Matrix

_CORE = ("numpy", "scipy", "scikit-learn", "threadpoolctl", "joblib", "safetensors")

#: Package -> the extra that installs it, and what it is for.
_OPTIONAL = {
    "faiss-cpu": ("faiss", "approximate neighbors and anchors, for many rows"),
    "onnx": ("onnx", "homi export --onnx"),
    "onnxruntime": ("onnx", "running exported models"),
    "pyarrow": ("data", "Parquet files, and CSV files in less time"),
    "liac-arff": ("data", "ARFF files"),
    "pooch": ("data", "downloads of data sets"),
    "river": ("data", "the yeast data set without a download"),
    "matplotlib": ("plot", "pictures"),
    "dask": ("dask", "homi bench on a cluster"),
    "tokenizers": ("sentences", "sentence embeddings of texts"),
}


def doctor(
    choice: ColumnChoice,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan", help=f"Estimate time and memory of a fit to a file: {FORMATS}."
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Check the installation: versions, BLAS, threads, extras, data, a self-test.

    The exit code is 1 if the self-test fails: fit, predict, save and load a model.
    With --plan, estimate instead how long HOMICV takes to fit a file, and its memory.

    Example: homi doctor --plan songs.csv --labels 'tag_*'

    Texts: homi doctor --plan posts.csv --text body --tags tags
    """
    if plan is not None:
        estimate = _plan(plan, choice)
        if as_json:
            print_json(estimate)
        else:
            typer.echo(_plan_summary(estimate))
        return
    if choice != ColumnChoice():
        raise ValueError("options of columns need --plan, with the file that has them.")
    facts: Fields = {
        "homi": homi.__version__,
        "python": platform.python_version(),
        "conflict": _conflict(),
        "system": platform.platform(terse=True),
        "packages": {name: _version(name) for name in _CORE},
        "blas": _blas(),
        "cores": os.cpu_count(),
        "optional": {
            name: {"version": _version(name), "extra": extra, "for": use}
            for name, (extra, use) in _OPTIONAL.items()
        },
        "data": _data(),
        "self_test": _self_test(),
    }
    if as_json:
        print_json(facts)
    elif not quiet:
        typer.echo(_summary(facts))
    if problem := facts["self_test"]["problem"]:
        raise ValueError(problem)


def _conflict() -> str | None:
    """Say that a distribution named homi shares our package directory."""
    if (other := _version("homi")) is None:
        return None
    return (
        f"the distribution homi {other} is installed beside {DISTRIBUTION}, and both "
        "write the package homi; homi on the package index is another project. Remove "
        "it and repair ours with: pip uninstall -y homi && pip install "
        f"--force-reinstall --no-deps {DISTRIBUTION}"
    )


def _plan(path: Path, choice: ColumnChoice) -> Fields:
    """Return sizes of a file, and the estimated cost of a fit."""
    from homi.cli.recipe import size_of
    from homi.cli.source import read_rows
    from homi.model.cost import measure_rates
    from homi.model.cost import plan as planned

    size = size_of(Recipe(), read_rows(path, choice))
    return size._asdict() | planned(size, measure_rates())._asdict()


def _plan_summary(estimate: Fields) -> str:
    return (
        f"{estimate['rows']:,} rows, {estimate['features']:,} features, "
        f"{estimate['labels']:,} labels, {estimate['stored']:,} values\n"
        f"Route: {estimate['route']}\n"
        f"HOMICV(trees=False): about {estimate['seconds']:.2g} s of one processor\n"
        f"HOMICV(): about {estimate['seconds_with_trees']:.2g} s\n"
        f"Memory: about {estimate['bytes'] / 2**30:.2g} GiB"
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _blas() -> list[Fields]:
    import threadpoolctl

    return [
        {key: found.get(key) for key in ("user_api", "internal_api", "version")}
        | {"threads": found["num_threads"]}
        for found in threadpoolctl.threadpool_info()
    ]


def _data() -> Fields:
    from homi.datasets.cache import cache_directory
    from homi.datasets.load import at_hand
    from homi.datasets.registry import registry

    directory = os.environ.get("HOMI_DATA")
    there = directory is not None and Path(directory).expanduser().is_dir()
    names = [name for name, entry in registry().items() if at_hand(entry)]
    return {
        "directory": directory,
        "directory_exists": there,
        "cache": str(cache_directory()),
        "at_hand": names,
        "known": len(registry()),
    }


def _self_test() -> Fields:
    """Fit, save, load and predict, on data whose answer is known."""
    import numpy as np

    started, problem = time.perf_counter(), None
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    Y = (X[:, :3] > 0).astype(int)
    try:
        model = homi.HOMI(n_neighbors=3).fit(X, Y)
        wrong = float(np.mean(model.predict(X) != Y))
        if wrong > 0.2:
            problem = f"a fit to simple data has {wrong:.0%} of its labels wrong"
        elif not _survives(model, X):
            problem = "a saved model predicts something else than before"
    except Exception as error:
        problem = f"{type(error).__name__}: {' '.join(str(error).split())}"
    advice = f"; reinstall it with: pip install --force-reinstall {DISTRIBUTION}"
    return {
        "seconds": round(time.perf_counter() - started, 3),
        "problem": problem and f"the self-test failed: {problem}{advice}",
    }


def _survives(model: Any, X: Matrix) -> bool:
    import numpy as np

    from homi.io import load_model, save

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.homi"
        save(model, path)
        loaded = load_model(path)
    return np.array_equal(loaded.decision_function(X), model.decision_function(X))


def _summary(facts: Fields) -> str:
    packages = facts["packages"]
    lines = [f"homi {facts['homi']}, Python {facts['python']}, {facts['system']}"]
    if facts["conflict"]:
        lines.append(f"Warning: {facts['conflict']}")
    lines += [f"  {name} {found or 'MISSING'}" for name, found in packages.items()]
    for blas in facts["blas"]:
        lines.append(
            f"  {blas['internal_api']} {blas['version'] or ''} ({blas['user_api']}): "
            f"{blas['threads']} thread(s) of {facts['cores']} cores"
        )
    lines.append("Extras:")
    for name, found in facts["optional"].items():
        lines.append(f"  {name} {_extra(found)}")
    data = facts["data"]
    lines.append(f"Data: HOMI_DATA is {data['directory'] or 'not set'}")
    lines.append(f"  cache {data['cache']}")
    lines.append(f"  {len(data['at_hand'])} of {data['known']} data sets at hand")
    test = facts["self_test"]
    lines.append(
        f"Self-test: {'FAILED' if test['problem'] else 'passed'} in {test['seconds']} s"
    )
    return "\n".join(lines)


def _extra(found: dict[str, str | None]) -> str:
    if found["version"]:
        return f"{found['version']}: {found['for']}"
    return f"is not installed: {found['for']}; {install(str(found['extra']))}"
