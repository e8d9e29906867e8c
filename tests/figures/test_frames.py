"""A change in a figure: when it is drawn, and that it moves nothing that stands below."""

import pytest
from interactions import settle, shown

import course_figures as figures


def height(page):
    settle(page)
    return page.locator(".course-figure-mount").bounding_box()["height"]


def switch_modes(page):
    yield page.get_by_role("radio", name="scores → softmax").check()
    yield page.get_by_role("button", name="bell").click()
    yield page.get_by_role("radio", name="weights").check()


def change_positions(page):
    for name in ("+ position",) * 3 + ("− position",) * 6:
        yield page.get_by_role("button", name=name).click()


def take_every_step(page):
    steps = page.locator(".head-shapes-steps button")
    for n in range(steps.count()):
        yield steps.nth(n).click()


def go_through_the_text(page):
    yield page.get_by_role("radio", name="post-norm").check()
    yield page.get_by_label("attention 0").uncheck()
    page.get_by_role("slider", name="Position in the text").focus()
    for _ in range(25):
        yield page.keyboard.press("ArrowLeft")


def move_every_slider(page):
    for name in ("temperature", "top-k", "top-p"):
        page.get_by_role("slider", name=name).focus()
        for key in ("Home", "ArrowRight", "ArrowRight", "End"):
            yield page.keyboard.press(key)
    yield page.get_by_role("button", name="Draw 100").click()


def write_past_a_line_of_the_context(page):
    for _ in range(40):
        yield page.get_by_role("button", name="One symbol").click()


def choose_every_model(page):
    for name in ("bigram", "four heads", "one block"):
        yield page.get_by_role("radio", name=name).check()
        page.wait_for_function("document.querySelector('.course-figure').shown.step[0] === 0")


def go_back_term_by_term(page):
    yield page.get_by_role("radio", name="logits").check()
    yield page.get_by_role("button", name="Take the letter").click()
    for _ in range(6):
        yield page.locator(".follow_letter-terms button").first.click()


CHANGES = {
    "Averaging": switch_modes,
    "SoftmaxAndScale": change_positions,
    "HeadShapes": take_every_step,
    "ResidualStream": go_through_the_text,
    "Sampling": move_every_slider,
    "LiveModel": write_past_a_line_of_the_context,
    "TrainingRun": choose_every_model,
    "FollowLetter": go_back_term_by_term,
}


@pytest.mark.browser
@pytest.mark.parametrize("name", CHANGES)
def test_a_figure_keeps_its_height(figure_page, name):
    page = figure_page(getattr(figures, name)())
    before = height(page)
    found = [height(page) for _ in CHANGES[name](page)]
    assert found == [before] * len(found)
    assert len(found) > 2


FRAMES = """() => new Promise((done) => {
  const seen = [];
  const look = () => {
    seen.push(document.querySelector(".course-figure").shown.entropy[0]);
    if (seen.length < 3) requestAnimationFrame(look);
    else done(seen);
  };
  CHANGE;
  requestAnimationFrame(look);
})"""
CLICK = (
    "[...document.querySelectorAll('button')].find((b) => b.textContent === 'all equal').click()"
)
SLIDE = """const slider = document.querySelector("[aria-label^='temperature']");
  slider.value = 30;
  slider.dispatchEvent(new Event("input", { bubbles: true }))"""


@pytest.mark.browser
@pytest.mark.parametrize(("change", "late"), [(SLIDE, 0), (CLICK, 1)])
def test_a_drag_is_drawn_in_the_next_frame_and_a_click_in_the_one_after(figure_page, change, late):
    page = figure_page(figures.SoftmaxAndScale())
    page.get_by_role("slider", name="temperature").focus()
    for _ in range(12):  # the first drawings spread over several frames
        page.keyboard.press("ArrowRight")
        settle(page)
    before = shown(page, "entropy")[0]
    seen = page.evaluate(FRAMES.replace("CHANGE", change))
    assert [entropy == before for entropy in seen] == [frame < late for frame in range(3)]
