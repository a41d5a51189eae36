"""Labels that are probably wrong, and labels to ask about."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.multioutput import MultiOutputClassifier
from typer.testing import CliRunner

from homi import HOMI, HOMICV
from homi.cli.app import app
from homi.dependence import LabelDependence, ask, audit
from homi.dependence.ask import questions
from homi.dependence.label_noise import (
    LabelNoise,
    binned,
    fit_label_noise,
    most_wrong,
    refit,
)
from homi.dependence.suspicion import confidence_interval, suspicion
from homi.dependence.swaps import pairs, swap_rate
from homi.io import load_model
from homi.joint import JointModel
from homi.joint.label_sets import LabelSets, Sharpness
from homi.joint.model import Weights
from homi.thresholds import TunedThresholds

NAMES = ["sun", "sea", "sand", "snow"]
QUICK = {
    **{"widths": [], "lams": [1.0, 10.0], "trees": False},
    **{"betas": [], "label_weights": []},
}


def rows(seed, n=500):
    """Labels of a hidden cause, which features say a part of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    cause = 4 * rng.normal(size=(n, 1)) * [1, 1, 1, -1]
    Y = rng.random((n, 4)) < expit(3 * X[:, :4] + cause)
    return X, Y.astype(int)


X, Y = rows(0)


def flipped(Y, share, seed=0):
    return Y ^ (np.random.default_rng(seed).random(Y.shape) < share)


NOISY = flipped(Y, 0.05)
WRONG = NOISY != Y


@pytest.fixture(scope="module")
def found():
    frame = pd.DataFrame(NOISY, columns=NAMES)
    return audit(HOMICV(**QUICK), X, frame, n_listed=None)


def precision(found, wrong=WRONG):
    columns = [NAMES.index(name) for name in found["label"]]
    return average_precision_score(wrong[found["row"], columns], found["score"])


def test_wrong_labels_come_first(found):
    assert list(found.columns) == [
        *("row", "label", "given", "probability", "score", "reason")
    ]
    assert len(found) == Y.size
    assert found["score"].is_monotonic_decreasing
    assert precision(found) > 3 * WRONG.mean()
    given = [
        NOISY[i, NAMES.index(j)] for i, j in zip(found.row, found.label, strict=True)
    ]
    np.testing.assert_array_equal(found["given"], given)
    top = found.head(20)
    np.testing.assert_array_equal(top["given"] == 1, top["probability"] < 0.5)


def test_other_labels_of_a_row_help(found):
    scores = HOMICV(**QUICK).fit_held_out(X, NOISY)
    alone = np.abs(NOISY - expit(scores))
    features_only = average_precision_score(WRONG.ravel(), alone.ravel())
    assert precision(found) > 1.15 * features_only


def test_reasons_name_labels_and_features(found):
    reasons = found.head(20)["reason"]
    assert reasons.str.contains("% by its features, ").all()
    assert reasons.str.contains("label (?:sun|sea|sand|snow)").mean() > 0.8
    assert reasons.str.contains(r"x\d = ").all()
    assert not found.tail(20)["reason"].str.contains(r"x\d = ").any()


def test_held_out_scores_do_not_agree_with_errors():
    """Fully grown trees know the labels of their training rows, right or wrong."""
    trees = ExtraTreesClassifier(20, random_state=0)
    fitted = LabelDependence(trees, cv=3).fit(X, NOISY)
    agrees, found = {}, {}
    for held_out in (True, False):
        table = audit(fitted, X, NOISY, held_out=held_out, n_listed=None)
        table["label"] = [NAMES[int(name[1:])] for name in table["label"]]
        agrees[held_out] = ((table["probability"] > 0.5) == table["given"]).mean()
        found[held_out] = precision(table)
    assert agrees[False] > agrees[True] + 0.1
    assert found[True] > found[False]


