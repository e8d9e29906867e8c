"""Judges 09/carried: a state that is carried from batch to batch, except where a row is fresh."""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from course_judges.ch09_names.losses import in_another_unit
from course_judges.ch09_names.sections import CARRIED
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import number, numbers_apart, unwrapped
from course_tasks.ch09_names.carried import START_GRADIENT
from course_tasks.verdict import Finding

_TWICE = "backward through the graph a second time"
_GRADIENTS = tuple(
    f"pieces.gradients.{name}" for name in ("embedding", "inward", "across", "output")
)


_KEPT = ("pieces.kept.weights", "pieces.kept.mode")


def _others(state, fresh):
    return tuple(s.masked_fill(fresh, 0.0) for s in state)


def _all_detached(state):
    return tuple(s.detach() for s in state)


def _mean(logits, y):
    return F.cross_entropy(logits.flatten(0, 1), y.flatten())


def _each(_, losses):
    losses[-1].backward()


def _first_clears(model, losses):
    if len(losses) == 1:
        model.zero_grad()
    losses[-1].backward()


def _latest(model, losses):
    model.zero_grad()
    losses[-1].backward()


def _pieces(
    kept=_others,
    cut=_all_detached,
    loss=_mean,
    spend=_each,
    read=lambda model, x, state: model.read(x, state),
):
    """An answer with one of its choices replaced: how it keeps states, detaches them, measures the
    loss of a batch, uses the losses, and reads a batch.
    """

    def answer(model, batches):
        state, losses = None, []
        for x, y, fresh in batches:
            if state is not None:
                state = cut(kept(state, fresh[None, :, None]))
            logits, state = read(model, x, state)
            losses.append(loss(logits, y))
            spend(model, losses)
        return [loss.item() for loss in losses]

    return answer


def read_in_pieces(model, batches):
    """A right answer."""
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            blank = fresh[None, :, None]
            h, c = state
            hidden = h.detach().masked_fill(blank, 0.0)  # the hidden state that you carry
            cell = c.detach().masked_fill(blank, 0.0)  # the cell state that you carry
            state = hidden, cell
        logits, state = model.read(x, state)
        losses.append(F.cross_entropy(logits.flatten(0, 1), y.flatten()))
    total = torch.stack(losses).sum()  # what goes backward
    total.backward()
    return [loss.item() for loss in losses]


def _start_forgotten(evidence: Evidence) -> bool:
    """True if the gradients are those of the batches alone, without those from before the call."""
    if not evidence.same("pieces.losses"):
        return False
    return all(
        np.allclose(evidence.yours(name) + START_GRADIENT, evidence.right(name), 1e-4, 1e-5)
        for name in _GRADIENTS
    )


def _ratio_of_gradients(evidence: Evidence) -> Finding | None:
    """Gradients that, apart from those before the call, are the right ones times a factor."""
    if evidence.same(*_GRADIENTS):
        return None
    mine, right = (
        np.concatenate([side(name).ravel() - START_GRADIENT for name in _GRADIENTS])
        for side in (evidence.yours, evidence.right)
    )
    factor = float((mine * right).sum() / (right * right).sum())
    if not evidence.same("pieces.losses") or not np.allclose(mine, factor * right, 1e-3, 1e-5):
        return None
    return Finding(
        "gradients-scaled",
        "Your losses are right, but what they add to the gradients is scaled.",
        f"In every parameter it is {number(factor, 4)} times what it should be.",
        CARRIED,
    )


def _model_changed(evidence: Evidence) -> Finding | None:
    """Weights or a mode that are no longer what they were before the call."""
    alone = evidence.same("pieces.losses", *_GRADIENTS)
    if not evidence.same("pieces.kept.weights"):
        return Finding(
            "weights-changed",
            "Your function changed the model's parameters.",
            ("Your losses and gradients are right. " if alone else "")
            + "It should only add to the gradients, so don't take a step, and leave "
            "`requires_grad` as it is.",
            CARRIED,
        )
    if not alone:
        return None
    return Finding(
        "mode-not-restored",
        "You left the model in a different mode from the one you found it in.",
        "It was in training mode before and is in evaluation mode now, so it would go on training "
        "without dropout.",
        CARRIED,
    )


