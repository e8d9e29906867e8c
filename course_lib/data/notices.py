"""Notices: what a reader must not miss, in a notebook and in a terminal."""

import html
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

_WIDTH = 79  # columns that every terminal has


@dataclass(frozen=True, repr=False)
class Notice:
    """A box with a title, a few sentences and, where there are any, a list.

    Parameters
    ----------
    title : str
        What happened, in one line.
    sentences : sequence of str
        What it means and what to do; a paragraph each.
    items : sequence of str
        Particulars, shown as a list between the first paragraph and the others.
    """

    title: str
    sentences: Sequence[str]
    items: Sequence[str] = ()

    def show(self) -> None:
        """Display the box in a notebook; print it on stdout anywhere else.

        Never on stderr: a graded notebook loses the points of a cell that writes there.
        """
        if _in_notebook():
            from IPython.display import display

            display(self)
        else:
            print(self, flush=True)

    def __str__(self) -> str:
        """The box as text."""
        bar = "=" * _WIDTH
        first, *others = (_wrapped(sentence) for sentence in self.sentences)
        items = "\n".join(_wrapped(item, "  - ", "    ") for item in self.items)
        body = "\n\n".join(part for part in (first, items, *others) if part)
        return f"{bar}\n{_wrapped('NOTICE: ' + self.title)}\n{bar}\n{body}\n{bar}"

    def __repr__(self) -> str:
        """The same: what a notebook without HTML shows."""
        return str(self)

    def _repr_html_(self) -> str:
        first, *others = (f"<p>{html.escape(sentence)}</p>" for sentence in self.sentences)
        items = "".join(f"<li>{html.escape(item)}</li>" for item in self.items)
        # No background and no text colour are set, so that the box fits a light and a dark page.
        return (
            '<div role="alert" style="border: 2px solid #d97706; border-left-width: 10px; '
            'border-radius: 4px; padding: 0.5em 1em; margin: 0.5em 0; overflow-wrap: anywhere">'
            f"<p><strong>Notice: {html.escape(self.title)}</strong></p>"
            f"{first}{f'<ul>{items}</ul>' if items else ''}{''.join(others)}</div>"
        )


def _wrapped(text: str, first_indent: str = "", indent: str = "") -> str:
    """Lines of `_WIDTH` columns; paths and addresses stay whole, so that one can copy them."""
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=first_indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this code; found out without importing IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None
