"""The inbound folder of nbgrader's exchange: whose each submission is, and when it was handed in.

Every user of the system can write there, at any moment and under any name. So the user who owns a
folder says whose it is, not the folder's name, and a notebook counts only if the same user owns it:
a hard link to somebody else's file is still that person's file. All of this is asked of what has
been opened; see `opened`.
"""

from __future__ import annotations

import contextlib
import os
import pwd
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from course_grader.course import Course
from course_grader.errors import NothingToCollectError, RefusedDownloadError
from course_grader.lms.entries import Found, Part, shown
from course_grader.lms.opened import OpenedFolder, opened_folder
from course_grader.sandbox.canaries import EXCHANGE
from course_lib.errors import ConfigError


@dataclass
class Inbound:
    """What lies in an exchange for one assignment.

    Attributes
    ----------
    parts : list of Part
        One for each user who handed in, under the user's name; and those that are nobody's.
    times : dict of str to datetime
        When each of them did, in UTC, as the server says; by the part's name.
    """

    parts: list[Part] = field(default_factory=list)
    times: dict[str, datetime] = field(default_factory=dict)


def inbound_of(course: Course) -> Path:
    """Where the exchange's settings in `nbgrader_config.py` let students hand in.

    Raises
    ------
    ConfigError
        If they do not name the course, which has a folder of its own there.
    """
    root = course.settings.Exchange.get("root")
    name = course.settings.CourseDirectory.get("course_id")
    if not isinstance(name, str) or not name:
        raise ConfigError(
            "nbgrader_config.py does not set c.CourseDirectory.course_id: name the inbound folder"
        )
    return (Path(root) if isinstance(root, str) else EXCHANGE) / name / "inbound"


@contextlib.contextmanager
def inbound(folder: Path, assignment: str) -> Iterator[Inbound]:
    """What was handed in for an assignment; its files can be read inside the block.

    Of several folders of one user, the last one counts by the time at its name's end.

    Raises
    ------
    NothingToCollectError
        If the folder is not there, or cannot be read.
    """
    with contextlib.ExitStack() as stack:
        try:
            top = stack.enter_context(opened_folder(folder))
            names = sorted(entry.name for entry in top.entries())
            found = _sorted(stack, top, names, assignment)
        except OSError as error:
            raise NothingToCollectError(
                f"{folder} cannot be read: {error.strerror}. It is the folder `inbound` of the "
                "exchange that is meant"
            ) from error
        yield found


def _sorted(
    stack: contextlib.ExitStack, top: OpenedFolder, names: list[str], assignment: str
) -> Inbound:
    result, latest = Inbound(), dict[str, Part]()
    for name in names:
        # Written by nbgrader, or by whoever called a folder so: user, assignment, time, a mark.
        if name.split("+")[1:2] != [assignment]:
            continue
        try:
            # Kept open: what is read later is what was looked at now, whatever has its name then.
            one = stack.enter_context(top.folder(name))
        except RefusedDownloadError as error:
            result.parts.append(_nobodys(name, str(error)))
            continue
        except OSError as error:
            why = f"{shown(name)} cannot be read: {error.strerror}"
            result.parts.append(_nobodys(name, why))
            continue
        user = _user(one.status().st_uid)
        path = PurePosixPath(user, f"{assignment}.ipynb")
        found = Found(path, partial(_own_file, one, path.name))
        latest[user] = Part(user, False, partial(_alone, found), list)
        result.times[user] = datetime.fromtimestamp(int(one.status().st_mtime), UTC).replace(
            tzinfo=None
        )
    result.parts += latest.values()
    return result


def _alone(found: Found) -> Iterator[Found]:
    yield found


def _nobodys(name: str, why: str) -> Part:
    return Part(name, False, lambda: iter(()), list, why)


@contextlib.contextmanager
def _own_file(folder: OpenedFolder, name: str) -> Iterator[IO[bytes]]:
    """A file in a folder, which has to belong to whoever the folder belongs to."""
    with folder.file(name) as file:
        owner, whose = os.fstat(file.fileno()).st_uid, folder.status().st_uid
        if owner != whose:
            raise RefusedDownloadError(
                f"{name} belongs to {shown(_user(owner))}, and the folder to {shown(_user(whose))}"
            )
        yield file


def _user(number: int) -> str:
    """A user's name on this system, or the number of one that has none."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
