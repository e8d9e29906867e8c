"""Judges 09/last: the loss at the last position, at several lengths, on the same targets."""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F

from course_judges.ch09_names.losses import in_another_unit, same_loss
from course_judges.ch09_names.sections import POSITION, SAME_PAST
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import listed, number, rows_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.ch09_names.shared import echoing_model
from course_tasks.verdict import Finding


def losses_at_last(model, tokens, lengths):
    """A right answer."""
    longest = max(lengths)
    return [_loss(model, _windows(tokens, T)[longest - T :]) for T in lengths]


def _windows(tokens, T, stride=1):
    return tokens.unfold(0, T + 1, stride)  # (M, T+1)


@torch.no_grad()
def _loss(model, windows, place=-1, target=-1, reduction="mean"):
    logits = model(windows[:, :-1])[0]
    return F.cross_entropy(logits[:, place], windows[:, target], reduction=reduction).item()


@torch.no_grad()
def _all_positions_answer(model, tokens, lengths):
    found = []
    for T in lengths:
        windows = _windows(tokens, T)[max(lengths) - T :]
        logits = model(windows[:, :-1])[0]
        found.append(F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten()).item())
    return found


def _count(evidence: Evidence) -> int:
    return len(evidence.inputs["tokens"]) - int(evidence.inputs["lengths"].max())


def _both(evidence: Evidence) -> str:
    lengths = ", ".join(str(int(T)) for T in evidence.inputs["lengths"])
    mine, right = rows_apart(evidence.yours("losses"), evidence.right("losses"))
    return f"With {lengths} tokens of past, your losses are {mine}, but should be {right}."


def _longest_right(evidence: Evidence) -> bool:
    place = int(evidence.inputs["lengths"].argmax())
    mine, right = evidence.yours("losses")[place], evidence.right("losses")[place]
    return bool(abs(mine - right) < 1e-4 * right)


def _one_left_out(evidence: Evidence) -> str:
    return f"You ask about {_count(evidence) - 1} of {_count(evidence)} targets. {_both(evidence)}"


@mistake(
    "You took different targets for each length.",
    lambda e: unwrapped(f"""With a length of {int(e.inputs["lengths"].min())} there are
    {len(e.inputs["tokens"]) - int(e.inputs["lengths"].min())} possible targets, but with the
    longest only {_count(e)}. {_both(e)} To be comparable, all lengths need the same targets."""),
)
def _other_targets(model, tokens, lengths):
    return [_loss(model, _windows(tokens, T)) for T in lengths]


@mistake(
    "You took equally many targets for each length, but not the same ones.",
    lambda e: unwrapped(f"""The targets of your shortest length stop
    {int(e.inputs["lengths"].max()) - int(e.inputs["lengths"].min())} tokens before the end of the
    text. {_both(e)}"""),
)
def _first_targets(model, tokens, lengths):
    count = len(tokens) - max(lengths)
    return [_loss(model, _windows(tokens, T)[:count]) for T in lengths]


@mistake(
    "Your shorter lengths have one target more than the longest.",
    lambda e: unwrapped(f"""The longest has {_count(e)} targets. A token with fewer than
    `max(lengths)` tokens before it shouldn't be a target for the others either. {_both(e)}"""),
)
def _one_target_more(model, tokens, lengths):
    longest = max(lengths)
    return [_loss(model, _windows(tokens, T)[max(longest - T - 1, 0) :]) for T in lengths]


@mistake(
    "You left out the first target, the token with exactly `max(lengths)` tokens before it.",
    _one_left_out,
)
def _first_target_lost(model, tokens, lengths):
    return losses_at_last(model, tokens[1:], lengths)


_all_positions = mistake(
    "You took the mean over all positions of the windows instead of only the last.",
    lambda e: f"{_both(e)} The first positions of a window have hardly any past.",
    POSITION,
)(_all_positions_answer)


@mistake(
    "Your windows lie side by side, so you ask about only one target in T.",
    lambda e: unwrapped(f"""There are {_count(e)} targets for each length, and windows may overlap.
    {_both(e)}"""),
)
def _side_by_side(model, tokens, lengths):
    return [_loss(model, _windows(tokens, T, T)) for T in lengths]


