"""How the tasks of chapter 04 are judged: right answers, and wrong ones by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_lib.tasks.answers import Array
from course_lib.tasks.ch04_bigram.probes import DRAWS
from course_lib.tasks.judging import Evidence, Mistake, Part, Task, matches
from course_lib.tasks.verdict import Finding, Section


def _section(heading: str) -> Section:
    return Section("04-bigram", heading)


COUNTING = _section("Counting pairs")
SHARES = _section("From counts to probabilities")
GUESS = _section("How good is a guess?")
UNSEEN = _section("Pairs that never occurred")
TABLE = _section("The same as a table of logits")
START = _section("Where a model starts")
FLAT = _section("One loss for a batch of guesses")
STEP = _section("One step down the slope")
WRITING = _section("Writing with it")


def _wrong_shape(evidence: Evidence, value: str) -> bool:
    mine = evidence.answers.array(value)
    return mine is None or mine.shape != evidence.right(value).shape


def _words(evidence: Evidence, case: str) -> str:
    """What an error said, ready to be quoted in a sentence."""
    return " ".join(evidence.answers.errors[case].message.split()).rstrip(".") or "nothing"


# --- probabilities --------------------------------------------------------------------------------


def bigram_probabilities(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    """Add-k estimate of P(next | current), (V, V)."""
    return _shares(_pair_counts(tokens[:, :-1], tokens[:, 1:], vocab_size) + k)


def _pair_counts(current: Tensor, following: Tensor, V: int) -> Tensor:
    pairs = current.flatten() * V + following.flatten()  # (B·(T−1),)
    return torch.bincount(pairs, minlength=V * V).view(V, V).double()


def _shares(counts: Tensor) -> Tensor:
    return counts / counts.sum(dim=1, keepdim=True)


def _counts_of(tokens: Tensor, V: int) -> Tensor:
    return _pair_counts(tokens[:, :-1], tokens[:, 1:], V)


def _transposed_counts(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _shares(_counts_of(tokens, vocab_size).T + k)


def _divides_columns(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size) + k
    return counts / counts.sum(dim=0, keepdim=True)


def _keepdim_forgotten(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size) + k
    return counts / counts.sum(dim=1)


def _pairs_across_rows(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    line = tokens.flatten()  # (B·T,)
    return _shares(_pair_counts(line[:-1], line[1:], vocab_size) + k)


def _unshifted_pairs(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _shares(_pair_counts(tokens, tokens, vocab_size) + k)


def _lost_repeats(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = torch.zeros(vocab_size, vocab_size, dtype=torch.float64)
    counts[tokens[:, :-1], tokens[:, 1:]] += 1
    return _shares(counts + k)


def _joint_probabilities(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size) + k
    return counts / counts.sum()


def _counts_returned(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _counts_of(tokens, vocab_size) + k


def _denominator_without_V(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size)
    return (counts + k) / (counts.sum(dim=1, keepdim=True) + k)


def _denominator_not_smoothed(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size)
    return (counts + k) / counts.sum(dim=1, keepdim=True)


def _smooths_probabilities(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _shares(_shares(_counts_of(tokens, vocab_size)) + k)


def _no_smoothing(tokens: Tensor, vocab_size: int, k: float) -> Tensor:  # noqa: ARG001
    return _shares(_counts_of(tokens, vocab_size))


def _seen_rows_are(smoothed: Callable[[Array, float], Array]) -> Callable[[Evidence], bool]:
    """Compares the rows of symbols that were seen; 0 / 0 in the others can end in several ways."""

    def recognised(evidence: Evidence) -> bool:
        V, k = evidence.number("V"), float(evidence.inputs["k"])
        counts = _counts_of(torch.from_numpy(evidence.inputs["sparse"]), V).numpy()
        seen = counts.sum(axis=1) > 0
        return evidence.same("counted") and np.allclose(
            evidence.yours("smoothed")[seen], smoothed(counts[seen], k), atol=1e-5
        )

    return recognised


def _row_sum(evidence: Evidence, case: str = "counted") -> str:
    sums = evidence.yours(case).sum(axis=1)
    row = int(np.argmax(np.nan_to_num(np.abs(sums - 1), nan=np.inf)))
    return (
        f"Row {row} of your table sums to {sums[row]:.3g}; the probabilities of what may follow a"
        " symbol sum to 1."
    )


def _busiest(evidence: Evidence) -> tuple[int, int, int]:
    """The pair that occurs most often in the complete text, and how often."""
    counts = _counts_of(torch.from_numpy(evidence.inputs["complete"]), evidence.number("V")).numpy()
    i, j = (int(n) for n in np.unravel_index(int(counts.argmax()), counts.shape))
    return i, j, int(counts[i, j])


def _entry_at_busiest(evidence: Evidence) -> str:
    i, j, _ = _busiest(evidence)
    mine, right = evidence.yours("counted")[i, j], evidence.right("counted")[i, j]
    return (
        f"For symbol {j} after symbol {i} you have {mine:.3f}; counted in the rows it is"
        f" {right:.3f}."
    )


def _k_effect(evidence: Evidence) -> str:
    k, V = float(evidence.inputs["k"]), evidence.number("V")
    sums = evidence.yours("smoothed").sum(axis=1)
    row = int(np.argmax(np.where(np.isfinite(sums), np.abs(sums - 1), 0.0)))
    return (
        f"With k = {k:g} and V = {V}, row {row} of your table sums to {sums[row]:.3g}. The"
        f" numerators of a row gain V · k = {V * k:g} together, so its denominator must gain as"
        " much."
    )


def _unseen_row(evidence: Evidence) -> str:
    unseen = int(evidence.inputs["sparse"][0, -1])
    V = evidence.number("V")
    values = evidence.yours("smoothed")[unseen]
    k = float(evidence.inputs["k"])
    return (
        f"In the texts with k = {k:g} nothing ever follows symbol {unseen}. Your row for it holds"
        f" {values[0]:.3g}; every entry should be k / (V · k) = 1 / {V}."
    )


def _rows_are_no_distributions(evidence: Evidence) -> Finding | None:
    for case, section in (("counted", SHARES), ("smoothed", UNSEEN)):
        if not np.allclose(evidence.yours(case).sum(axis=1), 1, atol=1e-4):
            return Finding(
                "rows-do-not-sum-to-one",
                "Your rows are no probability distributions.",
                _row_sum(evidence, case),
                section,
            )
    return None


PROBABILITIES = Task(
    "Bigram probabilities",
    bigram_probabilities,
    SHARES,
    (
        Part(
            "Without smoothing (`k = 0`), each row holds the shares of what follows in the same"
            " text.",
            2,
            matches("counted"),
        ),
        Part(
            "With `k > 0` every pair gets its share, and a row without a single count is uniform.",
            2,
            matches("smoothed"),
        ),
    ),
    (
        Mistake(
            "transposed-counts",
            _transposed_counts,
            "Your table is turned: rows stand for the next symbol and columns for the current one.",
            _entry_at_busiest,
            COUNTING,
        ),
        Mistake(
            "divides-columns",
            _divides_columns,
            "You divided each column by its sum.",
            lambda e: (
                "Your columns sum to 1: that is how often each symbol stood before a given one."
                f" {_row_sum(e)}"
            ),
            SHARES,
        ),
        Mistake(
            "keepdim-forgotten",
            _keepdim_forgotten,
            "The row sums were spread along the wrong axis; is a `keepdim=True` missing?",
            lambda e: (
                f"`counts.sum(1)` has shape ({e.number('V')},), so column j is divided by the sum"
                f" of row j. {_row_sum(e)}"
            ),
            SHARES,
        ),
        Mistake(
            "pairs-across-rows",
            _pairs_across_rows,
            "You counted pairs across the end of a row: the last symbol of one text with the first"
            " of the next.",
            lambda e: (
                f"{e.number('B')} texts of {e.number('T')} symbols have {e.number('B')} ·"
                f" {e.number('T') - 1} = {e.number('B') * (e.number('T') - 1)} pairs; one long row"
                f" of them has {e.number('B') * e.number('T') - 1}."
            ),
            COUNTING,
        ),
        Mistake(
            "unshifted-targets",
            _unshifted_pairs,
            "You paired every symbol with itself, not with the one after it.",
            lambda e: (
                f"Without smoothing your table has {np.diag(e.yours('counted')).mean():.2g} on the"
                " diagonal and 0 elsewhere."
            ),
            COUNTING,
        ),
        Mistake(
            "lost-repeats",
            _lost_repeats,
            "Pairs that occur more than once were counted once.",
            lambda e: (
                "`counts[i, j] += 1` with index tensors adds 1 to each distinct place, however"
                " often it is named. "
                + "The pair ({}, {}) occurs {} times here.".format(*_busiest(e))
            ),
            COUNTING,
        ),
        Mistake(
            "joint-probabilities",
            _joint_probabilities,
            "You divided by the sum of the whole table: that is the probability of the pair, not of"
            " the next symbol.",
            lambda e: f"Your whole table sums to {e.yours('counted').sum():.3g}. {_row_sum(e)}",
            SHARES,
        ),
        Mistake(
            "counts-not-probabilities",
            _counts_returned,
            "You returned the counts themselves; no row was divided by its sum.",
            _row_sum,
            SHARES,
        ),
        Mistake(
            "denominator-without-V",
            _denominator_without_V,
            "Your denominator grew by `k` once; `k` was added to V counts in the row.",
            _k_effect,
            UNSEEN,
        ),
        Mistake(
            "denominator-not-smoothed",
            _denominator_not_smoothed,
            "You added `k` to every count and divided by the sums from before.",
            _k_effect,
            UNSEEN,
            recognised=_seen_rows_are(lambda n, k: (n + k) / n.sum(1, keepdims=True)),
        ),
        Mistake(
            "no-smoothing",
            _no_smoothing,
            "`k` is not used.",
            _unseen_row,
            UNSEEN,
            recognised=_seen_rows_are(lambda n, _: n / n.sum(1, keepdims=True)),
        ),
        Mistake(
            "smooths-probabilities",
            _smooths_probabilities,
            "You added `k` to the probabilities, after the division; it belongs to the counts.",
            _unseen_row,
            UNSEEN,
        ),
    ),
    (_rows_are_no_distributions,),
)


# --- nll ------------------------------------------------------------------------------------------


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


def _mean_over_texts(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    means = [-_step_logs(probabilities, text).mean() for text in texts]
    return _with_perplexity(torch.stack(means).mean())


def _sum_not_mean(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    with np.errstate(over="ignore"):
        return _with_perplexity(-torch.cat([_step_logs(probabilities, t) for t in texts]).sum())


def _divides_by_tokens(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    total = -torch.cat([_step_logs(probabilities, t) for t in texts]).sum()
    return _with_perplexity(total / sum(len(t) for t in texts))


def _table_turned(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    return nll_and_perplexity(probabilities.T, texts)


def _itself_after_itself(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    steps = torch.cat([probabilities[t, t].log() for t in texts])
    return _with_perplexity(-steps.mean())


def _log_of_mean(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    steps = torch.cat([probabilities[t[:-1], t[1:]] for t in texts])
    return _with_perplexity(-steps.mean().log())


def _one_long_text(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    return nll_and_perplexity(probabilities, [torch.cat(texts)])


def _log_of_product(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    steps = torch.cat([probabilities[t[:-1], t[1:]] for t in texts])
    return _with_perplexity(-steps.prod().log() / len(steps))


def _bits(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    nll, perplexity = nll_and_perplexity(probabilities, texts)
    return nll / math.log(2), perplexity


def _no_minus(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    return _with_perplexity(-nll_and_perplexity(probabilities, texts)[0])


def _upside_down(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    nll = nll_and_perplexity(probabilities, texts)[0]
    return nll, math.exp(-nll)


def _perplexity_of_two(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    nll = nll_and_perplexity(probabilities, texts)[0]
    return nll, 2**nll


def _perplexity_of_the_sum(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    nll = nll_and_perplexity(probabilities, texts)[0]
    with np.errstate(over="ignore"):
        return nll, float(np.exp(nll * sum(len(t) - 1 for t in texts)))


def _swapped(probabilities: Tensor, texts: list[Tensor]) -> tuple[float, float]:
    nll, perplexity = nll_and_perplexity(probabilities, texts)
    return perplexity, nll


def _nll_is(factor: float) -> Callable[[Evidence], bool]:
    def recognised(evidence: Evidence) -> bool:
        wrong = factor * evidence.right("short.nll")
        return np.allclose(evidence.yours("short.nll"), wrong, rtol=1e-4)

    return recognised


def _two_nlls(evidence: Evidence) -> str:
    return (
        f"Yours is {float(evidence.yours('short.nll')):.4g} for the three short texts; "
        f"the mean surprise of a symbol is {float(evidence.right('short.nll')):.4g} nats."
    )


def _two_perplexities(evidence: Evidence) -> str:
    nll = float(evidence.right("short.nll"))
    return (
        f"Your perplexity is {float(evidence.yours('short.perplexity')):.4g}. "
        f"With {nll:.4g} nats a symbol it is e^{nll:.4g} = {math.exp(nll):.4g}: "
        "the number of equally likely symbols that would be as hard to guess."
    )


def _underflow(evidence: Evidence) -> str:
    steps = len(evidence.inputs["long"]) - 1
    exponent = float(evidence.right("long.nll")) * steps / math.log(10)
    return (
        f"The long text has {steps} steps and a probability near 10^−{exponent:.0f}, which is"
        " rounded to 0, and −log 0 is infinite. Sum the logarithms."
    )


def _lengths(evidence: Evidence) -> list[int]:
    return [len(evidence.inputs[name]) for name in ("first", "second", "third")]


NLL = Task(
    "Surprise and perplexity",
    nll_and_perplexity,
    GUESS,
    (
        Part(
            "The loss is the mean surprise of a symbol, over all texts together.",
            2,
            matches("short.nll"),
        ),
        Part("The perplexity is e to the mean surprise.", 1, matches("short.perplexity")),
        Part("A long text is scored as well as a short one.", 1, matches("long")),
    ),
    (
        Mistake(
            "swapped-results",
            _swapped,
            "You returned the two numbers in the other order.",
            lambda e: f"The mean surprise comes first, the perplexity second. {_two_nlls(e)}",
            GUESS,
        ),
        Mistake(
            "sign-forgotten",
            _no_minus,
            "The minus sign is missing: a log-probability is below 0, a surprise above.",
            _two_nlls,
            GUESS,
            recognised=_nll_is(-1.0),
        ),
        Mistake(
            "bits-not-nats",
            _bits,
            "You used the logarithm to the base 2, which counts bits; this course counts nats.",
            lambda e: _two_nlls(e) + " The ratio is 1 / log 2 = 1.443.",
            GUESS,
            recognised=_nll_is(1 / math.log(2)),
        ),
        Mistake(
            "mean-over-texts",
            _mean_over_texts,
            "You took the mean of each text first, and then the mean of the texts.",
            lambda e: (
                f"The texts have {', '.join(str(n - 1) for n in _lengths(e))} steps; in a mean of"
                " means a step of the shortest counts"
                f" {(max(_lengths(e)) - 1) / (min(_lengths(e)) - 1):.1f} times as much as one of"
                " the longest. " + _two_nlls(e)
            ),
            GUESS,
            cases=("short",),
        ),
        Mistake(
            "sum-not-mean",
            _sum_not_mean,
            "You summed the surprises and did not divide by their number.",
            lambda e: (
                f"{sum(_lengths(e)) - 3} steps were summed. {_two_nlls(e)} A sum grows with the"
                " text, so it cannot compare two texts."
            ),
            GUESS,
            cases=("short.nll",),
        ),
        Mistake(
            "divides-by-tokens",
            _divides_by_tokens,
            "You divided by the number of symbols; the first symbol of a text is nobody's guess.",
            lambda e: (
                f"The three texts hold {sum(_lengths(e))} symbols but {sum(_lengths(e)) - 3} steps."
                f" {_two_nlls(e)}"
            ),
            GUESS,
            cases=("short.nll",),
        ),
        Mistake(
            "transposed-table",
            _table_turned,
            "You read the table the other way round: `P[next, current]` in place of `P[current,"
            " next]`.",
            _two_nlls,
            COUNTING,
            cases=("short.nll",),
        ),
        Mistake(
            "unshifted-targets",
            _itself_after_itself,
            "You looked up each symbol after itself, not the next one after it.",
            lambda e: f"Only the diagonal of the table was read. {_two_nlls(e)}",
            COUNTING,
            cases=("short.nll",),
        ),
        Mistake(
            "log-of-mean-probability",
            _log_of_mean,
            "You averaged the probabilities and took the logarithm at the end; the logarithm comes"
            " first.",
            lambda e: _two_nlls(e) + " A mean of probabilities hides the steps that surprise most.",
            GUESS,
            cases=("short.nll",),
        ),
        Mistake(
            "pairs-across-texts",
            _one_long_text,
            "You joined the texts, and scored the step from the end of one to the start of the"
            " next.",
            lambda e: (
                f"Three texts have {sum(_lengths(e)) - 3} steps; joined they have"
                f" {sum(_lengths(e)) - 1}. {_two_nlls(e)}"
            ),
            COUNTING,
            cases=("short.nll",),
        ),
        Mistake(
            "log-of-product",
            _log_of_product,
            "You multiplied the probabilities first; the product of a long text is too small for a"
            " floating-point number.",
            _underflow,
            GUESS,
            recognised=lambda e: e.same("short.nll") and not np.isfinite(e.yours("long.nll")).all(),
        ),
        Mistake(
            "perplexity-upside-down",
            _upside_down,
            "Your perplexity is e to the log-likelihood; the sign is the wrong way round.",
            _two_perplexities,
            GUESS,
        ),
        Mistake(
            "perplexity-of-two",
            _perplexity_of_two,
            "Your perplexity is a power of 2, and the loss is in nats: the two need the same base.",
            _two_perplexities,
            GUESS,
        ),
        Mistake(
            "perplexity-of-the-sum",
            _perplexity_of_the_sum,
            "Your perplexity is e to the sum of the surprises; it is e to their mean.",
            _two_perplexities,
            GUESS,
            cases=("short",),
        ),
    ),
)


# --- cross-entropy --------------------------------------------------------------------------------


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


def _softmax_first(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits.softmax(dim=-1), targets)


def _overflows(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits - logits.exp().sum(dim=-1, keepdim=True).log(), targets).mean()


def _log_of_softmax(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.softmax(dim=-1).log(), targets).mean()


def _ignored_counted(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.log_softmax(dim=-1), targets).sum() / targets.numel()


def _ignored_as_index(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _ignored_as_zero(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits, targets.clamp(min=0))


def _summed(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.log_softmax(dim=-1), targets).sum()


def _mean_of_row_means(logits: Tensor, targets: Tensor) -> Tensor:
    rows = [cross_entropy(row[None], aim[None]) for row, aim in zip(logits, targets, strict=True)]
    return torch.stack(rows).mean()


def _unsigned(logits: Tensor, targets: Tensor) -> Tensor:
    return -cross_entropy(logits, targets)


def _softmax_over_time(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.log_softmax(dim=1), targets).mean()


def _cross_entropy_in_bits(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits, targets) / math.log(2)


def _not_flattened(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits, targets)


def _takes_time_for_classes(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("plain")
    return raised is not None and "Expected target size" in raised.message


def _is_overflow(evidence: Evidence) -> bool:
    return evidence.same("plain") and not np.isfinite(evidence.yours("shifted")).all()


def _is_log_of_softmax(evidence: Evidence) -> bool:
    return evidence.same("plain", "shifted") and not evidence.same("spread")


def _uses_ignored_as_index(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("ignored")
    return evidence.same("plain") and raised is not None and not raised.not_attempted


def _two_losses(case: str) -> Callable[[Evidence], str]:
    def say(evidence: Evidence) -> str:
        mine, right = (np.ravel(v)[0] for v in (evidence.yours(case), evidence.right(case)))
        return f"Your loss is {mine:.4g}; it should be {right:.4g} (with {evidence.sizes()})."

    return say


def _ignored_count(evidence: Evidence) -> str:
    ignored = evidence.inputs["ignored"]
    return (
        f"Of {ignored.size} targets {int((ignored < 0).sum())} are negative and count for nothing, "
        f"so the mean is over {int((ignored >= 0).sum())}."
    )


CROSS_ENTROPY = Task(
    "Cross-entropy by hand",
    cross_entropy,
    FLAT,
    (
        Part("The mean surprise of the targets comes out.", 1, matches("plain")),
        Part("Negative targets count for nothing.", 1, matches("ignored")),
        Part("Adding the same large number to all logits changes nothing.", 1, matches("shifted")),
        Part("A target with a vanishing probability gets its finite loss.", 1, matches("spread")),
    ),
    (
        Mistake(
            "softmax-before-cross-entropy",
            _softmax_first,
            "You took the softmax twice: the probabilities were treated as logits once more.",
            lambda e: (
                "Probabilities lie between 0 and 1, so a second softmax makes them almost equal:"
                f" with V = {e.number('V')} the loss stays near log {e.number('V')} ="
                f" {math.log(e.number('V')):.3f} and can never come near 0."
                f" {_two_losses('plain')(e)}"
            ),
            FLAT,
            cases=("plain",),
        ),
        Mistake(
            "loss-not-flattened",
            _not_flattened,
            "The logits went into `F.cross_entropy` as (B, T, V); it takes the second size for the"
            " classes.",
            lambda e: (
                f"It took T = {e.number('T')} for the number of classes. It says: "
                f"“{_words(e, 'plain')}”."
            ),
            FLAT,
            recognised=_takes_time_for_classes,
        ),
        Mistake(
            "sign-forgotten",
            _unsigned,
            "The minus sign is missing: a log-probability is below 0, a loss above.",
            _two_losses("plain"),
            GUESS,
            cases=("plain",),
        ),
        Mistake(
            "sum-not-mean",
            _summed,
            "You summed the losses and did not divide by their number.",
            lambda e: (
                f"The sum grows with the batch: {e.number('B')} · {e.number('T')} targets here."
                f" {_two_losses('plain')(e)}"
            ),
            GUESS,
            cases=("plain",),
        ),
        Mistake(
            "bits-not-nats",
            _cross_entropy_in_bits,
            "You used the logarithm to the base 2, which counts bits; this course counts nats.",
            lambda e: f"{_two_losses('plain')(e)} The ratio is 1 / log 2 = 1.443.",
            GUESS,
            cases=("plain",),
        ),
        Mistake(
            "softmax-over-time",
            _softmax_over_time,
            "You normalised over the positions (T); the V symbols compete with each other at each"
            " position.",
            lambda e: (
                f"Your probabilities sum to 1 down each column of T = {e.number('T')} positions,"
                f" not over the V = {e.number('V')} symbols. {_two_losses('plain')(e)}"
            ),
            TABLE,
            cases=("plain",),
        ),
        Mistake(
            "ignored-indexed",
            _ignored_as_index,
            "A negative target was used as the number of a symbol.",
            lambda e: (
                "It says:"
                f" “{_words(e, 'ignored')}”."
                f" {_ignored_count(e)} Take them out before you look anything up."
            ),
            FLAT,
            recognised=_uses_ignored_as_index,
        ),
        Mistake(
            "ignored-counted",
            _ignored_counted,
            "You left the ignored targets out of the sum, and counted them in the division.",
            lambda e: f"{_ignored_count(e)} {_two_losses('ignored')(e)}",
            FLAT,
            cases=("plain", "ignored"),
        ),
        Mistake(
            "ignored-as-zero",
            _ignored_as_zero,
            "Ignored targets were replaced by symbol 0, and then counted as if it were the answer.",
            lambda e: f"{_ignored_count(e)} {_two_losses('ignored')(e)}",
            FLAT,
            cases=("plain", "ignored"),
        ),
        Mistake(
            "mean-of-row-means",
            _mean_of_row_means,
            "You took the mean of each row first, and then the mean of the rows.",
            lambda e: (
                f"{_ignored_count(e)} The rows hold"
                f" {', '.join(str(int(n)) for n in (e.inputs['ignored'] >= 0).sum(axis=1))} of"
                f" them, so a mean of means weighs them unequally. {_two_losses('ignored')(e)}"
            ),
            FLAT,
            cases=("plain", "ignored"),
        ),
        Mistake(
            "overflow",
            _overflows,
            "The exponential overflows: subtract the largest logit of each position first.",
            lambda e: (
                f"With logits near {float(e.inputs['shift']):.0f}, `exp` is infinite and your loss"
                f" is {float(e.yours('shifted')):.3g}. Only differences between logits matter, so"
                " subtracting the maximum changes no probability."
            ),
            TABLE,
            recognised=_is_overflow,
        ),
        Mistake(
            "log-of-softmax",
            _log_of_softmax,
            "You took the logarithm of rounded probabilities.",
            lambda e: (
                "Where one logit is 900 above the rest, the others' probabilities are rounded to 0"
                f" before the logarithm sees them. {_two_losses('spread')(e)} Stay with logarithms:"
                " log p = logit − log Σ exp(logits)."
            ),
            TABLE,
            recognised=_is_log_of_softmax,
        ),
    ),
)


# --- sgd-step -------------------------------------------------------------------------------------


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


def _walks(update: _Update) -> Callable[..., tuple[Tensor, Tensor]]:
    """An answer that records the loss and then changes the table in its own way."""

    def answer(
        table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
    ) -> tuple[Tensor, Tensor]:
        losses = []
        for _ in range(steps):
            losses.append(_batch_loss(table, x, y))
            table = update(table, x, y, learning_rate)
        return table, torch.stack(losses)

    return answer


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


def _loss_afterwards(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    losses = []
    for _ in range(steps):
        table = table - learning_rate * _gradient(table, x, y)
        losses.append(_batch_loss(table, x, y))
    return table, torch.stack(losses)


def _adam(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    table = table.clone().requires_grad_()
    optimiser = torch.optim.AdamW([table], lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = _batch_loss(table, x, y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.detach())
    return table.detach(), torch.stack(losses)


def _without_one_hot(table: Tensor, x: Tensor, y: Tensor) -> Tensor:
    probabilities = table[x.flatten()].softmax(dim=-1) / y.numel()  # (B·T, V)
    return torch.zeros_like(table).index_add(0, x.flatten(), probabilities)


def _assigned_gradient(table: Tensor, x: Tensor, y: Tensor) -> Tensor:
    rows = table[x.flatten()].softmax(dim=-1)  # (B·T, V)
    rows[torch.arange(y.numel()), y.flatten()] -= 1
    gradient = torch.zeros_like(table)
    gradient[x.flatten()] += rows / y.numel()
    return gradient


def _fresh_table(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return descend(torch.randn(table.shape, generator=generator), x, y, learning_rate, steps)


def _one_step_only(
    table: Tensor, x: Tensor, y: Tensor, learning_rate: float, steps: int
) -> tuple[Tensor, Tensor]:
    table, losses = descend(table, x, y, learning_rate, 1)
    return table, losses.expand(steps)


def _untouched(evidence: Evidence) -> Array:
    """(V,) True where a symbol does not occur in x: no step may move its row."""
    return ~np.isin(np.arange(evidence.number("V")), evidence.inputs["x"])


def _is_adam(evidence: Evidence) -> bool:
    """Adam's first step moves every entry that has a gradient by the learning rate itself."""
    moved = np.abs(evidence.yours("one.table") - evidence.inputs["table"])[~_untouched(evidence)]
    rate = float(evidence.inputs["learning_rate"])
    # AdamW's decay comes on top: a hundredth of the entry times the rate.
    return not evidence.same("one.table") and bool(np.all(np.abs(moved - rate) < 0.05 * rate))


