"""Wrong answers to chapter 10 that no list names: the third set."""

import jax
import jax.numpy as jnp
import numpy as np
import torch

# 10/head


def the_same_share_away_in_each_row(parameters, x):
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = len(x)
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    scores = jnp.where(past, query @ key.T / key.shape[1] ** 0.5, -jnp.inf)
    share = jax.nn.sigmoid(parameters["sink"])
    return (1 - share) * jax.nn.softmax(scores, axis=1) @ value


# 10/heads


def heads_interleaved(head, parameters, x):
    only_queries = {"query": 0, "key": None, "value": None}
    heads = jax.vmap(head, in_axes=(only_queries, None), out_axes=2)
    found = jax.vmap(heads, in_axes=(None, 0))(parameters, x)
    return found.reshape(*x.shape[:2], -1)


# 10/step


def velocity_clipped_after_adding(
    loss, parameters, velocity, batch, learning_rate, momentum, largest_norm
):
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    norm = jnp.sqrt(sum((v**2).sum() for v in jax.tree.leaves(velocity)))
    factor = jnp.minimum(1.0, largest_norm / norm)
    velocity = jax.tree.map(lambda v: factor * v, velocity)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


def step_of_nesterov(loss, parameters, velocity, batch, learning_rate, momentum, largest_norm):
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(gradient)))
    factor = jnp.minimum(1.0, largest_norm / norm)
    gradient = jax.tree.map(lambda g: factor * g, gradient)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    parameters = jax.tree.map(
        lambda p, v, g: p - learning_rate * (momentum * v + g), parameters, velocity, gradient
    )
    return parameters, velocity, value


# 10/keys


def uniform_of_the_same_spread(key, shapes):
    key, *keys = jax.random.split(key, 6)

    def draw(own_key, shape):
        largest = (3 / shape[0]) ** 0.5
        return jax.random.uniform(own_key, shape, minval=-largest, maxval=largest)

    head = {
        name: draw(k, shapes["head"][name])
        for k, name in zip(keys[:3], shapes["head"], strict=True)
    }
    tree = {
        "tokens": draw(keys[3], shapes["tokens"]),
        "head": head,
        "output": draw(keys[4], shapes["output"]),
    }
    return tree, key


# 10/mask


def largest_of_all_scores_subtracted(scores, real):
    T = len(real)
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    visible = past & real & real[:, None]
    powers = jnp.where(visible, jnp.exp(scores - scores.max(axis=1, keepdims=True)), 0.0)
    return powers / jnp.maximum(powers.sum(axis=1, keepdims=True), 1e-30)


# 10/convert


class HeadsReshapedOnly:
    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        rows = jnp.array(state["query_key_value.weight"].numpy())
        query, key, value = rows.reshape(3, self.n_head, rows.shape[1], -1)
        return {
            "heads": {"query": query, "key": key, "value": value},
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy().T),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        stacked = jnp.stack([tree["heads"][name] for name in ("query", "key", "value")])
        arrays = {
            "query_key_value.weight": stacked.reshape(-1, stacked.shape[2]),
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


WRITTEN = {
    "10/head": [the_same_share_away_in_each_row],
    "10/heads": [heads_interleaved],
    "10/step": [velocity_clipped_after_adding, step_of_nesterov],
    "10/keys": [uniform_of_the_same_spread],
    "10/mask": [largest_of_all_scores_subtracted],
    "10/convert": [HeadsReshapedOnly],
}
