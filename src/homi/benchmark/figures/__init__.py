"""Figures of results: each is a pure function from plain data to a picture."""

from homi.benchmark.figures.ablation import ablation
from homi.benchmark.figures.convergence import convergence
from homi.benchmark.figures.critical_difference import critical_difference
from homi.benchmark.figures.files import pdf, svg
from homi.benchmark.figures.label_graph import label_graph
from homi.benchmark.figures.label_matrix import label_matrices, normalize
from homi.benchmark.figures.running_time import running_time
from homi.benchmark.figures.sensitivity import sensitivity

__all__ = [
    "ablation",
    "convergence",
    "critical_difference",
    "label_graph",
    "label_matrices",
    "normalize",
    "pdf",
    "running_time",
    "sensitivity",
    "svg",
]
