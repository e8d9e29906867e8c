"""`course new task`: the files of a task that is still to be written.

Whatever has to be filled in says so: a check of the task stops with the sentence, its tests fail
with it, and `course release` refuses a notebook that still holds one.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_grader import notebooks
from course_grader.errors import NewTaskError

TO_WRITE = "TO WRITE:"
"""With these words begins, in a notebook's cell, what its author has to put there."""

_TASK = re.compile(r"(\d\d)/([a-z][a-z0-9]*(?:-[a-z0-9]+)*)")


@dataclass(frozen=True)
class NewTask:
    """A task that is to be written, and where.

    Attributes
    ----------
    name : str
        As `check` takes it: "14/pointers".
    chapter : str
        As the chapter's notebook is called: "14-pointers".
    title : str
        Of the task.
    chapter_title : str
        For the first cell of a notebook that is not there yet.
    """

    name: str
    chapter: str
    title: str
    chapter_title: str

    @property
    def short(self) -> str:
        """The task's name within its chapter."""
        return self.name[3:]

    @property
    def function(self) -> str:
        """What the answer is called in the notebook, and the modules too."""
        return self.short.replace("-", "_")

    @property
    def package(self) -> str:
        """The chapter's folder in each of the packages."""
        return f"ch{self.chapter.replace('-', '_')}"

    @property
    def notebook(self) -> str:
        """The assignment, from the course's folder."""
        return f"solutions/{self.chapter}/{self.chapter}.ipynb"


def write_task(
    root: Path, name: str, *, title: str | None = None, chapter_title: str | None = None
) -> list[Path]:
    """Write the three modules of a task and the cells of its notebook, all still to be filled.

    Parameters
    ----------
    root : path
        The course's folder.
    name : str
        Chapter and task, for example "14/pointers".
    title : str, optional
        The task's, as its heading says it; the name by default.
    chapter_title : str, optional
        Of a chapter that does not exist yet; it becomes the name of its folders.

    Returns
    -------
    list of path
        What was written, the notebook last.

    Raises
    ------
    NewTaskError
        If the name cannot be one, the chapter does not exist and has no title, or anything of the
        task is there already. Nothing is written then.
    """
    task = _planned(root, name, title, chapter_title)
    texts = {
        f"course_tasks/{task.package}/{task.function}.py": _PROBE,
        f"course_judges/{task.package}/{task.function}.py": _JUDGE,
        f"tests/tasks/students/{task.package}/{task.function}.py": _STUDENTS,
    }
    there = [path for path in texts if (root / path).exists()]
    if there:
        raise NewTaskError(f"{', '.join(there)} is there already: nothing was written")
    book = _notebook(root, task)
    written = []
    for path, text in texts.items():
        file = root / path
        if not (package := file.parent / "__init__.py").exists():
            package.parent.mkdir(parents=True, exist_ok=True)
            package.write_text(f'"""{_package_says(task, path)}"""\n', encoding="utf-8")
            written.append(package)
        file.write_text(_filled(text, task), encoding="utf-8")
        written.append(file)
    file = root / task.notebook
    file.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(book, file)
    notebooks.normalize(file)
    return [*written, file]


def unwritten(notebook: NotebookNode) -> list[str]:
    """What the author of a notebook still has to write, as its cells say it."""
    return [
        f"cell {number} is not written yet: {sentence}"
        for number, cell in enumerate(notebook.cells, start=1)
        for sentence in re.findall(rf"{TO_WRITE} ([^<\"\n]+)", cell.source)
    ]


def _planned(root: Path, name: str, title: str | None, chapter_title: str | None) -> NewTask:
    parts = _TASK.fullmatch(name)
    if parts is None or keyword.iskeyword(parts[2].replace("-", "_")):
        raise NewTaskError(
            f"{name!r} cannot be a task: it needs a chapter of two digits and a name of small "
            'letters, as in "14/pointers"'
        )
    number, short = parts.groups()
    found = sorted(path.name for path in (root / "course_tasks").glob(f"ch{number}_*"))
    if not found and not chapter_title:
        raise NewTaskError(
            f"chapter {number} does not exist yet: give it a title, "
            f'as in `course new task {name} --chapter "Pointers"`'
        )
    if found:
        chapter = found[0].removeprefix("ch").replace("_", "-")
    else:
        chapter = f"{number}-{'-'.join(re.findall('[a-z0-9]+', str(chapter_title).lower()))}"
    plain = short.replace("-", " ").capitalize()
    return NewTask(name, chapter, title or plain, chapter_title or chapter)


