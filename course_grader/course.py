"""The folder of a course: where its solutions, its exercises and its settings are.

The settings are Python, and run with the rights of whoever grades. So a folder that students can
put files into must never be taken for a course.
"""

from __future__ import annotations

import difflib
import traceback
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from course_grader.errors import CourseNotFoundError
from course_lib.errors import ConfigError

if TYPE_CHECKING:
    from traitlets.config import Config

SETTINGS = "nbgrader_config.py"
"""The file that makes a folder a course."""

# nbgrader's own names of the folders that hold what students handed in, or what was made of it. A
# class may lie outside its course: then only the names tell.
_FOLDERS_OF_A_CLASS = frozenset(("submitted", "autograded", "feedback"))


@dataclass(frozen=True)
class Course:
    """A course on this machine.

    Attributes
    ----------
    root : Path
        The folder of `nbgrader_config.py`.
    """

    root: Path

    @classmethod
    def find(cls, start: str | Path | None = None) -> Course:
        """The course that a folder belongs to, for the command line.

        Nothing that a student handed in decides which course that is: no search starts in, or
        passes through, a folder of a class, and where two folders could be the course, none is
        taken. Whatever knows its course's folder, as nbgrader does, says `Course(root)`.

        Parameters
        ----------
        start : path, optional
            A folder of the course, or one inside it; the working directory by default.

        Raises
        ------
        CourseNotFoundError
            If neither the folder nor one above it holds `nbgrader_config.py`, if more than one of
            them does, or if the folder is one of a class.
        ConfigError
            If the course's settings cannot be read.
        """
        here = Path(start or ".").resolve()
        found = [folder for folder in (here, *here.parents) if (folder / SETTINGS).is_file()]
        if not found:
            raise CourseNotFoundError(
                f"{here} is not in a course: no folder from here upwards holds {SETTINGS}. "
                "Go to the course's folder, or name it with --course."
            )
        if len(found) > 1:
            listed = " and ".join(str(folder) for folder in found)
            raise CourseNotFoundError(
                f"which course {here} belongs to is not clear: {listed} each hold {SETTINGS}. "
                "The file is a program, and one of them may have been handed in by a student, so "
                f"none was read. If {found[-1]} is the course, go there or name it with --course; "
                "a course does not lie inside another one."
            )
        (root,) = found
        course = cls(root)
        if _FOLDERS_OF_A_CLASS.intersection(root.parts) or course._holds_students_files(here):
            raise CourseNotFoundError(
                f"{here} lies in a folder for what students handed in, where no command is run: a "
                "file of theirs could be taken for a setting or a program. Go to the course's "
                "folder, or name it with --course."
            )
        return course

    @cached_property
    def settings(self) -> Config:
        """What `nbgrader_config.py` sets.

        Raises
        ------
        ConfigError
            If it is not valid Python, or raises.
        """
        from traitlets.config import PyFileConfigLoader

        path = self.root / SETTINGS
        try:
            return PyFileConfigLoader(SETTINGS, path=str(self.root)).load_config()
        except Exception as error:  # the file is Python: it may raise anything
            steps = traceback.extract_tb(error.__traceback__)
            lines = [step.lineno for step in steps if Path(step.filename).name == SETTINGS]
            line = error.lineno if isinstance(error, SyntaxError) else (lines or [None])[-1]
            what = error.msg if isinstance(error, SyntaxError) else str(error)
            where = f"line {line} of {path}" if line else str(path)
            raise ConfigError(
                f"{where}: {type(error).__name__}: {what}; correct the file"
            ) from error

    @property
    def solutions(self) -> Path:
        """The folder of the solved notebooks."""
        return self._folder("source_directory", "source")

    @property
    def exercises(self) -> Path:
        """The folder of what students get."""
        return self._folder("release_directory", "release")

    @property
    def submitted(self) -> Path:
        """The folder of what students handed in: `<student>/<assignment>/`."""
        return self._folder("submitted_directory", "submitted")

    @property
    def autograded(self) -> Path:
        """The folder of graded notebooks, which formgrader shows."""
        return self._folder("autograded_directory", "autograded")

    @property
    def feedback(self) -> Path:
        """The folder of pages for students."""
        return self._folder("feedback_directory", "feedback")

    @property
    def assignments(self) -> tuple[str, ...]:
        """Names of all assignments, in order: the folders of solutions that hold a notebook."""
        return tuple(
            sorted({path.parent.name for path in self.solutions.glob("[!.]*/[!.]*.ipynb")})
        )

    def assignment(self, name: str) -> str:
        """The full name of an assignment.

        Parameters
        ----------
        name : str
            For example "01-averages", or its beginning where only one fits: "01".

        Raises
        ------
        CourseNotFoundError
            If none or several fit; names them.
        """
        known = self.assignments
        name = Path(name).name
        fitting = [name] if name in known else [one for one in known if one.startswith(name)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise CourseNotFoundError(f"{name!r} can be {' or '.join(fitting)}: write more of it")
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
        there_are = ", ".join(known) or f"none: {self.solutions} holds no notebook"
        hint = f"did you mean {near[0]!r}?" if near else f"there are {there_are}"
        raise CourseNotFoundError(f"there is no assignment {name!r}; {hint}")

    def _holds_students_files(self, folder: Path) -> bool:
        """Whether a folder lies in one for what students handed in, or for what was made of it."""
        own = (self.submitted, self.autograded, self.feedback)
        return any(folder.is_relative_to(one.resolve()) for one in own)

    def _folder(self, setting: str, nbgraders_own: str) -> Path:
        return self.root / self.settings.CourseDirectory.get(setting, nbgraders_own)
