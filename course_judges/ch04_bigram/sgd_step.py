"""Judges 04/sgd-step: plain gradient descent on a table of logits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges.ch04_bigram.sections import START, STEP
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def descend(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    """Table after some steps of gradient descent on one batch, and the loss before each step."""
    table = table.clone().requires_grad_()
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(table[x].flatten(0, 1), y.flatten())
        (gradient,) = torch.autograd.grad(loss, table)
        with torch.no_grad():
            table -= learning_rate * gradient
        losses.append(loss.detach())
    return table.detach(), torch.stack(losses)


_Update = Callable[[Tensor, Tensor, Tensor, float], Tensor]


def _batch_loss(table: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(table[x].flatten(0, 1), y.flatten())


def _gradient(table: Tensor, x: Tensor, y: Tensor) -> Tensor:
    leaf = table.detach().clone().requires_grad_()
    return torch.autograd.grad(_batch_loss(leaf, x, y), leaf)[0]


def _walks(
    update: _Update, factor: Callable[[int], float] | None = None
) -> Callable[..., tuple[Tensor, Tensor]]:
    """An answer that records the loss and then changes the table in its own way; where there is a
    factor, with a learning rate that changes by it from step to step.
    """

    def answer(
        table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
    ) -> tuple[Tensor, Tensor]:
        losses = []
        for step in range(steps):
            losses.append(_batch_loss(table, x, y))
            table = update(table, x, y, learning_rate * (factor(step) if factor else 1.0))
        return table, torch.stack(losses)

    return answer


def _without_one_hot(table: Tensor, x: Tensor, y: Tensor) -> Tensor:
    probabilities = table[x.flatten()].softmax(dim=-1) / y.numel()  # (B·T, V)
    return torch.zeros_like(table).index_add(0, x.flatten(), probabilities)


def _assigned_gradient(table: Tensor, x: Tensor, y: Tensor) -> Tensor:
    rows = table[x.flatten()].softmax(dim=-1)  # (B·T, V)
    rows[torch.arange(y.numel()), y.flatten()] -= 1
    gradient = torch.zeros_like(table)
    gradient[x.flatten()] += rows / y.numel()
    return gradient


def _gradient_at_targets(table: Tensor, x: Tensor, y: Tensor) -> Tensor:
    at = (x.flatten(), y.flatten())
    of_each = (table.softmax(dim=-1)[at] - 1) / y.numel()  # (B·T,)
    return torch.zeros_like(table).index_put(at, of_each, accumulate=True)


def _gradient_of_logits(table: Tensor, x: Tensor, y: Tensor) -> Tensor:
    rows = (table[x.flatten()] - F.one_hot(y.flatten(), len(table))) / y.numel()
    return torch.zeros_like(table).index_add(0, x.flatten(), rows)


def _mean_of_own_guesses(table: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Row by row the mean gradient of the guesses that read it."""
    counts = torch.bincount(x.flatten(), minlength=len(table)).clamp(min=1)
    return _gradient(table, x, y) * x.numel() / counts[:, None]


def _untouched(evidence: Evidence) -> Array:
    """(V,) True where a symbol does not occur in x: no step may move its row."""
    return ~np.isin(np.arange(evidence.number("V")), evidence.inputs["x"])


def _is_adam(evidence: Evidence) -> bool:
    """Adam's first step moves every entry that has a gradient by the learning rate itself."""
    moved = np.abs(evidence.yours("one.table") - evidence.inputs["table"])[~_untouched(evidence)]
    rate = float(evidence.inputs["learning_rate"])
    # AdamW's decay comes on top: a hundredth of the entry times the rate.
    return (
        evidence.comparable("one.table")
        and not evidence.same("one.table")
        and bool(np.all(np.abs(moved - rate) < 0.05 * rate))
    )


