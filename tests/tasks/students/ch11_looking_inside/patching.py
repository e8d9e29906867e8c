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


def adding_up(run, clean, corrupted, right, wrong):
    good, bad, put = run(clean), run(corrupted), {}
    ends = [leads(one.logits, right, wrong) for one in (bad, good)]

    def value(layer, head):
        put[layer, head] = good.found[layer, :, head]
        return share(leads(run(corrupted, put).logits, right, wrong), *ends)

    return table(run, value, clean)


def single(logits, right, wrong):
    return logits[:, -1].gather(1, right[:, None])[:, 0]


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


def share_of_the_clean_lead(run, clean, corrupted, right, wrong):
    return _shares(
        run, clean, corrupted, right, wrong, lambda p, c, b: (p.mean() - b.mean()) / c.mean()
    )


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
    "only-where-texts-differ": only_different,
    "divided-by-the-clean-lead": share_of_the_clean_lead,
    "kept-between": shares_within_zero_and_one,
    "mean-of-the-texts": mean_of_the_clean_texts,
    "clean-run-patched": lambda run, a, b, r, w: by_table(run, b, a, r, w),
    "noised": lambda run, a, b, r, w: 1 - text_by_text(run, b, a, r, w),
    "not-divided": patching(compare=lambda mixed, low, high: mixed.mean() - low.mean()),
    "corrupted-not-subtracted": patching(compare=lambda mixed, low, high: mixed.sum() / high.sum()),
    "mean-of-quotients": patching(
        compare=lambda mixed, low, high: torch.mean((mixed - low) / (high - low))
    ),
    "lacking-share": lambda *given: 1 - by_table(*given),
    "right-logit-alone": patching(single),
    "probability": patching(lambda logits, r, w: single(logits.softmax(-1), r, w)),
    "first-position": patching(lambda logits, r, w: leads(logits, r, w, place=0)),
    "all-positions": patching(
        lambda logits, r, w: sum(leads(logits, r, w, t) for t in range(logits.shape[1]))
    ),
    "mean-patched": patching(
        stand=lambda good, bad: (
            torch.full_like(bad, 1 / good[:, :, 0].numel()) * good.sum((0, 1), keepdim=True)
        )
    ),
    "last-position-patched": patching(stand=at_the_end),
    "last-finding-everywhere": patching(
        stand=lambda good, bad: good[:, [good.shape[1] - 1] * good.shape[1]]
    ),
    "patches-add-up": adding_up,
    "lead-over-the-best": patching(
        lambda logits, r, w: torch.stack(
            [
                row[-1, k] - max(row[-1, v] for v in range(len(row[-1])) if v != k)
                for row, k in zip(logits, r.tolist(), strict=True)
            ]
        )
    ),
    "lead-over-the-mean": patching(
        lambda logits, r, w: single(logits, r, w) - logits[:, -1].sum(-1) / logits.shape[-1]
    ),
    "one-pair-alone": lambda run, *pairs: text_by_text(run, *(one[:1] for one in pairs)),
    "median-for-mean": patching(
        compare=lambda mixed, low, high: (
            (mixed.median() - low.median()) / (high.median() - low.median())
        )
    ),
    "log-probability": patching(lambda logits, r, w: single(logits.log_softmax(-1), r, w)),
    "way-without-its-sign": patching(
        compare=lambda mixed, low, high: (mixed - low).sum() / (high - low).sum().abs()
    ),
    "difference-of-probabilities": difference_of_probabilities,
}

ODD = [
    (lambda *given: by_table(*given).T, "transposed"),
    (lambda *given: by_table(*given) * 3 + 1, "other-difference"),
    (lambda *given: by_table(*given)[0], "shape"),
    (lambda run, a, b, r, w: a[99], "error"),
    (lambda *given: by_table(*given).squeeze(), "axis-of-one"),
    (lambda *given: by_table(*given).abs(), "transformed"),
    (patching(of_all_pairs), "other-lead"),
    (patching(lambda logits, r, w: leads(logits, r, w) > 0.5), "error"),
    (patching(lambda logits, r, w: leads(logits, r, w).exp()), "other-lead"),
    (patching(compare=lambda mixed, low, high: mixed.mean() / low.mean() - 1), "other-share"),
    (patching(lambda logits, r, w: leads(logits, r, w).clamp(min=-1)), "other-difference"),
    (patching(stand=lambda good, bad: bad), "other-replacement"),
    (patching(stand=lambda good, bad: good.sort(1).values), "other-replacement"),
    (
        patching(stand=lambda good, bad: torch.cat([bad[:, :1], good[:, 1:]], dim=1)),
        "other-replacement",
    ),
    (lambda run, a, b, r, w: by_table(run, a, a.flip(0), r, w), "other-texts"),
    (lambda run, a, b, r, w: lead_of_layers(run, a, b, r, w), "several-replaced"),
]


