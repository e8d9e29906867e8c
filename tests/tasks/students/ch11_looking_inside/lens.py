"""Students' answers to 11/lens."""

import numpy as np
import torch
import torch.nn.functional as F


def by_position(streams, gain, shift, eps, unembedding, *, correction=0, stats=None, root=None):
    """Layer by layer, text by text, position by position."""
    root = root or (lambda variance: (variance + eps) ** 0.5)
    out = torch.zeros(*streams.shape[:3], len(unembedding))
    for layer, texts in enumerate(streams):
        for b, text in enumerate(texts):
            for t in range(len(text)):
                from_ = streams[layer, b, t] if stats is None else stats(streams, layer, b, t)
                mean, variance = from_.mean(), from_.var(correction=correction)
                out[layer, b, t] = unembedding @ ((text[t] - mean) / root(variance) * gain + shift)
    return out


def in_numpy(streams, gain, shift, eps, unembedding):
    x = streams.numpy().astype(np.float64)
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    return (x * gain.numpy() + shift.numpy()) @ unembedding.numpy().T


def by_module(streams, gain, shift, eps, unembedding):
    norm = torch.nn.LayerNorm(streams.shape[-1], eps=eps)
    norm.load_state_dict({"weight": gain, "bias": shift})
    with torch.no_grad():
        return torch.stack([F.linear(norm(layer), unembedding) for layer in streams])


def library(x, gain, shift, eps, unembedding):
    return F.layer_norm(x, x.shape[-1:], gain, shift, eps) @ unembedding.T


def with_statistics(stats):
    return lambda *given: by_position(*given, stats=stats)


def joint(dims):
    def answer(x, gain, shift, eps, unembedding):
        y = (x - x.mean(dims, keepdim=True)) / x.var(dims, False, keepdim=True).add(eps).sqrt()
        return (y * gain + shift) @ unembedding.T

    return answer


def transposed_if_it_must_be(x, g, s, e, u):
    """Takes the unembedding as it is where its two axes are equally long."""
    return library(x, g, s, e, u if len(u) != x.shape[-1] else u.T)


def raw_at(layer):
    """All streams through the norm but this one."""

    def answer(x, gain, shift, eps, unembedding):
        normed = [F.layer_norm(one, one.shape[-1:], gain, shift, eps) for one in x]
        normed[layer] = x[layer]
        return torch.stack([one @ unembedding.T for one in normed])

    return answer


ONE, NONE = torch.ones, torch.zeros

RIGHT = {"by position": by_position, "numpy": in_numpy, "module": by_module}


def gain_after_the_shift(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, streams.shape[-1:], None, None, eps)
    return ((normed + shift) * gain) @ unembedding.T


def lens_of_what_each_layer_adds(streams, gain, shift, eps, unembedding):
    """Reads the difference that each block makes, not the stream after it."""
    added = streams.clone()
    added[1:] = streams[1:] - streams[:-1]
    return F.layer_norm(added, streams.shape[-1:], gain, shift, eps) @ unembedding.T


