"""A Sphinx extension: below a task of an exercise page, wrong answers to choose, with verdicts.

`python -m setup.recorded_verdicts` records them, so a page needs no kernel to show what checks say.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = Path(__file__).resolve().parents[1] / "recorded_verdicts"

SHOWN = {"exercises/05-head/05-head": "05/weights"}
"""Exercise pages, and the task below which recorded verdicts stand."""


class RecordedVerdictError(ExtensionError):
    """There is no place for recorded verdicts, or more than one."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("doctree-read", _insert)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _insert(app: Sphinx, doctree: nodes.document) -> None:
    """Put what is recorded below the cell that checks the task."""
    task = SHOWN.get(app.env.docname)
    if task is None or app.builder.format != "html":
        return
    path = FOLDER / f"{task.replace('/', '-')}.html"
    checks = [
        node
        for node in doctree.findall(nodes.literal_block)
        if node.astext().startswith(f'check("{task}",')
    ]
    if len(checks) != 1:
        raise RecordedVerdictError(f"{app.env.docname}: {len(checks)} cells check {task}, not one")
    cell = checks[0]
    while not isinstance(cell.parent, nodes.section):
        cell = cell.parent
    markup = nodes.raw("", path.read_text(encoding="utf-8"), format="html")
    cell.parent.insert(cell.parent.index(cell) + 1, markup)
    app.env.note_dependency(str(path))
