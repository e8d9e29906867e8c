"""Sandboxes in containers of their own: a container for each submission that runs at once.

`course grade --isolation container` starts as many containers as submissions run at once. In each,
a worker (`container_worker`) proves a sandbox and takes one run at a time; what goes in and comes
out is what a cluster's worker is given and returns. The walls of the sandbox are the same. Around
them stands what the runtime puts around a container: a limit on memory that holds for the kernel's
own records, too, and folders, networks and processes that are not the grader's.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import queue
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

from course_grader import private_tasks
from course_grader.errors import MachineError, NoVerdictError, SandboxUnavailableError
from course_grader.sandbox.bubblewrap import IsolationMode
from course_grader.sandbox.cluster_worker import from_bytes
from course_grader.sandbox.protocol import RunResult, most_header_bytes
from course_grader.sandbox.sandbox import SECONDS_OF_GRACE, cores
from course_grader.sandbox.sanitize import SanitizedSubmission
from course_grader.sandbox.scratch import ScratchFolder
from course_grader.staleness import sandbox_key, versions
from course_tasks.errors import FrameError
from course_tasks.runner import frames
from course_tasks.runner.limits import MEGABYTE, Limits
from course_tasks.runner.processor_time import stretched

RUNTIMES = ("docker", "podman")
"""Programs that run containers, in the order in which they are looked for."""

# The sandbox needs these inside; the guide's page on where it runs says why. The two capabilities
# are for a user for each run, and none of them is left to student code.
OPTIONS = (
    *("--rm", "--interactive", "--init", "--network", "none"),
    *("--cap-drop", "ALL", "--cap-add", "SETUID", "--cap-add", "SETGID"),
    *("--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined"),
)
_UNCOVERED = {"docker": "systempaths=unconfined", "podman": "unmask=ALL"}

# Beside a run: the worker, a process that holds torch, and what the self-test takes for a moment.
_MEGABYTES_BESIDE = 2048
_PROCESSES_BESIDE = 200

# Fetching an image's layers from a slow disk, two imports of torch, and the self-test.
SECONDS_TO_START = 300.0
SECONDS_TO_END = 10.0

_PRIVATE = "/opt/private"
WORKER = ("python", "-m", "course_grader.sandbox.container_worker")


class Containers:
    """Workers in containers, used as one sandbox by several threads; a context manager.

    Parameters
    ----------
    limits : Limits
        Of each run; a container may hold some more.
    image : str
        With the grader's release of the course; see the `Dockerfile`.
    count : int, optional
        How many there are, and so how many submissions run at once; by default one for each core.
    runtime : str
        Name or path of the program that runs containers; empty: the first of `RUNTIMES` that is
        there.

    Raises
    ------
    SandboxUnavailableError
        On entering, if there is no such program, or a container does not start, or cannot grade.
    """

    form: IsolationMode = "warm"

    def __init__(self, limits: Limits, image: str, count: int | None = None, runtime: str = ""):
        self.slots = count or cores()
        self._limits, self._image, self._runtime = limits, image, runtime
        self._free: queue.SimpleQueue[_Container | None] = queue.SimpleQueue()
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        command = self._command()
        with self._open as stack, ThreadPoolExecutor(self.slots) as threads:
            starting = [threads.submit(_Container, command) for _ in range(self.slots)]
            failed: BaseException | None = None
            for one in starting:
                try:
                    container = one.result()
                    stack.callback(container.stop)
                    self._free.put(container)
                except SandboxUnavailableError as error:
                    failed = error
            if failed is not None:
                raise failed
            self._open = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._open.close()

    def run(
        self,
        work: SanitizedSubmission,
        inputs: Mapping[str, bytes],
        limits: Limits,
        *,
        alone: bool = False,
    ) -> RunResult:
        """Run a submission in a container that runs nothing else meanwhile.

        Raises
        ------
        MachineError
            If no container could be started for it.
        NoVerdictError
            If its container ended twice while it ran: whether the machine or the submission did
            it, a person has to find out. Or see `Sandbox.run`.
        """
        container = self._free.get()
        try:
            try:
                container = container or self._another()
                ran, form = container.run(work, inputs, limits, alone=alone)
            except _ContainerGoneError:
                container = self._another(container)
                ran, form = container.run(work, inputs, limits, alone=alone)
        except _ContainerGoneError as error:
            if container is not None:
                container.stop()
                container = None
            raise NoVerdictError(f"its container ended twice while it ran: {error}") from error
        finally:
            self._free.put(container)
        if form == "cold":
            self.form = "cold"
        return ran

    def _another(self, gone: _Container | None = None) -> _Container:
        """A new container, in place of one that is gone."""
        if gone is not None:
            gone.stop()
        try:
            container = _Container(self._command())
        except SandboxUnavailableError as error:
            raise MachineError(str(error)) from error
        self._open.callback(container.stop)
        return container

    def _command(self) -> list[str]:
        """The command that starts a container, without the name that it is given."""
        asked = (self._runtime,) if self._runtime else RUNTIMES
        found = [path for path in map(shutil.which, asked) if path]
        if not found:
            raise SandboxUnavailableError(
                f"a container for each submission needs {' or '.join(asked)}, which is not "
                "installed here: sudo apt-get install podman, or grade without --isolation "
                "container, in sandboxes of this machine"
            )
        kind = "podman" if "podman" in os.path.basename(found[0]) else "docker"
        most = self._limits.memory_megabytes + self._limits.file_megabytes + _MEGABYTES_BESIDE
        command = [found[0], "run", *OPTIONS, "--security-opt", _UNCOVERED[kind]]
        command += ["--memory", f"{most}m", "--memory-swap", f"{most}m"]
        command += ["--pids-limit", str(self._limits.processes + _PROCESSES_BESIDE)]
        if (where := private_tasks.folder()) is not None:  # their questions, and not their judges
            place = f"{_PRIVATE}/course_tasks"
            command += ["--volume", f"{where.resolve()}/course_tasks:{place}:ro"]
            command += ["--env", f"{private_tasks.VARIABLE}={_PRIVATE}"]
        return [*command, self._image, *WORKER]


class _ContainerGoneError(MachineError):
    """It ended, or does not answer in time, or what it answers is none."""


class _Container:
    """A started container, whose sandbox has held, and the socket to its worker."""

    def __init__(self, command: Sequence[str]):
        self._runtime, self._name = command[0], f"course-run-{secrets.token_hex(8)}"
        self._wire, its = socket.socketpair()
        self._scratch = ScratchFolder("course-container-")
        self._log = self._scratch.path / "log"
        self._stopped = False
        run = command.index("run") + 1
        with its, self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command[:run], "--name", self._name, *command[run:]],
                stdin=its.fileno(),
                stdout=its.fileno(),
                stderr=log,
            )
        try:
            self._greet()
        except BaseException:
            self.stop()
            raise

    def _greet(self) -> None:
        """Tell the worker what the grader has, and hear whether it can grade."""
        said = None
        try:
            frames.send(self._wire, {"library": sandbox_key(), "versions": versions()})
            said = frames.receive(self._wire, time.monotonic() + SECONDS_TO_START)
        except (FrameError, OSError):
            pass  # what the runtime said stands in the log
        if said is None:
            self._process.kill()
            words = self._words()
            raise SandboxUnavailableError(f"a container does not start: {words or 'no word'}")
        if refused := str(said[0].get("refused", "it does not say what it is")):
            raise SandboxUnavailableError(f"a container cannot grade: {refused}")

    def _words(self) -> str:
        self._process.wait()
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def run(
        self, work: SanitizedSubmission, inputs: Mapping[str, bytes], limits: Limits, *, alone: bool
    ) -> tuple[RunResult, IsolationMode]:
        """One run, and the form of the sandbox that it ran in; see `Sandbox.run`."""
        # The worker may try twice, each time for as long as a sandbox is waited for.
        seconds = 2 * (stretched(limits.total_seconds, alone=alone) + 2 * SECONDS_OF_GRACE)
        # Objects go in, which the grader made itself; out come bytes.
        job = pickle.dumps((work, dict(inputs), limits, alone))
        most = limits.answer_megabytes * MEGABYTE + most_header_bytes(limits)
        answer = io.BytesIO()
        try:
            self._wire.settimeout(seconds)
            self._wire.sendall(frames.pack({}, job))
            lengths = frames.receive_into(
                *(answer, self._wire, time.monotonic() + seconds),
                most_header=frames.MOST_HEADER_BYTES,
                most=2 * most,
            )
            if lengths is None:
                raise _ContainerGoneError(self._words() or "it said nothing")
            answer.seek(0)
            header = frames.object_of(answer.read(lengths[0]))
            if words := header.get("machine"):
                raise MachineError(str(words))
            if words := header.get("no_verdict"):
                raise NoVerdictError(str(words))
            return from_bytes(answer.read())
        except (FrameError, OSError) as error:
            raise _ContainerGoneError(str(error)) from error

    def stop(self) -> None:
        """End it, and everything in it; a second time does nothing."""
        if self._stopped:
            return
        self._stopped = True
        self._wire.close()  # the worker ends with its standard input
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            subprocess.run([self._runtime, "rm", "--force", self._name], capture_output=True)
            self._process.kill()
            self._process.wait()
        self._scratch.remove()
