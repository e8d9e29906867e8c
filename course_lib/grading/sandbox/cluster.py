"""Past one machine: submissions run on the workers of a Dask cluster, in sandboxes of their own.

Workers launch sandboxes and return bytes. Judges, gradebook and everything that is written stay
with the grader. Student code has no network and sees no process outside its sandbox, so neither
the scheduler's address nor a worker's memory is within its reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from course_lib.errors import CourseError, MachineFailed, NoSandbox
from course_lib.grading.sandbox.exchange import Ran
from course_lib.grading.sandbox.inside.limits import Limits
from course_lib.grading.sandbox.runs import Sandbox
from course_lib.grading.sandbox.sanitise import Work
from course_lib.grading.sandbox.selftest import proven
from course_lib.grading.sandbox.walls import Form

if TYPE_CHECKING:
    from distributed import Client, Worker

# A scheduler that is there answers at once.
SECONDS_TO_CONNECT = 15

# How often a submission goes to another worker after the one that ran it died.
RETRIES = 3

_PLUGIN = "course-sandbox"


class SandboxPlugin:
    """What each worker has: a sandbox that was proved on its own machine.

    Parameters
    ----------
    form : str
        See `Sandbox`.
    """

    def __init__(self, form: Form):
        self.form = form
        self._stack: ExitStack | None = None
        self.sandbox: Sandbox | None = None

    def setup(self, worker: Worker) -> None:
        """Start the sandbox and prove its walls; a worker without one refuses to serve."""
        self._stack = ExitStack()
        self.sandbox = self._stack.enter_context(proven(self.form, Path(worker.local_directory)))

    def teardown(self, worker: Worker) -> None:  # noqa: ARG002
        """End the sandbox together with the worker."""
        if self._stack is not None:
            self._stack.close()
        self._stack = self.sandbox = None


def run_on_worker(work: Work, inputs: Mapping[str, bytes], limits: Limits) -> Ran:
    """On a worker: run a submission in the worker's sandbox.

    Raises
    ------
    MachineFailed
        If the worker has no sandbox, or it fails.
    """
    from distributed import get_worker

    sandbox = getattr(get_worker().plugins.get(_PLUGIN), "sandbox", None)
    if not isinstance(sandbox, Sandbox):
        raise MachineFailed("this worker has no sandbox")
    return sandbox.run(work, inputs, limits)


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
    NoSandbox
        On entering, if a worker's walls do not hold.
    CourseError
        If there is no scheduler at the address, or it has no workers.
    """

    def __init__(self, address: str, form: Form = "warm"):
        self.address, self.form = address, form
        self._client: Client | None = None

    def __enter__(self) -> Self:
        try:
            from distributed import Client
        except ImportError as error:
            raise CourseError(
                "grading on a cluster needs Dask: pip install 'course-lib[cluster]'"
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
            self._client.close()
            raise
        return self

    def _prepare(self, client: Client) -> None:
        if not client.scheduler_info()["workers"]:
            raise CourseError(f"the scheduler at {self.address} has no workers: start some")
        from distributed import WorkerPlugin

        class Plugin(SandboxPlugin, WorkerPlugin):
            pass

        try:
            client.register_plugin(Plugin(self.form), name=_PLUGIN)
        except Exception as error:  # Dask raises whatever was raised on the worker
            raise NoSandbox(f"a worker of {self.address} has no sandbox: {error}") from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._client is not None:
            self._client.unregister_worker_plugin(_PLUGIN)
            self._client.close()
            self._client = None

    @property
    def slots(self) -> int:
        """How many submissions the workers run at once."""
        assert self._client is not None
        workers: dict[str, dict[str, Any]] = self._client.scheduler_info(n_workers=-1)["workers"]
        return sum(int(one["nthreads"]) for one in workers.values())

    def run(self, work: Work, inputs: Mapping[str, bytes], limits: Limits) -> Ran:
        """Run a submission on any worker; on another one if that dies.

        Raises
        ------
        MachineFailed
            If no worker could do it.
        """
        assert self._client is not None
        try:
            future = self._client.submit(
                run_on_worker, work, dict(inputs), limits, pure=False, retries=RETRIES
            )
            return cast(Ran, future.result())
        except Exception as error:  # Dask raises its own errors, and those of the worker
            raise MachineFailed(f"no worker ran it: {type(error).__name__}: {error}") from error
