"""Wrong answers to chapter 10 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import jax
import jax.numpy as jnp
import numpy as np
import torch

# 10/head


# "the sink joins the scores after they were scaled, unchanged"
def sink_scaled_with_the_scores(parameters, x):
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = len(x)
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    scores = jnp.where(past, query @ key.T, -jnp.inf)
    sink = jnp.full((T, 1), parameters["sink"])
    scores = jnp.concatenate([scores, sink], axis=1) / key.shape[1] ** 0.5
    return jax.nn.softmax(scores, axis=1)[:, :T] @ value


# 10/heads


# "in the result the heads are side by side, head 0 first"
def channels_of_heads_interleaved(head, parameters, x):
    only_queries = {"query": 0, "key": None, "value": None}
    heads = jax.vmap(head, in_axes=(only_queries, None), out_axes=2)
    found = jax.vmap(heads, in_axes=(None, 0))(parameters, x)
    return found.reshape(*x.shape[:2], -1)


# 10/step


# "one factor shortens the whole tree": the gradient, before it joins the velocity
def velocity_shortened_too(
    loss, parameters, velocity, batch, learning_rate, momentum, largest_norm
):
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(gradient)))
    factor = jnp.minimum(1.0, largest_norm / norm)
    velocity = jax.tree.map(lambda v, g: factor * (momentum * v + g), velocity, gradient)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


# 10/keys


# "standard deviation 1 / √rows, where rows is the first number of the shape"
def root_of_the_columns(key, shapes):
    key, *keys = jax.random.split(key, 6)

    def draw(own_key, shape):
        return jax.random.normal(own_key, shape) / shape[1] ** 0.5

    head = shapes["head"]
    names = ("query", "key", "value")
    return {
        "tokens": draw(keys[0], shapes["tokens"]),
        "head": {name: draw(own, head[name]) for name, own in zip(names, keys[1:4], strict=True)},
        "output": draw(keys[4], shapes["output"]),
    }, key


# 10/convert


# projection: torch has (C, C) as (out, in), the tree "(in, out)"
class ProjectionNeverTransposed:
    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        rows = jnp.array(state["query_key_value.weight"].numpy())
        query, key, value = rows.reshape(3, self.n_head, -1, rows.shape[1]).swapaxes(2, 3)
        return {
            "heads": {"query": query, "key": key, "value": value},
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy()),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        stacked = jnp.stack([tree["heads"][name] for name in ("query", "key", "value")])
        C = stacked.shape[2]
        arrays = {
            "query_key_value.weight": stacked.swapaxes(2, 3).reshape(3 * C, C),
            "projection.weight": tree["projection"]["weight"],
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


# 10/traces


# "waste: the share of all positions of the padded lines that are padding"
def waste_per_real_symbol():
    return {"text": "shakespeare", "as_they_are": 48, "padded": 4, "waste": 0.2028}


WRITTEN = {
    "10/head": [sink_scaled_with_the_scores],
    "10/heads": [channels_of_heads_interleaved],
    "10/step": [velocity_shortened_too],
    "10/keys": [root_of_the_columns],
    "10/convert": [ProjectionNeverTransposed],
    "10/traces": [waste_per_real_symbol],
}

ASIDE = {
    "channels_of_heads_interleaved",
    "root_of_the_columns",
    "ProjectionNeverTransposed",
    "waste_per_real_symbol",
}
