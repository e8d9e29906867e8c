"""A grader that is killed at any moment and started again grades nobody twice or differently."""

import pickle
import shutil
import subprocess
import sys

import pytest
from classes import class_without_gradebook
from graded_class import NAME, full, hand_in, points, recorded_at

from course_grader import grade_one
from course_grader.batch import grade
from course_grader.course import Course
from course_grader.submissions import submissions

STUDENTS = ("ada", "ben", "cem", "dia", "eva", "fay")

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

KILLED = """
import os, pickle, signal, sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from course_grader import batch
from course_grader.course import Course
from course_grader.gradebook import runs
from course_grader.gradebook.record import Recorder
from course_grader.atomic import write_atomically

outcomes, pages = pickle.load(sys.stdin.buffer)
count = int(sys.argv[1])
runner = SimpleNamespace(form="warm", slots=1)
judges = SimpleNamespace(require=lambda tasks: None, expect=lambda tasks: None)
start = batch.Start(lambda: judges, lambda: runner)
batch.starting = lambda *given: nullcontext(start)
end = lambda: os.kill(os.getpid(), signal.SIGKILL)
done = 0

def grade_one(one, whole, *rest, **named):
    for path in whole.places(one):
        write_atomically(path, pages[path.name])
    return outcomes[one.student]

def before(real):
    def change(*given, **named):
        global done
        done += 1
        if done > count:
            end()
        return real(*given, **named)
    return change

def after(real):
    def change(*given, **named):
        global done
        made = real(*given, **named)
        done += 1
        if done > count:
            end()
        return made
    return change

def killed(root, moment):
    global count
    if moment == "between its pages":
        os.replace, count = after(os.replace), 2 * count + 1
    elif moment == "between page and gradebook":
        Recorder.record_all, count = before(Recorder.record_all), 1
    elif moment == "after the gradebook":
        Recorder.record_all, count = after(Recorder.record_all), 1
    elif moment == "in the middle of a transaction":
        runs.note, count = before(runs.note), 1
    batch.grade_one = grade_one
    batch.MOST_RECORDED_AT_ONCE = 2
    batch.grade(Course(Path(root)), "01-averages", jobs=1)

# A process each, which finds all of it imported.
for root, moment in zip(sys.argv[2::2], sys.argv[3::2], strict=True):
    child = os.fork()
    if child == 0:
        killed(root, moment)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

MOMENTS = (
    "between its pages",
    "between page and gradebook",
    "in the middle of a transaction",
    "after the gradebook",
)


@pytest.fixture(scope="module")
def killed(template, running, tmp_path_factory):
    """A class for each moment at which its grader was killed.

    The killed grader is given what judges found, once for all; what is tried is what it writes.
    """
    folder = tmp_path_factory.mktemp("killed")
    courses = {}
    for moment in MOMENTS:
        courses[moment] = Course(shutil.copytree(template, folder / moment))
        hand_in(courses[moment], *STUDENTS)
    course = courses[MOMENTS[0]]
    judges, sandbox = running
    where = (folder / f"{NAME}.ipynb", folder / f"{NAME}.html")
    whole = class_without_gradebook(course, NAME, where)
    outcomes = {
        one.student: grade_one.grade_one(one, whole, sandbox, judges)
        for one in submissions(course, NAME)
    }
    pages = {path.name: path.read_text() for path in where}
    words = [str(word) for moment in MOMENTS for word in (courses[moment].root, moment)]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, "2", *words],
        input=pickle.dumps((outcomes, pages)),
        capture_output=True,
        check=False,
    )
    assert done.stdout.split() == [b"-9"] * len(MOMENTS), done.stderr.decode()[-2000:]
    return courses


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_and_started_again_gives_the_same_grades_and_grades_nothing_twice(
    killed, shared, moment
):
    course = killed[moment]
    before = recorded_at(course)
    assert len(before) < len(STUDENTS)
    assert before or moment == "between its pages"  # runs may be ahead of what is recorded
    summary = grade(course, NAME, jobs=2)
    assert summary.complete
    assert sorted(summary.unchanged) == sorted(before)
    assert {o.student for o in summary.outcomes} == set(STUDENTS) - set(before)
    after = recorded_at(course)
    assert {student: after[student] for student in before} == before
    wanted = {s: 0.0 if n % 2 else full(course) for n, s in enumerate(STUDENTS)}
    assert points(course) == wanted
    for student in STUDENTS:
        assert (course.feedback / student / NAME / f"{NAME}.html").is_file()
        assert (course.autograded / student / NAME / f"{NAME}.ipynb").is_file()
