"""First values of parameters."""

from __future__ import annotations

import math

import numpy as np

from ..autograd import no_grad
from ..elementwise import erfinv_of
from ..generators import source
from ..registry import METHODS


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == "tanh":
        return 5 / 3
    if nonlinearity == "relu":
        return math.sqrt(2)
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity == "selu":
        return 3 / 4
    return 1.0


def _filled(name):
    def call(tensor, *args, generator=None, **named):
        with no_grad():
            return METHODS[name](tensor, *args, generator=generator, **named)

    return call


_uniform, _normal = _filled("uniform_"), _filled("normal_")


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    return _uniform(tensor, a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    return _normal(tensor, mean, std, generator=generator)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    def share(x):
        return (1 + math.erf(x / math.sqrt(2))) / 2

    low, high = share((a - mean) / std), share((b - mean) / std)
    drawn = source(generator).uniform(tensor._a.size, tensor._a.dtype).astype(np.float64)
    numbers = erfinv_of(2 * (low + (high - low) * drawn) - 1) * std * math.sqrt(2) + mean
    tensor._a[...] = np.clip(numbers, a, b).reshape(tensor._a.shape)
    return tensor


def constant_(tensor, val):
    with no_grad():
        return METHODS["fill_"](tensor, val)


def zeros_(tensor):
    return constant_(tensor, 0.0)


def ones_(tensor):
    return constant_(tensor, 1.0)


def eye_(tensor):
    tensor._a[...] = np.eye(*tensor._a.shape)
    return tensor


def _fans(tensor):
    shape = tensor._a.shape
    if len(shape) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def xavier_uniform_(tensor, gain=1.0, generator=None):
    bound = gain * math.sqrt(6 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(_fans(tensor))), generator)


def _kaiming(tensor, a, mode, nonlinearity):
    fan = _fans(tensor)[0 if mode == "fan_in" else 1]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if 0 in tensor._a.shape:
        return tensor
    bound = math.sqrt(3) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    return normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor, gain=1, generator=None):
    rows = tensor._a.shape[0]
    drawn = source(generator).normal(tensor._a.size, tensor._a.dtype).reshape(rows, -1)
    q, r = np.linalg.qr(drawn if rows >= drawn.shape[1] else drawn.T)
    q = q * np.sign(np.diag(r))
    tensor._a[...] = gain * (q if rows >= drawn.shape[1] else q.T).reshape(tensor._a.shape)
    return tensor
