"""What holds for every figure: it is there for every reader, live, still, by day and by night."""

import base64
import io
import itertools
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from answers import IN_A_PAGE
from interactions import message, settle, too_wide, trait, violations, words
from PIL import Image

import course_figures as figures
from course_figures import pages, sources
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.traits import Array, Choice, Flag, Number, Text, Texts
from course_lib.errors import CourseError, ShapeError
from course_lib.mime import PAGE_HTML

NAMES = [name for name, module in figures.MODULES.items() if module in sources.names()]
WEIGHT = 200_000  # bytes; figures that carry a whole GPT, or a text, have a limit of their own
MOST_BYTES = {
    "LiveModel": 1_000_000,
    "FollowLetter": 1_000_000,
    "LookingInside": 1_000_000,
    "TrainingRun": 210_000,
}

every_figure = pytest.mark.parametrize("name", NAMES)
browser = pytest.mark.browser


def make(name):
    return getattr(figures, name)()


def state_of(figure):
    text = figure.html().partition('<script type="application/json">')[2].partition("</script>")[0]
    return json.loads(text)


def test_library_is_light_until_a_figure_is_asked_for():
    code = (
        "import sys, course_lib, course_figures; "
        "sys.exit(any(name in sys.modules for name in ('anywidget', 'ipywidgets', 'torch')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_unknown_figure_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Pie"):
        figures.Pie  # noqa: B018


@every_figure
def test_figure_gives_a_page_a_notebook_and_a_reader_of_text_their_form(name):
    data, sizes = make(name)._repr_mimebundle_()
    assert set(data) == {
        "text/plain",
        "image/png",
        PAGE_HTML,
        "application/vnd.jupyter.widget-view+json",
    }
    assert data["text/plain"].startswith("Figure: ")
    assert "currentColor" in data[PAGE_HTML]
    assert '<svg xmlns="http://www.w3.org/2000/svg"' in data[PAGE_HTML]
    pixels = Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).convert("L")
    assert pixels.width == 1.5 * sizes["image/png"]["width"]
    lightest, darkest = pixels.getextrema()[1], pixels.getextrema()[0]
    assert (lightest, darkest < 80) == (255, True)


@every_figure
def test_state_in_the_page_is_the_state_in_python(name):
    figure = make(name)
    content = state_of(figure)
    assert content["module"] == figures.MODULES[name]
    assert content["state"] == json.loads(json.dumps(figure.state()))
    rebuilt = type(figure)()
    for trait_name, value in content["state"].items():
        entered = rebuilt.trait_metadata(trait_name, "from_json")(value, rebuilt)
        assert np.array_equal(entered, getattr(figure, trait_name))


@every_figure
def test_figure_with_its_state_and_its_scripts_is_light(name):
    everything = pages.standalone(make(name)).encode()
    assert len(everything) < MOST_BYTES.get(name, WEIGHT)


# What a reader may type in JupyterLab, or one assignment may do: traits that do not agree.
DISAGREEING = {
    "Averaging": ({}, {"values": [1, 2, 3]}, "8, 8\\) beside 3 values"),
    "SoftmaxAndScale": ({}, {"scores": [1.0]}, "1 scores"),
    "Windows": ({}, {"text": "to be or not"}, "starts is"),
    "BigramTable": ({}, {"row": 100}, "row is 100"),
    "AttentionMap": ({}, {"query": 99}, "query is 99"),
    "HeadShapes": ({}, {"selected": 60}, "selected is 60"),
    "ResidualStream": ({"position": 20}, {"text": "ab"}, "position is 20"),
    "Sampling": ({}, {"context": 9}, "context is 9"),
    "LiveModel": ({}, {"prompt": "é", "text": "é"}, "é"),
    "TrainingRun": ({}, {"text": "short"}, "has 5 symbols"),
    "FollowLetter": ({}, {"text": "O"}, "position is 16"),
    "LookingInside": ({}, {"text": "ab"}, "position is 20"),
}


@every_figure
def test_state_that_does_not_agree_is_told_in_words_whatever_is_asked_of_it(name):
    given, changed, says = DISAGREEING[name]
    figure = getattr(figures, name)(**given)
    figure.set_state(changed)  # as a page sends it: no trait is checked against the others
    follows = [key for key, made in vars(type(figure).__mro__[1]).items() if type(made) is computed]
    assert "alt" in follows
    for key in follows:
        with pytest.raises(CourseError, match=says):
            getattr(figure, key)
    data, _ = figure._repr_mimebundle_()
    assert re.search(says, data["text/plain"])
    assert re.search(says, data[PAGE_HTML])
    assert state_of(figure)["state"] == json.loads(json.dumps(figure.state()))


