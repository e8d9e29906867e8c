"""What a class got right, what it got wrong, and how often, counted from its standing; and whose
submission lies in `submitted/` but is not in the gradebook.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from types import MappingProxyType

from course_grader.course import Course
from course_grader.errors import NothingToGradeError
from course_grader.gradebook.standing import Cell, ClassStanding, StudentGrades
from course_grader.outcome import Status
from course_grader.submissions import submissions
from course_tasks.errors import NOT_DEFINED

# A finding of the grader's own: there was nothing that a judge could have looked at.
UNDEFINED = "undefined"

_NOBODY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Task:
    """How a class did in one graded cell.

    Attributes
    ----------
    name : str
        Its grade id.
    title : str
        As the task calls itself; the grade id where nothing was judged.
    judged : bool
        Whether a judge awards its points, not a person.
    right, partly, wrong, not_attempted, waiting : int
        Students.
    """

    name: str
    title: str
    judged: bool
    right: int
    partly: int
    wrong: int
    not_attempted: int
    waiting: int

    @property
    def share(self) -> float:
        """Of those whose points are known, how many have all of them; 0 if there are none."""
        known = self.right + self.partly + self.wrong + self.not_attempted
        return self.right / known if known else 0.0


@dataclass(frozen=True)
class Mistake:
    """What several students did.

    Attributes
    ----------
    task, name : str
        The task's title and the mistake's own name.
    students : tuple of str
    sentence : str
        What a good teacher would say of it.
    section : str
        Where to look again; empty if the judge does not know.
    """

    task: str
    name: str
    students: tuple[str, ...]
    sentence: str
    section: str


@dataclass(frozen=True)
class Tally:
    """What a class did in one assignment, counted once for the page, its pictures and its table.

    Attributes
    ----------
    standing : ClassStanding
        What was counted.
    ungraded : mapping of str to str
        Students of whom a submission is there and nothing in the gradebook, and why.
    graded : tuple of StudentGrades
        Those whose submission has points: not set aside, not failed.
    set_aside, failed : tuple of StudentGrades
        Those whose run ended so.
    median : float
        Of the points; 0 where nothing is graded.
    tasks : tuple of Task
        Each graded cell, in the order of the assignment's tasks, questions last.
    mistakes : tuple of Mistake
        The most frequent first.
    waiting : mapping of str to tuple of str
        For each cell that waits for a person, the students whose answer does. What was set aside as
        a whole is not counted here.
    doubted : tuple of (str, str, str)
        Answers that a judge did not find although there may be one: student, task, and why. Those
        that a person has looked at are not among them.
    failed_cells : tuple of (str, str)
        Students and the first cell of theirs that failed; those who lack points come first.
    """

    standing: ClassStanding
    ungraded: Mapping[str, str]
    graded: tuple[StudentGrades, ...]
    set_aside: tuple[StudentGrades, ...]
    failed: tuple[StudentGrades, ...]
    median: float
    tasks: tuple[Task, ...]
    mistakes: tuple[Mistake, ...]
    waiting: Mapping[str, tuple[str, ...]]
    doubted: tuple[tuple[str, str, str], ...] = ()
    failed_cells: tuple[tuple[str, str], ...] = ()


def count(standing: ClassStanding, ungraded: Mapping[str, str] = _NOBODY) -> Tally:
    """Count a class's standing; `ungraded` is what the function of that name finds."""
    graded = tuple(
        one
        for one in standing.handed_in
        if one.submitted and (one.run is None or one.run.status is Status.GRADED)
    )
    points = [one.points for one in graded]
    return Tally(
        standing=standing,
        ungraded=ungraded,
        graded=graded,
        set_aside=_with_status(standing, Status.SET_ASIDE),
        failed=_with_status(standing, Status.FAILED),
        median=median(points) if points else 0.0,
        tasks=_tasks(standing, graded),
        mistakes=_mistakes(standing),
        waiting=_waiting(graded),
        doubted=tuple(_doubted(graded)),
        failed_cells=_failed_cells(graded),
    )


