"""Judges 05/head: a head that can look both ways and has its own dimension for values."""

from __future__ import annotations

import math
import re

import numpy as np
import torch
from torch import Tensor, nn

from course_judges import families
from course_judges.attention_weights import (
    Weights,
    no_mixture,
    of_another_sample,
    rows_beside,
    softmax,
    weights_behind,
)
from course_judges.ch05_head import wording
from course_judges.ch05_head.sections import FUTURE, MODULE, PASSED, SCALE, SCORES
from course_judges.ch05_head.shapes_that_meet import do_not_fit
from course_judges.ch05_head.wording import OUTPUTS_SHOW
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import unchanged_by_the_future
from course_judges.wording import number, row, rows_apart, unwrapped
from course_judges.wrong_arrays.comparisons import compared
from course_judges.wrong_arrays.relations import related
from course_tasks.answers import Array
from course_tasks.verdict import Finding

# An output that has seen what it shouldn't moves by at least this much.
_SEEN = 1e-2


class _Map(nn.Linear):
    """A linear map that draws no weights: a probe sets them, and drawing would double the time."""

    def reset_parameters(self) -> None:
        pass


class Head(nn.Module):
    """A right answer to 05/head: (B, T, C) → (B, T, E)."""

    past: Tensor

    def __init__(self, C: int, D: int, E: int, block_size: int, causal: bool):
        super().__init__()
        self.query = _Map(C, D, bias=False)
        self.key = _Map(C, D, bias=False)
        self.value = _Map(C, E, bias=False)
        self.causal = causal
        past = torch.ones(block_size, block_size, dtype=torch.bool).tril()  # the triangle
        self.register_buffer("past", past, persistent=False)

    def scale(self, x: Tensor) -> float:  # noqa: ARG002
        """What scores are divided by."""
        D = self.key.out_features  # D
        return math.sqrt(D)  # the scale

    def hidden(self, T: int) -> Tensor:
        """(T, T) True where a position may not look."""
        future = ~self.past[:T, :T]  # the mask (T, T)
        return future & self.causal  # the mask, if the head is causal (T, T)

    def weights(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, T)."""
        query = self.query(x)  # the queries (B, T, D)
        key = self.key(x)  # the keys (B, T, D)
        products = query @ key.transpose(1, 2)  # the products of queries and keys (B, T, T)
        scale = self.scale(x)
        scores = products / scale  # the scores (B, T, T)
        hidden = self.hidden(x.shape[1])
        masked = scores.masked_fill(hidden, -torch.inf)  # the masked scores (B, T, T)
        return masked.softmax(dim=-1)  # the weights (B, T, T)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, E)."""
        weights = self.weights(x)
        value = self.value(x)  # the values (B, T, E)
        return weights @ value  # your outputs (B, T, T) @ (B, T, E)


class _Unscaled(Head):
    def scale(self, x: Tensor) -> float:  # noqa: ARG002
        return 1.0


class _ScaleByBlockSize(Head):
    def scale(self, x: Tensor) -> float:  # noqa: ARG002
        return math.sqrt(len(self.past))


class _PastAndItselfHidden(Head):
    def hidden(self, T: int) -> Tensor:
        return self.past[:T, :T] & self.causal


class _PastHiddenAndZero(_PastAndItselfHidden):
    def weights(self, x: Tensor) -> Tensor:
        return super().weights(x).nan_to_num(0.0)


def _first(evidence: Evidence, case: str = "both_ways") -> str:
    mine, right = evidence.yours(case)[..., :3], evidence.right(case)[..., :3]
    gap = np.nan_to_num(np.abs(mine - right).max(axis=-1), nan=np.inf)
    b, t = (int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))
    same = evidence.same("causal", "later", "full")
    other = " With `causal=True`, your head is right." if same else ""
    one, wanted = rows_beside(mine[b, t], right[b, t])
    return unwrapped(f"""With `causal={case != "both_ways"}`, the output at position {t} of sample
    {b} begins with {one}, but it should begin with {wanted}.{other}""")


