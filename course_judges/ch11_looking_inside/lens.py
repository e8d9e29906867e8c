"""Judges 11/lens: the stream after each layer, read as logits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch11_looking_inside.sections import LENS
from course_judges.judging import Evidence, Like, Part, Step, Task, mistake
from course_judges.quoting import farthest, farthest_index
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

Statistics = Callable[[Tensor], tuple[Tensor, ...]]


def _own(streams: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and biased variance of each position of each layer."""
    return streams.mean(-1, keepdim=True), streams.var(-1, correction=0, keepdim=True)


def _lens(
    statistics: Statistics = _own,
    gained: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda x, gain, shift: x * gain + shift,
    divided: Callable[[Tensor, float], Tensor] = lambda variance, eps: (variance + eps).sqrt(),
) -> Callable[..., Tensor]:
    def answer(
        streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
    ) -> Tensor:
        mean, variance = statistics(streams)
        return gained((streams - mean) / divided(variance, eps), gain, shift) @ unembedding.T

    return answer


def logit_lens(
    streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
) -> Tensor:
    """A right answer to 11/lens: (L, B, T, C) → (L, B, T, V)."""
    mean = streams.mean(dim=-1, keepdim=True)  # the mean: of each position (L, B, T, 1)
    centered = streams - mean  # the centered streams (L, B, T, C)
    squares = centered.square()  # the squares (L, B, T, C)
    variance = squares.mean(dim=-1, keepdim=True)  # the variance: of each position
    scale = (variance + eps).sqrt()  # the scale: of each position (L, B, T, 1)
    normed = centered / scale  # the centered and scaled streams (L, B, T, C)
    gained = normed * gain  # the streams with gain (L, B, T, C)
    shifted = gained + shift  # the normed streams (L, B, T, C)
    return shifted @ unembedding.T  # your logits (L, B, T, V)


def _last_layer(evidence: Evidence) -> bool:
    mine, right = evidence.yours("lens"), evidence.right("lens")
    return mine.shape == right.shape and _close(mine[-1], right[-1])


def _every_layer(evidence: Evidence) -> bool:
    mine, right = evidence.yours("lens"), evidence.right("lens")
    return mine.shape == right.shape and _close(mine, right)


def _close(mine: Array, right: Array) -> bool:
    return bool((abs(mine - right) <= 1e-4 + 1e-4 * abs(right)).all())


def _off(evidence: Evidence) -> str:
    return farthest(evidence, "lens")


def _last(evidence: Evidence) -> str:
    gap = abs(evidence.yours("lens")[-1] - evidence.right("lens")[-1]).max()
    return f"In the last layer, your lens is off the model's own logits by up to {gap:.3g}."


_shift_before_gain = mistake(
    "You added the shift before the gain, but LayerNorm multiplies by the gain first.", _off
)(_lens(gained=lambda x, gain, shift: (x + shift) * gain))


@mistake(
    "You read what each layer adds instead of the stream after it.",
    lambda e: unwrapped(f"""Your first stream is right, but from each later one you subtracted the
    one before it. `streams` already holds the whole stream after each layer. {_off(e)}"""),
)
def _what_each_layer_adds(
    streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
) -> Tensor:
    added = torch.cat([streams[:1], streams.diff(dim=0)])
    return logit_lens(added, gain, shift, eps, unembedding)


_streams_added_up = mistake(
    "You added up the streams over the layers before you read them.",
    lambda e: f"`streams` already holds the whole stream after each layer. {_off(e)}",
)(lambda streams, *rest: logit_lens(streams.cumsum(dim=0), *rest))

_scale_of_the_last_layer = mistake(
    "You normalized every layer with the mean and the scale of the last one.",
    lambda e: unwrapped(f"""The last layer is right, but those before it are not. The lens asks what
    the model would say if it stopped at this layer, and then the norm would see this layer's
    stream. {_off(e)}"""),
)(_lens(lambda x: tuple(s[-1:].expand_as(s) for s in _own(x))))


_positions_together = mistake(
    "You used one mean and one variance for all positions of a text.",
    lambda e: f"Each position has its own. {_off(e)}",
)(
    _lens(
        lambda x: (x.mean((2, 3), keepdim=True), x.var((2, 3), correction=0, keepdim=True)),
    )
)


_unbiased_variance = mistake(
    "Your variance divides by C − 1, but LayerNorm divides by C.",
    lambda e: f"{_last(e)} {_off(e)}",
)(_lens(lambda x: (_own(x)[0], x.var(-1, keepdim=True))))

_spread_and_mean_exchanged = mistake(
    "You exchanged the mean and the standard deviation of each position.",
    lambda e: f"`torch.std_mean` returns the standard deviation first. {_off(e)}",
)(_lens(lambda x: (_own(x)[1].sqrt(), _own(x)[0].square())))

_eps_outside = mistake("You added `eps` outside the square root instead of under it.", _off)(
    _lens(divided=lambda variance, eps: variance.sqrt() + eps)
)