@mistake(
    "You left out the last target, which is the last token of the text.",
    _one_left_out,
)
def _last_target_lost(model, tokens, lengths):
    return losses_at_last(model, tokens[:-1], lengths)


@mistake("You read the logits at position 0, which has seen only one token.", _both, POSITION)
def _reads_first_logits(model, tokens, lengths):
    return [_loss(model, _windows(tokens, T)[max(lengths) - T :], place=0) for T in lengths]


@mistake("You took as target the last token that the model reads, not the one after it.", _both)
def _unshifted_targets(model, tokens, lengths):
    return [_loss(model, _windows(tokens, T)[max(lengths) - T :], target=-2) for T in lengths]


@mistake(
    "You used the longest past for every length.",
    lambda e: unwrapped(f"""Your {len(e.inputs["lengths"])} losses are all
    {number(e.yours("losses")[0], 4)}. {_both(e)}"""),
)
def _longest_for_all(model, tokens, lengths):
    return [_loss(model, _windows(tokens, max(lengths))) for _ in lengths]


@mistake(
    "You return sums instead of means.",
    lambda e: unwrapped(f"""Your losses are too large by a factor of {_count(e)}, the number of
    targets. {_both(e)}"""),
)
def _summed(model, tokens, lengths):
    longest = max(lengths)
    return [_loss(model, _windows(tokens, T)[longest - T :], reduction="sum") for T in lengths]


@mistake(
    "If a length is asked for twice, you answer it only once.",
    lambda e: unwrapped(f"""For {e.right("twice.losses").size} lengths you return
    {e.yours("twice.losses").size} losses. A dict or a set would keep each length only once."""),
    cases=("losses", "twice"),
    also=(
        lambda model, tokens, lengths: losses_at_last(model, tokens, list({*lengths})),
        lambda model, tokens, lengths: losses_at_last(model, tokens, sorted({*lengths})),
    ),
)
def _answered_once(model, tokens, lengths):
    return losses_at_last(model, tokens, list(dict.fromkeys(lengths)))


def _in_chunks(size):
    def answer(model, tokens, lengths):
        found = []
        for T in lengths:
            chunks = _windows(tokens, T)[max(lengths) - T :].split(size)
            found.append(sum(_loss(model, chunk) for chunk in chunks) / len(chunks))
        return found

    return answer


_chunks_averaged = mistake(
    "You averaged the means of chunks, but the last chunk has fewer targets than the others.",
    lambda e: unwrapped(f"""All {_count(e)} targets should count the same, so add up the losses and
    divide by their number at the end. {_both(e)}"""),
    also=tuple(_in_chunks(size) for size in (2, 3, 4, 5, 6, 10, 12, 16, 20, 24, 25, 32)),
)(_in_chunks(8))


def _at_other_windows(inputs_of, read=lambda logits: logits[:, -1]):
    """An answer that shows the model `inputs_of(windows, T)` of the longest windows."""

    @torch.no_grad()
    def answer(model, tokens, lengths):
        windows = _windows(tokens, max(lengths))
        return [
            F.cross_entropy(read(model(inputs_of(windows, T))[0]), windows[:, -1]).item()
            for T in lengths
        ]

    return answer


_target_read = mistake(
    "You show the model the target itself as the last of the T tokens.",
    lambda e: f"It should read the T tokens right before the target. {_both(e)}",
)(_at_other_windows(lambda windows, T: windows[:, windows.shape[1] - T :]))

_filled_with_zeros = mistake(
    "You set the older tokens to 0, but the model reads token 0 like any other.",
    lambda e: f"For a length T, show the model T tokens and nothing else. {_both(e)}",
)(
    _at_other_windows(
        lambda windows, T: F.pad(
            windows[:, windows.shape[1] - 1 - T : -1], (windows.shape[1] - 1 - T, 0)
        )
    )
)

_logits_averaged = mistake(
    "You averaged the logits over the positions instead of taking those at the last one.",
    lambda e: f"Only the last position has read the whole past. {_both(e)}",
)(
    _at_other_windows(
        lambda windows, T: windows[:, -1 - T : -1], read=lambda logits: logits.mean(dim=1)
    )
)


@mistake(
    "You put the model into training mode, but it came in evaluation mode.",
    lambda e: f"Losses are measured without dropout. {_both(e)}",
)
def _in_training_mode(model, tokens, lengths):
    model.train()
    return losses_at_last(model, tokens, lengths)


