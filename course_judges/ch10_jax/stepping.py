"""A training step with clipping and momentum in torch, right or with one piece replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Tree = Any
Loss = Callable[[Tree, Any], Tensor]


def joined(change: Callable[..., Any], *trees: Tree) -> Tree:
    """A tree of `change(…)` of the arrays in the same place of several trees."""
    first = trees[0]
    if isinstance(first, dict):
        return {name: joined(change, *(tree[name] for tree in trees)) for name in first}
    if isinstance(first, list | tuple):
        return type(first)(joined(change, *branches) for branches in zip(*trees, strict=True))
    return change(*trees)


def leaves(tree: Tree) -> list[Tensor]:
    """All arrays of a tree."""
    found: list[Tensor] = []
    joined(found.append, tree)
    return found


def norm_of(tree: Tree) -> Tensor:
    """The norm of all arrays together."""
    return torch.stack([(leaf**2).sum() for leaf in leaves(tree)]).sum().sqrt()


def clipped(gradients: Tree, largest: Tensor) -> Tree:
    """Shortened to the largest norm, all arrays by one factor."""
    factor = (largest / norm_of(gradients)).clamp(max=1)
    return joined(lambda g: g * factor, gradients)


def rescaled(gradients: Tree, largest: Tensor) -> Tree:
    """Scaled to the largest norm, whether longer or shorter."""
    return joined(lambda g: g * largest / norm_of(gradients), gradients)


def rescaled_with_care(gradients: Tree, largest: Tensor) -> Tree:
    """The same, with a small number that avoids a division by 0."""
    return joined(lambda g: g * largest / (norm_of(gradients) + 1e-6), gradients)


def each_clipped(gradients: Tree, largest: Tensor) -> Tree:
    """Each array shortened by its own norm."""
    return joined(lambda g: clipped({"only": g}, largest)["only"], gradients)


def squared_norm_clipped(gradients: Tree, largest: Tensor) -> Tree:
    """With the sum of squares instead of its root."""
    factor = (largest / norm_of(gradients) ** 2).clamp(max=1)
    return joined(lambda g: g * factor, gradients)


def divided_by_the_norm(gradients: Tree, largest: Tensor) -> Tree:
    """Right, unless the norm is 0: the smaller of both norms over the norm."""
    norm = norm_of(gradients)
    return joined(lambda g: g * torch.minimum(norm, largest) / norm, gradients)


def entries_clipped(gradients: Tree, largest: Tensor) -> Tree:
    """Every entry clipped to the largest norm."""
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
        Whether the velocity is clipped instead of the gradient.
    loss_after : bool
        Whether the loss is that of the new parameters.
    old_velocity : bool
        Whether the velocity that came in is returned.
    exchanged : bool
        Whether the two trees are returned in the wrong order.
    ahead : bool
        Whether the parameters move by momentum · new velocity + gradient, as Nesterov's do.
    with_momentum : bool
        Whether the factor that shortens the gradient shortens the old velocity, too.
    by_gradient : bool
        Whether the parameters move by the clipped gradient instead of by the velocity.
    hands_over : callable (new velocity, learning rate) -> velocity that is returned, of one array
    """

    clip: Callable[[Tree, Tensor], Tree] = clipped
    gather: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor] = lambda m, v, g, r: m * v + g  # noqa: ARG005
    move: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor] = lambda p, v, old, r: p - r * v  # noqa: ARG005
    clip_after: bool = False
    loss_after: bool = False
    old_velocity: bool = False
    exchanged: bool = False
    ahead: bool = False
    with_momentum: bool = False
    by_gradient: bool = False
    hands_over: Callable[[Tensor, Tensor], Tensor] = lambda v, r: v  # noqa: ARG005

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
        known = velocity
        if self.with_momentum:
            factor = (largest_norm / norm_of(gradients)).clamp(max=1)
            known = joined(lambda v: factor * v, velocity)
        if not self.clip_after:
            gradients = self.clip(gradients, largest_norm)
        new = joined(lambda v, g: self.gather(momentum, v, g, learning_rate), known, gradients)
        if self.clip_after:
            new = self.clip(new, largest_norm)
        by = joined(lambda v, g: momentum * v + g, new, gradients) if self.ahead else new
        by = gradients if self.by_gradient else by
        moved = joined(
            lambda p, v, old: self.move(p, v, old, learning_rate), parameters, by, velocity
        )
        if self.loss_after:
            value = loss(moved, batch)
        over = joined(lambda v: self.hands_over(v, learning_rate), new)
        handed = velocity if self.old_velocity else over
        return (handed, moved, value) if self.exchanged else (moved, handed, value)


def overwrites(loss: Loss, parameters: Tree, velocity: Tree, batch: Any, *numbers: Tensor) -> Any:
    """Right, but puts the new arrays into the trees that it was given."""
    moved, new, value = Variant()(loss, parameters, velocity, batch, *numbers)
    parameters.update(moved)
    velocity.update(new)
    return parameters, velocity, value


def _in_jax(clip: Callable[[Tree, Any, Any], Tree]) -> Callable[..., Any]:
    """As a student might write it in JAX, with its own `clip(gradients, norm, largest norm)`."""

    def step(
        loss: Loss,
        parameters: Tree,
        velocity: Tree,
        batch: Any,
        learning_rate: Any,
        momentum: Any,
        largest_norm: Any,
    ) -> Any:
        import jax

        value, gradients = jax.value_and_grad(loss)(parameters, batch)
        norm = sum((g**2).sum() for g in jax.tree.leaves(gradients)) ** 0.5
        gradients = clip(gradients, norm, largest_norm)
        velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradients)
        moved = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
        return moved, velocity, value

    return step


def _by_if(gradients: Tree, norm: Any, largest: Any) -> Tree:
    import jax

    if norm > largest:
        gradients = jax.tree.map(lambda g: g * largest / norm, gradients)
    return gradients


def _by_float(gradients: Tree, norm: Any, largest: Any) -> Tree:
    import jax

    factor = 1 / max(1.0, float(norm) / float(largest))
    return jax.tree.map(lambda g: g * factor, gradients)


decides_in_python = _in_jax(_by_if)
takes_a_float = _in_jax(_by_float)
