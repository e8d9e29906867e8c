"""The errors of asking a task. Each names what was wrong, the value, and what to do."""

from course_lib.errors import CourseError

# Why there is no answer to judge; this follows the name that the answer should have. A grader that
# reads this says which error left the name undefined.
NOT_DEFINED = "is not defined when the check is reached"


class UnknownTaskError(CourseError, KeyError):
    """No task has this name."""

    def __str__(self) -> str:  # KeyError would show the message in quotes
        return str(self.args[0]) if self.args else ""


class InvalidAnswerError(CourseError, ValueError):
    """The bytes of an answer are not what a probe writes."""


class ReturnedTypeError(CourseError, TypeError):
    """What an answer returned is not the kind of thing that was asked for."""


class IsolationError(CourseError, OSError):
    """The kernel refuses isolation: user namespaces or system-call filters may be switched off."""


class FrameError(CourseError, ValueError):
    """What came over a socket is not a message of this course, or is too long."""


class MessageTooLargeError(FrameError):
    """A message is longer than what may still be sent."""


class FrameTimeoutError(FrameError):
    """Nothing came before the deadline."""


class JudgesMissingError(CourseError, ImportError):
    """An answer is to be judged where the package that knows what is right is not installed."""


class UnfilledTaskError(CourseError):
    """A piece of a new task is not written yet; the message says which one, and where."""


class InvalidExamplesError(CourseError, ValueError):
    """The examples of a task are not as `course release` writes them."""


class ExplainedError(CourseError):
    """An answer that cannot be judged as it stands.

    Its message is said to the student as it is: what was found, a line break, what to do.
    """


class ScaffoldLineError(ExplainedError, NotImplementedError):
    """The line with which a scaffold raises was left above an answer, and ends it."""


class ComputedNumbersError(ExplainedError, RuntimeError):
    """A function that should hold the numbers of an experiment computes them."""
