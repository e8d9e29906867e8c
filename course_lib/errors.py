"""The errors that the course raises: each names what was wrong, the value, and what to do."""

from typing import Any


class CourseError(Exception):
    """Base of every error that the course raises on purpose."""


class ShapeError(CourseError, ValueError):
    """An array has sizes that the operation cannot work with."""


class UnknownCorpus(CourseError, ValueError):
    """No corpus has this name."""


class CorpusUnavailable(CourseError):
    """A corpus is neither on this machine nor to be had from its public address."""


class CacheNotWritable(CourseError, OSError):
    """The folder that should keep a corpus cannot be written."""


class UnknownSymbol(CourseError, ValueError):
    """A text holds a symbol, or a sequence an index, that the vocabulary does not know."""


class CorpusTooShort(CourseError, ValueError):
    """A sequence of tokens is shorter than the window that is to be cut from it."""


class UnknownTask(CourseError, KeyError):
    """No task has this name."""

    def __str__(self) -> str:  # KeyError would show the message in quotes
        return str(self.args[0]) if self.args else ""


class InvalidAnswer(CourseError, ValueError):
    """The bytes of an answer are not what a probe writes."""


class ConfigError(CourseError, ValueError):
    """A setting has a value that no model or training can work with."""


class CheckpointError(CourseError, ValueError):
    """A file is not a whole checkpoint, or one of another model or training."""


class LossNotFinite(CourseError, ArithmeticError):
    """A loss, a gradient or a model's logits are not a number or infinite.

    Attributes
    ----------
    history : History or None
        What training had done before, where training raised it.
    """

    history: Any = None


class NotebookUnreadable(CourseError, ValueError):
    """A file that should be a notebook is missing, broken, or of another format."""


class CellFailed(CourseError):
    """A cell of a notebook raised, hung, or took its kernel down."""


class BuildFailed(CourseError):
    """The book could not be built, or not without warnings."""


class NoFreePort(CourseError, OSError):
    """No port near the wished one is free to serve the book on."""


class CourseNotFound(CourseError, FileNotFoundError):
    """A folder is not a course, nor inside one; or the course has no such assignment."""


class AssignmentFaulty(CourseError, ValueError):
    """A solution notebook cannot be released, or exercises are not what release makes of it."""


class NothingToCheck(CourseError, ValueError):
    """A notebook holds no check of the course."""


class GrammarError(CourseError, ValueError):
    """A rule of the play breaks what makes its derivations unambiguous."""


class FigureError(CourseError, ValueError):
    """An interactive figure was given something that it cannot show."""


class NoSandbox(CourseError):
    """Student code cannot be kept apart on this machine."""


class MachineFailed(CourseError):
    """The sandbox or a judge failed by itself, whatever the submission did: nobody's zero."""


class NoVerdict(CourseError):
    """A judge broke on a submission's answers, twice: a person has to look at them."""


class ChildEndedError(CourseError):
    """A process that handled a submission passed a limit, or ended before it was done."""


class IsolationFailed(CourseError, OSError):
    """The kernel refuses a wall: user namespaces or system-call filters may be switched off."""


class BrokenFrame(CourseError, ValueError):
    """What came over a socket is not a message of this course, or too long."""


class MessageTooLargeError(BrokenFrame):
    """A message is longer than what is left of all that may be sent."""


class TooLate(BrokenFrame):
    """Nothing came before the deadline."""


class NothingToGrade(CourseError):
    """No submission is where submissions are looked for."""


class AlreadyGrading(CourseError):
    """Another grader holds this course's gradebook."""


class ClockBehind(CourseError):
    """The clock shows a time before the gradebook's last entry."""


class GradebookUnusable(CourseError):
    """The gradebook cannot be opened or written, is of another version, or lacks the assignment."""


class NotWritten(CourseError, OSError):
    """A file of a class could not be written; what stood there before stands there still."""


class NothingToCollect(CourseError, ValueError):
    """A download is missing, is no folder or archive, or holds no notebook."""


class ReplacementNotConfirmedError(CourseError):
    """The work of several students would be replaced, and nobody said that this is wanted."""


class SheetUnreadable(CourseError, ValueError):
    """A table from a learning platform cannot be read, or lacks a column that is to be filled."""


class JaxMissing(CourseError, ImportError):
    """JAX, Flax or Optax, which chapter 10 alone needs, is not installed.

    Parameters
    ----------
    error : ModuleNotFoundError
        What the import said.
    """

    def __init__(self, error: ImportError):
        super().__init__(
            f"chapter 10 needs JAX, Flax and Optax, and {error.name or 'one of them'} is not "
            'installed: run `pip install -e ".[jax]"` in the folder of the course, then restart '
            "the kernel. No other chapter needs them"
        )
