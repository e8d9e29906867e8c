"""Students' answers to 10/head."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from students.ch10_jax.shared import head_scaffold


def head_by_concatenation(
    p, x, scale="key", mask="tril", fill=-jnp.inf, axis=-1, swap=False, sink="given"
):
    q, k, v = x @ p["query"], x @ p["key"], x @ p["value"]
    s = k @ q.T if swap else q @ k.T
    D = k.shape[1]
    size = {
        "time": len(k),
        "square": D**2,
        "inverse": 1 / D,
        "key": D,
        "one": 1,
        "x": x.shape[1],
        "value": v.shape[1],
    }[scale]
    s = s / size**0.5
    T = x.shape[0]
    see = {
        "tril": jnp.tri(T) > 0,
        "all": jnp.ones((T, T)) > 0,
        "strict": jnp.tri(T, k=-1) > 0,
        "ahead": jnp.tri(T, k=1) > 0,
        "future": jnp.tri(T).T > 0,
    }[mask]
    s = jnp.where(see, s, fill)
    if sink == "none":
        return jax.nn.softmax(s, axis) @ v
    c = {"given": p["sink"], "zero": 0.0, "scaled": p["sink"] / size**0.5}[sink]
    s = jnp.hstack([jnp.full((T, 1), c), s])
    return jax.nn.softmax(s, axis)[:, 1:] @ v


def head_by_sum(parameters, x):
    q, k, v = (jnp.einsum("tc,cd->td", x, parameters[n]) for n in ("query", "key", "value"))
    e = jnp.tril(jnp.exp(q @ k.T / jnp.sqrt(q.shape[-1])))
    return e @ v / (e.sum(1, keepdims=True) + jnp.exp(parameters["sink"]))


def head_by_rows(parameters, x):
    q, k, v = x @ parameters["query"], x @ parameters["key"], x @ parameters["value"]
    rows = []
    for t in range(len(x)):
        z = jnp.append(k[: t + 1] @ q[t] * k.shape[1] ** -0.5, parameters["sink"])
        rows.append(jax.nn.softmax(z)[:-1] @ v[: t + 1])
    return jnp.stack(rows)


def sink_unexponentiated(p, x):
    q, k, v = x @ p["query"], x @ p["key"], x @ p["value"]
    e = jnp.tril(jnp.exp(q @ k.T / q.shape[1] ** 0.5))
    return e / (p["sink"] + e.sum(1)[:, None]) @ v


def sink_beside_safe_scores(p, x, safe=lambda s, seen: jnp.max(s, 1, where=seen, initial=-1e9)):
    q, k, v = (jnp.matmul(x, p[n]) for n in ("query", "key", "value"))
    s, seen = jnp.inner(q, k) / q.shape[1] ** 0.5, jnp.tri(len(x), dtype=bool)
    e = jnp.where(seen, jnp.exp(s - jnp.reshape(safe(s, seen), (-1, 1))), 0)
    return (e @ v) / (jnp.exp(p["sink"]) + e.sum(axis=1))[:, None]


def head_with_floats(p, x):
    if float(p["sink"]) < -1e9:
        return x
    return head_by_sum(p, x)


def hidden_where_zero(p, x):
    """Takes a score of exactly 0 for one that the triangle has cut off."""
    s = jnp.tril((x @ p["query"]) @ (x @ p["key"]).T / p["key"].shape[1] ** 0.5)
    s = jnp.pad(s, ((0, 0), (0, 1)), constant_values=p["sink"])
    w = jax.nn.softmax(jnp.where(s == 0, -jnp.inf, s), axis=1)
    return w[:, :-1] @ (x @ p["value"])


def sink_in_front_last_cut(p, x):
    s = x @ p["query"] @ (x @ p["key"]).T / p["query"].shape[1] ** 0.5
    s = jnp.where(jnp.tri(len(x), dtype=bool), s, -jnp.inf)
    s = jnp.insert(s, 0, p["sink"], axis=1)
    return jax.nn.softmax(s, 1)[:, : len(x)] @ (x @ p["value"])


cache = {}


def head_with_globals(p, x):
    known = cache.setdefault((x.shape, p["query"].shape, p["value"].shape), p)
    return head_by_sum(known, x)


def head_that_writes(p, x):
    out = head_by_sum(p, x)
    p["sink"] = jnp.exp(p["sink"])
    return out


RIGHT = {
    "concatenation": head_by_concatenation,
    "sum": head_by_sum,
    "rows": head_by_rows,
    "jitted": jax.jit(head_by_sum),
}


def sink_with_a_value(p, x):
    """The sink's weight takes the last value again."""
    v = x @ p["value"]
    e = jnp.tril(jnp.exp(x @ p["query"] @ (x @ p["key"]).T / p["key"].shape[1] ** 0.5))
    taken = jnp.exp(p["sink"]) / (e.sum(1) + jnp.exp(p["sink"]))
    return head_by_sum(p, x) + taken[:, None] * v[-1]


