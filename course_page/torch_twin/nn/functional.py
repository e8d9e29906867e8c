"""Layers as functions."""

from __future__ import annotations

import math

import numpy as np

from ..autograd import fit, record
from ..elementwise import erf_of, floated
from ..generators import source
from ..products import _matmul
from ..reductions import cosine_similarity, log_softmax, norm
from ..reductions import softmax as _softmax
from ..registry import FUNCTIONS, METHODS
from ..shaping import stretched  # noqa: F401
from ..simd import matmul
from ..tensor import Tensor, axis_of, type_name, wrap

__all__ = ["cosine_similarity", "log_softmax"]


def _needs_tensor(one, name, word="input"):
    if not isinstance(one, Tensor):
        kind = type(one)
        words = (
            kind.__name__
            if kind.__module__ == "builtins"
            else (f"{kind.__module__}.{kind.__name__}")
        )
        raise TypeError(f"{name}(): argument '{word}' (position 1) must be Tensor, not {words}")


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None:
        dim = 0 if input._a.ndim in (0, 1, 3) else 1
    return _softmax(input, dim, dtype)


def softmin(input, dim=None, dtype=None):
    return softmax(-input, dim, dtype=dtype)


# Linear layers


def linear(input, weight, bias=None):
    _needs_tensor(input, "linear")
    x, w = input._a, weight._a
    if x.dtype != w.dtype:
        raise RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {type_name(x)} and {type_name(w)}"
        )
    if x.ndim == 0:
        raise RuntimeError("both arguments to linear need to be at least 1D, but they are 0D")
    if x.shape[-1] != w.shape[-1]:
        rows = x.size // x.shape[-1] if x.shape[-1] else 0
        turned = f"{w.shape[1]}x{w.shape[0]}" if w.ndim == 2 else f"{w.shape[0]}"
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{x.shape[-1]} and {turned})"
        )
    y = matmul(x, w.T)
    if bias is not None:
        y = y + bias._a

    def back(g):
        gx = matmul(g, w) if w.ndim == 2 else g[..., None] * w
        flat = g.reshape(-1, w.shape[0]) if w.ndim == 2 else g.reshape(-1)
        rows = x.reshape(-1, x.shape[-1])
        gw = matmul(flat.T, rows) if w.ndim == 2 else flat.T @ rows
        found = (gx if input.requires_grad else None, gw)
        return found if bias is None else (*found, fit(g, bias._a.shape))

    inputs = (input, weight) if bias is None else (input, weight, bias)
    saves = [one for one, another in ((input, weight), (weight, input)) if another.requires_grad]
    return record(wrap(np.asarray(y)), back, *inputs, name="Addmm", saves=saves)


def bilinear(input1, input2, weight, bias=None):
    y = FUNCTIONS["einsum"]("...i,oij,...j->...o", input1, weight, input2)
    return y if bias is None else y + bias


def embedding(input, weight, padding_idx=None, **_):
    _needs_tensor(input, "embedding")
    where = input._a
    if where.dtype.kind not in "iu":
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {input.type()} instead (while checking arguments for embedding)"
        )
    table = weight._a
    if where.size and (where.min() < 0 or where.max() >= len(table)):
        raise IndexError("index out of range in self")
    where = where.astype(np.intp, copy=False)

    def back(g):
        made = np.zeros(table.shape, g.dtype)
        np.add.at(made, where.reshape(-1), g.reshape(-1, *table.shape[1:]))
        if padding_idx is not None:
            made[padding_idx] = 0
        return (made,)

    return record(wrap(table[where]), back, weight, name="Embedding")


def one_hot(tensor, num_classes=-1):
    _needs_tensor(tensor, "one_hot")
    x = tensor._a
    if x.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if x.size and x.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    n = int(num_classes)
    if n == -1:
        n = int(x.max()) + 1
    elif x.size and x.max() >= n:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return wrap((x[..., None] == np.arange(n)).astype(np.int64))


# Activations