# --- Answers that no list names ---


def mean_of_shares(run, clean, corrupted, right, wrong):
    return _shares(run, clean, corrupted, right, wrong, lambda p, c, b: ((p - b) / (c - b)).mean())


def share_that_is_missing(run, clean, corrupted, right, wrong):
    return _shares(
        run,
        clean,
        corrupted,
        right,
        wrong,
        lambda p, c, b: (c.mean() - p.mean()) / (c.mean() - b.mean()),
    )


def last_position_only(run, clean, corrupted, right, wrong):
    good, bad = run(clean), run(corrupted)
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    c, b = (_lead(one, right, wrong).mean() for one in (good, bad))
    for n in range(L):
        for h in range(H):
            mixed = bad.found[n, :, h].clone()
            mixed[:, -1] = good.found[n, :, h, -1]
            p = _lead(run(corrupted, {(n, h): mixed}), right, wrong).mean()
            shares[n, h] = (p - b) / (c - b)
    return shares


def _patched(run, clean, corrupted, lead, take):
    good, bad = run(clean), run(corrupted)
    top, bottom = lead(good), lead(bad)
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            other = take(good.found[layer, :, head], bad.found[layer, :, head])
            patched = run(corrupted, {(layer, head): other})
            shares[layer, head] = (lead(patched) - bottom) / (top - bottom)
    return shares


def _lead_of_set_2(right, wrong, read):
    def lead(one):
        end = read(one.logits[:, -1])
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    return lead


def patching_at_the_last_position(run, clean, corrupted, right, wrong):
    def take(good, bad):
        return torch.cat([bad[:, :-1], good[:, -1:]], dim=1)

    return _patched(run, clean, corrupted, _lead_of_set_2(right, wrong, lambda end: end), take)


def patching_with_probabilities(run, clean, corrupted, right, wrong):
    lead = _lead_of_set_2(right, wrong, lambda end: end.softmax(dim=-1))
    return _patched(run, clean, corrupted, lead, lambda good, bad: good)


def patching_of_the_right_logit(run, clean, corrupted, right, wrong):
    """Looks at the logit of the right token and forgets the wrong one."""

    def lead(one):
        return one.logits[:, -1].gather(1, right[:, None]).mean()

    return _patched(run, clean, corrupted, lead, lambda good, bad: good)


def corrupted_into_clean(run, clean, corrupted, right, wrong):
    rows = torch.arange(len(right))

    def lead(one):
        end = one.logits[:, -1]
        return (end[rows, right] - end[rows, wrong]).mean()

    bad = run(corrupted)
    top, bottom = lead(run(clean)), lead(bad)
    L, _, H = bad.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(clean, {(layer, head): bad.found[layer, :, head]})
            shares[layer, head] = (top - lead(patched)) / (top - bottom)
    return shares


# "a lead is the logit of right minus the logit of wrong"
def lead_of_probabilities(run, clean, corrupted, right, wrong):
    def lead(one):
        p = one.logits[:, -1].softmax(dim=-1)
        return (p.gather(1, right[:, None]) - p.gather(1, wrong[:, None])).mean()

    return patched_shares(run, clean, corrupted, lead, lambda good: good.found)


# "A lead is the logit of `right` minus the logit of `wrong`": these are probabilities.
def leads_of_probabilities(run, clean, corrupted, right, wrong):
    def lead(one):
        end = one.logits[:, -1].softmax(dim=-1)
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    def share(now, top, bottom):
        return (now - bottom) / (top - bottom)

    return patched(run, clean, corrupted, lead, share)


