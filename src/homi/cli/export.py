"""`homi export`: a model file -> ONNX."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from homi.cli.options import AsJson, Force, Model, Quiet
from homi.cli.output import check_output
from homi.cli.terminal import print_json, working


class InputType(StrEnum):
    """Type of the input X."""

    double = "double"
    float_ = "float"


def export(
    model: Model,
    onnx: Annotated[Path, typer.Option("--onnx", help="ONNX file to write.")],
    input_type: Annotated[
        InputType, typer.Option("--input-type", help="Type of the input X.")
    ] = InputType.double,
    known: Annotated[
        str, typer.Option("--known", help="Refused: ONNX takes no known labels.")
    ] = "",
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Export a model to ONNX, for programs without Python.

    The input X holds the features of the model in their order, after preprocessing;
    --json prints their names. The outputs are scores, labels and, unless calibration
    is isotonic, probabilities. The exported model takes no known labels: use homi
    predict --known for these. A model of texts has no ONNX form.

    Example: homi export model.homi --onnx model.onnx
    """
    from homi.cli.loaded_model import load_for_rows
    from homi.io import export_onnx

    check_output(onnx, "onnx", [model], force=force)
    with working("Exporting", quiet=quiet):
        loaded = load_for_rows(model)
        if loaded.text:
            raise ValueError(
                f"{model}: a model of texts has no ONNX form; in Python, "
                "homi.io.export_onnx(model[-1], path) exports what follows TF-IDF."
            )
        outputs = export_onnx(
            loaded.model, onnx, input_type=input_type.value, known=bool(known)
        )
    names = None if loaded.columns is None else loaded.columns.feature_names
    if as_json:
        facts = {"output": str(onnx), "outputs": outputs, "features": names}
        print_json(facts | {"labels": loaded.label_names})
    elif not quiet:
        typer.echo(f"{onnx} is written; its outputs are {', '.join(outputs)}.")
