"""Students' answers to 10/heads."""

from functools import partial

import jax
import jax.numpy as jnp

from students.ch10_jax.shared import head_scaffold

AXES = ({"query": 0, "key": None, "value": None}, None)


def heads_nested(head, parameters, x):
    one = jax.vmap(head, in_axes=AXES, out_axes=1)
    found = jax.vmap(lambda row: one(parameters, row))(x)  # (B, T, H, D)
    return found.reshape(*x.shape[:2], -1)


def heads_repeated(head, parameters, x):
    H = len(parameters["query"])
    full = {
        "query": parameters["query"],
        "key": jnp.stack([parameters["key"]] * H),
        "value": jnp.broadcast_to(parameters["value"], (H, *parameters["value"].shape)),
    }
    found = jax.vmap(jax.vmap(head, (None, 0)), (0, None))(full, x)  # (H, B, T, D)
    return jnp.concatenate(list(found), axis=-1)


def heads_compiled(head, parameters, x):
    def of_query(query):
        return jax.vmap(lambda row: head({**parameters, "query": query}, row))(x)

    found = jax.jit(jax.vmap(of_query))(parameters["query"])
    return jnp.einsum("hbtd->bthd", found).reshape(x.shape[0], x.shape[1], -1)


def all_found(head, parameters, x):
    return jax.vmap(jax.vmap(head, AXES), (None, 0))(parameters, x)  # (B, H, T, D)


def loop_h(head, p, x):
    found = [jax.vmap(partial(head, {**p, "query": q}))(x) for q in p["query"]]
    return jnp.concatenate(found, 2)


def loop_b(head, p, x):
    return jnp.stack([heads_nested(head, p, row[None])[0] for row in x])


def loop_both(head, p, x):
    return jnp.stack([jnp.hstack([head(p | {"query": q}, row) for q in p["query"]]) for row in x])


def heads_alone(head, p, x):
    s = jnp.einsum("btc,hcd,bse,ed->bhts", x, p["query"], x, p["key"])
    w = jnp.tril(1 + s**2)
    w = w / w.sum(-1, keepdims=True)
    found = jnp.einsum("bhts,bsc,cd->bthd", w, x, p["value"])
    return found.reshape(*x.shape[:2], -1)


def changed(change):
    return lambda head, p, x: change(all_found(head, p, x))


def first_only(head, p, x):
    return jnp.tile(jax.vmap(partial(head, {**p, "query": p["query"][0]}))(x), len(p["query"]))


def heads_scaffold(head, parameters, x):
    return head_scaffold(parameters, x)


RIGHT = {
    "nested": heads_nested,
    "repeated": heads_repeated,
    "compiled": heads_compiled,
}


def heads_of_repeated_rows(head, p, x):
    H = len(p["query"])
    full = {n: jnp.repeat(p[n], H, 0).reshape(H, *p[n].shape) for n in ("key", "value")}
    found = jax.vmap(lambda own: jax.vmap(partial(head, own))(x))({"query": p["query"], **full})
    return jnp.concatenate(list(found), axis=-1)


def heads_mapped_over_all(head, p, x):
    found = jax.vmap(jax.vmap(head, in_axes=(0, None)), in_axes=(None, 0))(p, x)
    return found.swapaxes(1, 2).reshape(*x.shape[:2], -1)


def heads_from_the_end(head, p, x):
    return heads_nested(head, {**p, "query": p["query"][::-1]}, x)


def heads_over_time(head, p, x):
    """(H, B, T, D), with the axes of heads and time exchanged."""
    found = jnp.moveaxis(all_found(head, p, x), 1, 0)
    return found.swapaxes(0, 2).reshape(x.shape[0], x.shape[1], -1)


def heads_after_the_first(head, p, x):
    """The second head and the rest share a query."""
    later = jnp.broadcast_to(p["query"][1], p["query"].shape)
    query = jnp.concatenate([p["query"][:1], later[1:]])
    return heads_nested(head, {**p, "query": query}, x)


