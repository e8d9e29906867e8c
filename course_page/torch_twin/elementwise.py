"""Operations on each number by itself, and their derivatives."""

from __future__ import annotations

import math

import numpy as np

from . import dtypes
from .autograd import fit, is_grad_enabled, record
from .registry import FUNCTIONS, METHODS, _checked, both, in_place
from .tensor import Tensor, type_name, wrap

_NUMBERS = (bool, int, float, complex)


def floated(array):
    """Whole numbers as numbers with a point, as functions such as `exp` take them."""
    return array if array.dtype.kind in "fc" else array.astype(dtypes.default().np)


# Functions whose derivative follows from their result, and those whose derivative is a constant.
_FROM_RESULT = {"exp", "exp2", "expm1", "sqrt", "rsqrt", "reciprocal", "tan", "tanh", "sigmoid"}
_FROM_RESULT |= {"relu"}
_FROM_NOTHING = {"sign", "floor", "ceil", "trunc", "frac", "conj", "positive", "deg2rad", "rad2deg"}


def _unary(name, forward, derivative=None, *, exact=False, names=()):
    """Register a function of one tensor.

    `derivative` takes input and output; `exact` keeps whole numbers whole.
    """

    def call(input):
        x = input._a if exact else floated(input._a)
        y = forward(x)
        if type(y) is not np.ndarray:
            y = np.asarray(y)
        if derivative is None:
            return wrap(y)
        made = wrap(y)
        needs = (made,) if name in _FROM_RESULT else () if name in _FROM_NOTHING else (input,)
        back = lambda g: (g * derivative(x, y),)  # noqa: E731
        return record(made, back, input, name=name.title(), saves=needs)

    call.__name__ = name
    both(name, also=names)(call)
    return call


_erf = np.frompyfunc(math.erf, 1, 1)
_lgamma = np.frompyfunc(math.lgamma, 1, 1)


def erf_of(x):
    """The error function; NumPy has none."""
    return np.asarray(_erf(x.astype(np.float64)), dtype=x.dtype)


def erfinv_of(p):
    """The inverse of the error function: an approximation (Giles, 2010), then two Newton steps."""
    p = np.asarray(p, dtype=np.float64)
    w = -np.log((1 - p) * (1 + p))
    near = w < 5
    a = np.where(near, w - 2.5, np.sqrt(w) - 3)
    inner = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087)
    inner += (-0.00125372503, -0.00417768164, 0.246640727, 1.50140941)
    outer = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773)
    outer += (-0.0076224613, 0.00943887047, 1.00167406, 2.83297682)
    x = np.where(near, np.polyval(inner, a), np.polyval(outer, a)) * p
    for _ in range(2):
        slope = 2 / math.sqrt(math.pi) * np.exp(-x * x)
        step = np.where(slope > 0, (erf_of(x) - p) / np.where(slope > 0, slope, 1), 0)
        x = np.where(np.isfinite(x), x - np.where(np.isfinite(step), step, 0), x)
    return x


def _sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e)).astype(x.dtype, copy=False)


def _softplus(x):
    return np.logaddexp(x, x.dtype.type(0))


_ROOT = 1 / math.sqrt(2)

