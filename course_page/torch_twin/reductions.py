"""Many numbers to one: sums, extremes, orders."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from . import dtypes
from .autograd import record
from .elementwise import floated, operands
from .registry import FUNCTIONS, METHODS, both, in_place
from .tensor import Tensor, axes_of, axis_of, type_name, wrap

max_result = namedtuple("max", "values indices")
min_result = namedtuple("min", "values indices")
median_result = namedtuple("median", "values indices")
mode_result = namedtuple("mode", "values indices")
kthvalue_result = namedtuple("kthvalue", "values indices")
sort_result = namedtuple("sort", "values indices")
topk_result = namedtuple("topk", "values indices")
cummax_result = namedtuple("cummax", "values indices")
cummin_result = namedtuple("cummin", "values indices")
aminmax_result = namedtuple("aminmax", "min max")


def _again(gradient, axes, ndim, keepdim):
    """A gradient with the axes that were summed away, of length 1."""
    if axes is None:
        return gradient.reshape((1,) * ndim)
    return gradient if keepdim else np.expand_dims(gradient, axes)


def spread(gradient, axes, shape, keepdim):
    """A gradient at every place that was summed."""
    return np.broadcast_to(_again(gradient, axes, len(shape), keepdim), shape)


def _whole_sum(array):
    return array.astype(np.int64) if array.dtype.kind in "biu" else array


def _typed(array, dtype):
    return array if dtype is None else array.astype(dtypes.numpy_of(dtype))


@both("sum")
def sum_(input, dim=None, keepdim=False, *, dtype=None):
    x = _whole_sum(_typed(input._a, dtype))
    axes = axes_of(dim, x.ndim)
    if x.ndim == 0:
        axes = None
    y = np.asarray(x.sum(axis=axes, keepdims=bool(keepdim), dtype=x.dtype))
    shape = input._a.shape
    return record(wrap(y), lambda g: (spread(g, axes, shape, keepdim),), input, name="Sum")


def _no_mean(array, name):
    if array.dtype.kind not in "fc":
        raise RuntimeError(
            f"{name}(): could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {type_name(array)}"
        )


def _count(shape, axes):
    return math.prod(shape) if axes is None else math.prod(shape[a] for a in axes)


@both("mean")
def mean(input, dim=None, keepdim=False, *, dtype=None):
    x = _typed(input._a, dtype)
    _no_mean(x, "mean")
    axes = axes_of(dim, x.ndim) if x.ndim else None
    shape = x.shape
    n = _count(shape, axes)
    total = x.sum(axis=axes, keepdims=bool(keepdim))
    y = np.asarray(total / x.dtype.type(n))
    return record(
        wrap(y), lambda g: (spread(g / x.dtype.type(n), axes, shape, keepdim),), input, name="Mean"
    )


@both("nansum")
def nansum(input, dim=None, keepdim=False, *, dtype=None):
    held = METHODS["where"](input, wrap(~np.isnan(input._a)), 0)
    return sum_(held, dim, keepdim, dtype=dtype)


@both("nanmean")
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    there = wrap((~np.isnan(input._a)).astype(input._a.dtype))
    return nansum(input, dim, keepdim, dtype=dtype) / sum_(there, dim, keepdim)


@both("prod")
def prod(input, dim=None, keepdim=False, *, dtype=None):
    x = _whole_sum(_typed(input._a, dtype))
    axes = axes_of(dim, x.ndim)
    y = np.asarray(x.prod(axis=axes, keepdims=bool(keepdim), dtype=x.dtype))

    def back(g):
        along = tuple(range(x.ndim)) if axes is None else axes
        others = np.empty_like(x)
        moved = np.moveaxis(x, along, tuple(range(-len(along), 0))) if along else x
        rows = moved.reshape(-1, _count(x.shape, along))
        made = np.empty_like(rows)
        for i in range(rows.shape[1]):
            made[:, i] = np.delete(rows, i, axis=1).prod(axis=1)
        made = made.reshape(moved.shape)
        back_in_place = np.moveaxis(made, tuple(range(-len(along), 0)), along) if along else made
        others[...] = back_in_place
        return (spread(g, axes, x.shape, keepdim) * others,)

    return record(wrap(y), back, input)


def _deviation(name, finish):
    def call(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
        if isinstance(dim, bool):  # var(unbiased)
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None or unbiased else 0
        x = input._a
        if x.dtype.kind not in "fc":
            raise RuntimeError(f"{name} only support floating point and complex dtypes")
        axes = axes_of(dim, x.ndim)
        n = _count(x.shape, axes)
        centre = x - x.mean(axis=axes, keepdims=True)
        freedom = x.dtype.type(max(n - correction, 0))
        squares = (centre * centre).sum(axis=axes, keepdims=bool(keepdim))
        variance = np.asarray(squares / freedom)
        y = np.asarray(finish(variance))

        def back(g):
            if finish is np.sqrt:
                g = g / (2 * y)
            return (spread(g, axes, x.shape, keepdim) * 2 * centre / freedom,)

        return record(wrap(y), back, input, name=name.title(), saves=(input,))

    both(name)(_named(call, name))
    return call


def _named(function, name):
    function.__name__ = name
    return function


var = _deviation("var", lambda v: v)
std = _deviation("std", np.sqrt)


def _with_mean(deviation):
    def call(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
        held = deviation(input, dim, unbiased, keepdim, correction=correction)
        return held, mean(input, None if isinstance(dim, bool) else dim, keepdim)

    return call


FUNCTIONS["var_mean"], FUNCTIONS["std_mean"] = _with_mean(var), _with_mean(std)


def _truth(name, of_numpy):
    def call(input, dim=None, keepdim=False):
        axes = axes_of(dim, input._a.ndim)
        return wrap(np.asarray(of_numpy(input._a, axis=axes, keepdims=bool(keepdim))))

    both(name)(_named(call, name))


_truth("all", lambda x, **how: np.all(x, **how))
_truth("any", lambda x, **how: np.any(x, **how))


@both("count_nonzero")
def count_nonzero(input, dim=None):
    axes = axes_of(dim, input._a.ndim)
    return wrap(np.asarray((input._a != 0).sum(axis=axes), dtype=np.int64))


def taken_along(array, index, axis):
    return np.take_along_axis(array, np.asarray(index).astype(np.intp, copy=False), axis=axis)


def put_along(shape, dtype, index, values, axis):
    made = np.zeros(shape, dtype)
    np.put_along_axis(made, np.asarray(index).astype(np.intp, copy=False), values, axis=axis)
    return made


def _at(input, dim, keepdim, index):
    """The numbers at one place of each row, with the way back for their gradient."""
    x = input._a
    kept = np.expand_dims(index, dim) if x.ndim else index
    values = taken_along(x, kept, dim) if x.ndim else x.copy()

    def back(g):
        if x.ndim == 0:
            return (g.reshape(()),)
        whole = g if keepdim else np.expand_dims(g, dim)
        return (put_along(x.shape, g.dtype, kept, whole, dim),)

    shown = values if keepdim or x.ndim == 0 else np.squeeze(values, dim)
    return record(wrap(shown), back, input), wrap(
        np.asarray(kept if keepdim and x.ndim else index, dtype=np.int64)
    )


def _extreme(name, of_numpy, place_of, pair, kind):
    def call(input, dim=None, keepdim=False, *, other=None):
        if isinstance(other, Tensor):
            dim = other
        if isinstance(dim, Tensor):
            return METHODS[kind](input, dim)
        x = input._a
        if dim is None:
            if x.size == 0:
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                    "Specify the reduction dim with the 'dim' argument."
                )
            y = np.asarray(of_numpy(x))

            def back(g):
                where = x == y
                return (g * where / where.sum().astype(g.dtype),)

            return record(wrap(y), back, input, name=name.title())
        axis = axis_of(dim, x.ndim)
        if x.ndim and x.shape[axis] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
        return pair(*_at(input, axis, keepdim, place_of(x, axis=axis) if x.ndim else np.int64(0)))

    both(name)(_named(call, name))


_extreme("max", np.max, np.argmax, max_result, "maximum")
_extreme("min", np.min, np.argmin, min_result, "minimum")


def _even_extreme(name, of_numpy):
    def call(input, dim=None, keepdim=False):
        x = input._a
        axes = axes_of(dim, x.ndim)
        if x.size == 0 and axes is None:
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
            )
        empty = next((axis for axis in axes or () if x.shape[axis] == 0), None)
        if empty is not None:
            raise IndexError(f"{name}(): Expected reduction dim {empty} to have non-zero size.")
        y = np.asarray(of_numpy(x, axis=axes, keepdims=bool(keepdim)))

        def back(g):
            where = x == spread(y, axes, x.shape, keepdim)
            n = where.sum(axis=axes, keepdims=True).astype(g.dtype)
            return (spread(g, axes, x.shape, keepdim) * where / n,)

        return record(wrap(y), back, input)

    both(name)(_named(call, name))
    return call


amax = _even_extreme("amax", np.max)
amin = _even_extreme("amin", np.min)


@both("aminmax")
def aminmax(input, *, dim=None, keepdim=False):
    return aminmax_result(amin(input, dim, keepdim), amax(input, dim, keepdim))


def _place(name, of_numpy):
    def call(input, dim=None, keepdim=False):
        x = input._a
        if x.dtype.kind == "b":
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
        if x.size == 0 and dim is None:
            raise IndexError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
            )
        axis = None if dim is None else axis_of(dim, x.ndim)
        if x.ndim == 0:
            return wrap(np.zeros((), np.int64))
        return wrap(np.asarray(of_numpy(x, axis=axis, keepdims=bool(keepdim)), dtype=np.int64))

    both(name)(_named(call, name))


_place("argmax", np.argmax)
_place("argmin", np.argmin)


def order_of(x, axis, descending):
    """Indices that sort, where equal numbers keep their order."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable").astype(np.int64)
    turned = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return (x.shape[axis] - 1 - np.flip(turned, axis)).astype(np.int64)


