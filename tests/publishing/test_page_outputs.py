"""Outputs for the book's pages: other viewers find an image, and pages get their own form back."""

import pytest
from page_outputs import PageOutputError, for_pages

from course_lib.mime import PAGE_HTML, PIXELS


def outputs(of):
    return [output["data"] for cell in for_pages(of)["cells"] for output in cell["outputs"]]


def test_page_gets_its_own_form():
    data = {PAGE_HTML: ["<svg>", "</svg>"], "image/png": "iVBO", "text/plain": "Figure"}
    (shown,) = outputs({"cells": [{"outputs": [{"data": data}]}]})
    assert shown == {"text/html": "<svg></svg>", "text/plain": "Figure"}


def test_page_gets_the_pixels_of_a_heavy_picture():
    data = {
        PAGE_HTML: f'<img src="{PIXELS}">',
        "image/png": "iVBO\nRw0K\n",
        "text/plain": "Figure",
    }
    (shown,) = outputs({"cells": [{"outputs": [{"data": data}]}]})
    assert shown["text/html"] == '<img src="data:image/png;base64,iVBORw0K">'


def test_a_picture_that_is_not_there_is_an_error():
    data = {PAGE_HTML: PIXELS, "text/plain": "Figure"}
    with pytest.raises(PageOutputError, match="shows its image/png"):
        for_pages({"cells": [{"outputs": [{"data": data}]}]})


def test_other_outputs_and_cells_stay_as_they_are():
    other = {"cells": [{"source": "text"}, {"outputs": [{"text": "a"}, {"data": {"a/b": "c"}}]}]}
    assert for_pages(other) == {
        "cells": [{"source": "text"}, {"outputs": [{"text": "a"}, {"data": {"a/b": "c"}}]}]
    }
