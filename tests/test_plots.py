"""Still figures: one style, readable everywhere, described in words."""

import base64
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from course_lib import plots
from course_lib.mime import PAGE_HTML, PIXELS

PHONE = 358  # what a page has for pictures on a screen of 390 pixels
CHAPTERS = sorted((Path(__file__).parents[1] / "book").glob("[0-9]*.ipynb"))


@pytest.fixture
def drawing():
    fig, ax = plots.figure()
    ax.plot([1, 2, 3], [2, 1, 3], label="loss")
    ax.set_title("Loss falls & rises")
    ax.legend()
    return fig


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_picture_is_described_for_those_who_cannot_see_it(drawing):
    picture = plots.show(drawing, alt='Loss "falls" & rises')
    root = ET.fromstring(picture.markup)[0]
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == 'Loss "falls" & rises'
    forms, _ = picture._repr_mimebundle_()
    assert forms["text/plain"] == 'Figure: Loss "falls" & rises'


def test_picture_has_a_form_for_viewers_that_strip_drawings_out_of_html(drawing):
    forms, sizes = plots.show(drawing, alt="a")._repr_mimebundle_()
    assert set(forms) == {PAGE_HTML, "image/png", "text/plain"}  # text/html would hide the pixels
    pixels = Image.open(io.BytesIO(base64.b64decode(forms["image/png"])))
    assert pixels.width == 1.5 * sizes["image/png"]["width"] == 810
    grey = pixels.convert("L")
    assert grey.getpixel((0, 0)) == 255  # no theme shows through
    assert grey.getextrema()[0] < 20  # and letters stand out from it


