"""`homi fit`: a file of rows -> a model file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from homi import HOMICV
from homi.cli.options import AsJson, Force, Quiet, Rows
from homi.cli.output import check_output
from homi.cli.recipe import Made, Recipe, last_step, make
from homi.cli.source import ColumnChoice, LabeledRows
from homi.cli.terminal import print_json, working
from homi.datasets.cache import file_sha256
from homi.io import save
from homi.model.cost import Size, measure_rates, plan
from homi.tables.columns import counted
from homi.thresholds import TunedThresholds
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
    started = time.perf_counter()
    check_output(output, "model", choice.files(file), force=force)
    with working(f"Reading {file}", quiet=quiet):
        given = choice.read(file)
    with working("Fitting", quiet=quiet, seconds=lambda: _expected(recipe, given)):
        made = make(recipe, given)
    _write(made, given, output)
    facts = _facts(made, given, output, time.perf_counter() - started)
    if as_json:
        print_json(facts)
    elif not quiet:
        typer.echo(_summary(facts))


def _expected(recipe: Recipe, given: LabeledRows) -> float | None:
    """Estimate the processor seconds of a fit of HOMICV."""
    if recipe.paper:
        return None
    table, texts, vectors, _ = given.parts
    n, n_words = len(given.Y), 0 if texts is None else recipe.max_words
    dense = 0 if table is None else len(table.names)
    dense += 0 if vectors is None else vectors.shape[1]
    stored = n * dense + sum(len(set(text.split())) for text in texts or ())
    size = Size(n, dense + n_words, len(given.label_names), stored)
    found = plan(size, measure_rates())
    seconds = found.seconds if recipe.linear else found.seconds_with_trees
    return min(float(seconds), recipe.time_budget or float("inf"))


def _write(made: Made, given: LabeledRows, output: Path) -> None:
    digest = file_sha256(given.path)
    data = {"file": given.path.name, "sha256": digest, "rows": len(given.Y)}
    if made.vectorizer is not None:
        preprocessing: Fields = {"dropped": given.dropped, "imputed": made.imputed}
        transformer = None
    elif made.columns is None:
        preprocessing = {"text": given.found.text}
        transformer = None
    else:
        preprocessing = made.columns.to_dict()
        preprocessing |= {"dropped": given.dropped, "imputed": made.imputed}
        transformer = made.columns.transformer
    if given.found.dates and made.vectorizer is None:
        preprocessing["dates"] = given.found.dates
    if given.found.frequent and made.vectorizer is None:
        preprocessing["frequent"] = given.found.frequent
    if given.label_prefix:
        preprocessing["label_prefix"] = given.label_prefix
    if given.tags is not None:
        preprocessing["tags"] = [given.tags.name, given.tags.separator]
    save(
        made.model,
        output,
        preprocessing=preprocessing,
        transformer=transformer,
        provenance={"data": data},
    )


def _facts(made: Made, given: LabeledRows, output: Path, seconds: float) -> Fields:
    tuned = last_step(made.model)
    core = last_step(tuned.estimator_ if isinstance(tuned, TunedThresholds) else tuned)
    facts = {
        "output": str(output),
        "bytes": output.stat().st_size,
        "model": type(core).__name__,
        "rows": len(given.Y),
        "features": int(core.n_features_in_),
        "labels": given.label_names,
        "seconds": round(seconds, 3),
    }
    if given.read_as:
        facts["read_as"] = given.read_as
    notes = given.found.notes if made.vectorizer is None else made.vectorizer.notes_
    if notes:
        facts["notes"] = notes
    if made.imputed:
        facts["imputed"] = made.imputed
    if isinstance(core, HOMICV):
        facts["chosen"] = core.best_params_
        facts["scoring"], facts["score"] = core._scoring(), core.best_score_
    if isinstance(tuned, TunedThresholds):
        facts["objective"], facts["strategy"] = tuned.objective, tuned.strategy_
        facts["held_out_score"] = tuned.held_out_score_
    return facts


def _summary(facts: Fields) -> str:
    lines = [
        f"{facts['output']} is written ({facts['bytes'] / 1024:.0f} KiB): "
        f"{facts['model']} of {facts['rows']} rows, {facts['features']} features and "
        f"{len(facts['labels'])} labels, in {facts['seconds']:.1f} s."
    ]
    if "read_as" in facts:
        lines.append(f"Read as: {facts['read_as']}.")
    lines += facts.get("notes", [])
    if "imputed" in facts:
        lines.append(f"Missing values were imputed: {counted(facts['imputed'])}.")
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


#: Ranks of docs/best.md; tests/test_cli.py compares.
_PAPER = (
    "With the paper's settings nothing is chosen: without --paper, average ranks among "
    "16 methods are 1 to 2 instead of 11 to 12 (docs/best.md), and a fit takes longer."
)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}={_short(v)}" for k, v in value.items()) + "}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
