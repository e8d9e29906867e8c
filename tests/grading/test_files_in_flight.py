"""Open files on their way between processes are counted for a user. Each run is another one where
that can be; where submissions share one, whoever has many is ended. Nobody else loses a point.
"""

import os
import shutil
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ordinary_user
import pytest
from sandboxed_runs import SOON, printed, wait_for_children, work

from course_grader.sandbox.sandbox import Sandbox
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


# Less than what ends a run; two of them have more than the kernel lets one user send.
HOLD = """
import os, socket, time
pairs = []
for _ in range(MANY // 100):
    pairs.append(socket.socketpair())
    socket.send_fds(pairs[-1][0], [b"x"], [0] * 100)
time.sleep(SECONDS)
print("held")
"""


@pytest.fixture(scope="module")
def one_user():
    """A sandbox whose runs are one user, as everywhere before, and still where nothing is lent."""
    with Sandbox("warm", own_users=False) as sandbox:
        yield sandbox


def attacked(sandbox):
    """What comes of three honest notebooks beside attackers, and of these: how their runs ended."""
    fill = work(FILL.replace("PROCESSES", "8").replace("SECONDS", "60"))
    hold = work(HOLD.replace("MANY", "100").replace("SECONDS", "5"))
    with ThreadPoolExecutor(7) as threads:
        held = [threads.submit(sandbox.run, hold, {}, SOON) for _ in range(3)]
        wait_for_children(sandbox, 1 + 2 * len(held))
        honest = [threads.submit(sandbox.run, work(HONEST), {}, SOON) for _ in range(3)]
        filled = threads.submit(sandbox.run, fill, {}, SOON)
        said = [
            (ran.ended, ran.repeat, printed(ran).splitlines()[-1:])
            for ran in (one.result() for one in (*honest, *held))
        ]
        ran = filled.result()
        return [*said, (ran.ended, ran.repeat, [])]


EACH_FOR_ITSELF = [
    *[("", "", ["1488.0"])] * 3,
    *[("", "", ["held"])] * 3,
    (IN_FLIGHT, "", []),
]


def test_nobody_loses_anything_beside_it_where_each_run_is_another_user(warm):
    if not warm.own_users:
        pytest.skip("no user for each run here: see the guide's page on where it runs")
    assert attacked(warm) == EACH_FOR_ITSELF


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a program as another user")
@pytest.mark.skipif(shutil.which("newuidmap") is None, reason="sudo apt-get install uidmap")
def test_nor_where_an_ordinary_user_is_lent_users():
    program = (
        "import test_files_in_flight as ours\n"
        "with ours.Sandbox('warm') as sandbox: said = ours.attacked(sandbox)\n"
        "assert said == ours.EACH_FOR_ITSELF, said\n"
    )
    done = ordinary_user.python(program, lent=True, paths=[Path(__file__).parent])
    assert done.returncode == 0, done.stderr


def test_run_with_many_is_ended_alone_with_the_reason(one_user):
    cell = FILL.replace("PROCESSES", "8").replace("SECONDS", "60")
    ran = one_user.run(work(cell), {}, SOON, alone=True)
    assert (ran.ended, ran.repeat) == (IN_FLIGHT, "")
    ran = one_user.run(work(cell), {}, SOON)
    assert ran.repeat == IN_FLIGHT


def test_honest_run_beside_it_proves_nothing_and_is_whole_alone(one_user):
    cell = FILL.replace("PROCESSES", "8").replace("SECONDS", "60")
    attack = threading.Thread(target=one_user.run, args=(work(cell), {}, SOON))
    results = []

    def honest():
        results.append(one_user.run(work(HONEST), {}, SOON))

    beside = threading.Thread(target=honest)
    beside.start()
    attack.start()
    attack.join()
    beside.join()
    (ran,) = results
    assert ran.repeat == IN_FLIGHT or printed(ran).endswith("1488.0\n")
    again = one_user.run(work(HONEST), {}, SOON, alone=True)
    assert (again.ended, again.repeat) == ("", "")
    assert printed(again).endswith("1488.0\n")


def test_another_run_that_saw_it_makes_one_beside_it_doubtful(one_user, monkeypatch):
    real = one_user._started_once

    def seen_meanwhile(*given):
        ran = real(*given)
        one_user._crowded = time.monotonic()
        return ran

    monkeypatch.setattr(one_user, "_started_once", seen_meanwhile)
    assert one_user.run(work("1"), {}, SOON).repeat == IN_FLIGHT
    assert one_user.run(work("1"), {}, SOON, alone=True).repeat == ""
    monkeypatch.undo()
    assert one_user.run(work("1"), {}, SOON).repeat == ""


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
