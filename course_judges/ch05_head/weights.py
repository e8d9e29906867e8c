"""Judges 05/weights: causal weights of texts that begin at different positions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.attention_weights import Weights, rows_beside
from course_judges.ch05_head import wording
from course_judges.ch05_head.sections import FUTURE
from course_judges.ch05_head.shapes_that_meet import do_not_fit
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import NEGLIGIBLE, no_weight_on_the_future, rows_sum_to_one
from course_judges.wording import listed, number, row, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def _visible(past: Tensor, start: Tensor, T: int) -> Tensor:
    real = torch.arange(T) >= start[:, None]  # (B, T)
    return past[:T, :T] & real[:, None, :]  # (T, T) & (B, 1, T) → (B, T, T)


def causal_weights(scores: Tensor, past: Tensor, start: Tensor) -> Tensor:
    """A right answer to 05/weights: (B, T, T), (block_size, block_size), (B,) → (B, T, T)."""
    T = scores.shape[-1]  # T
    real = torch.arange(T) >= start[:, None]  # the mask against padding (B, T)
    visible = past[:T, :T] & real[:, None, :]  # the mask (T, T) & (B, 1, T) → (B, T, T)
    masked = scores.masked_fill(~visible, -torch.inf)  # the masked scores (B, T, T)
    weights = masked.softmax(dim=-1)  # the softmax (B, T, T)
    return weights.nan_to_num(0.0)  # your weights: a row of padding sees nothing


_Mask = Callable[[Tensor, Tensor, int], Tensor]


def _seen_by(mask: _Mask) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """An answer that is right except for what may be seen: (past, start, T) → (B, T, T)."""

    def answer(scores: Tensor, past: Tensor, start: Tensor) -> Tensor:
        visible = mask(past, start, scores.shape[-1]).expand(scores.shape)
        return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1).nan_to_num(0.0)

    return answer


def _real(evidence: Evidence) -> Array:
    """(B, T) True where a position belongs to the text, False where it is padding."""
    T = evidence.number("T")
    return np.arange(T) >= evidence.inputs["start"][:, None]


def _real_rows_right(evidence: Evidence) -> bool:
    if not evidence.comparable("padded"):
        return False
    rows = _real(evidence)
    mine, right = evidence.yours("padded")[rows], evidence.right("padded")[rows]
    return bool(np.allclose(mine, right, rtol=1e-4, atol=1e-5))


def _hides_too_little(evidence: Evidence) -> bool:
    """Right, except when scores are so low that what is hidden outweighs them."""
    return _fails_when_low(evidence) and not _complete_rows_off(evidence)


def _fails_when_low(evidence: Evidence) -> bool:
    return evidence.same("whole", "cut", "padded") and not evidence.same("low")


def _complete_rows_off(evidence: Evidence) -> bool:
    """True if the last row of a text without padding is wrong, where nothing is hidden."""
    complete = evidence.inputs["rolled"] == 0
    mine, right = evidence.yours("low")[complete, -1], evidence.right("low")[complete, -1]
    return not np.allclose(mine, right, rtol=1e-4, atol=1e-5)


def _low_row(evidence: Evidence) -> str:
    b = int(np.argmin(evidence.inputs["rolled"]))  # without padding
    mine, right = evidence.yours("low")[b, 1], evidence.right("low")[b, 1]
    given = evidence.inputs["low"][b, 1]
    return unwrapped(f"""In row 1 of sample {b}, the scores that may be seen are {row(given[:2])}.
    Your row is {row(mine)}, but it should be {row(right)}.""")


def _strict(evidence: Evidence) -> bool:
    """True if the weights leave out the diagonal, whatever the empty rows hold."""
    mask = _seen_by(lambda past, start, T: _visible(past, start, T).tril(-1))
    given = (torch.from_numpy(evidence.inputs[name]) for name in ("scores", "whole", "none"))
    wrong = mask(*given).numpy()[:, 1:]
    return bool(np.allclose(evidence.yours("whole")[:, 1:], wrong, rtol=1e-4, atol=1e-5))


def _unpadded_row(evidence: Evidence, t: int = 1) -> str:
    mine, right = evidence.yours("whole")[0, t], evidence.right("whole")[0, t]
    one, other = rows_beside(mine, right)
    return f"Row {t} of sample 0 is {one}, but it should be {other}."


def _padded(evidence: Evidence) -> tuple[int, int]:
    """A sample with padding, and where its text begins."""
    b = int(np.argmax(evidence.inputs["start"]))
    return b, int(evidence.inputs["start"][b])


def _padded_row(evidence: Evidence) -> str:
    b, first = _padded(evidence)
    t = min(first + 1, evidence.number("T") - 1)
    mine, right = evidence.yours("padded")[b, t], evidence.right("padded")[b, t]
    one, other = rows_beside(mine, right)
    return unwrapped(f"""Text {b} begins at position {first}. Its row {t} is {one}, but it should be
    {other}.""")


def _sum_of_padded_row(evidence: Evidence) -> float:
    b, first = _padded(evidence)
    return float(evidence.yours("padded")[b, min(first + 1, evidence.number("T") - 1)].sum())


def _cut_late(scores: Tensor, past: Tensor, start: Tensor, *, rows: bool) -> Tensor:
    """Causal weights with the padding cut out of them, as columns and perhaps as rows."""
    T = scores.shape[-1]
    real = torch.arange(T) >= start[:, None]
    weights = scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-1) * real[:, None]
    return weights * real[:, :, None] if rows else weights


def _empty_row(evidence: Evidence) -> str:
    b, first = _padded(evidence)
    return unwrapped(f"""Text {b} begins at position {first}, so rows 0 to {first - 1} are padding.
    Your row 0 is {row(evidence.yours("padded")[b, 0])}, but it should be all 0.""")


def _seen(evidence: Evidence, case: str) -> tuple[Array, Array]:
    """(B, T, T) The scores of a case, and what may be seen in it."""
    names = {"whole": ("scores", "none"), "cut": ("scores", "none"), "low": ("low", "rolled")}
    scores, start = names.get(case, ("scores", "start"))
    T = evidence.number("T")
    past = torch.from_numpy(evidence.inputs["past"])
    seen = _visible(past, torch.from_numpy(evidence.inputs[start]), T)
    return evidence.inputs[scores], seen.numpy()


def _first_wrong(evidence: Evidence) -> tuple[str, Weights] | None:
    """The first wrong case in words, and its weights."""
    case = next(one for one in ("whole", "cut", "padded", "low") if not evidence.same(one))
    if not evidence.comparable(case):
        return None
    scores, seen = _seen(evidence, case)
    mine = np.nan_to_num(evidence.yours(case).astype(float))
    words = {
        "padded": f"`start` is [{listed(evidence.inputs['start'])}].",
        "low": f"`start` is [{listed(evidence.inputs['rolled'])}], and visible scores are low.",
    }.get(case, "No text has padding here.")
    return words, Weights(mine, scores, seen, {})


def _shown_by_the_weights(evidence: Evidence) -> Finding | None:
    """What the weights are a softmax of, and over which positions."""
    words, weights = _first_wrong(evidence) or ("", None)
    if weights is None:
        return None
    told = weights.described() if evidence.number("B") == 1 else weights.told()
    return told and Finding("other-weights", told[0], f"{told[1]} {words}", FUTURE)


def _worked_out(evidence: Evidence) -> Finding | None:
    """A row of the weights beside the right one."""
    words, weights = _first_wrong(evidence) or ("", None)
    if weights is None:
        return None
    what, effect = weights.described()
    return Finding("other-weights", what, f"{effect} {words}", FUTURE)


def _weight_on_padding(evidence: Evidence) -> Finding | None:
    mine = np.where(_real(evidence)[:, None, :], 0, np.abs(evidence.yours("padded")))
    seen = np.argwhere(mine > NEGLIGIBLE)
    if not len(seen):
        return None
    b, t, s = (int(i) for i in seen[0])
    return Finding(
        "sees-padding",
        "You give weight to padding.",
        f"Text {b} begins at position {int(evidence.inputs['start'][b])}, but your row {t} gives "
        f"position {s} a weight of {number(mine[b, t, s])}.",
        FUTURE,
    )


def _padding_off_by(evidence: Evidence, steps: int) -> bool:
    """True if texts begin so many positions later (or earlier) than they should."""
    given = [torch.from_numpy(evidence.inputs[name]) for name in ("scores", "past", "start")]
    wrong = causal_weights(given[0], given[1], given[2] + steps).numpy()
    rows = _real(evidence) & (wrong.sum(-1) > 0)
    mine = np.nan_to_num(evidence.yours("padded"))
    if not rows.any():  # a text of one symbol: it is hidden, and so it is in texts without padding
        return not evidence.same("whole") and bool(np.abs(mine[_real(evidence)]).max() < NEGLIGIBLE)
    return bool(np.allclose(mine[rows], wrong[rows], rtol=1e-4, atol=1e-5))


@mistake(
    "Your mask doesn't fit a text that is shorter than the triangle.",
    lambda e: unwrapped(f"""It works with T = block_size, but for T = {e.number("T")} the triangle
    of {e.number("block_size")} rows and columns is too large. Use its upper left corner,
    `past[:T, :T]`."""),
    recognized=lambda e: e.same("whole") and do_not_fit(e, "cut", "T", "block_size"),
)
def _mask_not_cut(scores: Tensor, past: Tensor, start: Tensor) -> Tensor:
    visible = past & (torch.arange(len(past)) >= start[:, None])[:, None, :]
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


@mistake(
    wording.START_DOES_NOT_FIT,
    lambda e: unwrapped(f"""There are B = {e.number("B")} texts of T = {e.number("T")} positions,
    and a dimension of {e.number("B")} met one of {e.number("T")}. To compare it with
    `torch.arange(T)`, make `start` a column, `start[:, None]`. The result (B, T) is about columns,
    so it meets a (T, T) triangle as (B, 1, T), `[:, None, :]`."""),
    recognized=lambda e: do_not_fit(e, "whole", "B", "T"),
)
def _start_along_the_positions(scores: Tensor, past: Tensor, start: Tensor) -> Tensor:
    T = scores.shape[-1]
    visible = past[:T, :T] & (torch.arange(T) >= start)
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


_wrong_corner = mistake(
    "You took the wrong corner of the triangle.",
    lambda e: unwrapped(f"""With T = {e.number("T")} and block_size = {e.number("block_size")}, row
    0 of sample 0 is {row(e.yours("cut")[0, 0])}, so it sees positions that come later."""),
    cases=("cut",),
)(_seen_by(lambda past, start, T: past[-T:, :T] & _visible(past, start, T)[:, -1:]))

_or_for_and = mistake(
    "You let a position be seen if one of the two conditions holds, but both have to.",
    lambda e: unwrapped(f"""Without padding every position is real, and with `|` that is enough to
    be seen. {_unpadded_row(e, 0)} A position may be seen if it isn't padding and (`&`) isn't in the
    future."""),
    cases=("whole", "cut", "padded"),
)(Like("used-or-instead-of-and-in-the-mask"))


def _without_a_future(evidence: Evidence) -> str:
    """Where to look if nothing of the future is hidden, by what padding gets."""
    b, first = _padded(evidence)
    if not evidence.comparable("padded"):
        return "If you did call `masked_fill`, keep what it returns."
    if (evidence.yours("padded")[b, first:, :first] > NEGLIGIBLE).any():
        return unwrapped("""Symbols see padding, too. If you did call `masked_fill`, keep what it
        returns. To be hidden, one of the two is enough, future or padding, so join these with `|`,
        not with `&`.""")
    return "Padding is hidden, so check how `past` enters your mask."


_no_causal_mask = mistake(
    "Without padding you hide nothing, so every position sees the whole text, future included.",
    lambda e: f"{_unpadded_row(e, 0)} {_without_a_future(e)}",
    cases=("whole", "cut"),
)(Like("left-out-past-in-the-mask"))


@mistake(
    "You returned scores, with hidden ones set to another number, but the softmax is missing.",
    _unpadded_row,
    also=(
        lambda scores, past, start: scores.masked_fill(
            ~_visible(past, start, scores.shape[-1]), -torch.inf
        ),
    ),
)
def _scores_not_weights(scores: Tensor, past: Tensor, start: Tensor) -> Tensor:
    return scores.masked_fill(~_visible(past, start, scores.shape[-1]), 0.0)


_inverted_mask = mistake(
    "Your mask is inverted: it hides the past.",
    lambda e: f"{_unpadded_row(e, 0)} `past` is True where a position may be seen.",
    recognized=lambda e: bool(
        np.abs(np.nan_to_num(np.tril(e.yours("whole")[:, :-1], -1))).max() < NEGLIGIBLE
        and np.allclose(e.yours("whole")[:, :-2].sum(axis=-1), 1, atol=1e-4)
        and np.triu(e.yours("whole"), 1)[:, 0].sum() > 0.05
    ),
)(_seen_by(lambda past, start, T: ~past[:T, :T] & (start[:, None, None] > -1)))

_turned_over = mistake(
    "Your weights are transposed: rows and columns are swapped.",
    lambda e: unwrapped(f"""{_unpadded_row(e)} Row t should hold the weights of position t, so
    nothing has to be transposed."""),
    also=(lambda s, past, start: causal_weights(s.transpose(1, 2), past, start),),
)(Like("transposed-the-softmax"))

_diagonal_excluded = mistake(wording.ITSELF_HIDDEN, _unpadded_row, recognized=_strict)(
    _seen_by(lambda past, start, T: _visible(past, start, T).tril(-1))
)


_zero_mask = families.zero_mask(_unpadded_row)(
    Like("filled-with-0-instead-of-minus-infinity-in-the-masked-scores")
)


def _hidden_zero(evidence: Evidence) -> str:
    _, t, s = (int(i) for i in np.argwhere(np.tril(evidence.inputs["scores"] == 0.0))[0])
    return unwrapped(f"""In sample 0, row {t} has a score of 0 for position {s}. Your weight there
    is {number(evidence.yours("whole")[0, t, s])} instead of
    {number(evidence.right("whole")[0, t, s])}.""")


@families.zeros_hidden(_hidden_zero)
def _zeros_hidden(scores: Tensor, past: Tensor, start: Tensor) -> Tensor:
    seen = scores * _visible(past, start, scores.shape[-1])
    return seen.masked_fill(seen == 0, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


@families.masked_after_softmax(
    lambda e: f"{_unpadded_row(e)} Yours sums to {number(e.yours('whole')[0, 1].sum())}."
)
def _masked_after_softmax(scores: Tensor, past: Tensor, start: Tensor) -> Tensor:
    return scores.softmax(dim=-1) * _visible(past, start, scores.shape[-1])


_softmax_over_queries = families.softmax_over_queries(
    lambda e: unwrapped(f"""In sample 0, column 0 sums to
    {number(e.yours("whole")[0, :, 0].sum())} and row 1 to
    {number(e.yours("whole")[0, 1].sum())}.""")
)(Like("used-axis-minus-2-instead-of-axis-minus-1-for-the-softmax"))


_padding_cut_after_softmax = mistake(
    "You cut the padding out after the softmax, so rows of symbols don't sum to 1.",
    lambda e: unwrapped(f"""{_padded_row(e)} Your row sums to {number(_sum_of_padded_row(e))},
    because the share of what you cut is missing. Hide padding before the softmax, as you hide the
    future."""),
    cases=("whole", "cut", "padded"),
    also=(lambda scores, past, start: _cut_late(scores, past, start, rows=False),),
)(lambda scores, past, start: _cut_late(scores, past, start, rows=True))

_rows_hidden_not_columns = mistake(
    "You emptied the rows of padding, but its columns can still be seen.",
    _padded_row,
    cases=("padded",),
)(_seen_by(lambda past, start, T: past[:T, :T] & (torch.arange(T) >= start[:, None])[:, :, None]))


def _begins_with_the_first(evidence: Evidence) -> bool:
    """True if rows of symbols are as if all texts began where the first one does."""
    low, past = (torch.from_numpy(evidence.inputs[name]) for name in ("low", "past"))
    first = torch.from_numpy(evidence.inputs["rolled"])[:1].expand(evidence.number("B"))
    wrong = causal_weights(low, past, first).numpy()
    rows = np.arange(evidence.number("T")) >= evidence.inputs["rolled"][:1]
    mine = np.nan_to_num(evidence.yours("low"))[:, rows]
    return evidence.same("whole", "cut") and bool(
        np.allclose(mine, wrong[:, rows], atol=1e-5)
        # There the first text has no padding, so it is also the one that begins earliest.
        and np.allclose(
            evidence.yours("padded")[_real(evidence)],
            evidence.right("cut")[_real(evidence)],
            atol=1e-5,
        )
    )


def _all_begin(evidence: Evidence) -> str:
    start = evidence.inputs["rolled"]
    b = int(np.flatnonzero(start != start[0])[0])
    t = max(int(start[0]), int(start[b]))
    mine, right = evidence.yours("low")[b, t], evidence.right("low")[b, t]
    return unwrapped(f"""With `start` = [{listed(start)}], row {t} of text {b} is {row(mine)}, but
    it should be {row(right)}. Each text has its own `start`, so it is needed as a column,
    `start[:, None]`.""")


_start_of_the_first = mistake(
    "You let all texts begin where the first one does.",
    _all_begin,
    recognized=_begins_with_the_first,
)(Like("used-the-first-item-of-the-mask-against-padding-for-all-items"))

_earliest_start_for_all = mistake(
    "You let all texts begin where the earliest one does, so the others see their padding.",
    lambda e: f"`start` is [{listed(e.inputs['start'])}]. {_padded_row(e)}",
    cases=("whole", "cut", "padded", "low"),
)(_seen_by(lambda past, start, T: _visible(past, start.min().expand_as(start), T)))

_padding_seen = mistake(
    "You let texts see their padding, as if all of them began where the earliest does.",
    _padded_row,
    recognized=lambda e: bool(
        np.allclose(e.yours("padded")[_real(e)], e.right("cut")[_real(e)], atol=1e-5)
    ),
)(Like("left-out-arange-in-the-mask-against-padding"))


def _padding_behind(*, rows: bool) -> _Mask:
    """What is seen if padding is taken to be at the end, in columns and perhaps in rows."""

    def mask(past: Tensor, start: Tensor, T: int) -> Tensor:
        real = torch.arange(T) < T - start[:, None]  # (B, T)
        seen = past[:T, :T] & real[:, None, :]
        return seen & real[:, :, None] if rows else seen

    return mask


_padding_at_the_end = mistake(
    "You hid the last positions of each text, but its padding comes first.",
    lambda e: f"{_padded_row(e)} Padding is what comes before `start`.",
    cases=("whole", "cut", "padded"),
    also=(_seen_by(_padding_behind(rows=True)),),
)(Like("reversed-the-mask-against-padding-along-the-last-axis"))


def _text_by_text(*, rows: bool, columns: bool, written: bool) -> Callable[..., Tensor]:
    """Weights made of a square of each text's scores. Its rows and columns, and the square that
    they are written to, begin where the text does, or at position 0.
    """

    def answer(scores: Tensor, past: Tensor, start: Tensor) -> Tensor:
        weights = torch.zeros_like(scores)
        for b, s in enumerate(start.tolist()):
            n = scores.shape[-1] - s
            own = scores[b].narrow(0, s * rows, n).narrow(1, s * columns, n)
            own = own.masked_fill(~past[:n, :n], -torch.inf).softmax(dim=-1)
            weights[b].narrow(0, s * written, n).narrow(1, s * written, n).copy_(own)
        return weights

    return answer


def _own_rows_and_columns(evidence: Evidence) -> str:
    _, first = _padded(evidence)
    return unwrapped(f"""{_padded_row(evidence)} Both in the scores and in the weights, its rows and
    columns are {first} to {evidence.number("T") - 1}.""")


_scores_of_other_positions = mistake(
    "You computed the weights of each text from scores of other positions.",
    _own_rows_and_columns,
    cases=("whole", "cut", "padded"),
    also=(
        _text_by_text(rows=True, columns=False, written=True),
        _text_by_text(rows=False, columns=True, written=True),
    ),
)(_text_by_text(rows=False, columns=False, written=True))

_texts_moved_to_the_front = mistake(
    "You put the weights of each text at the front, where its padding is.",
    _own_rows_and_columns,
    cases=("whole", "cut", "padded"),
)(_text_by_text(rows=True, columns=True, written=False))

_start_taken_for_length = mistake(
    "You hid the text and kept its padding.",
    lambda e: f"{_padded_row(e)} Padding comes before `start`, and the text begins there.",
    recognized=lambda e: (
        e.same("padded") is False
        and bool(
            np.abs(np.where(_real(e)[:, None, :], np.nan_to_num(e.yours("padded")), 0)).max()
            < NEGLIGIBLE
        )
        and bool(np.nan_to_num(e.yours("padded")).sum() > 0.5)
    ),
)(Like("negated-the-mask-against-padding"))


def _one_after_the_other(scores: Tensor, past: Tensor, start: Tensor) -> Tensor:
    """Weights with one triangle for all texts, in which the padding of each text stays hidden."""
    seen = _visible(past, start.cummax(dim=0).values, scores.shape[-1])
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


def _hidden_by_earlier(evidence: Evidence) -> str:
    start = evidence.inputs["start"]
    before = np.maximum.accumulate(start)
    b = int(np.flatnonzero(before != start)[-1])
    other, t = int(np.argmax(start[:b])), int(before[b])
    return unwrapped(f"""Text {other} begins at position {before[b]} and text {b}, which comes later
    in the batch, at {start[b]}. Still, your row {t} of text {b} is
    {row(np.nan_to_num(evidence.yours("padded"))[b, t])} instead of
    {row(evidence.right("padded")[b, t])}. If you change a mask in a loop over the texts, make a new
    one for each of them.""")


_padding_adds_up = mistake(
    "In your answer, a text also hides the padding of the texts before it in the batch.",
    _hidden_by_earlier,
    cases=("whole", "cut", "padded"),
)(_one_after_the_other)

_starts_in_the_longest_text = mistake(
    "You compare `start` with other columns than those of the text.",
    lambda e: unwrapped(f"""{_padded_row(e)} The text has T = {e.number("T")} positions and the
    triangle block_size = {e.number("block_size")}. You look for padding in the last T of block_size
    columns, so it seems to end {e.number("block_size") - e.number("T")} positions earlier. Compare
    `start` with `torch.arange(T)`."""),
    cases=("whole", "cut", "padded"),
)(
    _seen_by(
        lambda past, start, T: (
            past[:T, :T] & (torch.arange(len(past)) >= start[:, None])[:, None, -T:]
        )
    )
)

_start_counted_from_the_end = mistake(
    "You take `start` for the number of symbols, as if text b were the last `start[b]` positions.",
    lambda e: unwrapped(f"""{_padded_row(e)} A text without padding has `start[b]` = 0, and you see
    nothing of it: {_unpadded_row(e)}"""),
    cases=("whole", "cut", "padded"),
)(_seen_by(lambda past, start, T: past[:T, :T] & (torch.arange(T) >= T - start[:, None])[:, None]))

_all_weights_zero = mistake(
    "All your weights are 0.",
    lambda e: unwrapped(f"""{_unpadded_row(e)} If `nan_to_num` makes 0 of NaN, all your rows are NaN
    before. A mask of zeros and ones times −inf does that, since 0 · ∞ is NaN, and so does a mask
    that hides everything, such as `~` of whole numbers, which is never 0. Use a mask of bools and
    `masked_fill(hidden, -torch.inf)`."""),
    cases=("whole", "cut", "padded", "low"),
)(lambda scores, past, start: torch.zeros_like(scores))  # noqa: ARG005


_last_padding_seen = mistake(
    "You hid one position too few: the padding just before each text is seen.",
    _padded_row,
    recognized=lambda e: _padding_off_by(e, -1),
)(_seen_by(lambda past, start, T: _visible(past, start - 1, T)))


_nan_rows = mistake(
    "Your rows of padding are NaN.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("padded")).sum())} of your
    {e.yours("padded").size} weights are NaN. A row of padding sees nothing, and a softmax over
    nothing but −inf is 0 / 0, like a division by a sum of 0. One NaN spoils every sum that it
    enters, including gradients, so put 0 there."""),
    recognized=lambda e: _real_rows_right(e) and bool(np.isnan(e.yours("padded")).any()),
)(Like("left-out-nan-to-num-in-your-weights"))


