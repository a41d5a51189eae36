"""Print how far above the best minimum HOMI's start at zeros can end.

For random problems of 60 rows, 3 features and 4 labels: the objective from zeros
against the least one from five random starts, in percent, worst of the problems.
"""

import argparse
import warnings

import numpy as np

from homi import HOMI

PENALTIES = [(1.0, 1.0), (0.1, 1.0), (0.01, 1.0), (1.0, 10.0), (0.01, 10.0)]


def problem(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    signal = X @ rng.normal(size=(3, 4))
    return X, (signal + rng.normal(size=(60, 4)) > 0).astype(int)


def objective(X, Y, **settings):
    model = HOMI(tol=1e-9, max_iter=2000, **settings).fit(X, Y)
    return sum(model.history_[-1].values())


def excess(X, Y, lam, gamma):
    settings = {"lam": lam, "gamma": gamma}
    best = min(
        objective(X, Y, init="random", random_state=seed, **settings)
        for seed in range(5)
    )
    return objective(X, Y, **settings) / best - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=60)
    problems = [problem(seed) for seed in range(parser.parse_args().problems)]
    print(
        "| λ | γ | worst excess over the best start |", "| --- | --- | --- |", sep="\n"
    )
    for lam, gamma in PENALTIES:
        worst = max(excess(X, Y, lam, gamma) for X, Y in problems)
        print(f"| {lam:g} | {gamma:g} | {100 * worst:.1f} % |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
