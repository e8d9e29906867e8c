"""Tensors out of numbers: `tensor`, `zeros`, `arange` and their like."""

from __future__ import annotations

import math

import numpy as np

from . import dtypes
from .registry import both, function, method
from .shaping import sizes
from .tensor import Tensor, wrap

# Where indices have 32 bits, that is what NumPy makes of whole numbers unless told otherwise. Code
# that runs elsewhere means int64.
_NARROW = np.dtype(np.intp).itemsize < 8


def _widened(array):
    return array.astype(np.int64) if _NARROW and array.dtype == np.int32 else array


def _kind(dtype):
    return dtypes.default().np if dtype is None else dtypes.numpy_of(dtype)


def _finished(array, requires_grad=False, device=None, **more):
    dtypes.only_cpu(device)
    for word in more:
        if word not in ("layout", "pin_memory", "memory_format", "out", "names"):
            raise TypeError(f"got an unexpected keyword argument '{word}'")
    made = wrap(array)
    return made.requires_grad_() if requires_grad else made


_NUMBERS = {bool, int, float}


def _has_tensor(data):
    if isinstance(data, list | tuple):
        # A text as a list of numbers is long, and is passed at once.
        return not set(map(type, data)) <= _NUMBERS and any(map(_has_tensor, data))
    return isinstance(data, Tensor)


def _plain(data, inside=False):
    """Nested lists with tensors of one element as numbers."""
    if isinstance(data, Tensor):
        if inside and data._a.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return data._a.item() if inside else data._a
    if isinstance(data, list | tuple):
        return [_plain(one, True) for one in data]
    return data


def _check_nested(data, dim=0):
    """Refuse lists of unequal length, as PyTorch does."""
    if not isinstance(data, list | tuple) or not data:
        return
    first = data[0]
    long = len(first) if isinstance(first, list | tuple) else None
    for one in data:
        found = len(one) if isinstance(one, list | tuple) else None
        if found != long:
            raise ValueError(
                f"expected sequence of length {long} at dim {dim + 1} (got {found or 0})"
            )
        _check_nested(one, dim + 1)


def array_of(data, dtype=None):
    """An array of what `torch.tensor` takes, always a copy."""
    if isinstance(data, Tensor):
        data = data._a
    if isinstance(data, np.ndarray | np.generic):
        array = _widened(np.array(data))
        dtypes.of(array)
    else:
        plain = _plain(data) if _has_tensor(data) else data
        if isinstance(plain, str) or plain is None:
            raise TypeError(f"new(): invalid data type '{type(plain).__name__}'")
        try:
            array = np.array(plain)
        except ValueError:
            _check_nested(plain)
            raise
        if array.dtype == object:
            if isinstance(plain, range) or hasattr(plain, "__len__"):
                _check_nested(plain)
            raise TypeError(f"Could not infer dtype of {_first_type(plain)}")
        if array.dtype.kind == "f" and not _from_arrays(plain):
            array = array.astype(dtypes.default().np)
        elif array.dtype.kind in "iu" and not _from_arrays(plain):
            array = array.astype(np.int64)
        elif array.size == 0:
            array = array.astype(dtypes.default().np)
        elif array.dtype.kind not in "biufc":
            raise TypeError(f"new(): invalid data type '{_first_type(plain)}'")
    return array if dtype is None else array.astype(dtypes.numpy_of(dtype))


def _first_type(data):
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return type(data).__name__


def _from_arrays(data):
    return isinstance(data, list | tuple) and bool(data) and isinstance(data[0], np.ndarray)


@function()
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    return _finished(array_of(data, dtype), requires_grad, device)


@function("as_tensor", "asarray")
def as_tensor(data, dtype=None, device=None, **_):
    dtypes.only_cpu(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray):
        made = wrap(_widened(data))
        dtypes.of(data)
        return made if dtype is None else made.to(dtype)
    return tensor(data, dtype=dtype)


