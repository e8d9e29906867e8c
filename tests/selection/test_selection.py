"""`make test` runs the same part every time, and beside it what a change touches; `make test-all`
runs everything, in parts for several machines, and goes on where it ended.
"""

import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import families
import pytest
import selecting
from changes import LATEST, UnknownRevisionError, changes

HERE = Path(__file__).parent
FIGURE = "tests/figures/test_averaging.py"
COUNT = 30

# A module of a family, of which a part runs, beside one that every run runs.
TESTS = {
    "tests/conftest.py": """
import pytest, selecting

def pytest_addoption(parser):
    selecting.add_options(parser)

def pytest_configure(config):
    config.pluginmanager.register(selecting.Selection(config), "selection")
""",
    FIGURE: f"""
import pytest
from pathlib import Path

@pytest.mark.browser
@pytest.mark.parametrize("number", range({COUNT}))
def test_figure(number):
    assert number != 7 or "broken" not in Path("course_figures/averaging.js").read_text()
""",
    "tests/test_small.py": "def test_small(): pass\n",
    "course_figures/averaging.js": "drawn",
    "course_lib/model.py": "",
    "requirements-lock.txt": "",
    ".gitignore": ".pytest_cache\n__pycache__\n",
    "pyproject.toml": """
[tool.pytest.ini_options]
addopts = "--import-mode=importlib"
pythonpath = ["tests/selection"]
markers = ["browser"]
""",
}


def git(root, *arguments):
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", root, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"GIT_CONFIG_GLOBAL": os.devnull},
    )
    return done.stdout.strip()


def commit(root, name, content):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", name)


