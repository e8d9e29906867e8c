"""Types of numbers, what comes of mixing them, devices and sizes."""

from __future__ import annotations

import numpy as np


class dtype:
    """A type of numbers; `np` is NumPy's."""

    def __init__(self, name, of_numpy, rank):
        self.name = name
        self.np = np.dtype(of_numpy)
        self.rank = rank  # the larger of two types of one kind holds the other's numbers
        self.kind = self.np.kind
        self.itemsize = self.np.itemsize
        self.is_floating_point = self.kind == "f"
        self.is_complex = self.kind == "c"
        self.is_signed = self.kind in "ifc"

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return self.name


bool_ = dtype("bool", np.bool_, 0)
uint8 = dtype("uint8", np.uint8, 1)
int8 = dtype("int8", np.int8, 1)
int16 = dtype("int16", np.int16, 2)
int32 = dtype("int32", np.int32, 3)
int64 = dtype("int64", np.int64, 4)
float16 = dtype("float16", np.float16, 5)
float32 = dtype("float32", np.float32, 6)
float64 = dtype("float64", np.float64, 7)
complex64 = dtype("complex64", np.complex64, 8)
complex128 = dtype("complex128", np.complex128, 9)
# NumPy has no such type; the name is there to be compared with, and storing it is refused.
bfloat16 = dtype("bfloat16", np.float32, 5)

ALL = (
    *(bool_, uint8, int8, int16, int32, int64),
    *(float16, float32, float64, complex64, complex128),
)
OF_NUMPY = {one.np: one for one in ALL}
ALIASES = {
    "bool": bool_,
    "long": int64,
    "int": int32,
    "short": int16,
    "char": int8,
    "half": float16,
    "float": float32,
    "double": float64,
    "cfloat": complex64,
    "cdouble": complex128,
    "bfloat16": bfloat16,
    **{one.name: one for one in ALL},
}
_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}

_default = [float32]


def default():
    """The type of numbers with a point that say no other."""
    return _default[0]


def set_default(one):
    if not one.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, got {one}")
    _default[0] = one


def of(array):
    """The type of an array's numbers."""
    try:
        return OF_NUMPY[array.dtype]
    except KeyError:
        raise TypeError(
            f"can't convert np.ndarray of type {array.dtype}. The only supported types are: "
            "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint8, "
            "and bool."
        ) from None


def numpy_of(one):
    """NumPy's type for a `dtype`, or for Python's `float`, `int`, `bool`."""
    if isinstance(one, dtype):
        if one is bfloat16:
            raise TypeError("the torch of this page holds no bfloat16; `make lab` has it")
        return one.np
    if one is float:
        return np.dtype(np.float64)
    if one is int:
        return np.dtype(np.int64)
    if one is bool:
        return np.dtype(np.bool_)
    raise TypeError(f"dtype must be torch.dtype, not {type(one).__name__}")


def wider(one, other):
    """NumPy's type that holds the numbers of both, as PyTorch promotes."""
    if one == other:
        return one
    a, b = OF_NUMPY[one], OF_NUMPY[other]
    if _KINDS[a.kind] != _KINDS[b.kind]:
        low, high = (a, b) if _KINDS[a.kind] < _KINDS[b.kind] else (b, a)
        if high is complex64 and low is float64:
            return complex128.np
        return high.np
    if {a, b} == {uint8, int8}:
        return int16.np
    return (a if a.rank >= b.rank else b).np


def result(arrays):
    """NumPy's type of what comes of arrays, where those without an axis count less."""
    best = {0: None, 1: None}
    for array in arrays:
        place = int(array.ndim > 0)
        held = best[place]
        best[place] = array.dtype if held is None else wider(held, array.dtype)
    strong, weak = best[1], best[0]
    if strong is None or weak is None:
        return weak if strong is None else strong
    if _KINDS[weak.kind] <= _KINDS[strong.kind]:
        return strong
    return wider(strong, weak)


class device:
    """Where a tensor is: in a page always the processor."""

    def __init__(self, name="cpu", index=None):
        if isinstance(name, device):
            name = name.type
        kind, _, number = str(name).partition(":")
        if kind not in ("cpu", "cuda", "mps", "meta", "xpu"):
            raise RuntimeError(
                "Expected one of cpu, cuda, mps, meta, xpu device type at start of device string: "
                f"{name}"
            )
        self.type = kind
        self.index = int(number) if number else index

    def __repr__(self):
        return f"device(type={self.type!r})"

    def __str__(self):
        return self.type

    def __eq__(self, other):
        return isinstance(other, device) and self.type == other.type

    def __hash__(self):
        return hash(self.type)


CPU = device("cpu")


def only_cpu(place):
    """Refuse every device but the one there is."""
    if place is not None and device(place).type != "cpu":
        raise RuntimeError(f"a page has no device {place}; it computes on the CPU")


class Size(tuple):
    """The dimensions of a tensor."""

    __slots__ = ()

    def numel(self):
        n = 1
        for length in self:
            n *= length
        return n

    def __repr__(self):
        return f"torch.Size({list(self)})"

    def __getitem__(self, key):
        found = tuple.__getitem__(self, key)
        return Size(found) if isinstance(key, slice) else found

    def __add__(self, other):
        return Size(tuple(self) + tuple(other))


class finfo:
    """Limits of a type of numbers with a point."""

    def __init__(self, one=None):
        one = one or default()
        found = np.finfo(one.np)
        self.dtype = one.name
        self.bits = found.bits
        self.eps, self.max, self.min = float(found.eps), float(found.max), float(found.min)
        self.tiny = self.smallest_normal = float(found.tiny)
        self.resolution = float(found.resolution)


class iinfo:
    """Limits of a type of whole numbers."""

    def __init__(self, one):
        found = np.iinfo(one.np)
        self.dtype, self.bits = one.name, found.bits
        self.max, self.min = int(found.max), int(found.min)
