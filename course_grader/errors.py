"""The errors of grading: each names what was wrong, the value, and what to do."""

from course_lib.errors import CourseError


class UnreadableNotebookError(CourseError, ValueError):
    """A file that should be a notebook is missing, broken, or of another format."""


class CellFailedError(CourseError):
    """A cell of a notebook raised, hung, or took its kernel down."""


class CourseNotFoundError(CourseError, FileNotFoundError):
    """A folder is not a course, nor inside one; or the course has no such assignment."""


class FaultyAssignmentError(CourseError, ValueError):
    """A solution notebook cannot be released, or exercises are not what release makes of it."""


class NewTaskError(CourseError, ValueError):
    """A new task has no possible name, or something of it is there already."""


class NothingToCheckError(CourseError, ValueError):
    """A notebook holds no check of the course."""


class SandboxUnavailableError(CourseError):
    """Student code cannot be kept apart on this machine."""


class MachineError(CourseError):
    """The sandbox or a judge failed by itself, whatever the submission did: nobody's zero."""


class NoVerdictError(CourseError):
    """A judge broke on a submission's answers, twice: a person has to look at them."""


class ChildEndedError(CourseError):
    """A process that handled a submission passed a limit, or ended before it was done."""


class RefusedDownloadError(CourseError):
    """An archive that was handed in, or a part of one, is not read; the message says why."""


class NothingToGradeError(CourseError):
    """No submission is where submissions are looked for."""


class AlreadyGradingError(CourseError):
    """Another grader holds this course's gradebook."""


class ClockBehindError(CourseError):
    """The clock shows a time before the gradebook's last entry."""


class GradebookError(CourseError):
    """The gradebook cannot be opened or written, is of another version, or lacks the assignment."""


class NotWrittenError(CourseError, OSError):
    """A file of a class could not be written; what stood there before stands there still."""


class NothingToCollectError(CourseError, ValueError):
    """A download is missing, is no folder or archive, or holds no notebook."""


class ReplacementNotConfirmedError(CourseError):
    """The work of several students would be replaced, and nobody said that this is wanted."""


class UnreadableSheetError(CourseError, ValueError):
    """A table from a learning platform cannot be read, or lacks a column that is to be filled."""


class StudentNotFoundError(CourseError, LookupError):
    """Nothing is kept of a student of this name."""


class PrivateTaskError(CourseError, ValueError):
    """The folder of private tasks is missing, lies in the course, or holds what cannot be used."""


class NothingToAskError(CourseError, ValueError):
    """No question can be made about a student's code: nothing was passed, or nothing found."""


class BrowserMissingError(CourseError):
    """What only a browser can print was asked for, and there is none."""