@every_figure
def test_everything_that_follows_from_the_state_has_it_checked(name):
    free = {"Windows": {"vocabulary", "tokens"}}  # what its check itself asks for
    made = vars(getattr(figures, name)).items()
    assert {key for key, one in made if type(one) is property} == free.get(name, set())


@every_figure
def test_same_state_gives_the_same_output(name):
    assert make(name).html() == make(name).html()


def all_on_one_page(figure_page, **reader):
    """A page of all of them, in the order of `NAMES`."""
    return figure_page(*map(make, NAMES), **reader)


@browser
@pytest.mark.parametrize("over", ["http", "file"])
def test_every_figure_mounts_with_nothing_beyond_this_machine(figure_page, over):
    page = all_on_one_page(figure_page, over=over)
    for place, name in enumerate(NAMES):
        assert page.locator(".course-figure").nth(place).is_visible(), name
        assert message(page, place) == "", name
        assert len(words(page, place)) > 30, name
    assert page.locator(".course-figure-still").count() == 0


@browser
@pytest.mark.parametrize("phone", [False, True], ids=["screen", "phone"])
def test_every_figure_fits_and_breaks_no_rule_of_accessibility(figure_page, phone):
    page = all_on_one_page(figure_page, phone=phone, touch=phone, calm=True)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        settle(page)
        wide = page.locator(".course-figure").evaluate_all(
            "figures => figures.map(e => e.scrollWidth - e.clientWidth)"
        )
        assert dict(zip(NAMES, wide, strict=True)) == dict.fromkeys(NAMES, 0), theme
        assert too_wide(page) == 0, theme
        assert violations(page) == [], theme


@browser
def test_still_picture_and_its_words_stand_where_no_script_runs(figure_page):
    every = list(map(make, NAMES))
    page = figure_page(*every, scripts=False)
    for place, figure in enumerate(every):
        still = page.locator(".course-figure-still").nth(place)
        assert still.locator("svg").is_visible()
        assert figure.alt in still.inner_text()
        assert "JavaScript" in still.inner_text()


@browser
def test_every_control_is_reached_by_tab_and_shows_its_focus(figure_page):
    page = all_on_one_page(figure_page, calm=True)
    wanted = set(
        page.evaluate(
            """() => {
              window.all = [...document.querySelectorAll('.course-figure *')];
              return all.filter(e => e.matches('button, input, textarea, select, [tabindex="0"]')
                && !e.disabled && e.getClientRects().length && (e.type !== 'radio' || e.checked))
                .map(e => all.indexOf(e));
            }"""
        )
    )
    reached, unmarked = set(), []
    for _ in range(len(wanted) + 10):
        page.keyboard.press("Tab")
        place, marked, markup = page.evaluate(
            """() => {
              const e = document.activeElement;
              const marks = [e, e.nextElementSibling].filter(Boolean).map(getComputedStyle);
              return [all.indexOf(e), marks.some(s => s.outlineStyle !== 'none'
                && parseFloat(s.outlineWidth) >= 2), e.outerHTML.slice(0, 100)];
            }"""
        )
        if place >= 0:
            reached.add(place)
            if not marked:
                unmarked.append(markup)
    assert unmarked == []
    assert reached == wanted
    assert len(wanted) > 60


@browser
def test_theme_of_the_book_and_of_jupyterlab_win_over_the_system(figure_page):
    page = figure_page(figures.Averaging(), theme="light")
    ink = "getComputedStyle(document.querySelector('.course-figure')).getPropertyValue('--cf-blue')"
    light = page.evaluate(ink)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    dark = page.evaluate(ink)
    page.evaluate("delete document.documentElement.dataset.theme")
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    assert light != dark == page.evaluate(ink)


def states(page):
    """The state of every figure of the page, as JSON."""
    page.locator(".course-figure-mount[data-mounted]").nth(len(NAMES) - 1).wait_for()
    return page.evaluate(
        "() => [...document.querySelectorAll('.course-figure-mount')]"
        ".map(place => JSON.stringify(place.figureModel.values))"
    )


