"""A Sphinx extension: folded cells that follow each other are one fold.

A chapter that opens with a figure prepares it in cells of a few lines, all of them folded. A bar
for each would push the figure down the page, so their code stands under a single one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def join(document: nodes.document) -> int:
    """Move the code of a folded cell that shows nothing into the folded cell after it.

    Parameters
    ----------
    document : nodes.document
        A page as it was read; it is changed.

    Returns
    -------
    int
        How many cells went into the next one.
    """
    joined = 0
    for cell in list(document.findall(nodes.container)):
        after = cell.next_node(siblings=True, descend=False)
        if not _is_folded(cell) or len(cell) != 1 or not _is_folded(after):
            continue
        for number, code in enumerate(list(cell[0].children)):
            after[0].insert(number, code)
        cell.parent.remove(cell)
        joined += 1
    return joined


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("doctree-read", _join, priority=401)  # after the checks have left
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _join(_app: Sphinx, document: nodes.document) -> None:
    join(document)


def _is_folded(node: nodes.Node | None) -> bool:
    return (
        isinstance(node, nodes.container)
        and node.get("nb_element") == "cell_code"
        and node.get("hide_mode") == "input"
        and bool(node.children)
        and node[0].get("nb_element") == "cell_code_source"
    )
