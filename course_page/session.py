"""What a page calls: check an answer, run a cell.

Each call begins with a namespace of its own, in which the cells above are run first, as a notebook
that was restarted would. Requests and results are texts of JSON, so that nothing of Python's stays
in the page's hands.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import html
import importlib
import io
import json
import linecache
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Collection, Iterator
from typing import Any

from course_page import wide_indices

Write = Callable[[str, str], Any]

# What one run may print. More would fill the page's memory, and nobody reads it.
MOST_CHARACTERS = 100_000

_CUT = f"\n… (more than {MOST_CHARACTERS:,} characters; the rest is left out)\n"


class _Printed(io.TextIOBase):
    """Takes what is printed, and passes it on as it comes."""

    def __init__(self, stream: str, write: Write | None, parts: list[str]) -> None:
        self._stream, self._write, self._parts = stream, write, parts
        self._left = MOST_CHARACTERS

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._left > 0:
            shown = text if len(text) <= self._left else text[: self._left] + _CUT
            self._left -= len(text)
            self._parts.append(shown)
            if self._write is not None:
                self._write(shown, self._stream)
        return len(text)


@contextlib.contextmanager
def printing(write: Write | None) -> Iterator[list[str]]:
    """What is printed inside, in the order in which it was."""
    parts: list[str] = []
    out, err = _Printed("stdout", write, parts), _Printed("stderr", write, parts)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield parts


@functools.cache
def _prepare() -> None:
    """Make this process what the course expects of one, once."""
    wide_indices.accept()
    if sys.platform == "emscripten":
        # Where corpora would be kept; nothing is fetched, and this spares the package that asks.
        os.environ.setdefault("COURSE_CACHE", tempfile.gettempdir())


def ready(chapter: str = "") -> None:
    """Import what every check needs, and what this chapter's do, so that the first is quick.

    Parameters
    ----------
    chapter : str
        For example "05"; the chapter's tasks and judges are imported, and no other's.
    """
    _prepare()
    importlib.import_module("course_judges.at_desk")
    tasks = importlib.import_module("course_tasks.catalogue")
    judges = importlib.import_module("course_judges.catalogue")
    package = tasks.chapters().get(chapter)
    if package is not None:
        name = package.partition(".")[2]
        importlib.import_module(package)
        importlib.import_module(f"{judges.__name__.partition('.')[0]}.{name}")


def check(task: str, request: str, write: Write | None = None) -> str:
    """Judge an answer.

    Parameters
    ----------
    task : str
        For example "05/scores".
    request : str
        JSON: `before` (sources of the cells above), `source` (the answer's cell), `call` (the cell
        that checks it), and if links to the book are wanted, `book` (where it is, seen from the
        page).
    write : callable (text, stream), optional
        Called with what is printed.

    Returns
    -------
    str
        JSON: `task`, `title`, `state`, `points`, `outOf`, `text`, `html`, `stdout`, `error`.
    """
    from course_tasks.verdict import Verdict

    asked = json.loads(request)
    with printing(write) as printed:
        space, failed = _after(asked["before"])
        verdict, error = None, run_cell(space, asked["source"], task)[1]
        if error is None:
            verdict, error = run_cell(space, asked["call"], f"{task}, the check")
    if isinstance(verdict, Verdict):
        found = {
            "title": verdict.title,
            "state": verdict.state.value,
            "points": verdict.points,
            "outOf": verdict.out_of,
            "text": str(verdict),
            "html": verdict.to_html(asked.get("book") or ""),
            "error": None,
        }
    elif error is not None:
        found = _stopped(task, described(error, failed))
    else:
        raise TypeError(f"the check of {task} returned {verdict!r} and no verdict")
    return json.dumps({"task": task, **found, "stdout": "".join(printed)})


def run(request: str, write: Write | None = None) -> str:
    """Run a cell.

    Parameters
    ----------
    request : str
        JSON: `before` (sources of the cells above) and `source`; `book` as for `check`. With
        `quiet`, what the cells above print and draw is left out.
    write : callable (text, stream), optional
        Called with what is printed.

    Returns
    -------
    str
        JSON: `stdout`, `result` (what a notebook would show of the last expression, as text),
        `html` (the same as HTML, if it has any), `pictures` (SVG), `error`.
    """
    asked = json.loads(request)
    quiet = bool(asked.get("quiet"))
    if quiet:
        with printing(None):
            space, failed = _after(asked["before"])
            _pictures()
    with printing(write) as printed:
        if not quiet:
            space, failed = _after(asked["before"])
        value, error = run_cell(space, asked["source"], "cell")
        shown = _shown(value, asked.get("book") or "") if error is None else {}
        pictures = _pictures()
    return json.dumps(
        {
            "result": None,
            "html": None,
            **shown,
            "pictures": [*shown.pop("pictures", []), *pictures],
            "error": None if error is None else described(error, failed),
            "stdout": "".join(printed),
        }
    )


def train(task: str, request: str, write: Write | None = None) -> str:
    """Begin a training of the reader's own GPT, or go on with it for a moment.

    Parameters
    ----------
    task : str
        "my-gpt/model" or "my-gpt/train".
    request : str
        JSON: `begin` (see `course_page.own_training.OwnTraining`); or `seconds` to go on for, and
        `look` if the loss on all held-out text is wanted at the end; or `packed`, to be given the
        model.
    write : callable (text, stream), optional
        Called with what is printed.

    Returns
    -------
    str
        JSON: `lines` of a training that has begun, or what `OwnTraining.go_on` or `packed` says;
        `says` if it cannot be trained or shown, or `html` if the program stopped; `stdout`.
    """
    _prepare()
    training = importlib.import_module("course_page.own_training")
    answer: str = training.answer(task, request, write)
    return answer


def defend(task: str, request: str, write: Write | None = None) -> str:
    """Questions about the code of an answer that has passed.

    Parameters
    ----------
    task : str
        For example "05/scores".
    request : str
        JSON: `before`, `source` and `call` as for `check`, `own` (sources of the task's own cells),
        and `seed`, which decides which questions are asked.
    write : callable (text, stream), optional
        Called with what is printed.

    Returns
    -------
    str
        JSON: `code` (numbered lines), `given` (lines), and `questions`, each with `text` and
        `options` (`text`, `right`, `reason`); texts are HTML. Or `says`, if there are none.
    """
    desk = importlib.import_module("course_judges.defending.at_desk")
    if reason := importlib.import_module("course_judges.defending.asking").unasked(task):
        return json.dumps({"says": f"Nobody is asked about this task: {reason}."})
    asked = json.loads(request)
    with printing(write):
        space, _ = _after(asked["before"])
        run_cell(space, asked["source"], task)
        paper = desk.paper_at_desk(task, asked["call"], asked["own"], space, int(asked["seed"]))
    if paper is None:
        return json.dumps({"says": "No function or class was found that could be asked about."})
    if not any(one.options for one in paper.questions):
        return json.dumps({"says": f"No question could be made: {paper.lacking}."})
    return json.dumps(
        {
            "code": [[number, text] for number, text in paper.code],
            "given": [one.line for one in paper.given],
            "questions": [
                {
                    "text": _with_code(one.text),
                    "options": [
                        {
                            "text": _with_code(option.text),
                            "right": option.right,
                            "reason": _with_code(option.reason),
                        }
                        for option in one.options
                    ],
                }
                for one in paper.questions
                if one.options
            ],
        }
    )


def _with_code(words: str) -> str:
    """Words as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(words))


