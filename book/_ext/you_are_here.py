"""A Sphinx extension: at the head of every chapter, the whole model with that chapter's part lit.

One drawing shows a GPT from the text to the next letter (`whole_model`). It is made when the site
is built, so no notebook stores it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from whole_model import Stop, layouts

if TYPE_CHECKING:
    from sphinx.application import Sphinx

STOPS = (
    Stop(
        "book/01-averages",
        "average",
        "At the heart of the model is an average of everything so far. This chapter builds it, "
        "with weights that are given.",
    ),
    Stop(
        "book/02-affinities",
        "scores",
        "Scores say how much one position cares for another, and softmax turns them into weights.",
    ),
    Stop(
        "book/03-text",
        "text",
        "The model reads symbols and predicts the next one. This chapter turns a text into both.",
    ),
    Stop(
        "book/04-bigram",
        "a table",
        "A table with a row for each symbol. Here its rows are the logits already; later they "
        "become vectors that the rest of the model works on.",
    ),
    Stop(
        "book/05-head",
        "a head",
        "Scores, weights and an average, all learned: that is one head of attention.",
    ),
    Stop(
        "book/06-heads",
        "many heads",
        "Several heads look at the same text side by side, each for something else.",
    ),
    Stop(
        "book/07-block",
        "a block",
        "Heads gather, a feed-forward network computes, and both add what they found to the "
        "residual stream, the thick line.",
    ),
    Stop(
        "book/08-gpt",
        "the whole",
        "Blocks between a table at the beginning and logits at the end: a GPT that writes.",
    ),
    Stop(
        "book/09-names",
        "names, LSTM",
        "The whole model on another text, beside a network that remembers in another way.",
    ),
    Stop(
        "book/10-jax",
        "in JAX",
        "The whole model again, as a pure function of its parameters.",
    ),
    Stop(
        "book/11-looking-inside",
        "looking inside",
        "The whole model, trained and opened: which heads copy, and what breaks without them.",
    ),
    Stop(
        "book/12-faster",
        "faster",
        "The same numbers in less time: what is kept, streamed, drafted and rounded.",
    ),
    Stop(
        "book/13-two-sequences",
        "two texts",
        "A second text beside the first: one is read, the other written.",
    ),
)
"""Every chapter in its order."""

PARTS = (
    "A drawing of the whole model, from left to right: a text; a table that gives each symbol and "
    "each position a vector; blocks, in which heads and a feed-forward network add to a residual "
    "stream, and in each head scores become weights of an average; logits; the next letter. "
    "Below it, what the last chapters do with the whole."
)


def drawing(here: str, address: Callable[[str], str | None]) -> str:
    """The drawing for the head of one chapter.

    Parameters
    ----------
    here : str
        The chapter's page, one of those in `STOPS`.
    address : callable
        From a page's name to its address as seen from here; None for a page that there is not.

    Returns
    -------
    str
        A `figure` for the page.
    """
    place = [stop.page for stop in STOPS].index(here)
    stop = STOPS[place]
    ahead = " Dashed parts are still to come." if place < len(STOPS) - 1 else ""
    return (
        '<figure class="you-are-here">'
        f'<svg role="group" aria-label="{html.escape(PARTS)}">'
        f"{layouts(STOPS, place, address)}</svg>"
        f"<figcaption><b>You are here: {stop.number} · {html.escape(stop.part)}.</b> "
        f"{html.escape(stop.words)}<small> Every part leads to its chapter.{ahead}</small>"
        "</figcaption></figure>"
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.add_css_file("you_are_here.css")
    app.connect("html-page-context", _insert)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _insert(app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the drawing below a chapter's title, or below all of them if one page holds the book."""
    if doctree is None:
        return
    one_page = app.builder.name == "singlehtml"
    leading_to = app.builder.get_target_uri if one_page else context["pathto"]

    def address(other: str) -> str | None:
        return leading_to(other) if other in app.env.found_docs else None

    for stop in STOPS:
        if one_page:
            title = rf'id="document-{re.escape(stop.page)}".*?</h\d>'
        elif page == stop.page:
            title = "</h1>"
        else:
            continue
        context["body"] = below(context["body"], title, drawing(stop.page, address))


def below(body: str, title: str, markup: str) -> str:
    """A page with some markup after the first place that a pattern describes.

    Parameters
    ----------
    body : str
        The page's HTML.
    title : str
        A regular expression, which ends where the markup goes.
    markup : str
        What is put there.

    Returns
    -------
    str
        The page; unchanged if the place is not in it.
    """
    return re.sub(title, lambda found: found[0] + markup, body, count=1, flags=re.DOTALL)
