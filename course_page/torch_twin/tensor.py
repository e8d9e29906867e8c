"""The tensor: an array of NumPy, with what is recorded of how it was made."""

from __future__ import annotations

import itertools

import numpy as np

from . import autograd, dtypes
from .autograd import Node, changed, edge, is_grad_enabled, record, versions_of

_NAMES = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
_hook_numbers = itertools.count()


def type_name(array):
    """What PyTorch's errors call an array's type: "Float", "Long"."""
    return _NAMES[dtypes.of(array).name]


class _Hook:
    """What `register_hook` returns."""

    def __init__(self, hooks):
        self.hooks, self.id = hooks, next(_hook_numbers)

    def remove(self):
        self.hooks.pop(self.id, None)


class Tensor:
    """An array of numbers of one type."""

    requires_grad = False
    grad = None
    _node = None
    _base = None
    _hooks = None
    _versions = None
    __array_priority__ = 1000

    def __init__(self, *data, device=None):
        dtypes.only_cpu(device)
        if len(data) == 1 and not isinstance(data[0], int):
            given = data[0]
            if isinstance(given, Tensor):
                self._a = given._a
            else:
                self._a = np.array(given, dtype=dtypes.default().np)
        else:
            self._a = np.zeros(data or (0,), dtype=dtypes.default().np)

    # What it is

    @property
    def shape(self):
        return dtypes.Size(self._a.shape)

    def size(self, dim=None):
        if dim is None:
            return dtypes.Size(self._a.shape)
        return self._a.shape[axis_of(dim, self._a.ndim)]

    @property
    def ndim(self):
        return self._a.ndim

    def dim(self):
        return self._a.ndim

    ndimension = dim

    def numel(self):
        return self._a.size

    nelement = numel

    @property
    def dtype(self):
        return dtypes.of(self._a)

    @property
    def device(self):
        return dtypes.CPU

    layout = "torch.strided"
    is_cuda = is_sparse = is_quantized = is_meta = is_mps = False

    @property
    def itemsize(self):
        return self._a.itemsize

    def element_size(self):
        return self._a.itemsize

    @property
    def nbytes(self):
        return self._a.nbytes

    def is_floating_point(self):
        return self._a.dtype.kind == "f"

    def is_complex(self):
        return self._a.dtype.kind == "c"

    def is_signed(self):
        return self._a.dtype.kind in "ifc"

    def stride(self, dim=None):
        strides = tuple(s // self._a.itemsize for s in self._a.strides)
        return strides if dim is None else strides[dim]

    def storage_offset(self):
        base = self if self._base is None else self._base
        return (self.data_ptr() - base.data_ptr()) // self._a.itemsize

    def is_contiguous(self, memory_format=None):
        return bool(self._a.flags.c_contiguous)

    def data_ptr(self):
        return self._a.__array_interface__["data"][0]

    def untyped_storage(self):
        return self if self._base is None else self._base

    def is_inference(self):
        return False

    def is_conj(self):
        return False

    is_neg = is_shared = is_pinned = is_conj

    # Gradients

    @property
    def is_leaf(self):
        return self._node is None

    @property
    def grad_fn(self):
        return self._node

    @property
    def data(self):
        return alias(self)

    @data.setter
    def data(self, other):
        self._a = other._a

    @property
    def names(self):
        return (None,) * self.ndim

    def requires_grad_(self, requires_grad=True):
        if requires_grad and self._a.dtype.kind not in "fc":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if not requires_grad and self._node is not None:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        self.requires_grad = bool(requires_grad)
        return self

    def detach(self):
        made = alias(self)
        made._versions = versions_of(self)
        return made

    def detach_(self):
        self._node, self.requires_grad = None, False
        return self

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        given = None if gradient is None else [gradient]
        autograd.backward([self], given, retain_graph, create_graph, inputs)

    def register_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        owner = self if self._node is None else self._node
        held = owner._hooks if owner is self else owner.hooks
        if held is None:
            held = {}
            if owner is self:
                self._hooks = held
            else:
                owner.hooks = held
        handle = _Hook(held)
        held[handle.id] = hook
        return handle

    def retain_grad(self):
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._node is not None:
            self._node.keeper = self

    @property
    def retains_grad(self):
        return self._node is not None and self._node.keeper is self

    # To Python and NumPy

    def numpy(self, *, force=False):
        if self.requires_grad and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        return self._a

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return wrap(np.asarray(array))

    def tolist(self):
        return self._a.tolist()

    def item(self):
        if self._a.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._a.size} elements cannot be converted to Scalar"
            )
        return self._a.item()

    def cpu(self, memory_format=None):
        return self

    def resolve_conj(self):
        return self

    resolve_neg = resolve_conj

    def cuda(self, *_, **__):
        raise RuntimeError("Found no NVIDIA driver: a page computes on the CPU")

    def __bool__(self):
        if self._a.size != 1:
            if self._a.size == 0:
                raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self._a.item())

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __complex__(self):
        return complex(self.item())

    def __index__(self):
        if self._a.size != 1 or self._a.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._a.item())

    def __len__(self):
        if self._a.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self._a.shape[0]

    def __iter__(self):
        if self._a.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        if not self.requires_grad:
            return iter([view_of(self, np.asarray(row)) for row in self._a[:, ...]])
        return iter([self[i] for i in range(self._a.shape[0])])

    def __contains__(self, element):
        if not isinstance(element, Tensor | int | float | bool | complex):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, "
                f"but you passed in a {type(element)}."
            )
        return bool((self._a == (element._a if isinstance(element, Tensor) else element)).any())

    def __hash__(self):
        return id(self)

    def __repr__(self, *, tensor_contents=None):
        from .printing import shown

        return shown(self)

    def __format__(self, spec):
        if self._a.ndim == 0:
            return format(self._a.item(), spec)
        return object.__format__(self, spec)

    def __dir__(self):
        return sorted(object.__dir__(self))

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        if self._node is not None:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment."
            )
        made = type(self).__new__(type(self))
        made._a = self._a.copy()
        made.requires_grad = self.requires_grad
        if self.grad is not None:
            made.grad = self.grad.__deepcopy__(memo)
        memo[id(self)] = made
        return made

    def __reduce__(self):
        return (_unpickled, (type(self), self._a, self.requires_grad))

    def __getattr__(self, name):
        if not name.startswith("_") and name.endswith("_") and hasattr(type(self), name[:-1]):
            raise AttributeError(f"the torch of this page has no Tensor.{name}; `make lab` has it")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")

    # In place

    def _write(self, compute):
        """Replace the numbers by those of a result, and note where they come from."""
        if is_grad_enabled():
            refuse_leaf(self)
            before = wrap(self._a.copy())  # what was recorded may need the numbers of before
            before.requires_grad, before._node = self.requires_grad, self._node
        else:
            before = self
        result = compute(before)
        self._take(result)
        return self

    def _take(self, result):
        numbers = result._a
        if numbers.shape != self._a.shape:
            raise RuntimeError(
                f"output with shape {list(self._a.shape)} doesn't match the broadcast shape "
                f"{list(numbers.shape)}"
            )
        if not np.can_cast(numbers.dtype, self._a.dtype, "same_kind"):
            raise RuntimeError(
                f"result type {type_name(numbers)} can't be cast to the desired output type "
                f"{type_name(self._a)}"
            )
        refuse_overlap(self._a)
        self._a[...] = numbers
        changed(self)
        if is_grad_enabled():
            if result._versions is not None and result._node is not None:
                # The way back needs the result, which from now on lives here.
                here = versions_of(self)
                result._node.saved = [
                    (here, here[0], kept) if versions is result._versions else (versions, n, kept)
                    for versions, n, kept in result._node.saved
                ]
            self._rebase(result.requires_grad, result._node)

    def _rebase(self, requires_grad, node):
        """Have another history from now on, and with it the tensor that this is a view of."""
        self.requires_grad, self._node = requires_grad, node
        base = self._base
        if not requires_grad or base is None:
            return
        where = _places(base._a, self._a)

        def back(gradient):
            rest = np.array(gradient, order="C")
            flat = rest.reshape(-1)
            part = flat[where]
            flat[where] = 0
            return rest, part

        base._node = Node([edge(base), node if node is not None else None], back, "CopySlices")
        base.requires_grad = True


