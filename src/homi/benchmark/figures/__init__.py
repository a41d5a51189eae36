"""The paper's figures: each a pure function from plain data to a picture."""

from homi.benchmark.figures.bars import ablation
from homi.benchmark.figures.circle import label_graph
from homi.benchmark.figures.critical import critical_difference
from homi.benchmark.figures.files import pdf, svg
from homi.benchmark.figures.heat import label_matrix, normalise
from homi.benchmark.figures.parameters import sensitivity
from homi.benchmark.figures.russell import circumplex, cosine_signs
from homi.benchmark.figures.sweeps import convergence
from homi.benchmark.figures.times import running_time

__all__ = [
    "ablation",
    "circumplex",
    "convergence",
    "cosine_signs",
    "critical_difference",
    "label_graph",
    "label_matrix",
    "normalise",
    "pdf",
    "running_time",
    "sensitivity",
    "svg",
]
