"""The shell of every HTML page: safe titles, no network, the same for all pages."""

import numpy as np

from homi import HOMI
from homi.explorer import facts
from homi.explorer.page import html as explorer_page
from homi.html_shell import POLICY, html_page
from homi.report import Page, html


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
