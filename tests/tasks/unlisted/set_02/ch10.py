"""Wrong answers to chapter 10, second set."""

import jax
import jax.numpy as jnp
import numpy as np
import torch


def _scores(parameters, x):
    query, key = x @ parameters["query"], x @ parameters["key"]
    past = jnp.tril(jnp.ones((len(x), len(x)), dtype=bool))
    return jnp.where(past, query @ key.T / key.shape[1] ** 0.5, -jnp.inf)


def sink_added_to_the_sum(parameters, x):
    powers = jnp.exp(_scores(parameters, x))
    weights = powers / (powers.sum(axis=1, keepdims=True) + parameters["sink"])
    return weights @ (x @ parameters["value"])


def sink_added_to_every_score(parameters, x):
    weights = jax.nn.softmax(_scores(parameters, x) + parameters["sink"], axis=1)
    return weights @ (x @ parameters["value"])


def sink_that_sees_the_first_value(parameters, x):
    """The sink stands in front, and its column is not the one that is cut off."""
    scores = _scores(parameters, x)
    sink = jnp.full((len(x), 1), parameters["sink"])
    weights = jax.nn.softmax(jnp.concatenate([sink, scores], axis=1), axis=1)
    return weights[:, : len(x)] @ (x @ parameters["value"])


def queries_in_the_order_of_heads(head, parameters, x):
    only_queries = {"query": 0, "key": None, "value": None}
    heads = jax.vmap(head, in_axes=(only_queries, None))
    found = jax.vmap(heads, in_axes=(None, 0))(parameters, x)  # (B, H, T, D)
    return found.reshape(*x.shape[:2], -1)


def queries_of_the_first_head(head, parameters, x):
    first = {**parameters, "query": parameters["query"][0]}
    found = jax.vmap(head, in_axes=(None, 0))(first, x)  # (B, T, D)
    return jnp.concatenate([found] * len(parameters["query"]), axis=-1)


def queries_with_channels_interleaved(head, parameters, x):
    only_queries = {"query": 0, "key": None, "value": None}
    heads = jax.vmap(head, in_axes=(only_queries, None), out_axes=2)  # → (T, D, H)
    found = jax.vmap(heads, in_axes=(None, 0))(parameters, x)
    return found.reshape(*x.shape[:2], -1)


def _step(loss, parameters, velocity, batch, learning_rate, norm, largest_norm, moved):
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    size = norm(jax.tree.leaves(gradient))
    factor = jnp.minimum(1.0, largest_norm / size)
    velocity = jax.tree.map(lambda v, g: moved(v, factor * g), velocity, gradient)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


def _norm(leaves):
    return jnp.sqrt(sum((g**2).sum() for g in leaves))


def step_with_an_average(loss, parameters, velocity, batch, learning_rate, momentum, largest_norm):
    def moved(v, g):
        return momentum * v + (1 - momentum) * g

    return _step(loss, parameters, velocity, batch, learning_rate, _norm, largest_norm, moved)


def step_clipped_by_the_square(
    loss, parameters, velocity, batch, learning_rate, momentum, largest_norm
):
    def square(leaves):
        return sum((g**2).sum() for g in leaves)

    def moved(v, g):
        return momentum * v + g

    return _step(loss, parameters, velocity, batch, learning_rate, square, largest_norm, moved)


def step_clipped_by_entries(
    loss, parameters, velocity, batch, learning_rate, momentum, largest_norm
):
    """Clips every entry of the gradient by itself."""
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    gradient = jax.tree.map(lambda g: jnp.clip(g, -largest_norm, largest_norm), gradient)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


def _tree(keys, shapes, rows):
    def draw(key, shape):
        return jax.random.normal(key, shape) / rows(shape) ** 0.5

    head = shapes["head"]
    return {
        "tokens": draw(keys[0], shapes["tokens"]),
        "head": {
            name: draw(keys[i], head[name]) for i, name in enumerate(("query", "key", "value"), 1)
        },
        "output": draw(keys[4], shapes["output"]),
    }


def keys_shared_inside_the_head(key, shapes):
    key, *keys = jax.random.split(key, 4)
    keys = [keys[0], keys[1], keys[1], keys[1], keys[2]]
    return _tree(keys, shapes, lambda shape: shape[0]), key


