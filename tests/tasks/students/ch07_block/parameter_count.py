"""Students' answers to 07/parameter-count."""

import torch
from torch import nn


def counted_by_building(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    def size(*modules):
        return sum(p.numel() for m in modules for p in m.parameters())

    D = n_embd // n_head
    heads = [nn.Linear(n_embd, D, bias=False) for _ in range(3 * n_head)]
    attention = size(*heads, nn.Linear(n_embd, n_embd, bias=bias))
    thinking = size(nn.Linear(n_embd, hidden, bias=bias), nn.Linear(hidden, n_embd, bias=bias))
    found = {
        "embeddings": size(nn.Embedding(vocab_size, n_embd), nn.Embedding(block_size, n_embd)),
        "attention": n_layer * attention,
        "feed_forward": n_layer * thinking,
        "norms": (2 * n_layer + 1) * size(nn.LayerNorm(n_embd, bias=bias)),
        "output": 0 if tied else size(nn.Linear(n_embd, vocab_size, bias=False)),
    }
    found["total"] = sum(found.values())
    return found


def counted_by_loop(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    found = dict.fromkeys(["attention", "feed_forward", "norms"], 0)
    for _ in range(n_layer):
        for _ in range(n_head):
            found["attention"] += 3 * n_embd * (n_embd // n_head)
        found["attention"] += n_embd * n_embd
        found["feed_forward"] += n_embd * hidden + hidden * n_embd
        found["norms"] += 2 * n_embd
        if bias:
            found["attention"] += n_embd
            found["feed_forward"] += hidden + n_embd
            found["norms"] += 2 * n_embd
    found["norms"] += n_embd + (n_embd if bias else 0)
    found["embeddings"] = vocab_size * n_embd + block_size * n_embd
    found["output"] = vocab_size * n_embd * (not tied)
    found["total"] = sum(found.values())
    return found


def counted_in_tensors(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    return {k: torch.tensor(v) for k, v in counted_by_loop(**locals()).items()}


def miscounted(**parts):
    """Right but for some parts; each is a function of V, T, N, H, C, F and b (0 or 1)."""

    def answer(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
        found = counted_by_loop(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied)
        for part, formula in parts.items():
            if part != "output" or not tied:
                found[part] = formula(
                    vocab_size, block_size, n_layer, n_head, n_embd, hidden, int(bias)
                )
        del found["total"]
        return {**found, "total": sum(found.values())}

    return answer


def tied_and_counted(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    return counted_by_loop(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, False)


def counted_where_it_is_used(**sizes):
    """A table that is used twice is left out where it is used first."""
    found = counted_by_loop(**sizes | {"tied": False})
    if sizes["tied"]:
        found["embeddings"] -= found["output"]
        found["total"] -= found["output"]
    return found


RIGHT = {
    "built": counted_by_building,
    "loop": counted_by_loop,
    "tensors": counted_in_tensors,
}


def both_feed_forward_biases_hidden(
    vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied
):
    counts = {
        "embeddings": (vocab_size + block_size) * n_embd,
        "attention": n_layer * (4 * n_embd**2 + bias * n_embd),
        "feed_forward": n_layer * (2 * n_embd * hidden + bias * 2 * hidden),
        "norms": (2 * n_layer + 1) * (1 + bias) * n_embd,
        "output": 0 if tied else vocab_size * n_embd,
    }
    return {**counts, "total": sum(counts.values())}


# "The feed-forward network is hidden channels wide": any number, not a multiple of C
def width_as_a_factor(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    C, factor = n_embd, hidden // n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * factor * C**2 + bias * (factor + 1) * C),
        "norms": (2 * n_layer + 1) * (1 + bias) * C,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


WRONG = {
    "biases-of-one-block": miscounted(
        feed_forward=lambda V, T, N, H, C, F, b: 2 * N * C * F + (C + F) * b
    ),
    "projection-bias-of-one-block": miscounted(
        attention=lambda V, T, N, H, C, F, b: 4 * N * C * C + C * b
    ),
    "final-shift-alone": miscounted(norms=lambda V, T, N, H, C, F, b: (2 * N + 1 + b) * C),
    "no-gains-without-bias": miscounted(norms=lambda V, T, N, H, C, F, b: b * C * (4 * N + 2)),
    "projection-bias-of-every-head": miscounted(
        attention=lambda V, T, N, H, C, F, b: N * C * (4 * C + H * b)
    ),
    "one-head-only": miscounted(
        attention=lambda V, T, N, H, C, F, b: N * C * (3 * (C // H) + C + b)
    ),
    "both-biases-hidden": both_feed_forward_biases_hidden,
    "width-as-a-multiple": width_as_a_factor,
    "final-norm-without-shift": miscounted(
        norms=lambda V, T, N, H, C, F, b: C + 2 * N * (C + b * C)
    ),
    "heads-multiply": miscounted(
        attention=lambda V, T, N, H, C, F, b: N * (H * 3 * C * C + C * C + b * C)
    ),
    "no-output-projection": miscounted(attention=lambda V, T, N, H, C, F, b: 3 * N * C * C),
    "bias-on-every-layer": miscounted(attention=lambda V, T, N, H, C, F, b: 4 * N * C * (C + b)),
    "mask-counted": miscounted(
        attention=lambda V, T, N, H, C, F, b: N * (4 * C * C + b * C) + N * H * T * T
    ),
    "one-layer-of-two": miscounted(feed_forward=lambda V, T, N, H, C, F, b: N * F * (C + b)),
    "same-bias-twice": miscounted(
        feed_forward=lambda V, T, N, H, C, F, b: 2 * N * C * F + 2 * N * b * C
    ),
    "one-norm-for-two": miscounted(norms=lambda V, T, N, H, C, F, b: N * C * (1 + b) + C * (1 + b)),
    "no-final-norm": miscounted(norms=lambda V, T, N, H, C, F, b: N * 2 * (C + b * C)),
    "norm-per-position": miscounted(
        norms=lambda V, T, N, H, C, F, b: (N * 2 + 1) * T * C * (1 + b)
    ),
    "positions-forgotten": miscounted(embeddings=lambda V, T, N, H, C, F, b: V * C),
    "tied-counted-twice": tied_and_counted,
    "shared-table-in-the-output": counted_where_it_is_used,
    "output-with-bias": miscounted(output=lambda V, T, N, H, C, F, b: V * (C + b)),
}


def total_of_blocks(**sizes):
    found = counted_by_loop(**sizes)
    again = (sizes["n_layer"] - 1) * (found["attention"] + found["feed_forward"])
    return found | {"total": found["total"] + again + (sizes["n_layer"] == 1)}


# "returns: dict of int"
def counts_as_floats(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    C = n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * C**2 * (hidden / C) + bias * (hidden + C)),
        "norms": (2 * n_layer + 1) * (1 + bias) * C,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


# "the norms have one if bias is true": here the final one has its shift in any case.
def final_norm_keeps_its_shift(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    C = n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * C * hidden + bias * (hidden + C)),
        "norms": 2 * n_layer * (1 + bias) * C + 2 * C,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


ODD = [
    (total_of_blocks, "total-is-not-the-sum"),
    (
        miscounted(feed_forward=lambda V, T, N, H, C, F, b: N * (8 * C * F + b * (4 * F + C))),
        "miscounted-feed-forward",
    ),
    (miscounted(attention=lambda V, T, N, H, C, F, b: N * (4 * C * C + C)), "miscounted-attention"),
    (miscounted(embeddings=lambda V, T, N, H, C, F, b: V * T * C), "miscounted-embeddings"),
    (miscounted(output=lambda V, T, N, H, C, F, b: V * C * b), "miscounted-output"),
    (counts_as_floats, "kind-of-number"),
    (miscounted(embeddings=lambda V, T, N, H, C, F, b: V * C + T), "miscounted-embeddings"),
    (miscounted(feed_forward=lambda V, T, N, H, C, F, b: 7), "miscounted-feed-forward"),
    (
        lambda **sizes: (found := counted_by_loop(**sizes)) | {"total": 2 * found["total"]},
        "total-is-not-the-sum",
    ),
    (miscounted(attention=lambda V, T, N, H, C, F, b: 17), "miscounted-attention"),
    (final_norm_keeps_its_shift, "miscounted-norms"),
    (lambda **sizes: counted_by_loop(**sizes) | {"total": 99}, "total-is-not-the-sum"),
    (lambda **sizes: 3, "type"),
]


# --- Answers that no list names ---


def _count(V, T, N, H, C, F, bias, tied, **other):
    counts = {
        "embeddings": (V + T) * C,
        "attention": N * (4 * C * C + bias * C),
        "feed_forward": N * (2 * C * F + bias * (F + C)),
        "norms": (2 * N + 1) * (1 + bias) * C,
        "output": 0 if tied else V * C,
    } | other
    return counts | {"total": sum(counts.values())}


def _counting(change):
    def answer(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
        sizes = (vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied)
        return _count(*sizes, **change(*sizes))

    return answer


final_norm_in_every_block = _counting(lambda V, T, N, H, C, F, b, t: {"norms": 3 * N * (1 + b) * C})


tied_takes_off_the_embedding = _counting(
    lambda V, T, N, H, C, F, b, t: {"embeddings": (T if t else V + T) * C}
)


half_a_parameter = _counting(
    lambda V, T, N, H, C, F, b, t: {"attention": N * (4 * C * C + b * C) + 0.3}
)


one_too_many = _counting(lambda V, T, N, H, C, F, b, t: {"embeddings": (V + T) * C + 1})


output_of_the_block_size = _counting(lambda V, T, N, H, C, F, b, t: {"output": 0 if t else T * C})


# "the output layer uses the token embedding's table and counts 0": here the total loses it twice
def tied_taken_off_twice(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    C = n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * C * hidden + bias * (hidden + C)),
        "norms": (2 * n_layer + 1) * (1 + bias) * C,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values()) - tied * vocab_size * C
    return counts


# knows nanoGPT, whose count leaves out the table of positions: "Parameters of a language model of
# blocks, part by part", and the total is that of all parts
def total_without_positions(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    counts = {}
    counts["embeddings"] = vocab_size * n_embd + block_size * n_embd
    counts["attention"] = n_layer * (3 * n_embd * n_embd + n_embd * n_embd + bias * n_embd)
    counts["feed_forward"] = n_layer * (2 * n_embd * hidden + bias * (hidden + n_embd))
    counts["norms"] = (2 * n_layer + 1) * (n_embd + bias * n_embd)
    counts["output"] = 0 if tied else vocab_size * n_embd
    counts["total"] = sum(counts.values()) - block_size * n_embd
    return counts


def conditional_swallows_matrices(
    vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied
):
    """`matrices + biases if bias else 0` without brackets: no bias, feed_forward counts 0."""
    C = n_embd
    counts = {
        "embeddings": vocab_size * C + block_size * C,
        "attention": n_layer * (4 * C * C + (C if bias else 0)),
        "feed_forward": n_layer * (2 * C * hidden + hidden + C if bias else 0),
        "norms": (2 * n_layer + 1) * (2 * C if bias else C),
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


UNLISTED = {
    1: [
        (final_norm_in_every_block, "miscounted-norms"),
        (tied_takes_off_the_embedding, "miscounted-embeddings"),
        (half_a_parameter, "miscounted-attention"),
        (one_too_many, "miscounted-embeddings"),
        (output_of_the_block_size, "miscounted-output"),
    ],
    6: [(tied_taken_off_twice, "total-is-not-the-sum")],
    9: [
        (total_without_positions, "total-is-not-the-sum"),
    ],
    14: [(conditional_swallows_matrices, "miscounted-feed-forward")],
}
