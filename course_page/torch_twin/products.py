"""Products of matrices, and what is worked out of a matrix."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from . import simd
from .autograd import fit, record
from .elementwise import mismatch
from .registry import FUNCTIONS, METHODS, both, function
from .tensor import Tensor, type_name, wrap


def _same_type(a, b, name):
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {_c_name(a)} != {_c_name(b)}"
            if name == "mm"
            else f"{name} input tensors must have the same dtype, but got "
            f"{type_name(a)} and {type_name(b)}"
        )


def _c_name(array):
    return {"Float": "float", "Double": "double", "Long": "int64_t", "Int": "int"}.get(
        type_name(array), type_name(array).lower()
    )


def _turned(array):
    return array.swapaxes(-1, -2)


def product(a, b):
    """A product of matrices; whole numbers stay whole."""
    return simd.matmul(a, b) if a.dtype.kind != "b" else (np.matmul(a.astype(int), b) > 0)


def _refuse(a, b):
    """PyTorch's error for matrices whose inner sizes differ."""
    if a.ndim == 1 and b.ndim == 1:
        return RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the "
            f"same number of elements, but got {a.size} and {b.size} elements respectively"
        )
    if a.ndim <= 2 and b.ndim <= 2:
        if b.ndim == 1:
            return RuntimeError(
                f"size mismatch, got input ({a.shape[0]}), mat "
                f"({a.shape[0]}x{a.shape[1]}), vec ({b.size})"
            )
        rows = (1, *a.shape) if a.ndim == 1 else a.shape
        return RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows[0]}x{rows[1]} and "
            f"{b.shape[0]}x{b.shape[1]})"
        )
    if b.ndim == 2 or b.ndim == 1:
        rows = a.size // a.shape[-1] if a.shape[-1] else 0
        second = f"{b.shape[0]}x{b.shape[1]}" if b.ndim == 2 else f"{b.size}x1"
        if b.ndim == 1:
            return RuntimeError(
                f"size mismatch, got input ({rows}), mat ({rows}x{a.shape[-1]}), vec ({b.size})"
            )
        return RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{a.shape[-1]} and {second})"
        )
    inner_a, inner_b = a.shape[-1], b.shape[-2]
    if inner_a != inner_b:
        batch = a.size // (a.shape[-1] * (a.shape[-2] if a.ndim > 1 else 1) or 1)
        return RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{batch}, {inner_a}] but got: [{batch}, {inner_b}]."
        )
    return mismatch(np.empty(a.shape[:-2]), np.empty(b.shape[:-2]))


def _matmul(input, other):
    a, b = input._a, other._a
    if a.ndim == 0 or b.ndim == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D"
        )
    _same_type(a, b, "mm")
    try:
        y = product(a, b)
    except ValueError:
        raise _refuse(a, b) from None

    def back(g):
        if a.ndim == 1 and b.ndim == 1:
            return g * b, g * a
        left = a[None, :] if a.ndim == 1 else a
        right = b[:, None] if b.ndim == 1 else b
        whole = np.expand_dims(g, -2) if a.ndim == 1 else g
        whole = np.expand_dims(whole, -1) if b.ndim == 1 else whole
        ga = gb = None
        if input.requires_grad:
            ga = fit(simd.matmul(whole, _turned(right)), left.shape).reshape(a.shape)
        if other.requires_grad:
            if right.ndim == 2 and left.ndim > 2:
                flat = left.reshape(-1, left.shape[-1]).T
                gb = simd.matmul(flat, whole.reshape(-1, whole.shape[-1]))
            else:
                gb = fit(simd.matmul(_turned(left), whole), right.shape)
            gb = gb.reshape(b.shape)
        return ga, gb

    saves = [one for one, another in ((input, other), (other, input)) if another.requires_grad]
    return record(wrap(np.asarray(y)), back, input, other, name="Mm", saves=saves)


@both("matmul")
def matmul(input, other):
    if not isinstance(other, Tensor):
        raise TypeError(
            f"matmul(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}"
        )
    return _matmul(input, other)


def _sized(name, ndim):
    def call(input, other=None, **named):
        other = next(iter(named.values())) if other is None else other
        if input._a.ndim != ndim or other._a.ndim != ndim:
            words = {
                "mm": "self must be a matrix",
                "bmm": "batch1 must be a 3D tensor",
                "dot": "1D tensors expected, but got "
                f"{input._a.ndim}D and {other._a.ndim}D tensors",
            }
            raise RuntimeError(words[name])
        if name == "bmm" and input._a.shape[0] != other._a.shape[0]:
            raise RuntimeError(
                "Expected size for first two dimensions of batch2 tensor to be: "
                f"[{input._a.shape[0]}, {input._a.shape[2]}] but got: "
                f"[{other._a.shape[0]}, {other._a.shape[1]}]."
            )
        return _matmul(input, other)

    call.__name__ = name
    both(name)(call)


