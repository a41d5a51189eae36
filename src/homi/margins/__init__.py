"""Margins of linear classifiers, all labels at once, and their probabilities."""

from homi.margins.fit import LinearMargins, fit_margins
from homi.margins.held_out import held_out_margins
from homi.margins.losses import LossName
from homi.margins.platt import Sigmoids, fit_sigmoids
from homi.margins.rows import SideBySide

__all__ = [
    "LinearMargins",
    "LossName",
    "SideBySide",
    "Sigmoids",
    "fit_margins",
    "fit_sigmoids",
    "held_out_margins",
]
