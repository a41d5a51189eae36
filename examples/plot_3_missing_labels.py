"""
Missing labels
==============

A missing label is not a 0. Set it to NaN and use ``missing_labels="ignore"``: HOMI
imputes it from the features and the known labels of the row.

Here labels of yeast are hidden at random, and three ways to handle them are compared on
a test set.
"""

# %%
# Hold out a third of the rows as a test set.

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
# The three ways. Few rows have all 14 labels known.


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
# With 70 % of the labels hidden, imputation loses little. This is one random draw:
# differences of 0.001 are noise.

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
