"""Gradients cut to a length, sequences of several lengths."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from ..registry import FUNCTIONS, METHODS
from ..tensor import Tensor, wrap


def _gradients(parameters):
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [one.grad for one in parameters if one.grad is not None]


def get_total_norm(tensors, norm_type=2.0, **_):
    tensors = list(tensors)
    if not tensors:
        return wrap(np.zeros((), np.float32))
    if norm_type == math.inf:
        return wrap(np.asarray(max(np.abs(one._a).max() for one in tensors)))
    lengths = FUNCTIONS["stack"]([METHODS["norm"](one.detach(), norm_type) for one in tensors])
    return METHODS["norm"](lengths, norm_type)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    gradients = _gradients(parameters)
    total = get_total_norm(gradients, norm_type)
    if error_if_nonfinite and not np.isfinite(total._a):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped."
        )
    share = min(float(max_norm) / (float(total._a) + 1e-6), 1.0)
    for one in gradients:
        one._a *= one._a.dtype.type(share)
    return total


def clip_grad_value_(parameters, clip_value, foreach=None):
    for one in _gradients(parameters):
        np.clip(one._a, -clip_value, clip_value, out=one._a)


def parameters_to_vector(parameters):
    return FUNCTIONS["cat"]([METHODS["reshape"](one, -1) for one in parameters])


def vector_to_parameters(vec, parameters):
    at = 0
    for one in parameters:
        n = one._a.size
        one._a = vec._a[at : at + n].reshape(one._a.shape)
        at += n


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    sequences = list(sequences)
    longest = max(len(one) for one in sequences)
    made = []
    for one in sequences:
        missing = longest - len(one)
        shape = (missing, *one._a.shape[1:])
        filler = wrap(np.full(shape, padding_value, dtype=one._a.dtype))
        parts = [one, filler] if padding_side == "right" else [filler, one]
        made.append(FUNCTIONS["cat"](parts) if missing else one)
    return FUNCTIONS["stack"](made, 0 if batch_first else 1)


rnn = SimpleNamespace(pad_sequence=pad_sequence)