def _is_fresh(evidence: Evidence) -> bool:
    rows = _untouched(evidence)
    moved = np.abs(evidence.yours("one.table") - evidence.inputs["table"])[rows]
    return bool((moved > 0.3).mean() > 0.3) and not evidence.same("one.losses")


def _moved(evidence: Evidence, case: str = "one") -> str:
    """The largest change that a right answer makes, beside yours."""
    start = evidence.inputs["table"]
    right, mine = evidence.right(f"{case}.table") - start, evidence.yours(f"{case}.table") - start
    i, j = (int(n) for n in np.unravel_index(int(np.abs(right - mine).argmax()), right.shape))
    steps = "one step" if case == "one" else "three steps"
    return (
        f"After {steps} with learning rate {float(evidence.inputs['learning_rate']):g}, your entry"
        f" ({i}, {j}) has moved by {mine[i, j]:+.3f}; it should move by {right[i, j]:+.3f}."
    )


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
    return Finding(
        "moves-other-rows",
        "Your step moves rows that have no gradient.",
        f"Symbol {row} does not occur in `x`, so nothing is learnt about what follows it; your row"
        f" {row} moved by up to {moved.max():.3f}.",
        STEP,
    )


def _step_of_another_length(evidence: Evidence) -> Finding | None:
    start = evidence.inputs["table"]
    mine, right = evidence.yours("one.table") - start, evidence.right("one.table") - start
    factor = float((mine * right).sum() / (right * right).sum())
    if abs(factor - 1) < 1e-3 or not np.allclose(mine, factor * right, atol=1e-3):
        return None
    return Finding(
        "wrong-length-of-step",
        "Your step has the right direction and the wrong length.",
        f"It is {factor:.3g} times as long as it should be. {_moved(evidence)}",
        STEP,
    )