def _first_off(evidence: Evidence) -> str:
    mine, right = evidence.yours("pieces.losses"), evidence.right("pieces.losses")
    off = int((abs(mine - right) > 1e-4 * abs(right) + 1e-5).argmax())
    one, other = numbers_apart(float(mine[off]), float(right[off]))
    return f"Your loss of batch {off} is {one} instead of {other}."


def _fresh_rows(evidence: Evidence) -> str:
    step = 2
    rows = evidence.inputs["fresh"][step].nonzero()[0]
    return f"In batch {step} only row {int(rows[0])} is fresh. {_first_off(evidence)}"


def _blanked_before(evidence: Evidence) -> str:
    """Which rows have a blank state in the first batch with a wrong loss, because they were fresh
    in the batch before it.
    """
    mine, right = evidence.yours("pieces.losses"), evidence.right("pieces.losses")
    off = int((abs(mine - right) > 1e-4 * abs(right) + 1e-5).argmax())
    rows = [str(b) for b in evidence.inputs["fresh"][max(off - 1, 0)].nonzero()[0]]
    if off == 0 or not rows:
        return _first_off(evidence)
    several = len(rows) > 1
    fresh = f"rows {', '.join(rows[:-1])} and {rows[-1]} are" if several else f"row {rows[0]} is"
    them, start = ("them", "they start") if several else ("it", "it starts")
    return unwrapped(f"""In batch {off - 1} {fresh} fresh. You blank {them} after this batch, so
    {start} batch {off} blank. {_first_off(evidence)}""")


def _steepness_alone(evidence: Evidence) -> str:
    mine = (evidence.yours("pieces.gradients.across") ** 2).sum() ** 0.5
    right = (evidence.right("pieces.gradients.across") ** 2).sum() ** 0.5
    return (
        f"The gradient of `across` has a norm of {number(mine, 4)} instead of {number(right, 4)}."
    )


def _steepness(evidence: Evidence) -> str:
    alone = _steepness_alone(evidence)
    return f"Your losses are right, but {alone[0].lower()}{alone[1:]}"


