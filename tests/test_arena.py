"""The arena: entries that are tuned alike, limits, costs, and more metrics."""

import importlib.util
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, f1_score, pairwise_distances

from homi import HOMICV
from homi.benchmark import arena, compute, runner
from homi.benchmark.cells import Cell
from homi.benchmark.experiment import Experiment, Large, Limit
from homi.benchmark.experiment_file import read_experiment
from homi.benchmark.limited import Stopped, within
from homi.benchmark.measures import MEASURES, Outcome, measure
from homi.benchmark.methods import ARENA
from homi.benchmark.rival import LabeledRows, scaler
from homi.benchmark.rival_environments import python_of
from homi.benchmark.store import recall, store, stored
from homi.benchmark.usage import saved_bytes
from homi.datasets.registry import registry

ARENA_FILE = Path(__file__).parents[1] / "benchmarks" / "arena.toml"

#: Entries that take seconds even on few rows.
LONG = {"arena-ecc-trees", "arena-powerset-forest", "arena-forest", "arena-catboost"}
LONG |= {"arena-network", "arena-extra-trees", "arena-boomer", "arena-xrfm"}
LONG |= {"arena-ecc-logistic", "arena-linear-svm", "arena-autogluon"}

#: Packages of entries that the extra "arena" installs.
PACKAGES = {f"arena-{name}": name for name in ("lightgbm", "xgboost", "catboost")}


#: Packages of entries with an environment of their own.
ELSEWHERE = {
    "arena-boomer": "mlrl-boomer",
    "arena-xrfm": "xrfm",
    "arena-autogluon": "autogluon.tabular",
}


def has_environment(package):
    try:
        return python_of(package).exists()
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 5))
    Y = (X @ rng.normal(size=(5, 3)) + rng.normal(size=(90, 3)) > 0).astype(int)
    # One label is rare: folds inside the fit may lack it.
    Y[:, 2] = np.arange(90) == 7
    return X, Y


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in ARENA],
)
@pytest.mark.filterwarnings("ignore")
def test_an_entry_answers_and_holds_rows_out(name, rows):
    if (elsewhere := ELSEWHERE.get(name)) and not has_environment(elsewhere):
        pytest.skip(f"{elsewhere} has no environment: HOMI_ARENA_ENVS")
    package = PACKAGES.get(name)
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install 'homi-learn[arena]'")
    X, Y = rows
    model = ARENA[name](random_state=3).fit(X, Y)
    found = model.answers(X)
    assert found.scores.shape == found.probabilities.shape == Y.shape
    np.testing.assert_array_equal(found.labels, found.scores > 0)
    assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()
    held, scores = model.held_out_
    assert sorted(held) == list(range(90))
    # Every row is held out, so its score says less than that of the fitted model.
    common = Y[:, :2] > 0
    fitted, unseen = (
        average_precision_score(Y[:, :2].ravel(), S[:, :2].ravel())
        for S in (found.scores, scores[np.argsort(held)])
    )
    assert common.mean() + 0.1 < unseen <= fitted
    again = ARENA[name](random_state=3).fit(sparse.csr_array(X), Y)
    assert again.answers(sparse.csr_array(X)).scores.shape == Y.shape


def test_the_best_setting_of_held_out_rows_is_taken(rows):
    X, Y = rows
    model = ARENA["arena-ml-knn"](random_state=0)
    chosen = model.fit(X, Y).setting_
    values = {}
    for setting in model._settings(LabeledRows(X, Y > 0)):
        only = ARENA["arena-ml-knn"](random_state=0)
        only._settings = lambda rows, setting=setting: [setting]
        held, scores = only.fit(X, Y).held_out_
        value = average_precision_score(Y[held].ravel(), scores.ravel())
        values[tuple(setting.values())] = value
    assert values[tuple(chosen.values())] == max(values.values())


SCALED = ("ridge", "nystroem", "logistic", "ml-knn", "linear-svm", "ecc-logistic")


