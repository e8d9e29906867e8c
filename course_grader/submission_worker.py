"""In a process of its own, under limits: read a submission, make it safe, judge its answers, write
its pages.

    python -m course_grader.submission_worker SOCKET_NUMBER

serves the grader: it imports what judges need, then forks one process for each connection that
comes. Whatever a file or a frame holds can end such a process at most; the grader then says so.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_grader import private_tasks
from course_grader.assignment import Assignment, Check, read
from course_grader.doubts import doubted, failed_cells
from course_grader.errors import NotWrittenError
from course_grader.importing import UNUSED_FORMATS, without
from course_grader.judge_job import Job
from course_grader.judge_pool import (
    MEGABYTES_OF_A_CHILD,
    MOST_CONTROL_BYTES,
    SECONDS_TO_JUDGE,
    SECONDS_TO_READ,
)
from course_grader.outcome import Outcome, Results, Status
from course_grader.reports import pages, rendering
from course_grader.sandbox.protocol import RawStep, RunResult, read_steps
from course_grader.sandbox.sanitize import SanitizedSubmission, sanitize
from course_grader.submissions import left_unread
from course_grader.verdicts import Questions, judge_all, lacking
from course_lib.errors import CourseError
from course_tasks.runner.isolation import die_with_parent
from course_tasks.runner.limits import MEGABYTE

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from course_grader.defend.defense import Defense

WITHOUT_SANDBOX = "This was graded without a sandbox: the notebook could reach the grader's files."

# On a machine that is busy with other things, so many times the CPU time passes.
WALL_FOR_CPU = 20

# A process that holds so much more than at its start is left for a fresh one.
MEGABYTES_TO_LEAVE_AT = 64

# Some reasons and notes have a student's words in them; more than this is read by nobody.
MOST_NOTES = 50
MOST_CHARACTERS = 2000


class _DrawingError(CourseError):
    """A task's inputs could not be drawn, which is never the submission's fault."""


class SubmissionWorker:
    """One submission, from its file to its pages; what is known of it stays in here."""

    def __init__(self) -> None:
        self._job: Job | None = None
        self._work: SanitizedSubmission | None = None
        self._seconds: dict[str, float] = {}
        self._defense: Defense | None = None

    def prepare(self, job: Job) -> tuple[dict[str, Any], list[bytes]]:
        """What of it is run, and the inputs of its tasks; or its outcome if it cannot be read."""
        self._job, self._work, self._seconds = job, None, {}
        began = time.perf_counter()
        try:
            released, assignment = _released(job.released)
            work = sanitize(released, read(_file(job)), assignment)
        except MemoryError:
            raise
        except (CourseError, OSError) as error:
            words = str(error).replace(f"{_file(job).parent}/", "")
            return self.set_aside(job, words), []
        except Exception as error:  # a file that no reader foresaw is a person's to look at
            words = f"the notebook cannot be read: {type(error).__name__}: {error}"
            return self.set_aside(job, words), []
        beside = left_unread(_file(job))
        if beside:
            work = replace(work, notes=(*work.notes, beside))
        if not job.sandboxed:
            work = replace(work, notes=(*work.notes, WITHOUT_SANDBOX))
        self._work = work
        try:
            shown = {task: _questions(job.seed).shown(task) for task in _tasks(work)}
        except Exception as error:  # nothing of the submission is in it
            raise _DrawingError(f"no inputs could be drawn: {_fault(error)}") from error
        self._seconds["read"] = time.perf_counter() - began
        steps = [
            (step.kind, step.source if step.kind == "code" else "", step.grade_id)
            for step in work.steps
            if step.kind in ("code", "check")
        ]
        return {"steps": steps, "tasks": list(shown)}, list(shown.values())

    def finish(self, ran: RunResult) -> dict[str, Any]:
        """Its outcome by what its run sent; its pages are written."""
        job, work = self._job, self._work
        assert job is not None
        assert work is not None
        began = time.perf_counter()
        steps, wrong = read_steps(ran, work, job.limits)
        results = Results(steps, ran.ended or wrong, ran.seconds)
        try:
            asked = _asked(work, results, _released(job.released)[1])
            tasks = judge_all(asked, _questions(job.seed), job.book)
            tasks = doubted(tasks, work, results, _released(job.released)[1])
        except MemoryError:
            raise
        except Exception as error:  # a fault of a judge is said, and a person looks
            return self.set_aside(job, _fault(error))
        judged = time.perf_counter()
        seconds = {**self._seconds, "run": ran.seconds, "judge": judged - began}
        failed = failed_cells(work, results)
        outcome = Outcome(
            job.student,
            job.assignment,
            Status.GRADED,
            reason=results.ended,
            tasks=tasks,
            unanswered=work.unanswered,
            work=work,
            ran=results,
            notes=work.notes,
            failed_cell=str(failed[0]) if failed else "",
            seconds=seconds,
        )
        try:
            _publish(job, outcome)
        except (MemoryError, NotWrittenError):
            raise
        except Exception as error:  # what it showed cannot be written: a person looks at the file
            return self.set_aside(job, f"its outputs cannot be shown: {_fault(error)}")
        seconds["pages"] = time.perf_counter() - judged
        return {"outcome": _bounded(replace(outcome, seconds=seconds)).to_plain()}

    def prepare_defense(self, job: Job, tasks: Sequence[str]) -> tuple[dict[str, Any], list[bytes]]:
        """What is run to make questions about a submission's own code, and on which inputs."""
        from course_grader.defend.defense import Defense

        self._job, self._work, self._seconds = None, None, {}
        try:
            released, assignment = _released(job.released)
            work = sanitize(released, read(_file(job)), assignment)
        except MemoryError:
            raise
        except Exception as error:  # whatever the file is, only this paper is not made
            words = str(error).replace(f"{_file(job).parent}/", "")
            return {"unreadable": _cut(words)}, []
        self._defense = Defense.of(job, work, released, assignment, tasks)
        return self._defense.asked()

    def finish_defense(self, ran: RunResult) -> dict[str, Any]:
        """All questions that come of what such a run sent."""
        assert self._defense is not None
        return {"papers": [one.to_plain() for one in self._defense.papers(ran)]}

    def numbers_on_paper(self, tasks: Sequence[str]) -> dict[str, Any]:
        """How many numbers inputs of these tasks have on paper, of those that are asked about."""
        from course_judges.defending.asking import rehearse

        counted = {task: rehearse(task) for task in tasks}
        return {"numbers": {task: n for task, n in counted.items() if n is not None}}

    def require(self, tasks: Sequence[str]) -> dict[str, Any]:
        """Which packages these tasks need and this machine lacks."""
        return {"lacking": lacking(tasks)}

    def set_aside(self, job: Job, reason: str) -> dict[str, Any]:
        """Its outcome where a person has to look; with its cells, if it could be read."""
        known = job == self._job
        work = self._work if known else None
        outcome = Outcome(
            job.student,
            job.assignment,
            Status.SET_ASIDE,
            reason=reason,
            unanswered=work.unanswered if work else frozenset(),
            work=work,
            notes=work.notes if work else (),
            seconds=self._seconds if known else {},
        )
        outcome = _bounded(outcome)
        _publish(job, outcome)
        return {"outcome": outcome.to_plain()}


