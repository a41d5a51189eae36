"""Scores of cleanlab for the labels in a file; run by ``benchmarks/audit.py``."""

import sys

import numpy as np
from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class

given, output = sys.argv[1:]
with np.load(given) as file:
    found = []
    for P, Y in zip(file["P"], file["Y"], strict=True):
        labels = [np.flatnonzero(row).tolist() for row in Y]
        found.append(get_label_quality_scores_per_class(labels, P))
    np.save(output, found)
