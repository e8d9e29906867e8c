"""The layers that the course and its readers build models of."""

from __future__ import annotations

import math

import numpy as np

from .. import dtypes
from ..autograd import no_grad
from ..registry import FUNCTIONS, METHODS
from ..tensor import Parameter, wrap
from . import functional, init
from .modules import Module


def _empty(*shape, dtype=None, device=None):
    dtypes.only_cpu(device)
    kind = dtypes.default().np if dtype is None else dtypes.numpy_of(dtype)
    return Parameter(wrap(np.zeros(shape, kind)))


class Identity(Module):
    """Returns what it is given."""

    def __init__(self, *_, **__):
        super().__init__()

    def forward(self, input):
        return input


class Linear(Module):
    """x Wᵀ + b."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = _empty(out_features, in_features, dtype=dtype, device=device)
        if bias:
            self.bias = _empty(out_features, dtype=dtype, device=device)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class UninitializedParameter(Parameter):
    """A parameter whose shape is not known yet."""

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )


class LazyLinear(Linear):
    """A linear layer that takes its number of inputs from its first input."""

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, False)
        self.out_features = out_features
        self.weight = UninitializedParameter()
        if bias:
            self.bias = UninitializedParameter()

    def reset_parameters(self):
        if self.in_features:
            super().reset_parameters()

    def forward(self, input):
        if not self.in_features:
            self.in_features = input._a.shape[-1]
            self.weight = _empty(self.out_features, self.in_features)
            if self.bias is not None:
                self.bias = _empty(self.out_features)
            self.reset_parameters()
        return super().forward(input)


class Bilinear(Module):
    """x₁ᵀ W x₂ + b."""

    def __init__(self, in1_features, in2_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in1_features)
        self.weight = init.uniform_(_empty(out_features, in1_features, in2_features), -bound, bound)
        self.bias = init.uniform_(_empty(out_features), -bound, bound) if bias else None

    def forward(self, input1, input2):
        return functional.bilinear(input1, input2, self.weight, self.bias)


class Embedding(Module):
    """A table with a row for each symbol."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, _weight=None, **named):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = padding_idx
        if padding_idx is not None and padding_idx < 0:
            self.padding_idx = num_embeddings + padding_idx
        if _weight is None:
            self.weight = _empty(num_embeddings, embedding_dim, dtype=named.get("dtype"))
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight)

    def reset_parameters(self):
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx] = 0

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, **_):
        rows, columns = embeddings._a.shape
        made = cls(rows, columns, padding_idx, _weight=embeddings)
        made.weight.requires_grad = not freeze
        return made

    def forward(self, input):
        return functional.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self):
        return f"{self.num_embeddings}, {self.embedding_dim}"


class _Norm(Module):
    def __init__(self, shape, eps, affine, bias=True, dtype=None):
        super().__init__()
        self.eps, self.elementwise_affine = eps, affine
        self.weight = init.ones_(_empty(*shape, dtype=dtype)) if affine else None
        if not affine:
            self.register_parameter("weight", None)
        if affine and bias:
            self.bias = init.zeros_(_empty(*shape, dtype=dtype))
        else:
            self.register_parameter("bias", None)

    def reset_parameters(self):
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Norm):
    """Mean 0 and variance 1 over the last axes, then a scale and a shift."""

    def __init__(
        self,
        normalized_shape,
        eps=1e-5,
        elementwise_affine=True,
        bias=True,
        device=None,
        dtype=None,
    ):
        shape = normalized_shape
        self_shape = (shape,) if isinstance(shape, int) else tuple(shape)
        super().__init__(self_shape, eps, elementwise_affine, bias, dtype)
        self.normalized_shape = self_shape

    def forward(self, input):
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class RMSNorm(_Norm):
    """A root mean square of 1 over the last axes, then a scale."""

    def __init__(
        self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None
    ):
        shape = normalized_shape
        self_shape = (shape,) if isinstance(shape, int) else tuple(shape)
        super().__init__(self_shape, eps, elementwise_affine, False, dtype)
        self.normalized_shape = self_shape

    def forward(self, input):
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine=True"


