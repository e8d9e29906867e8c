"""On a worker of a Dask cluster: its sandbox, and the runs in it as bytes; see `cluster`.

What comes from the grader and goes back to it is in the frames in which a sandbox sends it.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from course_grader.errors import MachineError
from course_grader.sandbox.bubblewrap import IsolationMode
from course_grader.sandbox.protocol import RawStep, RunResult
from course_grader.sandbox.sandbox import Sandbox
from course_grader.sandbox.sanitize import SanitizedSubmission
from course_grader.sandbox.selftest import proven
from course_grader.staleness import sandbox_key, versions
from course_lib.errors import CourseError
from course_tasks.errors import FrameError
from course_tasks.runner import frames
from course_tasks.runner.limits import Limits

if TYPE_CHECKING:
    from distributed import Worker


class SandboxPlugin:
    """What each worker has: a sandbox that was proved on its own machine.

    Parameters
    ----------
    form : str
        See `Sandbox`.
    library : str
        The grader's `sandbox_key`.
    versions : mapping of str to str
        The grader's `versions`, to say what is another one on a worker.

    Attributes
    ----------
    refused : str
        Why this worker runs nothing; empty if it can.
    """

    def __init__(self, form: IsolationMode, library: str, versions: Mapping[str, str]):
        self.form, self.library, self.versions = form, library, versions
        self._stack: ExitStack | None = None
        self.sandbox: Sandbox | None = None
        self.refused = ""

    def setup(self, worker: Worker) -> None:
        """As Dask calls it: see `start`."""
        self.start(Path(worker.local_directory))

    def start(self, folder: Path) -> None:
        """Start the sandbox and prove its walls; or note why this worker cannot grade.

        It must not, if a wall does not hold, or if the course here is not the grader's: another
        version asks other questions, and honest answers to those are wrong.
        """
        if sandbox_key() != self.library:
            self.refused = f"it has {_difference(self.versions, versions())}"
            return
        stack = ExitStack()
        try:
            sandbox = stack.enter_context(proven(self.form, folder))
        except CourseError as error:
            self.refused = str(error)
            return
        self._stack, self.sandbox = stack, sandbox

    def teardown(self, worker: Worker) -> None:  # noqa: ARG002
        """As Dask calls it: see `end`."""
        self.end()

    def end(self) -> None:
        """End the sandbox together with the worker."""
        if self._stack is not None:
            self._stack.close()
        self._stack = self.sandbox = None


def _difference(grader: Mapping[str, str], here: Mapping[str, str]) -> str:
    """What a worker has and the grader has not, in words."""
    others = [
        f"{name} {version} (the grader: {grader.get(name)})"
        for name, version in here.items()
        if grader.get(name) != version
    ]
    if not others:
        return (
            "the grader's release of the course, but other files of course_lib, course_tasks or "
            "private tasks: copy the grader's"
        )
    return f"{', '.join(others)}: install what the grader has"


def refusal(plugin: str, dask_worker: Worker) -> str | None:
    """On a worker: why it runs nothing for a grader; empty if it does, None if it does not yet.

    Parameters
    ----------
    plugin : str
        The name under which the grader gave its workers sandboxes.
    dask_worker : Worker
        Dask's name for it.
    """
    found = dask_worker.plugins.get(plugin)
    return None if found is None else str(found.refused)


def run_on_worker(
    plugin: str,
    work: SanitizedSubmission,
    inputs: Mapping[str, bytes],
    limits: Limits,
    *,
    alone: bool = False,
) -> bytes:
    """On a worker: run a submission in the worker's sandbox.

    Parameters
    ----------
    plugin : str
        The name under which the grader gave its workers sandboxes.
    work, inputs, limits, alone
        See `Sandbox.run`.

    Returns
    -------
    bytes
        For `from_bytes`.

    Raises
    ------
    MachineError
        If the worker has no sandbox, or it fails.
    NoVerdictError
        See `Sandbox.run`.
    """
    from distributed import get_worker

    sandbox = getattr(get_worker().plugins.get(plugin), "sandbox", None)
    if sandbox is None:
        raise MachineError(f"the worker on {platform.node()} has lost its sandbox")
    return to_bytes(sandbox.run(work, inputs, limits, alone=alone), sandbox.form)


def to_bytes(ran: RunResult, form: IsolationMode) -> bytes:
    """A run and the form of the sandbox it ran in, as one message for both and one a result.

    What student code sent is not looked into here, nor in `from_bytes`.
    """
    about = {
        "ended": ran.ended,
        "seconds": ran.seconds,
        "repeat": ran.repeat,
        "form": form,
        "steps": [step.seconds for step in ran.raw],
    }
    raw = [frames.pack_bytes(step.header, step.payload) for step in ran.raw]
    return b"".join([frames.pack(about), *raw])


def from_bytes(data: bytes) -> tuple[RunResult, IsolationMode]:
    """What `to_bytes` made.

    Raises
    ------
    FrameError
        If the bytes are not a run's.
    """
    messages = list(frames.unpack_bytes(data))
    try:
        about = json.loads(messages[0][0])
        raw = tuple(
            RawStep(header, payload, float(seconds))
            for (header, payload), seconds in zip(messages[1:], about["steps"], strict=True)
        )
        ran = RunResult(raw, str(about["ended"]), float(about["seconds"]), str(about["repeat"]))
        return ran, about["form"]
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise FrameError(f"what a worker sent is not a run: {error!r}") from error
