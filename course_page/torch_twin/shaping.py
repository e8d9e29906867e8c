"""Other shapes of the same numbers: views, joins, pieces, triangles."""

from __future__ import annotations

import math

import numpy as np

from . import dtypes
from .autograd import fit, record
from .registry import FUNCTIONS, METHODS, both, function, in_place, method
from .tensor import Tensor, axes_of, axis_of, view_of, viewed, wrap


def sizes(given):
    """A shape from one sequence or several numbers."""
    if len(given) == 1 and hasattr(given[0], "__iter__") and getattr(given[0], "ndim", 1):
        given = given[0]
    try:
        return tuple(one if type(one) is int else one.__index__() for one in given)
    except AttributeError:
        wrong = next(one for one in given if not hasattr(one, "__index__"))
        raise TypeError(
            f"a shape must be of ints, but found an element of type {type(wrong).__name__}"
        ) from None


def _whole_shape(shape, array):
    """A shape with its −1 worked out."""
    n = array.size
    known = math.prod(one for one in shape if one != -1)
    if any(one < -1 for one in shape):
        raise RuntimeError(f"invalid shape dimension {min(shape)}")
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if -1 in shape:
        if known == 0 or n % known:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {n}")
        return tuple(n // known if one == -1 else one for one in shape)
    if known != n:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {n}")
    return shape


def _reshaped(input, shape):
    x = input._a
    y = x.reshape(_whole_shape(shape, x))
    before = x.shape
    if np.may_share_memory(x, y):
        return viewed(input, y, lambda g: (g.reshape(before),))
    return record(wrap(y), lambda g: (g.reshape(before),), input, name="View")


@both("reshape")
def reshape(input, *shape, **named):
    return _reshaped(input, sizes((named["shape"],) if named else shape))


@method()
def view(self, *shape, **named):
    if shape and isinstance(shape[0], dtypes.dtype):
        return view_of(self, self._a.view(shape[0].np))
    shape = sizes((named.get("size", named.get("dtype")),) if named else shape)
    x = self._a
    y = x.reshape(_whole_shape(shape, x))
    if x.size and not np.may_share_memory(x, y):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    before = x.shape
    return viewed(self, y, lambda g: (g.reshape(before),))


@method("view_as", "reshape_as")
def view_as(self, other):
    return reshape(self, other.shape)


@both("flatten")
def flatten(input, start_dim=0, end_dim=-1):
    x = input._a
    if x.ndim == 0:
        return _reshaped(input, (1,))
    start, end = axis_of(start_dim, x.ndim), axis_of(end_dim, x.ndim)
    if end < start:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    middle = math.prod(x.shape[start : end + 1])
    return _reshaped(input, (*x.shape[:start], middle, *x.shape[end + 1 :]))


@both("ravel")
def ravel(input):
    return flatten(input)


@both("unflatten")
def unflatten(input, dim, sizes):
    x = input._a
    axis = axis_of(dim, x.ndim)
    parts = tuple(int(one) for one in sizes)
    length, known = x.shape[axis], math.prod(one for one in parts if one != -1)
    if -1 in parts and known and length % known == 0:
        parts = tuple(length // known if one == -1 else one for one in parts)
    if math.prod(parts) != length or -1 in parts:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(parts)} don't multiply up to the size of dim "
            f"{axis} ({length}) in the input tensor"
        )
    return _reshaped(input, (*x.shape[:axis], *parts, *x.shape[axis + 1 :]))


@both("squeeze")
def squeeze(input, dim=None):
    x = input._a
    if dim is None:
        axes = tuple(i for i, n in enumerate(x.shape) if n == 1)
    else:
        axes = tuple(i for i in axes_of(dim, x.ndim) or () if x.ndim and x.shape[i] == 1)
    before = x.shape
    return viewed(input, np.squeeze(x, axes), lambda g: (g.reshape(before),))


