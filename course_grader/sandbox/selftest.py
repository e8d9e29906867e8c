"""Before the first submission: try to break out, wall by wall, as a submission would.

A wall that is only configured may be missing on this machine, in this container, under this kernel.
Each attempt runs as a submission does, in the very sandbox that submissions will run in.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from course_grader.errors import MachineError, NoVerdictError, SandboxUnavailableError
from course_grader.sandbox import canaries, escape_attempts, user_range
from course_grader.sandbox.bubblewrap import (
    BESIDE_STUDENT_CODE,
    IsolationMode,
    environment,
)
from course_grader.sandbox.protocol import RunResult, read_steps
from course_grader.sandbox.sandbox import Sandbox
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_tasks.runner.limits import Limits

_LOG = logging.getLogger(__name__)

LIMITS = Limits(cell_seconds=10, total_seconds=20, memory_megabytes=256, processes=32)
# Smaller ones, so that the attempts to pass them are over soon.
_LITTLE_MEMORY = replace(LIMITS, memory_megabytes=96)
_FEW_PROCESSES = replace(LIMITS, processes=8)
_A_MOMENT = replace(LIMITS, total_seconds=0.1)

# What a submission left running is ended by the kernel after the run has said that it is over: at
# once on an idle machine, some tenths of a second later on one with ten busy processes on a core.
SECONDS_TO_VANISH = 10.0
_BETWEEN_LOOKS = 0.02

NAMESPACES = (
    "allow user namespaces: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0 "
    "(in a container: run it with user namespaces allowed and /proc uncovered; with Docker "
    "--security-opt seccomp=unconfined --security-opt systempaths=unconfined)"
)
_PLACE = "keep your own files outside the folders of Python and its packages, which are inside"
_KERNEL = "update bubblewrap and the kernel (Linux 5.14 or newer)"
_USER = "grade as an ordinary user, or let root become one (capabilities SETUID and SETGID)"


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


def prove(sandbox: Sandbox, root: Path, places: Sequence[Path] = ()) -> list[Wall]:
    """Try every wall of a started sandbox; takes one to three seconds.

    Parameters
    ----------
    sandbox : Sandbox
    root : Path
        The course's folder, where gradebook, solutions and submissions are.
    places : sequence of Path
        More folders of the class, wherever they lie; see `canaries.of_course`.

    Returns
    -------
    list of Wall
        In a fixed order, the honest run first.
    """
    # What needs torch waits for it, and everything else is tried meanwhile.
    tries: list[Callable[[Sandbox, Sequence[Path]], list[Wall]]]
    tries = [_honest, _looks, _users, _memory, _processes, _time]
    with ThreadPoolExecutor(len(tries)) as runners:
        found = runners.map(lambda one: one(sandbox, (root, *places)), tries)
        return [wall for walls in found for wall in walls]


@contextlib.contextmanager
def proven(
    form: IsolationMode,
    root: Path,
    spawned: Callable[[], None] = lambda: None,
    places: Sequence[Path] = (),
) -> Iterator[Sandbox]:
    """A started sandbox whose walls have held; a cold one where a warm one cannot be had.

    Parameters
    ----------
    form : str
        "warm" falls back to "cold", and a warning in the log says why; "bare" is taken at its word
        and proves nothing.
    root : Path
        The course's folder.
    spawned : callable ()
        See `StartedSandbox`.
    places : sequence of Path
        See `prove`.

    Raises
    ------
    SandboxUnavailableError
        Naming each wall that did not hold, and its remedy.
    """
    ways: list[tuple[IsolationMode, bool]] = [(form, True)]
    if form == "warm":
        ways += [("warm", False), ("cold", False)]
    reasons: list[str] = []
    had_users = True
    with ExitStack() as stack:
        for candidate, own_users in ways:
            if candidate == "warm" and not (own_users or had_users):
                continue  # as the one before
            trial = stack.enter_context(ExitStack())
            try:
                sandbox = trial.enter_context(Sandbox(candidate, spawned, own_users=own_users))
                had_users = sandbox.own_users
                broken = [] if candidate == "bare" else _broken(sandbox, root, places)
            except SandboxUnavailableError as error:
                reasons, had_users = [str(error), f"remedy: {NAMESPACES}"], False
                continue
            if not broken:
                if reasons:
                    lacking = "no warm starts" if candidate == "cold" else "no users of their own"
                    _LOG.warning("runs have %s here: %s", lacking, "; ".join(reasons))
                yield sandbox
                return
            trial.close()
            reasons = _reasons(broken)
    raise SandboxUnavailableError(
        "student code cannot be kept apart on this machine, so nothing was graded:\n  - "
        + "\n  - ".join(reasons)
        + "\nTo grade without any wall, on a machine that holds nothing else: --no-sandbox"
    )


def _reasons(broken: list[Wall]) -> list[str]:
    """Each finding once, with the walls that it was found at: if nothing starts, at all of them."""
    found: dict[str, list[Wall]] = {}
    for one in broken:
        found.setdefault(one.found, []).append(one)
    return [
        f"{', '.join(one.name for one in walls)}: {words}\n"
        f"    remedy: {'; '.join(dict.fromkeys(one.remedy for one in walls))}"
        for words, walls in found.items()
    ]


def _broken(sandbox: Sandbox, root: Path, places: Sequence[Path]) -> list[Wall]:
    return [wall for wall in prove(sandbox, root, places) if not wall.holds]


# How often an attempt is made on a machine that is busy with other things.
_TRIES = 3


def _try(
    sandbox: Sandbox,
    *cells: str,
    limits: Limits = LIMITS,
    as_submission: bool = False,
    alone: bool = False,
) -> list[str]:
    """Run cells in one run; what each of them said, and how the run ended if it did not.

    If the machine ends a run, the reason stands in place of what its cells said. A run that proves
    nothing, because other programs held the processor, is repeated, at ordinary priority.
    """
    work = SanitizedSubmission(tuple(Step("code", cell) for cell in cells))
    for number in range(_TRIES):
        alone = alone or number > 0
        try:
            if as_submission:
                ran = sandbox.run(work, {}, limits, alone=alone)
            else:
                ran = sandbox.attempt(work, limits, alone=alone)
        except (MachineError, NoVerdictError) as error:
            return [str(error)] * len(cells)
        if not ran.repeat:
            break
    said = _said(ran, work)
    why = ran.ended or ran.repeat or "the attempt said nothing"
    return said + [why] * (len(cells) - len(said))


def _said(ran: RunResult, work: SanitizedSubmission) -> list[str]:
    """What each step printed, and what stopped it."""
    said = []
    steps, odd = read_steps(ran, work, LIMITS)
    for step in steps:
        streams = (one for one in step.outputs if one.get("output_type") == "stream")
        said.append(("".join(str(one.get("text", "")) for one in streams) + step.problem).strip())
    return [*said, odd] if odd else said


def _cell(source: str, **values: object) -> str:
    """An attempt, with values given to it by name."""
    return "\n".join([*(f"{name} = {value!r}" for name, value in values.items()), source])


def _wall(name: str, said: str, found: str, remedy: str) -> Wall:
    """The wall holds if the attempt came to its end and found no way."""
    holds = said == escape_attempts.NO_WAY
    return Wall(name, holds, found if holds else said or "the attempt said nothing", remedy)


def _honest(sandbox: Sandbox, _places: Sequence[Path]) -> list[Wall]:
    """Honest work, with torch, in a process like every submission's."""
    (honest,) = _try(sandbox, escape_attempts.HONEST, as_submission=True)
    works = honest == escape_attempts.WORKS
    return [Wall("honest work", works, "runs" if works else honest, NAMESPACES)]