_padding_rows_look = mistake(
    "Your rows of padding hold weights, but they should be 0.",
    lambda e: (
        f"{_empty_row(e)} A softmax over equal scores gives a mean, even if all of them are −1e9."
        if np.allclose(e.yours("padded")[_padded(e)[0], 0], 1 / e.number("T"), atol=NEGLIGIBLE)
        else _empty_row(e)
    ),
    recognized=lambda e: _real_rows_right(e) and not e.same("padded"),
)(Like("filled-with-minus-1e9-instead-of-minus-infinity-in-the-masked-scores"))


@mistake(
    wording.LOW_FILL,
    lambda e: f"{_low_row(e)} {wording.MINUS_INFINITY}",
    recognized=_hides_too_little,
)
def _moderate_fill(scores: Tensor, past: Tensor, start: Tensor) -> Tensor:
    visible = _visible(past, start, scores.shape[-1])
    weights = scores.masked_fill(~visible, -20.0).softmax(dim=-1)
    return weights * visible.any(dim=-1, keepdim=True)


@mistake(
    wording.SUMS_OF_LOW_SCORES,
    lambda e: f"{_low_row(e)} {wording.LIMITED_DIVISOR}",
    recognized=lambda e: (
        _fails_when_low(e)
        and bool((np.nan_to_num(e.yours("low")).sum(axis=-1) < 0.5).all())
        and (_complete_rows_off(e) or not (e.inputs["rolled"] == 0).any())
    ),
)
def _limited_sum(scores: Tensor, past: Tensor, start: Tensor) -> Tensor:
    powers = scores.exp() * _visible(past, start, scores.shape[-1])
    return powers / (powers.sum(dim=-1, keepdim=True) + 1e-9)


TASK = Task(
    "Weights of padded texts",
    causal_weights,
    FUTURE,
    (
        Part("Without padding, these are causal weights.", 1, matches("whole")),
        Part("A text may be shorter than the triangle.", 1, matches("cut")),
        Part("Symbols of a text see neither the future nor padding.", 1, _real_rows_right),
        Part(
            "Rows of padding are 0, and all of this holds for any scores.",
            1,
            matches("padded", "low"),
        ),
    ),
    properties=(
        _shown_by_the_weights,
        no_weight_on_the_future("cut", FUTURE),
        _weight_on_padding,
        no_weight_on_the_future("padded", FUTURE),
        rows_sum_to_one("whole", FUTURE),
    ),
    cases=("whole",),
    examples=(_worked_out,),
    steps={
        "T": Step("Scores have a row and a column for each position."),
        "the mask against padding": Step(
            "Text b begins at position `start[b]`, and what lies before is padding."
        ),
        "the mask": Step(
            "A position may be seen if it is neither in the future nor padding of its own text."
        ),
        "the masked scores": Step(wording.MINUS_INFINITY),
        "the softmax": Step("Row t holds the weights of position t, which sum to 1."),
        "your weights": Step("A row of padding sees nothing, so all its weights are 0."),
    },
)
