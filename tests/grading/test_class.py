"""A class that is graded gets the points that `check` gives at the desk, by whichever command."""

import csv
from pathlib import Path

import pytest
from classes import class_without_gradebook, nbgrader
from nbgrader.api import Gradebook
from nbgrader.validator import Validator
from students import source_of, students_of
from traitlets.config import Config

from course_grader import check_notebook
from course_grader.assignment import Assignment, read
from course_grader.batch import grade
from course_grader.course import Course
from course_grader.grade_one import grade_one
from course_grader.outcome import Status
from course_grader.submissions import Submission
from course_tasks import catalogue, check

ROOT = Path(__file__).parents[2]
HERE = Course(ROOT)
FIRST = HERE.assignments[0]

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]


def graded_one(running, folder, made):
    """What comes of the assignment that lies in a folder of its name, without a gradebook."""
    judges, sandbox = running
    name = folder.name
    where = (made / f"{name}.ipynb", made / f"{name}.html")
    whole = class_without_gradebook(HERE, name, where)
    return grade_one(Submission("somebody", name, folder), whole, sandbox, judges)


def errors_in(page):
    """What stopped cells of a notebook that was run."""
    cells = [cell for cell in read(page).cells if cell.cell_type == "code"]
    return [o for cell in cells for o in cell.outputs if o.output_type == "error"]


def cells_of(name):
    return Assignment.of(check_notebook.read(HERE.exercises / name / f"{name}.ipynb"))


@pytest.mark.parametrize("assignment", HERE.assignments)
def test_solution_gets_every_point_in_the_sandbox(running, tmp_path, assignment):
    outcome = graded_one(running, HERE.solutions / assignment, tmp_path)
    assert (outcome.status, outcome.reason) == (Status.GRADED, "")
    assert [(t.task, t.points) for t in outcome.tasks] == [
        (check.task, check.points) for check in cells_of(assignment).checks
    ]
    assert errors_in(tmp_path / f"{assignment}.ipynb") == []
    assert outcome.unanswered == frozenset()


@pytest.mark.parametrize("assignment", HERE.assignments)
def test_unfilled_exercise_is_not_attempted_in_the_sandbox(running, tmp_path, assignment):
    outcome = graded_one(running, HERE.exercises / assignment, tmp_path)
    assert (outcome.status, outcome.reason) == (Status.GRADED, "")
    assert {(t.points, t.verdict["state"]) for t in outcome.tasks} == {(0.0, "not attempted")}
    assert errors_in(tmp_path / f"{assignment}.ipynb") == []
    assert outcome.unanswered >= {q.grade_id for q in cells_of(assignment).questions}


def answers(notebook):
    """Of each task, the cell in which a student answers."""
    assignment = Assignment.of(notebook)
    return [(assignment.answer_to(check), check) for check in assignment.checks]


def mistaken(name, which):
    """Fill in, for every task, one of the mistakes that are known of it: the first, the last …

    The wrong answers are the students' of the tests of the judges; a sandbox does not have them, so
    that each cell brings all of them along.
    """

    def change(book):
        for answer, check_cell in answers(book.notebook):
            mistake = list(students_of(check_cell.task).WRONG)[which]
            book.cells[
                answer.number - 1
            ].source = f"{source_of(check_cell.task)}\n\n{check_cell.answer} = WRONG[{mistake!r}]"

    return change


def expected_of_mistakes(name, which):
    expected = {}
    for task in catalogue.names():
        if task.startswith(f"{catalogue.chapter_of(name)}/"):
            wrong = list(students_of(task).WRONG.values())[which]
            expected[task] = check(task, wrong, seed=0).points
    return expected


class Members:
    """What some students hand in, and the points that each of them should get."""

    def __init__(self, name, editable):
        self.name = name
        solved = editable(HERE.solutions / name / f"{name}.ipynb")
        self.full = {check.task: check.points for _, check in answers(solved.notebook)}
        self.right = [cell.source for cell, _ in answers(solved.notebook)]

    def fill(self, book, change=lambda source: source, count=None):
        for (answer, _), source in zip(answers(book.notebook), self.right[:count], strict=False):
            book.cells[answer.number - 1].source = change(source)

    def unfilled(self, book):
        return dict.fromkeys(self.full, 0.0)

    def half(self, book):
        count = len(self.right) // 2
        self.fill(book, count=count)
        return {task: self.full[task] * (i < count) for i, task in enumerate(self.full)}

    def warns(self, book):
        noise = "import sys, warnings; warnings.warn('old'); print('hm', file=sys.stderr)"
        self.fill(book, lambda source: source.replace("### BEGIN SOLUTION", noise))
        return self.full

    def solved(self, book):
        self.fill(book)
        for question in Assignment.of(book.notebook).questions:
            book.cells[question.number - 1].source = "Because."
        return self.full

    def first_mistake(self, book):
        mistaken(self.name, 0)(book)
        return expected_of_mistakes(self.name, 0)

    def last_mistake(self, book):
        mistaken(self.name, -1)(book)
        return expected_of_mistakes(self.name, -1)


# Answers that are modules, and a training run.
@pytest.mark.parametrize("name", ["05-head", "08-gpt"])
@pytest.mark.parametrize("student", ["half", "first_mistake"])
def test_judge_of_a_class_and_check_agree(running, editable, tmp_path, name, student):
    book = editable(HERE.exercises / name / f"{name}.ipynb")
    expected = getattr(Members(name, editable), student)(book)
    path = book.save(tmp_path / name / f"{name}.ipynb")
    outcome = graded_one(running, path.parent, tmp_path)
    assert {task.task: task.points for task in outcome.tasks} == expected


def test_grade_check_and_course_check_agree_on_a_class(entered, editable):
    course, name = entered, FIRST
    members, expected, paths = Members(name, editable), {}, {}
    for student in ("unfilled", "half", "warns", "solved", "first_mistake", "last_mistake"):
        book = editable(course.exercises / name / f"{name}.ipynb")
        expected[student] = getattr(members, student)(book)
        paths[student] = book.save(course.submitted / student / name / f"{name}.ipynb")
    assert grade(course, name, jobs=2).complete
    notebook = Assignment.of(check_notebook.read(paths["half"]))
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
    # An unanswered question is worth nothing by itself; an answered one waits for a person.
    assert waiting["half"] == []
    assert sorted(waiting["solved"]) == sorted(q.grade_id for q in notebook.questions)
    report = check_notebook.check_notebook(paths["first_mistake"])
    assert {r.task: r.points for r in report.results} == expected["first_mistake"]
    feedback_names_the_finding(course, name)
    export_holds_the_points(course, expected)


def feedback_names_the_finding(course, name):
    nbgrader(course, "generate_feedback", name, "--force")
    page = course.root / "feedback" / "first_mistake" / name / f"{name}.html"
    chapter = catalogue.chapter_of(name)
    task = next(task for task in catalogue.names() if task.startswith(f"{chapter}/"))
    wrong = next(iter(students_of(task).WRONG.values()))
    finding = check(task, wrong, seed=0).findings[0]
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
