"""Students' answers to 12/drafts."""

import functools

import torch


def by_rows(
    p,
    q,
    draft,
    drafted,
    generator,
    *,
    chance=lambda p, q, x: p[x] / q[x],
    instead=lambda p, q: (p - q).relu(),
    shift=0,
    last=0,
    stop=True,
    limit=True,
):
    """Row by row, in plain numbers; what rows with the same distributions share is found once."""
    B, K = draft.shape
    u = torch.rand(B, K, generator=generator).tolist()

    @functools.cache
    def rules(b):
        own, theirs = p[b], q[b]
        rest = [instead(own[i + shift], theirs[i]) for i in range(K)]
        table = [
            [float(chance(own[i + shift], theirs[i], x)) for x in range(p.shape[-1])]
            for i in range(K)
        ]
        return table, [*rest, *(own[max(0, k - last)] for k in range(K + 1))]

    first = {}
    counts, shares = [], []
    for b, (row, most) in enumerate(zip(draft.tolist(), drafted.tolist(), strict=True)):
        table, after = rules(first.setdefault((p[b].numpy().tobytes(), q[b].numpy().tobytes()), b))
        n, broken = 0, None
        for i in range(most if limit else K):
            if u[b][i] < table[i][row[i]]:
                n += 1
            else:
                broken = i if broken is None else broken
                if stop:
                    break
        counts.append(n)
        shares.append(after[K + n if broken is None else broken])
    symbol = torch.multinomial(torch.stack(shares), 1, generator=generator)[:, 0]
    return torch.tensor(counts), symbol


def at_once(p, q, draft, drafted, generator):
    B, K = draft.shape
    mine = torch.gather(p[:, :K], 2, draft[..., None])[..., 0]
    theirs = torch.gather(q, 2, draft[..., None])[..., 0]
    fails = torch.rand(B, K, generator=generator) * theirs >= mine
    fails |= torch.arange(K)[None] >= drafted[:, None]
    count = torch.cat([fails, torch.ones(B, 1, dtype=torch.bool)], 1).int().argmax(1)
    padded = torch.cat([q, torch.zeros_like(q[:, :1])], dim=1)
    padded = padded * (torch.arange(K + 1)[None] < drafted[:, None])[..., None]
    left = torch.relu(p - padded)[torch.arange(B), count]
    return count, torch.multinomial(left, 1, generator=generator).flatten()


def every_short_axis_dropped(p, q, draft, drafted, generator):
    """Right, unless there is one draft a row: then a column becomes a row."""
    B, K = draft.shape
    share = (p[:, :K].gather(2, draft[..., None]) / q.gather(2, draft[..., None])).squeeze()
    keep = (torch.rand(B, K, generator=generator) < share) & (torch.arange(K) < drafted[:, None])
    count = keep.long().cumprod(dim=1).sum(dim=1)
    left = (p[:, :K] - q).relu()[torch.arange(B), count.clamp(max=K - 1)]
    left = torch.where((count < drafted)[:, None], left, p[torch.arange(B), count])
    return count, torch.multinomial(left, 1, generator=generator)[:, 0]


def single_draft_kept(p, q, draft, drafted, generator):
    """Right, unless there is one draft a row: that one is always kept."""
    if draft.shape[1] > 1:
        return at_once(p, q, draft, drafted, generator)
    own = p[torch.arange(len(p)), drafted]
    return drafted.clone(), torch.multinomial(own, 1, generator=generator)[:, 0]


def if_equal(p, q, draft, drafted, generator):
    """Draws what the model would write; keeps drafts as long as they are the same."""
    B, K = draft.shape
    own = torch.multinomial(p.reshape(-1, p.shape[-1]), 1, generator=generator).view(B, K + 1)
    same = (own[:, :K] == draft) & (torch.arange(K) < drafted[:, None])
    count = same.int().cumprod(1).sum(1)
    return count, own.gather(1, count[:, None])[:, 0]


def never(p, q, draft, drafted, generator):
    return 0 * drafted, torch.multinomial(p[:, 0], 1, generator=generator)[:, 0]


