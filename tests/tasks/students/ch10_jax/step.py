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


def loss_doubled(*given):
    p, v, value = _step(*given)
    return p, v, 2 * value


def damped(loss, p, v, batch, rate, momentum, largest):
    return _step(
        loss, p, v, batch, rate, momentum, largest,
        velocity=lambda v, g: momentum * v + (1 - momentum) * g,
    )  # fmt: skip


def results_in_another_order(*given):
    p, v, value = _step(*given)
    return v, p, value


def rate_in_the_velocity(loss, p, v, batch, rate, momentum, largest):
    p, v, value = _step(loss, p, v, batch, rate, momentum, largest)
    return p, jax.tree.map(lambda leaf: rate * leaf, v), value


def _step_of_set_2(loss, parameters, velocity, batch, learning_rate, norm, largest_norm, moved):
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

    return _step_of_set_2(
        loss, parameters, velocity, batch, learning_rate, _norm, largest_norm, moved
    )


def step_clipped_by_the_square(
    loss, parameters, velocity, batch, learning_rate, momentum, largest_norm
):
    def square(leaves):
        return sum((g**2).sum() for g in leaves)

    def moved(v, g):
        return momentum * v + g

    return _step_of_set_2(
        loss, parameters, velocity, batch, learning_rate, square, largest_norm, moved
    )


def step_clipped_by_entries(
    loss, parameters, velocity, batch, learning_rate, momentum, largest_norm
):
    """Clips every entry of the gradient by itself."""
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    gradient = jax.tree.map(lambda g: jnp.clip(g, -largest_norm, largest_norm), gradient)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


def velocity_clipped_after_adding(
    loss, parameters, velocity, batch, learning_rate, momentum, largest_norm
):
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    norm = jnp.sqrt(sum((v**2).sum() for v in jax.tree.leaves(velocity)))
    factor = jnp.minimum(1.0, largest_norm / norm)
    velocity = jax.tree.map(lambda v: factor * v, velocity)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


def step_of_nesterov(loss, parameters, velocity, batch, learning_rate, momentum, largest_norm):
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(gradient)))
    factor = jnp.minimum(1.0, largest_norm / norm)
    gradient = jax.tree.map(lambda g: factor * g, gradient)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    parameters = jax.tree.map(
        lambda p, v, g: p - learning_rate * (momentum * v + g), parameters, velocity, gradient
    )
    return parameters, velocity, value


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


def velocity_clipped(loss, parameters, velocity, batch, learning_rate, momentum, largest_norm):
    """Clips the new velocity by its norm instead of the gradient."""
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    norm = jnp.sqrt(sum(jnp.sum(v**2) for v in jax.tree.leaves(velocity)))
    factor = jnp.where(norm > largest_norm, largest_norm / norm, 1.0)
    velocity = jax.tree.map(lambda v: v * factor, velocity)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


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


def velocity_clipped_of_set_13(
    loss, parameters, velocity, batch, learning_rate, momentum, largest_norm
):
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


def norms_added_up(loss, parameters, velocity, batch, learning_rate, momentum, largest_norm):
    """Adds up the norms of the arrays, not the squares, and so shortens gradients too much."""
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    norm = sum(jnp.sqrt((g**2).sum()) for g in jax.tree.leaves(gradient))
    factor = jnp.where(norm > largest_norm, largest_norm / norm, 1.0)
    velocity = jax.tree.map(lambda v, g: momentum * v + factor * g, velocity, gradient)
    parameters = jax.tree.map(lambda p, v: p - learning_rate * v, parameters, velocity)
    return parameters, velocity, value


def looks_ahead_of_set_15(loss, parameters, velocity, batch, learning_rate, momentum, largest_norm):
    """Takes Nesterov's step, momentum · velocity + gradient, and not the new velocity itself."""
    value, gradient = jax.value_and_grad(loss)(parameters, batch)
    norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(gradient)))
    factor = jnp.where(norm > largest_norm, largest_norm / norm, 1.0)
    gradient = jax.tree.map(lambda g: factor * g, gradient)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradient)
    parameters = jax.tree.map(
        lambda p, v, g: p - learning_rate * (momentum * v + g), parameters, velocity, gradient
    )
    return parameters, velocity, value


UNLISTED = {
    1: [
        (always_to_that_norm, None),
        (norm_without_the_root, None),
        (loss_doubled, None),
        (damped, None),
        (results_in_another_order, None),
        (rate_in_the_velocity, None),
    ],
    2: [
        (step_with_an_average, None),
        (step_clipped_by_the_square, None),
        (step_clipped_by_entries, None),
    ],
    3: [(velocity_clipped_after_adding, None), (step_of_nesterov, None)],
    4: [(velocity_shortened_too, None)],
    5: [(the_velocity_is_clipped, None)],
    12: [(velocity_clipped, None)],
    13: [
        (zero_gradient_divided_by_its_norm, None),
        (velocity_clipped_of_set_13, None),
        (looks_ahead_as_nesterov, None),
    ],
    14: [(norms_added_up, None)],
    15: [(looks_ahead_of_set_15, None)],
}
