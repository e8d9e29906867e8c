"""A Sphinx extension: pages with interactive figures get the scripts that make them live.

A notebook stores of a figure its still picture and its state. What makes it live is added when the
site is built, once a site and only to pages that need it: `figures.js` (in `book/_assets`), one
script for the part that all modules share, and one for each figure's module. A change to a module
therefore changes no stored output.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_figures import sources

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MOUNTING = Path(__file__).resolve().parents[2] / "book" / "_assets" / "figures.js"
"""The script that mounts all figures of a page."""

_NAMED = re.compile(r'data-course-figure="([a-z_]+)"')


def script(name: str) -> str:
    """A classic script that hands the page the text of one module.

    Parameters
    ----------
    name : str
        The module's name, or `sources.SHARED`.

    Returns
    -------
    str
        JavaScript that may also stand inside a script element.
    """
    quoted = json.dumps(sources.text(name), ensure_ascii=False).replace("</", "<\\/")
    quoted = quoted.replace("<!--", "\\u003c!--")
    return f"courseFigures.register({json.dumps(name)}, {quoted});\n"


def used(markup: str) -> list[str]:
    """Names of the modules that the figures in some HTML need, each once, in order."""
    return list(dict.fromkeys(_NAMED.findall(markup)))


def standalone(*figures: Any, title: str = "Figures", language: str = "en") -> str:
    """One HTML page that holds figures and everything they need.

    Parameters
    ----------
    *figures : Figure
        What to show, from top to bottom.
    title : str
        Title of the page.
    language : str
        Its language, as a BCP 47 tag.

    Returns
    -------
    str
        HTML; save it as a file, and it opens anywhere, with no network.
    """
    body = "\n".join(figure.html() for figure in figures)
    scripts = [MOUNTING.read_text(encoding="utf-8")]
    scripts += [script(name) for name in (sources.SHARED, *used(body))]
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{sources.stylesheet()}\n{_PAGE_STYLE}</style>"
        f"</head><body><main><h1>{html.escape(title)}</h1>\n{body}</main>"
        + "".join(f"<script>{one}</script>" for one in scripts)
        + "</body></html>"
    )


_PAGE_STYLE = (
    ":root { color-scheme: light dark; } "
    "body { font: 16px/1.5 system-ui, sans-serif; margin: 0; background: Canvas; "
    "color: CanvasText; } main { max-width: 46rem; margin: auto; padding: 1rem; }"
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("builder-inited", _write_scripts)
    app.connect("html-page-context", _add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _write_scripts(app: Sphinx) -> None:
    """Put a script for each module where Sphinx takes the site's static files from."""
    if app.builder.format != "html":
        return
    static = Path(app.doctreedir).parent / "figure_scripts"
    folder = static / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for name in (sources.SHARED, *sources.names()):
        (folder / f"{name}.js").write_text(script(name), encoding="utf-8")
    (folder / "figures.css").write_text(sources.stylesheet(), encoding="utf-8")
    app.config.html_static_path.append(str(static))


def _add(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Add what the figures of one page need, if it has any."""
    modules = used(context.get("body", ""))
    if not modules:
        return
    app.add_css_file("figures/figures.css")
    app.add_js_file("figures.js", loading_method="defer")
    for name in (sources.SHARED, *modules):
        app.add_js_file(f"figures/{name}.js", loading_method="defer")
