"""Judges 09/carried: a state that is carried from batch to batch, except where a row is fresh."""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges.ch09_names.losses import in_another_unit, same_loss
from course_judges.ch09_names.sections import CARRIED
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, numbers_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.ch09_names.carried import PROBE, START_GRADIENT
from course_tasks.ch09_names.models import Recurrent, State
from course_tasks.verdict import Finding

_TWICE = "backward through the graph a second time"
_GRADIENTS = tuple(
    f"pieces.gradients.{name}" for name in ("embedding", "inward", "across", "output")
)


_KEPT = ("pieces.kept.weights", "pieces.kept.mode")


def _pieces(kept, cut, spend):
    """An answer with its own way to keep states, to detach them and to use the losses."""

    def answer(model, batches):
        state, losses = None, []
        for x, y, fresh in batches:
            if state is not None:
                state = cut(kept(state, fresh[None, :, None]))
            logits, state = model.read(x, state)
            losses.append(F.cross_entropy(logits.flatten(0, 1), y.flatten()))
            spend(model, losses)
        if spend is _nothing:
            torch.stack(losses).sum().backward()
        return [loss.item() for loss in losses]

    return answer


def _others(state, fresh):
    return tuple(s.masked_fill(fresh, 0.0) for s in state)


def _all_detached(state):
    return tuple(s.detach() for s in state)


def _each(_, losses):
    losses[-1].backward()


def _first_clears(model, losses):
    if len(losses) == 1:
        model.zero_grad()
    losses[-1].backward()


def _latest(model, losses):
    model.zero_grad()
    losses[-1].backward()


def _nothing(*_):
    """The sum of all losses goes backward at the end."""


read_in_pieces = _pieces(_others, _all_detached, _each)


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
    batches = len(evidence.inputs["x"])
    of_batches = (
        f" That is 1 / {batches}, and there are {batches} batches. Do you divide by their number? "
        "Their gradients should add up."
        if np.isclose(factor * batches, 1, rtol=1e-3)
        else ""
    )
    return Finding(
        "gradients-scaled",
        "Your losses are right, but what they add to the gradients is scaled.",
        f"In every parameter it is {number(factor, 4)} times what it should be.{of_batches}",
        CARRIED,
    )


def _model_changed(evidence: Evidence) -> Finding | None:
    """Weights or a mode that are no longer what they were before the call."""
    alone = evidence.same("pieces.losses", *_GRADIENTS)
    if not evidence.same("pieces.kept.weights"):
        return Finding(
            "weights-changed",
            "Your function changed the model's parameters.",
            ("Your losses and gradients are right. " if alone else f"{_first_or_none(evidence)} ")
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


def _shares_of_batches(evidence: Evidence) -> list[float] | None:
    """How often each batch's loss went backward, if that explains the gradients."""
    if not evidence.same("pieces.losses"):
        return None
    mine, right = (
        np.concatenate([side(name).ravel() for name in _GRADIENTS])
        for side in (evidence.yours, evidence.right)
    )
    of_batches = []
    for left_out in _LEFT_OUT[: len(evidence.inputs["x"])]:
        found = evidence.variants.answers(left_out, PROBE, evidence.inputs)
        others = [np.asarray(found.values[name]).ravel() for name in _GRADIENTS]
        of_batches.append(right - np.concatenate(others))
    each = np.stack(of_batches, axis=1)  # (parameters, batches)
    shares = np.linalg.lstsq(each, mine - START_GRADIENT, rcond=None)[0]
    if not np.allclose(each @ shares, mine - START_GRADIENT, 1e-3, 1e-5):
        return None
    return [float(share) for share in shares]


def _weighed(evidence: Evidence) -> Finding | None:
    """Gradients that are those of the batches, but with weights that aren't all 1."""
    shares = _shares_of_batches(evidence)
    if shares is None:
        return None
    grown = (
        " If you go backward through a running sum of losses, earlier losses count each time."
        if min(shares) > 0.5 and shares[0] > shares[-1] + 0.5
        else ""
    )
    told = ", ".join(number(round(share, 3) + 0.0) for share in shares)
    return Finding(
        "batches-weighed",
        "Your losses are right, but the batches don't count equally in your gradients.",
        unwrapped(f"""Your gradients contain those of the {len(shares)} batches {told} times, but
        should contain each of them once. Which losses go backward, and how often?{grown}"""),
        CARRIED,
    )


def _first_off(evidence: Evidence) -> str:
    mine, right = evidence.yours("pieces.losses"), evidence.right("pieces.losses")
    off = int((abs(mine - right) > 1e-4 * abs(right) + 1e-5).argmax())
    one, other = numbers_apart(float(mine[off]), float(right[off]))
    return f"Your loss of batch {off} is {one} instead of {other}."


def _first_or_none(evidence: Evidence) -> str:
    """The first wrong loss, or that all are right."""
    return "Your losses are right." if evidence.same("pieces.losses") else _first_off(evidence)


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
)(_pieces(_others, lambda state: state, _each))

