"""Judges 08/initialise: the initial weights of a deep model."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from course_judges.ch08_gpt.sections import START
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.wording import number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

# A matrix has at least a thousand entries, so the standard deviation of right draws stays within
# 10 % except once in many millions of draws. The mistakes are off by a fifth or more.
_NEAR = 0.10

# All matrices of one shape together have 17,000 entries or more, so their standard deviation stays
# within 3 %. One branch more or less changes it by 5.7 % or more.
_NEARER = 0.03

# The largest of 800 normal numbers (a matrix has more) lies below this many standard deviations
# once in tens of millions of draws. Numbers drawn uniformly from a range end at 1.7.
_FARTHEST = 2.3

# Numbers drawn uniformly reach 1.73 standard deviations, normal ones that are cut off at one
# standard deviation 1.85 of those that they have then.
_FARTHEST_OF_A_RANGE = 1.79

# The standard deviation that the chapter uses for its own matrices.
_CHAPTERS = 0.02

# Among the matrices that don't end a branch, the one whose name looks as if it did.
_ALIKE = 2


def initialise(model: nn.Module, ends: list[str], std: float) -> None:
    """Small normal weights, smaller at the end of a branch; biases 0; norms with weights of 1."""
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std=std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std=std)


_Draw = Callable[[Tensor, float, int], object]
_Spread = Callable[[float, int], float]


def _draws(
    plain: _Draw = lambda p, std, _: nn.init.normal_(p, std=std),
    end: _Draw = lambda p, std, K: nn.init.normal_(p, std=std / math.sqrt(K)),
    bias: Callable[[Tensor, float], object] = lambda p, _: nn.init.zeros_(p),
    norm: Callable[[Tensor, float], object] = lambda p, _: nn.init.ones_(p),
) -> Callable[[nn.Module, list[str], float], None]:
    """An answer that differs from the right one in one kind of parameter."""

    def answer(model: nn.Module, ends: list[str], std: float) -> None:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name.endswith("bias"):
                    bias(parameter, std)
                elif parameter.ndim == 1:
                    norm(parameter, std)
                else:
                    (end if name in ends else plain)(parameter, std, len(ends))

    return answer


def _normal(
    plain: _Spread = lambda std, _: std, end: _Spread = lambda std, K: std / math.sqrt(K)
) -> Callable[[nn.Module, list[str], float], None]:
    """An answer whose matrices have other standard deviations: `plain(std, K)`, `end(std, K)`."""
    return _draws(
        lambda p, std, K: nn.init.normal_(p, std=plain(std, K)),
        lambda p, std, K: nn.init.normal_(p, std=end(std, K)),
    )


def _all_but(*left: str) -> Callable[[nn.Module, list[str], float], None]:
    """An answer that leaves these parameters as they are."""

    def answer(model: nn.Module, ends: list[str], std: float) -> None:
        held = {name: model.get_parameter(name).detach().clone() for name in left}
        initialise(model, ends, std)
        for name, value in held.items():
            model.get_parameter(name).data.copy_(value)

    return answer


def _by_the_last_name(model: nn.Module, ends: list[str], std: float) -> None:
    last = {end.split(".")[-2] for end in ends}
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            small = name.removesuffix(".weight").split(".")[-1] in last
            nn.init.normal_(parameter, std=std / math.sqrt(len(ends)) if small else std)


def _std(evidence: Evidence) -> float:
    return float(evidence.inputs["std"])


def _near(spread: Array, wanted: float) -> bool:
    return spread.size > 0 and bool((np.abs(spread / wanted - 1) < _NEAR).all())


def _nearer(spread: Array, wanted: float) -> bool:
    """True if all these matrices of one shape together have this standard deviation."""
    return spread.size > 0 and bool(abs(_together(spread) / wanted - 1) < _NEARER)


def _together(spread: Array) -> float:
    """The standard deviation of all these matrices of one shape together."""
    return float(np.sqrt(np.square(spread.astype(float)).mean()))


def _whole(evidence: Evidence, *names: str) -> bool:
    """True if there is a number for each parameter; without this, empty arrays would pass."""
    return all(evidence.comparable(f"start.{name}") for name in names)


def _plain_ratio(evidence: Evidence) -> float:
    return float(evidence.yours("start.plain").mean()) / _std(evidence)


def _ends_ratio(evidence: Evidence) -> float:
    return float(evidence.yours("start.ends").mean()) / _std(evidence)


def _centred(evidence: Evidence) -> bool:
    return bool((np.abs(evidence.yours("start.means")) < _std(evidence) / 4).all())


def _reaches_far(evidence: Evidence) -> bool:
    """True if the matrices have entries as far from 0 as normal numbers do."""
    return _whole(evidence, "farthest") and bool(
        (evidence.yours("start.farthest") > _FARTHEST).all()
    )


def _plain_right(evidence: Evidence) -> bool:
    return (
        _whole(evidence, "plain", "means", "tied")
        and evidence.same("start.repeated")
        and _near(evidence.yours("start.plain"), _std(evidence))
        and _centred(evidence)
        and _reaches_far(evidence)
        and bool(evidence.yours("start.tied"))
    )


def _ends_right(evidence: Evidence) -> bool:
    wanted = _std(evidence) / math.sqrt(evidence.number("K"))
    ends = evidence.yours("start.ends")
    return _whole(evidence, "ends") and _near(ends, wanted) and _nearer(ends, wanted)


def _rest_right(evidence: Evidence) -> bool:
    return (
        _whole(evidence, "norms", "norms_mean", "biases")
        and _norms_right(evidence)
        and _biases_right(evidence)
        and evidence.same("start.in_place", "start.trainable", "start.nothing_returned")
    )


def _norms_right(evidence: Evidence) -> bool:
    return bool(
        (evidence.yours("start.norms") < 1e-6).all()
        and (evidence.yours("start.norms_mean") > 0.5).all()
    )


def _biases_right(evidence: Evidence) -> bool:
    return bool((evidence.yours("start.biases") == 0).all())


def _ends_are(factor: Callable[[int], float]) -> Callable[[Evidence], bool]:
    def recognized(evidence: Evidence) -> bool:
        wanted = _std(evidence) * factor(evidence.number("K"))
        return _plain_right(evidence) and _near(evidence.yours("start.ends"), wanted)

    return recognized


def _ends_nearer(evidence: Evidence, count: int) -> bool:
    """True if the matrices in `ends` are divided by the root of this count."""
    return _nearer(evidence.yours("start.ends"), _std(evidence) / math.sqrt(count))


def _plain_is(factor: Callable[[float], float]) -> Callable[[Evidence], bool]:
    def recognized(evidence: Evidence) -> bool:
        std = _std(evidence)
        return _near(evidence.yours("start.plain"), std * factor(std))

    return recognized


def _plain_is_small(evidence: Evidence) -> bool:
    return _near(evidence.yours("start.plain"), _std(evidence) / math.sqrt(evidence.number("K")))


def _loss(evidence: Evidence) -> str:
    V = evidence.number("V")
    return unwrapped(f"""The loss before training is {float(evidence.yours("start.loss")):.2f}, and
    ln {V} is {math.log(V):.2f}.""")


def _loss_if_odd(evidence: Evidence) -> str:
    """The loss, if it isn't that of a model that knows nothing."""
    odd = abs(float(evidence.yours("start.loss")) - math.log(evidence.number("V"))) > 0.1
    return f" {_loss(evidence)}" if odd else ""


