"""The papers of a class: who is asked about which task, and where what comes of it is kept."""

from __future__ import annotations

import functools
import json
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_grader import locks, private_tasks
from course_grader.assignment import Assignment
from course_grader.atomic import write_atomically
from course_grader.batch import released_notebook, starting
from course_grader.course import Course
from course_grader.defend.asking import Asked, ask_class
from course_grader.errors import NothingToAskError, UnreadableSheetError
from course_grader.grade_one import ClassSettings, Runner
from course_grader.gradebook.standing import ClassStanding, standing
from course_grader.judge_pool import JudgePool
from course_grader.options import CourseGrade
from course_grader.reports.pages import places
from course_grader.sandbox.bubblewrap import IsolationMode
from course_grader.submissions import Submission, submissions
from course_judges.defending.choosing import FEWEST, chosen, seed_of
from course_judges.defending.contract import MOST_NUMBERS, Paper

# Tasks that are tried for one student.
_TRIED = 2
KEPT = "papers.json"


@dataclass(frozen=True)
class Defended:
    """What was made for a class.

    Attributes
    ----------
    assignment : str
    folder : Path
    papers : tuple of Paper
        One for each student who could be asked, by name.
    left : tuple of (str, str)
        Students without one, and why.
    """

    assignment: str
    folder: Path
    papers: tuple[Paper, ...]
    left: tuple[tuple[str, str], ...]


def folder_of(course: Course, assignment: str) -> Path:
    """Where the papers of an assignment are."""
    return course.root / "exports" / f"{assignment}-defense"


def passed(found: ClassStanding) -> dict[str, tuple[str, ...]]:
    """For each student the tasks whose judge gave all points.

    Parameters
    ----------
    found : ClassStanding
    """
    return {
        one.student: tuple(
            finding.task
            for finding in one.findings
            if finding.verdict.get("state") == "right" and finding.points >= finding.out_of > 0
        )
        for one in found.handed_in
    }


def in_order(
    tasks: Sequence[str], passes: Mapping[str, tuple[str, ...]], numbers: Mapping[str, int]
) -> list[str]:
    """Tasks that can be asked about, those first whose inputs fit on paper and that most of a class
    passed: who passed the same is asked about the same.

    Parameters
    ----------
    tasks : sequence of str
    passes : mapping of str to (tuple of str)
        See `passed`.
    numbers : mapping of str to int
        See `course_grader.judge_pool.JudgePool.expect_to_defend`.
    """
    counts = Counter(task for mine in passes.values() for task in mine)
    # Of equal counts, the later one: it builds on the others.
    order = sorted(tasks, key=lambda task: (-counts[task], -list(tasks).index(task)))
    asked = [task for task in order if task in numbers and counts[task]]
    return sorted(asked, key=lambda task: numbers[task] > MOST_NUMBERS)


def make(
    course: Course,
    assignment: str,
    *,
    students: Sequence[str] = (),
    task: str = "",
    jobs: int | None = None,
    fresh: bool = False,
    form: IsolationMode = "warm",
    url: str | None = None,
    progress: Callable[[Asked, int, int], None] | None = None,
) -> Defended:
    """Make the papers of a class.

    Parameters
    ----------
    course : Course
    assignment : str
        Its full name.
    students : sequence of str
        Only these; all by default.
    task : str
        The only one that is asked about; by default the one that most have passed.
    jobs : int, optional
        Submissions that run at once; as many as there are cores by default.
    fresh : bool
        Whether other questions are asked than the last time.
    form : str
        See `course_grader.sandbox.sandbox.Sandbox`.
    url : str, optional
        Of the gradebook.
    progress : callable (Asked, int, int), optional
        Told of each submission, how many are done, and of how many.

    Raises
    ------
    NothingToAskError
        If nobody passed a task that can be asked about.
    GradebookError, NothingToGradeError, FaultyAssignmentError, SandboxUnavailableError
        Before anything is run.
    NotWrittenError
    """
    handed_in = submissions(course, assignment, students)
    passes = passed(standing(course, assignment, url))
    released = released_notebook(course, assignment)
    checks = {one.grade_id: one for one in Assignment.of(released).checks if one.task}
    with private_tasks.of(course), locks.folder(course):
        tasks = [str(check.task) for check in checks.values() if task in ("", check.task)]
        if not any(one in tasks for mine in passes.values() for one in mine):
            raise _nothing(task, assignment)
        folder = folder_of(course, assignment)
        options = CourseGrade.of(course)
        whole = ClassSettings(
            released=json.dumps(released),
            checks=checks,
            places=functools.partial(places, course),
            limits=options.limits(),
            notebook_megabytes=options.notebook_megabytes,
            sandboxed=form != "bare",
            seed=_seed(folder, fresh=fresh),
        )
        with starting(form, course, "", url) as start:
            judges, runner = start()
            judges.require(tasks)
            judges.expect(tasks)
            order = in_order(tasks, passes, judges.expect_to_defend(tasks))
            wanted = [(one, _of_student(passes.get(one.student, ()), order)) for one in handed_in]
            if not any(mine for _, mine in wanted):
                raise _nothing(task, assignment)
            found, left = _asked(wanted, whole, runner, judges, jobs, progress)
        before = {} if fresh else {one.student: one for one in _kept(folder)[1]}
        # Others of the class keep theirs where only some are asked anew.
        others = [one for name, one in before.items() if students and name not in found]
        made = Defended(
            assignment,
            folder,
            tuple(sorted(apart(found, whole.seed, before, others), key=lambda one: one.student)),
            tuple(sorted(left.items())),
        )
        _keep(made, whole.seed)
    return made