def _dimensions(evidence: Evidence, *others: str) -> str:
    named = (f"{name} = {evidence.number(name)}" for name in (*others, "C", "D", "E"))
    return f"Here {', '.join(named)}. {_first(evidence)}"


def _moved(evidence: Evidence) -> str:
    t = evidence.number("t")
    gap = np.abs(evidence.yours("causal")[:, :t] - evidence.yours("later")[:, :t]).max()
    return unwrapped(f"""With `causal=True`, the outputs at positions 0 to {t - 1} move by up to
    {number(gap)} when the input changes only from position {t} on.""")


def _leaks_beside_a_low_score(evidence: Evidence) -> bool:
    """Wrong only at the symbol whose score with itself is far below 0, as it sees the future."""
    if not evidence.same("both_ways"):
        return False
    off = np.abs(evidence.yours("causal") - evidence.right("causal")).max(axis=-1)  # (B, T)
    moved = np.abs(evidence.yours("causal") - evidence.yours("later"))[0, 0].max()
    return bool(off[0, 0] > _SEEN and moved > _SEEN and (off.ravel()[1:] < _SEEN).all())


def _low(evidence: Evidence) -> str:
    names = ("x", "query.weight", "key.weight")
    x, query, key = (evidence.inputs[name].astype(np.float64) for name in names)
    score = float(query @ x[0, 0] @ (key @ x[0, 0])) / math.sqrt(len(key))
    mine, right = evidence.yours("causal")[0, 0, :3], evidence.right("causal")[0, 0, :3]
    return unwrapped(f"""Position 0 of sample 0 may see only itself, with a score of
    {number(score)}. Its output begins with {row(mine)}, but it should begin with {row(right)}.
    {wording.MINUS_INFINITY}""")


def _read_again(evidence: Evidence) -> str:
    T, most = evidence.number("T"), evidence.number("block_size")
    read = f"After texts of {min(2, T)} and {most} symbols, your head was given one of T = {T} and"
    raised = evidence.answers.errors.get("again")
    if raised is not None:
        said = raised.message.rstrip(".")
        return f"{read} stopped: “{said}”. If it keeps a mask, cut it to T again in each call."
    return f"{read} gave another answer than a new head. Does it keep something between calls?"


@mistake(
    "Your mask doesn't fit a text that is shorter than block_size.",
    lambda e: unwrapped(f"""A text of block_size = {e.number("block_size")} symbols works, but the
    mask is too large for one of T = {e.number("T")}. Cut its rows and columns: `[:T, :T]`."""),
    FUTURE,
    recognized=lambda e: e.same("full") and do_not_fit(e, "causal", "T", "block_size"),
)
class _MaskNotCut(Head):
    def hidden(self, T: int) -> Tensor:  # noqa: ARG002
        return ~self.past & self.causal