def test_a_fitted_model_judges_rows_that_it_has_not_seen():
    clean, labels = rows(2)
    model = HOMICV(**QUICK).fit(clean, pd.DataFrame(labels, columns=NAMES))
    frame = pd.DataFrame(NOISY, columns=NAMES)
    found = audit(model, X, frame, held_out=False, n_listed=None)
    assert precision(found) > 3 * WRONG.mean()
    few = audit(model, X[:5], frame[:5], held_out=False, n_listed=None)
    both = found[found["row"] < 5].merge(few, on=["row", "label"])
    np.testing.assert_allclose(both["probability_x"], both["probability_y"])


def test_labels_of_a_fitted_model_are_matched_by_name():
    clean, labels = rows(2)
    model = HOMICV(**QUICK).fit(clean, pd.DataFrame(labels, columns=NAMES))
    frame = pd.DataFrame(NOISY[:60], columns=NAMES)
    found = audit(model, X[:60], frame, held_out=False)
    swapped = frame[NAMES[::-1]]
    with pytest.raises(ValueError, match="Y has its labels in another order"):
        audit(model, X[:60], swapped, held_out=False)
    with pytest.raises(ValueError, match="Y has its labels in another order"):
        found.corrected(swapped)
    tags = [[name for name in NAMES if row[name]] for _, row in frame.iterrows()]
    by_tags = audit(model, X[:60], tags, held_out=False)
    pd.testing.assert_frame_equal(by_tags, found)
    tags[7] = [*tags[7], "fog"]
    with pytest.raises(ValueError, match="row 7 of Y has the tag 'fog', which the mod"):
        audit(model, X[:60], tags, held_out=False)


def test_a_corrected_data_frame_of_polars():
    polars = pytest.importorskip("polars")
    given = polars.DataFrame(NOISY, schema=NAMES)
    found = audit(HOMICV(**QUICK), polars.DataFrame(X), given, n_explained=0)
    fixed = found.corrected(given, 0.8)
    assert fixed.schema == given.schema
    np.testing.assert_array_equal(fixed, found.corrected(NOISY, 0.8))


@pytest.fixture(scope="module")
def of_sparse_labels():
    return audit(HOMICV(**QUICK), X, sparse.csr_array(NOISY), n_explained=0)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_a_corrected_copy(container, of_sparse_labels):
    given, found = container(NOISY), of_sparse_labels
    before = given.copy()
    fixed = found.corrected(given, 0.8)
    assert type(fixed) is type(given)
    changed = np.asarray(abs(fixed - before).sum()).sum()
    assert changed == (found["score"] > 0.8).sum() > 5
    assert np.asarray(abs(given - before).sum()).sum() == 0
    some = found[found["row"] < 100]
    assert some.n_wrong == found.n_wrong
    assert abs(some.corrected(given, 0) - before).sum().sum() == len(some)
    with pytest.raises(ValueError, match="not what was audited"):
        found.corrected(fixed, 0.8)
    with pytest.raises(ValueError, match=r"the audited labels had \(500, 4\)"):
        found.corrected(NOISY[:9])
    with pytest.raises(ValueError, match="threshold must be between 0 and 1, got 80"):
        found.corrected(given, 80)


@pytest.mark.parametrize("rates", [(0.05, 0.05), (0.0, 0.2), (0.1, 0.0)])
def test_rates_of_noise_are_estimated(rates):
    rng = np.random.default_rng(3)
    S = 3 * rng.normal(size=(4000, 5)) - 1
    true = rng.random(S.shape) < expit(S)
    flips = rng.random(S.shape) < np.where(true, rates[1], rates[0])
    noise = fit_label_noise(binned(S, (true ^ flips).astype(float)))
    wrong = noise.wrong(S, true ^ flips)
    assert wrong.sum() == pytest.approx(flips.sum(), rel=0.25)
    sure = wrong > 0.6
    assert flips[sure].mean() == pytest.approx(wrong[sure].mean(), abs=0.1)
    if min(rates) == 0:
        assert (noise.missing > 5 * noise.spurious) == (rates[1] > rates[0])


