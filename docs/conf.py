"""How the site is built: `make docs`."""

import re
import sys
import warnings
from pathlib import Path

import matplotlib

import knoll

matplotlib.use("Agg")
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project, author, release = "knoll", "The knoll authors", knoll.__version__
version = release
project_copyright = author
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.md5", "gallery/**/*.py", "gallery/**/*.zip"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
myst_url_schemes = ("http", "https", "mailto")

autosummary_generate = True
numpydoc_show_class_members = False
autodoc_default_options = {"members": True, "inherited-members": "BaseEstimator", "member-order": "bysource"}
autodoc_typehints = "none"

html_theme = "pydata_sphinx_theme"
html_title = "knoll"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"start": [], "index": []}


def figures_of(block, block_vars, gallery_conf):
    """Save the figure that a block of an example made: ours are not pyplot's, which the gallery would find itself."""
    from sphinx_gallery.scrapers import figure_rst

    figure = block_vars["example_globals"].pop("figure", None)
    if figure is None:
        return ""
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=110)
    return figure_rst([path], gallery_conf["src_dir"])


def quiet(gallery_conf, fname):
    """Begin every example with the usual warnings, whatever the one before it ignored."""
    warnings.resetwarnings()


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "subsection_order": [f"../examples/{each}" for each in ("clusters", "mixtures", "modes", "budgets")],
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": (figures_of, "matplotlib"),
    "reset_modules": (quiet, "matplotlib"),
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "min_reported_time": 30,
    "write_computation_times": False,
}
suppress_warnings = ["config.cache"]


def results_on_the_site(app, docname, source):
    """Have links to tables of results lead to their pages here (`tools/reference.py`)."""
    source[0] = re.sub(r"\]\((\.\./)*\.\./(?:benchmarks|tools)/results/([\w-]+\.md)\)", r"](\1results/\2)", source[0])


def once(app, pagename, templatename, context, doctree):
    """Keep the first place of the gallery's list of tags: an id stands once on a page, and we have no tags."""
    mark = "<div id='sg-tag-list' class='sphx-glr-tag-list'></div>"
    first, found, rest = context.get("body", "").partition(mark)
    if found:
        context["body"] = first + found + rest.replace(mark, "")


def setup(app):
    """Register what this file adds."""
    app.connect("html-page-context", once)
    app.connect("source-read", results_on_the_site)
