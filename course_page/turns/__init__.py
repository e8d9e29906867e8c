"""*Your turn*: a few lines to write inside a chapter, with a small check of their own.

A turn stands before one of the chapter's own cells, which stays folded until the reader asks for it
or passes. It is worth no points and is in no assignment. The check runs some expressions with what
the reader wrote and with the right answer, and compares what comes out; a slip that people often
make is a wrong answer with a sentence.

Each chapter's turns are data in a module beside this one. Nothing here is imported before a page
asks, so a site can list turns without PyTorch.
"""

from __future__ import annotations

import html
import importlib
import io
import json
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from course_page.errors import PageError

KEY = "your_turn"
"""Under `course` in a cell's metadata, what names the turn that stands before it."""

_COLORS = {"✓": "#2b9348", "✗": "#c9413f", "○": "#808080"}  # as those of verdicts


@dataclass(frozen=True)
class Slip:
    """A wrong answer that people often give.

    Attributes
    ----------
    answer : str
        Its code.
    says : str
        What its writer is told; code between backticks.
    """

    answer: str
    says: str


@dataclass(frozen=True)
class Turn:
    """A few lines to write.

    Attributes
    ----------
    name : str
        "01/past-mean"; the cell's metadata names it under `course`, as `KEY`.
    asks : str
        What is to be written, in one or two sentences; code between backticks.
    given : str
        Code that is run first, such as imports.
    start : str
        What stands in the editor: at most eight lines are missing.
    answer : str
        A right answer.
    tries : tuple of str
        Expressions; what they give with an answer is compared.
    slips : tuple of Slip
    passed : str
        What a reader is told who passes.
    folds : bool
        Whether the chapter's own cell gives the answer, and is folded until then. A turn below a
        figure folds nothing and shows `answer` instead.
    """

    name: str
    asks: str
    start: str
    answer: str
    tries: tuple[str, ...]
    passed: str
    slips: tuple[Slip, ...] = ()
    given: str = "import torch\n"
    folds: bool = True


def of_chapter(chapter: str) -> tuple[Turn, ...]:
    """The turns of a chapter, such as "01"; none if it has none."""
    try:
        module = importlib.import_module(f"{__name__}.ch{chapter}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.ch{chapter}":
            raise
        return ()
    turns: tuple[Turn, ...] = module.TURNS
    return turns


def find(name: str) -> Turn:
    """The turn of a name.

    Raises
    ------
    PageError
        If there is none.
    """
    chapter = name.partition("/")[0]
    for turn in of_chapter(chapter):
        if turn.name == name:
            return turn
    known = ", ".join(turn.name for turn in of_chapter(chapter)) or "none"
    raise PageError(f"there is no turn {name!r} in course_page/turns/ch{chapter}.py, only {known}")


def check(name: str, request: str, write: Callable[[str, str], Any] | None = None) -> str:
    """Try what a reader wrote; called by a page.

    Parameters
    ----------
    name : str
        The turn's.
    request : str
        JSON with `source`, what stands in the editor.
    write : callable (text, stream), optional
        Called with what was printed.

    Returns
    -------
    str
        JSON: `passed`, `text`, `html`.
    """
    turn, source = find(name), json.loads(request)["source"]
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        sign, words = _tried(turn, source)
    if write is not None and printed.getvalue():
        write(printed.getvalue(), "stdout")
    return json.dumps(
        {
            "passed": sign == "✓",
            "text": f"{sign} {words.replace('`', '')}",
            "html": _fragment(sign, words),
        }
    )


def _tried(turn: Turn, source: str) -> tuple[str, str]:
    """A sign and a sentence on what a reader wrote."""
    if source.strip() == turn.start.strip():
        return "○", "Nothing is written here yet."
    try:
        found = _values(turn, source)
    except NotImplementedError:
        return "○", "The line with `raise NotImplementedError` is still there."
    except Exception as error:  # whatever a reader's code raises is shown to the reader
        return "✗", _described(error)
    right = _values(turn, turn.answer)
    wrong = [at for at, value in enumerate(found) if not _same(value, right[at])]
    if not wrong:
        return "✓", turn.passed
    for slip in turn.slips:
        if all(map(_same, found, _values(turn, slip.answer))):
            return "✗", slip.says
    at = wrong[0]
    return "✗", f"`{turn.tries[at]}` gives {_shown(found[at])}. It should give {_shown(right[at])}."


def _values(turn: Turn, source: str) -> list[Any]:
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(turn.given, space)
    exec(compile(source, "<your cell>", "exec"), space)
    return [eval(one, space) for one in turn.tries]


def _same(one: Any, other: Any) -> bool:
    import torch

    if not isinstance(other, torch.Tensor):
        other = torch.as_tensor(other)
    try:
        one = torch.as_tensor(one)
    except (TypeError, ValueError, RuntimeError):
        return False
    if tuple(one.shape) != tuple(other.shape):
        return False
    return bool(torch.allclose(one.double(), other.double(), rtol=1e-4, atol=1e-5, equal_nan=True))


def _shown(value: Any) -> str:
    """A value in one line of code, with its shape if it is a large one."""
    import torch

    if value is None:
        return "nothing: it has no `return`, or one without a value"
    if not isinstance(value, torch.Tensor):
        return f"`{str(value)[:200]}`"
    if value.numel() > 24:
        first = _rows(value.flatten()[:6])
        return f"a tensor of shape `{tuple(value.shape)}` that begins with `{first}`"
    return f"`{_rows(value)}`"


def _rows(value: Any) -> str:
    def rounded(part: Any) -> Any:
        if isinstance(part, list):
            return [rounded(one) for one in part]
        return round(part, 3) if isinstance(part, float) else part

    return str(rounded(value.tolist()))


def _described(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"Line {error.lineno}: this is no Python yet ({error.msg})."
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == "<your cell>"
    ]
    where = f"Line {lines[-1]}: " if lines else ""
    return f"{where}`{type(error).__name__}`: {error}"


def _fragment(sign: str, words: str) -> str:
    """The same as HTML, in the form of a verdict."""
    parts = html.escape(words).split("`")
    text = "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))
    color = _COLORS[sign]
    return (
        f'<div class="course-verdict" style="border-left:4px solid {color};padding:.5em .9em;'
        'margin:.3em 0;line-height:1.45;overflow-wrap:anywhere"><p style="margin:0">'
        f'<span style="color:{color}" aria-hidden="true">{sign}</span> {text}</p></div>'
    )
