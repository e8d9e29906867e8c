"""Students' answers to 12/sink."""

import torch


def streamed(chunks, sink, *, begin=None, count=None, old_sum=None, old_mean=None):
    grow = torch.exp
    m = sink.clone() if begin is None else begin(sink)
    total = torch.ones(len(sink)) if count is None else count(sink)
    acc = 0
    for z, v in chunks:
        top = torch.max(m, z.max(dim=1).values)
        w = grow(z - top.unsqueeze(1))
        factor = grow(m - top)
        total = total * (factor if old_sum is None else old_sum(factor)) + w.sum(1)
        keep = factor if old_mean is None else old_mean(factor)
        acc = acc * (keep.unsqueeze(1) if torch.is_tensor(keep) else keep) + w @ v
        m = top
    return acc / total.unsqueeze(1)


def as_one_more_key(chunks, sink):
    pairs = list(chunks)
    z = torch.cat([sink[:, None], *[z for z, _ in pairs]], dim=1)
    v = torch.cat([torch.zeros(1, pairs[0][1].shape[1]), *[v for _, v in pairs]])
    return torch.softmax(z, dim=1) @ v


def by_logarithms(chunks, sink):
    log, mean = sink.double(), 0.0
    for z, v in chunks:
        z, v = z.double(), v.double()
        new = torch.logaddexp(log, z.logsumexp(1))
        mean = mean * (log - new).exp()[:, None] + (z - new[:, None]).exp() @ v
        log = new
    return mean.float()


def row_by_row(chunks, sink):
    pairs, rows = list(chunks), []
    for t in range(len(sink)):
        z = torch.cat([z[t] for z, _ in pairs])
        m = max(float(z.max()), float(sink[t]))
        w = torch.exp(z - m)
        rows.append(w @ torch.cat([v for _, v in pairs]) / (w.sum() + torch.exp(sink[t] - m)))
    return torch.stack(rows)


def averaged(chunks, sink):
    return sum(outs := [as_one_more_key([chunk], sink) for chunk in chunks]) / len(outs)


def sink_as_number(chunks, sink):
    pairs = list(chunks)
    z, v = torch.cat([z for z, _ in pairs], 1), torch.cat([v for _, v in pairs])
    return z.exp() @ v / (z.exp().sum(1) + sink)[:, None]


def at_once(chunks, sink):
    """One maximum of all rows, found before anything is added up."""
    pairs = list(chunks)
    z, v = torch.cat([z for z, _ in pairs], 1), torch.cat([v for _, v in pairs])
    top = max(float(z.max()), float(sink.max()))
    e, own = (z - top).exp(), (sink - top).exp()
    return e @ v / (e.sum(1) + own)[:, None]


def shrunk_together(chunks, sink):
    m, total, acc = sink, torch.ones(len(sink)), 0.0
    for z, v in chunks:
        top = torch.max(m, z.max(dim=1).values)
        w, factor = (z - top[:, None]).exp(), (m - top).exp()
        total, acc = (total + w.sum(1)) * factor, (acc + w @ v) * factor[:, None]
        m = top
    return acc / total[:, None]


def four_chunks(chunks, sink):
    """Takes for granted how many there are."""
    chunks = iter(chunks)
    return as_one_more_key([next(chunks) for _ in range(4)], sink)


RIGHT = {
    "streamed": streamed,
    "one more key": as_one_more_key,
    "logarithms": by_logarithms,
    "rows": row_by_row,
}


def largest(z):
    return z.max(dim=1, keepdim=True).values


def never_divided(chunks, sink):
    pairs = list(chunks)
    z = torch.cat([z for z, _ in pairs], dim=1)
    m = torch.maximum(largest(z), sink[:, None])
    return (z - m).exp() @ torch.cat([v for _, v in pairs])


def divided_each_time(chunks, sink):
    m, total, acc = sink, torch.ones(len(sink)), 0.0
    for z, v in chunks:
        new = torch.maximum(m, z.max(dim=1).values)
        e = torch.exp(z - new[:, None])
        total = total * torch.exp(m - new) + e.sum(1)
        acc = (acc * torch.exp(m - new)[:, None] + e @ v) / total[:, None]
        m = new
    return acc


def never_below(least):
    def answer(chunks, sink):
        pairs = list(chunks)
        z, v = torch.cat([z for z, _ in pairs], dim=1), torch.cat([v for _, v in pairs])
        m = torch.maximum(largest(z), sink[:, None]).clamp(min=least)
        e = torch.exp(z - m)
        return e @ v / (e.sum(1, keepdim=True) + torch.exp(sink[:, None] - m))

    return answer