def _asked(
    work: SanitizedSubmission, results: Results, assignment: Assignment
) -> list[tuple[Check, bytes, str]]:
    """For each check its answers, or why there are none; in the assignment's order."""
    left = iter(results.steps)
    asked = []
    for step in work.steps:
        if step.kind not in ("code", "check"):
            continue
        result = next(left, None)
        if step.check is None:
            continue
        if result is None:
            # Why stands at the top of the page, once.
            asked.append((step.check, b"", "The run ended before this check."))
        else:
            asked.append((step.check, result.answers, result.problem))
    order = [check.grade_id for check in assignment.checks]
    return sorted(asked, key=lambda one: order.index(one[0].grade_id))


def _tasks(work: SanitizedSubmission) -> list[str]:
    return [check.task for check in work.checks if check.task]


def _file(job: Job) -> Path:
    assert job.file is not None
    return job.file


@functools.lru_cache(maxsize=1)
def _released(text: str) -> tuple[NotebookNode, Assignment]:
    """The released notebook and its cells that count: the same for a whole class."""
    from nbformat.v4 import reads

    notebook = reads(text)
    return notebook, Assignment.of(notebook)


@functools.lru_cache(maxsize=1)
def _questions(seed: int) -> Questions:
    """The same for a whole class."""
    return Questions(seed)


def _publish(job: Job, outcome: Outcome) -> None:
    notebook, assignment = _released(job.released)
    pages.publish((job.graded, job.page), job.stamp, outcome, notebook, assignment)


def _bounded(outcome: Outcome) -> Outcome:
    """With reason and notes that people can read to their end."""
    notes = outcome.notes[:MOST_NOTES]
    if len(outcome.notes) > MOST_NOTES:
        notes += (f"and {len(outcome.notes) - MOST_NOTES:,} more",)
    return replace(outcome, reason=_cut(outcome.reason), notes=tuple(map(_cut, notes)))


