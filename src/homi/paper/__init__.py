"""The paper's printed tables, claims and figures beside stored results."""

from homi.paper.page import paper_page

__all__ = ["paper_page"]