def keys_scaled_by_columns(key, shapes):
    key, *keys = jax.random.split(key, 6)
    return _tree(keys, shapes, lambda shape: shape[1]), key


def keys_from_the_clock_of_numpy(key, shapes):
    """Draws with NumPy's global generator, and splits the key only to return it."""
    key, _ = jax.random.split(key)

    def draw(shape):
        return jnp.asarray(np.random.randn(*shape) / shape[0] ** 0.5)

    head = {name: draw(shape) for name, shape in shapes["head"].items()}
    tree = {"tokens": draw(shapes["tokens"]), "head": head, "output": draw(shapes["output"])}
    return tree, key


def mask_of_columns_alone(scores, real):
    past = jnp.tril(jnp.ones((len(real), len(real)), dtype=bool))
    visible = past & real
    sees = visible.any(axis=1, keepdims=True)
    safe = jnp.where(sees, jnp.where(visible, scores, -jnp.inf), 0.0)
    return jnp.where(sees, jax.nn.softmax(safe, axis=1), 0.0)


def mask_with_plain_powers(scores, real):
    past = jnp.tril(jnp.ones((len(real), len(real)), dtype=bool))
    powers = jnp.where(past & real & real[:, None], jnp.exp(scores), 0.0)
    return powers / jnp.maximum(powers.sum(axis=1, keepdims=True), 1e-30)


def mask_without_the_past(scores, real):
    """Padding is hidden, and so is everything but the future."""
    ahead = jnp.triu(jnp.ones((len(real), len(real)), dtype=bool))
    visible = ahead & real & real[:, None]
    sees = visible.any(axis=1, keepdims=True)
    safe = jnp.where(sees, jnp.where(visible, scores, -jnp.inf), 0.0)
    return jnp.where(sees, jax.nn.softmax(safe, axis=1), 0.0)


class _Converter:
    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        rows = jnp.array(state["query_key_value.weight"].numpy())
        cut = rows.reshape(3, self.n_head, -1, rows.shape[1])
        query, key, value = cut.swapaxes(2, 3)
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
            "query_key_value.weight": stacked.swapaxes(2, 3).reshape(3 * C, C),
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


class ConverterOfHeadsFirst(_Converter):
    """Reads the rows as head after head, each with query, key and value."""

    def to_tree(self, state):
        tree = super().to_tree(state)
        rows = jnp.array(state["query_key_value.weight"].numpy())
        cut = rows.reshape(self.n_head, 3, -1, rows.shape[1])
        query, key, value = cut.transpose(1, 0, 3, 2)
        return {**tree, "heads": {"query": query, "key": key, "value": value}}


class ConverterToNumpy(_Converter):
    def to_state(self, tree):
        return {name: tensor.numpy() for name, tensor in super().to_state(tree).items()}


class ConverterThatForgetsTheBias(_Converter):
    def to_state(self, tree):
        state = super().to_state(tree)
        return {**state, "projection.bias": torch.zeros_like(state["projection.bias"])}


def waste_as_the_share_of_symbols():
    return {"text": "shakespeare", "as_they_are": 48, "padded": 4, "waste": 0.8314}


WRITTEN = {
    "10/head": [sink_added_to_the_sum, sink_added_to_every_score, sink_that_sees_the_first_value],
    "10/heads": [
        queries_in_the_order_of_heads,
        queries_of_the_first_head,
        queries_with_channels_interleaved,
    ],
    "10/step": [step_with_an_average, step_clipped_by_the_square, step_clipped_by_entries],
    "10/keys": [
        keys_shared_inside_the_head,
        keys_scaled_by_columns,
        keys_from_the_clock_of_numpy,
    ],
    "10/mask": [mask_of_columns_alone, mask_with_plain_powers, mask_without_the_past],
    "10/convert": [ConverterOfHeadsFirst, ConverterToNumpy, ConverterThatForgetsTheBias],
    "10/traces": [waste_as_the_share_of_symbols],
}

ASIDE = {
    "sink_that_sees_the_first_value",
    "queries_with_channels_interleaved",
    "step_clipped_by_entries",
    "keys_from_the_clock_of_numpy",
    "mask_without_the_past",
    "ConverterThatForgetsTheBias",
}