@both("unsqueeze")
def unsqueeze(input, dim):
    x = input._a
    axis = axis_of(dim, x.ndim + 1)
    before = x.shape
    return viewed(input, np.expand_dims(x, axis), lambda g: (g.reshape(before),))


@both("transpose", "swapaxes", "swapdims")
def transpose(input, dim0, dim1):
    x = input._a
    i, j = axis_of(dim0, x.ndim), axis_of(dim1, x.ndim)
    if x.ndim == 0:
        return viewed(input, x, lambda g: (g,))
    return viewed(input, x.swapaxes(i, j), lambda g: (g.swapaxes(i, j),), name="Transpose")


@both("t")
def t(input):
    if input._a.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {input._a.ndim}D"
        )
    return transpose(input, 0, 1) if input._a.ndim == 2 else viewed(input, input._a, lambda g: (g,))


@both("permute")
def permute(input, *dims):
    x = input._a
    order = tuple(axis_of(one, x.ndim) for one in sizes(dims))
    if len(order) != x.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {x.ndim} is not "
            f"equal to len(dims) = {len(order)}"
        )
    if len(set(order)) < len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    back = np.argsort(order)
    return viewed(input, x.transpose(order), lambda g: (g.transpose(back),), name="Permute")


@both("movedim", "moveaxis")
def movedim(input, source, destination):
    y = np.moveaxis(input._a, source, destination)
    return viewed(input, y, lambda g: (np.moveaxis(g, destination, source),))


Tensor.T = property(lambda self: permute(self, *range(self._a.ndim)[::-1]))


def _matrix_transposed(self):
    if self._a.ndim < 2:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. "
            f"Got {self._a.ndim}-D tensor."
        )
    return transpose(self, -2, -1)


Tensor.mT = Tensor.H = Tensor.mH = property(_matrix_transposed)
Tensor.real = property(lambda self: METHODS["real"](self))


def _imaginary(self):
    if self._a.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return view_of(self, self._a.imag)


Tensor.imag = property(_imaginary)


def stretched(array, shape):
    """An array seen in a larger shape, writable as the original is."""
    if array.shape == shape:
        return array
    whole = np.broadcast_to(array, shape)
    return np.lib.stride_tricks.as_strided(array, whole.shape, whole.strides)


@method()
def expand(self, *size, implicit=False):
    x, asked = self._a, sizes(size)
    if len(asked) < x.ndim:
        raise RuntimeError(
            f"expand({self.type()}{{{list(x.shape)}}}, size={list(asked)}): the number of sizes "
            f"provided ({len(asked)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({x.ndim})"
        )
    extra = len(asked) - x.ndim
    shape = list(asked)
    for i, n in enumerate(asked):
        own = x.shape[i - extra] if i >= extra else 1
        if n == -1:
            if i < extra:
                raise RuntimeError(
                    f"expand: the size of new dimension {i} cannot be left out as -1"
                )
            shape[i] = own
        elif own not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({own}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(asked)}.  "
                f"Tensor sizes: {list(x.shape)}"
            )
    before = x.shape
    return viewed(self, stretched(x, tuple(shape)), lambda g: (fit(g, before),), name="Expand")


@method()
def expand_as(self, other):
    return expand(self, *other.shape)


@both("broadcast_to")
def broadcast_to(input, size):
    return expand(input, *sizes((size,)))


@function()
def broadcast_tensors(*tensors):
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    shape = broadcast_shapes(*(one.shape for one in tensors))
    return tuple(expand(one, *shape) for one in tensors)


@function()
def broadcast_shapes(*shapes):
    try:
        return dtypes.Size(np.broadcast_shapes(*(tuple(s) for s in shapes)))
    except ValueError:
        raise RuntimeError(
            "Shape mismatch: objects cannot be broadcast to a single shape"
        ) from None


@method()
def contiguous(self, memory_format=None):
    if self._a.flags.c_contiguous:
        return self
    return record(wrap(np.ascontiguousarray(self._a)), lambda g: (g,), self, name="Clone")