def _unpickled(kind, array, requires_grad):
    made = kind.__new__(kind)
    made._a = array
    made.requires_grad = requires_grad
    return made


def refuse_leaf(tensor):
    """A leaf that needs a gradient cannot be changed while operations are recorded."""
    if tensor.requires_grad and tensor._node is None:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )
    base = tensor._base
    if base is not None and base.requires_grad and base._node is None:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )


def refuse_overlap(array):
    """An expanded tensor holds one number at many places."""
    if 0 in array.strides and any(
        s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)
    ):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def _places(base, view):
    """Where the numbers of a view are among those of its base, counted in rows."""
    ids = np.empty_like(base, dtype=np.int64)
    ids[...] = np.arange(base.size).reshape(base.shape)
    if any(i * base.itemsize != s * 8 for i, s in zip(ids.strides, base.strides, strict=True)):
        raise NotImplementedError(
            "the torch of this page cannot follow a change in place through this view; "
            "change the tensor itself, or work in `make lab`"
        )
    memory = np.lib.stride_tricks.as_strided(ids, (ids.size,), (8,))
    first = base.__array_interface__["data"][0]
    offset = (view.__array_interface__["data"][0] - first) // base.itemsize
    strides = tuple(s // base.itemsize * 8 for s in view.strides)
    return np.lib.stride_tricks.as_strided(memory[offset:], view.shape, strides).copy()


def wrap(array):
    """A tensor of an array, which it shares."""
    made = Tensor.__new__(Tensor)
    made._a = array if type(array) is np.ndarray else np.asarray(array)
    return made


def alias(tensor):
    """The same numbers without a history."""
    made = wrap(tensor._a)
    made._base = None
    return made


def view_of(tensor, array):
    """A tensor of an array that shares memory with another's."""
    made = Tensor.__new__(Tensor)
    made._a = array
    made._base = tensor if tensor._base is None else tensor._base
    return made


def viewed(tensor, array, back, name="View"):
    """A view, with the way back for its gradient."""
    made = view_of(tensor, array)
    return record(made, back, tensor, name=name)


def axis_of(dim, ndim):
    """An axis counted from the front, refused as PyTorch does where there is none."""
    if not isinstance(dim, int):
        if isinstance(dim, bool) or not hasattr(dim, "__index__"):
            raise TypeError(f"argument 'dim' must be int, not {type(dim).__name__}")
        dim = dim.__index__()
    least = max(ndim, 1)
    if not -least <= dim < least:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-least}, {least - 1}], "
            f"but got {dim})"
        )
    return dim % least


def axes_of(dims, ndim):
    """Several axes, none twice; None if no axis is named."""
    if dims is None:
        return None
    if isinstance(dims, list | tuple):
        if not dims:
            return None
        found = tuple(axis_of(dim, ndim) for dim in dims)
        if len(set(found)) < len(found):
            raise RuntimeError(f"dim {found[-1]} appears multiple times in the list of dims")
        return found
    return (axis_of(dims, ndim),)


class Parameter(Tensor):
    """A tensor that a module learns."""

    requires_grad = True

    def __new__(cls, data=None, requires_grad=True):
        made = Tensor.__new__(cls)
        made._a = np.zeros(0, np.float32) if data is None else data._a
        made.requires_grad = requires_grad
        return made

    def __init__(self, data=None, requires_grad=True):
        if requires_grad and self._a.dtype.kind not in "fc":
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )

    def __repr__(self, *, tensor_contents=None):
        return "Parameter containing:\n" + super().__repr__()
