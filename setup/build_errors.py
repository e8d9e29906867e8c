"""The errors of building the book."""

from course_lib.errors import CourseError


class BuildError(CourseError):
    """The book could not be built, or not without warnings."""


class NoFreePortError(CourseError, OSError):
    """No port near the wished one is free to serve the book on."""
