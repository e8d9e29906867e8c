"""Answers to the tasks of chapter 10, as students write them, in JAX."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import torch

# Compiling anew for the sizes of every draw takes most of the time: few draws say as much.
SEEDS = {name: range(2) for name in ("head", "heads", "step", "keys", "mask", "convert")}

# --- head -----------------------------------------------------------------------------------------


def head_by_concatenation(
    p, x, scale="key", mask="tril", fill=-jnp.inf, axis=-1, swap=False, sink="given"
):
    q, k, v = x @ p["query"], x @ p["key"], x @ p["value"]
    s = k @ q.T if swap else q @ k.T
    size = {"key": k.shape[1], "one": 1, "x": x.shape[1], "value": v.shape[1]}[scale]
    s = s / size**0.5
    T = x.shape[0]
    see = {
        "tril": jnp.tri(T) > 0,
        "all": jnp.ones((T, T)) > 0,
        "strict": jnp.tri(T, k=-1) > 0,
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


def head_with_floats(p, x):
    if float(p["sink"]) < -1e9:
        return x
    return head_by_sum(p, x)


cache = {}


def head_with_globals(p, x):
    known = cache.setdefault((x.shape, p["query"].shape, p["value"].shape), p)
    return head_by_sum(known, x)


def head_that_writes(p, x):
    out = head_by_sum(p, x)
    p["sink"] = jnp.exp(p["sink"])
    return out


# --- heads ----------------------------------------------------------------------------------------

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


# --- step -----------------------------------------------------------------------------------------


def length(tree):
    return jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(tree)))


def shorten(g, largest):
    n = length(g)
    return jax.tree.map(lambda a: jnp.where(n > largest, a * largest / n, a), g)


def by_tree_map(
    loss, p, v, batch, lr, beta, largest, clip=shorten, mix=None, move=None, late=False
):
    value, g = jax.value_and_grad(loss)(p, batch)
    g = clip(g, largest)
    mix = mix or (lambda old, new: beta * old + new)
    v2 = jax.tree.map(mix, v, g)
    p2 = jax.tree.map(move or (lambda a, b, old: a - lr * b), p, v2, v)
    return p2, v2, loss(p2, batch) if late else value


def by_optax(loss, p, v, batch, lr, beta, largest):
    value, g = jax.value_and_grad(loss)(p, batch)
    factor = jnp.minimum(1.0, largest / optax.global_norm(g))
    v = jax.tree.map(lambda old, new: beta * old + factor * new, v, g)
    return optax.apply_updates(p, jax.tree.map(lambda a: -lr * a, v)), v, value


def by_flattening(loss, p, v, batch, lr, beta, largest):
    flat, back = jax.flatten_util.ravel_pytree(p)
    value, g = jax.value_and_grad(lambda f: loss(back(f), batch))(flat)
    g = g / jnp.maximum(1.0, jnp.linalg.norm(g) / largest)
    speed = beta * jax.flatten_util.ravel_pytree(v)[0] + g
    return back(flat - lr * speed), back(speed), value


def step_with(**how):
    return lambda *a: by_tree_map(*a, **how)


def rate_inside(loss, p, v, batch, lr, beta, largest):
    def mix(old, new):
        return beta * old + lr * new

    return by_tree_map(loss, p, v, batch, lr, beta, largest, mix=mix, move=lambda a, b, old: a - b)


def plus(loss, p, v, batch, lr, *rest):
    return by_tree_map(loss, p, v, batch, -lr, *rest)


def no_momentum(loss, p, v, batch, lr, beta, largest):
    return by_tree_map(loss, p, v, batch, lr, 0.0, largest)


def old_move(loss, p, v, batch, lr, beta, largest):
    def move(a, b, old):
        return a - lr * old

    return by_tree_map(loss, p, v, batch, lr, beta, largest, move=move)


def both_shrunk(loss, p, v, batch, lr, beta, largest):
    def mix(old, new):
        return beta * (old + new)

    return by_tree_map(loss, p, v, batch, lr, beta, largest, mix=mix)


def averaged(loss, p, v, batch, lr, beta, largest):
    def mix(old, new):
        return new + beta * (old - new)

    return by_tree_map(loss, p, v, batch, lr, beta, largest, mix=mix)


def keeps_old(loss, p, v, *rest):
    new, _, value = by_tree_map(loss, p, v, *rest)
    return new, v, value


def other_order(*a):
    p, v, value = by_tree_map(*a)
    return v, p, value


def clip_speed(loss, p, v, batch, lr, beta, largest):
    value, g = jax.value_and_grad(loss)(p, batch)
    v = shorten(jax.tree.map(lambda a, b: beta * a + b, v, g), largest)
    return jax.tree.map(lambda a, b: a - lr * b, p, v), v, value


def with_if(loss, p, v, batch, lr, beta, largest):
    def clip(g, most):
        if length(g) > most:
            g = jax.tree.map(lambda a: a * (most / length(g)), g)
        return g

    return by_tree_map(loss, p, v, batch, lr, beta, largest, clip=clip)


def in_place(loss, p, v, *rest):
    new, speed, value = by_tree_map(loss, p, v, *rest)
    for name in p:
        p[name], v[name] = new[name], speed[name]
    return p, v, value


# --- keys -----------------------------------------------------------------------------------------

ORDER = ("query", "key", "value")


def assemble(draw, keys, shapes):
    keys = list(keys)
    return {
        "tokens": draw(keys[0], shapes["tokens"]),
        "head": {n: draw(k, shapes["head"][n]) for n, k in zip(ORDER, keys[1:4], strict=True)},
        "output": draw(keys[4], shapes["output"]),
    }


def normal(key, shape, wide=lambda shape: shape[0] ** -0.5):
    return wide(shape) * jax.random.normal(key, shape)


def all_at_once(key, shapes, draw=normal):
    keys = jax.random.split(key, 6)
    return assemble(draw, keys[:5], shapes), keys[5]


def one_by_one(key, shapes):
    tree = {"head": {}}
    for place, name in ((tree, "tokens"), *((tree["head"], n) for n in ORDER), (tree, "output")):
        key, mine = jax.random.split(key)
        place[name] = normal(mine, (shapes if place is tree else shapes["head"])[name])
    return tree, key


def by_number(key, shapes):
    leaves, form = jax.tree.flatten(shapes, is_leaf=lambda s: isinstance(s, tuple))
    drawn = [normal(jax.random.fold_in(key, i), s) for i, s in enumerate(leaves)]
    return jax.tree.unflatten(form, drawn), jax.random.fold_in(key, len(leaves))


def from_numpy(key, shapes):
    tree = jax.tree.map(
        lambda s: np.random.normal(size=s) / s[0] ** 0.5,
        shapes,
        is_leaf=lambda s: isinstance(s, tuple),
    )
    return tree, jax.random.split(key)[0]


def always_42(key, shapes):
    return all_at_once(jax.random.key(42), shapes)


def one_key(key, shapes):
    key, mine = jax.random.split(key)
    return assemble(normal, [mine] * 5, shapes), key


def twice(key, shapes):
    key, a, b, c = jax.random.split(key, 4)
    return assemble(normal, [a, b, c, c, jax.random.fold_in(key, 1)], shapes), jax.random.fold_in(
        key, 2
    )


def given_back(key, shapes):
    return assemble(normal, jax.random.split(key, 5), shapes), key


def used_back(key, shapes):
    keys = jax.random.split(key, 5)
    return assemble(normal, keys, shapes), keys[1]


def drawn_then_split(key, shapes):
    first = normal(key, shapes["tokens"])
    tree, key = all_at_once(jax.random.split(key)[0], shapes)
    return {**tree, "tokens": first}, key


def scaled(wide):
    return lambda key, shapes: all_at_once(key, shapes, partial(normal, wide=wide))


def uniform(key, shape):
    bound = (3 / shape[0]) ** 0.5
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)


# --- mask -----------------------------------------------------------------------------------------


def who(real, rows=True, columns=True, tri=jnp.tri):
    T = len(real)
    see = tri(T) > 0
    if columns:
        see = see & real[None]
    return see & real[:, None] if rows else see


def two_wheres(scores, real, see=who, axis=-1):
    visible = see(real)
    some = visible.any(axis, keepdims=True)
    z = jnp.where(visible, scores, -jnp.inf)
    return jnp.where(some, jax.nn.softmax(jnp.where(some, z, 0), axis), 0)


def built_in(scores, real):
    visible = who(real)
    w = jax.nn.softmax(jnp.where(visible, scores, 0), axis=-1, where=visible)
    return jnp.where(visible, w, 0.0)


def by_hand(scores, real):
    visible = who(real)
    z = jnp.where(visible, scores, -1e30)
    e = jnp.where(visible, jnp.exp(z - jax.lax.stop_gradient(z.max(1, keepdims=True))), 0.0)
    total = e.sum(1, keepdims=True)
    return e / jnp.where(total == 0, 1.0, total)


def large_number(scores, real):
    visible = who(real)
    return jax.nn.softmax(jnp.where(visible, scores, -1e30), -1) * visible


def see_with(**how):
    return lambda scores, real: two_wheres(scores, real, partial(who, **how))


def soft(fill, after=lambda w, visible: w):
    def answer(scores, real):
        visible = who(real)
        return after(jax.nn.softmax(jnp.where(visible, scores, fill), -1), visible)

    return answer


def exponential_first(scores, real):
    visible = who(real)
    top = jnp.where(visible, scores, -jnp.inf).max(1, keepdims=True)
    e = jnp.where(visible, jnp.exp(scores - jnp.where(visible.any(1, keepdims=True), top, 0)), 0)
    total = e.sum(1, keepdims=True)
    return e / jnp.where(total > 0, total, 1)


def additive(scores, real):
    visible = who(real)
    w = jax.nn.softmax(scores + jnp.where(visible, 0, -jnp.inf), -1)
    return jnp.nan_to_num(w)


def naive(scores, real):
    visible = who(real)
    e = jnp.exp(jnp.where(visible, scores, -jnp.inf))
    return e / jnp.maximum(e.sum(1, keepdims=True), 1e-30)


# --- convert --------------------------------------------------------------------------------------


class ByReshape:
    def __init__(self, n_head):
        self.n_head = n_head

    def heads(self, third):
        return jnp.array(third.reshape(self.n_head, -1, third.shape[1]).swapaxes(1, 2))

    def back(self, matrices):
        return np.concatenate([np.array(m).T for m in matrices])

    def tensor(self, array):
        return torch.tensor(np.array(array))

    turn = staticmethod(lambda m: m.T)
    turn_back = staticmethod(lambda m: m.T)
    order = (0, 1, 2)

    def to_tree(self, state):
        state = {name: tensor.detach().numpy() for name, tensor in state.items()}
        thirds = np.split(state["query_key_value.weight"], 3)
        return {
            "heads": {n: self.heads(thirds[i]) for n, i in zip(ORDER, self.order, strict=True)},
            "projection": {
                "weight": jnp.array(self.turn(state["projection.weight"])),
                "bias": jnp.array(state["projection.bias"]),
            },
        }

    def to_state(self, tree):
        rows = np.concatenate([self.back(tree["heads"][n]) for n in ORDER])
        return {
            "query_key_value.weight": self.tensor(rows),
            "projection.weight": self.tensor(self.turn_back(tree["projection"]["weight"])),
            "projection.bias": self.tensor(tree["projection"]["bias"]),
        }


class ByEinsum(ByReshape):
    def heads(self, third):
        return jnp.einsum("hdc->hcd", third.reshape(self.n_head, -1, third.shape[1]))

    def back(self, matrices):
        return jnp.moveaxis(matrices, 1, 2).reshape(-1, matrices.shape[1])


class ByLoops(ByReshape):
    def heads(self, third):
        D = len(third) // self.n_head
        return jnp.stack([third[h * D : (h + 1) * D].T for h in range(self.n_head)])

    def tensor(self, array):
        return torch.tensor(np.asarray(array).tolist())


def converter(**changes):
    return type("Changed", (ByReshape,), changes)


class HeadByHead(ByReshape):
    def to_tree(self, state):
        rows = state["query_key_value.weight"].numpy()
        C = rows.shape[1]
        parts = rows.reshape(self.n_head, 3, -1, C).transpose(1, 0, 3, 2)
        tree = super().to_tree(state)
        return {**tree, "heads": dict(zip(ORDER, map(jnp.array, parts), strict=True))}


RIGHT = {
    "head": {
        "concatenation": head_by_concatenation,
        "sum": head_by_sum,
        "rows": head_by_rows,
        "jitted": jax.jit(head_by_sum),
    },
    "heads": {
        "nested": heads_nested,
        "repeated": heads_repeated,
        "compiled": heads_compiled,
    },
    "step": {"tree map": by_tree_map, "optax": by_optax, "flat": by_flattening},
    "keys": {"at once": all_at_once, "one by one": one_by_one, "fold_in": by_number},
    "mask": {
        "two wheres": two_wheres,
        "built in": built_in,
        "by hand": by_hand,
        "large number": large_number,
    },
    "convert": {"reshape": ByReshape, "einsum": ByEinsum, "loops": ByLoops},
}

WRONG = {
    "head": {
        "no-scale": partial(head_by_concatenation, scale="one"),
        "scale-by-channels": partial(head_by_concatenation, scale="x"),
        "scale-by-values": partial(head_by_concatenation, scale="value"),
        "no-causal-mask": partial(head_by_concatenation, mask="all"),
        "diagonal-excluded": partial(head_by_concatenation, mask="strict"),
        "zero-mask": partial(head_by_concatenation, fill=0),
        "softmax-over-queries": partial(head_by_concatenation, axis=0),
        "swapped-query-key": partial(head_by_concatenation, swap=True),
        "sink-ignored": partial(head_by_concatenation, sink="none"),
        "sink-always-zero": partial(head_by_concatenation, sink="zero"),
        "sink-not-exponentiated": sink_unexponentiated,
        "sink-scaled": partial(head_by_concatenation, sink="scaled"),
        "leaves-jax": head_with_floats,
        "parameters-from-outside": head_with_globals,
        "takes-the-tree-apart": head_that_writes,
    },
    "heads": {
        "loop-over-heads": loop_h,
        "loop-over-batch": loop_b,
        "loop-over-both": loop_both,
        "head-not-used": heads_alone,
        "merge-without-transpose": changed(lambda f: f.reshape(f.shape[0], f.shape[2], -1)),
        "heads-dealt-out": changed(
            lambda f: jnp.moveaxis(f, 1, 3).reshape(f.shape[0], f.shape[2], -1)
        ),
        "heads-not-merged": all_found,
        "heads-averaged": changed(lambda f: jnp.mean(f, axis=1)),
        "heads-added": changed(lambda f: jnp.einsum("bhtd->btd", f)),
        "one-head-for-all": first_only,
    },
    "step": {
        "uphill": plus,
        "momentum-forgotten": no_momentum,
        "moves-by-old-velocity": old_move,
        "gradient-shrunk": both_shrunk,
        "averaged-gradient": averaged,
        "rate-in-velocity": rate_inside,
        "velocity-not-returned": keeps_old,
        "loss-afterwards": step_with(late=True),
        "returned-in-another-order": other_order,
        "never-clips": step_with(clip=lambda g, most: g),
        "clips-each-leaf": step_with(
            clip=lambda g, most: jax.tree.map(lambda a: shorten(a, most), g)
        ),
        "clips-entries": step_with(
            clip=lambda g, most: jax.tree.map(lambda a: jnp.clip(a, -most, most), g)
        ),
        "always-rescales": step_with(
            clip=lambda g, most: jax.tree.map(lambda a: a / length(g) * most, g)
        ),
        "norm-not-rooted": step_with(
            clip=lambda g, most: jax.tree.map(
                lambda a: a * jnp.minimum(1, most / length(g) ** 2), g
            )
        ),
        "clips-velocity": clip_speed,
        "python-if-on-traced": with_if,
        "overwrites-the-trees": in_place,
    },
    "keys": {
        "randomness-from-elsewhere": from_numpy,
        "key-fixed-inside": always_42,
        "one-key-for-all": one_key,
        "key-used-twice": twice,
        "hands-back-given-key": given_back,
        "hands-back-used-key": used_back,
        "splits-a-used-key": drawn_then_split,
        "spread-of-one": scaled(lambda shape: 1),
        "spread-by-columns": scaled(lambda shape: 1 / shape[-1] ** 0.5),
        "spread-not-rooted": scaled(lambda shape: 1 / shape[0]),
        "not-normal": partial(all_at_once, draw=uniform),
    },
    "mask": {
        "padding-ignored": see_with(rows=False, columns=False),
        "padding-is-seen": see_with(columns=False),
        "padding-looks": see_with(rows=False),
        "real-hidden": lambda scores, real: two_wheres(scores, ~real),
        "no-causal-mask": see_with(tri=lambda T: jnp.ones((T, T))),
        "upper-triangle": see_with(tri=lambda T: jnp.tri(T).T),
        "diagonal-excluded": see_with(tri=lambda T: jnp.tri(T, k=-1)),
        "nan-rows": soft(-jnp.inf),
        "uniform-empty-rows": soft(-1e9),
        "zero-mask": soft(0),
        "weights-cut-afterwards": lambda scores, real: jax.nn.softmax(scores) * who(real),
        "softmax-over-queries": partial(two_wheres, axis=0),
        "overflow": naive,
        "nan-gradients": additive,
        "gradient-stopped": lambda s, real: two_wheres(jax.lax.stop_gradient(s), real),
    },
    "convert": {
        "heads-reshaped": converter(
            heads=lambda self, m: jnp.array(m.reshape(self.n_head, m.shape[1], -1))
        ),
        "heads-not-transposed": converter(
            heads=lambda self, m: jnp.array(m.reshape(self.n_head, -1, m.shape[1]))
        ),
        "heads-dealt-out": converter(
            heads=lambda self, m: jnp.stack([m[h :: self.n_head].T for h in range(self.n_head)])
        ),
        "head-by-head": HeadByHead,
        "keys-first": converter(order=(1, 0, 2)),
        "values-first": converter(order=(1, 2, 0)),
        "projection-not-transposed": converter(turn=staticmethod(lambda m: m)),
        "heads-reshaped-back": converter(back=lambda self, m: np.array(m).reshape(-1, m.shape[1])),
        "heads-side-by-side-back": converter(back=lambda self, m: np.hstack([*map(np.array, m)])),
        "heads-dealt-out-back": converter(
            back=lambda self, m: np.einsum("hcd->dhc", m).reshape(-1, m.shape[1])
        ),
        "projection-not-transposed-back": converter(turn_back=staticmethod(lambda m: m)),
        "not-tensors": converter(tensor=lambda self, a: jnp.array(a)),
        "shares-memory": converter(tensor=lambda self, a: torch.from_dlpack(jnp.asarray(a))),
    },
}

ODD = {
    "head": [
        (lambda p, x: head_by_sum(p, x).T, "shape"),
        (lambda p, x: 2 * head_by_sum(p, x), "difference"),
        (lambda p, x: head_by_sum({**p, "sink": p["skin"]}, x), "error"),
    ],
    "heads": [(lambda head, p, x: 2 * heads_nested(head, p, x), "difference")],
    "step": [
        (step_with(clip=lambda g, most: jax.tree.map(lambda a: 3 * a, g)), "difference"),
        (lambda *a: by_tree_map(*a)[:2], "error"),
    ],
    "keys": [(scaled(lambda shape: 5.0), "wrong-spread")],
    "mask": [(lambda s, real: two_wheres(2 * s, real), "difference")],
    "convert": [(converter(turn=staticmethod(lambda m: -m.T)), "difference")],
}


def head_scaffold(parameters, x):
    raise NotImplementedError


class ConverterScaffold:
    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        raise NotImplementedError

    def to_state(self, tree):
        raise NotImplementedError


def step_scaffold(loss, parameters, velocity, batch, learning_rate, momentum, largest_norm):
    raise NotImplementedError


SCAFFOLD = {
    "head": head_scaffold,
    "heads": lambda head, parameters, x: head_scaffold(parameters, x),
    "step": step_scaffold,
    "keys": head_scaffold,
    "mask": head_scaffold,
    "convert": ConverterScaffold,
}
