"""A Sphinx extension: what the theme's pages do not say to readers who do not see them.

The theme's templates leave the arrows of its contents without words, its panel of contents outside
of every landmark, docutils marks works of a bibliography with a role that is no longer one, and
MyST-NB names each fold of code by other words than those that it shows.
Neither a setting nor a style mends that, so the pages are mended when they are written.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# A chapter in the contents, with the arrow that folds what stands below it.
_ARROW = re.compile(r"(?P<link><a [^>]*>(?P<title>[^<]*)</a>)(?P<fold><details[^>]*>)<summary>")

_FOLD = '<summary aria-label="Toggle hidden content">'

_PANEL = '<div id="pst-primary-sidebar"'
_NAMED_PANEL = f'{_PANEL} role="region" aria-label="The book"'


def mended(page: str) -> str:
    """A page that says in words and roles what it shows.

    Parameters
    ----------
    page : str
        Its HTML.

    Returns
    -------
    str
        The same page: each arrow of the contents names its chapter, the panel of contents is a
        region, each work of a bibliography is an item of a list, and a fold is called what stands
        on it.
    """

    def named(found: re.Match[str]) -> str:
        # The title is HTML already; quotes alone are not escaped outside of attributes.
        title = found["title"].strip().replace('"', "&quot;")
        label = f'aria-label="{html.escape("Pages below")} “{title}”"'
        return f"{found['link']}{found['fold']}<summary {label}>"

    page = _ARROW.sub(named, page)
    page = page.replace(_PANEL, _NAMED_PANEL).replace(_FOLD, "<summary>")
    return page.replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("build-finished", _mend_all)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _mend_all(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.name != "html":
        return
    for file in Path(app.outdir).rglob("*.html"):
        page = file.read_text(encoding="utf-8")
        file.write_text(mended(page), encoding="utf-8")
