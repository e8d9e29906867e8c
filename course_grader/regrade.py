"""Grade again what was graded, and say who gains and who loses before anything is written.

The trial runs in a folder of its own, with a copy of the gradebook: the class's stays as it is
until somebody has seen what would change. What is written then is what was shown, not a third run.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from course_grader import lateness, locks
from course_grader.atomic import write_atomically
from course_grader.batch import Progress, grade
from course_grader.course import SETTINGS, Course
from course_grader.gradebook.copies import copy
from course_grader.gradebook.record import Recorder
from course_grader.gradebook.standing import StudentGrades, standing
from course_grader.options import CourseGrade
from course_grader.outcome import Outcome, Status
from course_grader.reports import report
from course_tasks.runner.limits import Limits

if TYPE_CHECKING:
    from course_grader.sandbox.containers import Containers


@dataclass(frozen=True)
class Difference:
    """What a student's score was, and what it would be.

    Attributes
    ----------
    student : str
    before, after : float
        Scores, with points given by hand and what being late costs.
    tasks : tuple of (str, float, float)
        Names of the cells whose points would change, before and after.
    kept : tuple of str
        Cells in which the judge now awards other points, and points given by hand stay.
    """

    student: str
    before: float
    after: float
    tasks: tuple[tuple[str, float, float], ...] = ()
    kept: tuple[str, ...] = ()


class Trial:
    """A regrading that is not written yet; a context manager.

    Parameters
    ----------
    course : Course
    assignment : str
        Its full name.
    students : sequence of str
        Only these; all that were handed in by default.
    jobs : int, optional
    limits : Limits, optional
    url : str, optional
        Of the class's gradebook.
    scheduler : str
    containers : Containers, optional
    progress : callable, optional
        See `course_grader.batch.grade`.

    Attributes
    ----------
    differences : tuple of Difference
        Students whose score, or what a hand has overruled, is another one; largest loss first.
    unchanged : tuple of str
    failed : tuple of (str, str)
        Students of whom nothing will be written, and why.
    left_out : tuple of str
        See `course_grader.batch.Summary`.
    """

    def __init__(
        self,
        course: Course,
        assignment: str,
        *,
        students: Sequence[str] = (),
        jobs: int | None = None,
        limits: Limits | None = None,
        url: str | None = None,
        scheduler: str = "",
        containers: Containers | None = None,
        progress: Progress | None = None,
    ):
        self.course, self.assignment, self.url = course, assignment, url
        self._students, self._jobs, self._limits = students, jobs, limits
        self._scheduler, self._containers, self._progress = scheduler, containers, progress
        self._outcomes: dict[str, Outcome] = {}
        self._keys: Mapping[str, str] = {}
        self.differences: tuple[Difference, ...] = ()
        self.unchanged: tuple[str, ...] = ()
        self.failed: tuple[tuple[str, str], ...] = ()
        self.left_out: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            stack.enter_context(locks.folder(self.course))
            # On the course's own disk, and where the sandbox's walls are tried against.
            beside = tempfile.TemporaryDirectory(prefix=".regrade-", dir=self.course.root)
            folder = Path(stack.enter_context(beside))
            self._run(folder)
            self._open = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._open.close()

    def _run(self, folder: Path) -> None:
        """Grade everything in the trial's folder, and compare."""
        url = copy(self.course, folder / "trial.db", self.url)
        self._trial = trial = _course_beside(self.course, folder)
        summary = grade(
            trial,
            self.assignment,
            students=self._students,
            jobs=self._jobs,
            force=True,
            limits=self._limits,
            url=url,
            scheduler=self._scheduler,
            containers=self._containers,
            progress=self._progress,
        )
        self._outcomes = {one.student: one for one in summary.outcomes}
        failed = [one for one in summary.outcomes if one.status is Status.FAILED]
        self.failed = tuple((one.student, one.reason) for one in failed)
        self.left_out = tuple(summary.left_out)
        with Recorder(trial, url) as recorder:
            self._keys = recorder.keys(self.assignment)
        before = {s.student: s for s in standing(self.course, self.assignment, self.url).students}
        after = {s.student: s for s in standing(trial, self.assignment, url).students}
        found = [
            difference(before.get(student, StudentGrades(student)), after[student], outcome)
            for student, outcome in self._outcomes.items()
            if outcome.status is not Status.FAILED and student in after
        ]
        changed = [one for one in found if one.tasks or one.kept or one.before != one.after]
        self.differences = tuple(sorted(changed, key=lambda d: (d.after - d.before, d.student)))
        self.unchanged = tuple(sorted({d.student for d in found} - {d.student for d in changed}))

    def write(self) -> None:
        """Write what the trial found: gradebook, graded notebooks, feedback and report.

        Points given by hand stay, and what a person has looked at need not be looked at again.

        Raises
        ------
        GradebookError, NotWrittenError
            What was written before stays; running the command again goes on from there.
        """
        course, name = self.course, self.assignment
        with Recorder(course, self.url) as recorder, locks.database(recorder.url):
            for student, outcome in self._outcomes.items():
                if outcome.status is Status.FAILED:
                    continue
                for source, target in _pages(self._trial, course, student, name):
                    write_atomically(target, source.read_bytes())
                recorder.record(outcome, self._keys[student], same_work=True)
            lateness.settle(recorder, name)
            report.write(course, name, self.url)


def _course_beside(course: Course, folder: Path) -> Course:
    """A course with the settings, exercises and submissions of another, and pages of its own."""
    places = {
        "source_directory": course.solutions,
        "release_directory": course.exercises,
        "submitted_directory": course.submitted,
    }
    lines = [f"load_subconfig({SETTINGS!r}, path={str(course.root)!r})", "c = get_config()"]
    lines += [f"c.CourseDirectory.{name} = {str(path)!r}" for name, path in places.items()]
    lines += [
        f"c.CourseDirectory.{name}_directory = {str(folder / name)!r}"
        for name in ("autograded", "feedback")
    ]
    options = CourseGrade.of(course)
    lines += [
        f"c.CourseGrade.{name} = {str((course.root / getattr(options, name)).resolve())!r}"
        for name in ("extensions", "private_tasks")
        if getattr(options, name)
    ]
    (folder / SETTINGS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    # What `course collect` noted lies in submitted/, which both have in common.
    return Course(folder)


def _pages(trial: Course, course: Course, student: str, name: str) -> Iterator[tuple[Path, Path]]:
    """What the trial wrote of a submission, and where it belongs."""
    for made, real in ((trial.autograded, course.autograded), (trial.feedback, course.feedback)):
        folder = made / student / name
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            yield path, real / student / name / path.name


def difference(before: StudentGrades, after: StudentGrades, outcome: Outcome) -> Difference:
    """What a new run changes for a student, and which scores by hand it leaves.

    Parameters
    ----------
    before, after : StudentGrades
        As the gradebook says, and as it would say.
    outcome : Outcome
        Of the new run.
    """
    known = {cell.name: cell.points for cell in before.cells}
    judged_before = {found.grade_id: found.points for found in before.findings}
    judged_after = {task.grade_id: task.points for task in outcome.tasks}
    tasks = tuple(
        (cell.name, known.get(cell.name, 0.0), cell.points)
        for cell in after.cells
        if known.get(cell.name, 0.0) != cell.points
    )
    kept = tuple(
        cell.name
        for cell in after.cells
        if cell.by_hand and judged_before.get(cell.name) != judged_after.get(cell.name)
    )
    return Difference(after.student, before.score, after.score, tasks, kept)
