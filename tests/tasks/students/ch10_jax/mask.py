"""Students' answers to 10/mask."""

from functools import partial

import jax
import jax.numpy as jnp

from students.ch10_jax.shared import head_scaffold


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


def additive(scores, real):
    visible = who(real)
    w = jax.nn.softmax(scores + jnp.where(visible, 0, -jnp.inf), -1)
    return jnp.nan_to_num(w)


def naive(scores, real):
    visible = who(real)
    e = jnp.exp(jnp.where(visible, scores, -jnp.inf))
    return e / jnp.maximum(e.sum(1, keepdims=True), 1e-30)


def largest_of_all(scores, real):
    visible = who(real)
    e = jnp.exp(scores - scores.max(1, keepdims=True)) * visible
    total = e.sum(1, keepdims=True)
    return e / jnp.where(total == 0, 1.0, total)


def deepest_fill(scores, real):
    """Fills with a number far below the least visible score; of none there is no least."""
    visible = who(real)
    least = scores[visible].min()
    w = jax.nn.softmax(jnp.where(visible, scores, jax.lax.stop_gradient(least) - 1e5), axis=1)
    return jnp.where(real[:, None], w, 0.0)


def zeros_in_columns(scores, real):
    """Clears the columns of padding after the softmax, and not its rows."""
    visible = jnp.tri(len(real), dtype=bool) & real
    return jax.nn.softmax(jnp.where(visible, scores, -1e30), axis=1) * real


def total_without_gradient(scores, real):
    visible = who(real)
    z = jnp.where(visible, scores, -1e30)
    e = jnp.where(visible, jnp.exp(z - jax.lax.stop_gradient(z.max(1, keepdims=True))), 0.0)
    total = jax.lax.stop_gradient(e.sum(1, keepdims=True))
    return e / jnp.where(total == 0, 1.0, total)


def narrow(scores, real):
    return two_wheres(jnp.clip(scores, -80, 80), real)


RIGHT = {
    "two wheres": two_wheres,
    "built in": built_in,
    "by hand": by_hand,
    "large number": large_number,
}


WRONG = {
    "padding-ignored": see_with(rows=False, columns=False),
    "padding-is-seen": see_with(columns=False),
    "padding-looks": see_with(rows=False),
    "padding-only-at-the-end": lambda scores, real: two_wheres(
        scores, jnp.arange(len(real)) < jnp.count_nonzero(real)
    ),
    "padding-ends-the-text": lambda scores, real: two_wheres(scores, jnp.cumsum(~real) == 0),
    "real-hidden": lambda scores, real: two_wheres(scores, ~real),
    "no-causal-mask": see_with(tri=lambda T: jnp.ones((T, T))),
    "upper-triangle": see_with(tri=lambda T: jnp.tri(T).T),
    "diagonal-excluded": see_with(tri=lambda T: jnp.tri(T, k=-1)),
    "nan-rows": soft(-jnp.inf),
    "uniform-empty-rows": soft(-1e9),
    "zero-mask": soft(0),
    "weights-cut-afterwards": lambda scores, real: jax.nn.softmax(scores) * who(real),
    "softmax-over-queries": partial(two_wheres, axis=0),
    "largest-of-hidden-scores": largest_of_all,
    "stops-without-real-symbols": deepest_fill,
    "overflow": naive,
    "nan-gradients": additive,
    "gradient-stopped": lambda s, real: two_wheres(jax.lax.stop_gradient(s), real),
}


def zero_hides(scores, real):
    return jnp.where(scores, two_wheres(scores, real), 0.0)


ODD = [
    (lambda scores, real: two_wheres(scores, real.at[-1].set(True)), "padding-elsewhere"),
    (zeros_in_columns, "rows-of-padding"),
    (total_without_gradient, "another-gradient"),
    (narrow, "large-scores"),
    (lambda s, real: two_wheres(2 * s, real), "scores-times-a-factor"),
    (zero_hides, "other-positions-seen"),
]


SCAFFOLD = head_scaffold


SEEDS = range(2)


# --- Answers that no list names ---


def powers_of_any_size(scores, real):
    powers = jnp.where(who(real), jnp.exp(scores), 0.0)
    return powers / jnp.maximum(powers.sum(axis=1, keepdims=True), 1e-30)


UNLISTED = {
    2: [(powers_of_any_size, "overflow")],
}
