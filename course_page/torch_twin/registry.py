"""How functions get into the namespace `torch` and onto its tensors."""

from __future__ import annotations

import functools
import inspect

import numpy as np

FUNCTIONS = {}
"""What `torch` has, by name."""

METHODS = {}
"""What a tensor has, by name."""

# NumPy's words, which PyTorch takes, too.
_NOT_BY_NUMPY = {"sum_", "mean", "max", "min", "prod", "std", "var", "all", "any"}
_OTHER_WORDS = {"axis": "dim", "keepdims": "keepdim", "x": "input", "axes": "dims"}


def _position(function):
    names = list(inspect.signature(function).parameters)
    return names, names[0] if names else ""


def _with_words(function):
    """The same function, which also takes NumPy's words for its arguments, and `out`."""
    names, _ = _position(function)

    @functools.wraps(function)
    def call(*args, **named):
        if named:
            if "axis" in named and "out" in named and function.__name__ in _NOT_BY_NUMPY:
                # NumPy's function of that name asks the tensor for it in words that it refuses.
                raise TypeError(
                    f"{function.__name__.rstrip('_')}() got an unexpected keyword argument 'axis'"
                )
            for word, own in _OTHER_WORDS.items():
                if word in named and word not in names and own in names:
                    named[own] = named.pop(word)
            if "out" in named and "out" not in names:
                out = named.pop("out")
                result = function(*args, **named)
                return result if out is None else _into(out, result)
        return function(*args, **named)

    return call


def _into(out, result):
    if out.shape != result.shape:
        out._a = np.empty_like(result._a)
    out._a[...] = result._a
    out._node, out.requires_grad = result._node, result.requires_grad
    return out


def _checked(function, name):
    """The same function, which refuses anything but a tensor as its first argument."""

    @functools.wraps(function)
    def call(*args, **named):
        first = args[0] if args else named.get("input", named.get("x"))
        if not hasattr(first, "_a"):
            kind = type(first)
            words = kind.__name__
            if kind.__module__ not in ("builtins", "__main__"):
                words = f"{kind.__module__}.{kind.__name__}"
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {words}")
        return function(*args, **named)

    return call


def both(*names, also=()):
    """Make a function of a tensor a function of `torch` and a method, under all of its names."""

    def register(function):
        called = function.__name__.rstrip("_")
        function = _with_words(function)
        for name in (*(names or (called,)), *also):
            FUNCTIONS[name] = _checked(function, name)
            METHODS[name] = function
        return function

    return register


def method(*names):
    """Make a function a method under all of its names."""

    def register(function):
        for name in names or (function.__name__,):
            METHODS[name] = _with_words(function)
        return function

    return register


def function(*names):
    """Make a function one of `torch` under all of its names."""

    def register(made):
        for name in names or (made.__name__.rstrip("_"),):
            FUNCTIONS[name] = _with_words(made)
        return made

    return register


def in_place(*names):
    """Give tensors methods `name_`, which write the result of `name` into the tensor itself."""
    for name in names:
        METHODS[f"{name}_"] = _written(METHODS[name], f"{name}_")


def _written(plain, name):
    def call(self, *args, **named):
        return self._write(lambda before: plain(before, *args, **named))

    call.__name__ = name
    return call
