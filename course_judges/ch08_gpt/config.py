"""Judges 08/config: settings that reject everything that no model can have, all at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_judges.ch08_gpt.sections import SETTINGS as SECTION
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.wording import sentence, unwrapped
from course_tasks.answers import Array
from course_tasks.ch08_gpt.config import MOST_DROPOUT, SETTINGS
from course_tasks.verdict import Finding

_SIZES = SETTINGS[:-1]
# In the last of several changes, n_embd is negative and all other sizes are 0.
_ZEROS = tuple(name for name in _SIZES if name != "n_embd")
_POSSIBLE = ("possible", "plain", "edges", "thin", "ones")
_ALONE = ("sizes", "heads", "dropout")
_HEADS = (SETTINGS.index("n_head"), SETTINGS.index("n_embd"))

# Setting → what is wrong with it, in the order in which the problems are reported.
Problems = Mapping[str, str]


def _size_problems(config: Any) -> dict[str, str]:
    return {name: "at least 1" for name in _SIZES if getattr(config, name) < 1}


def _head_problems(config: Any) -> dict[str, str]:
    n_embd, n_head = config.n_embd, config.n_head
    if n_embd < 1 or n_head < 1 or n_embd % n_head == 0:
        return {}
    return {"n_embd": "divisible by n_head", "n_head": "a divisor of n_embd"}


def _negated_head_problems(config: Any) -> dict[str, str]:
    n_embd, n_head = config.n_embd, config.n_head
    if n_embd < 1 or n_head < 1 or n_embd % n_head:
        return {}
    return {"n_embd": "divisible by n_head", "n_head": "a divisor of n_embd"}


def _dropout_problems(config: Any) -> dict[str, str]:
    return {} if 0 <= config.dropout < 1 else {"dropout": "at least 0 and below 1"}


_Looks = Callable[[Any], dict[str, str]]


def _none(_: Any) -> dict[str, str]:
    return {}


def _refusing(
    problems: Callable[[Any], Problems] | None = None,
    sizes: _Looks = _size_problems,
    heads: _Looks = _head_problems,
    dropout: _Looks = _dropout_problems,
    words: Callable[[Any, Problems], str] | None = None,
    error: type[Exception] = ValueError,
    dropout_unsaid: float = 0.0,
) -> type:
    """A Config that looks for problems of sizes, of heads and of dropout, or for others, and raises
    this error with these words.
    """

    def in_words(config: Any, found: Problems) -> str:
        return "; ".join(f"{n} = {getattr(config, n)}: must be {r}" for n, r in found.items())

    @dataclass(frozen=True)
    class Config:
        """The sizes of a GPT."""

        vocab_size: int
        block_size: int
        n_layer: int
        n_head: int
        n_embd: int
        dropout: float = dropout_unsaid

        def __post_init__(self) -> None:
            found = problems(self) if problems else sizes(self) | heads(self) | dropout(self)
            if found:
                raise error((words or in_words)(self, found))

        @property
        def head_size(self) -> int:
            """D, the channels of one head."""
            return self.n_embd // self.n_head

    return Config


def _first_only(config: Any) -> Problems:
    found = _size_problems(config) or _head_problems(config) or _dropout_problems(config)
    # Two settings that don't fit together are one problem.
    return found if "divisor" in " ".join(found.values()) else dict(list(found.items())[:1])


def _division_last(config: Any) -> Problems:
    return _size_problems(config) | _dropout_problems(config) or _head_problems(config)


def _by_value(config: Any) -> Problems:
    last = {getattr(config, name): name for name in _size_problems(config)}
    sizes = dict.fromkeys(last.values(), "at least 1")
    return sizes | _head_problems(config) | _dropout_problems(config)


def _but_for_heads(named: Array) -> Array:
    """The same settings (changes, settings) without two that don't fit together, as in the second
    change.
    """
    left = named.copy()
    left[1, _HEADS] = False
    return left


def _divided_at_once(config: Any) -> dict[str, str]:
    off = {"n_embd": "divisible", "n_head": "a divisor"}
    return off if config.n_embd % config.n_head else {}


def _other_way_round(config: Any) -> dict[str, str]:
    off = config.n_head > 0 and config.n_embd != 0 and config.n_head % config.n_embd != 0
    return {"n_embd": "divisible", "n_head": "a divisor"} if off else {}


def _outcomes(evidence: Evidence, case: str) -> Array:
    return evidence.yours(f"{case}.outcome")


def _refused(evidence: Evidence, *cases: str) -> bool:
    return all(
        evidence.comparable(f"{c}.outcome") and (_outcomes(evidence, c) == 1).all() for c in cases
    )


def _accepts(evidence: Evidence) -> bool:
    return evidence.same(*_POSSIBLE)


def _names(evidence: Evidence, case: str) -> bool:
    """True if every message names the wrong settings and no right ones."""
    return bool((evidence.yours(f"{case}.named") == evidence.right(f"{case}.named")).all())


def _shows(evidence: Evidence, case: str) -> bool:
    wrong = evidence.right(f"{case}.named")
    return bool(evidence.yours(f"{case}.shown")[wrong].all())


def _says_what_is_wrong(evidence: Evidence) -> bool:
    return _refused(evidence, *_ALONE) and all(
        _names(evidence, case) and _shows(evidence, case) for case in _ALONE
    )


def _says_all(evidence: Evidence) -> bool:
    return (
        _refused(evidence, "several")
        and _names(evidence, "several")
        and _shows(evidence, "several")
    )


def _names_missing(evidence: Evidence, case: str) -> bool:
    wrong = evidence.right(f"{case}.named")
    return bool((~evidence.yours(f"{case}.named") & wrong).any())


def _one_problem_each(evidence: Evidence) -> bool:
    """True if every message mentions a single problem although there are several."""
    named = evidence.yours("several.named")
    both_of_heads = named.sum(axis=1) == named[:, _HEADS].all(axis=1) * len(_HEADS)
    return bool(((named.sum(axis=1) == 1) | both_of_heads).all())


def _size_outcomes(evidence: Evidence) -> tuple[Array, Array]:
    """(5,) and (5,): the outcomes of sizes of 0, and of negative ones."""
    zero, negative = _outcomes(evidence, "sizes").reshape(2, -1)
    return zero, negative


def _went_through(evidence: Evidence, which: int) -> str:
    """The first size of 0, or the first negative one, that is accepted."""
    value = (0, evidence.number("negative"))[which]
    return f"`{_SIZES[int((_size_outcomes(evidence)[which] == 0).argmax())]} = {value}`"


def _zero_divided(evidence: Evidence) -> bool:
    zero, _ = _size_outcomes(evidence)
    at = _SIZES.index("n_head")
    return bool(zero[at] == 3 and (np.delete(zero, at) == 1).all())


def _refuses_nothing(evidence: Evidence) -> bool:
    """True if nothing is rejected on purpose; dividing by an n_head of 0 may still stop it."""
    sizes = _outcomes(evidence, "sizes")
    return bool(
        ((sizes == 0) | (sizes == 3)).all()
        and (_outcomes(evidence, "heads") == 0).all()
        and (_outcomes(evidence, "dropout") == 0).all()
        and np.isin(_outcomes(evidence, "several"), (0, 3)).all()
    )


def _count_unreported(evidence: Evidence) -> str:
    wrong, mine = evidence.right("several.named"), evidence.yours("several.named")
    row = int(np.argmax((wrong & ~mine).sum(axis=1)))
    left_out = [n for n, w, m in zip(SETTINGS, wrong[row], mine[row], strict=True) if w and not m]
    names = ", ".join(f"`{name}`" for name in left_out)
    return unwrapped(f"""When {int(wrong[row].sum())} settings were wrong at once, your message left
    out {names}. Collect the problems in a list first and raise once at the end.""")


def _settings_beside_heads(evidence: Evidence) -> str:
    """The second change of several settings, in which two don't fit together."""
    heads, off = evidence.number("n_head"), evidence.number("n_embd") + evidence.number("rest")
    return unwrapped(f"""block_size = {evidence.number("negative")}, n_head = {heads}, n_embd =
    {off} and dropout = {-float(evidence.inputs["dropout"]):g}""")