_sized("mm", 2)
_sized("bmm", 3)
_sized("dot", 1)


@both("mv")
def mv(input, vec):
    return _matmul(input, vec)


@both("inner")
def inner(input, other):
    return _matmul(input, METHODS["transpose"](other, -1, -2) if other._a.ndim > 1 else other)


@both("outer", "ger")
def outer(input, vec2):
    if input._a.ndim != 1 or vec2._a.ndim != 1:
        raise RuntimeError(
            f"outer: Expected 1-D argument self, but got {max(input._a.ndim, vec2._a.ndim)}-D"
        )
    return METHODS["unsqueeze"](input, 1) * vec2


@both("addmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    return input * beta + _matmul(mat1, mat2) * alpha


@both("addmv")
def addmv(input, mat, vec, *, beta=1, alpha=1):
    return input * beta + _matmul(mat, vec) * alpha


@both("baddbmm")
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    return input * beta + _matmul(batch1, batch2) * alpha


@both("kron")
def kron(input, other):
    return wrap(np.kron(input._a, other._a))


@both("cross")
def cross(input, other, dim=-1):
    return wrap(np.cross(input._a, other._a, axis=-1 if dim is None else dim))


@function()
def tensordot(a, b, dims=2):
    if isinstance(dims, int):
        mine, theirs = list(range(a._a.ndim - dims, a._a.ndim)), list(range(dims))
    else:
        mine, theirs = ([one] if isinstance(one, int) else list(one) for one in dims)
    letters = "abcdefghijklmnopqrstuvwxyz"
    left = letters[: a._a.ndim]
    right = list(letters[a._a.ndim : a._a.ndim + b._a.ndim])
    for i, j in zip(mine, theirs, strict=True):
        right[j] = left[i]
    rest = [c for i, c in enumerate(left) if i not in [m % a._a.ndim for m in mine]]
    rest += [c for j, c in enumerate(right) if j not in [n % b._a.ndim for n in theirs]]
    return einsum(f"{left},{''.join(right)}->{''.join(rest)}", a, b)


def _explicit(equation, arrays):
    """An equation with its result and its ellipses spelled out."""
    equation = equation.replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(arrays):
        raise RuntimeError(
            "einsum(): more operands were provided than specified in the equation"
            if len(terms) < len(arrays)
            else "einsum(): fewer operands were provided than specified in the equation"
        )
    free = [c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in equation]
    most, widths = 0, []
    for i, (term, array) in enumerate(zip(terms, arrays, strict=True)):
        named = term.replace("...", "")
        width = array.ndim - len(named)
        if width < 0 or (width and "..." not in term):
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(named)}) does not "
                f"match the number of dimensions ({array.ndim}) for operand {i} and no ellipsis "
                "was given"
                if width > 0
                else "einsum(): the number of subscripts in the equation "
                f"({len(named)}) is more than the number of dimensions ({array.ndim}) for "
                f"operand {i}"
            )
        widths.append(width)
        most = max(most, width)
    whole = "".join(free[:most])
    terms = [
        term.replace("...", whole[most - width :])
        for term, width in zip(terms, widths, strict=True)
    ]
    if arrow:
        right = right.replace("...", whole)
    else:
        joined = "".join(terms)
        single = sorted(c for c in set(joined) - set(whole) if joined.count(c) == 1)
        right = whole + "".join(single)
    known = {}
    for i, (term, array) in enumerate(zip(terms, arrays, strict=True)):
        for letter, n in zip(term, array.shape, strict=True):
            if known.setdefault(letter, n) != n:
                if known[letter] == 1:
                    known[letter] = n
                elif n != 1:
                    raise RuntimeError(
                        f"einsum(): subscript {letter} has size {n} for operand {i} which does "
                        f"not broadcast with previously seen size {known[letter]}"
                    )
    for letter in right:
        if letter not in known:
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any "
                "input operand"
            )
    return terms, right, known


def _contract(terms, arrays, right):
    """One product after the other, each by matrices where it is one."""
    if len(terms) == 2 and arrays[0].dtype == np.float32:
        found = _by_matrices(terms, arrays, right)
        if found is not None:
            return found
    return np.einsum(f"{','.join(terms)}->{right}", *arrays, optimize=len(arrays) > 1)


