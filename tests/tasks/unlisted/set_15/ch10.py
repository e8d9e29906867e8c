"""Wrong answers to chapter 10 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import torch

# 10/head


def sink_in_front_cut_at_the_end(parameters, x):
    """Puts the sink before the scores, but cuts the last weight off: all weights are shifted."""
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = x.shape[0]
    scores = query @ key.T / jnp.sqrt(key.shape[1])
    scores = jnp.where(jnp.tril(jnp.ones((T, T), dtype=bool)), scores, -jnp.inf)
    sink = jnp.full((T, 1), parameters["sink"])
    weights = jax.nn.softmax(jnp.concatenate([sink, scores], axis=1), axis=1)
    return weights[:, :T] @ value


# 10/heads


def both_tiled_in_one_map(head, parameters, x):
    """Maps once over B·H pairs, but tiles heads and samples alike, so the wrong ones meet."""
    B, T, _ = x.shape
    H, _, D = parameters["query"].shape
    pairs = {
        "query": jnp.tile(parameters["query"], (B, 1, 1)),
        "key": parameters["key"],
        "value": parameters["value"],
    }
    axes = {"query": 0, "key": None, "value": None}
    found = jax.vmap(head, in_axes=(axes, 0))(pairs, jnp.tile(x, (H, 1, 1)))
    return found.reshape(B, H, T, D).swapaxes(1, 2).reshape(B, T, H * D)


# 10/step


def looks_ahead(loss, parameters, velocity, batch, learning_rate, momentum, largest_norm):
    """Takes Nesterov's step, momentum · velocity + gradient, and not the new velocity itself."""
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(gradient)))
    factor = jnp.where(norm > largest_norm, largest_norm / norm, 1.0)
    gradient = jax.tree.map(lambda g: factor * g, gradient)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    parameters = jax.tree.map(
        lambda p, v, g: p - learning_rate * (momentum * v + g), parameters, velocity, gradient
    )
    return parameters, velocity, value


# 10/keys


def channels_taken_for_rows(key, shapes):
    """Divides all arrays by √C, as if each had C rows: the token table has V of them."""
    C = shapes["tokens"][1]
    key, *keys = jax.random.split(key, 6)
    names = ("query", "key", "value")

    def draw(own_key, shape):
        return jax.random.normal(own_key, shape) / jnp.sqrt(C)

    tree = {
        "tokens": draw(keys[0], shapes["tokens"]),
        "head": {name: draw(keys[i + 1], shapes["head"][name]) for i, name in enumerate(names)},
        "output": draw(keys[4], shapes["output"]),
    }
    return tree, key


# 10/mask


def clipped_before_the_powers(scores, real):
    """Clips scores to -50 … 50 so that exp stays finite: larger ones become equal to each other."""
    T = len(real)
    visible = jnp.tril(jnp.ones((T, T), dtype=bool)) & real & real[:, None]
    powers = jnp.where(visible, jnp.exp(jnp.clip(scores, -50.0, 50.0)), 0.0)
    total = powers.sum(axis=1, keepdims=True)
    return powers / jnp.where(total > 0, total, 1.0)


# 10/convert


class StacksInTheTreesOrder:
    """Stacks heads.values() in the tree's order: jax.tree.map sorts the names, key before query."""

    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        rows = jnp.array(state["query_key_value.weight"].numpy())
        C = rows.shape[1]
        cut = rows.reshape(3, self.n_head, C // self.n_head, C).transpose(0, 1, 3, 2)
        return {
            "heads": dict(zip(("query", "key", "value"), cut, strict=True)),
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy().T),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        stacked = jnp.stack(list(tree["heads"].values()))
        C = stacked.shape[2]
        arrays = {
            "query_key_value.weight": stacked.swapaxes(2, 3).reshape(3 * C, C),
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


# 10/traces


def mean_of_the_lines_shares():
    """Takes each line's share of padding and then their mean: a short line counts as a long one."""
    return {
        "text": "shakespeare",
        "as_they_are": 48,
        "padded": 4,
        "waste": 0.1905,
    }


WRITTEN = {
    "10/head": [sink_in_front_cut_at_the_end],
    "10/heads": [both_tiled_in_one_map],
    "10/step": [looks_ahead],
    "10/keys": [channels_taken_for_rows],
    "10/mask": [clipped_before_the_powers],
    "10/convert": [StacksInTheTreesOrder],
    "10/traces": [mean_of_the_lines_shares],
}