def _zeros(evidence: Evidence) -> Array:
    """Which of the sizes that are all 0, in the last of several changes, the message names."""
    return np.delete(evidence.yours("several.named")[-1, :-1], _SIZES.index("n_embd"))


def _one_zero_named(evidence: Evidence) -> bool:
    """True if all is named, but of the sizes that are all 0 only one."""
    mine, wrong = evidence.yours("several.named"), evidence.right("several.named")
    return bool(
        (mine[:-1] == wrong[:-1]).all()
        and mine[-1, _SIZES.index("n_embd")]
        and mine[-1, -1]
        and _zeros(evidence).sum() == 1
    )


def _heads_given(evidence: Evidence) -> str:
    C, H = evidence.number("n_embd"), evidence.number("n_head")
    off = C + evidence.number("rest")
    return unwrapped(f"""With n_head = {H}, n_embd = {C} makes heads with {C // H} channels, but
    n_embd = {off} leaves a remainder of {off % H}.""")


def _tried(evidence: Evidence) -> list[str]:
    """The impossible settings that were tried one at a time, in this order."""
    values = (0, evidence.number("negative"))
    off, heads = evidence.number("n_embd") + evidence.number("rest"), evidence.number("n_head")
    dropouts = -float(evidence.inputs["dropout"]), 1.0, float(evidence.inputs["too_much"])
    return [
        *(f"{name} = {value}" for value in values for name in _SIZES),
        *(f"n_embd = {size} with n_head = {heads}" for size in (off, 1)),
        *(f"dropout = {value:g}" for value in dropouts),
    ]


