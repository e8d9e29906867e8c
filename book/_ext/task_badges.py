"""A Sphinx extension: below a task's title, badges say how hard it is, how long and worth how much.

In an exercise notebook they stand in the heading, `## Task 1 · Scores  ●●○○ · 15 minutes ·
4 points`, where a student and the grader read them. On a page they would also fill the table of
contents, every link to the task and its address, so there they have a line of their own.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_HEADING = re.compile(r"^(?P<title>.*?)\s+(?P<dots>●+○*)(?P<rest>(?: · [^·]+)+)$")


def divide(heading: str) -> tuple[str, str, list[str]] | None:
    """A task's heading in its parts.

    Parameters
    ----------
    heading : str
        "Task 1 · Scores  ●●○○ · 15 minutes · 4 points".

    Returns
    -------
    tuple or None
        "Task 1 · Scores", "●●○○" and ["15 minutes", "4 points"]; None for any other heading.
    """
    found = _HEADING.match(heading)
    if not found:
        return None
    rest = [part.strip() for part in found["rest"].split(" · ") if part.strip()]
    return found["title"], found["dots"], rest


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("doctree-read", _divide_all, priority=400)  # before the table of contents is made
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _divide_all(_app: Sphinx, document: nodes.document) -> None:
    for title in list(document.findall(nodes.title)):
        section, last = title.parent, title[-1] if title.children else None
        if not isinstance(section, nodes.section) or not isinstance(last, nodes.Text):
            continue
        parts = divide(last.astext())
        if parts is None:
            continue
        name, dots, rest = parts
        title.replace(last, nodes.Text(name))
        title.rawsource = title.astext()
        # The new address comes first; links to the long one go on leading here.
        section["ids"].insert(0, document.set_id(nodes.section(names=[title.astext()])))
        section.insert(1, nodes.raw("", _badges(dots, rest), format="html"))


def _badges(dots: str, rest: list[str]) -> str:
    difficulty = f"difficulty {dots.count('●')} of {len(dots)}"
    shown = f'<span role="img" aria-label="{difficulty}" title="{difficulty}">{dots}</span>'
    return (
        f'<p class="task-badges">{shown}'
        + "".join(f"<span>{html.escape(one)}</span>" for one in rest)
        + "</p>"
    )