_unary("exp", np.exp, lambda _, y: y)
_unary("exp2", np.exp2, lambda _, y: y * math.log(2))
_unary("expm1", np.expm1, lambda _, y: y + 1)
_unary("log", np.log, lambda x, _: 1 / x)
_unary("log2", np.log2, lambda x, _: 1 / (x * math.log(2)))
_unary("log10", np.log10, lambda x, _: 1 / (x * math.log(10)))
_unary("log1p", np.log1p, lambda x, _: 1 / (1 + x))
_unary("sqrt", np.sqrt, lambda _, y: 1 / (2 * y))
_unary("rsqrt", lambda x: 1 / np.sqrt(x), lambda x, y: -y / (2 * x))
_unary("reciprocal", lambda x: 1 / x, lambda _, y: -y * y)
_unary("sin", np.sin, lambda x, _: np.cos(x))
_unary("cos", np.cos, lambda x, _: -np.sin(x))
_unary("tan", np.tan, lambda _, y: 1 + y * y)
_unary("asin", np.arcsin, lambda x, _: 1 / np.sqrt(1 - x * x), names=("arcsin",))
_unary("acos", np.arccos, lambda x, _: -1 / np.sqrt(1 - x * x), names=("arccos",))
_unary("atan", np.arctan, lambda x, _: 1 / (1 + x * x), names=("arctan",))
_unary("sinh", np.sinh, lambda x, _: np.cosh(x))
_unary("cosh", np.cosh, lambda x, _: np.sinh(x))
_unary("tanh", np.tanh, lambda _, y: 1 - y * y)
_unary("asinh", np.arcsinh, lambda x, _: 1 / np.sqrt(x * x + 1), names=("arcsinh",))
_unary("acosh", np.arccosh, lambda x, _: 1 / np.sqrt(x * x - 1), names=("arccosh",))
_unary("atanh", np.arctanh, lambda x, _: 1 / (1 - x * x), names=("arctanh",))
_unary("sigmoid", _sigmoid, lambda _, y: y * (1 - y), names=("expit",))
_unary("erf", erf_of, lambda x, _: 2 / math.sqrt(math.pi) * np.exp(-x * x))
_unary("erfc", lambda x: 1 - erf_of(x), lambda x, _: -2 / math.sqrt(math.pi) * np.exp(-x * x))
_unary("erfinv", lambda x: erfinv_of(x).astype(x.dtype))
_unary("lgamma", lambda x: np.asarray(_lgamma(x.astype(np.float64)), dtype=x.dtype))
_unary("deg2rad", np.deg2rad, lambda x, _: math.pi / 180)
_unary("rad2deg", np.rad2deg, lambda x, _: 180 / math.pi)
_unary("sinc", np.sinc)
_unary(
    "logit",
    lambda x: np.log(x / (1 - x)),
    lambda x, _: 1 / (x * (1 - x)),
)
_unary("square", np.square, lambda x, _: 2 * x, exact=True)
_unary("abs", np.abs, lambda x, _: np.sign(x), exact=True, names=("absolute",))
_unary("sign", np.sign, lambda x, _: np.zeros_like(x), exact=True)
_unary("sgn", np.sign, exact=True)
_unary("relu", lambda x: np.maximum(x, x.dtype.type(0)), lambda x, _: x > 0, exact=True)
_unary("floor", np.floor, lambda x, _: np.zeros_like(x), exact=True)
_unary("ceil", np.ceil, lambda x, _: np.zeros_like(x), exact=True)
_unary("trunc", np.trunc, lambda x, _: np.zeros_like(x), exact=True, names=("fix",))
_unary("frac", lambda x: x - np.trunc(x), lambda x, _: np.ones_like(x))
_unary("isnan", np.isnan, exact=True)
_unary("isinf", np.isinf, exact=True)
_unary("isfinite", np.isfinite, exact=True)
_unary("isneginf", lambda x: np.isinf(x) & (x < 0), exact=True)
_unary("isposinf", lambda x: np.isinf(x) & (x > 0), exact=True)
_unary("isreal", np.isreal, exact=True)
_unary("signbit", np.signbit, exact=True)
_unary("logical_not", np.logical_not, exact=True)
_unary("conj", np.conj, lambda x, _: np.ones_like(x), exact=True)
_unary("angle", np.angle)
_unary("positive", lambda x: x, lambda x, _: np.ones_like(x), exact=True)


@both("neg", "negative")
def _neg(input):
    if input._a.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return record(wrap(-input._a), lambda g: (-g,), input, name="Neg")


@both("round")
def _round(input, *, decimals=0):
    x = input._a
    y = np.round(x, decimals) if x.dtype.kind in "fc" else x.copy()
    return record(wrap(y), lambda g: (np.zeros_like(g),), input)


@both("bitwise_not")
def bitwise_not(input):
    _whole(input._a, "bitwise_not")
    return wrap(~input._a)


def _whole(array, name):
    if array.dtype.kind not in "iub":
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{type_name(array)}'")


# Two tensors, or a tensor and a number


def operands(one, other):
    """The arrays of two operands, of the type in which PyTorch computes with them."""
    a = one._a if isinstance(one, Tensor) else one
    b = other._a if isinstance(other, Tensor) else other
    if type(a) is np.ndarray and type(b) is np.ndarray:
        if a.dtype != b.dtype:
            kind = dtypes.result((a, b))
            a, b = a.astype(kind, copy=False), b.astype(kind, copy=False)
        return a, b
    if type(a) is np.ndarray:
        return _with_number(a, b)
    if type(b) is np.ndarray:
        return _with_number(b, a)[::-1]
    a = np.asarray(a)
    return _with_number(a.astype(dtypes.default().np) if a.dtype.kind == "f" else a, b)


