"""Judges 04/sgd-step: plain gradient descent on a table of logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges.ch04_bigram.sections import START, STEP
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def descend(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    """Table after some steps of gradient descent on one batch, and the loss before each step."""
    losses: list[Tensor] = []
    while len(losses) < steps:
        table = table.detach().clone().requires_grad_()
        logits = table[x]  # your logits (B, T, V)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())  # your loss
        losses.append(loss.detach())
        (gradient,) = torch.autograd.grad(loss, table)  # your gradient (V, V)
        step = learning_rate * gradient  # your step (V, V)
        table = table - step  # your new table (V, V)
    return table.detach(), torch.stack(losses)


_Update = Callable[[Tensor, Tensor, Tensor, float], Tensor]


def _batch_loss(table: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """The mean loss of guesses in any shape, which may be a part of a batch."""
    return F.cross_entropy(table[x.flatten()], y.flatten())


def _gradient(table: Tensor, x: Tensor, y: Tensor) -> Tensor:
    leaf = table.detach().clone().requires_grad_()
    return torch.autograd.grad(_batch_loss(leaf, x, y), leaf)[0]


def _walks(
    update: _Update, factor: Callable[[int], float] | None = None
) -> Callable[..., tuple[Tensor, Tensor]]:
    """An answer that records the loss and then updates the table in its own way. If there is a
    factor, the learning rate of each step is multiplied by it.
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
    """The gradient in which each row is a mean over only the guesses that read this row."""
    counts = torch.bincount(x.flatten(), minlength=len(table)).clamp(min=1)
    return _gradient(table, x, y) * x.numel() / counts[:, None]


def _untouched(evidence: Evidence) -> Array:
    """(V,) True for each symbol that doesn't occur in x, whose row no step may move."""
    return ~np.isin(np.arange(evidence.number("V")), evidence.inputs["x"])


def _is_adam(evidence: Evidence) -> bool:
    """True if each entry with a gradient moves by the learning rate, as in Adam's first step."""
    moved = np.abs(evidence.yours("one.table") - evidence.inputs["table"])[~_untouched(evidence)]
    rate = float(evidence.inputs["learning_rate"])
    # AdamW adds its decay, a hundredth of the entry times the rate.
    return (
        evidence.comparable("one.table")
        and not evidence.same("one.table")
        and bool(np.all(np.abs(moved - rate) < 0.05 * rate))
    )


def _is_fresh(evidence: Evidence) -> bool:
    moved = np.abs(evidence.yours("one.table") - evidence.inputs["table"])  # (V, V)
    # All rows count, because a few random entries may happen to be near the given ones.
    everywhere = moved[_untouched(evidence)].mean() > 0.3 and (moved > 0.3).mean() > 0.4
    return (
        evidence.comparable("one.table")
        and evidence.comparable("one.losses")
        and bool(everywhere)
        and not evidence.same("one.losses")
    )


def _signed(change: float) -> str:
    return f"{change:+.3f}".replace("-", "−")


def _moved(evidence: Evidence, case: str = "one") -> str:
    """The entry whose change differs most from that of a right answer, with both changes."""
    start = evidence.inputs["table"]
    right, mine = evidence.right(f"{case}.table") - start, evidence.yours(f"{case}.table") - start
    i, j = (int(n) for n in np.unravel_index(int(np.abs(right - mine).argmax()), right.shape))
    steps = "one step" if case == "one" else "three steps"
    return unwrapped(f"""After {steps} with learning rate
    {float(evidence.inputs["learning_rate"]):g}, entry ({i}, {j}) of your table has moved by
    {_signed(mine[i, j])} instead of {_signed(right[i, j])}.""")


def _loss_path(evidence: Evidence) -> str:
    mine = ", ".join(f"{v:.3f}" for v in np.ravel(evidence.yours("three.losses")))
    right = ", ".join(f"{v:.3f}" for v in evidence.right("three.losses"))
    return f"In three steps your losses are {mine}, but they should be {right}."


def _other_rows_move(evidence: Evidence) -> Finding | None:
    rows = np.flatnonzero(_untouched(evidence))
    moved = np.abs(evidence.yours("one.table") - evidence.inputs["table"])[rows].max(axis=1)
    if moved.max() < 1e-3:
        return None
    row = int(rows[moved.argmax()])
    kept = evidence.yours("one.table")[rows] / evidence.inputs["table"][rows]
    decay = (
        f" Each of its entries is {kept.mean():.3g} times what it was."
        if np.ptp(kept) < 1e-3
        else ""
    )
    return Finding(
        "moves-other-rows",
        "Your step moves rows that have no gradient.",
        f"Symbol {row} doesn't occur in `x`, so the batch says nothing about what follows it, but "
        f"your row {row} moved by up to {moved.max():.3f}.{decay}",
        STEP,
    )


