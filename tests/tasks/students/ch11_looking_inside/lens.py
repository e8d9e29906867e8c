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


def spread_and_mean_exchanged(streams, gain, shift, eps, unembedding):
    """Unpacks torch.std_mean in the wrong order, so mean and standard deviation are exchanged."""
    mean, spread = torch.std_mean(streams, dim=-1, correction=0, keepdim=True)
    normed = (streams - mean) / (spread.square() + eps).sqrt() * gain + shift
    return normed @ unembedding.T


WRONG = {
    "shift-before-gain": gain_after_the_shift,
    "what-each-layer-adds": lens_of_what_each_layer_adds,
    "only-the-last-normed": raw_at(slice(-1)),
    "streams-added-up": lambda x, g, s, e, u: library(x.cumsum(0), g, s, e, u),
    "spread-and-mean-exchanged": spread_and_mean_exchanged,
    "last-stream-not-normed": raw_at(-1),
    "first-stream-not-normed": raw_at(0),
    "scale-of-the-last-layer": with_statistics(lambda x, layer, b, t: x[-1, b, t]),
    "positions-together": with_statistics(lambda x, layer, b, t: x[layer, b]),
    "unbiased-variance": lambda *given: by_position(*given, correction=1),
    "eps-outside": lambda x, g, s, e, u: by_position(
        x, g, s, e, u, root=lambda variance: variance**0.5 + e
    ),
    "eps-ignored": lambda x, g, s, e, u: library(x, g, s, 0.0, u),
    "std-plus-eps": lambda *given: by_position(
        *given, correction=1, root=lambda variance: variance.sqrt() + given[3]
    ),
    "transposed-if-needed": transposed_if_it_must_be,
}


ODD = [
    (lambda x, g, s, e, u: library(2 * x, g, s, e, u), "other-norm"),
    (lambda *given: library(*given) * 2, "doubled-your-logits"),
    (lambda x, g, s, e, u: library(x, g**2, s, e, u), "divided-the-scale-by-gain"),
    (lambda *given: library(*given)[-1], "shape"),
    (lambda *given: library(*given).transpose(0, 1), "axes-permuted"),
    (lambda *given: library(*given) / 0, "not-finite"),
    (lambda *given: library(*given).squeeze(), "axis-of-one"),
]


# --- Answers that no list names ---


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


UNLISTED = {
    11: [(center_the_streams_in_place, "changes-its-input")],
    12: [(without_the_embedding, "first-missing")],
    13: [(variance_about_zero, "used-streams-instead-of-the-centered-streams-in-the-squares")],
}
