"""Wrong answers to chapter 10 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"  # before JAX is imported, which reads it

import jax
import jax.numpy as jnp
import numpy as np
import torch

# 10/head


def sink_in_front_of_the_triangle(parameters, x):
    """Puts the sink in front and masks after that with tril, so a position misses itself."""
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = len(x)
    scores = query @ key.T / key.shape[1] ** 0.5
    sink = jnp.full((T, 1), parameters["sink"])
    scores = jnp.concatenate([sink, scores], axis=1)
    past = jnp.tril(jnp.ones((T, T + 1), dtype=bool))
    weights = jax.nn.softmax(jnp.where(past, scores, -jnp.inf), axis=1)
    return weights[:, 1:] @ value


def sink_not_shifted_with_the_scores(parameters, x):
    """Subtracts the largest score before exp, but adds exp(sink) without subtracting there."""
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = len(x)
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    scores = jnp.where(past, query @ key.T / key.shape[1] ** 0.5, -jnp.inf)
    e = jnp.exp(scores - scores.max(axis=1, keepdims=True))
    weights = e / (e.sum(axis=1, keepdims=True) + jnp.exp(parameters["sink"]))
    return weights @ value


def sink_column_made_by_numpy(parameters, x):
    """Builds the column of sinks with np.full, which needs its value: it doesn't compile."""
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = len(x)
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    scores = jnp.where(past, query @ key.T / key.shape[1] ** 0.5, -jnp.inf)
    sink = np.full((T, 1), parameters["sink"])
    weights = jax.nn.softmax(jnp.concatenate([scores, sink], axis=1), axis=1)
    return weights[:, :T] @ value


# 10/heads


def batch_as_one_long_sequence(head, parameters, x):
    """Flattens batch and time into one sequence, so texts attend to the texts before them."""
    B, T, C = x.shape
    only_queries = {"query": 0, "key": None, "value": None}
    heads = jax.vmap(head, in_axes=(only_queries, None), out_axes=1)
    found = heads(parameters, x.reshape(B * T, C))  # (B·T, H, D)
    return found.reshape(B, T, -1)


def head_axis_swapped_with_time(head, parameters, x):
    """Swaps the axes of (H, B, T, D) to (T, B, H, D), so the reshape mixes batch and time."""
    sequences = jax.vmap(head, in_axes=(None, 0))
    only_queries = {"query": 0, "key": None, "value": None}
    found = jax.vmap(sequences, in_axes=(only_queries, None))(parameters, x)  # (H, B, T, D)
    return found.swapaxes(0, 2).reshape(x.shape[0], x.shape[1], -1)


def shared_rows_repeated_in_place(head, parameters, x):
    """Copies keys and values with repeat, which repeats each row and not the whole matrix."""
    H, C, D = parameters["query"].shape
    full = {
        "query": parameters["query"],
        "key": jnp.repeat(parameters["key"], H, axis=0).reshape(H, C, D),
        "value": jnp.repeat(parameters["value"], H, axis=0).reshape(H, C, D),
    }
    heads = jax.vmap(head, in_axes=(0, None), out_axes=1)
    found = jax.vmap(heads, in_axes=(None, 0))(full, x)  # (B, T, H, D)
    return found.reshape(*x.shape[:2], -1)


# 10/step


def zero_gradient_divided_by_its_norm(
    loss, parameters, velocity, batch, learning_rate, momentum, largest_norm
):
    """Scales by min(norm, largest) / norm, which is 0 / 0 and so NaN for a gradient of zeros."""
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(gradient)))
    factor = jnp.minimum(norm, largest_norm) / norm
    velocity = jax.tree.map(lambda v, g: momentum * v + factor * g, velocity, gradient)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


def velocity_clipped(loss, parameters, velocity, batch, learning_rate, momentum, largest_norm):
    """Clips the new velocity by its global norm and leaves the gradient as it is."""
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    norm = jnp.sqrt(sum((v**2).sum() for v in jax.tree.leaves(velocity)))
    factor = jnp.minimum(1.0, largest_norm / norm)
    velocity = jax.tree.map(lambda v: factor * v, velocity)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


