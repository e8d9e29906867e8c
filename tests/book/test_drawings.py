"""Labels of drawings stand inside their boxes in any font; links are legible under the mouse."""

import pytest
from you_are_here import STOPS

WIDE = {"width": 1400, "height": 900}
PHONE = {"width": 390, "height": 844}
DRAWN = ["book/index", *(stop.page for stop in STOPS)]

# The widest letters that a system may have in place of Arial, which few systems but two have.
LETTERS = ".bd-article svg text { font-family: 'DejaVu Sans', Verdana, sans-serif !important; }"

# A label belongs to the smallest box that holds its middle, and does not leave it or the drawing;
# no side of a box crosses it.
OUT_OF_BOXES = """
() => {
  const out = [];
  const within = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1;
  for (const svg of document.querySelectorAll('.diagram svg, .you-are-here > svg, .path-picture')) {
    const boxes = [...svg.querySelectorAll('rect')]
      .filter(e => e.getClientRects().length).map(e => e.getBoundingClientRect());
    for (const text of svg.querySelectorAll('text')) {
      if (!text.getClientRects().length || !text.textContent.trim()) continue;
      const place = text.getBoundingClientRect();
      const [x, y] = [(place.left + place.right) / 2, (place.top + place.bottom) / 2];
      const around = boxes
        .filter(b => b.left < x && x < b.right && b.top < y && y < b.bottom)
        .sort((a, b) => a.width * a.height - b.width * b.height)[0];
      const crossed = boxes.some(b => b.top < y && y < b.bottom
        && [b.left, b.right].some(side => place.left + 1 < side && side < place.right - 1));
      const all = svg.getBoundingClientRect();
      if (crossed || !within(place, all) || (around && !within(place, around)))
        out.push(text.textContent.trim());
    }
  }
  return out;
}
"""


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("window", [WIDE, PHONE], ids=["wide", "phone"])
def test_labels_stand_inside_their_boxes_without_arial(served, visit, window):
    reader = visit(served, viewport=window)
    found = {}
    for name in DRAWN:
        page = reader.open(f"{served}/{name}.html")
        page.add_style_tag(content=LETTERS)
        found[name] = page.evaluate(OUT_OF_BOXES)
    assert {name: out for name, out in found.items() if out} == {}


# What the text of a link has as contrast against what lies behind it, as WCAG measures it.
CONTRAST = """
link => {
  const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (color) => {
    pen.clearRect(0, 0, 1, 1); pen.fillStyle = color; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => rgba(color).slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  let behind = link;
  while (behind.parentElement && rgba(getComputedStyle(behind).backgroundColor)[3] < 200)
    behind = behind.parentElement;
  const back = getComputedStyle(behind).backgroundColor;
  const [a, b] = [getComputedStyle(link).color, rgba(back)[3] < 200 ? '#fff' : back]
    .map(light).sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}
"""
LINKS = {
    "book/05-head": [
        *("article p > a.internal", "article .check-mark a", "article a[href*='references.html#']"),
        *("nav.bd-links a.internal:visible", ".bd-sidebar-secondary a.nav-link"),
        *(".prev-next-area a", ".bd-header-article .btn", ".cf-link:visible", ".cf-button:visible"),
    ],
    "book/index": ["a.start-button", "a.look-inside"],
    "exercises/05-head/05-head": [".notebook-buttons a"],
}
STILL = "* { transition: none !important; }"


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_the_mouse_is_on_has_contrast(served, visit, theme):
    reader = visit(served, viewport=WIDE, color_scheme=theme)
    poor = {}
    for name, links in LINKS.items():
        page = reader.open(f"{served}/{name}.html")
        page.add_style_tag(content=STILL)
        for selector in links:
            link = page.locator(selector).first
            link.hover()
            contrast = link.evaluate(CONTRAST)
            if contrast < 4.5:
                poor[selector] = contrast
    assert poor == {}
    assert reader.faults == []
