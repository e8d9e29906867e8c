"""A reader walks every page: on a screen and on a phone, by day and by night, with no network."""

import os
import re

import pytest
from browsing import figures_mounted, violations
from reader import pages

from course_lib import __version__
from setup import course_archive

PAGES = [*pages(), "search", "genindex"]

# One page of each kind is examined by axe-core, with all of its rules; every page under
# EXAMINE=all.
EXAMINED = [
    "book/index",
    "book/09-names",
    "book/gallery",
    "book/instructor-guide",
    "book/references",
    "exercises/01-averages/01-averages",
    "search",
]
if os.environ.get("EXAMINE") == "all":
    EXAMINED = PAGES

# What a page may load in all, in bytes as they are shown: with a slow phone, a second is 200,000.
HEAVIEST = {"book/index": 1_000_000}
HEAVIEST_OTHER = 1_500_000

WIDE = {"width": 1300, "height": 900}
PHONE = {"width": 390, "height": 800}

# Text and the lines of pictures against what really lies behind them, as WCAG 2.1 measures it.
CONTRASTS = """
() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const known = new Map();
  const rgba = colour => {
    if (!known.has(colour)) known.set(colour, read(colour));
    return known.get(colour);
  };
  const read = colour => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] > 200) return colour;
    }
    return [255, 255, 255, 255];
  };
  const poor = [];
  const look = (element, colour, least) => {
    const [a, b] = [light(rgba(colour)), light(behind(element))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < least) poor.push(
      `${contrast.toFixed(1)}:1 ${element.tagName} "${element.textContent.trim().slice(0, 40)}"`);
  };
  const shown = e => e.getClientRects().length && e.textContent.trim();
  const texts = 'article p, article li, article td, article h1, article h2';
  for (const e of document.querySelectorAll(texts))
    if (shown(e) && !e.closest('svg')) look(e, getComputedStyle(e).color, 4.5);
  // Letters in a colour of their own stand on a shape of the picture that was drawn for them.
  const drawn = 'article .still-figure svg text, .path-picture text';
  for (const e of document.querySelectorAll(drawn)) {
    const style = getComputedStyle(e), picture = e.closest('svg');
    if (shown(e) && style.fill === getComputedStyle(picture).color)
      look(picture.parentElement, style.fill, 4.5);
  }
  return poor;
}
"""

# Brought to their end, not waited for: what the browser skips because it is out of sight stands
# still, and so do transitions there.
COLORS_CHANGED = """
() => document.getAnimations()
  .filter(one => one instanceof CSSTransition).forEach(one => one.finish())
"""

EQUATIONS = """
() => ({
  written: document.querySelectorAll('article .math').length,
  set: document.querySelectorAll('article .math > math').length,
  flat: [...document.querySelectorAll('article .math > math')]
    .filter(e => e.getClientRects().length && e.getBoundingClientRect().height < 5)
    .map(e => e.textContent),
})
"""

MARK_IN_SIGHT = """
() => {
  const { top, bottom } = document.querySelector('article .highlighted').getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}
"""

LOADED = """
() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter(entry => entry.name.startsWith('http'))
  .map(entry => [entry.decodedBodySize, new URL(entry.name).pathname])
"""

PICTURES = """
async () => {
  const faults = [];
  for (const picture of document.querySelectorAll('article img')) {
    picture.loading = 'eager';
    await picture.decode().catch(() => {});
    if (!picture.naturalWidth) faults.push(`not loaded: ${picture.src.slice(0, 80)}`);
    if (!picture.alt.trim()) faults.push(`no alt: ${picture.src.slice(0, 80)}`);
  }
  for (const picture of document.querySelectorAll('article svg')) {
    if (picture.closest('button') || picture.parentElement.closest('svg')) continue;
    const names = (picture.getAttribute('aria-labelledby') || '').split(' ').filter(Boolean);
    const said = picture.getAttribute('aria-label')
      || names.map(id => document.getElementById(id)?.textContent || '').join(' ');
    if (picture.getAttribute('aria-hidden') !== 'true' && !said.trim())
      faults.push(`no words: ${picture.outerHTML.slice(0, 80)}`);
    if (!picture.getBoundingClientRect().height) faults.push(`no height: ${said}`);
  }
  return faults;
}
"""