# "A lead is the logit of right minus the logit of wrong": here of their probabilities
def lead_of_probabilities_of_set_6(run, clean, corrupted, right, wrong):
    def lead(result):
        end = result.logits[:, -1].softmax(dim=-1)
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    good = run(clean)
    bottom = lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(corrupted, {(layer, head): good.found[layer, :, head]})
            shares[layer, head] = (lead(patched) - bottom) / (lead(good) - bottom)
    return shares


# "One head is patched at a time, at all positions": here at the last one
def patched_at_the_end_only(run, clean, corrupted, right, wrong):
    def lead(result):
        end = result.logits[:, -1]
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    good, bad = run(clean), run(corrupted)
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            mixed = bad.found[layer, :, head].clone()
            mixed[:, -1] = good.found[layer, :, head, -1]
            patched = run(corrupted, {(layer, head): mixed})
            shares[layer, head] = (lead(patched) - lead(bad)) / (lead(good) - lead(bad))
    return shares


# "The share is (patched − corrupted) / (clean − corrupted)": it may be negative, or above 1
def shares_between_0_and_1(run, clean, corrupted, right, wrong):
    def lead(result):
        end = result.logits[:, -1]
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    good = run(clean)
    bottom = lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(corrupted, {(layer, head): good.found[layer, :, head]})
            shares[layer, head] = (lead(patched) - bottom) / (lead(good) - bottom)
    return shares.clamp(0, 1)


# Divides text by text and takes the mean of the shares.
# "Average the leads over the texts first."
def mean_of_the_shares(run, clean, corrupted, right, wrong):
    rows = torch.arange(len(clean))
    clean_run = run(clean)
    corrupted_run = run(corrupted)

    def lead(logits):
        return logits[rows, -1, right] - logits[rows, -1, wrong]

    c, k = lead(clean_run.logits), lead(corrupted_run.logits)
    L, _, H = clean_run.found.shape[:3]
    out = torch.zeros(L, H)
    for i in range(L):
        for h in range(H):
            p = lead(run(corrupted, {(i, h): clean_run.found[i, :, h]}).logits)
            out[i, h] = ((p - k) / (c - k)).mean()
    return out


# Mixes up where the piece comes from and where it goes.
# "put what it found in the clean run into the corrupted run"
def corrupted_into_clean_of_set_7(run, clean, corrupted, right, wrong):
    def lead(logits):
        last = logits[:, -1, :]
        r = last.gather(1, right.unsqueeze(1))
        w = last.gather(1, wrong.unsqueeze(1))
        return (r - w).mean().item()

    good, bad = run(clean), run(corrupted)
    good_lead, bad_lead = lead(good.logits), lead(bad.logits)
    L, H = good.found.shape[0], good.found.shape[2]
    shares = torch.empty(L, H)
    for layer in range(L):
        for head in range(H):
            patched = lead(run(clean, {(layer, head): bad.found[layer, :, head]}).logits)
            shares[layer, head] = (good_lead - patched) / (good_lead - bad_lead)
    return shares


# Is used to shares that are computed for each case and then averaged.
# "Average the leads over the texts first."
def mean_of_the_shares_of_set_8(run, clean, corrupted, right, wrong):
    rows = torch.arange(len(clean))

    def leads(result):
        last = result.logits[:, -1]
        return last[rows, right] - last[rows, wrong]

    clean_run = run(clean)
    high, low = leads(clean_run), leads(run(corrupted))
    L, _, H, _, _ = clean_run.found.shape
    shares = torch.zeros(L, H)
    for i in range(L):
        for j in range(H):
            patched = leads(run(corrupted, {(i, j): clean_run.found[i, :, j]}))
            shares[i, j] = ((patched - low) / (high - low)).mean()
    return shares


# Exchanged the two runs, and measures what is lost.
# "put what it found in the clean run into the corrupted run"
def corrupted_into_the_clean_run(run, clean, corrupted, right, wrong):
    def lead(logits):
        right_logit = logits[:, -1].gather(1, right[:, None])
        wrong_logit = logits[:, -1].gather(1, wrong[:, None])
        return (right_logit - wrong_logit).mean()

    bad = run(corrupted)
    high = lead(run(clean).logits)
    low = lead(bad.logits)
    L, H = bad.found.shape[0], bad.found.shape[2]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            logits = run(clean, {(layer, head): bad.found[layer, :, head]}).logits
            shares[layer, head] = (high - lead(logits)) / (high - low)
    return shares


