"""A class is graded once, whatever interrupts it, and no submission stops another's."""

import ast
import contextlib
import functools
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
import sqlalchemy as sql
from classes import class_without_gradebook
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from course_grader import batch, grade_one
from course_grader.assignment import Assignment, read
from course_grader.batch import grade
from course_grader.cli import app
from course_grader.course import Course
from course_grader.errors import (
    AlreadyGradingError,
    ClockBehindError,
    FaultyAssignmentError,
    GradebookError,
    MachineError,
    NothingToGradeError,
    NotWrittenError,
)
from course_grader.examination import WITHOUT_SANDBOX
from course_grader.gradebook.standing import standing
from course_grader.options import CourseGrade
from course_grader.outcome import Status
from course_grader.release import release
from course_grader.reports.pages import places
from course_grader.sandbox import cluster
from course_grader.submissions import Submission, submissions
from course_lib.errors import ConfigError
from course_tasks.runner.limits import Limits

ROOT = Path(__file__).parents[2]
NAME = "01-averages"
STUDENTS = ("ada", "ben", "cem", "dia", "eva", "fay")

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


@pytest.fixture
def shared(running, monkeypatch):
    """Classes are graded with the judges and the sandbox that all tests share."""
    starting = batch.starting

    @contextlib.contextmanager
    def started(form, course, scheduler):
        judges, sandbox = running
        if form != sandbox.form or scheduler:
            with starting(form, course, scheduler) as ready:
                yield ready
        else:
            yield batch.Start(lambda: judges, lambda: sandbox)

    monkeypatch.setattr(batch, "starting", started)


@pytest.fixture
def class_of(entered, shared):
    """Makes a released assignment with submissions: every second one solved."""
    return functools.partial(hand_in, entered)


def points(course):
    """Of each student in the gradebook what the judge awarded, and when it was recorded."""
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
    engine = sql.create_engine(f"sqlite:///{course.root}/gradebook.db")
    with engine.begin() as connection:
        rows = connection.execute(sql.text("select student, graded_at from course_runs"))
        return dict(rows.all())


def full(course):
    cells = Assignment.of(read(course.solutions / NAME / f"{NAME}.ipynb"))
    return sum(check.points for check in cells.checks)


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
        runs.note = before(runs.note)
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


def hand_in(course, *students):
    """Every second one is solved."""
    for number, student in enumerate(students):
        source = course.exercises if number % 2 else course.solutions
        folder = course.submitted / student / NAME
        folder.mkdir(parents=True)
        shutil.copy(source / NAME / f"{NAME}.ipynb", folder)
    return course


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


def test_second_run_grades_only_what_changed(class_of, editable):
    course = class_of("ada", "ben")
    assert len(grade(course, NAME).outcomes) == 2
    again = grade(course, NAME)
    assert (again.outcomes, again.unchanged) == ([], ["ada", "ben"])
    shutil.rmtree(course.feedback / "ada")
    assert [one.student for one in grade(course, NAME).outcomes] == ["ada"]
    shutil.rmtree(course.autograded)
    assert {one.student for one in grade(course, NAME).outcomes} == {"ada", "ben"}
    assert all(path.is_file() for one in submissions(course, NAME) for path in places(course, one))
    solved = editable(course.solutions / NAME / f"{NAME}.ipynb")
    solved.save(course.submitted / "ben" / NAME / f"{NAME}.ipynb")
    third = grade(course, NAME)
    assert [(o.student, o.points) for o in third.outcomes] == [("ben", full(course))]
    other = grade(course, NAME, limits=Limits(cell_seconds=50), students=["ada"])
    assert [one.student for one in other.outcomes] == ["ada"]
    assert len(grade(course, NAME, force=True).outcomes) == 2


def test_what_was_not_run_in_a_sandbox_says_so_and_is_run_again_in_one(class_of):
    course = class_of("ada")
    feedback = command(course, "01", "--no-sandbox")
    assert feedback.exit_code == 0
    assert "Without a sandbox" in feedback.output
    (bare,) = standing(course, NAME).students
    assert bare.points == full(course)
    assert WITHOUT_SANDBOX in bare.run.notes
    assert "without a sandbox" in (course.feedback / "ada" / NAME / f"{NAME}.html").read_text()
    (boxed,) = grade(course, NAME).outcomes
    assert boxed.notes == ()


def test_second_grader_is_told_who_holds_the_course(class_of):
    course = class_of("ada")
    said = []

    def other(outcome, done, count):
        with pytest.raises(AlreadyGradingError) as error:
            grade(Course(course.root), NAME)
        said.append(str(error.value))

    thread = threading.Thread(target=lambda: grade(course, NAME, progress=other))
    thread.start()
    thread.join()
    assert said
    assert f"process {os.getpid()} on " in said[0]
    assert grade(course, NAME).unchanged == ["ada"]


