"""Students' answers to 10/keys."""

from functools import partial

import jax
import jax.numpy as jnp
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
    "one-key-for-all": one_key,
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


def _draw(key, shapes, scale=lambda shape: shape[0] ** -0.5, normal=jax.random.normal):
    key, *keys = jax.random.split(key, 6)
    leaves, form = jax.tree.flatten(shapes, is_leaf=lambda s: isinstance(s, tuple))
    return jax.tree.unflatten(
        form, [normal(k, s) * scale(s) for k, s in zip(keys, leaves, strict=True)]
    ), key


def one_over_rows(key, shapes):
    return _draw(key, shapes, lambda shape: 1 / shape[0])


def uniform_entries(key, shapes):
    return _draw(key, shapes, normal=jax.random.uniform)


def same_key_each_time(key, shapes):
    tree, _ = _draw(key, shapes)
    return tree, jax.random.key(0)


def xavier_scale(key, shapes):
    return _draw(key, shapes, lambda shape: (2 / sum(shape)) ** 0.5)


def tree_and_key_exchanged(key, shapes):
    return _draw(key, shapes)[::-1]


def truncated_entries(key, shapes):
    return _draw(key, shapes, normal=lambda k, s: jax.random.truncated_normal(k, -1.0, 1.0, s))


def _tree(keys, shapes, rows):
    def draw(key, shape):
        return jax.random.normal(key, shape) / rows(shape) ** 0.5

    head = shapes["head"]
    return {
        "tokens": draw(keys[0], shapes["tokens"]),
        "head": {
            name: draw(keys[i], head[name]) for i, name in enumerate(("query", "key", "value"), 1)
        },
        "output": draw(keys[4], shapes["output"]),
    }


def keys_shared_inside_the_head(key, shapes):
    key, *keys = jax.random.split(key, 4)
    keys = [keys[0], keys[1], keys[1], keys[1], keys[2]]
    return _tree(keys, shapes, lambda shape: shape[0]), key


def keys_scaled_by_columns(key, shapes):
    key, *keys = jax.random.split(key, 6)
    return _tree(keys, shapes, lambda shape: shape[1]), key


def keys_from_the_clock_of_numpy(key, shapes):
    """Draws with NumPy's global generator, and splits the key only to return it."""
    key, _ = jax.random.split(key)

    def draw(shape):
        return jnp.asarray(np.random.randn(*shape) / shape[0] ** 0.5)

    head = {name: draw(shape) for name, shape in shapes["head"].items()}
    tree = {"tokens": draw(shapes["tokens"]), "head": head, "output": draw(shapes["output"])}
    return tree, key


def uniform_of_the_same_spread(key, shapes):
    key, *keys = jax.random.split(key, 6)

    def draw(own_key, shape):
        largest = (3 / shape[0]) ** 0.5
        return jax.random.uniform(own_key, shape, minval=-largest, maxval=largest)

    head = {
        name: draw(k, shapes["head"][name])
        for k, name in zip(keys[:3], shapes["head"], strict=True)
    }
    tree = {
        "tokens": draw(keys[3], shapes["tokens"]),
        "head": head,
        "output": draw(keys[4], shapes["output"]),
    }
    return tree, key


# "standard deviation 1 / √rows, where rows is the first number of the shape"
def root_of_the_columns(key, shapes):
    key, *keys = jax.random.split(key, 6)

    def draw(own_key, shape):
        return jax.random.normal(own_key, shape) / shape[1] ** 0.5

    head = shapes["head"]
    names = ("query", "key", "value")
    return {
        "tokens": draw(keys[0], shapes["tokens"]),
        "head": {name: draw(own, head[name]) for name, own in zip(names, keys[1:4], strict=True)},
        "output": draw(keys[4], shapes["output"]),
    }, key


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


def tokens_by_their_channels(key, shapes):
    """Scales the table of tokens by its columns, since a look-up adds nothing up over its rows."""
    key, first, second, third, fourth, fifth = jax.random.split(key, 6)

    def draw(own, shape, number):
        return jax.random.normal(own, shape) / jnp.sqrt(number)

    head = shapes["head"]
    tree = {
        "tokens": draw(first, shapes["tokens"], shapes["tokens"][1]),
        "head": {
            "query": draw(second, head["query"], head["query"][0]),
            "key": draw(third, head["key"], head["key"][0]),
            "value": draw(fourth, head["value"], head["value"][0]),
        },
        "output": draw(fifth, shapes["output"], shapes["output"][0]),
    }
    return tree, key


