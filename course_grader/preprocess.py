"""nbgrader's own steps, by command and by formgrader's button, without opening what was handed in.

nbgrader copies a submission's files, reads its notebook, runs it, and saves what it says.
`nbgrader_config.py` puts what stands here in the place of that: only the notebook's name and the
time of handing in leave `submitted/`, the sandbox of `course grade` runs the file, and its judge
awards the points. `nbgrader generate_feedback` gets the same care: of what lies in `autograded/` it
takes the graded notebook and nothing beside it.
"""

from __future__ import annotations

import copy
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from course_grader.course import SETTINGS, Course
from course_grader.errors import CellFailedError, CourseNotFoundError

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from traitlets.config import Configurable

# Patterns that fit every name, hidden ones included.
_EVERYTHING = ("*", ".*")


class RunAndJudge(NbGraderPreprocessor):
    """Run a submission in the sandbox, judge it, and record it as `course grade` does.

    A preprocessor of nbconvert; nbgrader makes one for each submission. For a whole class,
    `course grade` is faster: it starts the sandbox once.
    """

    def preprocess(
        self,
        nb: NotebookNode,  # noqa: ARG002 - the name is nbconvert's
        resources: dict[str, Any],
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Grade the submission that nbgrader is at.

        Parameters
        ----------
        nb : NotebookNode
            Not used.
        resources : dict
            nbgrader's: which student, which assignment, which database.

        Returns
        -------
        (NotebookNode, dict)
            The notebook as it was run, with the judge's verdicts, and the resources as they were.

        Raises
        ------
        CourseError
            If it cannot be graded here; nbgrader then shows why, and records no points.
        """
        from course_grader.assignment import read
        from course_grader.batch import grade
        from course_grader.options import CourseGrade

        said = resources["nbgrader"]
        student, assignment = said["student"], said["assignment"]
        course = _course_of(self)
        summary = grade(
            course,
            assignment,
            students=(student,),
            jobs=1,
            force=True,
            limits=CourseGrade.of(course).limits(),
            url=said["db_url"],
        )
        if not summary.complete:
            reason = "; ".join(outcome.reason for outcome in summary.outcomes)
            raise CellFailedError(
                f"the run of {student} failed, and nobody gets a zero for it: {reason}"
            )
        graded = read(course.autograded / student / assignment / f"{assignment}.ipynb")
        return graded, resources


class UnopenedNotebook(NotebookExporter):
    """In place of the exporter that reads a submission: nbgrader's steps begin with no cells.

    `RunAndJudge` then puts the graded notebook there. While it is exported, nbgrader sees the
    course's folders without the other files of a submission, and copies none of them.
    """

    def __init__(self, **named: Any):
        super().__init__(**named)
        _take_notebooks_only(self.parent)

    def from_filename(
        self,
        filename: str,  # noqa: ARG002 - the name is nbconvert's
        resources: dict[str, Any] | None = None,
        **named: Any,
    ) -> tuple[str, dict[str, Any]]:
        """Export what the preprocessors make of an empty notebook.

        Parameters
        ----------
        filename : str
            Of the submission; not read.
        resources : dict
            nbgrader's, for the preprocessors.
        """
        from nbformat.v4 import new_notebook

        exported: tuple[str, dict[str, Any]] = self.from_notebook_node(
            new_notebook(), resources, **named
        )
        return exported


class WithPrivateTasks(NotebookExporter):
    """In place of the exporter that reads a solution: nbgrader's steps make the exercise that
    `course release` makes, with the cells of private tasks, and refuse what it refuses.
    """

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **named: Any
    ) -> tuple[str, dict[str, Any]]:
        """Export what the preprocessors make of a solution.

        Parameters
        ----------
        filename : str
            Of the solution.
        resources : dict
            nbgrader's, for the preprocessors.

        Raises
        ------
        CourseError
            If the solution, or the folder of private tasks, is not as it should be; nbgrader then
            shows why, and releases nothing.
        """
        from nbformat import reads
        from nbgrader.preprocessors import ClearSolutions

        from course_grader import private_tasks
        from course_grader.release import inspected_exercise, inspected_solution

        path = Path(filename)
        said = {**(resources or {}), "metadata": {"name": path.stem, "path": str(path.parent)}}
        with private_tasks.of(_course_of(self)):
            solution = inspected_solution(said["nbgrader"]["assignment"], path)
        text, after = self.from_notebook_node(copy.deepcopy(solution), said, **named)
        stub = ClearSolutions(config=self.config).text_stub
        return inspected_exercise(path, reads(text, as_version=4), solution, stub).decode(), after


class FeedbackOnly(HTMLExporter):
    """The page that `nbgrader generate_feedback` makes, of the graded notebook and nothing else.

    nbgrader would copy whatever lies beside it into `feedback/`, where students and browsers find
    it.
    """

    def __init__(self, **named: Any):
        super().__init__(**named)
        _take_notebooks_only(self.parent)


class NotebooksOnly(CourseDirectory):
    """A course's folders as nbgrader knows them, in which a submission is one notebook.

    Other files are ignored, and a time of handing in that is none counts as none: nbgrader reads
    that file whatever it is, and would stop at one that it cannot read.
    """

    def get_existing_timestamp(self, dest_path: str) -> datetime | None:
        """When a submission was handed in; None if its file does not say."""
        from course_grader.submissions import Submission

        folder = Path(dest_path)
        return Submission(folder.parent.name, folder.name, folder).timestamp


def _take_notebooks_only(converter: Any) -> None:
    """Give one of nbgrader's converters folders of its own; formgrader's other steps keep theirs.

    nbgrader makes the exporter before it looks at the first submission.
    """
    known = converter.coursedir
    if not isinstance(known, NotebooksOnly):
        values = {name: getattr(known, name) for name in known.trait_names(config=True)}
        values["ignore"] = [*known.ignore, *_EVERYTHING]
        converter.coursedir = NotebooksOnly(parent=known.parent, **values)


def _course_of(step: Configurable) -> Course:
    """The course that nbgrader is at: never one that is searched for among students' files."""
    above: Any = step.parent
    while above is not None and getattr(above, "coursedir", None) is None:
        above = above.parent
    if above is None:
        raise CourseNotFoundError(
            "this step of nbgrader does not know its course: run `nbgrader autograde` in the "
            "course's folder"
        )
    root = Path(above.coursedir.root)
    if not (root / SETTINGS).is_file():
        raise CourseNotFoundError(
            f"nbgrader works in {root}, which holds no {SETTINGS}: run it in the course's folder"
        )
    return Course(root)
