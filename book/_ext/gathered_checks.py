"""A Sphinx extension: what a chapter checks about itself stands together, at its end.

A notebook has a cell tagged `assertion` right after each result that the text relies on, because
that is where it is run. A reader who follows the story does not need it there. So a
section shows one quiet line of marks, which lead to the cells at the end of the page, and from
there a link leads back to the place of each. The order stays the notebook's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

TAG = "tag_assertion"
"""The class that MyST-NB gives to a cell with the tag."""

SECTION = "what-this-chapter-checks"
"""The address of the gathered cells within their page."""

_TITLE = "What this chapter checks"
_WORDS = (
    "Every number and claim of this chapter comes from the run that is stored in its notebook, and "
    "{count} check them there: if one of them failed, the chapter would not be built. "
    "The number of each leads back to its place."
)


def gather(document: nodes.document) -> int:
    """Move the checks of one page to its end.

    Parameters
    ----------
    document : nodes.document
        A page as it was read; it is changed.

    Returns
    -------
    int
        How many were moved. A page without a check, or without a title, stays as it is.
    """
    top = next(iter(document.findall(nodes.section)), None)
    cells = [
        cell
        for cell in document.findall(nodes.container)
        if TAG in cell["classes"] and cell.children and _is_source(cell[0])
    ]
    if top is None or not cells:
        return 0
    gathered = nodes.section("", nodes.title("", _TITLE), ids=[SECTION], names=[SECTION])
    count = f"{len(cells)} cells" if len(cells) > 1 else "one cell"
    gathered += nodes.paragraph("", _WORDS.format(count=count))
    show = f'<details class="checks"><summary>Show {count}</summary>'
    gathered += nodes.raw("", show, format="html")
    for number, cell in enumerate(cells, start=1):
        gathered += _entry(number, cell)
        _leave_mark(number, cell)
    gathered += nodes.raw("", "</details>", format="html")
    document.note_implicit_target(gathered)
    top += gathered
    return len(cells)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("doctree-read", _gather, priority=400)  # before the table of contents is made
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _gather(_app: Sphinx, document: nodes.document) -> None:
    gather(document)


def _is_source(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and node.get("nb_element") == "cell_code_source"


def _entry(number: int, cell: nodes.container) -> list[nodes.Node]:
    """What stands at the end: the link back, with the section's title, and the code."""
    place: nodes.Node | None = cell
    while place is not None and not isinstance(place, nodes.section):
        place = place.parent
    title = place[0].astext() if place is not None else ""
    back = nodes.reference("", f"Check {number}", refid=_place(number), internal=True)
    line = nodes.paragraph("", "", back, nodes.Text(f", in “{title}”"), classes=["check-place"])
    line["ids"].append(_at_the_end(number))
    shown = nodes.container(
        "", cell[0].deepcopy(), classes=["cell", "check"], nb_element="cell_code"
    )
    return [line, shown]


def _leave_mark(number: int, cell: nodes.container) -> None:
    """Leave the place to come back to where the cell stood, and one line of marks in its section:
    behind the last of its checks. What the cell shows stays there.
    """
    link = nodes.reference("", f"check {number}", refid=_at_the_end(number), internal=True)
    parent = cell.parent
    parent.insert(parent.index(cell), nodes.target("", "", ids=[_place(number)]))
    marks = next((one for one in parent if "check-mark" in one.get("classes", [])), None)
    if marks is None:
        marks = nodes.paragraph("", "", classes=["check-mark"])
    else:
        parent.remove(marks)
        marks += nodes.Text(" · ")
    marks += link
    cell.pop(0)
    cell.attributes.pop("hide_mode", None)
    parent.insert(parent.index(cell) + 1, marks)
    if not cell.children:
        parent.remove(cell)


def _place(number: int) -> str:
    return f"check-{number}"


def _at_the_end(number: int) -> str:
    return f"check-{number}-code"
