"""Students' answers to 10/keys."""

from functools import partial

import jax
import numpy as np

from students.ch10_jax.shared import ORDER, head_scaffold


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


def fixed_back(key, shapes):
    return all_at_once(key, shapes)[0], jax.random.key(7)


def fixed_output(key, shapes):
    """The last leaf is drawn with a key that was made for a test."""
    tree, key = all_at_once(key, shapes)
    return {**tree, "output": normal(jax.random.key(1), shapes["output"])}, key


def split_then_drawn(key, shapes):
    tree, after = all_at_once(key, shapes)
    return {**tree, "tokens": normal(key, shapes["tokens"])}, after


def drawn_then_split(key, shapes):
    first = normal(key, shapes["tokens"])
    tree, key = all_at_once(jax.random.split(key)[0], shapes)
    return {**tree, "tokens": first}, key


def scaled(wide):
    return lambda key, shapes: all_at_once(key, shapes, partial(normal, wide=wide))


def uniform(key, shape):
    bound = (3 / shape[0]) ** 0.5
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)


RIGHT = {"at once": all_at_once, "one by one": one_by_one, "fold_in": by_number}


WRONG = {
    "randomness-from-elsewhere": from_numpy,
    "key-fixed-inside": always_42,
    "key-used-twice": twice,
    "hands-back-given-key": given_back,
    "hands-back-fixed-key": fixed_back,
    "hands-back-used-key": used_back,
    "splits-a-used-key": drawn_then_split,
    "spread-of-one": scaled(lambda shape: 1),
    "spread-by-columns": scaled(lambda shape: 1 / shape[-1] ** 0.5),
    "spread-not-rooted": scaled(lambda shape: 1 / shape[0]),
    "not-normal": partial(all_at_once, draw=uniform),
}


def laplace(key, shape):
    return jax.random.laplace(key, shape) / (2 * shape[0]) ** 0.5


def cut_off(key, shape):
    return jax.random.truncated_normal(key, -3.0, 3.0, shape) / shape[0] ** 0.5


ODD = [
    (partial(all_at_once, draw=laplace), "not-normal"),
    (partial(all_at_once, draw=cut_off), "not-normal"),
    (scaled(lambda shape: 5.0), "wrong-spread"),
    # Tokens as `torch.nn.Embedding` draws them.
    (scaled(lambda shape: 1.0 if shape[0] >= 100 else shape[0] ** -0.5), "wrong-spread"),
    (partial(all_at_once, draw=lambda key, s: jax.random.uniform(key, s)), "wrong-spread"),
    (partial(all_at_once, draw=lambda key, s: normal(key, s) + 0.1), "wrong-mean"),
    (fixed_output, "key-fixed-inside"),
    (split_then_drawn, "splits-a-used-key"),
]


SCAFFOLD = head_scaffold


SEEDS = range(2)


# --- Answers that no list names ---


def uniform_entries(key, shapes):
    def entries(key, shape):
        return jax.random.uniform(key, shape) / shape[0] ** 0.5

    return all_at_once(key, shapes, entries)


def xavier_scale(key, shapes):
    return scaled(lambda shape: (2 / sum(shape)) ** 0.5)(key, shapes)


def truncated_entries(key, shapes):
    def entries(key, shape):
        return jax.random.truncated_normal(key, -1.0, 1.0, shape) / shape[0] ** 0.5

    return all_at_once(key, shapes, entries)


def tokens_by_their_channels(key, shapes):
    """Scales the table of tokens by its columns, since a look-up adds nothing up over its rows."""
    table = shapes["tokens"]
    return scaled(lambda shape: shape[shape == table] ** -0.5)(key, shapes)


def tree_and_key_exchanged(key, shapes):
    return all_at_once(key, shapes)[::-1]


UNLISTED = {
    1: [
        (uniform_entries, "wrong-spread"),
        (xavier_scale, "wrong-spread"),
        (truncated_entries, "wrong-spread"),
        (tree_and_key_exchanged, "type"),
    ],
    12: [(tokens_by_their_channels, "wrong-spread")],
}
