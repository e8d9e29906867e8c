"""What `book/accessibility.md` says of the criteria of WCAG 2.1 is true: what axe-core does not
look at, on one page of each kind.
"""

import itertools
import re
from pathlib import Path

import pytest
from browsing import figures_mounted

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book/accessibility.md").read_text(encoding="utf-8")

# Level A and level AA, by guideline.
CRITERIA = {
    "1.1": (1,),
    "1.2": (1, 2, 3, 4, 5),
    "1.3": (1, 2, 3, 4, 5),
    "1.4": (1, 2, 3, 4, 5, 10, 11, 12, 13),
    "2.1": (1, 2, 4),
    "2.2": (1, 2),
    "2.3": (1,),
    "2.4": (1, 2, 3, 4, 5, 6, 7),
    "2.5": (1, 2, 3, 4),
    "3.1": (1, 2),
    "3.2": (1, 2, 3, 4),
    "3.3": (1, 2, 3, 4),
    "4.1": (1, 2, 3),
}

KINDS = ["book/index", "book/04-bigram", "book/field-guide", "exercises/05-head/05-head"]
WINDOW = {"width": 1300, "height": 900}
NARROW = {"width": 320, "height": 640}  # what is left of 1280 pixels at 400 %

# As success criterion 1.4.12 has them.
SPACED = """
* {
  line-height: 1.5 !important;
  letter-spacing: 0.12em !important;
  word-spacing: 0.16em !important;
}
p { margin-bottom: 2em !important; }
"""

TOO_WIDE = """
() => {
  const room = document.documentElement.clientWidth;
  const scrolls = (e) => e && (getComputedStyle(e).overflowX !== 'visible'
    && e !== document.documentElement && e !== document.body || scrolls(e.parentElement));
  if (document.documentElement.scrollWidth <= room) return [];
  return [...document.querySelectorAll('main *')]
    .filter(e => e.getBoundingClientRect().right > room + 1 && !scrolls(e.parentElement))
    .slice(0, 5).map(e => `${e.tagName}.${e.className} ${e.textContent.trim().slice(0, 40)}`);
}
"""

CUT_OFF = """
() => [...document.querySelectorAll('article :is(p, li, h1, h2, h3, button, label, td, th)')]
  .filter(e => e.checkVisibility() && !e.closest('[class*=hidden], .cp-unseen'))
  .filter(e => ['hidden', 'clip'].includes(getComputedStyle(e).overflowY)
    && e.scrollHeight > e.clientHeight + 2)
  .map(e => `${e.tagName}.${e.className} ${e.textContent.trim().slice(0, 40)}`)
"""

HEADINGS = """
() => [...document.querySelectorAll('main :is(h1, h2, h3, h4, h5, h6)')]
  .filter(e => e.checkVisibility()).map(e => Number(e.localName[1]))
"""

IDS = """
() => {
  const all = [...document.querySelectorAll('[id]')].map(e => e.id);
  return all.filter((id, at) => all.indexOf(id) !== at);
}
"""

LAST_STOP = """
() => {
  window.stops = [...document.querySelectorAll(
    'a[href], button, input, select, textarea, [tabindex="0"], summary')]
    .filter(e => !e.disabled && e.checkVisibility());
  window.stops.at(-1).focus();
}
"""

# Controls that would look like text: without a border, a line, a drawing or a fold's sign.
BARE = """
() => [...document.querySelectorAll('main :is(button, input, select, textarea)')]
  .filter(e => e.checkVisibility() && !e.closest('[class*=hidden], .cp-unseen'))
  .filter(e => !['radio', 'checkbox', 'range', 'file'].includes(e.type))
  .filter(e => !e.querySelector('svg') && !e.ariaExpanded)
  .filter(e => {
    const {borderTopWidth, outlineStyle, textDecorationLine} = getComputedStyle(e);
    return !parseFloat(borderTopWidth) && outlineStyle === 'none' && textDecorationLine === 'none'
      && e.textContent.trim();
  })
  .map(e => e.outerHTML.slice(0, 120))
"""


def browses(test):
    """In a browser, and not between edits."""
    return pytest.mark.browser(pytest.mark.slow(test))


def rows():
    """Criterion, state and tests of each row of the page."""
    found = re.findall(r"^\| (\d\.\d\.\d+) [^|]*\| ([^|]*?) \| (.*) \|$", PAGE, re.MULTILINE)
    return {number: (state, re.findall(r"`(tests/[^`]+)`", how)) for number, state, how in found}


def test_page_speaks_of_each_criterion_once():
    found = re.findall(r"^\| (\d\.\d\.\d+) ", PAGE, re.MULTILINE)
    assert len(found) == len(set(found)) == 50
    assert set(found) == {f"{guide}.{n}" for guide, all_ in CRITERIA.items() for n in all_}


def test_every_state_is_one_of_three_and_what_is_not_met_is_said_above():
    for number, (state, _) in rows().items():
        assert state in ("met", "met in part", "nothing of the kind"), number
        if state == "met in part":
            above = PAGE.partition("## Each criterion")[0]
            assert number in above, number


def test_every_test_that_the_page_names_is_there():
    named = {test for _, tests in rows().values() for test in tests}
    assert len(named) > 10
    for test in named:
        file, _, function = test.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert not function or f"def {function}(" in text, test


def test_words_of_another_language_say_so():
    pages = [*(ROOT / "book").glob("*.ipynb"), *(ROOT / "book").glob("*.md")]
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    assert len(re.findall(r'\*<span lang=\\?"de\\?">', text)) >= 3
    assert not re.findall(r"German \*(?!<span)", text)


@browses
@pytest.mark.parametrize("name", KINDS)
def test_page_meets_what_axe_does_not_look_at(served, visit, name):
    reader = visit(served, viewport=WINDOW)
    page = reader.open(f"{served}/{name}.html")
    figures_mounted(page)

    assert page.locator("html").get_attribute("lang") == "en"
    heading = page.locator("main h1:visible").first.inner_text().rstrip("#").strip()
    assert page.title().replace("\xa0", " ").startswith(heading)
    levels = page.evaluate(HEADINGS)
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert page.evaluate(IDS) == []

    address = page.url
    page.keyboard.press("Tab")
    first = page.evaluate("[document.activeElement.className, document.activeElement.hash ?? '']")
    assert first[0] == "skip-link" or first[1] == "#main-content"
    page.evaluate(LAST_STOP)
    for _ in range(12):  # nothing holds whoever goes back from the page's end
        page.keyboard.press("Shift+Tab")
    assert (
        0
        <= page.evaluate("stops.indexOf(document.activeElement)")
        < page.evaluate("stops.length - 5")
    )
    assert page.url == address

    page.emulate_media(forced_colors="active")
    assert page.evaluate(BARE) == []
    page.emulate_media(forced_colors="none")

    page.add_style_tag(content="html { font-size: 200% !important; }")
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate(CUT_OFF) == []
    page.evaluate("document.head.lastElementChild.remove()")

    page.set_viewport_size(NARROW)
    assert page.evaluate(TOO_WIDE) == []
    page.add_style_tag(content=SPACED)
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate(CUT_OFF) == []
    assert reader.faults == []


@browses
def test_single_key_does_nothing_in_a_page(served, visit):
    page = visit(served, viewport=WINDOW).open(f"{served}/book/01-averages.html")
    before = page.evaluate("[scrollY, location.href, document.activeElement.localName]")
    for key in "/?sjknp.ghl":
        page.keyboard.press(key)
    assert page.evaluate("[scrollY, location.href, document.activeElement.localName]") == before
