"""Students' answers to 13/beam."""

# ruff: noqa: B905

import heapq
import math

import torch


def with_topk(log_probabilities, start, end, width, longest, power):
    rows, sums = torch.full((1, 1), start), torch.zeros(1, dtype=torch.float64)
    finished = []
    for _ in range(longest):
        total = sums[:, None] + log_probabilities(rows).double()
        V = total.shape[1]
        best, where = total.flatten().topk(min(width, total.numel()))
        rows = torch.cat([rows[where // V], (where % V)[:, None]], dim=1)
        over = rows[:, -1] == end
        finished += zip(rows[over, 1:].tolist(), best[over].tolist())
        rows, sums = rows[~over], best[~over]
        if not len(rows):
            break
    finished += zip(rows[:, 1:].tolist(), sums.tolist())
    scored = [(score / len(tokens) ** power, tokens) for tokens, score in finished]
    best = max(scored)
    return best[1], best[0]


def with_heap(
    f, start, end, width, longest, power, *, go_on=False, forget=False, halt=False, drop_live=False,
    narrow=False, fresh=False, exp=False, own=False, final=None, show=None, extra=0,
):  # fmt: skip
    final = final or (lambda tokens, s: s / len(tokens) ** power)
    beam, over = [(0.0, ())], []
    for _ in range(longest + extra):
        options = []
        for score, tokens in beam:
            p = f(torch.tensor([[start, *tokens]]))[0].tolist()
            if exp:
                p = torch.tensor(p).double().exp().tolist()
            mine = [((0 if fresh else score) + q, (*tokens, v)) for v, q in enumerate(p)]
            options += [max(mine)] if own and len(beam) > 1 else mine
        room = width - len(over) if narrow else width
        best = heapq.nlargest(room, options)
        if go_on:
            beam = best
            continue
        beam = [one for one in best if one[1][-1] != end]
        over += [one for one in best if one[1][-1] == end]
        if not beam or (halt and over):
            break
    pool = over + beam
    if forget:
        pool = beam or over
    if drop_live:
        pool = over or beam
    score, tokens = max(pool, key=lambda one: final(one[1], one[0]))
    tokens, score = list(tokens), final(tokens, score)
    return (show(tokens, start, end) if show else tokens), score


def recursively(f, start, end, width, longest, power):
    def step(live, done, left):
        if not live or not left:
            return done + live
        table = f(torch.tensor([[start, *t] for t, _ in live])).tolist()
        every = [([*t, v], s + g) for (t, s), row in zip(live, table) for v, g in enumerate(row)]
        kept = sorted(every, key=lambda one: one[1], reverse=True)[:width]
        ends = [one for one in kept if one[0][-1] == end]
        return step([one for one in kept if one not in ends], done + ends, left - 1)

    found = [(t, s / len(t) ** power) for t, s in step([([], 0.0)], [], longest)]
    return sorted(found, key=lambda one: one[1])[-1]


def but(**how):
    return lambda *given: with_heap(*given, **how)


def greedily(f, start, end, width, longest, power):
    return with_topk(f, start, end, 1, longest, power)


def returns_the_sum(f, start, end, width, longest, power):
    rows = with_topk(f, start, end, width, longest, power)[0]
    told = [f(torch.tensor([[start, *rows[:t]]]))[0, rows[t]] for t in range(len(rows))]
    return rows, float(sum(told))


def without_a_limit(f, start, end, width, longest, power):
    """Takes for granted that there are as many continuations as the beam is wide."""
    f(torch.tensor([[start]])).flatten().topk(width)
    return with_topk(f, start, end, width, longest, power)


def with_a_bound(f, start, end, width, longest, power):
    """Stops once no live text can win any more: its sum only falls, and n is at most `longest`."""

    def no_live_text_can_win(over, live):
        values = [total / len(tokens) ** power for tokens, total in over]
        return over and max(values) >= max(total for _, total in live) / longest**power

    return with_pool(f, start, end, width, longest, power, stops=no_live_text_can_win)


RIGHT = {"topk": with_topk, "heap": with_heap, "recursion": recursively, "bound": with_a_bound}


def length_added(log_probabilities, start, end, width, longest, power):
    """A model that pays for each token is a sum that pays for its length."""
    return with_topk(lambda x: log_probabilities(x) + power, start, end, width, longest, 0.0)


def chosen_by_the_sum(log_probabilities, start, end, width, longest, power):
    tokens, total = with_topk(log_probabilities, start, end, width, longest, 0.0)
    return tokens, total / len(tokens) ** power


def live_not_divided(log_probabilities, start, end, width, longest, power):
    live, values = {(start,): 0.0}, {}
    while live and len(next(iter(live))) <= longest:
        rows = log_probabilities(torch.tensor(list(live))).tolist()
        grown = {
            (*text, v): live[text] + gain
            for text, row in zip(live, rows, strict=True)
            for v, gain in enumerate(row)
        }
        live = {text: grown[text] for text in sorted(grown, key=grown.get)[-width:]}
        for text in [text for text in live if text[-1] == end]:
            values[text] = live.pop(text) / (len(text) - 1) ** power
    values |= live
    best = max(values, key=values.get)
    return list(best[1:]), values[best]


def with_pool(f, start, end, width, longest, power, *, best=None, options=None, stops=None):
    """As the statement says it, with one step exchanged."""
    live, over = [((), 0.0)], []
    for _ in range(longest):
        table = f(torch.tensor([[start, *tokens] for tokens, _ in live])).double()
        grown = [
            ((*tokens, v), score + float(row[v]))
            for (tokens, score), row in zip(live, table)
            for v in (options(row) if options else range(len(row)))
        ]
        kept = best(grown, width) if best else sorted(grown, key=lambda o: -o[1])[:width]
        over += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live or (stops and stops(over, live)):
            break
    tokens, score = max(over + live, key=lambda one: one[1] / len(one[0]) ** power)
    return list(tokens), score / len(tokens) ** power


def pool(**how):
    return lambda *given: with_pool(*given, **how)


def rows_read_down(f, start, end, width, longest, power):
    rows, sums, over = [[]], torch.zeros(1), []
    for _ in range(longest):
        total = sums[:, None] + f(torch.tensor([[start, *row] for row in rows]))
        W, V = total.shape
        best, where = total.flatten().topk(min(width, W * V))
        ones = [([*rows[int(i) % W], int(i) // W % V], float(s)) for i, s in zip(where, best)]
        over += [one for one in ones if one[0][-1] == end]
        live = [one for one in ones if one[0][-1] != end]
        if not live:
            break
        rows, sums = [row for row, _ in live], torch.tensor([s for _, s in live])
    tokens, score = max(over + (live or []), key=lambda one: one[1] / len(one[0]) ** power)
    return tokens, score / len(tokens) ** power


def by_factors(*, factor=float, final=lambda product, n, power: product / n**power):
    """Begins with 1 and multiplies by something for each token."""

    def answer(f, start, end, width, longest, power):
        live, over = {(): 1.0}, {}
        for _ in range(longest):
            table = f(torch.tensor([[start, *text] for text in live])).tolist()
            grown = {
                (*text, v): product * factor(one)
                for (text, product), row in zip(live.items(), table, strict=True)
                for v, one in enumerate(row)
            }
            kept = sorted(grown, key=grown.get, reverse=True)[:width]
            over |= {text: grown[text] for text in kept if text[-1] == end}
            live = {text: grown[text] for text in kept if text[-1] != end}
            if not live:
                break
        values = {text: final(p, len(text), power) for text, p in (over | live).items()}
        best = max(values, key=values.get)
        return list(best), values[best]

    return answer


def by_the_next_token(f, start, end, width, longest, power):
    """Takes the best of the new table, and adds it to the sums afterwards."""
    rows, sums, over = [[]], [0.0], []
    for _ in range(longest):
        table = f(torch.tensor([[start, *row] for row in rows]))
        V = table.shape[1]
        best = table.flatten().topk(min(width, table.numel())).indices.tolist()
        ones = [([*rows[i // V], i % V], sums[i // V] + float(table.flatten()[i])) for i in best]
        over += [one for one in ones if one[0][-1] == end]
        rows = [row for row, _ in ones if row[-1] != end]
        sums = [total for row, total in ones if row[-1] != end]
        if not rows:
            break
    left = over + list(zip(rows, sums, strict=True))
    tokens, total = max(left, key=lambda one: one[1] / len(one[0]) ** power)
    return tokens, total / len(tokens) ** power


def with_a_list(f, start, end, width, longest, power, **but):
    """In plain steps, of which some may be wrong."""
    live, over, begun = [([], 0.0)], [], []
    for n in range(1, longest + 1):
        texts = [[start, *t] for t, _ in live]
        if but.get("last_only"):
            texts = [t[-1:] for t in texts]
        if but.get("no_start") and n > 1:
            texts = [t[1:] for t in texts]
        grown = []
        for (tokens, total), row in zip(live, f(torch.tensor(texts)).tolist()):
            for v, gain in enumerate(row):
                if but.get("no_early_end") and n == 1 and v == end:
                    continue
                if but.get("no_start_again") and v == start:
                    continue
                if (but.get("free_end") and v == end) or (but.get("free_first") and n == 1):
                    gain = 0.0
                new = total + gain
                grown.append(([*tokens, v], new / n**power if but.get("in_each_step") else new))
        grown.sort(key=lambda one: one[1], reverse=True)
        kept = grown[: max(1, width - 1) if but.get("narrow") else width]
        ended = [one for one in (grown if but.get("all_ends") else kept) if one[0][-1] == end]
        over = ended if but.get("last_ended") else over + ended
        if but.get("one_ended") and over:
            over = [max(over, key=lambda one: one[1])]
        live = [one for one in kept if one[0][-1] != end]
        begun += live
        if not live or (but.get("two") and len(over) > 1):
            break
    if but.get("begun"):
        live = begun
    divide = but.get("divide", lambda t, s: s / len(t) ** power)
    if but.get("in_each_step"):
        divide = lambda t, s: s  # noqa: E731
    values = [(t, divide(t, s)) for t, s in over + live]
    return but.get("pick", lambda values: max(values, key=lambda one: one[1]))(values)


def plain(**but):
    return lambda *given: with_a_list(*given, **but)


def divided(how):
    """With another value than sum / n ** power."""
    return lambda f, start, end, width, longest, power: with_a_list(
        f, start, end, width, longest, power, divide=how(end, longest, power)
    )


def wider_with_each_end(f, start, end, width, longest, power):
    """Makes room for the texts that have ended, although they are in a list of their own."""
    live, over = [(0.0, [])], []
    for _ in range(longest):
        table = f(torch.tensor([[start, *t] for _, t in live])).tolist()
        every = sorted(
            ((s + g, [*t, v]) for (s, t), row in zip(live, table) for v, g in enumerate(row)),
            reverse=True,
        )
        best = every[: width + len(over)]
        over = over + [one for one in best if one[1][-1] == end]
        live = [one for one in best if one[1][-1] != end]
        if not live:
            break
    score, tokens = max(over + live, key=lambda one: one[0] / len(one[1]) ** power)
    return tokens, score / len(tokens) ** power


def stops_when_no_live_text_leads(log_probabilities, start, end, width, longest, power):
    """Stops once a finished text has a better value than all live ones, which could still rise."""
    live, finished = [([], 0.0)], []

    def value(one):
        return one[1] / len(one[0]) ** power

    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = [
            ([*tokens, token], total + gain)
            for (tokens, total), row in zip(live, log_probabilities(x).tolist(), strict=True)
            for token, gain in enumerate(row)
        ]
        kept = sorted(grown, key=lambda one: one[1], reverse=True)[:width]
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live:
            break
        if finished and max(map(value, finished)) >= max(map(value, live)):
            break
    best = max(finished + live, key=value)
    return best[0], value(best)


def _search(
    log_probabilities, start, end, width, longest, power, *, score=None, total=None, choose=max
):
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = [
            ([*tokens, token], total(sofar, gain) if total else sofar + gain)
            for (tokens, sofar), row in zip(live, log_probabilities(x).tolist(), strict=True)
            for token, gain in enumerate(row)
        ]
        kept = sorted(grown, key=lambda one: one[1], reverse=True)[:width]
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live:
            break
    score = score or (lambda tokens, sofar: sofar / len(tokens) ** power)
    return choose(
        [(tokens, score(tokens, sofar)) for tokens, sofar in finished + live],
        key=lambda one: one[1],
    )


def worst_text(*given):
    return _search(*given, choose=min)


def searched(log_probabilities, start, end, width, longest, enough, room):
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = [
            ([*tokens, token], total + gain)
            for (tokens, total), row in zip(live, log_probabilities(x).tolist(), strict=True)
            for token, gain in enumerate(row)
        ]
        kept = sorted(grown, key=lambda one: one[1], reverse=True)[: room(finished)]
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live or enough(finished):
            break
    return live, finished


# "the one with the largest sum / n ** power wins"
def penalty_of_the_translation_paper(log_probabilities, start, end, width, longest, power):
    live, finished = searched(
        log_probabilities,
        start,
        end,
        width,
        longest,
        lambda done: False,
        lambda done: width,
    )
    values = [
        (tokens, total / ((5 + len(tokens)) / 6) ** power) for tokens, total in finished + live
    ]
    return max(values, key=lambda one: one[1])


def _beam(log_probabilities, start, end, longest, keep, value):
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = [
            ([*tokens, token], total + gain)
            for (tokens, total), row in zip(live, log_probabilities(x).tolist(), strict=True)
            for token, gain in enumerate(row)
        ]
        done, live = keep(sorted(grown, key=lambda one: one[1], reverse=True), end)
        finished += done
        if not live:
            break
    values = [(tokens, value(tokens, total)) for tokens, total in finished + live]
    return max(values, key=lambda one: one[1])


def beam_that_refills_its_live_texts(log_probabilities, start, end, width, longest, power):
    def keep(grown, end):
        live = [one for one in grown if one[0][-1] != end][:width]
        return [one for one in grown[:width] if one[0][-1] == end], live

    def value(tokens, total):
        return total / len(tokens) ** power

    return _beam(log_probabilities, start, end, longest, keep, value)


def ends_when_enough_are_finished(log_probabilities, start, end, width, longest, power):
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = [
            ([*tokens, token], total + gain)
            for (tokens, total), row in zip(live, log_probabilities(x).tolist(), strict=True)
            for token, gain in enumerate(row)
        ]
        kept = sorted(grown, key=lambda one: one[1], reverse=True)[:width]
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live or len(finished) >= width:
            break
    values = [(tokens, total / len(tokens) ** power) for tokens, total in finished + live]
    return max(values, key=lambda one: one[1])


WRONG = {
    "beam-grows": wider_with_each_end,
    "best-value-has-ended": stops_when_no_live_text_leads,
    "two-have-ended": plain(two=True),
    "end-not-added": plain(free_end=True),
    "first-not-added": plain(free_first=True),
    "end-not-in-n": divided(
        lambda end, longest, power: (
            lambda t, s: s / max(1, len([v for v in t if v != end])) ** power
        )
    ),
    "longest-for-n": divided(lambda end, longest, power: lambda t, s: s / longest**power),
    "times-power": divided(lambda end, longest, power: lambda t, s: power * s / len(t)),
    "sign-dropped": divided(lambda end, longest, power: lambda t, s: abs(s) / len(t) ** power),
    "divided-in-each-step": plain(in_each_step=True),
    "no-end-at-first": plain(no_early_end=True),
    "start-never-written": plain(no_start_again=True),
    "all-ends-set-aside": plain(all_ends=True),
    "last-token-shown": plain(last_only=True),
    "start-not-shown": plain(no_start=True),
    "beginnings-compete": plain(begun=True),
    "first-in-the-list": plain(pick=lambda values: values[0]),
    "last-in-the-list": plain(pick=lambda values: values[-1]),
    "largest-tokens": plain(pick=max),
    "ended-overwritten": plain(last_ended=True),
    "best-sum-of-ended-kept": plain(one_ended=True),
    "beam-too-narrow": plain(narrow=True),
    "ranked-by-the-last": by_the_next_token,
    "product-returned": by_factors(factor=math.exp),
    "logarithms-multiplied": by_factors(),
    "best-has-ended": pool(
        stops=lambda over, live: over and max(o[1] for o in over) >= max(o[1] for o in live)
    ),
    "beam-too-wide": pool(
        best=lambda ones, width: sorted(ones, key=lambda one: -one[1])[: 2 * width]
    ),
    "smallest-kept": pool(best=lambda ones, width: sorted(ones, key=lambda one: one[1])[:width]),
    "two-of-each": pool(options=lambda row: row.topk(2).indices.tolist()),
    "flat-index-misread": rows_read_down,
    "length-added": length_added,
    "smallest-value": worst_text,
    "chosen-by-the-sum": chosen_by_the_sum,
    "live-not-divided": live_not_divided,
    "length-plus-five": penalty_of_the_translation_paper,
    "greedy": greedily,
    "sum-returned": returns_the_sum,
    "not-accumulated": but(fresh=True),
    "sums-of-probabilities": but(exp=True),
    "each-its-best": but(own=True),
    "end-ignored": but(go_on=True),
    "finished-forgotten": but(forget=True),
    "refilled": beam_that_refills_its_live_texts,
    "enough-have-ended": ends_when_enough_are_finished,
    "first-finished": but(halt=True),
    "live-forgotten": but(drop_live=True),
    "length-ignored": but(final=lambda tokens, s: s),
    "mean": but(final=lambda tokens, s: s / len(tokens)),
    "multiplied-by-length": lambda f, start, end, width, longest, power: with_heap(
        f, start, end, width, longest, power, final=lambda t, s: s * len(t) ** power
    ),
    "start-in-length": lambda f, start, end, width, longest, power: with_heap(
        f, start, end, width, longest, power, final=lambda t, s: s / (len(t) + 1) ** power
    ),
    "start-returned": but(show=lambda tokens, start, end: [start, *tokens]),
    "end-dropped": but(show=lambda tokens, start, end: [t for t in tokens if t != end]),
    "beam-shrinks": but(narrow=True),
    "one-too-many": but(extra=1),
    "one-too-few": but(extra=-1),
}


ODD = [
    (divided(lambda end, longest, power: lambda t, s: s / len(t) ** (power / 2)), "another-text"),
    (pool(best=lambda ones, width: sorted(ones, key=lambda o: -o[1])[: 3 * width]), "another-text"),
    (
        lambda *a: (with_topk(*a)[0], with_topk(*a)[1] / 2),
        "constant-ratio",
    ),
    (lambda *a: (with_topk(*a)[0], 0.0), "all-alike"),
    (lambda *a: (with_topk(*a)[0][::-1], with_topk(*a)[1]), "another-text"),
    (without_a_limit, "error"),
]


# --- Answers that no list names ---


UNLISTED = {}