WRONG = {
    "one-step-ahead": partial(head_by_concatenation, mask="ahead"),
    "upper-triangle": partial(head_by_concatenation, mask="future"),
    "no-scale": partial(head_by_concatenation, scale="one"),
    "scale-by-channels": partial(head_by_concatenation, scale="x"),
    "scale-by-values": partial(head_by_concatenation, scale="value"),
    "scale-by-time": partial(head_by_concatenation, scale="time"),
    "scale-not-rooted": partial(head_by_concatenation, scale="square"),
    "scale-multiplied": partial(head_by_concatenation, scale="inverse"),
    "no-causal-mask": partial(head_by_concatenation, mask="all"),
    "diagonal-excluded": partial(head_by_concatenation, mask="strict"),
    "zero-mask": partial(head_by_concatenation, fill=0),
    "softmax-over-queries": partial(head_by_concatenation, axis=0),
    "swapped-query-key": partial(head_by_concatenation, swap=True),
    "sink-ignored": partial(head_by_concatenation, sink="none"),
    "sink-always-zero": partial(head_by_concatenation, sink="zero"),
    "sink-not-exponentiated": sink_unexponentiated,
    "sink-scaled": partial(head_by_concatenation, sink="scaled"),
    "sink-not-shifted": sink_beside_safe_scores,
    "another-column-cut-off": sink_in_front_last_cut,
    "sink-of-zero-hidden": hidden_where_zero,
    "leaves-jax": head_with_floats,
    "parameters-from-outside": head_with_globals,
    "takes-the-tree-apart": head_that_writes,
}


ODD = [
    (sink_with_a_value, "value-for-the-sink"),
    (partial(head_by_concatenation, fill=-1.0), "first-row-mixed"),
    (lambda p, x: head_by_sum({**p, "sink": -p["sink"]}, x), "another-share"),
    (lambda p, x: head_by_sum(p, x).T, "transposed"),
    (lambda p, x: 2 * head_by_sum(p, x), "constant-ratio"),
    (lambda p, x: head_by_sum({**p, "sink": p["sink"] * jnp.sqrt(9.0)}, x), "another-share"),
    (
        lambda p, x: jax.nn.sigmoid(p["sink"]) * head_by_concatenation(p, x, sink="none"),
        "another-share",
    ),
    (partial(sink_beside_safe_scores, safe=lambda s, seen: s.max()), "sink-not-shifted"),
    (lambda p, x: head_by_sum({**p, "sink": p["skin"]}, x), "error"),
]


SCAFFOLD = head_scaffold


SEEDS = range(2)


# --- Answers that no list names ---


def sink_column_made_by_numpy(parameters, x):
    """Builds the column of sinks with np.full, which needs its value: it doesn't compile."""
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = len(x)
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    scores = jnp.where(past, query @ key.T / key.shape[1] ** 0.5, -jnp.inf)
    sink = np.full((T, 1), parameters["sink"])
    weights = jax.nn.softmax(jnp.concatenate([scores, sink], axis=1), axis=1)
    return weights[:, :T] @ value


UNLISTED = {
    13: [(sink_column_made_by_numpy, "leaves-jax")],
}
