"""Judges 08/initialise: the weights that a deep model starts from."""

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

# A matrix has at least a thousand entries, so that the spread of honest draws stays within 10 %
# except once in many millions; the mistakes are off by a fifth and more.
_NEAR = 0.10

# Of 800 normal numbers, and these are more, the largest is nearer than this many deviations once
# in tens of millions of draws; numbers from a range end at 1.7 of them.
_FARTHEST = 2.3

# The deviation that the chapter gives its own matrices.
_CHAPTERS = 0.02

# Of the matrices that end no branch, the one that is called like those that do.
_ALIKE = 2


def initialise(model: nn.Module, ends: list[str], std: float) -> None:
    """Small normal weights, smaller ones where a branch ends, no biases, norms that do nothing."""
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std=std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std=std)


def _draws(
    plain: Callable[[Tensor, float], object] = lambda p, std: nn.init.normal_(p, std=std),
    end: Callable[[Tensor, float, int], object] = lambda p, std, K: nn.init.normal_(
        p, std=std / math.sqrt(K)
    ),
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
                elif name in ends:
                    end(parameter, std, len(ends))
                else:
                    plain(parameter, std)

    return answer


def _by_the_last_name(model: nn.Module, ends: list[str], std: float) -> None:
    last = {end.split(".")[-2] for end in ends}
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            small = name.split(".")[-2] in last
            nn.init.normal_(parameter, std=std / math.sqrt(len(ends)) if small else std)


def _all_but_the_ends_divided(model: nn.Module, ends: list[str], std: float) -> None:
    K = math.sqrt(len(ends))
    _draws(
        plain=lambda p, std: nn.init.normal_(p, std=std / K),
        end=lambda p, std, _: nn.init.normal_(p, std=std),
    )(model, ends, std)


def _everywhere_divided(model: nn.Module, ends: list[str], std: float) -> None:
    small = std / math.sqrt(len(ends))
    _draws(
        plain=lambda p, _: nn.init.normal_(p, std=small),
        end=lambda p, *_: nn.init.normal_(p, std=small),
    )(model, ends, std)


def _std(evidence: Evidence) -> float:
    return float(evidence.inputs["std"])


def _near(spread: Array, wanted: float) -> bool:
    return spread.size > 0 and bool((np.abs(spread / wanted - 1) < _NEAR).all())


def _whole(evidence: Evidence, *names: str) -> bool:
    """True if there is a number for each parameter: of no numbers, everything is true."""
    return all(evidence.comparable(f"start.{name}") for name in names)


def _plain_ratio(evidence: Evidence) -> float:
    return float(evidence.yours("start.plain").mean()) / _std(evidence)


def _ends_ratio(evidence: Evidence) -> float:
    return float(evidence.yours("start.ends").mean()) / _std(evidence)


def _centred(evidence: Evidence) -> bool:
    return bool((np.abs(evidence.yours("start.means")) < _std(evidence) / 4).all())


def _reaches_far(evidence: Evidence) -> bool:
    """True if matrices have entries as far from 0 as normal numbers have."""
    return _whole(evidence, "farthest") and bool(
        (evidence.yours("start.farthest") > _FARTHEST).all()
    )


def _plain_right(evidence: Evidence) -> bool:
    return (
        _whole(evidence, "plain", "means", "tied")
        and _near(evidence.yours("start.plain"), _std(evidence))
        and _centred(evidence)
        and _reaches_far(evidence)
        and bool(evidence.yours("start.tied"))
    )


def _ends_right(evidence: Evidence) -> bool:
    wanted = _std(evidence) / math.sqrt(evidence.number("K"))
    return _whole(evidence, "ends") and _near(evidence.yours("start.ends"), wanted)


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


def _plain_is(factor: Callable[[float], float]) -> Callable[[Evidence], bool]:
    def recognized(evidence: Evidence) -> bool:
        std = _std(evidence)
        return _near(evidence.yours("start.plain"), std * factor(std))

    return recognized


def _plain_is_small(evidence: Evidence) -> bool:
    return _near(evidence.yours("start.plain"), _std(evidence) / math.sqrt(evidence.number("K")))


def _loss(evidence: Evidence) -> str:
    V = evidence.number("V")
    return unwrapped(f"""The loss before any training is {float(evidence.yours("start.loss")):.2f};
    ln {V} = {math.log(V):.2f}.""")


def _loss_if_odd(evidence: Evidence) -> str:
    """The loss, where it is not that of a model that knows nothing."""
    odd = abs(float(evidence.yours("start.loss")) - math.log(evidence.number("V"))) > 0.1
    return f" {_loss(evidence)}" if odd else ""


def _ends_beside(evidence: Evidence) -> str:
    """What the matrices are that end a branch, where they are off as well."""
    if _ends_right(evidence):
        return ""
    wanted = _std(evidence) / math.sqrt(evidence.number("K"))
    ends = evidence.yours("start.ends")
    off = np.flatnonzero(~(np.abs(ends / wanted - 1) < _NEAR))
    which = int(off[0])
    are = "is" if len(off) == 1 else "are"
    how_many = (
        f"The {len(ends)} matrices in `ends` are"
        if len(off) == len(ends)
        else f"Of the {len(ends)} matrices in `ends`, {len(off)} {are}"
    )
    return unwrapped(f""" {how_many} off, too: matrix {which} has a standard deviation of
    {number(float(ends[which]))}; asked for is {number(wanted)}.""")


def _times_std(evidence: Evidence) -> str:
    """The spread of what ends no branch, and how much of `std` that is."""
    return unwrapped(f"""With std = {_std(evidence):g}, the standard deviation of the matrices that
    end no branch is {number(_plain_ratio(evidence) * _std(evidence))}, which is
    {number(_plain_ratio(evidence))} times `std`""")


def _spreads(evidence: Evidence) -> str:
    wanted = _std(evidence) / math.sqrt(evidence.number("K"))
    return unwrapped(f"""With std = {_std(evidence):g} and {evidence.number("K")} branches, yours
    end with a standard deviation of {_ends_ratio(evidence) * _std(evidence):.4f}; asked for is
    {wanted:.4f}.""")


def _called(evidence: Evidence) -> list[str]:
    """What the matrices are that end no branch, in the order in which their numbers stand."""
    branches = evidence.number("K")
    return ["the token embedding", "the position embedding", "the layer before the branches"] + [
        f"the first matrix of branch {k}" for k in range(branches)
    ]


def _fed_nothing(evidence: Evidence) -> str:
    """What norms do whose weights were drawn like those of a matrix."""
    means, farthest = evidence.yours("start.norms_mean"), evidence.yours("start.norms")
    if np.allclose(means, 0, atol=1e-6) and np.allclose(farthest, 1, atol=1e-6):
        return "All of them are 0, so nothing of the stream reaches a branch."
    if np.abs(means).max() > 0.2 or farthest.max() > 1.5:
        return ""
    return "They are no matrix: if you draw them like one, every branch is fed next to nothing."


def _some_ends(evidence: Evidence) -> str:
    """Which matrices that end a branch are off, where not all of them are."""
    wanted = _std(evidence) / math.sqrt(evidence.number("K"))
    ends = evidence.yours("start.ends")
    off = np.flatnonzero(~(np.abs(ends / wanted - 1) < _NEAR))
    if len(off) == len(ends):
        return _spreads(evidence)
    return unwrapped(f"""Of the {len(ends)} matrices in `ends`, {len(off)}
    {"has" if len(off) == 1 else "have"} another one: matrix {int(off[0])} has a standard deviation
    of {float(ends[off[0]]):.4f}; asked for is {wanted:.4f}.""")


def _branch_end(evidence: Evidence, which: int) -> str:
    return f"matrix {which} of {len(evidence.yours('start.ends'))} in `ends`"


def _all_left(evidence: Evidence) -> bool:
    """True if every matrix holds what it held before."""
    return _whole(evidence, "left") and bool(evidence.yours("start.left").all())


def _something_off(evidence: Evidence) -> Finding | None:
    std, spreads = _std(evidence), evidence.yours("start.plain")
    off = np.flatnonzero(~(np.abs(spreads / std - 1) < _NEAR))
    if len(off):
        which = int(off[np.abs(np.log(spreads[off] / std + 1e-9)).argmax()])
        alike = len(off) == len(spreads) and np.ptp(spreads) < 2 * (_NEAR * spreads.mean())
        whose = "every matrix that ends no branch" if alike else _called(evidence)[which]
        others = "" if alike else f" Of {len(spreads)} that end no branch, {len(off)} are off."
        mean = float(evidence.yours("start.means")[which])
        around = (
            ""
            if abs(mean) < max(std, float(spreads[which])) / 4
            else f" Its mean is {mean:.4f} in place of 0."
        )
        return Finding(
            "other-spread",
            "The matrices do not have the spread that was asked for.",
            f"With std = {std:g}, the standard deviation of {whose} is "
            f"{number(float(spreads[which]))}, {number(float(spreads[which]) / std)} times `std`."
            f"{around}{others}{_ends_beside(evidence)}{_loss_if_odd(evidence)}",
            START,
        )
    if not _centred(evidence):
        means = evidence.yours("start.means")
        which = int(np.abs(means).argmax())
        names = _called(evidence)
        whose = names[which] if which < len(names) else _branch_end(evidence, which - len(names))
        spread = float(np.concatenate([spreads, evidence.yours("start.ends")])[which])
        return Finding(
            "other-mean",
            "The mean of a matrix is not 0.",
            f"With std = {std:g}, the mean of {whose} is {float(means[which]):.4f}, and its "
            f"standard deviation {spread:.4f}. Does what you draw replace what was there?",
            START,
        )
    if not _ends_right(evidence):
        return Finding(
            "other-ends",
            "The matrices that end a branch have another spread than was asked for.",
            _some_ends(evidence),
            START,
        )
    if not _norms_right(evidence) or not _biases_right(evidence):
        return None
    if not evidence.same("start.in_place"):
        return Finding(
            "other-parameters",
            "The model has other parameters now than it had before.",
            "Their numbers are right, but an optimizer that was given the old ones would train "
            "what no longer belongs to the model. Fill a parameter in place; do not replace it.",
            START,
        )
    if not evidence.same("start.trainable"):
        return Finding(
            "not-trainable",
            "Some parameters no longer ask for a gradient.",
            "Their numbers are right, but nothing will train them: `requires_grad` is False. "
            "`torch.no_grad()` or `nn.init` change numbers and leave it as it is.",
            START,
        )
    if not evidence.same("start.nothing_returned"):
        return Finding(
            "something-returned",
            "Your function returns something; it should return nothing.",
            "The model is right, and was changed in place. A result would look as if there were "
            "another model, and the given one as it was.",
            START,
        )
    return None


@mistake(
    "The model's parameters are what they were before your function was called.",
    lambda e: unwrapped(f"""{_loss(e)} Change parameters in place, with `nn.init` or under
    `torch.no_grad()`; a new tensor in a local name changes nothing."""),
    recognized=lambda e: (
        _all_left(e)
        and bool(e.yours("start.norms_kept"))
        and bool(e.yours("start.biases_left").all())
    ),
)
def _untouched(model: nn.Module, ends: list[str], std: float) -> None:
    """Looks at the model and leaves it as it is."""


@mistake(
    "Only the matrices in `ends` are new; all others are as they were.",
    lambda e: unwrapped(f"""{len(_called(e))} more should be normal with std = {_std(e):g}, the
    embeddings among them. {_loss(e)}"""),
    recognized=lambda e: (
        bool(e.yours("start.left")[: len(_called(e))].all())
        and not e.yours("start.left")[len(_called(e)) :].any()
    ),
)
def _ends_alone(model: nn.Module, ends: list[str], std: float) -> None:
    for name in ends:
        nn.init.normal_(model.get_parameter(name), std=std / math.sqrt(len(ends)))


def _is_a_constant(evidence: Evidence) -> bool:
    """True if matrices have the deviation that the chapter gives its own."""
    return _near(evidence.yours("start.plain"), _CHAPTERS)


_chapters_deviation = mistake(
    f"Your matrices have the deviation of the chapter, {_CHAPTERS:g}; asked for is `std`.",
    lambda e: f"std = {_std(e):g} here, and yours is {_plain_ratio(e) * _std(e):.4f}.",
    recognized=_is_a_constant,
)(
    _draws(
        plain=lambda p, _: nn.init.normal_(p, std=_CHAPTERS),
        end=lambda p, _, K: nn.init.normal_(p, std=_CHAPTERS / math.sqrt(K)),
    )
)

_hot_start = mistake(
    "Your weights have a standard deviation of 1, whatever `std` says.",
    lambda e: unwrapped(f"""Here std is {_std(e):g}. {_loss(e)} A model that is sure of random
    things first has to unlearn them."""),
    recognized=_plain_is(lambda std: 1 / std),
)(
    _draws(
        plain=lambda p, _: nn.init.normal_(p),
        end=lambda p, _, K: nn.init.normal_(p, std=1 / math.sqrt(K)),
    )
)

_all_zero = mistake(
    "All matrices are 0.",
    lambda e: unwrapped(f"""{_loss(e)} That is as it should be, and it stays so: equal channels get
    equal gradients and never become different."""),
    recognized=lambda e: not (e.yours("start.plain").any() or e.yours("start.ends").any()),
)(_draws(plain=lambda p, _: nn.init.zeros_(p), end=lambda p, *_: nn.init.zeros_(p)))

_variance_for_deviation = mistake(
    "You took `std` for the variance; it is the variance's root already.",
    lambda e: unwrapped(f"""With std = {_std(e):g} your standard deviation is
    {number(_plain_ratio(e) * _std(e))}, the root of that. {_loss(e)}"""),
    recognized=_plain_is(lambda std: std**-0.5),
)(
    _draws(
        plain=lambda p, std: nn.init.normal_(p, std=math.sqrt(std)),
        end=lambda p, std, K: nn.init.normal_(p, std=math.sqrt(std / K)),
    )
)

_variance_given = mistake(
    "Your matrices have the square of `std` for a standard deviation: that is the variance.",
    lambda e: unwrapped(f"""With std = {_std(e):g} yours is
    {number(_plain_ratio(e) * _std(e))}; the square of {_std(e):g} is {number(_std(e) ** 2)}. What
    draws takes the standard deviation itself: `nn.init.normal_`, `randn` times a
    number.{_ends_beside(e)}"""),
    recognized=_plain_is(lambda std: std),
)(
    _draws(
        plain=lambda p, std: nn.init.normal_(p, std=std**2),
        end=lambda p, std, K: nn.init.normal_(p, std=std**2 / K),
    )
)

_not_normal = mistake(
    "Your matrices have the right deviation, and are not normal: nothing in them is far from 0.",
    lambda e: (
        unwrapped(f"""The entry farthest from 0 is {float(e.yours("start.farthest").min()):.2f}
    deviations away; among as many normal numbers some are 3 and more. Is that a range, or are they
    cut off?""")
    ),
    recognized=lambda e: (
        _near(e.yours("start.plain"), _std(e)) and _ends_right(e) and not _reaches_far(e)
    ),
)(
    _draws(
        plain=lambda p, std: nn.init.uniform_(p, -(3**0.5) * std, 3**0.5 * std),
        end=lambda p, std, K: nn.init.uniform_(p, -std * (3 / K) ** 0.5, std * (3 / K) ** 0.5),
    )
)

_uniform_of_that_width = mistake(
    "You drew between −std and std; that is a range, and its deviation is std / √3.",
    lambda e: f"{_times_std(e)}.",
    recognized=lambda e: _plain_is(lambda _: 3**-0.5)(e) and not _reaches_far(e),
)(
    _draws(
        plain=lambda p, std: nn.init.uniform_(p, -std, std),
        end=lambda p, std, K: nn.init.uniform_(p, -std / math.sqrt(K), std / math.sqrt(K)),
    )
)


@mistake(
    "The embeddings are as they were; only the layers between them were set.",
    lambda e: unwrapped(f"""The token embedding has a deviation of
    {float(e.yours("start.plain")[0]):.2f}, and as it is tied, so has the output layer.
    {_loss(e)}"""),
    recognized=lambda e: (
        bool(e.yours("start.left")[:2].all()) and _near(e.yours("start.plain")[2:], _std(e))
    ),
)
def _embeddings_forgotten(model: nn.Module, ends: list[str], std: float) -> None:
    for name, part in model.named_modules():
        if isinstance(part, nn.Linear) and name != "output":
            scale = math.sqrt(len(ends)) if f"{name}.weight" in ends else 1
            nn.init.normal_(part.weight, std=std / scale)
        elif isinstance(part, nn.LayerNorm):
            nn.init.ones_(part.weight)
        bias = getattr(part, "bias", None)
        if isinstance(bias, Tensor):
            nn.init.zeros_(bias)


@mistake(
    "The output layer no longer shares its matrix with the token embedding.",
    lambda e: (
        unwrapped(f"""They are two of {e.number("V")} × {e.number("C")} numbers now: one layer, or
    each, was given a new one. Fill a parameter in place; do not replace it.""")
    ),
    recognized=lambda e: not bool(e.yours("start.tied")),
)
def _untied(model: nn.Module, ends: list[str], std: float) -> None:
    initialise(model, ends, std)
    output = model.output
    assert isinstance(output, nn.Linear)
    output.weight = nn.Parameter(torch.randn_like(output.weight) * std)


_ends_not_scaled = mistake(
    "The matrices that end a branch are as large as all others.",
    lambda e: f"{_spreads(e)} Each branch adds its variance to the stream, and they add up.",
    recognized=_ends_are(lambda _: 1.0),
)(_draws(end=lambda p, std, _: nn.init.normal_(p, std=std)))

_all_divided = mistake(
    "You divided by the root of the number of branches everywhere; only `ends` is that small.",
    lambda e: unwrapped(
        f"""{_times_std(e)}, as is that of those in `ends`, where 1 / √{e.number("K")} is right."""
    ),
    recognized=lambda e: _ends_right(e) and _plain_is_small(e),
)(_everywhere_divided)

_others_divided = mistake(
    "You made the wrong matrices smaller: those that end no branch, and not those in `ends`.",
    lambda e: unwrapped(
        f"""{_times_std(e)}; that of those in `ends` is {number(_ends_ratio(e))} times."""
    ),
    recognized=lambda e: _near(e.yours("start.ends"), _std(e)) and _plain_is_small(e),
)(_all_but_the_ends_divided)

_same_name_elsewhere = mistake(
    "A matrix is small that ends no branch: its name only ends like one of those in `ends`.",
    lambda e: unwrapped(f"""Its standard deviation is {float(e.yours("start.plain")[_ALIKE]):.4f};
    asked for is std = {_std(e):g}. `ends` holds whole names: compare with `name in ends`."""),
    recognized=lambda e: (
        _ends_right(e)
        and _near(np.delete(e.yours("start.plain"), _ALIKE), _std(e))
        and _near(e.yours("start.plain")[_ALIKE:][:1], _std(e) / math.sqrt(e.number("K")))
    ),
)(_by_the_last_name)

_divided_by_the_count = mistake(
    "You divided by the number of branches; it is variances that add up, so divide by its root.",
    _spreads,
    recognized=_ends_are(lambda K: 1 / K),
)(_draws(end=lambda p, std, K: nn.init.normal_(p, std=std / K)))

_multiplied_by_the_root = mistake(
    "You multiplied by the root of the number of branches; divide by it.",
    lambda e: f"{_spreads(e)} Each branch adds its variance to the stream, and they add up.",
    recognized=_ends_are(lambda K: K**0.5),
)(_draws(end=lambda p, std, K: nn.init.normal_(p, std=std * math.sqrt(K))))

_counted_twice = mistake(
    unwrapped("""You divided by √(2 · branches). Two branches a block is a rule of the chapter's
    model; `ends` lists every branch already."""),
    _spreads,
    recognized=_ends_are(lambda K: (2 * K) ** -0.5),
)(_draws(end=lambda p, std, K: nn.init.normal_(p, std=std / math.sqrt(2 * K))))


def _norms_left(evidence: Evidence) -> str:
    far = float(evidence.yours("start.norms").max())
    if _biases_right(evidence):
        return f"They are 1 only in a fresh model, and this one was not: one was {far:.2f} away."
    return unwrapped(f"""Norms have weights of 1 and biases of 0 only in a fresh model, and this one
    was not. One weight was {far:.2f} away from 1, and not all biases of the model are 0 now.""")


@mistake(
    "You leave the weights of the norms as they were.",
    _norms_left,
    recognized=lambda e: (
        _plain_right(e) and not _norms_right(e) and bool(e.yours("start.norms_kept"))
    ),
)
def _norms_as_they_were(model: nn.Module, ends: list[str], std: float) -> None:
    _draws(norm=lambda *_: None)(model, ends, std)


_norms_set_small = mistake(
    "The weights of the norms do not start at 1.",
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
        held = "They are as they were, and 0 only in a fresh model"
    elif np.allclose(largest[off], 1) and np.allclose(evidence.yours("start.biases_mean")[off], 1):
        held = "They are 1, which is for the weights of norms: a bias has one dimension, too"
    else:
        held = f"The largest number in them is {float(largest.max()):.3f}"
    return f"{int(off.sum())} of {len(off)} are not{', ' + whose if whose else ''}. {held}."


_biases_drawn = mistake(
    "Not all biases are 0.",
    _which_biases,
    recognized=lambda e: _plain_right(e) and _norms_right(e) and not _biases_right(e),
)(_draws(bias=lambda p, std: nn.init.normal_(p, std=std)))


TASK = Task(
    "A start that knows nothing",
    initialise,
    START,
    (
        Part(
            "Embeddings and matrices are normal with `std`, tied weights stay tied.",
            2,
            _plain_right,
        ),
        Part(
            "The matrices that end a branch are smaller, by the root of how many there are.",
            1,
            _ends_right,
        ),
        Part(
            "Biases are 0, norms start with weights of 1, and nothing is returned.", 1, _rest_right
        ),
    ),
    properties=(_something_off,),
)
