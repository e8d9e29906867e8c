"""Functions of functions: `torch.func`."""

from __future__ import annotations

import numpy as np

from . import autograd
from .autograd import enable_grad
from .registry import FUNCTIONS
from .tensor import alias, wrap


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, **_):
    """Call a module with other parameters than its own."""
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        given = {name: value for one in given for name, value in one.items()}
    before = []
    try:
        for path, value in given.items():
            inside, _, name = path.rpartition(".")
            owner = module.get_submodule(inside)
            held = owner._parameters if name in owner._parameters else owner._buffers
            before.append((held, name, held[name]))
            held[name] = value
        args = args if isinstance(args, tuple) else (args,)
        return module(*args, **(kwargs or {}))
    finally:
        for held, name, value in before:
            held[name] = value


def _traced(args, places):
    made = list(args)
    for i in places:
        made[i] = alias(args[i])
        made[i].requires_grad = True
    return made


def _places(argnums):
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def grad(func, argnums=0, has_aux=False):
    """A function that returns the gradient of another."""

    def call(*args, **named):
        value, more = grad_and_value(func, argnums, has_aux)(*args, **named)
        return (value, more[1]) if has_aux else value

    return call


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that returns the gradient of another, and its value."""

    def call(*args, **named):
        places = _places(argnums)
        with enable_grad():
            made = _traced(args, places)
            result = func(*made, **named)
            loss = result[0] if has_aux else result
            found = autograd.grad(loss, [made[i] for i in places])
        value = (loss.detach(), result[1]) if has_aux else loss.detach()
        return found[0] if isinstance(argnums, int) else found, value

    return call


def vjp(func, *primals, has_aux=False):
    """A value, and a function that takes gradients of it back to the inputs."""
    with enable_grad():
        made = _traced(primals, range(len(primals)))
        result = func(*made)

    def back(gradient):
        return autograd.grad(result, made, gradient, retain_graph=True, allow_unused=True)

    return result.detach(), back


def jacrev(func, argnums=0):
    """A function that returns the derivative of every output by every input."""

    def call(*args):
        places = _places(argnums)
        with enable_grad():
            made = _traced(args, places)
            result = func(*made)
        asked = [made[i] for i in places]
        rows = [np.zeros((result._a.size, *one._a.shape), one._a.dtype) for one in asked]
        for n in range(result._a.size):
            seed = np.zeros_like(result._a)
            seed.reshape(-1)[n] = 1
            if not result.requires_grad:
                break
            found = autograd.grad(result, asked, wrap(seed), retain_graph=True, allow_unused=True)
            for row, one in zip(rows, found, strict=True):
                if one is not None:
                    row[n] = one._a
        made = [
            wrap(row.reshape(*result._a.shape, *one._a.shape))
            for row, one in zip(rows, asked, strict=True)
        ]
        return made[0] if isinstance(argnums, int) else tuple(made)

    return call


jacfwd = jacrev


def jvp(func, primals, tangents):
    """A value, and how it changes along a direction of the inputs."""
    value = func(*primals)
    change = None
    for i, tangent in enumerate(tangents):
        table = jacrev(func, i)(*primals)
        n = tangent._a.ndim
        part = FUNCTIONS["tensordot"](table, tangent, n) if n else table * tangent
        change = part if change is None else change + part
    return value, change


def vmap(func, in_dims=0, out_dims=0, **_):
    """A function of whole batches, called here once for each of their items."""

    def call(*args):
        dims = (in_dims,) * len(args) if isinstance(in_dims, int) else in_dims
        sizes = [a.shape[d] for a, d in zip(args, dims, strict=True) if d is not None]
        results = []
        for i in range(sizes[0]):
            given = [
                a if d is None else FUNCTIONS["select"](a, d, i)
                for a, d in zip(args, dims, strict=True)
            ]
            results.append(func(*given))
        if isinstance(results[0], tuple):
            outs = zip(*results, strict=True)
            return tuple(FUNCTIONS["stack"](list(one), out_dims) for one in outs)
        return FUNCTIONS["stack"](results, out_dims)

    return call


def stack_module_state(models):
    """The parameters and buffers of models, stacked."""
    made = []
    for kind in ("named_parameters", "named_buffers"):
        named = [dict(getattr(one, kind)()) for one in models]
        made.append({key: FUNCTIONS["stack"]([one[key] for one in named]) for key in named[0]})
    return tuple(made)
