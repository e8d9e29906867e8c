"""The language model of chapter 06 as plain JAX functions on a tree of arrays (chapter 10).

A model here is two things: a tree of parameters, dictionaries that hold arrays, and functions that
take the tree as their first argument. Functions are written for one sequence, (T, …); `jax.vmap`
makes the batch. This module needs JAX and is imported by nothing else of the library.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, TypeAlias

from course_lib.errors import ConfigError, JaxMissingError, ShapeError

try:
    import jax
    import jax.numpy as jnp
except ModuleNotFoundError as error:
    raise JaxMissingError(error) from error

Parameters: TypeAlias = dict[str, Any]


def causal_softmax(scores: jax.Array) -> jax.Array:
    """Softmax over the past.

    Parameters
    ----------
    scores : (..., T, T) float
        Affinity of query t (row) to key s (column).

    Returns
    -------
    (..., T, T) float
        Rows sum to 1; entry (t, s) is 0 for s > t.

    Source: Vaswani et al. (2017), eq. 1, with the mask of section 3.2.3.
    """
    T = scores.shape[-1]
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    return jax.nn.softmax(jnp.where(past, scores, -jnp.inf), axis=-1)


def head(parameters: Parameters, x: jax.Array) -> jax.Array:
    """One head of causal self-attention over one sequence.

    Parameters
    ----------
    parameters : tree
        `query`, `key` and `value`, each (C, D).
    x : (T, C) float
        One vector for each position.

    Returns
    -------
    (T, D) float
    """
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))  # (T, D)
    scores = query @ key.T / math.sqrt(key.shape[-1])  # (T, T)
    return causal_softmax(scores) @ value  # (T, T) @ (T, D)


def heads(parameters: Parameters, x: jax.Array) -> jax.Array:
    """All heads over one sequence, side by side.

    Parameters
    ----------
    parameters : tree
        `query`, `key` and `value`, each (H, C, D).
    x : (T, C) float

    Returns
    -------
    (T, H·D) float
        Head 0 first.
    """
    found = jax.vmap(head, in_axes=(0, None), out_axes=1)(parameters, x)  # (T, H, D)
    return found.reshape(len(x), -1)  # (T, H, D) → (T, H·D)


def affine(parameters: Parameters, x: jax.Array) -> jax.Array:
    """`x` (..., in) times `weight` (in, out), plus `bias` (out,)."""
    return x @ parameters["weight"] + parameters["bias"]


def logits_of(parameters: Parameters, tokens: jax.Array) -> jax.Array:
    """Logits of the next symbol at each position of one sequence.

    Parameters
    ----------
    parameters : tree
        As `initialize` makes it.
    tokens : (T,) integer
        T is at most the number of rows of `positions`.

    Returns
    -------
    (T, V) float

    Raises
    ------
    ShapeError
        If the sequence is longer than there are positions.
    """
    T, block_size = len(tokens), len(parameters["positions"])
    if T > block_size:
        raise ShapeError(
            f"the context holds {T} tokens, the model has {block_size} positions: "
            f"pass the last {block_size} only, tokens[-{block_size}:]"
        )
    x = parameters["tokens"][tokens] + parameters["positions"][:T]  # (T, C)
    x = affine(parameters["projection"], heads(parameters["heads"], x))  # (T, C)
    return affine(parameters["output"], x)  # (T, V)


def loss_of(parameters: Parameters, tokens: jax.Array, targets: jax.Array) -> jax.Array:
    """Mean negative log-likelihood of a batch.

    Parameters
    ----------
    parameters : tree
    tokens, targets : (B, T) integer
        Targets of −100 count for nothing.

    Returns
    -------
    () float
        In nats.
    """
    logits = jax.vmap(logits_of, in_axes=(None, 0))(parameters, tokens)  # (B, T, V)
    counted = targets >= 0
    chosen = jnp.where(counted, targets, 0)[..., None]  # (B, T, 1)
    log_p = jnp.take_along_axis(jax.nn.log_softmax(logits), chosen, axis=-1)[..., 0]  # (B, T)
    return -jnp.where(counted, log_p, 0).sum() / counted.sum()


def initialize(
    key: jax.Array, vocab_size: int, block_size: int, n_embd: int, n_head: int
) -> Parameters:
    """Draw the parameters of a model, spread as PyTorch spreads them.

    Parameters
    ----------
    key : PRNG key
        Used up here: do not draw from it again.
    vocab_size, block_size, n_embd, n_head : int
        V, longest context, C and H.

    Returns
    -------
    tree of float32
        `tokens` (V, C), `positions` (block_size, C), `heads` with `query`, `key`, `value`
        (H, C, D) each, `projection` and `output` with `weight` (in, out) and `bias` (out,).

    Raises
    ------
    ConfigError
        If H does not divide C.
    """
    V, C, H = vocab_size, n_embd, n_head
    if C % H != 0:
        raise ConfigError(f"n_embd = {C}, n_head = {H}: n_head must divide n_embd")
    keys = iter(jax.random.split(key, 9))

    def uniform(*shape: int) -> jax.Array:
        bound = 1 / math.sqrt(C)  # every matrix here has C inputs
        return jax.random.uniform(next(keys), shape, minval=-bound, maxval=bound)

    return {
        "tokens": jax.random.normal(next(keys), (V, C)),
        "positions": jax.random.normal(next(keys), (block_size, C)),
        "heads": {name: uniform(H, C, C // H) for name in ("query", "key", "value")},
        "projection": {"weight": uniform(C, C), "bias": uniform(C)},
        "output": {"weight": uniform(C, V), "bias": uniform(V)},
    }


def draw_windows(
    key: jax.Array, tokens: jax.Array, batch_size: int, block_size: int
) -> tuple[jax.Array, jax.Array]:
    """Windows that begin anywhere in (N,) tokens, and their targets: (B, T) each."""
    starts = jax.random.randint(key, (batch_size,), 0, len(tokens) - block_size)  # (B,)
    windows = tokens[starts[:, None] + jnp.arange(block_size + 1)]  # (B, T+1)
    return windows[:, :-1], windows[:, 1:]


@partial(jax.jit, static_argnames=("optimizer", "steps", "batch_size"))
def scan_training(
    parameters: Parameters,
    tokens: jax.Array,
    key: jax.Array,
    *,
    optimizer: Any,
    steps: int,
    batch_size: int,
) -> tuple[Parameters, jax.Array]:
    """Train as one compiled loop: batches, gradients and updates, with no Python in between.

    Parameters
    ----------
    parameters : tree
        Where training starts; left as it is.
    tokens : (N,) integer
        The training split.
    key : PRNG key
        Decides the batches.
    optimizer : optax.GradientTransformation
        Such as `optax.adamw(1e-2)`.
    steps, batch_size : int
        How many batches, and B.

    Returns
    -------
    (tree, (steps,) float)
        Trained parameters, and the loss of each batch before its step.
    """
    block_size = len(parameters["positions"])

    def step(carry: Any, key: jax.Array) -> Any:
        parameters, state = carry
        x, y = draw_windows(key, tokens, batch_size, block_size)  # (B, T) each
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y)
        updates, state = optimizer.update(gradients, state, parameters)
        parameters = jax.tree.map(jnp.add, parameters, updates)
        return (parameters, state), loss

    carry = (parameters, optimizer.init(parameters))
    (parameters, _), losses = jax.lax.scan(step, carry, jax.random.split(key, steps))
    return parameters, losses
