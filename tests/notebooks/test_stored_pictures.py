"""Every still picture is stored as an image, which viewers show that strip drawings out of HTML."""

import base64
import io
import json
import re
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from PIL import Image

from course_lib.mime import PAGE_HTML, PIXELS

ROOT = Path(__file__).parents[2]
NOTEBOOKS = [
    path
    for folder in ("book", "solutions", "examples")
    for path in sorted((ROOT / folder).rglob("*.ipynb"))
    if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
]


def named(paths):
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


def bundles(path):
    """Every output of a notebook with its forms, each as one text."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            forms = output.get("data", {})
            yield {kind: "".join(form) for kind, form in forms.items() if kind[0] != "a"}


WITH_PICTURES = [path for path in NOTEBOOKS if PAGE_HTML in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", named(NOTEBOOKS))
def test_every_still_picture_has_an_image_and_no_html_that_would_hide_it(path):
    for forms in bundles(path):
        html = forms.get("text/html", "")
        assert "<svg" not in html
        assert "still-figure" not in html
        assert "course-figure" not in html
        if PAGE_HTML in forms:
            assert "text/html" not in forms
            assert set(forms) == {PAGE_HTML, "image/png", "text/plain"}
            picture = Image.open(io.BytesIO(base64.b64decode(forms["image/png"])))
            assert picture.width > 200
            assert picture.getcolors(256), "more colors than a small file may have"
            assert forms["text/plain"].startswith(("Figure: ", "History: "))


def test_every_chapter_has_pictures():
    assert len([path for path in WITH_PICTURES if re.match(r"\d\d-", path.name)]) == 13


@pytest.mark.parametrize("path", named(WITH_PICTURES))
@pytest.mark.slow
def test_a_viewer_that_cleans_html_shows_every_picture(path):
    # GitHub and nbviewer convert with nbconvert; this is its strictest setting.
    exporter = HTMLExporter(sanitize_html=True)
    page, _ = exporter.from_notebook_node(nbformat.read(path, as_version=4))
    pictures = [forms for forms in bundles(path) if PAGE_HTML in forms]
    assert len(re.findall(r'src="data:image/png;base64', page)) == len(pictures)
    assert PIXELS not in page
    assert "course-figure" not in page