def _notebook(root: Path, task: NewTask) -> NotebookNode:
    """The assignment with the task's cells below those of the other tasks.

    An experiment and a written question stand below all tasks.
    """
    file = root / task.notebook
    if file.exists():
        book = nbformat.read(file, as_version=4)
    else:
        begin = f"# Exercises {task.chapter[:2]} · {task.chapter_title}\n\n"
        book = new_notebook(
            cells=[
                new_markdown_cell(begin + f"{TO_WRITE} Say what these exercises are about."),
                new_code_cell("import torch\n\nfrom course_tasks import check"),
            ]
        )
    checks = [n for n, cell in enumerate(book.cells) if cell.source.startswith("check(")]
    if any(f'"{task.name}"' in book.cells[n].source for n in checks):
        raise NewTaskError(f"{task.notebook} checks {task.name} already: nothing was written")
    sections = [n for n, cell in enumerate(book.cells) if cell.source.startswith("## ")]
    others = [n for n in sections if not book.cells[n].source.startswith("## Task ")]
    after = others[0] if others else len(book.cells)
    number = sum(n < after for n in checks) + 1
    book.cells[after:after] = _cells(task, number)
    return book


def _cells(task: NewTask, number: int) -> list[NotebookNode]:
    asked = f"""## Task {number} · {task.title}  ●○○○ · 5 minutes · 1 point

{TO_WRITE} Say what is asked, and set dots, minutes and points.

<details><summary>Hint 1</summary>{TO_WRITE} Ask what helps a little.</details>
<details><summary>Hint 2</summary>{TO_WRITE} Say what helps more.</details>"""
    answer = f'''def {task.function}(x: torch.Tensor) -> torch.Tensor:
    """{TO_WRITE} Say which shapes come in and go out."""
    ### BEGIN SOLUTION
    raise NotImplementedError("{TO_WRITE} Write a right answer.")
    ### END SOLUTION'''
    cells = [
        new_markdown_cell(asked, id=f"task-{task.short}"),
        new_code_cell(answer, id=f"answer-{task.short}"),
        new_code_cell(f'check("{task.name}", {task.function})', id=f"check-{task.short}"),
    ]
    common = {"schema_version": 3, "task": False}
    cells[1].metadata["nbgrader"] = common | {
        "grade": False,
        "grade_id": f"answer-{task.short}",
        "locked": False,
        "solution": True,
    }
    cells[2].metadata["nbgrader"] = common | {
        "grade": True,
        "grade_id": f"check-{task.short}",
        "locked": True,
        "points": 1,
        "solution": False,
    }
    return cells


def _package_says(task: NewTask, path: str) -> str:
    number = task.chapter[:2]
    if path.startswith("course_tasks"):
        return f"What the tasks of chapter {number} ask."
    if path.startswith("course_judges"):
        return (
            f"How the tasks of chapter {number} are judged: right answers, and wrong ones by name."
        )
    return f"Students' answers to the tasks of chapter {number}."


def _filled(text: str, task: NewTask) -> str:
    values = {
        "NAME": task.name,
        "TITLE": task.title.replace('"', "'"),
        "FUNCTION": task.function,
        "CHAPTER": task.chapter,
    }
    return re.sub(r"<([A-Z]+)>", lambda found: values[found[1]], text)


_PROBE = '''"""What <NAME> asks."""

from __future__ import annotations

from course_tasks.probing import Probe
from course_tasks.unfilled import unfilled

# A function (rng) -> {name: array}. Sizes all differ; `course_tasks.inputs` has what draws them.
_inputs = unfilled(__name__, "draw the inputs")

# A function (answer, given) -> value for each case; `on("x")` calls the answer with the input x.
_output = unfilled(__name__, "call the answer with its inputs")

PROBE = Probe(_inputs, {"output": _output})
'''

_JUDGE = '''"""Judges <NAME>."""

from __future__ import annotations

from typing import Any

from course_judges.judging import Part, Task, mistake
from course_tasks.errors import UnfilledTaskError
from course_tasks.unfilled import unfilled
from course_tasks.verdict import Section

_SECTION = Section("<CHAPTER>", "the heading of the chapter to go back to")


def <FUNCTION>(x: Any) -> Any:
    """A right answer to <NAME>."""
    raise UnfilledTaskError(f"{__name__}: write a right answer, as a student would")


# The name of the function is the name of the mistake: `_divides_columns` is "divides-columns".
@mistake(
    unfilled(__name__, "say what was done"),
    unfilled(__name__, "say what that does to the data, in numbers of the run"),
)
def _first_mistake(x: Any) -> Any:
    raise UnfilledTaskError(f"{__name__}: write a wrong answer that people really give")


# In the student's words; `matches("output")` is a condition. Points add up to the notebook's.
_PARTS = (Part("", 1, unfilled(__name__, "say what the points are for")),)

# `steps={"your answer": Step("Why it is so.")}` names the lines of the answer that end in comments,
# and `python -m course_judges.edits.making <NAME>` makes wrong answers of them; see CONTRIBUTING.
TASK = Task("<TITLE>", <FUNCTION>, _SECTION, _PARTS)
'''

_STUDENTS = '''"""Students' answers to <NAME>."""

from course_tasks.unfilled import unfilled

RIGHT = {
    "loop": unfilled(__name__, "write a right answer with loops"),
    "einsum": unfilled(__name__, "write a right answer in a second style"),
    "numpy": unfilled(__name__, "write a right answer in a third style"),
}

WRONG = {
    "first-mistake": unfilled(__name__, "make the mistake in other code than the judge's"),
}

ODD = [
    (unfilled(__name__, "write what is wrong and no known mistake"), "difference"),
]
'''
