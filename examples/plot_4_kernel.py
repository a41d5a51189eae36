"""
Nonlinear scores: kernels
=========================

HOMI is linear. If a label is a ring in feature space, no linear score finds it.
``kernel="rbf"`` does: scores are then linear in up to 1,000 Nyström features. B, the
graph and missing labels work as before. :class:`homi.HOMICV` tries kernels by itself.
"""

# %%
# Three labels on a plane: a ring, a half-plane, and their intersection.

import matplotlib.pyplot as plt
import numpy as np

from homi import HOMI
from homi.metrics import macro_auc

rng = np.random.default_rng(0)
NAMES = ["ring", "right half", "both"]


def labels(X):
    radius = np.hypot(*X.T)
    ring, right = (radius > 0.8) & (radius < 1.6), X[:, 0] > 0
    return np.column_stack([ring, right, ring & right]).astype(int)


X_train, X_test = rng.uniform(-2, 2, size=(2, 600, 2))
Y_train, Y_test = labels(X_train), labels(X_test)

# %%
# Two features are too few for a graph by correlation, so ``gamma=0``. The kernel width
# is set here; ``HOMICV`` would choose it.

models = {
    "linear": HOMI(gamma=0).fit(X_train, Y_train),
    'kernel="rbf"': HOMI(
        gamma=0, kernel="rbf", kernel_params={"gamma": 3.0}, lam=0.1, random_state=0
    ).fit(X_train, Y_train),
}
auc = {
    name: macro_auc(Y_test, model.decision_function(X_test))
    for name, model in models.items()
}
print({name: round(float(value), 3) for name, value in auc.items()})

# %%
# Points are test rows, dark if they have the label. The shaded area is where the model
# predicts it.

ticks = np.linspace(-2, 2, 200)
grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(
    2, 3, figsize=(9, 6.2), layout="constrained", sharex=True, sharey=True
)
for row, (name, model) in zip(axes, models.items(), strict=True):
    regions = model.predict(grid).reshape(200, 200, 3)
    for j, ax in enumerate(row):
        ax.contourf(ticks, ticks, regions[..., j], levels=[0.5, 1.5], colors="#f4b183")
        colors = np.where(Y_test[:, j], "#1f3a5f", "#c8c8c8")
        ax.scatter(*X_test.T, s=6, c=colors)
        ax.set_aspect("equal")
    row[0].set_ylabel(f"{name}\nmacro AUC {auc[name]:.2f}")
for ax, name in zip(axes[0], NAMES, strict=True):
    ax.set_title(name)
figure.suptitle("A ring is no half-plane: only the kernel finds it")
plt.show()
