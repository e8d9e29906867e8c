"""A class that is handed in and graded, and what the gradebook has of it."""

import shutil

import sqlalchemy as sql
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from course_grader.assignment import Assignment, read
from course_grader.cli import app

NAME = "01-averages"


def points(course):
    """What the judge awarded to each student who is in the gradebook."""
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "averages-to-transformers") as book:
        return {
            one.student.id: sum(grade.auto_score or 0 for grade in one.notebooks[0].grades)
            for one in book.assignment_submissions(NAME)
        }


def command(course, *words):
    """Run `course grade` in this process."""
    wide = {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
    return CliRunner().invoke(app, ["grade", *words, "--course", str(course.root)], env=wide)


def recorded_at(course):
    """When each student's result was recorded."""
    engine = sql.create_engine(f"sqlite:///{course.root}/gradebook.db")
    with engine.begin() as connection:
        rows = connection.execute(sql.text("select student, graded_at from course_runs"))
        return dict(rows.all())


def full(course):
    """The points that a solved notebook earns."""
    cells = Assignment.of(read(course.solutions / NAME / f"{NAME}.ipynb"))
    return sum(check.points for check in cells.checks)


def hand_in(course, *students):
    """Put a notebook of each student where `course grade` finds it; every second one is solved."""
    for number, student in enumerate(students):
        source = course.exercises if number % 2 else course.solutions
        folder = course.submitted / student / NAME
        folder.mkdir(parents=True)
        shutil.copy(source / NAME / f"{NAME}.ipynb", folder)
    return course