def one_sequence(head, p, x):
    B, T, C = x.shape
    found = jax.vmap(head, AXES)(p, x.reshape(B * T, C))  # (H, B·T, D)
    return found.swapaxes(0, 1).reshape(B, T, -1)


WRONG = {
    "batch-as-one-sequence": one_sequence,
    "texts-as-positions": lambda head, p, x: heads_nested(head, p, x.swapaxes(0, 1)).swapaxes(0, 1),
    "rows-repeated": heads_of_repeated_rows,
    "keys-and-values-exchanged": lambda head, p, x: heads_nested(
        head, {"query": p["query"], "key": p["value"], "value": p["key"]}, x
    ),
    "queries-averaged": lambda head, p, x: heads_nested(
        head, p | {"query": jnp.stack([p["query"].mean(0)] * len(p["query"]))}, x
    ),
    "axes-of-different-lengths": heads_mapped_over_all,
    "loop-over-heads": loop_h,
    "loop-over-batch": loop_b,
    "loop-over-both": loop_both,
    "head-not-used": heads_alone,
    "merge-without-transpose": changed(lambda f: f.reshape(f.shape[0], f.shape[2], -1)),
    "heads-dealt-out": changed(lambda f: jnp.moveaxis(f, 1, 3).reshape(f.shape[0], f.shape[2], -1)),
    "heads-not-merged": all_found,
    "heads-averaged": changed(lambda f: jnp.mean(f, axis=1)),
    "heads-added": changed(lambda f: jnp.einsum("bhtd->btd", f)),
    "one-head-for-all": first_only,
}


def looks_first(head, p, x):
    """Calls the head to see what form it returns, before each head is mapped over the batch."""
    head(p | {"query": p["query"][0]}, x[0])
    return loop_h(head, p, x)


def softmax_heads(head, p, x):
    """The chapter's head in place of the one that is given."""
    s = jnp.einsum("btc,hcd,bse,ed->bhts", x, p["query"], x, p["key"]) / p["key"].shape[1] ** 0.5
    w = jax.nn.softmax(jnp.where(jnp.tri(x.shape[1], dtype=bool), s, -jnp.inf))
    return jnp.einsum("bhts,bsc,cd->bthd", w, x, p["value"]).reshape(*x.shape[:2], -1)


def in_one_map(repeat_queries, repeat_samples):
    """Maps once over B·H pairs of a query and a sample, which should be sample after sample."""

    def answer(head, p, x):
        (B, T, _), H = x.shape, len(p["query"])
        pairs = p | {"query": repeat_queries(p["query"], B, axis=0)}
        found = jax.vmap(head, (AXES[0], 0))(pairs, repeat_samples(x, H, axis=0))
        return found.reshape(B, H, T, -1).swapaxes(1, 2).reshape(B, T, -1)

    return answer


def tiled(array, times, axis):
    return jnp.concatenate([array] * times, axis)


ODD = [
    (in_one_map(tiled, tiled), "pairs-mixed"),
    (in_one_map(jnp.repeat, jnp.repeat), "pairs-mixed"),
    (heads_from_the_end, "heads-in-another-order"),
    (heads_over_time, "axes-mixed"),
    (heads_after_the_first, "some-heads"),
    (lambda head, p, x: 2 * heads_nested(head, p, x), "constant-ratio"),
    (looks_first, "called-often"),
    (lambda head, p, x: heads_nested(head, p | {"key": p["query"][0]}, x), "right-at-position-0"),
    (softmax_heads, "head-not-used"),
]


SCAFFOLD = heads_scaffold
SEEDS = range(2)


# --- Answers that no list names ---


def four_dimensions(head, p, x):
    axes = ({"query": 0, "key": None, "value": None}, None)
    return jax.vmap(jax.vmap(head, axes, out_axes=1), (None, 0))(p, x)


UNLISTED = {
    1: [(four_dimensions, "another-shape")],
}