def test_title_too_long_for_one_line_takes_two():
    fig, ax = plots.figure()
    ax.set_title("What is said here is true, and needs so many words that one line cannot hold it")
    lines = re.findall(r"<text[^>]*>([^<]*)</text>", plots.show(fig, alt="a").markup)
    said = [line for line in lines if len(line) > 10]
    assert len(said) == 2
    assert " ".join(said) == ax.get_title(loc="left")


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "fits_a_phone"), [(1, True), (3, False)])
def test_letters_keep_nine_pixels_where_the_page_is_narrow(columns, fits_a_phone):
    fig, axes = plots.figure(width=5.4 if columns == 1 else 8, columns=columns)
    for ax in np.atleast_1d(axes):
        ax.set_xlabel("steps")
    markup = plots.show(fig, alt="a").markup
    least = float(re.search(r"min-width:(\d+)px", markup)[1])
    view = float(re.search(r'viewBox="0 0 ([\d.]+)', markup)[1])
    sizes = [float(size) for size in re.findall(r"<text[^>]*font-size: ([\d.]+)px", markup)]
    assert 9 <= min(sizes) * least / view < 9.1
    assert (least <= PHONE) == fits_a_phone


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_a_phone_shows_the_pictures_of_a_chapter_whole(chapter):
    markup = [
        "".join(output["data"][PAGE_HTML])
        for cell in json.loads(chapter.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", ())
        if PAGE_HTML in output.get("data", ())
    ]
    stills = [one for one in markup if one.startswith('<div class="still-figure"><svg')]
    wide = [
        re.search(r'aria-label="([^"]{0,60})', one)[1]
        for one in stills
        if int(re.search(r"min-width:(\d+)px", one)[1]) > PHONE
    ]
    assert not wide


def test_picture_without_words_is_refused(drawing):
    with pytest.raises(ValueError, match="alt is empty"):
        plots.show(drawing, alt="  ")


def test_text_and_axes_take_the_colour_of_the_page(drawing):
    markup = plots.show(drawing, alt="a").markup
    inked = re.findall(r"<text[^>]*>", markup)
    assert inked
    assert all("currentColor" in tag for tag in inked), inked
    assert "#000000" not in markup
    assert plots.INK not in markup


@pytest.mark.parametrize("colour", plots.PALETTE)
@pytest.mark.parametrize("page", ["#ffffff", "#14181e"])
def test_every_line_colour_stands_out_on_a_light_and_on_a_dark_page(colour, page):
    assert contrast(colour, page) >= 3


def test_each_colour_has_a_marker_of_its_own():
    assert len(set(plots.MARKERS)) == len(plots.PALETTE)


def test_legend_lets_the_page_show_through(drawing):
    legend = plots.show(drawing, alt="a").markup.partition("legend_1")[2]
    assert "#ffffff" not in legend


@pytest.mark.slow
def test_same_figure_gives_the_same_bytes(drawing):
    assert plots.show(drawing, alt="a") == plots.show(drawing, alt="a")


@pytest.mark.slow
def test_same_figure_gives_the_same_bytes_in_another_process():
    code = (
        "from course_lib import plots; f, a = plots.figure(); a.plot([1, 2, 3], label='x');"
        "a.legend(); print(plots.show(f, alt='a').markup)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout


def test_style_of_a_picture_stays_inside_it(drawing):
    assert "<style" not in plots.show(drawing, alt="a").markup


@pytest.mark.slow
def test_two_pictures_on_a_page_share_no_id(drawing):
    ids = [set(re.findall(r'\bid="([^"]+)"', plots.show(drawing, alt=alt).markup)) for alt in "ab"]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_panels_that_are_alike_share_no_id():
    fig, axes = plots.figure(columns=2)
    for ax in axes:
        plots.heatmap(ax, [[0, 1], [1, 0]], rows=["a", "b"], columns=["a", "b"])
    ids = re.findall(r'\bid="([^"]+)"', plots.show(fig, alt="a").markup)
    assert len(ids) == len(set(ids)) > 1


def test_every_reference_inside_a_picture_is_resolved(drawing):
    markup = plots.show(drawing, alt="a").markup
    ids = set(re.findall(r'\bid="([^"]+)"', markup))
    wanted = set(re.findall(r'(?:url\(#|href="#)([^")]+)', markup))
    assert wanted <= ids


def test_picture_shrinks_to_a_phone(drawing):
    markup = plots.show(drawing, alt="a").markup
    assert "width:100%" in markup
    assert not re.search(r'<svg[^>]* width="', markup)


def test_heavy_picture_becomes_pixels_with_the_same_words():
    fig, ax = plots.figure()
    ax.scatter(*np.random.default_rng(0).random((2, 5000)))
    markup = plots.show(fig, alt="many points").markup
    assert "<img" in markup
    assert 'alt="many points"' in markup


def test_heavy_picture_is_stored_once():
    fig, ax = plots.figure()
    ax.scatter(*np.random.default_rng(0).random((2, 5000)))
    forms, _ = plots.show(fig, alt="many points")._repr_mimebundle_()
    assert PIXELS in forms[PAGE_HTML]
    assert "base64" not in forms[PAGE_HTML]


PAGES = {"light": ("#ffffff", "#222832"), "dark": ("#121212", "#ced6dd")}  # paper, ink


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    "colours",
    [plots.WEIGHTS["cmap"], plots.SIGNED, plots.AMOUNTS],
    ids=["weights", "signed", "amounts"],
)
def test_numbers_can_be_read_on_any_value_of_a_heatmap(colours, page):
    paper, ink = PAGES[page]
    behind = np.array([int(paper[i : i + 2], 16) for i in (1, 3, 5)])
    for value in np.linspace(0, 1, 21):
        *colour, alpha = colours(value)
        seen = alpha * 255 * np.array(colour) + (1 - alpha) * behind
        assert contrast("#" + "".join(f"{round(c):02x}" for c in seen), ink) >= 4.5


def test_heatmap_draws_nothing_where_a_weight_or_a_signed_value_is_0():
    assert plots.WEIGHTS["cmap"](0.0)[3] == 0
    assert plots.SIGNED(0.5)[3] < 0.01
    assert (plots.WEIGHTS["vmin"], plots.WEIGHTS["vmax"]) == (0, 1)  # one scale in all stills


def test_heatmap_names_its_rows_and_columns():
    fig, ax = plots.figure()
    plots.heatmap(ax, np.eye(2), rows=["to", "be"], columns=["or", "not"])
    markup = plots.show(fig, alt="identity").markup
    for label in ("to", "be", "or", "not"):
        assert f">{label}</text>" in markup