def _by_matrices(terms, arrays, right):
    """A sum of products of two arrays as a product of matrices; None where it is none."""
    left, other = terms
    sizes = dict(zip(left, arrays[0].shape, strict=True))
    letters = set(left) | set(other)
    if len(left) + len(other) != len(set(left)) + len(set(other)) or any(
        sizes.setdefault(c, n) != n for c, n in zip(other, arrays[1].shape, strict=True)
    ):
        return None  # a diagonal, or an axis of one that is stretched
    both_of = [c for c in left if c in other]
    batch = [c for c in both_of if c in right]
    inner = [c for c in both_of if c not in right]
    mine, theirs = ([c for c in one if c not in both_of] for one in terms)
    if letters - set(right) != set(inner) or not (inner and mine and theirs):
        return None  # something is only summed, or there is no matrix

    def matrices(term, array, *groups):
        order = [term.index(c) for group in (batch, *groups) for c in group]
        shape = [math.prod(sizes[c] for c in group) for group in groups]
        return array.transpose(order).reshape(*(sizes[c] for c in batch), *shape)

    y = simd.matmul(
        matrices(left, arrays[0], mine, inner), matrices(other, arrays[1], inner, theirs)
    )
    made = [*batch, *mine, *theirs]
    return y.reshape([sizes[c] for c in made]).transpose([made.index(c) for c in right])


@function()
def einsum(equation, *operands):
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = operands[0]
    arrays = [one._a for one in operands]
    for one in arrays[1:]:
        _same_type(arrays[0], one, "mm")
    terms, right, known = _explicit(equation, arrays)
    y = np.asarray(_contract(terms, arrays, right))

    def back(g):
        found = []
        for i, one in enumerate(operands):
            if not one.requires_grad:
                found.append(None)
                continue
            others = [terms[j] for j in range(len(terms)) if j != i]
            given = [arrays[j] for j in range(len(terms)) if j != i]
            own = terms[i]
            if len(set(own)) < len(own):
                found.append(_on_diagonal(own, one._a, others, given, right, g))
                continue
            seen = set(right).union(*others) if others else set(right)
            kept = "".join(c for c in own if c in seen)
            part = _contract([right, *others], [g, *given], kept)
            shape = [known[c] if c in seen else 1 for c in own]
            part = np.broadcast_to(part.reshape(shape), [known[c] for c in own])
            found.append(fit(part, one._a.shape).astype(one._a.dtype, copy=False))
        return found

    return record(
        wrap(y.astype(arrays[0].dtype, copy=False)), back, *operands, name="Einsum", saves=operands
    )


def _on_diagonal(own, array, others, given, right, g):
    letters = "".join(dict.fromkeys(own))
    part = _contract([right, *others], [g, *given], letters)
    made = np.zeros(array.shape, g.dtype)
    places = np.ogrid[tuple(slice(n) for n in part.shape)]
    made[tuple(places[letters.index(c)] for c in own)] = part
    return made


Tensor.__matmul__ = lambda self, other: (
    _matmul(self, other) if isinstance(other, Tensor) else NotImplemented
)
Tensor.__rmatmul__ = lambda self, other: NotImplemented


@function("cdist")
def cdist(x1, x2, p=2.0, compute_mode=None):
    difference = METHODS["unsqueeze"](x1, -2) - METHODS["unsqueeze"](x2, -3)
    return METHODS["norm"](difference, p, -1)


# Matrices (torch.linalg)

LINALG = {}


class LinAlgError(RuntimeError):
    """What PyTorch raises where a matrix has no inverse."""


LinAlgError.__name__ = "_LinAlgError"


def linalg(*names):
    def register(made):
        for name in names:
            LINALG[name] = made
        return made

    return register


def _matrix(input, name):
    x = input._a
    if x.dtype.kind not in "fc":
        raise RuntimeError(
            f"linalg.{name}: Expected a floating point or complex tensor as input. "
            f"Got {type_name(x)}"
        )
    return x


@linalg("inv")
def inv(input):
    x = _matrix(input, "inv")
    try:
        y = np.linalg.inv(x)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            f"linalg.inv: The diagonal element {x.shape[-1]} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        ) from None
    return record(wrap(y), lambda g: (-_turned(y) @ g @ _turned(y),), input)


METHODS["inverse"] = FUNCTIONS["inverse"] = inv


@linalg("pinv")
def pinv(input, rcond=None, **named):
    x = _matrix(input, "pinv")
    limit = named.get("rtol", rcond)
    if limit is None:
        limit = max(x.shape[-2:]) * np.finfo(x.dtype).eps
    return wrap(np.linalg.pinv(x, rcond=float(limit)))


METHODS["pinverse"] = FUNCTIONS["pinverse"] = pinv


@linalg("solve")
def solve(A, B):
    try:
        matrix = B._a[..., None] if B._a.ndim == 1 else B._a
        y = np.linalg.solve(A._a, matrix)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "torch.linalg.solve: The solver failed because the input matrix is singular."
        ) from None
    y = y[..., 0] if B._a.ndim == 1 else y

    def back(g):
        column = g[..., None] if B._a.ndim == 1 else g
        right = np.linalg.solve(_turned(A._a), column)
        answer = y[..., None] if B._a.ndim == 1 else y
        return fit(-right @ _turned(answer), A._a.shape), fit(right.reshape(g.shape), B._a.shape)

    return record(wrap(y), back, A, B)


