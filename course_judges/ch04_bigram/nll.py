"""Judges 04/nll: mean surprise and perplexity of texts under a table."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch04_bigram.outcomes import words
from course_judges.ch04_bigram.sections import COUNTING, GUESS
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, numbers_apart, unwrapped
from course_tasks.ch04_bigram.nll import RARE
from course_tasks.verdict import Finding


def nll_and_perplexity(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    """Mean negative log-likelihood of a symbol in nats, and the perplexity."""
    current = torch.cat([text[:-1] for text in texts])  # the current symbols (N,)
    following = torch.cat([text[1:] for text in texts])  # the next symbols (N,)
    likely = probabilities[current, following]  # the probabilities of the steps (N,)
    surprises = -likely.log()  # the surprises of the steps (N,)
    nll = surprises.mean()  # your loss
    perplexity = nll.exp()  # your perplexity
    return nll.item(), perplexity.item()


def _step_logs(probabilities: Tensor, text: Tensor) -> Tensor:
    """(N−1,) log P(next | current) along one text."""
    return probabilities[text[:-1], text[1:]].log()


def _with_perplexity(nll: Tensor | float) -> tuple[float, float]:
    return float(nll), float(np.exp(float(nll)))


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


_sign_forgotten = mistake(
    "Your loss has the wrong sign.",
    lambda e: f"Log-probabilities are negative, so a surprise is minus one of them. {_two_nlls(e)}",
    cases=("short.nll",),
)(Like("left-out-the-sign-in-the-surprises-of-the-steps"))

_bits_not_nats = mistake(
    "You used the base-2 logarithm, which gives bits, but this course measures in nats.",
    lambda e: f"{_two_nlls(e)} The ratio of the two is 1 / log 2 = 1.443.",
    cases=("short.nll",),
)(Like("used-log2-instead-of-log-in-the-surprises-of-the-steps"))


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


_sum_not_mean = mistake(
    "You summed the surprises but didn't divide by their number.",
    lambda e: unwrapped(f"""You summed {sum(_lengths(e)) - 3} steps. {_two_nlls(e)} A sum grows with
    the text, so you can't use it to compare two texts."""),
    cases=("short.nll",),
)(Like("used-sum-instead-of-mean-in-your-loss"))