def _first_unshown(evidence: Evidence) -> str:
    shown, wrong = (
        np.concatenate([side(f"{case}.{what}") for case in _ALONE])
        for side, what in ((evidence.yours, "shown"), (evidence.right, "named"))
    )
    row = int((wrong & ~shown).any(axis=1).argmax())
    return unwrapped(f"""For `{_tried(evidence)[row]}` it doesn't contain the value. With it,
    someone who mistyped a number would notice at once.""")


def _changed_setting(evidence: Evidence) -> str:
    """Which attribute of a Config has the wrong value, if one has."""
    for case in _POSSIBLE:
        if evidence.same(case) or not evidence.comparable(case):
            continue
        mine, right = evidence.yours(case), evidence.right(case)
        at = int((~np.isclose(mine, right)).argmax())
        told = ", ".join(f"{n} = {v:g}" for n, v in zip(SETTINGS, right, strict=False))
        by_place = (
            " Settings may also be passed by position, in the order of the scaffold."
            if at < len(SETTINGS)
            else ""
        )
        return unwrapped(f"""With {told}, your Config has {(*SETTINGS, "head_size")[at]} =
        {mine[at]:g} instead of {right[at]:g}.{by_place}""")
    return ""


def _still_accepted(evidence: Evidence) -> Finding | None:
    """Something impossible that is accepted, or something possible that is rejected."""
    if not _accepts(evidence):
        return Finding(
            "refuses-the-possible",
            "Your Config rejects or changes settings that a model can have.",
            _changed_setting(evidence)
            or f"{_heads_given(evidence)} Dropout may be 0 or {MOST_DROPOUT:g}, and all the other "
            "settings may be 1.",
            SECTION,
        )
    outcomes = np.concatenate([_outcomes(evidence, case) for case in _ALONE])
    through = [
        what for what, outcome in zip(_tried(evidence), outcomes, strict=True) if outcome != 1
    ]
    if not through:
        return None
    if (outcomes > 0).all():
        return Finding(
            "other-error",
            "You reject impossible settings, but not always with a ValueError.",
            f"This happened for {', '.join(f'`{what}`' for what in through[:4])}. Code with "
            "`except ValueError` wouldn't catch your error.",
            SECTION,
        )
    through = [
        what for what, outcome in zip(_tried(evidence), outcomes, strict=True) if not outcome
    ]
    return Finding(
        "impossible-accepted",
        "Your Config accepts impossible settings.",
        f"It didn't raise an error for {', '.join(f'`{what}`' for what in through[:4])}.",
        SECTION,
    )


