"""Tests that take turns run as soon as anything changes that they depend on, and are left out only
after they have passed.
"""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import subjects
import turns

ROOT = Path(__file__).parents[2]
SOLUTION = "solutions/05-head/05-head.ipynb"
FILES = (
    "course_lib/model.py",
    "course_tasks/ch05_head/scores.py",
    "course_tasks/ch06_heads/merge.py",
    "course_judges/judging.py",
    "course_judges/ch05_head/scores.py",
    "course_judges/ch06_heads/merge.py",
    "course_figures/averaging.py",
    "course_figures/averaging.js",
    "course_figures/model.safetensors",
    "book/_assets/live_model.html",
    "benchmarks/results/speed.json",
    "benchmarks/results/other.json",
    "tests/notebooks/sanitize.cfg",
    "requirements-lock.txt",
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project of small files."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("torch==2.13.0\n")
    monkeypatch.setattr(subjects, "ROOT", tmp_path)
    subjects.forget()
    yield tmp_path
    subjects.forget()


def digest(notebook, data="corpora"):
    subjects.forget()
    return subjects.digest_of_notebook(notebook, data)


def write(path, code, *, output="5", prose="Text.", tags=()):
    shown = {"output_type": "stream", "name": "stdout", "text": output}
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": prose},
        {
            "cell_type": "code",
            "metadata": {"tags": list(tags)},
            "source": code,
            "outputs": [shown],
        },
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": cells}))
    return path


@pytest.fixture
def notebook(root):
    """A chapter with a figure and with numbers that were measured."""
    code = """import course_lib.model, course_figures\nPath("../benchmarks/results/speed.json")"""
    return write(root / "book/05-head.ipynb", code)


def test_prose_and_what_only_pages_load_leave_a_comparison_as_good_as_it_was(root, notebook):
    before = digest(notebook)
    code = json.loads(notebook.read_text())["cells"][1]["source"]
    write(notebook, code, prose="Other text.")
    (root / "course_figures/averaging.js").write_text("other")
    (root / "benchmarks/results/other.json").write_text("other")
    (root / "course_judges/judging.py").write_text("other")
    (root / "course_lib/.model.py.swp").write_text("other")
    assert digest(notebook) == before
    assert digest(notebook, "play") != before


@pytest.mark.parametrize(
    "changed",
    [
        "course_lib/model.py",
        "course_figures/averaging.py",
        "course_figures/model.safetensors",
        "book/_assets/live_model.html",
        "benchmarks/results/speed.json",
        "tests/notebooks/sanitize.cfg",
    ],
)
def test_file_that_a_notebook_uses_counts(root, notebook, changed):
    before = digest(notebook)
    (root / changed).write_text("other")
    assert digest(notebook) != before


def test_new_file_of_the_library_counts(root, notebook):
    before = digest(notebook)
    (root / "course_lib/new.py").write_text("")
    assert digest(notebook) != before


@pytest.mark.parametrize(
    "changed", [{"code": "import course_lib"}, {"output": "6"}, {"tags": ["nbval-ignore-output"]}]
)
def test_code_output_and_tags_of_a_notebook_count(notebook, changed):
    before = digest(notebook)
    code = json.loads(notebook.read_text())["cells"][1]["source"]
    write(notebook, **{"code": code, **changed})
    assert digest(notebook) != before


def test_other_version_counts_and_another_build_of_the_same_does_not(notebook, monkeypatch):
    before = digest(notebook)
    installed = subjects.importlib.metadata.version("torch").partition("+")[0]
    for version, same in ((f"{installed}+cu126", True), ("99.0", False)):
        monkeypatch.setattr(subjects.importlib.metadata, "version", lambda _, v=version: v)
        assert (digest(notebook) == before) == same


def test_solution_depends_on_tasks_and_judges_of_its_own_chapter(root):
    path = write(root / SOLUTION, "from course_tasks import check")
    before = digest(path)
    for name, counts in {
        "course_judges/ch06_heads/merge.py": False,
        "course_tasks/ch06_heads/merge.py": False,
        "course_judges/ch05_head/scores.py": True,
        "course_tasks/ch05_head/scores.py": True,
        "course_judges/judging.py": True,
        "course_lib/model.py": True,
    }.items():
        (root / name).write_text("other")
        assert (digest(path) != before) == counts, name
        (root / name).write_text("torch==2.13.0\n")


def test_package_that_nobody_counts_is_refused(root):
    with pytest.raises(ValueError, match="course_other"):
        digest(write(root / "book/01.ipynb", "import course_other"))


class Asked:
    """What `subjects` asks of a test of pytest's."""

    def __init__(self, path, **parameters):
        self.path, self.name = ROOT / path, "test"
        if parameters:
            self.callspec = type("Parameters", (), {"params": parameters})


CASE = type("Case", (), {"name": "forging/always-equal"})


@pytest.mark.parametrize(
    ("find", "test", "counts", "does_not"),
    [
        (
            subjects.task,
            Asked("tests/tasks/test_judgement.py", task="07/residual"),
            [
                "course_lib/model.py",
                "course_tasks/probing.py",
                "course_tasks/ch07_block/residual.py",
                "course_judges/judging.py",
                "course_judges/ch07_block/residual.py",
                "tests/tasks/students/ch07_block/residual.py",
                "tests/tasks/unlisted/set_03/ch07.py",
                "tests/tasks/conftest.py",
                "tests/tasks/test_judgement.py",
            ],
            [
                "course_tasks/ch08_gpt/train.py",
                "course_judges/ch08_gpt/train.py",
                "tests/tasks/students/ch08_gpt/train.py",
                "tests/tasks/test_unlisted.py",
                "course_grader/batch.py",
            ],
        ),
        (
            subjects.all_tasks,
            Asked("tests/tasks/test_unlisted.py"),
            ["course_judges/ch08_gpt/train.py", "tests/tasks/unlisted/set_01/ch01.py"],
            ["course_grader/batch.py"],
        ),
        (
            subjects.mutants,
            Asked("tests/tasks/test_mutants.py"),
            [
                "solutions/02-affinities/02-affinities.ipynb",
                "benchmarks/equivalent_mutants.toml",
                "benchmarks/mutant_runs.py",
                "benchmarks/solutions.py",
            ],
            ["benchmarks/speedrun.py"],
        ),
        (
            subjects.tasks_and_all_callables,
            Asked("tests/tasks/test_library_holds_no_answer.py", chapter="07"),
            ["course_lib/plots.py", "course_tasks/ch08_gpt/train.py"],
            ["course_judges/ch08_gpt/train.py"],
        ),
        (
            subjects.threat,
            Asked("tests/threats/test_threats.py", case=CASE),
            [
                "course_grader/batch.py",
                "course_grader/sandbox/bubblewrap.py",
                "course_tasks/runner/seccomp.py",
                "course_lib/model.py",
                "course_judges/judging.py",
                "course_judges/ch04_bigram/sample.py",
                "solutions/04-bigram/04-bigram.ipynb",
                "tests/threats/cases/forging/always-equal/cells.py",
                "tests/threats/test_threats.py",
            ],
            ["course_judges/ch07_block/residual.py", "course_figures/averaging.py"],
        ),
        (
            subjects.grading,
            Asked("tests/grading/test_class.py"),
            [
                "course_grader/batch.py",
                "course_judges/ch07_block/residual.py",
                "course_lib/model.py",
                "solutions/01-averages/01-averages.ipynb",
                "exercises/13-two-sequences/13-two-sequences.ipynb",
                "examples/figures.ipynb",
                "nbgrader_config.py",
                "book/instructors-term.md",
                "tests/grading/graded_class.py",
                "tests/grading/test_class.py",
                "tests/tasks/students/ch07_block/residual.py",
            ],
            ["tests/grading/test_batch.py", "book/07-block.ipynb", "benchmarks/speedrun.py"],
        ),
        (
            subjects.site,
            Asked("tests/book/test_links.py"),
            [
                "book/07-block.ipynb",
                "book/trouble.md",
                "_toc.yml",
                "README.md",
                "setup/book_site.py",
                "solutions/01-averages/01-averages.ipynb",
                "course_judges/ch07_block/residual.py",
                "benchmarks/results/threats.md",
                "tests/book/reader.py",
                "tests/book/test_links.py",
            ],
            ["tests/book/test_here.py", "benchmarks/speedrun.py"],
        ),
        (
            subjects.figure,
            Asked("tests/figures/test_averaging.py"),
            ["course_figures/runtime/frame.js", "course_lib/model.py", "tests/figures/answers.py"],
            ["tests/figures/test_windows.py", "course_grader/batch.py"],
        ),
        (
            subjects.page,
            Asked("tests/book/test_pages.py", name="book/07-block"),
            ["book/07-block.ipynb", "book/_ext/task_badges.py", "_toc.yml", "setup/book_site.py"],
            ["book/08-gpt.ipynb", "course_grader/batch.py"],
        ),
        (
            subjects.page,
            Asked("tests/book/test_pages.py"),
            ["book/07-block.ipynb", "book/trouble.md", "exercises/01-averages/01-averages.ipynb"],
            ["course_grader/batch.py"],
        ),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_each_kind_of_test_counts_what_it_depends_on(monkeypatch, find, test, counts, does_not):
    """As if one file after the other had changed."""
    subjects.forget()
    before, content = find(test).digest, subjects.content_of
    for name in counts + does_not:
        changed = ROOT / name
        assert changed.is_file(), name

        def edited(path, changed=changed):
            return "other" if path == changed else content(path)

        edited.cache_clear = lambda: None
        with monkeypatch.context() as patch:
            patch.setattr(subjects, "content_of", edited)
            subjects.forget()
            assert (find(test).digest != before) == (name in counts), name
    subjects.forget()


def test_answers_to_tasks_of_a_chapter_take_nothing_from_another():
    """Otherwise a change in that other chapter would have to run them."""
    for path in [
        *ROOT.glob("tests/tasks/students/ch*/*.py"),
        *ROOT.glob("tests/tasks/unlisted/**/ch*.py"),
    ]:
        own = re.search(r"ch\d\d", path.relative_to(ROOT).as_posix())[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                named = f"{node.module} {' '.join(one.name for one in node.names)}"
            elif isinstance(node, ast.Import):
                named = " ".join(one.name for one in node.names)
            else:
                continue
            assert set(re.findall(r"\bch\d\d", named)) <= {own}, f"{path.name}: {named}"


CONFTEST = """
from pathlib import Path

import subjects
import turns

subjects.ROOT = turns.ROOT = Path(__file__).parent
turns.RECORD = turns.ROOT / "record.json"
pytest_addoption = turns.add_options

def pytest_configure(config):
    config.pluginmanager.register(turns.Turns(config), "turns")
"""

MODULE = """
import os
import pytest
import subjects

def of(test):
    chapter = test.callspec.params["chapter"]
    files = subjects.files_of("code", chapters=(chapter,))
    return subjects.Subject(chapter, subjects.digest_of(files=files), test.name)

@pytest.mark.turns(of=of)
@pytest.mark.parametrize("number", [pytest.param(n, marks=pytest.mark.late) for n in range(6)])
@pytest.mark.parametrize("chapter", ["01", "02"])
def test_code(chapter, number):
    place = subjects.ROOT / "code" / f"ch{chapter}_one.txt"
    assert place.read_text() != "broken"
    if os.environ.get("EDITS") == chapter:
        place.write_text("edited while its tests run")

def test_always():
    pass
"""


class Project:
    """A project of 13 tests, 12 of which take turns: of two chapters with six each."""

    def __init__(self, folder):
        self.folder = folder
        for name, text in {
            "conftest.py": CONFTEST,
            "test_code.py": MODULE,
            "requirements-lock.txt": "pytest==8\n",
            "pytest.ini": "[pytest]\nmarkers =\n  turns\n  late\n",
            "code/ch01_one.txt": "right",
            "code/ch02_one.txt": "right",
        }.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)

    def run(self, *options, **environment):
        """The words in which pytest sums up, and what it said."""
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
            cwd=self.folder,
            env=os.environ
            | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT / "tests" / "turns")}
            | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        found = re.findall(r"(\d+) (passed|failed)", said.splitlines()[-1])
        return {word: int(number) for number, word in found}, said

    @property
    def known(self):
        record = self.folder / "record.json"
        return json.loads(record.read_text())["test_code.py"] if record.is_file() else {}


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


@pytest.mark.slow  # twenty runs of pytest
class TestRuns:
    def test_what_has_passed_takes_turns_until_its_files_change(self, project):
        # Two processes share the tests; the one that started them writes the record.
        assert project.run("-p", "xdist", "-n", "2", "--record")[0] == {"passed": 13}
        assert set(project.known) == {"01", "02"}
        for turn in range(turns.TURNS):
            shared = ("-p", "xdist", "-n", "2") if turn == 0 else ()
            counts, said = project.run(f"--turn={turn}", "-vv", *shared)
            assert counts == {"passed": 3}
            assert f"again: --turn={turn}" in said
            assert "10 tests were left out" in said
            numbers = {int(one) for one in re.findall(r"test_code\[01-(\d)", said)}
            assert numbers == {turn}
        for _ in range(3):  # each draws a turn, which both processes have to take
            assert project.run("-p", "xdist", "-n", "2")[0] == {"passed": 3}
        assert project.run("--all")[0] == {"passed": 13}
        (project.folder / "code/ch01_one.txt").write_text("broken")
        assert project.run("--turn=0")[0] == {"failed": 6, "passed": 2}
        (project.folder / "code/ch01_one.txt").write_text("changed")
        assert project.run("--turn=0")[0] == {"passed": 8}
        (project.folder / "requirements-lock.txt").write_text("pytest==8\nnumpy==1\n")
        assert project.run("--turn=0")[0] == {"passed": 13}

    def test_only_what_has_wholly_passed_as_it_is_is_recorded(self, project):
        (project.folder / "code/ch01_one.txt").write_text("broken")
        assert project.run("--record")[0] == {"failed": 6, "passed": 7}
        assert set(project.known) == {"02"}
        (project.folder / "record.json").unlink()
        assert project.run("--record", "-m", "not late")[0] == {"passed": 1}
        assert not project.known
        (project.folder / "code/ch01_one.txt").write_text("right")
        assert project.run("--record", EDITS="01")[0] == {"passed": 13}
        assert set(project.known) == {"02"}

    def test_whoever_names_tests_has_them_run(self, project):
        assert project.run("--record")[0] == {"passed": 13}
        assert project.run("-k", "01-3")[0] == {"passed": 1}
        assert project.run("test_code.py::test_code")[0] == {"passed": 12}
        assert "whole modules" in project.run("--record", "-k", "01")[1]
        assert "all draws" in project.run("--record", COURSE_TEST_DRAWS="1")[1]

    @pytest.mark.parametrize(
        "content", ["", "{", "<<<<<<< ours\n{}\n", "[]", '{"test_code.py": 3}']
    )
    def test_record_that_says_nothing_makes_all_run(self, project, content):
        (project.folder / "record.json").write_text(content)
        assert project.run("--turn=0")[0] == {"passed": 13}