# A statistician, who would rather have probabilities.
# "A *lead* is the logit of `right` minus the logit of `wrong` at the last position."
def leads_of_probabilities_of_set_9(run, clean, corrupted, right, wrong):
    rows = torch.arange(len(right))

    def lead(one):
        probs = one.logits[:, -1].softmax(dim=-1)
        return (probs[rows, right] - probs[rows, wrong]).mean()

    good = run(clean)
    top, bottom = lead(good), lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(corrupted, {(layer, head): good.found[layer, :, head]})
            shares[layer, head] = (lead(patched) - bottom) / (top - bottom)
    return shares


# One who concluded from the lead that the patch too is made at the last position.
# "One head is patched at a time, at all positions."
def patched_at_the_last_position(run, clean, corrupted, right, wrong):
    def lead(one):
        end = one.logits[:, -1]
        difference = end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])
        return difference.mean()

    good, bad = run(clean), run(corrupted)
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            other = bad.found[layer, :, head].clone()
            other[:, -1] = good.found[layer, :, head, -1]
            patched = lead(run(corrupted, {(layer, head): other}))
            shares[layer, head] = (patched - lead(bad)) / (lead(good) - lead(bad))
    return shares


# Read elsewhere of patching in the other direction, which breaks the clean run.
# "put what it found in the clean run into the corrupted run"
def corrupted_findings_in_the_clean_run(run, clean, corrupted, right, wrong):
    rows = torch.arange(len(clean))

    def lead(logits):
        return (logits[rows, -1, right] - logits[rows, -1, wrong]).mean()

    bad = run(corrupted)
    top, bottom = lead(run(clean).logits), lead(bad.logits)
    L, _, H, _, _ = bad.found.shape
    shares = torch.zeros(L, H)
    for i in range(L):
        for j in range(H):
            broken = lead(run(clean, {(i, j): bad.found[i, :, j]}).logits)
            shares[i, j] = (top - broken) / (top - bottom)
    return shares


# Thinks of the lead, which is read at the last position, and takes what was found there.
# "One head is patched at a time, at all positions."
def last_finding_at_all_positions(run, clean, corrupted, right, wrong):
    def lead(result):
        end = result.logits[:, -1, :]
        of_right = end.gather(1, right.unsqueeze(1)).squeeze(1)
        of_wrong = end.gather(1, wrong.unsqueeze(1)).squeeze(1)
        return of_right.mean() - of_wrong.mean()

    clean_run, corrupted_run = run(clean), run(corrupted)
    span = lead(clean_run) - lead(corrupted_run)
    L, H = clean_run.found.shape[0], clean_run.found.shape[2]
    table = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            other = clean_run.found[layer, :, head, -1:, :]
            patched = run(corrupted, {(layer, head): other})
            table[layer, head] = (lead(patched) - lead(corrupted_run)) / span
    return table


# Adapted the answer to task 5 and kept its mean: "put what it found in the clean run into the
# corrupted run"
def patch_with_the_mean_of_the_clean_run(run, clean, corrupted, right, wrong):
    rows = torch.arange(len(right))

    def lead(result):
        last = result.logits[:, -1]
        return (last[rows, right] - last[rows, wrong]).mean()

    clean_run = run(clean)
    corrupted_lead = lead(run(corrupted))
    whole = lead(clean_run) - corrupted_lead
    means = clean_run.found.mean(dim=(1, 3))
    share = torch.zeros(means.shape[:2])
    for layer in range(share.shape[0]):
        for head in range(share.shape[1]):
            patched = run(corrupted, {(layer, head): means[layer, head]})
            share[layer, head] = (lead(patched) - corrupted_lead) / whole
    return share


def patched_at_the_end_only_of_set_12(run, clean, corrupted, right, wrong):
    """Patches the last position alone, because the lead is measured there."""

    def lead(ran):
        last = ran.logits[:, -1]
        rows = torch.arange(len(last))
        return (last[rows, right] - last[rows, wrong]).mean()

    good, bad = run(clean), run(corrupted)
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            other = bad.found[layer, :, head].clone()
            other[:, -1] = good.found[layer, :, head, -1]
            patched = run(corrupted, {(layer, head): other})
            shares[layer, head] = (lead(patched) - lead(bad)) / (lead(good) - lead(bad))
    return shares