def _looks(sandbox: Sandbox, places: Sequence[Path]) -> list[Wall]:
    """A run that leaves something behind, and then all that a later one could find."""
    left, name = _mark(), f"planted-{secrets.token_hex(8)}"
    (planted,) = _try(sandbox, _cell(escape_attempts.PLANT, name=name, pause=left))
    known = [*environment(places[0], sandbox.form, places[0]), "PWD", "LC_CTYPE", "SHLVL", "_"]
    with ExitStack() as stack, ThreadPoolExecutor(1) as outside:
        gone = outside.submit(_vanished, left)
        cells = {
            "network": (_network(stack), "no way out", NAMESPACES),
            "gradebook and home": (_files(stack, places), "out of sight", _PLACE),
            "environment": (
                *(_cell(escape_attempts.ENVIRONMENT, known=known), "only what the course sets"),
                _KERNEL,
            ),
            "judges": (
                *(_cell(escape_attempts.PACKAGES, inside=BESIDE_STUDENT_CODE), "not inside"),
                _PLACE,
            ),
            "leftovers": (_cell(escape_attempts.LOOK, name=name), "none", _KERNEL),
            "other processes": (
                *(escape_attempts.DOORS, "out of reach, and no new namespaces"),
                _KERNEL,
            ),
            "kernel settings": (escape_attempts.KERNEL, "out of sight", _KERNEL),
            "devices": (escape_attempts.DEVICES, "none that hold anything", _KERNEL),
            "priorities": (escape_attempts.PRIORITIES, "not to be changed", _KERNEL),
            "uncounted memory": (escape_attempts.UNCOUNTED, "none", _KERNEL),
        }
        said = _try(sandbox, *(cell for cell, _, _ in cells.values()))
        walls = {
            name: _wall(name, words, found, remedy)
            for words, (name, (_, found, remedy)) in zip(said, cells.items(), strict=True)
        }
        if walls["leftovers"].holds and (words := _left(planted, gone.result())):
            walls["leftovers"] = Wall("leftovers", False, words, _KERNEL)
    return [*walls.values()]