NAMES_MISSING = """
() => [...document.querySelectorAll('article th')]
  .filter(head => !head.textContent.trim())
  .map(head => `a column without a name: ${head.closest('table').textContent.trim().slice(0, 60)}`)
  .concat([...document.querySelectorAll('article summary[aria-label]')]
    .map(fold => `a fold called ${fold.ariaLabel}, on which stands ${fold.textContent.trim()}`))
"""

TOO_WIDE = """
() => {
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= room) return [];
  const scrolls = e => e && (['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX)
    ? e !== document.documentElement && e !== document.body : scrolls(e.parentElement));
  return [`page is ${document.documentElement.scrollWidth} wide, has ${room}`,
    ...[...document.querySelectorAll('main *')]
      .filter(e => e.getBoundingClientRect().right > room + 1 && !scrolls(e.parentElement))
      .slice(0, 5).map(e => `${e.tagName}.${e.className} "${e.textContent.trim().slice(0, 40)}"`)];
}
"""


CHARACTERS_A_LINE = """
() => {
  const lines = [];
  for (const text of document.querySelectorAll('article section > p')) {
    const height = parseFloat(getComputedStyle(text).lineHeight);
    const count = Math.round(text.getBoundingClientRect().height / height);
    // The last line of a paragraph is half full on average.
    if (count > 2) lines.push(text.innerText.length / (count - 0.5));
  }
  return lines.reduce((sum, one) => sum + one, 0) / lines.length;
}
"""

CODE_CUT = """
() => [...document.querySelectorAll('article .cell_input pre')]
  .filter(code => code.scrollWidth > code.clientWidth + 1).length
"""


# How far things moved that had been in sight, as browsers count it: a share of the window.
SHIFTS = """
window.shifts = [];
new PerformanceObserver(list => window.shifts.push(...list.getEntries()
  .filter(entry => !entry.sources.every(source => source.node?.parentElement?.closest('nav')))
  .map(entry => entry.value))).observe({type: 'layout-shift'});
"""


@pytest.mark.slow
def test_every_page_of_the_book_is_walked(book):
    built = {
        path.relative_to(book).as_posix().removesuffix(".html") for path in book.rglob("*.html")
    }
    assert built == {*PAGES, "index"}


@pytest.mark.slow
def test_no_page_and_no_notebook_names_a_repository_that_there_is_not(book):
    shown = [*book.rglob("*.html"), *book.rglob("*.ipynb")]
    assert not [path for path in shown if "OWNER/" in path.read_text(encoding="utf-8")]
    assert (book / course_archive.name()).is_file()


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_page_reads_well_with_nothing_beyond_this_machine(served, visit, name):
    reader = visit(served, viewport=WIDE, color_scheme="light")
    page = reader.open(f"{served}/{name}.html")
    figures_mounted(page)
    equations = page.evaluate(EQUATIONS)
    assert equations["flat"] == []
    assert equations["set"] == equations["written"]
    assert page.evaluate(PICTURES) == []
    assert page.evaluate(NAMES_MISSING) == []
    loaded = page.evaluate(LOADED)
    assert sum(size for size, _ in loaded) <= HEAVIEST.get(name, HEAVIEST_OTHER), sorted(loaded)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(f"() => document.documentElement.dataset.theme === '{theme}'")
        page.evaluate(COLORS_CHANGED)
        assert page.evaluate(CONTRASTS) == []
        if name in EXAMINED:  # of all rules, only contrast depends on the theme
            rules = None if theme == "light" else ["color-contrast"]
            assert violations(page, rules=rules) == [], theme
    page.set_viewport_size(PHONE)
    assert page.evaluate(TOO_WIDE) == []
    if name in EXAMINED:
        assert violations(page) == [], "phone"
    assert not page.locator(".cf-fault:visible").count()
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", ["book/notation", "book/01-averages"])
def test_page_reads_well_from_a_folder_without_a_server(book, visit, name):
    reader = visit(book.as_uri(), viewport=WIDE)
    page = reader.open(f"{book.as_uri()}/{name}.html")
    equations = page.evaluate(EQUATIONS)
    assert equations["set"] == equations["written"] > 0
    assert page.evaluate(PICTURES) == []
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_search_finds_a_word_and_leads_to_its_section(served, visit):
    reader = visit(served, viewport=WIDE)
    page = reader.open(f"{served}/book/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("perplexity")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=perplexity*")
    found = page.locator("#search-results li", has_text="04 · The bigram baseline")
    found.first.wait_for()
    assert any("Glossary" in title for title in page.locator("#search-results a").all_inner_texts())
    found.locator("p.context").first.wait_for()  # the sentences around the word
    assert "perplexity" in found.first.inner_text().lower()
    found.locator("a", has_text=re.compile("^04")).first.click()
    lands_on("perplexity", page)
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_search_works_from_a_folder_and_says_what_it_cannot_show(book, visit):
    reader = visit(book.as_uri(), viewport=WIDE)
    page = reader.open(f"{book.as_uri()}/search.html?q=perplexity")
    page.locator("#search-results a", has_text=re.compile("^04")).first.click()
    lands_on("perplexity", page)
    page.go_back()
    assert "titles alone" in page.locator(".search-note").inner_text()
    assert reader.faults == []