def turn(name: str, request: str, write: Write | None = None) -> str:
    """Check one of the small tasks inside a chapter; see `course_page.turns`."""
    turns = importlib.import_module("course_page.turns")
    answer: str = turns.check(name, request, write)
    return answer


def _after(cells: list[str]) -> tuple[dict[str, Any], list[str]]:
    """A namespace in which cells have run, and words on those that failed.

    A cell that fails is passed over, as if a person had run one cell after the other.
    """
    _prepare()
    space: dict[str, Any] = {"__name__": "__main__"}
    failed = []
    for number, source in enumerate(cells, 1):
        error = run_cell(space, source, f"cell {number}")[1]
        if error is not None:
            failed.append(f"{type(error).__name__} in {_first_line(source)!r}: {error}")
    return space, failed


def _first_line(source: str) -> str:
    return next((line.strip() for line in source.splitlines() if line.strip()), "an empty cell")


def run_cell(
    space: dict[str, Any], source: str, name: str, tree: ast.Module | None = None
) -> tuple[Any, BaseException | None]:
    """Run a cell; its last expression's value, or what it raised.

    Parameters
    ----------
    space : dict
        The namespace.
    source : str
        What errors quote.
    name : str
        What errors call it.
    tree : Module, optional
        What is run, if that is not what the source says.
    """
    file = f"<{name}>"
    # Verdicts quote the line that failed, so Python has to find it.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    try:
        tree = ast.parse(source, file) if tree is None else tree
        last = tree.body[-1] if tree.body else None
        if not isinstance(last, ast.Expr):
            exec(compile(tree, file, "exec"), space)
            return None, None
        exec(compile(ast.Module(tree.body[:-1], []), file, "exec"), space)
        return eval(compile(ast.Expression(last.value), file, "eval"), space), None
    except BaseException as error:  # whatever a reader's cell raises is shown to the reader
        return None, error