@browser
@pytest.mark.parametrize("over", ["http", "file"])
def test_state_is_there_after_going_on_and_back_and_after_reload(figure_page, over):
    page = all_on_one_page(figure_page, over=over, calm=True)
    fresh = states(page)
    for place, name in enumerate(NAMES):
        IN_A_PAGE[name](page.locator(".course-figure").nth(place))
    changed = states(page)
    assert not set(fresh) & set(changed)
    address = page.url
    page.goto("about:blank")
    page.go_back()
    assert states(page) == changed
    page.reload()
    assert states(page) == changed
    assert page.locator(".cf-fault:visible").count() == 0
    page.goto("about:blank")
    page.goto(address)  # a new visit starts as the page was written
    assert states(page) == fresh


@browser
def test_address_sets_the_state_of_the_first_figure_of_its_kind(figure_page):
    page = figure_page(figures.Windows(), figures.FollowLetter(), figures.FollowLetter())
    page.goto(f"{page.url}?follow_letter.text=O+my&follow_letter.position=3&follow_letter.place=0")
    page.locator(".course-figure-mount[data-mounted]").nth(2).wait_for()
    assert (trait(page, "text", 1), trait(page, "position", 1)) == ("O my", 3)
    assert trait(page, "text", 2) == figures.FollowLetter().text
    assert message(page, 1) == message(page, 2) == ""


@browser
def test_link_to_what_one_sees_shows_it(figure_page):
    page = figure_page(figures.Averaging(), figures.LookingInside(), figures.Averaging())
    first = page.locator(".course-figure").first
    first.get_by_role("button", name="ones", exact=True).click()
    first.get_by_role("button", name="Link to what you see").click()
    inside = page.locator(".course-figure").nth(1)
    inside.get_by_label("2.1", exact=True).uncheck()
    inside.get_by_role("button", name="Link to what you see").click()
    assert page.get_by_role("button", name="Link to what you see").count() == 2
    page.wait_for_url("**?*looking_inside.off=*")
    address = page.url
    assert "weights" not in address
    page.goto("about:blank")
    page.goto(address)
    page.locator(".course-figure-mount[data-mounted]").nth(2).wait_for()
    assert (trait(page, "matrix", 0) == 1).all()
    assert trait(page, "off", 1) == ["2.1"]
    assert (trait(page, "matrix", 2) == figures.Averaging().matrix).all()


WALKED = """
async () => {
  const frames = async (count) => {
    for (let k = 0; k < count; k += 1) await new Promise(requestAnimationFrame);
  };
  const told = [];
  for (const root of document.querySelectorAll('.course-figure')) {
    const named = (label) => [...root.querySelectorAll('.cf-walk button')]
      .find(one => one.dataset.label === label);
    const begin = root.querySelector('.cf-link-walk');
    begin.click();
    const steps = [];
    for (;;) {
      await frames(6);
      steps.push({
        says: root.querySelector('.cf-walk p').textContent,
        state: JSON.stringify(root.closest('.course-figure-mount').figureModel.values),
        fault: root.querySelector('.cf-fault:not([hidden])')?.textContent ?? '',
      });
      if (named('Next').hidden) break;
      named('Next').click();
    }
    named('Back').click();
    await frames(6);
    steps.at(-1).back = JSON.stringify(root.closest('.course-figure-mount').figureModel.values);
    named('End').click();
    const gone = root.querySelector('.cf-walk').hidden;
    told.push({steps, ended: gone && document.activeElement === begin});
  }
  return told;
}
"""


@browser
def test_every_figure_walks_a_reader_through_its_own_controls(figure_page):
    page = all_on_one_page(figure_page, calm=True)
    for name, walk in zip(NAMES, page.evaluate(WALKED), strict=True):
        steps = walk["steps"]
        assert 3 <= len(steps) <= 5, name
        assert [step["fault"] for step in steps] == [""] * len(steps), name
        for number, step in enumerate(steps, start=1):
            assert step["says"].startswith(f"{number} of {len(steps)}. "), name
            assert 40 < len(step["says"]) < 200, step["says"]
        moved = [step["state"] for step in steps]
        assert all(a != b for a, b in itertools.pairwise(moved)), name
        assert steps[-1]["back"] == moved[-2], name
        assert walk["ended"], name


@browser
def test_address_that_asks_for_what_there_is_not_is_told_and_start_again_mends_it(figure_page):
    page = figure_page(figures.FollowLetter(), faulty=True)
    page.goto(f"{page.url}?follow_letter.position=60&follow_letter.nothing=1&follow_letter.seed=x")
    page.locator(".course-figure-mount[data-mounted]").wait_for()
    assert "There is no position 60" in message(page)
    page.get_by_role("button", name="Start again").click()
    assert message(page) == ""
    assert trait(page, "seed") == 1