SGD = Task(
    "Plain gradient descent",
    descend,
    STEP,
    (
        Part("The first step moves the table as it should.", 2, matches("one.table")),
        Part("The loss is the one before the step.", 1, matches("one.losses")),
        Part("Three steps come out right, each from a fresh gradient.", 1, matches("three")),
    ),
    (
        Mistake(
            "no-zero-grad",
            _no_zero_grad,
            "The gradient is not cleared between steps: `backward` adds to what is there.",
            lambda e: (
                "The first step is right; in the second you go along the sum of two gradients, in"
                f" the third of three. {_moved(e, 'three')}"
            ),
            STEP,
            # Later losses follow from the table; how an answer reports them is another matter.
            cases=("one.table", "three.table"),
        ),
        Mistake(
            "wrong-sign",
            _walks(lambda table, x, y, rate: table + rate * _gradient(table, x, y)),
            "You went up the slope: the gradient points to where the loss grows, and is"
            " subtracted.",
            _loss_path,
            STEP,
            cases=("one.table",),
        ),
        Mistake(
            "no-step",
            _walks(lambda table, x, y, rate: table),  # noqa: ARG005
            "Your table does not move.",
            lambda e: (
                _moved(e)
                + " If you use `zero_grad`, it must come before `backward`, not between `backward`"
                " and the step."
            ),
            STEP,
            cases=("one.table", "three.table"),
        ),
        Mistake(
            "adam-for-sgd",
            _adam,
            "That is Adam's step, not the plain one: it divides each gradient by its own size.",
            lambda e: (
                "In Adam's first step every entry moves by the learning rate, whatever its"
                " gradient. " + _moved(e)
            ),
            STEP,
            recognised=_is_adam,
        ),
        Mistake(
            "sum-not-mean",
            _walks(
                lambda table, x, y, rate: table - rate * y.numel() * _gradient(table, x, y),
            ),
            "You took the gradient of the summed loss; it should be that of the mean.",
            lambda e: (
                f"Your step is B · T = {e.number('B') * e.number('T')} times too long. {_moved(e)}"
            ),
            STEP,
            cases=("one.table",),
        ),
        Mistake(
            "gradient-without-target",
            _walks(lambda table, x, y, rate: table - rate * _without_one_hot(table, x, y)),
            "Your gradient is p; it should be p minus 1 at the target.",
            lambda e: f"Without the −1 nothing says which symbol followed. {_moved(e)}",
            STEP,
            cases=("one.table",),
        ),
        Mistake(
            "lost-repeats",
            _walks(lambda table, x, y, rate: table - rate * _assigned_gradient(table, x, y)),
            "A symbol that occurs more than once in `x` contributed only once to the gradient.",
            lambda e: (
                "`gradient[x] += …` with an index tensor keeps one of the rows that share an index;"
                " `index_add_` adds them all. " + _moved(e)
            ),
            STEP,
            cases=("one.table",),
        ),
        Mistake(
            "hot-start",
            _fresh_table,
            "You trained a fresh random table, not the one that you were given.",
            lambda e: (
                f"Your first loss is {float(np.ravel(e.yours('one.losses'))[0]):.3f}; with the"
                f" given table it is {float(e.right('one.losses')[0]):.3f}, and rows that no step"
                " touches differ from the given ones."
            ),
            START,
            recognised=_is_fresh,
        ),
        Mistake(
            "one-step-only",
            _one_step_only,
            "Only one step was made, whatever `steps` says.",
            lambda e: _moved(e, "three"),
            STEP,
            cases=("one.table", "three.table"),
        ),
        Mistake(
            "loss-after-the-step",
            _loss_afterwards,
            "You recorded each loss after the step; asked for is the one before it.",
            _loss_path,
            STEP,
        ),
    ),
    (_other_rows_move, _step_of_another_length),
)


