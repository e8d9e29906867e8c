"""Students' answers to 11/patching."""

import torch

from students.ch11_looking_inside.shared import table


def leads(logits, right, wrong, place=-1):
    return torch.stack(
        [row[place, r] - row[place, w] for row, r, w in zip(logits, right, wrong, strict=True)]
    )


def share(patched, corrupted, clean):
    return (patched - corrupted).mean() / (clean - corrupted).mean()


def patching(lead=leads, compare=share, stand=lambda good, bad: good):
    def answer(run, clean, corrupted, right, wrong):
        good, bad = run(clean), run(corrupted)
        ends = [lead(one.logits, right, wrong) for one in (bad, good)]

        def value(layer, head):
            new = stand(good.found[layer, :, head], bad.found[layer, :, head])
            return compare(lead(run(corrupted, {(layer, head): new}).logits, right, wrong), *ends)

        return table(run, value, clean)

    return answer


by_table = patching()


def text_by_text(run, clean, corrupted, right, wrong):
    """One text after the other; sums are divided at the end."""
    L, _, H = run(clean).found.shape[:3]
    gained, way = torch.zeros(L, H), 0.0
    for b in range(len(clean)):
        one, other = clean[b : b + 1], corrupted[b : b + 1]
        pair = [int(right[b]), int(wrong[b])]
        top, bottom = (run(x).logits[0, -1, pair] for x in (one, other))
        way += float((top[0] - top[1]) - (bottom[0] - bottom[1]))
        for layer in range(L):
            for head in range(H):
                put = {(layer, head): run(one).found[layer, :, head]}
                mixed = run(other, put).logits[0, -1, pair]
                gained[layer, head] += (mixed[0] - mixed[1]) - (bottom[0] - bottom[1])
    return gained / way


def log_odds(run, clean, corrupted, right, wrong):
    """By log probabilities, whose difference is that of the logits."""

    def lead(logits):
        both = torch.stack([right, wrong], dim=1)
        log = logits[:, -1].double().log_softmax(-1).gather(1, both)
        return float((log[:, 0] - log[:, 1]).mean())

    good, bottom = run(clean), lead(run(corrupted).logits)
    return table(
        run,
        lambda k, h: (
            (lead(run(corrupted, {(k, h): good.found[k, :, h]}).logits) - bottom)
            / (lead(good.logits) - bottom)
        ),
        clean,
    )


def at_the_end(good, bad):
    return torch.cat([bad[:, :-1], good[:, -1:]], dim=1)


def of_all_pairs(logits, right, wrong):
    """Every right token in every text."""
    return (logits[:, -1][:, right] - logits[:, -1][:, wrong]).flatten()


def lead_of_layers(run, clean, corrupted, right, wrong):
    """A whole layer at once."""
    good, bad = run(clean), run(corrupted)
    ends = [leads(one.logits, right, wrong) for one in (bad, good)]

    def value(layer, _):
        put = {(layer, h): good.found[layer, :, h] for h in range(good.found.shape[2])}
        return share(leads(run(corrupted, put).logits, right, wrong), *ends)

    return table(run, value, clean)


def only_different(run, clean, corrupted, right, wrong):
    """Patches a position only if its tokens differ."""
    good, bad = run(clean), run(corrupted)
    ends = [leads(one.logits, right, wrong) for one in (bad, good)]

    def value(layer, head):
        new = bad.found[layer, :, head].clone()
        for b, t in (clean != corrupted).nonzero().tolist():
            new[b, t] = good.found[layer, b, head, t]
        return share(leads(run(corrupted, {(layer, head): new}).logits, right, wrong), *ends)

    return table(run, value, clean)


RIGHT = {"table": by_table, "text by text": text_by_text, "log odds": log_odds}


def _lead(one, right, wrong):
    end, rows = one.logits[:, -1], torch.arange(len(right))
    return end[rows, right] - end[rows, wrong]


def _shares(run, clean, corrupted, right, wrong, share, lead=_lead):
    good, bad = run(clean), run(corrupted)
    L, _, H = good.found.shape[:3]
    rows = [
        [
            share(
                lead(run(corrupted, {(n, h): good.found[n, :, h]}), right, wrong),
                lead(good, right, wrong),
                lead(bad, right, wrong),
            )
            for h in range(H)
        ]
        for n in range(L)
    ]
    return torch.tensor(rows)


