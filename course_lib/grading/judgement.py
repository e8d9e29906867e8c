"""The judges' own processes: they draw inputs and compare answers, and never hold student code.

Inputs follow from a seed that nobody could foresee, so that what only the judge may see is drawn
again, in place of being kept somewhere.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

from course_lib.errors import AssignmentFaulty, CourseError, MachineFailed, NoVerdict
from course_lib.grading.assignment import Check
from course_lib.grading.outcome import TaskOutcome

# Comparing a submission's answers takes hundredths of a second; the largest that is read, a few.
SECONDS_TO_JUDGE = 60


class Judges:
    """A pool of judging processes, all forked from one that holds torch; a context manager.

    Parameters
    ----------
    count : int
        Processes; as many as submissions are run at once.
    book : str
        Address of the published book, for the links in feedback; empty: no links.
    """

    def __init__(self, count: int, book: str = ""):
        self._book = book
        self._control, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            self._server = subprocess.Popen(
                [sys.executable, "-m", "course_lib.grading.judgement", str(its.fileno())],
                pass_fds=[its.fileno()],
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        self._idle: queue.Queue[Connection | None] = queue.Queue()
        for _ in range(count):
            self._idle.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                connection = self._idle.get_nowait()
                if connection is not None:
                    connection.close()
        self._control.close()
        self._server.terminate()
        self._server.wait()

    def draw(self, tasks: Sequence[str]) -> tuple[dict[str, int], dict[str, bytes]]:
        """Fresh inputs: a seed for each task, and the bytes that may stand beside student code.

        Raises
        ------
        MachineFailed
            If no inputs could be drawn.
        """
        seeds = {task: secrets.randbits(63) for task in tasks}
        try:
            return seeds, self._ask("draw", seeds)
        except NoVerdict as error:
            raise MachineFailed(f"no inputs could be drawn: {error}") from error

    def judge(
        self, asked: Sequence[tuple[Check, bytes, str]], seeds: dict[str, int]
    ) -> tuple[TaskOutcome, ...]:
        """Judge all answers of a submission.

        Parameters
        ----------
        asked : sequence of (Check, bytes, str)
            The released check, the answers, and why there are none.
        seeds : dict
            From `draw`.

        Raises
        ------
        NoVerdict
            If a judge raised, or ended twice, over these answers.
        MachineFailed
            If no judge can be started.
        """
        found: tuple[TaskOutcome, ...] = self._ask("judge", list(asked), seeds, self._book)
        return found

    def _ask(self, what: str, *about: Any) -> Any:
        """Ask a judge; one that ends before it answers may have been the machine's victim."""
        for _ in range(2):
            connection = self._idle.get()
            try:
                connection = connection or self._fork()
                connection.send((what, about))
                answered, answer = connection.recv()
            except (EOFError, OSError):
                if connection is not None:
                    connection.close()
                    connection = None
                continue
            finally:
                self._idle.put(connection)
            if not answered:
                raise NoVerdict(str(answer))
            return answer
        raise NoVerdict("a judge ended twice before it answered, or took too long")

    def _fork(self) -> Connection:
        mine, its = socket.socketpair()
        with its:
            try:
                socket.send_fds(self._control, [b"+"], [its.fileno()])
            except OSError as error:
                mine.close()
                raise MachineFailed(f"the judges are gone: {error}") from error
        return Connection(mine.detach())


def draw(seeds: dict[str, int]) -> dict[str, bytes]:
    """For each task the inputs of its seed, without what the probe keeps back.

    Raises
    ------
    AssignmentFaulty
        If answers need a package that is not here: they would all fail, and be nobody's fault.
    """
    import numpy as np

    from course_lib.tasks import catalogue
    from course_lib.tasks.answers import arrays_to_bytes

    shown = {}
    for task, seed in seeds.items():
        if lacking := catalogue.missing(task):
            raise AssignmentFaulty(
                f"answers to {task} are written with {', '.join(lacking)}, not installed here: "
                'pip install -e ".[jax]" in the folder of the course'
            )
        probe = catalogue.probe(task)
        shown[task] = arrays_to_bytes(probe.shown(probe.inputs(np.random.default_rng(seed))))
    return shown


def judge_all(
    asked: list[tuple[Check, bytes, str]], seeds: dict[str, int], book: str
) -> tuple[TaskOutcome, ...]:
    """The verdicts on a submission's answers; no evidence, no points, and the reason."""
    return tuple(_judge_one(check, answers, why, seeds, book) for check, answers, why in asked)


def _judge_one(
    check: Check, data: bytes, why: str, seeds: dict[str, int], book: str
) -> TaskOutcome:
    import numpy as np

    from course_lib.tasks import catalogue
    from course_lib.tasks.answers import Answers
    from course_lib.tasks.judging import judge

    assert check.task is not None
    task, probe = catalogue.task(check.task), catalogue.probe(check.task)
    out_of = float(check.points if check.points is not None else task.points)
    if not data:
        return TaskOutcome(check.grade_id, check.task, 0.0, out_of, reason=why or "no answer came")
    inputs = probe.inputs(np.random.default_rng(seeds[check.task]))
    try:
        verdict = judge(check.task, task, probe, inputs, Answers.from_bytes(data))
    except CourseError as error:
        return TaskOutcome(check.grade_id, check.task, 0.0, out_of, reason=str(error))
    return TaskOutcome(
        check.grade_id,
        check.task,
        min(float(verdict.points), out_of),
        out_of,
        verdict.to_json(),
        verdict.to_html(book),
    )


def _serve(number: int) -> None:
    """Import what judges need, then fork one process for each connection that comes."""
    from course_lib.grading.sandbox.inside.isolation import die_with_parent
    from course_lib.tasks import judging  # noqa: F401

    die_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control = socket.socket(fileno=number)
    while True:
        message, files, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        if os.fork() == 0:
            die_with_parent()
            control.close()
            _answer(Connection(files[0]))
            os._exit(0)
        os.close(files[0])


def _answer(connection: Connection) -> None:
    """Answer until the grader goes away; the alarm ends a judge that does not come to an end."""
    known: dict[str, Callable[..., Any]] = {"draw": draw, "judge": judge_all}
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):  # the grader is gone
        while True:
            what, about = connection.recv()
            signal.alarm(SECONDS_TO_JUDGE)
            try:
                answer = True, known[what](*about)
            except Exception as error:  # a fault of a judge is said, and a person looks
                answer = False, f"{type(error).__name__}: {error}"
            signal.alarm(0)
            connection.send(answer)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
