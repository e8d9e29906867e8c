"""Past one machine: submissions run on the workers of a Dask cluster, in sandboxes of their own.

Workers launch sandboxes and return bytes, in the frames in which a sandbox sends them. Judges,
gradebook and everything that is written stay with the grader. Student code has no network and sees
no process outside its sandbox, so neither the scheduler's address nor a worker's memory is within
its reach.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from course_grader.errors import MachineError, NoVerdictError, SandboxUnavailableError
from course_grader.sandbox.bubblewrap import IsolationMode
from course_grader.sandbox.cluster_worker import (
    SandboxPlugin,
    from_bytes,
    refusal,
    run_on_worker,
)
from course_grader.sandbox.protocol import RunResult
from course_grader.sandbox.sanitize import SanitizedSubmission
from course_grader.staleness import sandbox_key, versions
from course_lib.errors import CourseError
from course_tasks.runner.limits import Limits

if TYPE_CHECKING:
    from distributed import Client, Future

# A scheduler that is there answers at once.
SECONDS_TO_CONNECT = 15

# How often a submission goes to another worker after the one that ran it died.
RETRIES = 3

# A job queue or Kubernetes replaces a worker that died within this time, or not soon.
SECONDS_WITHOUT_WORKERS = 60.0

# How often somebody looks whether there still are workers, while a submission waits for one.
SECONDS_BETWEEN_LOOKS = 5.0


class Cluster:
    """The sandboxes of a cluster's workers, used as one; a context manager.

    A worker that cannot grade is left out, and the others go on: `left_out` says which, and why.

    Parameters
    ----------
    address : str
        Of the scheduler, for example "tcp://10.0.0.5:8786".
    form : str
        See `Sandbox`.

    Raises
    ------
    SandboxUnavailableError
        On entering, if no worker can grade; says why of each.
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
        # Of each worker that was asked: what it is called, and why it runs nothing, if so.
        self._refusals: dict[str, tuple[str, str]] = {}
        self._asking = threading.Lock()

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

        raised = "its log says why"
        try:
            client.register_plugin(Plugin(self.form, sandbox_key(), versions()), name=self._plugin)
        except OSError as error:
            raise CourseError(f"the scheduler at {self.address} is gone: {error}") from error
        except Exception as error:  # what one worker raised, when all had been asked
            raised = str(error)
        if not self._fit():
            left = [f"  - {one}" for one in self.left_out]
            left += [
                f"  - {_called(address, one)}: it took no sandbox: {raised}"
                for address, one in self._workers().items()
                if address not in self._refusals
            ]
            raise SandboxUnavailableError(
                "\n".join([f"no worker of {self.address} can grade:", *left])
            )

    @property
    def left_out(self) -> list[str]:
        """Workers that run nothing, each with the reason; some may have come later."""
        return [f"{name}: {why}" for name, why in self._refusals.values() if why]

    def _fit(self) -> list[str]:
        """Addresses of the workers that can grade; those that nobody has asked before are asked."""
        assert self._client is not None
        there = self._workers()
        with self._asking:
            new = [address for address in there if address not in self._refusals]
            said = (
                self._client.run(refusal, self._plugin, workers=new, on_error="return")
                if new
                else {}
            )
            for address, answer in said.items():
                if isinstance(answer, OSError) or answer is None:
                    continue  # it died, or is at it: asked again
                if isinstance(answer, Exception):
                    answer = f"it cannot import the grader's release of the course ({answer})"
                self._refusals[address] = _called(address, there[address]), answer
        return [address for address in there if self._refusals.get(address, ("", "?"))[1] == ""]

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
        there = self._workers()
        fit = [there[address] for address in self._fit() if address in there]
        return max(1, sum(int(one["nthreads"]) for one in fit))

    def run(
        self,
        work: SanitizedSubmission,
        inputs: Mapping[str, bytes],
        limits: Limits,
        *,
        alone: bool = False,
    ) -> RunResult:
        """Run a submission on any worker that can grade; on another one if that dies.

        Raises
        ------
        MachineError
            If no worker could do it, or there was none for `SECONDS_WITHOUT_WORKERS`.
        NoVerdictError
            See `Sandbox.run`.
        """
        assert self._client is not None
        try:
            data = None
            while data is None:
                fit = self._looked_for()
                future = self._client.submit(
                    *(run_on_worker, self._plugin, work, dict(inputs), limits),
                    alone=alone,
                    pure=False,
                    retries=RETRIES,
                    workers=fit,
                )
                data = self._awaited(future, fit)
            ran, form = from_bytes(data)
        except (MachineError, NoVerdictError):
            raise
        except Exception as error:  # Dask raises its own errors, and those of the worker
            raise MachineError(f"no worker ran it: {type(error).__name__}: {error}") from error
        if form == "cold":
            self.form = form
        return ran

    def _awaited(self, future: Future, fit: list[str]) -> bytes | None:
        """What a worker returned, however long it takes; None if all that may run it are gone."""
        while True:
            try:
                return cast(bytes, future.result(timeout=SECONDS_BETWEEN_LOOKS))
            except TimeoutError:
                if future.status == "error":  # the submission's own, not the wait's
                    raise
            if not set(fit) & self._workers().keys():
                future.cancel()
                return None

    def _looked_for(self) -> list[str]:
        """Workers that can grade; waits for some, but not for ever."""
        while True:
            fit = self._fit()
            with self._looking:
                if fit:
                    self._alone_since = None
                    return fit
                now = time.monotonic()
                self._alone_since = self._alone_since or now
                if now - self._alone_since >= SECONDS_WITHOUT_WORKERS:
                    raise MachineError(
                        f"the scheduler at {self.address} had no worker that can grade for "
                        f"{SECONDS_WITHOUT_WORKERS:g} s: start some, then run the command again"
                    )
            time.sleep(SECONDS_BETWEEN_LOOKS)

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


def _called(address: str, worker: Mapping[str, Any]) -> str:
    """A worker's address, with its name where somebody gave it one."""
    name = str(worker.get("name", address))
    return f"worker {address}" if name == address else f"worker {name} at {address}"
