"""Students' answers to 06/merge."""

import numpy as np
import torch


def merge_by_list(found, silenced):
    heads = [
        torch.zeros_like(found[:, h]) if h in silenced else found[:, h]
        for h in range(found.shape[1])
    ]
    return torch.cat(heads, dim=-1)


def merge_by_mask(found, silenced):
    B, H, T, D = found.shape
    keep = torch.tensor([h not in silenced for h in range(H)], dtype=found.dtype)
    return torch.einsum("bhtd,h->bthd", found, keep).reshape(B, T, H * D)


def merge_in_numpy(found, silenced):
    out = found.numpy().copy()
    out[:, silenced] = 0
    B, H, T, D = out.shape
    return np.moveaxis(out, 1, 2).reshape(B, T, H * D)


def merge_into_buffer(found, silenced):
    B, H, T, D = found.shape
    out = torch.zeros(B, T, H * D)
    for h in range(H):
        if h not in silenced:
            out[:, :, h * D : (h + 1) * D] = found[:, h]
    return out


def silenced_first(join):
    def answer(found, silenced):
        found = found.clone()
        for h in silenced:
            found[:, h] = 0.0
        return join(found)

    return answer


def view_alone(found):
    B, H, T, D = found.shape
    return found.view(B, T, H * D)


def merge_rightly(found):
    return torch.cat(found.unbind(1), -1)


def wrong_zeros(set_zeros):
    def answer(found, silenced):
        out = merge_rightly(found)
        set_zeros(out, silenced)
        return out

    return answer


def zero_channels(out, silenced):
    for h in silenced:
        out[..., h] = 0


def zero_in_turn(out, which, H):
    for c in range(out.size(-1)):
        if c % H in which:
            out[..., c] = 0


def zero_slices_of_heads(out, silenced, heads):
    for h in silenced:
        out[..., h * heads : h * heads + heads] = 0


def zero_positions(out, silenced):
    for t in silenced:
        out[:, t] = 0


def zero_others(found, silenced):
    if not silenced:
        return merge_rightly(found)
    out = torch.zeros_like(found)
    out[:, silenced] = found[:, silenced]
    return merge_rightly(out)


def left_out(found, silenced):
    return torch.cat([found[:, h] for h in range(found.shape[1]) if h not in silenced], -1)


def zeros_written(found, silenced):
    for h in silenced:
        found[:, h].zero_()
    return merge_rightly(found)


RIGHT = {
    "list": merge_by_list,
    "mask": merge_by_mask,
    "numpy": merge_in_numpy,
    "buffer": merge_into_buffer,
    "double": lambda found, silenced: merge_by_list(found.double(), silenced),
}


def used_up(found, silenced):
    out = merge_rightly(found).reshape(*found.permute(0, 2, 1, 3).shape)
    for _ in range(len(silenced)):
        out[:, :, silenced.pop(0)] = 0
    return out.flatten(2)


def moved_up(found, silenced):
    D, out, place = found.shape[3], torch.zeros_like(merge_rightly(found)), 0
    for h in range(found.shape[1]):
        if h not in silenced:
            out[..., place : place + D] = found[:, h]
            place += D
    return out


def tensor_of_numbers(found, silenced):
    kept = found.clone()
    kept[:, torch.tensor(silenced)] = 0
    return kept.permute(0, 2, 1, 3).flatten(2)


def on_the_first_axis(found, silenced):
    kept = found.clone()
    for h in silenced:
        kept[h] = 0
    return kept.permute(0, 2, 1, 3).flatten(2)


def heads_from_one(found, silenced):
    kept = found.clone()
    for h in silenced:
        kept[:, h - 1] = 0
    return kept.permute(0, 2, 1, 3).flatten(2)


def not_a_number(found, silenced):
    kept = found.clone()
    kept[:, silenced] = float("nan")
    return kept.permute(0, 2, 1, 3).flatten(2)


