"""A class that is graded gets the points that `check` gives at the desk, by whichever command."""

import csv
from pathlib import Path

import pytest
from classes import nbgrader
from nbgrader.api import Gradebook
from nbgrader.validator import Validator
from traitlets.config import Config

from course_lib.grading import desk
from course_lib.grading.assignment import Assignment
from course_lib.grading.batch import grade
from course_lib.grading.course import Course
from course_lib.grading.release import release
from course_lib.tasks import catalogue, check

ROOT = Path(__file__).parents[2]
HERE = Course(ROOT)
STUDENTS = ROOT / "tests" / "tasks"
FIRST = HERE.assignments[0]

# Answers that are functions, modules, and a training run. At the desk every assignment is tried
# unfilled and solved by other tests.
CLASSES = (FIRST, "05-head", "08-gpt")

# Who is in every class; the first assignment's has more. One is also checked at the desk.
IN_EVERY_CLASS = ("half", "warns", "first-mistake")
AT_THE_DESK = {FIRST: IN_EVERY_CLASS}

pytestmark = pytest.mark.slow


def answers(notebook):
    """Of each task, the cell in which a student answers."""
    assignment = Assignment.of(notebook)
    return [(assignment.answer_to(check), check) for check in assignment.checks]


def submit(course, name, editable, student, change):
    """Hand in a changed exercise."""
    book = editable(course.exercises / name / f"{name}.ipynb")
    change(book)
    return book.save(course.root / "submitted" / student / name / f"{name}.ipynb")


def mistaken(name, which):
    """Fill in, for every task, one of the mistakes that are known of it: the first, the last …

    The wrong answers are the students' of the tests of the judges; a sandbox does not have them, so
    that each cell brings all of them along.
    """

    def change(book):
        module = next(STUDENTS.glob(f"students/ch{name[:2]}_*.py"))
        for answer, check_cell in answers(book.notebook):
            task = check_cell.task.partition("/")[2]
            mistake = list(students_of(module.stem).WRONG[task])[which]
            book.cells[answer.number - 1].source = (
                f"{module.read_text(encoding='utf-8')}\n\n"
                f"{check_cell.answer} = WRONG[{task!r}][{mistake!r}]"
            )

    return change


def students_of(module):
    return __import__(f"students.{module}", fromlist=[module])


def expected_of_mistakes(name, which):
    module = students_of(next(STUDENTS.glob(f"students/ch{name[:2]}_*.py")).stem)
    expected = {}
    for task in catalogue.names():
        if task.startswith(f"{name[:2]}/"):
            wrong = list(module.WRONG[task.partition("/")[2]].values())[which]
            expected[task] = check(task, wrong, seed=0).points
    return expected


@pytest.fixture(params=CLASSES)
def graded(request, course, editable):
    """A class that handed in, was graded, and what each should get."""
    name = request.param
    solved = editable(course.solutions / name / f"{name}.ipynb")
    full = {cell.task: cell.points for _, cell in answers(solved.notebook)}
    right = [cell.source for cell, _ in answers(solved.notebook)]

    def fill(book, number, source):
        book.cells[answers(book.notebook)[number][0].number - 1].source = source

    def half(book):
        for number in range(len(right) // 2):
            fill(book, number, right[number])

    def warns(book):
        for number, source in enumerate(right):
            noise = "import sys, warnings; warnings.warn('old'); print('hm', file=sys.stderr)"
            fill(book, number, source.replace("### BEGIN SOLUTION", noise))

    def solve(book):
        for number, source in enumerate(right):
            fill(book, number, source)
        for question in Assignment.of(book.notebook).questions:
            book.cells[question.number - 1].source = "Because."

    tasks = list(full)
    members = {
        "unfilled": (lambda book: None, dict.fromkeys(tasks, 0.0)),
        "half": (half, {t: full[t] * (i < len(tasks) // 2) for i, t in enumerate(tasks)}),
        "warns": (warns, full),
        "solved": (solve, full),
        "first-mistake": (mistaken(name, 0), expected_of_mistakes(name, 0)),
        "last-mistake": (mistaken(name, -1), expected_of_mistakes(name, -1)),
    }
    if name != FIRST:
        members = {student: members[student] for student in IN_EVERY_CLASS}
    release(course, name, gradebook=True)
    paths = {s: submit(course, name, editable, s, change) for s, (change, _) in members.items()}
    assert grade(course, name, jobs=2).complete
    return course, name, paths, {student: points for student, (_, points) in members.items()}


def test_grade_check_and_course_check_agree_on_a_class(graded):
    course, name, paths, expected = graded
    notebook = Assignment.of(desk.read(paths["half"]))
    task_of = {cell.grade_id: cell.task for cell in notebook.checks}
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "averages-to-transformers") as book:
        given, waiting = {}, {}
        for submission in book.assignment_submissions(name):
            grades = submission.notebooks[0].grades
            given[submission.student.id] = {
                task_of[grade.name]: grade.auto_score for grade in grades if grade.name in task_of
            }
            waiting[submission.student.id] = [
                grade.name for grade in grades if grade.needs_manual_grade
            ]
    assert given == expected
    # An unanswered question is worth nothing by itself.
    assert waiting["half"] == []
    for student in AT_THE_DESK.get(name, ("first-mistake",)):
        report = desk.check_notebook(paths[student])
        assert {r.task: r.points for r in report.results} == expected[student], student
    if name == FIRST:
        # An answered question waits for a person.
        assert waiting["solved"] == [question.grade_id for question in notebook.questions]
        feedback_names_the_finding(course, name)
        export_holds_the_points(course, expected)


def feedback_names_the_finding(course, name):
    nbgrader(course, "generate_feedback", name, "--force")
    page = course.root / "feedback" / "first-mistake" / name / f"{name}.html"
    wrong = students_of(next(STUDENTS.glob(f"students/ch{name[:2]}_*.py")).stem).WRONG
    task, mistakes = next(iter(wrong.items()))
    finding = check(f"{name[:2]}/{task}", next(iter(mistakes.values())), seed=0).findings[0]
    assert finding.what.split("`")[0] in page.read_text(encoding="utf-8")


def export_holds_the_points(course, expected):
    nbgrader(course, "export", "--to", "grades.csv")
    with (course.root / "grades.csv").open() as file:
        exported = {row["student_id"]: float(row["raw_score"]) for row in csv.DictReader(file)}
    assert exported == {student: sum(points.values()) for student, points in expected.items()}


def test_nbgraders_validator_passes_a_solution():
    settings = Config({"Execute": dict(HERE.settings.Execute)})
    result = Validator(config=settings).validate(str(HERE.solutions / FIRST / f"{FIRST}.ipynb"))
    assert result == {}