def sixth_of_five_keys(key, shapes):
    """Splits into five and returns keys[5], which JAX clamps to the last key, already used."""
    keys = jax.random.split(key, 5)

    def draw(own_key, shape):
        return jax.random.normal(own_key, shape) / shape[0] ** 0.5

    head = shapes["head"]
    tree = {
        "tokens": draw(keys[0], shapes["tokens"]),
        "head": {
            "query": draw(keys[1], head["query"]),
            "key": draw(keys[2], head["key"]),
            "value": draw(keys[3], head["value"]),
        },
        "output": draw(keys[4], shapes["output"]),
    }
    return tree, keys[5]


def _drawn(key, shape):
    return jax.random.normal(key, shape) / shape[0] ** 0.5


def _drawn_head(key, shapes):
    keys = jax.random.split(key, len(shapes))
    return {name: _drawn(own, shapes[name]) for name, own in zip(shapes, keys, strict=True)}


def head_splits_the_same_key(key, shapes):
    """Hands the running key to a helper that splits it for the head, then splits it again."""
    key, own = jax.random.split(key)
    tokens = _drawn(own, shapes["tokens"])
    head = _drawn_head(key, shapes["head"])
    key, own = jax.random.split(key)
    output = _drawn(own, shapes["output"])
    return {"tokens": tokens, "head": head, "output": output}, key


def normal_cut_off_at_two(key, shapes):
    """Draws from a normal truncated at two, whose deviation is 0.88 and which has no tails."""
    key, *keys = jax.random.split(key, 6)

    def draw(own_key, shape):
        return jax.random.truncated_normal(own_key, -2.0, 2.0, shape) / shape[0] ** 0.5

    head = shapes["head"]
    tree = {
        "tokens": draw(keys[0], shapes["tokens"]),
        "head": {
            "query": draw(keys[1], head["query"]),
            "key": draw(keys[2], head["key"]),
            "value": draw(keys[3], head["value"]),
        },
        "output": draw(keys[4], shapes["output"]),
    }
    return tree, key


def draws_then_splits(key, shapes):
    """Draws the query with the head's key, then splits that same key for key and value."""

    def draw(own_key, shape):
        return jax.random.normal(own_key, shape) / jnp.sqrt(shape[0])

    key, for_tokens, for_head, for_output = jax.random.split(key, 4)
    tree = {"tokens": draw(for_tokens, shapes["tokens"]), "head": {}}
    tree["head"]["query"] = draw(for_head, shapes["head"]["query"])
    for_key, for_value = jax.random.split(for_head)
    tree["head"]["key"] = draw(for_key, shapes["head"]["key"])
    tree["head"]["value"] = draw(for_value, shapes["head"]["value"])
    tree["output"] = draw(for_output, shapes["output"])
    return tree, key


def channels_taken_for_rows(key, shapes):
    """Divides all arrays by √C, as if each had C rows: the token table has V of them."""
    C = shapes["tokens"][1]
    key, *keys = jax.random.split(key, 6)
    names = ("query", "key", "value")

    def draw(own_key, shape):
        return jax.random.normal(own_key, shape) / jnp.sqrt(C)

    tree = {
        "tokens": draw(keys[0], shapes["tokens"]),
        "head": {name: draw(keys[i + 1], shapes["head"][name]) for i, name in enumerate(names)},
        "output": draw(keys[4], shapes["output"]),
    }
    return tree, key


UNLISTED = {
    1: [
        (one_over_rows, None),
        (uniform_entries, None),
        (same_key_each_time, None),
        (xavier_scale, None),
        (tree_and_key_exchanged, None),
        (truncated_entries, None),
    ],
    2: [
        (keys_shared_inside_the_head, None),
        (keys_scaled_by_columns, None),
        (keys_from_the_clock_of_numpy, None),
    ],
    3: [(uniform_of_the_same_spread, None)],
    4: [(root_of_the_columns, None)],
    5: [(keys_by_the_length_of_a_name, None)],
    12: [(tokens_by_their_channels, None)],
    13: [
        (sixth_of_five_keys, None),
        (head_splits_the_same_key, None),
        (normal_cut_off_at_two, None),
    ],
    14: [(draws_then_splits, None)],
    15: [(channels_taken_for_rows, None)],
}
