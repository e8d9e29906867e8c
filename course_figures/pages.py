"""What makes figures live in a page without a kernel: a site's scripts, or one file with all."""

from __future__ import annotations

import html
import re
from collections.abc import Collection
from typing import Any

from course_figures import sources

SHARED = "shared"
"""Name of the script that stands before all others: what mounts, and what most figures need."""

_NAMED = re.compile(r'data-course-figure="([a-z_]+)"')


def scripts(*figures: str) -> dict[str, str]:
    """The classic scripts of a page, in the order in which they stand in it.

    Parameters
    ----------
    *figures : str
        Names of the figures' modules that the page needs.

    Returns
    -------
    dict of str to str
        Name to text. The first, `SHARED`, is the same for every page, so that a browser keeps it;
        of the others, each hands over one module that these figures need. Every text may stand
        inside a script element too.
    """
    shared = sources.common()
    head = map(sources.script, (sources.LINKER, sources.MOUNT))
    texts = {SHARED: "".join([*head, *map(sources.registration, shared)])}
    _, *others = script_names(*figures, shared=shared)
    return texts | {name: sources.registration(f"{name}.js") for name in others}


def script_names(*figures: str, shared: Collection[str]) -> list[str]:
    """The names that `scripts` has for some figures, without the texts.

    Parameters
    ----------
    *figures : str
        Names of the figures' modules that the page needs.
    shared : collection of str
        What `sources.common` gives: the paths of the modules that stand in `SHARED`.

    Returns
    -------
    list of str
        In the same order.
    """
    own = [path for path in sources.needed(*figures) if path not in shared]
    return [SHARED, *(path.removesuffix(".js") for path in own)]


def used(markup: str) -> list[str]:
    """Names of the modules that the figures in some HTML need, each once, in order."""
    return list(dict.fromkeys(_NAMED.findall(markup)))


def standalone(*figures: Any, title: str = "Figures", language: str = "en", below: str = "") -> str:
    """One HTML page that holds figures and everything they need.

    Parameters
    ----------
    *figures : Figure
        What to show, from top to bottom.
    title : str
        Title of the page.
    language : str
        Its language, as a BCP 47 tag.
    below : str
        What stands below the figures, as HTML.

    Returns
    -------
    str
        HTML; save it as a file, and it opens anywhere, with no network.
    """
    body = "\n".join(figure.html() for figure in figures)
    before, after = around(*used(body), title=title, language=language)
    return before + body + below + after


def around(*figures: str, title: str, language: str = "en") -> tuple[str, str]:
    """What stands before and after the figures in a page that holds all that they need.

    Parameters
    ----------
    *figures : str
        Names of their modules.
    title : str
    language : str

    Returns
    -------
    tuple of str
        The beginning of the page, with its heading, and its end.
    """
    before = (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{sources.stylesheet()}\n{_PAGE_STYLE}</style>"
        f"</head><body><main><h1>{html.escape(title)}</h1>\n"
    )
    held = "".join(f"<script>{one}</script>" for one in scripts(*figures).values())
    return before, f"</main>{held}</body></html>"


_PAGE_STYLE = (
    ":root { color-scheme: light dark; } "
    "body { font: 16px/1.5 system-ui, sans-serif; margin: 0; background: Canvas; "
    "color: CanvasText; } main { max-width: 54.5rem; margin: auto; padding: 1rem; }"
)
