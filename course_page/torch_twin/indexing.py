"""Numbers at places: `x[...]`, gather and scatter, masks, choices."""

from __future__ import annotations

import numpy as np

from . import dtypes
from .autograd import changed, fit, is_grad_enabled, record
from .elementwise import operands
from .registry import FUNCTIONS, METHODS, both, function, in_place, method
from .tensor import (
    Tensor,
    axis_of,
    refuse_leaf,
    refuse_overlap,
    type_name,
    viewed,
    wrap,
)

_ALL = slice(None)


def _index_array(part):
    """An index that is a tensor, an array or a list, as an array of whole numbers or of bools."""
    if isinstance(part, Tensor):
        array = part._a
    else:
        given = [one._a if isinstance(one, Tensor) else one for one in part]
        array = np.asarray(given)
        if array.size == 0 and array.dtype.kind == "f":
            array = array.astype(np.int64)
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind not in "iu":
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return array.astype(np.intp, copy=False)


def _bound(one):
    return one if one is None else one.__index__()


def _split_key(key, ndim):
    """A key in two steps, as PyTorch takes them: numbers and slices first, then arrays.

    Returns
    -------
    (basic, advanced) : tuple, tuple or None
        The second is for the result of the first.
    """
    if not isinstance(key, tuple):
        key = (key,)
    parts, used, has_ellipsis = [], 0, False
    for part in key:
        if part is Ellipsis:
            has_ellipsis = True
        elif isinstance(part, slice):
            part = slice(_bound(part.start), _bound(part.stop), _bound(part.step))
            if part.step is not None and part.step <= 0:
                raise ValueError("step must be greater than zero")
            used += 1
        elif part is None or part is True or part is False:
            pass
        elif isinstance(part, Tensor | np.ndarray | list | tuple | range):
            part = _index_array(wrap(part) if isinstance(part, np.ndarray) else part)
            if part.ndim == 0 and part.dtype.kind != "b":
                part = int(part)
                used += 1
            else:
                used += max(part.ndim, 1) if part.dtype.kind == "b" else 1
        elif hasattr(part, "__index__"):
            part = part.__index__()
            used += 1
        elif isinstance(part, str):
            raise TypeError("new(): invalid data type 'str'")
        else:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
                f"are valid indices (got {type(part).__name__})"
            )
        parts.append(part)
    if used > ndim:
        if ndim == 0:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    if not has_ellipsis:
        parts.append(Ellipsis)
    basic, advanced, arrays = [], [], False
    for part in parts:
        if part is Ellipsis:
            basic += [_ALL] * (ndim - used)
            advanced += [_ALL] * (ndim - used)
        elif isinstance(part, np.ndarray):
            axes = max(part.ndim, 1) if part.dtype.kind == "b" else 1
            basic += [_ALL] * axes
            advanced.append(part)
            arrays = True
        elif part is True or part is False:
            basic.append(None)
            advanced.append(np.array([part]))
            arrays = True
        elif isinstance(part, int):
            basic.append(part)
        else:
            basic.append(part)
            advanced.append(_ALL)
    while advanced and advanced[-1] is _ALL:
        advanced.pop()
    return tuple(basic), tuple(advanced) if arrays else None


def _complaint(error, array, advanced):
    """NumPy's error in PyTorch's words."""
    axis = 0
    for part in advanced or ():
        if isinstance(part, np.ndarray) and part.dtype.kind == "b":
            seen = array.shape[axis : axis + part.ndim]
            if seen != part.shape:
                return IndexError(
                    f"The shape of the mask {list(part.shape)} at index 0 does not match the "
                    f"shape of the indexed tensor {list(array.shape)} at index {axis}"
                )
            axis += part.ndim
        else:
            axis += 1
    words = str(error).replace("for axis", "for dimension")
    if "broadcast" in words:
        shapes = [list(p.shape) for p in advanced or () if isinstance(p, np.ndarray)]
        words = "shape mismatch: indexing tensors could not be broadcast together with shapes "
        words += ", ".join(map(str, shapes))
    return IndexError(words)