@browser
def test_kept_state_that_cannot_be_read_is_left_aside(figure_page):
    page = figure_page(figures.Averaging())
    page.get_by_role("button", name="ones", exact=True).click()
    page.evaluate(
        """() => addEventListener('pagehide', () => {
          for (const key of Object.keys(sessionStorage)) sessionStorage.setItem(key, '{broken');
        })"""
    )
    page.reload()
    page.locator(".course-figure-mount[data-mounted]").wait_for()
    assert message(page) == ""
    assert trait(page, "matrix")[0, 1] == 0


@browser
def test_figure_that_breaks_says_so_and_the_others_work(figure_page):
    page = figure_page(figures.Averaging(), figures.Averaging(), faulty=True)
    page.evaluate(
        """() => {
          const { figureModel } = document.querySelector('.course-figure-mount');
          figureModel.set('matrix', {dtype: 'float32', shape: [3, 3], base64: 'AAAA'});
          figureModel.save_changes();
        }"""
    )
    assert "(3,3)" in message(page, 0)
    page.get_by_role("button", name="ones", exact=True).nth(1).click()
    assert (trait(page, "matrix", 1) == 1).all()
    page.get_by_role("button", name="Start again").click()
    assert message(page, 0) == ""


def stored(values):
    """An array as the page holds it, whether the figure would take it or not."""
    leaves = Array(default=[0.0]).metadata["to_json"]
    return leaves(np.asarray(values, np.float32), None)


BAD_STATES = [
    ("Averaging", "values", [np.nan] * 8, "The column of values holds NaN at place 0"),
    ("Averaging", "matrix", np.eye(3), "3"),
    ("SoftmaxAndScale", "scores", [1, 2, np.nan], "The row of scores holds NaN at place 2"),
    ("SoftmaxAndScale", "scores", np.ones((2, 2)), "A row of 4 scores"),
    ("BigramTable", "counts", np.ones((2, 3)), "The counts have shape (2, 3)"),
    ("BigramTable", "counts", np.full((16, 16), np.nan), "The table of counts holds NaN"),
    ("AttentionMap", "key_vectors", np.ones((1, 1, 2, 4)), "the keys (1, 1, 2, 4)"),
    ("Windows", "block_size", 400, "T = 400 takes 401"),
    ("Sampling", "context", 99, "There is no context 99"),
    ("HeadShapes", "selected", 500, "x has no number 500"),
    ("ResidualStream", "text", "x" * 200, "The text has 200 symbols, and the model reads"),
    ("LiveModel", "layer", 7, "There is no layer 8"),
    ("TrainingRun", "text", "short", "The text has 5 symbols"),
    ("FollowLetter", "stage", "head 9 9", "There is no stage “head 9 9”"),
    ("FollowLetter", "place", 64, "The stage has no number 64"),
    ("LookingInside", "text", "x" * 200, "The text has 200 symbols, and the model reads"),
    ("LookingInside", "layer", 7, "There is no layer 8"),
]


@browser
def test_state_that_cannot_be_shown_is_told_in_the_figure_and_start_again_mends_it(figure_page):
    names = list(dict.fromkeys(name for name, *_ in BAD_STATES))
    page = figure_page(*map(make, names), faulty=True)
    for name, trait_name, value, told in BAD_STATES:
        place = names.index(name)
        if not isinstance(value, int | str):
            value = stored(value)
        page.evaluate(
            """([place, name, value]) => {
              const mount = document.querySelectorAll('.course-figure-mount')[place];
              mount.figureModel.set(name, value);
              mount.figureModel.save_changes();
            }""",
            [place, trait_name, value],
        )
        assert told in message(page, place), (name, trait_name)
        again = page.locator(".course-figure").nth(place).get_by_role("button", name="Start again")
        again.click()
        # A figure that trains writes its text anew first, which takes as long as it takes.
        page.locator(".course-figure").nth(place).locator(".cf-fault").wait_for(state="hidden")
        assert message(page, place) == "", (name, trait_name)
    assert page.locator(".cf-fault:visible").count() == 0


