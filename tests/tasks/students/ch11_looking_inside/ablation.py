"""Students' answers to 11/ablation."""

import numpy as np
import torch
import torch.nn.functional as F

from students.ch11_looking_inside.shared import cross_entropy, table


def with_stand_in(stand):
    """Every head in its turn replaced by what `stand(reference, plain, layer, head)` gives."""

    def answer(run, tokens, targets, reference):
        plain, other = run(tokens), run(reference)
        whole = cross_entropy(plain.logits, targets)

        def value(layer, head):
            new = stand(other.found[layer, :, head], plain.found[layer, :, head])
            return cross_entropy(run(tokens, {(layer, head): new}).logits, targets) - whole

        return table(run, value, tokens)

    return answer


def channel_means(other, plain=None):
    return torch.stack([other[..., d].mean() for d in range(other.shape[-1])])


by_table = with_stand_in(channel_means)


def filled(run, tokens, targets, reference):
    """The replacement written out at full size, the loss from probabilities."""
    found = run(reference).found
    L, _, H, T, D = run(tokens).found.shape
    rows = []
    for layer in range(L):
        row = []
        for head in range(H):
            mean = found[layer, :, head].reshape(-1, D).mean(0)
            full = torch.ones(len(tokens), T, 1) * mean
            shares = run(tokens, {(layer, head): full}).logits.softmax(-1)
            row.append(-shares.gather(-1, targets.unsqueeze(-1)).log().mean())
        rows.append(torch.stack(row))
    shares = run(tokens, {}).logits.softmax(-1)
    return torch.stack(rows) + shares.gather(-1, targets.unsqueeze(-1)).log().mean()


def in_numpy(run, tokens, targets, reference):
    def loss(replaced):
        logits = run(tokens, replaced).logits.double().numpy()
        logits = logits - logits.max(-1, keepdims=True)
        log = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        return -np.take_along_axis(log, targets.numpy()[..., None], -1).mean()

    found = run(reference).found.numpy()
    out = np.zeros((found.shape[0], found.shape[2]))
    for layer, head in np.ndindex(*out.shape):
        mean = found[layer, :, head].mean((0, 1))
        out[layer, head] = loss({(layer, head): torch.from_numpy(mean)}) - loss(None)
    return out


def together(run, tokens, targets, reference, stays):
    plain, other = run(tokens), run(reference)
    whole, broken = cross_entropy(plain.logits, targets), {}

    def value(layer, head):
        if not stays:
            broken.clear()
            broken.update(
                {
                    (layer, h): channel_means(other.found[layer, :, h])
                    for h in range(other.found.shape[2])
                }
            )
        broken[layer, head] = channel_means(other.found[layer, :, head])
        return F.cross_entropy(run(tokens, broken).logits.mT, targets) - whole

    return table(run, value, tokens)


def end_alone(run, tokens, targets, reference):
    """The loss of the last position."""
    found = run(reference).found.transpose(1, 2).flatten(2, 3).mean(2)  # (L, H, D)

    def loss(replaced):
        return cross_entropy(run(tokens, replaced).logits[:, -1:], targets[:, -1:])

    return table(run, lambda k, h: loss({(k, h): found[k, h]}) - loss({}), tokens)


def summed_by_text(run, tokens, targets, reference):
    """The mean over texts of what each text's symbols cost together."""
    found = run(reference).found

    def loss(replaced):
        log = run(tokens, replaced).logits.log_softmax(-1)
        return float(
            np.mean(
                [
                    -sum(row[t, k] for t, k in enumerate(y))
                    for row, y in zip(log.numpy(), targets.tolist(), strict=True)
                ]
            )
        )

    return table(run, lambda k, h: loss({(k, h): found[k, :, h].mean((0, 1))}) - loss({}), tokens)


def measured_by(loss, mean=lambda found: found.mean(dim=(1, 3)), key=lambda k, h: (k, h)):
    """Another loss, other means (L, H, …), or other keys."""

    def answer(run, tokens, targets, reference):
        means = mean(run(reference).found)

        def value(layer, head):
            broken = run(tokens, {key(layer, head): means[layer, head]}).logits
            return loss(broken, targets) - loss(run(tokens).logits, targets)

        return table(run, value, tokens)

    return answer


def over_both(run, tokens, targets, reference):
    """The mean over the positions of both passes, one after the other."""

    def stand(other, plain):
        return torch.cat([other.reshape(-1, other.shape[-1]), plain.flatten(0, 1)]).mean(0)

    return with_stand_in(stand)(run, tokens, targets, reference)


def on_the_reference(run, tokens, targets, reference):
    """The damage on texts that aren't asked for."""
    return by_table(run, reference, torch.zeros_like(reference), reference)


RIGHT = {"table": by_table, "filled": filled, "numpy": in_numpy}


