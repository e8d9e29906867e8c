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


def scale_of_values(p, x):
    return _head(p, x, scale=p["value"].shape[1] ** 0.5)


def sink_adds_its_weight(p, x):
    return _head(p, x, rest=True)


def renormalized(p, x):
    return _head(p, x, sink=lambda p, _: -1e9)


def returns_numpy_of_the_first(p, x):
    return np.asarray(_head(p, x))[:1].repeat(len(x), 0)


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


def the_same_share_away_in_each_row(parameters, x):
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = len(x)
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    scores = jnp.where(past, query @ key.T / key.shape[1] ** 0.5, -jnp.inf)
    share = jax.nn.sigmoid(parameters["sink"])
    return (1 - share) * jax.nn.softmax(scores, axis=1) @ value


# "the sink joins the scores after they were scaled, unchanged"
def sink_scaled_with_the_scores(parameters, x):
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = len(x)
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    scores = jnp.where(past, query @ key.T, -jnp.inf)
    sink = jnp.full((T, 1), parameters["sink"])
    scores = jnp.concatenate([scores, sink], axis=1) / key.shape[1] ** 0.5
    return jax.nn.softmax(scores, axis=1)[:, :T] @ value


# "one more score in every row, which takes its share in the softmax": a share of e to the score,
# not of the score.
def sink_is_not_exponentiated(parameters, x):
    import jax.numpy as jnp

    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    past = jnp.tril(jnp.ones((len(x), len(x)), dtype=bool))
    scores = jnp.where(past, query @ key.T / key.shape[1] ** 0.5, -jnp.inf)
    e = jnp.exp(scores)
    return e / (e.sum(axis=1, keepdims=True) + parameters["sink"]) @ value


def sink_not_shifted(parameters, x):
    """Subtracts each row's largest score before exp, but adds the sink's exp without that shift."""
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = x.shape[0]
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    scores = jnp.where(past, query @ key.T / jnp.sqrt(key.shape[1]), -jnp.inf)
    powers = jnp.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / (powers.sum(axis=1, keepdims=True) + jnp.exp(parameters["sink"]))
    return weights @ value


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


def sink_not_shifted_of_set_14(parameters, x):
    """Subtracts each row's maximum from the scores before exp, but not from the sink."""
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = x.shape[0]
    scores = query @ key.T / jnp.sqrt(key.shape[1])
    scores = jnp.where(jnp.tril(jnp.ones((T, T), dtype=bool)), scores, -jnp.inf)
    powers = jnp.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / (powers.sum(axis=1, keepdims=True) + jnp.exp(parameters["sink"]))
    return weights @ value


def sink_in_front_cut_at_the_end(parameters, x):
    """Puts the sink before the scores, but cuts the last weight off: all weights are shifted."""
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    T = x.shape[0]
    scores = query @ key.T / jnp.sqrt(key.shape[1])
    scores = jnp.where(jnp.tril(jnp.ones((T, T), dtype=bool)), scores, -jnp.inf)
    sink = jnp.full((T, 1), parameters["sink"])
    weights = jax.nn.softmax(jnp.concatenate([sink, scores], axis=1), axis=1)
    return weights[:, :T] @ value


UNLISTED = {
    1: [
        (sink_scaled_too, None),
        (sink_squared, None),
        (scale_of_values, None),
        (sink_adds_its_weight, None),
        (renormalized, None),
        (returns_numpy_of_the_first, None),
    ],
    2: [
        (sink_added_to_the_sum, None),
        (sink_added_to_every_score, None),
        (sink_that_sees_the_first_value, None),
    ],
    3: [(the_same_share_away_in_each_row, None)],
    4: [(sink_scaled_with_the_scores, None)],
    5: [(sink_is_not_exponentiated, None)],
    12: [(sink_not_shifted, None)],
    13: [
        (sink_in_front_of_the_triangle, None),
        (sink_not_shifted_with_the_scores, None),
        (sink_column_made_by_numpy, None),
    ],
    14: [(sink_not_shifted_of_set_14, None)],
    15: [(sink_in_front_cut_at_the_end, None)],
}
