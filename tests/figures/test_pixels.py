"""A still picture as pixels: what the drawing says, on white."""

import io

import numpy as np
import pytest
from PIL import Image

from course_figures import still
from course_figures.errors import FigureError
from course_figures.pixels import png, points


def drawn(*parts):
    """Brightness (150, 300) of a picture of 200 by 100, of which each pixel became 1.5."""
    data, width = png(still.picture(200, 100, "a", parts))
    assert width == 200
    return np.asarray(Image.open(io.BytesIO(data)).convert("L"), dtype=float)


def test_rectangle_is_as_dark_as_its_opacity_says_where_it_lies():
    grey = drawn('<rect x="20" y="40" width="60" height="20" fill-opacity="0.5"/>')
    inside = grey[63:87, 33:117]
    assert inside.min() == inside.max() == pytest.approx(255 - 0.5 * (255 - 34), abs=3)
    assert (grey[:57] == 255).all()
    assert (grey[:, 126:] == 255).all()


def test_frame_leaves_what_is_under_it():
    frame = '<rect x="20" y="40" width="60" height="20" fill="none" stroke="currentColor"/>'
    grey = drawn('<rect x="30" y="45" width="10" height="10"/>', frame)
    assert grey[75, 52] < 60  # the cell
    assert grey[75, 90] == 255  # nothing else inside
    assert grey[58:63, 60:110].min(axis=0).mean() < 200  # the line


def test_text_stands_where_it_is_anchored():
    for anchor, left, right in (("start", 100, 130), ("middle", 85, 115), ("end", 70, 100)):
        columns = np.flatnonzero(drawn(still.text(100, 50, "quit", anchor)).min(axis=0) < 128) / 1.5
        assert columns.min() >= left - 1
        assert columns.max() <= right + 1


def test_dollar_is_a_letter():
    assert (drawn(still.text(100, 50, "$x$")) < 128).any()


def test_later_parts_lie_on_earlier_ones():
    low, high = (f'<path d="M20 50h60" stroke="currentColor" stroke-width="{w}"/>' for w in (2, 20))
    assert drawn(low, high)[69, 60] < 60


def test_lines_of_a_path():
    assert points("M1 2h3v4H0V0z") == [[(1, 2), (4, 2), (4, 6), (0, 6), (0, 0), (1, 2)]]
    assert points("M0 0L1,1 2-1m1 1l1 0") == [[(0, 0), (1, 1), (2, -1)], [(3, 0), (4, 0)]]


@pytest.mark.parametrize("part", ["<circle r='2'/>", '<path d="M0 0C1 1 2 2 3 3"/>'])
def test_what_cannot_be_drawn_is_refused(part):
    with pytest.raises(FigureError, match=r"circle|straight"):
        png(still.picture(10, 10, "a", [part]))
