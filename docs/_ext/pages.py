"""Two pages whose names are taken.

The report of the paper is a whole page of its own: ``report/index.html`` is copied as
it is. ``search.md`` would be written over by the search page of the site, so it is read
under another name, and links to it follow.
"""

import re
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", _rename_search)
    app.connect("build-finished", _copy_report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _rename_search(app: Sphinx, name: str, source: list[str]) -> None:
    source[0] = re.sub(r"\]\(search\.md(?=[)#])", "](grid_search.md", source[0])


def _copy_report(app: Sphinx, error: Exception | None) -> None:
    """Sphinx's own way for whole pages would put it at the top, over our index."""
    page = Path(app.srcdir) / "report" / "index.html"
    if error is None and app.builder.format == "html" and page.exists():
        target = Path(app.outdir) / "report" / "index.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, target)
