"""Past one machine: submissions run on the workers of a Dask cluster, in sandboxes of their own.

Workers launch sandboxes and return bytes, in the frames in which a sandbox sends them. Judges,
gradebook and everything that is written stay with the grader. Student code has no network and sees
no process outside its sandbox, so neither the scheduler's address nor a worker's memory is within
its reach.
"""

from __future__ import annotations

import json
import platform
import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from course_grader.errors import MachineError, NoVerdictError, SandboxUnavailableError
from course_grader.sandbox.bubblewrap import IsolationMode
from course_grader.sandbox.protocol import RawStep, RunResult
from course_grader.sandbox.sandbox import Sandbox
from course_grader.sandbox.sanitize import SanitizedSubmission
from course_grader.sandbox.selftest import proven
from course_grader.staleness import sandbox_key
from course_lib.errors import CourseError
from course_tasks.errors import FrameError
from course_tasks.runner import frames
from course_tasks.runner.limits import Limits

if TYPE_CHECKING:
    from distributed import Client, Future, Worker

# A scheduler that is there answers at once.
SECONDS_TO_CONNECT = 15

# How often a submission goes to another worker after the one that ran it died.
RETRIES = 3

# A job queue or Kubernetes replaces a worker that died within this time, or not soon.
SECONDS_WITHOUT_WORKERS = 60.0

# How often somebody looks whether there still are workers, while a submission waits for one.
SECONDS_BETWEEN_LOOKS = 5.0


class SandboxPlugin:
    """What each worker has: a sandbox that was proved on its own machine.

    Parameters
    ----------
    form : str
        See `Sandbox`.
    library : str
        The grader's `sandbox_key`.
    """

    def __init__(self, form: IsolationMode, library: str):
        self.form, self.library = form, library
        self._stack: ExitStack | None = None
        self.sandbox: Sandbox | None = None

    def setup(self, worker: Worker) -> None:
        """Start the sandbox and prove its walls; a worker without one refuses to serve.

        Raises
        ------
        SandboxUnavailableError
            If a wall does not hold, or if the course here is not the grader's: another version
            asks other questions, and honest answers to those are wrong.
        """
        if sandbox_key() != self.library:
            raise SandboxUnavailableError(
                f"{platform.node()} has another version of the course, of torch, NumPy or JAX "
                "than the grader: install the same on both"
            )
        self._stack = ExitStack()
        self.sandbox = self._stack.enter_context(proven(self.form, Path(worker.local_directory)))

    def teardown(self, worker: Worker) -> None:  # noqa: ARG002
        """End the sandbox together with the worker."""
        if self._stack is not None:
            self._stack.close()
        self._stack = self.sandbox = None


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
        raise MachineError(
            f"the worker on {platform.node()} has no sandbox, or another version of the course: "
            "its log says which"
        )
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
        raise FrameError(f"what a worker sent is no run: {error!r}") from error


class Cluster:
    """The sandboxes of a cluster's workers, used as one; a context manager.

    Parameters
    ----------
    address : str
        Of the scheduler, for example "tcp://10.0.0.5:8786".
    form : str
        See `Sandbox`.

    Raises
    ------
    SandboxUnavailableError
        On entering, if a worker's walls do not hold, or if its course is another version.
    CourseError
        If there is no scheduler at the address, or it has no workers.
    """

    def __init__(self, address: str, form: IsolationMode = "warm"):
        self.address, self.form = address, form
        # Another course may be graded on the same workers at the same time.
        self._plugin = f"course-sandbox-{secrets.token_hex(8)}"
        self._client: Client | None = None
        self._alone_since: float | None = None
        self._looking = threading.Lock()

    def __enter__(self) -> Self:
        try:
            from distributed import Client
        except ImportError as error:
            raise CourseError(
                "grading on a cluster needs Dask: pip install -e '.[cluster]'"
            ) from error
        try:
            self._client = Client(self.address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise CourseError(
                f"no Dask scheduler answers at {self.address}: {error}. Start one: dask scheduler"
            ) from error
        try:
            self._prepare(self._client)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _prepare(self, client: Client) -> None:
        if not self._workers():
            raise CourseError(f"the scheduler at {self.address} has no workers: start some")
        from distributed import WorkerPlugin

        class Plugin(SandboxPlugin, WorkerPlugin):
            pass

        try:
            client.register_plugin(Plugin(self.form, sandbox_key()), name=self._plugin)
        except Exception as error:  # Dask raises whatever was raised on the worker
            raise SandboxUnavailableError(
                f"a worker of {self.address} cannot grade: {error}"
            ) from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._client is None:
            return
        try:
            # A scheduler that is gone has taken its workers' sandboxes with it.
            if self._workers():
                self._client.unregister_worker_plugin(self._plugin)
        finally:
            self._client.close()
            self._client = None

    @property
    def slots(self) -> int:
        """How many submissions the workers run at once."""
        return max(1, sum(int(one["nthreads"]) for one in self._workers().values()))

    def run(
        self,
        work: SanitizedSubmission,
        inputs: Mapping[str, bytes],
        limits: Limits,
        *,
        alone: bool = False,
    ) -> RunResult:
        """Run a submission on any worker; on another one if that dies.

        Raises
        ------
        MachineError
            If no worker could do it, or there was none for `SECONDS_WITHOUT_WORKERS`.
        NoVerdictError
            See `Sandbox.run`.
        """
        assert self._client is not None
        if self._alone_since is not None:
            self._look_for_workers()
        try:
            future = self._client.submit(
                *(run_on_worker, self._plugin, work, dict(inputs), limits),
                alone=alone,
                pure=False,
                retries=RETRIES,
            )
            ran, form = from_bytes(self._awaited(future))
        except (MachineError, NoVerdictError):
            raise
        except Exception as error:  # Dask raises its own errors, and those of the worker
            raise MachineError(f"no worker ran it: {type(error).__name__}: {error}") from error
        if form == "cold":
            self.form = form
        return ran

    def _awaited(self, future: Future) -> bytes:
        """What a worker returned, however long it takes, as long as there are workers."""
        while True:
            try:
                return cast(bytes, future.result(timeout=SECONDS_BETWEEN_LOOKS))
            except TimeoutError:
                if future.status == "error":  # the submission's own, not the wait's
                    raise
            try:
                self._look_for_workers()
            except MachineError:
                future.cancel()
                raise

    def _look_for_workers(self) -> None:
        with self._looking:
            if self._workers():
                self._alone_since = None
                return
            now = time.monotonic()
            self._alone_since = self._alone_since or now
            if now - self._alone_since >= SECONDS_WITHOUT_WORKERS:
                raise MachineError(
                    f"the scheduler at {self.address} had no worker for "
                    f"{SECONDS_WITHOUT_WORKERS:g} s: start some, then run the command again"
                )

    def _workers(self) -> Mapping[str, Mapping[str, Any]]:
        """The workers that the scheduler knows; none where it does not answer."""
        assert self._client is not None
        if self._client.status != "running":
            return {}
        try:
            info = self._client.scheduler_info(n_workers=-1)
        except (OSError, TimeoutError):
            return {}
        return cast(Mapping[str, Mapping[str, Any]], info["workers"])
