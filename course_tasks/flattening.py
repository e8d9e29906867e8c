"""From what a student's function returned to named plain values: arrays of a few types, and texts.

Tensors of torch and arrays of JAX become arrays of NumPy. Anything else is refused by the name of
its type.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np

from course_tasks.answers import MOST_VALUES, Array, Value
from course_tasks.errors import ReturnedTypeError

# What is said of a function that returned None.
NOTHING_RETURNED = "returned None; is a `return` missing?"


def flatten(name: str, result: Any) -> dict[str, Value]:
    """Give a name to every plain value in what a case returned.

    Parameters
    ----------
    name : str
        The case.
    result : object
        A tensor, array, number, text, or a tuple, list or dict of such.

    Returns
    -------
    dict
        `{name: value}`, or `{name.0: …, name.1: …}` and `{name.key: …}` for several.

    Raises
    ------
    ReturnedTypeError
        If something else is in it; the message says what it was.
    """
    if isinstance(result, Mapping):
        # A mapping of a student's own may have no end.
        parts = {str(key): result[key] for key in islice(result, MOST_VALUES + 1)}
    elif isinstance(result, list | tuple) and not _is_plain_list(result):
        parts = {str(i): value for i, value in enumerate(result)}
    else:
        return {name: _plain(result)}
    flat: dict[str, Value] = {}
    for key, value in parts.items():
        flat |= flatten(f"{name}.{key}", value)
        if len(flat) > MOST_VALUES:
            raise ReturnedTypeError(f"returned more than {MOST_VALUES} values")
    return flat


def _is_plain_list(items: list[Any] | tuple[Any, ...]) -> bool:
    """True for numbers and nested lists of numbers, which are one array."""
    return all(
        isinstance(item, bool | int | float | np.number | np.bool_)
        or _is_scalar_tensor(item)
        or (isinstance(item, list) and _is_plain_list(item))
        for item in items
    )


def _is_scalar_tensor(item: Any) -> bool:
    return (hasattr(item, "detach") or _is_jax(item)) and getattr(item, "ndim", 1) == 0


def _is_jax(thing: Any) -> bool:
    """True for an array of JAX, which only exists if JAX has been imported."""
    array = getattr(sys.modules.get("jax"), "Array", None)
    return isinstance(array, type) and isinstance(thing, array)


def _plain(result: Any) -> Value:
    if result is None:
        raise ReturnedTypeError(NOTHING_RETURNED)
    if isinstance(result, str):
        return str(result)
    if hasattr(result, "detach"):
        result = _from_torch(result)
    elif isinstance(result, list | tuple):
        result = [_from_torch(item) if hasattr(item, "detach") else item for item in result]
    elif _is_jax(result):
        result = _from_jax(result)
    elif not isinstance(
        result, bool | int | float | np.ndarray | np.number | np.bool_
    ) and not hasattr(result, "__array__"):
        raise ReturnedTypeError(
            f"returned {described(result)}; it should return a tensor, a number or a text"
        )
    try:
        array = np.asarray(result)
    except ValueError as error:  # rows of unequal length
        raise ReturnedTypeError(
            f"returned nested lists that don't form an array; NumPy says: {error}"
        ) from error
    if array.dtype.kind == "f":
        return array.astype("<f8" if array.dtype.itemsize > 4 else "<f4")
    if array.dtype.kind in "iu":
        return array.astype("<i8")
    if array.dtype.kind == "b":
        return array.astype("?")
    raise ReturnedTypeError(f"returned values of type {array.dtype}; they should be real numbers")


def _from_torch(tensor: Any) -> Any:
    """A torch tensor (or subclass) as an array; half precision widens to float32, which numpy can
    hold.
    """
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    if tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()
    return tensor.numpy()


def _from_jax(array: Any) -> Array:
    """A JAX array as NumPy's; half precision widens to float32, a PRNG key is refused by name."""
    if "key<" in str(array.dtype):
        raise ReturnedTypeError(
            f"returned a PRNG key ({array.dtype}); it should return what was drawn with it"
        )
    held = np.asarray(array)
    return held.astype("<f4") if held.dtype.kind == "V" else held  # V: bfloat16 and its like


def described(thing: Any) -> str:
    """What a thing that holds no numbers is called: "a module, `Head`"."""
    if thing is None or thing is ...:
        return "None" if thing is None else "`...`"
    if isinstance(thing, type):
        return f"the class `{thing.__name__}` itself"
    if hasattr(thing, "forward") and hasattr(thing, "parameters"):
        return f"a module, `{type(thing).__name__}`, and not what it gives when it is called"
    if callable(thing) and hasattr(thing, "__code__"):
        return f"the function `{thing.__name__}` itself, and not what it gives when it is called"
    kind = type(thing).__name__
    return f"one {kind}" if isinstance(thing, list | tuple | dict | set) else f"an object, `{kind}`"