def _get(self, key):
    x = self._a
    if type(key) is int and x.ndim:
        basic, advanced = (key,), None
    else:
        basic, advanced = _split_key(key, x.ndim)
    try:
        seen = x[basic]
        if type(seen) is not np.ndarray:
            seen = x[(*basic, ...)]
        if advanced is None:
            return _seen(self, seen, basic)
        y = seen[advanced]
    except IndexError as error:
        raise _complaint(error, x, advanced) from None

    def back(g):
        made = np.zeros(x.shape, g.dtype)
        np.add.at(made[basic], advanced, g)
        return (made,)

    return record(wrap(y), back, self, name="Index")


def _seen(self, array, basic):
    shape = self._a.shape

    def back(g):
        made = np.zeros(shape, g.dtype)
        made[basic] = g
        return (made,)

    return viewed(self, array, back, name="Select")


def _set(self, key, value):
    x = self._a
    basic, advanced = _split_key(key, x.ndim)
    if is_grad_enabled():
        refuse_leaf(self)
    refuse_overlap(x)
    given = value._a if isinstance(value, Tensor) else np.asarray(value)
    if given.dtype.kind not in "biufc":
        raise TypeError(f"can't assign a {type(value).__name__} to a {self.type()}")
    try:
        seen = x[(*basic, ...)]
        target = seen if advanced is None else seen[advanced]
    except IndexError as error:
        raise _complaint(error, x, advanced) from None
    fitted = given
    while fitted.ndim > target.ndim and fitted.shape[0] == 1:
        fitted = fitted[0]
    try:
        whole = np.broadcast_to(fitted, target.shape)
    except ValueError:
        raise _no_fit(given, target, advanced) from None
    with np.errstate(invalid="ignore"):
        if advanced is None:
            seen[...] = whole
        else:
            seen[advanced] = whole
    changed(self)
    if not is_grad_enabled():
        return
    shape = given.shape

    def back(g):
        rest = np.array(g)
        place = rest[(*basic, ...)]
        part = np.array(place if advanced is None else place[advanced])
        if advanced is None:
            place[...] = 0
        else:
            place[advanced] = 0
        return (rest, fit(part, fitted.shape).reshape(shape)) if is_tensor else (rest,)

    is_tensor = isinstance(value, Tensor)
    made = record(wrap(x), back, *((self, value) if is_tensor else (self,)), name="IndexPut")
    if made.requires_grad:
        self._rebase(True, made._node)


def _no_fit(given, target, advanced):
    if advanced is not None:
        return RuntimeError(
            f"shape mismatch: value tensor of shape {list(given.shape)} cannot be broadcast to "
            f"indexing result of shape {list(target.shape)}"
        )
    for i in range(1, given.ndim + 1):
        own, n = given.shape[-i], target.shape[-i] if i <= target.ndim else None
        if n is not None and own not in (1, n):
            return RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({own}) at "
                f"non-singleton dimension {target.ndim - i}.  "
                f"Target sizes: {list(target.shape)}.  Tensor sizes: {list(given.shape)}"
            )
    return RuntimeError(
        f"expand(size={list(target.shape)}): the number of sizes provided ({target.ndim}) must be "
        f"greater or equal to the number of dimensions in the tensor ({given.ndim})"
    )


Tensor.__getitem__ = _get
Tensor.__setitem__ = _set


# Along an axis


def _check_index(index, name):
    if index._a.dtype != np.int64 and index._a.dtype != np.int32:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def _within(index, length, axis):
    if index.size:
        low, high = index.min(), index.max()
        if low < 0 or high >= length:
            wrong = low if low < 0 else high
            raise RuntimeError(
                f"index {wrong} is out of bounds for dimension {axis} with size {length}"
            )


def _places(index, axis):
    """For each entry of an index, its whole place: its own, but along the axis the one it names."""
    places = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    places[axis] = index.astype(np.intp, copy=False)
    return tuple(places)


def _gather_fits(input, index, axis, name):
    x, i = input._a, index._a
    if x.ndim != i.ndim:
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as input tensor"
            if name == "gather"
            else "Index tensor must have the same number of dimensions as self tensor"
        )
    for d in range(x.ndim):
        if d != axis and i.shape[d] > x.shape[d]:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(i.shape)} to be no "
                f"larger than self {list(x.shape)} apart from dimension {axis}"
            )


