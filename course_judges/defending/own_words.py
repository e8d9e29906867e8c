"""Keeps the right answer out of questions: changed code may become a piece of it."""

from __future__ import annotations

import io
import re
import tokenize
from functools import cache

from course_judges import catalogue
from course_judges.edits.steps import source_of

# So many tokens in a row are a piece of an answer; fewer are how everybody writes.
TOKENS = 6

_LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)

Runs = frozenset[tuple[str, ...]]


def shows_answer(task: str, own: str, text: str) -> bool:
    """Whether a text holds a piece of the right answer that the student did not write.

    Parameters
    ----------
    task : str
    own : str
        The student's code.
    text : str
        A piece of code.
    """
    return bool((_runs(text) & _reference(task)) - _runs(own))


@cache
def _reference(task: str) -> Runs:
    try:
        return _runs(source_of(catalogue.as_written(task).answer))
    except (TypeError, OSError):  # an answer without a source is shown by nothing
        return frozenset()


@cache
def _runs(text: str) -> Runs:
    words = _tokens(text)
    return frozenset(tuple(words[n : n + TOKENS]) for n in range(len(words) - TOKENS + 1))


def _tokens(text: str) -> list[str]:
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):  # a line of a statement that has several
        return re.findall(r"\w+|[^\w\s]", text)
    return [one.string for one in found if one.type not in _LAYOUT and one.string.strip()]
