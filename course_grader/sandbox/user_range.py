"""A range of users for the runs of a sandbox, so that each run is another user of the machine.

The kernel counts some things for a user, such as open files that are on their way between
processes. Where two runs are one user, one of them can use up what the other one needs. Root may
make any user somebody else. To an ordinary user the system lends a range, in `/etc/subuid` and
`/etc/subgid`. Where there is neither, all runs are one user, and the sandbox counts for each run.
"""

from __future__ import annotations

import itertools
import os
import pwd
import secrets
import shutil
import site
import stat
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

from course_grader.sandbox import unprivileged
from course_grader.sandbox.interpreter_files import PROGRAM_FOLDERS

# How many users a sandbox has: twice as many as a large machine runs submissions at once.
USERS = 512

# The bits of the capabilities SETGID and SETUID.
_TO_MAP = 1 << 6 | 1 << 7

LENT = {"uid_map": Path("/etc/subuid"), "gid_map": Path("/etc/subgid")}
"""Which users and groups the system lends to whom."""


def find() -> str | None:
    """Users for one sandbox, as `unprivileged` takes them; None where there are none.

    The first of them starts the sandbox: for an ordinary user, it is this user.
    """
    taken = unprivileged.users_here()
    if os.geteuid() == 0:
        both = _of_root()
        nobodys = [_common(unprivileged.NOBODYS, one) for one in both]
        first = free_block(nobodys, taken, USERS) or free_block(both, taken, USERS)
        return None if first is None else ":".join([f"0,{first},{USERS}"] * 2)
    if problem():
        return None
    maps = []
    for name, own in (("uid_map", os.getuid()), ("gid_map", os.getgid())):
        first = free_block(lent(LENT[name]), taken if name == "uid_map" else (), USERS - 1)
        if first is None:
            return None
        maps.append(f"0,{own},1,1,{first},{USERS - 1}")
    return ":".join(maps)


def _of_root() -> list[range]:
    """Numbers that are both users and groups in this process's namespace."""
    users, groups = unprivileged.mapped_here("uid_map"), unprivileged.mapped_here("gid_map")
    return [_common(one, other) for one in users for other in groups]


def problem() -> str:
    """Why runs have no users of their own here, and the remedy; empty if they can have some."""
    if os.geteuid() == 0:
        if free_block(_of_root(), (), USERS) is None:
            return f"this container has no {USERS} users in a row: give it more in /etc/subuid"
        return ""
    lacking = [
        program
        for program in unprivileged.MAPPERS.values()
        if shutil.which(program, path=PROGRAM_FOLDERS) is None
    ]
    if lacking:
        return f"{' and '.join(lacking)} are not installed: sudo apt-get install uidmap"
    if not may_map():
        return (
            "the capabilities SETUID and SETGID, or gaining any, are forbidden to this process: "
            "let the container have them, with --cap-add SETUID --cap-add SETGID"
        )
    for file in LENT.values():
        if free_block(lent(file), (), USERS - 1) is None:
            return (
                f"{file} lends this user no range of {USERS - 1} or more: sudo usermod "
                "--add-subuids 100000-165535 --add-subgids 100000-165535 $USER"
            )
    if hidden := out_of_reach():
        return f"{hidden} can be read by its owner only: chmod -R go+rX {hidden}"
    return ""


def may_map() -> bool:
    """Whether programs that this process starts may have the rights that mapping takes."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    words = dict(line.partition(":")[::2] for line in status.splitlines())
    bounds = int(words["CapBnd"], 16)
    return bounds & _TO_MAP == _TO_MAP and words["NoNewPrivs"].strip() == "0"


def free_block(ranges: Iterable[range], taken: Iterable[int], count: int) -> int | None:
    """The first of so many numbers in a row that nobody has; None if there are none.

    Which ones is left to chance, so that two graders that start at once seldom have the same.
    """
    starts = []
    used = sorted(taken)
    for one in ranges:
        edges = [max(one.start, 1) - 1, *(each for each in used if each in one), one.stop]
        for before, after in itertools.pairwise(edges):
            if after - before > count:
                starts.append(range(before + 1, after - count + 1))
    total = sum(map(len, starts))
    if not total:
        return None
    chosen = secrets.randbelow(total)
    for each in starts:
        if chosen < len(each):
            return each[chosen]
        chosen -= len(each)
    return None


def _common(one: range, other: range) -> range:
    return range(max(one.start, other.start), min(one.stop, other.stop, 2**31))


def lent(file: Path) -> list[range]:
    """What a file of the system, such as `/etc/subuid`, lends to this process's user."""
    try:
        names = {str(os.getuid()), pwd.getpwuid(os.getuid()).pw_name}
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, KeyError):
        return []
    found = []
    for line in lines:
        name, _, numbers = line.partition(":")
        first, _, count = numbers.partition(":")
        if name in names and first.isdigit() and count.isdigit():
            found.append(range(int(first), int(first) + int(count)))
    return found


def out_of_reach(folders: Sequence[str] | None = None) -> str:
    """A file or folder of Python's packages that only its owner may read; empty if there is none.

    An installer gives all files of a package the same rights, so their folders tell.
    """
    if folders is None:
        paths = sysconfig.get_paths()
        folders = [paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"]]
        folders += site.getsitepackages()
    for folder in dict.fromkeys(folders):
        if os.path.isdir(folder):
            for entry in (Path(folder), *map(Path, os.scandir(folder))):
                try:
                    mode = entry.stat().st_mode
                except OSError:  # a link that leads nowhere
                    continue
                needed = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
                if mode & needed != needed and entry.name != "__pycache__":
                    return str(entry)
    return ""