_not_detached = mistake(
    "You carry the state without detaching it and go backward through all the batches.",
    lambda e: f"{_steepness(e)} Each step would need more memory and time than the one before.",
)(_pieces(_others, lambda state: state, _nothing))

_only_hidden_detached = mistake(
    "You detached the hidden state but not the cell state.", _steepness
)(_pieces(_others, lambda state: (state[0].detach(), state[1]), _nothing))

_only_cell_detached = mistake("You detached the cell state but not the hidden state.", _steepness)(
    _pieces(_others, lambda state: (state[0], state[1].detach()), _nothing)
)

_not_carried = mistake("You start every batch from a blank state.", _first_off)(
    _pieces(lambda state, _: tuple(map(torch.zeros_like, state)), _all_detached, _each)
)

_fresh_ignored = mistake("You carry the state into fresh rows, too.", _fresh_rows)(
    _pieces(lambda state, _: state, _all_detached, _each)
)

_all_rows_blank = mistake("As soon as one row is fresh, you blank all rows.", _fresh_rows)(
    _pieces(
        lambda state, fresh: tuple(s * (not fresh.any()) for s in state),
        _all_detached,
        _each,
    )
)

_fresh_inverted = mistake(
    "You blank the rows that continue and carry the state into the fresh ones.", _first_off
)(
    _pieces(
        lambda state, fresh: tuple(s.masked_fill(~fresh, 0.0) for s in state),
        _all_detached,
        _each,
    )
)

_states_exchanged = mistake(
    "You swapped the hidden state and the cell state when you carried them on.", _first_off
)(_pieces(lambda state, fresh: _others(state, fresh)[::-1], _all_detached, _each))

_cell_not_carried = mistake(
    "You carry the hidden state on but start every batch with a blank cell state.", _first_off
)(
    _pieces(
        lambda state, fresh: (_others(state, fresh)[0], torch.zeros_like(state[1])),
        _all_detached,
        _each,
    )
)

_hidden_not_carried = mistake(
    "You carry the cell state on but start every batch with a blank hidden state.", _first_off
)(
    _pieces(
        lambda state, fresh: (torch.zeros_like(state[0]), _others(state, fresh)[1]),
        _all_detached,
        _each,
    )
)

_row_zero_decides = mistake("You blank all rows if row 0 is fresh, and none if not.", _fresh_rows)(
    _pieces(
        lambda state, fresh: tuple(s * (not fresh[0, 0, 0]) for s in state), _all_detached, _each
    )
)

_only_hidden_blanked = mistake(
    "You blank the hidden state of fresh rows but not their cell state.", _fresh_rows
)(
    _pieces(
        lambda state, fresh: (state[0].masked_fill(fresh, 0.0), state[1]),
        _all_detached,
        _each,
    )
)

_only_cell_blanked = mistake(
    "You blank the cell state of fresh rows but not their hidden state.", _fresh_rows
)(
    _pieces(
        lambda state, fresh: (state[0], state[1].masked_fill(fresh, 0.0)),
        _all_detached,
        _each,
    )
)


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


