"""Save and load models as one safe file, and export them to ONNX."""

from homi.io.errors import ModelFileError
from homi.io.model_file import (
    ModelFile,
    fingerprint,
    load_file,
    load_model,
    save,
)
from homi.io.onnx_export import export_onnx

__all__ = [
    "ModelFile",
    "ModelFileError",
    "export_onnx",
    "fingerprint",
    "load_file",
    "load_model",
    "save",
]
