"""
Finish half-labeled tags
========================

An archive of songs has some tags already: a listener confirmed a few, nobody has
looked at the others. ``predict_proba(X, known=...)`` uses what is known of a row to
predict the rest.

The songs are those of CAL500, 174 tags each, if a copy is at hand
(``homi data fetch CAL500``). Otherwise the genes of yeast, which come with the package,
stand for them, with 14 functions each.
"""

# %%
# Fit to rows with all tags. How errors of tags go together is learned along the way.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

from homi import HOMICV
from homi.arrays import dense
from homi.datasets import load
from homi.datasets.load import at_hand

name = "CAL500" if at_hand("CAL500") is not None else "yeast"
X, Y, _, label_names = load(name)
X, Y = dense(X)[:1200], dense(Y)[:1200].astype(int)
X, X_new, Y, Y_new = train_test_split(X, Y, random_state=0)
model = HOMICV(widths=[], trees=False).fit(X, Y)

# %%
# Half of the tags are known. NaN stands for "not known".

hidden = np.random.default_rng(0).random(Y_new.shape) < 0.5
known = np.where(hidden, np.nan, Y_new)
before, after = model.predict_proba(X_new), model.predict_proba(X_new, known=known)
change = np.where(hidden, np.abs(after - before), 0.0)
i, j = np.unravel_index(change.argmax(), change.shape)
truth = "it has it" if Y_new[i, j] else "it does not have it"
print(f"Row {i}, {label_names[j]}: {before[i, j]:.0%} → {after[i, j]:.0%}; {truth}.")
most = np.argsort(-change, axis=None)[:200]
right = np.abs(after - Y_new) < np.abs(before - Y_new)
print(f"Of the 200 largest changes, {right.ravel()[most].sum()} are for the better.")

# %%
# The more is known, the better the rest is predicted.

shares = [0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8]
plain, given = [], []
for share in shares:
    hidden = np.random.default_rng(0).random(Y_new.shape) >= share
    P = model.predict_proba(X_new, known=np.where(hidden, np.nan, Y_new))
    given.append(average_precision_score(Y_new[hidden], P[hidden]))
    P = model.predict_proba(X_new)
    plain.append(average_precision_score(Y_new[hidden], P[hidden]))

figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
ax.plot(shares, given, "o-", color="C0", label="features and known tags")
ax.plot(shares, plain, "o-", color="C1", label="features only")
ax.set_xlabel("share of the tags that is known")
ax.set_ylabel("average precision of the others")
ax.legend(loc="upper left")
half = shares.index(0.5)
ax.set_title(
    f"{name}: with half of the tags known, average precision of the\n"
    f"others is {given[half]:.2f} instead of {plain[half]:.2f}"
)
plt.show()