def _ends_beside(evidence: Evidence) -> str:
    """What the matrices at the end of a branch are like, if they are wrong as well."""
    if _ends_right(evidence):
        return ""
    wanted = _std(evidence) / math.sqrt(evidence.number("K"))
    ends = evidence.yours("start.ends")
    off = np.flatnonzero(~(np.abs(ends / wanted - 1) < _NEAR))
    if not len(off):
        return ""
    which = int(off[0])
    are = "is" if len(off) == 1 else "are"
    how_many = (
        f"The {len(ends)} matrices in `ends` are"
        if len(off) == len(ends)
        else f"Of the {len(ends)} matrices in `ends`, {len(off)} {are}"
    )
    return unwrapped(f""" {how_many} wrong, too: matrix {which} has a standard deviation of
    {number(float(ends[which]))} instead of {number(wanted)}.""")


def _times_std(evidence: Evidence) -> str:
    """The standard deviation of the matrices that don't end a branch, compared with `std`."""
    return unwrapped(f"""With std = {_std(evidence):g}, the matrices that don't end a branch have a
    standard deviation of {number(_plain_ratio(evidence) * _std(evidence))}, which is
    {number(_plain_ratio(evidence))} times `std`""")


def _spreads(evidence: Evidence) -> str:
    wanted = _std(evidence) / math.sqrt(evidence.number("K"))
    return unwrapped(f"""With std = {_std(evidence):g} and {evidence.number("K")} branches, your
    matrices in `ends` have a standard deviation of
    {number(_ends_ratio(evidence) * _std(evidence))} instead of {number(wanted)}.""")


