"""The error of the figures."""

from course_lib.errors import CourseError


class FigureError(CourseError, ValueError):
    """An interactive figure was given something that it cannot show."""
