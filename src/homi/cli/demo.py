"""`homi demo`: compare methods on genes and on texts, and draw tags of texts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from homi.cli.options import Force, Seed
from homi.cli.output import check_output
from homi.cli.terminal import counting
from homi.extras import optional

if TYPE_CHECKING:
    from homi.cli.comparison import Comparison


def demo(
    output: Annotated[
        Path, typer.Option(help="Directory for the tables and the picture.")
    ] = Path("homi-demo"),
    folds: Annotated[int, typer.Option(min=2, help="Number of folds of yeast.")] = 3,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Compare HOMICV with others on genes and on texts, and draw tags of texts.

    The genes are yeast (2417 rows, 103 features, 14 functional classes), the texts are
    docstrings of installed packages. Both are there without a download. Takes less
    than a minute on a free processor.

    Example: homi demo --output homi-demo
    """
    with optional("homi demo", "demo"):
        from homi.plots import draw_tagged_texts
    from homi.cli.comparison import write_tables

    console = Console()
    started = time.perf_counter()
    picture, text = output / "tags.png", output / "tables.md"
    if output.exists() and not output.is_dir():
        raise ValueError(f"{output} is a file; name a directory to write to.")
    output.mkdir(parents=True, exist_ok=True)
    check_output(picture, ".png", force=force)
    check_output(text, "scores", force=force)
    genes, texts = _run_with_progress(console, folds, seed)
    draw_tagged_texts(texts.drawn, TITLE, picture)
    write_tables([genes, texts], text)
    for result in (genes, texts):
        _print(console, result)
    console.print(_NOTES)
    console.print(f"Tables: {text}\nPicture of texts and their tags: {picture}")
    console.print(f"Took {time.perf_counter() - started:.0f} s.")


_NOTES = (
    "BR: binary relevance, scikit-learn's logistic regression for each label. The\n"
    "forest has 100 trees. HOMI is the paper's method; s is its number of neighbors:\n"
    "for yeast the paper states 10, and 2 reproduce its numbers.\n"
)
TITLE = (
    "Tags of functions that the model has not seen, with their probabilities.\n"
    "Blue ones are right, orange ones wrong. Beyond the dotted line they are predicted."
)


def _run_with_progress(
    console: Console, folds: int, seed: int
) -> tuple[Comparison, Comparison]:
    """Run with a bar on a terminal, a line per fit elsewhere."""
    from homi.cli.comparison import GENES, TEXTS, compare_genes, compare_texts

    with counting(console, folds * len(GENES) + len(TEXTS)) as step:

        def progress(text: str) -> None:
            step(text)
            if not console.is_terminal:
                print(text)

        genes = compare_genes(
            folds,
            seed,
            lambda method, fold: progress(f"yeast, {method}: fold {fold}/{folds}"),
        )
        texts = compare_texts(seed, lambda method, _: progress(f"texts, {method}"))
        return genes, texts


def _print(console: Console, result: Comparison) -> None:
    header, *rows = result.table()
    # Narrow enough for 80 columns.
    table = Table(*header, title=result.title, box=None, padding=(0, 1, 0, 0))
    for row in rows:
        table.add_row(*row)
    console.print(table, "")
