"""Judges 06/dropout: inverted dropout of whole heads."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from course_judges.ch06_heads.draws import Draws
from course_judges.ch06_heads.drops import (
    always,
    by_count,
    by_share,
    drop_heads,
    drops,
    exact_share,
    nothing,
    own_chance,
    reseeded,
    restarted,
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
# If this many samples are expected to lose all heads, it is no accident that none does.
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
        # Calls that all draw the same are left to the part on the generator.
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
    # Nothing may be left of heads that are all dropped together.
    return not draws.factors.size or draws.scaled_by(1 / (1 - _p(evidence)))


def _drops_something(evidence: Evidence) -> bool:
    """True if something is dropped and something kept, among many samples or among those that come
    alone; heads that share one draw may all be kept, or all dropped, in one call.
    """
    return _draws(evidence).some_gone or _alone(evidence).some_gone


def _ends_well(evidence: Evidence) -> bool:
    """Nothing is dropped in evaluation and at p = 0, everything at p = 1, something in between."""
    certain = ("evaluation", "evaluation_at_one", "none", "one_by_one.whole", "every")
    return evidence.same(*certain) and _drops_something(evidence)


def _seeded(evidence: Evidence, name: str) -> Array:
    return evidence.shaped(f"seeded.{name}", evidence.inputs["again"].shape)


def _two_calls(evidence: Evidence) -> tuple[Draws, Draws]:
    """With p = 0.5, which drops neither all heads nor none."""
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
    return unwrapped(f"""With p = {p:g}, you multiply what you keep by {yours}. It should be 1 / (1
    − p) = {right}, so that the mean over many draws is the same as without
    dropout.{_by_what_was_kept(evidence, off) or _as_a_formula(evidence)}""")


# Factors that people take for 1 / (1 − p), as functions of p.
_FACTORS: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("p", lambda p: p),
    ("1 + p", lambda p: 1 + p),
    ("1 / (1 + p)", lambda p: 1 / (1 + p)),
    ("1 / √(1 − p)", lambda p: (1 - p) ** -0.5),
    ("√(1 − p)", lambda p: (1 - p) ** 0.5),
    ("1 / (1 − p)². Do you divide twice?", lambda p: (1 - p) ** -2),
    ("1 / √p", lambda p: p**-0.5),
    ("(1 − p) / p", lambda p: (1 - p) / p),
    ("p / (1 − p)", lambda p: p / (1 - p)),
    ("1 / (1 − p²)", lambda p: 1 / (1 - p**2)),
    ("e to the power of p", math.exp),
    ("2, whatever p is", lambda p: 2.0),  # noqa: ARG005
    ("10. Do you keep 1 − p from falling below 0.1?", lambda p: 10.0),  # noqa: ARG005
)


def _as_a_formula(evidence: Evidence) -> str:
    """Which well-known wrong factor it is, if it is one and the same everywhere."""
    draws, p = _draws(evidence), _p(evidence)
    known = {words: of(p) for words, of in _FACTORS}
    known |= {"the number of heads": draws.heads, "1 / the number of heads": 1 / draws.heads}
    told = next((words for words, factor in known.items() if draws.scaled_by(factor)), "")
    return f" Your factor is {told}{'' if told.endswith('?') else '.'}" if told else ""


def _by_what_was_kept(evidence: Evidence, factor: float) -> str:
    share = 1 - _draws(evidence).dropped
    if abs(factor * share - 1) > 1e-5:
        return ""
    return f" You divide by {number(share, 4)}, the share that this draw happened to keep."


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
                f"{when}, nothing is left to chance, but your answer is wrong.",
                f"It should be {wanted}.{_instead(evidence, case)}",
                DROPOUT,
            )
    return None


def _instead(evidence: Evidence, case: str) -> str:
    """What an answer without chance is, if it is a number times what was given."""
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
    """With what probability heads are dropped, if not with p."""
    draws, p = _draws(evidence), _p(evidence)
    if not draws.dropped:
        low, high = float(draws.ratio.min()), float(draws.ratio.max())
        return unwrapped(f""" None is 0 in any entry: you multiply entries by numbers from
        {number(low)} to {number(high)}.""")
    if draws.dropped == 1:
        return " So nothing was kept. Can the numbers that you draw be above p at all?"
    below = (1 + math.erf(p / math.sqrt(2))) / 2  # of normal numbers
    if draws.dropped_about(0.5):
        return " That is about one half. Does p decide how many?"
    if draws.dropped_about(below) or draws.dropped_about(1 - below):
        side = "below" if draws.dropped_about(below) else "above"
        return (
            f" That many normal random numbers are {side} p. Did you use `torch.randn` instead of"
            " `torch.rand`?"
        )
    shares = (
        ("1 − (1 − p)², as if each head had two chances to go", 1 - (1 - p) ** 2),
        ("p², as if a head went only if two draws say so", p**2),
        ("p / H, as if one head of a sample went with probability p", p / draws.heads),
        ("(1 − p)²", (1 - p) ** 2),
        ("√p", p**0.5),
        ("1 / H", 1 / draws.heads),
        ("1 − 1 / H", 1 - 1 / draws.heads),
        ("p / 2", p / 2),
        ("(1 + p) / 2", (1 + p) / 2),
    )
    fits = [words for words, share in shares if draws.dropped_about(share)]
    return f" That is about {' or '.join(fits)}." if fits else ""


def _by_chance(evidence: Evidence) -> Finding | None:
    draws, alone = _draws(evidence), _alone(evidence)
    if _chosen_well_together(evidence) and _scaled_well_together(evidence):
        if _chosen_well(evidence) and _scaled_well(evidence):
            return None
        grown = number(float(alone.factors.max())) if alone.factors.size else ""
        others = f", and the others were multiplied by {grown}" if grown else ""

        return Finding(
            "wrong-for-one-sample",
            "Your answer is right for many samples, but wrong for a batch of one.",
            unwrapped(f"""When {ALONE} samples came one by one with p = {ALONE_P:g},
            {alone.dropped:.0%} of their heads became 0{others}."""),
            DROPOUT,
        )
    if draws.whole and draws.dropped_about(_p(evidence)) and not draws.independent:
        return Finding(
            "not-independent",
            "Your heads aren't dropped independently of each other.",
            unwrapped(f"""The right share becomes 0, {draws.dropped:.1%} with p = {_p(evidence):g},
            but whether one head does tells you something about another, in its own sample, in the
            next one, or in the one half a batch away. Each head needs its own number from the
            generator."""),
            DROPOUT,
        )
    whole = _p(evidence) ** draws.heads * len(draws.kept)
    if draws.whole and draws.dropped and whole > _MANY and draws.kept.any(axis=1).all():
        return Finding(
            "never-all-heads",
            f"With p = {_p(evidence):g}, every sample of yours keeps at least one head.",
            unwrapped(f"""About {whole:.0f} of {len(draws.kept)} samples should lose all of their
            {draws.heads} heads, because each is dropped independently of the others."""),
            DROPOUT,
        )
    if not _chosen_well(evidence):
        return Finding(
            "wrong-share",
            "You don't choose the heads to drop as the task asks.",
            f"{_share(evidence)}{_another_chance(evidence)}",
            DROPOUT,
        )
    if not _scaled_well(evidence):
        return Finding(
            "wrong-factor",
            "You scale the kept heads by the wrong factor.",
            _factor(evidence),
            DROPOUT,
        )
    return None


def _by_seed(evidence: Evidence) -> Finding | None:
    if _obeys(evidence):
        return None
    return Finding(
        "wrong-randomness",
        "Your draws don't follow the generator.",
        "The same seed should drop the same heads, and a second call should drop others.",
        DROPOUT,
    )


def _drops_in_evaluation(evidence: Evidence) -> bool:
    """True if some of the output in evaluation is 0 and the rest, if any, is scaled as in training
    or unchanged.
    """
    ratio, p = _ratio(evidence), _p(evidence)
    left = ratio[ratio != 0]
    if p > _NEARLY_ONE and not left.size:
        return True
    return 0 < left.size < ratio.size and bool(
        np.allclose(left, 1, atol=1e-3) or np.allclose(left, 1 / (1 - p), rtol=1e-3)
    )


def _is_left_to_chance(evidence: Evidence) -> bool:
    """True if samples that come one by one lose some heads and keep some."""
    return 0 < _alone(evidence).dropped < 1


def _drops_some(evidence: Evidence) -> bool:
    """True if many samples lose some heads and keep some."""
    return 0 < _two_calls(evidence)[0].dropped < 1


_SEEDS = (
    "Two generators with the same seed dropped different heads. Pass `generator=generator` to"
    " everything that draws."
)

_flag_turned = mistake(
    "You drop heads in evaluation and none in training, the opposite of what `training` says.",
    _evaluation,
    recognized=lambda e: _scaled_by(e, 1.0) and not _draws(e).dropped and _drops_in_evaluation(e),
)(lambda found, p, training, generator: drop_heads(found, p, not training, generator))

_nothing_dropped = mistake(
    "In training, you neither drop nor scale anything.",
    _share,
    recognized=lambda e: _scaled_by(e, 1.0) and not _draws(e).dropped,
)(nothing)

_scaled_in_evaluation = mistake(
    "You scale by 1 − p in evaluation, where nothing should change.",
    lambda e: unwrapped(f"""{_evaluation(e)} With inverted dropout, all scaling happens in
    training."""),
    recognized=lambda e: bool(np.allclose(_ratio(e), 1 - _p(e), atol=1e-3)),
)(drops(factor=lambda p: 1.0, in_evaluation=lambda p: 1 - p))  # noqa: ARG005

_scaled_up_in_evaluation = mistake(
    "You scale up in evaluation, where nothing should change, instead of in training.",
    lambda e: unwrapped(f"""{_evaluation(e)} With inverted dropout, what is kept is divided by 1 − p
    in training, and nothing else is scaled."""),
    recognized=lambda e: (
        bool(np.allclose(_ratio(e) * (1 - _p(e)), 1, atol=1e-3)) and _scaled_by(e, 1.0)
    ),
)(drops(factor=lambda p: 1.0, in_evaluation=lambda p: 1 / (1 - p) if p < 1 else 1.0))  # noqa: ARG005

_dropout_in_evaluation = mistake(
    "You also drop in evaluation, where nothing should change.",
    lambda e: f"{_evaluation(e)} This would leave the model's answers to chance.",
    recognized=_drops_in_evaluation,
)(always)

_keeps_with_p = mistake(
    "You keep heads with probability p, but they should be dropped with probability p.",
    _share,
    recognized=lambda e: _draws(e).whole and _draws(e).dropped_about(1 - _p(e)),
)(drops(keeps=lambda p: p))


def _what_is_dropped(evidence: Evidence) -> str:
    """The parts of heads whose entries are dropped together."""
    gone = _draws(evidence).ratio == 0  # (B, H, T, D)
    if (gone == gone[..., :1]).all():
        return "single positions of heads"
    if (gone == gone[:, :, :1]).all():
        return "single channels of heads"
    return "single entries"


_entries_not_heads = mistake(
    lambda e: f"You drop {_what_is_dropped(e)} instead of whole heads.",
    lambda e: unwrapped(f"""In your answer, {_draws(e).broken} of {_draws(e).kept.size} heads are 0
    in some entries but not in others. The mask needs one entry for each sample and head, (B, H, 1,
    1)."""),
    recognized=lambda e: not _draws(e).whole,
)(drops(sizes=lambda found: tuple(found.shape)))


def _divided_by_what_was_kept(evidence: Evidence) -> bool:
    """True if what is kept was divided by the share of the batch that was kept, and not by the
    expected one.
    """
    draws = _draws(evidence)
    kept = 1 - draws.dropped
    return (
        0 < draws.dropped < 1
        and bool(np.allclose(draws.factors * kept, 1, rtol=1e-5))
        and abs(kept / (1 - _p(evidence)) - 1) > 1e-4
    )


_one_coin = mistake(
    "You use one draw for all heads of all samples, so all of them are dropped or none.",
    lambda e: f"{_share(e)} Each head of each sample needs its own draw.",
    recognized=lambda e: (
        _is_left_to_chance(e)
        and all(one.dropped in (0, 1) for one in (_draws(e), *_two_calls(e)))
        and _alone(e).all_or_none
    ),
)(drops(sizes=lambda found: (1, 1, 1, 1)))  # noqa: ARG005

_one_draw_for_all = mistake(
    "Every sample of your batch loses the same heads, but each needs its own draws.",
    lambda e: f"{_share(e)} They are the same in all {len(_draws(e).kept)} samples.",
    recognized=lambda e: (
        _is_left_to_chance(e)
        and all(one.same_in_all_samples for one in (_draws(e), *_two_calls(e)))
    ),
)(drops(sizes=lambda found: (1, found.shape[1], 1, 1)))

_drops_samples = mistake(
    "You draw once per sample, so it keeps all of its heads or none.",
    lambda e: unwrapped(f"""{int((~_draws(e).kept.any(axis=1)).sum())} of {len(_draws(e).kept)}
    samples lost every head."""),
    recognized=lambda e: (
        _is_left_to_chance(e) and all(one.all_or_none for one in (_draws(e), *_two_calls(e)))
    ),
)(drops(sizes=lambda found: (found.shape[0], 1, 1, 1)))

_dropout_unscaled = mistake(
    "You don't divide what you keep by 1 − p, so the mean shrinks.",
    _factor,
    recognized=lambda e: _scaled_by(e, 1.0),
)(drops(factor=lambda p: 1.0))  # noqa: ARG005

_divides_by_p = mistake(
    "You divide what is kept by p, but the share that is kept is 1 − p.",
    _factor,
    recognized=lambda e: _scaled_by(e, 1 / _p(e)),
)(drops(factor=lambda p: 1 / p if p else 1.0))

_multiplies_by_share = mistake(
    "You multiply what is kept by 1 − p, which shrinks the mean a second time.",
    _factor,
    recognized=lambda e: _scaled_by(e, 1 - _p(e)),
)(drops(factor=lambda p: 1 - p))

_rescaled_by_count = mistake(
    "You scale by how many heads happened to be kept, but it should always be by 1 / (1 − p).",
    lambda e: unwrapped(f"""If a sample kept one of its {_draws(e).heads} heads, you multiplied it
    by {number(float(_draws(e).factors.max()))} instead of {number(1 / (1 - _p(e)))}."""),
    recognized=lambda e: _draws(e).scaled_by_count,
)(by_count)

_rescaled_by_the_share = mistake(
    "You divide by the share of heads that happened to be kept, instead of by 1 − p.",
    lambda e: unwrapped(f"""With p = {_p(e):g}, you multiply what you keep by
    {number(float(_draws(e).factors[0]), 5)}, but 1 / (1 − p) is {number(1 / (1 - _p(e)), 5)}. The
    share that is kept varies by chance, and it is 0 if nothing is kept, as with p = 1."""),
    recognized=_divided_by_what_was_kept,
)(by_share)

_zero_over_zero = mistake(
    "At p = 1, you divide by 1 − p, which is 0.",
    lambda e: (
        "With p = 1, your answer stopped with an error. Nothing is kept there, so return zeros."
        if "every" in e.answers.errors
        else f"With p = 1, {float(np.isnan(e.yours('every')).mean()):.0%} of your numbers are NaN."
        " Nothing is kept there, so return zeros."
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
    {len(e.inputs["again"])} samples. If you fix a seed inside your function, leave that to the
    caller and draw from the generator that you are given."""),
    recognized=lambda e: (
        _drops_some(e) and np.array_equal(_seeded(e, "first"), _seeded(e, "other"))
    ),
)(reseeded)

