"""Run in Pyodide: products by the kernel, beside those of float64 by NumPy, as a line of JSON."""

import json

import numpy as np
from torch import simd

SHAPES = (
    *((512, 48, 192), (33, 31, 65), (192, 512, 48), (70, 300, 13), (5, 400, 9), (300, 60, 1)),
    *((64, 64, 64), (41, 200, 7), (1, 400, 80)),
)

rng = np.random.default_rng(0)
worst = {}


def note(name, a, b):
    right = a.astype(float) @ b.astype(float)
    found = simd.matmul(a, b)
    assert found.dtype == np.float32
    assert found.shape == right.shape
    size = np.abs(a.astype(float)) @ np.abs(b.astype(float))
    worst[name] = max(worst.get(name, 0.0), float((np.abs(found - right) / size).max()))


for n, k, m in SHAPES:
    a = rng.normal(size=(n, k)).astype(np.float32)
    b = rng.normal(size=(k, m)).astype(np.float32)
    note("as they lie", a, b)
    note("turned", np.asfortranarray(a), np.asfortranarray(b))
    note("with strides", a[::-1], b[:, ::-1])
many = rng.normal(size=(3, 2, 40, 24)).astype(np.float32)
note("many", many, many.swapaxes(-1, -2))
note("many and one", many, many[0, 0].T)
note("many and fewer", many, many[:, :1].swapaxes(-1, -2))

module, calls = simd.module(), []
kernel = simd._gemm()
simd._gemm = lambda: lambda *given: (calls.append(given), kernel(*given))
simd.matmul(many, many.swapaxes(-1, -2))
simd.matmul(np.ones((2, 2), np.float32), np.ones((2, 2), np.float32))  # too small for it
print(json.dumps({"kernel": kernel is not None, "calls": len(calls), "worst": worst}))