@mistake(
    "You divided by the number of symbols, but the first symbol of a text isn't predicted.",
    lambda e: unwrapped(f"""The three texts have {sum(_lengths(e))} symbols but only
    {sum(_lengths(e)) - 3} steps. {_two_nlls(e)}"""),
    cases=("short.nll",),
)
def _divides_by_tokens(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    total = -torch.cat([_step_logs(probabilities, t) for t in texts]).sum()
    return _with_perplexity(total / sum(len(t) for t in texts))


_transposed_table = mistake(
    "You read the table as `P[next, current]` instead of `P[current, next]`.",
    _two_nlls,
    COUNTING,
    cases=("short.nll",),
)(
    Like(
        "exchanged-the-indices-the-current-symbols-and-the-next-symbols-in-the-probabilities-of-the-steps"
    )
)


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


_log_of_mean_probability = mistake(
    "You averaged the probabilities before taking the logarithm, but the logarithm comes first.",
    lambda e: f"{_two_nlls(e)} A mean of probabilities hides the steps that surprise most.",
    cases=("short.nll",),
)(Like("used-the-mean-over-all-items-of-the-probabilities-of-the-steps"))


@mistake(
    "You joined the texts, so you also scored the steps from one text to the next.",
    lambda e: unwrapped(f"""The three texts have {sum(_lengths(e)) - 3} steps, but joined they have
    {sum(_lengths(e)) - 1}. {_two_nlls(e)}"""),
    COUNTING,
    cases=("short.nll",),
)
def _pairs_across_texts(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    return nll_and_perplexity(probabilities, [torch.cat(texts)])


def _missed_seam(evidence: Evidence) -> str:
    first, second = (evidence.inputs[name] for name in ("first", "second"))
    n = len(first)
    return unwrapped(f"""Your mean includes the steps from one text to the next, such as the one
    from symbol {first[-1]} to symbol {second[0]}, but not the first step of each later text. The
    first text has {n} symbols, so if you join the texts, its last symbol is at position {n - 1} and
    the step to the next text starts there. You left out the step that starts at position {n}.
    {_two_nlls(evidence)}""")


@mistake(
    "You joined the texts and left out the steps beside the seams instead of those across them.",
    _missed_seam,
    COUNTING,
    cases=("short.nll",),
)
def _seam_in_another_place(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    logs = _step_logs(probabilities, torch.cat(texts))
    seams = torch.tensor([len(text) for text in texts]).cumsum(0)[:-1]
    return _with_perplexity(-logs[~torch.isin(torch.arange(len(logs)), seams)].mean())


def _of_a_single_symbol(evidence: Evidence) -> str:
    stops = "long" in evidence.answers.errors
    said = f", and the error says: “{words(evidence, 'long')}”" if stops else ""
    return unwrapped(f"""The other text has {len(evidence.inputs["long"])} symbols{said}. A single
    symbol has no step and should add nothing, but the mean over no steps is 0 / 0. Join the steps
    of all texts first, and take one mean.""")


@mistake(
    lambda e: (
        "Your function stops with an error when one of the texts has a single symbol."
        if "long" in e.answers.errors
        else "Your loss is NaN when one of the texts has a single symbol."
    ),
    _of_a_single_symbol,
    recognized=lambda e: (
        e.same("short", "possible")
        and e.inputs["single"].size > 0
        and ("long" in e.answers.errors or bool(np.isnan(e.yours("long.nll")).all()))
    ),
)
def _mean_of_no_steps(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    means = torch.stack([-_step_logs(probabilities, text).mean() for text in texts])
    steps = torch.tensor([len(text) - 1 for text in texts])
    return _with_perplexity((means * steps).sum() / steps.sum())


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


_perplexity_of_two = mistake(
    "Your perplexity is a power of 2, but a loss in nats needs a power of e.",
    _two_perplexities,
)(Like("used-exp2-instead-of-exp-in-your-perplexity"))


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


def _with_perplexities(
    mean: Callable[[list[Tensor]], Tensor],
) -> Callable[[Tensor, list[Tensor]], tuple[float, float]]:
    """An answer whose perplexity is made of the surprises of each text."""

    def answer(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
        each = [-_step_logs(probabilities, text) for text in texts]
        return torch.cat(each).mean().item(), mean(each).item()

    return answer


_mean_of_perplexities = mistake(
    "Your perplexity is a mean of several perplexities instead of e to the mean surprise.",
    _two_perplexities,
    cases=("short",),
    also=(_with_perplexities(lambda each: torch.stack([one.mean().exp() for one in each]).mean()),),
)(_with_perplexities(lambda each: torch.cat(each).exp().mean()))


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


def _each_step(
    surprises: Callable[[Tensor, Tensor, Tensor], Tensor],
) -> Callable[[Tensor, list[Tensor]], tuple[float, float]]:
    """An answer with other surprises, made of the table and of what the steps go from and to."""

    def answer(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
        current, following = (
            torch.cat([text[part] for text in texts]) for part in (slice(-1), slice(1, None))
        )
        return _with_perplexity(surprises(probabilities, current, following).mean())

    return answer


_entropy_of_the_rows = mistake(
    "You averaged the entropies of the rows, whatever symbol really followed.",
    lambda e: unwrapped(f"""An entropy is the surprise that a row expects on average. Look up the
    probability of the symbol that came. {_two_nlls(e)}"""),
    cases=("short.nll",),
)(_each_step(lambda table, current, _: torch.special.entr(table).sum(dim=1)[current]))

_likeliest_symbol = mistake(
    "You took the surprise of the likeliest symbol, whichever really followed.",
    lambda e: f"Look up the probability of the symbol that came. {_two_nlls(e)}",
    cases=("short.nll",),
)(_each_step(lambda table, current, _: -table.amax(dim=1).log()[current]))

_each_pair_once = mistake(
    "You counted each pair only once, however often it occurs.",
    lambda e: f"Every step has the same weight, so a pair that comes twice is two. {_two_nlls(e)}",
    cases=("short.nll",),
)(_each_step(lambda table, *pairs: -table[tuple(torch.stack(pairs).unique(dim=1))].log()))


@mistake(
    "You also counted a surprise for the first symbol of each text, which is given.",
    lambda e: f"The first symbol follows nothing, so it isn't predicted. {_two_nlls(e)}",
    COUNTING,
    cases=("short.nll",),
)
def _first_symbols_predicted(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    first = torch.full((len(texts),), math.log(len(probabilities)))
    steps = torch.cat([_step_logs(probabilities, text) for text in texts])
    return _with_perplexity(torch.cat([first, -steps]).mean())


@mistake(
    "You weighted the mean of each text by its symbols instead of its steps.",
    lambda e: f"A text of N symbols has only N − 1 steps. {_two_nlls(e)}",
    COUNTING,
    cases=("short.nll",),
)
def _weighted_by_symbols(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    means = torch.stack([-_step_logs(probabilities, text).mean() for text in texts])
    lengths = torch.tensor([len(text) for text in texts])
    return _with_perplexity((means * lengths).sum() / lengths.sum())


def _worked_out(evidence: Evidence) -> Finding | None:
    """What the first step of the first text adds, and the mean of all."""
    if evidence.same("short"):
        return None if evidence.same("long", "possible") else _of_other_texts(evidence)
    if evidence.same("short.nll"):
        return Finding(
            "another-perplexity",
            "Your perplexity doesn't match the mean surprise.",
            _two_perplexities(evidence),
            GUESS,
        )
    if not evidence.same("equal.nll"):
        i = int(evidence.inputs["equal"][0])
        p = float(evidence.inputs["table"][i, i])
        yours, right = numbers_apart(float(evidence.yours("equal.nll")), -math.log(p))
        return Finding(
            "another-surprise",
            "Your surprise of a step is wrong.",
            f"In a text of {len(evidence.inputs['equal'])} times symbol {i}, each step has the "
            f"probability p = {number(p)}, so the mean surprise is −log p = {right}. Your loss is "
            f"{yours}.",
            GUESS,
        )
    return Finding(
        "another-mean",
        "Your surprise of a step is right, but your loss isn't the mean over all steps.",
        f"The texts have {listed(n - 1 for n in _lengths(evidence))} steps, which makes "
        f"{sum(_lengths(evidence)) - 3} in total, all with the same weight. {_two_nlls(evidence)}",
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
    steps={
        "the current symbols": Step("The last symbol of a text is followed by nothing.", COUNTING),
        "the next symbols": Step("The first symbol of a text is given, not predicted.", COUNTING),
        "the probabilities of the steps": Step(
            "Row i of the table holds what may follow symbol i, so a step is `P[current, next]`.",
            COUNTING,
        ),
        "the surprises of the steps": Step(
            "The surprise of a step with probability p is −log p, which is 0 only for p = 1."
        ),
        "your loss": Step("A mean, unlike a sum, can be compared between texts of any length."),
        "your perplexity": Step(
            "e to the mean surprise is the number of equally likely symbols that would be as hard "
            "to guess."
        ),
    },
)