def _is_fresh(evidence: Evidence) -> bool:
    moved = np.abs(evidence.yours("one.table") - evidence.inputs["table"])  # (V, V)
    # All rows, not only the untouched ones: a few random entries may lie near the given ones.
    elsewhere = moved[_untouched(evidence)].mean() > 0.3 and (moved > 0.3).mean() > 0.4
    return (
        evidence.comparable("one.table")
        and evidence.comparable("one.losses")
        and bool(elsewhere)
        and not evidence.same("one.losses")
    )


def _signed(change: float) -> str:
    return f"{change:+.3f}".replace("-", "−")


def _moved(evidence: Evidence, case: str = "one") -> str:
    """The largest change that a right answer makes, beside yours."""
    start = evidence.inputs["table"]
    right, mine = evidence.right(f"{case}.table") - start, evidence.yours(f"{case}.table") - start
    i, j = (int(n) for n in np.unravel_index(int(np.abs(right - mine).argmax()), right.shape))
    steps = "one step" if case == "one" else "three steps"
    return unwrapped(f"""After {steps} with learning rate
    {float(evidence.inputs["learning_rate"]):g}, your entry ({i}, {j}) has moved by
    {_signed(mine[i, j])}; it should move by {_signed(right[i, j])}.""")


def _loss_path(evidence: Evidence) -> str:
    mine = ", ".join(f"{v:.3f}" for v in np.ravel(evidence.yours("three.losses")))
    right = ", ".join(f"{v:.3f}" for v in evidence.right("three.losses"))
    return f"Your losses in three steps: {mine}. They should be {right}."


def _other_rows_move(evidence: Evidence) -> Finding | None:
    rows = np.flatnonzero(_untouched(evidence))
    moved = np.abs(evidence.yours("one.table") - evidence.inputs["table"])[rows].max(axis=1)
    if moved.max() < 1e-3:
        return None
    row = int(rows[moved.argmax()])
    kept = evidence.yours("one.table")[rows] / evidence.inputs["table"][rows]
    decay = (
        f" Each of its entries is {kept.mean():.3g} times what it was, as weight decay makes it."
        if np.ptp(kept) < 1e-3 and 0 < kept.mean() < 1
        else ""
    )
    return Finding(
        "moves-other-rows",
        "Your step moves rows that have no gradient.",
        f"Symbol {row} does not occur in `x`, so nothing is learned about what follows it; your row"
        f" {row} moved by up to {moved.max():.3f}.{decay}",
        STEP,
    )


def _step_of_another_length(evidence: Evidence) -> Finding | None:
    start = evidence.inputs["table"]
    mine, right = evidence.yours("one.table") - start, evidence.right("one.table") - start
    factor = float((mine * right).sum() / (right * right).sum())
    if abs(factor - 1) < 1e-3 or not np.allclose(mine, factor * right, atol=1e-3):
        return None
    B, T = evidence.number("B"), evidence.number("T")
    divided = next(
        (
            f" That is {name}: if you divide the gradient by {by}, divide it by all B · T = {B * T}"
            " guesses."
            for name, by, held in ((f"T = {T}", "B", T), (f"B = {B}", "T", B))
            if B > 1 and T > 1 and abs(factor - held) < 1e-3 * held
        ),
        " That is 1 divided by the number of guesses: the gradient of a mean is divided by it"
        " already."
        if B * T > 1 and abs(factor * B * T - 1) < 1e-3
        else "",
    )
    rate = float(evidence.inputs["learning_rate"])
    as_if = f"It is {factor:.3g} times as long as it should be, as if the learning rate were "
    return Finding(
        "wrong-length-of-step",
        "Your step has the right direction and the wrong length.",
        f"{as_if}{factor * rate:.3g} and not {rate:g}.{divided} {_moved(evidence)}",
        STEP,
    )