def _called(evidence: Evidence) -> list[str]:
    """The matrices that don't end a branch, in the order of their numbers."""
    branches = evidence.number("K")
    return ["the token embedding", "the position embedding", "the layer before the branches"] + [
        f"the first matrix of branch {k}" for k in range(branches)
    ]


def _fed_nothing(evidence: Evidence) -> str:
    """Where such weights of norms come from, and what they do."""
    means, farthest = evidence.yours("start.norms_mean"), evidence.yours("start.norms")
    if evidence.yours("start.norms_kept"):
        return "You left them as they were, but they are only 1 in a new model."
    if np.allclose(means, 0, atol=1e-6) and np.allclose(farthest, 1, atol=1e-6):
        return "All of them are 0, so the branches see nothing of the stream."
    if np.abs(means).max() > 0.2 or farthest.max() > 1.5:
        return ""
    return "If you draw them like a matrix, the branches see almost nothing of the stream."


def _some_ends(evidence: Evidence) -> str:
    """Which matrices at the end of a branch are wrong, if not all of them are."""
    wanted = _std(evidence) / math.sqrt(evidence.number("K"))
    ends = evidence.yours("start.ends")
    off = np.flatnonzero(~(np.abs(ends / wanted - 1) < _NEAR))
    if len(off) in (0, len(ends)):
        return _spreads(evidence)
    return unwrapped(f"""Of the {len(ends)} matrices in `ends`, {len(off)}
    {"is" if len(off) == 1 else "are"} wrong: matrix {int(off[0])} has a standard deviation of
    {number(float(ends[off[0]]))} instead of {number(wanted)}.""")


def _of_half_as_many(evidence: Evidence) -> str:
    """A sentence if all ends were divided as if there were half as many; else empty."""
    wanted = _std(evidence) / math.sqrt(evidence.number("K") / 2)
    fits = _near(evidence.yours("start.ends"), wanted)
    return " That is about std / √(N / 2), with N branches." if fits else ""


def _all_left(evidence: Evidence) -> bool:
    """True if every matrix holds what it held before."""
    return _whole(evidence, "left") and bool(evidence.yours("start.left").all())


def _held_before(evidence: Evidence, which: Array) -> str:
    """Which of these matrices still hold what they held before."""
    left = [int(n) for n in which if evidence.yours("start.left")[n]]
    if not left:
        return ""
    names = _called(evidence)
    whose = names[left[0]] if len(left) == 1 else f"{len(left)} of them"
    return f" You left {whose} as {'it was' if len(left) == 1 else 'they were'}."


