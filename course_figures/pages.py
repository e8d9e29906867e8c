"""What makes figures live in a page without a kernel: a site's scripts, or one file with all."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from course_figures import sources

MOUNT = Path(__file__).parent / "runtime" / "mount.js"
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
    scripts = [MOUNT.read_text(encoding="utf-8")]
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
