"""
Thresholds and calibration
==========================

HOMI predicts a label if its score is above one half, as in the paper. That is too high
for F1 and for rare labels. :class:`homi.thresholds.TunedThresholds` chooses thresholds
for a metric by cross-validation, and calibrates probabilities.
"""

# %%
# Tune for macro F1 on two thirds of the yeast genes.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

from homi import HOMI
from homi.datasets import load
from homi.thresholds import (
    TunedThresholds,
    expected_calibration_error,
    reliability_curve,
)

X, Y, _, label_names = load("yeast")
X_train, X_test, Y_train, Y_test = train_test_split(
    X, Y, test_size=1 / 3, random_state=0
)
plain = HOMI(n_neighbors=2).fit(X_train, Y_train)
tuned = TunedThresholds(HOMI(n_neighbors=2), objective="macro_f1", random_state=0).fit(
    X_train, Y_train
)
print({name: round(value, 3) for name, value in tuned.held_out_score_.items()})

# %%
# ``"unseen"`` is the cross-validated score. Compare it with the test set.


def f1(model):
    """F1 of each label on the test rows."""
    return f1_score(Y_test, model.predict(X_test), average=None, zero_division=0)


before, after = f1(plain), f1(tuned)
print(f"macro F1 of new rows: {before.mean():.3f} before, {after.mean():.3f} after")

# %%
# Left: F1 per class, the rarest at the bottom. Right: reliability curves; the diagonal
# is perfect calibration.

order = np.argsort(Y_train.mean(axis=0))
place = np.arange(len(order))
figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
left, right = axes
left.hlines(place, before[order], after[order], color="lightgrey", linewidth=3)
left.plot(before[order], place, "o", color="tab:orange", label="one half")
left.plot(after[order], place, "o", color="tab:blue", label="own threshold")
share = Y_train.mean(axis=0)[order]
names = [f"{label_names[j]} ({s:.0%})" for j, s in zip(order, share, strict=True)]
left.set_yticks(place, names)
left.set_xlabel("F1 on unseen genes (share of genes in brackets)")
left.legend(loc="lower right")
left.set_title(f"Macro F1 {before.mean():.2f} → {after.mean():.2f}")

right.plot([0, 1], [0, 1], color="grey", linestyle=":")
for model, name, color in [
    (plain, "HOMI's own", "tab:orange"),
    (tuned, "calibrated", "tab:blue"),
]:
    P = model.predict_proba(X_test)
    curve = reliability_curve(Y_test, P, strategy="quantile")
    label = f"{name}, error {expected_calibration_error(Y_test, P):.3f}"
    right.plot(curve.probability, curve.frequency, "o-", color=color, label=label)
right.set_xlabel("predicted probability")
right.set_ylabel("observed frequency")
right.legend(loc="upper left")
right.set_title("Calibrated probabilities match frequencies")
figure.suptitle("Own thresholds bring back the rare classes")
plt.show()