def lands_on(word, page):
    """The address names a section, and the word is marked and in sight."""
    page.wait_for_url(re.compile(r"/book/04-bigram\.html#[a-z-]+$"))
    assert page.locator("article .highlighted").first.inner_text().lower() == word
    page.wait_for_function(MARK_IN_SIGHT)  # figures above it may still be drawn


@pytest.mark.browser
@pytest.mark.slow
def test_panel_of_contents_closes_after_a_choice(served, visit):
    reader = visit(served, viewport=PHONE)
    page = reader.open(f"{served}/book/05-head.html")
    page.locator(".secondary-toggle:visible").click()
    page.locator("dialog[open] a[href='#scores']").click()
    page.wait_for_url("**/05-head.html#scores")
    assert page.locator("dialog[open]").count() == 0
    assert page.locator("#scores h2").is_visible()
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_folded_code_is_quiet_and_paper_has_neither_its_labels_nor_a_page_of_contents(
    served, visit
):
    reader = visit(served, viewport={"width": 760, "height": 1000})  # a sheet of A4
    page = reader.open(f"{served}/book/05-head.html")
    figures_mounted(page)
    fold = page.locator("article details.hide").first
    assert fold.evaluate("one => getComputedStyle(one).boxShadow") == "none"
    label = fold.locator("summary > p:visible")
    assert label.evaluate("one => getComputedStyle(one).fontWeight") == "400"
    page.emulate_media(media="print")
    assert page.locator("article details.hide > summary:visible").count() == 0
    assert page.locator(".course-figure button:visible").count() == 0
    assert 0 < page.locator("#jb-print-docs-body").bounding_box()["height"] < 250
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_contents_show_where_one_is_whatever_page_one_comes_from(served, visit):
    reader = visit(served, viewport={"width": 1400, "height": 500})
    page = reader.open(f"{served}/book/01-averages.html")
    page.evaluate("document.getElementById('pst-primary-sidebar').scrollTop = 0")
    for name in ("book/13-two-sequences", "book/references", "book/01-averages"):
        page = reader.open(f"{served}/{name}.html")
        here = page.locator("#pst-primary-sidebar .bd-docs-nav a.current").last
        box = here.bounding_box()
        assert 0 <= box["y"] <= 500 - box["height"], name
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_a_finger_finds_every_control_and_an_eye_what_goes_on_to_the_right(served, visit):
    reader = visit(served, viewport=PHONE, has_touch=True, is_mobile=True)
    page = reader.open(f"{served}/book/04-bigram.html")
    formula = page.wait_for_selector("div.math[data-goes-on]")
    formula.evaluate("formula => formula.scrollTo(formula.scrollWidth, 0)")
    page.wait_for_function("formula => !formula.hasAttribute('data-goes-on')", arg=formula)
    figures_mounted(page)
    heights = page.evaluate(
        """() => [...document.querySelectorAll('.bd-header-article button, .cf-button')]
          .filter(one => one.checkVisibility()).map(one => one.getBoundingClientRect().height)"""
    )
    assert min(heights) >= 43.5
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_no_gap_stands_behind_a_root(served, visit):
    reader = visit(served, viewport=WIDE)
    page = reader.open(f"{served}/book/05-head.html")
    page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
    gaps = page.evaluate(
        """() => [...document.querySelectorAll('p math')]
          .filter(one => one.lastElementChild?.localName === 'msqrt')
          .map(one => one.getBoundingClientRect().right
            - one.lastElementChild.lastElementChild.getBoundingClientRect().right)"""
    )
    assert gaps
    assert 0 <= min(gaps) <= max(gaps) < 3  # of 18 pixels, which a letter is high
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_mark_in_the_text_leads_to_its_check_and_back(served, visit):
    reader = visit(served, viewport=WIDE)
    page = reader.open(f"{served}/book/05-head.html")
    mark = page.locator(".check-mark a").nth(3)
    code = page.locator(".checks .check pre").nth(3)
    assert not code.is_visible()
    assert page.locator(".cell.tag_assertion details").count() == 0
    mark.click()
    code.wait_for(state="visible")
    assert "assert" in code.inner_text()
    page.locator(".check-place a").nth(3).click()
    page.wait_for_url("**#check-4")
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("window", [WIDE, PHONE])
def test_nothing_moves_while_a_page_is_scrolled(served, visit, window):
    reader = visit(served, viewport=window)
    page = reader.open(f"{served}/book/05-head.html")
    figures_mounted(page)
    page.evaluate(SHIFTS)
    page.mouse.move(window["width"] / 2, window["height"] / 2)
    page.evaluate(
        """async () => {
          const frame = () => new Promise(requestAnimationFrame);
          while (scrollY + innerHeight < document.documentElement.scrollHeight - 1) {
            scrollBy({top: innerHeight / 2, behavior: 'instant'});
            await frame(); await frame();
          }
          await frame();
        }"""
    )
    assert sum(page.evaluate("window.shifts")) < 0.01


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("window", [WIDE, PHONE])
def test_nothing_moves_when_the_first_page_arrives_and_learns(served, visit, window):
    reader = visit(served, viewport=window)
    reader.page.add_init_script(SHIFTS)
    page = reader.open(f"{served}/book/index.html")
    figures_mounted(page)
    page.locator(".first_screen-told li").nth(1).wait_for()
    assert sum(page.evaluate("window.shifts")) <= 0.02
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_page_has_its_theme_before_any_script_has_come(served, visit, theme):
    page = visit(served, viewport=WIDE, color_scheme=theme).page
    page.route("**/*.js*", lambda route: route.abort())
    page.goto(f"{served}/book/05-head.html")
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    behind = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (behind == "rgb(255, 255, 255)") == (theme == "light")


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("window", [{"width": 1400, "height": 900}, WIDE, PHONE])
def test_nothing_moves_when_what_a_script_brings_arrives(served, visit, window):
    reader = visit(served, viewport=window)
    reader.page.add_init_script(SHIFTS)
    for name, brought in (
        ("book/field-guide", ".guide-filter"),
        ("exercises/05-head/05-head", ".cp-panel"),
        ("exercises/my-gpt/my-gpt", ".cp-panel"),
    ):
        page = reader.open(f"{served}/{name}.html")
        page.locator(brought).wait_for()
        page.wait_for_load_state("networkidle")
        assert sum(page.evaluate("window.shifts")) <= 0.02, name
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_first_page_leads_into_the_model_with_what_it_wrote(served, visit):
    reader = visit(served, viewport=WIDE)
    page = reader.open(f"{served}/book/index.html")
    figures_mounted(page)
    page.locator(".first_screen-typed input").fill("O my lord.")
    page.locator(".first_screen-typed input").press("Enter")
    page.wait_for_function("document.querySelector('.course-figure').shown?.letters[0] > 3")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("link", name="Look inside it").click()
    page.wait_for_url("**/book/gallery-whole.html?*#follow-one-letter")
    figures_mounted(page)
    text = page.get_by_label("Text", exact=True).first.input_value()
    assert "O my lord" in text
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_every_page_says_its_release_and_what_a_link_to_it_shows(served, visit, book):
    reader = visit(served, viewport=WIDE)
    page = reader.open(f"{served}/book/index.html")
    said = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("meta[name], meta[property]")]
          .map(one => [one.getAttribute("name") ?? one.getAttribute("property"), one.content]))"""
    )
    assert said["description"] == said["og:description"]
    assert said["og:title"] == "From Averages to Transformers"
    assert f"Version {__version__}" in page.locator(".page-foot").inner_text()
    assert (book / "_static" / "link-card.png").stat().st_size < 100_000
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 1440, 1920])
def test_lines_hold_66_to_75_characters_and_code_fits(served, visit, width):
    reader = visit(served, viewport={"width": width, "height": 900})
    page = reader.open(f"{served}/book/05-head.html")
    assert 66 <= page.evaluate(CHARACTERS_A_LINE) <= 75
    assert page.evaluate(CODE_CUT) == 0


@pytest.mark.browser
@pytest.mark.slow
def test_theme_button_changes_the_theme_and_the_choice_stays(served, visit):
    reader = visit(served, viewport=WIDE, color_scheme="light")
    page = reader.open(f"{served}/book/index.html")
    theme = "document.documentElement.dataset.theme"
    for _ in range(3):  # automatic, light, dark, in an order that is the theme's
        page.locator("button.theme-switch-button:visible").first.click()
        if page.evaluate(theme) == "dark":
            break
    assert page.evaluate(theme) == "dark"
    reader.open(f"{served}/book/notation.html")
    assert page.evaluate(theme) == "dark"
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_page_is_readable_with_scripts_switched_off(served, visit):
    reader = visit(served, viewport=WIDE, java_script_enabled=False)
    reader.page.goto(f"{served}/book/01-averages.html")
    assert reader.page.locator("article h1").is_visible()
    assert reader.page.locator("article .still-figure").first.is_visible()
    assert reader.page.locator("html").get_attribute("data-theme") == "light"
    assert not [fault for fault in reader.faults if fault.startswith("leaves the machine")]


@pytest.mark.browser
@pytest.mark.slow
def test_paper_shows_the_text_and_no_buttons(served, visit):
    reader = visit(served, viewport=WIDE, color_scheme="dark")
    page = reader.open(f"{served}/exercises/01-averages/01-averages.html")
    page.emulate_media(media="print")
    assert page.locator("h1:visible").count() == 1
    assert page.locator("article h2").first.is_visible()
    assert not page.locator(".notebook-buttons").is_visible()
    assert not page.locator("#pst-primary-sidebar").is_visible()


# As for paper: nothing is drawn anew for the width of a sheet.
HOLDING = """
window.ResizeObserver = class extends ResizeObserver {
  constructor(told) { super((...what) => window.held || told(...what)); }
};
"""
BEYOND_A_SHEET = """() => {
  const article = document.querySelector("article");
  article.style.width = "700px";  // of A4, 718 are between the usual margins
  const drawn = [...article.querySelectorAll(".course-figure :is(svg, canvas, table)")];
  const found = drawn.filter(one => one.getClientRects().length)
    .map(one => [one, one.closest(".course-figure").parentElement].map(e =>
      e.getBoundingClientRect().right))
    .filter(([right, edge]) => right > edge + 1);
  article.style.width = "";
  return [drawn.length, found];
}"""
KEPT_WHOLE = """() => [...document.querySelectorAll("article pre")].filter(one => {
  for (let e = one; e.localName !== "article"; e = e.parentElement) {
    const style = getComputedStyle(e);
    if (style.breakInside !== "auto" || style.overflowY !== "visible") return true;
  }
  return false;
}).map(one => one.textContent.slice(0, 40))"""


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["book/02-affinities", "book/gallery", "book/gallery-models", "book/gallery-whole"]
)
def test_figures_fit_a_sheet_of_paper_and_code_goes_on_overleaf(served, visit, name):
    reader = visit(served, viewport={"width": 1400, "height": 900}, reduced_motion="reduce")
    reader.page.add_init_script(HOLDING)
    page = reader.open(f"{served}/{name}.html")
    figures_mounted(page)
    page.wait_for_function("!document.querySelector('.course-figure[data-drawing]')")
    page.evaluate("window.held = true")
    page.emulate_media(media="print")
    drawn, beyond = page.evaluate(BEYOND_A_SHEET)
    assert drawn > 0
    assert beyond == []
    assert page.evaluate(KEPT_WHOLE) == []
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_address_of_the_site_leads_to_the_first_page(served, visit):
    reader = visit(served, viewport=WIDE)
    reader.page.goto(f"{served}/")
    reader.page.wait_for_url("**/book/index.html")
    reader.page.wait_for_load_state("load")
    assert reader.page.locator("article .path-picture").is_visible()
    assert reader.faults == []
