"""Every line of the threat model, and its class: no cheat pays, no honest notebook loses a point.

All cases of a group that are tried are graded in one run, each with an honest neighbour before and
after it.
"""

import ast
import hashlib
import importlib
import os
import pickle
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import filelock
import pytest
from nbgrader.api import Gradebook
from threat_suite import ASSIGNMENT, CLASSES, Class, cases, hand_in

from course_grader.batch import grade
from course_grader.outcome import Outcome, Status
from course_tasks.runner.limits import Limits

ALL = cases()

# Whatever is handed in: the grader's own process, pytest and its plug-ins included.
MOST_MEGABYTES = 600
# Of which a grader that has read nothing yet takes this much; a process that runs tests holds more.
MEGABYTES_AT_START = 120

# Chapter 08's honest notebooks train a model: whoever takes their time, takes their points.
LONG_ASSIGNMENT = "08-gpt"
HOGS = (
    "neighbours/busy-loops-in-sessions",
    "neighbours/scheduling-groups",
    "neighbours/busy-threads",
)

# For them: twice what an honest notebook takes on two slow cores, and a hog is over sooner than by
# the limits that are usual.
LIMITS_OF_A_LONG_ONE = Limits(cell_seconds=30, total_seconds=60)

# Small, so that what breaks them is over soon; ample for what is honest. Time that other programs
# take counts for nobody.
LIMITS = Limits(cell_seconds=1.5, total_seconds=8, memory_megabytes=700, file_megabytes=128)

# What is graded in one run each: some cases are halves of one trick, and stand in the same class.
GROUPS = (
    ("resources",),
    ("forging", "leaving-out"),
    ("reading", "writing", "grader", "root"),
    ("neighbours", "who-and-when", "nobodys-fault", "people", "honest"),
)

pytestmark = [pytest.mark.slow, pytest.mark.sandbox, pytest.mark.timeout(1800)]


class Graded(NamedTuple):
    """A class, what came of each student, and the grader before it: files, and megabytes more."""

    made: Class
    outcomes: dict[str, Outcome]
    before: dict[str, str]
    megabytes: float


@pytest.fixture(scope="module")
def graded(request, tmp_path_factory, worker_id, testrun_uid):
    """One group's class, which is graded once: processes that share the tests share this, too."""
    own = tmp_path_factory.getbasetemp()
    place = (own if worker_id == "master" else own.parent) / f"threats-{testrun_uid}"
    place.mkdir(exist_ok=True)
    name = request.param[0]
    known = place / f"{name}.pickle"
    with filelock.FileLock(place / f"{name}.lock"):
        if not known.is_file():
            found = grade_group(place / name, tried(request, request.param))
            known.write_bytes(pickle.dumps(tuple(found)))
        return Graded(*pickle.loads(known.read_bytes()))


def tried(request, classes):
    """The cases of some classes that this run of the tests asks for."""
    asked = {
        test.callspec.params["case"].name
        for test in request.session.items
        if getattr(test, "originalname", "")
        == test_case_gets_what_it_deserves_and_harms_nobody.__name__
    }
    return [case for case in ALL if case.name in asked and case.name.partition("/")[0] in classes]


def grade_group(folder, chosen):
    with pytest.MonkeyPatch.context() as patch, hand_in(folder, chosen) as made:
        patch.setenv("HOME", str(made.home))
        # What libraries keep for themselves is no student's doing.
        patch.setenv("MPLCONFIGDIR", str(folder / "matplotlib"))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("COURSE_SECRET", made.loot)
        before = files(made.course.root)
        forget_most_memory()
        held = most_memory()
        summary = grade(made.course, ASSIGNMENT, jobs=2, limits=LIMITS)
        outcomes = {one.student: one for one in summary.outcomes}
        return Graded(made, outcomes, before, most_memory() - held)


def with_case(chosen):
    """One test a case, with what came of its group."""
    group = {name: names for names in GROUPS for name in names}
    return pytest.mark.parametrize(
        ("graded", "case"),
        [(group[case.name.partition("/")[0]], case) for case in chosen],
        ids=[case.name for case in chosen],
        indirect=["graded"],
    )


with_group = pytest.mark.parametrize("graded", GROUPS, ids=lambda one: one[0], indirect=True)


def forget_most_memory():
    """From now on the kernel keeps anew how much memory this process took at most."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def most_memory():
    """Megabytes that this process held at most since then."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def files(root):
    """Every file that grading must leave alone, with a digest."""
    made_by_grading = ("autograded", "feedback", "reports", "gradebook.db", ".grading")
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file() and not str(path.relative_to(root)).startswith(made_by_grading)
    }


def student_of(made, case):
    return next(student for student, one in made.members.items() if one == case)


def test_suite_covers_every_class_with_180_cases_or_more():
    assert len(ALL) >= 180
    assert {case.name.partition("/")[0] for case in ALL} == set(CLASSES)
    assert len({case.threat for case in ALL}) == len(ALL)
    assert sorted(name for names in GROUPS for name in names) == sorted(CLASSES)