_seed_again = mistake(
    "A second call with the same generator drops the same heads as the first.",
    lambda e: unwrapped(f"""Two calls with one generator dropped the same heads in all
    {len(e.inputs["again"])} samples. If you seed it again, or draw from a copy of it, it starts
    over. Pass the generator itself to what draws, so that each draw moves it on."""),
    recognized=lambda e: (
        _drops_some(e) and np.array_equal(_seeded(e, "first"), _seeded(e, "second"))
    ),
)(restarted)

_generator_ignored = mistake(
    "Not everything that you draw comes from the given generator.",
    _SEEDS,
    recognized=lambda e: not np.array_equal(_seeded(e, "first"), _seeded(e, "repeated")),
)(own_chance)

_fixed_number = mistake(
    "You drop a fixed number of heads, but each should be dropped or kept by its own chance.",
    lambda e: unwrapped(f"""With p = {ALONE_P:g}, {ALONE} samples that came one by one lost
    {int((~_alone(e).kept[0]).sum())} of {_draws(e).heads} heads each. If each has its own chance,
    sometimes more are dropped, sometimes fewer, and sometimes none."""),
    recognized=_a_fixed_number,
)(exact_share)


TASK = Task(
    "Dropout of whole heads",
    drop_heads,
    DROPOUT,
    (
        Part("Whole heads are dropped, with probability p.", 2, _chosen_well),
        Part("The mean stays the same.", 2, _scaled_well),
        Part("Evaluation, p = 0 and p = 1 are right.", 1, _ends_well),
        Part("All randomness comes from the generator.", 1, _obeys),
    ),
    properties=(_by_chance, _deterministic, _by_seed),
    # Drawn by chance: they are judged only by what is true of many of them.
    uncompared=("many", "each", "first", "second", "repeated", "other"),
)