@torch.no_grad()
def _of_each_target(evidence: Evidence, T: int):
    """The loss of every token that has T tokens before it."""
    windows = _windows(torch.from_numpy(evidence.inputs["tokens"]), T)
    logits = echoing_model(evidence.inputs).eval()(windows[:, :-1])[0]
    return F.cross_entropy(logits[:, -1], windows[:, -1], reduction="none").double().numpy()


def _asked_about(evidence: Evidence, place: int, *, anywhere: bool) -> set[str]:
    """Which tokens your loss at this place may be the mean over, in words: ranges with or without
    gaps of one length. Of all ranges, one may fit by coincidence; of those that begin and end where
    a text, a past or the targets do, or a token or two from there, hardly any does.
    """
    T, mine = int(evidence.inputs["lengths"][place]), float(evidence.yours("losses")[place])
    each, N, longest = (
        _of_each_target(evidence, T),
        len(evidence.inputs["tokens"]),
        _longest(evidence),
    )
    firsts = {T + n for n in range(3)} | {longest + n for n in range(-2, 3)} | {longest + T}
    ends = {N - n for n in range(4)} | {N - (longest - T) + n for n in (-1, 0, 1)}
    found = set()
    for stride in range(1, max(longest, 3) + 2):
        # Windows with gaps may be cut like those without: `windows[longest - T :]`.
        likely = firsts | {T + stride * (longest - T)}
        for first in range(T, N) if anywhere else sorted(likely):
            taken = each[first - T :: stride] if first >= T else each[:0]
            means = taken.cumsum() / np.arange(1, len(taken) + 1)
            for last in first + stride * np.flatnonzero(same_loss(mine, means)):
                if last > first and (anywhere or ends & set(range(last + 1, last + stride + 1))):
                    found.add(f"{_nth(stride)} token from {first} to {last}")
    return found


def _for_lengths(lengths: Array) -> str:
    """ "for T = 4" or "for T = 4, 7 and 1"."""
    *before, last = (str(int(T)) for T in lengths)
    return f"for T = {', '.join(before)} and {last}" if before else f"for T = {last}"


def _nth(stride: int) -> str:
    """ "every" or "every third"."""
    words = ("every", "every second", "every third")
    return words[stride - 1] if stride <= len(words) else f"every {stride}th"


def _other_range(evidence: Evidence) -> Finding | None:
    """Losses that are means over other targets than the ones asked for."""
    if not evidence.comparable("losses"):
        return None
    mine, right = evidence.yours("losses"), evidence.right("losses")
    off = [int(place) for place in np.flatnonzero(~(abs(mine - right) < 1e-4 * right))]
    if not off:
        return None
    several = len(off) > 1
    of_all = set.intersection(*(_asked_about(evidence, place, anywhere=several) for place in off))
    lengths, longest = evidence.inputs["lengths"], _longest(evidence)
    if len(of_all) == 1:
        told = f"{_for_lengths(lengths[off])} over {of_all.pop()}"
    else:
        each = [_asked_about(evidence, place, anywhere=False) for place in off]
        if any(len(fitting) != 1 for fitting in each):
            return None
        told = ", and ".join(
            f"{_for_lengths(lengths[[place]])} over {fitting.pop()}"
            for place, fitting in zip(off, each, strict=True)
        )
    return Finding(
        "other-targets-asked",
        "You average over other targets than the ones asked for.",
        f"Counting tokens from 0, you average {told}. For every length, the targets should be "
        f"all tokens from {longest} to {len(evidence.inputs['tokens']) - 1}. {_both(evidence)}",
        SAME_PAST,
    )


_FACTORS: dict[str, Callable[[Array, int], Array]] = {
    "T": lambda T, _: T,
    "1 / T": lambda T, _: 1 / T,
    "T / max(lengths)": lambda T, longest: T / longest,
    "max(lengths) / T": lambda T, longest: longest / T,
}


