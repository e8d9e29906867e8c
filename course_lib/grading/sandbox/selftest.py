"""Before the first submission: try to break out, wall by wall, as a submission would.

A wall that is only configured may be missing on this machine, in this container, under this kernel.
Each attempt runs as a submission does, in the very sandbox that submissions will run in.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import socket
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import course_lib
from course_lib.errors import MachineFailed, NoSandbox, NoVerdict
from course_lib.grading.sandbox import attempts
from course_lib.grading.sandbox.exchange import Ran, read_steps
from course_lib.grading.sandbox.inside.limits import Limits
from course_lib.grading.sandbox.runs import Sandbox
from course_lib.grading.sandbox.sanitise import Step, Work
from course_lib.grading.sandbox.walls import Form, environment

_LOG = logging.getLogger(__name__)

# Small, so that the attempts to pass them are over soon.
LIMITS = Limits(cell_seconds=10, total_seconds=20, memory_megabytes=256, processes=32)
_A_MOMENT = Limits(cell_seconds=10, total_seconds=0.5, memory_megabytes=256, processes=32)

NAMESPACES = (
    "allow user namespaces: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0 "
    "(in a container: run it with user namespaces allowed)"
)
_PLACE = "keep the course's folder outside of the folders of Python and of the system"
_KERNEL = "update bubblewrap and the kernel (Linux 5.14 or newer)"


@dataclass(frozen=True)
class Wall:
    """One wall, and whether it held when it was tried.

    Attributes
    ----------
    name : str
    holds : bool
    found : str
        What the attempt came to.
    remedy : str
        What to do where it does not hold.
    """

    name: str
    holds: bool
    found: str
    remedy: str = ""


def prove(sandbox: Sandbox, root: Path) -> list[Wall]:
    """Try every wall of a started sandbox; takes one to three seconds.

    Parameters
    ----------
    sandbox : Sandbox
    root : Path
        The course's folder, where gradebook, solutions and submissions are.

    Returns
    -------
    list of Wall
        In a fixed order, the honest run first.
    """
    tries: list[Callable[[Sandbox, Path], Wall]] = [
        _honest,
        _network,
        _files,
        _environment,
        _judges,
        _leftovers,
        _doors,
        _memory,
        _processes,
        _time,
    ]

    def attempt(one: Callable[[Sandbox, Path], Wall]) -> Wall:
        try:
            return one(sandbox, root)
        except (MachineFailed, NoVerdict) as error:
            return Wall(one.__name__.strip("_"), False, str(error), NAMESPACES)

    with ThreadPoolExecutor(4) as runners:
        return list(runners.map(attempt, tries))


@contextlib.contextmanager
def proven(form: Form, root: Path) -> Iterator[Sandbox]:
    """A started sandbox whose walls have held; a cold one where a warm one cannot be had.

    Parameters
    ----------
    form : str
        "warm" falls back to "cold", and a warning in the log says why; "bare" is taken at its word
        and proves nothing.
    root : Path
        The course's folder.

    Raises
    ------
    NoSandbox
        Naming each wall that did not hold, and its remedy.
    """
    forms: tuple[Form, ...] = ("warm", "cold") if form == "warm" else (form,)
    reasons: list[str] = []
    with ExitStack() as stack:
        for candidate in forms:
            trial = stack.enter_context(ExitStack())
            try:
                sandbox = trial.enter_context(Sandbox(candidate))
                broken = [] if candidate == "bare" else _broken(sandbox, root)
            except NoSandbox as error:
                reasons = [str(error), f"remedy: {NAMESPACES}"]
                continue
            if not broken:
                if reasons:
                    _LOG.warning("no warm starts here, only cold ones: %s", "; ".join(reasons))
                yield sandbox
                return
            trial.close()
            reasons = [f"{one.name}: {one.found}\n    remedy: {one.remedy}" for one in broken]
    raise NoSandbox(
        "student code cannot be kept apart on this machine, so nothing was graded:\n  - "
        + "\n  - ".join(reasons)
        + "\nTo grade without any wall, on a machine that holds nothing else: --no-sandbox"
    )


def _broken(sandbox: Sandbox, root: Path) -> list[Wall]:
    return [wall for wall in prove(sandbox, root) if not wall.holds]


def _try(sandbox: Sandbox, source: str, limits: Limits = LIMITS, **values: object) -> Ran:
    """Run one cell, with values given to it by name."""
    given = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    return sandbox.run(Work((Step("code", f"{given}\n{source}"),)), {}, limits)


def _printed(ran: Ran) -> str:
    steps, odd = read_steps(ran, Work((Step("code", ""),)), LIMITS)
    outputs = steps[0].outputs if steps else []
    texts = [str(one.get("text", "")) for one in outputs if one.get("output_type") == "stream"]
    problem = ran.ended or odd or (steps[0].problem if steps else "")
    return ("".join(texts) + problem).strip()


def _says(ran: Ran, name: str, found: str, remedy: str) -> Wall:
    """The wall holds if the attempt came to its end and found no way."""
    said = _printed(ran)
    holds = said == attempts.NO_WAY
    return Wall(name, holds, found if holds else said or "the attempt said nothing", remedy)


def _honest(sandbox: Sandbox, _root: Path) -> Wall:
    said = _printed(_try(sandbox, attempts.HONEST))
    works = said == attempts.WORKS
    return Wall("honest work", works, "runs" if works else said, NAMESPACES)


def _network(sandbox: Sandbox, _root: Path) -> Wall:
    """Two doors that stand open outside: a port, and a socket by name that no folder hides."""
    name = f"\0course-{secrets.token_hex(8)}"
    with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as local:
        local.bind(name)
        local.listen()
        ran = _try(sandbox, attempts.NETWORK, port=port.getsockname()[1], name=name)
    return _says(ran, "network", "no way out", NAMESPACES)


def _files(sandbox: Sandbox, root: Path) -> Wall:
    """Files outside: beside the gradebook, at home, in the temporary folder, the judges' code."""
    with ExitStack() as stack:
        places = [root, Path.home(), Path(tempfile.gettempdir())]
        paths = [str(stack.enter_context(_canary(place))) for place in places]
        library = Path(course_lib.__file__).parent
        paths += [str(library / "grading"), str(library / "tasks")]
        ran = _try(sandbox, attempts.FILES, paths=paths)
    return _says(ran, "gradebook and home", "out of sight", _PLACE)


