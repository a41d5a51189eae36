"""
Tag texts
=========

Forum questions and their tags. Any scikit-learn vectorizer can come before
:class:`homi.HOMI`; the rows stay sparse.

The questions are generated from a few words per tag and some stop words. A question
about *pandas* nearly always has the tag *python* too, even if it does not contain the
word. The model has to learn such a tag from the words of another.
"""

# %%
# Six tags, their words, and the tags they imply.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from homi import HOMI

WORDS = {
    "python": "python import pip module decorator list venv",
    "pandas": "dataframe groupby merge column pivot csv",
    "sql": "table join index query select transaction",
    "plots": "axis legend figure colormap bars labels",
    "speed": "slow memory profile cache seconds parallel",
    "regex": "pattern match group escape lookahead digits",
}
EMPTY = "how do I get the a of in my with when this error it not does work why"
TAGS = list(WORDS)


def question(rng):
    """Words of a question, and its tags."""
    asked = set(rng.choice(TAGS, size=rng.integers(1, 3), replace=False))
    words = [w for tag in asked for w in rng.choice(WORDS[tag].split(), 3)]
    words += list(rng.choice(EMPTY.split(), 9))
    if "pandas" in asked and rng.random() < 0.95:
        asked.add("python")  # nobody writes it
    return " ".join(rng.permutation(words)), [tag in asked for tag in TAGS]


rng = np.random.default_rng(0)
texts, rows = zip(*(question(rng) for _ in range(800)), strict=True)
Y = np.array(rows, dtype=int)
print(texts[0], "→", [tag for tag, there in zip(TAGS, rows[0], strict=True) if there])

# %%
# TF-IDF and HOMI in one pipeline. TF-IDF has its own scaling, so we do not standardize.

model = make_pipeline(TfidfVectorizer(), HOMI(standardize=False)).fit(texts, Y)

new = [
    "why does my groupby lose a column",
    "join of two tables is slow, which index",
    "legend hides the bars of my figure",
    "match digits with a pattern in a dataframe",
    "parallel import of a module with a cache",
    "how do I get this to work",
]
scores = model.decision_function(new) + 0.5  # one half is the threshold
predicted = model.predict(new)

# %%
# Predicted tags have a frame. The first question does not contain *python*, and gets
# the tag.

figure, ax = plt.subplots(figsize=(9.0, 4.2), layout="constrained")
image = ax.imshow(scores, cmap="Blues", vmin=0, vmax=1, aspect="auto")
for i, j in np.ndindex(scores.shape):
    color = "white" if scores[i, j] > 0.6 else "black"
    ax.text(j, i, f"{scores[i, j]:.2f}", ha="center", va="center", color=color)
    if predicted[i, j]:
        frame = (j - 0.47, i - 0.46), 0.94, 0.92
        ax.add_patch(plt.Rectangle(*frame, fill=False, color="crimson", linewidth=2))
ax.set_xticks(range(len(TAGS)), TAGS)
ax.set_yticks(range(len(new)), new)
ax.xaxis.tick_top()
ax.tick_params(length=0)
figure.colorbar(image, label="score")
figure.suptitle("A question about a dataframe is one about python, unsaid")
plt.show()