def _multiplied(evidence: Evidence) -> Finding | None:
    """Losses that are the right ones times something that depends on their lengths."""
    if not evidence.comparable("losses") or evidence.same("losses"):
        return None
    mine, right, lengths = (
        evidence.yours("losses"),
        evidence.right("losses"),
        evidence.inputs["lengths"],
    )
    for name, of in _FACTORS.items():
        if np.allclose(mine, right * of(lengths, _longest(evidence)), rtol=1e-5):
            return Finding(
                "multiplied-by-length",
                f"Your losses are the right ones times {name}.",
                f"Each is a mean over the same {_count(evidence)} targets, whatever T is, so"
                f" don't weight it by T. {_both(evidence)}",
                SAME_PAST,
            )
    return None


def _divided(evidence: Evidence, place: int) -> tuple[int, int, int] | None:
    """The first and the last token over which your loss at this place is a sum, and what it is
    divided by; None if that doesn't explain it.
    """
    T, mine = int(evidence.inputs["lengths"][place]), float(evidence.yours("losses")[place])
    count, N = _count(evidence), len(evidence.inputs["tokens"])
    each, longest = _of_each_target(evidence, T), N - count
    for first in (longest, longest + 1):
        for last in (N - 1, N - 2):
            total = each[first - T : last + 1 - T].sum()
            for divisor in (count, count - 1, count + 1, N, N - 1, N - T, N - T - 1, N - T + 1):
                if same_loss(mine, total / divisor):
                    return first, last, divisor
    return None


def _other_divisor(evidence: Evidence) -> Finding | None:
    """Sums that are divided by another number than that of their terms."""
    if not evidence.comparable("losses"):
        return None
    mine, right = evidence.yours("losses"), evidence.right("losses")
    off = np.flatnonzero(~(abs(mine - right) < 1e-4 * right))
    found = {int(place): _divided(evidence, int(place)) for place in off}
    if not found or None in found.values():
        return None
    lengths = evidence.inputs["lengths"]
    told = ", ".join(
        f"for T = {int(lengths[place])} the sum of {last - first + 1} losses divided by {divisor}"
        for place, how in found.items()
        if how is not None
        for first, last, divisor in (how,)
    )
    return Finding(
        "another-divisor",
        "You divide the sum of the losses by a number that isn't that of the targets.",
        f"Your loss is {told}. There are {_count(evidence)} targets for every length."
        f" {_both(evidence)}",
        SAME_PAST,
    )


@torch.no_grad()
def _losses_of_pasts(evidence: Evidence) -> dict[tuple[int, int], float]:
    """The mean loss of all targets if the model reads the tokens from a places before a target to b
    places before it, for all a ≥ b ≥ 0; b = 0 is the target itself.
    """
    tokens, longest = torch.from_numpy(evidence.inputs["tokens"]), _longest(evidence)
    model, ends = echoing_model(evidence.inputs).eval(), torch.arange(longest, len(tokens))
    found = {}
    for a in range(longest + 2):  # a negative index counts from the end
        read = range(-a, min(longest - a, 1))
        logits = model(tokens[ends[:, None] + torch.tensor(read)])[0]
        for place, b in enumerate(read):
            found[a, -b] = F.cross_entropy(logits[:, place], tokens[ends]).item()
    return found


def _longest(evidence: Evidence) -> int:
    return int(evidence.inputs["lengths"].max())


def _other_past(evidence: Evidence) -> Finding | None:
    """Losses of the right targets after other tokens than the T before them."""
    if not evidence.comparable("losses"):
        return None
    mine, right = evidence.yours("losses"), evidence.right("losses")
    off = np.flatnonzero(~(abs(mine - right) < 1e-4 * right))
    known, told = _losses_of_pasts(evidence), []
    for place in off:
        read = [past for past, loss in known.items() if same_loss(mine[place], loss)]
        if not read:
            return None
        a, b = read[0]
        T = int(evidence.inputs["lengths"][place])
        if a == b:
            tokens = "the target itself" if b == 0 else f"the token {_back(b)} before the target"
        else:
            upto = "the target itself" if b == 0 else f"{b} before it"
            tokens = f"the tokens from {_back(a)} before the target to {upto}"
        told.append(f"for T = {T} {tokens}")
    return (
        Finding(
            "another-past",
            "Your model reads another past than the T tokens right before the target.",
            f"Your losses are those of a model that has read {', and '.join(told)}. For a length T"
            f" it should be the tokens from T before the target to 1 before it. {_both(evidence)}",
            SAME_PAST,
        )
        if told
        else None
    )


def _back(places: int) -> str:
    return f"{places} place{'s' if places > 1 else ''}"


