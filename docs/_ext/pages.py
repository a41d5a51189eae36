"""Copy the report of the paper, ``report/index.html``, which is a page of its own."""

import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", _copy_report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _copy_report(app: Sphinx, error: Exception | None) -> None:
    """Sphinx's own way for whole pages would put it at the top, over our index."""
    page = Path(app.srcdir) / "report" / "index.html"
    if error is None and app.builder.format == "html" and page.exists():
        target = Path(app.outdir) / "report" / "index.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, target)