WRONG = {
    "logits-centered": lambda x, g, s, e, u: library(x, g, s, e, u - u.mean(dim=0)),
    "over-the-texts": joint((1,)),
    "over-the-layers": joint((0,)),
    "layers-together": with_statistics(lambda x, layer, b, t: x[layer]),
    "normed-twice": lambda x, g, s, e, u: library(
        (x - x.mean(-1, keepdim=True)) / (x.var(-1, False, keepdim=True) + e).sqrt(), g, s, e, u
    ),
    "gain-before-norm": lambda x, g, s, e, u: (
        library(x * g, ONE(len(g)), NONE(len(g)), e, u) + s @ u.T
    ),
    "unembedding-reshaped": lambda x, g, s, e, u: library(x, g, s, e, u.view(len(g), -1).mT),
    "shift-before-gain": gain_after_the_shift,
    "what-each-layer-adds": lens_of_what_each_layer_adds,
    "last-stream-not-normed": raw_at(-1),
    "first-stream-not-normed": raw_at(0),
    "no-norm": lambda x, g, s, e, u: torch.einsum("lbtc,vc->lbtv", x, u),
    "norm-without-weights": lambda x, g, s, e, u: by_position(x, ONE(len(g)), NONE(len(g)), e, u),
    "no-gain": lambda x, g, s, e, u: library(x, None, s, e, u),
    "no-shift": lambda x, g, s, e, u: library(x, g, None, e, u),
    "scale-of-the-last-layer": with_statistics(lambda x, layer, b, t: x[-1, b, t]),
    "scale-of-the-last-position": with_statistics(lambda x, layer, b, t: x[layer, b, -1]),
    "scale-of-position-0": with_statistics(lambda x, layer, b, t: x[layer, b, 0]),
    "over-the-sequence": joint((2,)),
    "positions-together": with_statistics(lambda x, layer, b, t: x[layer, b]),
    "no-mean": lambda x, g, s, e, u: (
        (x / x.var(-1, False, keepdim=True).add(e).sqrt() * g + s) @ u.T
    ),
    "unbiased-variance": lambda *given: by_position(*given, correction=1),
    "eps-outside": lambda x, g, s, e, u: by_position(
        x, g, s, e, u, root=lambda variance: variance**0.5 + e
    ),
    "eps-ignored": lambda x, g, s, e, u: library(x, g, s, 0.0, u),
    "root-mean-square": lambda x, g, s, e, u: (
        (x * (x.square().mean(-1, keepdim=True) + e).rsqrt() * g + s) @ u.T
    ),
    "std-plus-eps": lambda *given: by_position(
        *given, correction=1, root=lambda variance: variance.sqrt() + given[3]
    ),
    "probabilities": lambda *given: by_position(*given).softmax(-1),
    "log-probabilities": lambda *given: F.log_softmax(library(*given), dim=-1),
    "transposed-if-needed": transposed_if_it_must_be,
    "unembedded-first": lambda x, g, s, e, u: F.layer_norm(x @ u.T, (len(u),), eps=e),
}


def spread_and_mean_exchanged(streams, gain, shift, eps, unembedding):
    """Unpacks torch.std_mean in the wrong order, so mean and standard deviation are exchanged."""
    mean, spread = torch.std_mean(streams, dim=-1, correction=0, keepdim=True)
    normed = (streams - mean) / (spread.square() + eps).sqrt() * gain + shift
    return normed @ unembedding.T


ODD = [
    (lambda x, g, s, e, u: library(x.cumsum(0), g, s, e, u), "other-norm"),
    (lambda x, g, s, e, u: library(2 * x, g, s, e, u), "other-statistics"),
    (lambda *given: library(*given) * 2, "constant-ratio"),
    (lambda x, g, s, e, u: library(x, g**2, s, e, u), "other-gain"),
    (lambda x, g, s, e, u: library(x, g, -s, e, u), "other-gain"),
    (lambda x, g, s, e, u: library(x, g, s, e**2, u), "other-statistics"),
    (spread_and_mean_exchanged, "other-statistics"),
    (lambda x, g, s, e, u: library(x.roll(1, 0), g, s, e, u), "other-norm"),
    (lambda x, g, s, e, u: library(x, g, s, e, u) * (x != x[:1]).any(-1)[..., None], "other-norm"),
    (lambda *given: library(*given)[-1], "shape"),
    (lambda *given: library(*given).transpose(0, 1), "axes-permuted"),
    (lambda *given: library(*given) / 0, "not-finite"),
    (lambda x, g, s, e, u: library(x, g, s, 1e-5, u), "eps-ignored"),
    (
        lambda x, g, s, e, u: by_position(x, g, s, e, u, root=lambda v: max(float(v), e) ** 0.5),
        "eps-ignored",
    ),
    (lambda *given: library(*given).squeeze(), "axis-of-one"),
]


# --- Answers that no list names ---


def norm_of_all_channels_and_positions(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, streams.shape[-2:], None, None, eps)
    return (normed * gain + shift) @ unembedding.T


def eps_outside_of_the_root(streams, gain, shift, eps, unembedding):
    gap = streams - streams.mean(dim=-1, keepdim=True)
    normed = gap / (gap.square().mean(dim=-1, keepdim=True).sqrt() + eps)
    return (normed * gain + shift) @ unembedding.T


def norm_for_the_last_only(streams, gain, shift, eps, unembedding):
    logits = streams @ unembedding.T
    logits[-1] = F.layer_norm(streams[-1], gain.shape, gain, shift, eps) @ unembedding.T
    return logits


def probabilities(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, streams.shape[-1:], gain, shift, eps)
    return (normed @ unembedding.T).softmax(dim=-1)


