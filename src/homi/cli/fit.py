"""``homi fit``: a file -> a model file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from homi import HOMICV
from homi.cli.build import Made, Recipe, Strategy, last_step, make
from homi.cli.guard import AsJson, Debug, Quiet, guarded, print_json, working
from homi.cli.options import (
    Budget,
    Drop,
    HowMissing,
    HowNominal,
    HowTuned,
    Labels,
    Linear,
    MaxWords,
    MissingName,
    Neighbors,
    NominalName,
    Paper,
    Seed,
    Text,
    Training,
    Tune,
    check_budget,
    files_read,
)
from homi.cli.output import Force, check_output
from homi.cli.source import Labelled, open_file, read_labelled
from homi.datasets.cache import file_sha256
from homi.io import save
from homi.thresholds import TunedThresholds


def fit(
    file: Training,
    labels: Labels = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Model file to write.")
    ] = Path("model.homi"),
    text: Text = None,
    drop: Drop = None,
    paper: Paper = False,
    linear: Linear = False,
    neighbors: Neighbors = None,
    tune: Tune = None,
    strategy: HowTuned = Strategy.auto,
    nominal: HowNominal = NominalName.onehot,
    missing: HowMissing = MissingName.error,
    max_words: MaxWords = 2000,
    time_budget: Budget = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fit a model to a file, and write it as one model file.

    Hyper-parameters are chosen by scores of held-out rows (HOMICV), unless --paper asks
    for the paper's. The model file holds no code and, but for the landmarks of a
    kernel and the words of texts, nothing of the training data.

    Examples:

    homi fit train.csv --labels 'tag_*' -o model.homi

    homi fit posts.csv --text body --labels 'tag_*' --tune macro_f1

    homi fit emotions.arff --labels emotions.xml --paper
    """
    check_budget(time_budget, paper)
    started = time.perf_counter()
    recipe = Recipe(
        paper,
        neighbors,
        tune,
        strategy,
        nominal.value,
        missing.value,
        max_words,
        time_budget,
        seed,
        linear,
    )
    with guarded(debug=debug, quiet=quiet):
        check_output(output, "model", files_read(file, labels), force=force)
        with working(f"Reading {file}", quiet=quiet):
            given = read_labelled(open_file(file), labels or [], text or [], drop or [])
        with working("Fitting", quiet=quiet):
            made = make(recipe, given, text or [])
        data = {"file": file.name, "sha256": file_sha256(file), "rows": len(given.Y)}
        save(
            made.model,
            output,
            preprocessing=made.preprocessing,
            provenance={"data": data},
        )
        facts = _facts(made, given, output, time.perf_counter() - started)
        if as_json:
            print_json(facts)
        elif not quiet:
            typer.echo(_told(facts))


def _facts(made: Made, given: Labelled, output: Path, seconds: float) -> dict[str, Any]:
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
    if isinstance(core, HOMICV):
        facts["chosen"] = core.best_params_
        facts["scoring"], facts["score"] = core.scoring, core.best_score_
    if isinstance(tuned, TunedThresholds):
        facts["objective"], facts["strategy"] = tuned.objective, tuned.strategy_
        facts["held_out_score"] = tuned.held_out_score_
    return facts


def _told(facts: dict[str, Any]) -> str:
    lines = [
        f"{facts['output']} is written ({facts['bytes'] / 1024:.0f} KiB): "
        f"{facts['model']} of {facts['rows']} rows, {facts['features']} features and "
        f"{len(facts['labels'])} labels, in {facts['seconds']:.1f} s."
    ]
    if "chosen" in facts:
        chosen = ", ".join(f"{k}={_short(v)}" for k, v in facts["chosen"].items())
        name = str(facts["scoring"]).replace("_", " ")
        lines.append(f"Chosen: {chosen}.")
        lines.append(f"On rows held out, {name}: {facts['score']:.3f}.")
    if "objective" in facts:
        found = facts["held_out_score"]
        lines.append(
            f"Held-out {facts['objective']}: {found['before']:.3f} before thresholds "
            f"were tuned ({facts['strategy']}), {found['unseen']:.3f} with them."
        )
    return "\n".join(lines)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}={_short(v)}" for k, v in value.items()) + "}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
