"""Judges 06/dropout: inverted dropout of whole heads."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from course_judges.ch06_heads.draws import Draws
from course_judges.ch06_heads.drops import (
    always,
    begun_anew,
    by_count,
    by_share,
    drop_heads,
    drops,
    exact_share,
    nothing,
    own_chance,
    reseeded,
    zero_over_zero,
)
from course_judges.ch06_heads.sections import DROPOUT
from course_judges.evidence import same_case
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.wording import number, numbers_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.ch06_heads.dropout import ALONE, ALONE_P
from course_tasks.verdict import Finding

_NEARLY_ONE = 0.9
# So many samples are expected to lose all heads where it is no chance that none does.
_MANY = 30


def _p(evidence: Evidence) -> float:
    return float(evidence.inputs["p"])


def _draws(evidence: Evidence) -> Draws:
    found = evidence.inputs["found"]
    return Draws.of(evidence.shaped("many", found.shape), found)


def _alone(evidence: Evidence) -> Draws:
    """Samples that came one by one."""
    found = evidence.inputs["found"][:ALONE]
    return Draws.of(evidence.shaped("one_by_one.each", (ALONE, 1, *found.shape[1:]))[:, 0], found)


def _chosen_well(evidence: Evidence) -> bool:
    alone = _alone(evidence)
    return (
        _chosen_well_together(evidence)
        and alone.whole
        # Where every call draws the same, that is what the part on the generator is for.
        and (
            not _moves_on(evidence)
            or (alone.dropped_about(ALONE_P) and not alone.as_many_in_all_samples)
        )
    )


def _chosen_well_together(evidence: Evidence) -> bool:
    draws = _draws(evidence)
    return draws.whole and draws.independent and draws.dropped_about(_p(evidence))


def _scaled_by(evidence: Evidence, factor: float) -> bool:
    return _draws(evidence).scaled_by(factor)


def _scaled_well(evidence: Evidence) -> bool:
    alone = _alone(evidence)
    return (
        _scaled_well_together(evidence)
        and (not alone.factors.size or alone.scaled_by(1 / (1 - ALONE_P)))
        and _drops_something(evidence)
    )


def _scaled_well_together(evidence: Evidence) -> bool:
    draws = _draws(evidence)
    # Of heads that go together it may be that nothing is left.
    return not draws.factors.size or draws.scaled_by(1 / (1 - _p(evidence)))


def _drops_something(evidence: Evidence) -> bool:
    """True if something goes and something stays, of many samples or of those that come alone: of
    heads that go together all may stay, or go, in one call.
    """
    return _draws(evidence).some_gone or _alone(evidence).some_gone


def _ends_well(evidence: Evidence) -> bool:
    """Nothing happens in evaluation and at p = 0, everything at p = 1, something in between."""
    certain = ("evaluation", "evaluation_at_one", "none", "one_by_one.whole", "every")
    return evidence.same(*certain) and _drops_something(evidence)


def _seeded(evidence: Evidence, name: str) -> Array:
    return evidence.shaped(f"seeded.{name}", evidence.inputs["again"].shape)


def _two_calls(evidence: Evidence) -> tuple[Draws, Draws]:
    """With p = 0.5, where neither all heads go nor none."""
    found = evidence.inputs["again"]
    first, second = (Draws.of(_seeded(evidence, name), found) for name in ("first", "second"))
    return first, second


def _moves_on(evidence: Evidence) -> bool:
    """True if neither a second call nor another seed drops the same heads again."""
    first = _seeded(evidence, "first")
    return not any(np.array_equal(first, _seeded(evidence, name)) for name in ("second", "other"))


def _obeys(evidence: Evidence) -> bool:
    found = evidence.inputs["again"]
    first, second, repeated, other = (
        _seeded(evidence, name) for name in ("first", "second", "repeated", "other")
    )
    return (
        all(Draws.of(result, found).some_gone for result in (first, second, repeated, other))
        and np.array_equal(first, repeated)
        and not np.array_equal(first, second)
        and not np.array_equal(first, other)
        and (evidence.again is None or same_case(evidence.answers, evidence.again, "many"))
    )


def _a_fixed_number(evidence: Evidence) -> bool:
    alone = _alone(evidence)
    return _moves_on(evidence) and alone.as_many_in_all_samples and 0 < alone.dropped < 1


def _share(evidence: Evidence) -> str:
    draws = _draws(evidence)
    return unwrapped(f"""With p = {_p(evidence):g}, {draws.dropped:.1%} of {len(draws.kept)}
    × {draws.heads} heads became 0.""")


def _factor(evidence: Evidence) -> str:
    p, mine = _p(evidence), _draws(evidence).factors
    off = float(mine[np.abs(mine - 1 / (1 - p)).argmax()])
    yours, right = numbers_apart(off, 1 / (1 - p))
    return unwrapped(f"""With p = {p:g}, what you keep is multiplied by {yours}; it should be
    1 / (1 − p) = {right}, which makes the mean over many draws what it is without
    dropout.{_by_what_was_kept(evidence, off) or _as_a_formula(evidence)}""")


# Factors that people take for 1 / (1 − p), as functions of p.
_FACTORS: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("p", lambda p: p),
    ("1 + p", lambda p: 1 + p),
    ("1 / (1 + p)", lambda p: 1 / (1 + p)),
    ("1 / √(1 − p)", lambda p: (1 - p) ** -0.5),
    ("√(1 − p)", lambda p: (1 - p) ** 0.5),
    ("1 / (1 − p)²: is it divided twice?", lambda p: (1 - p) ** -2),
    ("1 / √p", lambda p: p**-0.5),
    ("(1 − p) / p", lambda p: (1 - p) / p),
    ("p / (1 − p)", lambda p: p / (1 - p)),
)


def _as_a_formula(evidence: Evidence) -> str:
    """What factor it is, where it is the same everywhere and people take it for the right one."""
    draws, p = _draws(evidence), _p(evidence)
    known = {f"{words}": of(p) for words, of in _FACTORS}
    known |= {"the number of heads": draws.heads, "1 / the number of heads": 1 / draws.heads}
    told = next((words for words, factor in known.items() if draws.scaled_by(factor)), "")
    return f" Yours is {told}{'' if told.endswith('?') else '.'}" if told else ""


def _by_what_was_kept(evidence: Evidence, factor: float) -> str:
    share = 1 - _draws(evidence).dropped
    if abs(factor * share - 1) > 1e-5:
        return ""
    return (
        f" Yours is 1 / {number(share, 4)}, and that is the share that this draw happened to keep."
    )


def _ratio(evidence: Evidence) -> Array:
    return np.asarray(evidence.yours("evaluation") / evidence.inputs["few"])


def _evaluation(evidence: Evidence) -> str:
    b, h, t, d = (int(i) for i in np.argwhere(np.abs(_ratio(evidence) - 1) > 1e-3)[0])
    mine, given = evidence.yours("evaluation")[b, h, t, d], evidence.inputs["few"][b, h, t, d]
    return unwrapped(f"""With `training=False` and p = {_p(evidence):g}, {number(given)} became
    {number(mine)} in sample {b}, head {h}.""")


def _deterministic(evidence: Evidence) -> Finding | None:
    for case, when in (
        ("evaluation", "With `training=False`"),
        ("evaluation_at_one", "With `training=False` and p = 1"),
        ("none", "With p = 0"),
        ("one_by_one.whole", "With p = 0 and a batch of one sample"),
        ("every", "With p = 1"),
    ):
        if not evidence.same(case):
            wanted = "0 everywhere" if case == "every" else "what was given"
            return Finding(
                "wrong-without-chance",
                f"{when} there is nothing left to chance, and your answer is another one.",
                f"It should be {wanted}.{_instead(evidence, case)}",
                DROPOUT,
            )
    return None


def _instead(evidence: Evidence, case: str) -> str:
    """What an answer is that is left to nothing, where that is a number times what was given."""
    found = evidence.inputs["found"]
    given = {"every": found, "one_by_one.whole": found[:1]}.get(case, evidence.inputs["few"])
    ratio = evidence.shaped(case, given.shape) / given
    factor = float(ratio.mean())
    if np.abs(ratio - factor).max() > 1e-3:
        return ""
    p = _p(evidence)
    known: dict[str, float] = {"0 everywhere": 0, "what was given": 1}
    if case == "evaluation":
        known |= {
            "p times that": p,
            "1 − p times that": 1 - p,
            "1 / (1 − p) times that": 1 / (1 - p),
        }
    told = next((words for words, of in known.items() if abs(factor - of) < 1e-3), None)
    return f" Yours is {told or f'{number(factor)} times that'}."


def _another_chance(evidence: Evidence) -> str:
    """With what probability heads go, if not with p."""
    draws, p = _draws(evidence), _p(evidence)
    below = (1 + math.erf(p / math.sqrt(2))) / 2  # of normal numbers
    if draws.dropped_about(0.5):
        return " That is about one half: does p decide how many?"
    if draws.dropped_about(below) or draws.dropped_about(1 - below):
        side = "below" if draws.dropped_about(below) else "above"
        return (
            f" Of normal numbers as many are {side} p; `torch.rand` draws evenly between 0 and 1,"
            " `torch.randn` does not."
        )
    return ""


def _by_chance(evidence: Evidence) -> Finding | None:
    draws, alone = _draws(evidence), _alone(evidence)
    if _chosen_well_together(evidence) and _scaled_well_together(evidence):
        if _chosen_well(evidence) and _scaled_well(evidence):
            return None
        grown = number(float(alone.factors.max())) if alone.factors.size else "nothing"
        return Finding(
            "wrong-for-one-sample",
            "Your answer is right for many samples and wrong for a batch of one.",
            unwrapped(f"""Of the heads of {ALONE} samples that came one by one with p = {ALONE_P:g},
            {alone.dropped:.0%} became 0, and the others were multiplied by {grown}."""),
            DROPOUT,
        )
    if draws.whole and draws.dropped_about(_p(evidence)) and not draws.independent:
        return Finding(
            "not-independent",
            "Your heads do not go independently of each other.",
            unwrapped(f"""As many become 0 as should, {draws.dropped:.1%} with p = {_p(evidence):g},
            and whether one does tells something about another: of its own sample, of the next one,
            or of the one half a batch away. Each needs a number of its own from the generator."""),
            DROPOUT,
        )
    whole = _p(evidence) ** draws.heads * len(draws.kept)
    if draws.whole and draws.dropped and whole > _MANY and draws.kept.any(axis=1).all():
        return Finding(
            "never-all-heads",
            "In your answer every sample keeps a head.",
            unwrapped(f"""With p = {_p(evidence):g}, about {whole:.0f} of {len(draws.kept)} samples
            should lose all of their {draws.heads} heads: none of them waits for the others."""),
            DROPOUT,
        )
    if not _chosen_well(evidence):
        return Finding(
            "wrong-share",
            "Your choice of heads is not the one asked for.",
            f"{_share(evidence)}{_another_chance(evidence)}",
            DROPOUT,
        )
    if not _scaled_well(evidence):
        return Finding(
            "wrong-factor",
            "The kept heads are scaled by another factor than asked for.",
            _factor(evidence),
            DROPOUT,
        )
    return None


def _by_seed(evidence: Evidence) -> Finding | None:
    if _obeys(evidence):
        return None
    return Finding(
        "wrong-randomness",
        "Your draws do not follow the generator.",
        "The same seed should drop the same heads, and a second call others.",
        DROPOUT,
    )


def _drops_in_evaluation(evidence: Evidence) -> bool:
    """True if some of what is evaluated is 0, and the rest, if there is any, grows as in training
    or stays what it is.
    """
    ratio, p = _ratio(evidence), _p(evidence)
    left = ratio[ratio != 0]
    if p > _NEARLY_ONE and not left.size:
        return True
    return 0 < left.size < ratio.size and bool(
        np.allclose(left, 1, atol=1e-3) or np.allclose(left, 1 / (1 - p), rtol=1e-3)
    )


def _is_left_to_chance(evidence: Evidence) -> bool:
    """True if of samples that come one by one some heads go and some stay."""
    return 0 < _alone(evidence).dropped < 1


def _drops_some(evidence: Evidence) -> bool:
    """True if of many samples some heads go and some stay."""
    return 0 < _two_calls(evidence)[0].dropped < 1


_SEEDS = (
    "Two generators with the same seed dropped different heads; give `generator=generator` to what"
    " draws."
)

_flag_turned = mistake(
    "You drop heads in evaluation, and none in training: `training` means the opposite.",
    _evaluation,
    recognized=lambda e: _scaled_by(e, 1.0) and not _draws(e).dropped and _drops_in_evaluation(e),
)(lambda found, p, training, generator: drop_heads(found, p, not training, generator))

_nothing_dropped = mistake(
    "In training, nothing is dropped and nothing is scaled.",
    _share,
    recognized=lambda e: _scaled_by(e, 1.0) and not _draws(e).dropped,
)(nothing)

_scaled_in_evaluation = mistake(
    "You scale by 1 − p in evaluation, where nothing is to change.",
    lambda e: unwrapped(f"""{_evaluation(e)} In the inverted form what is kept is scaled up in
    training, and that is all."""),
    recognized=lambda e: bool(np.allclose(_ratio(e), 1 - _p(e), atol=1e-3)),
)(drops(factor=lambda p: 1.0, in_evaluation=lambda p: 1 - p))  # noqa: ARG005

_scaled_up_in_evaluation = mistake(
    "You scale up in evaluation, where nothing is to change, and not in training.",
    lambda e: unwrapped(f"""{_evaluation(e)} In the inverted form what is kept is divided by 1 − p
    in training, and that is all."""),
    recognized=lambda e: (
        bool(np.allclose(_ratio(e) * (1 - _p(e)), 1, atol=1e-3)) and _scaled_by(e, 1.0)
    ),
)(drops(factor=lambda p: 1.0, in_evaluation=lambda p: 1 / (1 - p) if p < 1 else 1.0))  # noqa: ARG005

_dropout_in_evaluation = mistake(
    "You drop in evaluation, too, where nothing is to change.",
    lambda e: f"{_evaluation(e)} What a model answers would be left to chance.",
    recognized=_drops_in_evaluation,
)(always)

_keeps_with_p = mistake(
    "You keep heads with probability p; p is the share that goes.",
    _share,
    recognized=lambda e: _draws(e).whole and _draws(e).dropped_about(1 - _p(e)),
)(drops(keeps=lambda p: p))


def _what_is_dropped(evidence: Evidence) -> str:
    """Parts of heads of which all entries go together."""
    gone = _draws(evidence).ratio == 0  # (B, H, T, D)
    if (gone == gone[..., :1]).all():
        return "single positions of heads"
    if (gone == gone[:, :, :1]).all():
        return "single channels of heads"
    return "single entries"


_entries_not_heads = mistake(
    lambda e: f"You drop {_what_is_dropped(e)}; asked for are whole heads.",
    lambda e: unwrapped(f"""{_draws(e).broken} of {_draws(e).kept.size} heads of your answer are 0
    in some entries and not in others. The mask needs one entry for each sample and head: (B, H, 1,
    1)."""),
    recognized=lambda e: not _draws(e).whole,
)(drops(sizes=lambda found: tuple(found.shape)))


def _divided_by_what_was_kept(evidence: Evidence) -> bool:
    """True if everything that is left was divided by the share of the batch that is left, and not
    by the expected one.
    """
    draws = _draws(evidence)
    kept = 1 - draws.dropped
    return (
        0 < draws.dropped < 1
        and bool(np.allclose(draws.factors * kept, 1, rtol=1e-5))
        and abs(kept / (1 - _p(evidence)) - 1) > 1e-4
    )


_one_coin = mistake(
    "One draw decides for all heads of all samples: all of them go, or none.",
    lambda e: f"{_share(e)} Each head of each sample needs a number of its own.",
    recognized=lambda e: (
        _is_left_to_chance(e)
        and all(one.dropped in (0, 1) for one in (_draws(e), *_two_calls(e)))
        and _alone(e).all_or_none
    ),
)(drops(sizes=lambda found: (1, 1, 1, 1)))  # noqa: ARG005

_one_draw_for_all = mistake(
    "Every sample of your batch loses the same heads; each needs draws of its own.",
    lambda e: f"{_share(e)} In all {len(_draws(e).kept)} samples they are the same ones.",
    recognized=lambda e: (
        _is_left_to_chance(e)
        and all(one.same_in_all_samples for one in (_draws(e), *_two_calls(e)))
    ),
)(drops(sizes=lambda found: (1, found.shape[1], 1, 1)))

_drops_samples = mistake(
    "You draw once a sample: it keeps all of its heads or none.",
    lambda e: unwrapped(f"""{int((~_draws(e).kept.any(axis=1)).sum())} of {len(_draws(e).kept)}
    samples have lost every head."""),
    recognized=lambda e: (
        _is_left_to_chance(e) and all(one.all_or_none for one in (_draws(e), *_two_calls(e)))
    ),
)(drops(sizes=lambda found: (found.shape[0], 1, 1, 1)))

_dropout_unscaled = mistake(
    "What you keep is not divided by 1 − p, so the mean shrinks.",
    _factor,
    recognized=lambda e: _scaled_by(e, 1.0),
)(drops(factor=lambda p: 1.0))  # noqa: ARG005

_divides_by_p = mistake(
    "You divide what is kept by p; the share that is kept is 1 − p.",
    _factor,
    recognized=lambda e: _scaled_by(e, 1 / _p(e)),
)(drops(factor=lambda p: 1 / p if p else 1.0))

_multiplies_by_share = mistake(
    "You multiply what is kept by 1 − p; that makes up for nothing, it shrinks twice.",
    _factor,
    recognized=lambda e: _scaled_by(e, 1 - _p(e)),
)(drops(factor=lambda p: 1 - p))

_rescaled_by_count = mistake(
    "You scale by how many heads happened to be kept; the factor is always 1 / (1 − p).",
    lambda e: unwrapped(f"""Of {_draws(e).heads} heads, a sample that kept one has it multiplied by
    {number(float(_draws(e).factors.max()))} in your answer, and by {number(1 / (1 - _p(e)))} in the
    right one."""),
    recognized=lambda e: _draws(e).scaled_by_count,
)(by_count)

_rescaled_by_the_share = mistake(
    "You divide by the share of heads that happened to be kept; divide by 1 − p.",
    lambda e: unwrapped(f"""With p = {_p(e):g}, what you keep is multiplied by
    {number(float(_draws(e).factors[0]), 5)}, and 1 / (1 − p) is {number(1 / (1 - _p(e)), 5)}. By
    chance more heads are kept or fewer. Where none is, as with p = 1, that share is 0."""),
    recognized=_divided_by_what_was_kept,
)(by_share)

_zero_over_zero = mistake(
    "At p = 1 you divide by 1 − p, which is 0.",
    lambda e: (
        "Your answer to p = 1 stopped with an error. Nothing is kept: return zeros."
        if "every" in e.answers.errors
        else f"{float(np.isnan(e.yours('every')).mean()):.0%} of your answer to p = 1 is"
        " NaN. Nothing is kept: return zeros."
    ),
    recognized=lambda e: (
        _scaled_well_together(e)
        and (
            e.answers.errors["every"].kind == "ZeroDivisionError"
            if "every" in e.answers.errors
            else bool(np.isnan(e.yours("every")).any())
        )
    ),
)(zero_over_zero)

_seed_fixed_inside = mistake(
    "Every call drops the same heads, whatever the seed of the generator is.",
    lambda e: unwrapped(f"""Two generators with different seeds dropped the same heads in all
    {len(e.inputs["again"])} samples. If a seed is fixed inside your function, leave it to the
    caller, and draw from the generator that is given."""),
    recognized=lambda e: (
        _drops_some(e) and np.array_equal(_seeded(e, "first"), _seeded(e, "other"))
    ),
)(reseeded)

_seed_again = mistake(
    "A second call with the same generator drops what the first one did.",
    lambda e: unwrapped(f"""Two calls with one generator dropped the same heads in all
    {len(e.inputs["again"])} samples. If you seed it again, or draw from a copy of it, it begins
    anew: give the generator itself to what draws, and each draw moves it on."""),
    recognized=lambda e: (
        _drops_some(e) and np.array_equal(_seeded(e, "first"), _seeded(e, "second"))
    ),
)(begun_anew)

_generator_ignored = mistake(
    "Not all that you draw comes from the given generator.",
    _SEEDS,
    recognized=lambda e: not np.array_equal(_seeded(e, "first"), _seeded(e, "repeated")),
)(own_chance)

_fixed_number = mistake(
    "You drop a fixed number of heads; each should go or stay by a chance of its own.",
    lambda e: unwrapped(f"""With p = {ALONE_P:g}, {ALONE} samples that came one by one lost
    {int((~_alone(e).kept[0]).sum())} of {_draws(e).heads} heads each. If each goes by
    a chance of its own, sometimes more go, sometimes fewer, and sometimes none."""),
    recognized=_a_fixed_number,
)(exact_share)


TASK = Task(
    "Dropout of whole heads",
    drop_heads,
    DROPOUT,
    (
        Part("Whole heads are dropped, each on its own, with probability p.", 2, _chosen_well),
        Part("What is kept grows so that the mean stays.", 2, _scaled_well),
        Part("Evaluation and p = 0 change nothing; p = 1 leaves zeros.", 1, _ends_well),
        Part("All randomness comes from the generator.", 1, _obeys),
    ),
    properties=(_by_chance, _deterministic, _by_seed),
    # Drawn by chance: only what is true of many of them is right or wrong.
    uncompared=("many", "each", "first", "second", "repeated", "other"),
)