def _with_number(array, number):
    """An array and a number, which counts only by its kind: bool, whole, with a point."""
    if isinstance(number, np.generic):
        number = number.item()
    kind = array.dtype.kind
    if isinstance(number, bool):
        kind_of_number = np.dtype(bool)
    elif isinstance(number, int):
        kind_of_number = np.dtype(np.int64)
    elif isinstance(number, float):
        kind_of_number = dtypes.default().np
    else:
        kind_of_number = np.dtype(np.complex64)
    order = "biufc"
    if order.index(kind_of_number.kind) > order.index("i" if kind == "u" else kind):
        if kind == "f" and array.dtype.itemsize == 8:
            kind_of_number = np.dtype(np.complex128)
        array = array.astype(kind_of_number)
    return array, np.asarray(number).astype(array.dtype)


def mismatch(a, b):
    """PyTorch's error for shapes that don't broadcast."""
    for i in range(1, min(a.ndim, b.ndim) + 1):
        m, n = a.shape[-i], b.shape[-i]
        if m != n and 1 not in (m, n):
            return RuntimeError(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at "
                f"non-singleton dimension {max(a.ndim, b.ndim) - i}"
            )
    return RuntimeError(f"shapes {list(a.shape)} and {list(b.shape)} do not broadcast")


def _is_operand(other):
    return isinstance(other, Tensor | bool | int | float | complex | np.generic)


def _shape(thing):
    return thing._a.shape if isinstance(thing, Tensor) else ()


# The way back through these needs none of their numbers.
_LINEAR = {"add", "sub"}


def _binary(name, forward, back=None, *, kind=None, prepare=None, names=()):
    """Register a function of two operands.

    `back` takes the gradient, both inputs and the output, and returns both gradients before they
    are summed to the inputs' shapes; `kind` is "float" where whole numbers become fractions.
    """

    def call(input, other):
        if not _is_operand(other):
            raise TypeError(
                f"{name}(): argument 'other' (position 1) must be Tensor, "
                f"not {type(other).__name__}"
            )
        a, b = operands(input, other)
        if kind == "float" and a.dtype.kind not in "fc":
            a, b = floated(a), floated(b)
        if prepare is not None:
            prepare(a, b, other)
        try:
            y = forward(a, b)
        except ValueError:
            raise mismatch(a, b) from None
        if type(y) is not np.ndarray:
            y = np.asarray(y)
        made = wrap(y)
        if back is None:
            return made
        tensors = [one for one in (input, other) if isinstance(one, Tensor)]
        if len(tensors) == 2:

            def both_ways(g):
                ga, gb = back(g, a, b, y)
                return fit(ga, _shape(input)), fit(gb, _shape(other))

            needs = ()
            if name not in _LINEAR and is_grad_enabled():
                needs = tuple(
                    one
                    for one, another in ((input, other), (other, input))
                    if name not in ("mul", "div") or another.requires_grad
                )
                if name == "div" and not other.requires_grad:
                    needs = (other,)
            return record(made, both_ways, input, other, name=name.title(), saves=needs)
        place = 0 if isinstance(input, Tensor) else 1

        def one_way(g):
            return (fit(back(g, a, b, y)[place], _shape(tensors[0])),)

        # A number times a tensor, or over a number: the way back needs the number alone.
        alone = name in _LINEAR or name == "mul" or (name == "div" and place == 0)
        needs = () if alone else tuple(tensors)
        return record(made, one_way, *tensors, name=name.title(), saves=needs)

    call.__name__ = name
    for each in (name, *names):
        FUNCTIONS[each] = call
        METHODS[each] = call
    return call


