"""Open files on their way between processes are counted for a user, whom submissions share: whoever
has many of them is ended, and nobody else loses a point for it.
"""

import os
import socket
import threading
import time

import pytest
from sandboxed_runs import SOON, printed, work

from course_tasks.runner.in_flight import IN_FLIGHT, MOST_IN_FLIGHT, crowded

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

FILL = """
import os, socket, time
def fill():
    pairs = []
    while True:
        try:
            pairs.append(socket.socketpair())
            for _ in range(3):
                socket.send_fds(pairs[-1][0], [b"x"], [0] * 100, socket.MSG_DONTWAIT)
        except OSError:
            return pairs
for _ in range(PROCESSES):
    if os.fork() == 0:
        held = fill()
        time.sleep(60)
time.sleep(SECONDS)
"""

HONEST = """
import torch
from torch.utils.data import DataLoader
loader = DataLoader(torch.arange(32.0), batch_size=4, num_workers=2, multiprocessing_context="fork")
print(sum(float(batch.sum()) for _ in range(3) for batch in loader))
"""


def test_run_with_many_is_ended_alone_with_the_reason(warm):
    cell = FILL.replace("PROCESSES", "8").replace("SECONDS", "60")
    ran = warm.run(work(cell), {}, SOON, alone=True)
    assert (ran.ended, ran.repeat) == (IN_FLIGHT, "")
    ran = warm.run(work(cell), {}, SOON)
    assert ran.repeat == IN_FLIGHT


def test_honest_run_beside_it_proves_nothing_and_is_whole_alone(warm):
    cell = FILL.replace("PROCESSES", "8").replace("SECONDS", "60")
    attack = threading.Thread(target=warm.run, args=(work(cell), {}, SOON))
    results = []

    def honest():
        results.append(warm.run(work(HONEST), {}, SOON))

    beside = threading.Thread(target=honest)
    beside.start()
    attack.start()
    attack.join()
    beside.join()
    (ran,) = results
    assert ran.repeat == IN_FLIGHT or printed(ran).endswith("1488.0\n")
    again = warm.run(work(HONEST), {}, SOON, alone=True)
    assert (again.ended, again.repeat) == ("", "")
    assert printed(again).endswith("1488.0\n")


def test_another_run_that_saw_it_makes_one_beside_it_doubtful(warm, monkeypatch):
    real = warm._started_once

    def seen_meanwhile(*given):
        ran = real(*given)
        warm._crowded = time.monotonic()
        return ran

    monkeypatch.setattr(warm, "_started_once", seen_meanwhile)
    assert warm.run(work("1"), {}, SOON).repeat == IN_FLIGHT
    assert warm.run(work("1"), {}, SOON, alone=True).repeat == ""
    monkeypatch.undo()
    assert warm.run(work("1"), {}, SOON).repeat == ""


def test_look_counts_what_is_on_its_way_and_leaves_nothing_behind():
    before = len(os.listdir("/proc/self/fd"))
    one, other = socket.socketpair()
    with one, other:
        assert not crowded()
        for _ in range(2):
            socket.send_fds(one, [b"x"], [0] * (MOST_IN_FLIGHT // 2 + 1))
        if os.geteuid() != 0:  # the kernel lets root send as many as it likes
            assert crowded()
    assert not crowded()
    assert len(os.listdir("/proc/self/fd")) == before