@both("gather")
def gather(input, dim, index, *, sparse_grad=False):
    x = input._a
    axis = axis_of(dim, x.ndim)
    _check_index(index, "gather")
    if x.ndim == 0:
        return record(wrap(x.copy()), lambda g: (g,), input)
    _gather_fits(input, index, axis, "gather")
    _within(index._a, x.shape[axis], axis)
    places = _places(index._a, axis)

    def back(g):
        made = np.zeros(x.shape, g.dtype)
        np.add.at(made, places, g)
        return (made,)

    return record(wrap(x[places]), back, input, name="Gather")


@both("take_along_dim")
def take_along_dim(input, indices, dim=None):
    if dim is None:
        return gather(METHODS["flatten"](input), 0, METHODS["flatten"](indices))
    axis = axis_of(dim, input._a.ndim)
    both_shapes = [
        np.broadcast_shapes(a, b) if d != axis else (None,)
        for d, (a, b) in enumerate(zip(input._a.shape, indices._a.shape, strict=True))
    ]
    x_shape = [n[0] if n[0] is not None else -1 for n in both_shapes]
    return gather(METHODS["expand"](input, *x_shape), axis, METHODS["expand"](indices, *x_shape))


@both("take")
def take(input, index):
    return METHODS["flatten"](input)[index]


def _scatter(input, dim, index, src, combine):
    x, i = input._a, index._a
    axis = axis_of(dim, x.ndim)
    _check_index(index, "scatter")
    _gather_fits(input, index, axis, "scatter")
    _within(i, x.shape[axis], axis)
    places = _places(i, axis)
    is_tensor = isinstance(src, Tensor)
    if is_tensor:
        if src._a.dtype != x.dtype:
            raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
        if any(n > m for n, m in zip(i.shape, src._a.shape, strict=True)):
            raise RuntimeError(
                f"Expected index {list(i.shape)} to be no larger than self {list(x.shape)} apart "
                f"from dimension {axis} and to be no larger size than src {list(src._a.shape)}"
            )
        part = tuple(slice(n) for n in i.shape)
        values = src._a[part]
    else:
        values = np.asarray(src).astype(x.dtype)
    y = x.copy()
    if combine is None:
        y[places] = values
    else:
        combine.at(y, places, values)

    def back(g):
        rest = g.copy()
        if combine is None:
            rest[places] = 0
        if not is_tensor:
            return (rest,)
        into = np.zeros(src._a.shape, g.dtype)
        into[part] = g[places]
        return rest, into

    return record(wrap(y), back, *((input, src) if is_tensor else (input,)))


_COMBINE = {
    "sum": np.add,
    "add": np.add,
    "prod": np.multiply,
    "multiply": np.multiply,
    "amax": np.maximum,
    "amin": np.minimum,
}


@both("scatter")
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    return _scatter(
        input, dim, index, value if src is None else src, _COMBINE[reduce] if reduce else None
    )


@both("scatter_add")
def scatter_add(input, dim, index, src):
    return _scatter(input, dim, index, src, np.add)


@both("scatter_reduce")
def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    start = input
    if not include_self:
        neutral = {"sum": 0, "prod": 1, "mean": 0, "amax": -np.inf, "amin": np.inf}[reduce]
        start = _scatter(input, dim, index, neutral, None)
    if reduce == "mean":
        total = _scatter(start, dim, index, src, np.add)
        ones = wrap(np.ones_like(src._a))
        first = wrap(np.full_like(input._a, 1))
        if not include_self:
            first = _scatter(first, dim, index, 0, None)
        return total / _scatter(first, dim, index, ones, np.add)
    return _scatter(start, dim, index, src, _COMBINE[reduce])


@both("index_select")
def index_select(input, dim, index):
    x = input._a
    axis = axis_of(dim, x.ndim)
    _check_index(index, "index_select")
    if index._a.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    where = index._a.reshape(-1)
    if where.size and (where.min() < 0 or where.max() >= x.shape[axis]):
        raise IndexError("index out of range in self")
    where = where.astype(np.intp, copy=False)

    def back(g):
        made = np.zeros(x.shape, g.dtype)
        np.add.at(np.moveaxis(made, axis, 0), where, np.moveaxis(g, axis, 0))
        return (made,)

    return record(wrap(np.take(x, where, axis=axis)), back, input, name="IndexSelect")