def _picked(input, index, axis):
    x = input._a
    values = taken_along(x, index, axis)
    return record(wrap(values), lambda g: (put_along(x.shape, g.dtype, index, g, axis),), input)


@both("sort")
def sort(input, dim=-1, descending=False, stable=False):
    if isinstance(dim, bool):
        dim, descending = -1, dim
    if input._a.ndim == 0:
        return sort_result(input, wrap(np.zeros((), np.int64)))
    axis = axis_of(dim, input._a.ndim)
    index = order_of(input._a, axis, descending)
    return sort_result(_picked(input, index, axis), wrap(index))


@both("argsort")
def argsort(input, dim=-1, descending=False, stable=False):
    return sort(input, dim, descending)[1]


@both("msort")
def msort(input):
    return sort(input, 0)[0]


@both("topk")
def topk(input, k, dim=-1, largest=True, sorted=True):
    axis = axis_of(dim, input._a.ndim)
    k = k.__index__()
    if not 0 <= k <= (input._a.shape[axis] if input._a.ndim else 1):
        raise RuntimeError("selected index k out of range")
    index = np.take(order_of(input._a, axis, largest), np.arange(k), axis=axis)
    return topk_result(_picked(input, index, axis), wrap(index))


@both("kthvalue")
def kthvalue(input, k, dim=-1, keepdim=False):
    axis = axis_of(dim, input._a.ndim)
    if not 1 <= k <= input._a.shape[axis]:
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(axis))
    index = np.take(order_of(input._a, axis, False), k - 1, axis=axis)
    return kthvalue_result(*_at(input, axis, keepdim, index))


