"""A reader walks every page: on a screen and on a phone, by day and by night, with no network."""

import pytest
from browsing import figures_mounted, violations
from reader import pages

PAGES = [*pages(), "search", "genindex"]

# One page of each kind is examined by axe-core.
EXAMINED = ["book/index", "book/09-names", "book/gallery", "exercises/01-averages/01-averages"]

# Rules that the theme breaks in elements of its own, where neither a setting nor a style mends it:
# what marks the element, and why.
THEME_BREAKS = {
    "region": "navbar-brand logo",  # the title above the contents stands outside of every landmark
    "summary-name": "has-children",  # the arrows that fold the contents hold an icon and no words
}


def ours(found):
    """What axe-core found, without what is the theme's."""
    return [
        line
        for line in found
        if not any(
            line.startswith(f"{rule}:") and mark in line for rule, mark in THEME_BREAKS.items()
        )
    ]


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
COLOURS_CHANGED = """
() => document.getAnimations()
  .filter(one => one instanceof CSSTransition).forEach(one => one.finish())
"""

EQUATIONS = """
() => ({
  written: document.querySelectorAll('article .math').length,
  set: document.querySelectorAll('article .math:has(mjx-container)').length,
  raw: [...document.querySelectorAll('mjx-merror')].map(e => e.textContent),
})
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
    if (picture.closest('mjx-container, button') || picture.parentElement.closest('svg')) continue;
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


@pytest.mark.slow
def test_every_page_of_the_book_is_walked(book):
    built = {
        path.relative_to(book).as_posix().removesuffix(".html") for path in book.rglob("*.html")
    }
    assert built == {*PAGES, "index"}


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_page_reads_well_with_nothing_beyond_this_machine(served, visit, name):
    reader = visit(served, viewport=WIDE, color_scheme="light")
    page = reader.open(f"{served}/{name}.html")
    figures_mounted(page)
    equations = page.evaluate(EQUATIONS)
    assert equations["raw"] == []
    assert equations["set"] == equations["written"]
    assert page.evaluate(PICTURES) == []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(f"() => document.documentElement.dataset.theme === '{theme}'")
        page.evaluate(COLOURS_CHANGED)
        assert page.evaluate(CONTRASTS) == []
        if name in EXAMINED:  # of all rules, only contrast depends on the theme
            rules = None if theme == "light" else ["color-contrast"]
            assert ours(violations(page, rules=rules)) == [], theme
    page.set_viewport_size(PHONE)
    assert page.evaluate(TOO_WIDE) == []
    if name in EXAMINED[:1]:
        assert ours(violations(page)) == [], "phone"
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
def test_search_finds_a_word_and_leads_to_its_page(served, visit):
    reader = visit(served, viewport=WIDE)
    page = reader.open(f"{served}/book/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("perplexity")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=perplexity*")
    first = page.locator("#search-results li a").first
    first.wait_for()
    titles = page.locator("#search-results li a").all_inner_texts()
    assert any("Glossary" in title for title in titles)
    first.click()
    page.wait_for_load_state("load")
    assert "perplexity" in page.locator("article").inner_text().lower()
    assert reader.faults == []


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


@pytest.mark.browser
@pytest.mark.slow
def test_address_of_the_site_leads_to_the_first_page(served, visit):
    reader = visit(served, viewport=WIDE)
    reader.page.goto(f"{served}/")
    reader.page.wait_for_url("**/book/index.html")
    reader.page.wait_for_load_state("load")
    assert reader.page.locator("article .path-picture").is_visible()
    assert reader.faults == []
