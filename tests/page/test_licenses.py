"""Whatever a page loads is named on a page of the book, with its version and its license."""

from pathlib import Path

import pytest

from course_page import runtime

PAGE = Path(__file__).parents[2] / "book" / "python-in-the-page.md"
ROWS = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| [")]
WHEELS = [
    part.name.split("-")[:2]
    for part in (*runtime.PARTS, *runtime.PICTURES)
    if part.name.endswith(".whl")
]


@pytest.mark.parametrize(("name", "version"), [("pyodide", runtime.PYODIDE), *WHEELS])
def test_what_a_page_loads_is_named_with_its_license(name, version):
    (row,) = [row for row in ROWS if f"[{name}]" in row.lower()]
    _, _, of_version, license_, _ = (cell.strip() for cell in row.split("|"))
    assert of_version == version
    assert license_