@pytest.fixture
def work(tmp_path):
    """A repository with one commit on its main line."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch", "main")
    commit(root, "old.txt", "old")
    return root


class TestChanges:
    def test_on_a_branch_they_are_what_the_branch_did(self, work):
        git(work, "switch", "--quiet", "--create", "idea")
        commit(work, "a.txt", "a")
        commit(work, "b.txt", "b")
        git(work, "switch", "--quiet", "main")
        commit(work, "others.txt", "others")
        git(work, "switch", "--quiet", "idea")
        (work / "new.txt").write_text("new")
        (work / "old.txt").write_text("edited")
        found = changes(work)
        assert found.files == ("a.txt", "b.txt", "new.txt", "old.txt")
        assert "main" in found.since

    def test_a_remote_main_line_counts_before_the_own_one(self, work, tmp_path):
        clone = tmp_path / "clone"
        git(tmp_path, "clone", "--quiet", str(work), str(clone))
        commit(clone, "a.txt", "a")  # on main, but not landed
        assert changes(clone).files == ("a.txt",)
        assert "origin" in changes(clone).since

    def test_on_the_main_line_they_are_what_is_not_committed(self, work):
        commit(work, "a.txt", "a")
        (work / "old.txt").unlink()
        assert changes(work).files == ("old.txt",)

    def test_on_a_clean_main_line_they_are_the_latest_commits(self, work):
        names = [f"{number}.txt" for number in range(LATEST + 2)]
        for name in names:
            commit(work, name, name)
        assert changes(work).files == tuple(names[-LATEST:])
        assert str(LATEST) in changes(work).since

    def test_a_clone_without_history_and_a_folder_without_git_know_of_none(self, work, tmp_path):
        shallow = tmp_path / "shallow"
        commit(work, "a.txt", "a")
        git(tmp_path, "clone", "--quiet", "--depth", "1", work.as_uri(), str(shallow))
        assert changes(shallow).files == ()
        assert "one commit" in changes(shallow).since
        shutil.rmtree(work / ".git")
        assert changes(work).files == ()
        assert "does not know this folder" in changes(work).since

    def test_they_are_those_since_a_revision_that_is_named(self, work):
        git(work, "tag", "v1")
        commit(work, "a.txt", "a")
        assert changes(work, "v1").files == ("a.txt",)
        with pytest.raises(UnknownRevisionError, match="SINCE=v2: git knows no such revision"):
            changes(work, "v2")


@pytest.fixture
def project(work):
    """A project with tests of its own, on a branch that has changed nothing yet that they name."""
    shutil.copytree(HERE, work / "tests/selection", ignore=shutil.ignore_patterns("test_*", "_*"))
    for name, content in TESTS.items():
        commit(work, name, content)
    git(work, "switch", "--quiet", "--create", "idea")
    commit(work, "idea.txt", "")
    return work


def run(project, *options, **environment):
    """How many tests passed, and what pytest said."""
    ours = ("PYTEST_", "SINCE", "COURSE_TEST_DRAWS")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:nbval", "-p", "no:anyio", *options],
        cwd=project,
        env=clean | {"PYTHONDONTWRITEBYTECODE": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    return int(passed[1]) if passed else 0, done.stdout + done.stderr


@pytest.mark.slow  # pytest starts a dozen times
def test_a_part_runs_every_time_and_whole_what_a_change_touches(project):
    part, said = run(project, "tests")
    assert 1 < part < COUNT // 2
    assert "what 1 changed files touch" in said
    assert run(project, "tests")[0] == part
    # Something that no test is named after leaves the part as it is.
    commit(project, "course_lib/model.py", "x = 1")
    assert run(project, "tests")[0] == part
    commit(project, "course_figures/averaging.js", "drawn anew")
    passed, said = run(project, "tests", "-n2")
    assert passed == COUNT + 1
    assert "since this branch left main" in said
    # Whoever names tests gets them.
    assert run(project, "tests", "-k", "test_figure")[0] == COUNT


@pytest.mark.slow
def test_what_ten_minutes_do_not_reach_is_said_with_the_command_that_runs_it(project):
    part, _ = run(project, "tests")
    figure = families.Test("figures/test_averaging.py", "test", {}, frozenset(["browser"]))
    many = TESTS[FIGURE].replace(f"range({COUNT})", "range(400)")
    assert 200 * families.seconds_of(figure) > families.MOST_TOUCHED_SECONDS
    commit(project, FIGURE, many)
    passed, said = run(project, "tests", "-n2")
    assert part + 100 < passed < 300
    (line,) = [one for one in said.splitlines() if one.startswith("Left out")]
    assert f"{400 - passed + 1} tests" in line
    asked = re.search(r'make test-all ARGS="(.+)" runs them', line)[1]
    assert run(project, "--all", "--fresh", asked)[0] == 400


@pytest.mark.slow
def test_everything_runs_in_parts_that_are_whole_together(project):
    commit(project, "tests/test_other.py", "def test_other(): pass\n")
    parts = [run(project, "tests", "--all", f"--shard={n}/2", "--fresh")[0] for n in (1, 2)]
    assert sum(parts) == COUNT + 2
    assert min(parts) >= 1
    _, said = run(project, "tests", "--all", "--shard=3/2")
    assert "--shard" in said


@pytest.mark.slow
def test_what_has_passed_here_runs_again_only_when_something_that_it_reads_changes(project):
    assert run(project, "tests", "--all", "-n2")[0] == COUNT + 1
    passed, said = run(project, "tests", "--all", "-n2")
    assert passed == 0
    assert f"but for {COUNT + 1} that have passed here" in said
    assert run(project, "tests", "--all", "--fresh")[0] == COUNT + 1
    # A figure reads nothing of this; a test of no family may read anything.
    commit(project, "course_judges/judging.py", "x = 1")
    assert run(project, "tests", "--all")[0] == 1
    # What fails is not kept, though others of its module pass.
    commit(project, "course_figures/averaging.js", "broken")
    assert run(project, "tests", "--all")[0] == COUNT
    passed, said = run(project, "tests", "--all")
    assert passed == 0
    assert "1 failed" in said


def test_a_part_of_a_family_is_the_same_on_every_machine():
    tests = [numbered(n) for n in range(600)]
    chosen = [test.case for test in families.one_in(6)(tests)]
    assert 70 < len(chosen) < 130
    assert chosen == [f"{n}" for n in range(600) if zlib.crc32(f"test[{n}]".encode()) % 6 == 0]
    # New tests change nothing for the others.
    more = [numbered(-1), *tests]
    assert {test.case for test in families.one_in(6)(more)} - {"-1"} == set(chosen)
    # Nor does what another process, or a folder of another name, calls a parameter.
    elsewhere = [numbered(n, {"answer": lambda: None, "path": Path(f"/{n}")}) for n in range(600)]
    assert [test.case for test in families.one_in(6)(elsewhere)] == chosen


def numbered(n, params=None, name="test"):
    return families.Test("m", name, params or {}, frozenset(), f"{n}")


def test_of_each_kind_there_is_one_at_least():
    kinds = [numbered(n, name=f"test_{n // 3}") for n in range(90)]
    chosen = list(families.one_in(50)(kinds))
    assert {test.name for test in chosen} == {f"test_{n}" for n in range(30)}
    assert len(chosen) < 40


def test_what_is_shown_at_less_cost_is_there_and_so_is_what_shows_it():
    for pattern, others in families.AT_LESS_COST.items():
        module, _, name = pattern.partition("::")
        text = (HERE.parent / module).read_text(encoding="utf-8")
        assert f"def {name.rstrip('*')}" in text, pattern
        for other in re.findall(r"test_\w+\.py", others):
            assert (HERE.parent / module).with_name(other).is_file(), f"{pattern}: {other}"


def test_what_always_runs_is_there():
    for pattern in families.ALWAYS:
        module, _, name = pattern.partition("::")
        text = (HERE.parent / module).read_text(encoding="utf-8")
        assert f"def {name.rstrip('*')}" in text, pattern


def test_of_what_takes_seconds_half_of_each_module_runs_and_what_always_does():
    marks = frozenset(["sandbox"])
    tests = [
        families.Test(f"grading/test_{n // 10}.py", f"test_{n % 10}", {}, marks) for n in range(90)
    ]
    wall = families.Test("grading/test_selftest.py", "test_every_wall_holds", {}, marks)
    chosen = selecting.fixed_part([*tests, wall])
    assert wall in chosen
    assert {test.module for test in chosen} == {test.module for test in [*tests, wall]}
    assert 30 < len(chosen) < 60


@pytest.mark.parametrize("text", ["0/4", "5/4", "2", "a/b", "2/4/8", ""])
def test_part_that_there_is_not_is_refused_in_words(text):
    with pytest.raises(ValueError, match=f"SHARD={text}: write which part of how many"):
        selecting.shard(text)
