"""The errors that this package raises: each names what was wrong and what to do."""

from course_lib.errors import CourseError


class RuntimeMissingError(CourseError, OSError):
    """Files that a page loads to run Python are neither here nor to be had from any source."""


class PageError(CourseError, ValueError):
    """A notebook is not as a page can offer it."""


class TrainingError(CourseError, ValueError):
    """A reader's program cannot be trained in the page, and the message says why."""


class ProgramStoppedError(TrainingError):
    """A reader's program raised an error, which is the cause of this one."""
