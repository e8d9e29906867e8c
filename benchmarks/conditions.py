"""The conditions under which a class is graded: by an ordinary user, or by root in a container.

Both are made of what Linux has (unshare, mount, setpriv), for whoever has root on a machine. What
runs in them is a command of this machine's own Python.
"""

import os
import shlex
import stat
import sys
from pathlib import Path

ORDINARY_USER = 1001

# What Docker leaves of root's rights in a container that it is not told to make privileged.
_DOCKERS = (
    "chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,"
    "sys_chroot,mknod,audit_write,setfcap"
)
_SHARED_MEGABYTES = 64  # Docker's default for /dev/shm

# No systemd answers, the tree of control groups is there and not to be written, and processes are
# numbered anew.
_CONTAINER = f"""
mount -t tmpfs -o size={_SHARED_MEGABYTES}m,mode=1777 tmpfs /dev/shm
for place in /run/systemd /run/dbus /run/user; do
    if [ -d $place ]; then mount -t tmpfs -o ro tmpfs $place; fi
done
if [ -d /sys/fs/cgroup ]; then
    mount --rbind /sys/fs/cgroup /sys/fs/cgroup && mount -o remount,bind,ro /sys/fs/cgroup
fi
unset XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS INVOCATION_ID NOTIFY_SOCKET
exec setpriv --bounding-set=-all,+{_DOCKERS.replace(",", ",+")} --inh-caps=-all "$@"
"""

CONDITIONS = {
    "here": "as whoever runs this",
    "user": f"as an ordinary user (number {ORDINARY_USER}, no capability)",
    "container": (
        "as root with the rights that Docker leaves, without systemd, with "
        f"{_SHARED_MEGABYTES} MB of /dev/shm and no control group to write to"
    ),
}


class ConditionError(Exception):
    """Conditions cannot be made here; the message names what is missing."""


def inside(condition: str, home: Path) -> list[str]:
    """The beginning of a command line that runs the rest of it under a condition.

    Parameters
    ----------
    condition : str
        One of `CONDITIONS`.
    home : Path
        A folder for an ordinary user to call home and to write to; it is given to that user.

    Raises
    ------
    ConditionError
        If making them takes root.
    """
    if condition == "here":
        return []
    if condition == "user" and os.getuid() != 0:
        return []  # who is no root is an ordinary user already
    if os.getuid() != 0:
        raise ConditionError(
            f"the conditions of a {condition} are made by root, and this is user {os.getuid()}: "
            "run it with sudo"
        )
    if condition == "container":
        return [
            *["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--ipc", "--uts"],
            # An image has its Python where the user that root becomes can read it.
            *_shell(f"{_opened()}\n{_CONTAINER}"),
        ]
    os.chown(home, ORDINARY_USER, ORDINARY_USER)
    who = f"--reuid {ORDINARY_USER} --regid {ORDINARY_USER} --clear-groups --inh-caps=-all"
    user = f'exec setpriv {who} env HOME={shlex.quote(str(home))} USER=student "$@"'
    return ["unshare", "--mount", *_shell(f"{_opened()}\n{user}")]


def _shell(lines: str) -> list[str]:
    return ["sh", "-e", "-c", lines, "sh"]


def _opened() -> str:
    """Lines that let every user read this Python, where it lies in a folder closed to others."""
    closed: dict[Path, list[Path]] = {}
    for prefix in {Path(each).resolve() for each in (sys.prefix, sys.base_prefix)}:
        shut = next((up for up in reversed(prefix.parents) if not _passable(up)), None)
        if shut is not None:
            closed.setdefault(shut, []).append(prefix)
    before, after = [], []
    for number, prefix in enumerate(each for inner in closed.values() for each in inner):
        view, place = (shlex.quote(str(path)) for path in (f"/mnt/view-{number}", prefix))
        before.append(f"mkdir -p {view} && mount --bind {place} {view}")
        after.append(f"mkdir -p {place} && mount --bind {view} {place}")
    covers = [f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(str(shut))}" for shut in closed]
    views = ["mount -t tmpfs tmpfs /mnt"] if closed else []
    return "\n".join([*views, *before, *covers, *after])


def _passable(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)