@both("median")
def median(input, dim=None, keepdim=False):
    x = input._a
    if dim is None:
        flat = METHODS["reshape"](input, -1)
        if x.size == 0:
            return wrap(np.asarray(np.nan, dtype=x.dtype))
        return median(flat, 0)[0]
    axis = axis_of(dim, x.ndim)
    order = order_of(x, axis, False)
    middle = np.take(order, (x.shape[axis] - 1) // 2, axis=axis)
    if x.dtype.kind == "f":  # one NaN makes the median NaN
        last = np.take(order, x.shape[axis] - 1, axis=axis)
        middle = np.where(np.isnan(x).any(axis=axis), last, middle)
    return median_result(*_at(input, axis, keepdim, middle))


@both("nanmedian")
def nanmedian(input, dim=None, keepdim=False):
    x = input._a
    if dim is None:
        return nanmedian(METHODS["reshape"](input, -1), 0)[0]
    axis = axis_of(dim, x.ndim)
    there = (~np.isnan(x)).sum(axis=axis, keepdims=True)
    at = np.maximum((there - 1) // 2, 0)
    index = np.squeeze(taken_along(order_of(x, axis, False), at, axis), axis)
    return median_result(*_at(input, axis, keepdim, index))


@both("mode")
def mode(input, dim=-1, keepdim=False):
    x = input._a
    axis = axis_of(dim, x.ndim)
    rows = np.moveaxis(x, axis, -1)
    found = np.empty(rows.shape[:-1], np.int64)
    for place in np.ndindex(*rows.shape[:-1]):
        values, counts = np.unique(rows[place], return_counts=True)
        found[place] = np.flatnonzero(rows[place] == values[counts.argmax()])[-1]
    return mode_result(*_at(input, axis, keepdim, found))


@both("quantile")
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    x = input._a
    _no_mean(x, "quantile")
    share = q._a if isinstance(q, Tensor) else np.asarray(q, dtype=x.dtype)
    axis = None if dim is None else axis_of(dim, x.ndim)
    y = np.quantile(x, share, axis=axis, keepdims=bool(keepdim), method=interpolation)
    return wrap(np.asarray(y, dtype=x.dtype))


# Running results


@both("cumsum")
def cumsum(input, dim, *, dtype=None):
    x = _whole_sum(_typed(input._a, dtype))
    axis = axis_of(dim, x.ndim)
    y = np.cumsum(x, axis=axis, dtype=x.dtype) if x.ndim else x.copy()

    def back(g):
        return (np.flip(np.cumsum(np.flip(g, axis), axis=axis), axis) if x.ndim else g,)

    return record(wrap(y), back, input, name="Cumsum")


@both("cumprod")
def cumprod(input, dim, *, dtype=None):
    x = _whole_sum(_typed(input._a, dtype))
    axis = axis_of(dim, x.ndim)
    y = np.cumprod(x, axis=axis, dtype=x.dtype)

    def back(g):
        made = np.zeros_like(x)
        for i in range(x.shape[axis]):
            others = x.copy()
            place = (slice(None),) * axis + (i,)
            others[place] = 1
            part = np.cumprod(others, axis=axis) * g
            made[place] = np.moveaxis(part, axis, 0)[i:].sum(axis=0)
        return (made,)

    return record(wrap(y), back, input)


def _running(name, accumulate, pair):
    def call(input, dim):
        x = input._a
        axis = axis_of(dim, x.ndim)
        best = accumulate(x, axis=axis)
        steps = np.arange(x.shape[axis]).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        fresh = x == best
        index = np.maximum.accumulate(np.where(fresh, steps, 0), axis=axis).astype(np.int64)
        return pair(_add_up(input, index, axis), wrap(index))

    both(name)(_named(call, name))


def _add_up(input, index, axis):
    """Numbers at places of which one may come several times."""
    x = input._a

    def back(g):
        made = np.zeros(x.shape, g.dtype)
        places = list(np.ogrid[tuple(slice(n) for n in x.shape)])
        places[axis] = index
        np.add.at(made, tuple(places), g)
        return (made,)

    return record(wrap(taken_along(x, index, axis)), back, input)


_running("cummax", np.maximum.accumulate, cummax_result)
_running("cummin", np.minimum.accumulate, cummin_result)


@both("logcumsumexp")
def logcumsumexp(input, dim):
    return wrap(np.logaddexp.accumulate(floated(input._a), axis=axis_of(dim, input._a.ndim)))


@both("logsumexp")
def logsumexp(input, dim=None, keepdim=False):
    x = floated(input._a)
    axes = axes_of(dim, x.ndim)
    top = x.max(axis=axes, keepdims=True)
    top = np.where(np.isfinite(top), top, x.dtype.type(0))
    total = np.log(np.exp(x - top).sum(axis=axes, keepdims=True)) + top
    y = total if keepdim else total.reshape(x.sum(axis=axes).shape)

    def back(g):
        return (_again(g, axes, x.ndim, keepdim) * np.exp(x - total),)

    return record(wrap(y), back, input)


# Norms and counts


@both("norm")
def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    x = _typed(input._a, dtype)
    if x.dtype.kind not in "fc":
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. "
            f"Got {type_name(x)}"
        )
    p = 2 if p in ("fro", None) else p
    axes = axes_of(dim, x.ndim)
    size = np.abs(x)
    how = {"axis": axes, "keepdims": bool(keepdim)}
    if p == math.inf:
        y = size.max(**how)
    elif p == -math.inf:
        y = size.min(**how)
    elif p == 0:
        y = (x != 0).sum(**how).astype(x.dtype)
    elif p == 2:
        y = np.sqrt((size * size).sum(**how))
    elif p == 1:
        y = size.sum(**how)
    else:
        y = (size**p).sum(**how) ** (1 / p)
    y = np.asarray(y, dtype=x.dtype)

    def back(g):
        whole, g = spread(y, axes, x.shape, keepdim), spread(g, axes, x.shape, keepdim)
        if abs(p) == math.inf:
            where = size == whole
            return (g * np.sign(x) * where / where.sum(axis=axes, keepdims=True),)
        if p == 0:
            return (np.zeros_like(x),)
        if p == 1:
            return (g * np.sign(x),)
        share = np.sign(x) * (size / np.where(whole == 0, 1, whole)) ** (p - 1)
        return ((g * share).astype(x.dtype),)

    return record(wrap(y), back, input, name="LinalgVectorNorm", saves=(input,))


@both("dist")
def dist(input, other, p=2):
    return norm(input - other, p)


@both("bincount")
def bincount(input, weights=None, minlength=0):
    x = input._a
    if x.dtype.kind not in "iu":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{type_name(x)}'")
    if x.ndim != 1 or (x < 0).any():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    heavy = None if weights is None else weights._a.astype(np.float64)
    y = np.bincount(x.astype(np.intp), heavy, int(minlength))
    kind = (
        np.int64 if weights is None else (np.float32 if weights._a.dtype == np.float32 else y.dtype)
    )
    return wrap(y.astype(kind))


@both("histc")
def histc(input, bins=100, min=0, max=0):
    x = input._a
    low, high = (x.min(), x.max()) if min == 0 and max == 0 else (min, max)
    return wrap(np.histogram(x, bins, (low, high))[0].astype(x.dtype))


@both("unique")
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    found = np.unique(
        input._a,
        return_index=False,
        return_inverse=return_inverse,
        return_counts=return_counts,
        axis=dim,
    )
    if not return_inverse and not return_counts:
        return wrap(found)
    values, *rest = found
    more = [wrap(np.asarray(one, dtype=np.int64)) for one in rest]
    if return_inverse:
        shape = input._a.shape if dim is None else (input._a.shape[dim],)
        more[0] = wrap(more[0]._a.reshape(shape))
    return (wrap(values), *more)


@both("unique_consecutive")
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    x = input._a.reshape(-1)
    fresh = np.concatenate([[True], x[1:] != x[:-1]]) if x.size else np.zeros(0, bool)
    starts = np.flatnonzero(fresh)
    found = [wrap(x[fresh])]
    if return_inverse:
        found.append(wrap((np.cumsum(fresh) - 1).astype(np.int64)))
    if return_counts:
        found.append(wrap(np.diff(np.append(starts, x.size)).astype(np.int64)))
    return found[0] if len(found) == 1 else tuple(found)


@both("diff")
def diff(input, n=1, dim=-1, prepend=None, append=None):
    pieces = [one for one in (prepend, input, append) if one is not None]
    held = FUNCTIONS["cat"](pieces, dim) if len(pieces) > 1 else input
    for _ in range(n):
        length = held.shape[dim]
        if held._a.dtype.kind == "b":
            later, earlier = (METHODS["narrow"](held, dim, i, length - 1) for i in (1, 0))
            held = later ^ earlier
        else:
            later, earlier = (METHODS["narrow"](held, dim, i, length - 1) for i in (1, 0))
            held = later - earlier
    return held


@both("cov")
def cov(input, *, correction=1):
    return wrap(np.asarray(np.cov(input._a, ddof=correction), dtype=input._a.dtype))


@both("corrcoef")
def corrcoef(input):
    return wrap(np.asarray(np.corrcoef(input._a), dtype=input._a.dtype))


@both("trace")
def trace(input):
    return sum_(METHODS["diagonal"](input))


@both("softmax")
def softmax(input, dim, dtype=None, _stacklevel=3):
    x = _for_softmax(_typed(input._a, dtype), "softmax")
    axis = axis_of(dim, x.ndim)
    e = np.exp(x - (x.max(axis=axis, keepdims=True) if x.size else 0)) if x.ndim else x * 0 + 1
    y = e / e.sum(axis=axis, keepdims=True) if x.ndim else e

    def back(g):
        if not x.ndim:
            return (g * 0,)
        return (y * (g - (g * y).sum(axis=axis, keepdims=True)),)

    made = wrap(y)
    return record(made, back, input, name="Softmax", saves=(made,))


def _for_softmax(x, name):
    if x.dtype.kind not in "fc":
        raise NotImplementedError(
            f"\"{name}_lastdim_kernel_impl\" not implemented for '{type_name(x)}'"
        )
    return x


@both("log_softmax")
def log_softmax(input, dim, dtype=None, _stacklevel=3):
    x = _for_softmax(_typed(input._a, dtype), "log_softmax")
    axis = axis_of(dim, x.ndim)
    if not x.ndim:
        return record(wrap(x * 0), lambda g: (g * 0,), input)
    y = x - x.max(axis=axis, keepdims=True) if x.size else x.copy()
    y = y - np.log(np.exp(y).sum(axis=axis, keepdims=True))

    def back(g):
        return (g - np.exp(y) * g.sum(axis=axis, keepdims=True),)

    made = wrap(y)
    return record(made, back, input, name="LogSoftmax", saves=(made,))


@both("cosine_similarity")
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    _no_mean(operands(x1, x2)[0], "cosine_similarity")
    product = sum_(x1 * x2, dim)
    long1 = METHODS["clamp"](norm(x1, 2, dim), min=eps)
    long2 = METHODS["clamp"](norm(x2, 2, dim), min=eps)
    return product / (long1 * long2)


in_place("cumsum", "cumprod", "softmax")