WRONG = {
    "empty-list-refused": tensor_of_numbers,
    "silences-samples": on_the_first_axis,
    "counted-from-one": heads_from_one,
    "silenced-by-nan": not_a_number,
    "not-flattened": lambda found, silenced: torch.stack(
        [head * (h not in silenced) for h, head in enumerate(found.unbind(1))], dim=2
    ),
    "changes-the-list": used_up,
    "merge-without-transpose": silenced_first(view_alone),
    "interleaved": silenced_first(lambda found: torch.stack(found.unbind(1), -1).flatten(2)),
    "sums-not-concatenates": silenced_first(lambda found: sum(found.unbind(1))),
    "averages-heads": silenced_first(lambda found: found.mean(1)),
    "merged-into-time": silenced_first(lambda found: torch.cat(found.unbind(1), 1)),
    "silenced-ignored": lambda found, silenced: merge_rightly(found),
    "silenced-removed": left_out,
    "silences-the-others": zero_others,
    "silences-channels": wrong_zeros(zero_channels),
    "every-Hth-channel": lambda found, silenced: wrong_zeros(
        lambda out, which: zero_in_turn(out, which, found.size(1))
    )(found, silenced),
    "silences-positions": wrong_zeros(zero_positions),
    "slices-of-the-number-of-heads": lambda found, silenced: wrong_zeros(
        lambda out, which: zero_slices_of_heads(out, which, found.size(1))
    )(found, silenced),
    "writes-into-the-input": zeros_written,
    "zeros-at-the-end": moved_up,
    "silenced-by-infinity": lambda found, silenced: torch.cat(
        [
            torch.full_like(one, -torch.inf) if h in silenced else one
            for h, one in enumerate(found.unbind(1))
        ],
        -1,
    ),
}


def as_if_sorted(found, silenced):
    waiting, heads = list(silenced), []
    for h in range(found.shape[1]):
        if waiting and waiting[0] == h:
            heads.append(torch.zeros_like(found[:, waiting.pop(0)]))
        else:
            heads.append(found[:, h])
    return torch.cat(heads, -1)


def sorts_what_it_is_given(found, silenced):
    silenced.sort()
    return merge_by_list(found, silenced)


def zeros_into_what_may_be_a_view(found, silenced):
    D = found.shape[-1]
    merged = found.transpose(1, 2).flatten(2)
    for h in silenced:
        merged[..., h * D : (h + 1) * D] = 0
    return merged


ODD = [
    (zeros_into_what_may_be_a_view, "changes-its-input"),
    (as_if_sorted, "wrong-zeros"),
    (sorts_what_it_is_given, "changes-the-list"),
    (lambda found, silenced: merge_by_list(found, silenced).squeeze(), "axis-of-one"),
    (lambda found, silenced: merge_by_list(found, silenced).squeeze(0), "axis-of-one"),
    (lambda found, silenced: merge_by_list(found.relu(), silenced), "zeros-for-nobody"),
    (lambda found, silenced: merge_by_list(found.flip(2), silenced), "entries-from-elsewhere"),
    (
        lambda found, silenced: merge_rightly(found) * (0 if silenced else 1),
        "wrong-zeros",
    ),
    (lambda found, silenced: found.flatten(2), "shape"),
]


# --- Answers that no list names ---


def silenced_in_one_sample(found, silenced):
    found = found.clone()
    found[0, silenced] = 0
    return found.transpose(1, 2).flatten(2)


def heads_reversed_when_merged(found, silenced):
    found = found.clone()
    found[:, silenced] = 0
    return found.flip(1).transpose(1, 2).flatten(2)


def merge_silencing_the_others(found, silenced):
    others = [h for h in range(found.shape[1]) if h not in silenced]
    found = found.clone()
    found[:, others] = 0
    return found.transpose(1, 2).flatten(2)


# "zeros in the channels of the silenced ones", and nothing said about the others
def others_scaled_up(found, silenced):
    B, H, T, D = found.shape
    kept = torch.tensor([float(h not in silenced) for h in range(H)])
    found = found * kept[:, None, None] * H / max(1, H - len(silenced))
    return found.transpose(1, 2).reshape(B, T, H * D)


UNLISTED = {
    1: [
        (silenced_in_one_sample, "wrong-zeros"),
        (heads_reversed_when_merged, "entries-from-elsewhere"),
    ],
    2: [(merge_silencing_the_others, "silences-the-others")],
    6: [(others_scaled_up, "others-changed")],
}