def _users(sandbox: Sandbox, _places: Sequence[Path]) -> list[Wall]:
    """Who runs are outside: two at once, one of them a submission's, where each is another user."""
    kinds = (False, True) if sandbox.own_users else (False,)
    with ThreadPoolExecutor(len(kinds)) as runners:
        found = runners.map(lambda one: _seen(sandbox, as_submission=one), kinds)
        statuses = list(found)
    first = next((wall for wall in map(_user, statuses) if not wall.holds), _user(statuses[0]))
    return [first, _apart(statuses) if sandbox.own_users else _shared(sandbox)]


def _seen(sandbox: Sandbox, *, as_submission: bool) -> dict[str, str]:
    """What the kernel says of a process that a run starts; nothing if none was seen."""
    mark = _mark()
    with ThreadPoolExecutor(1) as outside:
        watched = outside.submit(status_outside, mark, stop := _Stop())
        try:
            cell = _cell(escape_attempts.SEEN, pause=mark)
            (said,) = _try(sandbox, cell, as_submission=as_submission)
        finally:
            stop.now = True
        status = watched.result()
    return status or {"unseen": said}


def _mark() -> str:
    """Seconds for `sleep`, which no other process on the machine sleeps."""
    return f"20.{secrets.randbelow(10**12):012d}"


@dataclass
class _Stop:
    now: bool = False