class GroupNorm(_Norm):
    """Mean 0 and variance 1 over each group of channels."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None):
        super().__init__((num_channels,), eps, affine, True, dtype)
        self.num_groups, self.num_channels = num_groups, num_channels

    def forward(self, input):
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class BatchNorm1d(_Norm):
    """Mean 0 and variance 1 over the batch."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
    ):
        super().__init__((num_features,), eps, affine, True, dtype)
        self.num_features, self.momentum = num_features, momentum
        self.register_buffer("running_mean", wrap(np.zeros(num_features, np.float32)))
        self.register_buffer("running_var", wrap(np.ones(num_features, np.float32)))
        self.register_buffer("num_batches_tracked", wrap(np.zeros((), np.int64)))

    def forward(self, input):
        if self.training:
            self.num_batches_tracked._a[...] += 1
        return functional.batch_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training,
            self.momentum,
            self.eps,
        )


class _Dropout(Module):
    of = staticmethod(functional.dropout)

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input):
        return self.of(input, self.p, self.training)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Zeros some numbers in training, and scales the others."""


class Dropout1d(_Dropout):
    """Zeros some channels in training, and scales the others."""

    of = staticmethod(functional.dropout1d)


class Dropout2d(Dropout1d):
    """Zeros some channels in training, and scales the others."""


class Flatten(Module):
    """Several axes as one."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return METHODS["flatten"](input, self.start_dim, self.end_dim)


class Unflatten(Module):
    """One axis as several."""

    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input):
        return METHODS["unflatten"](input, self.dim, self.unflattened_size)


class Conv1d(Module):
    """Windows of a sequence, each times the same weights."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
    ):
        super().__init__()
        size = kernel_size[0] if isinstance(kernel_size, tuple) else kernel_size
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.weight = _empty(out_channels, in_channels // groups, size)
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        bound = 1 / math.sqrt(in_channels // groups * size)
        self.bias = init.uniform_(_empty(out_channels), -bound, bound) if bias else None

    def forward(self, input):
        return functional.conv1d(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )


def _activation(name, function, **defaults):
    """A module without parameters of a function with one."""

    class Activation(Module):
        def __init__(self, *args, inplace=False, **named):
            super().__init__()
            given = dict(zip(defaults, args, strict=False))
            self._settings = {**defaults, **given, **named}
            for word, value in self._settings.items():
                setattr(self, word, value)

        def forward(self, input):
            return function(input, **self._settings)

        def extra_repr(self):
            return ", ".join(f"{word}={value!r}" for word, value in self._settings.items())

    Activation.__name__ = Activation.__qualname__ = name
    Activation.__doc__ = f"`{name}` as a module."
    return Activation


ReLU = _activation("ReLU", functional.relu)
ReLU6 = _activation("ReLU6", functional.relu6)
GELU = _activation("GELU", functional.gelu, approximate="none")
SiLU = _activation("SiLU", functional.silu)
Mish = _activation("Mish", functional.mish)
ELU = _activation("ELU", functional.elu, alpha=1.0)
SELU = _activation("SELU", functional.selu)
CELU = _activation("CELU", functional.celu, alpha=1.0)
LeakyReLU = _activation("LeakyReLU", functional.leaky_relu, negative_slope=0.01)
Sigmoid = _activation("Sigmoid", functional.sigmoid)
Tanh = _activation("Tanh", functional.tanh)
Softplus = _activation("Softplus", functional.softplus, beta=1.0, threshold=20.0)
Softsign = _activation("Softsign", functional.softsign)
LogSigmoid = _activation("LogSigmoid", functional.logsigmoid)
Hardtanh = _activation("Hardtanh", functional.hardtanh, min_val=-1.0, max_val=1.0)
Hardsigmoid = _activation("Hardsigmoid", functional.hardsigmoid)
Hardswish = _activation("Hardswish", functional.hardswish)
Tanhshrink = _activation("Tanhshrink", functional.tanhshrink)
Softmax = _activation("Softmax", functional.softmax, dim=None)
LogSoftmax = _activation("LogSoftmax", functional.log_softmax, dim=None)
GLU = _activation("GLU", functional.glu, dim=-1)


def _loss(name, function, **defaults):
    """A module of a function of predictions and targets."""

    class Loss(Module):
        def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean", **named):
            super().__init__()
            self.weight, self.reduction = weight, reduction
            self._settings = {**defaults, **named}
            for word, value in self._settings.items():
                setattr(self, word, value)

        def forward(self, input, target):
            more = {} if self.weight is None else {"weight": self.weight}
            return function(input, target, reduction=self.reduction, **more, **self._settings)

    Loss.__name__ = Loss.__qualname__ = name
    Loss.__doc__ = f"`{name}` as a module."
    return Loss


CrossEntropyLoss = _loss(
    "CrossEntropyLoss", functional.cross_entropy, ignore_index=-100, label_smoothing=0.0
)
NLLLoss = _loss("NLLLoss", functional.nll_loss, ignore_index=-100)
MSELoss = _loss("MSELoss", functional.mse_loss)
L1Loss = _loss("L1Loss", functional.l1_loss)
SmoothL1Loss = _loss("SmoothL1Loss", functional.smooth_l1_loss, beta=1.0)
HuberLoss = _loss("HuberLoss", functional.huber_loss, delta=1.0)
KLDivLoss = _loss("KLDivLoss", functional.kl_div, log_target=False)
BCELoss = _loss("BCELoss", functional.binary_cross_entropy)
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss", functional.binary_cross_entropy_with_logits, pos_weight=None
)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors."""

    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1, x2):
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)