def without_the_first_chunk(chunks, sink):
    return as_one_more_key(list(chunks)[1:] or chunks, sink)


def zeros_for_hidden(chunks, sink):
    return streamed(((z.nan_to_num(neginf=0.0), v) for z, v in chunks), sink)


# "the weight of position s is e^z / (e^b + Σ e^z)": one sink a row, and not one a chunk
def sink_in_every_chunk(chunks, sink):
    m, total, weighted = sink[:, None], 0.0, 0.0
    for scores, values in chunks:
        scores = torch.cat([scores, sink[:, None]], dim=1)
        new = torch.maximum(m, scores.amax(dim=1, keepdim=True))
        e, shrink = (scores - new).exp(), (m - new).exp()
        total = total * shrink + e.sum(dim=1, keepdim=True)
        weighted = weighted * shrink + e[:, :-1] @ values
        m = new
    return weighted / total


def sink_without_the_shift(chunks, sink):
    m, total, weighted = torch.full((len(sink), 1), -1e30), 0.0, 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True)
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / (total + sink[:, None].exp())


# "Scores may be as large as 300, or all below −400 in one row": clamped, they are all alike.
def scores_are_clamped(chunks, sink):
    total, weighted = sink.clamp(-80, 80).exp()[:, None], 0.0
    for scores, values in chunks:
        e = scores.clamp(-80, 80).exp()
        total = total + e.sum(dim=-1, keepdim=True)
        weighted = weighted + e @ values
    return weighted / total


WRONG = {
    "last-chunk-alone": lambda chunks, sink: as_one_more_key(list(chunks)[-1:], sink),
    "hidden-scores-are-zeros": zeros_for_hidden,
    "not-divided": never_divided,
    "divided-in-the-loop": divided_each_time,
    "far-from-0": never_below(-850),
    "sink-in-every-chunk": sink_in_every_chunk,
    "sink-not-relative": sink_without_the_shift,
    "one-maximum-for-all-rows": at_once,
    "new-terms-shrink-too": shrunk_together,
    "scores-limited": scores_are_clamped,
    "sink-forgotten": lambda chunks, sink: as_one_more_key(chunks, sink - torch.inf),
    "sink-is-a-constant": lambda chunks, sink: as_one_more_key(chunks, sink * 0),
    "sink-not-exponentiated": sink_as_number,
    "chunks-averaged": averaged,
}


def chunks_never_rescaled(chunks, sink):
    total, acc = torch.exp(sink[:, None]), 0.0
    for z, v in chunks:
        w = torch.exp(z - largest(z))
        total, acc = total + w.sum(1, keepdim=True), acc + w @ v
    return acc / total


ODD = [
    (chunks_never_rescaled, "other-weights"),
    (
        lambda chunks, sink: streamed(((z, v.flip(0)) for z, v in chunks), sink),
        "reversed-the-powers-along-the-last-axis",
    ),
    (
        lambda chunks, sink: as_one_more_key([(z, v + 3) for z, v in chunks], sink) - 3,
        "sink-with-a-value",
    ),
    (without_the_first_chunk, "other-weights"),
    (
        lambda chunks, sink: streamed(chunks, sink.mean().expand_as(sink)),
        "used-the-mean-over-all-items-of-the-largest-so-far",
    ),
    (
        lambda chunks, sink: as_one_more_key(chunks, sink) * (1 + sink.sigmoid()[:, None]),
        "other-sums",
    ),
    (four_chunks, "error"),
    (lambda *given: streamed(*given).squeeze(), "axis-of-one"),
    (lambda chunks, sink: as_one_more_key(chunks, sink)[:, :-1], "last-missing"),
    (lambda chunks, sink: as_one_more_key(chunks, sink) + 1, "added-1-to-your-output"),
    (lambda chunks, sink: chunks[0], "error"),
]


# --- Answers that no list names ---


# One who adapted the chapter's loop by its first line only.
# "a logit that takes part in the softmax but has no value"
def sink_only_as_a_maximum(chunks, sink):
    m = sink[:, None]
    total, weighted = torch.zeros_like(m), 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.max(dim=-1, keepdim=True).values)
        shrink = (m - new).exp()
        e = (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True)
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / total


UNLISTED = {
    9: [(sink_only_as_a_maximum, "sink-forgotten")],
}