def _no_bool_subtract(a, _b, other):
    if a.dtype.kind == "b":
        which = "two bool tensors" if isinstance(other, Tensor) else "a bool tensor"
        raise RuntimeError(
            f"Subtraction, the `-` operator, with {which} is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )


def _no_negative_power(a, b, _other):
    if a.dtype.kind in "iu" and (b < 0).any():
        raise RuntimeError("Integers to negative integer powers are not allowed.")


def _power_back(g, a, b, y):
    with_a = g * np.where(b == 0, 0, b * np.power(a, b - 1))
    return with_a.astype(a.dtype, copy=False), g * np.where(a > 0, y * np.log(np.abs(a)), 0)


_add = _binary("add", np.add, lambda g, a, b, y: (g, g))
_sub = _binary("sub", np.subtract, lambda g, a, b, y: (g, -g), prepare=_no_bool_subtract)
mul = _binary("mul", np.multiply, lambda g, a, b, y: (g * b, g * a), names=("multiply",))
_div = _binary("div", np.divide, lambda g, a, b, y: (g / b, -g * y / b), kind="float")
_pow = _binary("pow", np.power, _power_back, prepare=_no_negative_power)
_floor_divide = _binary("floor_divide", np.floor_divide)
_binary("remainder", np.remainder, lambda g, a, b, y: (g, -g * np.floor(a / b)))
_binary("fmod", np.fmod, lambda g, a, b, y: (g, -g * np.trunc(a / b)))


def _larger_back(g, a, b, y):
    half = np.where(a == b, 0.5, 1).astype(g.dtype)
    return g * (a == y) * half, g * (b == y) * half


_binary("maximum", np.maximum, _larger_back)
_binary("minimum", np.minimum, _larger_back)
_binary("fmax", np.fmax, _larger_back)
_binary("fmin", np.fmin, _larger_back)
_binary(
    "atan2",
    np.arctan2,
    lambda g, a, b, y: (g * b / (a * a + b * b), -g * a / (a * a + b * b)),
    kind="float",
    names=("arctan2",),
)
_binary("hypot", np.hypot, lambda g, a, b, y: (g * a / y, g * b / y), kind="float")
_binary(
    "logaddexp",
    np.logaddexp,
    lambda g, a, b, y: (g * np.exp(a - y), g * np.exp(b - y)),
    kind="float",
)
_binary("logaddexp2", np.logaddexp2, kind="float")
_binary("copysign", np.copysign, kind="float")
_binary(
    "xlogy",
    lambda a, b: np.where((a == 0) & ~np.isnan(b), a.dtype.type(0), a * np.log(b)),
    lambda g, a, b, y: (g * np.where(a == 0, 0, np.log(b)), g * a / b),
    kind="float",
)
_binary("gcd", np.gcd)
_binary("lcm", np.lcm)
_binary("heaviside", np.heaviside)
_binary("eq", np.equal)
_binary("ne", np.not_equal, names=("not_equal",))
_binary("lt", np.less, names=("less",))
_binary("le", np.less_equal, names=("less_equal",))
_binary("gt", np.greater, names=("greater",))
_binary("ge", np.greater_equal, names=("greater_equal",))
_binary("logical_and", np.logical_and)
_binary("logical_or", np.logical_or)
_binary("logical_xor", np.logical_xor)
for _name, _ufunc in (
    ("bitwise_and", np.bitwise_and),
    ("bitwise_or", np.bitwise_or),
    ("bitwise_xor", np.bitwise_xor),
    ("bitwise_left_shift", np.left_shift),
    ("bitwise_right_shift", np.right_shift),
):
    _binary(_name, _ufunc, prepare=lambda a, b, _o, name=_name: _whole(a, name))


@both("add")
def add(input, other, *, alpha=1):
    return _add(input, other if alpha == 1 else mul(other, alpha))


@both("sub", "subtract")
def sub(input, other, *, alpha=1):
    return _sub(input, other if alpha == 1 else mul(other, alpha))


@both("div", "divide", "true_divide")
def div(input, other, *, rounding_mode=None):
    if rounding_mode == "floor":
        return _floor_divide(input, other)
    result = _div(input, other)
    if rounding_mode == "trunc":
        whole = [o for o in (input, other) if not isinstance(o, float)]
        rounded = FUNCTIONS["trunc"](result)
        if all(not isinstance(o, Tensor) or o._a.dtype.kind in "iub" for o in whole):
            return wrap(rounded._a.astype(np.int64))
        return rounded
    return result


METHODS["pow"] = METHODS["float_power"] = _pow
FUNCTIONS["pow"] = lambda input, exponent=None, **named: _pow(input, exponent, **named)
for _name in ("mul", "add", "sub", "div"):
    FUNCTIONS[_name] = _checked(FUNCTIONS[_name], _name)


@both("lerp")
def lerp(input, end, weight):
    return add(input, mul(sub(end, input), weight))


@both("addcmul")
def addcmul(input, tensor1, tensor2, *, value=1):
    return add(input, mul(mul(tensor1, tensor2), value))


@both("addcdiv")
def addcdiv(input, tensor1, tensor2, *, value=1):
    return add(input, mul(div(tensor1, tensor2), value))


@both("clamp", "clip")
def clamp(input, min=None, max=None):
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    result = input
    if min is not None:
        result = _clamped(result, min, np.maximum)
    if max is not None:
        result = _clamped(result, max, np.minimum)
    return result


def _clamped(tensor, bound, choose):
    a, b = operands(tensor, bound)
    try:
        y = choose(a, b)
    except ValueError:
        raise mismatch(a, b) from None
    inside = y == a

    def back(g):
        mine = fit(g * inside, tensor._a.shape)
        return (mine, fit(g * ~inside, bound._a.shape)) if isinstance(bound, Tensor) else (mine,)

    inputs = (tensor, bound) if isinstance(bound, Tensor) else (tensor,)
    return record(wrap(np.asarray(y)), back, *inputs)


@both("clamp_min")
def clamp_min(input, min):
    return clamp(input, min=min)


@both("clamp_max")
def clamp_max(input, max):
    return clamp(input, max=max)


@both("nan_to_num")
def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    x = input._a
    y = np.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)
    return record(wrap(np.asarray(y)), lambda g: (g * np.isfinite(x),), input)