def sleeping(mark: str) -> Iterator[int]:
    """The processes outside that sleep so many seconds."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                words = Path(entry.path, "cmdline").read_bytes().split(b"\0")
            except OSError:  # ended meanwhile, or not to be looked into
                continue
            if mark.encode() in words:
                yield int(entry.name)


def status_outside(mark: str, stop: _Stop) -> dict[str, str]:
    """Who a process of the sandbox is outside, from the kernel; ends it. Empty if never seen."""
    while not stop.now:
        for number in sleeping(mark):
            with contextlib.suppress(OSError):  # ended meanwhile
                status = Path(f"/proc/{number}/status").read_text(encoding="utf-8")
                os.kill(number, signal.SIGTERM)
                return {
                    line.partition(":")[0]: line.partition(":")[2] for line in status.split("\n")
                }
        time.sleep(_BETWEEN_LOOKS)
    return {}


def _apart(statuses: Sequence[dict[str, str]]) -> Wall:
    """Whether runs are different users."""
    users = {one["Uid"] for one in statuses if "Uid" in one}
    if len(users) == len(statuses):
        return Wall("users", True, "each run is another one")
    return Wall("users", False, f"{len(statuses)} runs, users: {', '.join(users) or 'none'}", _USER)


def _shared(sandbox: Sandbox) -> Wall:
    """What holds where runs are the same user, and why they are."""
    why = user_range.problem() if sandbox.form == "warm" else "runs start one by one here"
    counted = "what the kernel counts for a user is counted for each run"
    return Wall("users", True, f"shared, and {counted}" + (f" ({why})" if why else ""))


def _user(status: dict[str, str]) -> Wall:
    """Whether a process of a submission, seen from outside, is neither root nor able to become it.

    Capabilities count in the namespace of the process, which has none in any other.
    """
    if "unseen" in status:
        why = f"no process of the submission was seen from outside: {status['unseen']}"
        return Wall("user", False, why, _USER)
    user, group = set(status["Uid"].split()), set(status["Gid"].split())
    may = int(status["CapPrm"], 16) | int(status["CapEff"], 16) | int(status["CapAmb"], 16)
    wrong = [f"is user {', '.join(sorted(user))}"] if "0" in user else []
    wrong += [f"is in group {', '.join(sorted(group))}"] if "0" in group else []
    wrong += ["is in root's group"] if "0" in status["Groups"].split() else []
    wrong += [f"has capabilities {may:#x}"] if may else []
    wrong += ["may gain rights"] if status["NoNewPrivs"].strip() != "1" else []
    wrong += ["has no filter of system calls"] if status["Seccomp"].strip() != "2" else []
    if wrong:
        return Wall("user", False, f"outside, a submission {'; '.join(wrong)}", _USER)
    return Wall("user", True, f"outside number {user.pop()}, without rights", _USER)


def _vanished(mark: str) -> bool:
    """Whether a process that was left behind has ended."""
    deadline = time.monotonic() + SECONDS_TO_VANISH
    while any(True for _ in sleeping(mark)):
        if time.monotonic() > deadline:
            return False
        time.sleep(_BETWEEN_LOOKS)
    return True


def _left(planted: str, gone: bool) -> str:
    if planted != escape_attempts.WORKS:
        return f"could not be tried: {planted}"
    return "" if gone else "a process of the submission before still runs"


def _network(stack: ExitStack) -> str:
    """Two doors that stand open outside: a port, and a socket by name that no folder hides."""
    name = f"\0course-{secrets.token_hex(8)}"
    port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    local = stack.enter_context(socket.socket(socket.AF_UNIX))
    local.bind(name)
    local.listen()
    return _cell(escape_attempts.NETWORK, port=port.getsockname()[1], name=name)


def _files(stack: ExitStack, places: Sequence[Path]) -> str:
    """Files outside, in every place that matters."""
    paths = stack.enter_context(canaries.planted((*places, *canaries.of_machine())))
    return _cell(escape_attempts.FILES, paths=paths)


def _memory(sandbox: Sandbox, _places: Sequence[Path]) -> list[Wall]:
    most = _LITTLE_MEMORY.memory_megabytes
    alone = _cell(escape_attempts.MEMORY, megabytes=2 * most)
    several = _cell(escape_attempts.SHARED_MEMORY, megabytes=most // 2, count=4)
    said, ended = _try(sandbox, alone, several, limits=_LITTLE_MEMORY)
    if said != escape_attempts.NO_WAY:
        return [_wall("memory", said, "", _KERNEL)]
    # What the newest run had; each has what can be had, and none fails for want of a group.
    how = "by counting" if sandbox.groups.problem else "by a control group, and by counting"
    return [_ends("memory", ended, "memory", f"bounded {how}, over several processes, too")]


def _processes(sandbox: Sandbox, _places: Sequence[Path]) -> list[Wall]:
    forks = _cell(escape_attempts.PROCESSES, count=4 * _FEW_PROCESSES.processes)
    (said,) = _try(sandbox, forks, limits=_FEW_PROCESSES)
    if said == escape_attempts.NO_WAY:
        return [Wall("processes", True, "bounded")]
    return [_ends("processes", said, "processes and threads", "bounded")]


def _time(sandbox: Sandbox, _places: Sequence[Path]) -> list[Wall]:
    # At low priority, beside two imports of torch, a tenth of a second would take it a whole one.
    (said,) = _try(sandbox, escape_attempts.ENDLESS, limits=_A_MOMENT, alone=True)
    return [_ends("time", said, "took more than", "bounded")]


def _ends(name: str, said: str, words: str, found: str) -> Wall:
    """The wall holds if the run was ended, and for the right reason."""
    holds = words in said
    return Wall(name, holds, found if holds else said or "nothing ended it", _KERNEL)
