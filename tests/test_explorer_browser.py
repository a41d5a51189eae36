"""The label explorer in a real browser: what it answers to clicks, keys and words."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from browser import LABELS, read_decisions
from homi.cli.app import app
from homi.dependence import ask
from homi.explorer.evidence import phi
from homi.explorer.relations import partial_correlations


@pytest.fixture(scope="module")
def values(page_of_six):
    """Relations of the page, computed here."""
    model = page_of_six.model
    Y = page_of_six.train_Y.astype(float)
    return {
        "phi": phi(Y.T @ Y, len(Y)) - np.eye(6),
        "errors": partial_correlations(model.joint_model_.covariance),
    }


def extremes(column, label, sign, most=6):
    """The strongest entries of one sign, strongest first."""
    found = {i: v for i, v in enumerate(column) if i != label and v * sign > 0}
    return dict(sorted(found.items(), key=lambda item: -abs(item[1]))[:most])


def test_nothing_is_requested_and_nothing_complains(six):
    six.open()
    six.look_for("sad", "Enter")
    six.run("() => { for (const b of document.querySelectorAll('button')) b.click() }")
    six.run("() => window.scrollTo(0, document.body.scrollHeight)")
    asked = [url for url in six.tab.asked if not url.startswith("blob:")]
    assert set(asked) == {six.path.as_uri()}
    policy = six.one("meta[http-equiv=Content-Security-Policy]")
    said = policy.get_attribute("content")
    assert said.startswith("default-src 'none'")
    assert "unsafe-eval" not in said
    assert "http" not in said
    assert six.tab.complaints == []
    six.tab.asked[:] = asked


def test_names_and_texts_are_shown_as_they_are(six):
    six.open()
    assert six.page.title() == "<i>Six</i> & more"
    for label in (1, 2):
        six.look_for(LABELS[label], "Enter")
        assert six.chosen() == label
    assert six.one("#card b, #rows b, #rows script").count() == 0
    shown = six.one("#quality-table").text_content()
    assert all(name in shown for name in LABELS)
    assert "<b>text</b> " in six.one("#rows-table").text_content()
    link = six.one("#rows-table a").first
    assert link.get_attribute("href") == "https://e.org/0"


# Labels together


def test_a_click_says_what_goes_with_a_label(six, values):
    six.open()
    for relation in ("phi", "errors"):
        six.one(f"#relations [data-key={relation}]").click()
        for label in (3, 0):
            six.page.mouse.click(*six.disc(label))
            assert six.chosen() == label
            column = values[relation][:, label]
            for title, sign in (("Goes with", 1), ("Goes against", -1)):
                wanted = extremes(column, label, sign)
                assert six.listed(title) == pytest.approx(wanted, abs=6e-4)
                assert list(six.listed(title)) == list(wanted)
    first, *_ = six.listed("Goes with")
    six.one("#card .partners button").first.click()
    assert six.chosen() == first
    six.one("#graph-svg").press("Escape")
    assert six.chosen() == -1


def test_edges_have_the_color_of_their_sign(six, values):
    six.open()
    upper = values["phi"][np.triu_indices(6, 1)]
    order = np.argsort(-np.abs(upper))
    assert six.one("#edges-says").inner_text() == "15 of 15 edges"
    for shown in (15, 4, 0):
        six.one("#edges").fill(str(shown))
        kept = upper[order[:shown]]
        for kind, count in (("raise", (kept > 0).sum()), ("lower", (kept < 0).sum())):
            read = "all => all.map(e => e.getAttribute('d').split('M').length - 1)"
            drawn = six.one(f".edges path.{kind}").evaluate_all(read)
            assert sum(drawn) == count
    assert six.text("#edges-says") == "0 of 15 edges"


def test_the_keyboard_walks_over_the_graph(six):
    six.open()
    graph = six.one("#graph-svg")
    graph.press("ArrowRight")
    seen = {six.chosen()}
    ways = {"Left": (-1, 0), "Up": (0, -1), "Down": (0, 1), "Right": (1, 0)}
    for key, (dx, dy) in [*ways.items()] * 2:
        before = six.disc(six.chosen())
        graph.press(f"Arrow{key}")
        after = six.disc(six.chosen())
        assert (after[0] - before[0]) * dx + (after[1] - before[1]) * dy >= 0
        seen.add(six.chosen())
    assert len(seen) >= 3
    name = six.names[six.chosen()]
    assert six.one("#said").text_content().startswith(f"{name}. Raised most by ")


def test_zoom_brings_labels_nearer_and_the_whole_back(six):
    six.open()
    before = six.disc(0), six.disc(4)
    six.one("#closer").click()
    after = six.disc(0), six.disc(4)
    apart = [np.hypot(*np.subtract(*pair)) for pair in (before, after)]
    assert apart[1] == pytest.approx(1.6 * apart[0], rel=0.01)
    six.one("#whole").click()
    assert six.disc(0) == pytest.approx(before[0])


def test_search_finds_names_and_the_keyboard_takes_one(six):
    six.open()
    six.look_for("a")
    found = six.one("#found [role=option] span:first-child").all_inner_texts()
    # Those that begin with it first, each in their own order.
    assert found[:2] == [LABELS[4], LABELS[5]]
    assert {"calm", "sad"} <= set(found)
    six.one("#search").press("ArrowDown")
    active = six.one("#search").get_attribute("aria-activedescendant")
    assert six.text(f"#{active}").startswith("a name that is much")
    six.one("#search").press("Enter")
    assert six.chosen() == 5
    assert not six.one("#found").is_visible()
    six.look_for("no such label")
    assert six.text("#found") == "No label has this name"


def test_the_matrix_names_the_cell_of_a_key(six, values):
    six.open()
    canvas = six.one("#matrix canvas")
    canvas.press("ArrowRight")
    said = six.text("#matrix output")
    at = {
        f"{a}, {b}": (i, j) for i, a in enumerate(LABELS) for j, b in enumerate(LABELS)
    }
    i, j = at[said.split(": φ ")[0]]
    number = said.split(": φ ")[1].split(",")[0].replace("−", "-")
    assert float(number) == pytest.approx(values["phi"][i, j], rel=0.05)
    canvas.press("Enter")
    assert six.chosen() == j


# Tell it what you know


def test_known_labels_move_probabilities_as_predict_proba_does(six):
    six.open()
    rng = np.random.default_rng(0)
    rows = six.shown_rows()
    model, X = six.model, six.written.X
    for count in (1, 2, 3, 5, 6):
        k = int(rng.integers(len(rows)))
        six.one("#known-row").select_option(str(k))
        six.run("() => document.getElementById('known-clear').click()")
        row, known = X[[rows[k]]], np.full((1, 6), np.nan)
        plain = model.predict_proba(row)[0]
        np.testing.assert_allclose(six.probabilities(), plain, atol=1e-12)
        for label in rng.permutation(6)[:count]:
            known[0, label] = rng.integers(2)
            six.know(int(label), int(known[0, label]))
        wanted = model.predict_proba(row, known=known)[0]
        np.testing.assert_allclose(six.probabilities(), wanted, atol=1e-12)
        asked = int(six.one("#known-next").get_attribute("data-label"))
        questions = ask(model, row, known, k=1)[0]
        assert questions == ([] if asked < 0 else [model.label_names_[asked]])


def test_a_known_label_says_that_it_did_it_and_can_be_taken_back(six):
    six.open()
    before = six.probabilities()
    six.one("[aria-label='sad: yes']").last.click()
    moved = np.abs(six.probabilities() - before)
    item = six.one("#known-list li:not(.is-known)").first
    moved[3] = 0.0
    assert int(item.get_attribute("data-label")) == moved.argmax()
    assert "because of sad" in item.inner_text()
    assert six.run("() => document.activeElement.dataset.know") == "3 1"
    six.page.keyboard.press("Enter")
    np.testing.assert_array_equal(six.probabilities(), before)
    assert six.state("known") == "[]"


def test_reasons_are_the_known_labels_that_moved_a_probability_most(six):
    six.open()
    model, row = six.model, six.written.X[[six.shown_rows()[0]]]
    six.one("#known-row").select_option("0")
    told = {0: 1, 3: 1, 4: 0}
    for label, value in told.items():
        six.know(label, value)

    def log_odds(labels):
        known = np.full((1, 6), np.nan)
        known[0, labels] = [told[j] for j in labels]
        p = model.predict_proba(row, known=known)[0]
        return np.log(p) - np.log1p(-p)

    with np.errstate(divide="ignore"):
        all_told = log_odds(list(told))
        without = {j: log_odds([k for k in told if k != j]) for j in told}
    plain = model.predict_proba(row)[0]
    for u in (1, 2, 5):
        said = six.text(f"#known-list [data-label='{u}']")
        effects = {j: abs(all_told[u] - without[j][u]) for j in told}
        kept = [j for j, e in effects.items() if e > 0.2 * max(effects.values())]
        kept.sort(key=lambda j: -effects[j])
        because = ", ".join(("" if told[j] else "no ") + LABELS[j][:24] for j in kept)
        if abs(plain[u] - 1 / (1 + np.exp(-all_told[u]))) >= 0.0005:
            assert f"because of {because.split(', ')[0][:20]}" in said
            assert said.split("because of ")[1].count(", ") == len(kept) - 1


def test_an_average_row_has_the_shares_of_the_labels(six):
    six.open()
    Y = six.written.train_Y
    share = (Y.sum(axis=0) + 0.5) / (len(Y) + 1)
    np.testing.assert_allclose(six.probabilities(), share, atol=1e-12)


# Rows


def test_the_bars_of_a_row_add_up(six):
    six.open()
    values_ = "bars => bars.map(bar => Number(bar.dataset.value))"
    rows, scores = six.shown_rows(), six.model.decision_function(six.written.X)
    for k in range(3):
        six.one("#rows-table .open").nth(k).click()
        for n in range(6):
            six.one("#score").select_option(str(n))
            bars = six.one("#waterfall li[data-value]").evaluate_all(values_)
            assert sum(bars[:-1]) == pytest.approx(bars[-1], abs=1e-12)
            verdict = six.text("#verdict")
            label = LABELS.index(verdict.split(": log-odds")[0])
            assert bars[-1] == pytest.approx(scores[rows[k], label], abs=1e-9)
            assert (", predicted" in verdict) == (bars[-1] > 0)
            has = "; the row has it" in verdict
            assert has == six.written.Y[rows[k], label]


def test_rows_are_found_sorted_and_opened(six):
    six.open()
    table = six.one("#rows-table tbody tr")
    six.one("#rows-search").fill("text</b> 7")
    assert set(table.locator("th button").all_inner_texts()) <= {
        "row 7",
        *(f"row {k}" for k in range(70, 80)),
    }
    six.one("#rows-search").fill("")
    filled = six.one("#rows-table tbody:not([data-filling])")
    six.one("#rows-table .more").click()
    filled.wait_for()
    assert table.count() == len(six.shown_rows())
    six.one("#rows-table thead button").filter(has_text="errors").click()
    filled.wait_for()
    errors = [
        int(text) for text in six.one("#rows-table td:last-child").all_inner_texts()
    ]
    assert errors == sorted(errors, reverse=True)
    name = table.first.locator("th button").inner_text()
    table.first.locator("th button").click()
    assert six.text("#row h3").startswith(name)
    six.one(
        "#row button",
    ).filter(has_text="Tell what you know").click()
    assert six.one("#known-row").evaluate("e => e.selectedOptions[0].text") == name


def test_the_rows_follow_the_chosen_label(six):
    six.open()
    for label in (4, 2):
        six.look_for(LABELS[label], "Enter")
        assert six.text("#verdict").startswith(f"{LABELS[label]}: log-odds = ")


# Audit


def test_decisions_are_made_by_key_downloaded_and_applied(six, tmp_path):
    six.open()
    listed = six.one("#audit-list")
    listed.press("a")
    listed.press("ArrowDown")
    listed.press("r")
    listed.press("a")
    listed.press("k")
    listed.press("u")
    listed.press("a")
    listed.press("u")
    with six.page.expect_download() as download:
        six.one("#audit-download").click()
    assert download.value.suggested_filename == "decisions.csv"
    six.tab.asked[:] = [url for url in six.tab.asked if not url.startswith("blob:")]
    text = download.value.path().read_text(encoding="utf-8")
    table = list(csv.DictReader(io.StringIO(text)))
    decided = {k: line["decision"] for k, line in enumerate(table) if line["decision"]}
    given = [int(line["given"]) for line in table]
    assert decided == {0: str(1 - given[0]), 2: str(given[2])}
    told = read_decisions(six.state("decisions"))
    assert told == [
        (int(table[k]["row"]), table[k]["label"], decided[k]) for k in decided
    ]
    Y = six.written.Y
    for line in table:
        label = LABELS.index(line["label"])
        assert Y[int(line["row"]), label] == int(line["given"])
    # `homi audit --apply` reads the file as it was downloaded.
    train = pd.DataFrame(Y, columns=[f"tag_{name}" for name in LABELS])
    train.insert(0, "x", six.written.X[:, 0])
    train.to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "decisions.csv").write_text(text, encoding="utf-8")
    words = ["audit", tmp_path / "train.csv", "--labels", "tag_*"]
    words += ["--apply", tmp_path / "decisions.csv", "-o", tmp_path / "corrected.csv"]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    train.loc[int(table[0]["row"]), f"tag_{table[0]['label']}"] = 1 - given[0]
    corrected = pd.read_csv(tmp_path / "corrected.csv")
    pd.testing.assert_frame_equal(corrected, train)


def test_a_suspicious_label_is_decided_by_click_and_its_row_opens(six):
    six.open()
    buttons = six.one("#audit-list li").first.locator(".buttons button")
    buttons.first.click()
    assert buttons.first.get_attribute("aria-pressed") == "true"
    assert six.text("#audit-says").startswith("1 of ")
    buttons.first.click()
    assert six.text("#audit-says").startswith("0 of ")
    name = six.one("#audit-list li .what button").first
    row = name.inner_text()
    name.click()
    assert six.text("#row h3").startswith(row)


# Quality


def test_the_threshold_says_precision_and_recall(six):
    six.open()
    six.look_for("sad", "Enter")
    P = six.model.predict_proba(six.written.X)[:, 3]
    truth = six.written.Y[:, 3] > 0
    for step in (40, 100, 130):
        six.one("#threshold").fill(str(step))
        predicted = step / 200 <= P
        hits = (predicted & truth).sum()
        said = six.text("#threshold-says")
        assert f"{hits} right of {predicted.sum()} predicted" in said
        if predicted.any():
            assert f"recall {100 * hits / truth.sum():.0f}\u00a0%" in said
    assert (
        six.one("#calibration svg")
        .get_attribute("aria-label")
        .startswith("Calibration of sad.")
    )


def test_confused_labels_are_counted_and_their_rows_open(six):
    six.open()
    Y, predicted = six.written.Y > 0, six.model.predict(six.written.X) > 0
    lines = six.one("#confused tbody tr")
    assert lines.count() > 0
    for k in range(min(3, lines.count())):
        cells = lines.nth(k).locator("th, td")
        i, j = (LABELS.index(cells.nth(c).inner_text()) for c in (0, 1))
        rows = np.flatnonzero(Y[:, i] & predicted[:, j] & ~Y[:, j])
        assert int(cells.nth(2).inner_text()) == len(rows)
        name = cells.nth(4).locator("button").first
        assert int(name.inner_text().removeprefix("row ")) in rows
    shown = lines.first.locator("td:last-child button").first
    row = shown.inner_text()
    shown.click()
    assert six.text("#row h3").startswith(row)


# Two models


def test_two_models_disagree_where_their_predictions_differ(six):
    six.open()
    X = six.written.X
    one, other = (m.predict(X) > 0 for m in (six.model, six.written.other))
    lines = six.one("#models-labels tbody tr")
    for k in range(6):
        cells = lines.nth(k).locator("th, td").all_inner_texts()
        j = LABELS.index(cells[0])
        assert int(cells[1]) == (one & ~other)[:, j].sum()
        assert int(cells[2]) == (other & ~one)[:, j].sum()
    counts = (one != other).sum(axis=1)
    row = six.one("#models-rows tbody th").first.inner_text()
    assert counts[int(row.removeprefix("row "))] == counts.max()


# A notebook


def test_a_frame_of_a_notebook_tells_what_was_chosen(six):
    """The widget's script, with a model of its traits as anywidget passes one."""
    from importlib import resources

    script = resources.files("homi.explorer").joinpath("js/widget.js")
    frame = six.path.parent / "notebook.html"
    module = script.read_text("utf-8").replace("export default", "window.widget =")
    frame.write_text(f"<body><script type=module>{module}</script></body>", "utf-8")
    six.page.goto(frame.as_uri())
    six.run(
        """page => {
          window.traits = { page };
          const model = {
            get: (name) => window.traits[name],
            set: (name, value) => { window.traits[name] = value; },
            save_changes: () => { window.saved = true; },
          };
          window.widget.render({ model, el: document.body });
        }""",
        six.path.read_text("utf-8"),
    )
    inside = six.page.frame_locator("iframe")
    inside.locator("circle[data-label='4']").click()
    inside.locator("#rows-table .open").nth(1).click()
    inside.locator("#audit-list").press("a")
    six.page.wait_for_timeout(100)
    found = six.run("() => ({ ...window.traits, page: '', saved: window.saved })")
    assert found["label"] == "angry"
    assert found["row"] == int(
        inside.locator("#rows-table .open").nth(1).inner_text()[4:]
    )
    assert len(found["decisions"]) == 1
    assert found["saved"] is True


def test_an_older_browser_shows_the_same(six):
    six.page.add_init_script("delete Uint8Array.fromBase64")
    six.open()
    assert six.run("() => Uint8Array.fromBase64") is None
    six.one("#rows-table .open").first.click()
    assert six.one("#waterfall li").count() > 3