def _with_eps(own: float) -> Callable[..., Tensor]:
    """A norm that uses another eps than the one it is given."""
    return _lens(divided=lambda variance, _: (variance + own).sqrt())


_eps_ignored = mistake(
    "You don't add the `eps` that you were given to the variance.",
    lambda e: f"The model's own norm adds it under the square root. {_off(e)}",
    also=(
        _lens(divided=lambda variance, eps: variance.clamp(min=eps).sqrt()),
        *(_with_eps(own) for own in (1e-5, 1e-6, 1e-8, 1e-12)),
    ),
)(Like("left-out-eps-in-the-scale"))


_std_plus_eps = mistake(
    "You divide by the standard deviation plus `eps`, and your variance divides by C − 1.",
    lambda e: unwrapped(f"""LayerNorm adds `eps` under the square root, and its variance divides by
    C. {_off(e)}"""),
)(
    _lens(
        lambda x: (_own(x)[0], x.var(-1, keepdim=True)),
        divided=lambda variance, eps: variance.sqrt() + eps,
    )
)


@mistake(
    "You seem to look at the shape of the unembedding to decide whether to transpose it.",
    lambda e: unwrapped(f"""With V = C = {e.number("C")}, the shape can't tell you. The unembedding
    is always (V, C). {_off(e)}"""),
)
def _transposed_if_needed(
    streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
) -> Tensor:
    square = unembedding.shape[0] == unembedding.shape[1]
    return logit_lens(streams, gain, shift, eps, unembedding.T if square else unembedding)


def _raw_at(layers: slice) -> Callable[..., Tensor]:
    """An answer that reads the streams of these layers without the final norm."""

    def answer(
        streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
    ) -> Tensor:
        lens = logit_lens(streams, gain, shift, eps, unembedding)
        lens[layers] = streams[layers] @ unembedding.T
        return lens

    return answer


_last_stream_not_normed = mistake(
    "You unembedded the last stream without the final norm.",
    lambda e: unwrapped(f"""The layers before the last are right, but the last stream hasn't been
    through the final norm yet either. {_last(e)}"""),
)(_raw_at(slice(-1, None)))

_first_stream_not_normed = mistake(
    "You unembedded the first stream without the final norm.",
    lambda e: f"The layers after the first are right. {_off(e)}",
)(_raw_at(slice(1)))

_only_the_last_normed = mistake(
    "You put only the last stream through the final norm.",
    lambda e: unwrapped(f"""The lens asks what the model would say if it stopped at this layer, and
    then the norm would see this layer's stream. {_off(e)}"""),
)(_raw_at(slice(-1)))


def _layers_right(mine: Array, right: Array) -> str:
    """A sentence on the layers that are right; empty if none is."""
    good = [k for k in range(len(right)) if _close(mine[k], right[k])]
    layers, verb = ("Layer", "is") if len(good) == 1 else ("Layers", "are")
    return f"{layers} {listed(good)} of {len(right)} {verb} right. " if good else ""


_STD, _SQUARED_MEAN = (
    "the position's standard deviation",
    "the root of its squared mean plus eps",
)


def _worked_out(evidence: Evidence) -> Finding | None:
    """What the norm should make of the stream where the logits are farthest off."""
    mine, right = evidence.yours("lens"), evidence.right("lens")
    layer, text, position = place = tuple(int(n) for n in farthest_index(mine, right)[:-1])
    x = evidence.inputs["streams"].astype(float)[place]
    return Finding(
        "other-norm",
        "What you unembed isn't always a position's stream, centered and scaled, with gain and "
        "shift applied last.",
        f"{_layers_right(mine, right)}In layer {layer}, text {text}, position {position}, the "
        f"position's own mean is {number(float(x.mean()))} and 1 / √(variance + eps) is "
        f"{number(float(1 / np.sqrt(x.var() + float(evidence.inputs['eps']))))}. Do you read this "
        "stream there, do the mean and the variance run over its channels, and do gain and shift "
        f"come last? {_off(evidence)}",
        LENS,
    )


_OWN = "Each position of each layer is normalized by itself, over its channels."


TASK = Task(
    "The logit lens",
    logit_lens,
    LENS,
    (
        Part("The last layer's lens is the model's own logits.", 2, _last_layer),
        Part("Every layer is read through a norm of its own.", 2, _every_layer),
    ),
    examples=(_worked_out,),
    steps={
        "the mean": Step(_OWN),
        "the centered streams": Step("LayerNorm subtracts the mean before it scales."),
        "the squares": Step("The variance is the mean square of what is left without the mean."),
        "the variance": Step(f"{_OWN} The variance is a mean over its C channels."),
        "the scale": Step("LayerNorm adds `eps` to the variance, under the square root."),
        "the centered and scaled streams": Step(
            "The scale brings each position to a variance of 1."
        ),
        "the streams with gain": Step(
            "The final norm multiplies each channel by its gain, which the model has learned."
        ),
        "the normed streams": Step("The final norm ends with its gain and then its shift."),
        "your logits": Step(
            "The model's own logits are the normed stream times the unembedding, and nothing else."
        ),
    },
)
