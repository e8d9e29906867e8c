"""What stands around student code: bubblewrap's command line, a short environment, and a copy of
the two packages of the course that may stand beside it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import course_lib
from course_grader import private_tasks
from course_grader.errors import SandboxUnavailableError
from course_grader.sandbox import interpreter_files
from course_tasks.runner.isolation import STUDENT, WRITABLE, prefixes_to_keep

IsolationMode = Literal["warm", "cold", "bare"]
"""How a submission is kept apart; see `Sandbox`."""

LIBRARY = "/opt/course"
"""Where the course's code lies inside."""

BESIDE_STUDENT_CODE = ("course_lib", "course_tasks")
"""The packages of the course that are inside. Nothing else of it is, whatever is added to it."""

MADE_INSIDE = ("/proc", "/dev", *WRITABLE, LIBRARY)
"""What a sandbox has of its own; everything else in it is a file of this machine's Python."""

# Devices that hold nothing. /dev/zero is not among them: mapped as shared, it is memory that no
# process seems to hold. Nor are terminals, over which neighbours could talk.
_DEVICES = ("null", "full", "random", "urandom")


# At its import torch would ask every installed package whether it brings a device of its own.
QUICK_TORCH = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}


def bubblewrap(
    library: Path, form: IsolationMode = "warm", *, own_users: bool = False
) -> list[str]:
    """The command line that walls off whatever follows it.

    Parameters
    ----------
    library : Path
        Of the copied code, outside.
    form : str
        In a "cold" sandbox no user namespace follows in which a run could have folders and
        processes of its own, so the processes that watch over it keep the right to make them. The
        run itself loses it before it starts; see `drop_rights`.
    own_users : bool
        Whether it starts as user 0 of a namespace with a user for each run; see `user_range`. The
        process that forks runs keeps the right to make each of them another one.

    Raises
    ------
    SandboxUnavailableError
        If bubblewrap is not there.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxUnavailableError(
            "bubblewrap is not installed: sudo apt-get install bubblewrap"
        )
    command = [program, "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--die-with-parent"]
    command += ["--as-pid-1", "--new-session", "--hostname", "sandbox"]
    if own_users:
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--uid", str(STUDENT), "--gid", str(STUDENT)]
    if form == "cold":
        command += ["--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"]
    command += ["--proc", "/proc", "--tmpfs", "/dev", "--dir", WRITABLE[-1]]
    for device in _DEVICES:
        command += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    inner = {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
    for name, target in inner.items():
        command += ["--symlink", f"/proc/self/{target}", f"/dev/{name}"]
    for place in WRITABLE[:-1]:  # the last one is a part of /dev
        command += ["--tmpfs", place]
    command += _interpreter()
    command += ["--ro-bind", str(library), LIBRARY]
    command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WRITABLE[0]]
    return command


def _interpreter() -> Iterator[str]:
    """Options for the files of Python, and for nothing beside them."""
    view = interpreter_files.view()
    # A Python in a folder that each run has anew; see `prefixes_to_keep`.
    kept = sorted(one for one in prefixes_to_keep() - view.shown if one == os.path.realpath(one))
    for prefix in kept:
        yield from ("--tmpfs", prefix)
    # Folders that bubblewrap makes for what it binds are its user's alone, and runs may be others.
    for folder in sorted({os.path.dirname(one) for one in (*view.links, *view.shown, LIBRARY)}):
        yield from ("--dir", folder)
    for place, target in view.links.items():
        yield from ("--symlink", target, place)
    for place in sorted(view.shown):
        yield from ("--ro-bind", place, place)
    for place in view.covered:
        yield from ("--tmpfs", place, "--remount-ro", place)
    for prefix in kept:
        yield from ("--remount-ro", prefix)


def environment(library: Path, form: IsolationMode, home: Path) -> dict[str, str]:
    """All the environment that student code sees.

    Parameters
    ----------
    library : Path
        Of the copied code, outside.
    form : str
    home : Path
        Without a sandbox: an empty folder that stands for one.
    """
    own = WRITABLE[0] if form != "bare" else str(home)
    return {
        "HOME": own,
        "PATH": interpreter_files.search_path(),
        "PYTHONPATH": LIBRARY if form != "bare" else str(library),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "random",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": f"{own}/.matplotlib",
        "IPYTHONDIR": f"{own}/.ipython",
        # As many submissions run at once as there are cores; more threads would only wait.
        "OMP_NUM_THREADS": "1",
        **QUICK_TORCH,
    }


def copy_library(target: Path) -> None:
    """Copy the packages that may stand beside student code, and no other."""
    for name in BESIDE_STUDENT_CODE:
        # Compiled code comes along, and spares every submission a tenth of a second.
        shutil.copytree(_packages() / name, target / name, copy_function=_copy)
    for path, place in private_tasks.probes():
        _copy(str(path), str(target / place))
    # Root's sandbox is another user's, who has to read what root may have cloned for itself only.
    for folder, _, _ in os.walk(target):
        os.chmod(folder, 0o755)


def _copy(original: str, copied: str) -> None:
    """Copy a file for everybody to read; compiled code is taken only for a source of its age."""
    with open(original, "rb") as source, open(copied, "wb") as target:
        target.write(source.read())
        os.fchmod(target.fileno(), 0o644)
        status = os.fstat(source.fileno())
    os.utime(copied, ns=(status.st_atime_ns, status.st_mtime_ns))


def _packages() -> Path:
    """The folder in which the course's packages lie side by side."""
    return Path(course_lib.__file__).resolve().parents[1]