@both("clone")
def clone(input, *, memory_format=None):
    return record(wrap(input._a.copy()), lambda g: (g,), input, name="Clone")


@method()
def repeat(self, *repeats):
    x, times = self._a, sizes(repeats)
    if len(times) < x.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions "
            "of tensor"
        )
    shape = (1,) * (len(times) - x.ndim) + x.shape

    def back(g):
        split = [n for pair in zip(times, shape, strict=True) for n in pair]
        return (g.reshape(split).sum(axis=tuple(range(0, len(split), 2))).reshape(x.shape),)

    return record(wrap(np.tile(x, times)), back, self, name="Repeat")


@both("tile")
def tile(input, *dims):
    times = sizes(dims)
    return repeat(input, *((1,) * (input._a.ndim - len(times)) + times))


@both("repeat_interleave")
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    if repeats is None:
        times = input._a.astype(np.intp)
        return wrap(np.repeat(np.arange(len(times), dtype=np.int64), times))
    x = input if dim is not None else flatten(input)
    axis = axis_of(0 if dim is None else dim, x._a.ndim)
    times = repeats._a.astype(np.intp) if isinstance(repeats, Tensor) else int(repeats)
    if isinstance(times, np.ndarray) and times.size == 1:
        times = int(times.reshape(-1)[0])
    index = np.repeat(np.arange(x._a.shape[axis], dtype=np.int64), times)
    return METHODS["index_select"](x, axis, wrap(index))


def _tensors(given, name):
    given = list(given)
    if not given:
        raise RuntimeError(f"{name} expects a non-empty list of Tensors")
    for i, one in enumerate(given):
        if not isinstance(one, Tensor):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {type(one).__name__}"
            )
    return given


@function("cat", "concat", "concatenate")
def cat(tensors, dim=0):
    given = _tensors(tensors, "torch.cat(): ")
    first = next((one for one in given if one._a.shape != (0,)), given[0])
    if any(one._a.ndim == 0 for one in given):
        place = next(i for i, one in enumerate(given) if one._a.ndim == 0)
        raise RuntimeError(f"zero-dimensional tensor (at position {place}) cannot be concatenated")
    axis = axis_of(dim, first._a.ndim)
    used = [one for one in given if one._a.shape != (0,) or first._a.ndim == 1]
    for i, one in enumerate(given):
        if one._a.shape == (0,) and first._a.ndim != 1:
            continue
        if one._a.ndim != first._a.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first._a.ndim} and "
                f"{one._a.ndim}"
            )
        for d, (m, n) in enumerate(zip(first._a.shape, one._a.shape, strict=True)):
            if d != axis and m != n:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size {m} "
                    f"but got size {n} for tensor number {i} in the list."
                )
    kind = dtypes.result([one._a for one in given])
    y = np.concatenate([one._a for one in used], axis=axis, dtype=kind, casting="unsafe")
    ends = np.cumsum([one._a.shape[axis] for one in used])

    def back(g):
        return np.split(g, ends[:-1], axis=axis)

    return record(wrap(y), back, *used, name="Cat")


@function()
def stack(tensors, dim=0):
    given = _tensors(tensors, "stack")
    first = given[0]._a.shape
    for i, one in enumerate(given):
        if one._a.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 "
                f"and {list(one._a.shape)} at entry {i}"
            )
    axis = axis_of(dim, len(first) + 1)
    kind = dtypes.result([one._a for one in given])
    y = np.stack([one._a for one in given], axis=axis, dtype=kind, casting="unsafe")

    def back(g):
        return list(np.moveaxis(g, axis, 0))

    return record(wrap(y), back, *given, name="Stack")


def _at_least(n, where):
    def call(*tensors):
        many = len(tensors) != 1 or isinstance(tensors[0], list | tuple)
        given = tensors[0] if len(tensors) == 1 and many else tensors
        made = []
        for one in given:
            while one._a.ndim < n:
                one = unsqueeze(one, where if one._a.ndim else 0)
            made.append(one)
        return tuple(made) if many else made[0]

    return call


