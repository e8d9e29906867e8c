"""Students' answers to 11/ablation."""

import numpy as np
import torch
import torch.nn.functional as F

from students.ch11_looking_inside.shared import cross_entropy, table


def with_stand_in(stand, compare=lambda broken, whole: broken - whole):
    """Every head in its turn replaced by what `stand(reference, plain, layer, head)` gives."""

    def answer(run, tokens, targets, reference):
        plain, other = run(tokens), run(reference)
        whole = cross_entropy(plain.logits, targets)

        def value(layer, head):
            new = stand(other.found[layer, :, head], plain.found[layer, :, head])
            return compare(cross_entropy(run(tokens, {(layer, head): new}).logits, targets), whole)

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


def at_the_end(other, plain):
    return torch.cat([plain[:, :-1], channel_means(other).expand(len(plain), 1, -1)], dim=1)


def one_for_all_heads(run, tokens, targets, reference):
    plain, other = run(tokens), run(reference)

    def value(layer, head):
        mean = other.found[layer].transpose(0, 1).flatten(0, 2).mean(0)
        broken = run(tokens, {(layer, head): mean}).logits
        return cross_entropy(broken, targets) - cross_entropy(plain.logits, targets)

    return table(run, value, tokens)


def end_alone(run, tokens, targets, reference):
    """The loss of the last position."""
    found = run(reference).found.transpose(1, 2).flatten(2, 3).mean(2)  # (L, H, D)

    def loss(replaced):
        return cross_entropy(run(tokens, replaced).logits[:, -1:], targets[:, -1:])

    return table(run, lambda k, h: loss({(k, h): found[k, h]}) - loss({}), tokens)


def two_layers_of_three(run, tokens, targets, reference):
    found = run(reference).found
    rows = [[run(tokens, {(k, h): found[k, :, h].mean((0, 1))}) for h in range(3)] for k in (0, 1)]
    whole = cross_entropy(run(tokens).logits, targets)
    return torch.tensor(
        [[float(cross_entropy(one.logits, targets) - whole) for one in row] for row in rows]
    )


def head_0_for_all(run, tokens, targets, reference):
    found = run(reference).found[:, :, 0].mean((1, 2))

    def value(layer, head):
        broken, whole = run(tokens, {(layer, head): found[layer]}), run(tokens)
        return cross_entropy(broken.logits, targets) - cross_entropy(whole.logits, targets)

    return table(run, value, tokens)


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


def without_a_pad(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)


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


WRONG = {
    "mean-of-both": over_both,
    "reference-cut": lambda run, tokens, targets, reference: by_table(
        run, tokens, targets, reference[:, : len(tokens[0])]
    ),
    "losses-added-up": lambda run, tokens, targets, reference: (
        tokens.numel() * by_table(run, tokens, targets, reference)
    ),
    "losses-of-a-text-added-up": summed_by_text,
    "in-bits": lambda *given: by_table(*given) / torch.tensor(2.0).log(),
    "mean-of-head-0": head_0_for_all,
    "divided-by-the-whole": ablation_as_a_share,
    "divided-by-the-broken": with_stand_in(
        channel_means, compare=lambda broken, whole: 1 - whole / broken
    ),
    "sign-dropped": lambda *given: by_table(*given).abs(),
    "never-below-0": no_head_harms,
    "zero-for-mean": with_stand_in(lambda other, plain: torch.zeros_like(plain)),
    "mean-of-the-texts": with_stand_in(lambda other, plain: channel_means(plain)),
    "mean-of-one-number": with_stand_in(lambda other, plain: other.sum() / other.numel()),
    "mean-of-all-heads": one_for_all_heads,
    "another-text": with_stand_in(lambda other, plain: other[0, : plain.shape[1]]),
    "mean-at-each-position": with_stand_in(
        lambda other, plain: other.sum(0)[: plain.shape[1]] / len(other)
    ),
    "sign-exchanged": lambda *given: -by_table(*given),
    "loss-itself": with_stand_in(channel_means, lambda broken, whole: broken),
    "times-as-high": with_stand_in(channel_means, lambda broken, whole: broken / whole),
    "heads-stay-broken": lambda *given: together(*given, stays=True),
    "whole-layers": lambda *given: together(*given, stays=False),
    "last-position-only": with_stand_in(at_the_end),
    "mean-of-the-first-text": mean_of_the_first_text,
    "some-of-the-reference": lambda run, tokens, targets, reference: filled(
        run, tokens, targets, torch.stack([row for row, _ in zip(reference, tokens, strict=False)])
    ),
    "median-for-mean": median_for_mean,
    "mean-at-the-last-position": with_stand_in(lambda other, plain: other[:, -1].mean(0)),
    "loss-at-the-last-position": end_alone,
}

ODD = [
    (lambda *given: by_table(*given).T, "transposed"),
    (lambda *given: by_table(*given) + 1, "constant-difference"),
    (lambda *given: by_table(*given)[0], "shape"),
    (lambda run, tokens, targets, reference: run(targets + 99), "error"),
    (with_stand_in(lambda other, plain: plain.mean(1, keepdim=True)), "mean-of-the-texts"),
    (two_layers_of_three, "error"),
    (lambda *given: by_table(*given).squeeze(), "axis-of-one"),
    (measured_by(lambda logits, y: cross_entropy(logits.softmax(-1), y)), "other-loss"),
    (
        measured_by(lambda logits, y: F.cross_entropy(logits.view(*y.shape, -1)[0], y[0])),
        "other-loss",
    ),
    (measured_by(without_a_pad), "other-loss"),
    (measured_by(cross_entropy, lambda found: found.sum(dim=(1, 3))), "other-replacement"),
    (measured_by(cross_entropy, lambda found: found.mean(dim=(1, 3)) ** 2), "other-replacement"),
    (measured_by(cross_entropy, lambda found: found.mean(dim=(1, 2))), "other-replacement"),
    (measured_by(cross_entropy, key=lambda k, h: (h, k)), "no-such-head"),
    (measured_by(lambda logits, y: cross_entropy(logits, y).sqrt()), "other-difference"),
    (on_the_reference, "other-texts"),
    (lambda run, tokens, targets, reference: run(tokens).found.mean((1, 3, 4)), "nothing-replaced"),
]


# --- Answers that no list names ---


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


UNLISTED = {
    13: [(classes_second_by_reshape, "other-loss")],
}
