"""The dots, minutes and points of a task's heading agree with each other and with its judge."""

import json
import re
from pathlib import Path

import pytest

SOLUTIONS = sorted((Path(__file__).parents[2] / "solutions").glob("*/*.ipynb"))
HEADING = re.compile(r"^##+ .*?  (●+)○* · (\d+) minutes · (\d+) points?( · graded by hand)?$", re.M)
# For a number of dots, the least and the most points and minutes.
EFFORTS = {1: ((2, 3), (5, 10)), 2: ((4, 5), (8, 25)), 3: ((5, 6), (12, 35)), 4: ((6, 8), (15, 45))}


@pytest.mark.parametrize("notebook", SOLUTIONS, ids=lambda path: path.stem)
def test_more_dots_mean_more_points_and_more_minutes(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    headings = [
        found
        for cell in cells
        if cell["cell_type"] == "markdown"
        for found in HEADING.finditer("".join(cell["source"]))
    ]
    project = not notebook.stem[:2].isdigit()  # a few large tasks, each the work of an hour
    assert len(headings) >= (4 if project else 7)
    for heading in [] if project else headings:
        dots, minutes, points = len(heading[1]), int(heading[2]), int(heading[3])
        if heading[4]:  # by hand: sentences, which take longer or shorter than code of their worth
            continue
        (fewest, most), (shortest, longest) = EFFORTS[dots]
        assert fewest <= points <= most, heading[0]
        assert shortest <= minutes <= longest, heading[0]
    graded = [cell["metadata"]["nbgrader"] for cell in cells if "nbgrader" in cell["metadata"]]
    total = sum(cell["points"] for cell in graded if cell.get("grade"))
    assert total == sum(int(heading[3]) for heading in headings)