def test_labels_that_are_surely_absent_tell_the_rate_of_spurious_ones():
    """Log-odds are those of the labels as given, with the noise in them."""
    rng = np.random.default_rng(0)
    P = expit(np.linspace(-7, -2, 100) + 2 * rng.normal(size=(1000, 100)))
    true = rng.random(P.shape) < P
    given = (true | (rng.random(P.shape) < 0.1)).astype(float)
    S = logit(0.1 + 0.9 * P) + 0.3 * rng.normal(size=P.shape)
    noise = fit_label_noise(binned(S, given))
    assert 0.09 < noise.spurious < 0.11
    found = noise.wrong(S, given).sum()
    assert found == pytest.approx((given != true).sum(), rel=0.1)


@pytest.mark.parametrize("rates", [(0.01, 0.01), (0.03, 0.001), (0.001, 0.03)])
def test_a_lower_limit_of_the_rate_of_spurious_labels_binds(rates):
    """Wherever the likelihood is greater below it, the rate is at the limit."""
    rng = np.random.default_rng(4)
    S = 3 * rng.normal(size=(2000, 5))
    true = rng.random(S.shape) < expit(S)
    flips = rng.random(S.shape) < np.where(true, rates[1], rates[0])
    counts = binned(S, (true ^ flips).astype(float))
    free = fit_label_noise(counts._replace(least=0.0))
    assert free.spurious < 0.06
    for limited in (
        fit_label_noise(counts._replace(least=0.08)),
        refit(free, counts._replace(least=0.08)),
    ):
        assert limited.spurious == pytest.approx(0.08, rel=1e-3)
        # Fewer missing than spurious labels stay fewer by the same ratio of odds.
        gap = logit(free.missing) - logit(free.spurious)
        assert logit(limited.missing) >= logit(0.08) + min(gap, 0.0) - 0.01


def test_labels_of_one_row_set_no_lower_limit():
    """They are found among the surest labels without any noise."""
    rng = np.random.default_rng(5)
    Y = np.zeros((50, 200))
    Y[rng.integers(50, size=200), np.arange(200)] = 1.0
    S = rng.normal(logit(1 / 50), 0.01, size=Y.shape)
    assert binned(S, Y).least == 0.0


def test_no_more_labels_are_spurious_than_are_given():
    rng = np.random.default_rng(6)
    Y = (rng.random((200, 20)) < 0.01).astype(float)
    assert most_wrong(rng.normal(size=Y.shape), Y) <= Y.sum()