@pytest.mark.parametrize("name", [f"arena-{name}" for name in SCALED])
def test_sparse_rows_are_also_tried_as_they_are(name, rows):
    X, Y = rows
    scaled = [s["scale"] for s in ARENA[name]()._settings(LabeledRows(X, Y > 0))]
    assert "none" not in scaled
    settings = ARENA[name]()._settings(LabeledRows(sparse.csr_array(X), Y > 0))
    assert {s["scale"] for s in settings} == {"standard", "none"}


def test_the_widths_of_a_kernel_follow_the_length_of_the_rows(rows):
    X, Y = sparse.csr_array(rows[0]), rows[1] > 0
    first, second = (
        ARENA["arena-rbf-svm"]()._settings(LabeledRows(scale * X, Y))[0]
        for scale in (1, 10)
    )
    assert scaler(first["scale"], X).fit_transform(X) is X
    assert first["gamma"] == pytest.approx(100 * second["gamma"])


def test_leave_one_out_of_distances_is_that_of_fits_without_the_row(rows):
    X, Y = rows
    model = ARENA["arena-ml-mlm"]()
    setting = {"scale": "maxabs"}
    _, fitted, scores = model._fit_model(LabeledRows(X, Y > 0), setting, None)
    scaled = fitted.scaler.transform(X)
    K, D = pairwise_distances(scaled), pairwise_distances(Y.astype(float))
    K -= 1e-6 * K.mean() * np.eye(90)
    for i in (0, 7, 50):
        rest = np.arange(90) != i
        distances = K[i, rest] @ np.linalg.solve(
            K[np.ix_(rest, rest)], D[rest][:, rest]
        )
        weights = np.maximum(distances, 1e-3) ** -fitted.power
        expected = weights @ Y[rest] / weights.sum() - 0.5
        np.testing.assert_allclose(scores[i], expected, atol=1e-6)


def test_an_environment_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HOMI_ARENA_ENVS", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="no environment of mlrl-boomer at"):
        python_of("mlrl-boomer")


def test_our_entry_is_homicv_with_its_defaults(rows):
    X, Y = rows
    entry = ARENA["arena-homicv"](random_state=0).fit(X, Y)
    ours = HOMICV(random_state=0).fit(X, Y)
    found = entry.answers(X)
    np.testing.assert_array_equal(found.scores, ours.decision_function(X))
    np.testing.assert_array_equal(found.probabilities, ours.predict_proba(X))
    np.testing.assert_array_equal(found.labels, ours.predict(X) > 0)


@pytest.fixture
def outcome():
    rng = np.random.default_rng(1)
    Y, known = rng.random((2, 60, 4)) < 0.3
    P, held_out = (
        np.clip(0.3 * T + rng.random(T.shape) * 0.6, 0, 1) for T in (Y, known)
    )
    return Outcome(Y, P - 0.5, P > 0.5, P, known, held_out - 0.5)


def test_thresholds_are_those_that_are_best_on_held_out_scores(outcome):
    cuts = np.unique(outcome.held_out)
    values = [
        f1_score(outcome.known, outcome.held_out > t, average="micro", zero_division=0)
        for t in cuts
    ]
    best = cuts[int(np.argmax(values))]
    # The threshold is halfway to the next score: no test score lies in between here.
    expected = f1_score(outcome.Y, outcome.scores > best, average="micro")
    found = measure(outcome, ["tuned_micro_f1"])["tuned_micro_f1"]
    assert found == pytest.approx(expected, abs=0.01)
    assert found > measure(outcome, ["micro_f1"])["micro_f1"]


def test_average_precisions_are_those_of_scikit_learn(outcome):
    found = measure(outcome, ["micro_average_precision", "macro_average_precision"])
    for kind in ("micro", "macro"):
        expected = average_precision_score(outcome.Y, outcome.scores, average=kind)
        assert found[f"{kind}_average_precision"] == pytest.approx(expected)
    nobody = outcome._replace(Y=np.zeros_like(outcome.Y))
    assert np.isnan(measure(nobody, ["macro_average_precision"]).popitem()[1])


def test_all_measures_lie_between_0_and_1(outcome):
    values = measure(outcome, MEASURES)
    assert all(0 <= value <= 1 for value in values.values())


def double(x):
    return 2 * x


def work_forever():
    while True:
        pass


def take(gigabytes):
    return np.ones(int(gigabytes * 2**27)).sum()


