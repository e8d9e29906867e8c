"""Hostile and odd notebooks, made from the cases beside this file, and what graders do with them.

A case is a folder: `expected.toml` says what must come of it, `cells.py` holds cells to put into
the assignment, `change.py` a function that changes the file. Words in capitals (ROOT, HOME, PORT,
STUDENT, ASSIGNMENT; in answers also NAME and TASK) stand for what they say. A cell that calls
`try_all` finds the function of that file defined.
"""

import copy
import importlib.util
import json
import os
import re
import secrets
import shutil
import socket
import threading
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.filters import markdown2html
from nbformat.v4 import new_code_cell, new_output

from course_grader.assignment import Assignment
from course_grader.course import Course
from course_grader.release import release

ROOT = Path(__file__).parents[2]
CASES = Path(__file__).parent / "cases"
TRY_ALL = (Path(__file__).parent / "try_all.py").read_text(encoding="utf-8")
ASSIGNMENT = "04-bigram"

# The order of the threat model.
CLASSES = (
    "forging",
    "leaving-out",
    "reading",
    "writing",
    "resources",
    "grader",
    "root",
    "neighbours",
    "who-and-when",
    "nobodys-fault",
    "people",
    "honest",
)


@dataclass(frozen=True)
class Case:
    """One notebook that somebody may hand in.

    Attributes
    ----------
    name : str
        Class and name, for example "forging/always-equal".
    threat : str
        The line of the threat model that it stands for.
    points : str
        "none", "half" or "all": what it must get. "some": no more than what it starts from, since a
        trick may cost whoever tries it.
    fill : str
        "nothing", "half" or "right": the answers it starts from.
    set_aside : bool
        Whether a person must look at it.
    may_be_set_aside : bool
        Whether that would be right, too.
    reason, note, shown : str
        Words that must be in why the run ended, in a note, in what its cells show: that the limit
        was reached, or the wall met.
    leak : str
        What must not be in anything that is shown of it; the loot of the course by default.
    student : str
        Who hands it in; a number and its name by default.
    """

    name: str
    threat: str
    points: str
    fill: str = "nothing"
    set_aside: bool = False
    may_be_set_aside: bool = False
    reason: str = ""
    note: str = ""
    shown: str = ""
    leak: str = ""
    student: str = ""

    @property
    def folder(self) -> Path:
        return CASES / self.name


@dataclass
class Given:
    """The file that is handed in; `change` may say otherwise.

    `extra` holds files beside it, by their paths; `special` is "pipe" or "folder" where one of them
    has the notebook's name.
    """

    root: Path
    assignment: str
    name: str
    content: bytes | None = None
    extra: dict[str, str] = field(default_factory=dict)
    link: Path | None = None
    special: str = ""
    folder_link: Path | None = None


