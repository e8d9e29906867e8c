"""Wrong answers to one task with the verdicts that the check gives on them, for its exercise page.

`python -m setup.recorded_verdicts` writes them again, after a judge's words changed; a test says
when that is due. The answers know nothing of what is new in the task, so none is half a solution.
"""

# ruff: noqa: ARG001  (every answer takes what the task gives)

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import torch

from course_tasks import check

FILE = Path(__file__).resolve().parents[1] / "book" / "recorded_verdicts" / "05-weights.html"
"""What the page shows; its extension is `book/_ext/recorded_verdicts.py`."""

TASK = "05/weights"
SEED = 0


def the_chapter_as_it_stands(
    scores: torch.Tensor, past: torch.Tensor, start: torch.Tensor
) -> torch.Tensor:
    """Forget that texts are padded."""
    T = scores.shape[-1]
    return scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-1)


def zeros_hide_nothing(
    scores: torch.Tensor, past: torch.Tensor, start: torch.Tensor
) -> torch.Tensor:
    """Hide with zeros."""
    T = scores.shape[-1]
    return (scores * past[:T, :T]).softmax(dim=-1)


def softmax_first(scores: torch.Tensor, past: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
    """Hide after the softmax."""
    T = scores.shape[-1]
    return scores.softmax(dim=-1) * past[:T, :T]


def down_the_columns(scores: torch.Tensor, past: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
    """Take the softmax along the other dimension."""
    T = scores.shape[-1]
    return scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-2)


def result_dropped(scores: torch.Tensor, past: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
    """Call `masked_fill`, and drop what it returns."""
    T = scores.shape[-1]
    scores.masked_fill(~past[:T, :T], -torch.inf)
    return scores.softmax(dim=-1)


def triangle_not_cut(scores: torch.Tensor, past: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
    """Use the triangle of the longest text for all of them."""
    return scores.masked_fill(~past, -torch.inf).softmax(dim=-1)


ANSWERS: Mapping[str, Callable[..., torch.Tensor]] = {
    "padding-seen": the_chapter_as_it_stands,
    "zero-mask": zeros_hide_nothing,
    "masked-after-softmax": softmax_first,
    "softmax-over-queries": down_the_columns,
    "no-causal-mask": result_dropped,
    "mask-not-cut": triangle_not_cut,
}
"""Answers by the mistake that each is."""


def fragment() -> str:
    """The answers to choose from and their verdicts, as HTML for a page two folders deep."""
    return "\n".join(
        [
            '<div class="recorded-verdicts">',
            "<p><strong>What would the check say?</strong> "
            "Choose one of these wrong answers to read its verdict.</p>",
            *(_choice(answer) for answer in ANSWERS.values()),
            "</div>\n",
        ]
    )


def _choice(answer: Callable[..., torch.Tensor]) -> str:
    verdict = check(TASK, answer, seed=SEED).to_html("../..")
    return (
        # Of one name, so a browser closes one when another is opened.
        f'<details name="recorded-verdict">\n<summary>{_first_line(answer)}</summary>\n'
        f'<pre style="white-space:pre-wrap"><code>{html.escape(_written(answer))}</code></pre>\n'
        f"{verdict}\n</details>"
    )


def _first_line(answer: Callable[..., torch.Tensor]) -> str:
    words = html.escape((answer.__doc__ or "").rstrip("."))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", words)


def _written(answer: Callable[..., torch.Tensor]) -> str:
    """The answer as a student would have it in the cell."""
    body = inspect.getsource(answer).split('"""', 2)[2].strip("\n")
    return f"def causal_weights(scores, past, start):\n{body}"


def main() -> None:
    """Write the file."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(fragment(), encoding="utf-8")
    print(FILE)


if __name__ == "__main__":
    main()
