"""`homi fit`: a file of rows -> a model file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homi.cli.options import AsJson, ColumnChoice, Force, Quiet, Recipe, Rows
from homi.cli.output import check_output
from homi.cli.terminal import print_json, working

if TYPE_CHECKING:
    from homi.typing import Fields


def fit(
    file: Rows,
    choice: ColumnChoice,
    recipe: Recipe,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Model file to write.")
    ] = Path("model.homi"),
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit a model to a file of labeled rows, and write it as one model file.

    HOMICV chooses the hyperparameters by cross-validation; --paper takes the paper's.
    Columns that are not labels are features. The model file holds no code. It holds
    training data only as landmarks of a kernel, leaves of trees and words of texts.

    Example: homi fit train.csv --labels 'tag_*' -o model.homi

    Texts: homi fit posts.csv --text body --labels 'tag_*' --tune macro_f1

    Tags such as "python;numpy": homi fit posts.csv --text body --tags tags

    The paper's settings: homi fit emotions.arff --labels emotions.xml --paper
    """
    from homi.cli.recipe import expected_seconds, facts_of, make, write_model
    from homi.cli.source import input_files, read_rows

    started = time.perf_counter()
    check_output(output, "model", input_files(file, choice), force=force)
    with working(f"Reading {file}", quiet=quiet):
        given = read_rows(file, choice)
    with working(
        "Fitting", quiet=quiet, seconds=lambda: expected_seconds(recipe, given)
    ):
        made = make(recipe, given)
    write_model(made, given, output)
    facts = facts_of(made, given, output, time.perf_counter() - started)
    if as_json:
        print_json(facts)
    elif not quiet:
        typer.echo(_summary(facts))


def _summary(facts: Fields) -> str:
    lines = [
        f"{facts['output']} is written ({facts['bytes'] / 1024:.0f} KiB): "
        f"{facts['model']} of {_count(facts['rows'], 'row')}, "
        f"{_count(facts['features'], 'feature')} and "
        f"{_count(len(facts['labels']), 'label')}, in {facts['seconds']:.1f} s."
    ]
    if "read_as" in facts:
        lines.append(f"Read as: {facts['read_as']}.")
    lines += facts.get("notes", [])
    if "imputed" in facts:
        from homi.tables.columns import text_of_counts

        lines.append(
            f"Missing values were imputed: {text_of_counts(facts['imputed'])}."
        )
    if facts["model"] == "HOMI":
        lines.append(_PAPER)
    if "chosen" in facts:
        chosen = ", ".join(f"{k}={_short(v)}" for k, v in facts["chosen"].items())
        name, score = str(facts["scoring"]), facts["score"]
        if name.startswith("neg_"):
            name, score = name.removeprefix("neg_"), -score
        lines.append(f"Chosen: {chosen}.")
        lines.append(f"Cross-validated {name.replace('_', ' ')}: {score:.3f}.")
    if "objective" in facts:
        found = facts["held_out_score"]
        lines.append(
            f"Cross-validated {facts['objective']}: {found['before']:.3f} before "
            f"thresholds were tuned ({facts['strategy']}), {found['unseen']:.3f} after."
        )
    return "\n".join(lines)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + "s" * (number != 1)


#: Ranks of docs/best.md; tests/test_cli.py compares.
_PAPER = (
    "With the paper's settings nothing is chosen: without --paper, average ranks among "
    "16 methods are 1 to 2 instead of 11 to 12 (docs/best.md), and a fit takes longer."
)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}={_short(v)}" for k, v in value.items()) + "}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
