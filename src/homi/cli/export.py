"""``homi export``: a model file -> ONNX."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from homi.cli.apply import load_for_rows
from homi.cli.guard import AsJson, Debug, Quiet, guarded, print_json, working
from homi.cli.options import Model
from homi.cli.output import Force, check_output
from homi.io import export_onnx


class InputType(StrEnum):
    """Type of the rows that the exported model takes."""

    double = "double"
    float_ = "float"


def export(
    model: Model,
    onnx: Annotated[Path, typer.Option("--onnx", help="ONNX file to write.")],
    input_type: Annotated[
        InputType, typer.Option("--input-type", help="Type of the rows that it takes.")
    ] = InputType.double,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Export a model to ONNX, for programs without Python.

    Its input X has the model's features in their order; its outputs are scores,
    labels and, if they can be had, probabilities. A model of texts has no ONNX form.

    Example: homi export model.homi --onnx model.onnx
    """
    with guarded(debug=debug, quiet=quiet):
        check_output(onnx, "onnx", [model], force=force)
        with working("Exporting", quiet=quiet):
            loaded = load_for_rows(model)
            outputs = export_onnx(loaded.model, onnx, input_type=input_type.value)
        names = None if loaded.columns is None else loaded.columns.feature_names
        if as_json:
            facts = {"output": str(onnx), "outputs": outputs, "features": names}
            print_json(facts | {"labels": loaded.label_names})
        elif not quiet:
            typer.echo(f"{onnx} is written; its outputs are {', '.join(outputs)}.")