def _on_rows(input, dim, index, source, combine, alpha=1):
    axis = axis_of(dim, input._a.ndim)
    key = (_ALL,) * axis + (index,)
    if combine is None:
        made = METHODS["clone"](input)
        made[key] = source
        return made
    return index_put(input, key, source * alpha if alpha != 1 else source, accumulate=True)


@both("index_add")
def index_add(input, dim, index, source, *, alpha=1):
    return _on_rows(input, dim, index, source, np.add, alpha)


@both("index_copy")
def index_copy(input, dim, index, source):
    return _on_rows(input, dim, index, source, None)


@both("index_fill")
def index_fill(input, dim, index, value):
    return _on_rows(input, dim, index, value, None)


@both("index_put")
def index_put(input, indices, values, accumulate=False):
    key = tuple(indices)
    values = values if isinstance(values, Tensor) else wrap(np.asarray(values, input._a.dtype))
    if not accumulate:
        made = METHODS["clone"](input)
        made[key] = values
        return made
    x = input._a
    basic, advanced = _split_key(key, x.ndim)
    y = x.copy()
    seen = y[(*basic, ...)]
    np.add.at(seen, advanced if advanced is not None else (...,), values._a)

    def back(g):
        part = g[(*basic, ...)]
        part = part if advanced is None else part[advanced]
        return g, fit(part, values._a.shape)

    return record(wrap(y), back, input, values)


# Masks and choices


@both("masked_fill")
def masked_fill(input, mask, value):
    x, m = input._a, mask._a
    if m.dtype.kind != "b":
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {_c_name(m)}"
        )
    if isinstance(value, Tensor) and value._a.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._a.ndim} dimension(s)."
        )
    number = value._a if isinstance(value, Tensor) else np.asarray(value)
    if x.dtype.kind in "iub" and number.dtype.kind == "f" and not np.isfinite(number):
        raise RuntimeError(f"value cannot be converted to type {_c_name(x)}_t without overflow")
    try:
        y = np.where(m, number.astype(x.dtype), x)
    except ValueError:
        from .elementwise import mismatch

        raise mismatch(m, x) from None
    is_tensor = isinstance(value, Tensor)

    def back(g):
        rest = fit(np.where(m, g.dtype.type(0), g), x.shape)
        return (rest, np.asarray((g * m).sum())) if is_tensor else (rest,)

    return record(wrap(y), back, *((input, value) if is_tensor else (input,)), name="MaskedFill")


def _c_name(array):
    name = dtypes.of(array).name
    return {"float32": "float", "float64": "double", "int64": "long long", "int32": "int"}.get(
        name, name
    )


@both("masked_select")
def masked_select(input, mask):
    x, m = np.broadcast_arrays(input._a, mask._a)
    shape = input._a.shape

    def back(g):
        made = np.zeros(x.shape, g.dtype)
        made[m] = g
        return (fit(made, shape),)

    return record(wrap(x[m]), back, input)


@both("masked_scatter")
def masked_scatter(input, mask, source):
    y = np.array(np.broadcast_to(input._a, np.broadcast_shapes(input._a.shape, mask._a.shape)))
    m = np.broadcast_to(mask._a, y.shape)
    y[m] = source._a.reshape(-1)[: int(m.sum())]
    return wrap(y)


def where(condition, input=None, other=None):
    if input is None:
        return nonzero(condition, as_tuple=True)
    m = condition._a
    if m.dtype.kind != "b":
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            + type_name(m)
        )
    a, b = operands(input, other)
    try:
        y = np.where(m, a, b)
    except ValueError:
        raise RuntimeError(
            "The size of tensors must match: "
            f"{list(m.shape)}, {list(a.shape)} and {list(b.shape)} do not broadcast"
        ) from None
    tensors = [one for one in (input, other) if isinstance(one, Tensor)]

    def back(g):
        found = []
        if isinstance(input, Tensor):
            found.append(fit(np.where(m, g, g.dtype.type(0)), input._a.shape))
        if isinstance(other, Tensor):
            found.append(fit(np.where(m, g.dtype.type(0), g), other._a.shape))
        return found

    return record(wrap(y), back, *tensors, name="Where") if tensors else wrap(y)