class MultiheadAttention(Module):
    """Attention with several heads, with one matrix for queries, keys and values."""

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, batch_first=False, **_):
        super().__init__()
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim, self.dropout, self.batch_first = embed_dim // num_heads, dropout, batch_first
        self.in_proj_weight = _empty(3 * embed_dim, embed_dim)
        if bias:
            self.in_proj_bias = _empty(3 * embed_dim)
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        init.xavier_uniform_(self.in_proj_weight)
        if bias:
            init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        single = query._a.ndim == 2
        parts = [METHODS["unsqueeze"](one, 0) if single else one for one in (query, key, value)]
        if not self.batch_first and not single:
            parts = [METHODS["transpose"](one, 0, 1) for one in parts]
        weights = METHODS["chunk"](self.in_proj_weight, 3)
        biases = (None,) * 3
        if self.in_proj_bias is not None:
            biases = METHODS["chunk"](self.in_proj_bias, 3)
        heads = []
        for x, w, b in zip(parts, weights, biases, strict=True):
            split = METHODS["unflatten"](functional.linear(x, w, b), -1, (self.num_heads, -1))
            heads.append(METHODS["transpose"](split, 1, 2))
        scores = heads[0] @ METHODS["transpose"](heads[1], -2, -1) / math.sqrt(self.head_dim)
        if attn_mask is not None:
            hidden = attn_mask
            if hidden._a.ndim == 3:
                hidden = METHODS["unflatten"](hidden, 0, (-1, self.num_heads))
            if hidden._a.dtype.kind == "b":
                scores = METHODS["masked_fill"](scores, hidden, -math.inf)
            else:
                scores = scores + hidden
        if key_padding_mask is not None:
            hidden = key_padding_mask[:, None, None, :]
            scores = METHODS["masked_fill"](scores, hidden, -math.inf)
        seen = functional.softmax(scores, -1)
        if self.dropout:
            seen = functional.dropout(seen, self.dropout, self.training)
        joined = METHODS["flatten"](METHODS["transpose"](seen @ heads[2], 1, 2), 2)
        result = self.out_proj(joined)
        if single:
            result, seen = result[0], seen[0]
        elif not self.batch_first:
            result = METHODS["transpose"](result, 0, 1)
        if not need_weights:
            return result, None
        return result, METHODS["mean"](seen, -3) if average_attn_weights else seen