def _loss(run, tokens, targets, replaced):
    logits = run(tokens, replaced).logits
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def ablation_as_a_share(run, tokens, targets, reference):
    means = run(reference).found.mean(dim=(1, 3))
    increase = torch.zeros(means.shape[:2])
    whole = _loss(run, tokens, targets, {})
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            loss = _loss(run, tokens, targets, {(layer, head): means[layer, head]})
            increase[layer, head] = (loss - whole) / whole
    return increase


# "loss with the head replaced minus loss of the whole model": less than 0 for a head that harms
def no_head_harms(run, tokens, targets, reference):
    def loss(replaced):
        return F.cross_entropy(run(tokens, replaced).logits.flatten(0, 1), targets.flatten())

    means = run(reference).found.mean(dim=(1, 3))
    rise = torch.zeros(means.shape[:2])
    for layer in range(rise.shape[0]):
        for head in range(rise.shape[1]):
            rise[layer, head] = loss({(layer, head): means[layer, head]}) - loss({})
    return rise.clamp(min=0)


def _increase(run, tokens, targets, mean):
    L, H = run(tokens).found.shape[0], run(tokens).found.shape[2]
    whole = _loss(run, tokens, targets, {})
    rows = [
        [_loss(run, tokens, targets, {(n, h): mean(n, h)}) - whole for h in range(H)]
        for n in range(L)
    ]
    return torch.tensor(rows)


def mean_of_the_first_text(run, tokens, targets, reference):
    found = run(reference[:1]).found.mean(dim=(1, 3))
    return _increase(run, tokens, targets, lambda n, h: found[n, h])


def median_for_mean(run, tokens, targets, reference):
    found = run(reference).found
    return _increase(
        run, tokens, targets, lambda n, h: found[n, :, h].flatten(0, 1).median(dim=0).values
    )


def classes_second_by_reshape(run, tokens, targets, reference):
    """Brings the logits to (B, V, T) by reshape instead of transpose, which mixes up the places."""

    def loss(replaced):
        logits = run(tokens, replaced).logits
        B, T, V = logits.shape
        return F.cross_entropy(logits.reshape(B, V, T), targets)

    means = run(reference).found.mean(dim=(1, 3))  # (L, H, D)
    base = loss({})
    increase = torch.zeros(means.shape[:2])
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            increase[layer, head] = loss({(layer, head): means[layer, head]}) - base
    return increase


WRONG = {
    "logits-reshaped": classes_second_by_reshape,
    "mean-over-the-heads": measured_by(cross_entropy, lambda found: found.mean(dim=(1, 2))),
    "mean-of-both": over_both,
    "losses-added-up": lambda run, tokens, targets, reference: (
        tokens.numel() * by_table(run, tokens, targets, reference)
    ),
    "losses-of-a-text-added-up": summed_by_text,
    "divided-by-the-whole": ablation_as_a_share,
    "never-below-0": no_head_harms,
    "zero-for-mean": with_stand_in(lambda other, plain: torch.zeros_like(plain)),
    "mean-of-the-texts": with_stand_in(lambda other, plain: channel_means(plain)),
    "mean-of-one-number": with_stand_in(lambda other, plain: other.sum() / other.numel()),
    "mean-at-each-position": with_stand_in(
        lambda other, plain: other.sum(0)[: plain.shape[1]] / len(other)
    ),
    "heads-stay-broken": lambda *given: together(*given, stays=True),
    "whole-layers": lambda *given: together(*given, stays=False),
    "mean-of-the-first-text": mean_of_the_first_text,
    "some-of-the-reference": lambda run, tokens, targets, reference: filled(
        run, tokens, targets, torch.stack([row for row, _ in zip(reference, tokens, strict=False)])
    ),
    "median-for-mean": median_for_mean,
    "loss-at-the-last-position": end_alone,
}

WRONG |= {
    "softmax-taken-twice": measured_by(lambda logits, y: cross_entropy(logits.softmax(-1), y)),
    "loss-of-the-first-text": measured_by(
        lambda logits, y: F.cross_entropy(logits.view(*y.shape, -1)[0], y[0])
    ),
}

ODD = [
    (lambda *given: by_table(*given).T, "transposed"),
    (lambda *given: by_table(*given) + 2, "constant-difference"),
    (lambda *given: by_table(*given)[0], "shape"),
    (lambda run, tokens, targets, reference: run(targets + 99), "error"),
    (lambda *given: by_table(*given).squeeze(), "axis-of-one"),
    (
        measured_by(cross_entropy, lambda found: found.sum(dim=(1, 3))),
        "used-sum-instead-of-mean-in-the-means-of-the-heads",
    ),
    (measured_by(cross_entropy, lambda found: found.mean(dim=(1, 3)) ** 3), "other-replacement"),
    (measured_by(cross_entropy, key=lambda k, h: (h, k)), "no-such-head"),
    (measured_by(lambda logits, y: cross_entropy(logits, y).sqrt()), "other-difference"),
    (on_the_reference, "other-texts"),
    (lambda run, tokens, targets, reference: run(tokens).found.mean((1, 3, 4)), "nothing-replaced"),
]
