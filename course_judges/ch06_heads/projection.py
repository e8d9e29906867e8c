"""Judges 06/projection: ready heads in a module, mixed by a projection."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_judges.ch06_heads.sections import LIST, PROJECTION
from course_judges.ch06_heads.wording import INTERLEAVED, largest_gap, shape
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Step, Task, matches, mistake
from course_judges.properties import right_when_called_again
from course_judges.quoting import farthest
from course_judges.wording import listed, number, numbers_apart, row, unwrapped
from course_judges.wrong_arrays.comparisons import compared
from course_tasks.answers import Array
from course_tasks.verdict import Finding, Tells


class MixedHeads(nn.Module):
    """Heads (B, T, C) → (B, T, D) side by side, mixed into (B, T, C)."""

    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        found = [head(x) for head in self.heads]  # what the heads find (B, T, D)
        together = torch.cat(found, dim=-1)  # the heads side by side (B, T, H·D)
        return self.projection(together)  # your output (B, T, C)


class _NormedEach(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        found = [head(x) for head in self.heads]
        normed = [F.layer_norm(one, one.shape[-1:]) for one in found]
        return self.projection(torch.cat(normed, dim=-1))


class _PlainList(nn.Module):
    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__()
        self.heads = heads
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x: Tensor) -> Tensor:
        return self.projection(torch.cat([head(x) for head in self.heads], dim=-1))


def _weight_is(evidence: Evidence, *shape: int) -> bool:
    """True if the projection's weight was refused for having this shape."""
    raised = evidence.answers.errors.get("output")
    return raised is not None and f"'projection.weight' has shape {shape} instead" in raised.message


