"""The pictures of the class report: bars as long as what they count, and words that stay words."""

import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import pytest

from course_grader.reports import pictures
from course_grader.reports.tally import Task

PALE = "<b>Bold</b> & “quoted”"
TASKS = (
    Task("a", PALE, True, 20, 3, 5, 2, 0),
    Task("b", "x" * 90, True, 2, 10, 15, 3, 0),
    Task("w", "written-1", False, 0, 0, 0, 5, 25),
)


def of_class(*points, out_of=26.0, median=13.0):
    graded = [SimpleNamespace(points=one) for one in points]
    standing = SimpleNamespace(out_of=out_of)
    return SimpleNamespace(graded=graded, standing=standing, median=median)


def drawn(picture):
    """The picture's elements, with their names bare; it must be well-formed."""
    root = ElementTree.fromstring(picture)
    return root, list(root.iter())


def bars(picture, look):
    """Those that stand for something: x, y, width and height of each."""
    found = [one for one in drawn(picture)[1] if one.get("class") == look]
    return [tuple(float(one.get(name)) for name in ("x", "y", "width", "height")) for one in found]


def texts(picture):
    return [one.text for one in drawn(picture)[1] if one.tag == "text"]


def test_bar_is_as_long_as_what_it_counts():
    picture = pictures.success_of_tasks(TASKS)
    (first, second, mark) = bars(picture, "right")
    assert first[2] / second[2] == pytest.approx(20 / 2, rel=0.01)
    assert mark[2] == mark[3], "the last one explains the look"
    some = bars(picture, "partly")
    assert some[0][0] == pytest.approx(first[0] + first[2], abs=0.2), "parts stand side by side"
    (tall, low) = bars(pictures.points_of_class(of_class(3, 3, 3, 20)), "plain")
    assert tall[3] / low[3] == pytest.approx(3, rel=0.01)
    assert tall[1] + tall[3] == pytest.approx(low[1] + low[3], abs=0.2)


@pytest.mark.parametrize(
    "picture",
    [
        pictures.success_of_tasks(TASKS),
        pictures.success_of_tasks([Task("a", "t" * 40, True, 0, 0, 0, 300, 0)] * 30),
        pictures.success_of_tasks(()),
        pictures.points_of_class(of_class(0.0, out_of=0.0, median=0.0)),
        pictures.points_of_class(of_class(*range(301), out_of=300.0, median=150.0)),
    ],
    ids=["parts", "many", "none", "no points", "large"],
)
def test_everything_lies_within_the_picture(picture):
    root, elements = drawn(picture)
    _, _, width, height = map(float, root.get("viewBox").split())
    for one in elements:
        if one.tag in ("rect", "text"):
            x, y = float(one.get("x")), float(one.get("y"))
            assert 0 <= x <= x + float(one.get("width", 0)) <= width
            assert 0 <= y <= y + float(one.get("height", 0)) <= height


def test_titles_are_words_and_a_long_one_leaves_room_for_bars():
    picture = pictures.success_of_tasks(TASKS)
    said = texts(picture)
    assert PALE in said
    assert "<b>" not in picture
    assert max(map(len, said)) <= pictures.MOST_CHARACTERS_OF_A_LINE
    assert min(x for x, *_ in bars(picture, "right")[:2]) < pictures.WIDTH / 2


def test_picture_says_in_words_what_it_shows():
    root, _ = drawn(pictures.success_of_tasks(TASKS))
    assert root.get("role") == "img"
    assert root.get("aria-label").startswith("Solved least often: " + "x" * 90)
    assert f"{PALE}: 20 of 30" in root.get("aria-label")
    root, _ = drawn(pictures.points_of_class(of_class(3, 3, 20, median=3)))
    assert "2 from 2.6 to 3.9, 1 from 19.5 to 20.8." in root.get("aria-label")


def test_every_part_but_the_first_differs_by_more_than_its_color():
    _, elements = drawn(pictures.success_of_tasks(TASKS))
    patterns = {one.get("id") for one in elements if one.tag == "pattern"}
    assert patterns == set(pictures.PARTS) - {"right"}
    filled = {one.get("fill") for one in elements if one.tag == "rect" and one.get("fill")}
    assert filled == {f"url(#{name})" for name in patterns}


def test_ticks_are_whole_numbers_and_never_more_than_asked_for():
    for top in (0.5, 1, 2, 3, 7.5, 26, 99, 100, 301, 1234):
        for most in (5, 10):
            found = pictures.ticks(top, most)
            assert found[0] == 0
            assert found[-1] <= top
            assert len(found) <= most + 1
            assert all(one == int(one) for one in found)