def looks_ahead_as_nesterov(
    loss, parameters, velocity, batch, learning_rate, momentum, largest_norm
):
    """Steps along gradient + momentum · new velocity, as Nesterov does, not along the velocity."""
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(gradient)))
    factor = jnp.minimum(1.0, largest_norm / norm)
    gradient = jax.tree.map(lambda g: factor * g, gradient)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    parameters = jax.tree.map(
        lambda p, v, g: p - learning_rate * (g + momentum * v), parameters, velocity, gradient
    )
    return parameters, velocity, value


# 10/keys


def sixth_of_five_keys(key, shapes):
    """Splits into five and returns keys[5], which JAX clamps to the last key, already used."""
    keys = jax.random.split(key, 5)

    def draw(own_key, shape):
        return jax.random.normal(own_key, shape) / shape[0] ** 0.5

    head = shapes["head"]
    tree = {
        "tokens": draw(keys[0], shapes["tokens"]),
        "head": {
            "query": draw(keys[1], head["query"]),
            "key": draw(keys[2], head["key"]),
            "value": draw(keys[3], head["value"]),
        },
        "output": draw(keys[4], shapes["output"]),
    }
    return tree, keys[5]


def _drawn(key, shape):
    return jax.random.normal(key, shape) / shape[0] ** 0.5


def _drawn_head(key, shapes):
    keys = jax.random.split(key, len(shapes))
    return {name: _drawn(own, shapes[name]) for name, own in zip(shapes, keys, strict=True)}


def head_splits_the_same_key(key, shapes):
    """Hands the running key to a helper that splits it for the head, then splits it again."""
    key, own = jax.random.split(key)
    tokens = _drawn(own, shapes["tokens"])
    head = _drawn_head(key, shapes["head"])
    key, own = jax.random.split(key)
    output = _drawn(own, shapes["output"])
    return {"tokens": tokens, "head": head, "output": output}, key


def normal_cut_off_at_two(key, shapes):
    """Draws from a normal truncated at two, whose deviation is 0.88 and which has no tails."""
    key, *keys = jax.random.split(key, 6)

    def draw(own_key, shape):
        return jax.random.truncated_normal(own_key, -2.0, 2.0, shape) / shape[0] ** 0.5

    head = shapes["head"]
    tree = {
        "tokens": draw(keys[0], shapes["tokens"]),
        "head": {
            "query": draw(keys[1], head["query"]),
            "key": draw(keys[2], head["key"]),
            "value": draw(keys[3], head["value"]),
        },
        "output": draw(keys[4], shapes["output"]),
    }
    return tree, key


# 10/mask


def padding_only_at_the_end(scores, real):
    """Counts the real symbols and takes the first so many, as if padding came at the end only."""
    T = len(real)
    filled = jnp.arange(T) < real.sum()
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    visible = past & filled & filled[:, None]
    sees = visible.any(axis=1, keepdims=True)
    hidden = jnp.where(visible, scores, -jnp.inf)
    harmless = jnp.where(sees, hidden, 0.0)
    return jnp.where(sees, jax.nn.softmax(harmless, axis=1), 0.0)


def largest_score_among_the_hidden(scores, real):
    """Subtracts the maximum of the whole row, hidden scores too, so a large one leaves 0 / 0."""
    T = len(real)
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    visible = past & real & real[:, None]
    sees = visible.any(axis=1, keepdims=True)
    e = jnp.where(visible, jnp.exp(scores - scores.max(axis=1, keepdims=True)), 0.0)
    total = jnp.where(sees, e.sum(axis=1, keepdims=True), 1.0)
    return e / total


def hidden_scores_at_minus_hundred(scores, real):
    """Hides with −100 in place of −∞, which is not small beside scores in the hundreds."""
    T = len(real)
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    visible = past & real & real[:, None]
    weights = jax.nn.softmax(jnp.where(visible, scores, -100.0), axis=1)
    return jnp.where(real[:, None], weights, 0.0)


# 10/convert


