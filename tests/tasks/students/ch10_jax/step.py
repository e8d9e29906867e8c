"""Students' answers to 10/step."""

import jax
import jax.numpy as jnp
import optax


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


def by_the_gradient(loss, p, v, batch, lr, beta, largest):
    value, g = jax.value_and_grad(loss)(p, batch)
    g = shorten(g, largest)
    v = jax.tree.map(lambda old, new: beta * old + new, v, g)
    return jax.tree.map(lambda a, new: a - lr * new, p, g), v, value


def looks_ahead(loss, p, v, batch, lr, beta, largest):
    value, g = jax.value_and_grad(loss)(p, batch)
    g = shorten(g, largest)
    v = jax.tree.map(lambda old, new: beta * old + new, v, g)
    p = jax.tree.map(lambda a, speed, new: a - lr * beta * speed - lr * new, p, v, g)
    return p, v, value


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


def shrinks_both(loss, p, v, batch, lr, beta, largest):
    value, g = jax.value_and_grad(loss)(p, batch)
    factor = 1 / jnp.maximum(1, length(g) / largest)
    v = jax.tree.map(lambda old, new: factor * (beta * old + new), v, g)
    return jax.tree.map(lambda a, b: a - lr * b, p, v), v, value


def hands_over_the_move(loss, p, v, batch, lr, *rest):
    p, v, value = by_tree_map(loss, p, v, batch, lr, *rest)
    return p, jax.tree.map(lambda b: lr * b, v), value


def float_norm(g, most):
    n = float(length(g))
    return jax.tree.map(lambda a: a * min(1.0, most / max(n, 1e-12)), g)


def of_dicts_and_lists(loss, p, v, batch, lr, beta, largest):
    """Walks through trees without `jax.tree`, and knows no tuples."""

    def walk(change, *trees):
        if isinstance(trees[0], dict):
            return {name: walk(change, *(t[name] for t in trees)) for name in trees[0]}
        if isinstance(trees[0], list):
            return [walk(change, *each) for each in zip(*trees, strict=True)]
        return change(*trees)

    value, g = jax.value_and_grad(loss)(p, batch)
    g = shorten(g, largest)
    v = walk(lambda old, new: beta * old + new, v, g)
    return walk(lambda a, b: a - lr * b, p, v), v, value


def sum_of_norms(g, most):
    n = sum(jnp.linalg.norm(a) for a in jax.tree.leaves(g))
    return jax.tree.map(lambda a: a * jnp.minimum(1, most / n), g)


def by_root_of_entries(g, most):
    def each(a):
        return a * jnp.minimum(1, most / (length(a) * a.size**0.5 + 1e-12))

    return jax.tree.map(each, g)


def step_scaffold(loss, parameters, velocity, batch, learning_rate, momentum, largest_norm):
    raise NotImplementedError


RIGHT = {"tree map": by_tree_map, "optax": by_optax, "flat": by_flattening}


WRONG = {
    "uphill": plus,
    "momentum-forgotten": no_momentum,
    "moves-by-old-velocity": old_move,
    "moves-by-gradient": by_the_gradient,
    "nesterov-momentum": looks_ahead,
    "gradient-shrunk": both_shrunk,
    "averaged-gradient": averaged,
    "rate-in-velocity": rate_inside,
    "velocity-not-returned": keeps_old,
    "loss-afterwards": step_with(late=True),
    "returned-in-another-order": other_order,
    "never-clips": step_with(clip=lambda g, most: g),
    "clips-each-leaf": step_with(clip=lambda g, most: jax.tree.map(lambda a: shorten(a, most), g)),
    "clips-entries": step_with(
        clip=lambda g, most: jax.tree.map(lambda a: jnp.clip(a, -most, most), g)
    ),
    "always-rescales": step_with(
        clip=lambda g, most: jax.tree.map(lambda a: a / length(g) * most, g)
    ),
    "norm-not-rooted": step_with(
        clip=lambda g, most: jax.tree.map(lambda a: a * jnp.minimum(1, most / length(g) ** 2), g)
    ),
    "clips-velocity": clip_speed,
    "shortens-momentum-too": shrinks_both,
    "returns-the-move": hands_over_the_move,
    "divides-by-a-norm-of-zero": step_with(
        clip=lambda g, most: jax.tree.map(lambda a: a / length(g) * jnp.minimum(length(g), most), g)
    ),
    "python-if-on-traced": with_if,
    "number-of-a-traced": step_with(clip=float_norm),
    "overwrites-the-trees": in_place,
}


ODD = [
    (
        lambda loss, p, v, batch, rate, m, most: by_tree_map(loss, p, v, batch, rate, m / 2, most),
        "velocity-mixed",
    ),
    (step_with(clip=lambda g, most: jax.tree.map(lambda a: 3 * a, g)), "gradient-multiplied"),
    (step_with(clip=sum_of_norms), "another-length"),
    (step_with(clip=by_root_of_entries), "factors-of-their-own"),
    (step_with(move=lambda a, b, old: a - b), "another-rate"),
    (lambda *a: (*by_tree_map(*a)[:2], 2 * by_tree_map(*a)[2]), "loss-alone"),
    (of_dicts_and_lists, "error"),
    (lambda *a: by_tree_map(*a)[:2], "type"),
]


SCAFFOLD = step_scaffold


SEEDS = range(2)


# --- Answers that no list names ---


def multiplied_by_the_largest_norm(*asked):
    """Where a gradient is short enough, the factor is the largest norm and not 1."""

    def clip(g, most):
        n = length(g)
        return jax.tree.map(lambda a: a * jnp.where(n > most, most / n, most), g)

    return by_tree_map(*asked, clip=clip)


UNLISTED = {
    1: [(multiplied_by_the_largest_norm, "gradient-multiplied")],
}
