"""Give up root for good, or enter a range of users, then become another program: bubblewrap.

    python -I -S unprivileged.py RANGE bwrap ARGUMENT…

A user of the sandbox's own namespace is, outside, the user who started it. If that is root, then
whatever holds root back is the only wall left, and files of the kernel such as
`/proc/sys/kernel/core_pattern` know no other one. So the program runs as a user that belongs to
nobody. Root's Python and temporary files often lie where no other user may go; whatever bubblewrap
is to show is bound, in a mount namespace of this process alone, at a place where this user may.

With a range (see `user_range`), the program is user 0 of a new user namespace that has as many
users as the range, so that each run in it can be another one. Root's range begins with somebody who
is nobody outside; an ordinary user's begins with this user, and programs of the system that may,
`newuidmap` and `newgidmap`, add the others. Without a range, RANGE is "-".

It starts before anything else can, so it imports next to nothing, and nothing of the course.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys

TYPE_CHECKING = False  # as in `typing`, whose import would take longer than all that is done here
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import NoReturn

# Where systemd takes users for services from, who exist only while the service runs: no person,
# no package and no container's range of users has one of these numbers.
NOBODYS = range(61184, 65520)

# Options of bubblewrap that name a source outside; the second kind may be missing.
_BINDS = ("--bind", "--ro-bind", "--dev-bind")
_TRIES = tuple(f"{option}-try" for option in _BINDS)

_STAGE = "/tmp"  # every system has one; in this namespace alone something else lies there

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
_PR_CAPBSET_DROP, _CAPABILITY_VERSION_3 = 24, 0x20080522

_ORDINARY = "grade as an ordinary user"

NO_RANGE = "-"
# Programs of the system that write what an ordinary user may not, and what they write.
MAPPERS = {"uid_map": "newuidmap", "gid_map": "newgidmap"}


class StillRootError(Exception):
    """Why the program cannot be started as another user, and what to do."""


def main() -> NoReturn:
    """Become the program that the arguments name."""
    users, program, *arguments = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)
    root = os.geteuid() == 0
    try:
        if users == NO_RANGE:
            # First: afterwards, what Python would import to read these files may be covered.
            user, group = free_number("uid_map", users_here()), free_number("gid_map", ())
        command = [program, *(stage(libc, arguments) if root else arguments)]
        if users != NO_RANGE:
            enter_range(libc, users, root=root)
        else:
            own_rights = bool(os.stat(program).st_mode & stat.S_ISUID)
            _give_up_root(libc, user, group, keep_bounds=own_rights)
        if root:
            os.chdir("/")
            _check_reach(command, [program, *arguments])
        os.execv(program, command)
    except StillRootError as error:
        sys.exit(f"root cannot be given up for the sandbox: {error}")
    except OSError as error:
        sys.exit(f"root cannot be given up for the sandbox: {error}. {_ORDINARY.capitalize()}")


def enter_range(libc: ctypes.CDLL, users: str, *, root: bool) -> None:
    """Become user 0 of a new user namespace.

    Only a process outside of it may say which users it has, so another one does.

    Parameters
    ----------
    libc : CDLL
    users : str
        What to write to `uid_map` and `gid_map`: numbers with commas, then a colon between the two.
    root : bool
        Whether root starts it, and may write there.

    Raises
    ------
    OSError
        If the kernel, or one of the `MAPPERS`, does not allow it.
    """
    maps = [words.split(",") for words in users.split(":")]
    number = os.getpid()
    begun, begin = os.pipe()
    mapper = os.fork()
    if mapper == 0:
        status = 1
        try:
            os.close(begin)
            if os.read(begun, 1):
                for name, words in zip(MAPPERS, maps, strict=True):
                    _write_map(number, name, words, root=root)
                status = 0
        finally:
            os._exit(status)
    os.close(begun)
    entered = libc.unshare(_CLONE_NEWUSER) == 0
    reason = ctypes.get_errno()
    if entered:
        os.write(begin, b"+")
    os.close(begin)
    _, status = os.waitpid(mapper, 0)
    if not entered:
        raise OSError(reason, f"a new user namespace: {os.strerror(reason)}")
    if status != 0:
        raise OSError(f"the users {users} cannot be mapped into a user namespace")
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    for name, words in zip(MAPPERS, maps, strict=True):
        # As bytes: what Python would import for text may be out of reach by now.
        with open(f"/proc/self/{name}", "rb") as file:
            found = file.read().decode().split()
        if found != words:
            raise OSError(f"{name} is {' '.join(found)}, not {' '.join(words)}")


def _write_map(number: int, name: str, words: list[str], *, root: bool) -> None:
    """Say which users, or groups, the namespace of a process has."""
    if root:
        rows = [" ".join(words[at : at + 3]) for at in range(0, len(words), 3)]
        with open(f"/proc/{number}/{name}", "wb") as file:
            file.write("\n".join(rows).encode())
    elif os.spawnvp(os.P_WAIT, MAPPERS[name], [MAPPERS[name], str(number), *words]) != 0:
        raise OSError(f"{MAPPERS[name]} refused")


def free_number(map_name: str, taken: Iterable[int]) -> int:
    """A user or group that belongs to nobody and exists in this process's user namespace.

    Parameters
    ----------
    map_name : str
        "uid_map" or "gid_map".
    taken : iterable of int
        Numbers that somebody has.
    """
    return choose(mapped_here(map_name), set(taken))


def mapped_here(map_name: str) -> list[range]:
    """The users, or groups, that exist in this process's user namespace."""
    with open(f"/proc/self/{map_name}", encoding="ascii") as file:
        rows = [tuple(map(int, line.split())) for line in file]
    return [range(first, first + count) for first, _, count in rows]


