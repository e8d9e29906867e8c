"""Students' answers to 06/split."""

import numpy as np
import torch


def split_by_chunks(x, n_head):
    heads = [piece.chunk(3, dim=-1) for piece in x.chunk(n_head, dim=-1)]
    return tuple(torch.stack([head[n] for head in heads], dim=1) for n in range(3))


def split_by_slices(x, n_head):
    D = x.shape[-1] // (3 * n_head)
    q, k, v = [], [], []
    for h in range(n_head):
        first = 3 * h * D
        q.append(x[:, :, first : first + D])
        k.append(x[:, :, first + D : first + 2 * D])
        v.append(x[:, :, first + 2 * D : first + 3 * D])
    return [torch.stack(part, 1) for part in (q, k, v)]


def split_by_transpose(x, n_head):
    B, T, width = x.shape
    x = x.view(B, T, n_head, -1).transpose(1, 2)
    return x.split(width // n_head // 3, dim=-1)


def split_in_numpy(x, n_head):
    B, T, _ = x.shape
    x = x.numpy().reshape(B, T, n_head, 3, -1)
    return np.einsum("bthkd->kbhtd", x)


def three(x, *shape, turn=(2, 0, 3, 1, 4)):
    return tuple(x.reshape(*shape).permute(*turn))


def chapters_split(x, n_head):
    B, T, C3 = x.shape
    return three(x, B, T, 3, n_head, C3 // 3 // n_head)


def cut_directly(x, n_head):
    B, T, width = x.shape
    D = width // (3 * n_head)
    x = x.view(B, n_head, T, 3 * D)
    return x[..., :D], x[..., D : 2 * D], x[..., 2 * D :]


def after(change):
    return lambda x, n_head: tuple(change(part) for part in split_by_chunks(x, n_head))


def slices_of_three(x, n_head):
    B, T, width = x.shape
    x = x.reshape(B, T, n_head, width // n_head).transpose(1, 2)
    return x[..., 0::3], x[..., 1::3], x[..., 2::3]


def dealt_to_heads(x, n_head):
    thirds = x.chunk(3, -1)
    return tuple(torch.stack([third[..., h::n_head] for h in range(n_head)], 1) for third in thirds)


def reordered(*order):
    def answer(x, n_head):
        parts = split_by_slices(x, n_head)
        return tuple(parts[n] for n in order)

    return answer


RIGHT = {
    "chunks": split_by_chunks,
    "slices": split_by_slices,
    "transpose, then split": split_by_transpose,
    "numpy": split_in_numpy,
}


def samples_and_heads_confused(x, n_head):
    heads = [head.chunk(3, dim=-1) for head in x.chunk(n_head, dim=-1)]
    return [
        torch.cat(part).view(len(x), n_head, x.shape[1], -1) for part in zip(*heads, strict=True)
    ]


def steps_of_one_head(x, n_head):
    """Cuts head after head with a start that moves on by D."""
    D = x.shape[2] // n_head // 3
    parts = [[], [], []]
    for h in range(n_head):
        for n, part in enumerate(parts):
            part.append(x[:, :, (h + n) * D : (h + n + 1) * D])
    return tuple(torch.stack(part, dim=1) for part in parts)


WRONG = {
    "heads-too-close": steps_of_one_head,
    "other-layout": chapters_split,
    "view-without-transpose": cut_directly,
    "time-last": after(lambda part: part.mT),
    "heads-before-batch": after(lambda part: part.permute(1, 0, 2, 3)),
    "takes-every-third": slices_of_three,
    "heads-take-turns": dealt_to_heads,
    "results-in-another-order": reordered(0, 2, 1),
    "heads-reversed": after(lambda part: part.flip(1)),
    "heads-for-samples": samples_and_heads_confused,
}


ODD = [
    (after(lambda part: part.squeeze()), "axis-of-one"),
    (after(lambda part: part.abs()), "used-the-absolute-value-of-the-heads-of-each-position"),
    (lambda x, n_head: x[0], "type"),
    (after(lambda part: part.flip(2)), "entries-from-elsewhere"),
    (after(lambda part: part.flatten(1)), "shape"),
]


# --- Answers that no list names ---


# "Return queries, keys and values": queries that are scaled already
def queries_scaled_already(x, n_head):
    B, T, _ = x.shape
    query, key, value = x.view(B, T, n_head, 3, -1).permute(3, 0, 2, 1, 4)
    return query / query.shape[-1] ** 0.5, key, value


UNLISTED = {
    6: [(queries_scaled_already, "divided-your-queries-by-the-root-of-D")],
}
