"""Students' answers to 09/last."""

import math

import numpy as np
import torch
import torch.nn.functional as F


@torch.no_grad()
def last_loop(model, tokens, lengths):
    found = []
    for T in lengths:
        losses = []
        for place in range(max(lengths), len(tokens)):
            logits, _ = model(tokens[None, place - T : place])
            losses.append(F.cross_entropy(logits[0, -1:], tokens[place : place + 1]))
        found.append(torch.stack(losses).mean())
    return found


@torch.no_grad()
def last_gather(model, tokens, lengths):
    ends = torch.arange(max(lengths), len(tokens))
    found = []
    for T in lengths:
        x = tokens[ends[:, None] - torch.arange(T, 0, -1)]
        p = model(x)[0][:, -1].double().log_softmax(-1)
        found.append(-p.gather(1, tokens[ends][:, None]).mean().item())
    return np.array(found)


@torch.no_grad()
def last_from_one_pass(model, tokens, lengths):
    windows = tokens.unfold(0, max(lengths) + 1, 1)
    targets = windows[:, -1]
    return torch.tensor(
        [F.cross_entropy(model(windows[:, -1 - T : -1])[0][:, T - 1], targets) for T in lengths]
    )


def last_loss(own=False, cut=0, place=-1, back=0, stride=1, reduction="mean", everywhere=False):
    @torch.no_grad()
    def ask(model, tokens, lengths):
        found = []
        for T in lengths:
            first = T if own or stride == 0 else max(lengths)
            ends = torch.arange(first, len(tokens) - cut, T if stride == 0 else 1)
            x = tokens[ends[:, None] + torch.arange(-T, 0)]
            y = tokens[ends[:, None] + torch.arange(-T + 1, 1)]
            logits = model(x)[0]
            if everywhere:
                found.append(F.cross_entropy(logits.permute(0, 2, 1), y).item())
            else:
                wanted = tokens[ends - back]
                found.append(F.cross_entropy(logits[:, place], wanted, reduction=reduction).item())
        return found

    return ask


def last_longest(model, tokens, lengths):
    return last_gather(model, tokens, [max(lengths)] * len(lengths))


@torch.no_grad()
def last_aligned_left(model, tokens, lengths):
    count = len(tokens) - max(lengths)
    found = []
    for T in lengths:
        x = torch.stack([tokens[i : i + T] for i in range(count)])
        y = torch.stack([tokens[i + T] for i in range(count)])
        found.append(F.cross_entropy(model(x)[0][:, -1], y).item())
    return found


@torch.no_grad()
def last_at_the_beginning(model, tokens, lengths):
    ends = range(max(lengths), len(tokens))
    found = []
    for T in lengths:
        x = torch.stack([tokens[end - max(lengths) :][:T] for end in ends])
        found.append(F.cross_entropy(model(x)[0][:, -1], tokens[max(lengths) :]).item())
    return found


@torch.no_grad()
def last_without_one_token(model, tokens, lengths):
    ends = torch.arange(max(lengths), len(tokens))
    found = []
    for T in lengths:
        x = tokens[ends[:, None] + torch.arange(-T - 1, -1)]
        found.append(F.cross_entropy(model(x)[0][:, -1], tokens[ends]).item())
    return found


RIGHT = {"loop": last_loop, "gather": last_gather, "cut windows": last_from_one_pass}


def last_from(first):
    """Asks from the window of this number on."""

    def answer(model, tokens, lengths):
        found, longest = [], max(lengths)
        for T in lengths:
            starts = range(max(0, longest - T + first), len(tokens) - T)
            windows = torch.stack([tokens[s : s + T + 1] for s in starts])
            with torch.no_grad():
                logits = model(windows[:, :-1])[0][:, -1]
            found.append(F.cross_entropy(logits, windows[:, -1]).item())
        return found

    return answer


# "Return one mean loss for each entry of `lengths`": a length that comes twice is answered once.
def a_length_is_answered_once(model, tokens, lengths):
    found = {}
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[max(lengths) - T :]
        with torch.no_grad():
            logits = model(windows[:, :-1])[0][:, -1]
        found[T] = F.cross_entropy(logits, windows[:, -1]).item()
    return list(found.values())


# "Return one mean loss for each entry": the mean of the means of chunks, the last of which is
# smaller.
def mean_of_the_means_of_chunks(model, tokens, lengths):
    found = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[max(lengths) - T :]
        means = []
        for chunk in windows.split(8):
            with torch.no_grad():
                logits = model(chunk[:, :-1])[0][:, -1]
            means.append(F.cross_entropy(logits, chunk[:, -1]).item())
        found.append(sum(means) / len(means))
    return found


