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


def moderate_fill(scores, real):
    return _weights(scores, real, fill=-30.0)


def padding_is_attended(scores, real):
    T = len(real)
    return _weights(scores, real, jnp.tril(jnp.ones((T, T), bool)) & real[:, None])


def stops_at_the_first_padding(scores, real):
    real = real & (jnp.cumsum(~real) == jnp.cumsum(~real)[1])
    return _weights(scores, real)


def gradient_stopped(scores, real):
    return _weights(jax.lax.stop_gradient(scores), real)


def itself_hidden(scores, real):
    T = len(real)
    return _weights(scores, real, jnp.tril(jnp.ones((T, T), bool), -1) & real & real[:, None])


def mask_of_columns_alone(scores, real):
    past = jnp.tril(jnp.ones((len(real), len(real)), dtype=bool))
    visible = past & real
    sees = visible.any(axis=1, keepdims=True)
    safe = jnp.where(sees, jnp.where(visible, scores, -jnp.inf), 0.0)
    return jnp.where(sees, jax.nn.softmax(safe, axis=1), 0.0)


def mask_with_plain_powers(scores, real):
    past = jnp.tril(jnp.ones((len(real), len(real)), dtype=bool))
    powers = jnp.where(past & real & real[:, None], jnp.exp(scores), 0.0)
    return powers / jnp.maximum(powers.sum(axis=1, keepdims=True), 1e-30)


def mask_without_the_past(scores, real):
    """Padding is hidden, and so is everything but the future."""
    ahead = jnp.triu(jnp.ones((len(real), len(real)), dtype=bool))
    visible = ahead & real & real[:, None]
    sees = visible.any(axis=1, keepdims=True)
    safe = jnp.where(sees, jnp.where(visible, scores, -jnp.inf), 0.0)
    return jnp.where(sees, jax.nn.softmax(safe, axis=1), 0.0)


def largest_of_all_scores_subtracted(scores, real):
    T = len(real)
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    visible = past & real & real[:, None]
    powers = jnp.where(visible, jnp.exp(scores - scores.max(axis=1, keepdims=True)), 0.0)
    return powers / jnp.maximum(powers.sum(axis=1, keepdims=True), 1e-30)


# "Gradients ... finite, and 0 for hidden scores, whatever their values: they may be in the
# hundreds, too"; so may those that are seen, and then −100 is not hidden beside them.
def hidden_at_minus_a_hundred(scores, real):
    import jax
    import jax.numpy as jnp

    past = jnp.tril(jnp.ones((len(real), len(real)), dtype=bool))
    visible = past & real & real[:, None]
    weights = jax.nn.softmax(jnp.where(visible, scores, -100.0), axis=1)
    return jnp.where(real[:, None], weights, 0.0)


def shifted_by_hidden_scores(scores, real):
    """Subtracts the largest of all scores of a row, and a hidden large one makes all
    others vanish.
    """
    T = scores.shape[0]
    past = jnp.tril(jnp.ones((T, T), dtype=bool))
    visible = past & real[None, :] & real[:, None]
    powers = jnp.exp(scores - scores.max(axis=1, keepdims=True)) * visible
    return powers / jnp.maximum(powers.sum(axis=1, keepdims=True), 1e-30)


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


def peak_of_hidden_scores(scores, real):
    """Shifts rows by their maximum over hidden scores too: far below it, all powers round to 0."""
    T = len(real)
    visible = jnp.tril(jnp.ones((T, T), dtype=bool)) & real & real[:, None]
    peak = jax.lax.stop_gradient(scores.max(axis=1, keepdims=True))
    powers = jnp.where(visible, jnp.exp(scores - peak), 0.0)
    total = powers.sum(axis=1, keepdims=True)
    return powers / jnp.where(total > 0, total, 1.0)


def clipped_before_the_powers(scores, real):
    """Clips scores to -50 … 50 so that exp stays finite: larger ones become equal to each other."""
    T = len(real)
    visible = jnp.tril(jnp.ones((T, T), dtype=bool)) & real & real[:, None]
    powers = jnp.where(visible, jnp.exp(jnp.clip(scores, -50.0, 50.0)), 0.0)
    total = powers.sum(axis=1, keepdims=True)
    return powers / jnp.where(total > 0, total, 1.0)


UNLISTED = {
    1: [
        (padding_attends, None),
        (moderate_fill, None),
        (padding_is_attended, None),
        (stops_at_the_first_padding, None),
        (gradient_stopped, None),
        (itself_hidden, None),
    ],
    2: [
        (mask_of_columns_alone, None),
        (mask_with_plain_powers, None),
        (mask_without_the_past, None),
    ],
    3: [(largest_of_all_scores_subtracted, None)],
    5: [(hidden_at_minus_a_hundred, None)],
    12: [(shifted_by_hidden_scores, None)],
    13: [
        (padding_only_at_the_end, None),
        (largest_score_among_the_hidden, None),
        (hidden_scores_at_minus_hundred, None),
    ],
    14: [(peak_of_hidden_scores, None)],
    15: [(clipped_before_the_powers, None)],
}