def _as_xavier(evidence: Evidence) -> str:
    """A sentence if all matrices depend on their shapes by the usual rule; else empty."""
    V, T, C = (evidence.number(name) for name in "VTC")
    outputs = np.array([V, T, C, *[2 * C] * evidence.number("K")])
    near = _near(evidence.yours("start.plain") / np.sqrt(2 / (outputs + C)), 1.0)
    return (
        unwrapped(""" They depend on the shapes of the matrices, as with Xavier initialization,
    √(2 / (inputs + outputs)).""")
        if near
        else ""
    )


def _something_off(evidence: Evidence) -> Finding | None:
    std, spreads = _std(evidence), evidence.yours("start.plain")
    off = np.flatnonzero(~(np.abs(spreads / std - 1) < _NEAR))
    if len(off):
        which = int(off[np.abs(np.log(spreads[off] / std + 1e-9)).argmax()])
        alike = len(off) == len(spreads) and np.ptp(spreads) < 2 * (_NEAR * spreads.mean())
        whose = "the matrices that don't end a branch" if alike else _called(evidence)[which]
        others = (
            ""
            if alike
            else f" Of {len(spreads)} matrices that don't end a branch, {len(off)}"
            f" {'is' if len(off) == 1 else 'are'} wrong."
        )
        return Finding(
            "other-spread",
            "Your matrices don't have the standard deviation `std`.",
            f"With std = {std:g}, the standard deviation of {whose} is "
            f"{number(float(spreads[which]))}, which is "
            f"{number(float(spreads[which]) / std)} times `std`."
            f"{others}{_held_before(evidence, off)}{_as_xavier(evidence)}"
            f"{_ends_beside(evidence)}{_loss_if_odd(evidence)}",
            START,
        )
    if not _centred(evidence):
        means = evidence.yours("start.means")
        which = int(np.abs(means).argmax())
        names = _called(evidence)
        whose = names[which] if which < len(names) else "a matrix in `ends`"
        spread = float(np.concatenate([spreads, evidence.yours("start.ends")])[which])
        return Finding(
            "other-mean",
            "One of your matrices doesn't have mean 0.",
            f"With std = {std:g}, the mean of {whose} is {number(float(means[which]))} and its "
            f"standard deviation {number(spread)}. Do you replace the old numbers, or add to them?",
            START,
        )
    if evidence.yours("start.repeated").any() and not evidence.yours("start.left").any():
        return Finding(
            "same-numbers",
            "Several of your matrices hold exactly the same numbers.",
            "Do you set a seed or make a new generator before each of them? Matrices should be "
            "drawn one after the other, so that the branches start out different.",
            START,
        )
    if not _ends_right(evidence):
        return Finding(
            "other-ends",
            "The matrices at the end of a branch have the wrong standard deviation.",
            _some_ends(evidence) + _of_half_as_many(evidence),
            START,
        )
    if not _norms_right(evidence) or not _biases_right(evidence):
        return None
    if not evidence.same("start.in_place"):
        return Finding(
            "other-parameters",
            "You replaced parameters of the model with new ones.",
            "Their numbers are right, but an optimizer that was given the old parameters would no "
            "longer train the model. Fill parameters in place instead of replacing them.",
            START,
        )
    if not evidence.same("start.trainable"):
        return Finding(
            "not-trainable",
            "Some parameters no longer require a gradient.",
            "Their numbers are right, but they won't be trained because `requires_grad` is False. "
            "`nn.init` or `torch.no_grad()` let you change numbers without changing that.",
            START,
        )
    if not evidence.same("start.nothing_returned"):
        return Finding(
            "something-returned",
            "Your function returns something, but it should return nothing.",
            "You rightly changed the model in place. A return value would suggest that there is a "
            "second model and that the given one is unchanged.",
            START,
        )
    return None


@mistake(
    "Your function doesn't change the model's parameters.",
    lambda e: unwrapped(f"""{_loss(e)} Change parameters in place, with `nn.init` or under
    `torch.no_grad()`. Assigning a new tensor to a local variable doesn't change the model."""),
    recognized=lambda e: (
        _all_left(e)
        and bool(e.yours("start.norms_kept"))
        and bool(e.yours("start.biases_left").all())
    ),
)
def _untouched(model: nn.Module, ends: list[str], std: float) -> None:
    """Does nothing."""