OPERATE = """() => {
  const keys = ['ArrowRight', 'ArrowUp', 'End', 'Delete', '7', '+', 'Enter', ' '];
  const told = [];
  for (const [i, place] of document.querySelectorAll('.course-figure-mount').entries()) {
    const each = (wanted, act) => {
      for (const e of place.querySelectorAll(`.course-figure :is(${wanted})`)) {
        if (e.disabled || e.closest('.cf-fault')) continue;
        act(e);
        told.push([i, place.querySelector('.cf-fault').textContent]);
      }
    };
    const over = (e, type) => {
      const { left, top, width, height } = e.getBoundingClientRect();
      e.dispatchEvent(new PointerEvent(type, { bubbles: true, button: 0, pointerId: 1,
        pointerType: 'mouse', clientX: left + width / 2, clientY: top + height / 2 }));
    };
    each('canvas, svg, [tabindex="0"]', e => {
      e.dispatchEvent(new FocusEvent('focus'));
      for (const key of keys)
        e.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
      for (const type of ['pointermove', 'pointerdown', 'pointermove', 'pointerup', 'click'])
        over(e, type);
    });
    each('input[type=range]', e => {
      e.value = e.max;
      e.dispatchEvent(new Event('input'));
    });
    each('button, input[type=radio], input[type=checkbox]', e => e.click());
  }
  return told;
}"""


@browser
def test_no_control_breaks_a_figure_whose_kept_state_does_not_fit(figure_page):
    bad = {
        "Averaging": {"values": np.full(8, np.inf)},
        "SoftmaxAndScale": {"scores": np.full(5, np.nan)},
        "Windows": {"text": ""},
        "BigramTable": {"counts": np.ones((2, 3))},
        "AttentionMap": {"key_vectors": np.ones((1, 1, 2, 4))},
        "HeadShapes": {"selected": 500},
        "ResidualStream": {"text": "x" * 200},
        "Sampling": {"logits": np.ones((4, 3))},
        "LiveModel": {"prompt": "é", "text": "é"},
        "TrainingRun": {"text": "short"},
        "FollowLetter": {"position": 40},
        "LookingInside": {"text": "x" * 200},
    }
    assert set(bad) == set(NAMES)
    page = all_on_one_page(figure_page, faulty=True, calm=True)
    sent = [
        {
            trait: stored(value) if isinstance(value, np.ndarray) else value
            for trait, value in bad[name].items()
        }
        for name in NAMES
    ]
    page.evaluate(
        """bad => document.querySelectorAll('.course-figure-mount').forEach((place, i) => {
          for (const [name, value] of Object.entries(bad[i])) place.figureModel.set(name, value);
          place.figureModel.save_changes();
        })""",
        sent,
    )
    page.reload()
    states(page)
    for place, name in enumerate(NAMES):
        assert message(page, place), name
    told = page.evaluate(OPERATE)
    assert {place for place, _ in told} == set(range(len(NAMES)))
    assert [(NAMES[place], text) for place, text in told if "This figure stopped" in text] == []


@browser
def test_start_again_mends_a_kept_state_that_does_not_fit_and_keeps_the_focus(figure_page):
    page = figure_page(figures.Averaging(), figures.Averaging(), faulty=True)
    page.get_by_role("button", name="ones", exact=True).first.click()
    page.evaluate(
        """() => addEventListener('pagehide', () => {
          for (const key of Object.keys(sessionStorage))
            sessionStorage.setItem(key, JSON.stringify(
              { values: { dtype: "float32", shape: [1], base64: "" } }));
        })"""
    )
    page.reload()
    page.locator(".course-figure-mount[data-mounted]").nth(1).wait_for()
    assert "came as 0 bytes" in message(page, 0)
    assert message(page, 1) == ""
    page.get_by_role("button", name="Start again").press("Enter")
    assert message(page, 0) == ""
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Averaging"
    page.keyboard.press("Tab")
    assert page.locator(".course-figure").first.get_by_role("radio").first.is_checked()
    assert page.evaluate("document.activeElement.type") == "radio"


@browser
def test_module_that_is_missing_leaves_the_still_picture_with_a_word(figure_page, tmp_path, visit):
    whole = pages.standalone(figures.Averaging())
    broken = whole.replace('register("averaging.js"', 'register("other.js"')
    assert broken != whole
    (tmp_path / "broken.html").write_text(broken, encoding="utf-8")
    page = visit(tmp_path.as_uri(), viewport={"width": 800, "height": 800}).page
    page.goto(f"{tmp_path.as_uri()}/broken.html")
    page.get_by_text("could not be made to answer").wait_for()
    assert page.locator(".course-figure-still").is_visible()


