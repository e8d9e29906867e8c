"""From outside: start the sandbox, give it submissions, take what comes out as bytes.

The sandbox is bubblewrap: no network, a read-only system of which only Python and this course's own
code are there, an empty home, a short environment, processes of its own. Judges, solutions and
gradebook are not in it.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from course_lib.errors import MachineFailed, NoSandbox, NoVerdict
from course_lib.grading.sandbox.exchange import Ran, RawStep, collect, runnable, send_job
from course_lib.grading.sandbox.inside.limits import Limits
from course_lib.grading.sandbox.sanitise import Work
from course_lib.grading.sandbox.walls import Form, bubblewrap, copy_library, environment

# Starting Python and importing torch takes two to six seconds on a busy machine.
SECONDS_TO_START = 120.0
# What a run may take beyond its own limit before the grader stops waiting: forking and transfer.
SECONDS_OF_GRACE = 15.0
# A run that sends nothing more ends at once, or has closed its connection and goes on for nobody.
SECONDS_TO_END = 2.0


def cores() -> int:
    """How many processors this process may use; all of the machine's where nobody can tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Started:
    """A started process that holds torch, and the socket over which it is given submissions."""

    def __init__(self, library: Path, form: Form):
        self._folder = Path(tempfile.mkdtemp(prefix="course-sandbox-"))
        self.requests, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [
            sys.executable,
            "-m",
            "course_lib.grading.sandbox.inside.zygote",
            str(its.fileno()),
            form,
        ]
        if form != "bare":
            command = [*bubblewrap(library), "--", *command]
        log = self._folder / "log"
        home = self._folder / "home"
        home.mkdir()
        with its, log.open("wb") as out:
            self._process = subprocess.Popen(
                command,
                pass_fds=[its.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=environment(library, form, home),
                cwd=home,
            )
        self.requests.settimeout(SECONDS_TO_START)
        try:
            started = self.requests.recv(1) == b"+"
        except OSError:
            started = False
        if not started:
            said = log.read_text(encoding="utf-8", errors="replace").strip()
            self.stop()
            raise NoSandbox(
                "the sandbox does not start: "
                f"{said.splitlines()[-1] if said else 'it said nothing'}. "
                "`course doctor` tries each of its walls and names the remedy."
            )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        self.requests.close()
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


class Sandbox:
    """A sandbox that several threads may use at once; a context manager.

    Parameters
    ----------
    form : str
        "warm" forks each submission from a process that holds torch, in namespaces of its own;
        "cold" starts a fresh sandbox for each; "bare" has no sandbox at all.

    Raises
    ------
    NoSandbox
        On entering, if it does not start.
    """

    def __init__(self, form: Form = "warm"):
        self.form = form
        self._folder = Path(tempfile.mkdtemp(prefix="course-library-"))
        copy_library(self._folder)
        self._shared: _Started | None = None
        self._restarting = threading.Lock()

    @property
    def slots(self) -> int:
        """How many submissions this machine runs at once: its cores."""
        return cores()

    def __enter__(self) -> Self:
        if self.form == "cold":
            bubblewrap(self._folder)  # starts with each run; whether it can is said now
        else:
            self._shared = _Started(self._folder, self.form)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._shared is not None:
            self._shared.stop()
            self._shared = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, work: Work, inputs: Mapping[str, bytes], limits: Limits) -> Ran:
        """Run a submission.

        Parameters
        ----------
        work : Work
            From `sanitise`.
        inputs : mapping of str to bytes
            For each task its inputs, without what only the judge may see.
        limits : Limits

        Returns
        -------
        Ran
            Whatever the submission did.

        Raises
        ------
        MachineFailed
            If the sandbox could not do its part, even when tried again.
        NoVerdict
            If it failed twice where a submission can end what watches over it: whether the machine
            or the submission did it, a person has to find out.
        """
        try:
            return self._run_once(work, inputs, limits)
        except MachineFailed:
            pass
        try:
            return self._run_once(work, inputs, limits)
        except MachineFailed as error:
            if self.form == "warm":
                raise
            raise NoVerdict(f"its sandbox ended twice while it ran: {error}") from error

    def _run_once(self, work: Work, inputs: Mapping[str, bytes], limits: Limits) -> Ran:
        if self.form != "cold":
            return _run(self._alive(), work, inputs, limits)
        started = _started_again(self._folder, "cold")
        try:
            return _run(started, work, inputs, limits)
        finally:
            started.stop()

    def _alive(self) -> _Started:
        """The process that all runs share; a new one where it has died."""
        with self._restarting:
            if self._shared is None:
                raise MachineFailed("the sandbox is not started: use it as a context manager")
            if not self._shared.alive:
                self._shared.stop()
                self._shared = _started_again(self._folder, self.form)
            return self._shared


def _started_again(library: Path, form: Form) -> _Started:
    """In the middle of a class, a sandbox that does not start is the machine's failure."""
    try:
        return _Started(library, form)
    except NoSandbox as error:
        raise MachineFailed(str(error)) from error


def _run(started: _Started, work: Work, inputs: Mapping[str, bytes], limits: Limits) -> Ran:
    began = time.monotonic()
    deadline = began + limits.total_seconds + SECONDS_OF_GRACE
    wire, inner_wire = socket.socketpair()
    lifeline, inner_lifeline = socket.socketpair()
    with wire, lifeline:
        with inner_wire, inner_lifeline:
            _hand_over(started, limits, inner_wire, inner_lifeline)
        ended = ""
        results: list[RawStep] = []
        try:
            send_job(wire, work, inputs, limits)
            ended = collect(wire, work, limits, deadline, results)
        except OSError:  # the runner is gone; the supervisor says why
            pass
        ended = ended or _last_words(lifeline)
    if not ended and len(results) < runnable(work):
        ended = "the process ended itself before all cells had run"
    return Ran(tuple(results), ended, time.monotonic() - began)


def _hand_over(started: _Started, limits: Limits, *ends: socket.socket) -> None:
    message = json.dumps(limits.as_dict()).encode()
    try:
        socket.send_fds(started.requests, [message], [end.fileno() for end in ends])
    except OSError as error:
        raise MachineFailed(f"the sandbox is gone: {error}") from error


def _last_words(lifeline: socket.socket) -> str:
    """How the supervisor says that a run ended; one that goes on in silence is ended here."""
    lifeline.settimeout(SECONDS_TO_END)
    try:
        words = lifeline.recv(1000).decode("utf-8", "replace")
    except TimeoutError:
        return "it closed its connection to the grader"
    except OSError as error:
        raise MachineFailed(f"the sandbox is gone: {error}") from error
    if not words or words.startswith("isolation failed"):
        raise MachineFailed(words or "the supervisor of a run ended without a word")
    return words.strip()
