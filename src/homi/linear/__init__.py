"""Linear classifiers for all labels at once, and Platt scaling of their margins."""

from homi.linear.centered_rows import SideBySide
from homi.linear.fit import LinearMargins, fit_margins
from homi.linear.held_out import held_out_margins
from homi.linear.losses import LossName
from homi.linear.platt import Sigmoids, fit_sigmoids
from homi.linear.pooled_platt import (
    PooledSigmoids,
    choose_strength,
    fit_pooled_sigmoids,
    log_loss,
    mean_of_cells,
)

__all__ = [
    "LinearMargins",
    "LossName",
    "PooledSigmoids",
    "SideBySide",
    "Sigmoids",
    "choose_strength",
    "fit_margins",
    "fit_pooled_sigmoids",
    "fit_sigmoids",
    "held_out_margins",
    "log_loss",
    "mean_of_cells",
]
