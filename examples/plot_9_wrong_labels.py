"""
Find wrong labels
=================

Some labels of a training set are wrong. ``audit`` lists those that are improbable by
the features of their row and by its other labels, most suspicious first.

Here 5 % of the labels of 800 yeast genes are flipped at random, and the list is
compared with one that uses the features only.
"""

# %%
# Flip labels. The flipped ones are known here, and only here.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from homi import HOMICV
from homi.datasets import load
from homi.dependence import audit

X, Y, _, label_names = load("yeast")
X, Y = X[:800], Y[:800].astype(int)
wrong = np.random.default_rng(0).random(Y.shape) < 0.05
given = np.where(wrong, 1 - Y, Y)

# %%
# Each gene is judged by a model that was not fitted to it.

linear = HOMICV(widths=[], trees=False)
found = audit(linear, X, given, n_listed=None)
print(found.head()[["row", "label", "given", "probability", "score"]])
low, high = found.interval
print(f"About {found.n_wrong:.0f} labels are wrong, plausibly {low:.0f} to {high:.0f}.")
print(f"{wrong.sum()} were flipped, and some may have been wrong before.")

# %%
# How many flipped labels a person finds who checks the list from its top. Features
# alone rank by the held-out probability of the given label.

columns = found["label"].str.removeprefix("y").astype(int)
by_both = wrong[found["row"], columns]
probabilities = expit(linear.fit_held_out(X, given))
by_features = wrong.ravel()[np.argsort(-np.abs(given - probabilities), axis=None)]

figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
checked = np.arange(1, 2001)
for name, hits in {
    "features and other labels": by_both,
    "features only": by_features,
}.items():
    ax.plot(checked, np.cumsum(hits)[:2000], label=name)
ax.axhline(wrong.sum(), color="grey", linestyle=":", label="all flipped labels")
ax.set_xlabel("labels checked")
ax.set_ylabel("flipped labels found")
ax.legend(loc="lower right")
first = wrong.sum()
ax.set_title(
    f"Of the first {first} labels, {by_both[:first].sum()} were flipped;\n"
    f"by the features only, {by_features[:first].sum()}"
)
plt.show()
