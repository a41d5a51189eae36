"""What known labels say about unknown ones, for any multi-label classifier."""

from homi.dependence.label_dependence import LabelDependence
from homi.joint import JointModel, fit_joint_model

__all__ = ["JointModel", "LabelDependence", "fit_joint_model"]
