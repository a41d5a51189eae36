"""`homi data`: list, describe, fetch, add and check data sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TransferSpeedColumn,
)

from homi.cli.command import command
from homi.cli.errors import print_error
from homi.cli.options import AsJson

if TYPE_CHECKING:
    from homi.datasets.dataset import Dataset
    from homi.datasets.load import Found
    from homi.datasets.registry import Entry

data_app = typer.Typer(
    help="Data sets: list, describe, fetch, add and check them.\n\n"
    "Example: homi data list",
    no_args_is_help=True,
    add_completion=False,
)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="Data sets; case does not matter."),
]
Name = Annotated[str, typer.Argument(help="A data set; case does not matter.")]
Directory = Annotated[
    Path | None,
    typer.Option(help="Directory to search first. Default: $HOMI_DATA."),
]


@command(data_app, "list")
def list_(
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """List the known data sets, their size, and where they are.

    n samples, m features, l labels. "here" says where a copy is: in the directory, the
    cache or an installed package. "-" means that the first load downloads it.

    Example: homi data list --json
    """
    from homi.datasets.registry import registry

    rows = [_row(entry, directory) for entry in registry().values()]
    rows.append(_functions_row())
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    header = ["name", "n", "m", "l", "here", "where"]
    cells = [[_cell(row[key]) for key in header] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    for line in [header, *cells]:
        name, *numbers, here, where = line
        left = [name.ljust(widths[0])]
        left += [n.rjust(w) for n, w in zip(numbers, widths[1:4], strict=True)]
        typer.echo("  ".join([*left, here.ljust(widths[4]), where]).rstrip())


@command(data_app)
def info(name: Name, directory: Directory = None) -> None:
    """Describe a data set: size, source, checksum, notes, citation.

    If a copy is here, also statistics of its labels. Nothing is downloaded.

    Example: homi data info emotions
    """
    from homi.datasets.load import at_hand, load
    from homi.datasets.python_functions import NAME as PYTHON_FUNCTIONS
    from homi.datasets.registry import require

    if name.casefold() == PYTHON_FUNCTIONS:
        typer.echo(_about_functions())
        return
    entry = require(name)
    found = at_hand(entry, directory)
    typer.echo(_facts(entry, found))
    if found is None:
        if entry.sources:
            typer.echo(f"\nFor statistics, run homi data fetch {entry.name} first.")
        return
    from homi.datasets.summary import describe

    dataset = load(entry, directory)
    typer.echo("\n" + describe(dataset, entry.name).rstrip())


@command(data_app)
def fetch(
    names: Names = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every data set with a source, about 80 MB.")
    ] = False,
) -> None:
    """Download data sets into the cache and check them.

    An interrupted download resumes. A download whose sha256 differs from the
    registry's is refused, and an earlier copy stays.

    Example: homi data fetch emotions scene
    """
    from homi.datasets.fetch import FetchError
    from homi.datasets.registry import registry, require

    if bool(names) == everything:
        raise typer.BadParameter("name data sets, or pass --all, and not both.")
    entries = [require(name) for name in names or registry()]
    failed = False
    for entry in entries:
        if everything and not entry.sources:
            typer.echo(f"{entry.name}: has no source, see homi data info {entry.name}")
            continue
        try:
            _fetch_one(entry)
        except FetchError as error:
            print_error(error)
            failed = True
    raise typer.Exit(int(failed))


@command(data_app)
def add(
    name: Name,
    file: Annotated[
        Path,
        typer.Argument(
            exists=True,
            dir_okay=False,
            help="The ARFF text, or xz, gz, bz2, zip of it.",
        ),
    ],
) -> None:
    """Add a file that you have to the cache, if its sha256 is the registry's.

    For a data set whose source cannot be reached. What reads data sets by name then
    finds it, benchmarks too.

    Example: homi data add mediamill mediamill.arff
    """
    from homi.datasets.add import add as add_file
    from homi.datasets.load import load
    from homi.datasets.registry import require

    entry = require(name)
    target = add_file(entry, file)
    shape = _shape(load(entry, target.parent))
    known = (entry.n_samples, entry.n_features, entry.n_labels)
    if shape != known:
        target.unlink()
        raise ValueError(
            f"{file} has the sha256 of {entry.name}, but {shape} samples, features and "
            f"labels where the registry says {known}; this is a bug in homi."
        )
    typer.echo("{}: {} samples, {} features, {} labels".format(entry.name, *shape))
    typer.echo(f"{entry.name}: checked and added, {target}")


def _shape(dataset: Dataset) -> tuple[int, int, int]:
    return (*dataset.X.shape, dataset.Y.shape[1])


@command(data_app)
def verify(names: Names = None, directory: Directory = None) -> None:
    """Check the sha256 of every copy in the directory and in the cache.

    The exit code is 1 if a copy differs from the registry or cannot be read, or if
    there is no copy of a data set that you name.

    Example: homi data verify yeast
    """
    from homi.datasets.load import verify as check
    from homi.datasets.registry import registry, require

    entries = [require(name) for name in names or registry()]
    verdicts = {entry.name: check(entry, directory) for entry in entries}
    bad = False
    for name, copies in verdicts.items():
        for copy in copies:
            typer.echo(f"{name}: {copy.reason or 'ok'} ({copy.path})")
            bad |= not copy.sound
        if names and not copies:
            typer.echo(f"{name}: no copy in the directory or in the cache")
            bad = True
    if not any(verdicts.values()) and not names:
        typer.echo("Nothing to check: no copy in the directory or in the cache.")
    raise typer.Exit(int(bad))


@command(data_app)
def path(
    name: Annotated[
        str | None, typer.Argument(help="A data set; case does not matter.")
    ] = None,
    directory: Directory = None,
) -> None:
    """Print the cache directory, or the file of a data set.

    The cache is $HOMI_CACHE, or the cache directory of the system.

    Example: homi data path emotions
    """
    from homi.datasets.cache import cache_directory
    from homi.datasets.load import at_hand
    from homi.datasets.registry import require

    if name is None:
        typer.echo(cache_directory())
        return
    found = at_hand(require(name), directory)
    if found is None:
        known = require(name).name
        raise FileNotFoundError(
            f"{known} is not here; run homi data fetch {known}, or put your own "
            f"{known}.arff into a directory and name that by HOMI_DATA."
        )
    typer.echo(found.path)


@command(data_app)
def table(directory: Directory = None) -> None:
    """Print the paper's Tables 1 and 2 beside measured values, as Markdown.

    Only data sets with a copy here are measured; nothing is downloaded.

    Example: homi data table > tables.md
    """
    from homi.datasets.summary import summary
    from homi.paper.data_tables import compare_with_paper

    text = compare_with_paper(summary(directory=directory))
    typer.echo(text.rstrip())


def _row(entry: Entry, directory: Path | None) -> dict[str, str | int | None]:
    from homi.datasets.load import at_hand

    found = at_hand(entry, directory)
    return {
        "name": entry.name,
        "n": entry.n_samples,
        "m": entry.n_features,
        "l": entry.n_labels,
        "here": None if found is None else found.place,
        "where": None if found is None else str(found.path),
    }


def _functions_row() -> dict[str, str | int | None]:
    """Return the data set without a file: its sizes depend on installed versions."""
    from homi.datasets.python_functions import NAME

    return {
        "name": NAME,
        **dict.fromkeys(("n", "m", "l")),
        "here": "package",
        "where": "docstrings of numpy, scipy, scikit-learn, pandas",
    }


def _about_functions() -> str:
    from homi.datasets.load import load
    from homi.datasets.python_functions import NAME as PYTHON_FUNCTIONS

    texts, Y, _, tags = load(PYTHON_FUNCTIONS)
    return (
        f"{PYTHON_FUNCTIONS} (texts)\n  {len(texts)} docstrings of installed packages: "
        f"numpy, scipy, scikit-learn and, if it is there, pandas\n  {len(tags)} tags, "
        f"{Y.sum(axis=1).mean():.2f} per text: {', '.join(tags)}"
    )


def _cell(value: str | int | None) -> str:
    return "-" if value is None else str(value)


def _facts(entry: Entry, found: Found | None) -> str:
    lines = [
        f"{entry.name} ({entry.domain})",
        f"  samples {entry.n_samples}, features {entry.n_features}, "
        f"labels {entry.n_labels} ({entry.labels} columns)",
        f"  sha256 {entry.sha256}, {entry.n_bytes} bytes of ARFF text",
        *(f"  source {url}" for url in entry.sources),
        f"  here   {'no' if found is None else found.path}",
        *(f"  note   {note}" for note in entry.notes),
        f"  cite   {entry.citation}",
    ]
    return "\n".join(lines)


def _fetch_one(entry: Entry) -> None:
    """Download a data set, with a progress bar on a terminal."""
    from homi.datasets.cache import file_sha256
    from homi.datasets.fetch import cached_path
    from homi.datasets.fetch import fetch as bring

    target = cached_path(entry)
    if target.is_file() and file_sha256(target) == entry.sha256:
        typer.echo(f"{entry.name}: is here, {target}")
        return
    console = Console()
    if not console.is_terminal:
        typer.echo(f"{entry.name}: fetching {entry.n_bytes} bytes")
        bring(entry)
    else:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
        )
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(entry.name, total=None)
            bring(
                entry,
                progress=lambda done, total: bar.update(
                    task, completed=done, total=total
                ),
            )
    typer.echo(f"{entry.name}: fetched and checked, {target}")