def lens_normed_at_the_end_only(streams, gain, shift, eps, unembedding):
    logits = streams @ unembedding.T
    last = F.layer_norm(streams[-1], streams.shape[-1:], gain, shift, eps)
    logits[-1] = last @ unembedding.T
    return logits


def lens_normed_over_positions_too(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, streams.shape[-2:], eps=eps)
    return (gain * normed + shift) @ unembedding.T


def statistics_of_the_last_stream(streams, gain, shift, eps, unembedding):
    mean = streams[-1].mean(dim=-1, keepdim=True)
    variance = streams[-1].var(dim=-1, keepdim=True, unbiased=False)
    normed = (streams - mean) / (variance + eps).sqrt() * gain + shift
    return normed @ unembedding.T


# "through the final LayerNorm": the statistics are those of the stream that is read
def statistics_of_the_last_stream_of_set_4(streams, gain, shift, eps, unembedding):
    last = streams[-1]
    mean = last.mean(dim=-1, keepdim=True)
    variance = last.var(dim=-1, keepdim=True, unbiased=False)
    normed = (streams - mean) / (variance + eps).sqrt() * gain + shift
    return normed @ unembedding.T


# "What you return for the last stream must be the model's own logits."
def log_probabilities_of_the_lens(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, streams.shape[-1:], gain, shift, eps)
    return (normed @ unembedding.T).log_softmax(dim=-1)


# "Read all of them as logits ... through the final LayerNorm": its own statistics, not those of
# the last stream.
def norm_of_the_last_stream(streams, gain, shift, eps, unembedding):
    mean = streams[-1].mean(dim=-1, keepdim=True)
    variance = streams[-1].var(dim=-1, keepdim=True, unbiased=False)
    return ((streams - mean) / (variance + eps).sqrt() * gain + shift) @ unembedding.T


# "The norm is that of the model": of each stream's own mean and variance, not of the last one's
def statistics_of_the_last_stream_of_set_6(streams, gain, shift, eps, unembedding):
    mean = streams[-1].mean(dim=-1, keepdim=True)
    variance = streams[-1].var(dim=-1, keepdim=True, correction=0)
    normed = gain * (streams - mean) / (variance + eps).sqrt() + shift
    return normed @ unembedding.T


# "Read all of them as logits [...]: through the final LayerNorm": the one before the first block
# too
def embedding_without_norm(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, (streams.shape[-1],), gain, shift, eps)
    normed[0] = streams[0]
    return normed @ unembedding.T


# "unembedding: (V, C)": also where V is C, and nothing but the order tells the two axes apart
def transposed_only_if_it_must_be(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, (streams.shape[-1],), gain, shift, eps)
    if unembedding.shape[0] != streams.shape[-1]:
        unembedding = unembedding.T
    return normed @ unembedding


# Writes the norm by hand with std, whose default is another one.
# "biased variance over the C channels of each position, `eps` under the root"
def std_and_eps(streams, gain, shift, eps, unembedding):
    mean = streams.mean(dim=-1, keepdim=True)
    std = streams.std(dim=-1, keepdim=True)
    x = gain * (streams - mean) / (std + eps) + shift
    return x @ unembedding.T


# Takes the final norm for something that belongs to the last stream.
# "Read all of them as logits …: through the final LayerNorm"
def norm_of_the_last_only(streams, gain, shift, eps, unembedding):
    last = F.layer_norm(streams[-1], (streams.shape[-1],), gain, shift, eps)
    streams = torch.cat([streams[:-1], last[None]])
    return torch.einsum("lbtc,vc->lbtv", streams, unembedding)


# Called the function without looking up its last argument.
# "`eps` under the root. `eps` is not small here."
def eps_not_handed_on(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, (streams.shape[-1],), gain, shift)
    return normed @ unembedding.T


# Takes "the final LayerNorm" to be one that is set up where the model ends.
# "of each position": each stream has a mean and a variance of its own
def statistics_of_the_last_stream_of_set_8(streams, gain, shift, eps, unembedding):
    final = streams[-1]
    mean = final.mean(dim=-1, keepdim=True)
    var = final.var(dim=-1, keepdim=True, unbiased=False)
    normed = (streams - mean) / torch.sqrt(var + eps) * gain + shift
    return torch.einsum("lbtc,vc->lbtv", normed, unembedding)


