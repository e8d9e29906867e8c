"""A Sphinx extension: a link to a term of the glossary says what the term means.

The words become the link's title, as Sphinx does it for cited works, so nothing is loaded for them
and no script is needed. Where there is a gutter beside the text, `gutter_notes.js` shows titles
there, for the keyboard too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

GLOSSARY = "book/glossary"

_TERM = "#term-"


def meanings(glossary: nodes.document) -> dict[str, str]:
    """What each term of a glossary means.

    Parameters
    ----------
    glossary : nodes.document
        The page, as it was read.

    Returns
    -------
    dict of str to str
        The id of a term to its meaning, on one line.
    """
    found = {}
    for one in glossary.findall(addnodes.glossary):
        for item in one.findall(nodes.definition_list_item):
            *terms, definition = item.children
            words = " ".join(definition.astext().split())
            for term in terms:
                if isinstance(term, nodes.term):
                    found |= dict.fromkeys(term["ids"], words)
    return found


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    known: dict[str, str] = {}

    def add(app: Sphinx, document: nodes.document, _page: str) -> None:
        if app.builder.name != "html":
            return
        if not known and GLOSSARY in app.env.found_docs:
            known.update(meanings(app.env.get_doctree(GLOSSARY)))
        for link in document.findall(nodes.reference):
            address = link.get("refuri") or f"#{link.get('refid', '')}"
            _, mark, term = address.rpartition(_TERM)
            meaning = known.get(f"term-{term}") if mark else None
            if meaning:
                link["reftitle"] = meaning

    app.connect("doctree-resolved", add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