@contextlib.contextmanager
def _canary(place: Path) -> Iterator[Path]:
    """A file that was just put somewhere; the place itself where none can be put."""
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".course-canary-") as file:
            yield Path(file.name)
    except OSError:
        yield place


def _environment(sandbox: Sandbox, root: Path) -> Wall:
    known = [*environment(root, sandbox.form, root), "PWD", "LC_CTYPE", "SHLVL", "_"]
    ran = _try(sandbox, attempts.ENVIRONMENT, known=known)
    return _says(ran, "environment", "only what the course sets", _KERNEL)


def _judges(sandbox: Sandbox, _root: Path) -> Wall:
    return _says(_try(sandbox, attempts.JUDGES), "judges", "not inside", _PLACE)


def _leftovers(sandbox: Sandbox, _root: Path) -> Wall:
    name = f"planted-{secrets.token_hex(8)}"
    pause = f"20.{secrets.randbelow(10**9)}"  # seconds, and a mark of the process left behind
    planted = _printed(_try(sandbox, attempts.PLANT, name=name, pause=pause))
    if planted != attempts.WORKS:
        return Wall("leftovers", False, f"could not be tried: {planted}", _KERNEL)
    ran = _try(sandbox, attempts.LOOK, name=name, pause=pause)
    return _says(ran, "leftovers", "none", _KERNEL)


def _doors(sandbox: Sandbox, _root: Path) -> Wall:
    ran = _try(sandbox, attempts.DOORS, alone=sandbox.form == "warm")
    return _says(ran, "other processes", "out of reach, and no new namespaces", _KERNEL)


def _memory(sandbox: Sandbox, _root: Path) -> Wall:
    most = LIMITS.memory_megabytes
    alone = _try(sandbox, attempts.MEMORY, megabytes=2 * most)
    if _printed(alone) != attempts.NO_WAY:
        return _says(alone, "memory", "", _KERNEL)
    ran = _try(sandbox, attempts.SHARED_MEMORY, megabytes=most // 2, count=4)
    return _ends(ran, "memory", "memory", "bounded, over several processes, too")


def _processes(sandbox: Sandbox, _root: Path) -> Wall:
    ran = _try(sandbox, attempts.PROCESSES, count=4 * LIMITS.processes)
    if _printed(ran) == attempts.NO_WAY:
        return Wall("processes", True, "bounded")
    return _ends(ran, "processes", "processes and threads", "bounded")


def _time(sandbox: Sandbox, _root: Path) -> Wall:
    ran = _try(sandbox, attempts.ENDLESS, _A_MOMENT)
    return _ends(ran, "time", "took more than", "bounded")


def _ends(ran: Ran, name: str, words: str, found: str) -> Wall:
    """The wall holds if the run was ended, and for the right reason."""
    holds = words in ran.ended
    return Wall(name, holds, found if holds else _printed(ran) or "nothing ended it", _KERNEL)
