"""Pages from templates in `templates/`: what stands in them is text, and never becomes a tag.

Autoescape is on for every template, and a value that is missing is an error. Two things alone are
HTML already: a judge's verdict and a picture of another template, and both are marked as such where
they are made.
"""

from __future__ import annotations

import functools
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_grader.reports.untrusted import plain

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).with_name("templates")


def render(template: str, **values: Any) -> str:
    """A page, or a piece of one, as HTML.

    Parameters
    ----------
    template : str
        A file of `templates/`.
    values
        What it names; all of it, no less. Texts are escaped, freed of control characters, and cut
        where they have no end.
    """
    return environment().get_template(template).render(values)


def compile_templates(*names: str) -> None:
    """Do now what the first page of these would do, or of all: processes that are forked share it.

    A page of the class takes twice as long as all of a student's.
    """
    for name in names or environment().list_templates():
        environment().get_template(name)


@functools.cache
def environment() -> Environment:
    """The templates, their filters and rules; made once a process."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["sentence"] = sentence
    made.filters["number"] = "{:g}".format
    made.filters["minute"] = _minute
    return made


def sentence(words: str) -> Markup:
    """A judge's sentence as HTML: what stands between backticks is code.

    >>> print(sentence("Write `a < b`, not <b>."))
    Write <code>a &lt; b</code>, not &lt;b&gt;.
    """
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(plain(words)))))


def _minute(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def _harmless(value: Any) -> Any:
    """What every value of a template goes through before it is escaped.

    Raises
    ------
    TypeError
        If it is neither text nor a number: a page never says how Python writes an object.
    """
    from jinja2 import Undefined

    if type(value) is str:
        return plain(value)
    if isinstance(value, str | int | float | Undefined):  # HTML already is a kind of str
        return value
    raise TypeError(f"a template would show a {type(value).__name__}: {value!r:.200}")
