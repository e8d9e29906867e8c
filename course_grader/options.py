"""How a course is graded, as `nbgrader_config.py` can say it: `c.CourseGrade.jobs = 8`."""

from __future__ import annotations

import difflib
from dataclasses import fields, replace
from typing import Any, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from traitlets import Bool, Dict, Enum, Float, Int, TraitError, Unicode
from traitlets.config import Configurable

from course_grader.course import Course
from course_lib.errors import ConfigError
from course_tasks.runner.limits import Limits

# What the course itself reads in `nbgrader_config.py`; the rest is nbgrader's.
_SECTIONS = ("CourseGrade", "PercentPerDay")

ISOLATIONS = ("process", "container")
"""What can be around the sandbox of a submission."""

_DEFAULT = Limits()


class CourseGrade(Configurable):
    """Settings of `course grade`; the command's own options come before them."""

    book = Unicode(
        "", help="Address where the book is published, for the links in feedback; empty: no links."
    ).tag(config=True)
    jobs = Int(0, min=0, help="Submissions that run at once; 0: as many as there are cores.").tag(
        config=True
    )
    scheduler = Unicode("", help="Address of a Dask scheduler, or empty: this machine.").tag(
        config=True
    )
    isolation = Enum(
        ISOLATIONS,
        default_value=ISOLATIONS[0],
        help="What is around the sandbox of a submission: a process, or a container of its own.",
    ).tag(config=True)
    image = Unicode(
        "averages-to-transformers",
        help="The image of those containers, as the Dockerfile makes it.",
    ).tag(config=True)
    container_runtime = Unicode(
        "", help="The program that runs them; empty: docker, or else podman."
    ).tag(config=True)
    notebook_megabytes = Int(
        10, min=1, help="The largest notebook that is opened; a larger one waits for a person."
    ).tag(config=True)
    due = Dict(
        help="When assignments are due, by name, each with its zone; the gradebook's dates else.",
    ).tag(config=True)
    extensions = Unicode(
        "", help="A table of extensions for single students: a CSV file in the course's folder."
    ).tag(config=True)
    timezone = Unicode(
        "UTC", help="Whose days count when something is late, for example Europe/Berlin."
    ).tag(config=True)
    anonymous_marking = Bool(
        False, help="Whether formgrader shows numbers instead of students' names."
    ).tag(config=True)
    private_tasks = Unicode(
        "", help="A folder of tasks whose judges students never see; empty: there are none."
    ).tag(config=True)
    cell_seconds = Float(_DEFAULT.cell_seconds, help="Wall time of one cell or check.").tag(
        config=True
    )
    total_seconds = Float(_DEFAULT.total_seconds, help="Wall time of a whole notebook.").tag(
        config=True
    )
    memory_megabytes = Int(
        _DEFAULT.memory_megabytes, help="Memory of a submission's processes together."
    ).tag(config=True)
    processes = Int(_DEFAULT.processes, help="Processes and threads of a submission.").tag(
        config=True
    )
    file_megabytes = Int(_DEFAULT.file_megabytes, help="All files that a submission writes.").tag(
        config=True
    )
    files = Int(_DEFAULT.files, help="Files and folders of a submission, however small.").tag(
        config=True
    )
    output_kilobytes = Int(_DEFAULT.output_kilobytes, help="Text that a cell may print.").tag(
        config=True
    )
    picture_kilobytes = Int(
        _DEFAULT.picture_kilobytes, help="Pictures that a cell may show together."
    ).tag(config=True)
    answer_megabytes = Int(_DEFAULT.answer_megabytes, help="All that a submission sends out.").tag(
        config=True
    )

    @classmethod
    def of(cls, course: Course) -> Self:
        """The settings of a course.

        Raises
        ------
        ConfigError
            If `nbgrader_config.py` gives one of them a value that it cannot have, or sets one that
            there is not: a misspelled limit or date would count for nothing.
        """
        for section in course.settings:
            meant = difflib.get_close_matches(section, _SECTIONS, cutoff=0.85)
            if meant and section not in _SECTIONS:
                raise ConfigError(
                    f"nbgrader_config.py sets c.{section}, which nothing reads: did you mean "
                    f"c.{meant[0]}?"
                )
        known = cls.class_trait_names(config=True)
        for name in sorted(set(course.settings.get("CourseGrade", ())) - set(known)):
            meant = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {meant[0]}?" if meant else f"there are {', '.join(sorted(known))}"
            raise ConfigError(
                f"nbgrader_config.py sets c.CourseGrade.{name}, which is none: {hint}"
            )
        try:
            return cls(config=course.settings)
        except TraitError as error:
            raise ConfigError(f"nbgrader_config.py: {error}") from error

    def zone(self) -> ZoneInfo:
        """The time zone of the course.

        Raises
        ------
        ConfigError
            If there is none of that name.
        """
        try:
            return ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ConfigError(
                f"c.CourseGrade.timezone = {self.timezone!r} in nbgrader_config.py is no time zone "
                "that this machine knows: write it as Europe/Berlin or America/New_York"
            ) from error

    def limits(self, **changed: Any) -> Limits:
        """The limits, with what is not None in `changed` instead.

        Raises
        ------
        ConfigError
            If one of them is not above 0.
        """
        set_here = Limits(**{each.name: getattr(self, each.name) for each in fields(Limits)})
        return replace(set_here, **{k: v for k, v in changed.items() if v is not None})
