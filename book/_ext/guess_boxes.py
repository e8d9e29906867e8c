"""A Sphinx extension: a box that asks for a guess folds the output that answers it.

A notebook says what may be guessed (`course_page/guesses.py`). On a page with scripts the choices
are buttons, or there is a field for a number, and the output below stays folded until a guess is
made or the output is asked for (`course_page/guess.js`). On paper, without scripts, and in a site
that gets none of the course's, a box is a question with a list, and the output stands below it.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import python_pages
from docutils import nodes
from sphinx.errors import ExtensionError

from course_page import guesses
from course_page.errors import PageError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

BOX, FOLD, OUTPUT = "guess", "guess-fold", "guessed"
"""Classes of a box, of what stands in a folded output's place, and of the output."""

# Set before anything is drawn, so that nothing moves. If the scripts do not come, all is shown.
_HEAD = (
    "<script>document.documentElement.dataset.guesses = 'folded';"
    "addEventListener('load', () => window.coursePage || "
    "delete document.documentElement.dataset.guesses);</script>"
    "<style>@media screen { html[data-guesses=folded] ." + OUTPUT + " { display: none; } }</style>"
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("doctree-read", _mark, priority=402)  # when folded cells are joined
    app.connect("html-page-context", _add_head)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def mark(document: nodes.document, found: tuple[guesses.Guess, ...]) -> None:
    """Name boxes and outputs, and put in what scripts need.

    Parameters
    ----------
    document : nodes.document
        A page as it was read; it is changed.
    found : tuple of Guess
        The boxes of its notebook.

    Raises
    ------
    PageError
        If the page shows other boxes than its notebook has.
    """
    boxes = [one for one in document.findall(nodes.block_quote) if _is_box(one)]
    if len(boxes) != len(found):
        raise PageError(f"{len(found)} boxes ask for a guess, and the page shows {len(boxes)}")
    cells = {
        cell["cell_index"]: cell
        for cell in document.findall(nodes.container)
        if cell.get("nb_element") == "cell_code" and "cell_index" in cell  # gathered ones have none
    }
    for box, guess in zip(boxes, found, strict=True):
        box["classes"].append(BOX)
        box["ids"].append(f"guess-{guess.cell}")
        box += nodes.raw("", _about(guess), format="html")
        for number, at in enumerate(guess.shown_by):
            output = cells[at][-1]
            output["classes"] += [OUTPUT, f"guessed-{guess.cell}"]
            if number == 0:
                cells[at].insert(
                    cells[at].index(output), nodes.raw("", _fold(guess), format="html")
                )


def _mark(app: Sphinx, document: nodes.document) -> None:
    path = Path(app.srcdir) / f"{app.env.docname}.ipynb"
    if not python_pages.is_on(app) or not path.is_file():
        return
    try:
        mark(document, guesses.of_notebook(json.loads(path.read_text(encoding="utf-8"))))
    except PageError as error:
        raise ExtensionError(f"{app.env.docname}: {error}") from error


def _add_head(app: Sphinx, _page: str, _template: str, context: dict[str, Any], tree: Any) -> None:
    if not python_pages.is_on(app) or tree is None:
        return
    if any(BOX in one["classes"] for one in tree.findall(nodes.block_quote)):
        context["metatags"] = context.get("metatags", "") + _HEAD


def _is_box(quote: nodes.block_quote) -> bool:
    strong = next(iter(quote.findall(nodes.strong)), None)
    return strong is not None and strong.astext() == guesses.LABEL


def _about(guess: guesses.Guess) -> str:
    """What the script knows of a box; for a number, the field that it fills with life."""
    said = {
        "cell": guess.cell,
        "right": guess.right,
        "number": guess.number,
        "within": guess.within,
        "unit": guess.unit,
    }
    script = f'<script type="application/json">{json.dumps(said)}</script>'
    if guess.choices:
        return script
    unit = f"<span>{html.escape(guess.unit)}</span>" if guess.unit else ""
    return (
        '<form class="guess-number"><input type="text" inputmode="decimal" autocomplete="off" '
        f'aria-label="Your guess, a number">{unit}<button>Guess</button></form>{script}'
    )


def _fold(guess: guesses.Guess) -> str:
    return (
        f'<p class="{FOLD}" id="fold-{guess.cell}"><button type="button">Show the output</button> '
        '<button type="button">always show outputs</button></p>'
    )
