"""Judges 11/lens: the stream after each layer, read as logits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch11_looking_inside.sections import LENS
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.quoting import farthest, farthest_index, ratio
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
    read: Callable[[Tensor, Tensor], Tensor] = lambda x, unembedding: x @ unembedding.T,
) -> Callable[..., Tensor]:
    def answer(
        streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
    ) -> Tensor:
        mean, variance = statistics(streams)
        return read(gained((streams - mean) / divided(variance, eps), gain, shift), unembedding)

    return answer


def logit_lens(
    streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
) -> Tensor:
    """A right answer to 11/lens: (L, B, T, C) → (L, B, T, V)."""
    normed = torch.nn.functional.layer_norm(streams, (streams.shape[-1],), gain, shift, eps)
    return normed @ unembedding.T  # (L, B, T, C) @ (C, V)


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


_no_norm = mistake(
    "You read the stream without the final norm.",
    lambda e: (
        unwrapped(f"""In root mean square, your logits are {ratio(e, "lens"):.2f} times as large as
    they should be. {_last(e)}""")
    ),
)(lambda streams, gain, shift, eps, unembedding: streams @ unembedding.T)  # noqa: ARG005

_norm_without_weights = mistake(
    "You left out the final norm's gain and shift.", lambda e: f"{_last(e)} {_off(e)}"
)(_lens(gained=lambda x, gain, shift: x))  # noqa: ARG005

_no_gain = mistake("You left out the final norm's gain.", _off)(
    _lens(gained=lambda x, gain, shift: x + shift)  # noqa: ARG005
)

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


_no_shift = mistake("You left out the final norm's shift.", _off)(
    _lens(gained=lambda x, gain, shift: x * gain)  # noqa: ARG005
)

_scale_of_the_last_layer = mistake(
    "You normalized every layer with the mean and the scale of the last one.",
    lambda e: unwrapped(f"""The last layer is right, but those before it are not. The lens asks what
    the model would say if it stopped at this layer, and then the norm would see this layer's
    stream. {_off(e)}"""),
)(_lens(lambda x: tuple(s[-1:].expand_as(s) for s in _own(x))))

_scale_of_the_last_position = mistake(
    "You normalized every position with the mean and the scale of the last one.",
    lambda e: f"Each position has its own. {_off(e)}",
)(_lens(lambda x: tuple(s[..., -1:, :].expand_as(s) for s in _own(x))))

_scale_of_position_0 = mistake(
    "You normalized every position with the mean and the scale of position 0.",
    lambda e: f"Each position has its own. {_off(e)}",
)(_lens(lambda x: tuple(s[..., :1, :].expand_as(s) for s in _own(x))))

_over_the_sequence = mistake(
    "You normalized over the positions instead of over the channels of each position.", _off
)(_lens(lambda x: (x.mean(2, keepdim=True), x.var(2, correction=0, keepdim=True))))

_positions_together = mistake(
    "You used one mean and one variance for all positions of a text.",
    lambda e: f"Each position has its own. {_off(e)}",
)(
    _lens(
        lambda x: (x.mean((2, 3), keepdim=True), x.var((2, 3), correction=0, keepdim=True)),
    )
)

_no_mean = mistake(
    "You didn't subtract the mean.", lambda e: f"LayerNorm centers before it scales. {_off(e)}"
)(_lens(lambda x: (torch.zeros_like(x[..., :1]), _own(x)[1])))

_unbiased_variance = mistake(
    "Your variance divides by C − 1, but LayerNorm divides by C.",
    lambda e: f"{_last(e)} {_off(e)}",
)(_lens(lambda x: (_own(x)[0], x.var(-1, keepdim=True))))

_eps_outside = mistake("You added `eps` outside the square root instead of under it.", _off)(
    _lens(divided=lambda variance, eps: variance.sqrt() + eps)
)


def _with_eps(own: float) -> Callable[..., Tensor]:
    """A norm that uses another eps than the one it is given."""
    return _lens(divided=lambda variance, _: (variance + own).sqrt())


_eps_ignored = mistake(
    "You didn't use the `eps` that you were given.",
    lambda e: f"The model's own norm adds it under the square root. {_off(e)}",
    also=tuple(_with_eps(own) for own in (1e-5, 1e-6, 1e-8, 1e-12)),
)(_lens(divided=lambda variance, eps: variance.sqrt()))  # noqa: ARG005

_root_mean_square = mistake(
    "You divide by the root mean square as RMSNorm does, but LayerNorm subtracts the mean first.",
    _off,
)(_lens(lambda x: (torch.zeros_like(x[..., :1]), x.square().mean(-1, keepdim=True))))

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

_probabilities = mistake(
    "You return probabilities instead of logits.",
    lambda e: unwrapped(f"""Along the last axis your numbers sum to
    {e.yours("lens")[0, 0, 0].sum():.3g}. {_off(e)}"""),
)(_lens(read=lambda x, unembedding: (x @ unembedding.T).softmax(-1)))

_log_probabilities = mistake(
    "You return log probabilities instead of the logits themselves.",
    lambda e: f"Your largest number is {number(float(e.yours('lens').max()))}. {_off(e)}",
)(_lens(read=lambda x, unembedding: (x @ unembedding.T).log_softmax(-1)))


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


_unembedded_first = mistake(
    "You applied the norm to the logits instead of before the unembedding.", _off
)(
    lambda streams, gain, shift, eps, unembedding: torch.nn.functional.layer_norm(  # noqa: ARG005
        streams @ unembedding.T, (unembedding.shape[0],), eps=eps
    )
)


@mistake(
    "You unembedded the last stream without the final norm.",
    lambda e: unwrapped(f"""The layers before the last are right, but the last stream hasn't been
    through the final norm yet either. {_last(e)}"""),
)
def _last_stream_not_normed(
    streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
) -> Tensor:
    lens = logit_lens(streams, gain, shift, eps, unembedding)
    return torch.cat([lens[:-1], streams[-1:] @ unembedding.T])


@mistake(
    "You unembedded the first stream without the final norm.",
    lambda e: f"The layers after the first are right. {_off(e)}",
)
def _first_stream_not_normed(
    streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
) -> Tensor:
    lens = logit_lens(streams, gain, shift, eps, unembedding)
    return torch.cat([streams[:1] @ unembedding.T, lens[1:]])


def _layers_right(mine: Array, right: Array) -> str:
    """A sentence on the layers that are right; empty if none is."""
    good = [k for k in range(len(right)) if _close(mine[k], right[k])]
    layers, verb = ("Layer", "is") if len(good) == 1 else ("Layers", "are")
    return f"{layers} {listed(good)} of {len(right)} {verb} right. " if good else ""


def _other_norm(evidence: Evidence) -> Finding | None:
    """What was done to a position, recovered from its logits; there are at least as many of them as
    channels.
    """
    mine, x = (side.astype(float) for side in (evidence.yours("lens"), evidence.inputs["streams"]))
    unembedding, gain, shift = (
        evidence.inputs[name].astype(float) for name in ("unembedding", "gain", "shift")
    )
    right = evidence.right("lens").astype(float)
    times = (mine * right).sum() / (right * right).sum()
    if mine.shape != right.shape or np.allclose(mine, times * right, rtol=1e-3, atol=1e-3):
        return None  # which says more
    normed = mine @ np.linalg.pinv(unembedding.T)
    if not np.allclose(normed @ unembedding.T, mine, rtol=1e-3, atol=1e-3):
        return None  # something was done to the logits, too
    place = farthest_index(mine, right)[:-1]
    own, made = x[place], (normed[place] - shift) / gain
    scale, offset = np.polyfit(own, made, 1)
    eps = float(evidence.inputs["eps"])
    asked = 1 / np.sqrt(own.var() + eps)
    where = f"In layer {place[0]}, text {place[1]}, position {place[2]},"
    some = _layers_right(mine, right)
    its_own = (
        f"the position's own mean is {number(own.mean())} and 1 / √(variance + eps) is "
        f"{number(float(asked))}"
    )
    if abs(scale) < 1e-6 or not np.allclose(made, scale * own + offset, rtol=1e-2, atol=1e-2):
        return Finding(
            "other-norm",
            "What you unembed isn't always a position's stream, centered and scaled, with gain and "
            "shift applied last.",
            f"{some}{where} {its_own}. Do you read this stream there, do the mean and the variance "
            f"run over its channels, and do gain and shift come last? {_off(evidence)}",
            LENS,
        )
    return Finding(
        "other-statistics",
        "You don't normalize each position with its own mean and scale.",
        f"{some}{where} you subtract {number(float(-offset / scale))} and multiply by "
        f"{number(float(scale))}, but {its_own}.",
        LENS,
    )


TASK = Task(
    "The logit lens",
    logit_lens,
    LENS,
    (
        Part("The last layer's lens is the model's own logits.", 2, _last_layer),
        Part("Every layer is read through a norm of its own.", 2, _every_layer),
    ),
    properties=(_other_norm,),
)