def test_class_on_postgresql_is_graded_by_one_grader_at_a_time(class_of, postgres, tmp_path):
    course = class_of("ada", "ben")
    release(course, NAME, gradebook=True, url=postgres)
    elsewhere = Course(shutil.copytree(course.root, tmp_path / "other machine"))
    said = []

    def other(outcome, done, count):
        with pytest.raises(AlreadyGradingError) as error:
            grade(elsewhere, NAME, url=postgres)
        said.append(str(error.value))

    summary = grade(course, NAME, url=postgres, progress=other)
    assert summary.complete
    assert f"process {os.getpid()} on " in said[0]
    given = {one.student: one.points for one in standing(course, NAME, postgres).students}
    assert given == {"ada": full(course), "ben": 0.0}
    assert grade(course, NAME, url=postgres).unchanged == ["ada", "ben"]
    assert grade(elsewhere, NAME, url=postgres, force=True).complete
    assert points(course) == {}, "SQLite's file holds the assignment and no grades"


def test_odd_names_are_graded_and_impossible_ones_are_named(class_of):
    odd = [" ", "..a", "=1+1", 'a,b"c', "<b>x<", "Zoë 李", "-rf", "%s{0}", "a" * 128]
    impossible = ["\udcff", "b" * 129]
    course = class_of(*odd, *impossible)
    summary = grade(course, NAME)
    outcomes = {one.student: one for one in summary.outcomes}
    assert {one for one in odd if outcomes[one].status is Status.GRADED} == set(odd)
    assert set(points(course)) == set(odd)
    for name in impossible:
        assert outcomes[name].status is Status.FAILED
        assert "rename it" in outcomes[name].reason
    assert not summary.complete