def _read_twice(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("pieces")
    return raised is not None and _TWICE in raised.message


_graph_kept = mistake(
    "You carry a state that is still attached to the graph of the batch before.",
    """`backward` went back into an earlier batch, whose graph was already freed. Detach both the
    hidden state and the cell state after every batch.""".replace("\n    ", " "),
    recognized=_read_twice,
)(_pieces(cut=lambda state: state))


_not_detached = mistake(
    "You carry the state without detaching it and go backward through all the batches.",
    lambda e: f"{_steepness(e)} Each step would need more memory and time than the one before.",
)(Like("left-out-detach-in-the-hidden-state-that-you-carry-and-the-cell-state-that-you-carry"))

_fresh_ignored = mistake("You carry the state into fresh rows, too.", _fresh_rows)(
    Like("left-out-the-mask-in-the-hidden-state-that-you-carry-and-the-cell-state-that-you-carry")
)

_fresh_inverted = mistake(
    "You blank the rows that continue and carry the state into the fresh ones.", _first_off
)(
    Like(
        "masked-exactly-what-should-be-seen-in-the-hidden-state-that-you-carry-"
        "and-the-cell-state-that-you-carry"
    )
)

_gradients_averaged = mistake(
    "Your gradients are those of the mean of the batches' losses, but they should add up.",
    lambda e: unwrapped(f"""There are {len(e.inputs["x"])} batches, and you divide by their number.
    {_steepness(e)}"""),
)(Like("used-mean-instead-of-sum-in-what-goes-backward"))

_not_carried = mistake("You start every batch from a blank state.", _first_off)(
    _pieces(lambda state, _: tuple(map(torch.zeros_like, state)))
)


_all_rows_blank = mistake("As soon as one row is fresh, you blank all rows.", _fresh_rows)(
    _pieces(lambda state, fresh: tuple(s * (not fresh.any()) for s in state))
)


_states_exchanged = mistake(
    "You swapped the hidden state and the cell state when you carried them on.", _first_off
)(Like("exchanged-h-and-c-in-the-hidden-state-that-you-carry-and-the-cell-state-that-you-carry"))

_only_hidden_blanked = mistake(
    "You blank the hidden state of fresh rows but not their cell state.", _fresh_rows
)(Like("left-out-the-mask-in-the-cell-state-that-you-carry"))


@mistake(
    "You blank fresh rows after reading their batch, but they should be blank before it.",
    _blanked_before,
)
def _blanked_too_late(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        logits, state = model.read(x, state)
        state = _all_detached(_others(state, fresh[None, :, None]))
        losses.append(F.cross_entropy(logits.flatten(0, 1), y.flatten()))
        losses[-1].backward()
    return [loss.item() for loss in losses]


def _norm_of_gradients(evidence: Evidence) -> float:
    return float(sum((evidence.yours(name) ** 2).sum() for name in _GRADIENTS) ** 0.5)


def _clipped(model, losses):
    losses[-1].backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)


_gradients_clipped = mistake(
    "You seem to clip the gradients, but they should add up unchanged.",
    lambda e: unwrapped(f"""All your gradients together have a norm of
    {_norm_of_gradients(e):.3f}, and such a round number is hardly a coincidence.
    {_steepness(e)}"""),
    recognized=lambda e: (
        e.same("pieces.losses")
        and not all(e.same(name) for name in _GRADIENTS)
        and min(abs(_norm_of_gradients(e) / most - 1) for most in (0.1, 0.25, 0.5, 1, 2, 5)) < 1e-5
    ),
)(_pieces(spend=_clipped))

_start_gradients_cleared = mistake(
    "You cleared the gradients that were there before the first batch.",
    f"Each parameter came with a gradient of {START_GRADIENT:g}, which should stay in the sum.",
    recognized=_start_forgotten,
)(_pieces(spend=_first_clears))

_last_gradient_only = mistake(
    "Your gradients are those of the last batch instead of the sum over all batches.", _steepness
)(_pieces(spend=_latest))


@mistake(
    "Nothing was added to the gradients.",
    lambda e: (
        unwrapped(f"""{_steepness(e)} That is what was there before the call. Does every loss go
    backward, and through the model? `no_grad` and `detach` cut the way to its parameters.""")
    ),
)
def _no_gradient(model, batches):
    with torch.no_grad():
        return _pieces(spend=lambda *_: None)(model, batches)


_summed = mistake(
    "Your losses are sums, but the loss of a batch is the mean over its targets.",
    lambda e: unwrapped(f"""They are too large by a factor of {e.inputs["y"][0].size}, the number of
    targets B · T, and so is what they add to the gradients. {_first_off(e)}"""),
    cases=("pieces.losses", "pieces.gradients"),
)(_pieces(loss=lambda logits, y: _mean(logits, y) * y.numel()))

_last_position_only = mistake(
    "You took the loss only at the last position of each batch, but all positions count.",
    lambda e: unwrapped(f"""A batch has B · T = {e.inputs["y"][0].size} targets, and its loss is the
    mean over all of them. {_first_off(e)}"""),
    cases=("pieces",),
)(_pieces(loss=lambda logits, y: _mean(logits[:, -1:], y[:, -1:])))

_softmax_taken_twice = mistake(
    "You took a softmax before `F.cross_entropy`, which takes one itself.",
    lambda e: f"`F.cross_entropy` needs the logits as they are. {_first_off(e)}",
)(_pieces(loss=lambda logits, y: _mean(logits.softmax(-1), y)))

_logits_scrambled = mistake(
    "You reshape the logits where their axes should be exchanged, which scrambles them.",
    lambda e: unwrapped(f"""The logits have shape (B, T, V) = ({e.inputs["y"][0].shape[0]},
    {e.inputs["y"][0].shape[1]}, {e.inputs["embedding"].shape[0]}). `reshape` and `view` keep the
    order of the numbers, so `reshape(B, V, T)` mixes positions and tokens. Use `transpose(1, 2)`,
    or flatten B and T. {_first_off(e)}"""),
)(_pieces(loss=lambda logits, y: F.cross_entropy(logits.reshape(len(y), -1, y.shape[1]), y)))


def _token_by_token(model, x, state):
    """Reads one token at a time and cuts the graph after each of them."""
    read = []
    for token in x.split(1, dim=1):
        logits, state = model.read(token, state)
        state = _all_detached(state)
        read.append(logits)
    return torch.cat(read, dim=1), state


_detached_inside = mistake(
    "You detach the state inside a batch, after every token.",
    lambda e: unwrapped(f"""Your losses are right, but a position then can't learn from what it did
    to later ones. Inside a batch, gradients should flow through all T = {e.inputs["x"].shape[-1]}
    positions, so detach only between batches. {_steepness_alone(e)}"""),
)(_pieces(read=_token_by_token))


def _first_loss(evidence: Evidence) -> Finding | None:
    """A wrong loss of batch 0, in which nothing is carried."""
    mine, right = (side("pieces.losses").flat[0] for side in (evidence.yours, evidence.right))
    if abs(mine - right) <= 1e-4 * abs(right) + 1e-5:
        return None
    return Finding(
        "first-loss",
        "Your loss is wrong already for batch 0, where nothing is carried yet.",
        unwrapped(f"""{_first_off(evidence)} So compare how you compute the loss itself: it is the
        mean of −log p over all {evidence.inputs["y"][0].size} targets, with p from the logits at
        the same row and position."""),
        CARRIED,
    )


def _states_off(evidence: Evidence) -> Finding | None:
    """Which losses are wrong if not all are, and what those batches have in common."""
    mine, right = evidence.yours("pieces.losses"), evidence.right("pieces.losses")
    if mine.shape != right.shape:
        return None
    off = np.asarray(abs(mine - right) > 1e-4 * abs(right) + 1e-5)
    if not off.any() or off[0] or evidence.same(*_GRADIENTS):
        return (
            None  # with the right gradients, states are right, so losses differ for other reasons
        )
    first = int(off.argmax())
    anew = np.asarray(evidence.inputs["fresh"].any(axis=1))
    if not anew[first]:
        return Finding(
            "other-states",
            "Your loss is right for batch 0, which starts blank, but wrong where rows go on.",
            unwrapped(f"""No row of batch {first} is fresh. {_first_off(evidence)} Does each row
            start from both states that it had at the end of the batch before?"""),
            CARRIED,
        )
    if anew[1:first].any():
        return None
    return Finding(
        "other-fresh-rows",
        "Your losses are right until a batch has a fresh row.",
        unwrapped(f"""Batch {first} is the first after batch 0 that has one. A fresh row starts with
        zeros in both states, and the others go on from the end of batch {first - 1}.
        {_first_off(evidence)}"""),
        CARRIED,
    )


def _other_gradients(evidence: Evidence) -> Finding | None:
    """Gradients that are not a weighted sum of those of the batches."""
    if not evidence.same("pieces.losses") or evidence.same(*_GRADIENTS):
        return None
    return Finding(
        "other-gradients",
        "Your losses are right, but your gradients aren't the sum of those of the batches.",
        f"{_steepness_alone(evidence)} The loss of a batch should go backward through all its "
        "positions, but not into an earlier batch. So detach states between batches and nowhere "
        "else, and leave the gradients as `backward` adds them.",
        CARRIED,
    )


_CARRIED = (
    "What you carry is detached, so that no gradient flows back into the batch before. A fresh row "
    "starts with zeros in both states, and the others go on from where they were."
)

TASK = Task(
    "A state carried and detached",
    read_in_pieces,
    CARRIED,
    (
        Part(
            "The losses are right.",
            3,
            matches("pieces.losses"),
        ),
        Part(
            "The gradients are right.",
            3,
            matches(*_GRADIENTS, *_KEPT),
        ),
    ),
    properties=(
        _ratio_of_gradients,
        _model_changed,
        in_another_unit("pieces.losses", CARRIED),
        _first_loss,
        _states_off,
        _other_gradients,
    ),
    steps={
        "the hidden state that you carry": Step(_CARRIED),
        "the cell state that you carry": Step(_CARRIED),
        "what goes backward": Step("The gradients of the batches should add up unchanged."),
    },
)