def half_seeded(p, q, draft, drafted, generator):
    """Keeps by the generator and draws without it."""
    count, _ = at_once(p, q, draft, drafted, generator)
    left = torch.stack(
        [
            (p[b, n] - q[b, n]).relu() if n < most else p[b, n]
            for b, (n, most) in enumerate(zip(count.tolist(), drafted.tolist(), strict=True))
        ]
    )
    return count, torch.multinomial(left, 1)[:, 0]


def own_seed(p, q, draft, drafted, generator):
    return at_once(p, q, draft, drafted, torch.Generator().manual_seed(3))


def after_the_last_place(p, q, draft, drafted, generator):
    """Right, but after drafts that were all kept the symbol comes from the last place of p."""
    count, symbol = at_once(p, q, draft, drafted, generator)
    last = torch.multinomial(p[:, -1], 1, generator=generator)[:, 0]
    return count, torch.where(count == drafted, last, symbol)


def padding_rejected(p, q, draft, drafted, generator):
    """Right, but places without a draft count as drafts that were rejected."""
    count, symbol = at_once(p, q, draft, drafted, generator)
    rows, room = torch.arange(len(p)), draft.shape[1]
    padded = torch.cat([q, torch.zeros_like(p[:, :1])], dim=1)
    left = torch.relu(p - padded)[rows, count]
    other = torch.multinomial(left, 1, generator=generator)[:, 0]
    return count, torch.where(count == room, symbol, other)


def certain_without_drafts(p, q, draft, drafted, generator):
    """Right, but a row without drafts takes the likeliest symbol."""
    count, symbol = at_once(p, q, draft, drafted, generator)
    return count, torch.where(drafted == 0, p[:, 0].argmax(dim=-1), symbol)


def other(**how):
    return lambda *given: by_rows(*given, **how)


RIGHT = {"rows": by_rows, "at once": at_once, "if equal": if_equal}


def without_the_rejected_one(p, q, draft, drafted, generator):
    count, symbol = at_once(p, q, draft, drafted, generator)
    rows = torch.arange(len(p))
    at = count.clamp(max=draft.shape[1] - 1)
    own = p[rows, at].clone()
    own[rows, draft[rows, at]] = 0
    other = torch.multinomial(own, 1, generator=generator)[:, 0]
    return count, torch.where(count < drafted, other, symbol)


def all_or_none(p, q, draft, drafted, generator):
    count, symbol = at_once(p, q, draft, drafted, generator)
    return count * (count == drafted), symbol


def rejected_ones_stay(p, q, draft, drafted, generator):
    count, symbol = at_once(p, q, draft, drafted, generator)
    next_one = draft[torch.arange(len(p)), torch.minimum(count, drafted - 1)]
    return count, torch.where(count == drafted, symbol, next_one)


def first_rejected_by_argmax(p, q, draft, drafted, generator):
    """Right, but a row that keeps all K drafts seems to reject the first one."""
    count, symbol = at_once(p, q, draft, drafted, generator)
    return count % draft.shape[1], symbol


def _kept(p, q, draft, drafted, generator, share):
    B, K = draft.shape
    keep = torch.rand(B, K, generator=generator) < share
    keep &= torch.arange(K) < drafted[:, None]
    return keep.long().cumprod(dim=1).sum(dim=1)


def _share(p, q, draft):
    at = draft.unsqueeze(-1)
    return (p[:, : draft.shape[1]].gather(-1, at) / q.gather(-1, at)).squeeze(-1)


def likeliest_symbol_after(p, q, draft, drafted, generator):
    count = _kept(p, q, draft, drafted, generator, _share(p, q, draft))
    rows, K = torch.arange(len(p)), draft.shape[1]
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    return count, torch.where((count < drafted)[:, None], lacking, p[rows, count]).argmax(dim=-1)


