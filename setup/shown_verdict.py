"""Verdicts that the first page and the README show: real ones, as HTML and as a picture of one.

`python -m setup.shown_verdict` writes both again, after a judge's words changed; a
test says when that is due. The picture is drawn by Chromium. The right line is not among those to
choose from, because it is a task's solution: the page leads to where it can be written.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import torch

from course_tasks import check
from setup import chromium

ASSETS = Path(__file__).resolve().parents[1] / "book" / "_assets"

TASK = "01/window"
SEED = 0


HEAD = """def window_weights(T, width):
    seen = torch.tril(torch.ones(T, T)).triu(1 - width)
"""
"""What all answers begin with: which positions each position sees."""

LINES = ("seen / width", "seen.softmax(dim=-1)", "seen / torch.arange(1, T + 1)")
"""What they return, each wrong in its own way; the README's picture shows the first."""


def fragment() -> str:
    """The lines to choose from and their verdicts, as HTML with links to the book's own pages."""
    choices = "\n".join(_choice(line, opened=line == LINES[0]) for line in LINES)
    return (
        '<div class="shown-verdicts">\n'
        f'<pre style="white-space:pre-wrap"><code>{html.escape(HEAD)}    return …</code></pre>\n'
        f"{choices}\n</div>\n"
    )


def pictured() -> str:
    """The first answer, whole, with its verdict."""
    written = f'{HEAD}    return {LINES[0]}\n\ncheck("{TASK}", window_weights)'
    return (
        '<div class="shown-verdict">\n'
        f"<pre><code>{html.escape(written)}</code></pre>\n{_verdict(LINES[0])}\n</div>\n"
    )


def words() -> str:
    """What the verdict on the first one says, as one line of text."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", _verdict(LINES[0]))).split())


def _choice(line: str, *, opened: bool) -> str:
    verdict = _verdict(line).replace(' role="status"', "")  # it stands here, and nothing came in
    return (
        # Of one name, so a browser closes one when another is opened.
        f'<details name="shown-verdicts"{" open" if opened else ""}>\n'
        f"<summary><code>return {html.escape(line)}</code></summary>\n{verdict}\n</details>"
    )


def _verdict(line: str) -> str:
    answer: dict[str, Any] = {"torch": torch}
    exec(f"{HEAD}    return {line}\n", answer)  # one of `LINES`
    # With an address of the book, the verdict links to the section that it names.
    verdict = check(TASK, answer["window_weights"], seed=SEED).to_html("..")
    return re.sub(r'href="[^"]*?(?:book/)?([\w-]+\.html[^"]*)"', r'href="\1"', verdict)


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
    draw(pictured(), ASSETS / "verdict.png")
    print(f"{ASSETS / 'verdict.html'} and {ASSETS / 'verdict.png'}: {words()}")


if __name__ == "__main__":
    main()