def relu(input, inplace=False):
    _needs_tensor(input, "relu")
    return METHODS["relu_"](input) if inplace else METHODS["relu"](input)


def _activation(name, forward, derivative):
    def call(input, *args, inplace=False, **named):
        _needs_tensor(input, name)
        x = floated(input._a)
        y = np.asarray(forward(x, *args, **named)).astype(x.dtype, copy=False)

        def back(g):
            slope = derivative(x, y, *args, **named)
            return ((g * slope).astype(x.dtype, copy=False),)

        return record(wrap(y), back, input, name=name.title(), saves=(input,))

    call.__name__ = name
    return call


def _sigmoid(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


def _phi(x):
    return 0.5 * (1 + erf_of(x / math.sqrt(2)))


def _gelu(x, approximate="none"):
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * _phi(x)


def _gelu_slope(x, y, approximate="none"):
    if approximate == "tanh":
        inner = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
        slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
        return 0.5 * (1 + inner) + 0.5 * x * (1 - inner * inner) * slope
    return _phi(x) + x * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def _silu_slope(x, _y):
    s = _sigmoid(x)
    return s * (1 + x * (1 - s))


def _elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(x))


def _elu_slope(x, y, alpha=1.0):
    return np.where(x > 0, 1, y + alpha)


def _leaky(x, negative_slope=0.01):
    return np.where(x > 0, x, x * negative_slope)


def _leaky_slope(x, y, negative_slope=0.01):
    return np.where(x > 0, 1, negative_slope)


def _soft(x, beta=1.0, threshold=20.0):
    return np.where(x * beta > threshold, x, np.logaddexp(0, x * beta) / beta)


def _soft_slope(x, y, beta=1.0, threshold=20.0):
    return _sigmoid(x * beta)


_SCALE, _ALPHA = 1.0507009873554805, 1.6732632423543772

gelu = _activation("gelu", _gelu, _gelu_slope)
silu = _activation("silu", lambda x: x * _sigmoid(x), _silu_slope)
elu = _activation("elu", _elu, _elu_slope)
leaky_relu = _activation("leaky_relu", _leaky, _leaky_slope)
softplus = _activation("softplus", _soft, _soft_slope)
relu6 = _activation("relu6", lambda x: np.clip(x, 0, 6), lambda x, y: (x > 0) & (x < 6))
hardtanh = _activation(
    "hardtanh",
    lambda x, min_val=-1.0, max_val=1.0: np.clip(x, min_val, max_val),
    lambda x, y, min_val=-1.0, max_val=1.0: (x > min_val) & (x < max_val),
)
hardsigmoid = _activation(
    "hardsigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1), lambda x, y: (np.abs(x) < 3) / 6
)
hardswish = _activation(
    "hardswish",
    lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    lambda x, y: np.where(x < -3, 0, np.where(x > 3, 1, x / 3 + 0.5)),
)
selu = _activation(
    "selu",
    lambda x: _SCALE * _elu(x, _ALPHA),
    lambda x, y: _SCALE * np.where(x > 0, 1, y / _SCALE + _ALPHA),
)
celu = _activation(
    "celu",
    lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x / alpha)),
    lambda x, y, alpha=1.0: np.where(x > 0, 1, np.exp(x / alpha)),
)
softsign = _activation(
    "softsign", lambda x: x / (1 + np.abs(x)), lambda x, y: 1 / (1 + np.abs(x)) ** 2
)
tanhshrink = _activation("tanhshrink", lambda x: x - np.tanh(x), lambda x, y: np.tanh(x) ** 2)
logsigmoid = _activation("logsigmoid", lambda x: -np.logaddexp(0, -x), lambda x, y: _sigmoid(-x))
threshold = _activation(
    "threshold",
    lambda x, threshold, value: np.where(x > threshold, x, value),
    lambda x, y, threshold, value: x > threshold,
)


def mish(input, inplace=False):
    return input * METHODS["tanh"](softplus(input))


