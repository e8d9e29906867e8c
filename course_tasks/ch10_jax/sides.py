"""In which library a task of chapter 10 is asked: JAX for a student, torch or NumPy for a judge.

A student's answer gets JAX arrays and JAX's transformations. What a judge runs, references and
mistakes, is wrapped in `InTorch` and asked the same questions with torch tensors, so that judging
neither imports JAX nor waits for its compiler.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from course_lib.errors import JaxMissingError
from course_tasks.answers import Array


@dataclass(frozen=True)
class InTorch:
    """An answer that is to be asked with torch tensors, and with NumPy's seeds for keys.

    Attributes
    ----------
    answer : object
        The function or class.
    """

    answer: Any


class TorchSide:
    """Asks with torch tensors; a key is a `numpy.random.SeedSequence`."""

    def array(self, array: Array) -> Any:
        """A tensor of its own."""
        return torch.from_numpy(array.copy())

    def holds(self, thing: Any) -> bool:
        """True for a tensor."""
        return isinstance(thing, torch.Tensor)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself: torch has nothing to prove here."""
        return function

    def gradient(self, function: Callable[[Any], Any], at: Any) -> Any:
        """Derivative of a scalar function at a tensor."""
        return torch.func.grad(function)(at)

    def key(self, seed: int) -> Any:
        """A key that can be spawned from."""
        return np.random.SeedSequence(seed)

    def normal(self, key: Any, count: int) -> Any:
        """(count,) standard normal numbers of a key."""
        return np.random.Generator(np.random.PCG64(key)).normal(size=count)

    @contextlib.contextmanager
    def watching_keys(self) -> Iterator[None]:
        """NumPy's seeds are not watched."""
        yield


class JaxSide:
    """Asks with JAX arrays, and with keys of `jax.random.key`.

    Raises
    ------
    JaxMissingError
        If JAX is not installed.
    """

    def __init__(self) -> None:
        try:
            import jax
        except ModuleNotFoundError as error:
            raise JaxMissingError(error) from error
        self._jax = jax

    def array(self, array: Array) -> Any:
        """A JAX array; whole numbers become int32."""
        return self._jax.numpy.array(array)

    def holds(self, thing: Any) -> bool:
        """True for an array of JAX."""
        return isinstance(thing, self._jax.Array)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as `jit` sees it: traced with abstract values, then run from the trace.

        The operations of the trace run one by one, each as compiled for an earlier answer with the
        same dimensions; to compile every answer as a whole takes most of a check's time.
        """
        from jax.extend.core import jaxpr_as_fun

        def run(*arguments: Any) -> Any:
            trace, shapes = self._jax.make_jaxpr(function, return_shape=True)(*arguments)
            numbers = jaxpr_as_fun(trace)(*self._jax.tree.leaves(arguments))
            return self._jax.tree.unflatten(self._jax.tree.structure(shapes), numbers)

        return run

    def gradient(self, function: Callable[[Any], Any], at: Any) -> Any:
        """Derivative of a scalar function at an array."""
        return self._jax.grad(function)(at)

    def key(self, seed: int) -> Any:
        """A new-style key."""
        return self._jax.random.key(seed)

    def normal(self, key: Any, count: int) -> Any:
        """(count,) standard normal numbers of a key."""
        return self._jax.random.normal(key, (count,))

    def watching_keys(self) -> Any:
        """A context in which a key that is used twice raises KeyReuseError."""
        return self._jax.debug_key_reuse(True)


Side = TorchSide | JaxSide


def side_of(answer: Any) -> tuple[Side, Any]:
    """The side on which an answer is asked, and the answer itself."""
    if isinstance(answer, InTorch):
        return TorchSide(), answer.answer
    return JaxSide(), answer


def grown(make: Callable[[Array], Any], tree: Any) -> Any:
    """A tree of dictionaries and lists with every NumPy array changed by `make`."""
    if isinstance(tree, dict):
        return {name: grown(make, branch) for name, branch in tree.items()}
    if isinstance(tree, list):
        return [grown(make, branch) for branch in tree]
    return make(tree)
