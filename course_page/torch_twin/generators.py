"""Random numbers: the generator that PyTorch has on a processor, and what is drawn from it.

`rand`, `randn`, `randint`, `randperm`, `normal_` and `uniform_` give what PyTorch gives for the
same seed, up to rounding. `multinomial` without replacement, `bernoulli` and `dropout` follow the
same distributions, but draw other numbers.
"""

from __future__ import annotations

import contextlib
import math

import numpy as np

from . import dtypes
from .elementwise import floated
from .registry import both, function, method
from .shaping import sizes
from .tensor import Tensor, wrap

_DEFAULT_SEED = 67280421310721
_KEY_BYTES = 624 * 4


class Generator:
    """A Mersenne Twister with the state of PyTorch's.

    Attributes
    ----------
    waiting : float or None
        Normal numbers are made in pairs; the second one waits here.
    """

    def __init__(self, device="cpu"):
        dtypes.only_cpu(device)
        self.device = dtypes.CPU
        self.manual_seed(_DEFAULT_SEED)

    def manual_seed(self, seed):
        seed = seed.__index__()
        self._seed = seed % 2**64
        state = np.random.RandomState(self._seed % 2**32)
        self._bits = state._bit_generator
        self.waiting = None
        return self

    def seed(self):
        drawn = int(np.random.SeedSequence().generate_state(2, np.uint64)[0])
        self.manual_seed(drawn)
        return drawn

    def initial_seed(self):
        return self._seed

    def get_state(self):
        held = self._bits.state["state"]
        words = np.concatenate(
            [
                np.asarray(held["key"], dtype="<u4").view(np.uint8),
                np.asarray([held["pos"]], dtype="<i8").view(np.uint8),
                np.asarray([self._seed], dtype="<u8").view(np.uint8),
                np.asarray([math.nan if self.waiting is None else self.waiting], dtype="<f8").view(
                    np.uint8
                ),
            ]
        )
        return wrap(words)

    def set_state(self, state):
        if not isinstance(state, Tensor) or state._a.dtype != np.uint8:
            raise TypeError("expected a torch.ByteTensor, but got something else")
        words = np.ascontiguousarray(state._a)
        key = words[:_KEY_BYTES].view("<u4").astype(np.uint32)
        pos = int(words[_KEY_BYTES : _KEY_BYTES + 8].view("<i8")[0])
        self._bits = np.random.MT19937()
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": pos}}
        self._seed = int(words[_KEY_BYTES + 8 : _KEY_BYTES + 16].view("<u8")[0])
        waiting = float(words[_KEY_BYTES + 16 :].view("<f8")[0])
        self.waiting = None if math.isnan(waiting) else waiting
        return self

    def clone_state(self):
        return Generator().set_state(self.get_state())

    def words(self, n):
        """(n,) uint64: so many numbers of 32 bits."""
        return self._bits.random_raw(n)

    def double_words(self, n):
        """(n,) uint64: so many numbers of 64 bits."""
        pairs = self.words(2 * n).reshape(n, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def uniform(self, n, kind):
        """(n,) in [0, 1), of a type of numbers with a point."""
        if kind == np.float64:
            return (self.double_words(n) & np.uint64(2**53 - 1)).astype(np.float64) * 2.0**-53
        return ((self.words(n) & np.uint64(2**24 - 1)).astype(np.float32) * 2.0**-24).astype(kind)

    def normal(self, n, kind):
        """(n,) of the standard normal distribution."""
        if n < 16:
            return np.array([self._one_normal() for _ in range(n)], dtype=kind)
        drawn = self.uniform(n, kind)
        whole = n - n % 16
        made = drawn.copy()
        made[:whole] = _box_muller(drawn[:whole])
        if n % 16:
            made[-16:] = _box_muller(self.uniform(16, kind))
        return made

    def _one_normal(self):
        if self.waiting is not None:
            number, self.waiting = self.waiting, None
            return number
        u1, u2 = self.uniform(2, np.float64)
        length, angle = math.sqrt(-2 * math.log1p(-u2)), 2 * math.pi * u1
        self.waiting = length * math.sin(angle)
        return length * math.cos(angle)


def _box_muller(uniform):
    """Normal numbers from uniform ones, eight and eight, as PyTorch makes them."""
    blocks = uniform.reshape(-1, 2, 8)
    length = np.sqrt(-2 * np.log(1 - blocks[:, 0]))
    angle = uniform.dtype.type(2 * math.pi) * blocks[:, 1]
    return np.stack([length * np.cos(angle), length * np.sin(angle)], axis=1).reshape(-1)


default_generator = Generator()


def source(generator):
    """The generator that is meant."""
    return default_generator if generator is None else generator


@function()
def manual_seed(seed):
    return default_generator.manual_seed(int(seed))


@function()
def seed():
    return default_generator.seed()


@function()
def initial_seed():
    return default_generator.initial_seed()


@function()
def get_rng_state():
    return default_generator.get_state()


@function()
def set_rng_state(new_state):
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=(), enabled=True, **_):
    before = default_generator.get_state() if enabled else None
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state(before)