@browser
def test_nothing_in_the_state_can_end_the_script_that_holds_it(figure_page):
    nasty = ["</script><script>window.hurt=1</script>", "<!--<script>", "\u2028", "]]>"]
    page = figure_page(
        figures.Averaging(values=[1, 2, 3, 4], labels=nasty),
        figures.Windows(text="</script><b>window.hurt = 1</b><!-- <script>", starts=[0]),
    )
    assert trait(page, "labels") == nasty
    assert page.evaluate("window.hurt") is None
    assert page.locator(".course-figure b b, .course-figure-still b b").count() == 0


def test_page_gets_every_module_that_its_figures_import_once_and_no_other():
    many = pages.standalone(figures.Averaging(), figures.Averaging(), figures.BigramTable())
    given = re.findall(r'courseFigures\.register\("([\w/.]+)"', many)
    assert len(given) == len(set(given))
    assert set(given) == set(sources.needed("averaging", "bigram_table")) | set(sources.common())
    assert {"averaging.js", "bigram_table.js", "runtime/matrix.js", "runtime/frame.js"} <= set(
        given
    )
    assert not {"windows.js", "runtime/engine.js", "runtime/live_weights.js"} & set(given)


class Sample(Figure):
    """Has one trait of each kind."""

    _esm = "export default {}"

    matrix = Array("T", "T", default=[[0.0]])
    codes = Array("N", kind="int", default=[0])
    share = Number(0.5, 0, 1)
    count = Number(2, 0, 9, whole=True)
    on = Flag(True)
    mode = Choice("plain", "bold")
    text = Text("a", most=5, empty=False)
    names = Texts()
    bounded = Array("N", finite=True, default=[0.0])
    letters = Texts(["a"], single=True)


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"matrix": [[1.0, 2.0]]}, ShapeError, r"matrix has shape \(1, 2\).*\(T, T\)"),
        ({"matrix": "abc"}, FigureError, "matrix is 'abc'"),
        ({"matrix": [[1], [2, 3]]}, FigureError, "an array of numbers"),
        ({"codes": np.zeros(0)}, ShapeError, "no size 0"),
        ({"bounded": [1e39]}, FigureError, "at most 3.4e38"),
        ({"letters": ["a", "bc"]}, FigureError, "symbols of one character each"),
        ({"share": 1.5}, FigureError, "share is 1.5: give a number from 0 to 1"),
        ({"share": float("nan")}, FigureError, "share is nan"),
        ({"share": "x"}, FigureError, "share is 'x'"),
        ({"count": 2.5}, FigureError, "a whole number from 0 to 9"),
        ({"on": 1}, FigureError, "True or False"),
        ({"mode": "thin"}, FigureError, "'plain', 'bold'"),
        ({"text": ""}, FigureError, "a text of 1 to 5 symbols"),
        ({"text": "abcdef"}, FigureError, "a text of 1 to 5 symbols"),
        ({"names": ["a", ""]}, FigureError, "none of them empty"),
        ({"names": 3}, FigureError, "a list of texts"),
    ],
)
def test_wrong_value_is_refused_with_its_name_the_value_and_the_remedy(wrong, error, says):
    figure = Sample()
    ((name, value),) = wrong.items()
    before = figure.state()
    with pytest.raises(error, match=says):
        setattr(figure, name, value)
    assert figure.state() == before
    with pytest.raises(error, match=says):
        Sample(**wrong)


def test_state_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="colour"):
        Sample(colour="red")


def test_arrays_take_tensors_hold_nan_and_infinity_and_cannot_be_changed_in_place():
    import torch

    values = torch.tensor([[float("nan"), float("-inf")], [0.1, float("inf")]])
    figure = Sample(matrix=values.requires_grad_())
    stored = figure.state()["matrix"]
    assert json.loads(json.dumps(stored, allow_nan=False)) == stored
    back = figure.trait_metadata("matrix", "from_json")(stored, figure)
    assert np.array_equal(back, values.detach().numpy(), equal_nan=True)
    with pytest.raises(ValueError, match="read-only"):
        figure.matrix[0, 0] = 1.0


def test_change_takes_all_or_nothing():
    figure = figures.Averaging()
    before = figure.state()
    with pytest.raises(ShapeError, match=re.escape("(8, 8) beside 3 values")):
        figure.change(values=[1, 2, 3])
    assert figure.state() == before
    figure.change(values=[1, 2, 3], matrix=np.eye(3), scores=np.zeros((3, 3)), row=2)
    assert figure.outputs.tolist() == [1, 2, 3]


def test_module_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(FigureError, match=r"'pie'.*averaging"):
        sources.needed("pie")
