"""The site: `make docs` writes it to build/docs. Nothing is fetched, nor by pages."""

import logging
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import homi

# A package of the theme prints all that is logged, unless there is a handler already.
logging.getLogger().addHandler(logging.NullHandler())

project = "homi"
release = version = homi.__version__
author = "the homi developers"
copyright = "BSD-3-Clause"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    # Of our own, in _ext.
    "command_help",
    "formulas",
]

templates_path = ["_templates"]
exclude_patterns = [
    "_templates",
    "gallery/sg_execution_times.rst",
]

# A name in backticks of a docstring is code; links are said in full (:class:`HOMI`).
nitpicky = True
# Properties that a docstring lists as attributes; they have no entry of their own.
nitpick_ignore = [("py:obj", "n_features_in_"), ("py:obj", "feature_names_in_")]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
# Shapes are in the docstrings; hints in the signature would only repeat them.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# _templates/autosummary/class.rst lists them, with their documentation.
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "copyfile_regex": "",
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "notebook_images": False,
}

html_theme = "furo"
html_title = f"homi {release}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