def test_fault_of_the_grader_over_one_submission_is_nobodys_zero_and_stops_nobody(
    class_of, monkeypatch
):
    course = class_of("ada", "ben", "cem")
    real = grade_one.job_of

    def faulty(one, *rest):
        if one.student == "ben":
            raise ZeroDivisionError("of the grader")
        return real(one, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(grade_one, "job_of", faulty)
        summary = grade(course, NAME)
    status = {one.student: one.status for one in summary.outcomes}
    assert status == {"ada": Status.GRADED, "ben": Status.FAILED, "cem": Status.GRADED}
    assert set(points(course)) == {"ada", "cem"}
    assert [one.student for one in grade(course, NAME).outcomes] == ["ben"]
    assert set(points(course)) == {"ada", "ben", "cem"}


class Doubtful:
    """A sandbox whose first runs prove nothing, or fail; what it runs at once is counted."""

    def __init__(self, sandbox, student, *ways):
        self.sandbox, self.ways, self.student = sandbox, list(ways), student
        self.form, self.slots = sandbox.form, 2
        self.at_once, self.most_beside, self.lock = 0, [], threading.Lock()

    def run(self, work, inputs, limits, *, alone=False):
        mine = any(self.student in step.source for step in work.steps)
        with self.lock:
            self.at_once += 1
            beside = self.at_once - 1
        try:
            ran = self.sandbox.run(work, inputs, limits, alone=alone)
        finally:
            with self.lock:
                self.at_once -= 1
        if not mine and (inputs or "canary" not in self.ways):
            return ran
        if mine:
            self.most_beside.append(beside)
        way = self.ways.pop(0) if mine and self.ways else ""
        if way == "repeat":
            return replace(ran, repeat="SIGKILL ended it, which the sandbox did not send")
        if way == "fails" or not mine:
            raise MachineError("its supervisor is gone")
        return ran


class TestRunsThatProveNothing:
    def hand_in(self, class_of, running, monkeypatch, *ways):
        course = class_of("ada", "ben", "cem")
        path = course.submitted / "ada" / NAME / f"{NAME}.ipynb"
        notebook = read(path)
        notebook.cells.insert(0, new_code_cell("'this is ada'"))
        nbformat.write(notebook, path)
        judges, sandbox = running
        runner = Doubtful(sandbox, "this is ada", *ways)
        start = batch.Start(lambda: judges, lambda: runner)
        monkeypatch.setattr(batch, "starting", lambda *_: contextlib.nullcontext(start))
        told = []
        summary = grade(
            course, NAME, jobs=2, progress=lambda one, *_: told.append((one.student, one.reason))
        )
        return course, {one.student: one for one in summary.outcomes}, told, runner

    @pytest.mark.parametrize("way", ["repeat", "fails"])
    def test_are_repeated_alone_and_count_then(self, class_of, running, monkeypatch, way):
        course, found, told, runner = self.hand_in(class_of, running, monkeypatch, way)
        assert {one.status for one in found.values()} == {Status.GRADED}
        assert found["ada"].points == full(course)
        assert [words for name, words in told if "will be run again, alone" in words]
        assert told[-1] == ("ada", "")
        assert (len(runner.most_beside), runner.most_beside[-1]) == (2, 0)

    @pytest.mark.parametrize("way", ["repeat", "fails"])
    def test_twice_are_a_persons_and_cost_no_later_command_its_time(
        self, class_of, running, monkeypatch, way
    ):
        course, found, *_ = self.hand_in(class_of, running, monkeypatch, way, way)
        assert found["ada"].status is Status.SET_ASIDE
        assert "twice, the second time with nothing beside it" in found["ada"].reason
        assert {found[name].status for name in ("ben", "cem")} == {Status.GRADED}
        again = grade(course, NAME)
        assert (again.outcomes, again.unchanged) == ([], ["ada", "ben", "cem"])

    def test_where_honest_runs_fail_too_are_the_machines_failure(
        self, class_of, running, monkeypatch
    ):
        ways = ("fails", "fails", "canary")
        course, found, *_ = self.hand_in(class_of, running, monkeypatch, *ways)
        assert found["ada"].status is Status.FAILED
        assert "ada" not in points(course)


@pytest.mark.parametrize("address", ["", "https://book.example/course"])
def test_feedback_links_to_the_published_book_and_to_nothing_else(class_of, address):
    course = class_of("ada")
    settings = course.root / "nbgrader_config.py"
    settings.write_text(f"{settings.read_text()}\nc.CourseGrade.book = {address!r}\n")
    path = course.submitted / "ada" / NAME / f"{NAME}.ipynb"
    notebook = read(path)
    assignment = Assignment.of(notebook)
    for check in assignment.checks:
        cell = notebook.cells[assignment.answer_to(check).number - 1]
        cell.source = f"def {check.answer}(x, *rest, **named):\n    return x"
    nbformat.write(notebook, path)
    grade(Course(course.root), NAME)
    page = (course.root / "feedback" / "ada" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"]*)"', page)
    assert "Look again at" in page
    assert all(link.startswith(f"{address}/book/01-averages.html#") for link in links)
    assert bool(links) == bool(address)


class TestErrors:
    def test_nothing_handed_in(self, class_of):
        with pytest.raises(NothingToGradeError, match=r"submitted/<student>/01-averages/"):
            grade(class_of(), NAME)
        with pytest.raises(NothingToGradeError, match="of nobody"):
            grade(class_of("ada"), NAME, students=["nobody"])

    def test_not_released(self, class_of):
        course = class_of("ada")
        (course.exercises / NAME / f"{NAME}.ipynb").unlink()
        with pytest.raises(FaultyAssignmentError, match="course release 01-averages --gradebook"):
            grade(course, NAME)

    def test_exercise_changed_since_it_was_entered(self, class_of, editable):
        course = class_of("ada")
        book = editable(course.exercises / NAME / f"{NAME}.ipynb")
        book.cell(book.ids("check")[0]).metadata.nbgrader["points"] = 99
        book.save()
        with pytest.raises(GradebookError, match="was changed since"):
            grade(course, NAME)

    def test_full_disk_of_the_gradebook_loses_nothing(self, class_of):
        course = class_of("ada", "ben")

        def fill(connection, _record):
            pages = connection.execute("pragma page_count").fetchone()[0]
            connection.execute(f"pragma max_page_count = {pages}")

        sql.event.listen(sql.Engine, "connect", fill)
        try:
            with pytest.raises(GradebookError, match="full"):
                grade(course, NAME)
        finally:
            sql.event.remove(sql.Engine, "connect", fill)
        assert grade(course, NAME).complete
        assert set(points(course)) == {"ada", "ben"}

    def test_folder_that_cannot_be_written_is_named(self, class_of):
        course = class_of("ada")
        course.feedback.write_text("in the way")
        with pytest.raises(NotWrittenError, match="feedback"):
            grade(course, NAME)
        course.feedback.unlink()
        assert grade(course, NAME).complete

    def test_clock_behind_the_gradebook(self, class_of):
        course = class_of("ada")
        grade(course, NAME)
        engine = sql.create_engine(f"sqlite:///{course.root}/gradebook.db")
        later = datetime.now(UTC).replace(tzinfo=None) + timedelta(days=1)
        with engine.begin() as connection:
            connection.execute(sql.text("update course_runs set graded_at = :at"), {"at": later})
        with pytest.raises(ClockBehindError, match="set the clock"):
            grade(course, NAME)


class TestFiles:
    def hand_in(self, root, **files):
        folder = root / "submitted" / "ada" / NAME
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name.replace("_", ".")).write_text(content)
        return Submission("ada", NAME, folder)

    def test_timestamp_is_read_and_nonsense_is_none(self, tmp_path):
        one = self.hand_in(tmp_path, timestamp_txt="2026-03-01 12:00:00 UTC")
        assert one.timestamp == datetime(2026, 3, 1, 12)
        for words in ("soon", "9" * 900, "x" * 5000, ""):
            (one.folder / "timestamp.txt").write_text(words)
            assert one.timestamp is None

    def test_timestamp_that_is_a_link_is_not_followed(self, tmp_path):
        one = self.hand_in(tmp_path)
        (one.folder / "timestamp.txt").symlink_to("/dev/zero")
        assert one.timestamp is None

    def test_linked_folder_is_a_submission_that_is_set_aside_not_lost(self, tmp_path, course):
        folder = course.submitted / "ada"
        folder.mkdir(parents=True)
        (folder / NAME).symlink_to(tmp_path)
        (one,) = submissions(course, NAME)
        with pytest.raises(Exception, match="symbolic link"):
            _ = one.notebook


class TestOptions:
    def settings(self, course, *lines):
        with (course.root / "nbgrader_config.py").open("a") as file:
            file.write("\n" + "\n".join(lines) + "\n")
        return CourseGrade.of(Course(course.root))

    def test_are_read_from_the_settings_and_the_command_comes_before_them(self, course):
        options = self.settings(
            course, "c.CourseGrade.jobs = 7", "c.CourseGrade.memory_megabytes = 900"
        )
        assert options.jobs == 7
        assert options.limits().memory_megabytes == 900
        assert options.limits(memory_megabytes=100, cell_seconds=None).memory_megabytes == 100
        assert options.limits().cell_seconds == Limits().cell_seconds

    def test_file_of_the_course_names_each_with_its_default(self):
        said = (ROOT / "nbgrader_config.py").read_text()
        for name, trait in CourseGrade.class_own_traits(config=True).items():
            line = re.search(rf"^# c\.CourseGrade\.{name} = (.+)$", said, re.M)[1]
            assert ast.literal_eval(line) == trait.default()

    @pytest.mark.parametrize(
        "line", ["c.CourseGrade.jobs = 'many'", "c.CourseGrade.jobs = -1"], ids=["type", "bound"]
    )
    def test_that_cannot_be_are_an_error_with_the_file(self, course, line):
        with pytest.raises(ConfigError, match=r"nbgrader_config\.py"):
            self.settings(course, line)


class TestCommand:
    def test_shows_each_submission_and_a_summary_and_then_json_for_machines(self, class_of):
        course = class_of("ada", "ben", "cem")
        (course.submitted / "cem" / NAME / f"{NAME}.ipynb").write_text("{")
        feedback = command(course, "01")
        assert feedback.exit_code == 0, feedback.output
        assert f"ada {full(course):g} of {full(course):g}" in feedback.output
        assert "cem set aside" in feedback.output
        assert "wait for a person" in feedback.output
        assert "reports/01-averages.html" in feedback.output
        assert "set c.CourseGrade.book" in feedback.output
        said = json.loads(command(course, "01", "--json", "--force").stdout)
        assert said["complete"] is True
        assert [one["status"] for one in said["submissions"]] == ["graded", "graded", "set aside"]
        assert json.loads(command(course, "01", "--json").stdout)["unchanged"] == [
            *("ada", "ben", "cem")
        ]

    def test_fails_if_the_machine_failed_on_one(self, class_of):
        result = command(class_of("ada", "b" * 129), "01")
        assert result.exit_code == 1
        assert "Nobody got a zero" in result.output

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["99"], "there is no assignment"),
            (["01", "--student", "nobody"], "no submission of nobody"),
            (["01", "--timeout", "0"], "a limit must be a number above 0"),
            (["01", "--timeout", "1000"], "raise c.CourseGrade.total_seconds"),
            (["01", "--db", "sqlite:////nowhere/at/all.db"], "no gradebook"),
            (["01", "--scheduler", "tcp://127.0.0.1:9"], "no Dask scheduler answers"),
        ],
    )
    def test_what_cannot_be_is_an_error_with_its_reason(self, class_of, monkeypatch, words, said):
        monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 0.5)
        result = command(class_of("ada"), *words)
        assert result.exit_code == 2
        assert said in " ".join(result.output.split())