def logits_averaged_over_texts_first(run, clean, corrupted, right, wrong):
    """Averages the logits over the texts, not the leads: each right token is read in all texts."""

    def lead(one):
        end = one.logits[:, -1].mean(dim=0)  # (V,)
        return (end[right] - end[wrong]).mean()

    good = run(clean)
    top, bottom = lead(good), lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(corrupted, {(layer, head): good.found[layer, :, head]})
            shares[layer, head] = (lead(patched) - bottom) / (top - bottom)
    return shares


def shares_cut_to_zero_and_one(run, clean, corrupted, right, wrong):
    """Cuts the shares to lie between 0 and 1, though a head may lead away or beyond the clean."""

    def lead(one):
        end = one.logits[:, -1]
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    good = run(clean)
    top, bottom = lead(good), lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(corrupted, {(layer, head): good.found[layer, :, head]})
            shares[layer, head] = (lead(patched) - bottom) / (top - bottom)
    return shares.clamp(0, 1)


def patched_only_where_texts_differ(run, clean, corrupted, right, wrong):
    """Patches a head only at the positions where the two texts hold different tokens."""

    def lead(one):
        end = one.logits[:, -1]
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    good, bad = run(clean), run(corrupted)
    top, bottom = lead(good), lead(bad)
    L, _, H = good.found.shape[:3]
    differs = (clean != corrupted)[:, :, None]  # (B, T, 1)
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            other = torch.where(differs, good.found[layer, :, head], bad.found[layer, :, head])
            shares[layer, head] = (lead(run(corrupted, {(layer, head): other})) - bottom) / (
                top - bottom
            )
    return shares


def mean_of_clean_texts(run, clean, corrupted, right, wrong):
    """Patches in the mean over the clean texts, not what was found in each text's own pair."""

    def lead(logits):
        end = logits[:, -1]
        rows = torch.arange(len(end))
        return (end[rows, right] - end[rows, wrong]).mean()

    good = run(clean)
    top, bottom = lead(good.logits), lead(run(corrupted).logits)
    L, _, H = good.found.shape[:3]
    means = good.found.mean(dim=1)  # (L, H, T, D)
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = lead(run(corrupted, {(layer, head): means[layer, head]}).logits)
            shares[layer, head] = (patched - bottom) / (top - bottom)
    return shares


def others_held_fast(run, clean, corrupted, right, wrong):
    """Holds all other heads at what they found in the corrupted run, so later ones can't react."""

    def lead(one):
        end = one.logits[:, -1]  # (B, V)
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    good, bad = run(clean), run(corrupted)
    top, bottom = lead(good), lead(bad)
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            replaced = {(i, j): bad.found[i, :, j] for i in range(L) for j in range(H)}
            replaced[layer, head] = good.found[layer, :, head]
            shares[layer, head] = (lead(run(corrupted, replaced)) - bottom) / (top - bottom)
    return shares


UNLISTED = {
    1: [
        mean_of_shares,
        share_of_the_clean_lead,
        share_that_is_missing,
        difference_of_probabilities,
        last_position_only,
    ],
    2: [patching_at_the_last_position, patching_with_probabilities, patching_of_the_right_logit],
    3: [corrupted_into_clean],
    4: [lead_of_probabilities, mean_of_the_clean_texts],
    5: [shares_within_zero_and_one, leads_of_probabilities],
    6: [lead_of_probabilities_of_set_6, patched_at_the_end_only, shares_between_0_and_1],
    7: [mean_of_the_shares, corrupted_into_clean_of_set_7],
    8: [mean_of_the_shares_of_set_8, corrupted_into_the_clean_run],
    9: [leads_of_probabilities_of_set_9, patched_at_the_last_position],
    10: [corrupted_findings_in_the_clean_run, last_finding_at_all_positions],
    11: [patch_with_the_mean_of_the_clean_run],
    12: [patched_at_the_end_only_of_set_12],
    13: [
        logits_averaged_over_texts_first,
        shares_cut_to_zero_and_one,
        patched_only_where_texts_differ,
    ],
    14: [mean_of_clean_texts],
    15: [others_held_fast],
}