def fail():
    raise ValueError("too few rows")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_limits_stop_what_takes_too_much():
    assert within(1, 4, double, 21) == 42
    assert within(1, 1, take, 3) == Stopped("memory")
    with pytest.raises(RuntimeError, match="ValueError: too few rows"):
        within(1, 4, fail)
    started = time.perf_counter()
    assert within(1 / 60, 4, work_forever) == Stopped("time")
    assert time.perf_counter() - started < 60


SMALL = Experiment(
    "arena",
    ("clean",),
    ("yeast",),
    ("arena-ridge",),
    folds=3,
    metrics=("tuned_macro_f1", "calibration_error"),
)


def test_a_cell_has_the_metrics_and_its_costs(few_rows, tmp_path):
    assert runner.run(SMALL, SMALL.tasks(), tmp_path / "arena") == []
    (cell, record), *others = stored(tmp_path / "arena")
    assert len(others) == 2
    assert list(record["metrics"]) == compute.asked(SMALL, cell)["metrics"]
    assert np.isfinite(list(record["metrics"].values())).all()
    costs = record["cost"]
    assert costs.keys() == {"fit", "predict", "peak_bytes", "model_bytes"}
    assert costs["fit"] > 0
    assert 500 < costs["model_bytes"] < 20_000


def test_a_cell_over_the_limit_is_marked_and_its_other_folds_are_not_tried(
    few_rows, tmp_path, monkeypatch
):
    tried = []

    def over(minutes, gigabytes, function, *arguments):
        tried.append(arguments[1])
        return Stopped("time")

    monkeypatch.setattr(runner, "within", over)
    limited = replace(SMALL, limit=Limit(20, 8))
    assert runner.run(limited, limited.tasks(), tmp_path / "arena") == []
    assert tried == [Cell("clean", "yeast", "arena-ridge", 0)]
    for fold in range(3):
        record = recall(tmp_path / "arena", replace(tried[0], fold=fold))
        assert record["stopped"] == "time"
        assert np.isnan(list(record["metrics"].values())).all()
    assert runner.missing(limited, limited.tasks(), tmp_path / "arena") == []


@pytest.fixture
def results(few_rows, tmp_path):
    """Two entries on two data sets, one of them stopped, and one fold not run."""
    text = ARENA_FILE.read_text(encoding="utf-8")
    methods = text[text.index("methods = [") : text.index("metrics = [")]
    new = 'methods = ["arena-homi", "arena-homicv", "arena-ridge"]\n'
    text = text.replace(methods, new).replace("folds = 5", "folds = 2")
    text = text.replace("minutes = 20", "minutes = 10")
    file, directory = tmp_path / "arena.toml", tmp_path / "results" / "arena"
    file.write_text(text, encoding="utf-8")
    experiment = replace(read_experiment(file), limit=None)
    tasks = [t for t in experiment.tasks(["emotions", "birds", "yeast"]) if t.fold < 2]
    kept = [t for t in tasks if (t.dataset, t.method) != ("birds", "arena-ridge")]
    lacking = Cell("clean", "yeast", "arena-homi", 1)
    kept.remove(lacking)
    assert runner.run(experiment, kept, directory) == []
    for task in set(tasks) - set(kept) - {lacking}:
        record = compute.stopped(experiment, task, "", "time", 600.0)
        store(directory, task, record)
    return arena.read(file, directory)


def test_the_page_of_partial_results(results):
    found = arena.choose(results, results.experiment.datasets)
    # Three data sets of two entries, or two of three: the larger number of rivals.
    assert found.datasets == ["emotions", "birds"]
    assert found.methods == list(results.experiment.methods)
    ranks = arena.ranks_table(results, found, {"ranking_loss": "Ranking loss"})
    cells = [[entry.text for entry in row] for row in ranks.rows]
    assert [row[0] for row in cells] == ["HOMI of the paper", "HOMICV", "ridge"]
    means = arena.ranked(results, found, "ranking_loss")
    assert means.loc["birds"].idxmax() == "arena-ridge"
    values = arena.values_table(results, "ranking_loss").markdown()
    assert "over the limit (600 s)" in values
    assert "yeast: all but HOMI of the paper" in arena.missing_line(results)
    assert "delicious: nothing." in arena.missing_line(results)
    records = arena.records_table(results, found)
    # The stopped entry counts on one data set only.
    counts = (entry.text.split(",")[0].split("–") for entry in records.rows[1][1:])
    assert {sum(map(int, count)) for count in counts} == {1}
    verdicts = arena.verdicts_table(results, found)
    assert [row[0].text for row in verdicts.rows] == list(arena.QUALITY.values())
    assert {row[3].text for row in verdicts.rows} <= {"HOMI of the paper", "ridge"}
    assert [row[0].text for row in arena.instead(results).rows] == [
        "emotions",
        "birds",
        "yeast",
    ]


