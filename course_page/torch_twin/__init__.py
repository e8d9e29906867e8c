"""A module that answers to the name `torch` in a page: tensors with gradients, made of NumPy.

PyTorch itself does not run in a browser. This is as much of it as the course, its judges and its
readers' answers use, and it is imported under that name only in a page; `course_page.archive`
decides that in one place. It is our own, and not the package `pyborch`, which comes nearest:

- pyborch has neither float64 nor small integers and refuses them on purpose, since WebGPU has none.
  The judges compare in float64, and chapter 12 stores int8.
- Its `x[...] = y` and its changes in place have no gradients, and it has no hooks, no `torch.func`,
  and advanced indexing as NumPy has it. To change that means to change its heart, with every
  version again.
- Where a page's Python has indices of 32 bits it fails, because NumPy's functions return what it
  passes on. Here every index that leaves a function is int64.
- It has 0.37 MB and takes three times as long to import in a page; this has 0.08 MB.

What is not here says so: a missing function is an AttributeError that names `make lab`. What is
here has PyTorch's values, types and words of errors; `tests/page` compares every verdict.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from . import (
    absent,
    autograd,
    creation,
    distributions,
    dtypes,
    elementwise,
    func,
    generators,
    indexing,
    nn,
    optim,
    products,
    reductions,
    shaping,
    testing,
)
from .absent import (
    autocast,
    backends,
    compile,
    cuda,
    get_num_threads,
    load,
    mps,
    random,
    save,
    set_num_threads,
    version,
)
from .autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from .dtypes import Size, device, dtype, finfo, iinfo
from .func import vmap
from .generators import Generator, default_generator
from .registry import FUNCTIONS, METHODS
from .tensor import Tensor

# The course's own warnings come from what a student's code does. NumPy would warn of every division
# by 0 and every −∞, which PyTorch computes with in silence.
np.seterr(all="ignore")

for _name, _method in METHODS.items():
    if _name not in Tensor.__dict__:
        setattr(Tensor, _name, _method)

__version__ = "2.9.0+page"

_own = sys.modules[__name__].__dict__
_own.update({name: made for name, made in FUNCTIONS.items() if name not in ("bool", "compile")})
_own.update(dtypes.ALIASES)

inf, nan, pi, e = math.inf, math.nan, math.pi, math.e
newaxis = None
strided = "torch.strided"
contiguous_format = preserve_format = channels_last = "torch.contiguous_format"


def _submodule(name, held):
    made = type(sys)(f"{__name__}.{name}")
    made.__dict__.update(held)
    sys.modules[f"{__name__}.{name}"] = made
    return made


linalg = _submodule("linalg", products.LINALG)
special = _submodule(
    "special",
    {
        name: FUNCTIONS[name]
        for name in (
            *("xlogy", "erf", "erfc", "erfinv", "expit", "exp2", "expm1", "log1p", "logit"),
            *("softmax", "log_softmax", "logsumexp", "sinc", "round"),
        )
    }
    | {"entr": elementwise.entr, "gammaln": FUNCTIONS["lgamma"]},
)
for _name in ("cuda", "mps", "backends", "random", "version"):
    sys.modules[f"{__name__}.{_name}"] = _own[_name]
sys.modules[f"{__name__}.backends.mps"] = backends.mps
utils = _submodule("utils", {})

# What PyTorch has both as functions of `torch` and of `torch.nn.functional`.
for _name in (
    *("dropout", "embedding", "layer_norm", "group_norm", "batch_norm", "rms_norm", "celu"),
    *("selu", "prelu", "threshold", "pairwise_distance", "conv1d"),
):
    _own[_name] = getattr(nn.functional, _name)


def is_tensor(obj):
    return isinstance(obj, Tensor)


def is_floating_point(input):
    return input.is_floating_point()


def is_complex(input):
    return input.is_complex()


def numel(input):
    return input.numel()


def is_nonzero(input):
    return bool(input)


def get_default_dtype():
    return dtypes.default()


def set_default_dtype(d):
    dtypes.set_default(d)


def get_default_device():
    return dtypes.CPU


def set_default_device(place):
    dtypes.only_cpu(place)


def set_printoptions(**_):
    """Accept: how tensors are written does not change here."""


def use_deterministic_algorithms(*_, **__):
    """Accept: they are."""


def set_float32_matmul_precision(*_):
    """Accept: products are of float32."""


def promote_types(type1, type2):
    return dtypes.OF_NUMPY[dtypes.wider(type1.np, type2.np)]


def result_type(tensor1, tensor2):
    return dtypes.of(elementwise.operands(tensor1, tensor2)[0])


def can_cast(from_, to):
    return np.can_cast(from_.np, to.np, "same_kind")


def _foreach(name, in_place):
    function = METHODS[f"{name}_" if in_place else name]

    def call(tensors, others, *more, alpha=1, **named):
        others = others if isinstance(others, list | tuple) else [others] * len(tensors)
        if alpha != 1:
            named["alpha"] = alpha
        return [function(a, b, *more, **named) for a, b in zip(tensors, others, strict=True)]

    return call


for _name in ("add", "sub", "mul", "div", "lerp"):
    _own[f"_foreach_{_name}"] = _foreach(_name, False)
    _own[f"_foreach_{_name}_"] = _foreach(_name, True)


def _typed_tensor(kind):
    return lambda *data: (
        creation.tensor(*data, dtype=kind) if data else creation.zeros(0, dtype=kind)
    )


FloatTensor = _typed_tensor(dtypes.float32)
DoubleTensor = _typed_tensor(dtypes.float64)
LongTensor = _typed_tensor(dtypes.int64)
IntTensor = _typed_tensor(dtypes.int32)
BoolTensor = _typed_tensor(dtypes.bool_)
ByteTensor = _typed_tensor(dtypes.uint8)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch' has no attribute {name!r}")
    raise AttributeError(
        f"module 'torch' has no attribute {name!r} in a page, which knows a part of PyTorch; "
        "`make lab` has all of it"
    )
