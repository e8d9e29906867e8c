"""The pictures of the class report: bars, as SVG from a template.

A library that draws takes longer to import than ten submissions take to be graded, so none does.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from course_grader.reports.rendering import render
from course_grader.reports.tally import Tally, Task

if TYPE_CHECKING:
    from markupsafe import Markup

# More bars than this are no picture of a distribution.
MOST_BARS = 20

# In units of the picture, which are pixels where the page is wide enough.
WIDTH = 720
_LEFT, _RIGHT = 52, 12
_LINE, _TOP = 22, 14
_HEIGHT_OF_POINTS = 190
_HEIGHT_OF_A_TASK, _PART_OF_A_BAR = 40, 0.72
_FOOT = 50
_LEGEND, _MARK = 24, 14
# What a character takes at most on average, in the size of the picture's text.
_CHARACTER = 7.6

# Beside a title there must be room for bars; the whole of it stands in the table of mistakes.
MOST_CHARACTERS_OF_A_TITLE = 40
MOST_CHARACTERS_OF_A_LINE = 70

# How a task came out, as the legend says it; a bar's look is named in the template.
PARTS = {
    "right": "all points",
    "partly": "some",
    "wrong": "none",
    "not_attempted": "not attempted",
    "waiting": "waits for a person",
}


@dataclass(frozen=True)
class Bar:
    """One rectangle.

    Attributes
    ----------
    look : str
        "plain", or one of `PARTS`.
    x, y, width, height : float
    words : str
        What it stands for; shown where the mouse rests on it.
    """

    look: str
    x: float
    y: float
    width: float
    height: float
    words: str = ""


@dataclass(frozen=True)
class Text:
    """A word beside an axis or a line of the title, where its anchor is."""

    words: str
    x: float
    y: float
    anchor: str = "middle"


@dataclass(frozen=True)
class Plot:
    """All that the template draws.

    Attributes
    ----------
    height : float
    finding : sequence of Text
        The title, by lines.
    alt : str
        What the picture shows, for those who do not see it.
    bars : sequence of Bar
    texts : sequence of Text
    grid : sequence of (float, float, float, float)
        Lines, from a point to a point.
    middle : (float, float, float, float) or None
        A dashed line.
    """

    height: float
    finding: Sequence[Text]
    alt: str
    bars: Sequence[Bar]
    texts: Sequence[Text]
    grid: Sequence[tuple[float, float, float, float]]
    middle: tuple[float, float, float, float] | None = None


def points_of_class(tally: Tally) -> Markup:
    """How many students have how many points; the title says where the middle is."""
    points = [one.points for one in tally.graded]
    out_of = tally.standing.out_of
    top = max(out_of, *points, 1.0)
    bars = min(MOST_BARS, max(1, round(top)))
    step = top / bars
    counts = [0] * bars
    for each in points:
        counts[min(int(each / step), bars - 1)] += 1
    said = [f"{count} from {k * step:g} to {(k + 1) * step:g}" for k, count in enumerate(counts)]
    finding = f"Half of the class has {tally.median:g} of {out_of:g} points or more"
    wide, most = WIDTH - _LEFT - _RIGHT, max(counts)
    above = _TOP + 2 * _LINE
    floor_ = above + _HEIGHT_OF_POINTS

    def x(value: float) -> float:
        return _LEFT + wide * value / top

    def y(count: float) -> float:
        return floor_ - _HEIGHT_OF_POINTS * count / most

    half = x(tally.median)
    return _drawn(
        Plot(
            height=floor_ + _FOOT,
            finding=_lines(finding),
            alt=f"{finding}. Students by points: "
            f"{', '.join(words for words, count in zip(said, counts, strict=True) if count)}.",
            bars=[
                Bar(
                    "plain",
                    x(step * (k + 0.04)),
                    y(count),
                    wide / bars * 0.92,
                    floor_ - y(count),
                    words,
                )
                for k, (count, words) in enumerate(zip(counts, said, strict=True))
                if count
            ],
            texts=[
                *(Text(f"{tick:g}", x(tick), floor_ + 18) for tick in ticks(top, 10)),
                *(Text(f"{tick:g}", _LEFT - 8, y(tick) + 5, "end") for tick in ticks(most, 5)),
                Text("points", _LEFT + wide / 2, floor_ + 40),
                Text("students", _LEFT - 8, above - 12, "start"),
                # Towards the side on which there is room.
                Text("median", half, above - 12, "start" if half < WIDTH / 2 else "end"),
            ],
            grid=[(_LEFT, y(tick), WIDTH - _RIGHT, y(tick)) for tick in ticks(most, 5)],
            middle=(half, above - 6, half, floor_),
        )
    )


def success_of_tasks(tasks: Sequence[Task]) -> Markup:
    """A bar a task: all points, some, none, not attempted, waiting."""
    judged = [task for task in tasks if task.judged]
    hardest = min(judged, key=lambda task: task.share, default=None)
    if hardest is None:
        finding = "No task is judged yet"
    elif hardest.share == 1:
        finding = "Every task was solved by everybody"
    else:
        finding = f"Solved least often: {hardest.title} ({hardest.share:.0%} have all points)"
    title = _lines(finding)
    sums = [sum(getattr(task, part) for part in PARTS) for task in tasks]
    most = max([*sums, 1])
    titles = [_short(task.title) for task in tasks]
    left = 16 + _CHARACTER * max(map(len, titles), default=0)
    wide = WIDTH - left - _RIGHT
    above = _TOP + _LINE * len(title)
    floor_ = above + _HEIGHT_OF_A_TASK * len(tasks)
    high = _HEIGHT_OF_A_TASK * _PART_OF_A_BAR
    bars, texts = [], []
    for row, task in enumerate(tasks):
        place, before = above + _HEIGHT_OF_A_TASK * row + (_HEIGHT_OF_A_TASK - high) / 2, 0
        texts.append(Text(titles[row], left - 8, place + high / 2 + 5, "end"))
        for part, words in PARTS.items():
            count = getattr(task, part)
            if count:
                at = left + wide * before / most
                said = f"{task.title}, {words}: {count}"
                bars.append(Bar(part, at, place, wide * count / most, high, said))
                before += count
    texts += [Text(f"{tick:g}", left + wide * tick / most, floor_ + 18) for tick in ticks(most, 10)]
    texts.append(Text("students", left + wide / 2, floor_ + 40))
    seen = [part for part in PARTS if any(getattr(task, part) for task in tasks)]
    at, line = float(_MARK), floor_ + _FOOT
    for part in seen:
        takes = 2.5 * _MARK + _CHARACTER * len(PARTS[part])
        if at + takes > WIDTH:
            at, line = float(_MARK), line + _LEGEND
        bars.append(Bar(part, at, line, _MARK, _MARK))
        texts.append(Text(PARTS[part], at + 1.4 * _MARK, line + _MARK - 2, "start"))
        at += takes
    listed = "; ".join(f"{task.title}: {task.right} of {most}" for task in tasks)
    return _drawn(
        Plot(
            height=line + _LEGEND,
            finding=title,
            alt=f"{finding}. Students with all points: {listed}.",
            bars=bars,
            texts=texts,
            grid=[
                (left + wide * tick / most, above, left + wide * tick / most, floor_)
                for tick in ticks(most, 10)
            ],
        )
    )


def ticks(top: float, most: int) -> list[float]:
    """Whole numbers from 0 to `top`, in steps of 1, 2 or 5 times a power of ten, so that no more
    than `most` steps fit.

    >>> ticks(26, 10)
    [0, 5, 10, 15, 20, 25]
    >>> ticks(3, 5)
    [0, 1, 2, 3]
    """
    least = max(top / most, 1.0)
    power = 10 ** floor(log10(least))
    step = next(power * one for one in (1, 2, 5, 10) if power * one >= least)
    return [step * k for k in range(ceil((top + step / 1000) / step))]


def _lines(finding: str) -> list[Text]:
    """The title, by lines."""
    lines = textwrap.wrap(finding, MOST_CHARACTERS_OF_A_LINE)
    return [
        Text(words, WIDTH / 2, _TOP + _LINE * (k + 0.4), "middle") for k, words in enumerate(lines)
    ]


def _short(title: str) -> str:
    most = MOST_CHARACTERS_OF_A_TITLE
    return title if len(title) <= most else title[: most - 1] + "…"


def _drawn(plot: Plot) -> Markup:
    """A plot as HTML; the template escapes every text of it."""
    from markupsafe import Markup

    return Markup(render("plot.html", plot=plot, width=WIDTH))