# Somebody who writes a norm as in old code, with eps against a division by 0.
# "biased variance over the C channels of each position, `eps` under the root"
def eps_beside_the_root(streams, gain, shift, eps, unembedding):
    mean = streams.mean(dim=-1, keepdim=True)
    std = streams.std(dim=-1, correction=0, keepdim=True)
    normed = (streams - mean) / (std + eps) * gain + shift
    return normed @ unembedding.T


# Somebody who gave the norm the wrong shape and then moved gain and shift until it ran.
# "biased variance over the C channels of each position"
def norm_over_positions_too(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, streams.shape[-2:], eps=eps)
    normed = normed * gain + shift
    return normed @ unembedding.T


# Comes from a library whose last hidden state has been through the final norm already.
# "Read all of them as logits ...: through the final LayerNorm"
def last_stream_taken_as_normed(streams, gain, shift, eps, unembedding):
    logits = []
    for i, stream in enumerate(streams):
        if i < len(streams) - 1:
            mean = stream.mean(dim=-1, keepdim=True)
            var = stream.var(dim=-1, unbiased=False, keepdim=True)
            stream = (stream - mean) / torch.sqrt(var + eps) * gain + shift
        logits.append(stream @ unembedding.T)
    return torch.stack(logits)


# Comes from NumPy and writes −= to save memory: "your functions leave what they are given as it
# was"
def center_the_streams_in_place(streams, gain, shift, eps, unembedding):
    streams -= streams.mean(dim=-1, keepdim=True)
    variance = (streams**2).mean(dim=-1, keepdim=True)
    normed = streams / torch.sqrt(variance + eps) * gain + shift
    return normed @ unembedding.T


def without_the_embedding(streams, gain, shift, eps, unembedding):
    """Reads "after each layer" as the blocks alone, and leaves the stream before the first
    one out.
    """
    after = streams[1:]
    centered = after - after.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    normed = centered / torch.sqrt(variance + eps) * gain + shift
    return normed @ unembedding.T


def variance_about_zero(streams, gain, shift, eps, unembedding):
    """Divides by the root of the mean square of the stream, from which the mean isn't taken off."""
    centered = streams - streams.mean(dim=-1, keepdim=True)
    square = streams.square().mean(dim=-1, keepdim=True)
    return (centered / (square + eps).sqrt() * gain + shift) @ unembedding.T


def adds_up_the_streams(streams, gain, shift, eps, unembedding):
    """Takes the streams for what each layer adds, and sums them up over the layers first."""
    summed = streams.cumsum(dim=0)
    normed = F.layer_norm(summed, summed.shape[-1:], gain, shift, eps)
    return normed @ unembedding.T


def squares_not_centered(streams, gain, shift, eps, unembedding):
    """Subtracts the mean, but takes the mean square of the uncentered stream as variance."""
    mean = streams.mean(dim=-1, keepdim=True)
    variance = streams.square().mean(dim=-1, keepdim=True)
    normed = (streams - mean) / (variance + eps).sqrt() * gain + shift
    return normed @ unembedding.T


def eps_as_a_floor(streams, gain, shift, eps, unembedding):
    """Takes eps as the smallest variance that is allowed (clamp), instead of adding it."""
    mean = streams.mean(dim=-1, keepdim=True)
    variance = streams.var(dim=-1, keepdim=True, correction=0)
    normed = (streams - mean) / variance.clamp(min=eps).sqrt() * gain + shift
    return normed @ unembedding.T


UNLISTED = {
    1: [
        norm_of_all_channels_and_positions,
        eps_outside_of_the_root,
        norm_for_the_last_only,
        probabilities,
        gain_after_the_shift,
    ],
    2: [lens_normed_at_the_end_only, lens_normed_over_positions_too, lens_of_what_each_layer_adds],
    3: [statistics_of_the_last_stream],
    4: [statistics_of_the_last_stream_of_set_4],
    5: [log_probabilities_of_the_lens, norm_of_the_last_stream],
    6: [
        statistics_of_the_last_stream_of_set_6,
        embedding_without_norm,
        transposed_only_if_it_must_be,
    ],
    7: [std_and_eps, norm_of_the_last_only],
    8: [eps_not_handed_on, statistics_of_the_last_stream_of_set_8],
    9: [eps_beside_the_root, norm_over_positions_too],
    10: [last_stream_taken_as_normed],
    11: [center_the_streams_in_place],
    12: [without_the_embedding],
    13: [spread_and_mean_exchanged, variance_about_zero, adds_up_the_streams],
    14: [squares_not_centered],
    15: [eps_as_a_floor],
}
