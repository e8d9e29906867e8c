"""Distributions to draw from."""

from __future__ import annotations

import math

from .generators import multinomial, randn
from .registry import FUNCTIONS, METHODS


class Categorical:
    """Numbers 0 … V − 1 with given probabilities."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            self.probs = probs / METHODS["sum"](probs, -1, True)
            self.logits = METHODS["log"](self.probs)
        else:
            self.logits = METHODS["log_softmax"](logits, -1)
            self.probs = METHODS["softmax"](logits, -1)

    def sample(self, sample_shape=()):
        shape = tuple(sample_shape)
        n = math.prod(shape)
        flat = METHODS["reshape"](self.probs, -1, self.probs.shape[-1])
        drawn = METHODS["t"](multinomial(flat, n, True))
        return METHODS["reshape"](drawn, (*shape, *self.probs.shape[:-1]))

    def log_prob(self, value):
        index = METHODS["unsqueeze"](METHODS["long"](value), -1)
        table = METHODS["expand"](self.logits, *index.shape[:-1], self.logits.shape[-1])
        return METHODS["squeeze"](METHODS["gather"](table, -1, index), -1)

    def entropy(self):
        held = METHODS["clamp"](self.logits, min=-3.4e38)
        return -METHODS["sum"](held * self.probs, -1)


class Bernoulli:
    """0 or 1 with a given probability."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        self.probs = METHODS["sigmoid"](logits) if probs is None else probs

    def sample(self, sample_shape=()):
        shape = (*sample_shape, *self.probs.shape)
        return METHODS["bernoulli"](METHODS["expand"](self.probs, *shape))


class Normal:
    """The normal distribution."""

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = FUNCTIONS["as_tensor"](loc), FUNCTIONS["as_tensor"](scale)

    def sample(self, sample_shape=()):
        shape = FUNCTIONS["broadcast_shapes"](self.loc.shape, self.scale.shape)
        return randn((*sample_shape, *shape)) * self.scale + self.loc

    def log_prob(self, value):
        spread = METHODS["square"](self.scale)
        far = METHODS["square"](value - self.loc) / (2 * spread)
        return -far - METHODS["log"](self.scale) - math.log(math.sqrt(2 * math.pi))
