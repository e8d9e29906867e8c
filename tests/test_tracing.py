"""What counts to a frame in the benchmarks of the figures, on traces written by hand."""

import pytest

from benchmarks.tracing import Piece, largest_after_marks, work_in

PAGE = {"pid": 1, "tid": 7}
THREAD = {**PAGE, "name": "thread_name", "ph": "M", "ts": 0, "args": {"name": "CrRendererMain"}}


def task(begin, work, name="RunTask", **args):
    """A task of so many microseconds."""
    return {**PAGE, "name": name, "ph": "X", "ts": begin, "dur": work, "tdur": work, "args": args}


def frame(begin, end):
    """The two events by which the browser tells of a frame."""
    one = {**PAGE, "name": "AnimationFrame", "id2": {"local": "0x1"}, "args": {}}
    return [{**one, "ph": "b", "ts": begin}, {**one, "ph": "e", "ts": end}]


def mark(moment):
    return {**PAGE, "name": "changed 0", "ph": "R", "ts": moment, "args": {}}


def test_a_frame_is_all_work_from_the_task_that_asks_for_it_until_it_is_painted():
    work = work_in(
        [
            THREAD,
            task(1_000, 2_000),  # the handler that asks for a frame
            task(4_000, 3_000),  # a timer
            task(7_000, 4_000, src_file="v8/src/heap/incremental-marking-job.cc"),
            task(16_000, 6_000),  # style, layout, painting
            *frame(1_010, 21_000),
            task(23_000, 5_000),  # nothing waits for this
        ]
    )
    assert work.frames == [Piece(21_000, 11.0)]
    assert [ms for _, ms in work.tasks] == [2.0, 3.0, 4.0, 6.0, 5.0]


def test_what_a_tool_asks_for_counts_nowhere_and_the_end_of_a_task_counts_to_it():
    asked = task(9_000, 4_000)
    work = work_in(
        [
            THREAD,
            asked,
            task(9_100, 3_000, "DevToolsSession::DispatchProtocolCommand", of="DevToolsSession"),
            task(16_000, 6_000),
            task(22_100, 500, "BlinkScheduler_PerformMicrotaskCheckpoint"),
            *frame(9_000, 21_000),
        ]
    )
    assert work.frames == [Piece(21_000, 6.5)]


def test_only_the_main_thread_and_what_follows_the_loading_of_the_page_count():
    elsewhere = {**task(16_000, 9_000), "tid": 8}
    loaded = {**PAGE, "name": "domContentLoadedEventStart", "ph": "R", "ts": 5_000, "args": {}}
    work = work_in(
        [
            THREAD,
            task(1_000, 3_000),
            *frame(1_000, 4_000),
            loaded,
            elsewhere,
            task(16_000, 6_000),
            *frame(16_000, 21_000),
        ]
    )
    assert work == ([Piece(21_000, 6.0)], [Piece(22_000, 6.0)], [])


def test_each_change_has_its_largest_frame_or_task():
    work = work_in(
        [
            THREAD,
            mark(500),
            task(1_000, 2_000),
            *frame(1_000, 2_900),
            task(4_000, 7_000),  # after the frame, and of none
            mark(20_000),
            task(21_000, 1_000),
            task(23_000, 3_000),
            *frame(21_000, 25_900),
        ]
    )
    assert largest_after_marks(work) == [7.0, 4.0]


def test_a_browser_that_does_not_tell_of_frames_is_refused():
    with pytest.raises(RuntimeError, match="no frame: install a newer Chromium"):
        work_in([THREAD, task(1_000, 2_000)])
