"""Interactive figures in the built book: mounted where they stand, and weightless elsewhere."""

import json
import re

import pytest
from browsing import figures_mounted
from reader import ROOT, pages

from course_figures.pages import SHARED, scripts

WIDE = {"width": 1300, "height": 900}
MOST_BYTES = 300_000
# Each carries a whole GPT; its weights have a limit of their own.
HEAVY = {"first_screen", "live_model", "follow_letter", "looking_inside"}

WANTED = {
    "book/index": {"first_screen"},
    "book/ten-minutes": {"training_run"},
    "book/01-averages": {"averaging"},
    "book/02-affinities": {"averaging", "softmax_and_scale"},
    "book/03-text": {"windows"},
    "book/04-bigram": {"bigram_table", "training_run"},
    "book/05-head": {"attention_map"},
    "book/06-heads": {"attention_map", "head_shapes", "training_run"},
    "book/07-block": {"residual_stream"},
    "book/08-gpt": {"live_model", "sampling"},
    "book/09-names": {"sampling"},
    "book/11-looking-inside": {"looking_inside"},
    "book/gallery": {"averaging", "softmax_and_scale", "windows", "bigram_table", "head_shapes"},
    "book/gallery-models": {
        "attention_map",
        "residual_stream",
        "sampling",
        "live_model",
        "looking_inside",
    },
    "book/gallery-whole": {"follow_letter", "training_run"},
}
CHAPTERS = [name for name in WANTED if re.match(r"book/\d\d-", name)]
GALLERIES = [name for name in WANTED if "gallery" in name]
# Nothing to move here: they open on what a run draws or prints.
WITHOUT = ["book/10-jax", "book/12-faster", "book/13-two-sequences"]


@pytest.fixture(scope="session")
def with_figures(book):
    """Pages that hold figures, and their HTML."""
    found = {name: (book / f"{name}.html").read_text(encoding="utf-8") for name in pages()}
    return {name: text for name, text in found.items() if 'data-course-figure="' in text}


def modules(text):
    return set(re.findall(r'data-course-figure="(\w+)"', text))


@pytest.mark.slow
def test_every_chapter_holds_its_figures_and_the_gallery_all_of_them(with_figures):
    assert {name: modules(text) for name, text in with_figures.items()} == WANTED
    others = set.union(*WANTED.values()) - {"first_screen"}  # of the models that the gallery has
    assert set.union(*(WANTED[name] for name in GALLERIES)) == others


@pytest.mark.slow
def test_page_loads_the_scripts_of_its_own_figures_and_others_load_none(book):
    for name in pages():
        text = (book / f"{name}.html").read_text(encoding="utf-8")
        loaded = re.findall(r"_static/figures/([\w/]+)\.js", text)
        wanted = modules(text)
        assert len(loaded) == len(set(loaded)), name
        assert set(loaded) == (set(scripts(*wanted)) if wanted else set()), name
        assert loaded[:1] == [SHARED] * bool(wanted), name


@pytest.mark.slow
def test_figures_of_a_page_with_state_and_scripts_are_light(book, with_figures):
    static = book / "_static"
    for name, text in with_figures.items():
        state = re.findall(r'<div class="course-figure-mount".*?</script></div>', text, re.DOTALL)
        light = [one for one in state if not modules(one) & HEAVY]
        files = [static / "figures" / f"{one}.js" for one in scripts(*modules(text) - HEAVY)]
        weight = sum(len(one.encode()) for one in light)
        weight += sum(file.stat().st_size for file in [*files, static / "figures" / "figures.css"])
        assert weight < MOST_BYTES, f"{name}: {weight:,} bytes"


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", GALLERIES)
def test_every_figure_is_mounted_on_a_page_from_a_folder(book, visit, name):
    reader = visit(book.as_uri(), viewport=WIDE)
    page = reader.open(f"{book.as_uri()}/{name}.html")
    assert figures_mounted(page) == len(WANTED[name])
    assert not page.locator(".cf-fault:visible").count()
    assert reader.faults == []


