"""A Sphinx extension: what a link to a page is shown with, and what stands at the page's foot.

The description is the page's first paragraph; the picture is drawn once a build. Programs that
show links fetch the picture by its whole address, so it needs `html_baseurl`, the site's own. At
the foot are the release, the day on which the page's source last changed (where git knows it), and
where a repository is set, links to it and to a report about this very page.
"""

from __future__ import annotations

import html
import subprocess
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from docutils import nodes
from PIL import Image, ImageDraw, ImageFont

from course_lib import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

CARD = "link-card.png"
"""The picture's file, among the static ones."""

WIDE, HIGH = 1200, 630
"""Its pixels, as programs that show links want them."""

MOST_LETTERS = 200
"""Of a description; what is longer is cut off by those who show it."""

_PAPER, _INK, _SOFT, _WEIGHT = (18, 18, 18), (236, 238, 241), (169, 179, 190), (231, 154, 212)
_ROWS = 12  # of the matrix that averages the past


def description(doctree: nodes.document) -> str:
    """The first paragraph of a page's text, to the end of a sentence where it is long.

    Parameters
    ----------
    doctree : docutils.nodes.document
        The page.

    Returns
    -------
    str
        Empty for a page without a paragraph.
    """
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section) and paragraph.astext().strip():
            text = " ".join(paragraph.astext().split())
            if len(text) <= MOST_LETTERS:
                return text
            end = text.rfind(". ", 0, MOST_LETTERS) + 1
            return text[:end] or textwrap.shorten(text, MOST_LETTERS, placeholder="…")
    return ""


def card(title: str, words: str) -> Image.Image:
    """The picture of a link to the book: its title, a sentence, and a matrix that averages.

    Parameters
    ----------
    title, words : str
        What it says.

    Returns
    -------
    PIL.Image.Image
        `WIDE` × `HIGH` pixels.
    """
    picture = Image.new("RGB", (WIDE, HIGH), _PAPER)
    pen = ImageDraw.Draw(picture)
    y = 110
    for size, color, text, columns in ((72, _INK, title, 18), (34, _SOFT, words, 34)):
        font = ImageFont.load_default(size)
        for line in textwrap.wrap(text, columns):
            pen.text((70, y), line, font=font, fill=color)
            y += round(1.25 * size)
        y += 30
    cell, left, top = 38, WIDE - 70 - 38 * _ROWS, (HIGH - 38 * _ROWS) // 2
    for t in range(_ROWS):
        for s in range(t + 1):
            share = (1 / (t + 1)) ** 0.5
            color = tuple(round(p + (w - p) * share) for p, w in zip(_PAPER, _WEIGHT, strict=True))
            x, row = left + cell * s, top + cell * t
            pen.rectangle((x, row, x + cell - 4, row + cell - 4), fill=color)
    return picture


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("builder-inited", _draw_card)
    app.connect("html-page-context", _add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _draw_card(app: Sphinx) -> None:
    if app.builder.name != "html":
        return
    folder = Path(app.doctreedir).parent / "link_card"
    folder.mkdir(parents=True, exist_ok=True)
    words = "Build a language model yourself, and understand every line of it."
    card(app.config.html_title, words).save(folder / CARD, optimize=True)
    app.config.html_static_path.append(str(folder))


def _add(app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: Any) -> None:
    if app.builder.name != "html":
        return
    context["metatags"] = context.get("metatags", "") + _metatags(app, page, doctree)
    context["theme_extra_footer"] = _foot(app, page)


def _metatags(app: Sphinx, page: str, doctree: Any) -> str:
    title = None if doctree is None else next(iter(doctree.findall(nodes.title)), None)
    said = {
        "og:type": "website",
        "og:site_name": app.config.html_title,
        "og:title": title.astext() if title is not None else app.config.html_title,
    }
    words = description(doctree) if doctree is not None else ""
    if words:
        said["og:description"] = words
    base = app.config.html_baseurl
    if base:
        base = base.rstrip("/") + "/"
        said |= {
            "og:url": f"{base}{page}.html",
            "og:image": f"{base}_static/{CARD}",
            "og:image:width": str(WIDE),
            "og:image:height": str(HIGH),
            "og:image:alt": f"{app.config.html_title}, beside a matrix that averages the past",
        }
    tags = [
        f'<meta property="{name}" content="{html.escape(content)}" />'
        for name, content in said.items()
    ]
    if words:
        tags.append(f'<meta name="description" content="{html.escape(words)}" />')
    if base:
        tags.append('<meta name="twitter:card" content="summary_large_image" />')
    return "\n".join(tags)


def _foot(app: Sphinx, page: str) -> str:
    parts = [f"Version {__version__}"]
    changed = _last_change(app, page)
    if changed:
        parts.append(f"this page changed on {changed}")
    repository = (app.config.html_theme_options.get("repository_url") or "").rstrip("/")
    if repository:
        report = urlencode({"title": f"{page}: ", "body": f"On {page}, version {__version__}:\n\n"})
        parts += [
            f'<a href="{html.escape(repository)}">Repository</a>',
            f'<a href="{html.escape(f"{repository}/issues/new?{report}")}">'
            "Something wrong on this page?</a>",
        ]
    return f'<p class="page-foot">{" · ".join(parts)}</p>'


def _last_change(app: Sphinx, page: str) -> str:
    """The day on which git last saw a page's source change; empty where git does not know."""
    if page not in app.env.found_docs:
        return ""
    command = ["git", "log", "-1", "--format=%cs", "--", app.env.doc2path(page)]
    try:
        found = subprocess.run(
            command, cwd=app.srcdir, capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""  # no git: the course was unpacked from an archive
    return found.stdout.strip()
