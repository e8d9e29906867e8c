"""Wrong answers to chapter 10 that no list names: the twelfth set.

Each docstring says what the student did wrong.
"""

import jax
import jax.numpy as jnp
import numpy as np
import torch

# 10/head


def sink_not_shifted(parameters, x):
    """Subtracts each row's largest score before exp, but adds the sink's exp without that shift."""
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = x.shape[0]
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    scores = jnp.where(past, query @ key.T / jnp.sqrt(key.shape[1]), -jnp.inf)
    powers = jnp.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / (powers.sum(axis=1, keepdims=True) + jnp.exp(parameters["sink"]))
    return weights @ value


# 10/heads


def heads_inside_each_channel(head, parameters, x):
    """Puts the heads on the last axis and reshapes, so the heads' channels alternate."""
    axes = {"query": 0, "key": None, "value": None}
    heads = jax.vmap(head, in_axes=(axes, None), out_axes=-1)
    found = jax.vmap(heads, in_axes=(None, 0))(parameters, x)
    return found.reshape(x.shape[0], x.shape[1], -1)


# 10/step


def velocity_clipped(loss, parameters, velocity, batch, learning_rate, momentum, largest_norm):
    """Clips the new velocity by its norm instead of the gradient."""
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    norm = jnp.sqrt(sum(jnp.sum(v**2) for v in jax.tree.leaves(velocity)))
    factor = jnp.where(norm > largest_norm, largest_norm / norm, 1.0)
    velocity = jax.tree.map(lambda v: v * factor, velocity)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


# 10/keys


def tokens_by_their_channels(key, shapes):
    """Scales the table of tokens by its columns, since a look-up adds nothing up over its rows."""
    key, first, second, third, fourth, fifth = jax.random.split(key, 6)

    def draw(own, shape, number):
        return jax.random.normal(own, shape) / jnp.sqrt(number)

    head = shapes["head"]
    tree = {
        "tokens": draw(first, shapes["tokens"], shapes["tokens"][1]),
        "head": {
            "query": draw(second, head["query"], head["query"][0]),
            "key": draw(third, head["key"], head["key"][0]),
            "value": draw(fourth, head["value"], head["value"][0]),
        },
        "output": draw(fifth, shapes["output"], shapes["output"][0]),
    }
    return tree, key


# 10/mask


def shifted_by_hidden_scores(scores, real):
    """Subtracts the largest of all scores of a row, and a hidden large one makes all
    others vanish.
    """
    T = scores.shape[0]
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    visible = past & real[None, :] & real[:, None]
    powers = jnp.exp(scores - scores.max(axis=1, keepdims=True)) * visible
    return powers / jnp.maximum(powers.sum(axis=1, keepdims=True), 1e-30)


# 10/convert


class InTheOrderOfTheTree:
    """Stacks the heads' arrays in the order in which the tree holds them,
    which need not be q, k, v.
    """

    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        rows = state["query_key_value.weight"].numpy()
        C = rows.shape[1]
        query, key, value = rows.reshape(3, self.n_head, C // self.n_head, C).swapaxes(2, 3)
        return {
            "heads": {
                "query": jnp.array(query),
                "key": jnp.array(key),
                "value": jnp.array(value),
            },
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy().T),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        parts = [np.array(part).swapaxes(1, 2) for part in tree["heads"].values()]
        C = parts[0].shape[2]
        rows = np.concatenate([part.reshape(C, C) for part in parts])
        weight = np.array(tree["projection"]["weight"]).T.copy()
        return {
            "query_key_value.weight": torch.from_numpy(rows),
            "projection.weight": torch.from_numpy(weight),
            "projection.bias": torch.from_numpy(np.array(tree["projection"]["bias"])),
        }


# 10/traces


def mean_of_the_lines_shares():
    """Took the mean of the lines' shares of padding, instead of the share of all positions."""
    return {"text": "shakespeare", "as_they_are": 48, "padded": 4, "waste": 0.1905}


WRITTEN = {
    "10/head": [sink_not_shifted],
    "10/heads": [heads_inside_each_channel],
    "10/step": [velocity_clipped],
    "10/keys": [tokens_by_their_channels],
    "10/mask": [shifted_by_hidden_scores],
    "10/convert": [InTheOrderOfTheTree],
    "10/traces": [mean_of_the_lines_shares],
}
