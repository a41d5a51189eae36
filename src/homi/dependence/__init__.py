"""What labels say about each other: known, wrong and unknown ones."""

from homi.dependence.ask import ask
from homi.dependence.audit import audit
from homi.dependence.label_dependence import LabelDependence
from homi.joint import JointModel, fit_joint_model

__all__ = ["JointModel", "LabelDependence", "ask", "audit", "fit_joint_model"]
