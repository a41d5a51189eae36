"""Scores of cleanlab for the labels in a file; run by ``benchmarks/audit.py``."""

import sys

import numpy as np
from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class

given, output = sys.argv[1:]
with np.load(given) as file:
    labels = [np.flatnonzero(row).tolist() for row in file["Y"]]
    scores = [get_label_quality_scores_per_class(labels, P) for P in file["P"]]
    np.save(output, scores)