def described(error: BaseException, failed: list[str]) -> dict[str, Any]:
    """An error in words: what, where, and which cell above may be the reason."""
    line, text = 0, ""
    if isinstance(error, SyntaxError):
        line, text = error.lineno or 0, (error.text or "").strip()
        message = error.msg
    else:
        message = str(error)
        for frame, number in traceback.walk_tb(error.__traceback__):
            file = frame.f_code.co_filename
            if file.startswith("<") and file.endswith(">") and linecache.getline(file, number):
                line, text = number, linecache.getline(file, number).strip()
    return {
        "type": type(error).__name__,
        "message": message,
        "line": line,
        "text": text,
        "notes": failed if isinstance(error, NameError) else [],
    }


def _stopped(task: str, error: dict[str, Any]) -> dict[str, Any]:
    """The outcome of a check whose cell raised an error."""
    from course_judges import catalogue

    known = catalogue.task(task)
    what = f"{error['type']}: {error['message']}"
    where = f"Line {error['line']}: {error['text']}" if error["line"] else ""
    notes = [f"A cell above failed, too: {note}" for note in error["notes"]]
    headline = f"Your cell stopped · {known.title} · 0 of {known.points:g} points"
    lines = [headline, *(f"  {line}" for line in (what, where, *notes) if line)]
    return {
        "title": known.title,
        "state": "interrupted",
        "points": 0.0,
        "outOf": known.points,
        "text": "\n".join(lines),
        "html": stopped_html(headline, error, notes),
        "error": error,
    }


def stopped_html(headline: str, error: dict[str, Any], notes: Collection[str] = ()) -> str:
    """What is shown of a cell that stopped: `error` is what `described` says of it."""
    what = f"{error['type']}: {error['message']}"
    return (
        '<div class="course-verdict" role="status" style="border-left:4px solid #808080;'
        'padding:.5em .9em;margin:.3em 0;line-height:1.45;overflow-wrap:anywhere">'
        '<p style="margin:0 0 .3em"><span aria-hidden="true">■</span> '
        f"<strong>{html.escape(headline)}</strong></p>"
        f'<p style="margin:.4em 0 0"><code>{html.escape(what)}</code>'
        + (
            f"<br>Line {error['line']}: <code>{html.escape(error['text'])}</code>"
            if error["line"]
            else ""
        )
        + "".join(f"<br>{html.escape(note)}" for note in notes)
        + "</p></div>"
    )


def _shown(value: Any, book: str) -> dict[str, Any]:
    """What a notebook would show of a value."""
    from course_tasks.verdict import Verdict

    if value is None:
        return {}
    if isinstance(value, Verdict):
        return {"result": str(value), "html": value.to_html(book)}
    bundle = getattr(value, "_repr_mimebundle_", None)
    if callable(bundle):
        kinds = bundle()
        kinds = kinds[0] if isinstance(kinds, tuple) else kinds
        from course_lib.mime import PAGE_HTML, PIXELS

        markup = kinds.get(PAGE_HTML) or kinds.get("text/html")
        if markup and PIXELS in markup:
            markup = markup.replace(PIXELS, f"data:image/png;base64,{kinds['image/png']}")
        return {"result": kinds.get("text/plain"), "html": markup}
    as_html = getattr(value, "_repr_html_", None)
    return {"result": repr(value), "html": as_html() if callable(as_html) else None}


def _pictures() -> list[str]:
    """The figures of matplotlib that a cell left open, as SVG, and close them."""
    plot = sys.modules.get("matplotlib.pyplot")
    if plot is None:
        return []
    found = []
    for number in plot.get_fignums():
        buffer = io.StringIO()
        plot.figure(number).savefig(buffer, format="svg", bbox_inches="tight")
        found.append(buffer.getvalue())
    plot.close("all")
    return found
