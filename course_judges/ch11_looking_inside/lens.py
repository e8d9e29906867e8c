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
    return f"In the last layer it is off the model's own logits by up to {gap:.3g}."


_no_norm = mistake(
    "You read the stream without the final norm.",
    lambda e: (
        unwrapped(f"""By their root mean square your logits are {ratio(e, "lens"):.2f} times as
    large as they should be. {_last(e)}""")
    ),
)(lambda streams, gain, shift, eps, unembedding: streams @ unembedding.T)  # noqa: ARG005

_norm_without_weights = mistake(
    "The final norm's gain and shift are missing.", lambda e: f"{_last(e)} {_off(e)}"
)(_lens(gained=lambda x, gain, shift: x))  # noqa: ARG005

_no_gain = mistake("The final norm's gain is missing.", _off)(
    _lens(gained=lambda x, gain, shift: x + shift)  # noqa: ARG005
)

_shift_before_gain = mistake(
    "The shift is added before the gain; LayerNorm multiplies by the gain first.", _off
)(_lens(gained=lambda x, gain, shift: (x + shift) * gain))


@mistake(
    "You read what each layer adds, not the stream after it.",
    lambda e: unwrapped(f"""Stream 0 is right, and from each later one the stream before it is taken
    away. `streams` holds the whole stream after each layer. {_off(e)}"""),
)
def _what_each_layer_adds(
    streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
) -> Tensor:
    added = torch.cat([streams[:1], streams.diff(dim=0)])
    return logit_lens(added, gain, shift, eps, unembedding)


_no_shift = mistake("The final norm's shift is missing.", _off)(
    _lens(gained=lambda x, gain, shift: x * gain)  # noqa: ARG005
)

_scale_of_the_last_layer = mistake(
    "Every layer is divided by the scale of the last one.",
    lambda e: unwrapped(f"""The last layer is right, the ones before it are not.
    {_off(e)} The question of the lens is what the model would say if it stopped here, and then
    the norm would see this stream."""),
)(_lens(lambda x: tuple(s[-1:].expand_as(s) for s in _own(x))))

_scale_of_the_last_position = mistake(
    "Every position is normalized with mean and scale of the last position.",
    lambda e: f"Each position has its own. {_off(e)}",
)(_lens(lambda x: tuple(s[..., -1:, :].expand_as(s) for s in _own(x))))

_scale_of_position_0 = mistake(
    "Every position is normalized with mean and scale of position 0.",
    lambda e: f"Each position has its own. {_off(e)}",
)(_lens(lambda x: tuple(s[..., :1, :].expand_as(s) for s in _own(x))))

_over_the_sequence = mistake(
    "The norm runs over the positions; it runs over the channels of each.", _off
)(_lens(lambda x: (x.mean(2, keepdim=True), x.var(2, correction=0, keepdim=True))))

_positions_together = mistake("One mean and one variance serve all positions of a text.", _off)(
    _lens(
        lambda x: (x.mean((2, 3), keepdim=True), x.var((2, 3), correction=0, keepdim=True)),
    )
)

_no_mean = mistake(
    "The mean is not taken away.", lambda e: f"LayerNorm centers before it scales. {_off(e)}"
)(_lens(lambda x: (torch.zeros_like(x[..., :1]), _own(x)[1])))

_unbiased_variance = mistake(
    "The variance divides by C − 1; LayerNorm divides by C.", lambda e: f"{_last(e)} {_off(e)}"
)(_lens(lambda x: (_own(x)[0], x.var(-1, keepdim=True))))

_eps_outside = mistake("eps is added beside the root; it belongs under it.", _off)(
    _lens(divided=lambda variance, eps: variance.sqrt() + eps)
)


def _with_eps(own: float) -> Callable[..., Tensor]:
    """A norm that has an eps of its own."""
    return _lens(divided=lambda variance, _: (variance + own).sqrt())


_eps_ignored = mistake(
    "`eps` is not used; the model's own norm has it under the root.",
    lambda e: _off(e),
    also=tuple(_with_eps(own) for own in (1e-5, 1e-6, 1e-8, 1e-12)),
)(_lens(divided=lambda variance, eps: variance.sqrt()))  # noqa: ARG005

