"""nbgrader's own autograder, by command and by formgrader's button, grades as `course grade` does.

`nbgrader_config.py` puts this step in the place of those that run a notebook and save its grades.
The notebook that nbgrader hands over is not used: what counts is the file that was handed in.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.preprocessors import NbGraderPreprocessor

from course_lib.errors import CellFailed
from course_lib.grading.course import Course

if TYPE_CHECKING:
    from nbformat import NotebookNode


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
        from course_lib.grading.assignment import read
        from course_lib.grading.batch import grade
        from course_lib.grading.options import CourseGrade

        said = resources["nbgrader"]
        student, assignment = said["student"], said["assignment"]
        course = Course.find(Path(resources["metadata"]["path"]))
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
            raise CellFailed(
                f"the run of {student} failed, and nobody gets a zero for it: {reason}"
            )
        graded = read(course.autograded / student / assignment / f"{assignment}.ipynb")
        return graded, resources
