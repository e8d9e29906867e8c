"""Comparing tensors in tests."""

from __future__ import annotations

import numpy as np

from .creation import as_tensor
from .tensor import Tensor

_TOLERANCES = {"float16": (1e-3, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}


def assert_close(
    actual, expected, *, rtol=None, atol=None, equal_nan=False, check_dtype=True, msg=None, **_
):
    """Raise AssertionError unless two tensors, or sequences of them, are nearly equal."""
    if isinstance(actual, list | tuple) and not isinstance(actual, Tensor):
        for one, other in zip(actual, expected, strict=True):
            assert_close(one, other, rtol=rtol, atol=atol, equal_nan=equal_nan, msg=msg)
        return
    a, b = as_tensor(actual)._a, as_tensor(expected)._a
    if a.shape != b.shape:
        raise AssertionError(
            f"The values for attribute 'shape' do not match: {list(a.shape)} != {list(b.shape)}."
        )
    if check_dtype and a.dtype != b.dtype:
        raise AssertionError(
            f"The values for attribute 'dtype' do not match: torch.{a.dtype} != torch.{b.dtype}."
        )
    usual = _TOLERANCES.get(a.dtype.name, (0.0, 0.0))
    rtol = usual[0] if rtol is None else rtol
    atol = usual[1] if atol is None else atol
    close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if not close.all():
        wrong = int((~close).sum())
        raise AssertionError(
            msg
            or f"Tensor-likes are not close!\n\nMismatched elements: {wrong} / {a.size} "
            f"({wrong / a.size:.1%})"
        )