def _kind(dtype):
    return dtypes.default().np if dtype is None else dtypes.numpy_of(dtype)


def _shape(given, named):
    return sizes((named.pop("size"),) if "size" in named else given)


def _made(array, requires_grad=False, device=None, **_):
    dtypes.only_cpu(device)
    made = wrap(array)
    return made.requires_grad_() if requires_grad else made


def _floats(kind, name):
    if kind.kind != "f":
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{dtypes.OF_NUMPY[kind].name.title()}'"
        )


@function()
def rand(*size, generator=None, dtype=None, **named):
    shape, kind = _shape(size, named), _kind(dtype)
    _floats(kind, "check_uniform_bounds")
    return _made(source(generator).uniform(math.prod(shape), kind).reshape(shape), **named)


@function()
def randn(*size, generator=None, dtype=None, **named):
    shape, kind = _shape(size, named), _kind(dtype)
    _floats(kind, "normal_kernel_cpu")
    return _made(source(generator).normal(math.prod(shape), kind).reshape(shape), **named)


@both("rand_like")
def rand_like(input, *, dtype=None, generator=None, **named):
    return rand(input._a.shape, dtype=dtype or input.dtype, generator=generator, **named)


@both("randn_like")
def randn_like(input, *, dtype=None, generator=None, **named):
    return randn(input._a.shape, dtype=dtype or input.dtype, generator=generator, **named)


def _whole_numbers(generator, low, high, n):
    if high <= low:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    span = high - low
    drawn = source(generator)
    words = drawn.words(n) if span < 2**32 else drawn.double_words(n)
    return (words % np.uint64(span)).astype(np.int64) + low


@function()
def randint(*args, generator=None, dtype=None, **named):
    args = list(args)
    low, high = named.pop("low", None), named.pop("high", None)
    size = named.pop("size", None)
    if size is None:
        size = args.pop()
    numbers = [int(one) for one in args]
    if low is not None:
        numbers.insert(0, int(low))
    if high is not None:
        numbers.append(int(high))
    low, high = numbers if len(numbers) == 2 else (0, numbers[0])
    shape = sizes((size,))
    kind = np.dtype(np.int64) if dtype is None else dtypes.numpy_of(dtype)
    drawn = _whole_numbers(generator, low, high, math.prod(shape))
    return _made(drawn.reshape(shape).astype(kind), **named)


@both("randint_like")
def randint_like(input, low, high=None, **named):
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, input._a.shape, dtype=input.dtype, **named)


@function()
def randperm(n, *, generator=None, dtype=None, **named):
    order = list(range(n))
    for i, word in enumerate(source(generator).words(max(n - 1, 0)).tolist()):
        j = i + word % (n - i)
        order[i], order[j] = order[j], order[i]
    kind = np.int64 if dtype is None else dtypes.numpy_of(dtype)
    return _made(np.array(order, dtype=kind), **named)