class LSTM(Module):
    """Layers with a hidden and a cell state that are carried from step to step."""

    gates = 4

    def __init__(
        self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, **_
    ):
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, dropout
        bound = 1 / math.sqrt(hidden_size)
        for layer in range(num_layers):
            inputs = input_size if layer == 0 else hidden_size
            rows = self.gates * hidden_size
            shapes = {"weight_ih": (rows, inputs), "weight_hh": (rows, hidden_size)}
            if bias:
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
            for name, shape in shapes.items():
                setattr(self, f"{name}_l{layer}", init.uniform_(_empty(*shape), -bound, bound))

    def _weights(self, layer):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return [getattr(self, f"{name}_l{layer}", None) for name in names]

    def _step(self, gates, hidden_gates, state):
        _, cell = state
        i, f, g, o = METHODS["chunk"](gates + hidden_gates, 4, -1)
        sigmoid, tanh = METHODS["sigmoid"], METHODS["tanh"]
        cell = sigmoid(f) * cell + sigmoid(i) * tanh(g)
        return sigmoid(o) * tanh(cell), cell

    def _start(self, shape, kind):
        return tuple(wrap(np.zeros(shape, kind)) for _ in range(2))

    def forward(self, input, hx=None):
        x = input
        single = x._a.ndim == 2
        if single:
            x = METHODS["unsqueeze"](x, 1)
        elif self.batch_first:
            x = METHODS["transpose"](x, 0, 1)
        shape = (self.num_layers, x._a.shape[1], self.hidden_size)
        state = self._start(shape, x._a.dtype) if hx is None else hx
        state = state if isinstance(state, tuple) else (state,)
        if single and hx is not None:
            state = tuple(METHODS["unsqueeze"](one, 1) for one in state)
        lasts = []
        for layer in range(self.num_layers):
            w_ih, w_hh, b_ih, b_hh = self._weights(layer)
            gates = functional.linear(x, w_ih, b_ih)
            held = tuple(one[layer] for one in state)
            made = []
            for step in gates:
                held = self._step(step, functional.linear(held[0], w_hh, b_hh), held)
                held = held if isinstance(held, tuple) else (held,)
                made.append(held[0])
            x = FUNCTIONS["stack"](made)
            if self.dropout and layer < self.num_layers - 1:
                x = functional.dropout(x, self.dropout, self.training)
            lasts.append(held)
        ends = tuple(FUNCTIONS["stack"]([one[i] for one in lasts]) for i in range(len(lasts[0])))
        if single:
            x, ends = METHODS["squeeze"](x, 1), tuple(METHODS["squeeze"](e, 1) for e in ends)
        elif self.batch_first:
            x = METHODS["transpose"](x, 0, 1)
        return x, ends if len(ends) > 1 else ends[0]


class RNN(LSTM):
    """Layers with a hidden state that is carried from step to step."""

    gates = 1

    def _start(self, shape, kind):
        return (wrap(np.zeros(shape, kind)),)

    def _step(self, gates, hidden_gates, state):
        return (METHODS["tanh"](gates + hidden_gates),)


class GRU(RNN):
    """Layers with a hidden state and two gates."""

    gates = 3

    def _step(self, gates, hidden_gates, state):
        r, z, n = METHODS["chunk"](gates, 3, -1)
        hr, hz, hn = METHODS["chunk"](hidden_gates, 3, -1)
        sigmoid = METHODS["sigmoid"]
        reset, update = sigmoid(r + hr), sigmoid(z + hz)
        new = METHODS["tanh"](n + reset * hn)
        return ((1 - update) * new + update * state[0],)


__all__ = [
    name for name, held in globals().items() if isinstance(held, type) and issubclass(held, Module)
]
