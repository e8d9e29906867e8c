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
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import listed, number, numbers_apart, unwrapped
from course_tasks.verdict import Finding


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy over the targets that are not negative."""
    shifted = logits - logits.amax(dim=-1, keepdim=True)  # (B, T, V)
    log_probabilities = shifted - shifted.exp().sum(dim=-1, keepdim=True).log()
    counted = targets >= 0
    losses = -log_probabilities[counted].gather(1, targets[counted][:, None])  # (count, 1)
    return losses.mean()


def _losses(log_probabilities: Tensor, targets: Tensor) -> Tensor:
    """(count,) the loss of every target that is not negative."""
    counted = targets >= 0
    return -log_probabilities[counted, targets[counted]]


def _takes_time_for_classes(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("plain")
    return raised is not None and "Expected target size" in raised.message


# What torch, NumPy and Python say of a number that no symbol has.
_NO_INDEX = ("out of bounds", "out of range", "non-negative")


def _uses_ignored_as_index(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("ignored")
    return (
        evidence.same("plain")
        and raised is not None
        and any(said in raised.message for said in _NO_INDEX)
    )


def _large_are_alike(evidence: Evidence) -> bool:
    """True of all logits that are large together, above 0 or below."""
    loss = float(evidence.yours("shifted"))
    return not evidence.same("shifted") and abs(loss - math.log(evidence.number("V"))) < 1e-5


def _two_losses(case: str) -> Callable[[Evidence], str]:
    def say(evidence: Evidence) -> str:
        mine, right = np.ravel(evidence.yours(case)), np.ravel(evidence.right(case))
        # Of several losses one that is wrong, with so many digits that it is seen to be.
        first = int(np.argmin(close(mine, right))) if mine.shape == right.shape else 0
        yours, wanted = numbers_apart(float(mine[first]), float(right[first]))
        return f"Your loss is {yours}; it should be {wanted} (with {evidence.sizes()})."

    return say


def _ignored_count(evidence: Evidence) -> str:
    ignored = evidence.inputs["ignored"]
    return unwrapped(f"""Of {ignored.size} targets {int((ignored < 0).sum())} are negative and count
    for nothing, so the mean is over {int((ignored >= 0).sum())}.""")


@mistake(
    "You took the softmax twice: the probabilities were treated as logits once more.",
    lambda e: unwrapped(f"""Probabilities lie between 0 and 1, so a second softmax makes them almost
    equal: with V = {e.number("V")} the loss stays near log {e.number("V")} =
    {math.log(e.number("V")):.3f} and can never come near 0. {_two_losses("plain")(e)}"""),
)
def _softmax_before_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits.softmax(dim=-1), targets)


@mistake(
    unwrapped("""The logits went into `F.cross_entropy` as (B, T, V); it takes the second size for
    the classes."""),
    lambda e: unwrapped(f"""It took T = {e.number("T")} for the number of classes. It says:
    “{words(e, "plain")}”."""),
    recognized=_takes_time_for_classes,
)
def _loss_not_flattened(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits, targets)


@mistake(
    "The minus sign is missing: a log-probability is below 0, a loss above.",
    _two_losses("plain"),
    GUESS,
)
def _sign_forgotten(logits: Tensor, targets: Tensor) -> Tensor:
    return -cross_entropy(logits, targets)


@mistake(
    "You summed the losses and did not divide by their number.",
    lambda e: unwrapped(f"""The sum grows with the batch: {e.number("B")} · {e.number("T")} targets
    here. {_two_losses("plain")(e)}"""),
    GUESS,
)
def _sum_not_mean(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.log_softmax(dim=-1), targets).sum()


@mistake(
    "You used the logarithm to the base 2, which counts bits; this course counts nats.",
    lambda e: f"{_two_losses('plain')(e)} The ratio is 1 / log 2 = 1.443.",
    GUESS,
)
def _bits_not_nats(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits, targets) / math.log(2)


@mistake(
    unwrapped("""You normalized over the positions (T); the V symbols compete with each other at
    each position."""),
    lambda e: unwrapped(f"""Your probabilities sum to 1 down each column of T = {e.number("T")}
    positions, not over the V = {e.number("V")} symbols. {_two_losses("plain")(e)}"""),
    TABLE,
)
def _softmax_over_time(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.log_softmax(dim=1), targets).mean()


@mistake(
    "A negative target was used as the number of a symbol.",
    lambda e: unwrapped(f"""It says: “{words(e, "ignored")}”. {_ignored_count(e)} Take them out
    before you look anything up."""),
    recognized=_uses_ignored_as_index,
)
def _ignored_indexed(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@mistake(
    "You left the ignored targets out of the sum, and counted them in the division.",
    lambda e: f"{_ignored_count(e)} {_two_losses('ignored')(e)}",
    cases=("plain", "ignored"),
)
def _ignored_counted(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.log_softmax(dim=-1), targets).sum() / targets.numel()


@mistake(
    "Ignored targets were replaced by symbol 0, and then counted as if it were the answer.",
    lambda e: f"{_ignored_count(e)} {_two_losses('ignored')(e)}",
    cases=("plain", "ignored"),
)
def _ignored_as_zero(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits, targets.clamp(min=0))


def _mean_of_rows_that_count(logits: Tensor, targets: Tensor) -> Tensor:
    pairs = zip(logits, targets, strict=True)
    rows = [cross_entropy(row[None], aim[None]) for row, aim in pairs if (aim >= 0).any()]
    return torch.stack(rows).mean()


def _mean_of_rows_with_zeros(logits: Tensor, targets: Tensor) -> Tensor:
    pairs = zip(logits, targets, strict=True)
    rows = [
        cross_entropy(row[None], aim[None]) if (aim >= 0).any() else torch.zeros(())
        for row, aim in pairs
    ]
    return torch.stack(rows).mean()


def _weighted_mean_of_rows(logits: Tensor, targets: Tensor) -> Tensor:
    rows = [cross_entropy(row[None], aim[None]) for row, aim in zip(logits, targets, strict=True)]
    share = (targets >= 0).sum(dim=1) / (targets >= 0).sum()
    return (torch.stack(rows) * share).sum()


@mistake(
    "A sample in which every target is negative makes your loss NaN.",
    lambda e: unwrapped(f"""Of the {e.number("B")} samples only the first has targets that count.
    The mean of nothing is 0 / 0, and one NaN spoils every sum; a single mean over all targets that
    count has none."""),
    FLAT,
    recognized=lambda e: (
        e.same("plain")
        and bool(np.isclose(e.yours("ignored")[0], e.right("ignored")[0], rtol=1e-4))
        and bool(np.isnan(e.yours("ignored")[1]))
    ),
)
def _mean_of_no_targets(logits: Tensor, targets: Tensor) -> Tensor:
    return _weighted_mean_of_rows(logits, targets)


@mistake(
    "You took the mean of each row first, and then the mean of the rows.",
    lambda e: unwrapped(f"""{_ignored_count(e)} The rows hold
    {", ".join(str(int(n)) for n in (e.inputs["ignored"] >= 0).sum(axis=1))} of them, so a mean of
    means weighs them unequally. {_two_losses("ignored")(e)}"""),
    cases=("plain", "ignored"),
    also=(_mean_of_rows_that_count, _mean_of_rows_with_zeros),
)
def _mean_of_row_means(logits: Tensor, targets: Tensor) -> Tensor:
    rows = [cross_entropy(row[None], aim[None]) for row, aim in zip(logits, targets, strict=True)]
    return torch.stack(rows).mean()


@mistake(
    "Where all logits are far below 0, it is not the largest of them that you subtract.",
    lambda e: unwrapped(f"""With logits near {float(e.inputs["shift"]):.0f}, every `exp` is rounded
    to 0, log 0 is −∞, and your loss is {float(e.yours("shifted")):.3g}. The largest of negative
    logits is negative, and it is found without `abs` and without a limit at 0: a search for it
    starts at the first of them, or at −∞."""),
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
    "The exponential overflows: subtract the largest logit of each position first.",
    lambda e: unwrapped(f"""With logits near {abs(float(e.inputs["shift"])):.0f}, `exp` is infinite
    and your loss is {float(e.yours("shifted")):.3g}. Only differences between logits matter, so
    subtracting the maximum changes no probability."""),
    TABLE,
    recognized=lambda e: e.same("plain") and not np.isfinite(e.yours("shifted")).all(),
)
def _overflow(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits - logits.exp().sum(dim=-1, keepdim=True).log(), targets).mean()


@mistake(
    "With large logits, your loss is that of symbols which are all equally likely.",
    lambda e: unwrapped(f"""With logits near {float(e.inputs["shift"]):.0f} your loss is
    {float(e.yours("shifted")):.4g} = log {e.number("V")}; it should be
    {float(e.right("shifted")):.4g}, as without them. If you cut logits off at a limit (`clamp`),
    all of them are the limit there, and no difference is left. Subtracting the largest logit of
    each position keeps the differences."""),
    TABLE,
    recognized=lambda e: e.same("plain") and _large_are_alike(e),
)
def _large_logits_alike(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits.clamp(-50, 50), targets)


@mistake(
    "You subtracted one maximum from several rows; each row needs its own.",
    lambda e: unwrapped(f"""Where the largest logit of one row lies hundreds above those of another,
    all powers of the other are rounded to 0, and log 0 is infinite. Your loss is
    {float(np.ravel(e.yours("spread"))[0]):.4g}; it should be
    {float(np.ravel(e.right("spread"))[0]):.4g}. `max(dim=-1, keepdim=True)` is one number a
    row."""),
    TABLE,
    cases=("plain", "ignored", "shifted", "spread"),
)
def _global_maximum(logits: Tensor, targets: Tensor) -> Tensor:
    shifted = logits - logits.max()
    return _losses(shifted - shifted.exp().sum(dim=-1, keepdim=True).log(), targets).mean()


# Limits that keep a probability from 0 where it can be seen which one it is.
_LIMITS = (0.1, 0.05, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


def _limited_by(limit: float) -> Callable[[Tensor, Tensor], Tensor]:
    """An answer in which no probability is below a limit."""

    def answer(logits: Tensor, targets: Tensor) -> Tensor:
        return _losses(logits.softmax(dim=-1).clamp(min=limit).log(), targets).mean()

    return answer


def _limit(evidence: Evidence) -> str:
    """Which limit it is, and what becomes of the losses."""
    logits, targets = (torch.from_numpy(evidence.inputs[n]) for n in ("spread", "surprised"))
    mine = float(np.ravel(evidence.yours("spread"))[0])
    found = [float(_limited_by(limit)(logits, targets)) for limit in _LIMITS]
    limit = _LIMITS[int(np.argmin(np.abs(np.array(found) - mine)))]
    return unwrapped(f"""A probability below {number(limit)} counts as {number(limit)} in your loss,
    so no target costs more than −log {number(limit)} = {-math.log(limit):.2f}. Where one logit is
    900 or more above the rest, another one costs hundreds if it is the target's.
    {_two_losses("spread")(evidence)} Without a limit, stay with logarithms:
    log p = logit − log Σ exp(logits), with the largest logit of each row subtracted first.""")


_probabilities_limited = mistake(
    "You keep probabilities away from 0 with a limit before you take their logarithm.",
    _limit,
    TABLE,
    cases=("plain", "ignored", "shifted", "spread"),
    also=tuple(_limited_by(limit) for limit in _LIMITS if limit != 1e-6),
)(_limited_by(1e-6))


def _of_vanishing_probabilities(evidence: Evidence) -> str:
    loss = float(np.ravel(evidence.yours("spread"))[0])
    why = (
        """If you take the logarithm of probabilities, they are rounded to 0 before it sees them.
        If you subtract another number than the largest logit of each row, `exp` may still
        overflow."""
        if not np.isfinite(loss)
        else """If you take the logarithm of probabilities, with something added or a limit that
        keeps them from 0, that is all that it sees of them. If you cut logits off at a limit, the
        difference is lost there."""
    )
    return unwrapped(f"""Where one logit is 900 or more above the rest, the others' probabilities
    are so small that they are rounded to 0. {_two_losses("spread")(evidence)} {why} Subtract the
    largest logit of each row, and stay with logarithms: log p = logit − log Σ exp(logits).""")


@mistake(
    lambda e: (
        "A target with a vanishing probability makes your loss infinite."
        if not np.isfinite(float(np.ravel(e.yours("spread"))[0]))
        else "A target with a vanishing probability has another loss in your answer."
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
    lambda e: unwrapped(f"""Where one logit is far above the others of its row, your loss is
    {number(float(e.yours("spread")))}."""),
    lambda e: unwrapped(f"""One logit is 900 or more above the rest there, and the loss should be
    {float(e.right("spread")):.4g}. If `exp` overflows, subtract the largest logit of each row: then
    none is above 0, and no `exp` above 1. If all log-probabilities are multiplied by zeros and
    ones, 0 · −∞ is NaN: take the one of the target by its index, out of logit − log Σ exp."""),
    TABLE,
    recognized=lambda e: e.same("plain", "shifted") and not np.isfinite(float(e.yours("spread"))),
)
def _not_the_maximum(logits: Tensor, targets: Tensor) -> Tensor:
    shifted = logits - logits.mean(dim=-1, keepdim=True)
    return _losses(shifted - shifted.exp().sum(dim=-1, keepdim=True).log(), targets).mean()


@mistake(
    "Only the targets of one position of each row count in your loss; all positions do.",
    lambda e: unwrapped(f"""Of {e.inputs["targets"].size} targets yours uses {e.number("B")}, those
    of the last position or of the first. {_two_losses("plain")(e)}"""),
    FLAT,
    also=(lambda logits, targets: cross_entropy(logits[:, :1], targets[:, :1]),),
)
def _one_position_only(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits[:, -1:], targets[:, -1:])


def _count(keep: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """An answer in which other targets count."""
    return lambda logits, targets: cross_entropy(logits, targets.where(keep(targets), -1))


def _subtracted_from_one(logits: Tensor, *, inside: bool) -> Tensor:
    """(B, T, V) What stands for log-probabilities where the maximum is subtracted once only."""
    shifted = logits - logits.amax(dim=-1, keepdim=True)
    one, other = (logits, shifted) if inside else (shifted, logits)
    return one - other.exp().sum(dim=-1, keepdim=True).log()


@mistake(
    "Of the two terms of log p, the largest logit is subtracted in one only.",
    lambda e: unwrapped(f"""log p = (z − m) − log Σ exp(z − m) for any m. With m in one of the two
    terms, each loss is off by the largest logit of its row: subtract it in the other as well, or
    add it again after the logarithm. {_two_losses("plain")(e)}"""),
    TABLE,
    also=(lambda z, targets: _losses(_subtracted_from_one(z, inside=False), targets).mean(),),
)
def _maximum_in_one_place(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(_subtracted_from_one(logits, inside=True), targets).mean()


def _largest_of_symbols(*dim: int) -> Callable[[Tensor, Tensor], Tensor]:
    """An answer that subtracts the largest logit of each symbol, over other axes than theirs."""

    def answer(logits: Tensor, targets: Tensor) -> Tensor:
        shifted = logits - logits.amax(dim=dim, keepdim=True)
        return _losses(shifted.log_softmax(dim=-1), targets).mean()

    return answer


_maximum_over_time = mistake(
    "You subtracted the largest logit of each symbol; it has to be that of each position.",
    lambda e: unwrapped(f"""A maximum over positions (`dim=1` of (B, T, V), `dim=0` of (B · T, V))
    differs from symbol to symbol, and to subtract it changes the probabilities. What is the same
    for all V = {e.number("V")} symbols of a position cancels: `max(dim=-1, keepdim=True)`.
    {_two_losses("plain")(e)}"""),
    TABLE,
    also=(_largest_of_symbols(0, 1),),
)(_largest_of_symbols(1))

_symbol_0_ignored = mistake(
    "Symbol 0 does not count in your loss; only negative targets are left out.",
    lambda e: unwrapped(f"""Of {e.inputs["targets"].size} targets {(e.inputs["targets"] == 0).sum()}
    are 0, which is a symbol like any other: `targets >= 0` keeps it. {_two_losses("plain")(e)}"""),
    FLAT,
)(_count(lambda targets: targets > 0))


def _negative(evidence: Evidence) -> set[int]:
    ignored = evidence.inputs["ignored"]
    return {int(target) for target in ignored[ignored < 0]}


def _shifted_once_more(logs: Tensor, targets: Tensor) -> Tensor:
    """The mean loss where position t is asked for the target of position t + 1."""
    return -logs[:, :-1].gather(2, targets[:, 1:, None]).mean()


def _known_without(evidence: Evidence) -> str:
    """Which targets count in the loss of a batch with negative ones, if it is known."""
    logits, targets = (torch.from_numpy(evidence.inputs[n]) for n in ("logits", "ignored"))
    counted = targets >= 0
    each = -logits.log_softmax(dim=-1).gather(2, targets.clamp(min=0)[..., None])[..., 0]
    before = counted.cumprod(dim=1).bool()  # up to the first negative target of a row
    whole = counted.all(dim=1, keepdim=True).expand_as(counted)
    total, V = each[counted].sum(), logits.shape[-1]
    wrapped = cross_entropy(logits, torch.where(targets >= -V, targets % V, targets))
    mine = float(np.ravel(evidence.yours("ignored"))[0])
    for value, said in (
        (each[before].mean(), "the mean up to the first negative target of each row"),
        (each[whole].mean(), "the mean over rows without a single negative target"),
        (total / (targets != -100).sum(), "their sum, divided by how many are not −100"),
        (total / (targets != -1).sum(), "their sum, divided by how many are not −1"),
        (total / len(targets), "their sum, divided by the number of rows"),
        (total, "their sum"),
        (
            (total + (~counted).sum() * math.log(V)) / counted.numel(),
            f"the mean over all targets, in which a negative one has a loss of log {V}",
        ),
        (wrapped, "the mean in which −1 stands for the last symbol, as an index does in Python"),
    ):
        if math.isclose(float(value), mine, rel_tol=1e-4):
            return f" Yours is {said}."
    return ""


def _known(evidence: Evidence) -> str:
    """What else of the same numbers a loss is, if it is known; empty otherwise."""
    logits, targets = (torch.from_numpy(evidence.inputs[n]) for n in ("logits", "targets"))
    logs = logits.log_softmax(dim=-1)
    each = -logs.gather(2, targets[..., None])[..., 0]  # (B, T)
    B, T = each.shape
    mine = float(evidence.yours("plain"))
    for value, said in (
        (each.sum() / B, f"their sum divided by B = {B}"),
        (each.sum() / T, f"their sum divided by T = {T}"),
        (each.sum() / logits.numel(), "their sum divided by the number of logits"),
        (-logs.mean(), "the mean surprise of all symbols, not of the targets"),
        (-logs.amax(-1).mean(), "the mean surprise of the likeliest symbols, not of the targets"),
        (logits.logsumexp(-1).mean(), "the mean of log Σ exp alone, without the targets' logits"),
        (-each.neg().exp().mean().log(), "the logarithm of a mean of probabilities"),
        (each.mean().exp(), "e to the power of that mean, which is the perplexity"),
        (each.mean() / math.log(10), "the mean of logarithms to the base 10"),
        (-each.neg().exp().mean(), "minus the mean of the probabilities; no logarithm is taken"),
        ((1 - each.neg().exp()).mean(), "the mean of 1 − p; no logarithm is taken"),
        (-(logs.exp() * logs).sum(-1).mean(), "the mean entropy, whatever the targets are"),
        (-logits.gather(2, targets[..., None]).mean(), "minus the mean of the targets' logits"),
        (_shifted_once_more(logs, targets), "the mean over the targets one position later"),
        (
            (logits.exp().sum(-1) - logits.gather(2, targets[..., None])[..., 0]).mean(),
            "the mean of Σ exp − z; the logarithm of the sum is missing",
        ),
        (
            # The likeliest symbol has e⁰ of that sum.
            (each + logs.amax(-1) + logs.amax(-1).neg().exp()).mean(),
            "the mean of Σ exp − z with the largest logit subtracted; the logarithm of the sum is "
            "missing",
        ),
        (
            each.mean() + (logits.flatten(1).logsumexp(1)[:, None] - logits.logsumexp(-1)).mean(),
            "that of a softmax over all symbols of all positions of a row together",
        ),
        (each[:, :-1].mean(), "the mean without the last position"),
        (each[:, 1:].mean(), "the mean without the first position"),
        (each[0].mean(), "the mean of row 0 alone"),
        (each.median(), "their median"),
    ):
        if math.isclose(float(value), mine, rel_tol=1e-4):
            return f" Yours is {said}."
    return ""


def _worked_out(evidence: Evidence) -> Finding | None:
    if evidence.same("plain"):
        if evidence.same("ignored"):
            return None
        return Finding(
            "negative-targets",
            "With negative targets your loss is another one.",
            f"{_ignored_count(evidence)} They are {listed(sorted(_negative(evidence)))} here; none "
            f"is a symbol.{_known_without(evidence)} {_two_losses('ignored')(evidence)}",
            FLAT,
        )
    logits, target = evidence.inputs["logits"][0, 0], int(evidence.inputs["targets"][0, 0])
    total = float(np.log(np.exp(logits).sum()))
    return Finding(
        "another-loss",
        "Your loss is not the mean surprise of the targets.",
        f"The first target is symbol {target} with the logit {logits[target]:.3g}; log Σ exp of "
        f"its {len(logits)} logits is {total:.3g}, so its surprise is "
        f"{total - float(logits[target]):.3g}. The loss is the mean of "
        f"{evidence.inputs['targets'].size} of these.{_known(evidence)} "
        f"{_two_losses('plain')(evidence)}",
        FLAT,
    )


TASK = Task(
    "Cross-entropy by hand",
    cross_entropy,
    FLAT,
    (
        Part("The mean surprise of the targets comes out.", 1, matches("plain")),
        Part("Negative targets count for nothing.", 1, matches("ignored")),
        Part("Adding the same large number to all logits changes nothing.", 1, matches("shifted")),
        Part("A target with a vanishing probability gets its finite loss.", 1, matches("spread")),
    ),
    examples=(_worked_out,),
    cases=("plain",),
)