@mistake(
    "You cut the mask to the number of texts, B, instead of the number of positions, T.",
    lambda e: unwrapped(f"""Here B = {e.number("B")} and T = {e.number("T")}. The error says:
    “{e.answers.errors["causal"].message.rstrip(".")}”. T is the second dimension of `x`,
    `x.shape[1]`."""),
    FUTURE,
    recognized=lambda e: do_not_fit(e, "causal", "B", "T"),
)
class _MaskCutToTheBatch(Head):
    def weights(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.scale(x)
        return scores.masked_fill(self.hidden(len(x)), -torch.inf).softmax(dim=-1)


_LAYERS = {"query": "D", "key": "D", "value": "E"}
_REFUSED = re.compile(r"parameter '(\w+)\.weight' has shape \((\d+), (\d+)\) instead")
_MISSING = re.compile(r"no parameter named '(\w+)\.weight'")


def _refused(evidence: Evidence) -> tuple[str, tuple[int, int]] | None:
    """A layer whose weight has another shape, and that shape."""
    raised = evidence.answers.errors.get("causal")
    said = _REFUSED.search(raised.message) if raised else None
    return (said[1], (int(said[2]), int(said[3]))) if said and said[1] in _LAYERS else None


def _other_shape(evidence: Evidence) -> str:
    refused = _refused(evidence)
    if refused is None:
        return ""
    (layer, (out, into)), C = refused, evidence.number("C")
    wanted = _LAYERS[layer]
    dimensions = ", ".join(f"{name} = {evidence.number(name)}" for name in "CDE")
    return unwrapped(f"""Here {dimensions}. Your `{layer}` goes from {into} features to {out}, but
    it should go from C = {C} to {wanted} = {evidence.number(wanted)}. Queries and keys have D
    entries and values E: `nn.Linear(n_embd, head_size)` and `nn.Linear(n_embd, value_size)`.""")


@mistake(
    lambda e: f"Your layer `{(_refused(e) or ('',))[0]}` has the wrong dimensions.",
    _other_shape,
    MODULE,
    recognized=lambda e: _refused(e) is not None,
)
class _LayerOfOtherDimensions(Head):
    def __init__(self, C: int, D: int, E: int, block_size: int, causal: bool):
        super().__init__(C, D, E, block_size, causal)
        self.value = _Map(C, D, bias=False)


def _missing(evidence: Evidence) -> str:
    """The first of the three layers that a head lacks; empty if it has them all."""
    raised = evidence.answers.errors.get("causal")
    said = _MISSING.search(raised.message) if raised else None
    return said[1] if said and said[1] in _LAYERS else ""


def _one_is_another(evidence: Evidence) -> bool:
    """True if two of the three layers are known, and no layer of another name."""
    raised = evidence.answers.errors.get("causal")
    known = re.findall(r"([\w.]+)\.weight \(", raised.message) if raised else []
    return bool(_missing(evidence)) and set(known) == set(_LAYERS) - {_missing(evidence)}


@mistake(
    lambda e: f"Your head has no layer of its own called `{_missing(e)}`.",
    lambda e: unwrapped(f"""The error says: “{e.answers.errors["causal"].message.rstrip(".")}”. The
    layer is missing, or it is the same object as another one, as after `self.query = self.key =
    nn.Linear(…)`, which gives one layer two names. Make a layer for each of the three."""),
    MODULE,
    recognized=_one_is_another,
)
class _OneLayerForTwo(Head):
    def __init__(self, C: int, D: int, E: int, block_size: int, causal: bool):
        super().__init__(C, D, E, block_size, causal)
        self.key = self.query


@mistake(
    lambda e: f"Your head has no layer called `{_missing(e)}`, but one of another name.",
    lambda e: unwrapped(f"""The error says: “{e.answers.errors["causal"].message.rstrip(".")}”. The
    check gives weights to the layers by the names `query`, `key` and `value`."""),
    MODULE,
    recognized=lambda e: bool(_missing(e)) and not _one_is_another(e),
)
class _OtherNames(nn.Module):
    def __init__(self, C: int, D: int, E: int, block_size: int, causal: bool):
        super().__init__()
        self.head = Head(C, D, E, block_size, causal)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(x)


@families.scale_by_channels(_dimensions, SCALE)
class _ScaleByChannels(Head):
    def scale(self, x: Tensor) -> float:
        return math.sqrt(x.shape[-1])


@mistake(
    "You divided the weights instead of the scores, because your scale comes after the softmax.",
    lambda e: f"Your rows sum to 1/√D = {number(e.number('D') ** -0.5)} instead of 1. {_first(e)}",
    SCALE,
)
class _ScaleAfterSoftmax(_Unscaled):
    def weights(self, x: Tensor) -> Tensor:
        return super().weights(x) / math.sqrt(self.key.out_features)


@mistake(
    "You added the mask to the scores as numbers, 1 where a position may look and 0 elsewhere.",
    lambda e: unwrapped(f"""{_first(e, "causal")} This makes hidden scores only 1 lower than the
    others, so they still count. A mask that is added should hold 0 and −inf."""),
    FUTURE,
    cases=("both_ways", "causal"),
)
class _MaskAddedToScores(Head):
    def weights(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.scale(x)
        return (scores + ~self.hidden(x.shape[1]) * self.causal).softmax(dim=-1)


_softmax_over_queries = families.softmax_over_queries(_first, SCORES)(
    Like("used-axis-minus-2-instead-of-axis-minus-1-for-the-softmax-in-the-weights")
)


@mistake(
    wording.LENGTH_UNDER_THE_ROOT,
    lambda e: _dimensions(e, "T", "block_size"),
    SCALE,
    also=(_ScaleByBlockSize,),
)
class _ScaleByLength(Head):
    def scale(self, x: Tensor) -> float:
        return math.sqrt(x.shape[1])


@mistake(
    wording.NO_SOFTMAX,
    lambda e: f"{wording.NO_AVERAGE} {_first(e)}",
    SCORES,
)
class _NoSoftmax(Head):
    def weights(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.scale(x)
        return scores.masked_fill(self.hidden(x.shape[1]), 0.0)


@mistake(
    "You returned the values themselves, without using the weights.",
    lambda e: f"No position learns anything from the others. {_first(e)}",
    PASSED,
    cases=("both_ways", "causal"),
)
class _ValuesNotAveraged(Head):
    def forward(self, x: Tensor) -> Tensor:
        return self.value(x)


@mistake(
    "You swapped batch and time, so the texts look at each other.",
    lambda e: unwrapped(f"""With B = {e.number("B")} and T = {e.number("T")}, each position averages
    over the {e.number("B")} samples instead of over its own text. {_first(e)}"""),
    SCORES,
)
class _AttendsAcrossBatch(Head):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.transpose(0, 1)).transpose(0, 1)


@mistake(
    "Your head does the opposite of what `causal` says.",
    lambda e: f"{_moved(e)} With `causal=False` they stay the same.",
    FUTURE,
    cases=("causal", "both_ways"),
)
class _FlagTurned(Head):
    def hidden(self, T: int) -> Tensor:
        return ~self.past[:T, :T] & (not self.causal)


_no_causal_mask = families.no_causal_mask(_moved, FUTURE, cases=("causal", "full", "both_ways"))(
    Like("left-out-tril-in-the-triangle")
)


@mistake(
    "You cut the mask from its lower left corner, but a shorter text needs the upper left one.",
    _moved,
    FUTURE,
    cases=("causal", "both_ways"),
)
class _WrongCorner(Head):
    def hidden(self, T: int) -> Tensor:
        return ~self.past[-T:, :T] & self.causal


@mistake(
    "Looking both ways, you average one answer from the past and one from the future instead of "
    "taking one softmax over the whole text.",
    lambda e: f"Past and future positions should compete in one row. {_first(e)}",
    FUTURE,
    cases=("causal", "both_ways"),
)
class _MeanOfTwoDirections(Head):
    def weights(self, x: Tensor) -> Tensor:
        back = super().weights(x)
        if self.causal:
            return back
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.scale(x)
        past = self.past[: x.shape[1], : x.shape[1]]
        one, other = (
            scores.masked_fill(hidden, -torch.inf).softmax(dim=-1) for hidden in (~past, ~past.T)
        )
        return (one + other) / 2


_upper_triangle = mistake(
    "Your mask is inverted: it hides the past and shows the future.",
    lambda e: _first(e, "causal"),
    FUTURE,
    cases=("causal",),
    also=(_PastAndItselfHidden, _PastHiddenAndZero),
)(Like("used-triu-instead-of-tril-in-the-triangle"))


@mistake(
    "With `causal=False`, your positions see themselves and what follows, but not the past.",
    lambda e: f"Each position should see the whole text. {_first(e)}",
    FUTURE,
    cases=("causal", "both_ways"),
)
class _FutureIfNotCausal(Head):
    def hidden(self, T: int) -> Tensor:
        past = self.past[:T, :T]
        return ~past if self.causal else ~past.T


class _PresentHidden(Head):
    """Position 0 sees nothing, and its NaN become 0 here."""

    nan_is_zero = True

    def hidden(self, T: int) -> Tensor:
        return torch.ones(T, T, dtype=torch.bool).triu() & self.causal

    def weights(self, x: Tensor) -> Tensor:
        weights = super().weights(x)
        return weights.nan_to_num(0.0) if self.nan_is_zero else weights


class _PresentHiddenAndNaN(_PresentHidden):
    nan_is_zero = False


class _PresentFilled(_PresentHidden):
    """What position 0 sees is then a mean of the whole text."""

    def weights(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.scale(x)
        return scores.masked_fill(self.hidden(x.shape[1]), -1e9).softmax(dim=-1)


@mistake(
    "With `causal=True`, positions don't see themselves.",
    lambda e: unwrapped(f"""{_first(e, "causal")} Position t should see positions 0 to t, so what is
    hidden begins above the diagonal. `triu` keeps the diagonal unless you give it
    `diagonal=1`."""),
    FUTURE,
    cases=("both_ways", "causal"),
    also=(_PresentHidden, _PresentHiddenAndNaN, _PresentFilled),
)
class _DiagonalHidden(Head):
    def hidden(self, T: int) -> Tensor:
        hidden = torch.ones(T, T, dtype=torch.bool).triu()
        hidden[0, 0] = False
        return hidden & self.causal


@families.masked_after_softmax(lambda e: _first(e, "causal"), FUTURE, cases=("both_ways", "causal"))
class _MaskedAfterSoftmax(Head):
    def weights(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.scale(x)
        return scores.softmax(dim=-1) * ~self.hidden(x.shape[1])


@mistake(
    wording.LOW_FILL,
    _low,
    FUTURE,
    recognized=_leaks_beside_a_low_score,
)
class _ModerateFill(Head):
    def weights(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.scale(x)
        return scores.masked_fill(self.hidden(x.shape[1]), -20.0).softmax(dim=-1)


@mistake(
    "Your head is right for the first text that it reads, but not for a later one.",
    _read_again,
    MODULE,
    recognized=lambda e: (
        e.same("causal", "later", "full", "both_ways") and not e.same("again") and e.repeatable
    ),
)
class _StateKept(Head):
    kept: Tensor | None = None

    def hidden(self, T: int) -> Tensor:
        if self.kept is None:
            self.kept = super().hidden(T)
        return self.kept


@mistake(
    "Your heads share something that each should have for itself: making one changes another.",
    lambda e: unwrapped(f"""A head with `causal=True` was right until another one was made with
    `causal=False`. {_first(e, "beside")} What you assign to the class, as in `Head.causal = …`,
    belongs to all heads, so assign it to `self`."""),
    MODULE,
    recognized=lambda e: (
        e.same("causal", "later", "full", "both_ways", "again") and not e.same("beside")
    ),
)
class _SharedByAllHeads(Head):
    latest = True

    def __init__(self, n_embd: int, head_size: int, value_size: int, block_size: int, causal: bool):
        super().__init__(n_embd, head_size, value_size, block_size, causal)
        type(self).latest = causal

    def hidden(self, T: int) -> Tensor:
        return ~self.past[:T, :T] & self.latest


def _dims(evidence: Evidence) -> dict[str, int]:
    return {name: evidence.number(name) for name in ("C", "D", "E", "T", "B", "block_size")}


def _attention(evidence: Evidence, case: str) -> tuple[Array, Array, Array]:
    """(B, T, T) Scores and what may be seen, and (B, T, E) values, with this `causal`."""
    e = evidence.inputs
    x = e["x"].astype(float)
    query, key, value = (x @ e[f"{name}.weight"].T for name in ("query", "key", "value"))
    scores = query @ np.swapaxes(key, 1, 2) / math.sqrt(evidence.number("D"))
    seen = np.ones(scores.shape, dtype=bool)
    return scores, np.tril(seen) if case == "causal" else seen, value


def _shown(evidence: Evidence) -> tuple[str, Weights] | None:
    """Words for the first wrong case, and the weights that its outputs show."""
    case = "both_ways" if not evidence.same("both_ways") else "causal"
    if not evidence.comparable(case) or evidence.same(case):
        return None
    scores, seen, values = _attention(evidence, case)
    weights = weights_behind(evidence.yours(case), values)
    when = f"With `causal={case == 'causal'}`"
    if weights is None:
        return None
    return when, Weights(weights, scores, seen, _dims(evidence), solved=True)


def _nothing_else_known(evidence: Evidence, *more: str) -> bool:
    """True if the shared judge would say no more than where outputs are wrong."""
    case = "both_ways" if not evidence.same("both_ways") else "causal"
    mine, right = evidence.yours(case), evidence.right(case)
    if mine.shape != right.shape or evidence.same(case):
        return False
    found = compared(mine, right) or related(mine, right, evidence.inputs)
    return evidence.number("T") == 1 or found is None or found.name in ("some-positions", *more)


def _shown_by_the_outputs(evidence: Evidence) -> Finding | None:
    """What the weights that the outputs show are a softmax of, and over which positions."""
    shown = _shown(evidence)
    if shown is None:
        return _worked_out(evidence) if _nothing_else_known(evidence, "some-samples") else None
    when, weights = shown
    told = weights.told()
    if told is None and _nothing_else_known(evidence):
        told = weights.described()
    return told and Finding("other-weights", told[0], f"{when}, {OUTPUTS_SHOW} {told[1]}", SCORES)


def _worked_out(evidence: Evidence) -> Finding | None:
    """One row of the weights that the outputs show, or that no weights make them."""
    shown = _shown(evidence)
    if shown is not None:
        when, weights = shown
        what, effect = weights.described()
        return Finding("other-weights", what, f"{when}, {OUTPUTS_SHOW} {effect}", SCORES)
    case = "both_ways" if not evidence.same("both_ways") else "causal"
    mine, right = evidence.yours(case), evidence.right(case)
    if mine.shape != right.shape or evidence.same(case):
        return None
    scores, seen, values = _attention(evidence, case)
    own = softmax(scores, seen)
    met = of_another_sample(mine, np.stack([own] * len(own), axis=1), values)
    if met is not None:
        return Finding(
            "other-weights",
            "You average the values of another text.",
            f"In sample {met[0]}, the weights are right, but the values are those of sample "
            f"{met[1]}. Each text needs the values of its own `x`.",
            PASSED,
        )
    b, t = (int(i) for i in np.argwhere(~close(mine, right))[0][:2])
    one, other = rows_apart(mine[b, t, :3], right[b, t, :3])
    return Finding(
        "other-weights",
        "Your outputs aren't made of the values of their text alone.",
        f"With `causal={case == 'causal'}`, the output of position {t} in sample {b} begins with "
        f"{one} instead of {other}, and no weights make it from the {evidence.number('T')} values "
        f"of its text. Do all three layers get `x` itself? {no_mixture(mine, right)}",
        PASSED,
    )


TASK = Task(
    "A head that can look both ways",
    Head,
    MODULE,
    (
        Part(
            "Looking both ways, the outputs are right.",
            2,
            matches("both_ways"),
        ),
        Part("With `causal=True` nothing comes from the future.", 1, matches("causal", "later")),
        Part(
            "Texts of any length up to `block_size` work.",
            1,
            matches("causal", "full", "again", "beside"),
        ),
    ),
    properties=(
        _shown_by_the_outputs,
        unchanged_by_the_future("causal", "later", "t", FUTURE),
    ),
    cases=("both_ways",),
    examples=(_worked_out,),
    steps={
        "the triangle": Step("Row t sees positions 0 to t.", FUTURE),
        "D": Step("A score is a sum of D products, so only D sets its scale.", SCALE),
        "the scale": Step("A sum of D products spreads with √D.", SCALE),
        "the mask": Step("What lies ahead of a position is its future.", FUTURE),
        "the mask, if the head is causal": Step("Only a causal head hides the future.", FUTURE),
        "the queries": Step("A query says what a position looks for.", SCORES),
        "the keys": Step("A key says what a position has to offer.", SCORES),
        "the products of queries and keys": Step(
            "Row t holds the products of query t with all keys of its own text.", SCORES
        ),
        "the scores": Step("A sum of D products spreads with √D.", SCALE),
        "the masked scores": Step(wording.MINUS_INFINITY, FUTURE),
        "the weights": Step("Each row is an average of its own, so it sums to 1.", SCORES),
        "the values": Step("What a position passes on is its value.", PASSED),
        "your outputs": Step("What a position gets is the weighted average of values.", PASSED),
    },
)
