"""Start the process from which, or in which, submissions run, as nobody in particular."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from course_grader.errors import SandboxUnavailableError
from course_grader.sandbox import unprivileged, user_range
from course_grader.sandbox.bubblewrap import IsolationMode, bubblewrap, environment
from course_grader.sandbox.scratch import ScratchFolder

# Starting Python and importing torch takes two to six seconds on a busy machine.
SECONDS_TO_START = 120.0


def start_command(
    library: Path, form: IsolationMode, program: list[str], users: str | None = None
) -> list[str]:
    """The command that runs a program within the walls.

    Parameters
    ----------
    library : Path
        Of the copied code, outside.
    form : str
        See `Sandbox`.
    program : list of str
    users : str, optional
        One for each run, from `user_range`; see `unprivileged`.

    Raises
    ------
    SandboxUnavailableError
        See `bubblewrap`.
    """
    if form == "bare":
        return program
    command = [*bubblewrap(library, form, own_users=users is not None), "--", *program]
    if os.geteuid() == 0 or users is not None:
        # By path, without the environment's packages: it needs none, and starts at once.
        first = [sys.executable, "-I", "-S", unprivileged.__file__]
        return [*first, users or unprivileged.NO_RANGE, *command]
    return command


class StartedSandbox:
    """A started process that holds torch soon, and the sockets over which it is given runs.

    Torch takes a second to import. A warm one has a process beside, within the same walls, that
    takes runs before: those which try the walls. See `zygote`.

    Parameters
    ----------
    library : Path
        Of the copied code; see `copy_library`.
    form : str
        See `Sandbox`.
    spawned : callable ()
        Called when the process exists, before it has imported anything.
    own_users : bool
        Whether each of its runs shall be another user, if there are any; see `user_range`.

    Attributes
    ----------
    own_users : bool
        Whether each of its runs is another user of the machine.
    requests : socket
        Takes limits and two open sockets for each run; see `wait`.
    attempts : socket
        The same for runs that need no torch; another one than `requests` only in a warm sandbox.

    Raises
    ------
    SandboxUnavailableError
        If it does not start.
    """

    def __init__(
        self,
        library: Path,
        form: IsolationMode,
        spawned: Callable[[], None] = lambda: None,
        *,
        own_users: bool = False,
    ):
        users = user_range.find() if own_users else None
        self.own_users = users is not None
        self._scratch = ScratchFolder("course-sandbox-")
        folder = self._scratch.path
        self.requests, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ends = [its]
        self.attempts = self.requests
        if form == "warm":
            self.attempts, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ends.append(its)
        self._waiting, self._ready = threading.Lock(), False
        self._log = log = folder / "log"
        home = folder / "home"
        home.mkdir()
        try:
            command = start_command(
                *(library, form),
                [
                    *(sys.executable, "-m", "course_tasks.runner.zygote"),
                    *(",".join(str(end.fileno()) for end in ends), form),
                ],
                users,
            )
            with log.open("wb") as out:
                self._process = subprocess.Popen(
                    command,
                    pass_fds=[end.fileno() for end in ends],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    env=environment(library, form, home),
                    cwd=home,
                )
        except BaseException:
            self._close()
            self._scratch.remove()
            raise
        finally:
            for end in ends:
                end.close()
        spawned()
        self._hear(self.attempts)
        self._ready = self.attempts is self.requests

    def wait(self) -> None:
        """Until it holds torch and takes submissions.

        Raises
        ------
        SandboxUnavailableError
            If that does not come to pass.
        """
        with self._waiting:
            if not self._ready:
                self._hear(self.requests)
                self._ready = True

    def _hear(self, requests: socket.socket) -> None:
        requests.settimeout(SECONDS_TO_START)
        try:
            started = requests.recv(1) == b"+"
        except OSError:
            started = False
        if not started:
            said = ""
            with contextlib.suppress(OSError):  # stopped by another thread meanwhile
                said = self._log.read_text(encoding="utf-8", errors="replace").strip()
            self.stop()
            raise SandboxUnavailableError(
                "the sandbox does not start: "
                f"{said.splitlines()[-1] if said else 'it said nothing'}. "
                "`course doctor` tries each of its walls and names the remedy."
            )

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    @property
    def number(self) -> int:
        """The process's number outside; after `exec`, that of bubblewrap itself."""
        return self._process.pid

    def stop(self) -> None:
        """End it, and everything in it."""
        self._close()
        self._process.kill()
        self._process.wait()
        self._scratch.remove()

    def _close(self) -> None:
        self.requests.close()
        self.attempts.close()
