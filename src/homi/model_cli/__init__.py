"""Commands about models: fit, predict, evaluate, cv, export, doctor."""

from homi.model_cli.cv_command import cv
from homi.model_cli.doctor_command import doctor
from homi.model_cli.evaluate_command import evaluate
from homi.model_cli.export_command import export
from homi.model_cli.fit_command import fit
from homi.model_cli.predict_command import predict

#: In the order that the help shows them.
COMMANDS = (fit, predict, evaluate, cv, export, doctor)

__all__ = ["COMMANDS", "cv", "doctor", "evaluate", "export", "fit", "predict"]
