"""Judges 09/last: the loss at the last position, at several lengths, on the same targets."""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from course_judges.ch09_names.losses import in_another_unit
from course_judges.ch09_names.sections import POSITION, SAME_PAST
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, rows_apart, unwrapped
from course_tasks.verdict import Finding


@torch.no_grad()
def losses_at_last(model, tokens, lengths):
    """A right answer."""
    longest = max(lengths)
    losses = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)  # all windows (·, T + 1)
        asked = windows[longest - T : len(tokens) - T]  # your windows (M, T + 1)
        past = asked[:, :-1]  # the tokens that the model reads (M, T)
        targets = asked[:, -1]  # your targets (M,)
        logits = model(past)[0]
        last = logits[:, -1]  # the logits at the last position (M, V)
        loss = F.cross_entropy(last, targets)  # the loss
        losses.append(loss)
    return torch.stack(losses)  # your losses


def _windows(tokens, T):
    return tokens.unfold(0, T + 1, 1)  # (M, T+1)


@torch.no_grad()
def _loss(model, windows, place=-1, reduction="mean"):
    logits = model(windows[:, :-1])[0]
    return F.cross_entropy(logits[:, place], windows[:, -1], reduction=reduction).item()


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


_other_targets = mistake(
    "You took different targets for each length.",
    lambda e: unwrapped(f"""With a length of {int(e.inputs["lengths"].min())} there are
    {len(e.inputs["tokens"]) - int(e.inputs["lengths"].min())} possible targets, but with the
    longest only {_count(e)}. {_both(e)} To be comparable, all lengths need the same targets."""),
    cases=("losses", "twice"),
)(Like("used-a-slice-from-the-start-in-your-windows"))


@mistake(
    "You took the last of `lengths` for the longest.",
    lambda e: f"The lengths may come in any order. {_both(e)}",
    cases=("losses", "twice"),
)
def _last_length_for_the_longest(model, tokens, lengths):
    return [_loss(model, _windows(tokens, T)[max(lengths[-1] - T, 0) :]) for T in lengths]


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


_last_target_lost = mistake(
    "You left out the last target, which is the last token of the text.",
    lambda e: f"You ask about {_count(e) - 1} of {_count(e)} targets. {_both(e)}",
)(Like("used-a-slice-that-ended-one-place-earlier-in-your-windows"))

_reads_first_logits = mistake(
    "You read the logits at position 0, which has seen only one token.", _both, POSITION
)(Like("left-out-the-sign-in-the-tokens-that-the-model-reads"))

_unshifted_targets = mistake(
    "You took as target the last token that the model reads, not the one after it.", _both
)(Like("used-the-tokens-that-the-model-reads-instead-of-your-windows-in-your-targets"))


@mistake(
    "Your windows lie side by side, so you ask about only some of the targets.",
    lambda e: unwrapped(f"""There are {_count(e)} targets for each length, and windows may overlap.
    {_both(e)}"""),
    also=(
        lambda model, tokens, lengths: [_loss(model, _windows(tokens, T)[::T]) for T in lengths],
    ),
)
def _side_by_side(model, tokens, lengths):
    windows = _windows(tokens, max(lengths))[:: max(lengths)]
    return [_loss(model, windows[:, -1 - T :]) for T in lengths]


_in_another_order = mistake(
    "Your losses are right, but in the order of growing lengths instead of that of `lengths`.",
    lambda e: unwrapped(f"""With lengths {listed(e.inputs["lengths"])}, you return the losses of
    {listed(sorted(e.inputs["lengths"]))}."""),
)(lambda model, tokens, lengths: losses_at_last(model, tokens, sorted(lengths)))

_all_positions = mistake(
    "You took the mean over all positions of the windows instead of only the last.",
    lambda e: f"{_both(e)} The first positions of a window have hardly any past.",
    POSITION,
)(_all_positions_answer)


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


_past_too_short = mistake(
    "Your past is one token too short, because for a length T your model reads only T − 1 tokens.",
    lambda e: f"A window with T inputs and a target has T + 1 tokens. {_both(e)}",
)(_at_other_windows(lambda windows, T: windows[:, -max(T, 2) : -1]))


@mistake(
    "Your losses, one after the other, are the lengths themselves.",
    "If you return a dictionary, a loop over it gives its keys. Return a list of its values.",
    recognized=lambda e: np.array_equal(e.yours("losses"), e.inputs["lengths"]),
)
def _dictionary_returned(model, tokens, lengths):
    return dict(zip(lengths, losses_at_last(model, tokens, lengths), strict=True))


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


_oldest_for_target = mistake(
    "You took as target the first token that the model reads, not the one after the last.",
    lambda e: (
        f"`windows[:, 0]` is the oldest token of a window, but the last is its target. {_both(e)}"
    ),
)(Like("used-0-instead-of-minus-1-in-your-targets"))

_softmax_taken_twice = mistake(
    "You took a softmax before `F.cross_entropy`, which takes one itself.",
    lambda e: f"`F.cross_entropy` needs the logits as they are. {_both(e)}",
)(Like("applied-a-softmax-to-the-logits-at-the-last-position"))


@mistake(
    "You put the model into training mode, but it came in evaluation mode.",
    lambda e: f"Losses are measured without dropout. {_both(e)}",
)
def _in_training_mode(model, tokens, lengths):
    model.train()
    return losses_at_last(model, tokens, lengths)


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


_SAME = (
    "For each length the targets are all tokens with `max(lengths)` tokens before them, from the "
    "first to the last."
)

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
        in_another_unit("losses", SAME_PAST),
        _mode_changed,
    ),
    examples=(_worked_out,),
    cases=("losses",),
    steps={
        "all windows": Step("A window has T tokens to read and the one after them."),
        "your windows": Step(_SAME),
        "the tokens that the model reads": Step("The model reads the T tokens before the target."),
        "your targets": Step("The target is the token right after those that the model reads."),
        "the logits at the last position": Step(
            "Only the last position has read all T tokens.", POSITION
        ),
        "the loss": Step("Each loss is a mean over the targets."),
        "your losses": Step("There is one loss for each length, in the order of `lengths`."),
    },
)
