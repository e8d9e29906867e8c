"""Judges 04/nll: mean surprise and perplexity of texts under a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges.ch04_bigram.outcomes import words
from course_judges.ch04_bigram.sections import COUNTING, GUESS
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import listed, number, numbers_apart, unwrapped
from course_tasks.ch04_bigram.nll import RARE
from course_tasks.verdict import Finding

# By what share a number may differ from what explains it: float32's noise, because among many
# explanations some fit by chance to four digits.
_ROUNDING = 5e-6


def nll_and_perplexity(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    """Mean negative log-likelihood of a symbol in nats, and the perplexity."""
    steps = torch.cat([_step_logs(probabilities, text) for text in texts])
    nll = -steps.mean().item()
    return nll, math.exp(nll)


def _step_logs(probabilities: Tensor, text: Tensor) -> Tensor:
    """(N−1,) log P(next | current) along one text."""
    return probabilities[text[:-1], text[1:]].log()


def _with_perplexity(nll: Tensor | float) -> tuple[float, float]:
    return float(nll), float(np.exp(float(nll)))


def _nll_is(factor: float) -> Callable[[Evidence], bool]:
    def recognized(evidence: Evidence) -> bool:
        wrong = factor * evidence.right("short.nll")
        return np.allclose(evidence.yours("short.nll"), wrong, rtol=_ROUNDING)

    return recognized


def _two_nlls(evidence: Evidence) -> str:
    mine, right = (float(of("short.nll")) for of in (evidence.yours, evidence.right))
    yours, wanted = numbers_apart(mine, right)
    return f"For the three short texts your loss is {yours} instead of {wanted} nats per symbol."


def _two_perplexities(evidence: Evidence) -> str:
    nll = float(evidence.right("short.nll"))
    return unwrapped(f"""Your perplexity is {float(evidence.yours("short.perplexity")):.4g}. With
    {nll:.4g} nats per symbol it should be e^{nll:.4g} = {math.exp(nll):.4g}, the number of equally
    likely symbols that would be as hard to guess.""")


def _underflow(evidence: Evidence) -> str:
    steps = len(evidence.inputs["long"]) - 1
    exponent = float(evidence.right("long.nll")) * steps / math.log(10)
    return unwrapped(f"""The long text has {steps} steps and a probability near 10^−{exponent:.0f},
    which rounds to 0, and −log 0 is infinite. Sum the logarithms instead.""")


def _has_log_of_zero(evidence: Evidence) -> bool:
    """True if the long text has an infinite loss, or none, as Python's `log` refuses 0."""
    raised = evidence.answers.errors.get("long")
    if raised is None:
        return float(evidence.yours("long.nll")) == math.inf
    said = raised.message.lower()
    return raised.kind in ("ValueError", "ZeroDivisionError") and any(
        word in said for word in ("domain", "positive", "division by zero", "negative power")
    )


def _possible_loss(evidence: Evidence) -> float:
    return float(evidence.yours("possible.nll"))


def _left_of_the_rare(evidence: Evidence) -> float:
    """What the rare step adds to your sum, if all other steps add what they should."""
    missing = float(evidence.right("possible.nll")) - _possible_loss(evidence)
    return -math.log(RARE) - len(evidence.inputs["steps"]) * missing


def _lengths(evidence: Evidence) -> list[int]:
    return [len(evidence.inputs[name]) for name in ("first", "second", "third")]


