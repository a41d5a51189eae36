"""Linear classifiers of all labels at once, and Platt scaling of their margins."""

from homi.linear.centered_rows import SideBySide
from homi.linear.fit import LinearMargins, fit_margins
from homi.linear.held_out import held_out_margins
from homi.linear.losses import LossName
from homi.linear.platt import Sigmoids, fit_sigmoids

__all__ = [
    "LinearMargins",
    "LossName",
    "SideBySide",
    "Sigmoids",
    "fit_margins",
    "fit_sigmoids",
    "held_out_margins",
]
