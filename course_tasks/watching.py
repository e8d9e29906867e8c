"""What a function does besides returning: whether it changes what it is given, and what it was
called with.
"""

from __future__ import annotations

import functools
import inspect
import math
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
import torch

# A probe only calls these. Classes, modules and compiled functions may have other uses, so they
# stay as they are.
_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType, functools.partial)

# No task passes anything deeper than a list of lists of tensors.
_DEPTH = 3


class Watch:
    """What was observed of a function's calls.

    Attributes
    ----------
    changed : list of str
        Arguments that had changed after a call, by the names that the function gives them.
    called : str
        Shapes and numbers of the last call, as in "x of shape (2, 5, 3), width = 4"; empty unless
        calls are described.
    arguments : dict of str to Any
        Copies of the arguments of the only call; empty if there were several.
    calls : int
        How often it was called.
    results : int
        How many things the last call returned in a tuple, a list or a dict; otherwise 1.
    returned : object
        What the last call returned if that holds no numbers: None, a module or a function;
        otherwise an empty tuple.

    Parameters
    ----------
    describes : bool
        Whether calls are described, which takes as long as the call of a small function.
    """

    def __init__(self, *, describes: bool = False) -> None:
        self._describes = describes
        self._answer: Any = None
        self._watched: Any = None
        self.begin()

    def begin(self) -> None:
        """Forget what was observed, before the next case."""
        self.changed: list[str] = []
        self.called = ""
        self.arguments: dict[str, Any] = {}
        self.calls = 0
        self.results = 0
        self.returned: Any = ()

    def on(self, answer: Any) -> Any:
        """The same function, watched; anything else is returned as it is."""
        if not isinstance(answer, _FUNCTIONS):
            return answer
        if answer is not self._answer:  # making the wrapper takes longer than most calls
            self._answer, self._watched = answer, self._around(answer)
        return self._watched

    def _around(self, answer: Any) -> Any:
        least, names = _positional(answer)
        signature = functools.cache(functools.partial(_signature, answer))

        @functools.wraps(answer)
        def call(*args: Any, **named: Any) -> Any:
            if not named and least <= len(args) <= len(names):
                given = dict(zip(names, args, strict=False))
            else:
                given = _by_name(signature(), args, named)
            before = {name: _copy(value, _DEPTH) for name, value in given.items()}
            self.calls += 1
            self.arguments = before if self.calls == 1 else {}
            self.returned = ()
            if self._describes:
                self.called = ", ".join(filter(None, map(_described, given, given.values())))
            result = answer(*args, **named)
            if result is None or callable(result):
                self.returned = result
            self.results = len(result) if isinstance(result, tuple | list | dict) else 1
            self.changed += [
                name
                for name, value in given.items()
                if name not in self.changed and not _same(value, before[name], _DEPTH)
            ]
            return result

        return call


def _positional(answer: Any) -> tuple[float, tuple[str, ...]]:
    """The fewest arguments with which a function may be called by position alone, and the names of
    all of them; infinity and no names if only its signature can tell.
    """
    if type(answer) is not FunctionType or vars(answer):  # a wrapper has the names of the other one
        return math.inf, ()
    code = answer.__code__
    if code.co_kwonlyargcount or code.co_flags & inspect.CO_VARARGS:
        return math.inf, ()
    most = code.co_argcount
    return most - len(answer.__defaults__ or ()), code.co_varnames[:most]


def _signature(answer: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(answer)
    except (ValueError, TypeError):  # a function that is written in C may not say
        return None


def _by_name(
    signature: inspect.Signature | None, args: tuple[Any, ...], named: dict[str, Any]
) -> dict[str, Any]:
    if signature is not None:
        try:
            return dict(signature.bind(*args, **named).arguments)
        except TypeError:  # the call itself will raise it
            pass
    return {f"argument {n}": value for n, value in enumerate(args, 1)} | named


def _described(name: str, value: Any) -> str:
    if isinstance(value, torch.Tensor | np.ndarray) and value.ndim:
        return f"{name} of shape {tuple(value.shape)}"
    if isinstance(value, torch.Tensor | np.ndarray | np.number) and value.dtype not in (object,):
        value = value.item()
    if isinstance(value, bool | int | float):
        return f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
    return ""


def _copy(value: Any, depth: int) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, np.ndarray):
        return value.copy()
    if depth and type(value) in (list, tuple):
        return [_copy(one, depth - 1) for one in value]
    if depth and type(value) is dict:
        return {key: _copy(one, depth - 1) for key, one in value.items()}
    return set(value) if type(value) is set else value


def _same(value: Any, before: Any, depth: int) -> bool:
    if isinstance(value, torch.Tensor):
        return isinstance(before, torch.Tensor) and _same_array(
            value.detach().numpy(force=True), before.numpy(force=True)
        )
    if isinstance(value, np.ndarray):
        return isinstance(before, np.ndarray) and _same_array(value, before)
    if depth and type(value) in (list, tuple):
        return (
            isinstance(before, list)
            and len(value) == len(before)
            and all(_same(a, b, depth - 1) for a, b in zip(value, before, strict=True))
        )
    if depth and type(value) is dict:
        return (
            isinstance(before, dict)
            and value.keys() == before.keys()
            and all(_same(one, before[key], depth - 1) for key, one in value.items())
        )
    if isinstance(value, set | str | int | float):
        return bool(value is before or value == before)
    return value is before


def _same_array(one: Any, other: Any) -> bool:
    """True if two arrays hold the same bits in the same shape: NaN is NaN."""
    return bool(
        one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    )
