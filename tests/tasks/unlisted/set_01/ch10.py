"""Unlisted wrong answers to chapter 10."""

import jax
import jax.numpy as jnp
import numpy as np
import torch

# 10/head


def _head(p, x, sink=lambda p, scores: p["sink"], scale=None, diagonal=0, rest=False):
    query, key, value = (x @ p[name] for name in ("query", "key", "value"))
    T = len(x)
    past = jnp.tril(jnp.ones((T, T), bool), diagonal)
    scores = jnp.where(past, query @ key.T / (scale or key.shape[1] ** 0.5), -jnp.inf)
    column = jnp.zeros((T, 1)) + sink(p, scores)
    weights = jax.nn.softmax(jnp.concatenate([scores, column], 1), axis=1)
    found = weights[:, :T] @ value
    return found + weights[:, T:] if rest else found


def sink_scaled_too(p, x):
    return _head(p, x, sink=lambda p, _: p["sink"] / p["key"].shape[1] ** 0.5)


def sink_squared(p, x):
    return _head(p, x, sink=lambda p, _: p["sink"] ** 2)


def sink_adds_its_weight(p, x):
    return _head(p, x, rest=True)


def renormalized(p, x):
    return _head(p, x, sink=lambda p, _: -1e9)


def scale_of_values(p, x):
    return _head(p, x, scale=p["value"].shape[1] ** 0.5)


def returns_numpy_of_the_first(p, x):
    return np.asarray(_head(p, x))[:1].repeat(len(x), 0)


# 10/heads


def _many(head, p, x):
    def one(x):
        return jnp.concatenate([head({**p, "query": q}, x) for q in p["query"]], axis=-1)

    return jax.vmap(one)(x)


def heads_by_a_loop(head, p, x):
    return _many(head, p, x)


def heads_turned_round(head, p, x):
    axes = ({"query": 0, "key": None, "value": None}, None)
    found = jax.vmap(jax.vmap(head, axes, out_axes=1), (None, 0))(p, x)
    return found[:, :, ::-1].reshape(*x.shape[:2], -1)


def channels_first(head, p, x):
    axes = ({"query": 0, "key": None, "value": None}, None)
    found = jax.vmap(jax.vmap(head, axes, out_axes=2), (None, 0))(p, x)
    return found.reshape(*x.shape[:2], -1)


def first_sequence_for_all(head, p, x):
    axes = ({"query": 0, "key": None, "value": None}, None)
    found = jax.vmap(jax.vmap(head, axes, out_axes=1), (None, 0))(p, x[:1])
    return jnp.repeat(found.reshape(1, x.shape[1], -1), len(x), 0)


def four_dimensions(head, p, x):
    axes = ({"query": 0, "key": None, "value": None}, None)
    return jax.vmap(jax.vmap(head, axes, out_axes=1), (None, 0))(p, x)


# 10/step


def _step(loss, p, v, batch, rate, momentum, largest, factor=None, velocity=None, value=None):
    found, g = jax.value_and_grad(loss)(p, batch)
    norm = jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(g)))
    scale = jnp.minimum(1.0, largest / norm) if factor is None else factor(largest, norm)
    new = jax.tree.map(
        velocity or (lambda v, g: momentum * v + g), v, jax.tree.map(lambda leaf: scale * leaf, g)
    )
    p = jax.tree.map(lambda leaf, one: leaf - rate * one, p, new)
    return p, new, found


def always_to_that_norm(loss, p, v, batch, rate, momentum, largest):
    return _step(
        loss, p, v, batch, rate, momentum, largest,
        lambda largest, norm: jnp.where(norm > largest, largest / norm, largest),
    )  # fmt: skip


def norm_without_the_root(loss, p, v, batch, rate, momentum, largest):
    return _step(
        loss, p, v, batch, rate, momentum, largest,
        lambda largest, norm: jnp.minimum(1.0, largest / norm**2),
    )  # fmt: skip


def damped(loss, p, v, batch, rate, momentum, largest):
    return _step(
        loss, p, v, batch, rate, momentum, largest,
        velocity=lambda v, g: momentum * v + (1 - momentum) * g,
    )  # fmt: skip


def results_in_another_order(*given):
    p, v, value = _step(*given)
    return v, p, value


def loss_doubled(*given):
    p, v, value = _step(*given)
    return p, v, 2 * value


def rate_in_the_velocity(loss, p, v, batch, rate, momentum, largest):
    p, v, value = _step(loss, p, v, batch, rate, momentum, largest)
    return p, jax.tree.map(lambda leaf: rate * leaf, v), value


# 10/keys


