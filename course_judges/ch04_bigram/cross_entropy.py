"""Judges 04/cross-entropy: the loss of a batch of logits, written by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges.ch04_bigram.outcomes import words
from course_judges.ch04_bigram.sections import FLAT, GUESS, TABLE
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, numbers_apart, unwrapped
from course_tasks.verdict import Finding


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy over the targets that are not negative."""
    counted = targets >= 0  # which targets count (B, T)
    z = logits[counted]  # the logits (count, V)
    y = targets[counted]  # the targets (count,)
    largest = z.amax(dim=-1, keepdim=True)  # the largest logit of each guess (count, 1)
    shifted = z - largest  # the shifted logits (count, V)
    total = shifted.exp().sum(dim=-1, keepdim=True)  # the sum of the exponentials (count, 1)
    logs = shifted - total.log()  # the log-probabilities (count, V)
    losses = -logs[torch.arange(len(y)), y]  # the surprises of the targets (count,)
    return losses.mean()  # your loss


def _losses(log_probabilities: Tensor, targets: Tensor) -> Tensor:
    """(count,) the loss of every target that is not negative."""
    counted = targets >= 0
    return -log_probabilities[counted, targets[counted]]


def _takes_time_for_classes(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("plain")
    return raised is not None and "Expected target size" in raised.message


# What torch, NumPy and Python say when a number is no symbol's.
_NO_INDEX = ("out of bounds", "out of range", "non-negative")


def _uses_ignored_as_index(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("ignored")
    return (
        evidence.same("plain")
        and raised is not None
        and any(said in raised.message for said in _NO_INDEX)
    )


def _large_are_alike(evidence: Evidence) -> bool:
    """True if the loss is log V when all logits are far above 0, or all far below."""
    loss = float(evidence.yours("shifted"))
    return not evidence.same("shifted") and abs(loss - math.log(evidence.number("V"))) < 1e-5


def _two_losses(case: str) -> Callable[[Evidence], str]:
    def say(evidence: Evidence) -> str:
        mine, right = np.ravel(evidence.yours(case)), np.ravel(evidence.right(case))
        # The first loss that is wrong, with enough digits to show the difference.
        first = int(np.argmin(close(mine, right))) if mine.shape == right.shape else 0
        yours, wanted = numbers_apart(float(mine[first]), float(right[first]))
        return f"Your loss is {yours} instead of {wanted} (with {evidence.sizes()})."

    return say


def _ignored_count(evidence: Evidence) -> str:
    ignored = evidence.inputs["ignored"]
    negative = listed(np.unique(ignored[ignored < 0])).replace("-", "−")
    return unwrapped(f"""{int((ignored < 0).sum())} of the {ignored.size} targets are negative
    ({negative}) and shouldn't count, so the mean is over the other {int((ignored >= 0).sum())}.""")


_softmax_before_cross_entropy = mistake(
    "You took the softmax twice, because you treated probabilities as logits.",
    lambda e: unwrapped(f"""Probabilities lie between 0 and 1, so a second softmax makes them almost
    equal. With V = {e.number("V")} the loss then stays near log {e.number("V")} =
    {math.log(e.number("V")):.3f} and can never come near 0. {_two_losses("plain")(e)}"""),
)(Like("applied-a-softmax-to-the-logits"))


@mistake(
    unwrapped("""You gave `F.cross_entropy` logits of shape (B, T, V), but it expects the classes in
    the second dimension."""),
    lambda e: unwrapped(f"""So it took T = {e.number("T")} for the number of classes, and the error
    says: “{words(e, "plain")}”."""),
    recognized=_takes_time_for_classes,
)
def _loss_not_flattened(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits, targets)


@mistake(
    "Your loss has the wrong sign.",
    lambda e: unwrapped(f"""Log-probabilities are negative, so a loss is minus their mean.
    {_two_losses("plain")(e)}"""),
    GUESS,
)
def _sign_forgotten(logits: Tensor, targets: Tensor) -> Tensor:
    return -cross_entropy(logits, targets)


@mistake(
    "You used the base-2 logarithm, which gives bits, but this course measures in nats.",
    lambda e: f"{_two_losses('plain')(e)} The ratio of the two is 1 / log 2 = 1.443.",
    GUESS,
)
def _bits_not_nats(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits, targets) / math.log(2)


@mistake(
    "You normalized over the T positions instead of the V symbols of each position.",
    lambda e: unwrapped(f"""Your probabilities sum to 1 over the T = {e.number("T")} positions of a
    row, but at each position those of the V = {e.number("V")} symbols should.
    {_two_losses("plain")(e)}"""),
    TABLE,
)
def _softmax_over_time(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.log_softmax(dim=1), targets).mean()


@mistake(
    "You used a negative target as the number of a symbol.",
    lambda e: unwrapped(f"""The error says: “{words(e, "ignored")}”. {_ignored_count(e)} Take the
    negative ones out before you look anything up."""),
    recognized=_uses_ignored_as_index,
)
def _ignored_indexed(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _without(number: int, *, clamped: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """An answer that leaves out one negative number only; the others are symbol 0, or an index."""

    def answer(logits: Tensor, targets: Tensor) -> Tensor:
        counted = targets != number
        at = targets[counted].clamp(min=0) if clamped else targets[counted]
        return -logits.log_softmax(dim=-1)[counted, at].mean()

    return answer


_one_number_ignored = mistake(
    "You ignore only one negative number, but every negative target should be ignored.",
    lambda e: f"{_ignored_count(e)} `targets >= 0` leaves all negative ones out.",
    cases=("plain", "ignored"),
    also=(_without(-1, clamped=False), _without(-100, clamped=True), _without(-100, clamped=False)),
)(_without(-1, clamped=True))


@mistake(
    "You left negative targets out of the sum, but you still counted them when you divided.",
    lambda e: f"{_ignored_count(e)} {_two_losses('ignored')(e)}",
    cases=("plain", "ignored"),
)
def _ignored_counted(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.log_softmax(dim=-1), targets).sum() / targets.numel()


@mistake(
    "You replaced negative targets by symbol 0, and then counted it as if it were the target.",
    lambda e: f"{_ignored_count(e)} {_two_losses('ignored')(e)}",
    cases=("plain", "ignored"),
)
def _ignored_as_zero(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits, targets.clamp(min=0))


def _means_of_rows(logits: Tensor, targets: Tensor) -> Tensor:
    """(B,) the loss of each row; NaN for a row without targets that count."""
    pairs = zip(logits, targets, strict=True)
    return torch.stack([cross_entropy(row[None], aim[None]) for row, aim in pairs])


@mistake(
    "Your loss is NaN when all targets of a sample are negative.",
    lambda e: unwrapped(f"""Of the {e.number("B")} samples, only the first has targets that count.
    A mean over no targets is 0 / 0, which is NaN, and one NaN makes the whole sum NaN. Take a
    single mean over all targets that count, whichever sample they are in."""),
    FLAT,
    recognized=lambda e: (
        e.same("plain")
        and bool(np.isclose(e.yours("ignored")[0], e.right("ignored")[0], rtol=1e-4))
        and bool(np.isnan(e.yours("ignored")[1]))
    ),
)
def _mean_of_no_targets(logits: Tensor, targets: Tensor) -> Tensor:
    share = (targets >= 0).sum(dim=1) / (targets >= 0).sum()
    return (_means_of_rows(logits, targets) * share).sum()


@mistake(
    "You took the mean of each row first, and then the mean of these means.",
    lambda e: unwrapped(f"""{_ignored_count(e)} The rows hold
    {" and ".join(str(n) for n in (e.inputs["ignored"] >= 0).sum(axis=1))} of these, so a mean of
    means gives more weight to a target in a row that holds fewer. {_two_losses("ignored")(e)}"""),
    cases=("plain", "ignored"),
    also=(
        lambda logits, targets: _means_of_rows(logits, targets).nanmean(),
        lambda logits, targets: _means_of_rows(logits, targets).nan_to_num().mean(),
    ),
)
def _mean_of_row_means(logits: Tensor, targets: Tensor) -> Tensor:
    return _means_of_rows(logits, targets).mean()


@mistake(
    "When all logits are far below 0, you don't subtract the largest of them.",
    lambda e: unwrapped(f"""With logits near {number(float(e.inputs["shift"]))}, every `exp` rounds
    to 0 and log 0 is −∞, so your loss is {number(float(e.yours("shifted")))}. The largest of
    several negative logits is itself negative, so you miss it if you look for it with `abs`, with a
    limit at 0 or in a loop that starts from 0. Start from the first logit or from −∞."""),
    TABLE,
    recognized=lambda e: (
        float(e.inputs["shift"]) < 0
        and e.same("plain")
        and not np.isfinite(e.yours("shifted")).all()
    ),
)
def _maximum_from_zero(logits: Tensor, targets: Tensor) -> Tensor:
    shifted = logits - logits.amax(dim=-1, keepdim=True).clamp(min=0)
    return _losses(shifted - shifted.exp().sum(dim=-1, keepdim=True).log(), targets).mean()


@mistake(
    "Your exponential overflows when the logits are large.",
    lambda e: unwrapped(f"""With logits near {abs(float(e.inputs["shift"])):.0f}, `exp` is infinite
    and your loss is {number(float(e.yours("shifted")))}. Subtract the largest logit of each
    position first, which doesn't change any probability, because only the differences between
    logits matter."""),
    TABLE,
    recognized=lambda e: e.same("plain") and not np.isfinite(e.yours("shifted")).all(),
)
def _overflow(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits - logits.exp().sum(dim=-1, keepdim=True).log(), targets).mean()


@mistake(
    "When all logits are far from 0, your loss is as if all symbols were equally likely.",
    lambda e: unwrapped(f"""With logits near {number(float(e.inputs["shift"]))} your loss is
    {float(e.yours("shifted")):.4g} = log {e.number("V")} instead of
    {float(e.right("shifted")):.4g}. If you clamp the logits to a limit, they all become equal to
    that limit here, so their differences are lost. Subtracting the largest logit of each position
    keeps the differences."""),
    TABLE,
    recognized=lambda e: e.same("plain") and _large_are_alike(e),
)
def _large_logits_alike(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits.clamp(-50, 50), targets)


@mistake(
    "You subtracted the same maximum from several rows, but each row needs its own.",
    lambda e: unwrapped(f"""When the largest logit of one row is hundreds above those of another,
    all exponentials of the other row round to 0, and log 0 is −∞. {_two_losses("spread")(e)}
    `max(dim=-1, keepdim=True)` gives one number for each row."""),
    TABLE,
    cases=("plain", "ignored", "shifted", "spread"),
)
def _global_maximum(logits: Tensor, targets: Tensor) -> Tensor:
    shifted = logits - logits.max()
    return _losses(shifted - shifted.exp().sum(dim=-1, keepdim=True).log(), targets).mean()


# Lower limits for a probability that the inputs can tell apart.
_LIMITS = (0.1, 0.05, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


def _limited_by(limit: float) -> Callable[[Tensor, Tensor], Tensor]:
    """An answer in which no probability is below a limit."""

    def answer(logits: Tensor, targets: Tensor) -> Tensor:
        return _losses(logits.softmax(dim=-1).clamp(min=limit).log(), targets).mean()

    return answer


def _limit(evidence: Evidence) -> str:
    """Which limit it is, and what it does to the losses."""
    logits, targets = (torch.from_numpy(evidence.inputs[n]) for n in ("spread", "surprised"))
    mine = float(np.ravel(evidence.yours("spread"))[0])
    found = [float(_limited_by(limit)(logits, targets)) for limit in _LIMITS]
    limit = _LIMITS[int(np.argmin(np.abs(np.array(found) - mine)))]
    return unwrapped(f"""A probability below {number(limit)} counts as {number(limit)} in your loss,
    so no target costs more than −log {number(limit)} = {-math.log(limit):.2f}. When one logit is
    900 or more above the rest, a target with another logit should cost hundreds.
    {_two_losses("spread")(evidence)} You don't need a limit if you stay with logarithms: log p =
    logit − log Σ exp(logits), with the largest logit of each row subtracted first.""")


_probabilities_limited = mistake(
    "You clamp probabilities to a lower limit before you take their logarithm.",
    _limit,
    TABLE,
    cases=("plain", "ignored", "shifted", "spread"),
    also=tuple(_limited_by(limit) for limit in _LIMITS if limit != 1e-6),
)(_limited_by(1e-6))


def _of_vanishing_probabilities(evidence: Evidence) -> str:
    loss = float(np.ravel(evidence.yours("spread"))[0])
    why = (
        """If you take the logarithm of probabilities, they have already become 0 by then. If you
        subtract something other than the largest logit of each row, `exp` may still overflow."""
        if not np.isfinite(loss)
        else """If you add a small number to the probabilities or clamp them to a lower limit before
        the logarithm, that number is all that is left of them. If you clamp the logits, their
        difference is lost."""
    )
    return unwrapped(f"""When one logit is 900 or more above the rest, the other probabilities are
    so small that they round to 0. {_two_losses("spread")(evidence)} {why} Subtract the largest
    logit of each row, and stay with logarithms: log p = logit − log Σ exp(logits).""")


@mistake(
    lambda e: (
        "Your loss isn't finite when the probability of a target is close to 0."
        if not np.isfinite(float(np.ravel(e.yours("spread"))[0]))
        else "Your loss is wrong when the probability of a target is close to 0."
    ),
    _of_vanishing_probabilities,
    TABLE,
    recognized=lambda e: (
        e.same("plain", "shifted")
        and not e.same("spread")
        and not np.isneginf(e.yours("spread")).any()
        # The likeliest symbol keeps its probability.
        and float(e.right("spread")) > 1
    ),
)
def _log_of_softmax(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.softmax(dim=-1).log(), targets).mean()


@mistake(
    lambda e: unwrapped(f"""When one logit is far above the others of its row, your loss is
    {number(float(e.yours("spread")))}."""),
    lambda e: unwrapped(f"""One logit is 900 or more above the rest there, and the loss should be
    {float(e.right("spread")):.4g}. If your `exp` overflows, subtract the largest logit of each row,
    so that no logit is above 0 and no `exp` above 1. If you multiply all log-probabilities by zeros
    and ones, 0 · −∞ gives NaN, so take the target's logit − log Σ exp by its index instead."""),
    TABLE,
    recognized=lambda e: e.same("plain", "shifted") and not np.isfinite(float(e.yours("spread"))),
)
def _not_the_maximum(logits: Tensor, targets: Tensor) -> Tensor:
    shifted = logits - logits.mean(dim=-1, keepdim=True)
    return _losses(shifted - shifted.exp().sum(dim=-1, keepdim=True).log(), targets).mean()


@mistake(
    "Your loss uses only the last position of each row, but all positions count.",
    lambda e: unwrapped(f"""It uses {e.number("B")} of the {e.inputs["targets"].size} targets.
    {_two_losses("plain")(e)}"""),
    FLAT,
)
def _one_position_only(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits[:, -1], targets[:, -1])


def _largest_of_symbols(*dim: int) -> Callable[[Tensor, Tensor], Tensor]:
    """An answer that subtracts the largest logit of each symbol, over batch or positions."""

    def answer(logits: Tensor, targets: Tensor) -> Tensor:
        shifted = logits - logits.amax(dim=dim, keepdim=True)
        return _losses(shifted.log_softmax(dim=-1), targets).mean()

    return answer


_maximum_over_time = mistake(
    "You subtracted the largest logit of each symbol instead of each position.",
    lambda e: unwrapped(f"""A maximum over positions (`dim=1` of (B, T, V), `dim=0` of (B · T, V))
    differs from symbol to symbol, so subtracting it changes the probabilities. A number that is the
    same for all V = {e.number("V")} symbols of a position cancels, and `max(dim=-1, keepdim=True)`
    gives you that. {_two_losses("plain")(e)}"""),
    TABLE,
    also=(_largest_of_symbols(0, 1),),
)(_largest_of_symbols(1))

_symbol_0_ignored = mistake(
    "You left out targets that are 0, but only negative targets should be ignored.",
    lambda e: unwrapped(f"""Symbol 0 is a symbol like any other, and it is the target at
    {(e.inputs["targets"] == 0).sum()} of {e.inputs["targets"].size} positions here. `targets >= 0`
    keeps it. {_two_losses("plain")(e)}"""),
    FLAT,
)(Like("compared-with-greater-instead-of-greater-or-equal-in-which-targets-count"))


@mistake(
    "You took a binary cross-entropy, as if each symbol were a question of its own.",
    lambda e: unwrapped(f"""It adds −log(1 − p) for every symbol that isn't the target. The softmax
    already shares out one probability among all symbols, so only −log p of the target counts.
    {_two_losses("plain")(e)}"""),
    FLAT,
)
def _binary_loss(logits: Tensor, targets: Tensor) -> Tensor:
    counted = targets >= 0
    p = logits[counted].softmax(dim=-1)
    hit = F.one_hot(targets[counted], p.shape[-1]).bool()
    return -torch.where(hit, p, 1 - p).log().sum(dim=-1).mean()


def _worked_out(evidence: Evidence) -> Finding | None:
    if evidence.same("plain"):
        if evidence.same("ignored"):
            return None
        return Finding(
            "negative-targets",
            "Your loss is wrong when some targets are negative.",
            f"{_ignored_count(evidence)} {_two_losses('ignored')(evidence)}",
            FLAT,
        )
    if not evidence.same("equal"):
        z, target = evidence.inputs["equal"][0, 0], int(evidence.inputs["equal_target"][0])
        total = float(np.log(np.exp(z).sum()))
        yours, right = numbers_apart(float(evidence.yours("equal")), total - float(z[target]))
        return Finding(
            "another-surprise",
            "Your loss of a single guess isn't the surprise of its target.",
            f"In a batch of equal guesses, the target is symbol {target} with the logit "
            f"{number(float(z[target]))}, and log Σ exp of all {len(z)} logits is {number(total)}, "
            f"so each loss is log Σ exp − z = {right}. Your loss is {yours}.",
            FLAT,
        )
    return Finding(
        "another-loss",
        "Your loss of a single guess is right, but that of a batch isn't the mean of its guesses.",
        f"The batch has {evidence.inputs['targets'].size} targets, and each of them counts once, "
        f"with the logits of its own position. {_two_losses('plain')(evidence)}",
        FLAT,
    )


TASK = Task(
    "Cross-entropy by hand",
    cross_entropy,
    FLAT,
    (
        Part("The mean surprise of the targets comes out.", 1, matches("plain", "equal")),
        Part("Negative targets count for nothing.", 1, matches("ignored")),
        Part("A large number added to all logits changes nothing.", 1, matches("shifted")),
        Part("A vanishing probability has a finite loss.", 1, matches("spread")),
    ),
    properties=(_worked_out,),
    cases=("plain",),
    steps={
        "which targets count": Step(
            "Any negative target says that there is nothing to predict, and 0 is a symbol."
        ),
        "the logits": Step("Each guess has a row of V logits of its own."),
        "the targets": Step("Each guess has a target of its own."),
        "the largest logit of each guess": Step(
            "Without it no logit is above 0, so no exponential overflows.", TABLE
        ),
        "the shifted logits": Step(
            "Only differences between the logits of a guess matter, so that the largest can be "
            "subtracted from all of them.",
            TABLE,
        ),
        "the sum of the exponentials": Step(
            "The probabilities of the V symbols at one position sum to 1.", TABLE
        ),
        "the log-probabilities": Step(
            "log p = z − log Σ exp z, which stays finite where p rounds to 0.", TABLE
        ),
        "the surprises of the targets": Step(
            "The loss of a guess is minus the log-probability of its target.", GUESS
        ),
        "your loss": Step("A mean, unlike a sum, doesn't grow with the batch.", GUESS),
    },
)
