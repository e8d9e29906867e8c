"""Products of float32 matrices in WebAssembly with SIMD.

NumPy in a page has no BLAS: its products take most of the time of a training. Here is a kernel of
a few hundred bytes, written as WebAssembly's instructions, which holds four rows by eight columns
of a result in registers. Where there is no WebAssembly, as in a test of this module, or no SIMD,
NumPy's product is taken.
"""

from __future__ import annotations

import functools
import itertools
import struct
import sys

import numpy as np

_ROWS, _COLUMNS = (4, 1), (8, 4, 1)  # of the tiles; the later ones are for what is left over

# Multiplications below which the way to the kernel costs more than it saves.
_LEAST = 16_000

# Instructions. Source: WebAssembly Core Specification 2.0, section 5.4.
_GET, _SET, _CONST, _ADD, _SUB, _MUL, _LESS = 0x20, 0x21, 0x41, 0x6A, 0x6B, 0x6C, 0x48
_BLOCK, _LOOP, _BRANCH, _BRANCH_IF, _NOT, _END = 0x02, 0x03, 0x0C, 0x0D, 0x45, 0x0B
_I32, _F32, _V128, _NOTHING = 0x7F, 0x7D, 0x7B, 0x40
_WIDE = {"load": 0, "splat": 9, "store": 11, "zero": 12, "add": 0xE4, "mul": 0xE6}
_SINGLE = {"load": 0x2A, "splat": 0x2A, "store": 0x38, "zero": 0x43, "add": 0x92, "mul": 0x94}

_ARGUMENTS = ("a", "b", "c", "n", "k", "m", "a_row", "a_column")


def _number(value):
    """LEB128 of a whole number of either sign."""
    out = bytearray()
    while True:
        byte, value = value & 0x7F, value >> 7
        if (value == 0 and not byte & 0x40) or (value == -1 and byte & 0x40):
            return bytes([*out, byte])
        out.append(byte | 0x80)


def _size(value):
    """LEB128 of a whole number that is not negative."""
    out = bytearray()
    while value >= 0x80:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    return bytes([*out, value])


def _vector(items):
    return _size(len(items)) + b"".join(items)


def _section(number, content):
    return bytes([number]) + _size(len(content)) + content


class _Kernel:
    """The instructions of `gemm(a, b, c, n, k, m, a_row, a_column)`: C = A B.

    B (k, m) and C (n, m) lie row by row without gaps; A has strides, in bytes.
    """

    def __init__(self):
        self.code = bytearray()
        names = ["i", "j", "p", "at_b", "at_c", "b_row"]
        names += [f"at_a{row}" for row in range(_ROWS[0])]
        self._whole = len(names)
        self._local = {name: place for place, name in enumerate((*_ARGUMENTS, *names))}
        at = len(self._local)
        self._local |= {f"w{n}": at + n for n in range(_ROWS[0] * 2 + 3)}
        at = len(self._local)
        self._local |= {f"s{n}": at + n for n in range(_ROWS[0] + 2)}

    @property
    def locals(self):
        kinds = ((self._whole, _I32), (_ROWS[0] * 2 + 3, _V128), (_ROWS[0] + 2, _F32))
        return _vector([_size(count) + bytes([kind]) for count, kind in kinds])

    def get(self, *names):
        for name in names:
            self.code += bytes([_GET]) + _size(self._local[name])

    def set(self, name):
        self.code += bytes([_SET]) + _size(self._local[name])

    def constant(self, value):
        self.code += bytes([_CONST]) + _number(value)

    def do(self, *instructions):
        self.code += bytes(instructions)

    def grow(self, name, by):
        """Add a number, or a local, to a local."""
        self.get(name)
        if isinstance(by, int):
            self.constant(by)
        else:
            self.get(by)
        self.do(_ADD)
        self.set(name)

    def loop(self, body, counter, least):
        """Repeat while `counter` + `least` is at most the end, which `body` brings nearer."""
        end = {"i": "n", "j": "m", "p": "k"}[counter]
        self.do(_BLOCK, _NOTHING, _LOOP, _NOTHING)
        self.get(end)
        self.get(counter)
        self.do(_SUB)
        self.constant(least)
        self.do(_LESS, _BRANCH_IF, 1)
        body()
        self.do(_BRANCH, 0, _END, _END)

    def of_lanes(self, name, lanes):
        """An instruction on one number, or on four."""
        if lanes == 1:
            self.code.append(_SINGLE[name])
            if name == "zero":
                self.code += struct.pack("<f", 0.0)
        else:
            self.code += b"\xfd" + _size(_WIDE[name])
            if name == "zero":
                self.code += bytes(16)

    def memory(self, name, lanes, offset=0):
        self.of_lanes(name, lanes)
        self.code += _size(2) + _size(offset)  # aligned to four bytes

    def tile(self, rows, columns):
        """One tile of the result, at row i and column j; then i moves on."""
        lanes = 1 if columns == 1 else 4
        parts = 1 if columns == 1 else columns // 4
        letter = "s" if lanes == 1 else "w"
        held = [[f"{letter}{row * parts + part}" for part in range(parts)] for row in range(rows)]
        of_b = [f"{letter}{rows * parts + part}" for part in range(parts)]
        of_a = f"{letter}{rows * parts + parts}"
        for name in itertools.chain(*held):
            self.of_lanes("zero", lanes)
            self.set(name)
        for row in range(rows):  # where row i + row of A begins
            self.get("a", "i")
            self.constant(row)
            self.do(_ADD)
            self.get("a_row")
            self.do(_MUL, _ADD)
            self.set(f"at_a{row}")
        self.get("b", "j")
        self.constant(4)
        self.do(_MUL, _ADD)
        self.set("at_b")
        self.constant(0)
        self.set("p")
        self.loop(lambda: self.products(held, of_b, of_a, lanes), "p", 1)
        self.get("c", "i", "b_row")  # rows of C are as long as those of B
        self.do(_MUL, _ADD)
        self.get("j")
        self.constant(4)
        self.do(_MUL, _ADD)
        self.set("at_c")
        for row in held:
            for part, name in enumerate(row):
                self.get("at_c", name)
                self.memory("store", lanes, 16 * part)
            self.grow("at_c", "b_row")
        self.grow("i", rows)

    def products(self, held, of_b, of_a, lanes):
        """Add the products of one column of A and one row of B to a tile."""
        for part, name in enumerate(of_b):
            self.get("at_b")
            self.memory("load", lanes, 16 * part)
            self.set(name)
        for row, names in enumerate(held):
            self.get(f"at_a{row}")
            self.memory("splat", lanes)
            self.set(of_a)
            for name, other in zip(names, of_b, strict=True):
                self.get(name, of_a, other)
                self.of_lanes("mul", lanes)
                self.of_lanes("add", lanes)
                self.set(name)
            self.grow(f"at_a{row}", "a_column")
        self.grow("at_b", "b_row")
        self.grow("p", 1)

    def strip(self, columns):
        """All rows of some columns of the result."""
        self.constant(0)
        self.set("i")
        for rows in _ROWS:
            self.loop(lambda rows=rows: self.tile(rows, columns), "i", rows)
        self.grow("j", columns)

    def whole(self):
        self.get("m")
        self.constant(4)
        self.do(_MUL)
        self.set("b_row")
        for columns in _COLUMNS:
            self.loop(lambda columns=columns: self.strip(columns), "j", columns)
        self.do(_END)
        return self.locals + self.code