def _step_of_another_length(evidence: Evidence) -> Finding | None:
    start = evidence.inputs["table"]
    mine, right = evidence.yours("one.table") - start, evidence.right("one.table") - start
    factor = float((mine * right).sum() / (right * right).sum())
    if abs(factor - 1) < 1e-3 or not np.allclose(mine, factor * right, atol=1e-3):
        return None
    rate = float(evidence.inputs["learning_rate"])
    return Finding(
        "wrong-length-of-step",
        "Your step has the right direction but the wrong length.",
        f"It is {factor:.3g} times as long as it should be, as if the learning rate were "
        f"{factor * rate:.3g} instead of {rate:g}. {_moved(evidence)}",
        STEP,
    )


@mistake(
    "You don't clear the gradient between steps, so `backward` adds to the old one.",
    lambda e: unwrapped(f"""Your first step is right, but the second follows the sum of two
    gradients and the third the sum of three. {_moved(e, "three")}"""),
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
    "You went up the slope by adding the gradient, which points to where the loss grows.",
    _loss_path,
    cases=("one.table",),
)(Like("added-instead-of-subtracting-your-step-in-your-new-table"))

_no_step = mistake(
    "The table that you return hasn't moved.",
    lambda e: unwrapped(f"""{_moved(e)} If you use `zero_grad`, call it before `backward`, not
    between `backward` and the step."""),
    cases=("one.table", "three.table"),
)(Like("left-out-the-subtraction-of-your-step-in-your-new-table"))


@mistake(
    "You moved every entry by the learning rate, however large its gradient is.",
    lambda e: unwrapped(f"""Adam's first step does that because it divides each gradient by its own
    magnitude, and so does a step that only takes the gradient's sign. A plain step is the learning
    rate times the gradient. {_moved(e)}"""),
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
    "You took the gradient of the summed loss instead of the mean.",
    lambda e: f"Your step is B · T = {e.number('B') * e.number('T')} times too long. {_moved(e)}",
    cases=("one.table",),
)(
    _walks(
        lambda table, x, y, rate: table - rate * y.numel() * _gradient(table, x, y),
    )
)

_gradient_without_target = mistake(
    "Your gradient is p everywhere, but at the target it should be p − 1.",
    lambda e: f"Without the −1, the step doesn't know which symbol followed. {_moved(e)}",
    cases=("one.table",),
)(_walks(lambda table, x, y, rate: table - rate * _without_one_hot(table, x, y)))

_targets_only = mistake(
    "Your step only moves the logits of the targets, but the other symbols have a gradient too.",
    lambda e: unwrapped(f"""The gradient of a guess is p − 1 at the target and p everywhere else in
    the row. {_moved(e)}"""),
    cases=("one.table",),
)(_walks(lambda table, x, y, rate: table - rate * _gradient_at_targets(table, x, y)))

_logits_for_probabilities = mistake(
    "You computed the gradient from the logits instead of the probabilities.",
    lambda e: unwrapped(f"""The gradient of a guess is p − 1 at the target and p everywhere else,
    where p is the softmax of the logits. {_moved(e)}"""),
    cases=("one.table",),
)(_walks(lambda table, x, y, rate: table - rate * _gradient_of_logits(table, x, y)))

_mean_for_each_symbol = mistake(
    "You divided each row by how often its symbol occurs instead of by the whole batch.",
    lambda e: unwrapped(f"""{_moved(e)} The loss is a mean over the batch, so each of its
    {e.inputs["x"].size} guesses counts 1 / {e.inputs["x"].size}, and the row of a frequent symbol
    moves more than the row of a rare one."""),
    cases=("one.table", "three.table"),
)(_walks(lambda table, x, y, rate: table - rate * _mean_of_own_guesses(table, x, y)))

_lost_repeats = mistake(
    "Each symbol contributed only once to your gradient, however often it occurs in `x`.",
    lambda e: unwrapped(f"""`gradient[x] += …` or `table[x] -= …` with an index tensor keeps only
    one of the rows that share an index, while `index_add_` adds them all. {_moved(e)}"""),
    cases=("one.table",),
)(_walks(lambda table, x, y, rate: table - rate * _assigned_gradient(table, x, y)))


_one_text_only = mistake(
    "You learn from the first row of `x` alone, but all rows are in the batch.",
    lambda e: f"The loss is the mean over all {e.inputs['y'].size} targets. {_moved(e)}",
    cases=("one",),
)(lambda table, x, y, rate, steps: descend(table, x[:1], y[:1], rate, steps))