@dataclass(frozen=True)
class Class:
    """A course with submissions.

    Attributes
    ----------
    course : Course
    home : Path
        The grader's home, with a secret in it.
    loot : str
        The secret.
    port : int
        Where the secret is told to whoever connects.
    members : mapping of str to Case or None
        Every student; None for an honest neighbour.
    assignment : str
    """

    course: Course
    home: Path
    loot: str
    port: int
    members: Mapping[str, Case | None]
    assignment: str = ASSIGNMENT

    def beside(self, student: str) -> tuple[str, ...]:
        """The honest neighbours before and after a student, in the order of grading."""
        order = sorted(self.members)
        here = order.index(student)
        before = [one for one in order[:here] if self.members[one] is None][-1:]
        after = [one for one in order[here:] if self.members[one] is None][:1]
        return (*before, *after)

    @property
    def full(self) -> float:
        """All points that a judge can award."""
        return sum(check.points for check in Assignment.of(self.exercise).checks)

    @property
    def exercise(self) -> Any:
        return _read(self.course.exercises, self.assignment)

    def wanted(self, case: Case | None) -> tuple[float, float]:
        """The fewest and the most points that a case may get."""
        if case is None:
            return self.full, self.full
        if case.points == "some":
            return 0.0, self._share({"nothing": "none", "right": "all"}.get(case.fill, case.fill))
        return self._share(case.points), self._share(case.points)

    def _share(self, words: str) -> float:
        if words == "half":
            checks = Assignment.of(self.exercise).checks
            return sum(check.points for check in checks[: len(checks) // 2])
        return {"none": 0.0, "all": self.full}[words]

    def leaked(self, student: str) -> bool:
        """Whether something that is shown of a student holds what nobody may read."""
        case = self.members[student]
        sign = (case.leak if case else "") or self.loot
        return any(sign in text for text in self._shown(student))

    def unsafe(self, student: str) -> bool:
        """Whether a page of feedback holds a script of the student's, or formgrader would: it and
        `nbgrader generate_feedback` make HTML of text cells with this function of nbconvert.
        """
        signs = ("<script>alert", "onerror=alert(1)>", 'href="javascript:')
        pages = (self.course.feedback / student).glob("**/*.html")
        texts = [page.read_text(encoding="utf-8", errors="replace") for page in pages]
        if any(sign in text for sign in signs for text in texts):
            return True
        ours = {cell.source for cell in self.exercise.cells}
        own = [cell for cell in self._cells(student) if cell.source not in ours]
        return any(Live(cell.source).found for cell in own if cell.cell_type == "markdown")

    def shown(self, student: str) -> str:
        """All that the cells of a student's autograded notebook show."""
        return "\n".join(self._shown(student))

    def _cells(self, student: str) -> Iterator[Any]:
        for path in (self.course.autograded / student).glob("**/*.ipynb"):
            try:
                yield from nbformat.read(path, as_version=4).cells
            except (nbformat.ValidationError, ValueError, AttributeError):  # shown as it is, then
                text = path.read_text(encoding="utf-8", errors="replace")
                yield new_code_cell(outputs=[new_output("stream", text=text)])

    def _shown(self, student: str) -> Iterator[str]:
        for cell in self._cells(student):
            for output in cell.get("outputs", ()):
                yield "".join(output.get("text", ""))
                yield "\n".join(output.get("traceback", ()))
                yield json.dumps(output.get("data", {}))


class Live(HTMLParser):
    """What of a Markdown text runs, fetches or leads into Jupyter, in the HTML that is made of it.

    Attributes
    ----------
    found : list of str
    """

    _TAGS = frozenset(("script", "iframe", "object", "embed", "form", "base", "meta", "link"))

    def __init__(self, markdown: str):
        super().__init__()
        self.found: list[str] = []
        self.feed(markdown2html(markdown))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._TAGS or dict(attrs).get("class") == "mermaid":
            self.found.append(tag)
        for name, value in attrs:
            leads = name == "href" and not re.match("https?://|#", value or "", re.IGNORECASE)
            if leads or name in ("src", "srcset", "style") or name.startswith("on"):
                self.found.append(f"{tag} {name}={value}")


def cases(classes: Sequence[str] = CLASSES) -> list[Case]:
    """All cases of some classes, in the order of the threat model."""
    found = []
    for one in classes:
        for path in sorted((CASES / one).glob("*/expected.toml")):
            said = tomllib.loads(path.read_text(encoding="utf-8"))
            found.append(Case(f"{one}/{path.parent.name}", **said))
    return found


@contextmanager
def hand_in(folder: Path, chosen: Sequence[Case], assignment: str = ASSIGNMENT) -> Iterator[Class]:
    """A course in which every case is handed in, with an honest neighbour before and after it.

    While the block runs, somebody listens on the port and tells the secret.
    """
    root, home = folder / "course", folder / "home"
    for place in (root, home):
        place.mkdir(parents=True)
    for part in ("solutions", "exercises"):
        shutil.copytree(ROOT / part / assignment, root / part / assignment)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    course = Course(root)
    release(course, assignment, gradebook=True)
    loot = f"LOOT-{secrets.token_hex(16)}"
    for place in (root, home):
        (place / "secret.txt").write_text(loot, encoding="utf-8")
    members: dict[str, Case | None] = {}
    with _teller(loot) as port:
        made = Class(course, home, loot, port, members, assignment)
        for number, case in enumerate(chosen):
            student = case.student or f"{2 * number + 1:03d}-{case.name.replace('/', '-')}"
            members[f"{2 * number:03d}-neighbour"] = None
            members[student] = case
            _write_case(made, student, case)
        # Names of cases may sort before and after all numbers.
        for last in (" first", f"{2 * len(chosen):03d}-neighbour", "~ last"):
            members[last] = None
        for student in [one for one, case in members.items() if case is None]:
            notebook = _filled(made, "right")
            _place(made, student, Given(root, assignment, f"{assignment}.ipynb"), notebook)
        yield made


@contextmanager
def _teller(loot: str) -> Iterator[int]:
    """Tell a secret to everybody who connects."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def tell() -> None:
            while True:
                try:
                    visitor, _ = door.accept()
                except OSError:  # the door is closed
                    return
                with visitor:
                    visitor.sendall(loot.encode())

        threading.Thread(target=tell, daemon=True).start()
        yield door.getsockname()[1]


def _write_case(made: Class, student: str, case: Case) -> None:
    notebook = _filled(made, case.fill)
    given = Given(made.course.root, made.assignment, f"{made.assignment}.ipynb")
    words = {
        "ROOT": str(made.course.root),
        "HOME": str(made.home),
        "PORT": str(made.port),
        "STUDENT": student,
        "ASSIGNMENT": made.assignment,
    }
    cells = case.folder / "cells.py"
    if cells.is_file():
        _insert(notebook, cells.read_text(encoding="utf-8"), words, _solved(made, case.fill))
    change = case.folder / "change.py"
    if change.is_file():
        _module(change).change(notebook, given)
    _place(made, student, given, notebook)


def _place(made: Class, student: str, given: Given, notebook: Any) -> None:
    folder = made.course.submitted / student / made.assignment
    folder.parent.mkdir(parents=True)
    if given.folder_link is not None:
        folder.symlink_to(given.folder_link)
        return
    folder.mkdir()
    path = folder / given.name
    if given.link is not None:
        path.symlink_to(given.link)
    elif given.special == "pipe":
        os.mkfifo(path)
    elif given.special == "folder":
        path.mkdir()
    elif given.content is not None:
        path.write_bytes(given.content)
    else:
        nbformat.write(notebook, path)
    for name, content in given.extra.items():
        beside = folder / name
        beside.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(content, encoding="utf-8")


def _filled(made: Class, fill: str) -> Any:
    """The exercise, with as many right answers as are asked for."""
    notebook = copy.deepcopy(made.exercise)
    solution = Assignment.of(_read(made.course.solutions, made.assignment))
    right = {answer.grade_id: answer.source for answer in solution.answers}
    for answer in Assignment.of(notebook).answers[: _solved(made, fill)]:
        notebook.cells[answer.number - 1].source = right[answer.grade_id]
    return notebook


def _solved(made: Class, fill: str) -> int:
    """How many of the first answers are right: an experiment, with answers of its own, is last."""
    exercise = Assignment.of(made.exercise)
    half = len(exercise.checks) // 2
    return {"nothing": 0, "half": half, "right": len(exercise.answers)}[fill]


def _insert(notebook: Any, text: str, words: Mapping[str, str], solved: int) -> None:
    assignment = Assignment.of(notebook)
    answered = [(assignment.answer_to(check), check) for check in assignment.checks]
    # Beside a trick, what is solved stays solved: its points show that the run was judged.
    tricked = answered[solved:] or answered
    first = next(n for n, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    top = first + 1
    added = []
    for where, source in re.findall(r"^# %% (\S+)\n(.*?)(?=^# %% |\Z)", text, re.M | re.S):
        source = _spelt(source.strip() + "\n", words)
        if "try_all(" in source:
            source = f"{TRY_ALL}\n\n{source}"
        if where in ("top", "bottom"):
            added.append((where, source))
            continue
        for answer, check in tricked if where == "answer" else answered:
            cell = notebook.cells[answer.number - 1]
            own = _spelt(source, {"NAME": check.answer, "TASK": check.task})
            before, after = {
                "answer": ("", ""),
                "before-each": ("", "\n" + cell.source),
                "after-each": (cell.source + "\n\n", ""),
            }[where]
            cell.source = before + own + after
    for where, source in added:
        if where == "top":
            notebook.cells.insert(top, new_code_cell(source))
            top += 1
        else:
            notebook.cells.append(new_code_cell(source))


def _spelt(text: str, words: Mapping[str, str]) -> str:
    return re.sub(
        rf"(?<![A-Za-z_])({'|'.join(words)})(?![A-Za-z_])", lambda found: words[found[1]], text
    )


def _read(folder: Path, assignment: str) -> Any:
    return nbformat.read(folder / assignment / f"{assignment}.ipynb", as_version=4)


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"case_{path.parent.name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
