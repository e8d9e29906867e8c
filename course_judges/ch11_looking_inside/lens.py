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

_over_the_texts = mistake(
    "You normalized over the texts instead of over the channels of each position.",
    _off,
    also=(_lens(lambda x: (x.mean(1, keepdim=True), x.var(1, keepdim=True))),),
)(_lens(lambda x: (x.mean(1, keepdim=True), x.var(1, correction=0, keepdim=True))))

_over_the_layers = mistake(
    "You normalized over the layers instead of over the channels of each position.",
    _off,
    also=(_lens(lambda x: (x.mean(0, keepdim=True), x.var(0, keepdim=True))),),
)(_lens(lambda x: (x.mean(0, keepdim=True), x.var(0, correction=0, keepdim=True))))

_layers_together = mistake(
    "You used one mean and one variance for all texts and positions together.",
    lambda e: f"Each position has its own. {_off(e)}",
    also=(_lens(lambda x: (x.mean(), x.var(correction=0))),),
)(_lens(lambda x: (x.mean((1, 2, 3), keepdim=True), x.var((1, 2, 3), False, keepdim=True))))


def _layer_norm(x: Tensor, eps: float, gain: Tensor | None = None) -> Tensor:
    return torch.nn.functional.layer_norm(x, x.shape[-1:], gain, None, eps)


@mistake(
    "You normalized each stream twice.",
    lambda e: f"The final norm is applied once. {_off(e)}",
    also=(
        lambda x, gain, shift, eps, unembedding: logit_lens(
            _layer_norm(x, eps, gain) + shift, gain, shift, eps, unembedding
        ),
    ),
)
def _normed_twice(
    streams: Tensor, gain: Tensor, shift: Tensor, eps: float, unembedding: Tensor
) -> Tensor:
    return logit_lens(_layer_norm(streams, eps), gain, shift, eps, unembedding)


_gain_before_norm = mistake(
    "You multiplied by the gain before the norm, but it comes after mean and variance.",
    _off,
    also=(
        lambda x, gain, shift, eps, unembedding: _layer_norm(x * gain + shift, eps) @ unembedding.T,
    ),
)(lambda x, gain, shift, eps, unembedding: (_layer_norm(x * gain, eps) + shift) @ unembedding.T)

_logits_centered = mistake(
    "You subtracted the mean from each position's logits.",
    lambda e: f"The model's own logits aren't centered. {_last(e)}",
)(
    _lens(
        read=lambda x, unembedding: (
            x @ unembedding.T - (x @ unembedding.T).mean(dim=-1, keepdim=True)
        )
    )
)

_unembedding_reshaped = mistake(
    "You used `reshape` or `view` instead of `.T` to bring the unembedding into shape.",
    lambda e: unwrapped(f"""`reshape` keeps the numbers in their order and cuts them into rows of
    another length, but `.T` exchanges rows and columns. {_off(e)}"""),
)(_lens(read=lambda x, unembedding: x @ unembedding.reshape(unembedding.shape[::-1])))

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


def _floored(variance: Tensor, eps: float) -> Tensor:
    return variance.clamp(min=eps).sqrt()


def _how_eps_is_used(evidence: Evidence) -> str:
    eps = float(evidence.inputs["eps"])
    variance = _own(torch.as_tensor(evidence.inputs["streams"]))[1]
    if variance.min() >= eps:
        how = "Either you don't use it, or you take it only as the smallest variance allowed."
    elif _close(evidence.yours("lens"), _of_inputs(evidence, _floored)):
        how = unwrapped(f"""Where the variance is above eps = {number(eps)} you divide by √variance,
        and where it is below by √eps: you take eps only as the smallest variance allowed.""")
    else:
        how = "It looks as if you left it out, or used a much smaller number in its place."
    return f"{how} The model's own norm adds it under the square root. {_off(evidence)}"


