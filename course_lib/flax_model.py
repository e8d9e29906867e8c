"""The language model of chapter 06 in Flax, as NNX modules (chapter 10).

The tree of `course_lib.jax_model` fits both: `load` gives a Flax model its arrays, `tree_of` takes
them out.
"""

from __future__ import annotations

import math
from typing import Any

from course_lib.errors import JaxMissingError
from course_lib.jax_model import Parameters, causal_softmax

try:
    import jax
    import jax.numpy as jnp
    from flax import nnx
except ModuleNotFoundError as error:
    raise JaxMissingError(error) from error


class FlaxHead(nnx.Module):
    """One head of causal self-attention.

    Parameters
    ----------
    n_embd, head_size : int
        C channels in, D channels out.
    rngs : nnx.Rngs
        Where the first weights come from.
    """

    def __init__(self, n_embd: int, head_size: int, *, rngs: nnx.Rngs):
        self.query = nnx.Linear(n_embd, head_size, use_bias=False, rngs=rngs)
        self.key = nnx.Linear(n_embd, head_size, use_bias=False, rngs=rngs)
        self.value = nnx.Linear(n_embd, head_size, use_bias=False, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """(B, T, C) → (B, T, D)."""
        query, key = self.query(x), self.key(x)  # (B, T, D) each
        scores = query @ key.mT / math.sqrt(key.shape[-1])  # (B, T, T)
        return causal_softmax(scores) @ self.value(x)  # (B, T, T) @ (B, T, D)


class FlaxManyHeads(nnx.Module):
    """Tokens and positions, heads side by side, logits.

    Parameters
    ----------
    vocab_size, block_size, n_embd, n_head : int
        V, longest context, C and H.
    rngs : nnx.Rngs
        Where the first weights come from.
    """

    def __init__(
        self, vocab_size: int, block_size: int, n_embd: int, n_head: int, *, rngs: nnx.Rngs
    ):
        @nnx.split_rngs(splits=n_head)
        @nnx.vmap
        def draw_heads(rngs: nnx.Rngs) -> FlaxHead:
            return FlaxHead(n_embd, n_embd // n_head, rngs=rngs)

        self.tokens = nnx.Embed(vocab_size, n_embd, rngs=rngs)
        self.positions = nnx.Embed(block_size, n_embd, rngs=rngs)
        self.heads = draw_heads(rngs)  # one head whose matrices are (H, C, D)
        self.projection = nnx.Linear(n_embd, n_embd, rngs=rngs)
        self.output = nnx.Linear(n_embd, vocab_size, rngs=rngs)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        """(B, T) integer → logits (B, T, V)."""
        x = self.tokens(tokens) + self.positions(jnp.arange(tokens.shape[1]))  # (B, T, C)
        all_heads = nnx.vmap(lambda head, x: head(x), in_axes=(0, None), out_axes=2)
        together = all_heads(self.heads, x).reshape(x.shape)  # (B, T, H, D) → (B, T, C)
        return self.output(self.projection(together))  # (B, T, V)


def load(model: FlaxManyHeads, parameters: Parameters) -> None:
    """Give a Flax model the arrays of a tree, in place.

    Parameters
    ----------
    model : FlaxManyHeads
        Of the sizes of the tree.
    parameters : tree
        As `course_lib.jax_model.initialize` makes it.
    """
    model.tokens.embedding[...] = parameters["tokens"]
    model.positions.embedding[...] = parameters["positions"]
    for name, matrices in parameters["heads"].items():
        getattr(model.heads, name).kernel[...] = matrices  # (H, C, D)
    layers: dict[str, Any] = {"projection": model.projection, "output": model.output}
    for name, layer in layers.items():
        layer.kernel[...] = parameters[name]["weight"]
        layer.bias[...] = parameters[name]["bias"]


def tree_of(model: FlaxManyHeads) -> Parameters:
    """The arrays of a Flax model, as a tree of the form that `initialize` makes."""

    def linear(layer: Any) -> Parameters:
        return {"weight": layer.kernel[...], "bias": layer.bias[...]}

    return {
        "tokens": model.tokens.embedding[...],
        "positions": model.positions.embedding[...],
        "heads": {
            name: getattr(model.heads, name).kernel[...]  # (H, C, D)
            for name in ("query", "key", "value")
        },
        "projection": linear(model.projection),
        "output": linear(model.output),
    }