@function()
def from_numpy(ndarray):
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    dtypes.of(ndarray)
    if any(step < 0 for step in ndarray.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides are not currently supported. (You can probably work around this by making a "
            "copy of your array  with array.copy().) "
        )
    return wrap(_widened(ndarray))


@function()
def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    return wrap(np.frombuffer(buffer, dtypes.numpy_of(dtype), count, offset))


def _shape(given, named):
    return sizes((named.pop("size"),) if "size" in named else given)


@function()
def zeros(*size, dtype=None, **named):
    return _finished(np.zeros(_shape(size, named), _kind(dtype)), **named)


@function()
def ones(*size, dtype=None, **named):
    return _finished(np.ones(_shape(size, named), _kind(dtype)), **named)


@function()
def empty(*size, dtype=None, **named):
    return _finished(np.zeros(_shape(size, named), _kind(dtype)), **named)


@function()
def empty_strided(size, stride, *, dtype=None, **named):
    return _finished(np.zeros(sizes((size,)), _kind(dtype)), **named)


@function()
def full(size, fill_value, *, dtype=None, **named):
    number = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    kind = array_of(number).dtype if dtype is None else dtypes.numpy_of(dtype)
    return _finished(np.full(sizes((size,)), number, kind), **named)


def _like(input, dtype):
    return input._a.dtype if dtype is None else dtypes.numpy_of(dtype)


@both("zeros_like")
def zeros_like(input, *, dtype=None, **named):
    return _finished(np.zeros(input._a.shape, _like(input, dtype)), **named)


@both("ones_like")
def ones_like(input, *, dtype=None, **named):
    return _finished(np.ones(input._a.shape, _like(input, dtype)), **named)


@both("empty_like")
def empty_like(input, *, dtype=None, **named):
    return _finished(np.zeros(input._a.shape, _like(input, dtype)), **named)


@both("full_like")
def full_like(input, fill_value, *, dtype=None, **named):
    number = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    kind = _like(input, dtype)
    return _finished(np.full(input._a.shape, np.asarray(number).astype(kind), kind), **named)


@method()
def new_tensor(self, data, *, dtype=None, **named):
    return _finished(array_of(data).astype(_like(self, dtype)), **named)


@method()
def new_zeros(self, *size, dtype=None, **named):
    return _finished(np.zeros(_shape(size, named), _like(self, dtype)), **named)


@method()
def new_ones(self, *size, dtype=None, **named):
    return _finished(np.ones(_shape(size, named), _like(self, dtype)), **named)


@method()
def new_empty(self, *size, dtype=None, **named):
    return _finished(np.zeros(_shape(size, named), _like(self, dtype)), **named)


@method()
def new_full(self, size, fill_value, *, dtype=None, **named):
    return _finished(np.full(sizes((size,)), fill_value, _like(self, dtype)), **named)


@function("arange")
def arange(*args, dtype=None, start=None, end=None, step=None, **named):
    given = [one.item() if isinstance(one, Tensor | np.generic) else one for one in args]
    if start is not None:
        given.insert(0, start)
    if end is not None:
        given.append(end)
    if len(given) == 1:
        given.insert(0, 0)
    if step is not None:
        given.append(step)
    given = [one.item() if isinstance(one, Tensor | np.generic) else one for one in given]
    low, high, width = (*given, 1)[:3]
    if width == 0:
        raise RuntimeError("step must be nonzero")
    if (width > 0 and low > high) or (width < 0 and low < high):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(one, int) for one in (low, high, width))
    kind = (
        (np.dtype(np.int64) if whole else dtypes.default().np)
        if dtype is None
        else (dtypes.numpy_of(dtype))
    )
    if whole:
        numbers = np.arange(low, high, width, dtype=np.int64)
    else:
        n = math.ceil((high - low) / width)
        numbers = low + np.arange(n, dtype=np.float64) * width
    return _finished(numbers.astype(kind), **named)


@function("range")
def range_(start, end, step=1, *, dtype=None, **named):
    n = int((end - start) // step) + 1
    return _finished((start + np.arange(n) * step).astype(_kind(dtype)), **named)


@function()
def linspace(start, end, steps, *, dtype=None, **named):
    low, high = float(start), float(end)
    return _finished(np.linspace(low, high, int(steps)).astype(_kind(dtype)), **named)


@function()
def logspace(start, end, steps, base=10.0, *, dtype=None, **named):
    powers = np.linspace(float(start), float(end), int(steps))
    return _finished((base**powers).astype(_kind(dtype)), **named)


@function()
def eye(n, m=None, *, dtype=None, **named):
    return _finished(np.eye(int(n), None if m is None else int(m), dtype=_kind(dtype)), **named)


@function()
def scalar_tensor(s, *, dtype=None, **named):
    return _finished(np.asarray(s, dtype=_kind(dtype)), **named)


@function()
def vander(x, N=None, increasing=False):
    return wrap(np.vander(x._a, N, increasing))


@function()
def polar(abs, angle):
    return wrap(abs._a * np.exp(1j * angle._a).astype(np.result_type(abs._a, np.complex64)))


@function("complex")
def complex_(real, imag):
    kind = np.complex64 if real._a.dtype == np.float32 else np.complex128
    return wrap((real._a + 1j * imag._a).astype(kind))