@function()
def normal(mean=0.0, std=1.0, size=None, *, generator=None, **named):
    if size is None:
        shape = np.broadcast_shapes(*(getattr(one, "shape", ()) for one in (mean, std)))
    else:
        shape = sizes((size,))
    drawn = randn(tuple(shape), generator=generator, **named)
    return drawn * std + mean


@both("bernoulli")
def bernoulli(input, p=None, *, generator=None):
    x = input._a if p is None else np.full_like(input._a, p)
    if ((x < 0) | (x > 1)).any():
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    drawn = source(generator).uniform(x.size, np.float64).reshape(x.shape)
    return wrap((drawn < x).astype(x.dtype))


@both("poisson")
def poisson(input, generator=None):
    seeded = np.random.Generator(np.random.MT19937(source(generator).words(4)))
    return wrap(seeded.poisson(input._a).astype(input._a.dtype))


@both("multinomial")
def multinomial(input, num_samples, replacement=False, *, generator=None):
    x = input._a
    if x.dtype.kind != "f":
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{dtypes.of(x).name.title()}"
        )
    if x.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    n = int(num_samples)
    if n <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and n > x.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if not np.isfinite(x).all() or (x < 0).any():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (x.sum(axis=-1) <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    drawn = source(generator)
    if not replacement or n == 1:
        waits = -np.log1p(-drawn.uniform(x.size, np.float64)).reshape(x.shape)
        race = x / np.maximum(waits, np.finfo(np.float64).tiny)
        order = np.argsort(-race, axis=-1, kind="stable")[..., :n]
        return wrap(order.astype(np.int64))
    rows = np.atleast_2d(x).astype(np.float64)
    ends = np.cumsum(rows, axis=1)
    ends /= ends[:, -1:]
    points = drawn.uniform(len(rows) * n, np.float64).reshape(len(rows), n)
    found = np.stack(
        [np.searchsorted(e, u, side="left") for e, u in zip(ends, points, strict=True)]
    )
    found = np.minimum(found, x.shape[-1] - 1).astype(np.int64)
    return wrap(found if x.ndim == 2 else found[0])


# Into a tensor


def _filled(self, numbers):
    from .autograd import is_grad_enabled
    from .tensor import refuse_leaf

    if is_grad_enabled():
        refuse_leaf(self)
    self._a[...] = numbers.reshape(self._a.shape)
    return self


@method()
def uniform_(self, a=0.0, b=1.0, *, generator=None, **named):
    a, b = named.get("from", a), named.get("to", b)
    kind = floated(self._a).dtype
    drawn = source(generator).uniform(self._a.size, kind)
    return _filled(self, drawn * kind.type(b - a) + kind.type(a))


@method()
def normal_(self, mean=0.0, std=1.0, *, generator=None):
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    kind = floated(self._a).dtype
    return _filled(self, source(generator).normal(self._a.size, kind) * kind.type(std) + mean)


@method()
def exponential_(self, lambd=1, *, generator=None):
    drawn = source(generator).uniform(self._a.size, np.float64)
    return _filled(self, -np.log1p(-drawn) / lambd)


@method()
def bernoulli_(self, p=0.5, *, generator=None):
    share = p._a if isinstance(p, Tensor) else p
    drawn = source(generator).uniform(self._a.size, np.float64).reshape(self._a.shape)
    return _filled(self, (drawn < share).astype(self._a.dtype))


@method()
def random_(self, low=0, to=None, *, generator=None, **named):
    low = named.get("from", low)
    low, to = (0, low) if to is None and low else (low, to)
    to = to if to is not None else 2**24 if self._a.dtype.kind == "f" else 2**63 - 1
    return _filled(self, _whole_numbers(generator, low, to, self._a.size))
