"""A Sphinx extension: outputs of a notebook that hold HTML for the book's pages become HTML.

Such an output has no `text/html`, because most viewers of notebooks would take it and strip the
picture out of it (see `course_lib/mime.py`). Before a page is read, it gets it back, with the
pixels that stand beside it where it shows them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sphinx.errors import ExtensionError

from course_lib.mime import PAGE_HTML, PIXELS

if TYPE_CHECKING:
    from sphinx.application import Sphinx

STYLE = "stills.css"


class PageOutputError(ExtensionError):
    """An output says that a picture stands beside it, and there is none."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("source-read", _read)
    app.add_css_file(STYLE)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def for_pages(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook whose outputs for pages are `text/html` and nothing else; changed in place.

    Parameters
    ----------
    notebook : dict
        The JSON of a notebook of nbformat 4.

    Returns
    -------
    dict
        The same notebook.

    Raises
    ------
    PageOutputError
        If a picture that an output points at is not there.
    """
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if PAGE_HTML in data:
                output["data"] = {"text/html": _markup(data), "text/plain": data["text/plain"]}
    return notebook


def _read(app: Sphinx, page: str, source: list[str]) -> None:
    """Change what Sphinx has read of one page, if it is a notebook with such outputs."""
    if app.env.doc2path(page).endswith(".ipynb") and PAGE_HTML in source[0]:
        try:
            source[0] = json.dumps(for_pages(json.loads(source[0])), ensure_ascii=False)
        except PageOutputError as error:
            raise PageOutputError(f"{page}: {error}") from error


def _markup(data: dict[str, Any]) -> str:
    markup = "".join(data[PAGE_HTML])
    if PIXELS not in markup:
        return markup
    if "image/png" not in data:
        raise PageOutputError("an output shows its image/png, and has none")
    pixels = "".join(data["image/png"]).replace("\n", "")
    return markup.replace(PIXELS, f"data:image/png;base64,{pixels}")
