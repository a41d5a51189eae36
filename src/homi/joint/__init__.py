"""Joint model of the labels of a row: what known labels say about unknown ones."""

from homi.joint.fit import fit_joint_model
from homi.joint.known import check_known
from homi.joint.known_labels import KnownLabelsMixin, given_known
from homi.joint.model import JointModel

__all__ = [
    "JointModel",
    "KnownLabelsMixin",
    "check_known",
    "fit_joint_model",
    "given_known",
]
