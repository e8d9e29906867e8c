"""Places that student code must not see, for the self-test to look for from inside.

What an instructor keeps is in few places, and which, the course's settings say. A file that was
just put there must not be there inside; where none can be put, what lies there already must not.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import course_lib
from course_grader import private_tasks
from course_grader.course import Course
from course_grader.sandbox import interpreter_files
from course_grader.sandbox.bubblewrap import MADE_INSIDE

EXCHANGE = Path("/usr/local/share/nbgrader/exchange")
"""Where nbgrader's exchange is unless `c.Exchange.root` says otherwise."""

# Folders of the system in which anything may lie. What Python needs of them is named one by one, so
# whatever else is in them must not be seen. Nothing is written here.
_OF_THE_SYSTEM = (
    *("/", "/usr", "/usr/lib", "/usr/share", "/usr/bin", "/usr/local", "/usr/local/share"),
    *("/usr/local/lib", "/usr/local/etc", "/usr/local/bin", "/etc", "/opt", "/srv", "/var", "/mnt"),
)
_MOST_OF_A_FOLDER = 200

_SQLITE = "sqlite:///"


def of_course(course: Course, url: str | None = None) -> list[Path]:
    """Folders of a class: what was handed in, what was made of it, grades, judges, the exchange.

    Parameters
    ----------
    course : Course
    url : str, optional
        Of the gradebook's database, where it is not the one of the settings.
    """
    settings = course.settings
    said = url or settings.CourseDirectory.get("db_url")
    address = said if isinstance(said, str) else ""
    database = course.root / (
        address.removeprefix(_SQLITE) if address.startswith(_SQLITE) else "gradebook.db"
    )
    exchange = settings.Exchange.get("root")
    places = [course.root, course.submitted, course.autograded, course.feedback, course.solutions]
    places += [database.parent, Path(exchange) if isinstance(exchange, str) else EXCHANGE]
    return list(dict.fromkeys(places))


def of_machine() -> list[Path]:
    """Home, settings, private judges, and folders that everybody writes to."""
    home, judges = Path.home(), private_tasks.folder()
    return [
        *([judges] if judges is not None else []),
        *(home, home / ".jupyter", home / ".config", Path(tempfile.gettempdir())),
        *(EXCHANGE, Path("/etc/jupyter"), Path("/usr/local/etc/jupyter")),
        *(Path(prefix) / "etc" / "jupyter" for prefix in {sys.prefix, sys.base_prefix}),
        *(Path(prefix) for prefix in {sys.prefix, sys.base_prefix}),
    ]


@contextlib.contextmanager
def planted(places: Iterable[Path]) -> Iterator[list[str]]:
    """Files that were just put into each place, and what is in folders of the system already.

    While the block runs, none of these paths may be there inside.
    """
    ours = Path(course_lib.__file__).parents[1]
    paths = [str(ours / "course_judges" / "judging.py"), str(ours / "course_grader" / "cli.py")]
    for folder in _OF_THE_SYSTEM:
        paths += _strangers(folder)
    with contextlib.ExitStack() as stack:
        for place in dict.fromkeys(places):
            paths += stack.enter_context(_canary(place))
        yield list(dict.fromkeys(paths))


@contextlib.contextmanager
def _canary(place: Path) -> Iterator[list[str]]:
    """A file that was just put somewhere; what lies there already where none can be put."""
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".course-canary-") as file:
            yield [file.name]
    except OSError:
        partly = interpreter_files.view().shows(place)
        yield list(_strangers(str(place))) if partly else [str(place)]


def _strangers(folder: str) -> Iterator[str]:
    """What lies in a folder and is none of the interpreter's."""
    view = interpreter_files.view()
    made = {str(folder) for one in MADE_INSIDE for folder in (Path(one), *Path(one).parents)}
    with contextlib.suppress(OSError):  # it is not there, or not to be read
        for name in sorted(os.listdir(folder))[:_MOST_OF_A_FOLDER]:
            path = os.path.join(folder, name)
            if not view.shows(path) and path not in made:
                yield path