def patched(run, clean, corrupted, lead, share):
    good = run(clean)
    top, bottom = lead(good), lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            now = lead(run(corrupted, {(layer, head): good.found[layer, :, head]}))
            shares[layer, head] = share(now, top, bottom)
    return shares


def mean_lead(right, wrong):
    def lead(one):
        end = one.logits[:, -1]
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    return lead


# "The share is (patched − corrupted) / (clean − corrupted)", which may be below 0 or above 1.
def shares_within_zero_and_one(run, clean, corrupted, right, wrong):
    def share(now, top, bottom):
        return ((now - bottom) / (top - bottom)).clamp(0, 1)

    return patched(run, clean, corrupted, mean_lead(right, wrong), share)


def patched_shares(run, clean, corrupted, lead, found):
    good = run(clean)
    top, bottom = lead(good), lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for n in range(L):
        for h in range(H):
            one = run(corrupted, {(n, h): found(good)[n, :, h]})
            shares[n, h] = (lead(one) - bottom) / (top - bottom)
    return shares


# "put what it found in the clean run into the corrupted run": each text its own pair's
def mean_of_the_clean_texts(run, clean, corrupted, right, wrong):
    def lead(one):
        end = one.logits[:, -1]
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    def found(good):
        return good.found.mean(dim=1, keepdim=True).expand_as(good.found)

    return patched_shares(run, clean, corrupted, lead, found)


def difference_of_probabilities(run, clean, corrupted, right, wrong):
    def lead(one, right, wrong):
        end, rows = one.logits[:, -1].softmax(dim=-1), torch.arange(len(right))
        return end[rows, right] - end[rows, wrong]

    return _shares(
        run,
        clean,
        corrupted,
        right,
        wrong,
        lambda p, c, b: (p.mean() - b.mean()) / (c.mean() - b.mean()),
        lead,
    )


WRONG = {
    "logits-averaged": patching(of_all_pairs),
    "only-where-texts-differ": only_different,
    "kept-between": shares_within_zero_and_one,
    "mean-of-the-texts": mean_of_the_clean_texts,
    "clean-run-patched": lambda run, a, b, r, w: by_table(run, b, a, r, w),
    "not-divided": patching(compare=lambda mixed, low, high: mixed.mean() - low.mean()),
    "divided-by-the-corrupted-lead": patching(
        compare=lambda mixed, low, high: mixed.mean() / low.mean() - 1
    ),
    "first-position": patching(lambda logits, r, w: leads(logits, r, w, place=0)),
    "lead-over-the-mean": patching(
        lambda logits, r, w: logits[:, -1].gather(1, r[:, None])[:, 0] - logits[:, -1].mean(-1)
    ),
    "mean-of-quotients": patching(
        compare=lambda mixed, low, high: torch.mean((mixed - low) / (high - low))
    ),
    "lacking-share": lambda *given: 1 - by_table(*given),
    "mean-patched": patching(
        stand=lambda good, bad: (
            torch.full_like(bad, 1 / good[:, :, 0].numel()) * good.sum((0, 1), keepdim=True)
        )
    ),
    "last-position-patched": patching(stand=at_the_end),
    "last-finding-everywhere": patching(
        stand=lambda good, bad: good[:, [good.shape[1] - 1] * good.shape[1]]
    ),
    "difference-of-probabilities": difference_of_probabilities,
}

ODD = [
    (lambda *given: by_table(*given).T, "transposed"),
    (lambda *given: by_table(*given) * 3 + 1, "other-difference"),
    (lambda *given: by_table(*given)[0], "shape"),
    (lambda run, a, b, r, w: a[99], "error"),
    (lambda *given: by_table(*given).squeeze(), "axis-of-one"),
    (patching(lambda logits, r, w: leads(logits, r, w) > 0.5), "error"),
    (patching(stand=lambda good, bad: bad), "left-out-the-share-of-a-head"),
    (patching(stand=lambda good, bad: good.sort(1).values), "other-replacement"),
    (lambda run, a, b, r, w: by_table(run, a, a.flip(0), r, w), "other-texts"),
    (lambda run, a, b, r, w: lead_of_layers(run, a, b, r, w), "several-replaced"),
]
