"""The errors that the library raises: each names what was wrong, the value, and what to do."""

from typing import Any


class CourseError(Exception):
    """Base of every error that the course raises on purpose."""


class ShapeError(CourseError, ValueError):
    """An array has sizes that the operation cannot work with."""


class UnknownCorpusError(CourseError, ValueError):
    """No corpus has this name."""


class CorpusUnavailableError(CourseError):
    """A corpus is neither on this machine nor to be had from its public address."""


class CacheNotWritableError(CourseError, OSError):
    """The folder that should keep a corpus cannot be written."""


class NotTextError(CourseError, ValueError):
    """A file holds bytes that are no text in the encoding that was given."""


class UnknownSymbolError(CourseError, ValueError):
    """A text holds a symbol, or a sequence an index, that the vocabulary does not know."""


class CorpusTooShortError(CourseError, ValueError):
    """A sequence of tokens is shorter than the window that is to be cut from it."""


class ConfigError(CourseError, ValueError):
    """A setting has a value that no model or training can work with."""


class CheckpointError(CourseError, ValueError):
    """A file is not a whole checkpoint, or one of another model or training."""


class NonFiniteLossError(CourseError, ArithmeticError):
    """A loss, a gradient or a model's logits are not a number or infinite.

    Attributes
    ----------
    history : History or None
        What training had done before, where training raised it.
    """

    history: Any = None


class GrammarError(CourseError, ValueError):
    """A rule of the play breaks what makes its derivations unambiguous."""


class JaxMissingError(CourseError, ImportError):
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
