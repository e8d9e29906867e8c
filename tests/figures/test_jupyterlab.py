"""In JupyterLab a figure is live: it mounts, its changes reach Python, and Python's reach it."""

import json

import nbformat
import pytest
from answers import ANSWERS
from jupyterlab_server import jupyterlab_server, open_notebook, run
from reader import ROOT

import course_figures as figures

EXAMPLE = "examples/figures.ipynb"
EVERY = "examples/every_figure.ipynb"

SHOW = """from IPython.display import display
import course_figures as figures

shown = {name: getattr(figures, name)() for name in figures.MODULES}
for figure in shown.values():
    display(figure)"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Address of a JupyterLab in a copy of the examples, with a profile of its own."""
    folder = tmp_path_factory.mktemp("lab")
    asked = [
        f"{name!r}: (lambda f: {ask})(shown[{name!r}])" for name, (_, ask, _) in ANSWERS.items()
    ]
    tell = f"import json\nprint(json.dumps({{{', '.join(asked)}}}))"
    cells = [nbformat.v4.new_code_cell(source) for source in (SHOW, tell)]
    notebook = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    )
    with jupyterlab_server(folder, "examples") as address:
        nbformat.write(notebook, folder / "course" / EVERY)
        yield address


@pytest.mark.browser
@pytest.mark.slow
def test_every_figure_is_live_in_jupyterlab_and_tells_python(lab, visit):
    assert set(ANSWERS) == set(figures.MODULES)
    reader, cells = open_notebook(lab, visit, EVERY, 2)
    page = reader.page
    run(page, cells.nth(0))
    mounted = cells.nth(0).locator(".course-figure")
    mounted.nth(len(figures.MODULES) - 1).wait_for()
    for place, name in enumerate(figures.MODULES):
        figure = mounted.nth(place)
        page.wait_for_function("e => e.shown", arg=figure.element_handle())
        ANSWERS[name][0](figure)
    run(page, cells.nth(1))
    output = cells.nth(1).locator(".jp-OutputArea-output")
    output.get_by_text("{").wait_for()
    told = json.loads(output.inner_text())
    assert told == {name: wanted for name, (_, _, wanted) in ANSWERS.items()}
    assert mounted.locator(".cf-fault:visible").count() == 0
    assert not [fault for fault in reader.faults if fault.startswith("leaves the machine")]


@pytest.mark.browser
@pytest.mark.slow
def test_values_go_to_python_and_back_into_the_figure(lab, visit):
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
    reader, cells = open_notebook(lab, visit, EXAMPLE, len(sources))
    page = reader.page

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