def sigmoid(input):
    return METHODS["sigmoid"](input)


def tanh(input):
    return METHODS["tanh"](input)


def prelu(input, weight):
    return FUNCTIONS["where"](input > 0, input, input * weight)


def glu(input, dim=-1):
    left, right = METHODS["chunk"](input, 2, dim)
    return left * sigmoid(right)


# Normalization


def _normalized(x, axes, eps, minus_mean):
    """Numbers with mean 0 and variance 1 along axes, and the way back."""
    centred = x - x.mean(axis=axes, keepdims=True) if minus_mean else x
    scale = 1 / np.sqrt((centred * centred).mean(axis=axes, keepdims=True) + x.dtype.type(eps))
    y = centred * scale

    def back(g):
        inner = (g * y).mean(axis=axes, keepdims=True)
        mean = g.mean(axis=axes, keepdims=True) if minus_mean else 0
        return scale * (g - mean - y * inner)

    return y, back


def _with_affine(input, y, way, weight, bias, shape):
    out = y
    if weight is not None:
        out = out * weight._a.reshape(shape)
    if bias is not None:
        out = out + bias._a.reshape(shape)

    def back(g):
        found = [way(g if weight is None else g * weight._a.reshape(shape))]
        if weight is not None:
            found.append(fit(g * y, shape).reshape(weight._a.shape))
        if bias is not None:
            found.append(fit(g, shape).reshape(bias._a.shape))
        return found

    inputs = [one for one in (input, weight, bias) if one is not None]
    return record(wrap(out), back, *inputs, name="NativeLayerNorm", saves=(input,))


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    _needs_tensor(input, "layer_norm")
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    x = input._a
    if x.dtype.kind != "f":
        raise RuntimeError(f"\"LayerNormKernelImpl\" not implemented for '{type_name(x)}'")
    if x.shape[-len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape "
            f"[*, {', '.join(map(str, shape))}], but got input of size{list(x.shape)}"
        )
    if weight is not None and weight._a.shape != shape:
        raise RuntimeError(
            "Expected weight to be of same shape as normalized_shape, but got weight of shape "
            f"{list(weight._a.shape)} and normalized_shape = {list(shape)}"
        )
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    y, way = _normalized(x, axes, eps, True)
    return _with_affine(input, y, way, weight, bias, shape)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    x = input._a
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    eps = np.finfo(x.dtype).eps if eps is None else eps
    y, way = _normalized(x, axes, eps, False)
    return _with_affine(input, y, way, weight, None, shape)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    x = input._a
    if x.shape[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(x.shape)} and num_groups={num_groups}"
        )
    grouped = METHODS["reshape"](input, x.shape[0], num_groups, -1)
    y, way = _normalized(grouped._a, (2,), eps, True)
    plain = record(wrap(y), lambda g: (way(g),), grouped)
    shaped = METHODS["reshape"](plain, x.shape)
    column = (1, x.shape[1], *(1,) * (x.ndim - 2))
    if weight is not None:
        shaped = shaped * METHODS["reshape"](weight, column)
    return shaped if bias is None else shaped + METHODS["reshape"](bias, column)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, **named):
    return group_norm(input, input._a.shape[1], weight, bias, named.get("eps", 1e-5))


def batch_norm(
    input,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    eps=1e-5,
):
    x = input._a
    axes = (0, *range(2, x.ndim))
    column = (1, x.shape[1], *(1,) * (x.ndim - 2))
    if training:
        n = x.size // x.shape[1]
        if n == 1:
            raise ValueError(
                "Expected more than 1 value per channel when training, "
                f"got input size {list(x.shape)}"
            )
        y, way = _normalized(x, axes, eps, True)
        plain = record(wrap(y), lambda g: (way(g),), input)
        if running_mean is not None:
            old = running_mean._a
            old[...] = (1 - momentum) * old + momentum * x.mean(axis=axes)
            spread = running_var._a
            spread[...] = (1 - momentum) * spread + momentum * x.var(axis=axes, ddof=1)
    else:
        centre = METHODS["reshape"](running_mean, column)
        scale = METHODS["rsqrt"](METHODS["reshape"](running_var, column) + eps)
        plain = (input - centre) * scale
    if weight is not None:
        plain = plain * METHODS["reshape"](weight, column)
    return plain if bias is None else plain + METHODS["reshape"](bias, column)


