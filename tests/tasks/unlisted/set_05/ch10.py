"""Chapter 10, the fifth set: task -> wrong answers, each beside the sentence that it breaks."""

import numpy as np
import torch


# "one more score in every row, which takes its share in the softmax": a share of e to the score,
# not of the score.
def sink_is_not_exponentiated(parameters, x):
    import jax.numpy as jnp

    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    past = jnp.tril(jnp.ones((len(x), len(x)), dtype=bool))
    scores = jnp.where(past, query @ key.T / key.shape[1] ** 0.5, -jnp.inf)
    e = jnp.exp(scores)
    return e / (e.sum(axis=1, keepdims=True) + parameters["sink"]) @ value


# "one factor shortens the whole tree", of the gradient: here it shortens the velocity.
def the_velocity_is_clipped(
    loss, parameters, velocity, batch, learning_rate, momentum, largest_norm
):
    import jax
    import jax.numpy as jnp

    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    norm = jnp.sqrt(sum((v**2).sum() for v in jax.tree.leaves(velocity)))
    factor = jnp.minimum(1.0, largest_norm / norm)
    velocity = jax.tree.map(lambda v: factor * v, velocity)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


# "No key is used twice: not for two arrays": query and value have names of one length.
def keys_by_the_length_of_a_name(key, shapes):
    import jax

    def draw(name, shape):
        own_key = jax.random.fold_in(key, len(name))
        return jax.random.normal(own_key, shape) / shape[0] ** 0.5

    head = {name: draw(name, shape) for name, shape in shapes["head"].items()}
    tokens, output = (
        draw("the tokens", shapes["tokens"]),
        draw("the output layer", shapes["output"]),
    )
    return {"tokens": tokens, "head": head, "output": output}, jax.random.fold_in(key, 100)


# "Gradients ... finite, and 0 for hidden scores, whatever their values: they may be in the
# hundreds, too"; so may those that are seen, and then −100 is not hidden beside them.
def hidden_at_minus_a_hundred(scores, real):
    import jax
    import jax.numpy as jnp

    past = jnp.tril(jnp.ones((len(real), len(real)), dtype=bool))
    visible = past & real & real[:, None]
    weights = jax.nn.softmax(jnp.where(visible, scores, -100.0), axis=1)
    return jnp.where(real[:, None], weights, 0.0)


# "`query_key_value.weight` (3·C, C), all queries, then all keys, then all values": back to torch
# they are written head by head.
class BackHeadByHead:
    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        import jax.numpy as jnp

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
        import jax.numpy as jnp

        heads = tree["heads"]
        stacked = jnp.stack([heads[name] for name in ("query", "key", "value")], axis=1)
        C = stacked.shape[2]
        arrays = {
            "query_key_value.weight": stacked.swapaxes(2, 3).reshape(3 * C, C),
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


WRITTEN = {
    "10/head": [sink_is_not_exponentiated],
    "10/step": [the_velocity_is_clipped],
    "10/keys": [keys_by_the_length_of_a_name],
    "10/mask": [hidden_at_minus_a_hundred],
    "10/convert": [BackHeadByHead],
}

ASIDE = {
    "the_velocity_is_clipped",
    "hidden_at_minus_a_hundred",
}