def _cut(words: str) -> str:
    return words if len(words) <= MOST_CHARACTERS else words[:MOST_CHARACTERS] + " …"


def _fault(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def serve(number: int) -> None:
    """Import what judges need, then fork a process for each connection sent to socket `number`."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the grader ends, and with it this
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.disable()  # children collect what their submissions leave
    _warm_up()
    control = socket.socket(fileno=number)
    while True:
        message, files, _, _ = socket.recv_fds(control, MOST_CONTROL_BYTES, 1)
        if not message:
            return
        if not files:
            said = json.loads(message)
            if isinstance(said, dict):
                _rehearse_defense(said["defend"])
            else:
                _import_chapters(said)
            continue
        if os.fork() == 0:
            die_with_parent()
            gc.enable()
            control.close()
            _answer(Connection(files[0]))
            os._exit(0)
        os.close(files[0])


def _warm_up() -> None:
    """What every process would do first, done once."""
    with without(*UNUSED_FORMATS):
        from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
    from course_judges import judging  # noqa: F401

    private_tasks.join_chapters()
    outputs = [new_output("stream", text=""), new_output("display_data")]  # each reads its schema
    new_notebook(cells=[new_code_cell(outputs=outputs), new_markdown_cell()])
    rendering.compile_templates("page.html", "feedback.html", "no_verdict.html")
    _freeze()


def _import_chapters(tasks: list[str]) -> None:
    """The judges of these tasks; but JAX starts threads, which would not survive a fork."""
    from course_judges import catalogue as judges
    from course_tasks import catalogue

    for task in tasks:
        if not catalogue.requires(task):
            catalogue.probe(task)
            judges.task(task)
    _freeze()


def _rehearse_defense(tasks: list[str]) -> None:
    """What all papers about these tasks are made of; whatever fails here is said by a child."""
    from course_grader.defend import defense  # noqa: F401
    from course_judges.defending.asking import rehearse
    from course_tasks import catalogue

    for task in tasks:
        with contextlib.suppress(Exception):
            if not catalogue.requires(task):
                rehearse(task)
    _freeze()


def _freeze() -> None:
    """A collection of garbage would go through all that is imported, and copy pages that all
    children share.
    """
    gc.freeze()


def _answer(connection: Connection) -> None:
    """Answer until the grader goes away; the clocks end whatever does not come to an end."""
    began_with = held_bytes()
    most = began_with + MEGABYTES_OF_A_CHILD * MEGABYTE
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    worker = SubmissionWorker()
    with contextlib.suppress(EOFError, OSError):  # the grader is gone
        while True:
            what, about = connection.recv()
            parts: list[bytes] = []
            try:
                if what.startswith("finish"):
                    about = (_received(connection, *about),)
                connection.send_bytes(b"")
                with _timed(SECONDS_TO_JUDGE if what.startswith("finish") else SECONDS_TO_READ):
                    said, parts = _said(getattr(worker, what)(*about))
            except MemoryError:
                said = {"memory": MEGABYTES_OF_A_CHILD, "leaving": True}
            except NotWrittenError as error:
                said = {"not_written": str(error)}
            except _DrawingError as error:
                said = {"machine": str(error)}
            except BaseException as error:
                said = {"fault": f"{type(error).__name__}: {error}"[:MOST_CHARACTERS]}
                said["leaving"] = True
            if (
                not what.startswith("prepare")
                and held_bytes() > began_with + MEGABYTES_TO_LEAVE_AT * MEGABYTE
            ):
                said["leaving"] = True
            connection.send_bytes(json.dumps(said, ensure_ascii=False).encode("utf-8", "replace"))
            for part in parts:
                connection.send_bytes(part)
            if said.get("leaving"):
                return


def _said(answer: Any) -> tuple[dict[str, Any], list[bytes]]:
    return answer if isinstance(answer, tuple) else (answer, [])


def _received(connection: Connection, ended: str, seconds: float, count: int) -> RunResult:
    raw = tuple(RawStep(connection.recv_bytes(), connection.recv_bytes()) for _ in range(count))
    return RunResult(raw, ended, seconds)


def held_bytes() -> int:
    """What this process could fill of its own, in bytes: what RLIMIT_DATA counts."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[5]) * resource.getpagesize()


@contextlib.contextmanager
def _timed(seconds: float) -> Iterator[None]:
    """The kernel ends this process after so much CPU time, in whatever library it is then."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds * WALL_FOR_CPU)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