@mistake(
    "Your losses are sums, but the loss of a batch is the mean over its targets.",
    lambda e: unwrapped(f"""They are too large by a factor of {e.inputs["y"][0].size}, the number of
    targets B · T, and so is what they add to the gradients. {_first_off(e)}"""),
    cases=("pieces.losses", "pieces.gradients"),
)
def _summed(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = _all_detached(_others(state, fresh[None, :, None]))
        logits, state = model.read(x, state)
        losses.append(F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum"))
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
)(_pieces(_others, _all_detached, _clipped))

_start_gradients_cleared = mistake(
    "You cleared the gradients that were there before the first batch.",
    f"Each parameter came with a gradient of {START_GRADIENT:g}, which should stay in the sum.",
    recognized=_start_forgotten,
)(_pieces(_others, _all_detached, _first_clears))

_last_gradient_only = mistake(
    "Your gradients are those of the last batch instead of the sum over all batches.", _steepness
)(_pieces(_others, _all_detached, _latest))


@mistake(
    "Nothing was added to the gradients.",
    lambda e: (
        unwrapped(f"""{_steepness(e)} That is what was there before the call. Does every loss go
    backward, and through the model? `no_grad` and `detach` cut the way to its parameters.""")
    ),
)
def _no_gradient(model, batches):
    with torch.no_grad():
        return _pieces(_others, _all_detached, lambda *_: None)(model, batches)


@mistake(
    "You took the loss only at the last position of each batch, but all positions count.",
    lambda e: unwrapped(f"""A batch has B · T = {e.inputs["y"][0].size} targets, and its loss is the
    mean over all of them. {_first_off(e)}"""),
    cases=("pieces",),
)
def _last_position_only(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = _all_detached(_others(state, fresh[None, :, None]))
        logits, state = model.read(x, state)
        losses.append(F.cross_entropy(logits[:, -1], y[:, -1]))
        losses[-1].backward()
    return [loss.item() for loss in losses]


def _token_by_token(cut):
    """An answer that reads one token at a time and cuts the graph after each of them."""

    def answer(model, batches):
        state, losses = None, []
        for x, y, fresh in batches:
            if state is not None:
                state = _all_detached(_others(state, fresh[None, :, None]))
            read = []
            for token in x.split(1, dim=1):
                logits, state = model.read(token, state)
                state = cut(state)
                read.append(logits)
            losses.append(F.cross_entropy(torch.cat(read, dim=1).flatten(0, 1), y.flatten()))
            losses[-1].backward()
        return [loss.item() for loss in losses]

    return answer


_detached_inside = mistake(
    "You detach the state inside a batch, after every token.",
    lambda e: unwrapped(f"""Your losses are right, but a position then can't learn from what it did
    to later ones. Inside a batch, gradients should flow through all T = {e.inputs["x"].shape[-1]}
    positions, so detach only between batches. {_steepness_alone(e)}"""),
)(_token_by_token(_all_detached))

_hidden_detached_inside = mistake(
    "You detach the hidden state inside a batch, after every token.",
    lambda e: f"Detach it only between batches. {_steepness(e)}",
)(_token_by_token(lambda state: (state[0].detach(), state[1])))

_cell_detached_inside = mistake(
    "You detach the cell state inside a batch, after every token.",
    lambda e: f"Detach it only between batches. {_steepness(e)}",
)(_token_by_token(lambda state: (state[0], state[1].detach())))


def _without(left_out):
    def answer(model, batches):
        def spend(_, losses):
            if len(losses) - 1 != left_out % len(batches):
                losses[-1].backward()

        return _pieces(_others, _all_detached, spend)(model, batches)

    return answer


_LEFT_OUT = tuple(_without(batch) for batch in range(4))


_batch_left_out = mistake(
    "One of the batches adds nothing to your gradients.",
    lambda e: unwrapped(f"""Go backward through the loss of each of the {len(e.inputs["x"])}
    batches. {_steepness(e)}"""),
    also=_LEFT_OUT[1:],
)(_LEFT_OUT[0])


def _with_loss(loss):
    """An answer that takes `loss(logits, y)` as the loss of a batch."""

    def answer(model, batches):
        state, losses = None, []
        for x, y, fresh in batches:
            if state is not None:
                state = _all_detached(_others(state, fresh[None, :, None]))
            logits, state = model.read(x, state)
            losses.append(loss(logits, y))
            losses[-1].backward()
        return [found.item() for found in losses]

    return answer


def _times(evidence: Evidence) -> str:
    mine, right = evidence.yours("pieces.losses"), evidence.right("pieces.losses")
    B, T = evidence.inputs["y"][0].shape
    return unwrapped(f"""They are too large by a factor of {number(float(mine[0] / right[0]))}. With
    B = {B} and T = {T}, this comes from summing over one of the two axes and averaging over the
    other. {_first_off(evidence)}""")


_summed_along_one = mistake(
    "You summed the losses over rows or over positions instead of averaging over both.",
    _times,
    also=(
        _with_loss(
            lambda logits, y: (
                F.cross_entropy(logits.transpose(1, 2), y, reduction="none").sum(0).mean()
            )
        ),
    ),
)(
    _with_loss(
        lambda logits, y: F.cross_entropy(logits.transpose(1, 2), y, reduction="none").sum(1).mean()
    )
)

_pairs_mixed = mistake(
    "You compare logits with the targets of other rows and positions.",
    lambda e: unwrapped(f"""One of the two is flattened row by row, the other position by position.
    {_first_off(e)} Flatten both from (B, T, …)."""),
    also=(_with_loss(lambda logits, y: F.cross_entropy(logits.flatten(0, 1), y.T.flatten())),),
)(_with_loss(lambda logits, y: F.cross_entropy(logits.transpose(0, 1).flatten(0, 1), y.flatten())))

_softmax_taken_twice = mistake(
    "You took a softmax before `F.cross_entropy`, which takes one itself.",
    lambda e: f"`F.cross_entropy` needs the logits as they are. {_first_off(e)}",
)(_with_loss(lambda logits, y: F.cross_entropy(logits.softmax(-1).flatten(0, 1), y.flatten())))

_softmax_along_another = mistake(
    "Your softmax doesn't run over the tokens but over another dimension of the logits.",
    lambda e: unwrapped(f"""At each row and position, the probabilities of all
    {e.inputs["embedding"].shape[0]} tokens should sum to 1, so take `dim=-1` of (B, T, V).
    {_first_off(e)}"""),
    also=(
        _with_loss(lambda logits, y: F.nll_loss(logits.log_softmax(0).flatten(0, 1), y.flatten())),
        _with_loss(lambda logits, y: F.nll_loss(logits.flatten(0, 1).log_softmax(0), y.flatten())),
    ),
)(_with_loss(lambda logits, y: F.nll_loss(logits.log_softmax(1).flatten(0, 1), y.flatten())))

_logits_scrambled = mistake(
    "You reshape the logits where their axes should be exchanged, which scrambles them.",
    lambda e: unwrapped(f"""The logits have shape (B, T, V) = ({e.inputs["y"][0].shape[0]},
    {e.inputs["y"][0].shape[1]}, {e.inputs["embedding"].shape[0]}). `reshape` and `view` keep the
    order of the numbers, so `reshape(B, V, T)` mixes positions and tokens. Use `transpose(1, 2)`,
    or flatten B and T. {_first_off(e)}"""),
    also=(
        _with_loss(
            lambda logits, y: F.cross_entropy(
                logits.transpose(1, 2).reshape(-1, logits.shape[-1]), y.flatten()
            )
        ),
        _with_loss(
            lambda logits, y: F.cross_entropy(logits.reshape(logits.shape[-1], -1).T, y.flatten())
        ),
    ),
)(_with_loss(lambda logits, y: F.cross_entropy(logits.reshape(len(y), -1, y.shape[1]), y)))

_shifted_again = mistake(
    "You compare the logits at t with `y[:, t + 1]`, but what follows `x[:, t]` is `y[:, t]`.",
    _first_off,
)(_with_loss(lambda logits, y: F.cross_entropy(logits[:, :-1].flatten(0, 1), y[:, 1:].flatten())))

_only_if_all_begin = mistake(
    "You blank states only if all rows of a batch are fresh.", _fresh_rows
)(
    _pieces(
        lambda state, fresh: tuple(s * (not fresh.all()) for s in state),
        _all_detached,
        _each,
    )
)


@mistake(
    "You start every batch from the state at the end of the first one.",
    lambda e: f"A row goes on from the end of the batch right before it. {_first_off(e)}",
)
def _first_state_for_all(model, batches):
    first, losses = None, []
    for x, y, fresh in batches:
        state = first
        if first is not None:
            state = first = _others(first, fresh[None, :, None])
        logits, after = model.read(x, state)
        first = _all_detached(after) if first is None else first
        losses.append(F.cross_entropy(logits.flatten(0, 1), y.flatten()))
        losses[-1].backward()
    return [loss.item() for loss in losses]


@mistake(
    "You return the mean of the losses so far instead of the loss of each batch.",
    _first_off,
    cases=("pieces.losses",),
)
def _means_so_far(model, batches):
    losses = read_in_pieces(model, batches)
    return [sum(losses[: n + 1]) / (n + 1) for n in range(len(losses))]


def _model(evidence: Evidence) -> Recurrent:
    names = ("embedding", "inward", "across", "output")
    return Recurrent(*(torch.from_numpy(evidence.inputs[name]) for name in names))


@torch.no_grad()
def _before(evidence: Evidence, batch: int) -> tuple[Recurrent, State, Tensor]:
    """The model, the state at the end of the batch before, and the targets of a batch."""
    model, x = _model(evidence), torch.from_numpy(evidence.inputs["x"])
    blank = torch.zeros(1, x.shape[1], model.across.shape[0])
    state = blank, blank
    for n in range(batch):
        fresh = torch.from_numpy(evidence.inputs["fresh"][n])[None, :, None] | (n == 0)
        state = model.read(x[n], _others(state, fresh))[1]
    return model, state, torch.from_numpy(evidence.inputs["y"])[batch]


def _first_wrong(evidence: Evidence) -> int | None:
    """The first batch whose loss is wrong."""
    if not evidence.comparable("pieces.losses"):
        return None
    off = _off(evidence.yours("pieces.losses"), evidence.right("pieces.losses"))
    return int(off.argmax()) if off.any() else None


def _off(mine: Array, right: Array) -> Array:
    return np.asarray(~(abs(mine - right) <= 1e-4 * abs(right) + 1e-5))


# What a row may start from: hidden state and cell state.
_STARTS: dict[str, Callable[[Tensor, Tensor], State]] = {
    "start blank": lambda h, c: (0 * h, 0 * c),
    "go on": lambda h, c: (h, c),
    "have their hidden state in both": lambda h, _: (h, h),
    "have their cell state in both": lambda _, c: (c, c),
    "go on with their cell state alone": lambda h, c: (0 * h, c),
    "go on with their hidden state alone": lambda h, c: (h, 0 * c),
}


def _rows_told(rows: Sequence[int]) -> str:
    """Rows in words, as in "row 0" or "rows 0 and 2"."""
    *before, last = (str(row) for row in rows)
    return f"rows {', '.join(before)} and {last}" if before else f"row {last}"


@torch.no_grad()
def _other_starts(evidence: Evidence) -> Finding | None:
    """From which states the rows of the first wrong batch start, if that explains its loss."""
    batch = _first_wrong(evidence)
    if not batch:
        return None
    model, (hidden, cell), y = _before(evidence, batch)
    x, B = torch.from_numpy(evidence.inputs["x"])[batch], len(y)
    mine = float(evidence.yours("pieces.losses")[batch])
    each = {}
    for name, start in _STARTS.items():
        logits, _ = model.read(x, start(hidden, cell))
        losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
        each[name] = losses.mean(dim=1).numpy()  # (B,)
    fresh = evidence.inputs["fresh"][batch]
    right = ["start blank" if new else "go on" for new in fresh]
    # All rows that go on, or that are fresh, are treated alike; or each is blank or not.
    tried = [[one if new else other for new in fresh] for one in _STARTS for other in _STARTS] + [
        list(rows) for rows in product(("start blank", "go on"), repeat=B)
    ]
    for starts in tried:
        found = float(np.mean([each[start][b] for b, start in enumerate(starts)]))
        if starts == right or not same_loss(mine, found):
            continue
        wrong = [b for b in range(B) if starts[b] != right[b]]
        kinds = {starts[b] for b in wrong}
        if len(kinds) > 1:
            continue
        does = kinds.pop()
        does = does if len(wrong) > 1 else _OF_ONE_ROW[does]
        should = "start blank, because they are fresh" if fresh[wrong[0]] else "go on"
        if len({bool(fresh[b]) for b in wrong}) > 1:
            continue
        they = "they" if len(wrong) > 1 else "it"
        return Finding(
            "other-starts",
            "Some rows of a batch start from the wrong state.",
            unwrapped(f"""{_first_off(evidence)} That is the loss if {_rows_told(wrong)} of batch
            {batch} {does}. But {they} should
            {should if len(wrong) > 1 else should.replace("they are", "it is")}."""),
            CARRIED,
        )
    return None


_OF_ONE_ROW = {
    "start blank": "starts blank",
    "go on": "goes on",
    "have their hidden state in both": "has its hidden state in both",
    "have their cell state in both": "has its cell state in both",
    "go on with their cell state alone": "goes on with its cell state alone",
    "go on with their hidden state alone": "goes on with its hidden state alone",
}


def _targets_left_out(evidence: Evidence) -> Finding | None:
    """A loss of batch 0, in which nothing is carried, that is the mean over some targets alone."""
    if _first_wrong(evidence) != 0:
        return None
    model, state, y = _before(evidence, 0)
    with torch.no_grad():
        logits, _ = model.read(torch.from_numpy(evidence.inputs["x"])[0], state)
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none").numpy()  # (B, T)
    mine, (B, T) = float(evidence.yours("pieces.losses")[0]), losses.shape
    some = [rows for n in range(1, B) for rows in combinations(range(B), n)]
    parts = {f"{_rows_told(rows)} alone": losses[list(rows)] for rows in some}
    parts |= {f"positions {t} to {T - 1} alone": losses[:, t:] for t in range(1, T - 1)}
    parts |= {f"positions 0 to {t} alone": losses[:, : t + 1] for t in range(1, T - 1)}
    told = next(
        (
            f" It is the mean over {part}."
            for part, held in parts.items()
            if same_loss(mine, float(held.mean()))
        ),
        "",
    )
    return Finding(
        "first-loss",
        "Your loss is wrong already for batch 0, where nothing is carried yet.",
        unwrapped(f"""{_first_off(evidence)}{told} So compare how you compute the loss itself: it is
        the mean of −log p over all {y.numel()} targets, with p from the logits at the same row and
        position."""),
        CARRIED,
    )


def _partly_attached(evidence: Evidence) -> Finding | None:
    """Gradients that go back into an earlier batch at some boundaries, but not at all."""
    if not evidence.same("pieces.losses") or evidence.same(*_GRADIENTS):
        return None
    count = len(evidence.inputs["x"])
    for n in range(1, count):
        for attached in combinations(range(count - 1), n):
            found = evidence.variants.answers(_ATTACHED[attached], PROBE, evidence.inputs)
            if all(np.allclose(evidence.yours(g), found.values[g], 1e-3, 1e-5) for g in _GRADIENTS):
                return Finding(
                    "attached-after-some",
                    "After some batches you carry a state that isn't detached.",
                    unwrapped(f"""This is so after {_batches(attached)}, so the loss of the next
                    batch also goes backward into that one. {_steepness(evidence)}"""),
                    CARRIED,
                )
    return None


def _batches(numbers: Sequence[int]) -> str:
    return _rows_told(numbers).replace("row", "batch", 1).replace("batchs", "batches")


def _attached_after(batches):
    """An answer that doesn't detach the state after these batches."""

    def answer(model, given):
        state, losses = None, []
        for n, (x, y, fresh) in enumerate(given):
            if state is not None:
                state = _others(state, fresh[None, :, None])
                state = state if n - 1 in batches else _all_detached(state)
            logits, state = model.read(x, state)
            losses.append(F.cross_entropy(logits.flatten(0, 1), y.flatten()))
        torch.stack(losses).sum().backward()
        return [loss.item() for loss in losses]

    return answer


_ATTACHED = {
    batches: _attached_after(batches) for n in range(1, 4) for batches in combinations(range(3), n)
}


def _one_number(evidence: Evidence) -> bool:
    """True if the mean or the sum of the right losses was returned instead of all."""
    mine, right = evidence.yours("pieces.losses"), evidence.right("pieces.losses")
    return mine.size == 1 and any(
        np.isclose(mine.item(), whole, rtol=1e-4) for whole in (right.mean(), right.sum())
    )


@mistake(
    "You return a single loss for all batches, but the task asks for one for each.",
    lambda e: unwrapped(f"""There are {len(e.inputs["x"])} batches. Your number is
    {number(float(e.yours("pieces.losses").item()), 4)}, the mean or the sum of their losses."""),
    recognized=_one_number,
)
def _one_loss_for_all(model, batches):
    losses = read_in_pieces(model, batches)
    return [sum(losses) / len(losses)]


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


def _worked_out(evidence: Evidence) -> Finding | None:
    """The first wrong loss and over how many targets it should be the mean."""
    return Finding(
        "other-losses",
        "Your losses are wrong.",
        unwrapped(f"""{_first_off(evidence)} The loss of a batch is the mean over its
        {evidence.inputs["y"][0].size} targets."""),
        CARRIED,
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
        _targets_left_out,
        _other_starts,
        _states_off,
        _weighed,
        _partly_attached,
        _other_gradients,
    ),
    examples=(_worked_out,),
)
