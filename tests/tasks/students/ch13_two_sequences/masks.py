"""Students' answers to 13/masks."""

import numpy as np
import torch


def by_loop(source, target):
    B, S = source.shape
    T = target.shape[1]
    own = torch.zeros(B, T, T, dtype=torch.bool)
    cross = torch.zeros(B, T, S, dtype=torch.bool)
    for b in range(B):
        for t in range(T):
            cross[b, t] = source[b]
            if not target[b, t]:
                own[b, t, t] = True
                continue
            for s in range(t + 1):
                own[b, t, s] = target[b, s]
    return own, cross


def in_numpy(source, target):
    source, target = source.numpy(), target.numpy()
    T = target.shape[1]
    own = np.tri(T, dtype=bool) & target[:, None] & target[..., None]
    own[:, np.arange(T), np.arange(T)] = True
    return own, np.broadcast_to(source[:, None], (len(source), T, source.shape[1]))


def as_numbers(source, target):
    T = target.shape[1]
    word = target.float()
    own = torch.einsum("bt,bs->bts", word, word).tril()
    own = torch.maximum(own, torch.eye(T))
    return [own, torch.einsum("bt,bs->bts", torch.ones_like(word), source.float())]


def edited(own=None, cross=None):
    """The loop's masks, one of them changed by a function of (masks, source, target)."""

    def answer(source, target):
        mine, theirs = by_loop(source, target)
        if own:
            mine = own(mine.clone(), target)
        if cross:
            theirs = cross(theirs.clone(), source, target)
        return mine, theirs

    return answer


def counted(real):
    return torch.stack([torch.arange(len(row)) < row.sum() for row in real])


def since_the_last_padding(source, target):
    own, cross = by_loop(source, target)
    for b, t in target.nonzero().tolist():
        for s in range(t):
            own[b, t, s] = target[b, s : t + 1].all()
    return own, cross


def as_compared(source, target):
    """The same, made True and False at the end."""
    return tuple(mask > 0 for mask in as_numbers(source, target))


RIGHT = {"loop": by_loop, "numpy": in_numpy, "products, then compared": as_compared}


def for_adding(source, target):
    return tuple(mask.float().log() for mask in by_loop(source, target))


# Repairs only the rows that gave NaN, so padding after words keeps looking at them: "A row of
# padding sees itself and nothing else."
def only_empty_rows_see_themselves(source, target):
    B, T = target.shape
    S = source.shape[1]
    causal = torch.tril(torch.ones(T, T)).bool()
    own = causal & target[:, None, :]
    empty = ~own.any(dim=-1)
    own = own | (empty[:, :, None] & torch.eye(T).bool())
    cross = source[:, None, :].repeat(1, T, 1)
    assert cross.shape == (B, T, S)
    return own, cross


def _masks(source, target):
    B, T = target.shape
    past = torch.ones(T, T, dtype=torch.bool).tril()
    words = target[:, :, None] & target[:, None, :]
    own = past & words | torch.eye(T, dtype=torch.bool)
    return own, source[:, None, :].expand(B, T, source.shape[1])


def masks_of_the_strict_past(source, target):
    """A word sees the words before it, and itself only if there are none."""
    own, cross = _masks(source, target)
    T = target.shape[1]
    strict = own & ~torch.eye(T, dtype=torch.bool)
    nobody = ~strict.any(dim=-1, keepdim=True)
    return strict | nobody & torch.eye(T, dtype=torch.bool), cross


def same_kind_sees_each_other(source, target):
    """Asks whether row and column are of the same kind, so padding sees the padding before it."""
    B, T = target.shape
    past = torch.ones(T, T, dtype=torch.bool).tril()
    own = past & (target[:, :, None] == target[:, None, :])
    return own, source[:, None, :].expand(B, T, source.shape[1])


# "sees all words of the source and none of its padding", also where it is nothing but padding.
def an_empty_source_is_seen(source, target):
    T = target.shape[1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    words = target[:, :, None] & target[:, None, :]
    own = past & words | torch.eye(T, dtype=torch.bool)
    seen = source | ~source.any(dim=1, keepdim=True)
    return own, seen[:, None, :].expand(-1, T, -1)


WRONG = {
    "itself-only-if-nothing-else": only_empty_rows_see_themselves,
    "itself-only-if-first": masks_of_the_strict_past,
    "same-kind": same_kind_sees_each_other,
    "added-to-scores": for_adding,
    "inverted": lambda s, t: tuple(~mask for mask in by_loop(s, t)),
    "gap-separates": since_the_last_padding,
    "cross-causal": edited(cross=lambda c, s, t: c.tril()),
    "cross-open-where-empty": an_empty_source_is_seen,
    "cross-rows-hidden": edited(cross=lambda c, s, t: c * t[..., None]),
    "cross-words-of-all": edited(cross=lambda c, s, t: c & s.all(0)),
    "cross-by-length": lambda s, t: by_loop(counted(s), t),
}


ODD = [
    (as_numbers, "kind-of-number"),
    (edited(lambda m, t: t[:, None] ^ t[..., None]), "other-kinds"),
    (edited(lambda m, t: torch.ones_like(m)), "other-kinds"),
    (lambda s, t: by_loop(s, t)[:1], "type"),
    (lambda s, t: tuple(mask.squeeze() for mask in by_loop(s, t)), "axis-of-one"),
    (lambda s, t: (by_loop(s, t)[0], s[:, None].repeat(1, s.shape[1], 1)), "shape"),
]


# --- Answers that no list names ---


# "A row of padding sees itself and nothing else."
def padding_sees_the_first_place(source, target):
    T = target.shape[1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    own = past & target[:, :, None] & target[:, None, :]
    own[:, :, 0] |= ~target
    return own, source[:, None, :].expand(-1, T, -1)


def words_come_first(source, target):
    """Counts the words of a text and takes that many from the left, wherever the padding is."""

    def from_the_left(real):
        return torch.arange(real.shape[1]) < real.sum(dim=1, keepdim=True)

    source, target = from_the_left(source), from_the_left(target)
    B, T = target.shape
    past = torch.ones(T, T, dtype=torch.bool).tril()
    own = past & target[:, :, None] & target[:, None, :] | torch.eye(T, dtype=torch.bool)
    return own, source[:, None, :].expand(B, T, source.shape[1])


UNLISTED = {
    5: [(padding_sees_the_first_place, "other-rows-of-padding")],
    13: [(words_come_first, "cross-by-length")],
}
