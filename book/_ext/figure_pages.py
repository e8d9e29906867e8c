"""A Sphinx extension: pages with interactive figures get the scripts that make them live.

A notebook stores of a figure its still picture and its state. What makes it live is added when the
site is built, once a site and only to pages that need it: one script with what mounts figures and
what most of them share, and one for each further module that the page's figures import. A change to
a module therefore changes no stored output.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_figures import pages, sources

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("builder-inited", _write_scripts)
    shared = functools.cache(sources.common)  # every page asks, and nothing changes meanwhile
    app.connect("html-page-context", functools.partial(_add, shared))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _write_scripts(app: Sphinx) -> None:
    """Put a script for each module where Sphinx takes the site's static files from."""
    if app.builder.format != "html":
        return
    static = Path(app.doctreedir).parent / "figure_scripts"
    shutil.rmtree(static, ignore_errors=True)  # a module that is no more stays in no site
    for name, text in pages.scripts(*sources.names()).items():
        file = static / "figures" / f"{name}.js"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (static / "figures" / "figures.css").write_text(sources.stylesheet(), encoding="utf-8")
    app.config.html_static_path.append(str(static))


def _add(
    shared: Callable[[], list[str]],
    app: Sphinx,
    _page: str,
    _template: str,
    context: dict[str, Any],
    _tree: Any,
) -> None:
    """Add what the figures of one page need, if it has any."""
    figures = pages.used(context.get("body", ""))
    if not figures:
        return
    app.add_css_file("figures/figures.css")
    for name in pages.script_names(*figures, shared=shared()):
        app.add_js_file(f"figures/{name}.js", loading_method="defer")
