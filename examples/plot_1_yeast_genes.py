"""
Yeast genes: how classes depend on each other
=============================================

2417 yeast genes have 103 measurements and 14 functional classes, several per gene. What
does HOMI learn about the dependence of the classes?

The correlation φ says which classes occur together in the data. The matrix B of the
model says what a class adds when all the others are known. So B is sparser: dependence
that follows from a third class is gone.
"""

# %%
# The data come with the package.

import matplotlib.pyplot as plt
import numpy as np

from homi import HOMI
from homi.datasets import load

X, Y, feature_names, label_names = load("yeast")
print(f"{len(X)} genes, {Y.shape[1]} classes, {Y.sum(axis=1).mean():.1f} of them each")

# %%
# With the paper's λ = 1 nothing keeps a class from explaining itself, and B is nearly
# the identity. A larger λ spreads the weight over related classes.

models = {lam: HOMI(lam=lam, n_neighbors=2).fit(X, Y) for lam in (1, 100)}
for lam, model in models.items():
    own = model.label_correlation_.diagonal().mean()
    print(f"λ = {lam}: mean of B's diagonal {own:.2f}")

# %%
# Both matrices without their diagonals, divided by their largest entries. The strong
# pairs, such as 12 and 13, are in both. The blocks of weak correlations in φ are mostly
# gone in B.

phi = np.corrcoef(Y, rowvar=False)
B = models[100].label_correlation_
off = ~np.eye(len(B), dtype=bool)

figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.9), layout="constrained")
tables = {"φ: what comes together": phi, "B: what adds to all others": B}
for ax, (title, table) in zip(axes, tables.items(), strict=True):
    table = np.where(off, table, np.nan) / np.abs(table[off]).max()
    image = ax.imshow(table, cmap="RdBu_r", vmin=-1, vmax=1)
    small = np.mean(np.abs(table[off]) < 0.05)
    ax.set_title(f"{title}\n{small:.0%} of the pairs below 1/20 of the largest")
    ax.set_xticks(range(14), range(1, 15))
    ax.set_yticks(range(14), range(1, 15))
    ax.set_xlabel("class")
    ax.set_ylabel("class")
figure.colorbar(image, ax=axes, shrink=0.75, label="share of the largest")
figure.suptitle("B keeps the pairs that matter and drops most of the others")
plt.show()