def test_rivals_that_are_better_more_often_are_named(results):
    found = arena.choose(results, results.experiment.datasets)
    assert arena.better_more_often(results, found, "here") == []
    # HOMICV and the ridge change names, and the ridge is stopped on one data set.
    names = {arena.OURS: "arena-ridge", "arena-ridge": arena.OURS}
    cells = results.cells.assign(method=results.cells["method"].replace(names))
    is_ridge = (cells["method"] == "arena-ridge") & (cells["dataset"] == "birds")
    measures = list(arena.QUALITY)
    cells.loc[is_ridge, measures] = np.nan
    cells.loc[is_ridge, "stopped"] = "time"
    lines = arena.better_more_often(results._replace(cells=cells), found, "here")
    [line] = [line for line in lines if line.startswith("- ridge, here: ")]
    assert "Micro AP 0–0–1" in line
    assert line.endswith("It is over the limit on birds, and last there.")


def test_a_limit_of_memory_is_not_a_time(results, tmp_path):
    directory = tmp_path / "results" / "arena"
    for file in directory.glob("clean/birds/arena-ridge/*.json"):
        record = json.loads(file.read_text(encoding="utf-8"))
        assert record["stopped"] == "time"
        record["stopped"], record["seconds"]["fit"] = "memory", 12.3
        file.write_text(json.dumps(record), encoding="utf-8")
    found = arena.read(tmp_path / "arena.toml", directory)
    values = arena.values_table(found, "ranking_loss").markdown()
    assert "over the limit (8 GB, 12 s)" in values
    for name, is_time in ((results, True), (found, False)):
        ratio = arena.ratios(name, "fit").loc["birds", "arena-ridge"]
        assert np.isfinite(ratio) == is_time


def test_times_are_compared_on_the_same_folds_of_one_machine(results):
    cells = results.cells.copy()
    of_two = results._replace(cells=cells)
    birds, first = cells["dataset"] == "birds", cells["fold"] == 0
    ours, paper = (cells["method"] == m for m in (arena.OURS, "arena-homi"))
    fits = cells.set_index(["dataset", "method", "fold"])["fit"]

    def ratios_if_elsewhere(cells_of_another_machine):
        cells["processor"] = results.cells["processor"].mask(
            cells_of_another_machine, "another one"
        )
        return arena.ratios(of_two, "fit")

    def ratio(dataset, fold):
        return fits[dataset, "arena-homi", fold] / fits[dataset, arena.OURS, fold]

    found = ratios_if_elsewhere(birds & False)
    assert (found[arena.OURS] == 1).all()
    expected = np.median([ratio("birds", 0), ratio("birds", 1)])
    assert found.loc["birds", "arena-homi"] == pytest.approx(expected)
    # HOMICV ran elsewhere on birds: nothing there can be compared with it.
    found = ratios_if_elsewhere(birds & ours)
    assert found.loc["birds"].drop(arena.OURS).isna().all()
    assert found.loc["emotions"].notna().all()
    # One fold of either ran elsewhere: the other fold is compared.
    for elsewhere in (ours, paper):
        found = ratios_if_elsewhere(birds & first & elsewhere)
        assert found.loc["birds", "arena-homi"] == pytest.approx(ratio("birds", 1))
    # That fold of all ran on the other machine.
    found = ratios_if_elsewhere(birds & first)
    assert found.loc["birds", "arena-homi"] == pytest.approx(expected)
    # It ran on a machine of which too little is known.
    cells["processor"] = results.cells["processor"].mask(birds & first, arena.NAMELESS)
    found = arena.ratios(of_two, "fit")
    assert found.loc["birds", "arena-homi"] == pytest.approx(ratio("birds", 1))
    cells["processor"] = results.cells["processor"].mask(birds, arena.NAMELESS)
    assert arena.ratios(of_two, "fit").loc["birds"].isna().all()
    seconds = arena.our_fits(of_two)
    assert list(seconds.index) == sorted(set(cells["dataset"]) - {"birds"})


