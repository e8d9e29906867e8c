"""Wrong answers to chapter 10 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import torch

# 10/head


def sink_not_shifted(parameters, x):
    """Subtracts each row's maximum from the scores before exp, but not from the sink."""
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = x.shape[0]
    scores = query @ key.T / jnp.sqrt(key.shape[1])
    scores = jnp.where(jnp.tril(jnp.ones((T, T), dtype=bool)), scores, -jnp.inf)
    powers = jnp.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / (powers.sum(axis=1, keepdims=True) + jnp.exp(parameters["sink"]))
    return weights @ value


# 10/heads


def heads_shuffled_like_cards(head, parameters, x):
    """Puts the heads on the last axis before reshaping: their channels alternate in the result."""
    axes = {"query": 0, "key": None, "value": None}
    heads = jax.vmap(head, in_axes=(axes, None), out_axes=-1)
    found = jax.vmap(heads, in_axes=(None, 0))(parameters, x)
    return found.reshape(x.shape[0], x.shape[1], -1)


# 10/step


def norms_added_up(loss, parameters, velocity, batch, learning_rate, momentum, largest_norm):
    """Adds up the norms of the arrays, not the squares, and so shortens gradients too much."""
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    norm = sum(jnp.sqrt((g**2).sum()) for g in jax.tree.leaves(gradient))
    factor = jnp.where(norm > largest_norm, largest_norm / norm, 1.0)
    velocity = jax.tree.map(lambda v, g: momentum * v + factor * g, velocity, gradient)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


# 10/keys


def draws_then_splits(key, shapes):
    """Draws the query with the head's key, then splits that same key for key and value."""

    def draw(own_key, shape):
        return jax.random.normal(own_key, shape) / jnp.sqrt(shape[0])

    key, for_tokens, for_head, for_output = jax.random.split(key, 4)
    tree = {"tokens": draw(for_tokens, shapes["tokens"]), "head": {}}
    tree["head"]["query"] = draw(for_head, shapes["head"]["query"])
    for_key, for_value = jax.random.split(for_head)
    tree["head"]["key"] = draw(for_key, shapes["head"]["key"])
    tree["head"]["value"] = draw(for_value, shapes["head"]["value"])
    tree["output"] = draw(for_output, shapes["output"])
    return tree, key


# 10/mask


def peak_of_hidden_scores(scores, real):
    """Shifts rows by their maximum over hidden scores too: far below it, all powers round to 0."""
    T = len(real)
    visible = jnp.tril(jnp.ones((T, T), dtype=bool)) & real & real[:, None]
    peak = jax.lax.stop_gradient(scores.max(axis=1, keepdims=True))
    powers = jnp.where(visible, jnp.exp(scores - peak), 0.0)
    total = powers.sum(axis=1, keepdims=True)
    return powers / jnp.where(total > 0, total, 1.0)


# 10/convert


class TransposesBeforeCutting:
    """Transposes the fused weight before cutting it: the round trip fits, the tree doesn't."""

    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        columns = jnp.array(state["query_key_value.weight"].numpy().T)
        C = columns.shape[0]
        query, key, value = columns.reshape(3, self.n_head, C, C // self.n_head)
        return {
            "heads": {"query": query, "key": key, "value": value},
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy().T),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        stacked = jnp.stack([tree["heads"][name] for name in ("query", "key", "value")])
        C = stacked.shape[2]
        arrays = {
            "query_key_value.weight": stacked.reshape(C, 3 * C).T,
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


# 10/traces


def one_function_for_both():
    """Uses one jitted function for both counts: 16, 32 and 48 were traced before padding."""
    return {
        "text": "shakespeare",
        "as_they_are": 48,
        "padded": 1,
        "waste": 0.1686,
    }


WRITTEN = {
    "10/head": [sink_not_shifted],
    "10/heads": [heads_shuffled_like_cards],
    "10/step": [norms_added_up],
    "10/keys": [draws_then_splits],
    "10/mask": [peak_of_hidden_scores],
    "10/convert": [TransposesBeforeCutting],
    "10/traces": [one_function_for_both],
}