# --- chance ---------------------------------------------------------------------------------------

# Chernoff: a share f of n draws with probability p has n · KL(f ‖ p) above this once in 2 · e⁻²⁸
# per symbol: with the few dozen symbols that a task looks at, a right answer is accused in
# fewer than one in 10⁹ checks.
IMPLAUSIBLE = 28.0


def _surprise(count: Array, draws: int, probability: Array) -> Array:
    """n · KL(f ‖ p) of each symbol's share f, elementwise."""
    f = count / draws

    def term(a: Array, b: Array) -> Array:
        return np.where(a > 0, a * np.log(np.maximum(a, 1e-300) / np.maximum(b, 1e-300)), 0.0)

    return draws * (term(f, probability) + term(1 - f, 1 - probability))


def follows(drawn: Array, probability: Array) -> bool:
    """True if draws can have come from a distribution.

    Parameters
    ----------
    drawn : (n,) int
        Symbols between 0 and V − 1.
    probability : (V,) float
    """
    drawn = np.asarray(drawn)
    if drawn.dtype.kind not in "iu" or drawn.min() < 0 or drawn.max() >= len(probability):
        return False
    count = np.bincount(drawn, minlength=len(probability))
    return bool((_surprise(count, len(drawn), probability) < IMPLAUSIBLE).all())


