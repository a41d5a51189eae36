"""
Learn from batches
==================

HOMI learns from sums over rows, the moments. With ``graph="anchors"`` the graph is a
sum too. So ``partial_fit`` adds a batch to the moments and forgets it. Memory does not
grow with the rows, and the moments after the last batch are those of all rows.

For files larger than memory use :func:`homi.fit_stream`, which has checkpoints.
"""

# %%
# A generated stream of 40 batches, and a test set.

import matplotlib.pyplot as plt
import numpy as np

from homi import HOMI
from homi.datasets import make_correlated_batches
from homi.metrics import macro_auc

SHAPE = {"n_features": 60, "n_labels": 12, "n_high_order": 4, "noise": 1.0}


def stream():
    return make_correlated_batches(41, 500, **SHAPE, random_state=3)


batches = stream()
X_test, Y_test = next(batches)

# %%
# One batch at a time. The model is solved when it is first used. The cost of that does
# not depend on the number of rows.

model = HOMI(graph="anchors", random_state=0)
seen, quality = [], []
for X, Y in batches:
    model.partial_fit(X, Y)
    seen.append((seen[-1] if seen else 0) + len(X))
    quality.append(macro_auc(Y_test, model.decision_function(X_test)))

# %%
# The same rows at once. Here the anchors come from all rows, not from the first batch,
# so the two models agree closely but not exactly.

batches = list(stream())[1:]
X_all, Y_all = (np.concatenate(parts) for parts in zip(*batches, strict=True))
at_once = HOMI(graph="anchors", random_state=0).fit(X_all, Y_all)
goal = macro_auc(Y_test, at_once.decision_function(X_test))

figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
ax.plot(seen, quality, "o-", markersize=4, label="partial_fit, batches of 500 rows")
ax.axhline(goal, color="tab:orange", linestyle="--", label="fit, all rows in memory")
ax.set_xlabel("rows seen so far")
ax.set_ylabel("macro AUC on unseen rows")
ax.legend(loc="lower right")
ax.set_title(
    f"After {seen[-1]:,} rows in batches the AUC is {quality[-1]:.4f}, "
    f"all at once {goal:.4f}"
)
plt.show()
