"""Judges 09/last: the loss at the last position, at several lengths, on the same targets."""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from course_judges.ch09_names.sections import POSITION, SAME_PAST
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, rows_apart, unwrapped
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


def _asked_about(evidence: Evidence, place: int) -> tuple[int, int] | None:
    """The first and the last token of a range over which your loss at this place is the mean; None
    if there is no such range.
    """
    T, mine = int(evidence.inputs["lengths"][place]), float(evidence.yours("losses")[place])
    sums = np.concatenate([[0], _of_each_target(evidence, T).cumsum()])
    for start in range(len(sums) - 1):
        counts = np.arange(1, len(sums) - start)
        means = (sums[start + 1 :] - sums[start]) / counts
        found = np.flatnonzero(abs(means - mine) < 1e-5 * abs(mine))
        if len(found):
            return T + start, T + start + int(found[-1])
    return None


def _other_range(evidence: Evidence) -> Finding | None:
    """Losses that are means over other ranges of targets than the one asked for."""
    if not evidence.comparable("losses"):
        return None
    mine, right = evidence.yours("losses"), evidence.right("losses")
    off = np.flatnonzero(~(abs(mine - right) < 1e-4 * right))
    ranges = {int(place): _asked_about(evidence, int(place)) for place in off}
    if not ranges or None in ranges.values():
        return None
    lengths, longest = evidence.inputs["lengths"], int(evidence.inputs["lengths"].max())
    told = ", and ".join(
        f"for T = {int(lengths[place])} over tokens {found[0]} to {found[1]}"
        for place, found in ranges.items()
        if found is not None
    )
    return Finding(
        "other-targets-asked",
        "You average over other targets than the ones asked for.",
        f"Counting tokens from 0, you average {told}. For every length, the targets should be "
        f"tokens {longest} to {len(evidence.inputs['tokens']) - 1}. {_both(evidence)}",
        SAME_PAST,
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
    return Finding(
        "mode-not-restored",
        "You left the model in a different mode from the one you found it in.",
        "It came in evaluation mode and is in training mode now. Restore the mode that it was in, "
        "with `model.train(was_training)`.",
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
            "All lengths are asked about the same targets, and the model stays in its mode.",
            2,
            matches("losses", "twice"),
        ),
    ),
    properties=(_past_of_one, _other_range, _single_target, _mode_changed),
    examples=(_worked_out,),
    cases=("losses",),
)
