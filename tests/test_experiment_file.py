"""Files of experiments: what they ask for, and each mistake by its name."""

import pytest

from experiments import FULL, SMALL
from homi.benchmark.cells import Cell, Study
from homi.benchmark.experiment_file import read_experiment


def test_an_experiment_file(small_file):
    experiment = read_experiment(small_file)
    cells = list(experiment.tasks())
    assert len(cells) == len(set(cells)) == 2 * 1 * 2 * 2
    homi = Cell("clean", "yeast", "HOMI", 0)
    assert experiment.ask(homi).parameters == {"n_neighbors": 2}
    assert experiment.ask(homi).search is None
    published = Cell("as-published", "yeast", "ML-LRC", 0)
    assert experiment.ask(published).parameters == {"standardize": False}
    assert experiment.ask(published).search.points == 2
    assert {cell.method for cell in experiment.tasks(methods=["HOMI"])} == {"HOMI"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"HOMI", "ML-LRC"', '"HOMY", "ML-LRC"', "'HOMY'; did you mean HOMI"),
        ('"yeast"]\nmethods', '"yeest"]\nmethods', "'yeest'; did you mean yeast"),
        ('"clean"', '"cleen"', "'cleen'; did you mean clean"),
        ('name = "small"', "", "no name"),
        ("folds = 2", "fold = 2", "'fold'; did you mean folds"),
        ("points = 2", "point = 2", "point"),
        ("set = { standardize = false }", "", "a rule needs set"),
        ("[search.ML-LRC]", "[search.BR]", "no method is called 'BR'"),
        ("folds = 2", "folds = ", "is not TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named(old, new, message, small_file):
    assert old in SMALL
    small_file.write_text(SMALL.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        read_experiment(small_file)
    assert "small.toml" in str(caught.value)


def test_methods_of_one_protocol_only(tmp_path):
    file = tmp_path / "small.toml"
    only = "[only]\nas-published = ['ML-KNN']\n[sensitivity]"
    file.write_text(FULL.replace("[sensitivity]", only), encoding="utf-8")
    tasks = list(read_experiment(file).tasks(protocols=["as-published"]))
    cells = [task for task in tasks if isinstance(task, Cell)]
    assert {cell.method for cell in cells} == {"ML-KNN"}
    # Studies of HOMI go with it; the folds stay.
    assert [t.kind for t in tasks if isinstance(t, Study)] == ["folds"]
    file.write_text(FULL.replace("[sensitivity]", only.replace("NN", "MM")))
    with pytest.raises(ValueError, match="'ML-KMM'; did you mean ML-KNN"):
        read_experiment(file)


HEAD = SMALL.partition("[search")[0]


A_NAME, A_LIST = "name is .*names a directory", "is .*; expected a list"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        *(('"small"', name, A_NAME) for name in ('"../../esc"', '"/tmp/x"', '"."')),
        *(('"small"', name, A_NAME) for name in ('""', "3", '"a\\nb"', '"a\\u0000b"')),
        ('"small"', f'"{"x" * 400}"', A_NAME),
        *(
            ("folds = 2", f"folds = {value}", "folds is .* from 2 to 100")
            for value in ("1000000", "1", "0", "-3", "2.5", "true", '"5"', "[5]")
        ),
        ("folds = 2", "threads = 0", "threads is 0; .* from 1 to 1,024"),
        ("folds = 2", 'threads = "all"', "threads is 'all'"),
        ('["yeast"]', '"yeast"', A_LIST),
        ('["yeast"]', "{ yeast = 1 }", A_LIST),
        ('["yeast"]', '[["yeast"]]', A_LIST),
        ('["yeast"]', "[]", "datasets is empty"),
        *(
            ('"ML-LRC"', f"'{name}'", "cannot be the name of a directory")
            for name in (
                'HOMI kernel="../../../esc"',
                'HOMI kernel="..\\\\esc"',
                f"HOMI lam={'[' * 9999}",
                f"HOMI lam={'1' * 300}",
            )
        ),
        ('"ML-LRC"', "'HOMI lam=NaN'", "'lam=NaN' in .* is not a setting"),
        ('"ML-LRC"', f"'HOMI lam={'[' * 150}'", "is not a setting"),
        ('"ML-LRC"', "'HOMI lam={}'", "is not a setting"),
    ],
)
def test_a_hostile_value_is_one_sentence(old, new, message, small_file):
    assert old in HEAD
    small_file.write_text(HEAD.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        read_experiment(small_file)
    assert str(caught.value).startswith(str(small_file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (f"deep = {'[' * 100_000}", "is not TOML: maximum recursion"),
        ("search = [1]", "search is .1.; expected a table"),
        ("[search]\nHOMI = 3", "search.HOMI is 3; expected a table"),
        ("[search.HOMI]\nvalidation = 0.5", "points is absent"),
        ("[search.HOMI]\npoints = 0", "points is 0; .* from 1 to"),
        ('[search.HOMI]\npoints = "all"', "points is 'all'"),
        ("[search.HOMI]\npoints = 2\nvalidation = 2.0", "validation is 2.0; .* share"),
        ("[search.HOMI]\npoints = 2\nvalidation = nan", "validation is nan"),
        ('[search.HOMI]\npoints = 2\nmetric = "none"', "no metric is called 'none'"),
        ("[search.HOMI]\npoints = 2\nmetric = 1", "metric is 1; expected a name"),
        ("[rule]\nset = { lam = 1 }", "two brackets"),
        ("rule = [3]", "a rule is 3; expected a table"),
        ("[[rule]]\nset = { lam = nan }", "lam of a rule is nan; .* finite"),
        ("[[rule]]\nset = { lam = 2020-01-01 }", "lam of a rule is datetime"),
        ("[[rule]]\nset = { lam = { a = 1 } }", "lam of a rule is {'a': 1}"),
        ('[[rule]]\nmethod = "HOMY"\nset = { lam = 1 }', "did you mean HOMI"),
        ('[[rule]]\ndataset = "yeest"\nset = { lam = 1 }', "did you mean yeast"),
        ("[[rule]]\ndataset = 3\nset = { lam = 1 }", "dataset of a rule is 3"),
        ('[[rule]]\nmethod = "HOMI"\nset = { lamb = 1 }', "did you mean lam"),
        ("sensitivity = 3", "sensitivity is 3; expected a table"),
        ('[sensitivity]\nbeta = "abc"', "beta is 'abc'; expected a list"),
        ("[sensitivity]\nbeta = [inf]", "beta is inf; .* finite"),
        ('[sensitivity]\nkernel = ["../../esc"]', "cannot be the name of a directory"),
        ('studies = ["folds"]', "studies is .*; expected a table"),
        ('[studies]\nfolds = "yeast"', "studies.folds is 'yeast'; expected a list"),
        ("quick = [1]", "quick is .1.; expected a table"),
        ("[quick]\nfolds = 1000000", "quick.folds is 1000000; .* from 2 to 100"),
        ('[quick]\nmethods = "HOMI"', "quick.methods is 'HOMI'; expected a list"),
    ],
)
def test_a_hostile_part_is_one_sentence(part, message, small_file):
    small_file.write_text(f"{HEAD}\n{part}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        read_experiment(small_file)
    assert str(caught.value).startswith(str(small_file))


def test_a_name_that_is_given_twice_is_run_once(small_file):
    small_file.write_text(SMALL.replace('["yeast"]', '["yeast", "yeast"]', 1))
    assert len(list(read_experiment(small_file).tasks())) == 8


def test_a_file_that_is_no_text_is_named(small_file):
    small_file.write_bytes(HEAD.encode() + b"# \xff\n")
    with pytest.raises(ValueError, match=r"small\.toml is not TOML: .*0xff"):
        read_experiment(small_file)


def test_a_quick_part_may_leave_the_methods(small_file):
    small_file.write_text(f"{SMALL}\n[quick]\nfolds = 2\n", encoding="utf-8")
    assert read_experiment(small_file).quickly().searches.keys() == {"ML-LRC"}


def test_which_tasks_there_are(experiment):
    tasks = list(experiment.tasks())
    assert len(tasks) == len(set(tasks))
    names = {(t.protocol, t.dataset, t.method) for t in tasks if isinstance(t, Cell)}
    everywhere = {"HOMI", "HOMI gamma=0", "ML-KNN"}
    assert {n for p, d, n in names if (p, d) == ("as-published", "emotions")} == (
        everywhere
    )
    assert {n for p, d, n in names if (p, d) == ("clean", "yeast")} == everywhere | {
        "ridge",
        "HOMI gamma=0.5",
        "HOMI lam=5",
    }
    found = {t for t in tasks if isinstance(t, Study)}
    # The data are the same by any protocol.
    assert found == {
        Study("clean", "yeast", "characteristics"),
        Study("clean", "yeast", "convergence"),
        Study("clean", "yeast", "correlations"),
        Study("clean", "yeast", "folds"),
        Study("as-published", "yeast", "convergence"),
        Study("as-published", "yeast", "correlations"),
        Study("as-published", "yeast", "folds"),
    }
    assert not any(isinstance(t, Study) for t in experiment.tasks(methods=["HOMI"]))
    some = set(experiment.tasks(protocols=["as-published"]))
    assert some == {task for task in tasks if task.protocol == "as-published"}
    with pytest.raises(ValueError, match="did you mean clean"):
        list(experiment.tasks(protocols=["claen"]))


def test_rules_hold_for_variants_and_names_have_the_last_word(experiment):
    cell = Cell("clean", "yeast", "HOMI lam=5", 0)
    assert experiment.ask(cell).parameters == {"n_neighbors": 3, "lam": 5}
    assert experiment.ask(Cell("clean", "yeast", "ML-KNN", 0)).parameters == {}
    study = Study("clean", "yeast", "convergence")
    assert experiment.ask(study).parameters == {"n_neighbors": 3, "lam": 2}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"HOMI gamma=0"', '"HOMI gama=0"', "parameter of HOMI.*'gama'.*mean gamma"),
        ('"ridge"', '"rigde"', "'rigde'; did you mean ridge"),
        ("lam = [5]", "lamb = [5]", "parameter of HOMI.*'lamb'; did you mean lam"),
        ('correlations = ["yeast"]', 'correlation = ["yeast"]', "mean correlations"),
        ('correlations = ["yeast"]', 'correlations = ["birds"]', "'birds'"),
        ('methods = ["HOMI"]\n', 'methods = ["HOMY"]\n', "'HOMY'; did you mean HOMI"),
    ],
)
def test_a_mistake_is_named(old, new, message, full_file):
    assert old in FULL
    full_file.write_text(FULL.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_experiment(full_file)


def test_a_quick_run_is_a_small_part(experiment):
    quick = experiment.quickly()
    assert quick.name == "small-quick"
    assert not quick.times
    assert {task.dataset for task in quick.tasks()} == {"yeast"}
    assert quick.methods == ("HOMI",)
    with pytest.raises(ValueError, match=r"no \[quick\] part"):
        quick.quickly()


def test_sensitivity_on_any_data_set(experiment):
    more = experiment.varied_on(["emotions", "yeast"])
    assert more.sensitivity.datasets == ("yeast", "emotions")
    cells = set(more.tasks()) - set(experiment.tasks())
    assert {(c.dataset, c.method) for c in cells} == {
        ("emotions", "HOMI gamma=0.5"),
        ("emotions", "HOMI lam=5"),
    }
    with pytest.raises(ValueError, match="'yeest'; did you mean yeast"):
        experiment.varied_on(["yeest"])
