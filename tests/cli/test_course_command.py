"""The `course` command: what it says, and with which exit code."""

import errno
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from course_grader import doctor
from course_grader.cli import app
from course_grader.course import Course
from course_grader.sandbox import selftest
from course_lib import __version__
from course_lib.data import NAMES, SOURCES, find, play

ROOT = Path(__file__).parents[2]
FIRST = Course(ROOT).assignments[0]
EXERCISE = ROOT / "exercises" / FIRST / f"{FIRST}.ipynb"
SOLUTION = ROOT / "solutions" / FIRST / f"{FIRST}.ipynb"
NO_ROUTE = {f"{scheme}_proxy": "http://127.0.0.1:9" for scheme in ("http", "https", "all")}


def course(*arguments, **environment):
    """Run the command in this process, in a terminal that is wide enough for any line."""
    wide = {"COLUMNS": "300", "TERM": "dumb", "NO_COLOR": "1"}
    return CliRunner().invoke(app, [str(one) for one in arguments], env=wide | environment)


IN_ORDER = (
    *("doctor", "data", "check", "hint", "release", "collect", "roster", "grade", "late"),
    *("regrade", "feedback", "export", "forget", "anonymize"),
)


class TestHelp:
    def test_names_every_command_in_the_order_of_its_use(self):
        text = course("--help").output
        order = [text.index(f"course {name}") for name in IN_ORDER]
        assert order == sorted(order)
        assert course().output.strip() == text.strip()

    @pytest.mark.parametrize("command", IN_ORDER)
    def test_of_a_command_shows_examples_and_exit_codes(self, command):
        result = course(command, "--help")
        assert result.exit_code == 0
        assert re.search(rf"Examples?\s+course {command}\b", result.output)
        assert "Exit code: 0 if" in result.output

    @pytest.mark.slow
    def test_every_command_in_an_example_exists(self):
        known = {command.name or command.callback.__name__ for command in app.registered_commands}
        texts = [
            course(*words).output for words in [["--help"], *([one, "--help"] for one in known)]
        ]
        # In an example, the command begins a line or follows the number of a step.
        named = set(re.findall(r"^[ \d]*course ([a-z-]+)", "\n".join(texts), re.MULTILINE))
        assert known <= named <= known | {group.name for group in app.registered_groups}

    def test_version_is_the_packages(self):
        assert course("--version").output == f"course {__version__}\n"

    def test_answers_without_importing_anything_heavy(self):
        code = (
            "import sys\n"
            "from course_grader.cli import app\n"
            "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
            "heavy = {'torch', 'matplotlib', 'numpy', 'nbformat', 'nbclient', 'nbgrader'}\n"
            "print('HEAVY', sorted(heavy & set(sys.modules)))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.endswith("HEAVY []\n")

    def test_runs_as_a_module_too(self):
        done = subprocess.run(
            [sys.executable, "-m", "course_grader.cli", "--version"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"course {__version__}\n"


def found(*diagnoses):
    return lambda: iter(diagnoses)


class TestDoctor:
    @pytest.mark.slow
    def test_says_of_everything_on_this_machine_whether_it_works(self):
        result = course("doctor")
        assert result.exit_code == 0, result.output
        for name in ("Python", "torch", "kernel", "PATH", "shakespeare", "sandbox", "browser"):
            assert re.search(rf"[✓–✗]\s+{name}\s", result.output), name

    def test_what_students_need_and_is_broken_fails_with_its_remedy(self, monkeypatch):
        broken = doctor.Diagnosis("kernel", doctor.Need.STUDENT, False, "gone", "mend it so")
        monkeypatch.setattr(doctor, "examine", found(broken))
        result = course("doctor")
        assert result.exit_code == 1
        assert "→ mend it so" in result.output
        assert "fix kernel" in result.output

    def test_what_only_others_need_is_told_and_does_not_fail(self, monkeypatch):
        missing = doctor.Diagnosis("sandbox", doctor.Need.INSTRUCTOR, False, "gone", "install it")
        text = doctor.Diagnosis("names", doctor.Need.STUDENT, False, "gone", optional=True)
        monkeypatch.setattr(doctor, "examine", found(missing, text))
        result = course("doctor")
        assert result.exit_code == 0
        assert "→ install it" in result.output
        assert "Only instructors or contributors need: sandbox" in result.output

    def test_package_out_of_range_is_named_with_the_range(self, monkeypatch):
        versions = {"numpy": "1.0"}
        real = doctor.importlib.metadata.version
        monkeypatch.setattr(
            doctor.importlib.metadata, "version", lambda name: versions.get(name) or real(name)
        )
        broken = [one for one in doctor.examine("packages") if not one.works]
        assert [one.name for one in broken] == ["numpy"]
        assert re.fullmatch(r"1\.0; wanted .*>=2\.0.*", broken[0].found)
        assert broken[0].stops_students

    def test_chapter_whose_packages_are_missing_is_named_and_stops_nobody(self, monkeypatch):
        real = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name == "jax" else real(name)
        )
        (chapter,) = doctor.examine("chapters")
        assert chapter.name == "chapter 10"
        assert "graded with jax, not installed" in chapter.found
        assert "[jax]" in chapter.remedy
        assert not chapter.stops_students

    def test_sandbox_that_does_not_work_is_not_believed(self, monkeypatch, tmp_path):
        (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'no namespaces here' >&2\nexit 1\n")
        (tmp_path / "bwrap").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setattr(doctor.sys, "platform", "linux")
        (sandbox,) = doctor.examine("sandbox")
        assert not sandbox.works
        assert "no namespaces here" in sandbox.found
        assert "user namespaces" in sandbox.remedy

    def test_sandbox_with_a_wall_down_is_not_believed(self, monkeypatch):
        down = selftest.Wall("network", False, "reaches eth0", "pull the plug")
        monkeypatch.setattr(selftest, "prove", lambda sandbox, root: [down])
        (sandbox,) = doctor.examine("sandbox")
        assert not sandbox.works
        assert "network: reaches eth0" in sandbox.found
        assert sandbox.remedy == "pull the plug"

    def test_missing_programs_come_with_the_command_that_installs_them(self, monkeypatch, tmp_path):
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(doctor.sys, "platform", "linux")
        sandbox, browser, path = doctor.examine("sandbox", "browser", "path")
        assert (sandbox.works, browser.works, path.works) == (False, False, False)
        assert "install bubblewrap" in sandbox.remedy
        assert "install chromium" in browser.remedy
        assert "activate" in path.remedy

    def test_spoilt_text_is_told_apart_from_a_missing_one(self, monkeypatch, tmp_path):
        (tmp_path / "names.txt").write_text("emma\n")
        monkeypatch.setenv("COURSE_DATA", str(tmp_path))
        monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
        shakespeare, names = doctor.examine("corpora")
        assert "the play is used instead" in shakespeare.found
        assert "cut short" in names.found
        assert not names.stops_students

    @pytest.mark.slow
    def test_works_where_torch_does_not(self):
        code = (
            "import sys\nsys.modules['torch'] = None\n"
            "from course_grader.doctor import examine\n"
            "print([one.name for one in examine() if one.stops_students])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == "['data']"


class TestData:
    def test_without_data_and_network_says_what_was_tried_and_what_to_do(self, tmp_path):
        result = course("data", COURSE_DATA="", COURSE_CACHE=str(tmp_path), **NO_ROUTE)
        assert result.exit_code == 1
        for source in SOURCES.values():
            assert source.url in result.output
        assert "Connect to the network" in result.output

    def test_offline_only_looks(self, tmp_path):
        result = course("data", "--offline", COURSE_DATA="", COURSE_CACHE=str(tmp_path / "none"))
        assert result.exit_code == 1
        assert "course data names" in result.output
        assert not (tmp_path / "none").exists()

    @pytest.mark.parametrize(
        ("name", "characters", "symbols"),
        [("shakespeare", "1,115,394", "65"), ("names", "228,147", "27")],
    )
    def test_a_text_that_is_there_is_shown_with_its_place_and_size(self, name, characters, symbols):
        place = find(name)
        if place is None:
            pytest.skip(f"{name} is not on this machine; set COURSE_DATA or run `course data`")
        result = course("data", name, "--offline")
        assert result.exit_code == 0
        row = re.search(rf"{name}\s+(\S+)\s+(\S+)\s+(\d+)\s+✓ (\w+)", result.output)
        assert row.groups() == (str(place), characters, symbols, SOURCES[name].sha256[:12])

    def test_unknown_text_names_those_there_are(self):
        result = course("data", "hamlet")
        assert result.exit_code == 2
        assert all(name in result.output for name in NAMES)

    @pytest.mark.slow
    def test_play_shows_its_floor_and_what_each_dependency_is_worth(self):
        comedy = play.write()
        result = course("data", "play")
        assert result.exit_code == 0
        assert f"{comedy.floor():.4f}" in result.output
        for one in comedy.dependencies():
            assert re.search(rf"{one.name}\s+{one.length:.0f}\s+{one.worth:.4f}", result.output)


@pytest.mark.slow
class TestCheck:
    def test_solved_notebook_passes(self):
        result = course("check", SOLUTION)
        assert result.exit_code == 0, result.output
        assert "waits for a person" in result.output
        points = re.search(r"^([\d.]+) of ([\d.]+) points$", result.output, re.MULTILINE)
        assert points.group(1) == points.group(2) != "0"

    def test_unfilled_notebook_does_not_and_says_so_of_every_task(self):
        result = course("check", EXERCISE)
        assert result.exit_code == 1
        assert result.output.count("not attempted") == result.output.count("○") >= 4
        assert "not answered yet" in result.output
        assert "0 of " in result.output.splitlines()[-1]

    def test_broken_cell_is_named_with_its_error(self, tmp_path):
        book = nbformat.read(EXERCISE, as_version=4)
        cell = next(c for c in book.cells if "raise NotImplementedError" in c.source)
        cell.source = cell.source.replace("def ", "def (", 1)
        nbformat.write(book, tmp_path / "mine.ipynb")
        result = course("check", tmp_path / "mine.ipynb")
        assert result.exit_code == 1
        assert "is not defined" in result.output
        assert f"The first cell that failed: `{cell.source.splitlines()[0]}`" in result.output
        assert "SyntaxError" in result.output

    def test_missing_file_cannot_be_checked(self, tmp_path):
        result = course("check", tmp_path / "no.ipynb")
        assert result.exit_code == 2
        assert "there is no file" in result.output
        assert "Traceback" not in result.output


class TestRelease:
    @pytest.fixture
    def copied(self, tmp_path):
        shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
        for folder in ("solutions", "exercises"):
            shutil.copytree(ROOT / folder / FIRST, tmp_path / folder / FIRST)
        return tmp_path

    @pytest.mark.slow
    def test_check_passes_on_the_course_itself(self):
        result = course("release", "--check", "--course", ROOT)
        assert result.exit_code == 0, result.output

    def test_check_fails_on_an_edited_exercise_and_release_mends_it(self, copied):
        path = copied / "exercises" / FIRST / f"{FIRST}.ipynb"
        kept = path.read_text()
        path.write_text(kept.replace('"# Exercises', '"# My exercises'))
        result = course("release", "--check", "--course", copied)
        assert result.exit_code == 1
        assert f"exercises/{FIRST}/{FIRST}.ipynb differs" in result.output
        assert course("release", FIRST[:2], "--course", copied).exit_code == 0
        assert path.read_text() == kept
        assert course("release", "--check", "--course", copied).exit_code == 0

    def test_faulty_solution_is_refused_with_every_fault(self, copied):
        path = copied / "solutions" / FIRST / f"{FIRST}.ipynb"
        path.write_text(path.read_text().replace("### END SOLUTION", ""))
        result = course("release", "--course", copied)
        assert result.exit_code == 2
        assert result.output.count("do not match") >= 4
        assert "Traceback" not in result.output

    @pytest.mark.parametrize(
        ("error", "remedy"),
        [
            (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/x"), "make room"),
            (OSError(errno.EROFS, os.strerror(errno.EROFS), "/course/.lock"), "can be written"),
            (
                shutil.Error([("a", "b", f"[Errno 28] {os.strerror(errno.ENOSPC)}: 'b'")]),
                "make room",
            ),
        ],
        ids=["full", "read-only", "full while a folder is copied"],
    )
    def test_what_the_system_refuses_is_said_with_its_remedy(
        self, copied, monkeypatch, error, remedy
    ):
        def refuse(*given, **named):
            raise error

        monkeypatch.setattr("course_grader.grade_command.grade", refuse)
        result = course("grade", FIRST, "--course", copied)
        assert result.exit_code == 2
        assert remedy in result.output
        assert "Traceback" not in result.output

    def test_error_that_nobody_foresaw_keeps_its_traceback(self, copied, monkeypatch):
        def fail(*given, **named):
            raise FileNotFoundError("a fault of the course")

        monkeypatch.setattr("course_grader.grade_command.grade", fail)
        assert isinstance(course("grade", FIRST, "--course", copied).exception, FileNotFoundError)

    def test_outside_of_a_course_says_where_to_go(self, tmp_path):
        result = course("release", "--course", tmp_path)
        assert result.exit_code == 2
        assert "nbgrader_config.py" in result.output
