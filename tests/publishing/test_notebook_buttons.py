"""The row of buttons under the title of an exercise page, and where a notebook's imports are."""

import subprocess
import zipfile

import pytest
from notebook_buttons import advice, buttons, with_advice
from reader import ROOT

from setup import course_archive

PAGE = "exercises/01-averages/01-averages"


def labels(*arguments):
    return [button.label for button in buttons(*arguments)]


def test_without_a_repository_notebook_and_course_come_from_the_site():
    notebook, course = buttons(PAGE, "", "main")
    assert notebook.address == "_sources/exercises/01-averages/01-averages.ipynb"
    assert notebook.download == "01-averages.ipynb"
    assert course.address == course.download == course_archive.name()


@pytest.mark.parametrize("ending", ["", "/", ".git"])
def test_with_a_repository_colab_and_binder_open_this_very_notebook(ending):
    _, colab, binder, clone = buttons(PAGE, f"https://github.com/ada/course{ending}", "main")
    assert clone.address == f"https://github.com/ada/course{ending}"
    assert colab.address == (
        "https://colab.research.google.com/github/ada/course/blob/main/"
        "exercises/01-averages/01-averages.ipynb"
    )
    assert binder.address == (
        "https://mybinder.org/v2/gh/ada/course/main"
        "?urlpath=lab/tree/exercises/01-averages/01-averages.ipynb"
    )


def test_a_branch_with_a_slash_stays_one_part_of_the_address():
    _, colab, binder, _ = buttons(PAGE, "https://github.com/ada/course", "term/2026")
    assert "/blob/term%2F2026/exercises/" in colab.address
    assert "/gh/ada/course/term%2F2026?" in binder.address


@pytest.mark.parametrize(
    "repository",
    ["https://example.org/ada/course", "https://github.com", "https://github.com/ada", "course"],
)
def test_an_address_that_colab_cannot_open_gets_no_button(repository):
    assert labels(PAGE, repository, "main") == ["Download the notebook", "Clone the course"]


@pytest.mark.parametrize("page", ["book/01-averages", "book/index", "search"])
def test_other_pages_have_no_buttons(page):
    assert buttons(page, "https://github.com/ada/course", "main") == []


@pytest.mark.parametrize("repository", ["", "https://github.com/ada/course"])
def test_downloaded_notebook_says_in_its_first_cell_how_to_get_what_it_imports(repository):
    notebook = {"cells": [{"cell_type": "markdown", "source": ["# Exercises\n", "Six tasks."]}]}
    text = "".join(with_advice(notebook, repository)["cells"][0]["source"])
    assert text.startswith("# Exercises\nSix tasks.\n\n")
    assert "make lab" in text
    installed = f"git+{repository}" if repository else f"./{course_archive.name()}"
    assert f"%pip install {installed}\n" in text
    assert "OWNER" not in advice(repository)


@pytest.mark.slow
def test_archive_of_the_course_holds_what_installs_it_and_no_solution(tmp_path):
    path = course_archive.write(ROOT, tmp_path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    folder = path.stem
    for needed in ("Makefile", "pyproject.toml", "course_lib/__init__.py", "setup/environment.sh"):
        assert f"{folder}/{needed}" in names
    assert f"{folder}/exercises/01-averages/01-averages.ipynb" in names
    assert {name.split("/")[0] for name in names} == {folder}
    assert not [name for name in names if "solutions/" in name or "__pycache__" in name]
    first = path.read_bytes()
    assert course_archive.write(ROOT, tmp_path).read_bytes() == first


def test_self_study_archive_holds_the_solutions(tmp_path):
    with zipfile.ZipFile(course_archive.write(ROOT, tmp_path, solutions=True)) as archive:
        assert any("/solutions/01-averages/" in name for name in archive.namelist())


def test_every_name_in_the_course_is_held_or_left_out_on_purpose():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    names = {one.split("/")[0] for one in listed if one and not one.startswith(".")}
    assert names == {*course_archive.HELD, *course_archive.LEFT_OUT}