def _others_named(evidence: Evidence) -> Finding | None:
    """A message that names a right setting or leaves out a wrong one."""
    for case in (*_ALONE, "several"):
        if _names(evidence, case):
            continue
        mine, wrong = evidence.yours(f"{case}.named"), evidence.right(f"{case}.named")
        row = int((mine != wrong).any(axis=1).argmax())
        told, meant = (
            ", ".join(f"`{n}`" for n, is_in in zip(SETTINGS, named[row], strict=True) if is_in)
            for named in (mine, wrong)
        )
        only_left_out = not (mine[row] & ~wrong[row]).any()
        beside = mine[row] & ~wrong[row]
        of_heads = bool(beside.any()) and not np.delete(beside, _HEADS).any()
        of_heads &= bool(wrong[row, _HEADS].any())
        # Each one alone was named, or the loop would have returned before.
        beside_others = only_left_out and case == "several"
        pattern = unwrapped("""You do name each of them if nothing else is wrong. Is a check skipped
        after another one has found something, as with `elif`?""")
        return Finding(
            "some-not-named" if only_left_out else "others-named",
            "Your message leaves out wrong settings"
            + (" when others are wrong, too." if beside_others else ".")
            if only_left_out
            else "Your message should name the wrong settings and no others.",
            f"When {meant} {'are' if ',' in meant else 'is'} wrong, it names {told or 'none'}."
            + (f" {pattern}" if beside_others else "")
            + (
                " Does it explain one setting with the other? Then leave the right one out. Or do "
                "you check whether `n_head` divides `n_embd` even if one of them is below 1?"
                if of_heads
                else ""
            ),
            SECTION,
        )
    return None


_accepts_everything = mistake(
    "Your Config accepts every setting.",
    lambda e: unwrapped(f"""{_heads_given(e)} A model built from that would fail much later, far
    from the cause. If you print a message, `raise` it as an error instead."""),
    recognized=_refuses_nothing,
)(_refusing(_none))

_assert_for_error = mistake(
    "You raise an AssertionError instead of a ValueError.",
    lambda e: unwrapped(f"""This happened for {int((_outcomes(e, "sizes") == 2).sum())} sizes that
    aren't positive. Don't use `assert` for checking arguments, because `python -O` skips it."""),
    recognized=lambda e: all((_outcomes(e, case) == 2).all() for case in ("sizes", "dropout")),
)(_refusing(error=AssertionError))

_zero_division = mistake(
    "You divide by `n_head` before you have checked that it isn't 0.",
    lambda e: unwrapped(f"""With n_embd = {e.number("n_embd")} and n_head = 0 your Config stops with
    a ZeroDivisionError, which doesn't name a setting. Check the sizes first."""),
    recognized=_zero_divided,
)(_refusing(heads=_divided_at_once))

_divides_the_wrong_way = mistake(
    "You check whether n_embd divides n_head, but n_head has to divide n_embd.",
    lambda e: f"{_heads_given(e)} You reject the first of them.",
    recognized=lambda e: (
        "possible" in e.answers.errors
        and e.same("thin")
        and _refused(e, "sizes", "dropout")
        and _outcomes(e, "heads").tolist() == [1, 0]
    ),
)(_refusing(heads=_other_way_round))

_division_negated = mistake(
    "You reject an n_head that divides n_embd and accept one that doesn't.",
    lambda e: f"{_heads_given(e)} You reject the first and accept the second.",
    recognized=lambda e: "possible" in e.answers.errors and not _outcomes(e, "heads").any(),
)(_refusing(heads=_negated_head_problems))