def module():
    """The bytes of the module: it imports a memory as e.m, and exports `gemm`."""
    code = _Kernel().whole()
    arguments = _vector([bytes([_I32])] * len(_ARGUMENTS))
    return b"".join(
        [
            b"\0asm\1\0\0\0",
            _section(1, _vector([b"\x60" + arguments + _vector([])])),
            _section(2, _vector([b"\1e\1m\2\0" + _size(1)])),
            _section(3, _vector([_size(0)])),
            _section(7, _vector([b"\4gemm\0" + _size(0)])),
            _section(10, _vector([_size(len(code)) + bytes(code)])),
        ]
    )


# The kernel has a memory of its own, because Pyodide's is in nobody's reach: to copy is quick.
@functools.cache
def _gemm():
    """The kernel as a function of addresses; None where there is none."""
    if sys.platform != "emscripten":
        return None
    try:
        import course_kernel  # kernel.js, by the worker: a page's policy lets no text become code
        from pyodide.ffi import JsException, to_js

        return course_kernel.made(to_js(module()))
    except (ImportError, JsException):  # an older browser has no SIMD
        return None


def _at(array):
    return array.__array_interface__["data"][0]


def matmul(a, b):
    """`numpy.matmul`, by the kernel where it is worth it."""
    gemm = _gemm()
    if gemm is None or a.dtype != np.float32 or b.dtype != np.float32 or b.ndim < 2 or a.ndim < 2:
        return np.matmul(a, b)
    k, m = b.shape[-2:]
    if a.shape[-1] != k or a.size * m < _LEAST:
        return np.matmul(a, b)
    if b.ndim == 2:
        times, flat = 1, a.reshape(-1, k) if a.ndim > 2 else a
    elif a.shape[:-2] == b.shape[:-2]:
        times, flat = a.size // (a.shape[-2] * k), a
    else:
        return np.matmul(a, b)
    n = flat.shape[-2]
    turned = times == 1 and flat.T.flags.c_contiguous and not flat.flags.c_contiguous
    flat = flat if turned else np.ascontiguousarray(flat)
    b = np.ascontiguousarray(b)
    out = np.empty((*a.shape[:-1], m), np.float32)
    row, column = (4, 4 * n) if turned else (4 * k, 4)
    gemm(_at(flat), _at(b), _at(out), n, k, m, row, column, times)
    return out