def _of_inputs(evidence: Evidence, divided: Callable[[Tensor, float], Tensor]) -> Array:
    names = ("streams", "gain", "shift")
    given = [torch.as_tensor(evidence.inputs[name]) for name in names]
    unembedding = torch.as_tensor(evidence.inputs["unembedding"])
    made = _lens(divided=divided)(*given, float(evidence.inputs["eps"]), unembedding)
    return np.asarray(made.numpy())


_eps_ignored = mistake(
    "You don't add the `eps` that you were given to the variance.",
    _how_eps_is_used,
    also=(
        _lens(divided=_floored),
        *(_with_eps(own) for own in (1e-5, 1e-6, 1e-8, 1e-12)),
    ),
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


def _rounded(value: float) -> str:
    """A number that is recovered from logits."""
    return number(float(value) if abs(value) > 1e-4 else 0.0)


def _alike(one: Array, other: Array) -> bool:
    """Equal up to the rounding of what is recovered from logits."""
    return bool(np.allclose(one, other, rtol=5e-3, atol=5e-3))


def _normed(evidence: Evidence) -> Array | None:
    """What was unembedded, (L, B, T, C), recovered from the logits: there are at least as many of
    them as channels. None if something was done to the logits, too.
    """
    mine = evidence.shaped("lens", evidence.right("lens").shape).astype(float)
    unembedding = evidence.inputs["unembedding"].astype(float)
    normed = mine @ np.linalg.pinv(unembedding.T)
    return normed if np.allclose(normed @ unembedding.T, mine, rtol=1e-3, atol=1e-3) else None


def _given(evidence: Evidence, *names: str) -> list[Array]:
    return [evidence.inputs[name].astype(float) for name in names]


def _other_norm(evidence: Evidence) -> Finding | None:
    """What was done to the stream, recovered from the logits."""
    right, normed = evidence.right("lens").astype(float), _normed(evidence)
    mine = evidence.yours("lens").astype(float)
    times = (mine * right).sum() / (right * right).sum()
    if normed is None or np.allclose(mine, times * right, rtol=1e-3, atol=1e-3):
        return None  # which other findings say more about
    return (
        _other_gain(evidence, normed)
        or _other_statistics(evidence, normed)
        or _other_stream(evidence, normed)
    )


def _other_gain(evidence: Evidence, normed: Array) -> Finding | None:
    """Each position is normed as it should be, and then each channel has another gain or shift."""
    x, gain, shift = _given(evidence, "streams", "gain", "shift")
    own = x - x.mean(-1, keepdims=True)
    own /= np.sqrt(x.var(-1, keepdims=True) + float(evidence.inputs["eps"]))
    own, made = own.reshape(-1, own.shape[-1]), normed.reshape(-1, own.shape[-1])
    centered = own - own.mean(0)
    times = (centered * made).sum(0) / (centered * centered).sum(0)
    plus = made.mean(0) - times * own.mean(0)
    if not _alike(own * times + plus, made):
        return None
    gains = {
        "1": np.ones_like(gain),
        "1 + gain": 1 + gain,
        "gain²": gain**2,
        "1 / gain": 1 / gain,
        "√gain": np.sqrt(gain),
        "shift": shift,
        "the gain of another channel": np.flip(gain),
    }
    shifts = {
        "0": np.zeros_like(shift),
        "−shift": -shift,
        "2 · shift": 2 * shift,
        "shift · gain": shift * gain,
        "shift / gain": shift / gain,
        "gain": gain,
    }
    said = []
    for name, did, held, wanted, others in (
        ("gain", "multiply by", times, gain, gains),
        ("shift", "add", plus, shift, shifts),
    ):
        if not _alike(held, wanted):
            channel = int(abs(held - wanted).argmax())
            known = next((other for other, one in others.items() if _alike(held, one)), "")
            said.append(
                f"Instead of `{name}`, you {did} {known or 'other numbers'}: in channel {channel}, "
                f"you {did} {number(float(held[channel]))}, but `{name}` is "
                f"{number(float(wanted[channel]))}."
            )
    if not said:
        return None
    return Finding(
        "other-gain",
        "You normalize each position as you should, but then gain or shift go wrong.",
        " ".join(said),
        LENS,
    )


_STD, _SQUARED_MEAN = (
    "the position's standard deviation",
    "the root of its squared mean plus eps",
)
_EXCHANGED = {_STD, _SQUARED_MEAN}


def _other_statistics(evidence: Evidence, normed: Array) -> Finding | None:
    """Each position's stream is centered and scaled, but not by its own mean and scale."""
    x, gain, shift = _given(evidence, "streams", "gain", "shift")
    eps = float(evidence.inputs["eps"])
    made = (normed - shift) / gain
    mean, variance = x.mean(-1), x.var(-1)
    scale = ((x - mean[..., None]) * made).mean(-1) / variance
    if (abs(scale) < 1e-6).any():
        return None
    taken = mean - made.mean(-1) / scale  # what is subtracted
    if not np.allclose((x - taken[..., None]) * scale[..., None], made, rtol=1e-2, atol=1e-2):
        return None
    own = 1 / np.sqrt(variance + eps)
    subtracted = {
        "the position's own mean": mean,
        "nothing": np.zeros_like(mean),
        _STD: np.sqrt(variance),
        "the position's standard deviation, divided by C − 1": x.std(-1, ddof=1),
        "the position's variance": variance,
        "the position's median": np.median(x, axis=-1),
        "the largest channel": x.max(-1),
        "the smallest channel": x.min(-1),
        "the sum of the channels": x.sum(-1),
        "the mean of each layer": np.broadcast_to(x.mean((1, 2, 3))[:, None, None], mean.shape),
        "the mean of all layers at this position": np.broadcast_to(x.mean((0, 3)), mean.shape),
        "the mean of layer 0": np.broadcast_to(mean[:1], mean.shape),
        "the mean of the last layer": np.broadcast_to(mean[-1:], mean.shape),
    }
    divisors = {
        "the square root of its own variance plus eps": np.sqrt(variance + eps),
        "its standard deviation, without `eps`": np.sqrt(variance),
        "its variance plus eps, without the root": variance + eps,
        "its variance": variance,
        _SQUARED_MEAN: np.sqrt(mean**2 + eps),
        "the root of the mean of its squares plus eps": np.sqrt((x**2).mean(-1) + eps),
        "the root of a sum over the channels instead of a mean": np.sqrt(variance * x.shape[-1]),
        "the root of a sum over the channels, instead of a mean, plus eps": np.sqrt(
            variance * x.shape[-1] + eps
        ),
        "the root of a sum over the channels, and then eps is added": (
            np.sqrt(variance * x.shape[-1]) + eps
        ),
        "its mean absolute deviation": abs(x - mean[..., None]).mean(-1),
        "its mean absolute deviation plus eps": abs(x - mean[..., None]).mean(-1) + eps,
        "the difference of its largest and its smallest channel": x.max(-1) - x.min(-1),
        "1": np.ones_like(variance),
    }
    off = abs(made - (x - mean[..., None]) * own[..., None]).max(-1)
    place, wrong = np.unravel_index(int(off.argmax()), off.shape), off > 1e-2
    what_is_taken = next(
        (said for said, one in subtracted.items() if _alike(taken[wrong], one[wrong])), ""
    )
    what_divides = next(
        (said for said, one in divisors.items() if _alike(1 / scale[wrong], one[wrong])), ""
    )
    right_mean, right_scale = _alike(taken[wrong], mean[wrong]), _alike(scale[wrong], own[wrong])
    added = (1 / scale**2 - variance)[wrong]
    said = []
    if what_is_taken and not right_mean:
        said.append(f"What you subtract is {what_is_taken}.")
    if what_divides and not right_scale:
        said.append(f"What you divide by is {what_divides}.")
    elif (
        not right_scale and len(added) > 1 and _alike(added, np.full_like(added, np.median(added)))
    ):
        said.append(
            f"What you add to the variance is {number(float(np.median(added)))}, but `eps` is "
            f"{number(eps)}."
        )
    if {what_is_taken, what_divides} == _EXCHANGED:
        said.append("Are mean and standard deviation exchanged? `std_mean` returns the mean last.")
    what = (
        "You divide by the right scale, but you don't subtract each position's own mean."
        if right_scale
        else "You subtract each position's own mean, but you don't divide by √(variance + eps)."
        if right_mean
        else "You don't normalize each position with its own mean and scale."
    )
    layer, text, position = (int(n) for n in place)
    mine, right = evidence.yours("lens"), evidence.right("lens")
    return Finding(
        "other-statistics",
        what,
        f"{' '.join((*said, _layers_right(mine, right))).strip()} In layer {layer}, text {text}, "
        f"position {position}, you subtract {_rounded(taken[place])} and multiply by "
        f"{number(float(scale[place]))}, but the position's own mean is "
        f"{number(float(mean[place]))} and 1 / √(variance + eps) is "
        f"{number(float(own[place]))}.".strip(),
        LENS,
    )


def _other_stream(evidence: Evidence, normed: Array) -> Finding:
    """Something else than the position's own stream is normed."""
    x, gain, shift = _given(evidence, "streams", "gain", "shift")
    mine, right = evidence.yours("lens"), evidence.right("lens")
    layer, text, position = (int(n) for n in farthest_index(mine, right)[:-1])
    made = ((normed - shift) / gain)[layer, text, position]
    where = f"In layer {layer}, text {text}, position {position},"
    said = _as_a_sum(made, x[:, text, position], layer)
    if not said:
        others = [
            (b, t)
            for b, t in np.ndindex(*x.shape[1:3])
            if (b, t) != (text, position) and _as_a_sum(made, x[layer, b, t][None], -1)
        ]
        said = f"the stream of text {others[0][0]}, position {others[0][1]}" if others else ""
    mean, variance = x[layer, text, position].mean(), x[layer, text, position].var()
    its_own = (
        f"the position's own mean is {number(float(mean))} and 1 / √(variance + eps) is "
        f"{number(float(1 / np.sqrt(variance + float(evidence.inputs['eps']))))}"
    )
    if not mine[layer].any():
        return Finding(
            "other-norm",
            f"For layer {layer}, you return only zeros.",
            f"{_layers_right(mine, right)}Each of the {len(mine)} streams is read, from the one "
            f"before the first block to the last. {_off(evidence)}",
            LENS,
        )
    if said:
        return Finding(
            "other-norm",
            "You don't normalize each stream by itself.",
            f"{_layers_right(mine, right)}{where} what you normalize is {said} instead of the "
            f"stream of layer {layer} at this position. {_off(evidence)}",
            LENS,
        )
    return Finding(
        "other-norm",
        "What you unembed isn't always a position's stream, centered and scaled, with gain and "
        "shift applied last.",
        f"{_layers_right(mine, right)}{where} {its_own}. Do you read this stream there, do the "
        "mean and the variance run over its channels, and do gain and shift come last? "
        f"{_off(evidence)}",
        LENS,
    )


def _as_a_sum(made: Array, streams: Array, layer: int) -> str:
    """Of which streams (L, C) a normed vector (C,) is the sum, in words; empty if of none."""
    columns = np.stack([*streams, np.ones_like(made)], axis=1)  # (C, L + 1)
    shares = np.linalg.lstsq(columns, made, rcond=None)[0]
    if not np.allclose(columns @ shares, made, rtol=1e-2, atol=1e-2):
        return ""
    shares = shares[:-1] / abs(shares[:-1]).max()
    used = [k for k, share in enumerate(shares) if abs(share) > 1e-2]
    if used == [layer]:
        return ""
    if len(used) == 1:
        return f"the stream of layer {used[0]}"
    if _alike(shares[used], np.full(len(used), shares[used[0]])):
        return f"a sum or mean of the streams of layers {listed(used)}"
    if len(used) == 2 and _alike(shares[used[0]], -shares[used[1]]):
        return f"the difference of the streams of layers {used[1]} and {used[0]}"
    return f"a mix of the streams of layers {listed(used)}"


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