# "at least max(lengths) tokens before it": the lengths may come in any order
@torch.no_grad()
def longest_is_named_last(model, tokens, lengths):
    found = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[max(0, lengths[-1] - T) :]
        logits = model(windows[:, :-1])[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


def targets_of_windows_side_by_side(model, tokens, lengths):
    """Lays the longest windows side by side, so only one token in max(lengths) is a target."""
    longest = max(lengths)
    windows = tokens.unfold(0, longest + 1, longest)
    found = []
    for T in lengths:
        with torch.no_grad():
            logits = model(windows[:, -T - 1 : -1])[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


WRONG = {
    "in-another-order": lambda model, tokens, lengths: last_gather(model, tokens, sorted(lengths)),
    "side-by-side": targets_of_windows_side_by_side,
    "last-length-for-the-longest": longest_is_named_last,
    "one-target-more": last_from(-1),
    "answered-once": a_length_is_answered_once,
    "beginning-of-the-longest": last_at_the_beginning,
    "chunks-averaged": mean_of_the_means_of_chunks,
    "other-targets": last_loss(own=True),
    "first-targets": last_aligned_left,
    "all-positions": last_loss(everywhere=True),
    "last-target-lost": last_loss(cut=1),
    "reads-first-logits": last_loss(place=0),
    "unshifted-targets": last_loss(back=1),
    "longest-for-all": last_longest,
    "summed": last_loss(reduction="sum"),
}


def last_in_training_afterwards(model, tokens, lengths):
    model.eval()
    found = last_loop(model, tokens, lengths)
    model.train()
    return found


def last_shown(shown, read=lambda z: z[:, -1]):
    """Shows the model `shown(past, target, T)`."""

    def answer(model, tokens, lengths):
        longest = max(lengths)
        windows = torch.stack([tokens[i : i + longest + 1] for i in range(len(tokens) - longest)])
        past, target = windows[:, :-1], windows[:, -1]
        with torch.no_grad():
            read_ = [read(model(shown(past, target, T))[0]) for T in lengths]
        return [float(F.cross_entropy(z, target)) for z in read_]

    return answer


def last_while_training(model, tokens, lengths):
    return last_gather(model.train(), tokens, lengths)


WRONG |= {
    "target-read": last_shown(lambda past, y, T: torch.column_stack([past, y])[:, -T:]),
    "filled-with-zeros": last_shown(
        lambda past, _, T: past * (torch.arange(past.shape[1]) >= past.shape[1] - T)
    ),
    "logits-averaged": last_shown(lambda past, _, T: past[:, -T:], lambda z: z.mean(dim=1)),
    "past-too-short": last_shown(lambda past, _, T: past[:, -max(T - 1, 1) :]),
    "in-training-mode": last_while_training,
}


def last_by_length(model, tokens, lengths):
    return {T: last_gather(model, tokens, [T, max(lengths)])[0] for T in lengths}


def last_with_losses(loss):
    """Uses `loss(logits, target)` as the number of each length."""

    def answer(model, tokens, lengths):
        longest = max(lengths)
        targets = tokens[longest:]
        found = []
        for T in lengths:
            past = torch.stack([tokens[t - T : t] for t in range(longest, len(tokens))])
            with torch.no_grad():
                found.append(float(loss(model(past)[0][:, -1], targets)))
        return found

    return answer


def last_against_the_oldest(model, tokens, lengths):
    longest, found = max(lengths), []
    for T in lengths:
        past = torch.stack([tokens[t - T : t] for t in range(longest, len(tokens))])
        found.append(F.cross_entropy(model(past)[0][:, -1], past[:, 0]).item())
    return found


def last_every_second(model, tokens, lengths):
    found = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 2)[max(lengths) - T :]
        found.append(F.cross_entropy(model(windows[:, :-1])[0][:, -1], windows[:, -1]).item())
    return found


WRONG |= {
    "dictionary-returned": last_by_length,
    "oldest-for-target": last_against_the_oldest,
    "softmax-taken-twice": last_with_losses(lambda z, y: F.cross_entropy(z.softmax(-1), y)),
}


def last_times_their_share(model, tokens, lengths):
    losses = last_gather(model, tokens, lengths)
    return [loss * T / max(lengths) for loss, T in zip(losses, lengths, strict=True)]


ODD = [
    (last_every_second, "used-2-instead-of-1-in-all-windows"),
    (last_times_their_share, "some-positions"),
    (
        last_with_losses(lambda z, y: F.cross_entropy(z, y) * len(y) / (len(y) + 1)),
        "constant-ratio",
    ),
    (lambda model, tokens, lengths: model(tokens), "error"),
    (last_in_training_afterwards, "mode-not-restored"),
    (last_without_one_token, "other-losses"),
]


# --- Answers that no list names ---


def _last(model, tokens, lengths, first=None, place=-1):
    found = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[first(lengths, T) if first else max(lengths) - T :]
        logits = model(windows[:, :-1])[0][:, place]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


def perplexities(model, tokens, lengths):
    return [math.exp(loss) for loss in _last(model, tokens, lengths)]


UNLISTED = {
    1: [(perplexities, "raised-e-to-the-power-of-your-losses")],
}