@pytest.mark.parametrize("kind", ["flipped", "missing", "swapped"])
@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_no_more_labels_are_wrong_than_the_surest_ones_allow(kind, scale):
    """Whether log-odds say much or little; they are those of the labels as given."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        S = scale * rng.normal(size=(1000, 8)) - 2
        true, chance = rng.random(S.shape) < expit(S), rng.random(S.shape)
        if kind == "flipped":
            given = true ^ (chance < 0.1)
        elif kind == "missing":
            given = true & (chance > 0.2)
        else:
            given = true.copy()
            for i, j in np.argwhere(true & (chance < 0.1)):
                other = np.where(given[i], -np.inf, S[i]).argmax()
                given[i, [j, other]] = False, True
        wrong = (given != true).sum()
        assert wrong < most_wrong(S, given) < 0.5 * S.size
    few = most_wrong(8 * S, (S > 0).astype(float))
    assert 0 < few < 0.02 * S.size


def test_labels_that_are_rare_by_chance_do_not_look_sure():
    """All given labels are wrong, and log-odds know how many each label has."""
    for seed in range(5):
        given = np.random.default_rng(seed).random((200, 300)) < 0.05
        S = np.tile(logit(given.mean(axis=0)), (200, 1))
        assert most_wrong(S, given) > 0.95 * given.sum()


def test_the_probability_that_a_label_is_wrong_is_that_of_bayes():
    noise = LabelNoise(1.0, 0.0, 0.1, 0.3)
    S = logit(np.array([[0.2, 0.2]]))
    expected = [
        0.1 * 0.8 / (0.1 * 0.8 + 0.7 * 0.2),
        0.3 * 0.2 / (0.3 * 0.2 + 0.9 * 0.8),
    ]
    np.testing.assert_allclose(noise.wrong(S, np.array([[1, 0]]))[0], expected)


@pytest.mark.parametrize("share", [0.02, 0.1])
def test_the_interval_holds_the_number_of_wrong_labels(share):
    """Nine of ten times, if the rates are right; here at least six of eight."""
    held = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        S = 3 * rng.normal(size=(1000, 4))
        true = rng.random(S.shape) < expit(S)
        given = flipped(true, share, seed).astype(float)
        noise = fit_label_noise(binned(S, given))
        low, high = confidence_interval(noise, S, given)
        held += low < (given != true).sum() < high
    assert held >= 6


def test_swapped_labels_are_judged_together():
    """Of labels that exclude each other, a swapped one agrees with the others."""
    rng = np.random.default_rng(5)
    S = 3 * rng.normal(size=(1500, 4)) - 2
    label = (S + rng.gumbel(size=S.shape)).argmax(axis=1)
    swapped = rng.random(1500) < 0.1
    given = np.where(swapped, (label + rng.integers(1, 4, 1500)) % 4, label)
    wrong = np.eye(4)[label] != np.eye(4)[given]
    found = suspicion(S, np.eye(4)[given])
    alone = average_precision_score(
        wrong.ravel(), np.abs(np.eye(4)[given] - expit(S)).ravel()
    )
    assert average_precision_score(wrong.ravel(), found.wrong.ravel()) > 1.1 * alone
    low, high = found.interval
    assert low < wrong.sum() < high
    certain = (found.wrong > 0.9) & (found.partner >= 0)
    right = np.where(np.eye(4)[given] > 0, label[:, None], given[:, None])
    assert (found.partner == right)[certain].mean() > 0.9


def test_the_share_of_swapped_pairs_is_the_likeliest():
    """Each pair alone: swapped with probability r, and by features otherwise."""
    rng = np.random.default_rng(2)
    S = 3 * rng.normal(size=(4000, 2))
    first = rng.random(4000) < expit(S[:, 0] - S[:, 1])
    right = np.column_stack([first, ~first]).astype(float)
    assert swap_rate(pairs(S, right, np.zeros_like(S))) == 0
    swapped = rng.random(4000) < 0.05
    given = np.where(swapped[:, None], 1 - right, right)
    gain = ((1 - 2 * given) * S).sum(axis=1)
    r = np.linspace(0.001, 0.2, 2000)[:, None]
    likeliest = r[np.log(1 - r + r * np.exp(gain)).sum(axis=1).argmax(), 0]
    found = swap_rate(pairs(S, given, np.zeros_like(S)))
    assert found == pytest.approx(likeliest, rel=0.1)
    assert swap_rate(pairs(S, given, np.full(S.shape, 0.99))) == 0


def test_the_reason_names_the_swapped_label():
    """Labels that exclude each other, of which features tell most."""
    rng = np.random.default_rng(3)
    X = 4 * rng.normal(size=(600, 4))
    label = (X + rng.gumbel(size=X.shape)).argmax(axis=1)
    swapped = rng.random(600) < 0.1
    given = np.where(swapped, (label + 1) % 4, label)
    frame = pd.DataFrame(np.eye(4, dtype=int)[given], columns=NAMES)
    found = audit(HOMICV(**QUICK), X, frame).head(20)
    for given, words in ((1, "given instead of"), (0, "missing, instead there is")):
        reasons = found.loc[found["given"] == given, "reason"]
        assert reasons.str.contains(f"{words} (?:{'|'.join(NAMES)})").mean() > 0.5


def test_any_classifier_can_be_the_judge():
    frame = pd.DataFrame(NOISY, columns=NAMES)
    for model in (
        MultiOutputClassifier(LogisticRegression()),
        TunedThresholds(HOMICV(**QUICK)),
        HOMICV(**QUICK, calibration=None),
    ):
        found = audit(model, X, frame, n_listed=100, n_explained=3)
        assert len(found) == 100
        assert precision(found) > 3 * WRONG.mean()


def test_malformed_audits():
    with pytest.raises(ValueError, match="a 0/1 column for each label"):
        audit(HOMICV(**QUICK), X, Y[:, 0])
    with pytest.raises(ValueError, match="HOMI has no joint model"):
        audit(HOMI().fit(X, Y), X, Y, held_out=False)
    with pytest.raises(ValueError, match=r"Y has shape \(500, 3\)"):
        audit(HOMICV(**QUICK).fit(X, Y), X, Y[:, :3], held_out=False)
    with pytest.raises(ValueError, match="n_listed must be at least 1, or None"):
        audit(HOMICV(**QUICK), X, Y, n_listed=0)


@pytest.fixture(scope="module")
def model():
    return HOMICV(**QUICK).fit(X, pd.DataFrame(Y, columns=NAMES))


def test_questions_are_the_best_by_brute_force():
    """The first question leaves the least summed variance of a Gaussian."""
    rng = np.random.default_rng(8)
    A = rng.normal(size=(6, 9))
    empty = LabelSets(np.zeros((1, 6)), np.zeros(1), np.zeros(1))
    sharp, weights = Sharpness(1.0, 6.0, 0.3, 0.3), Weights(0.0, 1.0, 0.0)
    joint = JointModel(A @ A.T, empty, sharp, weights, np.ones(len(A)))
    S, known = rng.normal(size=6), np.array([np.nan, 1, np.nan, np.nan, 0, np.nan])
    C = joint.conditional_covariance(S, known)
    left = {
        j: np.trace(C) - (C[:, j] @ C[:, j]) / C[j, j]
        for j in np.flatnonzero(np.isnan(known))
    }
    found = questions(joint, S, known, 9)
    assert found[0] == min(left, key=left.get) != np.diag(C).argmax()
    assert sorted(found) == [0, 2, 3, 5]


def test_ask_returns_names_of_unknown_labels(model):
    new, true = rows(7, n=50)
    known = pd.DataFrame({"sea": true[:, 1].astype(float)})
    known.loc[::2, "sea"] = np.nan
    found = ask(model, new, known, k=2)
    assert [len(labels) for labels in found] == [2] * 50
    assert all("sea" not in labels for labels in found[1::2])
    assert {name for labels in found for name in labels} == {*NAMES}
    assert ask(TunedThresholds(HOMICV(**QUICK), cv="own").fit(X, Y), new[:1], k=9)
    assert ask(model, new[:2], true[:2]) == [[], []]
    assert len(ask(model, new[:1], k=9)[0]) == 4


def test_answers_reduce_the_error_more_than_those_of_random_questions(model):
    new, true = rows(8, n=300)
    rng, errors = np.random.default_rng(0), []
    for order in (ask(model, new, k=1), [[NAMES[rng.integers(4)]] for _ in new]):
        known = np.full(true.shape, np.nan)
        for i, (name,) in enumerate(order):
            known[i, NAMES.index(name)] = true[i, NAMES.index(name)]
        P = model.predict_proba(new, known=known)
        errors.append(np.mean((P - true) ** 2))
    assert errors[0] < errors[1]


def test_malformed_questions(model):
    with pytest.raises(TypeError, match=r"LabelDependence\(\.\.\.\)"):
        ask(LogisticRegression(), X)
    with pytest.raises(ValueError, match="whole number of at least 1, got 0"):
        ask(model, X, k=0)
    with pytest.raises(ValueError, match=r"whole number of at least 1, got 1\.5"):
        ask(model, X, k=1.5)
    with pytest.raises(ValueError, match="only 0, 1 and NaN"):
        ask(model, X, np.full(Y.shape, 2))


# `homi audit`, `homi ask` and `homi predict --known`, from files to files.


TAGS = ["tag_a", "tag_b", "tag_c"]
LABELS = [
    tag.removeprefix("tag_") for tag in TAGS
]  # of the model, and all that people read


def frame(seed, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    cause = 3 * rng.normal(size=(n, 1)) * [1, 1, -1]
    Y = (rng.random((n, 3)) < expit(3 * X + cause)).astype(int)
    return pd.DataFrame(X, columns=list("xyz")).join(pd.DataFrame(Y, columns=TAGS))


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    pytest.importorskip("safetensors")
    path = tmp_path_factory.mktemp("audit")
    frame(0).to_csv(path / "train.csv", index=False)
    new = frame(1, n=40)
    new.loc[::2, "tag_a"] = np.nan
    new["tag_b"] = np.nan
    new.drop(columns="tag_c").to_csv(path / "new.csv", index=False)
    fit = ["fit", path / "train.csv", "--labels", "tag_*", "--linear"]
    run(*fit, "-o", path / "model.homi")
    return path


def test_predict_with_known_labels(here):
    model, new = load_model(here / "model.homi"), pd.read_csv(here / "new.csv")
    rows = ["predict", here / "model.homi", here / "new.csv", "--known", "tag_*"]
    run(*rows, "--proba", "-o", here / "out.csv")
    found = pd.read_csv(here / "out.csv")
    known = new[["tag_a", "tag_b"]].set_axis(["a", "b"], axis=1)
    expected = model.predict_proba(new[["x", "y", "z"]], known=known)
    columns = [f"probability:{name}" for name in LABELS]
    np.testing.assert_allclose(found[columns], expected, atol=1e-12)
    given = known["a"].notna()
    np.testing.assert_array_equal(found["a"][given], known["a"][given])
    np.testing.assert_array_equal(found[LABELS], expected > 0.5)


def test_known_labels_of_a_tuned_model(here):
    train = [here / "train.csv", "--labels", "tag_*", "--linear"]
    tune = ["--tune", "macro_f1", "--strategy", "per_label"]
    run("fit", *train, *tune, "-o", here / "tuned.homi")
    rows = [here / "tuned.homi", here / "new.csv", "--known", "tag_*"]
    run("predict", *rows, "--proba", "-o", here / "tuned.csv")
    found, new = pd.read_csv(here / "tuned.csv"), pd.read_csv(here / "new.csv")
    model = load_model(here / "tuned.homi")
    known = new[["tag_a", "tag_b"]].set_axis(["a", "b"], axis=1)
    expected = model.predict(new[["x", "y", "z"]], known=known)
    np.testing.assert_array_equal(found[LABELS], expected)
    given = known["a"].notna()
    np.testing.assert_array_equal(found["a"][given], known["a"][given])
    asked = json.loads(run("ask", *rows, "--json").stdout)["rows"]
    assert len(asked) == len(new)


def test_ask(here):
    new = pd.read_csv(here / "new.csv")
    rows = ["ask", here / "model.homi", here / "new.csv", "--known", "tag_*", "-k", 2]
    found = json.loads(run(*rows, "--json").stdout)["rows"]
    model = load_model(here / "model.homi")
    known = new[["tag_a", "tag_b"]].set_axis(["a", "b"], axis=1)
    assert found == ask(model, new[["x", "y", "z"]], known, 2)
    run(*rows, "-o", here / "ask.csv")
    table = pd.read_csv(here / "ask.csv", keep_default_na=False)
    assert list(table.columns) == ["row", "ask_1", "ask_2"]
    assert table["ask_1"].tolist() == [row[0] for row in found]
    assert len(json.loads(run(*rows[:3], "--json").stdout)["rows"][0]) == 3


AUDIT = ["--labels", "tag_*", "--linear"]


def test_audit_and_apply(here):
    before = (here / "train.csv").read_bytes()
    train = pd.read_csv(here / "train.csv")
    audit = ["audit", here / "train.csv", *AUDIT]
    result = run(*audit, "--top", 50, "-o", here / "audit.csv")
    assert "labels are wrong, plausibly " in result.stderr
    found = pd.read_csv(here / "audit.csv", keep_default_na=False)
    assert list(found.columns) == [
        *("row", "label", "given", "probability", "score", "reason", "decision")
    ]
    assert len(found) == 50
    assert set(found["label"]) == set(LABELS)
    assert not found["reason"].str.contains("tag_").any()
    assert found["reason"].head(20).str.contains("[xyz] = ").all()
    found["decision"] = found["decision"].astype(object)
    found.loc[[0, 3], "decision"] = (1 - found.loc[[0, 3], "given"]).astype(str)
    found.loc[1, "decision"] = str(found.loc[1, "given"])
    found.to_csv(here / "decisions.csv", index=False)
    apply = [*audit, "--apply", here / "decisions.csv"]
    assert "2 label(s) changed" in run(*apply, "-o", here / "fixed.csv").stderr
    for place in (0, 3):
        row, label = found.loc[place, ["row", "label"]]
        column = f"tag_{label}"
        train.loc[row, column] = 1 - train.loc[row, column]
    pd.testing.assert_frame_equal(pd.read_csv(here / "fixed.csv"), train)
    assert (here / "train.csv").read_bytes() == before
    for name in ("train.csv", "decisions.csv"):
        assert "which would be lost" in run(*apply, "-o", here / name, code=1).stderr


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("decision", "2", "decides '2'"),
        ("label", "q", "about 'q'"),
        ("row", "-1", "of row '-1'"),
        ("row", "999", "is not about"),
        ("given", "0", "is not about"),
    ],
)
def test_malformed_decisions(here, column, value, message):
    (row,) = np.flatnonzero(pd.read_csv(here / "train.csv")["tag_a"])[:1]
    cells = {"row": row, "label": "a", "given": 1, "decision": 0}
    table = pd.DataFrame([cells]).astype(object)
    table.loc[0, column] = value
    table.to_csv(here / "bad.csv", index=False)
    apply = ["audit", here / "train.csv", *AUDIT, "--apply", here / "bad.csv"]
    result = run(*apply, "-o", here / "never.csv", code=1)
    assert message in result.stderr
    assert not (here / "never.csv").exists()


def test_malformed_known_labels(here):
    start = ["predict", here / "model.homi", here / "new.csv", "--known"]
    assert "no label of" in run(*start, "x", code=1).stderr
    assert "no column fits 'q*'" in run(*start, "q*", code=1).stderr
    new = pd.read_csv(here / "new.csv").assign(tag_a=0.5)
    new.to_csv(here / "half.csv", index=False)
    start[2] = here / "half.csv"
    assert "tag_a" in run(*start, "tag_a", code=1).stderr
    paper = ["fit", here / "train.csv", "--labels", "tag_*", "--paper"]
    run(*paper, "-o", here / "paper.homi")
    rows = ["ask", here / "paper.homi", here / "new.csv"]
    assert "has no joint model" in run(*rows, code=1).stderr


def test_texts(here):
    words = {"tag_cat": "meow purr", "tag_dog": "bark fetch"}
    rng = np.random.default_rng(0)
    Y = rng.random((60, 2)) < 0.5
    texts = [" ".join(np.array([*words.values()])[row]) + " the" for row in Y]
    table = pd.DataFrame(Y.astype(int), columns=[*words]).assign(body=texts)
    table.loc[5, "tag_cat"] = 1 - table.loc[5, "tag_cat"]
    table.to_csv(here / "posts.csv", index=False)
    given = ["audit", here / "posts.csv", "--text", "body", "--labels", "tag_*"]
    found = json.loads(run(*given, "--linear", "--json").stdout)["labels"]
    assert (found[0]["row"], found[0]["label"]) == (5, "cat")


def test_decisions_about_tags_in_one_column(tmp_path):
    cells = ["red; round", "round", "", "red"] * 10
    table = pd.DataFrame({"x": range(40), "y": [3, 1, 0, 2] * 10, "tags": cells})
    table.to_csv(tmp_path / "train.csv", index=False)
    decided = [(0, "red", 1, 0), (2, "round", 0, 1), (3, "round", 0, 0)]
    names = ["row", "label", "given", "decision"]
    decisions = pd.DataFrame(decided, columns=names)
    decisions.to_csv(tmp_path / "decided.csv", index=False)
    audit = ["audit", tmp_path / "train.csv", "--tags", "tags"]
    run(*audit, "--apply", tmp_path / "decided.csv", "-o", tmp_path / "fixed.csv")
    table.loc[[0, 2], "tags"] = "round"
    found = pd.read_csv(tmp_path / "fixed.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(found, table)
