"""The row of buttons under the title of an exercise page."""

import pytest
from notebook_buttons import buttons

PAGE = "exercises/01-averages/01-averages"


def labels(*arguments):
    return [button.label for button in buttons(*arguments)]


def test_without_a_repository_the_download_stands_alone():
    (only,) = buttons(PAGE, "", "main")
    assert only.address == "_sources/exercises/01-averages/01-averages.ipynb"
    assert only.download == "01-averages.ipynb"


@pytest.mark.parametrize("ending", ["", "/", ".git"])
def test_with_a_repository_colab_and_binder_open_this_very_notebook(ending):
    _, colab, binder = buttons(PAGE, f"https://github.com/ada/course{ending}", "main")
    assert colab.address == (
        "https://colab.research.google.com/github/ada/course/blob/main/"
        "exercises/01-averages/01-averages.ipynb"
    )
    assert binder.address == (
        "https://mybinder.org/v2/gh/ada/course/main"
        "?urlpath=lab/tree/exercises/01-averages/01-averages.ipynb"
    )


def test_a_branch_with_a_slash_stays_one_part_of_the_address():
    _, colab, binder = buttons(PAGE, "https://github.com/ada/course", "term/2026")
    assert "/blob/term%2F2026/exercises/" in colab.address
    assert "/gh/ada/course/term%2F2026?" in binder.address


@pytest.mark.parametrize(
    "repository",
    ["https://example.org/ada/course", "https://github.com", "https://github.com/ada", "course"],
)
def test_an_address_that_colab_cannot_open_gets_no_button(repository):
    assert labels(PAGE, repository, "main") == ["Download the notebook"]


@pytest.mark.parametrize("page", ["book/01-averages", "book/index", "search"])
def test_other_pages_have_no_buttons(page):
    assert buttons(page, "https://github.com/ada/course", "main") == []
