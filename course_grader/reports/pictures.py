"""The pictures of the class report; drawing needs matplotlib, so only the report imports this."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.ticker import MaxNLocator

from course_grader.reports.tally import Tally, Task
from course_lib import plots

# Beside the names of the tasks a longer title would run out of the picture.
MOST_CHARACTERS = 52

# More bars than this are no picture of a distribution.
MOST_BARS = 20


def points_of_class(tally: Tally) -> plots.Picture:
    """How many students have how many points; the title says where the middle is."""
    points = [one.points for one in tally.graded]
    out_of = tally.standing.out_of
    top = max(out_of, *points, 1.0)
    bars = min(MOST_BARS, max(1, round(top)))
    step = top / bars
    counts = [0] * bars
    for each in points:
        counts[min(int(each / step), bars - 1)] += 1
    finding = f"Half of the class has {tally.median:g} of {out_of:g} points or more"
    drawing, ax = plots.figure(7.2, 2.9)
    ax.bar([step * (k + 0.5) for k in range(bars)], counts, width=step * 0.92)
    ax.axvline(tally.median, color=plots.PALETTE[1], linestyle="--", label="median")
    ax.set(title=finding, xlabel="points", ylabel="students", xlim=(0, top))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(False, axis="x")
    ax.legend()
    listed = ", ".join(
        f"{count} from {k * step:g} to {(k + 1) * step:g}"
        for k, count in enumerate(counts)
        if count
    )
    return plots.show(drawing, alt=f"{finding}. Students by points: {listed}.")


def success_of_tasks(tasks: Sequence[Task]) -> plots.Picture:
    """A bar a task: all points, some, none, not attempted, waiting."""
    parts = (
        ("all points", [task.right for task in tasks], plots.PALETTE[2], ""),
        ("some", [task.partly for task in tasks], plots.PALETTE[4], "//"),
        ("none", [task.wrong for task in tasks], plots.PALETTE[5], "xx"),
        ("not attempted", [task.not_attempted for task in tasks], "#9a9a9a", ".."),
        ("waits for a person", [task.waiting for task in tasks], plots.PALETTE[0], "\\\\"),
    )
    judged = [task for task in tasks if task.judged]
    hardest = min(judged, key=lambda task: task.share, default=None)
    if hardest is None:
        finding = "No task is judged yet"
    elif hardest.share == 1:
        finding = "Every task was solved by everybody"
    else:
        finding = f"Solved least often: {hardest.title} ({hardest.share:.0%} have all points)"
    drawing, ax = plots.figure(7.2, 1.3 + 0.42 * len(tasks))
    places = range(len(tasks))
    left = [0] * len(tasks)
    for name, counts, color, hatch in parts:
        if any(counts):
            ax.barh(places, counts, left=left, color=color, hatch=hatch, label=name, linewidth=0)
        left = [a + b for a, b in zip(left, counts, strict=True)]
    ax.set_yticks(places, [task.title for task in tasks])
    ax.invert_yaxis()
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(False, axis="y")
    ax.set(title=textwrap.fill(finding, MOST_CHARACTERS), xlabel="students")
    drawing.legend(loc="outside lower center", ncols=5)
    listed = "; ".join(f"{task.title}: {task.right} of {max(left)}" for task in tasks)
    return plots.show(drawing, alt=f"{finding}. Students with all points: {listed}.")