def _tree_of(state, n_head):
    rows = jnp.array(state["query_key_value.weight"].numpy())
    query, key, value = rows.reshape(3, n_head, -1, rows.shape[1]).swapaxes(2, 3)
    return {
        "heads": {"query": query, "key": key, "value": value},
        "projection": {
            "weight": jnp.array(state["projection.weight"].numpy().T),
            "bias": jnp.array(state["projection.bias"].numpy()),
        },
    }


def _state_of(stacked, projection):
    C = stacked.shape[2]
    arrays = {
        "query_key_value.weight": stacked.swapaxes(2, 3).reshape(3 * C, C),
        "projection.weight": projection["weight"].T,
        "projection.bias": projection["bias"],
    }
    return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


class LeavesInAlphabeticalOrder:
    """Stacks jax.tree.leaves of the heads, which come as key, query, value, on the way back."""

    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        """Dictionary of torch tensors → tree of JAX arrays."""
        return _tree_of(state, self.n_head)

    def to_state(self, tree):
        """Tree of JAX arrays → dictionary of torch tensors."""
        return _state_of(jnp.stack(jax.tree.leaves(tree["heads"])), tree["projection"])


class WeightsPoppedFromTheState:
    """Takes the tensors out of the caller's state with pop, which leaves it empty."""

    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        """Dictionary of torch tensors → tree of JAX arrays."""
        names = ("query_key_value.weight", "projection.weight", "projection.bias")
        return _tree_of({name: state.pop(name) for name in names}, self.n_head)

    def to_state(self, tree):
        """Tree of JAX arrays → dictionary of torch tensors."""
        stacked = jnp.stack([tree["heads"][name] for name in ("query", "key", "value")])
        return _state_of(stacked, tree["projection"])


class SizeRememberedFromTheWayThere:
    """Keeps C from to_tree for to_state, which fails on a converter that only goes back."""

    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        """Dictionary of torch tensors → tree of JAX arrays."""
        self.C = state["query_key_value.weight"].shape[1]
        return _tree_of(state, self.n_head)

    def to_state(self, tree):
        """Tree of JAX arrays → dictionary of torch tensors."""
        parts = [
            tree["heads"][name].swapaxes(1, 2).reshape(self.C, self.C)
            for name in ("query", "key", "value")
        ]
        arrays = {
            "query_key_value.weight": jnp.concatenate(parts),
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


# 10/traces


def one_function_for_both():
    """Calls the same jitted function for both, whose cache already holds three padded lengths."""
    return {"text": "shakespeare", "as_they_are": 48, "padded": 1, "waste": 0.1686}


def mean_of_the_shares_of_lines():
    """Takes the share of padding in each line and then the mean of lines, not of positions."""
    return {"text": "shakespeare", "as_they_are": 48, "padded": 4, "waste": 0.1905}


def empty_lines_among_the_300():
    """Takes the first 300 lines and then drops the empty ones, so there are fewer than 300."""
    return {"text": "shakespeare", "as_they_are": 44, "padded": 4, "waste": 0.1659}


WRITTEN = {
    "10/head": [
        sink_in_front_of_the_triangle,
        sink_not_shifted_with_the_scores,
        sink_column_made_by_numpy,
    ],
    "10/heads": [
        batch_as_one_long_sequence,
        head_axis_swapped_with_time,
        shared_rows_repeated_in_place,
    ],
    "10/step": [zero_gradient_divided_by_its_norm, velocity_clipped, looks_ahead_as_nesterov],
    "10/keys": [sixth_of_five_keys, head_splits_the_same_key, normal_cut_off_at_two],
    "10/mask": [
        padding_only_at_the_end,
        largest_score_among_the_hidden,
        hidden_scores_at_minus_hundred,
    ],
    "10/convert": [
        LeavesInAlphabeticalOrder,
        WeightsPoppedFromTheState,
        SizeRememberedFromTheWayThere,
    ],
    "10/traces": [one_function_for_both, mean_of_the_shares_of_lines, empty_lines_among_the_300],
}

ASIDE = {
    "WeightsPoppedFromTheState",
    "batch_as_one_long_sequence",
    "head_splits_the_same_key",
    "largest_score_among_the_hidden",
    "looks_ahead_as_nesterov",
    "mean_of_the_shares_of_lines",
    "sink_in_front_of_the_triangle",
}