def _tasks(standing: ClassStanding, graded: Sequence[StudentGrades]) -> tuple[Task, ...]:
    titles: dict[str, str] = {}
    states: dict[tuple[str, str], str] = {}
    for one in standing.students:
        for found in one.findings:
            title = str(found.verdict.get("title") or titles.get(found.grade_id) or found.task)
            titles[found.grade_id] = title
            states[one.student, found.grade_id] = str(found.verdict.get("state", ""))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in graded:
        for cell in one.cells:
            # An answer that no judge looks at, no person has, and nobody waits for is an empty one.
            empty = "wrong" if cell.by_hand else "not attempted"
            counts[cell.name][_state(cell, states.get((one.student, cell.name), empty))] += 1
    order = [*titles, *(name for name in standing.cells if name not in titles)]
    return tuple(
        Task(
            name,
            titles.get(name, name),
            name in titles,
            *(counts[name][s] for s in ("right", "partly", "wrong", "not attempted", "waiting")),
        )
        for name in order
        if name in standing.cells
    )


def _mistakes(standing: ClassStanding) -> tuple[Mistake, ...]:
    """What was found in answers, each with the sentence that was most often said of it."""
    who: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    said: dict[tuple[str, str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    titles = {
        found.grade_id: str(found.verdict["title"])
        for one in standing.students
        for found in one.findings
        if found.verdict.get("title")
    }
    for one in standing.students:
        for task, name, sentence, section in _said_of(one, titles):
            key = task, name, _kind_of_error(name, sentence)
            if one.student not in who[key]:
                who[key].append(one.student)
            said[key][sentence, section] += 1
    found = [
        Mistake(task, name, tuple(students), *said[task, name, kind].most_common(1)[0][0])
        for (task, name, kind), students in who.items()
    ]
    return tuple(sorted(found, key=lambda one: (-len(one.students), one.task, one.name)))


def _kind_of_error(name: str, sentence: str) -> str:
    """Which error stopped an answer, without the line that raised it; empty for other findings.

    All errors have one name, and whoever had a TypeError is not told of another's NameError.
    """
    return sentence.partition(" at `")[0].rstrip(".") if name in ("error", UNDEFINED) else ""


def _waiting(graded: Sequence[StudentGrades]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for one in graded:
        for name in one.waiting:
            found[name].append(one.student)
    return {name: tuple(students) for name, students in found.items()}


def _doubted(graded: Sequence[StudentGrades]) -> Iterator[tuple[str, str, str]]:
    for one in graded:
        for found in one.findings:
            if found.waits and found.grade_id in one.waiting:
                title = str(found.verdict.get("title") or found.task)
                yield one.student, title, found.waits


def _failed_cells(graded: Sequence[StudentGrades]) -> tuple[tuple[str, str], ...]:
    found = [
        (all(cell.points >= cell.out_of for cell in one.cells), one.student, one.run.failed_cell)
        for one in graded
        if one.run and one.run.failed_cell
    ]
    return tuple((student, cell) for _, student, cell in sorted(found))


def _with_status(standing: ClassStanding, status: Status) -> tuple[StudentGrades, ...]:
    return tuple(one for one in standing.students if one.run and one.run.status is status)


def ungraded(course: Course, standing: ClassStanding) -> dict[str, str]:
    """Students of whom a submission is there and nothing in the gradebook, and why."""
    known = {one.student for one in standing.handed_in}
    try:
        found = submissions(course, standing.assignment)
    except NothingToGradeError:
        return {}
    return {o.student: o.misnamed or "not graded yet" for o in found if o.student not in known}


def slowest(standing: ClassStanding, count: int) -> list[tuple[StudentGrades, float]]:
    """The longest runs, in seconds, longest first."""
    timed = [
        (one, float(one.run.seconds["run"]))
        for one in standing.students
        if one.run and "run" in one.run.seconds
    ]
    return sorted(timed, key=lambda each: -each[1])[:count]


def _said_of(one: StudentGrades, titles: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    for found in one.findings:
        # What ended a whole run stands in the report once for each student, and not for each task.
        if not found.verdict and NOT_DEFINED in found.reason:
            title = titles.get(found.grade_id, found.task)
            yield title, UNDEFINED, f"{found.reason}.", ""
        if found.verdict.get("state") == "not attempted":
            continue
        title = str(found.verdict.get("title") or found.task)
        listed: Sequence[dict[str, str]] = found.verdict.get("findings", ())
        for each in listed:
            yield title, each["name"], each["what"], each.get("section", "")


def _state(cell: Cell, said: str) -> str:
    if cell.waits:
        return "waiting"
    if cell.points >= cell.out_of:
        return "right"
    if cell.points > 0:
        return "partly"
    return "not attempted" if said == "not attempted" else "wrong"
