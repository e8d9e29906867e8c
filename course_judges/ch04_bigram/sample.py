"""Judges 04/sample: symbols drawn with a temperature."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch04_bigram.outcomes import words
from course_judges.ch04_bigram.sections import WRITING
from course_judges.chance import follows, softmax, whole, worst_share
from course_judges.judging import Evidence, Part, Step, Task, mistake
from course_judges.properties import integers
from course_judges.wording import number, numbers_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.ch04_bigram.sample import COOL
from course_tasks.ch04_bigram.shared import DRAWS
from course_tasks.verdict import Finding


def sample(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """One symbol for each row of logits (B, V); temperature 0 takes the most likely."""
    if temperature == 0:
        return logits.argmax(dim=-1)  # your symbols at temperature 0 (B,)

    scaled = logits / temperature  # the logits at this temperature (B, V)
    probabilities = scaled.softmax(dim=-1)  # the probabilities (B, V)
    return torch.multinomial(probabilities, 1, generator=generator).squeeze(1)  # your symbols (B,)


def _rows_follow(evidence: Evidence, probabilities: Array) -> bool:
    """True if both kinds of rows may have been drawn from their distributions (2, V)."""
    drawn = evidence.yours("many").reshape(DRAWS, 2)  # the two kinds alternate
    return all(follows(drawn[:, kind], probabilities[kind]) for kind in range(2))


def _wanted(evidence: Evidence) -> Array:
    logits = evidence.inputs["logits"].astype(np.float64)
    return softmax(logits / float(evidence.inputs["temperature"]))


def _drawn_right(evidence: Evidence) -> bool:
    return evidence.comparable("many") and _rows_follow(evidence, _wanted(evidence))


def _follows_instead(
    probabilities: Callable[[Array, float], Array],
) -> Callable[[Evidence], bool]:
    def recognized(evidence: Evidence) -> bool:
        wrong = probabilities(evidence.inputs["logits"], float(evidence.inputs["temperature"]))
        return (
            evidence.comparable("many")
            and _rows_follow(evidence, wrong)
            and not _drawn_right(evidence)
        )

    return recognized


def _same_seeded(evidence: Evidence, a: str, b: str) -> bool:
    return bool(np.array_equal(evidence.yours(f"seeded.{a}"), evidence.yours(f"seeded.{b}")))


# The probability of what is never drawn; a logarithm of 0 would be infinite.
_NEVER = 1e-12

_OTHER_SEEDS = ("other_seed_1", "other_seed_2", "other_seed_3")


def _obeys_generator(evidence: Evidence) -> bool:
    seeded = ("first", "second", "repeated", *_OTHER_SEEDS)
    return (
        all(evidence.comparable(f"seeded.{n}") and _draws_symbols(evidence, n) for n in seeded)
        and _same_seeded(evidence, "first", "repeated")
        and not _same_seeded(evidence, "first", "second")
        and not _seed_is_fixed(evidence)
    )


def _draws_symbols(evidence: Evidence, name: str) -> bool:
    """True if several symbols came up, as they do in 60 rows with equal chances."""
    drawn = whole(evidence.yours(f"seeded.{name}"))
    known = drawn.dtype.kind in "iu" and drawn.min() >= 0 and drawn.max() < evidence.number("V")
    return bool(known) and len(np.unique(drawn)) > 1


def _seed_is_fixed(evidence: Evidence) -> bool:
    return all(_same_seeded(evidence, "first", other) for other in _OTHER_SEEDS)


def _is_argmax(evidence: Evidence) -> bool:
    best = np.tile(evidence.inputs["logits"].argmax(axis=-1), DRAWS)
    return np.array_equal(evidence.yours("many"), best) and _seed_is_fixed(evidence)


def _shows_one_draw_for_all(evidence: Evidence) -> bool:
    drawn = evidence.yours("many").reshape(DRAWS, 2)
    return drawn.dtype.kind in "iu" and bool((drawn == drawn[0]).all())


def _is_softmax_twice(evidence: Evidence) -> bool:
    """True if two softmaxes explain the draws, and better than equal chances, which are close."""
    wanted = _wanted(evidence)
    drawn, V = evidence.yours("many").reshape(DRAWS, 2), evidence.number("V")
    if _drawn_right(evidence) or not _rows_follow(evidence, softmax(wanted)):
        return False
    logs = np.log(softmax(wanted))
    gain = sum(float((logs[kind, drawn[:, kind]] + np.log(V)).sum()) for kind in range(2))
    return gain > 0


def _share_effect(evidence: Evidence) -> str:
    wanted = _wanted(evidence)
    drawn = evidence.yours("many").reshape(DRAWS, 2)
    kind = 0 if not follows(drawn[:, 0], wanted[0]) else 1
    share = worst_share(drawn[:, kind], wanted[kind])
    return unwrapped(f"""At temperature {float(evidence.inputs["temperature"]):g},
    {share[0].lower()}{share[1:]}""")


def _wrong_way(evidence: Evidence) -> str:
    return (
        "A temperature below 1 should make the choice safer, and one above 1 bolder. "
        f"{_share_effect(evidence)} Probabilities to the power of the temperature do the same, so "
        "divide the logits before the softmax."
    )


# What torch, NumPy and Python say of infinite and undefined probabilities.
_NO_NUMBER = ("inf", "nan", "division by zero", "sum of prob", "multinomial")


def _refused_what_is_no_number(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("cold")
    return raised is not None and any(word in raised.message.lower() for word in _NO_NUMBER)


def _no_symbol_when_cold(evidence: Evidence) -> bool:
    """True of what a division by 0 gives when it raises no error: the first or the last symbol in
    every row, or a number that is no symbol.
    """
    mine = evidence.yours("cold")
    return (evidence.comparable("cold") and mine.dtype.kind in "iu") and (
        bool((mine == 0).all() or (mine == evidence.number("V") - 1).all())
        or not ((mine >= 0) & (mine < evidence.number("V"))).all()
    )


def _cold_row(evidence: Evidence) -> str:
    mine, right = evidence.yours("cold"), evidence.right("cold")
    b = int(np.flatnonzero(mine != right)[0])
    logits, best = evidence.inputs["cold"][b], int(right[b])
    known = mine[b] in range(len(logits))
    held, largest = numbers_apart(logits[int(mine[b])] if known else -np.inf, logits[best])
    whose = f" with logit {held}" if known else ""
    said = unwrapped(f"""In row {b} you take symbol {mine[b]:.4g}{whose}, but symbol {best} has the
    largest logit, {largest}.""")
    if known and logits[best] - logits[int(mine[b])] < 1e-3:
        said += (
            " If you draw at a temperature near 0, the two are almost equally likely, but at 0 the"
            " largest logit wins, however small its lead."
        )
    elif known:
        said += (
            " If you divide the logits by 0 there too, they become infinite or NaN, and the first"
            " such number counts as the largest."
        )
    return said


def _normalized(weights: Array) -> Array:
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _likeliest(wanted: Array, count: int) -> Array:
    """(2, V) the probabilities if only so many symbols can be drawn."""
    least = np.sort(wanted, axis=-1)[:, -count][:, None]
    return _normalized(np.where(wanted >= least, wanted, _NEVER))


def _how_many_likeliest(evidence: Evidence) -> int:
    """How many of the likeliest symbols come up; 0 if all do, or others."""
    wanted = _wanted(evidence)
    counts = range(2, evidence.number("V"))
    return next((n for n in counts if _rows_follow(evidence, _likeliest(wanted, n))), 0)


def _shares_are_off(evidence: Evidence) -> Finding | None:
    if not evidence.comparable("many") or _drawn_right(evidence):
        return None
    drawn = evidence.yours("many")
    V = evidence.number("V")
    if drawn.dtype.kind not in "iu" or drawn.min() < 0 or drawn.max() >= V:
        return Finding(
            "no-such-symbol",
            "You draw numbers that aren't symbols.",
            f"Symbols are whole numbers from 0 to {V - 1}, but yours are between "
            f"{number(drawn.min(), 4)} and {number(drawn.max(), 4)}.",
            WRITING,
        )
    return Finding(
        "wrong-frequencies",
        "Your symbols don't come up as often as their probabilities say.",
        _share_effect(evidence),
        WRITING,
    )


@families.argmax_for_sampling(_share_effect, recognized=_is_argmax)
def _argmax_for_sampling(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    return logits.argmax(dim=-1)


@mistake(
    "You return a column instead of one number for each row.",
    unwrapped(f"""For {2 * DRAWS} rows your result has shape ({2 * DRAWS}, 1) instead of
    ({2 * DRAWS},). `torch.multinomial(weights, 1)` draws one symbol for each row as a
    matrix with one column, and `squeeze(1)` takes that axis away."""),
    # Compared with the right ones, these would be stretched to a large matrix.
    recognized=lambda e: np.shape(e.answers.values["many"]) == (2 * DRAWS, 1),
)
def _column_returned(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    return sample(logits, temperature, generator).unsqueeze(1)


@mistake(
    "You give all rows with the same logits the same symbol.",
    lambda e: unwrapped(f"""All {DRAWS} of them drew symbol {int(e.yours("many")[0])}. If you use
    one random number for the whole batch or seed the generator again for each row, every row gets
    the same draw, but each needs its own."""),
    recognized=_shows_one_draw_for_all,
)
def _one_draw_for_all(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    if temperature == 0:
        return logits.argmax(dim=-1)
    reached = (logits / temperature).softmax(dim=-1).cumsum(dim=-1)  # (B, V)
    number = torch.rand(1, generator=generator, dtype=logits.dtype)
    return (reached < number).sum(dim=-1).clamp(max=logits.shape[-1] - 1)


@mistake(
    "Your symbols all come up equally often, whatever their logits.",
    _share_effect,
    recognized=_follows_instead(lambda logits, _: np.full(logits.shape, 1 / logits.shape[1])),
)
def _logits_ignored(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    if temperature == 0:
        return logits.argmax(dim=-1)
    return torch.randint(logits.shape[1], logits.shape[:1], generator=generator)


@mistake(
    "You drew from softmax(−logits / temperature), so the least likely symbol comes up most often.",
    _share_effect,
    recognized=_follows_instead(lambda logits, t: softmax(-logits / t)),
)
def _sign_turned(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    return sample(-logits if temperature else logits, temperature, generator)


@mistake(
    "You multiplied the logits by the temperature instead of dividing them by it.",
    _wrong_way,
    recognized=_follows_instead(lambda logits, t: softmax(logits * t)),
)
def _temperature_multiplied(
    logits: Tensor, temperature: float, generator: torch.Generator
) -> Tensor:
    return sample(logits * temperature, 1.0 if temperature else 0.0, generator)


@mistake(
    "Your draws follow the logits as if the temperature were 1.",
    lambda e: (
        unwrapped(f"""{_share_effect(e)} Dividing all probabilities of a row by the same number
    doesn't change their ratios, and dividing logits together with added noise doesn't change which
    sum is the largest. Divide the logits, before anything else.""")
    ),
    recognized=_follows_instead(lambda logits, _: softmax(logits)),
)
def _temperature_ignored(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    return sample(logits, 1.0 if temperature else 0.0, generator)


@mistake(
    "You draw every row from the logits of row 0.",
    _share_effect,
    recognized=_follows_instead(lambda logits, t: softmax(np.stack([logits[0], logits[0]]) / t)),
)
def _reads_first_logits(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    return sample(logits[:1].expand_as(logits), temperature, generator)


@mistake(
    "Your softmax runs over the rows of the batch instead of the V symbols of each row.",
    _share_effect,
    recognized=_follows_instead(
        lambda logits, t: (lambda w: w / w.sum(axis=1, keepdims=True))(softmax(logits.T / t).T)
    ),
)
def _softmax_over_batch(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    if temperature == 0:
        return logits.argmax(dim=-1)
    weights = (logits / temperature).softmax(dim=0)
    return torch.multinomial(weights, 1, generator=generator).squeeze(1)


@mistake(
    "You took the softmax twice, because you treated probabilities as logits.",
    lambda e: f"That makes the symbols almost equally likely. {_share_effect(e)}",
    recognized=_is_softmax_twice,
)
def _softmax_twice(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    if temperature == 0:
        return logits.argmax(dim=-1)
    return sample((logits / temperature).softmax(dim=-1), 1.0, generator)


def _by_rank(logits: Array, temperature: float, *, likeliest_first: bool = True) -> Array:
    """(2, V) the probabilities in order of size."""
    ascending = np.sort(softmax(logits / temperature), axis=1)
    return ascending[:, ::-1] if likeliest_first else ascending


_RANKS_FROM_THE_LIKELIEST = _follows_instead(_by_rank)
_RANKS_FROM_THE_LEAST_LIKELY = _follows_instead(partial(_by_rank, likeliest_first=False))


@mistake(
    "Your numbers are ranks instead of symbols.",
    lambda e: unwrapped(f"""{_share_effect(e)} In every row symbol 0 comes up as often as the
    {"likeliest" if _RANKS_FROM_THE_LIKELIEST(e) else "least likely"} symbol should, whichever that
    is. If you sort the probabilities before you draw, you draw a place in the sorted row, so look
    up in the sort's `indices` which symbol has that place."""),
    recognized=lambda e: _RANKS_FROM_THE_LIKELIEST(e) or _RANKS_FROM_THE_LEAST_LIKELY(e),
)
def _rank_for_symbol(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    if temperature == 0:
        return logits.argmax(dim=-1)
    return sample(logits.sort(dim=-1, descending=True).values, temperature, generator)


def _nearest_temperature(evidence: Evidence) -> float | None:
    """The other temperature at which the draws would be right; None if there is none, or if the
    best one is at an end of what is tried, where chances are equal or one symbol has them all.
    """
    drawn, logits = evidence.yours("many").reshape(DRAWS, 2), evidence.inputs["logits"]
    best: tuple[float, float] | None = None
    temperatures = np.geomspace(0.1, 8, 231)
    for t in temperatures:
        probabilities = softmax(logits / t)
        if not _rows_follow(evidence, probabilities):
            continue
        logs = np.log(probabilities)
        score = sum(float(logs[kind, drawn[:, kind]].sum()) for kind in range(2))
        if best is None or score > best[0]:
            best = score, float(t)
    return None if best is None or best[1] in temperatures[[0, -1]] else best[1]


def _of_powers(evidence: Evidence) -> str:
    """A hint if powers of 2 would do the same; else empty."""
    temperature = float(evidence.inputs["temperature"]) / np.log(2)
    near = abs((_nearest_temperature(evidence) or 0.0) / temperature - 1) < 0.05
    return " This is what you get from powers of 2 instead of powers of e." if near else ""


@mistake(
    "Your symbols come up as if the temperature were a different one.",
    lambda e: unwrapped(f"""{_share_effect(e)} Your shares would be right at a temperature near
    {number(_nearest_temperature(e) or 0.0, 2)}.{_of_powers(e)} Do you change the temperature or the
    logits before you divide? Leave them as they are. If you add noise and take the largest sum, the
    noise has to be −log(−log u), with two logarithms."""),
    recognized=lambda e: (
        e.comparable("many") and not _drawn_right(e) and _nearest_temperature(e) is not None
    ),
)
def _another_temperature(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    return sample(logits, temperature**0.5, generator)


@mistake(
    "You never draw the last symbol.",
    lambda e: f"{_share_effect(e)} A slice to −1 leaves out the last of the V logits.",
    recognized=_follows_instead(
        lambda logits, t: _normalized(
            np.where(np.arange(logits.shape[1]) < logits.shape[1] - 1, softmax(logits / t), _NEVER)
        )
    ),
)
def _last_symbol_left_out(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    return sample(logits[:, :-1] if temperature else logits, temperature, generator)


@mistake(
    lambda e: f"Only the {_how_many_likeliest(e)} likeliest symbols of each row come up.",
    lambda e: f"{_share_effect(e)} Every symbol with a finite logit has a chance.",
    recognized=lambda e: not _drawn_right(e) and _how_many_likeliest(e) > 0,
)
def _likeliest_alone(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    if temperature == 0:
        return logits.argmax(dim=-1)
    least = logits.topk(2).values[:, 1:]
    return sample(logits.where(logits >= least, -torch.inf), temperature, generator)


@mistake(
    "You draw a symbol whose logit is −∞.",
    lambda e: unwrapped(f"""At temperature 50, symbol {int(e.inputs["hidden"][0])} came up
    {int(e.yours("masked.hidden"))} times in {DRAWS} draws. −∞ divided by any temperature is still
    −∞, but if you replace it by a finite number, the symbol becomes likely when the temperature is
    high enough."""),
    recognized=lambda e: _drawn_right(e) and int(e.yours("masked.hidden")) > 0,
)
def _hidden_symbol_drawn(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    return sample(logits.clamp(min=-50) if temperature else logits, temperature, generator)


@families.generator_ignored(
    "symbols", lambda e: _drawn_right(e) and not _same_seeded(e, "first", "repeated")
)
def _generator_ignored(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    return sample(logits, temperature, torch.default_generator)


@mistake(
    f"At a temperature of {COOL} you no longer draw at random.",
    lambda e: unwrapped(f"""{e.number("V")} symbols with the same logit are equally likely at any
    temperature above 0, but in 60 rows you took symbol {int(e.yours("seeded.first")[0])} every
    time. Take the most likely symbol only at temperature 0 itself."""),
    recognized=lambda e: (
        _drawn_right(e)
        and all(len(np.unique(e.yours(f"seeded.{n}"))) == 1 for n in ("first", "second"))
    ),
)
def _cold_too_early(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    return sample(logits, temperature if temperature > 0.1 else 0.0, generator)


@mistake(
    "Your draws start over in every call.",
    "Two calls in a row with the same generator gave the same 60 symbols, so a text would repeat "
    "the same choice forever. A generator moves on by itself unless you seed it, copy it or "
    "restore its state.",
    recognized=lambda e: _drawn_right(e) and _same_seeded(e, "first", "second"),
)
def _seed_fixed_inside(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    return sample(logits, temperature, torch.Generator().manual_seed(1))


def _nothing_when_cool(evidence: Evidence) -> str:
    """The case that leaves nothing to draw from at a temperature near 0, or a wrong symbol, if all
    else is right; empty if there is none.
    """
    if not _drawn_right(evidence) or not evidence.same("alone", "masked", "cold"):
        return ""
    for case in ("cool", "seeded"):
        raised = evidence.answers.errors.get(case)
        if raised is not None:
            refused = any(word in raised.message.lower() for word in _NO_NUMBER)
            return case if refused else ""
    return "" if evidence.same("cool") else "cool"


def _cool_ending(evidence: Evidence) -> str:
    case = _nothing_when_cool(evidence)
    return (
        f"The error says: “{words(evidence, case)}”."
        if case in evidence.answers.errors
        else "Symbols without any probability are drawn."
    )


@mistake(
    f"At a temperature of {COOL} your weights overflow or all become 0.",
    lambda e: (
        unwrapped(f"""{_cool_ending(e)} Divided by {COOL}, logits are in the hundreds, so their
    exponentials are too large or too small for a floating-point number, and so are powers of a
    probability. `(logits / temperature).softmax(dim=-1)` subtracts the largest number of each row
    before it takes exponentials.""")
    ),
    recognized=lambda e: bool(_nothing_when_cool(e)),
)
def _overflow_when_cool(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    if temperature == 0:
        return logits.argmax(dim=-1)
    weights = (logits / temperature).exp()
    return torch.multinomial(weights, 1, generator=generator).squeeze(1)


@mistake(
    "At temperature 0 you return the largest logit itself instead of its symbol.",
    lambda e: unwrapped(f"""In row 0 you return {number(float(e.yours("cold")[0]))}, but the symbol
    with this logit is {int(e.right("cold")[0])}. `max(dim=-1)` returns both, as `values` and
    `indices`."""),
    cases=("cold",),
)
def _largest_logit_returned(
    logits: Tensor, temperature: float, generator: torch.Generator
) -> Tensor:
    return sample(logits, temperature, generator) if temperature else logits.amax(dim=-1)


@mistake(
    lambda e: (
        "At temperature 0 your answer "
        f"{'stops' if 'cold' in e.answers.errors else 'draws from nothing'}."
    ),
    unwrapped("""As the temperature goes to 0, all the probability moves to the most likely symbol,
    so take that one. Logits that are divided by 0 are infinite or NaN and leave nothing to draw
    from."""),
    recognized=lambda e: (
        _drawn_right(e)
        and _obeys_generator(e)
        and (_refused_what_is_no_number(e) or _no_symbol_when_cold(e))
    ),
)
def _divides_by_zero(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    probabilities = (logits / temperature).softmax(dim=-1)
    return torch.multinomial(probabilities, 1, generator=generator).squeeze(1)


@mistake(
    lambda e: (
        "At temperature 0 you take the least likely symbol."
        if np.array_equal(e.yours("cold"), e.inputs["cold"].argmin(axis=1))
        else "At temperature 0 you don't take the most likely symbol."
    ),
    _cold_row,
    recognized=lambda e: (
        _drawn_right(e)
        and e.same("alone", "masked")
        and e.comparable("cold")
        and not e.same("cold")
    ),
)
def _cold_takes_another(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    return sample(logits, max(temperature, 0.1), generator)


TASK = Task(
    "Sampling with a temperature",
    sample,
    WRITING,
    (
        Part(
            "Symbols come up as often as they should.",
            2,
            lambda e: _drawn_right(e) and e.same("alone", "masked", "cool"),
        ),
        Part(
            "All chance comes from the generator.",
            1,
            _obeys_generator,
        ),
        Part(
            "Temperature 0 takes the most likely symbol.",
            1,
            lambda e: e.same("cold") and integers(e, "cold", "many"),
        ),
    ),
    properties=(_shares_are_off,),
    steps={
        "your symbols at temperature 0": Step(
            "As the temperature goes to 0, all the probability moves to the most likely symbol."
        ),
        "the logits at this temperature": Step(
            "Dividing the logits by a small temperature spreads them, so the choice gets safer."
        ),
        "the probabilities": Step("Each row has a distribution of its own over the V symbols."),
        "your symbols": Step("Each row draws a symbol of its own, from the generator."),
    },
)