FUNCTIONS["atleast_1d"], FUNCTIONS["atleast_2d"] = _at_least(1, 0), _at_least(2, 0)


@function("hstack")
def hstack(tensors):
    given = [one if one._a.ndim else unsqueeze(one, 0) for one in tensors]
    return cat(given, 0 if given[0]._a.ndim == 1 else 1)


@function("vstack", "row_stack")
def vstack(tensors):
    return cat([unsqueeze(flatten(one), 0) if one._a.ndim < 2 else one for one in tensors], 0)


@function("dstack")
def dstack(tensors):
    made = [unsqueeze(vstack([one]) if one._a.ndim < 2 else one, -1) for one in tensors]
    return cat(made, 2)


@function("column_stack")
def column_stack(tensors):
    return hstack([unsqueeze(flatten(one), 1) if one._a.ndim < 2 else one for one in tensors])


@both("narrow")
def narrow(input, dim, start, length):
    axis = axis_of(dim, input._a.ndim)
    start, n = int(start), input._a.shape[axis]
    start = start + n if start < 0 else start
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not 0 <= start <= n:
        raise IndexError(
            f"start out of range (expected to be in range of [{-n}, {n}], but got {start})"
        )
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return input[(slice(None),) * axis + (slice(start, start + length),)]


@both("select")
def select(input, dim, index):
    axis = axis_of(dim, input._a.ndim)
    return input[(slice(None),) * axis + (index,)]


@both("unbind")
def unbind(input, dim=0):
    axis = axis_of(dim, input._a.ndim)
    return tuple(select(input, axis, i) for i in range(input._a.shape[axis]))


def _pieces(input, axis, ends):
    starts = [0, *ends[:-1]]
    return tuple(
        narrow(input, axis, start, end - start) for start, end in zip(starts, ends, strict=True)
    )


@both("split")
def split(input, split_size_or_sections=None, dim=0, *, split_size=None):
    given = split_size if split_size_or_sections is None else split_size_or_sections
    axis = axis_of(dim, input._a.ndim)
    n = input._a.shape[axis]
    if isinstance(given, list | tuple):
        if sum(given) != n:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size "
                f"at dimension {axis}), but got split_sizes={list(given)}"
            )
        return _pieces(input, axis, np.cumsum([int(one) for one in given]).tolist())
    given = given.__index__()
    if given < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={given}")
    if given == 0 and n:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}"
        )
    ends = [min(i + given, n) for i in range(0, n, given or 1)] or [0]
    return _pieces(input, axis, ends)