_heads_unchecked = mistake(
    "You don't check that n_head divides n_embd.",
    lambda e: f"{_heads_given(e)} `//` silently drops the remainder.",
    recognized=lambda e: (
        _accepts(e) and _refused(e, "sizes", "dropout") and not _outcomes(e, "heads").any()
    ),
)(_refusing(heads=_none))

_negative_accepted = mistake(
    "You reject sizes of 0, but accept negative ones.",
    lambda e: unwrapped(f"""You accepted {_went_through(e, 1)}, but no size of 0. Check whether a
    size is below 1."""),
    recognized=lambda e: bool((_size_outcomes(e)[0] == 1).all() and not _size_outcomes(e)[1].all()),
)(_refusing(sizes=lambda c: {n: "not 0" for n in _SIZES if not getattr(c, n)}))

_zero_accepted = mistake(
    "You reject negative sizes, but accept 0.",
    lambda e: unwrapped(f"""You accepted {_went_through(e, 0)}, but no negative size. Check whether
    a size is below 1."""),
    recognized=lambda e: bool((_size_outcomes(e)[1] == 1).all() and not _size_outcomes(e)[0].all()),
)(_refusing(sizes=lambda c: {n: "positive" for n in _SIZES if getattr(c, n) < 0}))

_dropout_of_one = mistake(
    "You accept a dropout of 1, which drops everything.",
    lambda e: unwrapped(f"""The kept values are divided by 1 − dropout, so with 1 this is a division
    by 0. You rightly reject `dropout = {float(e.inputs["too_much"]):g}`."""),
    recognized=lambda e: (
        _refused(e, "sizes", "heads") and _outcomes(e, "dropout").tolist() == [1, 0, 1]
    ),
)(_refusing(dropout=lambda c: {} if 0 <= c.dropout <= 1 else {"dropout": "from 0 to 1"}))

_dropout_unchecked = mistake(
    "You accept any dropout.",
    lambda e: unwrapped(f"""You accepted {", ".join(f"`{one}`" for one in _tried(e)[-3:])}. Do you
    check dropout at all? If you wrote `dropout < 0 and dropout >= 1`, note that it is never
    true: use `or`."""),
    recognized=lambda e: (
        _accepts(e) and _refused(e, "sizes", "heads") and not _outcomes(e, "dropout").any()
    ),
)(_refusing(dropout=_none))

_no_dropout_refused = mistake(
    "You reject a dropout of 0, but most small models use it.",
    lambda e: unwrapped(f"""You accept `dropout = {float(e.inputs["dropout"]):g}`, but not `dropout
    = 0`, which means that nothing is dropped."""),
    recognized=lambda e: (
        e.same("possible", "ones") and "edges" in e.answers.errors and _refused(e, *_ALONE)
    ),
)(_refusing(dropout=lambda c: {} if 0 < c.dropout < 1 else {"dropout": "above 0 and below 1"}))

_ones_refused = mistake(
    "You reject a size of 1, but every size may be 1.",
    lambda e: unwrapped(f"""If all sizes are 1, the error says:
    {sentence(e.answers.errors["ones"].message)} Check whether a size is below 1, not whether it is
    1 or less."""),
    recognized=lambda e: (
        e.same("possible", "plain", "thin") and {"edges", "ones"} <= e.answers.errors.keys()
    ),
)(_refusing(sizes=lambda c: {n: "above 1" for n in _SIZES if getattr(c, n) <= 1}))

_thin_heads_refused = mistake(
    "You reject heads with a single channel.",
    lambda e: unwrapped(f"""With n_embd = n_head = {e.number("n_head")}, each head has one channel,
    which is possible. The error says: {sentence(e.answers.errors["thin"].message)}"""),
    recognized=lambda e: (
        e.same("possible", "plain", "edges")
        and any(name in e.answers.errors["thin"].message for name in ("n_embd", "n_head"))
        and "dropout" not in e.answers.errors["thin"].message
    ),
)(
    _refusing(
        heads=lambda c: {"n_embd": "above n_head"} if c.n_embd <= c.n_head else _head_problems(c)
    )
)

