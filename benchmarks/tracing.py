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

FRAME = "AnimationFrame"  # what the browser calls the event, as a pair of "b" and "e"
COLLECTOR = "v8/src/heap/"  # where the tasks come from that collect garbage and do nothing else
LATENESS = 200  # microseconds by which a frame's first task may begin before the frame


class Piece(NamedTuple):
    """Something that the main thread did: when it ended, in microseconds, and its work."""

    end: int
    milliseconds: float


class MainThreadTrace(NamedTuple):
    """What the main thread did, in milliseconds of its processor time.

    Attributes
    ----------
    frames : list of Piece
        All that was done for each frame: from the task that asks for it until it is painted. The
        browser says where that is, by the rules of the Long Animation Frames API
        (https://w3c.github.io/long-animation-frames/). Not so the garbage that it collects in small
        tasks of its own while the thread waits for the screen: the next frame goes before them.
    tasks : list of Piece
        Each task by itself, of a frame or not: for so long the page could not answer.
    marks : list of int
        When the page was told to mark a moment, in microseconds.
    """

    frames: list[Piece]
    tasks: list[Piece]
    marks: list[int]


def traced(page: Any, action: Callable[[], None]) -> MainThreadTrace:
    """What the main thread of a page does during an action.

    Parameters
    ----------
    page : playwright page
        Alone in its browser.
    action : callable
        What is done to it; returns when all is drawn.

    Returns
    -------
    MainThreadTrace
        Frames and tasks after the page's DOMContentLoaded, if that lies in the action.
    """
    browser = page.context.browser
    browser.start_tracing(page=page, categories=TRACED)
    try:
        action()
    finally:
        trace = browser.stop_tracing()
    return work_in(json.loads(trace)["traceEvents"])


def work_in(events: list[dict[str, Any]]) -> MainThreadTrace:
    """What the main thread did, by the events of a trace.

    Raises
    ------
    RuntimeError
        If the browser is too old to tell of its frames.
    """
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    events = [event for event in events if (event["pid"], event["tid"]) in threads]
    loaded = [e["ts"] for e in events if e["name"] == "domContentLoadedEventStart"]
    start = max(loaded, default=0)
    tasks = _tasks(e for e in events if "tdur" in e and e["ts"] > start)
    page_tasks = [task for task in tasks if not _collects_garbage(task)]
    frames = [
        Piece(end, sum(t["tdur"] for t in page_tasks if begin - LATENESS <= t["ts"] <= end) / 1000)
        for begin, end in _frames(events)
        if begin > start
    ]
    if not frames:
        raise RuntimeError("The trace tells of no frame: install a newer Chromium.")
    marks = sorted(event["ts"] for event in events if event["name"].startswith(MARK))
    pieces = [Piece(task["ts"] + task["dur"], task["tdur"] / 1000) for task in tasks]
    return MainThreadTrace(frames, pieces, marks)


def _frames(events: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Beginning and end of each frame, in microseconds."""
    found = []
    begun: dict[str, int] = {}
    for event in sorted(events, key=lambda event: event["ts"]):
        if event["name"] != FRAME or event["ph"] not in "be":
            continue
        which = json.dumps([event["pid"], event["id2"]])
        if event["ph"] == "b":
            begun[which] = event["ts"]
        elif which in begun:
            found.append((begun.pop(which), event["ts"]))
    return found


def _collects_garbage(task: dict[str, Any]) -> bool:
    """Whether a task is the engine's own, and not the page's."""
    return task.get("args", {}).get("src_file", "").startswith(COLLECTOR)


def _tasks(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tasks in order, each with what is done at its end; none that a tool asked for."""
    events = list(events)
    asked = [e["ts"] for e in events if "DevToolsSession" in json.dumps(e.get("args", {}))]
    kept: list[dict[str, Any]] = []
    for task in _outermost(events):
        inside = range(task["ts"], task["ts"] + task["dur"] + 1)
        if any(moment in inside for moment in asked):
            continue
        if task["name"].endswith("MicrotaskCheckpoint") and kept:
            kept[-1] = {**kept[-1], "tdur": kept[-1]["tdur"] + task["tdur"]}
        else:
            kept.append(task)
    return kept


def _outermost(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of nested pieces of work only those that no other one holds, in order."""
    kept: list[dict[str, Any]] = []
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        if not kept or event["ts"] >= kept[-1]["ts"] + kept[-1]["dur"]:
            kept.append(event)
    return kept


def largest_after_marks(work: MainThreadTrace) -> list[float]:
    """For each mark, the largest frame or task that ends between it and the next."""
    edges = [*work.marks, sys.maxsize]
    pieces = [*work.frames, *work.tasks]
    return [
        max((ms for at, ms in pieces if start <= at < end), default=0.0)
        for start, end in pairwise(edges)
    ]