@with_case(ALL)
def test_case_gets_what_it_deserves_and_harms_nobody(graded, case):
    made, outcomes = graded.made, graded.outcomes
    student = student_of(made, case)
    outcome = outcomes[student]
    assert outcome.status is not Status.FAILED, outcome.reason
    if case.set_aside or (case.may_be_set_aside and outcome.status is Status.SET_ASIDE):
        assert outcome.status is Status.SET_ASIDE, (outcome.points, outcome.reason)
        assert outcome.tasks == ()
    else:
        assert outcome.status is Status.GRADED, outcome.reason
        reasons = [(task.task, task.points, task.reason) for task in outcome.tasks]
        fewest, most = made.wanted(case)
        assert fewest <= outcome.points <= most, (outcome.points, outcome.reason, reasons)
    assert case.reason in " ".join([outcome.reason, *(task.reason for task in outcome.tasks)])
    assert case.note in " ".join(outcome.notes)
    assert case.shown in made.shown(student)
    assert not made.leaked(student)
    assert not made.unsafe(student)
    neighbours = made.beside(student)
    assert [outcomes[one].points for one in neighbours] == [made.full, made.full]


@with_group
def test_batch_finishes_with_every_student_in_the_gradebook(graded):
    made, outcomes = graded.made, graded.outcomes
    assert set(outcomes) == set(made.members)
    with Gradebook(
        f"sqlite:///{made.course.root}/gradebook.db", "averages-to-transformers"
    ) as book:
        for submission in book.assignment_submissions(ASSIGNMENT):
            grades = submission.notebooks[0].grades
            stored = sum(grade.auto_score or 0 for grade in grades)
            assert stored == outcomes[submission.student.id].points
            assert [grade.manual_score for grade in grades] == [None] * len(grades)
        assert len(book.assignment_submissions(ASSIGNMENT)) == len(made.members)


@with_group
def test_nothing_outside_is_changed(graded):
    made = graded.made
    assert files(made.course.root) == graded.before
    assert [path.name for path in made.home.iterdir()] == ["secret.txt"]


@with_group
def test_nothing_is_left_running(graded):
    made = graded.made
    commands = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            commands.append(Path(f"/proc/{number}/cmdline").read_text(errors="replace"))
        except OSError:  # ended meanwhile
            continue
    assert not [one for one in commands if str(made.course.root) in one]


@with_group
def test_graders_own_memory_stays_small_whatever_is_handed_in(graded):
    assert graded.megabytes < MOST_MEGABYTES - MEGABYTES_AT_START


def test_hogs_cost_nobody_points_where_honest_notebooks_take_long(tmp_path):
    known = {case.name: case for case in ALL}
    # What they get themselves is a matter of their luck; their neighbours' is not.
    hogs = [replace(known[name], points="some") for name in HOGS]
    with pytest.MonkeyPatch.context() as patch, hand_in(tmp_path, hogs, LONG_ASSIGNMENT) as made:
        patch.setenv("HOME", str(made.home))
        for student in (" first", "~ last"):  # one honest notebook before and after each is enough
            del made.members[student]
            shutil.rmtree(made.course.submitted / student)
        summary = grade(made.course, LONG_ASSIGNMENT, jobs=2, limits=LIMITS_OF_A_LONG_ONE)
        outcomes = {one.student: one for one in summary.outcomes}
        for student, case in made.members.items():
            one = outcomes[student]
            if case is None:
                reasons = [(task.task, task.points, task.reason) for task in one.tasks]
                assert one.points == made.full, (student, one.reason, reasons)
            else:
                assert one.status is not Status.FAILED, one.reason


def replaced(source):
    """Names of this course's code that a case puts something else in the place of."""
    code = re.sub(r"^[%!].*$|^.*\?$", "pass", source, flags=re.MULTILINE)
    try:
        tree = ast.parse(code)
    except SyntaxError:  # some are no Python on purpose
        return
    bound = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("course_lib"):
            bound |= {n.asname or n.name: (node.module, n.name) for n in node.names}
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.asname and name.name.startswith("course_lib."):
                    bound[name.asname] = name.name.rpartition(".")[::2]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        if node.value.id in bound:
            yield (*bound[node.value.id], node.attr)


@pytest.mark.parametrize(
    "case", [case for case in ALL if (case.folder / "cells.py").is_file()], ids=lambda c: c.name
)
def test_what_a_case_takes_of_the_library_is_there(case):
    """A trick that fails because something has another name by now proves nothing."""
    for module, name, attribute in replaced((case.folder / "cells.py").read_text("utf-8")):
        package = importlib.import_module(module)
        holder = getattr(package, name, None) or importlib.import_module(f"{module}.{name}")
        assert hasattr(holder, attribute), f"{module}.{name}.{attribute}"
