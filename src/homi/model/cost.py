"""Estimate time and memory of a fit of HOMICV before it begins.

Operations are counted; how long one takes is measured on the machine at hand. The
counts of operations on scores and in trees were fitted to the measured times of
``benchmarks/homicv_speed.py``.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from homi.model.batches import SAMPLE_ROWS
from homi.model.block_scores import COLUMNS, MANY_ROWS
from homi.model.candidate_features import SEARCH_ROWS
from homi.model.final_odds import TREES, too_large
from homi.model.logistic import is_few_products

#: Evaluations of a sigmoid that cost as much as all work on a score of a row and a
#: label: by the search, by the choice of λ and label weights, and by the calibration.
_SEARCH, _CHOICE, _CALIBRATION = 2_800.0, 800.0, 700.0

#: The same for all passes over a score of more rows than the sample has; for the
#: calibration of a forest; and for a node of a tree, for each root of a feature.
_PASSES, _BLEND, _NODE = 8.0, 3_500.0, 3.0

#: The same for a value of sparse rows and a label, in all logistic regressions.
_LOGISTIC = 30.0

#: Operations of an eigenvalue problem of size p, in p³.
_EIGEN = 22.0

#: Evaluations of a sigmoid that cost as much as what every search does.
_FIXED = 5e7

#: Bytes that the libraries take.
_LIBRARIES = 250 * 2**20


class Rates(NamedTuple):
    """Operations per second in a product, and seconds of a sigmoid and a distance."""

    product: float
    sigmoid: float
    city_block: float


class Size(NamedTuple):
    """Size of a data set; ``stored`` counts values that are not zero.

    ``positives`` counts labels of rows; None where it is unknown.
    """

    rows: int
    features: int
    labels: int
    stored: int
    positives: int | None = None


class Plan(NamedTuple):
    """How a fit would go."""

    route: str
    seconds: float
    seconds_with_trees: float
    bytes: float


def measure_rates() -> Rates:
    """Measure the machine, in about a fifth of a second."""
    rng = np.random.default_rng(0)
    A, z, few = rng.random((1500, 1500)), rng.random(2**18), rng.random((500, 100))
    from sklearn.metrics.pairwise import manhattan_distances

    product = _seconds(lambda: A[:500] @ A) / (2 * 500 * 1500**2)
    sigmoid = _seconds(lambda: expit(z)) / len(z)
    city_block = _seconds(lambda: manhattan_distances(few, few)) / few.size / len(few)
    return Rates(1.0 / product, sigmoid, city_block)


def plan(size: Size, rates: Rates, n_components: int = 1500) -> Plan:
    """Estimate the fit of ``HOMICV()`` with and without trees."""
    n, m, n_labels, stored, positives = size
    held, large = min(n, SAMPLE_ROWS), n > SAMPLE_ROWS
    p = min(n_components, n)
    # Products with sparse rows cost as many operations as values are stored.
    width = min(stored / max(n, 1), m)
    city = 0.0 if large and m > 20 else n * p * width * rates.city_block
    operations = _EIGEN * p**3 + held * (4 * p * p + 2 * p * width)
    scores = min(n, SEARCH_ROWS) * _SEARCH + held * _CHOICE
    if large:
        columns = n_labels + (COLUMNS if n >= MANY_ROWS * p else p)
        operations += n * (p * p + 4 * p * width + 2 * p * columns)
        scores += n * (_PASSES + p / n_labels)
    else:
        scores += n * _CALIBRATION
    if is_few_products(n, m, n_labels, stored) and not large:
        scores += _LOGISTIC * stored
    sigmoids = scores * n_labels + _FIXED
    seconds = operations / rates.product + sigmoids * rates.sigmoid + city
    nodes = TREES * held * np.log2(held + 1) * np.sqrt(m) * _NODE
    trees = (nodes + held * n_labels * _BLEND) * rates.sigmoid
    in_sample = int((positives or 0) * held / max(n, 1))
    grows = too_large(held, m, in_sample) is None
    given = (12 if stored < n * m else 8) * stored + 8 * n * n_labels
    room = 8 * (held * (3 * p + 6 * n_labels) + 6 * p * p) + _LIBRARIES
    return Plan(_route(size), seconds, seconds + grows * trees, given + room)


def _route(size: Size) -> str:
    if size.rows <= SAMPLE_ROWS:
        return f"all {size.rows:,} rows at once"
    return (
        f"hyper-parameters on a sample of {SAMPLE_ROWS:,} rows, then two passes over "
        f"{size.rows:,} rows in blocks"
    )


def _seconds(work: object, repeat: int = 3) -> float:
    """Return the shortest processor time of some calls."""
    assert callable(work)
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return max(min(times), 1e-9)