def _has_no_bias(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("output")
    return raised is not None and "no parameter named 'projection.bias'" in raised.message


def _weight_shape(*sizes: str) -> Callable[[Evidence], str]:
    """The shape of the weight, and what it should be."""

    def effect(evidence: Evidence) -> str:
        H, D, C = (evidence.number(size) for size in ("H", "D", "C"))
        have = tuple(evidence.number(size) for size in sizes)
        return unwrapped(f"""Its weight has shape {have}. Here H = {H} and D = {D} make {H * D}
        channels side by side, and C = {C} should come out, so it should be ({C}, {H * D}).""")

    return effect


def _missing_parameters(evidence: Evidence) -> str:
    mine, right = (int(held("parameters.count")) for held in (evidence.yours, evidence.right))
    return unwrapped(f"""Your module knows {mine} parameters, but the heads and the projection have
    {right}. An optimizer would never update the rest.""")


def _between(evidence: Evidence) -> str:
    return f"Nothing should come between heads and projection. {largest_gap(evidence, 'output')}"


def _first_head_right(evidence: Evidence) -> Finding | None:
    if evidence.same("output") or not evidence.same("first_head", "silent"):
        return None
    return Finding(
        "first-head-right",
        "What head 0 adds to the output is right, but what the other heads add isn't.",
        "Your output is right with a projection that reads only head 0, but not with the whole "
        "projection. Does each head get the `x` that the module got, and does its output go to its "
        "own place, unchanged? "
        f"{largest_gap(evidence, 'output')}",
        LIST,
    )


def _changed_by_another(evidence: Evidence) -> Finding | None:
    if not evidence.same("output", "silent") or evidence.same("first_head.output"):
        return None
    return Finding(
        "changed-by-another-module",
        "Your module is right until another one is made with other heads.",
        "Are the heads kept where both modules find them, on the class or in a list that is a "
        f"default argument? {largest_gap(evidence, 'first_head.output')}",
        LIST,
    )


def _wrong_when_listed_twice(evidence: Evidence) -> Finding | None:
    if not evidence.same("output", "silent", "first_head") or evidence.same("twice"):
        return None
    return Finding(
        "listed-twice",
        "Your module is wrong if the same head is in the list twice.",
        "Its output should then appear twice, too, but `children()`, a set and the keys of a dict "
        f"hold it only once. {largest_gap(evidence, 'twice')}",
        LIST,
    )


def _counted(evidence: Evidence) -> Finding | None:
    mine, right = evidence.yours("parameters.count"), evidence.right("parameters.count")
    if mine >= right or not evidence.same("output"):
        return None
    return Finding(
        "parameters-missing",
        "Your module doesn't know the parameters of all its heads.",
        _missing_parameters(evidence),
        LIST,
    )


@mistake(
    "You returned the concatenated heads without using the projection.",
    lambda e: unwrapped(f"""{shape(e, "output")} Even with a projection of zeros, your output holds
    numbers up to {number(float(abs(e.yours("silent")).max()))}."""),
)
class _NoOutputProjection(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([head(x) for head in self.heads], dim=-1)


@mistake(
    "Your projection takes C channels, but it should take those of all heads together.",
    _weight_shape("C", "C"),
    recognized=lambda e: _weight_is(e, e.number("C"), e.number("C")),
)
class _AssumesFullWidth(MixedHeads):
    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__(heads, head_size, n_embd)
        self.projection = nn.Linear(n_embd, n_embd)


@mistake(
    "Your projection takes the channels of one head, but it should take all heads side by side.",
    _weight_shape("C", "D"),
    LIST,
    recognized=lambda e: _weight_is(e, e.number("C"), e.number("D")),
)
class _SumsNotConcatenates(MixedHeads):
    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__(heads, head_size, n_embd)
        self.projection = nn.Linear(head_size, n_embd)

    def forward(self, x: Tensor) -> Tensor:
        return self.projection(torch.stack([head(x) for head in self.heads]).sum(dim=0))


@mistake(
    "Your projection goes from C channels to H · D, but it should go from H · D to C.",
    lambda e: unwrapped(f"""The first argument of `nn.Linear` is the number of channels that come
    in. Here {e.number("H")} heads of {e.number("D")} give {e.number("H") * e.number("D")} channels,
    and {e.number("C")} should come out."""),
    recognized=lambda e: _weight_is(e, e.number("H") * e.number("D"), e.number("C")),
)
class _InAndOutExchanged(MixedHeads):
    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__(heads, head_size, n_embd)
        self.projection = nn.Linear(n_embd, len(heads) * head_size)


@mistake(
    "Your projection has no bias, but the task asks for one.",
    lambda e: unwrapped(f"""Your projection lacks C = {e.number("C")} parameters. `nn.Linear` has a
    bias unless you turn it off."""),
    recognized=_has_no_bias,
)
class _NoBias(MixedHeads):
    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__(heads, head_size, n_embd)
        self.projection = nn.Linear(len(heads) * head_size, n_embd, bias=False)


@mistake(
    "You used the output of one head for all of them.",
    lambda e: largest_gap(e, "output"),
    LIST,
)
class _SharedHead(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        return self.projection(torch.cat([self.heads[0](x) for _ in self.heads], dim=-1))


@mistake(
    "You added the bias of the projection once for each head instead of once in all.",
    lambda e: unwrapped(f"""With H = {e.number("H")} heads, your output is off by
    {e.number("H") - 1} times the bias. {largest_gap(e, "output")}"""),
)
class _BiasForEachHead(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + (len(self.heads) - 1) * self.projection.bias


@mistake(
    "You left out the bias of the projection.",
    lambda e: unwrapped(f"""Your output lacks C = {e.number("C")} numbers, which are the same at
    every position. If you call the layer, `self.projection(…)`, it adds them.
    {largest_gap(e, "output")}"""),
)
class _BiasLeftOut(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) - self.projection.bias


@mistake(
    "With a single head, your module returns what it found without the projection.",
    lambda e: largest_gap(e, "output"),
)
class _OneHeadUnmixed(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        return self.heads[0](x) if len(self.heads) == 1 else super().forward(x)


@mistake(
    INTERLEAVED,
    lambda e: unwrapped(f"""Columns 0 … {e.number("D") - 1} of the projection belong to head 0.
    {largest_gap(e, "output")}"""),
    LIST,
)
class _Interleaved(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        return self.projection(torch.stack([head(x) for head in self.heads], dim=-1).flatten(2))


def _bent_after(bend: Callable[[Tensor], Tensor]) -> type[MixedHeads]:
    """The output of the projection goes through a function, number by number."""

    class Answer(MixedHeads):
        def forward(self, x: Tensor) -> Tensor:
            return bend(super().forward(x))

    return Answer


def _bent_before(bend: Callable[[Tensor], Tensor]) -> type[MixedHeads]:
    """The input of the projection goes through a function, number by number."""

    class Answer(MixedHeads):
        def forward(self, x: Tensor) -> Tensor:
            return self.projection(bend(torch.cat([head(x) for head in self.heads], dim=-1)))

    return Answer


_BENDS = (
    torch.relu,
    partial(torch.softmax, dim=-1),
    torch.tanh,
    torch.sigmoid,
    F.silu,
    F.leaky_relu,
    F.elu,
)

_bent_output = mistake(
    "Your output goes through an activation, but the projection should be the last step.",
    lambda e: largest_gap(e, "output"),
    also=tuple(_bent_after(bend) for bend in _BENDS),
)(_bent_after(F.gelu))

_bent_between = mistake(
    "What the heads found goes through an activation before the projection.",
    _between,
    also=tuple(_bent_before(bend) for bend in _BENDS),
)(_bent_before(F.gelu))


@mistake(
    "You put the heads side by side with `view` or `reshape` alone, which moves no entry.",
    lambda e: unwrapped(f"""When you stack the heads, they come before time, so positions get parts
    of others. `torch.cat` along the last dimension joins them. {largest_gap(e, "output")}"""),
    LIST,
)
class _ViewedTogether(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        found = torch.stack([head(x) for head in self.heads], dim=1)  # (B, H, T, D)
        return self.projection(found.reshape(*x.shape[:2], -1))


_list_not_ModuleList = mistake(
    "You keep the heads where the module doesn't see them, as in a plain list or dict.",
    _missing_parameters,
    LIST,
    cases=("parameters",),
)(_PlainList)


@mistake(
    "You averaged over the heads instead of putting what they found side by side.",
    lambda e: largest_gap(e, "output"),
    LIST,
)
class _AveragesHeads(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        found = torch.stack([head(x) for head in self.heads]).mean(dim=0)
        return self.projection(found.repeat(1, 1, len(self.heads)))


@mistake(
    "Your heads read a normalized `x` instead of `x` itself.",
    lambda e: largest_gap(e, "output"),
)
class _NormedInput(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(F.layer_norm(x, x.shape[-1:]))


@mistake(
    "What the heads found is normalized before the projection.",
    _between,
    also=(_NormedEach,),
)
class _NormedBetween(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        found = torch.cat([head(x) for head in self.heads], dim=-1)
        return self.projection(F.layer_norm(found, found.shape[-1:]))


@mistake(
    "Your module has more parameters than its heads and its projection.",
    lambda e: unwrapped(f"""It has {int(e.yours("parameters.count"))}, but the heads and the
    projection have {int(e.right("parameters.count"))}. Is there another layer? No other is
    needed."""),
    recognized=lambda e: (
        "output" not in e.answers.errors
        and bool(e.yours("parameters.count") > e.right("parameters.count"))
    ),
)
class _MoreParameters(MixedHeads):
    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__(heads, head_size, n_embd)
        self.norm = nn.LayerNorm(n_embd)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(super().forward(x))


@mistake(
    "Your module holds copies of the heads instead of the heads that it was given.",
    lambda e: unwrapped(f"""Of the H = {e.number("H")} heads, it knows the parameters of
    {int(e.yours("parameters.heads").sum())}. If you train it, the caller's heads don't change."""),
    LIST,
    cases=("output", "parameters"),
)
class _CopiesTheHeads(MixedHeads):
    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__([copy.deepcopy(head) for head in heads], head_size, n_embd)


@mistake(
    "Your module gives new weights to the heads, although they come with their own.",
    lambda e: f"These weights changed. {farthest(e, 'parameters.given.weights')}",
    LIST,
    recognized=lambda e: (
        bool(e.yours("parameters.heads").all()) and not e.same("parameters.given.weights")
    ),
)
class _ChangesTheHeads(MixedHeads):
    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__(heads, head_size, n_embd)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.02)


@mistake(
    "Your module freezes the heads that it is given, but they should be trained like the rest.",
    lambda e: unwrapped(f"""Of the H = {e.number("H")} heads,
    {int((~e.yours("parameters.given.trained")).sum())} have `requires_grad=False` now, so no
    optimizer updates them. They belong to the caller, so leave them as they are."""),
    LIST,
    cases=("output", "parameters"),
)
class _FreezesTheHeads(MixedHeads):
    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__(heads, head_size, n_embd)
        self.heads.requires_grad_(False)


@mistake(
    "Your output is right, but you changed the list of heads that you were given.",
    lambda e: unwrapped(f"""Of the H = {e.number("H")} heads,
    {int(e.yours("parameters.given.list").sum())} are still in their places in the caller's list.
    Loop over the list without changing it."""),
    LIST,
    cases=("output", "parameters"),
)
class _ChangesTheList(MixedHeads):
    def __init__(self, heads: list[nn.Module], head_size: int, n_embd: int):
        count, kept = len(heads), nn.ModuleList()
        super().__init__([], head_size, n_embd)
        while heads:
            kept.append(heads.pop(0))
        self.heads, self.projection = kept, nn.Linear(count * head_size, n_embd)


def _unreached(evidence: Evidence) -> str:
    module, *heads = (bool(one) for one in evidence.yours("parameters.learns"))
    if not module:
        return "No parameter gets a gradient. `no_grad`, `detach` and numbers of NumPy cut it off."
    off = [h for h, learns in enumerate(heads) if not learns]
    return unwrapped(f"""Of the H = {len(heads)} heads, these get no gradient: {listed(off)}. Is
    there a `detach`, `no_grad` or `requires_grad_(False)` between head and output?""")


@mistake(
    "Your output is right, but no gradient goes back from it to all heads, so they can't learn.",
    _unreached,
    PROJECTION,
    recognized=lambda e: (
        e.same("output", "parameters.count", "parameters.heads")
        and not e.same("parameters.learns")
        and e.same("parameters.given.trained")
    ),
)
class _GradientCutOff(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        return self.projection(torch.cat([head(x) for head in self.heads], dim=-1).detach())


@mistake(
    "Your projection is lazy, so it has no weights before the first call.",
    lambda e: unwrapped(f"""`LazyLinear` makes its weights when the first input comes. Before that,
    nothing can count them, load them or hand them to an optimizer. Both sizes are known: H · D =
    {e.number("H") * e.number("D")} channels come in and C = {e.number("C")} go out, so use
    `nn.Linear`."""),
    PROJECTION,
    recognized=lambda e: (
        "output" in e.answers.errors and "uninitialized" in e.answers.errors["output"].message
    ),
)
class _LazyProjection(MixedHeads):
    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__(heads, head_size, n_embd)
        self.projection = nn.LazyLinear(n_embd)


def _named(evidence: Evidence) -> str:
    """The name of the only layer beside the heads; empty if there are more, or none."""
    raised = evidence.answers.errors.get("output")
    if raised is None or "no parameter named 'projection.weight'" not in raised.message:
        return ""
    found = re.findall(r"([\w.]+)\.weight \(", raised.message)
    others = [name for name in found if "value" not in name]
    return others[0] if len(others) == 1 else ""


@mistake(
    lambda e: f"Your layer is called `{_named(e)}`, but it should be called `projection`.",
    lambda e: unwrapped(f"""The check gives weights to the layer by its name:
    {e.answers.errors["output"].message.partition(";")[0]}."""),
    PROJECTION,
    recognized=lambda e: bool(_named(e)),
)
class _OtherName(nn.Module):
    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.mix = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x: Tensor) -> Tensor:
        return self.mix(torch.cat([head(x) for head in self.heads], dim=-1))


@mistake(
    "Your module fails if the same head is in the list twice.",
    lambda e: unwrapped(f"""The error says: “{e.answers.errors["twice"].message.rstrip(".")}”. Its
    output should then appear twice, too, but `children()`, a set and the keys of a dict hold a head
    only once."""),
    LIST,
    recognized=lambda e: (
        e.same("output", "silent", "first_head", "parameters") and "twice" in e.answers.errors
    ),
)
class _HeadsHeldOnce(MixedHeads):
    def __init__(self, heads: Sequence[nn.Module], head_size: int, n_embd: int):
        super().__init__(heads, head_size, n_embd)
        self.heads = nn.ModuleList(dict.fromkeys(heads))


def _wrong_width(evidence: Evidence) -> str:
    """What came into the projection instead of H · D channels, by its error; empty if unknown."""
    raised = evidence.answers.errors.get("output")
    said = raised and re.search(
        r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        raised.message,
    )
    B, T, H, D, C = (evidence.number(name) for name in "BTHDC")
    if not said or (int(said[3]), int(said[4])) not in ((H * D, C), (C, H * D)):
        return ""
    rows, width = int(said[1]), int(said[2])
    if rows == B * T * H and width == D:
        return "The heads come one after the other in time, or stacked, instead of side by side"
    if rows == B * T and width < H * D and width % D == 0:
        return f"Only {width // D} of {H} heads come side by side"
    if rows == B * T and width == H * D:
        return "The heads are side by side, but the weight is used the wrong way round"
    return ""


@mistake(
    lambda e: f"{_wrong_width(e)}.",
    lambda e: unwrapped(f"""The projection takes H · D = {e.number("H") * e.number("D")} channels at
    each of B · T = {e.number("B") * e.number("T")} positions. The error says:
    “{e.answers.errors["output"].message.rstrip(".")}”. Join what all heads found along the last
    dimension, `torch.cat(found, dim=-1)`, and call the layer."""),
    LIST,
    recognized=lambda e: bool(_wrong_width(e)),
)
class _JoinedOtherwise(MixedHeads):
    def forward(self, x: Tensor) -> Tensor:
        return self.projection(torch.cat([head(x) for head in self.heads], dim=1))


def _without_bias(evidence: Evidence, of: Array) -> Array:
    return np.asarray(of - evidence.inputs["bias"], dtype=float)


def _times_a_factor(evidence: Evidence) -> Finding | None:
    """The output without the bias is the right one times a number."""
    if evidence.same("output"):
        return None
    mine, right = (_without_bias(evidence, of("output")) for of in (evidence.yours, evidence.right))
    factor = float((mine * right).sum() / (right * right).sum())
    if abs(factor) < 1e-3 or not np.allclose(mine, factor * right, rtol=1e-3, atol=1e-4):
        return None
    return Finding(
        "findings-times-a-factor",
        f"Apart from the bias, your output is {number(factor)} times the right one.",
        "What the heads found should go into the projection as it is, and its output should be "
        f"returned as it is. {largest_gap(evidence, 'output')}",
        PROJECTION,
    )


def _heads_in_other_places(evidence: Evidence) -> Finding | None:
    """Columns of the projection meet the wrong head, or none."""
    H, D = evidence.number("H"), evidence.number("D")
    mine = evidence.yours("output")
    if evidence.same("output") or mine.shape != evidence.right("output").shape:
        return None
    x = evidence.inputs["x"].astype(float)
    seen = x.cumsum(axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    found = [seen @ head.T for head in evidence.inputs["heads"]] + [np.zeros((*x.shape[:2], D))]
    columns = evidence.inputs["weight"].reshape(-1, H, D)  # (C, H, D)
    mixed = [[one @ columns[:, place].T for place in range(H)] for one in found]
    wanted = _without_bias(evidence, mine)
    for heads in itertools.product(range(H + 1), repeat=H):
        if np.allclose(sum(mixed[h][n] for n, h in enumerate(heads)), wanted, rtol=1e-3, atol=1e-4):
            break
    else:
        return None
    got = ", and ".join(
        f"columns {n * D} to {n * D + D - 1}, of head {n}, meet {f'head {h}' if h < H else 'zeros'}"
        for n, h in enumerate(heads)
        if h != n
    )
    return Finding(
        "heads-in-other-places",
        "The heads aren't in the places where the projection expects them.",
        f"In your output, {got}. Head 0 comes first, then head 1, and so on, each once. "
        f"{largest_gap(evidence, 'output')}",
        LIST,
        tells=Tells.CAUSE,
    )


def _heads_mixed(evidence: Evidence) -> Finding | None:
    """What meets the columns of each head is a sum of several heads."""
    H, D = evidence.number("H"), evidence.number("D")
    mine = evidence.yours("output")
    if evidence.same("output") or H < 2 or mine.shape != evidence.right("output").shape:
        return None
    x = evidence.inputs["x"].astype(float)
    seen = x.cumsum(axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    columns = evidence.inputs["weight"].reshape(-1, H, D).astype(float)  # (C, H, D)
    shares = [
        (seen @ head.T @ columns[:, place].T).ravel()
        for place in range(H)
        for head in evidence.inputs["heads"].astype(float)
    ]
    wanted = _without_bias(evidence, mine).ravel()
    made = np.linalg.lstsq(np.stack(shares, axis=1), wanted, rcond=None)[0]
    if not np.allclose(np.stack(shares, axis=1) @ made, wanted, rtol=1e-3, atol=1e-3):
        return None
    met = made.reshape(H, H).round(3)
    if np.allclose(met, np.eye(H), atol=2e-3):
        return None
    place = int(np.argmax(np.abs(met - np.eye(H)).max(axis=1) > 2e-3))
    parts = [f"{number(float(one))} · head {h}" for h, one in enumerate(met[place]) if one]
    return Finding(
        "heads-mixed",
        "In the places of some heads, your projection gets sums of several heads, or multiples.",
        f"Columns {place * D} to {place * D + D - 1} of the projection should meet what head "
        f"{place} found, but in your output they meet {' + '.join(parts) or 'nothing'}.",
        LIST,
    )


def _more_added(evidence: Evidence) -> Finding | None:
    """Right, but for something that is added: the bias, the input, a mean of it."""
    if evidence.same("output") or not evidence.comparable("output"):
        return None
    more = evidence.yours("output").astype(float) - evidence.right("output")
    x, bias = evidence.inputs["x"].astype(float), evidence.inputs["bias"].astype(float)
    known = (
        ("the bias", np.broadcast_to(bias, more.shape)),
        ("the input `x`", x),
        ("the mean of `x` over its positions", np.broadcast_to(x.mean(1, keepdims=True), x.shape)),
    )
    for what, one in known:
        times = float((more * one).sum() / (one * one).sum())
        if abs(times) > 1e-3 and np.allclose(more, times * one, rtol=1e-3, atol=1e-4):
            return Finding(
                "more-added",
                f"Your output is the right one plus {number(times)} times {what}.",
                f"Nothing should be added to what the projection gives. "
                f"{largest_gap(evidence, 'output')}",
                PROJECTION,
            )
    return None


def _changed_between(evidence: Evidence) -> Finding | None:
    """With a projection of zeros all is right, so what is changed comes before the projection."""
    if evidence.same("output") or not evidence.same("silent"):
        return None
    worked_out = _worked_out(evidence)
    return worked_out and replace(
        worked_out,
        what="What goes into your projection isn't what the heads found.",
        effect=f"With a projection of zeros your output is right, so the bias is. "
        f"{worked_out.effect}",
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    """One output worked out: what the heads found, its row of the projection, and the bias."""
    mine, right = evidence.yours("output"), evidence.right("output")
    if mine.shape != right.shape or evidence.same("output"):
        return None
    if evidence.number("B") > 1 and compared(mine, right):
        return None  # `compared` says more
    b, t, c = (int(i) for i in np.argwhere(~close(mine, right))[0])
    seen = evidence.inputs["x"][b, : t + 1].mean(axis=0)
    found = np.concatenate([head @ seen for head in evidence.inputs["heads"]])  # (H·D,)
    mixed = float(evidence.inputs["weight"][c] @ found)
    bias = float(evidence.inputs["bias"][c])
    one, other = numbers_apart(float(mine[b, t, c]), float(right[b, t, c]))
    return Finding(
        "another-mixture",
        "Your output isn't the projection of what the heads found.",
        f"At position {t} of sample {b}, the heads found {len(found)} numbers, which begin with "
        f"{row(found[:3])}. Row {c} of the projection makes {number(mixed)} of them, and with the "
        f"bias of {number(bias)} that is {other}. Yours is {one}.",
        PROJECTION,
    )


TASK = Task(
    "Output projection",
    MixedHeads,
    PROJECTION,
    (
        Part(
            "What the heads found is mixed into C channels.",
            2,
            matches("output", "first_head", "twice"),
        ),
        Part("With a projection of zeros, only its bias is left.", 1, matches("silent")),
        Part("The module knows the parameters of all its heads.", 1, matches("parameters")),
    ),
    properties=(
        _heads_in_other_places,
        _times_a_factor,
        _heads_mixed,
        _more_added,
        _first_head_right,
        _counted,
        _wrong_when_listed_twice,
        _changed_by_another,
        right_when_called_again(
            ("output", "silent", "first_head.output"), ("first_head.shorter",), LIST
        ),
    ),
    cases=("output",),
    examples=(_changed_between, _worked_out),
    steps={
        "what the heads find": Step("Each head reads the input of the layer.", LIST),
        "the heads side by side": Step(
            "Nothing comes between the heads and the projection, and each head keeps its channels.",
            LIST,
        ),
        "your output": Step("The projection is the last step, and nothing is done to its output."),
    },
)
