"""What the main thread of a browser's page works, frame by frame, from Chromium's own trace."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

MARK = "changed"
"""What the name of a mark begins with that divides a trace into changes."""

TRACED = ["toplevel", "devtools.timeline", "blink.user_timing"]


class Work(NamedTuple):
    """Milliseconds of processor time of the main thread.

    Attributes
    ----------
    frames : list of (int, float)
        When the last task of each frame began, in microseconds, and the work for the frame.
    tasks : list of float
        Each task by itself: for so long the page could not answer.
    marks : list of int
        When the page was told to mark a moment, in microseconds.
    """

    frames: list[tuple[int, float]]
    tasks: list[float]
    marks: list[int]


def traced(page: Any, action: Callable[[], None]) -> Work:
    """What the main thread of a page does during an action.

    Parameters
    ----------
    page : playwright page
        Alone in its browser.
    action : callable
        What is done to it; returns when all is drawn.

    Returns
    -------
    Work
        Frames and tasks after the page's DOMContentLoaded, if that lies in the action.
    """
    browser = page.context.browser
    browser.start_tracing(page=page, categories=TRACED)
    try:
        action()
    finally:
        trace = browser.stop_tracing()
    return _work(json.loads(trace)["traceEvents"])


def _work(events: list[dict[str, Any]]) -> Work:
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    events = [event for event in events if (event["pid"], event["tid"]) in threads]
    loaded = [e["ts"] for e in events if e["name"] == "domContentLoadedEventStart"]
    start = max(loaded, default=0)
    ours = _outermost(e for e in events if "tdur" in e and e["ts"] > start)
    asked = [e["ts"] for e in events if "DevToolsSession" in json.dumps(e.get("args", {}))]
    painted = [e["ts"] for e in events if e["name"] == "PrePaint"]
    frames, tasks, sum_ = [], [], 0.0
    for task in ours:
        inside = range(task["ts"], task["ts"] + task["dur"] + 1)
        if any(moment in inside for moment in asked):
            continue
        if task["name"].endswith("MicrotaskCheckpoint") and tasks:
            tasks[-1] += task["tdur"] / 1000  # the end of the task before
        else:
            tasks.append(task["tdur"] / 1000)
        sum_ += task["tdur"] / 1000
        if any(moment in inside for moment in painted):
            frames.append((task["ts"], sum_))
            sum_ = 0.0
    marks = sorted(event["ts"] for event in events if event["name"].startswith(MARK))
    return Work(frames, tasks, marks)


def _outermost(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of nested pieces of work only those that no other one holds, in order."""
    kept: list[dict[str, Any]] = []
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        if not kept or event["ts"] >= kept[-1]["ts"] + kept[-1]["dur"]:
            kept.append(event)
    return kept


def largest_after_marks(work: Work) -> list[float]:
    """For each mark, the largest frame between it and the next."""
    edges = [*work.marks, sys.maxsize]
    return [
        max((ms for at, ms in work.frames if start <= at < end), default=0.0)
        for start, end in pairwise(edges)
    ]