def _drafts(p, q, draft, drafted, generator, keep, count):
    K = draft.shape[1]
    keep = keep & (torch.arange(K) < drafted[:, None])
    count = count(keep)
    rows = torch.arange(len(draft))
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    instead = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    instead = torch.where(instead.sum(-1, keepdim=True) > 0, instead, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


def drafts_with_one_number_a_row(p, q, draft, drafted, generator):
    """Compares all drafts of a row with the same random number."""
    keep = torch.rand(len(draft), 1, generator=generator) < _share(p, q, draft)
    return _drafts(
        p, q, draft, drafted, generator, keep, lambda kept: kept.long().cumprod(1).sum(1)
    )


WRONG = {
    "no-chance-after-a-rejection": other(
        instead=lambda p, q: ((p - q) == (p - q).max()).to(p.dtype)
    ),
    "from-the-draft-again": other(instead=lambda p, q: q),
    "kept-if-the-likeliest": other(chance=lambda p, q, x: 2.0 * (x == int(p.argmax()))),
    "kept-by-p-alone": other(chance=lambda p, q, x: p[x]),
    "rejected-draft-written": rejected_ones_stay,
    "returned-in-the-other-order": lambda *given: at_once(*given)[::-1],
    "no-chance-in-the-symbol": likeliest_symbol_after,
    "symbol-counted": lambda *given: tuple(part + 1 - k for k, part in enumerate(at_once(*given))),
    "one-number-for-all": drafts_with_one_number_a_row,
    "again-from-p": other(instead=lambda p, q: p),
    "difference-the-other-way": other(instead=lambda p, q: (q - p).clamp(min=0)),
    "absolute-difference": other(instead=lambda p, q: (q - p).abs()),
    "ratio-inverted": other(chance=lambda p, q, x: q[x] / p[x]),
    "kept-if-likelier": other(chance=lambda p, q, x: 2.0 * (p[x] >= q[x])),
    "everything-kept": other(chance=lambda p, q, x: 2.0),
    "last-of-all-places": after_the_last_place,
    "padding-rejected": padding_rejected,
    "beyond-the-drafted": other(limit=False),
    "goes-on-after-a-rejection": other(stop=False),
    "generator-ignored": half_seeded,
}


def share_squared(p, q, draft, drafted, generator):
    count = _kept(p, q, draft, drafted, generator, _share(p, q, draft) ** 2)
    rows, K = torch.arange(len(p)), draft.shape[1]
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    instead = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator)[:, 0]


ODD = [
    (first_rejected_by_argmax, "other-share-kept"),
    (other(chance=lambda p, q, x: 0.5), "other-share-kept"),
    (never, "keeps-too-few"),
    (own_seed, "always-the-same"),
    (every_short_axis_dropped, "error"),
    (single_draft_kept, "wrong-for-one-draft"),
    (certain_without_drafts, "other-symbol-after-all"),
    (without_the_rejected_one, "other-symbol-after-a-rejection"),
    (all_or_none, "other-share-kept"),
    (other(chance=lambda p, q, x: p[x] / (p[x] + q[x])), "other-share-kept"),
    (other(chance=lambda p, q, x: 2.0 * (2 * p[x] > q[x])), "other-share-kept"),
    (
        other(instead=lambda p, q: (p - q).relu().exp()),
        "other-symbol-after-a-rejection",
    ),
    (lambda p, q, draft, drafted, generator: (drafted, draft[:, 0]), "other-share-kept"),
    (share_squared, "other-share-kept"),
    (
        other(instead=lambda p, q: (p - q).clamp(min=0) + 0.3),
        "other-symbol-after-a-rejection",
    ),
    (lambda p, q, draft, drafted, generator: drafted, "type"),
]


# --- Answers that no list names ---


def decided(p, q, draft, drafted, drawn):
    K = draft.shape[1]
    at = draft.unsqueeze(-1)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    return (drawn < share) & (torch.arange(K) < drafted[:, None])


# "returns: count (B,) int"
def counts_are_floats(p, q, draft, drafted, generator):
    B, K = draft.shape
    keep = decided(p, q, draft, drafted, torch.rand(B, K, generator=generator))
    count = keep.float().cumprod(dim=1).sum(dim=1)
    rows, place = torch.arange(B), count.long()
    lacking = (p[:, :K] - q).clamp(min=0)[rows, place.clamp(max=K - 1)]
    instead = torch.where((place < drafted)[:, None], lacking, p[rows, place])
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


UNLISTED = {
    5: [(counts_are_floats, "kind-of-number")],
}
