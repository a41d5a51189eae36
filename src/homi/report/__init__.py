"""A report: plain data -> one self-contained HTML page, and the same as files."""

from homi.extras import optional

with optional("homi.report", "bench"):
    from homi.report.document import Item, Listing, Page, Picture, Prose, Section
    from homi.report.html import html
    from homi.report.markdown import markdown
    from homi.report.write import write

__all__ = [
    "Item",
    "Listing",
    "Page",
    "Picture",
    "Prose",
    "Section",
    "html",
    "markdown",
    "write",
]