@both("isclose")
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    if input._a.dtype != other._a.dtype:
        raise RuntimeError(f"{type_name(input._a)} did not match {type_name(other._a)}")
    return wrap(np.isclose(input._a, other._a, rtol=rtol, atol=atol, equal_nan=equal_nan))


@both("allclose")
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(isclose(input, other, rtol, atol, equal_nan)._a.all())


@both("equal")
def equal(input, other):
    if not isinstance(other, Tensor):
        raise TypeError(
            f"equal(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}"
        )
    return input._a.shape == other._a.shape and bool((input._a == other._a).all())


@both("real")
def _real(input):
    return input if input._a.dtype.kind != "c" else wrap(input._a.real)


def entr(input):
    x = floated(input._a)
    y = np.where(x > 0, -x * np.log(np.where(x > 0, x, 1)), np.where(x == 0, 0, -np.inf))
    y = np.where(np.isnan(x), x, y).astype(x.dtype)
    return record(wrap(y), lambda g: (g * (-np.log(x) - 1),), input)


in_place(
    *("exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tanh", "sigmoid", "abs", "neg"),
    *("relu", "floor", "ceil", "round", "trunc", "add", "sub", "mul", "div", "pow", "clamp"),
    *("clamp_min", "clamp_max", "clip", "square", "lerp", "addcmul", "addcdiv", "remainder"),
    *("nan_to_num", "logical_not", "eq", "ne", "lt", "le", "gt", "ge", "erf", "erfinv", "log1p"),
    *("floor_divide", "fmod", "bitwise_and", "bitwise_or", "logical_and", "logical_or"),
    *("subtract", "multiply", "divide", "sign", "exp2", "log2", "expm1", "negative"),
)


# Operators


def _operator(name, *, reflected=False):
    function = METHODS[name]

    def forward(self, other):
        return function(self, other) if _is_operand(other) else NotImplemented

    def backward(self, other):
        return function(other, self) if _is_operand(other) else NotImplemented

    return backward if reflected else forward


for _sign, _name in (
    ("add", "add"),
    ("sub", "sub"),
    ("mul", "mul"),
    ("truediv", "div"),
    ("floordiv", "floor_divide"),
    ("mod", "remainder"),
    ("pow", "pow"),
    ("and", "bitwise_and"),
    ("or", "bitwise_or"),
    ("xor", "bitwise_xor"),
    ("lshift", "bitwise_left_shift"),
    ("rshift", "bitwise_right_shift"),
):
    setattr(Tensor, f"__{_sign}__", _operator(_name))
    setattr(Tensor, f"__r{_sign}__", _operator(_name, reflected=True))
for _sign, _name in (
    ("iadd", "add_"),
    ("isub", "sub_"),
    ("imul", "mul_"),
    ("itruediv", "div_"),
    ("ifloordiv", "floor_divide_"),
    ("imod", "remainder_"),
    ("ipow", "pow_"),
    ("iand", "bitwise_and_"),
    ("ior", "bitwise_or_"),
):
    setattr(Tensor, f"__{_sign}__", _operator(_name))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Tensor, f"__{_name}__", _operator(_name))


def _comparison(name):
    function = METHODS[name]

    def compare(self, other):
        if isinstance(other, np.ndarray):
            other = wrap(other)
        return function(self, other) if _is_operand(other) else NotImplemented

    return compare


Tensor.__eq__, Tensor.__ne__ = _comparison("eq"), _comparison("ne")
Tensor.__neg__ = lambda self: _neg(self)
Tensor.__pos__ = lambda self: self
Tensor.__abs__ = lambda self: METHODS["abs"](self)


def _inverted(self):
    if self._a.dtype.kind not in "iub":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return bitwise_not(self)


Tensor.__invert__ = _inverted
