"""In JupyterLab a figure is live: it mounts, its changes reach Python, and Python's reach it."""

import json

import pytest
from laboratory import laboratory
from reader import ROOT

ANSWER_MILLISECONDS = 120_000

EXAMPLE = "examples/figures.ipynb"


@pytest.fixture
def lab(tmp_path):
    """Address of a JupyterLab in a copy of the examples, with a profile of its own."""
    with laboratory(tmp_path, "examples") as address:
        yield address


def run(page, cell):
    cell.locator(".jp-InputPrompt").click()
    page.keyboard.press("ControlOrMeta+Enter")


@pytest.mark.browser
@pytest.mark.slow
def test_figure_is_live_in_jupyterlab_and_sends_its_values_back(lab, visit):
    sources = [
        "".join(cell["source"]) for cell in json.loads((ROOT / EXAMPLE).read_text())["cells"]
    ]
    place = {source: number for number, source in enumerate(sources)}
    numbers = {
        name: next(place[s] for s in sources if s.startswith(start))
        for name, start in {
            "imports": "import torch",
            "figure": "generator =",
            "answer": "averaging.matrix.round",
            "assign": "averaging.matrix =",
        }.items()
    }
    reader = visit(lab, viewport={"width": 1300, "height": 900})
    page = reader.page
    page.set_default_timeout(ANSWER_MILLISECONDS)
    page.goto(f"{lab}/lab/tree/{EXAMPLE}")
    cells = page.locator(".jp-NotebookPanel:visible .jp-Notebook .jp-Cell")
    cells.nth(len(sources) - 1).wait_for(state="attached")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()

    run(page, cells.nth(numbers["imports"]))
    run(page, cells.nth(numbers["figure"]))
    figure = cells.nth(numbers["figure"]).locator(".course-figure")
    figure.locator(".cf-stage svg rect").first.wait_for()
    figure.get_by_role("button", name="ones", exact=True).click()

    run(page, cells.nth(numbers["answer"]))
    answer = cells.nth(numbers["answer"]).locator(".jp-OutputArea-output").last
    answer.get_by_text("[1., 1., 1., 1., 1., 1., 1., 1.]").first.wait_for()

    run(page, cells.nth(numbers["assign"]))
    page.wait_for_function(
        "e => e.shown.weights[7] === 1 && e.shown.weights[0] === 0",
        arg=figure.element_handle(),
    )
    assert not figure.locator(".cf-fault").is_visible()
    assert not [fault for fault in reader.faults if fault.startswith("leaves the machine")]
