"""Courses and submissions to try release, check and nbgrader on, none of them in the project."""

import contextlib
import copy
import functools
import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

import nbformat
import pytest
from graded_class import hand_in

from course_grader import batch
from course_grader.course import Course
from course_grader.judge_pool import JudgePool
from course_grader.release import release
from course_grader.sandbox.sandbox import Sandbox

ROOT = Path(__file__).parents[2]
FIRST = "01-averages"


@pytest.fixture
def course(tmp_path):
    """A copy of the course's solutions and settings, with the exercises as they are."""
    root = tmp_path / "course"
    root.mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for folder in ("solutions", "exercises"):
        shutil.copytree(
            ROOT / folder, root / folder, ignore=shutil.ignore_patterns(".ipynb_checkpoints")
        )
    return Course(root)


@pytest.fixture(scope="session")
def started():
    """A sandbox of each form, which all tests share and none of them breaks; started when the first
    one asks for it.
    """
    known = {}
    with contextlib.ExitStack() as stack:

        def of(form):
            if form not in known:
                known[form] = stack.enter_context(Sandbox(form))
            return known[form]

        yield of


@pytest.fixture(scope="session")
def warm(started):
    """The one that is used most."""
    return started("warm")


@pytest.fixture(scope="session")
def running(warm):
    """Judges and a sandbox that all classes share; other tests try its walls."""
    with JudgePool(2) as judges:
        yield judges, warm


class Editable:
    """A notebook of a course, by the grade ids of its cells."""

    def __init__(self, path):
        self.path = path
        self.notebook = nbformat.read(path, as_version=4)

    @property
    def cells(self):
        return self.notebook.cells

    def cell(self, grade_id):
        return next(
            cell
            for cell in self.cells
            if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
        )

    def ids(self, beginning):
        """Grade ids that begin so, in the order of the notebook."""
        ids = [cell.metadata.get("nbgrader", {}).get("grade_id", "") for cell in self.cells]
        return [one for one in ids if one.startswith(beginning)]

    def remove(self, grade_id):
        self.cells.remove(self.cell(grade_id))

    def repeat(self, grade_id):
        again = copy.deepcopy(self.cell(grade_id))
        again.id = "repeated"
        self.cells.append(again)
        return again

    def save(self, path=None):
        target = Path(path or self.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(self.notebook, target)
        return target


@pytest.fixture
def solution(course):
    """The first assignment's solution in the copied course."""
    return Editable(course.solutions / FIRST / f"{FIRST}.ipynb")


@pytest.fixture
def exercise(course):
    """The first assignment as students get it, in the copied course."""
    return Editable(course.exercises / FIRST / f"{FIRST}.ipynb")


@pytest.fixture(scope="session")
def editable():
    """Reads any notebook into the same form."""
    return Editable


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """A course with the first assignment only, entered into its gradebook; to be copied."""
    root = tmp_path_factory.mktemp("template") / "course"
    for folder in ("solutions", "exercises"):
        shutil.copytree(ROOT / folder / FIRST, root / folder / FIRST)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    release(Course(root), FIRST, gradebook=True)
    return root


@pytest.fixture
def entered(template, tmp_path):
    """A course of one assignment that is in the gradebook."""
    shutil.copytree(template, tmp_path / "course")
    return Course(tmp_path / "course")


def programs():
    """The folder of PostgreSQL's programs, or None."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    return next(
        (p for p in [*places, *([Path(found).parent] if found else [])] if (p / "initdb").exists()),
        None,
    )


@pytest.fixture(scope="session")
def postgres_server():
    """Makes empty databases, by name, on a PostgreSQL that runs for these tests only."""
    pytest.importorskip("psycopg", reason="no psycopg: pip install -r requirements-test.txt")
    where = programs()
    if where is None:
        pytest.skip("no PostgreSQL: sudo apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="course-postgres-"))  # pytest's own are for root alone
    as_who = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        import pwd

        try:
            nobody = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("running as root, and there is no user postgres")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        as_who = {"user": nobody.pw_uid, "group": nobody.pw_gid}

    def call(*command):
        done = subprocess.run(
            [str(where / command[0]), *command[1:]],
            cwd=folder,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            stdout=subprocess.PIPE if command[0] != "pg_ctl" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            **as_who,
        )
        assert done.returncode == 0, done.stdout

    call(
        "initdb",
        "-D",
        str(folder / "data"),
        "-U",
        "grader",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--no-sync",
    )
    options = f"-c listen_addresses='' -c fsync=off -k {folder}"
    log = str(folder / "log")
    call("pg_ctl", "-D", str(folder / "data"), "-o", options, "-l", log, "-w", "start")
    try:

        def make(name):
            call("createdb", "-h", str(folder), "-U", "grader", name)
            return f"postgresql+psycopg://grader@/{name}?host={folder}"

        yield make
    finally:
        call("pg_ctl", "-D", str(folder / "data"), "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder)


@pytest.fixture
def postgres(postgres_server):
    """Address of an empty database of PostgreSQL."""
    return postgres_server(f"class_{secrets.token_hex(8)}")


@pytest.fixture
def inbox(tmp_path):
    """An empty folder for what students hand in."""
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder


@pytest.fixture(scope="module", params=["warm", "cold"])
def sandbox(request, started):
    """The two forms in which runs have namespaces of their own, one after the other."""
    return started(request.param)


@pytest.fixture
def shared(running, monkeypatch):
    """Classes are graded with the judges and the sandbox that all tests share."""
    starting = batch.starting

    @contextlib.contextmanager
    def started(form, course, scheduler, url=None):
        judges, sandbox = running
        if form != sandbox.form or scheduler:
            with starting(form, course, scheduler, url) as ready:
                yield ready
        else:
            yield batch.Start(lambda: judges, lambda: sandbox)

    monkeypatch.setattr(batch, "starting", started)


@pytest.fixture
def class_of(entered, shared):
    """Makes a released assignment with submissions: every second one solved."""
    return functools.partial(hand_in, entered)