@mistake(
    "You set only the matrices in `ends` and left all the others as they were.",
    lambda e: unwrapped(f"""Another {len(_called(e))} matrices, including the embeddings, should be
    normal with std = {_std(e):g}. {_loss(e)}"""),
    recognized=lambda e: (
        bool(e.yours("start.left")[: len(_called(e))].all())
        and not e.yours("start.left")[len(_called(e)) :].any()
    ),
)
def _ends_alone(model: nn.Module, ends: list[str], std: float) -> None:
    for name in ends:
        nn.init.normal_(model.get_parameter(name), std=std / math.sqrt(len(ends)))


def _is_a_constant(evidence: Evidence) -> bool:
    """True if the matrices have the standard deviation that the chapter uses."""
    return _near(evidence.yours("start.plain"), _CHAPTERS)


_chapters_deviation = mistake(
    f"Your matrices have the chapter's standard deviation, {_CHAPTERS:g}, instead of `std`.",
    lambda e: f"Here std is {_std(e):g}, but yours is {number(_plain_ratio(e) * _std(e))}.",
    recognized=_is_a_constant,
)(_normal(lambda *_: _CHAPTERS, lambda _, K: _CHAPTERS / math.sqrt(K)))

_hot_start = mistake(
    "Your weights have a standard deviation of 1 instead of `std`.",
    lambda e: (
        unwrapped(f"""Here std is {_std(e):g}. {_loss(e)} A model that starts out sure of random
    predictions first has to unlearn them. In `nn.init.normal_`, the second argument is the mean, so
    write `std=std`; a `randn` has to be multiplied by `std`.""")
    ),
    recognized=_plain_is(lambda std: 1 / std),
)(_normal(lambda *_: 1.0, lambda _, K: 1 / math.sqrt(K)))

_all_zero = mistake(
    "You set all matrices to 0.",
    lambda e: unwrapped(f"""{_loss(e)} So the loss is fine at the start, but the model can't learn:
    equal channels get equal gradients, so they never become different."""),
    recognized=lambda e: not (e.yours("start.plain").any() or e.yours("start.ends").any()),
)(_normal(lambda *_: 0.0, lambda *_: 0.0))

_variance_for_deviation = mistake(
    "You took the root of `std`, but it is already a standard deviation, not a variance.",
    lambda e: unwrapped(f"""With std = {_std(e):g} your standard deviation is
    {number(_plain_ratio(e) * _std(e))}. {_loss(e)}"""),
    recognized=_plain_is(lambda std: std**-0.5),
)(_normal(lambda std, _: math.sqrt(std), lambda std, K: math.sqrt(std / K)))

_variance_given = mistake(
    "The standard deviation of your matrices is the square of `std`, but that's the variance.",
    lambda e: unwrapped(f"""With std = {_std(e):g} yours is {number(_plain_ratio(e) * _std(e))}, and
    the square of {_std(e):g} is {number(_std(e) ** 2)}. `nn.init.normal_` takes the standard
    deviation itself, and so does a factor for `randn`.{_ends_beside(e)}"""),
    recognized=_plain_is(lambda std: std),
)(_normal(lambda std, _: std**2, lambda std, K: std**2 / K))

_not_normal = mistake(
    "Your matrices have the right standard deviation, but they aren't normal.",
    lambda e: unwrapped(f"""In one of them, the entry farthest from 0 is only
    {float(e.yours("start.farthest").min()):.2f} standard deviations away, but among so many normal
    numbers some are 3 or more away. Did you draw from a range, or cut the numbers off?"""),
    recognized=lambda e: (
        _near(e.yours("start.plain"), _std(e)) and _ends_right(e) and not _reaches_far(e)
    ),
)(
    _draws(
        plain=lambda p, std, _: nn.init.uniform_(p, -(3**0.5) * std, 3**0.5 * std),
        end=lambda p, std, K: nn.init.uniform_(p, -std * (3 / K) ** 0.5, std * (3 / K) ** 0.5),
    )
)

