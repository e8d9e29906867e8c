"""A change of a released cell is seen by the same sum that nbgrader notes at its release."""

import itertools

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import compute_checksum

from course_grader.assignment import checksum

FLAGS = ("grade", "solution", "locked")


@pytest.mark.parametrize("make", [new_code_cell, new_markdown_cell])
@pytest.mark.parametrize("values", itertools.product((False, True, 1, None), repeat=3))
def test_checksum_is_nbgraders_own_for_every_kind_of_cell(make, values):
    cell = make("x = 1  # ü\n")
    said = {"grade_id": "one", "points": 2, **dict(zip(FLAGS, values, strict=True))}
    cell.metadata["nbgrader"] = said
    assert checksum(cell) == compute_checksum(cell)
    for flag in FLAGS:
        less = make("x = 1  # ü\n")
        less.metadata["nbgrader"] = {name: value for name, value in said.items() if name != flag}
        assert checksum(less) == compute_checksum(less)