@both("chunk")
def chunk(input, chunks, dim=0):
    axis = axis_of(dim, input._a.ndim)
    if chunks <= 0:
        raise RuntimeError("chunk expects `chunks` to be greater than 0, got: " + str(chunks))
    n = input._a.shape[axis]
    return split(input, max(-(-n // chunks), 1 if n else 0), axis)


@both("tensor_split")
def tensor_split(input, indices_or_sections, dim=0):
    axis = axis_of(dim, input._a.ndim)
    n, given = input._a.shape[axis], indices_or_sections
    if isinstance(given, Tensor):
        given = given.tolist()
    if isinstance(given, int):
        longer, length = n % given, n // given
        ends = np.cumsum([length + 1] * longer + [length] * (given - longer)).tolist()
    else:
        ends = [min(max(one if one >= 0 else one + n, 0), n) for one in given] + [n]
    starts = [0, *ends[:-1]]
    return tuple(
        narrow(input, axis, start, max(end - start, 0))
        for start, end in zip(starts, ends, strict=True)
    )


@both("flip")
def flip(input, *dims):
    axes = axes_of(sizes(dims), input._a.ndim) or ()
    return record(wrap(np.flip(input._a, axes).copy()), lambda g: (np.flip(g, axes),), input)


@both("fliplr")
def fliplr(input):
    return flip(input, 1)


@both("flipud")
def flipud(input):
    return flip(input, 0)


@both("roll")
def roll(input, shifts, dims=None):
    axes = dims if dims is None or isinstance(dims, int) else tuple(dims)
    if isinstance(shifts, Tensor):
        shifts = int(shifts)
    steps = shifts if isinstance(shifts, int) else tuple(int(s) for s in shifts)
    turned = -steps if isinstance(steps, int) else tuple(-s for s in steps)
    for axis in axes if isinstance(axes, tuple) else (axes,):
        if axis is not None:
            axis_of(axis, input._a.ndim)
    return record(
        wrap(np.roll(input._a, steps, axes)), lambda g: (np.roll(g, turned, axes),), input
    )


@both("rot90")
def rot90(input, k=1, dims=(0, 1)):
    return wrap(np.rot90(input._a, k, dims).copy())


@method()
def unfold(self, dimension, size, step):
    x = self._a
    axis = axis_of(dimension, x.ndim)
    length = x.shape[axis] if x.ndim else 1
    if size > length:
        raise RuntimeError(
            f"maximum size for tensor at dimension {axis} is {length} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    shape = [n if i != axis else (length - size) // step + 1 for i, n in enumerate(x.shape)]
    strides = [s * step if i == axis else s for i, s in enumerate(x.strides)]
    y = np.lib.stride_tricks.as_strided(x, (*shape, size), (*strides, x.strides[axis]))

    def back(g):
        made = np.zeros(x.shape, g.dtype)
        for i in range(size):
            place = (slice(None),) * axis + (slice(i, i + (shape[axis] - 1) * step + 1, step),)
            made[place] += g[..., i]
        return (made,)

    return viewed(self, y, back, name="Unfold")


@both("diagonal")
def diagonal(input, offset=0, dim1=0, dim2=1):
    x = input._a
    i, j = axis_of(dim1, x.ndim), axis_of(dim2, x.ndim)
    seen = np.diagonal(x, offset, i, j)
    y = np.lib.stride_tricks.as_strided(
        x[
            tuple(
                slice(max(-offset, 0), None)
                if a == i
                else slice(max(offset, 0), None)
                if a == j
                else slice(None)
                for a in range(x.ndim)
            )
        ]
        if seen.size
        else seen,
        seen.shape,
        seen.strides,
    )

    def back(g):
        made = np.zeros(x.shape, g.dtype)
        held = np.diagonal(made, offset, i, j)
        held.flags.writeable = True
        held[...] = g
        return (made,)

    return viewed(input, y, back)


@both("diag")
def diag(input, diagonal=0):
    if input._a.ndim == 1:
        return diag_embed(input, diagonal)
    return METHODS["clone"](METHODS["diagonal"](input, diagonal))


@both("diag_embed")
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    x = input._a
    n = x.shape[-1] + abs(offset)
    rows = np.arange(x.shape[-1]) + max(-offset, 0)
    columns = np.arange(x.shape[-1]) + max(offset, 0)
    y = np.zeros((*x.shape[:-1], n, n), x.dtype)
    y[..., rows, columns] = x
    return record(wrap(y), lambda g: (g[..., rows, columns],), input)


def _triangle(name, of_numpy):
    def call(input, diagonal=0):
        if input._a.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        y = of_numpy(input._a, diagonal)
        return record(wrap(y), lambda g: (of_numpy(g, diagonal),), input, name=name.title())

    call.__name__ = name
    both(name)(call)


_triangle("tril", np.tril)
_triangle("triu", np.triu)


def _corner(of_numpy):
    def call(row, col, offset=0, **_):
        return wrap(np.stack(of_numpy(row, offset, col)).astype(np.int64))

    return call


FUNCTIONS["tril_indices"] = _corner(np.tril_indices)
FUNCTIONS["triu_indices"] = _corner(np.triu_indices)


@function()
def block_diag(*tensors):
    height = sum(one._a.shape[0] for one in tensors)
    made = np.zeros((height, sum(one._a.shape[1] for one in tensors)), tensors[0]._a.dtype)
    i = j = 0
    for one in tensors:
        m, n = one._a.shape
        made[i : i + m, j : j + n] = one._a
        i, j = i + m, j + n
    return wrap(made)


@function()
def meshgrid(*tensors, indexing="ij"):
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    order = [1, 0] if indexing == "xy" and len(given) > 1 else [0, 1]
    shape = [one._a.size for one in given]
    shape[:2] = [shape[i] for i in order[: len(shape)]] if len(shape) > 1 else shape
    made = []
    for i, one in enumerate(given):
        axis = order[i] if i < 2 and len(given) > 1 else i
        seen = reshape(one, [-1 if a == axis else 1 for a in range(len(given))])
        made.append(expand(seen, *shape))
    return tuple(made)


@function()
def cartesian_prod(*tensors):
    grid = meshgrid(*tensors, indexing="ij")
    return stack([flatten(one) for one in grid], 1)


@function()
def combinations(input, r=2, with_replacement=False):
    import itertools

    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    index = np.array(list(choose(range(input._a.size), r)), dtype=np.int64).reshape(-1, r)
    return input[wrap(index)]


@both("view_as_real")
def view_as_real(input):
    x = input._a
    half = np.float32 if x.dtype == np.complex64 else np.float64
    return wrap(np.ascontiguousarray(x).view(half).reshape(*x.shape, 2))


@both("view_as_complex")
def view_as_complex(input):
    x = np.ascontiguousarray(input._a)
    whole = np.complex64 if x.dtype == np.float32 else np.complex128
    return wrap(x.view(whole).reshape(x.shape[:-1]))


# Other types


@method()
def to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, **_):
    for one in args:
        if isinstance(one, dtypes.dtype):
            dtype = one
        elif isinstance(one, str | dtypes.device):
            device = one
        elif isinstance(one, Tensor):
            dtype = one.dtype
    dtypes.only_cpu(device)
    return _cast(self, dtypes.numpy_of(dtype) if dtype is not None else self._a.dtype, copy)


def _cast(tensor, kind, copy=False):
    before = tensor._a.dtype
    if kind == before and not copy:
        return tensor
    y = tensor._a.astype(kind)
    if kind.kind not in "fc":
        return wrap(y)
    return record(wrap(y), lambda g: (g.astype(before),), tensor, name="ToCopy")


def _caster(name, of_numpy):
    kind = np.dtype(of_numpy)
    METHODS[name] = lambda self, memory_format=None: _cast(self, kind)


for _name, _kind in (
    ("float", np.float32),
    ("double", np.float64),
    ("half", np.float16),
    ("long", np.int64),
    ("int", np.int32),
    ("short", np.int16),
    ("char", np.int8),
    ("byte", np.uint8),
    ("bool", np.bool_),
    ("cfloat", np.complex64),
    ("cdouble", np.complex128),
):
    _caster(_name, _kind)


@method("bfloat16")
def _bfloat16(self):
    return _cast(self, dtypes.numpy_of(dtypes.bfloat16))


@method("type")
def type_(self, dtype=None, **_):
    from .tensor import type_name

    if dtype is None:
        return f"torch.{type_name(self._a)}Tensor"
    if isinstance(dtype, str):
        name = dtype.removeprefix("torch.").removesuffix("Tensor").lower()
        dtype = dtypes.ALIASES[name]
    return _cast(self, dtypes.numpy_of(dtype))


@method()
def type_as(self, other):
    return _cast(self, other._a.dtype)


def _changes_shape(name):
    plain = METHODS[name]

    def call(self, *args, **named):
        made = plain(self, *args, **named)
        self._a, self._node = made._a, made._node
        return self

    METHODS[f"{name}_"] = call


for _name in ("squeeze", "unsqueeze", "transpose", "t"):
    _changes_shape(_name)
in_place("tril", "triu")