def _draw(key, shapes, scale=lambda shape: shape[0] ** -0.5, normal=jax.random.normal):
    key, *keys = jax.random.split(key, 6)
    leaves, form = jax.tree.flatten(shapes, is_leaf=lambda s: isinstance(s, tuple))
    return jax.tree.unflatten(
        form, [normal(k, s) * scale(s) for k, s in zip(keys, leaves, strict=True)]
    ), key


def one_over_rows(key, shapes):
    return _draw(key, shapes, lambda shape: 1 / shape[0])


def uniform_entries(key, shapes):
    return _draw(key, shapes, normal=jax.random.uniform)


def xavier_scale(key, shapes):
    return _draw(key, shapes, lambda shape: (2 / sum(shape)) ** 0.5)


def same_key_each_time(key, shapes):
    tree, _ = _draw(key, shapes)
    return tree, jax.random.key(0)


def tree_and_key_exchanged(key, shapes):
    return _draw(key, shapes)[::-1]


def truncated_entries(key, shapes):
    return _draw(key, shapes, normal=lambda k, s: jax.random.truncated_normal(k, -1.0, 1.0, s))


# 10/mask


def _weights(scores, real, visible=None, fill=-jnp.inf):
    T = len(real)
    if visible is None:
        visible = jnp.tril(jnp.ones((T, T), bool)) & real & real[:, None]
    sees = visible.any(1, keepdims=True)
    hidden = jnp.where(sees, jnp.where(visible, scores, fill), 0.0)
    return jnp.where(sees, jax.nn.softmax(hidden, 1), 0.0)


def padding_attends(scores, real):
    T = len(real)
    return _weights(scores, real, jnp.tril(jnp.ones((T, T), bool)) & real)


def padding_is_attended(scores, real):
    T = len(real)
    return _weights(scores, real, jnp.tril(jnp.ones((T, T), bool)) & real[:, None])


def moderate_fill(scores, real):
    return _weights(scores, real, fill=-30.0)


def stops_at_the_first_padding(scores, real):
    real = real & (jnp.cumsum(~real) == jnp.cumsum(~real)[1])
    return _weights(scores, real)


def gradient_stopped(scores, real):
    return _weights(jax.lax.stop_gradient(scores), real)


def itself_hidden(scores, real):
    T = len(real)
    return _weights(scores, real, jnp.tril(jnp.ones((T, T), bool), -1) & real & real[:, None])


# 10/convert


class _Converter:
    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        rows = jnp.array(state["query_key_value.weight"].numpy())
        C = rows.shape[1]
        query, key, value = rows.reshape(3, self.n_head, -1, C).swapaxes(2, 3)
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


class TreeOfTensors(_Converter):
    def to_tree(self, state):
        return jax.tree.map(lambda leaf: torch.from_numpy(np.array(leaf)), super().to_tree(state))


class TreeOfNumpy(_Converter):
    def to_tree(self, state):
        return jax.tree.map(np.asarray, super().to_tree(state))


class StateOfNumpy(_Converter):
    def to_state(self, tree):
        return {name: tensor.numpy() for name, tensor in super().to_state(tree).items()}


class BiasForgotten(_Converter):
    def to_state(self, tree):
        state = super().to_state(tree)
        state["projection.bias"] = torch.zeros_like(state["projection.bias"])
        return state


class KeysAndValuesExchanged(_Converter):
    def to_tree(self, state):
        tree = super().to_tree(state)
        heads = tree["heads"]
        heads["key"], heads["value"] = heads["value"], heads["key"]
        return tree


class ProjectionNotTurned(_Converter):
    def to_state(self, tree):
        state = super().to_state(tree)
        state["projection.weight"] = state["projection.weight"].T.contiguous()
        return state


WRITTEN = {
    "10/head": [
        sink_scaled_too,
        sink_squared,
        scale_of_values,
        sink_adds_its_weight,
        renormalized,
        returns_numpy_of_the_first,
    ],
    "10/heads": [
        heads_by_a_loop,
        heads_turned_round,
        four_dimensions,
        channels_first,
        first_sequence_for_all,
    ],
    "10/step": [
        always_to_that_norm,
        norm_without_the_root,
        loss_doubled,
        damped,
        results_in_another_order,
        rate_in_the_velocity,
    ],
    "10/keys": [
        one_over_rows,
        uniform_entries,
        same_key_each_time,
        xavier_scale,
        tree_and_key_exchanged,
        truncated_entries,
    ],
    "10/mask": [
        padding_attends,
        moderate_fill,
        padding_is_attended,
        stops_at_the_first_padding,
        gradient_stopped,
        itself_hidden,
    ],
    "10/convert": [
        TreeOfTensors,
        TreeOfNumpy,
        KeysAndValuesExchanged,
        StateOfNumpy,
        BiasForgotten,
        ProjectionNotTurned,
    ],
}

ASIDE = ()
