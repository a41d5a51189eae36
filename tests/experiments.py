"""Two experiments as files: a small one, and one with every part."""

SMALL = """
name = "small"
protocols = ["clean", "as-published"]
datasets = ["yeast"]
methods = ["HOMI", "ML-LRC"]
folds = 2

[search.ML-LRC]
points = 2

[[rule]]
protocol = "as-published"
set = { standardize = false }

[[rule]]
method = "HOMI"
dataset = ["yeast", "emotions"]
set = { n_neighbors = 2 }
"""

FULL = """
name = "small"
protocols = ["clean", "as-published"]
datasets = ["yeast", "emotions"]
methods = ["HOMI", "HOMI gamma=0", "ML-KNN"]
baselines = ["ridge"]
folds = 2

[[rule]]
method = "HOMI"
set = { n_neighbors = 3, lam = 2 }

[sensitivity]
datasets = ["yeast"]
gamma = [0, 0.5]
lam = [5]

[studies]
characteristics = ["yeast"]
convergence = ["yeast"]
correlations = ["yeast"]
folds = ["yeast"]

[quick]
datasets = ["yeast"]
methods = ["HOMI"]
folds = 2
"""