_of_another_count = mistake(
    "You divided the gradient by B or T alone instead of by the number of guesses, B · T.",
    lambda e: unwrapped(f"""A mean over {e.number("B")} · {e.number("T")} guesses divides the
    gradient of their sum by {e.inputs["y"].size}. {_moved(e)}"""),
    cases=("one.table",),
    also=(_walks(lambda table, x, y, rate: table - rate * len(x) * _gradient(table, x, y)),),
)(_walks(lambda table, x, y, rate: table - rate * x.shape[1] * _gradient(table, x, y)))


def _of_length_one(table: Tensor, x: Tensor, y: Tensor, rate: float) -> Tensor:
    gradient = _gradient(table, x, y)
    return table - rate * gradient / gradient.norm()


_gradient_normalized = mistake(
    "You divided the gradient by its length, so that all steps are equally long.",
    lambda e: f"Near a minimum the gradient gets short, and so should the steps. {_moved(e)}",
    cases=("one.table",),
)(_walks(_of_length_one))


_weight_decay = mistake(
    "Your step also pulls every entry towards 0, which is what weight decay does.",
    lambda e: unwrapped(f"""So rows move that have no gradient, too. A plain step is the learning
    rate times the gradient and nothing else. {_moved(e)}"""),
    cases=("one.table",),
)(_walks(lambda table, x, y, rate: table * (1 - 0.01 * rate) - rate * _gradient(table, x, y)))


