"""A student's first ten minutes: JupyterLab opens an exercise, a cell is filled, `check` speaks."""

import json

import pytest
from jupyterlab_server import jupyterlab_server, open_notebook, run
from reader import ROOT

ASSIGNMENTS = sorted(path.stem for path in (ROOT / "exercises").glob("*/*.ipynb"))


@pytest.fixture
def lab(tmp_path):
    """Address of a JupyterLab in a copy of the exercises, with a profile of its own."""
    with jupyterlab_server(tmp_path, "exercises") as address:
        yield address


class Assignment:
    """What the test needs to know of a notebook: where its first two tasks are, and one answer."""

    def __init__(self, name):
        self.path = f"exercises/{name}/{name}.ipynb"
        self.cells = self._cells(self.path)
        self.checks = [i for i, cell in enumerate(self.cells) if self._role(cell, "points")]
        self.checks = [i for i in self.checks if self.cells[i]["cell_type"] == "code"]
        self.answers = [
            i
            for i, cell in enumerate(self.cells)
            if cell["cell_type"] == "code" and self._role(cell, "solution")
        ]

    def solution(self, index):
        """The solved cell, without the marks that nbgrader cuts at."""
        wanted = self.cells[index]["metadata"]["nbgrader"]["grade_id"]
        for cell in self._cells(self.path.replace("exercises/", "solutions/", 1)):
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == wanted:
                lines = "".join(cell["source"]).splitlines()
                return "\n".join(line for line in lines if "### " not in line)
        raise AssertionError(f"no solution for {wanted}")

    @staticmethod
    def _cells(path):
        return json.loads((ROOT / path).read_text(encoding="utf-8"))["cells"]

    @staticmethod
    def _role(cell, key):
        return cell["metadata"].get("nbgrader", {}).get(key)


def fill(page, cell, text):
    cell.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", ASSIGNMENTS[:1])
def test_exercise_is_opened_filled_checked_and_answered_in_jupyterlab(lab, visit, name):
    assignment = Assignment(name)
    reader, cells = open_notebook(lab, visit, assignment.path, len(assignment.cells))
    page = reader.page

    # everything as it was handed out: no traceback, "not attempted" under every task
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    for index in assignment.checks:
        verdict = cells.nth(index).locator(".course-verdict")
        verdict.wait_for()
        assert "Not attempted" in verdict.inner_text()
    assert page.locator(".jp-Cell .jp-RenderedText[data-mime-type*=error]").count() == 0

    # a wrong answer is told what it does
    answer, check = cells.nth(assignment.answers[0]), cells.nth(assignment.checks[0])
    wrong = "".join(assignment.cells[assignment.answers[0]]["source"])
    fill(page, answer, wrong.replace("raise NotImplementedError", "return None"))
    run(page, answer)
    run(page, check)
    check.get_by_text("0 of ").wait_for()
    assert "See chapter" in check.locator(".course-verdict").inner_text()

    # the right one gets every point
    fill(page, answer, assignment.solution(assignment.answers[0]))
    run(page, answer)
    run(page, check)
    points = f"{assignment.cells[assignment.checks[0]]['metadata']['nbgrader']['points']:g}"
    check.get_by_text(f"{points} of {points} points").wait_for()
    assert not [fault for fault in reader.faults if fault.startswith("leaves the machine")]