def normalize(input, p=2.0, dim=1, eps=1e-12):
    _needs_tensor(input, "normalize")
    return input / METHODS["clamp_min"](norm(input, p, dim, True), eps)


# Dropout


def _kept(input, p, training, shape):
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    x = input._a
    n = math.prod(shape)
    drawn = source(None).uniform(n, np.float64).reshape(shape) < 1 - p
    scale = drawn.astype(x.dtype) * x.dtype.type(1 / (1 - p) if p < 1 else 0)
    return record(wrap(x * scale), lambda g: (g * scale,), input, name="Dropout")


def dropout(input, p=0.5, training=True, inplace=False):
    _needs_tensor(input, "dropout")
    return _kept(input, p, training, input._a.shape)


def _channels(input, p=0.5, training=True, inplace=False):
    shape = input._a.shape
    return _kept(input, p, training, (*shape[:2], *(1,) * (len(shape) - 2)))


dropout1d = dropout2d = dropout3d = _channels


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    return input if not training else dropout(input, p)


# Attention


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    d = query._a.shape[-1]
    factor = 1 / math.sqrt(d) if scale is None else scale
    if enable_gqa:
        times = query._a.shape[-3] // key._a.shape[-3]
        key = METHODS["repeat_interleave"](key, times, -3)
        value = METHODS["repeat_interleave"](value, times, -3)
    scores = _matmul(query * factor, METHODS["transpose"](key, -2, -1))
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
                "is_causal=True"
            )
        past = wrap(np.tril(np.ones(scores._a.shape[-2:], dtype=bool)))
        scores = METHODS["masked_fill"](scores, ~past, -math.inf)
    if attn_mask is not None:
        if attn_mask._a.dtype.kind == "b":
            scores = METHODS["masked_fill"](scores, ~attn_mask, -math.inf)
        else:
            scores = scores + attn_mask
    weights = _softmax(scores, -1)
    if attn_mask is not None and attn_mask._a.dtype.kind == "b":
        # A row that sees nothing is 0, as in PyTorch's own kernel.
        blind = wrap(~np.broadcast_to(attn_mask._a, weights._a.shape).any(axis=-1, keepdims=True))
        weights = METHODS["masked_fill"](weights, blind, 0.0)
    if dropout_p:
        weights = dropout(weights, dropout_p)
    return _matmul(weights, value)


# Losses


def _reduced(losses, reduction):
    if reduction == "none":
        return losses
    if reduction == "sum":
        return METHODS["sum"](losses)
    if reduction == "mean":
        return METHODS["mean"](losses)
    raise ValueError(f"{reduction} is not a valid value for reduction")


