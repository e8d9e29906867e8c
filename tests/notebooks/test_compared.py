"""A notebook is run again as soon as anything changes that its outputs follow from."""

import json

import compared
import pytest

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
    """A project of small files, of which nothing has been compared."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("torch==2.13.0\n")
    monkeypatch.setattr(compared, "ROOT", tmp_path)
    monkeypatch.setattr(compared, "RECORD", tmp_path / "compared.json")
    compared.environment.cache_clear()
    yield tmp_path
    compared.environment.cache_clear()


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
    """A chapter with a figure and with numbers that were measured; it has been compared."""
    code = """import course_lib.model, course_figures\nPath("../benchmarks/results/speed.json")"""
    path = write(root / "book/05-head.ipynb", code)
    compared.record(path, "corpora", compared.digest_of(path, "corpora"))
    assert compared.is_known(path, "corpora")
    return path


def test_prose_and_what_only_pages_load_leave_a_comparison_as_good_as_it_was(root, notebook):
    code = json.loads(notebook.read_text())["cells"][1]["source"]
    write(notebook, code, prose="Other text.")
    (root / "course_figures/averaging.js").write_text("other")
    (root / "benchmarks/results/other.json").write_text("other")
    (root / "course_judges/judging.py").write_text("other")
    assert compared.is_known(notebook, "corpora")
    assert not compared.is_known(notebook, "play")


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
def test_file_that_a_notebook_uses_makes_it_unknown(root, notebook, changed):
    (root / changed).write_text("other")
    assert not compared.is_known(notebook, "corpora")


def test_new_file_of_the_library_makes_it_unknown(root, notebook):
    (root / "course_lib/new.py").write_text("")
    assert not compared.is_known(notebook, "corpora")


@pytest.mark.parametrize(
    "changed", [{"code": "import course_lib"}, {"output": "6"}, {"tags": ["nbval-ignore-output"]}]
)
def test_code_output_and_tags_make_it_unknown(notebook, changed):
    code = json.loads(notebook.read_text())["cells"][1]["source"]
    write(notebook, **{"code": code, **changed})
    assert not compared.is_known(notebook, "corpora")


def test_other_version_makes_it_unknown_and_another_build_of_the_same_does_not(
    notebook, monkeypatch
):
    installed = compared.importlib.metadata.version("torch").partition("+")[0]
    for version, known in ((f"{installed}+cu126", True), ("99.0", False)):
        monkeypatch.setattr(compared.importlib.metadata, "version", lambda _, v=version: v)
        compared.environment.cache_clear()
        assert compared.is_known(notebook, "corpora") == known


def test_solution_depends_on_tasks_and_judges_of_its_own_chapter(root):
    path = write(root / SOLUTION, "from course_tasks import check")
    known = compared.digest_of(path, "corpora")
    for name, counts in {
        "course_judges/ch06_heads/merge.py": False,
        "course_tasks/ch06_heads/merge.py": False,
        "course_judges/ch05_head/scores.py": True,
        "course_tasks/ch05_head/scores.py": True,
        "course_judges/judging.py": True,
        "course_lib/model.py": True,
    }.items():
        (root / name).write_text("other")
        assert (compared.digest_of(path, "corpora") != known) == counts, name
        (root / name).write_text("torch==2.13.0\n")


@pytest.mark.parametrize(
    "content", ["", "{", "<<<<<<< ours\n{}\n", "[]", '{"book/05-head.ipynb": 3}']
)
def test_record_that_says_nothing_makes_all_unknown(notebook, content):
    compared.RECORD.write_text(content)
    assert not compared.is_known(notebook, "corpora")


def test_package_that_nobody_counts_is_refused(root):
    with pytest.raises(ValueError, match="course_other"):
        compared.digest_of(write(root / "book/01.ipynb", "import course_other"), "corpora")
