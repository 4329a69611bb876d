"""How Sphinx builds the site; `docs/site.py` puts its sources together."""

from importlib.metadata import version as version_of

project = "stepsnb"
author = "the stepsnb developers"
copyright = author
version = release = version_of("stepsnb")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
suppress_warnings = ["misc.highlighting_failure"]  # cells with magics are in no language that Pygments knows
html_theme = "furo"
html_title = "stepsnb"

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "off"  # readers see the stored outputs, which the tests hold
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]

autodoc_typehints = "none"  # they stand in the signature
autodoc_member_order = "bysource"
napoleon_google_docstring = True
