"""What training and writing of a program share: texts, and what stands beside a function."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import nn

from course_tasks.answers import Array
from course_tasks.errors import ExplainedError, ReturnedTypeError
from course_tasks.flattening import described
from course_tasks.inputs import Rng

# What a program may be asked to learn: words of a language of its own, in which pairs of letters
# tell much less than the beginning of a word.
WORDS = 10
_LETTERS = "abcdefghiklmnoprstuwxyz"


def drawn_text(rng: Rng, letters: int, symbols: int) -> Array:
    """Some words over and over, as code points: (symbols,) int64.

    Parameters
    ----------
    rng : Generator
    letters : int
        How many there are; with the space, all of them occur.
    symbols : int
        How long the text is.
    """
    own = rng.permutation(list(_LETTERS))[:letters]
    pool = list(own) * 3
    words = ["".join(rng.permutation(pool)[: rng.integers(4, 7)]) for _ in range(WORDS)]
    words += ["".join(own[n : n + 4]) for n in range(0, letters, 4)]
    count = symbols // 4
    text = " ".join(words[n] for n in (*range(len(words)), *rng.integers(len(words), size=count)))
    return np.array([ord(one) for one in text[:symbols]], dtype=np.int64)


def as_text(codes: Array) -> str:
    """Code points as a text."""
    return "".join(map(chr, codes))


def as_codes(text: Any, what: str) -> Array:
    """A text as code points.

    Raises
    ------
    ReturnedTypeError
        If it is none; `what` returned it.
    """
    if not isinstance(text, str):
        raise ReturnedTypeError(f"returned {described(text)}; {what} should return a text")
    return np.array([ord(one) for one in text], dtype=np.int64)


def as_tokens(text: Array, alphabet: Array) -> Array:
    """Places of symbols in their sorted alphabet, as the contract numbers them."""
    return np.searchsorted(alphabet, text).astype(np.int64)


def as_model(returned: Any) -> nn.Module:
    """What `train` returned, if it is a model.

    Raises
    ------
    ReturnedTypeError
        If it is not.
    """
    if not isinstance(returned, nn.Module):
        found = "None (is there a `return`?)" if returned is None else described(returned)
        raise ReturnedTypeError(f"returned {found}; `train` should return the model")
    return returned


def beside(function: Any, name: str) -> Any:
    """What a notebook or a file defines beside a function.

    Raises
    ------
    ExplainedError
        If there is nothing of that name.
    """
    names: Mapping[str, Any] = getattr(inspect.unwrap(function), "__globals__", {})
    if name not in names:
        raise ExplainedError(
            f"There is no `{name}` beside `{getattr(function, '__name__', 'this function')}`.\n"
            f"Define `{name}` in a cell above and run it: a model has to be made before it writes."
        )
    return names[name]