def _in_another_order(evidence: Evidence) -> Finding | None:
    """The right losses, but not in the order of `lengths`."""
    if not evidence.comparable("losses") or evidence.same("losses"):
        return None
    mine, right = evidence.yours("losses"), evidence.right("losses")
    lengths = evidence.inputs["lengths"].tolist()
    if not np.allclose(np.sort(mine), np.sort(right), rtol=1e-4):
        return None
    order = [lengths[int(abs(right - loss).argmin())] for loss in mine]
    how = " That is in increasing order." if order == sorted(order) else ""
    return Finding(
        "another-order",
        "Your losses are right, but not in the order of `lengths`.",
        f"With lengths {listed(lengths)}, you return the losses of {listed(order)}.{how}",
        SAME_PAST,
    )


def _lengths_returned(evidence: Evidence) -> bool:
    return evidence.comparable("losses") and np.array_equal(
        evidence.yours("losses"), evidence.inputs["lengths"]
    )


@mistake(
    "Your losses, one after the other, are the lengths themselves.",
    lambda e: unwrapped(f"""You return {listed(e.inputs["lengths"])}. If you return a dictionary, a
    loop over it gives its keys. Return a list of its values."""),
    recognized=_lengths_returned,
)
def _dictionary_returned(model, tokens, lengths):
    return dict(zip(lengths, losses_at_last(model, tokens, lengths), strict=True))