@function("where")
def _where(condition, input=None, other=None, **named):
    if not isinstance(condition, Tensor):
        raise TypeError(
            "where(): argument 'condition' (position 1) must be Tensor, "
            f"not {type(condition).__name__}"
        )
    for one in (input, other):
        if one is not None and not isinstance(
            one, Tensor | int | float | bool | complex | np.generic
        ):
            raise TypeError(f"where(): argument must be Tensor or number, not {type(one).__name__}")
    return where(condition, named.get("self", input), other)


@method("where")
def _where_of(self, condition, other):
    return where(condition, self, other)


@both("nonzero")
def nonzero(input, *, as_tuple=False):
    found = np.nonzero(np.atleast_1d(input._a))
    if as_tuple:
        return tuple(wrap(one.astype(np.int64)) for one in found)
    if input._a.ndim == 0:
        return wrap(np.zeros((int(bool(input._a)), 0), np.int64))
    return wrap(np.stack(found, axis=1).astype(np.int64))


@both("argwhere")
def argwhere(input):
    return nonzero(input)


@function("searchsorted")
def searchsorted(sorted_sequence, values, *, out_int32=False, right=False, side=None, sorter=None):
    rows = sorted_sequence._a
    asked = values._a if isinstance(values, Tensor) else np.asarray(values, dtype=rows.dtype)
    side = side or ("right" if right else "left")
    if rows.ndim == 1:
        found = np.searchsorted(rows, asked, side=side)
    else:
        found = np.empty(asked.shape, np.int64)
        for place in np.ndindex(*rows.shape[:-1]):
            found[place] = np.searchsorted(rows[place], asked[place], side=side)
    return wrap(np.asarray(found, dtype=np.int64))


METHODS["searchsorted"] = searchsorted


@both("bucketize")
def bucketize(input, boundaries, *, out_int32=False, right=False):
    return searchsorted(boundaries, input, right=right)


@function("isin")
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    a = elements._a if isinstance(elements, Tensor) else elements
    b = test_elements._a if isinstance(test_elements, Tensor) else test_elements
    return wrap(np.asarray(np.isin(a, b, invert=invert)))


# In place


@method()
def copy_(self, src, non_blocking=False):
    given = src._a if isinstance(src, Tensor) else np.asarray(src)
    try:
        whole = np.broadcast_to(given, self._a.shape)
    except ValueError:
        raise RuntimeError(
            f"The size of tensor a ({self._a.shape[-1] if self._a.ndim else 1}) must match the "
            f"size of tensor b ({given.shape[-1]}) at non-singleton dimension "
            f"{max(self._a.ndim - 1, 0)}"
        ) from None
    if is_grad_enabled():
        refuse_leaf(self)
    refuse_overlap(self._a)
    self._a[...] = whole
    changed(self)
    if is_grad_enabled() and isinstance(src, Tensor):
        made = record(wrap(self._a), lambda g: (fit(g, given.shape),), src, name="Copy")
        self._rebase(made.requires_grad, made._node)
    return self


@method()
def fill_(self, value):
    return copy_(self, value if isinstance(value, Tensor) else np.asarray(value))


@method()
def zero_(self):
    return fill_(self, 0)


@method()
def set_(self, source):
    self._a = source._a
    return self


@method()
def resize_(self, *size):
    self._a = np.resize(self._a, size)
    return self


@method()
def fill_diagonal_(self, fill_value, wrap=False):
    if is_grad_enabled():
        refuse_leaf(self)
    n = min(self._a.shape)
    self._a[np.arange(n), np.arange(n)] = fill_value
    return self


in_place(
    *("masked_fill", "masked_scatter", "scatter", "scatter_add", "index_add", "index_copy"),
    *("index_fill", "index_put", "scatter_reduce"),
)
FUNCTIONS["index_put_"] = METHODS["index_put_"]