_drops_unasked = mistake(
    "You changed the default of `dropout`, which is 0.0 in the scaffold.",
    lambda e: unwrapped(f"""If `dropout` isn't passed, your Config has a dropout of
    {float(e.yours("plain")[SETTINGS.index("dropout")]):g}."""),
    recognized=lambda e: (
        e.same("possible", "edges", "thin", "ones")
        and _refused(e, *_ALONE)
        and e.yours("plain")[SETTINGS.index("dropout")] != 0
    ),
)(_refusing(dropout_unsaid=0.1))

_names_everything = mistake(
    "Your message names all settings, even the right ones.",
    lambda _: unwrapped(f"""If only `n_head` and `n_embd` don't fit together, your message also
    names {", ".join(f"`{n}`" for k, n in enumerate(SETTINGS) if k not in _HEADS)}. Does it
    contain the whole object?"""),
    recognized=lambda e: bool(
        _refused(e, *_ALONE) and all(e.yours(f"{c}.named").all() for c in _ALONE)
    ),
)(_refusing(words=lambda c, _: f"impossible settings: {c}"))

_setting_not_named = mistake(
    "Your message doesn't always say which setting is wrong.",
    lambda e: unwrapped(f"""We tried {len(_outcomes(e, "sizes"))} wrong sizes, one at a time, and
    your message named {int((e.yours("sizes.named") & e.right("sizes.named")).sum())} of them."""),
    recognized=lambda e: _refused(e, *_ALONE) and _names_missing(e, "sizes"),
)(_refusing(words=lambda _, found: f"impossible: must be {', '.join(found.values())}"))

_value_not_shown = mistake(
    "Your message names the wrong setting, but it doesn't always show its value.",
    _first_unshown,
    recognized=lambda e: (
        _refused(e, *_ALONE)
        and all(_names(e, c) for c in _ALONE)
        and not all(_shows(e, c) for c in _ALONE)
    ),
)(_refusing(words=lambda _, found: "; ".join(f"{n} must be {found[n]}" for n in found)))

_division_asked_last = mistake(
    "You don't report that n_head doesn't divide n_embd if other settings are wrong, too.",
    lambda e: unwrapped(f"""With {_settings_beside_heads(e)} your message left out `n_head` and
    `n_embd`. Ask about the division whenever both are at least 1, whatever else is wrong."""),
    recognized=lambda e: (
        _says_what_is_wrong(e)
        and _refused(e, "several")
        and np.array_equal(e.yours("several.named"), _but_for_heads(e.right("several.named")))
    ),
)(_refusing(_division_last))

_one_of_equal_values = mistake(
    "Of several wrong settings with the same value, your message names only one.",
    lambda e: unwrapped(f"""Of {", ".join(f"`{n}`" for n in _ZEROS)}, which are all 0, it names only
    `{_ZEROS[int(_zeros(e).argmax())]}`. Do you store the problems under their value, so that one
    replaces another, or look up a setting's name by its value?"""),
    recognized=lambda e: _says_what_is_wrong(e) and _refused(e, "several") and _one_zero_named(e),
)(_refusing(_by_value))

_first_problem_only = mistake(
    "Your message reports one problem, but it should report all of them.",
    _count_unreported,
    recognized=lambda e: _says_what_is_wrong(e) and _refused(e, "several") and _one_problem_each(e),
)(_refusing(_first_only))


TASK = Task(
    "Checking the settings",
    _refusing(),
    SECTION,
    (
        Part(
            "Possible settings are accepted, and each impossible one is refused.",
            1,
            lambda evidence: _accepts(evidence) and _refused(evidence, *_ALONE),
        ),
        Part(
            "The message names the wrong setting and its value.",
            1,
            _says_what_is_wrong,
        ),
        Part("Several impossible settings are reported all at once.", 2, _says_all),
    ),
    properties=(_still_accepted, _others_named),
)