_uniform_of_that_width = mistake(
    "You drew uniformly between −std and std, which has a standard deviation of std / √3.",
    lambda e: f"{_times_std(e)}.",
    recognized=lambda e: (
        _nearer(e.yours("start.plain")[_ALIKE + 1 :], _std(e) / 3**0.5)
        and float(e.yours("start.farthest")[: len(_called(e))].mean()) < _FARTHEST_OF_A_RANGE
    ),
)(
    _draws(
        plain=lambda p, std, _: nn.init.uniform_(p, -std, std),
        end=lambda p, std, K: nn.init.uniform_(p, -std / math.sqrt(K), std / math.sqrt(K)),
    )
)


_embeddings_forgotten = mistake(
    "You set the layers, but left the embeddings as they were.",
    lambda e: unwrapped(f"""The token embedding has a standard deviation of
    {number(float(e.yours("start.plain")[0]))}, and so has the output layer, which shares its
    weights. {_loss(e)}"""),
    recognized=lambda e: (
        bool(e.yours("start.left")[:2].all()) and _near(e.yours("start.plain")[2:], _std(e))
    ),
)(_all_but("tokens.weight", "positions"))


@mistake(
    "The output layer no longer shares its matrix with the token embedding.",
    lambda e: (
        unwrapped(f"""There are now two matrices with {e.number("V")} × {e.number("C")} numbers,
    because you gave at least one of the layers a new one. Fill parameters in place instead of
    replacing them.""")
    ),
    recognized=lambda e: not bool(e.yours("start.tied")),
)
def _untied(model: nn.Module, ends: list[str], std: float) -> None:
    initialise(model, ends, std)
    output = model.output
    assert isinstance(output, nn.Linear)
    output.weight = nn.Parameter(torch.randn_like(output.weight) * std)


_parameter_of_no_layer = mistake(
    "You left the position embedding as it was.",
    unwrapped("""It is an `nn.Parameter` of the model itself and in no `nn.Embedding`, so
    a loop over layers doesn't find it. Loop over `model.named_parameters()`."""),
    recognized=lambda e: (
        np.flatnonzero(e.yours("start.left")).tolist() == [1]
        and _near(np.delete(e.yours("start.plain"), 1), _std(e))
    ),
)(_all_but("positions"))

_ends_not_scaled = mistake(
    "Your matrices at the end of a branch have the same standard deviation as all others.",
    lambda e: unwrapped(f"""{_spreads(e)} Each branch adds its variance to the stream. If you do
    divide some by the root, check that their names are those in `ends`, and that no later line
    fills them again. Inside a part of the model, `named_parameters()` gives shorter names, which
    aren't in `ends`."""),
    recognized=_ends_are(lambda _: 1.0),
)(_normal(end=lambda std, _: std))

_all_divided = mistake(
    "You divided by the root of the number of branches everywhere instead of only in `ends`.",
    lambda e: (
        f"{_times_std(e)}. Only those in `ends` should have 1 / √{e.number('K')} times `std`."
    ),
    recognized=lambda e: _ends_right(e) and _plain_is_small(e),
)(_normal(plain=lambda std, K: std / math.sqrt(K)))

_others_divided = mistake(
    "You made the wrong matrices smaller, those that don't end a branch.",
    lambda e: f"{_times_std(e)}, but those in `ends` have {number(_ends_ratio(e))} times `std`.",
    recognized=lambda e: _near(e.yours("start.ends"), _std(e)) and _plain_is_small(e),
)(_normal(lambda std, K: std / math.sqrt(K), lambda std, _: std))

