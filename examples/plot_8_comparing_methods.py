"""
Compare methods with statistical tests
======================================

Six methods on seven data sets: do they differ, or is it chance? Friedman's test
compares all methods. Nemenyi's critical difference says how far apart two average ranks
must be. Holm's procedure compares one method with all others. ``homi bench report``
uses the same functions for the tables of the paper.

The data sets are small synthetic ones and a sixth of yeast, so that the example takes
seconds. It shows how to compare, and says little about the methods. Results on real
data are in :doc:`the tables </best>`.
"""

# %%
# Data sets that differ in size, noise, and the number of labels that depend on two
# others.

import matplotlib.pyplot as plt
import pandas as pd
from scikit_posthocs import critical_difference_diagram, posthoc_nemenyi_friedman
from sklearn.model_selection import cross_val_score

from homi import HOMI
from homi.benchmark.statistics import average_ranks, friedman, holm
from homi.datasets import load, make_correlated
from homi.estimators import LFLC, ClassifierChain, MLkNN
from homi.metrics import scorers

X, Y, _, _ = load("yeast")
data = {"yeast": (X[:400], Y[:400])}
for seed in range(6):
    made = make_correlated(
        n_samples=200 + 40 * seed,
        n_features=15 + 5 * seed,
        n_high_order=seed % 4,
        noise=0.2 + 0.1 * seed,
        random_state=seed,
    )
    data[f"made {seed}"] = made[:2]

methods = {
    "HOMI": HOMI(),
    "HOMI, kernel": HOMI(kernel="rbf", n_components=100, random_state=0),
    "HOMI, B = I": HOMI(correlation="identity"),
    "chain": ClassifierChain(random_state=0),
    "ML-KNN": MLkNN(),
    "LFLC": LFLC(),
}

# %%
# The same folds for all methods. The tests use the means over folds, because folds of a
# data set are not independent.

(scorer,) = scorers(["average_precision"]).values()
means = pd.DataFrame(
    {
        method: {
            name: cross_val_score(model, *rows, scoring=scorer, cv=3).mean()
            for name, rows in data.items()
        }
        for method, model in methods.items()
    }
)
print(means.round(3))

# %%
# Do they differ at all? Which differ from HOMI?

test = friedman(means, greater_is_better=True)
print(f"Friedman: F = {test.f:.1f}, critical value {test.critical_value:.1f}")
print(holm(means, "HOMI", greater_is_better=True).round(4))

# %%
# A bar joins methods that do not differ significantly on these seven data sets.

ranks = average_ranks(means, greater_is_better=True)
figure, ax = plt.subplots(figsize=(9, 3.2), layout="constrained")
p = posthoc_nemenyi_friedman(means)
critical_difference_diagram(ranks, p, ax=ax)
best, worst = ranks.idxmin(), ranks.idxmax()
ax.set_title(
    "Average ranks by average precision (1 is best); what a bar joins may be luck.\n"
    f"{best} and {worst} differ with p = {p.loc[best, worst]:.3f}"
)
plt.show()
