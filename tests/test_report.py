"""Reports: the page parses and needs nothing; the files are whole and its own."""

import csv
import io
import re
from html.parser import HTMLParser
from importlib import resources
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from homi import HOMI
from homi.benchmark.tables import NOT_RUN, Entry, Table
from homi.explorer import facts
from homi.explorer.page import html as explorer_page
from homi.html_shell import POLICY, html_page
from homi.report import Listing, Page, Picture, Prose, Section, html, markdown, write
from homi.report.document import outline
from homi.report.html import inline
from homi.report.svg import inlined

VOID = {"meta", "link", "input", "br"}

SVG = (
    '<?xml version="1.0"?>\n<!-- made by hand -->\n'
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink" '
    'viewBox="0 0 9 9"><metadata>when</metadata><defs><clipPath id="c"><path id="p"/>'
    '</clipPath><style>*{stroke: red}</style></defs><use l:href="#p"/>'
    '<g clip-path="url(#c)" style="fill: url(&quot;#c&quot;)"/></svg>\n'
)


class Tree(HTMLParser):
    """Every element and text of a page; fails if an element is not closed in turn."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.open = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attributes for found, attributes in self.elements if found == tag]

    def text_of(self, tag):
        return [data for found, data in self.texts if found == tag]

    def values(self, key):
        return [a[key] for _, a in self.elements if key in a]


def picture(name="drawing", svg=SVG, alt="A drawing"):
    return Picture(name, "What it shows", svg, b"%PDF-1.4 " + name.encode(), alt)


def listing(name="scores", *texts, note=""):
    rows = tuple((Entry(f"row {i}"), Entry(text)) for i, text in enumerate(texts))
    return Listing(name, Table(f"Caption of {name}", ("method", "score"), rows), note)


def page(*items, lead="Lead.", title="Title"):
    return Page(title, lead, (Section("First", items),))


def plotted():
    """What matplotlib gives, with an image and a clip inside it."""
    figure = Figure(figsize=(2, 2))
    figure.add_subplot().imshow([[0, 1], [1, 0]])
    text = io.StringIO()
    figure.savefig(text, format="svg")
    return text.getvalue()


# The document


@pytest.mark.parametrize("name", ["", "Aa", "a b", "../a", "a.b", "a/b", "é", "a\n"])
@pytest.mark.parametrize("make", [picture, listing])
def test_a_name_that_is_no_file_stem_is_refused(make, name):
    with pytest.raises(ValueError, match=re.escape(repr(name))):
        page(make(name))


@pytest.mark.parametrize("make", [picture, listing])
def test_a_name_that_occurs_twice_is_refused_however_deep(make):
    with pytest.raises(ValueError, match=r"two .*'same'"):
        page(make("same"), Section("Deep", (Section("Deeper", (make("same"),)),)))


def test_a_picture_and_a_table_may_share_a_name():
    both = page(picture("same"), listing("same"))
    assert {"figure-same", "table-same"} <= set(Tree(html(both)).values("id"))


def test_addresses_are_those_of_github_and_unique():
    titles = ["Average ranks (4)", "Same", "Same", "Same 1", "λ & β", "?!", "Contents"]
    made = Page("T", "", tuple(Section(title, ()) for title in titles))
    anchors = [heading.anchor for heading in outline(made)]
    assert anchors[:5] == ["average-ranks-4", "same", "same-1", "same-1-1", "λ--β"]
    assert anchors[5:] == ["section", "contents-1"]


def test_an_address_of_a_section_is_never_that_of_a_table():
    made = Page("T", "", (Section("Table x", (listing("x"),)),))
    ids = Tree(html(made)).values("id")
    assert len(ids) == len(set(ids))


# Prose


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b & c", "a &lt; b &amp; c"),
        ("`<b> **x**`", "<code>&lt;b&gt; **x**</code>"),
        ("**a `b` <i>**", "<strong>a <code>b</code> &lt;i&gt;</strong>"),
        ("[a](#b-c)", '<a href="#b-c">a</a>'),
        ("[a](tables/b.csv)", '<a href="tables/b.csv">a</a>'),
        ("[`a`](https://b.c/?d=1&e)", '<a href="https://b.c/?d=1&amp;e"><code>a'),
        ("2 ** 3 and a * b", "2 ** 3 and a * b"),
        ("unclosed ` and **", "unclosed ` and **"),
    ],
)
def test_the_marks_of_prose(text, expected):
    assert inline(text).startswith(expected)


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        "JavaScript:x",
        "java\tscript:x",
        "data:text/html,x",
        "//host/x",
        "http://host/x",
        "/etc/passwd",
        'https://a"onclick="x',
    ],
)
def test_a_link_to_anywhere_else_stays_text(target):
    assert "<a" not in inline(f"[click]({target})")


# The page


def test_everything_is_escaped():
    evil = '<img src=x onerror="x()">\'&'
    table = Table(evil, (evil, evil), ((Entry(evil), Entry(evil, best=True)),))
    shown = Picture("p", evil, SVG, b"", evil)
    items = (Prose(evil), shown, Listing("t", table, evil), Section(evil, ()))
    tree = Tree(html(Page(evil, evil, (Section(evil, items),))))
    assert not tree.all("img")
    assert not any(key.startswith("on") for _, a in tree.elements for key in a)
    for tag in ["title", "h1", "p", "h2", "h3", "figcaption", "th", "strong"]:
        assert evil in tree.text_of(tag), tag
    assert evil in [svg["aria-label"] for svg in tree.all("svg")]


def test_the_page_asks_nothing_of_a_network():
    text = html(page(picture(svg=plotted()), listing("t", "1")))
    tree = Tree(text)
    (policy,) = [m["content"] for m in tree.all("meta") if "http-equiv" in m]
    assert policy.startswith(
        "default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:"
    )
    assert tree.all("link") == [{"rel": "icon", "href": "data:,"}]
    targets = tree.values("href") + tree.values("src") + tree.values("xlink:href")
    assert targets
    assert all(target.startswith(("#", "data:")) for target in targets)
    assert not re.search(r"https?://", text)
    assert not re.search(r"@import|url\((?!#)", text)


def test_the_page_says_its_language_its_title_and_its_width():
    tree = Tree(html(page(title="A title")))
    assert tree.all("html")[0]["lang"] == "en"
    assert tree.text_of("title") == ["A title"]
    assert {"charset": "utf-8"} in tree.all("meta")
    (width,) = [m["content"] for m in tree.all("meta") if m.get("name") == "viewport"]
    assert width == "width=device-width, initial-scale=1"


def test_sections_nest_and_the_contents_lead_to_them():
    deep = Section("Four", (Section("Five", (Section("Six", (Section("7", ()),)),)),))
    tree = Tree(html(page(Section("Three", (deep,)), Section("Also", ()))))
    tags = [(tag, a.get("id")) for tag, a in tree.elements if re.match("h[1-6]$", tag)]
    assert tags == [
        ("h1", None),
        ("h2", "first"),
        ("h3", "three"),
        ("h4", "four"),
        ("h5", "five"),
        ("h6", "six"),
        ("h6", "7"),
        ("h3", "also"),
    ]
    links = [a["href"] for a in tree.all("a")]
    assert links == ["#content", "#first", "#three", "#also"]


def test_a_link_to_a_place_that_is_not_there_is_an_error():
    html(page(Prose("[a](#first), [b](#table-t)"), listing("t")))
    with pytest.raises(ValueError, match="lost-place"):
        html(page(Prose("[a](#lost-place)")))


def test_the_best_is_bold_and_what_was_not_run_is_pale():
    rows = ((Entry("HOMI"), Entry("0.1 ± 0.2", best=True)), (Entry("BR"), Entry("–")))
    text = html(page(Listing("t", Table("c", ("m", "s"), rows), "A **note**.")))
    assert "<td><strong>0.1 ±&nbsp;0.2</strong></td>" in text
    assert '<td><span class="missing">–</span></td>' in text
    assert '<p class="note">A <strong>note</strong>.</p>' in text


def test_bare_numbers_stand_flush_right_and_others_do_not():
    texts = [("a", "12", "1 ●"), ("b", NOT_RUN, "2")]
    rows = tuple(tuple(map(Entry, row)) for row in texts)
    text = html(page(Listing("t", Table("c", ("m", "n", "v"), rows))))
    assert '<th scope="col" class="number">n</th><th scope="col">v</th>' in text
    assert '<td class="number">12</td><td>1 ●</td>' in text


def test_a_table_of_many_columns_is_set_small():
    def classes(n):
        columns = tuple(f"column {i}" for i in range(n))
        many = Table("Many", columns, (tuple(Entry("1") for _ in columns),))
        return Tree(html(page(Listing("many", many)))).all("table")[0].get("class")

    assert classes(7) is None
    assert classes(8) == "wide"


def test_a_table_without_rows_is_a_table():
    assert len(Tree(html(page(listing("t")))).all("tbody")) == 1


def test_script_and_style_ship_with_the_package_and_stand_in_the_page():
    text = html(page())
    for name in ["page.css", "page.js"]:
        asset = resources.files("homi.report").joinpath(name).read_text("utf-8")
        assert asset in text
        assert "</" not in asset


# Drawings


def test_two_drawings_on_a_page_share_no_identifier_and_no_style():
    text = html(page(picture("one"), picture("two")))
    ids = Tree(text).values("id")
    assert len(ids) == len(set(ids))
    for name in ["one", "two"]:
        assert f'href="#figure-{name}-p"' in text
        assert f'clip-path="url(#figure-{name}-c)"' in text
        assert f"url(&quot;#figure-{name}-c&quot;)" in text
        assert f"<style>#figure-{name} {{ *{{stroke: red}} }}</style>" in text


def test_a_drawing_is_one_element_with_a_name_for_those_who_cannot_see_it():
    root = ElementTree.fromstring(inlined(picture(alt='Bars & "lines"')))
    assert root.tag == "svg"
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == 'Bars & "lines"'
    assert root.find("metadata") is None


def test_rules_that_name_a_part_of_a_drawing_still_find_it():
    rules = "#p{fill: #fff} #p-q{fill: url(#c)}"
    shown = inlined(picture("one", SVG.replace("*{stroke: red}", rules)))
    assert (
        "<style>#figure-one { #figure-one-p{fill: #fff} "
        "#p-q{fill: url(#figure-one-c)} }</style>" in shown
    )


def test_drawings_of_matplotlib_keep_every_shape():
    given = plotted()
    shown = ElementTree.fromstring(inlined(picture(svg=given)))
    for tag in ["path", "use", "image", "clipPath", "g"]:
        wanted = ElementTree.fromstring(given).iter(
            f"{{http://www.w3.org/2000/svg}}{tag}"
        )
        assert len(list(shown.iter(tag))) == len(list(wanted)) > 0
    ids = {element.get("id") for element in shown.iter() if element.get("id")}
    used = re.findall(
        r'(?:href="|url\()#([^")]+)', ElementTree.tostring(shown).decode()
    )
    assert used
    assert set(used) <= ids


@pytest.mark.parametrize(
    "inside",
    [
        "<script>x()</script>",
        '<g onload="x()"/>',
        "<foreignObject/>",
        '<image href="http://host/x.png"/>',
        '<image href="https://host/x.png"/>',
        '<a href="javascript:x()"/>',
        '<g fill="url(http://host/x)"/>',
        "<style>@import 'x.css';</style>",
        "<style>g{fill: url('x.svg#a')}</style>",
        "<g>",
    ],
)
def test_a_drawing_that_could_run_or_fetch_is_refused(inside):
    text = f'<svg xmlns="http://www.w3.org/2000/svg">{inside}</svg>'
    with pytest.raises(ValueError, match="'bad'"):
        html(page(picture("bad", text)))


@pytest.mark.parametrize("text", ["", "<p/>", "<svg/>", "no markup"])
def test_what_is_no_svg_is_refused(text):
    with pytest.raises(ValueError, match="'bad'"):
        html(page(picture("bad", text)))


# Markdown


def test_markdown_says_the_same():
    made = page(
        Prose("See **this** and [that](#table-t)."),
        picture("fig", alt="A [b]\nc"),
        Section("Deep", (listing("t", "1", note="A note."),)),
    )
    assert markdown(made) == (
        "# Title\n\nLead.\n\n## First\n\nSee **this** and [that](#table-t).\n\n"
        '<a id="figure-fig"></a>![A \\[b\\] c](figures/fig.svg)\n\nWhat it shows\n\n'
        '### Deep\n\n<a id="table-t"></a>Caption of t\n\n'
        "| method | score |\n| --- | --- |\n| row 0 | 1 |\n\nA note.\n"
    )


def test_names_in_tables_of_markdown_are_text():
    evil = ["<script>alert(1)</script>", "[a](javascript:alert(1))"]
    table = Table(evil[0], ("a", "b"), ((Entry(evil[0]), Entry(evil[1])),))
    text = markdown(page(Listing("t", table)))
    assert "<script" not in text
    assert "](" not in text
    assert "&lt;script>alert(1)&lt;/script>" in text


def test_a_pipe_table_keeps_its_columns():
    table = Table("c", ("a|b", "c"), ((Entry("x\\|y\nz"), Entry("|", best=True)),))
    head, rule, row = table.markdown().splitlines()[2:]
    assert (head, rule) == ("| a\\|b | c |", "| --- | --- |")
    assert row == r"| x\\\|y z | **\|** |"


# LaTeX


def tex(text):
    """A cell as it stands in the second row of a LaTeX table."""
    rows = ((Entry("first"),), (Entry(text),))
    lines = Table("c", ("head",), rows).latex().splitlines()
    return lines[7].removesuffix(r" \\")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\\", r"\textbackslash{}"),
        ("{a}", r"\{a\}"),
        ("$1 & 5 % #_", r"\$1 \& 5 \% \#\_"),
        ("^~", r"\textasciicircum{}\textasciitilde{}"),
        ("a<b>c|d", "a$<$b$>$c$|$d"),
        ("βγλΔ", r"$\beta$$\gamma$$\lambda$$\Delta$"),
        ("≤×–…", r"$\leq$$\times$--\ldots{}"),
        ("−1 ± 2 ●○", r"$-$1 $\pm$ 2 $\bullet$$\circ$"),
        ("MLSF†", r"MLSF$^\dagger$"),
        ("[a]", "{[}a]"),
        ("*", "{*}"),
        ("a\n\nb", "a  b"),
    ],
)
def test_latex_escapes(text, expected):
    assert tex(text) == expected


def test_no_letter_of_ascii_is_a_command_of_tex():
    for code in range(32, 127):
        bare = re.sub(
            r"\\(?:[a-z]+\{\}|[{}$&%#_])|\$[<>|]\$", "", tex(f"a{chr(code)}b")
        )
        assert not re.search(r"[\\$&%#_^~<>|]", bare), chr(code)
        assert bare.count("{") == bare.count("}"), chr(code)


def test_a_bold_entry_of_latex_is_escaped_once():
    table = Table("5 % of λ", ("a_b",), ((Entry("{1}", best=True),),))
    lines = table.latex().splitlines()
    assert r"\caption{5 \% of $\lambda$}" in lines
    assert r"a\_b \\" in lines
    assert r"\textbf{\{1\}} \\" in lines


# Files


def written(directory):
    paths = [path for path in directory.rglob("*") if path.is_file()]
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


def test_a_report_as_files(tmp_path):
    made = page(picture("fig"), Section("Deep", (listing("tab", "1,5", "2"),)))
    index = write(made, tmp_path / "new" / "report")
    files = written(index.parent)
    assert files["index.html"] == html(made).encode()
    assert files["report.md"] == markdown(made).encode()
    assert files["figures/fig.svg"] == SVG.encode()
    assert files["figures/fig.pdf"] == b"%PDF-1.4 fig"
    assert r"\toprule" in files["tables/tab.tex"].decode()
    rows = list(csv.reader(io.StringIO(files["tables/tab.csv"].decode())))
    assert rows == [["method", "score"], ["row 0", "1,5"], ["row 1", "2"]]
    assert len(files) == 6


def test_the_same_page_gives_the_same_bytes(tmp_path):
    made = page(picture(), listing("tab", "1"))
    first = written(write(made, tmp_path / "a").parent)
    write(made, tmp_path / "b")
    assert written(write(made, tmp_path / "b").parent) == first


def test_only_an_earlier_reports_own_files_are_removed(tmp_path):
    write(page(picture("old"), listing("old"), picture("kept")), tmp_path)
    others = ["notes.csv", "tables/My notes.csv", "tables/a.txt", "tables/x.svg"]
    others += ["figures/photo.png", "figures/sub/old.svg", "figures/x.csv"]
    (tmp_path / "figures" / "sub").mkdir()
    (tmp_path / "tables" / "folder.csv").mkdir()
    for name in others:
        (tmp_path / name).write_text("mine")
    write(page(picture("kept"), listing("new")), tmp_path)
    own = {"figures/kept.svg", "figures/kept.pdf", "tables/new.csv", "tables/new.tex"}
    assert set(written(tmp_path)) == own | {"index.html", "report.md", *others}
    assert (tmp_path / "tables" / "folder.csv").is_dir()


def test_files_that_no_report_shows_are_never_removed(tmp_path):
    for name in ("tables/mine.csv", "figures/mine.svg"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("mine")
    write(page(picture("old"), listing("old")), tmp_path)
    write(page(picture("new"), listing("new")), tmp_path)
    assert (tmp_path / "tables/mine.csv").read_text() == "mine"
    assert (tmp_path / "figures/mine.svg").read_text() == "mine"
    assert not (tmp_path / "tables/old.csv").exists()


@pytest.mark.parametrize("name", ["index.html", "report.md"])
def test_a_page_of_somebody_else_is_not_replaced(tmp_path, name):
    (tmp_path / name).write_text("<!DOCTYPE html><title>Mine</title>")
    with pytest.raises(ValueError, match=f"{name} is there and is no report of homi"):
        write(page(listing("tab", "1")), tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / name]


def test_a_report_that_was_interrupted_is_written_again(tmp_path):
    made = page(listing("tab", "1"))
    write(made, tmp_path)
    (tmp_path / "index.html").unlink()
    assert write(made, tmp_path).is_file()


def test_a_page_that_cannot_be_rendered_leaves_the_earlier_report(tmp_path):
    write(page(listing("old", "1")), tmp_path)
    before = written(tmp_path)
    with pytest.raises(ValueError, match="'bad'"):
        write(page(picture("bad", "<p/>"), listing("new")), tmp_path)
    assert written(tmp_path) == before


def test_an_interrupted_file_keeps_its_earlier_bytes(tmp_path, monkeypatch):
    write(page(listing("tab", "1")), tmp_path)
    before = written(tmp_path)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write(page(listing("tab", "2")), tmp_path)
    assert written(tmp_path) == before


# The shell of every HTML page: safe titles, no network, the same for all pages.


def test_a_title_is_text():
    page = html_page("a <b> & c", "<main id='content'></main>", css="", js="")
    assert "<title>a &lt;b&gt; &amp; c</title>" in page


def test_styles_and_scripts_are_not_taken_for_templates():
    page = html_page("a", "costs $5 $body", css="p { }", js="`${x}` + $y;")
    assert "costs $5 $body" in page
    assert "`${x}` + $y;" in page


def test_both_pages_have_one_shell():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    Y = (X[:, :3] > 0).astype(int)
    pages = [
        explorer_page(facts(HOMI().fit(X, Y), X, Y), "one"),
        html(Page("one", "", ())),
    ]
    heads = {page.partition("<style>")[0] for page in pages}
    assert len(heads) == 1
    assert f'content="{POLICY}"' in heads.pop()
    for page in pages:
        assert page.count('href="#content"') == 1
        assert page.count('id="content"') == 1
        assert page.endswith("</script>\n</body>\n</html>\n")