@mistake(
    "The gradient is not cleared between steps: `backward` adds to what is there.",
    lambda e: unwrapped(f"""The first step is right; in the second you go along the sum of two
    gradients, in the third of three. {_moved(e, "three")}"""),
    cases=("one.table", "three.table"),
)
def _no_zero_grad(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    table = table.clone().requires_grad_()
    losses = []
    for _ in range(steps):
        loss = _batch_loss(table, x, y)
        loss.backward()
        with torch.no_grad():
            assert table.grad is not None
            table -= learning_rate * table.grad
        losses.append(loss.detach())
    return table.detach(), torch.stack(losses)


_wrong_sign = mistake(
    "You went up the slope: the gradient points to where the loss grows, and is subtracted.",
    _loss_path,
    cases=("one.table",),
)(_walks(lambda table, x, y, rate: table + rate * _gradient(table, x, y)))

_no_step = mistake(
    "Your table does not move.",
    lambda e: (
        f"{_moved(e)} Your losses are those of a table that does move: that one is to be returned."
        if e.same("three.losses")
        else f"{_moved(e)} If you use `zero_grad`, it must come before `backward`, not between "
        "`backward` and the step."
    ),
    cases=("one.table", "three.table"),
)(_walks(lambda table, x, y, rate: table))  # noqa: ARG005


@mistake(
    "Every entry moves by the learning rate, whatever its gradient; that is no plain step.",
    lambda e: unwrapped(f"""That is Adam's first step, which divides each gradient by its own size,
    and also what is left of a gradient if only its sign counts. {_moved(e)}"""),
    recognized=_is_adam,
)
def _adam_for_sgd(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    table = table.clone().requires_grad_()
    optimizer = torch.optim.AdamW([table], lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = _batch_loss(table, x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return table.detach(), torch.stack(losses)


_sum_not_mean = mistake(
    "You took the gradient of the summed loss; it should be that of the mean.",
    lambda e: f"Your step is B · T = {e.number('B') * e.number('T')} times too long. {_moved(e)}",
    cases=("one.table",),
)(
    _walks(
        lambda table, x, y, rate: table - rate * y.numel() * _gradient(table, x, y),
    )
)

_gradient_without_target = mistake(
    "Your gradient is p; it should be p minus 1 at the target.",
    lambda e: f"Without the −1 nothing says which symbol followed. {_moved(e)}",
    cases=("one.table",),
)(_walks(lambda table, x, y, rate: table - rate * _without_one_hot(table, x, y)))

_targets_only = mistake(
    "Your step moves the logits of the targets only; those of all other symbols have a gradient.",
    lambda e: unwrapped(f"""The gradient of a guess is p − 1 at the target and p everywhere else in
    the row. {_moved(e)}"""),
    cases=("one.table",),
)(_walks(lambda table, x, y, rate: table - rate * _gradient_at_targets(table, x, y)))

_logits_for_probabilities = mistake(
    "Your gradient is made of the logits; it is made of the probabilities, after a softmax.",
    lambda e: f"The gradient of a guess is p, and p − 1 at the target. {_moved(e)}",
    cases=("one.table",),
)(_walks(lambda table, x, y, rate: table - rate * _gradient_of_logits(table, x, y)))

_mean_for_each_symbol = mistake(
    "You divided each row by how often its symbol occurs; the loss is a mean over the whole batch.",
    lambda e: unwrapped(f"""{_moved(e)} Each of the {e.inputs["x"].size} guesses counts 1 /
    {e.inputs["x"].size}, so the row of a frequent symbol moves more than that of a rare one."""),
    cases=("one.table", "three.table"),
)(_walks(lambda table, x, y, rate: table - rate * _mean_of_own_guesses(table, x, y)))

_lost_repeats = mistake(
    "A symbol that occurs more than once in `x` contributed only once to the gradient.",
    lambda e: unwrapped(f"""`gradient[x] += …` or `table[x] -= …` with an index tensor keeps one of
    the rows that share an index; `index_add_` adds them all. {_moved(e)}"""),
    cases=("one.table",),
)(_walks(lambda table, x, y, rate: table - rate * _assigned_gradient(table, x, y)))


def _turned(update: _Update) -> Callable[..., tuple[Tensor, Tensor]]:
    """An answer that takes columns for rows, and returns the table as it was given."""

    def answer(
        table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
    ) -> tuple[Tensor, Tensor]:
        after, losses = _walks(update)(table.T, x, y, learning_rate, steps)
        return after.T, losses

    return answer


_columns_for_rows = mistake(
    "You read column i of the table where symbol i stands; row i holds what follows it.",
    lambda e: (
        f"Your step moves columns, and the loss is that of the table turned over. {_moved(e)}"
    ),
    cases=("one",),
    also=(lambda table, *given: descend(table.T, *given),),
)(_turned(lambda table, x, y, rate: table - rate * _gradient(table, x, y)))

_x_for_y = mistake(
    "You exchanged `x` and `y`: the table learns what comes before each symbol.",
    lambda e: f"`table[x]` holds the logits, and `y` the targets. {_moved(e)}",
    cases=("one",),
)(lambda table, x, y, rate, steps: descend(table, y, x, rate, steps))


def _rates(factor: Callable[[int], float]) -> Callable[..., tuple[Tensor, Tensor]]:
    """An answer whose learning rate changes from step to step, by a factor that is 1 at first."""
    return _walks(lambda table, x, y, rate: table - rate * _gradient(table, x, y), factor)


_rate_changes = mistake(
    "Your learning rate shrinks from step to step; each step takes the one that is given.",
    lambda e: f"The first step is right. {_moved(e, 'three')}",
    cases=("one", "three.table"),
    also=(
        _rates(lambda step: 1 / (step + 1)),
        _rates(lambda step: 1 - step / 3),  # to 0 after the last one
        _rates(lambda step: 0.9**step),
        _rates(lambda step: (1 + math.cos(math.pi * step / 3)) / 2),
        _rates(lambda step: (step + 1) ** -0.5),
    ),
)(_rates(lambda step: 0.5**step))


def _with_momentum(momentum: float, *, nesterov: bool = False) -> Callable[..., Any]:
    def answer(
        table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
    ) -> tuple[Tensor, Tensor]:
        losses, speed = [], torch.zeros_like(table)
        for _ in range(steps):
            losses.append(_batch_loss(table, x, y))
            gradient = _gradient(table, x, y)
            speed = momentum * speed + gradient
            table = table - learning_rate * (gradient + momentum * speed if nesterov else speed)
        return table, torch.stack(losses)

    return answer


_momentum = mistake(
    "Your steps have momentum: each takes a part of the step before it along.",
    lambda e: unwrapped(f"""A plain step is `learning_rate` times the gradient, and nothing else.
    {_moved(e, "three")}"""),
    cases=("one.table", "three.table"),
    also=(_with_momentum(0.5), _with_momentum(0.99), _with_momentum(0.9, nesterov=True)),
)(_with_momentum(0.9))


@mistake(
    "All your steps take the gradient of the table that you were given.",
    lambda e: unwrapped(f"""The first step is right; the second needs the gradient at the table that
    the first one left. {_moved(e, "three")}"""),
    cases=("one.table", "three.table"),
)
def _gradient_of_the_start(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    gradient, losses = _gradient(table, x, y), []
    for _ in range(steps):
        losses.append(_batch_loss(table, x, y))
        table = table - learning_rate * gradient
    return table, torch.stack(losses)


_Parts = Callable[[Tensor], tuple[Tensor, ...]]


def _part_by_part(parts: _Parts, noted: Callable[[Tensor], Tensor] | None) -> Callable[..., Any]:
    """Answers with a step for each part of the batch. Their losses are made of those of the parts,
    or are those of the batch.
    """

    def answer(
        table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
    ) -> tuple[Tensor, Tensor]:
        losses = []
        for _ in range(steps):
            before, of_parts = _batch_loss(table, x, y), []
            for some, after in zip(parts(x), parts(y), strict=True):
                of_parts.append(_batch_loss(table, some, after))
                table = table - learning_rate * _gradient(table, some, after)
            losses.append(before if noted is None else noted(torch.stack(of_parts)))
        return table, torch.stack(losses)

    return answer


_PARTS: tuple[_Parts, ...] = (
    lambda a: a.split(1),
    lambda a: a.flatten().split(1),
    lambda a: a.split(1, dim=1),
)

_several_steps_for_one = mistake(
    "You take a step for each part of the batch; one step has the gradient of all of it.",
    lambda e: unwrapped(f"""The mean over all {e.inputs["x"].size} guesses gives one gradient a
    step, whether you go through texts, positions or pairs. {_moved(e)}"""),
    cases=("one.table",),
    also=tuple(
        _part_by_part(parts, noted)
        for parts in _PARTS
        for noted in (torch.Tensor.mean, lambda losses: losses[-1], lambda losses: losses[0])
    ),
)(_part_by_part(_PARTS[0], None))


@mistake(
    lambda e: (
        "You take one step more than `steps` says."
        if np.abs(e.yours("one.table") - e.inputs["table"]).any()
        else "You take one step fewer than `steps` says."
    ),
    lambda e: f"{_moved(e)} {_moved(e, 'three')}",
    cases=("one.table", "three.table"),
    also=(lambda table, x, y, rate, steps: _walked_on(table, x, y, rate, steps - 1),),
)
def _another_number_of_steps(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    return _walked_on(table, x, y, learning_rate, steps + 1)


def _walked_on(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    """As many steps as there are, of which there may be none."""
    return descend(table, x, y, learning_rate, steps) if steps else (table, torch.zeros(0))


@mistake(
    "You trained another table, not the one that you were given.",
    lambda e: unwrapped(f"""Your first loss is {float(np.ravel(e.yours("one.losses"))[0]):.3f}; with
    the given table it is {float(e.right("one.losses")[0]):.3f}, and rows that no step touches
    differ from the given ones."""),
    START,
    recognized=_is_fresh,
)
def _hot_start(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return descend(torch.randn(table.shape, generator=generator), x, y, learning_rate, steps)


@mistake(
    "Only one step was made, whatever `steps` says.",
    lambda e: _moved(e, "three"),
    cases=("one.table", "three.table"),
)
def _one_step_only(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    table, losses = descend(table, x, y, learning_rate, 1)
    return table, losses.expand(steps)


@mistake(
    "You returned the two results in the other order: the table comes first, then the losses.",
    lambda e: unwrapped(f"""After one step your first result has shape
    {e.yours("one.table").shape}, your second one {e.yours("one.losses").shape}."""),
)
def _swapped_results(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    table, losses = descend(table, x, y, learning_rate, steps)
    return losses, table


@mistake(
    "You return one loss; asked for is the one before each step.",
    lambda e: unwrapped(f"""After three steps your losses have shape
    {e.yours("three.losses").shape}; the right ones are
    {", ".join(f"{v:.3f}" for v in e.right("three.losses"))}. Your table is right."""),
    cases=("one.table", "three"),
    also=(
        lambda *given: (descend(*given)[0], descend(*given)[1][-1:]),
        lambda *given: (descend(*given)[0], descend(*given)[1][0]),
        lambda *given: (descend(*given)[0], descend(*given)[1][:1]),
        lambda *given: (descend(*given)[0], descend(*given)[1].mean()),
    ),
)
def _one_loss_only(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    table, losses = descend(table, x, y, learning_rate, steps)
    return table, losses[-1]


@mistake("You recorded each loss after the step; asked for is the one before it.", _loss_path)
def _loss_after_the_step(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    losses = []
    for _ in range(steps):
        table = table - learning_rate * _gradient(table, x, y)
        losses.append(_batch_loss(table, x, y))
    return table, torch.stack(losses)


def _only_the_first_step(evidence: Evidence) -> Finding | None:
    if not evidence.same("one") or evidence.same("three.table"):
        return None
    return Finding(
        "later-steps",
        "The first step is right, the steps after it are not.",
        f"{_moved(evidence, 'three')} Each step takes the gradient at the table that the step "
        "before it left, and the same learning rate.",
        STEP,
    )


def _of_which(evidence: Evidence, loss: float) -> str:
    """Of which other guesses a loss is the mean, if it is known; empty otherwise."""
    table, x, y = (torch.from_numpy(evidence.inputs[name]) for name in ("table", "x", "y"))
    each = F.cross_entropy(table[x].flatten(0, 1), y.flatten(), reduction="none").view(x.shape)
    for value, words in (
        (
            _batch_loss(table, y, x),
            "what the table says of `x` after `y`, and not of `y` after `x`",
        ),
        (_batch_loss(table.T, x, y), "that of the table turned over: column i in place of row i"),
        (each.sum(), "the sum of all of them, not the mean"),
        (each.mean() / np.log(2), "the mean in bits; asked for is the one in nats"),
        (each[0].mean(), f"the mean over the {x.shape[1]} targets of row 0 alone"),
        (each[:, -1].mean(), f"the mean over the {x.shape[0]} targets of the last position alone"),
        (each[:, :-1].mean(), "the mean without the targets of the last position"),
        (each.sum() / x.shape[0], f"the sum divided by B = {x.shape[0]}"),
        (each.sum() / x.shape[1], f"the sum divided by T = {x.shape[1]}"),
    ):
        if abs(float(value) - loss) < 1e-4:
            return f" Yours is {words}."
    return ""


def _loss_of_something_else(evidence: Evidence) -> Finding | None:
    mine, right = np.ravel(evidence.yours("one.losses")), np.ravel(evidence.right("one.losses"))
    if len(mine) != 1 or abs(mine[0] - right[0]) < 1e-4:
        return None
    return Finding(
        "loss-before-the-first-step",
        "Your first step is right, and the loss before it is not."
        if evidence.same("one.table")
        else "The loss before the first step is wrong, and so is the step.",
        f"Yours is {mine[0]:.4f}; the mean cross-entropy of all {evidence.inputs['y'].size} "
        f"targets is {right[0]:.4f} at the table that you are given.{_of_which(evidence, mine[0])}",
        STEP,
    )


def _another_step(evidence: Evidence) -> Finding | None:
    """The entry that the first step moves otherwise, and its gradient."""
    if not evidence.same("one.losses") or evidence.same("one.table"):
        return None
    if not evidence.comparable("one.table"):
        return None
    table, mine, right = (
        evidence.inputs["table"],
        evidence.yours("one.table"),
        evidence.right("one.table"),
    )
    i, j = (int(n) for n in np.unravel_index(int(np.abs(mine - right).argmax()), right.shape))
    rate = float(evidence.inputs["learning_rate"])
    gradient = float(table[i, j] - right[i, j]) / rate
    return Finding(
        "another-step",
        "Your first loss is right, and your first step is not the gradient's.",
        f"The gradient of entry ({i}, {j}) is {gradient:+.3f}, which a learning rate of {rate:g} "
        f"makes a step of {-rate * gradient:+.3f}; yours is {mine[i, j] - table[i, j]:+.3f}.",
        STEP,
    )


def _losses_off(evidence: Evidence) -> Finding | None:
    if not evidence.same("one", "three.table") or not evidence.comparable("three.losses"):
        return None
    return Finding(
        "later-losses",
        "Your table is right after three steps, and the losses that you return are not.",
        f"{_loss_path(evidence)} Each is the loss at the table before its step, as it is.",
        STEP,
    )


TASK = Task(
    "Plain gradient descent",
    descend,
    STEP,
    (
        Part("The first step moves the table as it should.", 2, matches("one.table")),
        Part("The loss is the one before the step.", 1, matches("one.losses")),
        Part("Three steps come out right, each from a fresh gradient.", 1, matches("three")),
    ),
    properties=(
        _loss_of_something_else,
        _other_rows_move,
        _only_the_first_step,
        _step_of_another_length,
        _another_step,
        _losses_off,
    ),
    may_change=True,
)
