"""How fast the ranking metrics are, as ratios to one numpy.sort of the same scores.

Scores of delicious' size (16,105 × 983), one thread, median of repeats taken in turns.
The goal for ranking loss is 5; scikit-learn's is shown beside it.
"""

import argparse
import statistics
import time

import numpy as np
from sklearn.metrics import label_ranking_loss
from threadpoolctl import threadpool_limits

from homi.metrics import macro_auc, ranking_loss

SHAPE, GOAL = (16_105, 983), 5.0


def measure(density, repeats):
    """Median seconds of each call on random scores with this share of positives."""
    rng = np.random.default_rng(0)
    scores, Y = rng.normal(size=SHAPE), rng.random(SHAPE) < density
    calls = {
        "numpy.sort": lambda: np.sort(scores, axis=1),
        "ranking_loss": lambda: ranking_loss(Y, scores),
        "macro_auc": lambda: macro_auc(Y, scores),
        "scikit-learn's label_ranking_loss": lambda: label_ranking_loss(Y, scores),
    }
    samples = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.process_time()
            call()
            samples[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in samples.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    options = parser.parse_args()
    print("| positives | call | seconds | × numpy.sort | goal |\n|" + " --- |" * 5)
    with threadpool_limits(limits=1):
        for density in (0.0193, 0.5):
            seconds = measure(density, options.repeats)
            for name, value in seconds.items():
                ratio = value / seconds["numpy.sort"]
                goal = "-"
                if name == "ranking_loss":
                    goal = f"<= {GOAL:g}: {'pass' if ratio <= GOAL else 'MISS'}"
                print(
                    f"| {density:.1%} | {name} | {value:.3f} | {ratio:.2f} | {goal} |"
                )


if __name__ == "__main__":
    main()