def _shown_too_much(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("losses")
    return raised is not None and "more than block_size" in raised.message


@mistake(
    "You show the model more tokens than the longest past has.",
    lambda e: unwrapped(f"""It stopped with “{e.answers.errors["losses"].message}”. The longest
    length is {_longest(e)}. A window of T inputs and a target has T + 1 tokens, and the model reads
    only the T inputs."""),
    recognized=_shown_too_much,
)
def _target_shown_as_well(model, tokens, lengths):
    windows = _windows(tokens, max(lengths))
    return [F.cross_entropy(model(windows)[0][:, -2], windows[:, -1]).item() for _ in lengths]


_past_reversed = mistake(
    "You show the model the past in reverse order.",
    lambda e: f"The token right before the target should be read last. {_both(e)}",
)(_at_other_windows(lambda windows, T: windows[:, -1 - T : -1].flip(1)))


def _of_probabilities(number_of):
    """An answer that makes its number from the probabilities of the targets."""

    @torch.no_grad()
    def answer(model, tokens, lengths):
        windows = _windows(tokens, max(lengths))
        found = []
        for T in lengths:
            chances = model(windows[:, -1 - T : -1])[0][:, -1].softmax(dim=-1)
            found.append(number_of(chances.gather(1, windows[:, -1:])).item())
        return found

    return answer


_mean_probability = mistake(
    "You return the mean probability of the targets instead of their mean loss.",
    lambda e: f"A loss is minus the logarithm of the probability. {_both(e)}",
)(_of_probabilities(lambda chances: chances.mean()))

_logarithm_of_the_mean = mistake(
    "You took the mean of the probabilities before the logarithm instead of after it.",
    lambda e: unwrapped(f"""The mean loss is the mean of minus the logarithms. Take the logarithm of
    each target's probability first. {_both(e)}"""),
)(_of_probabilities(lambda chances: -chances.mean().log()))

_softmax_taken_twice = mistake(
    "You took a softmax before `F.cross_entropy`, which takes one itself.",
    lambda e: f"`F.cross_entropy` needs the logits as they are. {_both(e)}",
)(
    _at_other_windows(
        lambda windows, T: windows[:, -1 - T : -1],
        read=lambda logits: logits[:, -1].softmax(dim=-1),
    )
)

_oldest_for_target = mistake(
    "You took as target the first token that the model reads, not the one after the last.",
    lambda e: (
        f"`windows[:, 0]` is the oldest token of a window, but the last is its target. {_both(e)}"
    ),
)(
    lambda model, tokens, lengths: [
        _loss(model, _windows(tokens, T)[max(lengths) - T :], target=0) for T in lengths
    ]
)


def _one_token_less(evidence: Evidence) -> bool:
    """True if every past of two or more tokens was read as if it were one token shorter."""
    longest, lengths = int(evidence.inputs["lengths"].max()), evidence.inputs["lengths"]
    return evidence.comparable("losses") and all(
        abs(_of_each_target(evidence, int(T) - 1)[longest - int(T) + 1 :].mean() - mine)
        < 1e-4 * mine
        for T, mine in zip(lengths, evidence.yours("losses"), strict=True)
        if T > 1
    )


@mistake(
    "Your past is one token too short, because for a length T your model reads only T − 1 tokens.",
    lambda e: f"A window with T inputs and a target has T + 1 tokens. {_both(e)}",
    recognized=_one_token_less,
)
def _past_too_short(model, tokens, lengths):
    longest = max(lengths)
    return [
        _loss(model, _windows(tokens, max(T - 1, 1))[longest - max(T - 1, 1) :]) for T in lengths
    ]


def _past_of_one(evidence: Evidence) -> Finding | None:
    if not evidence.comparable("losses"):
        return None
    mine, right = evidence.yours("losses"), evidence.right("losses")
    one = evidence.inputs["lengths"] == 1
    if not np.array_equal(~(abs(mine - right) < 1e-4 * right), one):
        return None
    return Finding(
        "past-of-one",
        "Your losses are right for longer pasts, but wrong for a past of one token.",
        _both(evidence),
        SAME_PAST,
    )


def _single_target(evidence: Evidence) -> Finding | None:
    """Wrong only for a text that is one token longer than the longest past."""
    if not evidence.same("losses") or not evidence.comparable("twice.losses"):
        return None
    mine, right = evidence.yours("twice.losses"), evidence.right("twice.losses")
    off = ~(abs(mine - right) < 1e-4 * right)
    if not off.any():
        return None
    place = int(off.argmax())
    longest = int(evidence.inputs["lengths"].max())
    return Finding(
        "single-target",
        "Your losses are right for a long text, but wrong for one with a single target.",
        unwrapped(f"""In a text of {longest + 1} tokens only the last one has {longest} before it.
        Your loss for the length at index {place} of {mine.size} is {number(float(mine[place]), 4)}
        instead of {number(float(right[place]), 4)}."""),
        SAME_PAST,
    )


def _mode_changed(evidence: Evidence) -> Finding | None:
    if not evidence.same("losses", "twice.losses"):
        return None
    came = "training" if evidence.yours("twice.evaluation_kept") else "evaluation"
    return Finding(
        "mode-not-restored",
        "You left the model in a different mode from the one you found it in.",
        f"It came in {came} mode and isn't in it now. Restore the mode that it was in, with "
        "`model.train(was_training)`.",
        SAME_PAST,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    """What the model should read before the first target, at the first length with a wrong loss."""
    if not evidence.comparable("losses"):
        return None
    mine, right = evidence.yours("losses"), evidence.right("losses")
    off = ~(abs(mine - right) < 1e-4 * right)
    T = int(evidence.inputs["lengths"][int(off.argmax())])
    tokens, longest = evidence.inputs["tokens"], int(evidence.inputs["lengths"].max())
    read = " ".join(str(int(token)) for token in tokens[longest - T : longest])
    return Finding(
        "other-losses",
        "Your losses are wrong.",
        unwrapped(f"""The first of {_count(evidence)} targets is at position {longest} of the text
        and is token {int(tokens[longest])}. For T = {T}, the model should read `{read}` before it.
        {_both(evidence)}"""),
        SAME_PAST,
    )


@mistake(
    "For a short past you read the beginning of the longest one instead of its end.",
    lambda e: f"The model should read the last T tokens before the target. {_both(e)}",
)
def _beginning_of_the_longest(model, tokens, lengths):
    windows = _windows(tokens, max(lengths))
    return [_loss(model, windows, place=T - 1) for T in lengths]


TASK = Task(
    "Loss at the last position",
    losses_at_last,
    SAME_PAST,
    (
        Part("The loss with the longest past is right.", 2, _longest_right),
        Part(
            "All lengths have the same targets, and the mode stays.",
            2,
            matches("losses", "twice"),
        ),
    ),
    properties=(
        _in_another_order,
        in_another_unit("losses", SAME_PAST),
        _multiplied,
        _other_divisor,
        _other_range,
        _other_past,
        _past_of_one,
        _single_target,
        _mode_changed,
    ),
    examples=(_worked_out,),
    cases=("losses",),
)
