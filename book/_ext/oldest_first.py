"""A Sphinx extension: a bibliography from the oldest work to the newest.

As in `:style: oldest_first`. Works of one year follow their first authors' names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as UnsortedStyle
from pybtex.style.sorting import BaseSortingStyle

if TYPE_CHECKING:
    from pybtex.database import Entry
    from sphinx.application import Sphinx


class OldestFirst(BaseSortingStyle):
    """Sorts by year, then by the first author's last name, then by title."""

    def sorting_key(self, entry: Entry) -> tuple[int, str, str]:
        """What entries are compared by.

        Raises
        ------
        KeyError, ValueError
            If an entry has no year, or one that is not a number.
        """
        people: Iterable[Any] = entry.persons.get("author") or entry.persons.get("editor") or ()
        first = next((" ".join(one.last_names) for one in people), "")
        return int(entry.fields["year"]), first.casefold(), entry.fields["title"].casefold()


class OldestFirstStyle(UnsortedStyle):
    """The style `unsrt`, in that order."""

    default_sorting_style = "oldest_first"


def setup(_app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    register_plugin("pybtex.style.sorting", "oldest_first", OldestFirst, force=True)
    register_plugin("pybtex.style.formatting", "oldest_first", OldestFirstStyle, force=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