@pytest.mark.slow
def test_still_pictures_stand_in_the_book_before_any_script_runs(with_figures):
    for name, text in with_figures.items():
        stills = re.findall(r'<figure class="course-figure-still">(.*?)</figure>', text, re.DOTALL)
        assert len(stills) == text.count('class="course-figure-mount"'), name
        for still in stills:
            assert still.startswith("<svg "), name
            words = still.partition("<figcaption>")[2].partition("</figcaption>")[0]
            assert len(re.sub(r"<[^>]*>", "", words)) > 40, name


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", GALLERIES)
def test_still_pictures_are_seen_with_scripts_switched_off(served, visit, name):
    page = visit(served, viewport=WIDE, java_script_enabled=False).page
    page.goto(f"{served}/{name}.html")
    stills = page.locator(".course-figure-still")
    assert stills.count() == len(WANTED[name])
    for index in range(stills.count()):
        assert stills.nth(index).locator("svg").is_visible()
        assert len(stills.nth(index).locator("figcaption").inner_text()) > 40


@pytest.mark.parametrize("name", CHAPTERS)
def test_under_every_figure_of_a_chapter_stand_three_things_to_try(name):
    cells = json.loads((ROOT / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    shown = [
        number
        for number, cell in enumerate(cells)
        if "data-course-figure=" in json.dumps(cell.get("outputs", [])).replace("\\", "")
    ]
    assert shown
    for number in shown:
        text = next(cell for cell in cells[number:] if cell["cell_type"] == "markdown")["source"]
        steps = re.findall(r"(?m)^\d\. ", "".join(text).partition("**Try this.**")[2])
        assert steps == ["1. ", "2. ", "3. "], f"{name}, cell {number}"


@pytest.mark.parametrize("name", CHAPTERS)
def test_imports_above_the_first_figure_take_one_line(name):
    cells = json.loads((ROOT / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    shown = ["data-course-figure=" in json.dumps(cell.get("outputs", [])) for cell in cells]
    for cell in cells[: shown.index(True)]:
        if cell["cell_type"] == "code" and "".join(cell["source"]).startswith(("import", "from")):
            assert "hide-input" in cell["metadata"]["tags"], "".join(cell["source"])


SMALLEST = """
() => {
  const small = [];
  for (const svg of document.querySelectorAll('.still-figure svg, .course-figure-still svg')) {
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    for (const text of svg.querySelectorAll('text')) {
      if (!text.textContent.trim()) continue;
      const lines = [text, ...text.querySelectorAll('tspan')].filter(e => e.textContent.trim());
      const size = Math.max(...lines.slice(lines.length > 1 ? 1 : 0)
        .map(e => parseFloat(getComputedStyle(e).fontSize))) * scale;
      if (!(size > 8.98)) small.push(`${size.toFixed(1)} px: "${text.textContent.trim()}"`);
    }
  }
  for (const image of document.querySelectorAll('.still-figure img')) {
    const share = image.getBoundingClientRect().width / parseFloat(image.style.maxWidth);
    if (!(share > 0.5)) small.push(`${share.toFixed(2)} of an image's width`);
  }
  return small;
}
"""


def test_chapters_without_an_interactive_figure_are_those_that_are_named():
    every = [f"book/{path.stem}" for path in (ROOT / "book").glob("[0-9]*.ipynb")]
    assert sorted(CHAPTERS + WITHOUT) == sorted(every)


@pytest.mark.browser
@pytest.mark.slow
def test_first_figure_is_near_the_beginning_and_letters_are_legible_on_a_phone(served, visit):
    # Without scripts, so that still pictures of figures are seen, too; all pages in one profile.
    page = visit(served, viewport=WIDE, java_script_enabled=False).page
    far, small = {}, {}
    for name in [*WANTED, *WITHOUT]:
        page.set_viewport_size(WIDE)
        page.goto(f"{served}/{name}.html")
        if name in CHAPTERS + WITHOUT:
            first = ".course-figure-mount" if name in CHAPTERS else ".cell_output"
            top = page.locator(first).first.bounding_box()["y"]
            if top > 2 * WIDE["height"]:
                far[name] = top
        page.set_viewport_size({"width": 390, "height": 844})
        found = page.evaluate(SMALLEST)
        if found:
            small[name] = found[:5]
    assert (far, small) == ({}, {})
