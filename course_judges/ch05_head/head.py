"""Judges 05/head: a head that can look both ways, with values of a size of their own."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from course_judges import families
from course_judges.ch05_head.sections import FUTURE, MODULE, PASSED, SCALE, SCORES
from course_judges.ch05_head.shapes_that_meet import do_not_fit
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import unchanged_by_the_future
from course_judges.wording import number, row, unwrapped
from course_tasks.verdict import Finding

# By so much an output moves that has seen what it should not.
_SEEN = 1e-2


class _Map(nn.Linear):
    """A linear map whose weights a probe gives; drawing some first would take as long again."""

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
        past = torch.ones(block_size, block_size, dtype=torch.bool).tril()
        self.register_buffer("past", past, persistent=False)

    def scale(self, x: Tensor) -> float:  # noqa: ARG002
        """What scores are divided by."""
        return math.sqrt(self.key.out_features)

    def hidden(self, T: int) -> Tensor:
        """(T, T) True where a position may not look."""
        return ~self.past[:T, :T] & self.causal

    def weights(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, T)."""
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.scale(x)  # (B, T, T)
        return scores.masked_fill(self.hidden(x.shape[1]), -torch.inf).softmax(dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, E)."""
        return self.weights(x) @ self.value(x)  # (B, T, T) @ (B, T, E)


class _Unscaled(Head):
    def scale(self, x: Tensor) -> float:  # noqa: ARG002
        return 1.0


class _ScaleByBlockSize(Head):
    def scale(self, x: Tensor) -> float:  # noqa: ARG002
        return math.sqrt(len(self.past))


class _PastAndItselfHidden(Head):
    def hidden(self, T: int) -> Tensor:
        return self.past[:T, :T] & self.causal


class _KeysOnly(Head):
    def weights(self, x: Tensor) -> Tensor:
        scores = self.key(x) @ self.key(x).transpose(1, 2) / self.scale(x)
        return scores.masked_fill(self.hidden(x.shape[1]), -torch.inf).softmax(dim=-1)


def _first(evidence: Evidence, case: str = "both_ways") -> str:
    mine, right = evidence.yours(case)[..., :3], evidence.right(case)[..., :3]
    gap = np.nan_to_num(np.abs(mine - right).max(axis=-1), nan=np.inf)
    b, t = (int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))
    what = "looking both ways" if case == "both_ways" else "causal"
    return unwrapped(f"""In sample {b} ({what}) the output of position {t} begins with
    {row(mine[b, t])}; it should begin with {row(right[b, t])}.""")


def _sizes(evidence: Evidence) -> str:
    e = evidence
    return f"C = {e.number('C')}, D = {e.number('D')}, E = {e.number('E')}. {_first(e)}"


def _moved(evidence: Evidence) -> str:
    t = evidence.number("t")
    gap = np.abs(evidence.yours("causal")[:, :t] - evidence.yours("later")[:, :t]).max()
    return unwrapped(f"""With `causal=True`, the outputs of positions 0 to {t - 1} move by up to
    {number(gap)} when only positions from {t} on change in the input.""")


def _leaks_beside_a_low_score(evidence: Evidence) -> bool:
    """Wrong, as the future is seen, for the one symbol whose score with itself is far below 0."""
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
    return unwrapped(f"""Position 0 of sample 0 sees itself only, with a score of {number(score)}.
    Its output begins with {row(mine)}; it should begin with {row(right)}. −inf is below everything,
    and e to the power of −inf is exactly 0.""")


def _read_again(evidence: Evidence) -> str:
    T, most = evidence.number("T"), evidence.number("block_size")
    read = f"A head that had read texts of 2 and {most} symbols was given one of T = {T}"
    raised = evidence.answers.errors.get("again")
    if raised is not None:
        return f"{read} and stopped: {raised.message.rstrip('.')}. Cut the mask anew in each call."
    return f"{read} and gave another answer than a new head does."


@mistake(
    "Your mask does not fit a text that is shorter than block_size.",
    lambda e: (
        unwrapped(f"""A text of block_size = {e.number("block_size")} symbols works; one of T =
    {e.number("T")} does not fit the mask. Cut rows and columns: `[:T, :T]`.""")
    ),
    FUTURE,
    recognized=lambda e: e.same("full") and do_not_fit(e, "causal", "T", "block_size"),
)
class _MaskNotCut(Head):
    def hidden(self, T: int) -> Tensor:  # noqa: ARG002
        return ~self.past & self.causal


@families.scale_by_channels(_sizes, SCALE)
class _ScaleByChannels(Head):
    def scale(self, x: Tensor) -> float:
        return math.sqrt(x.shape[-1])


@families.scale_by_values(_sizes, SCALE)
class _ScaleByValues(Head):
    def scale(self, x: Tensor) -> float:  # noqa: ARG002
        return math.sqrt(self.value.out_features)


_no_scale = families.no_scale(_sizes, SCALE)(_Unscaled)


@mistake(
    "You divided the weights, not the scores: the scale came after the softmax.",
    lambda e: f"Your rows sum to 1/√D = {number(e.number('D') ** (-0.5))}, not to 1. {_first(e)}",
    SCALE,
)
class _ScaleAfterSoftmax(_Unscaled):
    def weights(self, x: Tensor) -> Tensor:
        return super().weights(x) / math.sqrt(self.key.out_features)


@families.swapped_query_key(_first, SCORES)
class _SwappedQueryKey(Head):
    def weights(self, x: Tensor) -> Tensor:
        scores = self.key(x) @ self.query(x).transpose(1, 2) / self.scale(x)
        return scores.masked_fill(self.hidden(x.shape[1]), -torch.inf).softmax(dim=-1)


@families.softmax_over_queries(_first, SCORES)
class _SoftmaxOverQueries(Head):
    def weights(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.scale(x)
        return scores.masked_fill(self.hidden(x.shape[1]), -torch.inf).softmax(dim=1)


@mistake(
    "The scores are divided by D, not by its root.",
    _sizes,
    SCALE,
)
class _ScaleWithoutRoot(Head):
    def scale(self, x: Tensor) -> float:  # noqa: ARG002
        return float(self.key.out_features)


@mistake(
    "Your scores are multiplied by √D; they are divided by it.",
    lambda e: unwrapped(f"""{_sizes(e)} What `F.scaled_dot_product_attention` takes as `scale` is a
    factor: 1 / √D."""),
    SCALE,
)
class _ScaleMultiplied(Head):
    def scale(self, x: Tensor) -> float:
        return 1 / super().scale(x)


@mistake(
    "You divided the scores by the root of a number of positions; a score is a sum of D products.",
    lambda e: f"T = {e.number('T')}, block_size = {e.number('block_size')}, {_sizes(e)}",
    SCALE,
    also=(_ScaleByBlockSize,),
)
class _ScaleByLength(Head):
    def scale(self, x: Tensor) -> float:
        return math.sqrt(x.shape[1])


@mistake(
    "Your weights are the scores themselves; the softmax is missing.",
    lambda e: unwrapped(f"""Scores may be negative and of any sum; only a softmax makes an average
    of them. {_first(e)}"""),
    SCORES,
)
class _NoSoftmax(Head):
    def weights(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.scale(x)
        return scores.masked_fill(self.hidden(x.shape[1]), 0.0)


@mistake(
    "You averaged the keys; what is passed on is the values.",
    lambda e: unwrapped(f"""The output has {e.yours("both_ways").shape[-1]} features, as many as a
    key; with values it has E = {e.number("E")}."""),
    PASSED,
)
class _KeysForValues(Head):
    def forward(self, x: Tensor) -> Tensor:
        return self.weights(x) @ self.key(x)


@mistake(
    "Your scores compare queries with queries, or keys with keys; a query meets keys.",
    _first,
    SCORES,
    also=(_KeysOnly,),
)
class _QueriesOnly(Head):
    def weights(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.query(x).transpose(1, 2) / self.scale(x)
        return scores.masked_fill(self.hidden(x.shape[1]), -torch.inf).softmax(dim=-1)


@mistake(
    "The weights are turned over before they meet the values.",
    lambda e: unwrapped(f"""{_first(e)} Row t of the weights belongs to output t: `weights @ value`,
    with nothing transposed."""),
    PASSED,
)
class _WeightsTransposed(Head):
    def forward(self, x: Tensor) -> Tensor:
        return self.weights(x).transpose(1, 2) @ self.value(x)


@mistake(
    "You averaged the inputs, not their values.",
    lambda e: unwrapped(f"""The output has {e.yours("both_ways").shape[-1]} features, as many as the
    input; with values it has E = {e.number("E")}."""),
    PASSED,
)
class _RawValues(Head):
    def forward(self, x: Tensor) -> Tensor:
        return self.weights(x) @ x


@mistake(
    "You return the values themselves; the weights are not used.",
    lambda e: f"No position hears of any other. {_first(e)}",
    PASSED,
    cases=("both_ways", "causal"),
)
class _ValuesNotAveraged(Head):
    def forward(self, x: Tensor) -> Tensor:
        return self.value(x)


@mistake(
    "Batch and time are exchanged: texts look at each other.",
    lambda e: unwrapped(f"""With B = {e.number("B")} and T = {e.number("T")}, each position averages
    the {e.number("B")} samples at its own place. {_first(e)}"""),
    SCORES,
)
class _AttendsAcrossBatch(Head):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.transpose(0, 1)).transpose(0, 1)


@mistake(
    "`causal` means the opposite in your head.",
    lambda e: f"{_moved(e)} With `causal=False` nothing does.",
    FUTURE,
    cases=("causal", "both_ways"),
)
class _FlagTurned(Head):
    def hidden(self, T: int) -> Tensor:
        return ~self.past[:T, :T] & (not self.causal)


@families.no_causal_mask(_moved, FUTURE, cases=("causal", "full", "both_ways"))
class _NoCausalMask(Head):
    def hidden(self, T: int) -> Tensor:
        return torch.zeros(T, T, dtype=torch.bool)


@mistake(
    "You cut the mask at its lower left corner; a shorter text has the upper left one.",
    _moved,
    FUTURE,
    cases=("causal", "both_ways"),
)
class _WrongCorner(Head):
    def hidden(self, T: int) -> Tensor:
        return ~self.past[-T:, :T] & self.causal


@mistake(
    "Your head never looks ahead, although `causal=False` allows it.",
    _first,
    FUTURE,
    cases=("causal", "both_ways"),
)
class _AlwaysCausal(Head):
    def hidden(self, T: int) -> Tensor:
        return ~self.past[:T, :T]


@mistake(
    "Looking both ways you average two answers, one of the past and one of what follows; it is one "
    "softmax over the whole text.",
    lambda e: f"The weights of past and future compete in one row. {_first(e)}",
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


@mistake(
    "Your mask is the wrong way round: the past is hidden and the future seen.",
    lambda e: _first(e, "causal"),
    FUTURE,
    cases=("causal",),
    also=(_PastAndItselfHidden,),
)
class _UpperTriangle(Head):
    def hidden(self, T: int) -> Tensor:
        return torch.ones(T, T, dtype=torch.bool).tril(-1) & self.causal


@mistake(
    "With `causal=False` your head sees the position itself and what follows, and not the past.",
    lambda e: f"Looking both ways, each position sees the whole text. {_first(e)}",
    FUTURE,
    cases=("causal", "both_ways"),
)
class _FutureIfNotCausal(Head):
    def hidden(self, T: int) -> Tensor:
        past = self.past[:T, :T]
        return ~past if self.causal else ~past.T


class _PresentHidden(Head):
    """Nothing is left for position 0 to see; its NaN are made 0, or left."""

    nan_is_zero = True

    def hidden(self, T: int) -> Tensor:
        return torch.ones(T, T, dtype=torch.bool).triu() & self.causal

    def weights(self, x: Tensor) -> Tensor:
        weights = super().weights(x)
        return weights.nan_to_num(0.0) if self.nan_is_zero else weights


class _PresentHiddenAndNaN(_PresentHidden):
    nan_is_zero = False


@mistake(
    "With `causal=True` positions do not see themselves.",
    lambda e: unwrapped(f"""{_first(e, "causal")} Position t sees 0 to t. A triangle of what is
    hidden begins above the diagonal: `triu` keeps the diagonal unless you give it
    `diagonal=1`."""),
    FUTURE,
    cases=("both_ways", "causal"),
    also=(_PresentHidden, _PresentHiddenAndNaN),
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
    "With `causal=True` each position sees the next one, too.",
    lambda e: f"{_first(e, 'causal')} What is hidden begins right of the diagonal.",
    FUTURE,
    cases=("both_ways", "causal"),
)
class _SeesOneAhead(Head):
    def hidden(self, T: int) -> Tensor:
        return torch.ones(T, T, dtype=torch.bool).triu(2) & self.causal


@families.zero_mask(_moved, FUTURE, cases=("causal",))
class _ZeroMask(Head):
    def weights(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.scale(x)
        return scores.masked_fill(self.hidden(x.shape[1]), 0.0).softmax(dim=-1)


@mistake(
    "What you hide gets a score that is low, but not lower than every score.",
    _low,
    FUTURE,
    recognized=_leaks_beside_a_low_score,
)
class _ModerateFill(Head):
    def weights(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(1, 2) / self.scale(x)
        return scores.masked_fill(self.hidden(x.shape[1]), -20.0).softmax(dim=-1)


@mistake(
    "Your head keeps something of the first text that it reads, and the next text meets it.",
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
    "Your heads share what each should have of its own: a second one changes the first.",
    lambda e: unwrapped(f"""A head with `causal=True` was right, and then another one was made, with
    `causal=False`. {_first(e, "beside")} What is assigned to the class, as in `Head.causal = …`,
    belongs to all heads; assign it to `self`."""),
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


def _worked_out(evidence: Evidence) -> Finding | None:
    """One row of weights, from its scores to what it finds."""
    case = "both_ways" if not evidence.same("both_ways") else "causal"
    mine, right = evidence.yours(case), evidence.right(case)
    if mine.shape != right.shape or evidence.same(case):
        return None
    b, t = (int(i) for i in np.argwhere(~close(mine, right))[0][:2])
    x = evidence.inputs["x"][b].astype(np.float64)  # (T, C)
    query, key = (evidence.inputs[f"{name}.weight"] for name in ("query", "key"))
    seen = x[: t + 1] if case == "causal" else x
    scores = seen @ key.T @ (query @ x[t]) / math.sqrt(len(key))
    powers = np.exp(scores - scores.max())
    return Finding(
        "another-average",
        "Your outputs are not the right averages of the values.",
        f"With `causal={case == 'causal'}`, position {t} of sample {b} has the scores "
        f"{row(scores)}, so its weights are {row(powers / powers.sum())}. Its output begins with "
        f"{row(right[b, t, :3])}; yours begins with {row(mine[b, t, :3])}.",
        SCORES,
    )


def _right_at_some_positions(evidence: Evidence) -> Finding | None:
    """One row worked out, where the outputs of other positions are right."""
    for case in ("both_ways", "causal"):
        good = close(evidence.yours(case), evidence.right(case)).all(axis=(0, 2))
        if good.any() and not good.all():
            found = _worked_out(evidence)
            return found and replace(found, name="some-positions")
    return None


TASK = Task(
    "A head that can look both ways",
    Head,
    MODULE,
    (
        Part(
            "Looking both ways, each output is the right average of the values.",
            2,
            matches("both_ways"),
        ),
        Part("With `causal=True` nothing comes from the future.", 1, matches("causal", "later")),
        Part(
            "Texts of any length up to block_size work, one after the other.",
            1,
            matches("causal", "full", "again", "beside"),
        ),
    ),
    properties=(
        unchanged_by_the_future("causal", "later", "t", FUTURE),
        _right_at_some_positions,
    ),
    cases=("both_ways",),
    examples=(_worked_out,),
)