def test_costs_are_medians_of_ratios(results):
    found = arena.choose(results, results.experiment.datasets)
    table = arena.costs_table(results, found)
    ratios = arena.ratios(results, "fit").loc[found.datasets, "arena-homi"]
    row = [entry.text for entry in table.rows[0]]
    assert row[0] == "HOMI of the paper"
    assert float(row[2]) == pytest.approx(ratios.median(), rel=0.06)
    low, high = map(float, row[3].split("–"))
    assert low <= float(row[2]) <= high
    assert row[4] == "2"
    # No machine ran an entry beside HOMICV.
    elsewhere = results.cells["processor"].mask(
        results.cells["method"] == "arena-homi", "another one"
    )
    apart = results._replace(cells=results.cells.assign(processor=elsewhere))
    row = [entry.text for entry in arena.costs_table(apart, found).rows[0]]
    assert row[2:6] == ["", "", "0", ""]


def test_the_table_of_the_readme_ranks_all_entries_and_shows_some(results):
    groups = {"judged": ["emotions", "birds"]}
    judged = results._replace(experiment=replace(results.experiment, groups=groups))
    names = {"arena-homicv": "**ours**", "arena-homi": "paper", "arena-forest": "no"}
    table = arena.summary_table(judged, names)
    assert [row[0].text for row in table.rows] == ["**ours**", "paper"]
    assert "2 data sets" in table.caption
    assert "of 3 entries" in table.caption
    losses = results.means("ranking_loss").loc[["emotions", "birds"]]
    # The ridge was stopped on one data set: the last of three.
    ranks = rankdata(losses.fillna(np.inf), axis=1).mean(axis=0)
    expected = dict(zip(losses.columns, ranks, strict=True))
    assert [float(row[1].text) for row in table.rows] == [
        pytest.approx(expected[m], abs=0.05) for m in ("arena-homicv", "arena-homi")
    ]
    fits = arena.ratios(results, "fit").loc[["emotions", "birds"], "arena-homi"]
    assert [row[-1].text for row in table.rows] == [
        "1",
        f"{float(f'{fits.median():.2g}'):g}",
    ]


@pytest.mark.parametrize(
    ("least", "datasets", "entries"), [(1, 2, 3), (2, 2, 3), (3, 3, 2), (9, 3, 2)]
)
def test_most_entries_that_share_some_data_sets(
    results, monkeypatch, least, datasets, entries
):
    monkeypatch.setattr(arena, "_FEW", least)
    every = results.experiment.datasets
    found = arena.choose(results, every, most_entries=True)
    assert (len(found.datasets), len(found.methods)) == (datasets, entries)


def test_large_data_sets_have_fewer_folds():
    experiment = replace(SMALL, large=Large(5000, 2))
    assert experiment.folds_of("yeast") == 3
    assert experiment.folds_of("bibtex") == 2
    assert registry()["corel5k"].n_samples == 5000
    assert experiment.folds_of("corel5k") == 3


def test_design_and_judgment_are_apart():
    experiment = read_experiment(ARENA_FILE)
    design, judged = (set(experiment.groups[name]) for name in ("design", "judged"))
    assert not design & judged
    assert design | judged == set(experiment.datasets)
    assert (len(design), len(judged)) == (12, 9)
    assert all(name.split(" ")[0] in ARENA for name in experiment.methods)


def test_a_model_without_a_file_of_ours_is_pickled(rows):
    X, Y = rows
    model = ARENA["arena-ridge"](random_state=0).fit(X, Y)
    assert saved_bytes(model.model_) < 20_000
    assert saved_bytes(np.zeros(1000)) > 8000