def _nothing(task: str, assignment: str) -> NothingToAskError:
    return NothingToAskError(
        f"nobody has passed {task or 'a task that can be asked about'} of {assignment} in the "
        f"gradebook: run `course grade {assignment}` first"
    )


def _of_student(mine: Sequence[str], order: Sequence[str]) -> tuple[str, ...]:
    return tuple(task for task in order if task in mine)[:_TRIED]


def _asked(
    wanted: Sequence[tuple[Submission, tuple[str, ...]]],
    whole: ClassSettings,
    runner: Runner,
    judges: JudgePool,
    jobs: int | None,
    progress: Callable[[Asked, int, int], None] | None,
) -> tuple[dict[str, Paper], dict[str, str]]:
    """All questions about each student's answer, and who has none and why."""
    left = {
        one.student: "passed no task that can be asked about" for one, mine in wanted if not mine
    }
    found: dict[str, Paper] = {}
    count = sum(bool(mine) for _, mine in wanted)
    came = ask_class(wanted, enough, whole, runner, judges, jobs or runner.slots)
    for done, one in enumerate(came, start=1):
        best = best_of(one.papers)
        if best is not None:
            found[one.student] = best
        else:
            why = [paper.lacking for paper in one.papers if paper.lacking]
            left[one.student] = one.problem or "; ".join(why) or "no question was found"
        if progress is not None:
            progress(one, done, count)
    return found, left


def apart(
    found: Mapping[str, Paper], seed: int, before: Mapping[str, Paper], others: Sequence[Paper]
) -> list[Paper]:
    """The papers of a class: no two of one task have much in common, if there are enough questions.

    Parameters
    ----------
    found : mapping of str to Paper
        For each student all that can be asked; see `course_judges.defending.papers.everything`.
    seed : int
        Of the class.
    before : mapping of str to Paper
        Papers that were made with the same seed; who can be asked the same again is.
    others : sequence of Paper
        Of students who are not asked anew.
    """
    made = list(others)
    again = {name for name, whole in found.items() if _of(before.get(name), whole)}
    made += [before[name] for name in sorted(again)]
    for name in sorted(found.keys() - again):
        whole = found[name]
        made.append(chosen(whole, seed_of(seed, whole.task, name, "questions"), others=made))
    return made


def _of(paper: Paper | None, whole: Paper) -> bool:
    """Whether a paper is made of questions that can be asked."""
    if paper is None or (paper.task, paper.code) != (whole.task, whole.code):
        return False
    return all(question in whole.questions for question in paper.questions)


def enough(paper: Paper) -> bool:
    """Whether no other task has to be tried for this student."""
    return len(chosen(paper, 0).questions) >= FEWEST


def best_of(papers: Sequence[Paper]) -> Paper | None:
    """The first paper with enough questions, or else the longest; None if there is none."""
    longest = max(papers, key=lambda one: len(one.questions), default=None)
    best = next((one for one in papers if enough(one)), longest)
    return best if best is not None and best.questions else None


def _seed(folder: Path, *, fresh: bool) -> int:
    """The class's seed: the same each time, so that a paper that is made again is the same."""
    seed, _ = _kept(folder)
    return secrets.randbits(63) if fresh or seed is None else seed


def _kept(folder: Path) -> tuple[int | None, tuple[Paper, ...]]:
    path = folder / KEPT
    if not path.is_file():
        return None, ()
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        return int(said["seed"]), tuple(Paper.from_plain(one) for one in said["papers"])
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableSheetError(
            f"{path} is not what `course defend` wrote: delete it, and others will be asked"
        ) from error


def kept(course: Course, assignment: str) -> tuple[Paper, ...]:
    """The papers that were made of an assignment.

    Raises
    ------
    NothingToAskError
        If there are none.
    UnreadableSheetError
        If somebody else has written the file.
    """
    _, papers = _kept(folder_of(course, assignment))
    if not papers:
        raise NothingToAskError(
            f"no papers of {assignment} were made: run `course defend {assignment}`"
        )
    return papers


def _keep(made: Defended, seed: int) -> None:
    said = {"seed": seed, "papers": [one.to_plain() for one in made.papers]}
    write_atomically(made.folder / KEPT, json.dumps(said, ensure_ascii=False))
