"""
Three questions per row
=======================

A person has time to answer a few questions about each row: does it have this label?
``ask`` chooses the labels whose answers reduce the expected error of all labels most.
A label that tells much about others is a better question than one that is merely
uncertain.
"""

# %%
# Fit to 1,000 yeast genes, and choose five questions about each of 300 others.

import matplotlib.pyplot as plt
import numpy as np

from homi import HOMICV
from homi.datasets import load
from homi.dependence import ask

X, Y, _, _ = load("yeast")
Y = Y.astype(int)
model = HOMICV(widths=[], trees=False).fit(X[:1000], Y[:1000])
X_new, Y_new = X[1000:1300], Y[1000:1300]
asked = ask(model, X_new, k=5)
print("Questions about the first gene:", ", ".join(asked[0]))

# %%
# Other orders: labels whose probability is nearest to one half, and labels at random.

rng = np.random.default_rng(0)
place = {label: j for j, label in enumerate(model.label_names_)}
P = model.predict_proba(X_new)
orders = {
    "ask": np.array([[place[label] for label in row] for row in asked]),
    "most uncertain": np.argsort(np.abs(P - 0.5), axis=1)[:, :5],
    "random": np.array([rng.permutation(Y.shape[1])[:5] for _ in Y_new]),
}

# %%
# The answers become known labels. The error is the mean squared error of the
# probabilities of all labels.


def error(order):
    known = np.full(Y_new.shape, np.nan)
    rows = np.arange(len(Y_new))[:, None]
    known[rows, order] = Y_new[rows, order]
    return np.mean((model.predict_proba(X_new, known=known) - Y_new) ** 2)


errors = {
    name: [error(order[:, :k]) for k in range(6)] for name, order in orders.items()
}

figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
styles = {"ask": ("C0", "o-"), "most uncertain": ("C0", "o:"), "random": ("C1", "o-")}
for name, (color, style) in styles.items():
    ax.plot(range(6), errors[name], style, color=color, label=name)
ax.set_xlabel("questions answered for each gene")
ax.set_ylabel("mean squared error of all labels")
ax.set_ylim(bottom=0)
ax.legend()
left = {name: values[3] / values[0] for name, values in errors.items()}
ax.set_title(
    f"Three answers leave {left['ask']:.0%} of the error; of random questions,\n"
    f"they leave {left['random']:.0%}"
)
plt.show()
