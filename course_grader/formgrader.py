"""formgrader's server, where it would trust what students handed in.

Four of its parts have no setting for that. A link to `formgrader?path=FOLDER` runs that folder's
`nbgrader_config.py` as the server, and whoever writes an answer can write a link. A file beside a
graded notebook is sent as a page of formgrader's own, scripts included. Names, of students and in
addresses, are put into pages as they are, tags included. And a time of handing in is read whatever
the file is: one that is no time takes down the list of all submissions.

Beside that, whoever marks by hand sees the marking scheme below each answer and, where the course's
settings say so, numbers in place of names.
"""

from __future__ import annotations

import functools
import html
import os
import re
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from course_grader.assignment import read
from course_grader.course import Course
from course_grader.marking import schemes, with_schemes
from course_grader.options import CourseGrade

_HANDLERS = "nbgrader.server_extensions.formgrader.handlers"

# Names that stand in a page's scripts, between quotation marks, and in its text.
_IN_SCRIPTS = ("student_id", "assignment_id", "notebook_id")
_NO_NAME = re.compile(r"[<>\"\\\x00-\x1f]")


def guard() -> None:
    """Mend those four in this process, if formgrader is loaded in it; once is enough.

    `nbgrader_config.py` calls this, because formgrader reads it before it answers anybody.
    """
    handlers: Any = sys.modules.get(_HANDLERS)
    if handlers is None or hasattr(handlers, "guarded"):
        return
    from nbgrader.apps.api import NbGraderAPI

    handlers.guarded = True
    handlers.FormgraderHandler.get = _only_this_course(handlers.FormgraderHandler.get)
    handlers.SubmissionFilesHandler.set_extra_headers = _in_an_origin_of_its_own
    handlers.BaseHandler.render = _with_names_as_text(handlers.BaseHandler.render)
    handlers.SubmissionHandler.exporter = property(MarkingExporter)
    NbGraderAPI.get_submitted_timestamp = _time_of_handing_in
    NbGraderAPI.get_notebook_submissions = in_numbers(NbGraderAPI.get_notebook_submissions)


def _only_this_course(get: Any) -> Any:
    """The same handler, which opens no other folder as a course."""
    from tornado.web import HTTPError

    @functools.wraps(get)
    def checked(self: Any, *args: Any, **named: Any) -> Any:
        path = self.get_argument("path", "")
        root = self.coursedir.root
        if path and os.path.abspath(path) != os.path.abspath(root):
            raise HTTPError(
                403,
                f"formgrader serves the course in {root} and opens no other folder ({path}): that "
                "would run the settings in it. Start JupyterLab in that course's folder.",
            )
        return get(self, *args, **named)

    return checked


def _in_an_origin_of_its_own(handler: Any, _path: str) -> None:
    """Let no file that is sent act for whoever looks at it."""
    handler.set_header("Content-Security-Policy", "sandbox; default-src 'none'; img-src 'self'")
    handler.set_header("X-Content-Type-Options", "nosniff")


def _with_names_as_text(render: Any) -> Any:
    """The same method, which puts no name into a page as a tag or as a piece of a script."""
    from tornado.web import HTTPError

    @functools.wraps(render)
    def checked(self: Any, name: str, **values: Any) -> Any:
        for each in _IN_SCRIPTS:
            if _NO_NAME.search(str(values.get(each, ""))):
                raise HTTPError(404, f"no {each} holds such characters: {values[each]!r}")
        return render(self, name, **_as_text(values))

    return checked


class MarkingExporter:
    """formgrader's exporter of graded notebooks: names stand in the page as text, below each answer
    its marking scheme, and a number in place of a name where marking is anonymous.
    """

    def __init__(self, handler: Any):
        self._exporter = handler.settings["nbgrader_exporter"]
        self._course = Course(Path(handler.coursedir.root))

    def from_filename(self, filename: str, resources: dict[str, Any]) -> Any:
        """The page of a graded notebook, as nbgrader's own exporter is asked for it."""
        path = Path(filename)
        said = _as_text(resources)
        said["metadata"] = {"name": path.stem, "path": str(path.parent)}
        if CourseGrade.of(self._course).anonymous_marking:
            number = _number(int(resources["index"]))
            said |= {"student": number, "last_name": "", "first_name": "", "notebook_path": ""}
            said["metadata"]["path"] = ""
        found = schemes(self._course, str(resources["assignment_id"]))
        notebook = with_schemes(read(path), found)
        return self._exporter.from_notebook_node(notebook, resources=said)


def in_numbers(listed: Any) -> Any:
    """The same list of submissions, without names where marking is anonymous."""

    @functools.wraps(listed)
    def checked(self: Any, assignment_id: str, notebook_id: str) -> Any:
        found = listed(self, assignment_id, notebook_id)
        if CourseGrade.of(Course(Path(self.coursedir.root))).anonymous_marking:
            for one in found:
                one |= {"student": _number(one["index"]), "last_name": None, "first_name": None}
        return found

    return checked


def _number(index: int) -> str:
    """As formgrader itself counts the submissions of an assignment."""
    return f"Submission #{index + 1}"


def _as_text(values: dict[str, Any]) -> dict[str, Any]:
    """The same values, with tags of all texts escaped, except where that was ruled out."""
    escaped = {}
    for name, value in values.items():
        if isinstance(value, dict):
            escaped[name] = _as_text(value) if name == "resources" else html.escape(str(value))
        elif isinstance(value, str) and name not in _IN_SCRIPTS:
            escaped[name] = html.escape(value)
        else:
            escaped[name] = value
    return escaped


def _time_of_handing_in(api: Any, assignment_id: str, student_id: str) -> datetime | None:
    """When a submission was handed in; None if its file does not say."""
    from course_grader.submissions import Submission

    step = api.coursedir.submitted_directory
    folder = Path(api.coursedir.format_path(step, student_id, assignment_id))
    return Submission(student_id, assignment_id, folder).timestamp
