"""A page whose name is taken.

``search.md`` would be overwritten by the search page of the site, so it is read under
another name, and links to it follow.
"""

import re
from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", _rename_search)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _rename_search(app: Sphinx, name: str, source: list[str]) -> None:
    source[0] = re.sub(r"\]\(search\.md(?=[)#])", "](grid_search.md", source[0])