@mistake(
    "You read column i of the table for symbol i, but what follows it is in row i.",
    lambda e: f"Your loss and your step are those of the transposed table. {_moved(e)}",
    cases=("one",),
)
def _columns_for_rows(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    after, losses = descend(table.T, x, y, learning_rate, steps)
    return after.T, losses


_x_for_y = mistake(
    "You swapped `x` and `y`, so your table learns what comes before each symbol.",
    lambda e: f"The logits are `table[x]`, and the targets are `y`. {_moved(e)}",
    cases=("one",),
)(lambda table, x, y, rate, steps: descend(table, y, x, rate, steps))


def _rates(factor: Callable[[int], float]) -> Callable[..., tuple[Tensor, Tensor]]:
    """An answer whose learning rate changes from step to step, by a factor that starts at 1."""
    return _walks(lambda table, x, y, rate: table - rate * _gradient(table, x, y), factor)


_rate_changes = mistake(
    "Your learning rate shrinks from step to step, but every step should use the given one.",
    lambda e: f"Your first step is right. {_moved(e, 'three')}",
    cases=("one", "three.table"),
    also=(
        _rates(lambda step: 1 / (step + 1)),
        _rates(lambda step: 1 - step / 3),  # to 0 after the last one
    ),
)(_rates(lambda step: 0.5**step))


@mistake(
    "Your steps have momentum, so each repeats a part of the step before it.",
    lambda e: unwrapped(f"""A plain step is `learning_rate` times the gradient and nothing else.
    {_moved(e, "three")}"""),
    cases=("one.table", "three.table"),
)
def _momentum(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    losses, speed = [], torch.zeros_like(table)
    for _ in range(steps):
        losses.append(_batch_loss(table, x, y))
        speed = 0.9 * speed + _gradient(table, x, y)
        table = table - learning_rate * speed
    return table, torch.stack(losses)


@mistake(
    "All your steps use the gradient at the table that you were given.",
    lambda e: unwrapped(f"""Your first step is right, but the second needs the gradient at the table
    after the first step. {_moved(e, "three")}"""),
    cases=("one.table", "three.table"),
    also=(
        lambda table, x, y, rate, steps: (
            table - steps * rate * _gradient(table, x, y),
            _batch_loss(table, x, y).expand(steps),
        ),
    ),
)
def _gradient_of_the_start(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    gradient, losses = _gradient(table, x, y), []
    for _ in range(steps):
        losses.append(_batch_loss(table, x, y))
        table = table - learning_rate * gradient
    return table, torch.stack(losses)


def _part_by_part(
    parts: Callable[[Tensor], tuple[Tensor, ...]], *, shares: bool = False, of_parts: bool = False
) -> Callable[..., Any]:
    """An answer that takes a step for each part of the batch. With `shares`, a part moves the table
    by its share of the mean over the batch; with `of_parts`, the mean of their losses is recorded.
    """

    def answer(
        table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
    ) -> tuple[Tensor, Tensor]:
        losses = []
        for _ in range(steps):
            before, each = _batch_loss(table, x, y), []
            for some, after in zip(parts(x), parts(y), strict=True):
                each.append(_batch_loss(table, some, after))
                rate = learning_rate * (some.numel() / x.numel() if shares else 1)
                table = table - rate * _gradient(table, some, after)
            losses.append(torch.stack(each).mean() if of_parts else before)
        return table, torch.stack(losses)

    return answer


_several_steps_for_one = mistake(
    "You take a step for each part of the batch, but one step should use the whole batch.",
    lambda e: unwrapped(f"""If you loop over texts, positions or pairs, collect one gradient of the
    mean over all {e.inputs["x"].size} guesses before you take the step. {_moved(e)}"""),
    cases=("one.table",),
    also=(
        _part_by_part(lambda a: a.split(1), of_parts=True),
        _part_by_part(lambda a: a.flatten().split(1)),
    ),
)(_part_by_part(lambda a: a.split(1)))

_moved_within_a_step = mistake(
    "You change the table several times within one step.",
    lambda e: unwrapped(f"""Your step is what comes out if each part of the batch (a pair, a
    position or a text) changes the table before the gradient of the next part is taken. All
    {e.inputs["x"].size} guesses of a step need the gradient at the same table, so collect it first
    and change the table once. {_moved(e)}"""),
    cases=("one.table",),
)(_part_by_part(lambda a: a.flatten().split(1), shares=True))


_another_number_of_steps = mistake(
    "You take one step more than `steps` says.",
    lambda e: f"{_moved(e)} {_moved(e, 'three')}",
    cases=("one.table", "three.table"),
)(lambda table, x, y, rate, steps: descend(table, x, y, rate, steps + 1))


@mistake(
    "You trained a different table from the one that you were given.",
    lambda e: unwrapped(f"""Your first loss is {float(np.ravel(e.yours("one.losses"))[0]):.3f}, but
    with the given table it is {float(e.right("one.losses")[0]):.3f}. Even rows that no step touches
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
    "You made only one step, whatever `steps` says.",
    lambda e: _moved(e, "three"),
    cases=("one.table", "three.table"),
)
def _one_step_only(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    table, losses = descend(table, x, y, learning_rate, 1)
    return table, losses.expand(steps)


@mistake(
    "You returned the losses first, but the table should come first.",
    lambda e: unwrapped(f"""After one step your first result has shape {e.yours("one.table").shape}
    and your second one {e.yours("one.losses").shape}."""),
)
def _swapped_results(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    table, losses = descend(table, x, y, learning_rate, steps)
    return losses, table


@mistake(
    "You return a single loss instead of the loss before each step.",
    lambda e: unwrapped(f"""Your table is right. After three steps your losses have shape
    {e.yours("three.losses").shape}, but they should be
    {", ".join(f"{v:.3f}" for v in e.right("three.losses"))}."""),
    cases=("one.table", "three"),
)
def _one_loss_only(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    table, losses = descend(table, x, y, learning_rate, steps)
    return table, losses[-1]


@mistake(
    "You also return the loss after the last step.",
    lambda e: unwrapped(f"""Your table is right. After three steps you return
    {len(e.yours("three.losses"))} losses, but only those before each of the three steps are asked
    for, {", ".join(f"{v:.3f}" for v in e.right("three.losses"))}."""),
    cases=("one.table", "three"),
)
def _one_loss_more(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    table, losses = descend(table, x, y, learning_rate, steps)
    return table, torch.cat([losses, _batch_loss(table, x, y)[None]])


@mistake("You recorded each loss after its step instead of before it.", _loss_path)
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
        "Your first step is right, but those after it aren't.",
        f"{_moved(evidence, 'three')} Each step should use the gradient at the current table, and "
        "all use the same learning rate.",
        STEP,
    )


def _loss_of_something_else(evidence: Evidence) -> Finding | None:
    mine, right = np.ravel(evidence.yours("one.losses")), np.ravel(evidence.right("one.losses"))
    if len(mine) != 1 or abs(mine[0] - right[0]) < 1e-4:
        return None
    return Finding(
        "loss-before-the-first-step",
        "Your first step is right, but the loss before it isn't."
        if evidence.same("one.table")
        else "Your loss before the first step is wrong, and so is the step.",
        f"Your loss is {mine[0]:.4f}, but at the given table the mean cross-entropy of all "
        f"{evidence.inputs['y'].size} targets is {right[0]:.4f}.",
        STEP,
    )


TASK = Task(
    "Plain gradient descent",
    descend,
    STEP,
    (
        Part("The first step moves the table as it should.", 2, matches("one.table")),
        Part("The loss is the one before the step.", 1, matches("one.losses")),
        Part("Three steps come out right.", 1, matches("three", "long")),
    ),
    properties=(
        _loss_of_something_else,
        _other_rows_move,
        _only_the_first_step,
        _step_of_another_length,
    ),
    may_change=True,
    steps={
        "your logits": Step("Row i of the table holds the logits of what follows symbol i."),
        "your loss": Step("The loss is the mean cross-entropy of all B · T guesses."),
        "your gradient": Step(
            "The gradient says how the loss changes with each entry at the current table."
        ),
        "your step": Step("A plain step is the learning rate times the gradient, in every entry."),
        "your new table": Step(
            "The gradient points to where the loss grows, so a step goes the other way."
        ),
    },
)