@linalg("solve_triangular")
def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    return solve(FUNCTIONS["triu" if upper else "tril"](A), B)


@linalg("lstsq")
def lstsq(A, B, rcond=None, *, driver=None):
    given = namedtuple("linalg_lstsq", "solution residuals rank singular_values")
    y, residuals, rank, values = np.linalg.lstsq(A._a, B._a, rcond=None)
    held = (y.astype(A._a.dtype), residuals, np.asarray(rank, np.int64), values)
    return given(*map(wrap, held))


METHODS["lstsq"] = lstsq


@linalg("matrix_power")
def matrix_power(input, n):
    if n < 0:
        return matrix_power(inv(input), -n)
    result = FUNCTIONS["eye"](input._a.shape[-1], dtype=input.dtype)
    if n == 0:
        return METHODS["expand_as"](result, input)
    result = input
    for _ in range(n - 1):
        result = _matmul(result, input)
    return result


METHODS["matrix_power"] = FUNCTIONS["matrix_power"] = matrix_power


@linalg("matrix_rank")
def matrix_rank(input, **named):
    return wrap(np.asarray(np.linalg.matrix_rank(input._a, named.get("tol")), dtype=np.int64))


@linalg("det")
def det(input):
    x = _matrix(input, "det")
    y = np.asarray(np.linalg.det(x), dtype=x.dtype)

    def back(g):
        return ((g * y)[..., None, None] * _turned(np.linalg.inv(x)),)

    return record(wrap(y), back, input)


METHODS["det"] = FUNCTIONS["det"] = det


@linalg("norm", "vector_norm", "matrix_norm")
def norm(input, ord=None, dim=None, keepdim=False, *, dtype=None):
    x = input._a
    if ord == "nuc" or (ord in (2, -2) and x.ndim == 2 and dim is None):
        values = np.linalg.svd(x, compute_uv=False)
        y = values.sum() if ord == "nuc" else values.max() if ord == 2 else values.min()
        return wrap(np.asarray(y, dtype=x.dtype))
    return METHODS["norm"](input, 2 if ord is None else ord, dim, keepdim, dtype)


def _decomposition(name, fields, of_numpy):
    kind = namedtuple(f"linalg_{name}", fields)

    def call(input, *args, **named):
        found = of_numpy(_matrix(input, name), *args, **named)
        return kind(*(wrap(np.asarray(one)) for one in found))

    LINALG[name] = call
    return call


svd = _decomposition(
    "svd", "U S Vh", lambda x, full_matrices=True, **_: np.linalg.svd(x, full_matrices)
)
_decomposition("qr", "Q R", lambda x, mode="reduced": np.linalg.qr(x, mode))
_decomposition("eigh", "eigenvalues eigenvectors", lambda x, UPLO="L": np.linalg.eigh(x, UPLO))
_decomposition("eig", "eigenvalues eigenvectors", np.linalg.eig)
LINALG["svdvals"] = lambda A: wrap(np.linalg.svd(A._a, compute_uv=False))
LINALG["eigvalsh"] = lambda A, UPLO="L": wrap(np.linalg.eigvalsh(A._a, UPLO))
LINALG["eigvals"] = lambda A: wrap(np.linalg.eigvals(A._a))
LINALG["cholesky"] = lambda A, upper=False: wrap(np.linalg.cholesky(A._a))
LINALG["diagonal"] = lambda A, offset=0, dim1=-2, dim2=-1: METHODS["diagonal"](
    A, offset, dim1, dim2
)
LINALG["matmul"] = _matmul
LINALG["cross"] = cross
LINALG["vecdot"] = lambda x, y, dim=-1: METHODS["sum"](x * y, dim)
LINALG["LinAlgError"] = LinAlgError


@function("svd")
def _svd(input, some=True, compute_uv=True):
    u, s, vh = np.linalg.svd(input._a, full_matrices=not some)
    return namedtuple("svd", "U S V")(wrap(u), wrap(s), wrap(_turned(vh)))


@both("qr")
def qr(input, some=True):
    return LINALG["qr"](input, mode="reduced" if some else "complete")


@both("logdet")
def logdet(input):
    return FUNCTIONS["log"](det(input))


@both("matrix_exp")
def matrix_exp(input):
    x = input._a.astype(np.float64)
    squarings = max(0, int(np.ceil(np.log2(max(np.abs(x).sum(-1).max(), 1e-30)))) + 4)
    small, y, term = x / 2**squarings, np.eye(x.shape[-1]), np.eye(x.shape[-1])
    for k in range(1, 14):
        term = term @ small / k
        y = y + term
    for _ in range(squarings):
        y = y @ y
    return wrap(y.astype(input._a.dtype))
