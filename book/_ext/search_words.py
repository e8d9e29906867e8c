"""A Sphinx extension: the search knows the words of its index, and none of JavaScript's own.

Sphinx looks a word up among an object's properties. Every object of JavaScript has a property
`constructor` and some more, so whoever searched for one of these words got an error and no result.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_SCRIPT = "searchtools.js"

# Where the script takes the words of texts and of titles out of its index.
_TAKEN = ("terms = Search._index.terms;", "titleTerms = Search._index.titleterms;")


class SearchScriptError(ExtensionError):
    """Sphinx's script is not as this extension knows it."""


def with_own_words(script: str) -> str:
    """Sphinx's search script, in which an index has no words but its own.

    Raises
    ------
    SearchScriptError
        If a line of it is not where it was.
    """
    for line in _TAKEN:
        if script.count(f"const {line}") != 1:
            raise SearchScriptError(f"{_SCRIPT} does not have the line `const {line}` once")
        name, _, index = line.removesuffix(";").partition(" = ")
        # The script asks by `hasOwnProperty`, whose name no word has, since words are lower case.
        script = script.replace(
            f"const {line}",
            f"const {name} = Object.assign(Object.create("
            f"{{ hasOwnProperty: Object.prototype.hasOwnProperty, __proto__: null }}), {index});",
        )
    return script


def setup(app: Sphinx) -> dict[str, Any]:
    """Repair the script when it has been written."""
    app.connect("build-finished", _repair)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _repair(app: Sphinx, error: Exception | None) -> None:
    path = Path(app.outdir) / "_static" / _SCRIPT
    if error is None and app.builder.name == "html" and path.is_file():
        script = path.read_text(encoding="utf-8")
        if "Object.create({ hasOwnProperty" not in script:  # repaired by a build before
            path.write_text(with_own_words(script), encoding="utf-8")