_root_mean_square = mistake(
    "You divide by the root of the mean square, as RMSNorm does; LayerNorm takes the mean away.",
    _off,
)(_lens(lambda x: (torch.zeros_like(x[..., :1]), x.square().mean(-1, keepdim=True))))

_std_plus_eps = mistake(
    "You divide by the standard deviation and eps: eps belongs under the root, and the variance "
    "divides by C.",
    _off,
)(
    _lens(
        lambda x: (_own(x)[0], x.var(-1, keepdim=True)),
        divided=lambda variance, eps: variance.sqrt() + eps,
    )
)

_probabilities = mistake(
    "You return probabilities; asked for are logits.",
    lambda e: f"Each of your last axes sums to {e.yours('lens')[0, 0, 0].sum():.3g}. {_off(e)}",
)(_lens(read=lambda x, unembedding: (x @ unembedding.T).softmax(-1)))

_log_probabilities = mistake(
    "You return log probabilities; asked for are the logits themselves.",
    lambda e: f"The largest of yours is {e.yours('lens').max():.3g}. {_off(e)}",
)(_lens(read=lambda x, unembedding: (x @ unembedding.T).log_softmax(-1)))


@mistake(
    "You look at the lengths of the unembedding's axes to see whether to transpose it.",
    lambda e: unwrapped(f"""With V = C = {e.number("C")} they tell nothing: it is (V, C), whatever
    the two are. {_off(e)}"""),
)
def _transposed_if_needed(
    streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
) -> Tensor:
    square = unembedding.shape[0] == unembedding.shape[1]
    return logit_lens(streams, gain, shift, eps, unembedding.T if square else unembedding)


_unembedded_first = mistake(
    "The norm was applied to the logits; it belongs before the unembedding.", _off
)(
    lambda streams, gain, shift, eps, unembedding: torch.nn.functional.layer_norm(  # noqa: ARG005
        streams @ unembedding.T, (unembedding.shape[0],), eps=eps
    )
)


@mistake(
    "The last stream is unembedded as it is; it has not been through the final norm either.",
    lambda e: f"The layers before the last are right. {_last(e)}",
)
def _last_stream_not_normed(
    streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
) -> Tensor:
    lens = logit_lens(streams, gain, shift, eps, unembedding)
    return torch.cat([lens[:-1], streams[-1:] @ unembedding.T])


@mistake(
    "The first stream is unembedded as it is; every stream is read through the final norm.",
    lambda e: f"The layers behind the first are right. {_off(e)}",
)
def _first_stream_not_normed(
    streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
) -> Tensor:
    lens = logit_lens(streams, gain, shift, eps, unembedding)
    return torch.cat([streams[:1] @ unembedding.T, lens[1:]])


def _layers_right(mine: Array, right: Array) -> str:
    """A sentence on the layers that are right; empty if none is."""
    good = [k for k in range(len(right)) if _close(mine[k], right[k])]
    verb, s = ("is", "") if len(good) == 1 else ("are", "s")
    return f"Of your {len(right)} layers, layer{s} {listed(good)} {verb} right. " if good else ""


def _other_norm(evidence: Evidence) -> Finding | None:
    """What was done to a position, read back from its logits: at least as many as channels."""
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
    where = f"Layer {place[0]}, text {place[1]}, position {place[2]}:"
    some = _layers_right(mine, right)
    its_own = (
        f"its own mean is {number(own.mean())}, and 1 / √(variance + eps) is {number(float(asked))}"
    )
    if abs(scale) < 1e-6 or not np.allclose(made, scale * own + offset, rtol=1e-2, atol=1e-2):
        return Finding(
            "other-norm",
            "What you unembed is not everywhere a position's stream with one mean taken away and "
            "one scale, and then gain and shift.",
            f"{some}{where} {its_own}. Is it this stream that you read there, do mean and variance "
            f"run over its channels, and do gain and shift come last? {_off(evidence)}",
            LENS,
        )
    return Finding(
        "other-statistics",
        "You normalize with another mean or another scale than the position's own.",
        f"{some}{where} you take {number(float(-offset / scale))} away and multiply by "
        f"{number(float(scale))}; {its_own}.",
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