def nll_loss(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
):
    x, y = input._a, target._a
    if x.ndim == 1:
        x, y = x[None], y.reshape(1)
    if y.dtype.kind not in "iu":
        raise RuntimeError(f"expected scalar type Long but found {type_name(y)}")
    if x.shape[0] != y.shape[0] and input._a.ndim > 1:
        raise ValueError(
            f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({y.shape[0]})."
        )
    if x.ndim > 2 and y.shape != (x.shape[0], *x.shape[2:]):
        raise RuntimeError(
            f"Expected target size {[x.shape[0], *x.shape[2:]]}, got {list(y.shape)}"
        )
    if x.ndim == 2 and y.ndim != 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    used = y != ignore_index
    safe = np.where(used, y, 0).astype(np.intp)
    if ((safe < 0) | (safe >= x.shape[1])).any():
        wrong = y[used & ((y < 0) | (y >= x.shape[1]))].reshape(-1)[0]
        raise IndexError(f"Target {wrong} is out of bounds.")
    rows = np.moveaxis(x, 1, -1)
    picked = np.take_along_axis(rows, safe[..., None], axis=-1)[..., 0]
    share = used.astype(x.dtype)
    if weight is not None:
        share = share * weight._a[safe]
    losses = -picked * share
    losses = np.where(share == 0, x.dtype.type(0), losses)
    total = share.sum()
    if reduction == "none":
        out = losses.reshape(target._a.shape)
    elif reduction == "sum":
        out = np.asarray(losses.sum())
    elif reduction == "mean":
        out = np.asarray(losses.sum() / total)
    else:
        raise ValueError(f"{reduction} is not a valid value for reduction")

    def back(g):
        part = g.reshape(share.shape) if reduction == "none" else g
        if reduction == "mean":
            part = part / total
        made = np.zeros(rows.shape, x.dtype)
        np.put_along_axis(made, safe[..., None], (-share * part)[..., None], axis=-1)
        return (np.moveaxis(made, -1, 1).reshape(input._a.shape),)

    return record(wrap(out), back, input, name="NllLoss")