@mistake(
    "You returned the two numbers in the wrong order.",
    lambda e: f"The mean surprise comes first and the perplexity second. {_two_nlls(e)}",
)
def _swapped_results(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    nll, perplexity = nll_and_perplexity(probabilities, texts)
    return perplexity, nll


@mistake(
    "Your loss has the wrong sign.",
    lambda e: f"Log-probabilities are negative, so a surprise is minus one of them. {_two_nlls(e)}",
    recognized=_nll_is(-1.0),
)
def _sign_forgotten(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    return _with_perplexity(-nll_and_perplexity(probabilities, texts)[0])


@mistake(
    "You used the base-2 logarithm, which gives bits, but this course measures in nats.",
    lambda e: f"{_two_nlls(e)} The ratio of the two is 1 / log 2 = 1.443.",
    recognized=_nll_is(1 / math.log(2)),
)
def _bits_not_nats(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    nll, perplexity = nll_and_perplexity(probabilities, texts)
    return nll / math.log(2), perplexity


@mistake(
    "You took the mean of each text first, and then the mean of these means.",
    lambda e: unwrapped(f"""The texts have {", ".join(str(n - 1) for n in _lengths(e))} steps, so in
    a mean of means a step of the shortest counts
    {(max(_lengths(e)) - 1) / (min(_lengths(e)) - 1):.1f} times as much as one of the longest.
    {_two_nlls(e)}"""),
    cases=("short",),
)
def _mean_over_texts(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    means = [-_step_logs(probabilities, text).mean() for text in texts]
    return _with_perplexity(torch.stack(means).mean())


@mistake(
    "You summed the surprises but didn't divide by their number.",
    lambda e: unwrapped(f"""You summed {sum(_lengths(e)) - 3} steps. {_two_nlls(e)} A sum grows with
    the text, so you can't use it to compare two texts."""),
    cases=("short.nll",),
)
def _sum_not_mean(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    with np.errstate(over="ignore"):
        return _with_perplexity(-torch.cat([_step_logs(probabilities, t) for t in texts]).sum())


@mistake(
    "You divided by the number of symbols, but the first symbol of a text isn't predicted.",
    lambda e: unwrapped(f"""The three texts have {sum(_lengths(e))} symbols but only
    {sum(_lengths(e)) - 3} steps. {_two_nlls(e)}"""),
    cases=("short.nll",),
)
def _divides_by_tokens(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    total = -torch.cat([_step_logs(probabilities, t) for t in texts]).sum()
    return _with_perplexity(total / sum(len(t) for t in texts))


@mistake(
    "You read the table as `P[next, current]` instead of `P[current, next]`.",
    _two_nlls,
    COUNTING,
    cases=("short.nll",),
)
def _transposed_table(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    return nll_and_perplexity(probabilities.T, texts)


@mistake(
    "You looked up the probability of each symbol after itself, instead of the next symbol.",
    lambda e: f"That reads only the diagonal of the table. {_two_nlls(e)}",
    COUNTING,
    cases=("short.nll",),
)
def _unshifted_targets(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    steps = torch.cat([probabilities[t, t].log() for t in texts])
    return _with_perplexity(-steps.mean())


@mistake(
    "You took a softmax of numbers that are probabilities already.",
    lambda e: unwrapped(f"""`F.cross_entropy` and `log_softmax` expect logits. A table of
    probabilities only needs the logarithm. {_two_nlls(e)}"""),
    cases=("short.nll",),
)
def _softmax_of_probabilities(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    return nll_and_perplexity(probabilities.softmax(dim=-1), texts)


@mistake(
    "You averaged the probabilities before taking the logarithm, but the logarithm comes first.",
    lambda e: f"{_two_nlls(e)} A mean of probabilities hides the steps that surprise most.",
    cases=("short.nll",),
)
def _log_of_mean_probability(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    steps = torch.cat([probabilities[t[:-1], t[1:]] for t in texts])
    return _with_perplexity(-steps.mean().log())


@mistake(
    "You joined the texts, so you also scored the steps from one text to the next.",
    lambda e: unwrapped(f"""The three texts have {sum(_lengths(e)) - 3} steps, but joined they have
    {sum(_lengths(e)) - 1}. {_two_nlls(e)}"""),
    COUNTING,
    cases=("short.nll",),
)
def _pairs_across_texts(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    return nll_and_perplexity(probabilities, [torch.cat(texts)])


def _seam_missed_by(places: int) -> Callable[[Tensor, list[Tensor]], tuple[float, float]]:
    """An answer that joins the texts and leaves out the step that is so many places after the one
    from a text to the next.
    """

    def answer(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
        logs = _step_logs(probabilities, torch.cat(texts))
        seams = torch.tensor([len(text) for text in texts]).cumsum(0)[:-1] - 1
        left_out = torch.isin(torch.arange(len(logs)), seams + places)
        return _with_perplexity(-logs[~left_out].mean())

    return answer


def _missed_seam(evidence: Evidence) -> str:
    """Which steps were left out instead of those from one text to the next."""
    table = torch.from_numpy(evidence.inputs["table"])
    texts = [torch.from_numpy(evidence.inputs[name]) for name in ("first", "second", "third")]
    mine = float(evidence.yours("short.nll"))
    early, late = (abs(_seam_missed_by(by)(table, texts)[0] - mine) for by in (-1, 1))
    is_late = late < early
    steps = "first step of each later text" if is_late else "last step of each earlier text"
    n = len(texts[0])
    return unwrapped(f"""Your mean includes the steps from one text to the next, such as the one
    from symbol {int(texts[0][-1])} to symbol {int(texts[1][0])}, but not the {steps}. The first
    text has {n} symbols, so if you join the texts, its last symbol is at position {n - 1} and the
    step to the next text starts there. You left out the step that starts at position
    {n if is_late else n - 2}. {_two_nlls(evidence)}""")


_seam_in_another_place = mistake(
    "You joined the texts and left out the steps beside the seams instead of those across them.",
    _missed_seam,
    COUNTING,
    cases=("short.nll",),
    also=(_seam_missed_by(-1),),
)(_seam_missed_by(1))


@mistake(
    "Your function stops with an error when one of the texts has a single symbol.",
    lambda e: unwrapped(f"""The other text has {len(e.inputs["long"])} symbols, and the error says:
    “{words(e, "long")}”. A single symbol has no step, so it adds nothing to the sum and nothing to
    the number that you divide by, and you can't take a mean of it alone."""),
    recognized=lambda e: (
        e.same("short", "possible") and e.inputs["single"].size > 0 and "long" in e.answers.errors
    ),
)
def _stops_at_no_steps(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    total, steps = 0.0, 0
    for text in texts:
        logs = _step_logs(probabilities, text).tolist()
        total, steps = total - sum(logs) / len(logs) * len(logs), steps + len(logs)
    return _with_perplexity(total / steps)


@mistake(
    unwrapped("""You multiplied the probabilities first, but for a long text the product is too
    small for a floating-point number."""),
    _underflow,
    recognized=lambda e: e.same("short.nll") and _has_log_of_zero(e),
)
def _log_of_product(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    steps = torch.cat([probabilities[t[:-1], t[1:]] for t in texts])
    return _with_perplexity(-steps.prod().log() / len(steps))


@mistake(
    "Your perplexity of a long text isn't finite.",
    lambda e: unwrapped(f"""The long text has {len(e.inputs["long"]) - 1} steps, and your loss there
    is right, but your perplexity is {number(float(e.yours("long.perplexity")))}. A product of so
    many probabilities rounds to 0, and e to the power of a sum of so many surprises is infinite.
    Take e to the power of the mean."""),
    recognized=lambda e: (
        e.same("short", "long.nll") and not np.isfinite(e.yours("long.perplexity")).all()
    ),
)
def _perplexity_from_a_product(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    steps = torch.cat([probabilities[t[:-1], t[1:]] for t in texts])
    return -steps.log().mean().item(), float(steps.prod() ** (-1 / len(steps)))


@mistake(
    "Your perplexity has the wrong sign in its exponent.",
    _two_perplexities,
)
def _perplexity_upside_down(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    nll = nll_and_perplexity(probabilities, texts)[0]
    return nll, math.exp(-nll)


@mistake(
    "Your perplexity is a power of 2, but a loss in nats needs a power of e.",
    _two_perplexities,
)
def _perplexity_of_two(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    nll = nll_and_perplexity(probabilities, texts)[0]
    return nll, 2**nll


@mistake(
    "Your perplexity is e to the sum of the surprises instead of e to their mean.",
    _two_perplexities,
    cases=("short",),
)
def _perplexity_of_the_sum(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    nll = nll_and_perplexity(probabilities, texts)[0]
    with np.errstate(over="ignore"):
        return nll, float(np.exp(nll * sum(len(t) - 1 for t in texts)))


@mistake(
    "Your loss is that of one text alone, but all of them count.",
    lambda e: unwrapped(f"""The three texts have {", ".join(str(n - 1) for n in _lengths(e))} steps,
    which makes {sum(_lengths(e)) - 3} in total. {_two_nlls(e)}"""),
    also=(
        lambda probabilities, texts: nll_and_perplexity(probabilities, texts[1:2] or texts),
        lambda probabilities, texts: nll_and_perplexity(probabilities, texts[-1:]),
    ),
    cases=("short.nll",),
)
def _one_text_only(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    return nll_and_perplexity(probabilities, texts[:1])


@mistake(
    "You scored only the last step of each text, but every step counts.",
    lambda e: unwrapped(f"""The three texts have {sum(_lengths(e)) - 3} steps in total, not three.
    {_two_nlls(e)}"""),
    cases=("short.nll",),
)
def _last_steps_only(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    return nll_and_perplexity(probabilities, [text[-2:] for text in texts])


@mistake(
    "Your perplexity is a mean of several perplexities instead of e to the mean surprise.",
    _two_perplexities,
    recognized=lambda e: (
        e.same("short.nll")
        and float(e.yours("short.perplexity")) > float(e.right("short.perplexity"))
        and any(
            np.isclose(float(e.yours("short.perplexity")), mean, rtol=_ROUNDING)
            for mean in _means_of_perplexities(e)
        )
    ),
)
def _mean_of_perplexities(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    steps = torch.cat([_step_logs(probabilities, text) for text in texts])
    return -steps.mean().item(), (-steps).exp().mean().item()


def _means_of_perplexities(evidence: Evidence) -> tuple[float, float]:
    """Over the steps and over the texts."""
    table = torch.from_numpy(evidence.inputs["table"])
    texts = [torch.from_numpy(evidence.inputs[name]) for name in ("first", "second", "third")]
    steps = [-_step_logs(table, text) for text in texts]
    over_texts = [float(one.mean().exp()) for one in steps]
    return float(torch.cat(steps).exp().mean()), sum(over_texts) / len(over_texts)


@mistake(
    lambda e: f"When the table holds zeros, your loss is {number(_possible_loss(e))}.",
    lambda e: unwrapped(f"""The table has {int((e.inputs["possible"] == 0).sum())} zeros, but no
    text takes such a step, so the loss should be {number(float(e.right("possible.nll")))}. log 0 is
    −∞, and 0 · −∞ is NaN. Take the logarithm only of the steps that occur in the texts."""),
    recognized=lambda e: e.same("short.nll") and math.isnan(_possible_loss(e)),
)
def _zeros_that_no_step_reads(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    V = len(probabilities)
    steps = torch.cat([text[:-1] * V + text[1:] for text in texts])
    counts = torch.bincount(steps, minlength=V * V).view(V, V)
    return _with_perplexity(-(counts * probabilities.log()).sum() / counts.sum())


@mistake(
    "Your loss counts a very rare step as less surprising than it is.",
    lambda e: unwrapped(f"""One of the {len(e.inputs["steps"])} steps has a probability of {RARE:g},
    which is a surprise of {-math.log(RARE):.1f} nats. With it the mean is
    {float(e.right("possible.nll")):.4g}, but yours is {_possible_loss(e):.4g}. If you add a small
    number to the probabilities or use it as their lower limit, it outweighs a probability as small
    as this."""),
    recognized=lambda e: (
        e.same("short", "long")
        and not e.same("possible.nll")
        and _possible_loss(e) < float(e.right("possible.nll"))
        # What is left of the rare step's surprise is that of another small probability.
        and _left_of_the_rare(e) > -math.log(0.01)
    ),
)
def _rare_step_softened(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    return nll_and_perplexity(probabilities + 1e-9, texts)


@mistake(
    "Your loss is NaN when one of the texts has a single symbol.",
    lambda e: unwrapped(f"""The other text has {len(e.inputs["long"])} symbols. A single symbol has
    no step and should add nothing, but the mean over no steps is 0 / 0, and one NaN makes the whole
    sum NaN. Join the steps of all texts first, and take one mean."""),
    recognized=lambda e: (
        e.same("short", "possible")
        and e.inputs["single"].size > 0
        and bool(np.isnan(e.yours("long.nll")).all())
    ),
)
def _mean_of_no_steps(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    means = torch.stack([-_step_logs(probabilities, text).mean() for text in texts])
    steps = torch.tensor([len(text) - 1 for text in texts])
    return _with_perplexity((means * steps).sum() / steps.sum())


def _of_other_texts(evidence: Evidence) -> Finding | None:
    """Which texts are scored wrong, if the first three are scored right."""
    case, lengths = next(
        (case, [len(evidence.inputs[name]) for name in names if evidence.inputs[name].size])
        for case, names in (("long", ("long", "single")), ("possible", ("step", "steps")))
        if not evidence.same(case)
    )
    steps = [length - 1 for length in lengths]
    mine, right = (float(of(f"{case}.nll")) for of in (evidence.yours, evidence.right))
    yours, wanted = numbers_apart(mine, right)
    return Finding(
        "texts-of-other-lengths",
        "Your loss is right for three short texts, but not for texts of other lengths.",
        f"With texts of {listed(lengths)} symbols, which have {listed(steps)} steps, your loss is "
        f"{yours}, but the mean over all {sum(steps)} steps is {wanted}.",
        GUESS,
    )


def _surprises(evidence: Evidence) -> list[Tensor]:
    """The surprises of each short text, step by step."""
    table = torch.from_numpy(evidence.inputs["table"])
    return [-_step_logs(table, text) for text in _short(evidence)]


def _short(evidence: Evidence) -> list[Tensor]:
    return [torch.from_numpy(evidence.inputs[name]) for name in ("first", "second", "third")]


def _near(value: Any, mine: float) -> bool:
    return math.isclose(float(value), mine, rel_tol=_ROUNDING)


def _said_of(mine: float, known: Iterable[tuple[Any, str]]) -> str:
    """A sentence with the one of these that a number is equal to; empty if it is none, or several
    that differ in words.
    """
    said = list(dict.fromkeys(said for value, said in known if _near(value, mine)))
    return f" Yours is {said[0]}." if len(said) == 1 else ""


def _of_equal_steps(evidence: Evidence) -> str:
    """What else the loss of a text of equal steps may be, if known; else empty."""
    table, mine = evidence.inputs["table"].astype(float), float(evidence.yours("equal.nll"))
    i, V = int(evidence.inputs["equal"][0]), len(table)
    p, steps = float(table[i, i]), len(evidence.inputs["equal"]) - 1
    columns = np.exp(table) / np.exp(table).sum(axis=0)
    known = _said_of(
        mine,
        (
            (-math.log10(p), "a logarithm to the base 10"),
            (-math.log1p(p), "−log(1 + p)"),
            (-math.log1p(-p), "−log(1 − p)"),
            (1 - p, "1 − p, without a logarithm"),
            (-p, "−p, without a logarithm"),
            (p, "p itself"),
            (1 / p, "1 / p, without a logarithm"),
            (-p * math.log(p), "−p · log p, but each step counts once, however likely it is"),
            (-math.log(table[i].max()), "that of the likeliest symbol, whichever follows"),
            (-math.log(table[:, i].mean()), f"that of the mean of column {i}"),
            (-math.log(columns[i, i]), "that of a softmax over each column of the table"),
            (-np.log(table[i]).mean(), f"the mean surprise of all symbols after symbol {i}"),
            (-(table[i] * np.log(table[i])).sum(), f"the entropy of row {i}, whatever follows"),
            (-np.log(table).mean(), "the mean over all entries of the table"),
            (
                (math.log(V) - steps * math.log(p)) / (steps + 1),
                "the mean that includes log V for the first symbol, which is given",
            ),
            (
                -(math.log(table[:, i].mean()) + steps * math.log(p)) / (steps + 1),
                "the mean that includes a surprise of the first symbol, which is given",
            ),
            (round(-math.log(p), 2), "rounded"),
            (round(-math.log(p), 3), "rounded"),
        ),
    )
    more = math.exp(-mine) - p if abs(mine) < 50 else 0.0
    if not known and 1e-9 < more < 0.1:
        return f" Yours is the surprise of p + {number(more, 2)}, so do you add something to p?"
    factor = mine / -math.log(p)
    if not known and _near(factor * float(evidence.right("short.nll")), _short_loss(evidence)):
        return f" Yours is {number(factor)} times that, and so it is for the three short texts."
    return known


def _short_loss(evidence: Evidence) -> float:
    return float(evidence.yours("short.nll"))


def _of_many_steps(evidence: Evidence) -> str:
    """What else the loss of three texts may be computed from if one step is scored right; empty if
    it isn't known.
    """
    table, texts, each = (
        torch.from_numpy(evidence.inputs["table"]),
        _short(evidence),
        _surprises(evidence),
    )
    steps, V = torch.cat(each), len(table)
    mine, shortest = float(evidence.yours("short.nll")), min(map(len, texts))
    pairs = torch.cat([text[:-1] * V + text[1:] for text in texts]).unique()
    padded = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
    lengths = torch.tensor([len(text) for text in texts]).float()
    means = torch.stack([one.mean() for one in each])
    running = steps[0]
    for step in steps[1:]:
        running = (running + step) / 2
    known = _said_of(
        mine,
        (
            (
                torch.cat([one[:-1] for one in each]).mean(),
                "the mean without each text's last step",
            ),
            (
                torch.cat([one[1:] for one in each]).mean(),
                "the mean without each text's first step",
            ),
            (torch.stack([one[0] for one in each]).mean(), "the mean of the first steps alone"),
            (torch.cat(each[1:]).mean(), "the mean without the first text"),
            (torch.cat(each[:-1]).mean(), "the mean without the last text"),
            (
                torch.cat([one[: shortest - 1] for one in each]).mean(),
                "the mean of as many steps as the shortest text has",
            ),
            (torch.stack([one.sum() for one in each]).max(), "the sum of one text alone"),
            (-table.flatten()[pairs].log().mean(), "the mean in which each pair counts once"),
            (
                (means * lengths).sum() / lengths.sum(),
                "the mean of the texts' means, weighted by their symbols instead of their steps",
            ),
            (
                -table[padded[:, :-1], padded[:, 1:]].log().mean(),
                "the mean that includes steps of padding with symbol 0",
            ),
            (
                torch.cat([-table[t[:-1]][:, t[1:]].log().flatten() for t in texts]).mean(),
                "the mean over each current symbol with every following one of its text",
            ),
            (steps.max(), "the largest surprise"),
            (steps.median(), "the median over the steps"),
            (running, "made of repeated means of two numbers, in which the last steps weigh most"),
            (
                torch.cat([-table[text[:-2], text[2:]].log() for text in texts]).mean(),
                "the one for pairs that are two steps apart",
            ),
            (round(float(steps.mean()), 2), "rounded"),
            (round(float(steps.mean()), 3), "rounded"),
        ),
    )
    return known or _as_if_divided(evidence, mine)


def _as_if_divided(evidence: Evidence, mine: float) -> str:
    """A sentence if a mean is the sum of all surprises, divided by another whole number."""
    total = float(torch.cat(_surprises(evidence)).sum())
    by, steps = total / mine if mine else 0.0, sum(_lengths(evidence)) - 3
    whole = round(by)
    if whole < 1 or whole == steps or not math.isclose(by, whole, rel_tol=_ROUNDING):
        return ""
    lengths = _lengths(evidence)
    known = (
        (len(lengths), "the number of texts"),
        (steps - 1, "one less than the number of steps"),
        (steps + 1, "one more than the number of steps"),
        (sum(lengths) - 1, "one less than the number of symbols"),
        (sum(lengths), "the number of symbols"),
        (len(lengths) * (lengths[0] - 1), "the steps of the first text times the number of texts"),
    )
    which = " or ".join(said for value, said in known if value == whole)
    what = f", {which}" if which else ""
    return unwrapped(f""" The surprises of all {steps} steps add up to {number(total, 4)}, and yours
    is that divided by {whole}{what}.""")


def _known_perplexity(evidence: Evidence) -> str:
    """What else the perplexity may be computed from, if known; else empty."""
    table, means = evidence.inputs["table"], [float(one.mean()) for one in _surprises(evidence)]
    nll, mine = float(evidence.right("short.nll")), float(evidence.yours("short.perplexity"))
    probabilities = np.exp(-torch.cat(_surprises(evidence)).double().numpy())
    known = _said_of(
        mine,
        (
            (math.exp(means[-1]), "the one of the last text alone"),
            (math.exp(means[0]), "the one of the first text alone"),
            (math.exp(sum(means) / len(means)), "e to the mean of the texts' means"),
            (
                math.exp(nll / math.log(2)),
                "e to the mean in bits, but e goes with nats and 2 with bits",
            ),
            (1 / np.mean(probabilities), "1 over the mean of the probabilities"),
            (10**nll, "10 to the mean in nats"),
            (float(len(table)) ** nll, "V to the mean"),
            (nll, "the mean surprise itself"),
            (nll**2, "the square of the mean surprise"),
            (math.log(nll), "the logarithm of the mean surprise, but the opposite is asked for"),
            (math.expm1(nll), "e to the mean, minus 1"),
            (round(math.exp(nll), 1), "rounded"),
            (round(math.exp(nll), 2), "rounded"),
        ),
    )
    return known or (_as_if_divided(evidence, math.log(mine)) if mine > 0 else "")


def _worked_out(evidence: Evidence) -> Finding | None:
    """What the first step of the first text adds, and the mean of all."""
    if evidence.same("short"):
        return None if evidence.same("long", "possible") else _of_other_texts(evidence)
    if evidence.same("short.nll"):
        divided = _known_perplexity(evidence)
        return Finding(
            "another-perplexity",
            "Your perplexity doesn't match the mean surprise.",
            f"{_two_perplexities(evidence)}"
            f"{divided.replace('yours is that', 'the logarithm of yours is that')}",
            GUESS,
        )
    if not evidence.same("equal.nll") and not _as_if_divided(evidence, _short_loss(evidence)):
        i = int(evidence.inputs["equal"][0])
        p = float(evidence.inputs["table"][i, i])
        yours, right = numbers_apart(float(evidence.yours("equal.nll")), -math.log(p))
        return Finding(
            "another-surprise",
            "Your surprise of a step is wrong.",
            f"In a text of {len(evidence.inputs['equal'])} times symbol {i}, each step has the "
            f"probability p = {number(p)}, so the mean surprise is −log p = {right}. Your loss is "
            f"{yours}.{_of_equal_steps(evidence)}",
            GUESS,
        )
    said = (
        "Your surprise of a step is right, but your loss isn't the mean over all steps."
        if evidence.same("equal.nll")
        else "Your loss isn't the mean over all steps."
    )
    return Finding(
        "another-mean",
        said,
        f"The texts have {listed(n - 1 for n in _lengths(evidence))} steps, which makes "
        f"{sum(_lengths(evidence)) - 3} in total, all with the same weight."
        f"{_of_many_steps(evidence)} {_two_nlls(evidence)}",
        GUESS,
    )


TASK = Task(
    "Surprise and perplexity",
    nll_and_perplexity,
    GUESS,
    (
        Part(
            "The loss is the mean over all symbols.",
            2,
            matches("equal.nll", "short.nll", "possible.nll"),
        ),
        Part("The perplexity is e to the mean surprise.", 1, matches("short.perplexity")),
        Part("A long text is scored as well as a short one.", 1, matches("long")),
    ),
    properties=(_worked_out,),
    cases=("short", "long"),
)
