"""The frame of every HTML page of homi: one file that needs no network."""

from __future__ import annotations

from html import escape
from string import Template

#: Nothing is loaded: styles and scripts are inside the page, images as data.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)

_SHELL = Template(
    """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>$title</title>
<style>
$css</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
$body
<script>
$js</script>
</body>
</html>
"""
)


def html_page(title: str, body: str, *, css: str, js: str) -> str:
    """Return a self-contained HTML page.

    Parameters
    ----------
    title : str
        Title of the window, as plain text.
    body : str
        HTML between the skip link and the script. Its main part has the id
        ``content``, to which the skip link leads.
    css, js : str
        Style sheet and script, placed inside the page as they are.

    Returns
    -------
    str
        The text of the file.
    """
    return _SHELL.substitute(
        policy=POLICY, title=escape(title), css=css, body=body, js=js
    )
