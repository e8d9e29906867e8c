"""The verdict that the first page and the README show: a real one, stored as HTML and as a picture.

`python -m setup.shown_verdict` writes both again, after a judge's words changed; a
test says when that is due. The picture is drawn by Chromium.
"""

from __future__ import annotations

import html
import inspect
import re
from pathlib import Path

import torch

from course_tasks import check
from setup import chromium

ASSETS = Path(__file__).resolve().parents[1] / "book" / "_assets"

TASK = "01/window"
SEED = 0


def window_weights(T: int, width: int) -> torch.Tensor:
    """(T, T) float: row t averages positions max(0, t - width + 1) … t."""
    seen = torch.tril(torch.ones(T, T)).triu(1 - width)
    return seen / width


def fragment() -> str:
    """The answer and its verdict as HTML, with links to the book's own pages."""
    written = f'{inspect.getsource(window_weights)}\ncheck("{TASK}", window_weights)'
    verdict = re.sub(r'href="[^"]*?(?:book/)?(\d\d-\w+\.html[^"]*)"', r'href="\1"', _verdict())
    return (
        '<div class="shown-verdict">\n'
        # Wrapped, not scrolled: on a phone nothing needs a keyboard to be read.
        f'<pre style="white-space:pre-wrap"><code>{html.escape(written)}</code></pre>\n'
        f"{verdict}\n</div>\n"
    )


def words() -> str:
    """What the verdict says, as one line of text."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", _verdict())).split())


def _verdict() -> str:
    # With an address of the book, the verdict links to the section that it names.
    return check(TASK, window_weights, seed=SEED).to_html("..")


def draw(page_html: str, to: Path) -> None:
    """Store what a browser shows of a fragment, at twice the resolution of a screen."""
    from playwright.sync_api import sync_playwright

    page_of = (
        "<style>body{margin:0;font:16px/1.5 sans-serif;color:#1b1f24;background:#fff}"
        ".shown-verdict{width:680px;padding:16px 20px}"
        "pre{background:#f3f5f7;border-radius:6px;padding:12px;font-size:14px;margin:0 0 12px}"
        "a{color:#1f66b5}</style>" + page_html
    )
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        page = browser.new_page(viewport={"width": 760, "height": 600}, device_scale_factor=2)
        page.set_content(page_of)
        page.locator(".shown-verdict").screenshot(path=str(to))
        browser.close()


def main() -> None:
    """Write `verdict.html` and `verdict.png` into the book's assets."""
    (ASSETS / "verdict.html").write_text(fragment(), encoding="utf-8")
    draw(fragment(), ASSETS / "verdict.png")
    print(f"{ASSETS / 'verdict.html'} and {ASSETS / 'verdict.png'}: {words()}")


if __name__ == "__main__":
    main()
