"""Tune thresholds and calibrate probabilities of any multi-label classifier."""

from homi.thresholds.calibrate import CalibrationMaps, fit_maps
from homi.thresholds.reliability import (
    Reliability,
    expected_calibration_error,
    reliability_curve,
)
from homi.thresholds.tuned import TunedThresholds

__all__ = [
    "CalibrationMaps",
    "Reliability",
    "TunedThresholds",
    "expected_calibration_error",
    "fit_maps",
    "reliability_curve",
]