def _softmax(logits: Array) -> Array:
    e: Array = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def _percent(share: float) -> str:
    return "less than 0.1 %" if 0 < share < 0.001 else f"{100 * share:.1f} %"


def _worst_share(drawn: Array, probability: Array) -> str:
    count = np.bincount(np.clip(drawn, 0, len(probability) - 1), minlength=len(probability))
    v = int(np.argmax(_surprise(count, len(drawn), probability)))
    return (
        f"In {len(drawn)} draws symbol {v} came up {_percent(count[v] / len(drawn))} of the time;"
        f" its probability is {_percent(probability[v])}."
    )


# --- sample ---------------------------------------------------------------------------------------


def sample(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """One symbol for each row of logits (B, V); temperature 0 takes the most likely."""
    if temperature == 0:
        return logits.argmax(dim=-1)  # (B,)
    probabilities = (logits / temperature).softmax(dim=-1)  # (B, V)
    return torch.multinomial(probabilities, 1, generator=generator).squeeze(1)  # (B,)


def _rows_follow(evidence: Evidence, probabilities: Array) -> bool:
    """True if both kinds of rows can have come from their distributions (2, V)."""
    drawn = evidence.yours("many").reshape(DRAWS, 2)  # kinds take turns
    return all(follows(drawn[:, kind], probabilities[kind]) for kind in range(2))


def _wanted(evidence: Evidence) -> Array:
    return _softmax(evidence.inputs["logits"] / float(evidence.inputs["temperature"]))


def _drawn_right(evidence: Evidence) -> bool:
    return evidence.comparable("many") and _rows_follow(evidence, _wanted(evidence))


def _follows_instead(
    probabilities: Callable[[Array, float], Array],
) -> Callable[[Evidence], bool]:
    def recognised(evidence: Evidence) -> bool:
        wrong = probabilities(evidence.inputs["logits"], float(evidence.inputs["temperature"]))
        return (
            evidence.comparable("many")
            and _rows_follow(evidence, wrong)
            and not _drawn_right(evidence)
        )

    return recognised


def _same_seeded(evidence: Evidence, a: str, b: str) -> bool:
    return bool(np.array_equal(evidence.yours(f"seeded.{a}"), evidence.yours(f"seeded.{b}")))


_OTHER_SEEDS = ("other_seed_1", "other_seed_2", "other_seed_3")


def _obeys_generator(evidence: Evidence) -> bool:
    return (
        all(evidence.comparable(f"seeded.{n}") for n in ("first", "second", "repeated"))
        and _same_seeded(evidence, "first", "repeated")
        and not _same_seeded(evidence, "first", "second")
        and not _seed_is_fixed(evidence)
    )


def _seed_is_fixed(evidence: Evidence) -> bool:
    return all(_same_seeded(evidence, "first", other) for other in _OTHER_SEEDS)


def _is_argmax(evidence: Evidence) -> bool:
    best = np.tile(evidence.inputs["logits"].argmax(axis=-1), DRAWS)
    return np.array_equal(evidence.yours("many"), best) and _seed_is_fixed(evidence)


def _one_draw_for_all(evidence: Evidence) -> bool:
    drawn = evidence.yours("many").reshape(DRAWS, 2)
    return drawn.dtype.kind in "iu" and bool((drawn == drawn[0]).all())


def _is_softmax_twice(evidence: Evidence) -> bool:
    """Two softmaxes come near to equal chances: they must explain the draws better than those."""
    wanted = _wanted(evidence)
    drawn, V = evidence.yours("many").reshape(DRAWS, 2), evidence.number("V")
    if _drawn_right(evidence) or not _rows_follow(evidence, _softmax(wanted)):
        return False
    logs = np.log(_softmax(wanted))
    gain = sum(float((logs[kind, drawn[:, kind]] + np.log(V)).sum()) for kind in range(2))
    return gain > 0


def _share_effect(evidence: Evidence) -> str:
    wanted = _wanted(evidence)
    drawn = evidence.yours("many").reshape(DRAWS, 2)
    kind = 0 if not follows(drawn[:, 0], wanted[0]) else 1
    return (
        f"At temperature {float(evidence.inputs['temperature']):g}: "
        f"{_worst_share(drawn[:, kind], wanted[kind])}"
    )


def _wrong_way(evidence: Evidence) -> str:
    if float(evidence.inputs["temperature"]) < 1:
        way = "A temperature below 1 should make the choice safer, and made yours bolder."
    else:
        way = "A temperature above 1 should make the choice bolder, and made yours safer."
    return f"{way} {_share_effect(evidence)}"


def _ignores_generator(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    return sample(logits, temperature, torch.default_generator)


def _reseeds(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    return sample(logits, temperature, torch.Generator().manual_seed(1))


def _divides_by_zero(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    probabilities = (logits / temperature).softmax(dim=-1)
    return torch.multinomial(probabilities, 1, generator=generator).squeeze(1)


def _always_the_best(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    return logits.argmax(dim=-1)


def _temperature_multiplied(
    logits: Tensor, temperature: float, generator: torch.Generator
) -> Tensor:
    return sample(logits * temperature, 1.0 if temperature else 0.0, generator)


def _temperature_ignored(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    return sample(logits, 1.0 if temperature else 0.0, generator)


def _first_row_for_all(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    return sample(logits[:1].expand_as(logits), temperature, generator)


def _softmax_over_batch(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    if temperature == 0:
        return logits.argmax(dim=-1)
    weights = (logits / temperature).softmax(dim=0)
    return torch.multinomial(weights, 1, generator=generator).squeeze(1)


def _softmax_twice(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    if temperature == 0:
        return logits.argmax(dim=-1)
    return sample((logits / temperature).softmax(dim=-1), 1.0, generator)


def _one_number_for_all(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    if temperature == 0:
        return logits.argmax(dim=-1)
    reached = (logits / temperature).softmax(dim=-1).cumsum(dim=-1)  # (B, V)
    number = torch.rand(1, generator=generator, dtype=logits.dtype)
    return (reached < number).sum(dim=-1).clamp(max=logits.shape[-1] - 1)


def _shares_are_off(evidence: Evidence) -> Finding | None:
    if _wrong_shape(evidence, "many") or _drawn_right(evidence):
        return None
    drawn = evidence.yours("many")
    V = evidence.number("V")
    if drawn.dtype.kind not in "iu" or drawn.min() < 0 or drawn.max() >= V:
        return Finding(
            "no-such-symbol",
            "Your answer draws something that is no symbol.",
            f"Symbols are whole numbers from 0 to {V - 1}; yours lie between {drawn.min():.4g} and"
            f" {drawn.max():.4g}.",
            WRITING,
        )
    return Finding(
        "wrong-frequencies",
        "The symbols do not come up as often as their probabilities say.",
        _share_effect(evidence),
        WRITING,
    )


SAMPLE = Task(
    "Sampling with a temperature",
    sample,
    WRITING,
    (
        Part(
            "Symbols come up as often as softmax(logits / temperature) says, in every row.",
            2,
            _drawn_right,
        ),
        Part(
            "The randomness is the generator's: the same seed draws the same, and it moves on.",
            1,
            _obeys_generator,
        ),
        Part("Temperature 0 takes the most likely symbol.", 1, matches("cold")),
    ),
    (
        Mistake(
            "argmax-for-sampling",
            _always_the_best,
            "You take the most likely symbol every time; nothing is drawn.",
            lambda e: f"{_share_effect(e)} The text would be the same every time.",
            WRITING,
            recognised=_is_argmax,
        ),
        Mistake(
            "one-draw-for-all",
            _one_number_for_all,
            "One random number decides for the whole batch: all equal rows get the same symbol.",
            lambda e: (
                f"All {DRAWS} rows with the same logits drew symbol {int(e.yours('many')[0])}."
            ),
            WRITING,
            recognised=_one_draw_for_all,
        ),
        Mistake(
            "temperature-multiplied",
            _temperature_multiplied,
            "You multiplied the logits by the temperature; they are divided by it.",
            _wrong_way,
            WRITING,
            recognised=_follows_instead(lambda logits, t: _softmax(logits * t)),
        ),
        Mistake(
            "temperature-ignored",
            _temperature_ignored,
            "The draws follow the logits as if the temperature were 1.",
            lambda e: (
                f"{_share_effect(e)} If you divided the probabilities by the temperature: every"
                " one shrinks by the same factor, and their ratios stay."
            ),
            WRITING,
            recognised=_follows_instead(lambda logits, _: _softmax(logits)),
        ),
        Mistake(
            "reads-first-logits",
            _first_row_for_all,
            "Every row is drawn from the logits of row 0.",
            _share_effect,
            WRITING,
            recognised=_follows_instead(
                lambda logits, t: _softmax(np.stack([logits[0], logits[0]]) / t)
            ),
        ),
        Mistake(
            "softmax-over-batch",
            _softmax_over_batch,
            "Your softmax runs over the rows of the batch; it should run over the V symbols of each"
            " row.",
            _share_effect,
            WRITING,
            recognised=_follows_instead(
                lambda logits, t: (lambda w: w / w.sum(axis=1, keepdims=True))(
                    _softmax(logits.T / t).T
                )
            ),
        ),
        Mistake(
            "softmax-twice",
            _softmax_twice,
            "The softmax was taken twice: probabilities were treated as logits once more.",
            lambda e: f"That makes the symbols almost equally likely. {_share_effect(e)}",
            WRITING,
            recognised=_is_softmax_twice,
        ),
        Mistake(
            "generator-ignored",
            _ignores_generator,
            "Your draws do not come from the given generator.",
            "Two generators with the same seed gave different symbols; pass `generator=generator`"
            " to what draws.",
            WRITING,
            recognised=lambda e: _drawn_right(e) and not _same_seeded(e, "first", "repeated"),
        ),
        Mistake(
            "seed-fixed-inside",
            _reseeds,
            "Your draws start from the same seed in every call.",
            lambda e: (
                "Two calls in a row with one generator gave the same 60 symbols, so a text would"
                " repeat one choice for ever."
                if _same_seeded(e, "first", "second")
                else "Generators with different seeds gave the same 60 symbols."
            ),
            WRITING,
            recognised=lambda e: (
                _drawn_right(e) and (_same_seeded(e, "first", "second") or _seed_is_fixed(e))
            ),
        ),
        Mistake(
            "divides-by-zero",
            _divides_by_zero,
            "At temperature 0 you divide by 0.",
            "logits / 0 is infinite or NaN, and no distribution follows from that. As the"
            " temperature goes to 0 all the probability gathers on the most likely symbol: take"
            " that one.",
            WRITING,
            recognised=lambda e: _drawn_right(e) and _obeys_generator(e) and not e.same("cold"),
        ),
    ),
    (_shares_are_off,),
)


# --- generate -------------------------------------------------------------------------------------


def generate(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """The tokens (B, T) and `count` more, (B, T + count)."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, _loss = model(tokens[:, -model.block_size :])
            tokens = _append(tokens, logits[:, -1], generator)
    model.train(was_training)
    return tokens


def _append(tokens: Tensor, logits: Tensor, generator: torch.Generator) -> Tensor:
    """One symbol drawn from logits (B, V), put at the end of tokens (B, T)."""
    drawn = torch.multinomial(logits.float().softmax(dim=-1), 1, generator=generator)  # (B, 1)
    return torch.cat([tokens, drawn], dim=1)


def _writes(
    context: Callable[[Tensor, int], Tensor] = lambda tokens, size: tokens[:, -size:],
    read: Callable[[Tensor], Tensor] = lambda logits: logits[:, -1],
    *,
    quiet: bool = True,
    restore: bool = True,
) -> Callable[..., Tensor]:
    """An answer that differs from the right one in one place."""

    def answer(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
        was_training = model.training
        if quiet:
            model.eval()
        for _ in range(count):
            logits, _loss = model(context(tokens, model.block_size))
            tokens = _append(tokens, read(logits), generator)
        if quiet and restore:
            model.train(was_training)
        return tokens

    return answer


def _cropped_for_good(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    was_training = model.training
    model.eval()
    for _ in range(count):
        tokens = tokens[:, -model.block_size :]
        logits, _loss = model(tokens)
        tokens = _append(tokens, logits[:, -1], generator)
    model.train(was_training)
    return tokens


def _prompt_dropped(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    return generate(model, tokens, count, generator)[:, tokens.shape[1] :]


def _context_stays(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    was_training = model.training
    model.eval()
    logits, _loss = model(tokens[:, -model.block_size :])
    for _ in range(count):
        tokens = _append(tokens, logits[:, -1], generator)
    model.train(was_training)
    return tokens


def _generates_the_best(
    model: Any,
    tokens: Tensor,
    count: int,
    generator: torch.Generator,  # noqa: ARG001
) -> Tensor:
    was_training = model.training
    model.eval()
    for _ in range(count):
        logits, _loss = model(tokens[:, -model.block_size :])
        tokens = torch.cat([tokens, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
    model.train(was_training)
    return tokens


def _weights_are_logits(
    model: Any, tokens: Tensor, count: int, generator: torch.Generator
) -> Tensor:
    was_training = model.training
    model.eval()
    for _ in range(count):
        logits, _loss = model(tokens[:, -model.block_size :])
        drawn = torch.multinomial(logits[:, -1].float(), 1, generator=generator)  # (B, 1)
        tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


def _generates_with_global_randomness(
    model: Any,
    tokens: Tensor,
    count: int,
    generator: torch.Generator,  # noqa: ARG001
) -> Tensor:
    return generate(model, tokens, count, torch.default_generator)


def _dice_right(evidence: Evidence) -> bool:
    if not evidence.comparable("chance.tokens"):
        return False
    wanted = _softmax(evidence.inputs["dice"])
    tokens = evidence.yours("chance.tokens")  # (DRAWS, 3)
    return all(follows(tokens[:, position], wanted) for position in (1, 2))


def _chance_right(evidence: Evidence) -> bool:
    return _dice_right(evidence) and _repeats(evidence)


def _dice_follow_logits(evidence: Evidence) -> bool:
    weights = evidence.inputs["dice"]
    return follows(evidence.yours("chance.tokens")[:, 1], weights / weights.sum())


def _repeats(evidence: Evidence) -> bool:
    return evidence.comparable("chance.first") and np.array_equal(
        evidence.yours("chance.first"), evidence.yours("chance.repeated")
    )


def _only_the_best(evidence: Evidence) -> bool:
    tokens = evidence.yours("chance.tokens")[:, 1:]
    return bool((tokens == evidence.inputs["dice"].argmax()).all()) and tokens.shape[1] == 2


def _needs_a_crop(evidence: Evidence) -> bool:
    return evidence.same("short") and {"beyond", "long"} <= set(evidence.answers.errors)


def _leaves_another_mode(evidence: Evidence) -> bool:
    return evidence.same("training.tokens") and not evidence.same("training")


def _two_texts(case: str) -> Callable[[Evidence], str]:
    """The first row of the answer where it differs, beside the right one."""

    def say(evidence: Evidence) -> str:
        mine, right = evidence.yours(case), evidence.right(case)
        block_size = evidence.number("block_size")
        if mine.shape != right.shape:
            return (
                f"You return {mine.shape[-1]} tokens a row; expected {right.shape[-1]}: "
                f"the prompt and everything that was written (block_size = {block_size})."
            )
        row = int(np.argmax((mine != right).any(axis=1)))
        at = int(np.argmax(mine[row] != right[row]))
        return (
            f"With block_size = {block_size}, row {row} is the same as it should be up to position"
            f" {at - 1}; then you have symbol {int(mine[row, at])} where the model says"
            f" {int(right[row, at])}."
        )

    return say


def _dice_share(evidence: Evidence) -> str:
    tokens, wanted = evidence.yours("chance.tokens"), _softmax(evidence.inputs["dice"])
    position = 1 if not follows(tokens[:, 1], wanted) else 2
    return _worst_share(tokens[:, position], wanted)


def _dice_are_off(evidence: Evidence) -> Finding | None:
    if _wrong_shape(evidence, "chance.tokens") or _dice_right(evidence):
        return None
    return Finding(
        "wrong-frequencies",
        "The symbols do not come up as often as their probabilities say.",
        _dice_share(evidence),
        WRITING,
    )


GENERATE = Task(
    "Write with any model",
    generate,
    WRITING,
    (
        Part("A short text continues as the model says.", 2, matches("short")),
        Part(
            "A text longer than the model's memory goes on, from its last `block_size` tokens.",
            2,
            matches("beyond", "long"),
        ),
        Part(
            "The model writes in evaluation mode and is left in the mode it was in.",
            1,
            matches("training"),
        ),
        Part("Symbols are drawn, by the given generator.", 1, _chance_right),
    ),
    (
        Mistake(
            "no-crop",
            _writes(context=lambda tokens, _: tokens),
            "The whole text went into the model; it reads at most `block_size` tokens.",
            lambda e: (
                f"With block_size = {e.number('block_size')} the model stopped:"
                f" “{_words(e, 'beyond')}”. Show it the last"
                " block_size tokens only."
            ),
            WRITING,
            recognised=_needs_a_crop,
        ),
        Mistake(
            "reads-first-logits",
            _writes(read=lambda logits: logits[:, 0]),
            "You read the logits of the first position; the next symbol stands in those of the"
            " last.",
            _two_texts("beyond"),
            WRITING,
            cases=("short", "beyond"),
        ),
        Mistake(
            "last-token-only",
            _writes(context=lambda tokens, _: tokens[:, -1:]),
            "You showed the model the last token only, which is all that a bigram needs and too"
            " little for any other model.",
            _two_texts("short"),
            WRITING,
            cases=("short", "beyond"),
        ),
        Mistake(
            "crops-the-end",
            _writes(context=lambda tokens, size: tokens[:, :size]),
            "You kept the first `block_size` tokens of the text; the model needs the last ones.",
            lambda e: (
                f"From token {e.number('block_size')} on, what was written is never read."
                f" {_two_texts('beyond')(e)}"
            ),
            WRITING,
            cases=("short", "beyond"),
        ),
        Mistake(
            "crops-one-too-many",
            _writes(context=lambda tokens, size: tokens[:, -(size - 1) :]),
            "Your context is one token shorter than the model can read.",
            _two_texts("beyond"),
            WRITING,
            cases=("short", "beyond"),
        ),
        Mistake(
            "cropped-for-good",
            _cropped_for_good,
            "You cropped the text itself; only what the model is shown is to be cropped.",
            _two_texts("beyond"),
            WRITING,
            cases=("short", "beyond"),
        ),
        Mistake(
            "prompt-dropped",
            _prompt_dropped,
            "You return what was written without the text that it continues.",
            _two_texts("beyond"),
            WRITING,
            cases=("short", "beyond"),
        ),
        Mistake(
            "context-not-extended",
            _context_stays,
            "What was drawn is never shown to the model: every symbol continues the prompt.",
            _two_texts("short"),
            WRITING,
            cases=("short", "beyond"),
        ),
        Mistake(
            "train-mode-sampling",
            _writes(quiet=False),
            "You let the model write in the mode that it was in; in training mode, dropout is"
            " active.",
            lambda e: (
                "The text of a model in training mode differs from that of the same model in"
                " evaluation mode. "
                + _two_texts("training.tokens")(e)
                + " Call `model.eval()` before, and put the mode back afterwards."
            ),
            WRITING,
            cases=("short", "training"),
        ),
        Mistake(
            "mode-not-restored",
            _writes(restore=False),
            "You left the model in another mode than you found it in.",
            lambda e: (
                "It was in training mode and is in evaluation mode now, so the training that goes"
                " on has no dropout."
                if not e.yours("training.training_afterwards")
                else "It was in evaluation mode and is in training mode now."
            ),
            WRITING,
            recognised=_leaves_another_mode,
        ),
        Mistake(
            "argmax-for-sampling",
            _generates_the_best,
            "You take the most likely symbol every time; nothing is drawn.",
            lambda e: f"{_dice_share(e)} The text would be the same every time.",
            WRITING,
            recognised=_only_the_best,
        ),
        Mistake(
            "no-softmax",
            _weights_are_logits,
            "You drew in proportion to the logits; the softmax is missing.",
            lambda e: f"{_dice_share(e)} Logits may be negative, and only their differences count.",
            WRITING,
            recognised=lambda e: _dice_follow_logits(e) and not _dice_right(e),
        ),
        Mistake(
            "generator-ignored",
            _generates_with_global_randomness,
            "Your draws do not come from the given generator.",
            "Two generators with the same seed gave different texts; pass `generator=generator` to"
            " what draws.",
            WRITING,
            recognised=lambda e: _dice_right(e) and not _repeats(e),
        ),
    ),
    (_dice_are_off,),
)


TASKS: dict[str, Task] = {
    "probabilities": PROBABILITIES,
    "nll": NLL,
    "cross-entropy": CROSS_ENTROPY,
    "sgd-step": SGD,
    "sample": SAMPLE,
    "generate": GENERATE,
}
