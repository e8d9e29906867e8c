"""What a class got right, what it got wrong, and how often: counted from its standing, and who is
in its folder and not in there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from course_grader.course import Course
from course_grader.errors import NothingToGradeError
from course_grader.gradebook.standing import Cell, ClassStanding, StudentGrades
from course_grader.outcome import Status
from course_grader.submissions import submissions


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


def graded(standing: ClassStanding) -> list[StudentGrades]:
    """Those whose submission has points: not set aside, not failed."""
    return [
        one
        for one in standing.handed_in
        if one.submitted and (one.run is None or one.run.status is Status.GRADED)
    ]


def middle(standing: ClassStanding) -> float:
    """The median of the points, or 0 where nothing is graded."""
    points = [one.points for one in graded(standing)]
    return median(points) if points else 0.0


def tasks(standing: ClassStanding) -> list[Task]:
    """Each graded cell, in the order of the assignment's tasks, questions last."""
    titles: dict[str, str] = {}
    states: dict[tuple[str, str], str] = {}
    for one in standing.students:
        for found in one.findings:
            title = str(found.verdict.get("title") or titles.get(found.grade_id) or found.task)
            titles[found.grade_id] = title
            states[one.student, found.grade_id] = str(found.verdict.get("state", ""))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in graded(standing):
        for cell in one.cells:
            # An answer that no judge looks at, no person has, and nobody waits for is an empty one.
            empty = "wrong" if cell.by_hand else "not attempted"
            counts[cell.name][_state(cell, states.get((one.student, cell.name), empty))] += 1
    order = [*titles, *(name for name in standing.cells if name not in titles)]
    return [
        Task(
            name,
            titles.get(name, name),
            name in titles,
            *(counts[name][s] for s in ("right", "partly", "wrong", "not attempted", "waiting")),
        )
        for name in order
        if name in standing.cells
    ]


def mistakes(standing: ClassStanding) -> list[Mistake]:
    """What was found in answers, the most frequent first; the sentence most often said of it."""
    who: dict[tuple[str, str], list[str]] = defaultdict(list)
    said: dict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    for one in standing.students:
        for task, name, sentence, section in _said_of(one):
            if one.student not in who[task, name]:
                who[task, name].append(one.student)
            said[task, name][sentence, section] += 1
    found = [
        Mistake(task, name, tuple(students), *said[task, name].most_common(1)[0][0])
        for (task, name), students in who.items()
    ]
    return sorted(found, key=lambda one: (-len(one.students), one.task, one.name))


def waiting(standing: ClassStanding) -> dict[str, list[str]]:
    """For each cell that waits for a person, the students whose answer does.

    What was set aside as a whole is not counted here.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for one in graded(standing):
        for name in one.waiting:
            found[name].append(one.student)
    return dict(found)


def with_status(standing: ClassStanding, status: Status) -> list[StudentGrades]:
    """Those whose run ended so."""
    return [one for one in standing.students if one.run and one.run.status is status]


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


def _said_of(one: StudentGrades) -> Iterator[tuple[str, str, str, str]]:
    for found in one.findings:
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