def cross_entropy(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    _needs_tensor(input, "cross_entropy_loss", "input")
    _needs_tensor(target, "cross_entropy_loss", "target")
    x, y = input._a, target._a
    if x.dtype.kind != "f":
        raise NotImplementedError(
            f"\"log_softmax_lastdim_kernel_impl\" not implemented for '{type_name(x)}'"
        )
    if x.ndim == 0:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    axis = 0 if x.ndim == 1 else 1
    logs = log_softmax(input, axis)
    if y.shape == x.shape and y.dtype.kind == "f":
        share = (
            target
            if not label_smoothing
            else (target * (1 - label_smoothing) + label_smoothing / x.shape[axis])
        )
        heavy = logs * share
        if weight is not None:
            heavy = heavy * METHODS["reshape"](weight, [-1] + [1] * (x.ndim - 1 - axis))
        losses = -METHODS["sum"](heavy, axis)
        if reduction == "mean" and x.ndim > 1:
            return METHODS["sum"](losses) / (x.size // x.shape[axis])
        return _reduced(losses, reduction)
    if x.ndim == 1 and y.ndim == 1 and y.dtype.kind in "iu":
        raise ValueError(
            f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({y.shape[0]})."
        )
    loss = nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    if not label_smoothing:
        return loss
    used = wrap((y != ignore_index).astype(x.dtype))
    smooth = -METHODS["sum"](logs, axis) * used
    n = x.shape[axis]
    if reduction == "mean":
        smooth = METHODS["sum"](smooth) / METHODS["sum"](used)
    else:
        smooth = _reduced(smooth, reduction)
    return loss * (1 - label_smoothing) + smooth * (label_smoothing / n)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    return _reduced(METHODS["square"](input - target), reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return _reduced(METHODS["abs"](input - target), reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    far = METHODS["abs"](input - target)
    near = METHODS["square"](far) * (0.5 / beta)
    return _reduced(FUNCTIONS["where"](far < beta, near, far - 0.5 * beta), reduction)


def huber_loss(input, target, reduction="mean", delta=1.0):
    return smooth_l1_loss(input, target, reduction=reduction, beta=delta) * delta


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    if log_target:
        losses = METHODS["exp"](target) * (target - input)
    else:
        losses = METHODS["xlogy"](target, target) - target * input
    if reduction == "batchmean":
        return METHODS["sum"](losses) / input._a.shape[0]
    return _reduced(losses, reduction)


def binary_cross_entropy(
    input,
    target,
    weight=None,
    size_average=None,
    reduce=None,
    reduction="mean",
):
    if input._a.shape != target._a.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
    yes = METHODS["clamp"](METHODS["log"](input), min=-100)
    no = METHODS["clamp"](METHODS["log"](1 - input), min=-100)
    losses = -(target * yes + (1 - target) * no)
    return _reduced(losses if weight is None else losses * weight, reduction)


def binary_cross_entropy_with_logits(
    input,
    target,
    weight=None,
    size_average=None,
    reduce=None,
    reduction="mean",
    pos_weight=None,
):
    if input._a.shape != target._a.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    yes, no = logsigmoid(input), logsigmoid(-input)
    heavy = target if pos_weight is None else target * pos_weight
    losses = -(heavy * yes + (1 - target) * no)
    return _reduced(losses if weight is None else losses * weight, reduction)


# Shapes


_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(input, pad, mode="constant", value=None):
    _needs_tensor(input, "pad")
    x = input._a
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) // 2 > x.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {x.ndim}"
        )
    ends = [(0, 0)] * x.ndim
    for i in range(len(pad) // 2):
        ends[x.ndim - 1 - i] = (int(pad[2 * i]), int(pad[2 * i + 1]))
    if mode != "constant":
        places = np.pad(np.arange(x.size).reshape(x.shape), ends, mode=_MODES[mode])
        return METHODS["take"](input, wrap(places.astype(np.int64)))
    cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(ends, x.shape, strict=True))
    grown = [(max(a, 0), max(b, 0)) for a, b in ends]
    for axis, ((a, b), n) in enumerate(zip(ends, x.shape, strict=True)):
        if n + a + b < 0:
            raise RuntimeError(
                f"The input size {n}, plus negative padding {a} and {b} resulted in a negative "
                f"output size, which is invalid. Check dimension {axis} of your input."
            )
    fill = 0 if value is None else value
    y = np.pad(x[cut], grown, constant_values=np.asarray(fill).astype(x.dtype))
    inner = tuple(slice(a, n - b) for (a, b), n in zip(grown, y.shape, strict=True))

    def back(g):
        made = np.zeros(x.shape, g.dtype)
        made[cut] = g[inner]
        return (made,)

    return record(wrap(y), back, input, name="ConstantPadNd")


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    raise NotImplementedError("the torch of this page has no F.unfold; `make lab` has it")


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    stride, padding, dilation = (
        one[0] if isinstance(one, list | tuple) else one for one in (stride, padding, dilation)
    )
    if groups != 1:
        parts = zip(
            METHODS["chunk"](input, groups, -2), METHODS["chunk"](weight, groups, 0), strict=True
        )
        made = [conv1d(x, w, None, stride, padding, dilation) for x, w in parts]
        y = FUNCTIONS["cat"](made, -2)
    else:
        size = weight._a.shape[-1]
        x = pad(input, (padding, padding)) if padding else input
        last = x._a.shape[-1] - dilation * (size - 1)
        taps = [x[..., i * dilation : i * dilation + last : stride] for i in range(size)]
        windows = FUNCTIONS["stack"](taps, -1)  # (..., C, T, K)
        y = FUNCTIONS["einsum"]("...ctk,ock->...ot", windows, weight)
    return y if bias is None else y + METHODS["reshape"](bias, -1, 1)


def _pool1d(choose):
    def call(input, kernel_size, stride=None, padding=0, **_):
        held = pad(input, (padding, padding)) if padding else input
        windows = METHODS["unfold"](held, -1, kernel_size, stride or kernel_size)
        return choose(windows)

    return call


avg_pool1d = _pool1d(lambda windows: METHODS["mean"](windows, -1))
max_pool1d = _pool1d(lambda windows: METHODS["amax"](windows, -1))


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return norm(x1 - x2 + eps, p, -1, keepdim)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    drawn = FUNCTIONS["rand_like"](logits)
    noise = -METHODS["log"](-METHODS["log"](drawn + eps) + eps)
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = METHODS["argmax"](soft, axis_of(dim, soft._a.ndim), True)
    sharp = METHODS["scatter"](wrap(np.zeros_like(soft._a)), dim, index, 1.0)
    return sharp - soft.detach() + soft
