"""How a tensor is written, as PyTorch writes it."""

from __future__ import annotations

import math

import numpy as np

from . import dtypes

_PRECISION = 4
_EDGE = 3
_MOST = 1000
_WIDTH = 80


class _Style:
    """How the numbers of one tensor are written, all with the same width."""

    def __init__(self, array):
        self.floats = array.dtype.kind == "f"
        self.scientific = self.whole = False
        numbers = array.reshape(-1)
        if not self.floats:
            self.width = max((len(str(one)) for one in numbers.tolist()), default=1)
            return
        wide = numbers[np.isfinite(numbers) & (numbers != 0)]
        some = np.abs(wide.astype(np.float64))
        if some.size:
            least, most = some.min(), some.max()
            self.whole = bool((some == np.ceil(some)).all())
            if self.whole:
                self.scientific = most / least > 1000 or most > 1e8
            else:
                self.scientific = most / least > 1000 or most > 1e8 or least < 1e-4
        else:
            self.whole = True
        if self.whole and some.size:
            self.scientific = most > 1e8 or (most / least > 1000 and most > 1e5)
        self.width = 0
        # Zeros and infinities take the room that the others need, and no more.
        self.width = max((len(self(one)) for one in wide.tolist()), default=1)

    def __call__(self, number):
        if not self.floats:
            return str(number).rjust(self.width)
        if not math.isfinite(number):
            words = str(number)
        elif self.scientific:
            words = f"{number:.{_PRECISION}e}"
        elif self.whole:
            words = f"{number:.0f}."
        else:
            words = f"{number:.{_PRECISION}f}"
        return words.rjust(self.width)


def _rows(array, style, indent):
    if array.ndim == 0:
        return style(array.item())
    n = array.shape[0]
    cut = array.size > _MOST and n > 2 * _EDGE
    if array.ndim == 1:
        numbers = array.tolist()
        words = [style(one) for one in numbers]
        if cut:
            words = [*words[:_EDGE], " ...", *words[-_EDGE:]]
        room = max(1, (_WIDTH - indent) // (max(style.width, 1) + 2))
        lines = [words[i : i + room] for i in range(0, len(words), room)] or [[]]
        return "[" + (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"
    chosen = [*range(_EDGE), None, *range(n - _EDGE, n)] if cut else range(n)
    parts = ["..." if i is None else _rows(array[i], style, indent + 1) for i in chosen]
    between = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return "[" + between.join(parts) + "]"


def shown(tensor):
    """What `print` and `repr` give."""
    array, more = tensor._a, []
    kind = dtypes.of(array)
    prefix = "tensor("
    if array.dtype.kind == "c":
        body = np.array2string(array, separator=", ", prefix=prefix)
    elif array.size == 0:
        body = "[]"
        if array.ndim != 1:
            more.append(f"size={tuple(array.shape)}")
    else:
        seen = array
        if array.size > _MOST:  # the style follows from what is shown
            for axis, n in enumerate(array.shape):
                if n > 2 * _EDGE:
                    ends = [*range(_EDGE), *range(n - _EDGE, n)]
                    seen = np.take(seen, ends, axis=axis)
        body = _rows(array, _Style(seen), len(prefix))
    usual = (dtypes.default(), dtypes.int64, dtypes.bool_)
    if kind not in usual or (array.size == 0 and kind is not dtypes.default()):
        more.append(f"dtype={kind}")
    if tensor._node is not None:
        more.append(f"grad_fn={tensor._node!r}")
    elif tensor.requires_grad:
        more.append("requires_grad=True")
    return prefix + ", ".join([body, *more]) + ")"