def choose(mapped: Sequence[range], taken: set[int]) -> int:
    """One of the numbers that are nobody's; in a small container, the highest free one.

    Raises
    ------
    StillRootError
        If there is nobody but root.
    """
    free = [one for one in NOBODYS if one not in taken and any(one in some for some in mapped)]
    if free:
        return free[int.from_bytes(os.urandom(8), "big") % len(free)]
    for some in sorted(mapped, key=lambda one: one.stop, reverse=True):
        for one in range(min(some.stop, 2**31) - 1, max(some.start, 1) - 1, -1):
            if one not in taken:
                return one
    raise StillRootError(
        "this container or user namespace has no user but root. "
        f"Give it more (/etc/subuid and /etc/subgid), or {_ORDINARY} outside of it"
    )


def users_here() -> set[int]:
    """Every user of this machine with a name or a process; a directory server is not asked."""
    taken = set()
    if os.path.exists("/etc/passwd"):
        with open("/etc/passwd", encoding="utf-8", errors="replace") as file:
            fields = [line.split(":") for line in file]
        taken = {int(each[2]) for each in fields if len(each) > 2 and each[2].isdigit()}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                taken.add(entry.stat().st_uid)
            except OSError:  # ended meanwhile
                continue
    return taken


def stage(libc: ctypes.CDLL, arguments: list[str]) -> list[str]:
    """Bind each source at a place that everybody reaches; the arguments with those places."""
    if libc.unshare(_CLONE_NEWNS) != 0:
        return arguments  # not allowed to: then each source has to be within reach where it is
    staged = list(arguments)
    opened: list[tuple[int, int]] = []
    for place, option in enumerate(arguments):
        if option == "--":
            break
        if option in _BINDS or (option in _TRIES and os.path.exists(arguments[place + 1])):
            opened.append((place + 1, os.open(arguments[place + 1], os.O_PATH)))
    try:
        _mount(libc, "none", "/", "", _MS_REC | _MS_PRIVATE)
        _mount(libc, "tmpfs", _STAGE, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755")
    except PermissionError:  # a container's own rules forbid it, though root has the capability
        return arguments
    for place, number in opened:
        target = f"{_STAGE}/{place}"
        if stat.S_ISDIR(os.fstat(number).st_mode):
            os.mkdir(target, 0o755)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o444))
        _mount(libc, f"/proc/self/fd/{number}", target, "", _MS_BIND | _MS_REC)
        os.close(number)
        staged[place] = target
    return staged


def _mount(
    libc: ctypes.CDLL, source: str, target: str, kind: str, flags: int, options: str = ""
) -> None:
    words = [word.encode() or None for word in (source, target, kind)]
    if libc.mount(*words, ctypes.c_ulong(flags), options.encode() or None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount {source} at {target}: {os.strerror(number)}")


def _give_up_root(libc: ctypes.CDLL, user: int, group: int, *, keep_bounds: bool) -> None:
    """Become somebody else, without groups and capabilities, with no way back.

    Parameters
    ----------
    keep_bounds : bool
        Whether the program has rights of its own to take, which those of this process bound.
    """
    if not keep_bounds:
        capability = 0
        while libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
            capability += 1
    try:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    except PermissionError as error:
        raise StillRootError(
            f"changing to user {user} is not allowed here ({error.strerror}). "
            f"Let the container have the capabilities SETUID and SETGID, or {_ORDINARY}"
        ) from error
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capset")
    if os.getresuid() != (user,) * 3 or os.getresgid() != (group,) * 3 or os.getgroups():
        raise StillRootError(
            f"the kernel did not change the user to {user}. {_ORDINARY.capitalize()}"
        )


def _check_reach(command: list[str], as_given: list[str]) -> None:
    """Say it in words, before bubblewrap does it in fewer, if the user cannot get somewhere."""
    end = command.index("--") if "--" in command else len(command)
    sources = [at + 1 for at, option in enumerate(command[:end]) if option in _BINDS]
    for at in (0, *sources):
        wanted = os.X_OK if at == 0 or os.path.isdir(command[at]) else os.R_OK
        if not os.access(command[at], wanted):
            raise StillRootError(
                f"{as_given[at]} is out of reach for anybody but root. Make it readable for every "
                f"user (and keep it out of /root), or {_ORDINARY}"
            )


if __name__ == "__main__":
    main()
