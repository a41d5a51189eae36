"""
Labels that are not known
=========================

Nobody looked whether these genes have that function: a missing label is not a 0. Write
NaN and say ``missing_labels="ignore"``; HOMI fills in what the features and the known
labels of the same row tell.

Here labels of yeast are hidden at random, and three ways to go on are compared on rows
that none of them has seen.
"""

# %%
# A third of the rows is kept for the test.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from homi import HOMI
from homi.datasets import load
from homi.metrics import hamming_loss

X, Y, _, label_names = load("yeast")
X_train, X_test, Y_train, Y_test = train_test_split(
    X, Y.astype(float), test_size=1 / 3, random_state=0
)
settings = {"gamma": 0.1, "correlation": "held-out"}


def hide(Y, share, seed):
    """Y with NaN for a share of its entries; every label stays known somewhere."""
    hidden = np.random.default_rng(seed).random(Y.shape) < share
    return np.where(hidden, np.nan, Y)


# %%
# The three ways. Rows that are known in all their 14 labels soon run out.


def filled(Y):
    return HOMI(missing_labels="ignore", **settings).fit(X_train, Y)


def as_zeros(Y):
    return HOMI(**settings).fit(X_train, np.nan_to_num(Y))


def whole_rows(Y):
    whole = ~np.isnan(Y).any(axis=1)
    return HOMI(**settings).fit(X_train[whole], Y[whole]) if whole.sum() > 20 else None


ways = {
    "filled in by HOMI": filled,
    "taken for zeros": as_zeros,
    "only rows that are whole": whole_rows,
}
shares = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
losses = {name: [] for name in ways}
for share in shares:
    Y_known = hide(Y_train, share, seed=1)
    for name, way in ways.items():
        model = way(Y_known)
        loss = np.nan if model is None else hamming_loss(Y_test, model.predict(X_test))
        losses[name].append(loss)

# %%
# With 70 % of the labels hidden, filling in loses little. One draw of what is hidden:
# differences of 0.001 are chance.

figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
for (name, values), marker in zip(losses.items(), "os^", strict=True):
    ax.plot(100 * shares, values, marker + "-", label=name)
empty = hamming_loss(Y_test, np.zeros_like(Y_test))
ax.axhline(empty, color="grey", linestyle=":", label="no label for any gene")
ax.set_xlabel("labels hidden from the training rows, %")
ax.set_ylabel("Hamming loss on unseen genes (less is better)")
ax.legend(loc="center right")
last = losses["filled in by HOMI"]
ax.set_title(
    f"70 % of the labels hidden cost {last[-1] - last[0]:.3f} of Hamming loss,\n"
    f"or {losses['taken for zeros'][-1] - last[0]:.3f} if they are taken for zeros"
)
plt.show()