_same_name_elsewhere = mistake(
    "You made a matrix smaller whose name only ends like one of those in `ends`.",
    lambda e: unwrapped(f"""Its standard deviation is
    {number(float(e.yours("start.plain")[_ALIKE]))} instead of std = {_std(e):g}. `ends` holds whole
    names, so compare with `name in ends`."""),
    recognized=lambda e: (
        _ends_right(e)
        and _near(np.delete(e.yours("start.plain"), _ALIKE), _std(e))
        and _near(e.yours("start.plain")[_ALIKE:][:1], _std(e) / math.sqrt(e.number("K")))
    ),
)(_by_the_last_name)

_divided_by_the_count = mistake(
    "You divided by the number of branches instead of its root. It is the variances that add up.",
    _spreads,
    recognized=_ends_are(lambda K: 1 / K),
)(_normal(end=lambda std, K: std / K))

_multiplied_by_the_root = mistake(
    "You multiplied by the root of the number of branches instead of dividing by it.",
    lambda e: f"{_spreads(e)} Each branch adds its variance to the stream.",
    recognized=_ends_are(lambda K: K**0.5),
)(_normal(end=lambda std, K: std * math.sqrt(K)))

_one_branch_more = mistake(
    "You divided by the root of one branch more than there are.",
    lambda e: f"{_spreads(e)} √{e.number('K') + 1} would give yours.",
    recognized=lambda e: _plain_right(e) and _ends_nearer(e, e.number("K") + 1),
)(_normal(end=lambda std, K: std / math.sqrt(K + 1)))

_one_branch_fewer = mistake(
    "You divided by the root of one branch fewer than there are.",
    lambda e: f"{_spreads(e)} √{e.number('K') - 1} would give yours.",
    recognized=lambda e: _plain_right(e) and _ends_nearer(e, e.number("K") - 1),
)(_normal(end=lambda std, K: std / math.sqrt(K - 1)))

_counted_twice = mistake(
    unwrapped("""You divided by √(2 · branches), but `ends` already lists every branch. The 2 is for
    counting blocks with two branches each, as in the chapter."""),
    _spreads,
    recognized=_ends_are(lambda K: (2 * K) ** -0.5),
)(_normal(end=lambda std, K: std / math.sqrt(2 * K)))


_norms_set_small = mistake(
    "You didn't set the weights of the norms to 1.",
    lambda e: unwrapped(f"""A norm multiplies by its weights, and yours are up to
    {float(e.yours("start.norms").max()):.2f} away from 1. {_fed_nothing(e)}"""),
    recognized=lambda e: _plain_right(e) and not _norms_right(e),
)(_draws(norm=lambda p, std: nn.init.normal_(p, std=std)))


def _which_biases(evidence: Evidence) -> str:
    """Which biases are not 0, and what they hold."""
    largest, of_norms = evidence.yours("start.biases"), evidence.yours("start.biases_of_norms")
    off = largest != 0
    whose = "those of the norms" if np.array_equal(off, of_norms) else ""
    whose = "those of the layers" if np.array_equal(off, ~of_norms) else whose
    if evidence.yours("start.biases_left")[off].all():
        held = "You left them as they were, but they are only 0 in a new model."
    elif np.allclose(largest[off], 1) and np.allclose(evidence.yours("start.biases_mean")[off], 1):
        held = "They are 1, like the weights of norms. Remember that biases are vectors, too."
    else:
        held = f"The largest number in them is {number(float(largest.max()))}."
    return f"{int(off.sum())} of {len(off)} aren't 0{f', {whose}' if whose else ''}. {held}"


_biases_drawn = mistake(
    "You didn't set all biases to 0.",
    _which_biases,
    recognized=lambda e: _plain_right(e) and _norms_right(e) and not _biases_right(e),
)(_draws(bias=lambda p, std: nn.init.normal_(p, std=std)))


TASK = Task(
    "A start that knows nothing",
    initialise,
    START,
    (
        Part(
            "Embeddings and matrices are normal with `std`.",
            2,
            _plain_right,
        ),
        Part(
            "The last matrices of branches are smaller.",
            1,
            _ends_right,
        ),
        Part("Biases and norms start as they should.", 1, _rest_right),
    ),
    properties=(_something_off,),
)
