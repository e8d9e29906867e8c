"""A training step with clipping and momentum in torch, right and with one piece replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Tree = Any
Loss = Callable[[Tree, Any], Tensor]


def joined(change: Callable[..., Any], *trees: Tree) -> Tree:
    """The arrays at the same place of several trees, made into one."""
    first = trees[0]
    if isinstance(first, dict):
        return {name: joined(change, *(tree[name] for tree in trees)) for name in first}
    if isinstance(first, list):
        return [joined(change, *branches) for branches in zip(*trees, strict=True)]
    return change(*trees)


def leaves(tree: Tree) -> list[Tensor]:
    """All arrays of a tree."""
    found: list[Tensor] = []
    joined(found.append, tree)
    return found


def norm_of(tree: Tree) -> Tensor:
    """The length of all arrays together."""
    return torch.stack([(leaf**2).sum() for leaf in leaves(tree)]).sum().sqrt()


def clipped(gradients: Tree, largest: Tensor) -> Tree:
    """Shortened to the norm, all arrays by one factor."""
    factor = (largest / norm_of(gradients)).clamp(max=1)
    return joined(lambda g: g * factor, gradients)


def rescaled(gradients: Tree, largest: Tensor) -> Tree:
    """Brought to the norm, whether longer or shorter."""
    return joined(lambda g: g * largest / norm_of(gradients), gradients)


def each_clipped(gradients: Tree, largest: Tensor) -> Tree:
    """Every array shortened by itself."""
    return joined(lambda g: clipped({"only": g}, largest)["only"], gradients)


def squared_norm_clipped(gradients: Tree, largest: Tensor) -> Tree:
    """With the sum of squares in place of its root."""
    factor = (largest / norm_of(gradients) ** 2).clamp(max=1)
    return joined(lambda g: g * factor, gradients)


def entries_clipped(gradients: Tree, largest: Tensor) -> Tree:
    """Every entry cut to the norm."""
    return joined(lambda g: g.clamp(-largest, largest), gradients)


@dataclass(frozen=True)
class Variant:
    """The step, right unless told otherwise.

    Attributes
    ----------
    clip : callable (gradients, largest norm) -> gradients
    gather : callable (momentum, velocity, gradient, learning rate) -> new velocity, of one array
    move : callable (parameter, new velocity, old velocity, learning rate) -> new parameter
    clip_after : bool
        Whether the velocity is clipped in place of the gradient.
    loss_after : bool
        Whether the loss is that of the new parameters.
    old_velocity : bool
        Whether the velocity that came in is handed back.
    exchanged : bool
        Whether the two trees come back in the other order.
    ahead : bool
        Whether the step goes on as Nesterov's does: by momentum · new velocity + gradient.
    """

    clip: Callable[[Tree, Tensor], Tree] = clipped
    gather: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor] = lambda m, v, g, r: m * v + g  # noqa: ARG005
    move: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor] = lambda p, v, old, r: p - r * v  # noqa: ARG005
    clip_after: bool = False
    loss_after: bool = False
    old_velocity: bool = False
    exchanged: bool = False
    ahead: bool = False

    def __call__(
        self,
        loss: Loss,
        parameters: Tree,
        velocity: Tree,
        batch: Any,
        learning_rate: Tensor,
        momentum: Tensor,
        largest_norm: Tensor,
    ) -> Any:
        """One step: (parameters, velocity, loss)."""
        gradients, value = torch.func.grad_and_value(loss)(parameters, batch)
        if not self.clip_after:
            gradients = self.clip(gradients, largest_norm)
        new = joined(lambda v, g: self.gather(momentum, v, g, learning_rate), velocity, gradients)
        if self.clip_after:
            new = self.clip(new, largest_norm)
        by = joined(lambda v, g: momentum * v + g, new, gradients) if self.ahead else new
        moved = joined(
            lambda p, v, old: self.move(p, v, old, learning_rate), parameters, by, velocity
        )
        if self.loss_after:
            value = loss(moved, batch)
        handed = velocity if self.old_velocity else new
        return (handed, moved, value) if self.exchanged else (moved, handed, value)


def overwrites(loss: Loss, parameters: Tree, velocity: Tree, batch: Any, *numbers: Tensor) -> Any:
    """Right, and puts the new arrays into the trees that it was given."""
    moved, new, value = Variant()(loss, parameters, velocity, batch, *numbers)
    for tree, result in ((parameters, moved), (velocity, new)):
        tree["first"].update(result["first"])
        tree["last"][:] = result["last"]
    return parameters, velocity, value


def decides_in_python(
    loss: Loss,
    parameters: Tree,
    velocity: Tree,
    batch: Any,
    learning_rate: Any,
    momentum: Any,
    largest_norm: Any,
) -> Any:
    """Right, and asks with `if` whether the gradient is too long: a student's way, in JAX."""
    import jax

    value, gradients = jax.value_and_grad(loss)(parameters, batch)
    norm = sum((g**2).sum() for g in jax.tree.leaves(gradients)) ** 0.5
    if norm > largest_norm:
        gradients = jax.tree.map(lambda g: g * largest_norm / norm, gradients)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradients)
    moved = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return moved, velocity, value
