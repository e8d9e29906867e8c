"""Judges 12/sink: a streamed softmax with a share that goes nowhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from course_judges.attention_weights import weights_on
from course_judges.ch12_faster.numbers import farthest, row_of_weights
from course_judges.ch12_faster.sections import STREAM
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, numbers_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.ch12_faster.sink import edges
from course_tasks.verdict import Finding

Chunks: TypeAlias = Iterable[tuple[Tensor, Tensor]]
Start: TypeAlias = Callable[[Tensor], Tensor]

# How far weights that are read off may be from the right ones, in proportion.
_NEAR = 1e-2


def sink_average(chunks: Chunks, sink: Tensor) -> Tensor:
    """A right answer to 12/sink: chunks of (T, S) scores and (S, D) values, (T,) → (T, D)."""
    largest = sink[:, None]  # the largest so far (T, 1)
    total = torch.ones_like(sink)[:, None]  # the sum so far (T, 1)
    weighted = torch.zeros(1)  # the weighted values so far
    for scores, values in chunks:
        here = scores.amax(dim=-1, keepdim=True)  # the largest scores of a chunk (T, 1)
        new = torch.maximum(largest, here)  # the new largest (T, 1)
        shrink = (largest - new).exp()  # the correction (T, 1)
        powers = (scores - new).exp()  # the powers (T, S)
        total = total * shrink + powers.sum(dim=-1, keepdim=True)  # the new sum (T, 1)
        weighted = weighted * shrink + powers @ values  # the new weighted values (T, D)
        largest = new  # the update of the largest
    return weighted / total  # your output (T, D)


def _gentle(evidence: Evidence) -> str:
    return farthest(evidence, "gentle")


def _steep(evidence: Evidence) -> str:
    return farthest(evidence, "steep")


def _low(evidence: Evidence) -> str:
    low = number(evidence.inputs["low"][0].max(), 4)
    return f"In one case the largest score of row 0 is {low}. {farthest(evidence, 'low')}"


def _tops(evidence: Evidence) -> str:
    tops = evidence.inputs["low"].max(axis=1)
    return f"{number(tops.max(), 4)} and {number(tops.min(), 4)}"


def _collected(
    sink_term: Callable[[Tensor, Tensor], Tensor], *, above_the_sink: bool = False
) -> Callable[[Chunks, Tensor], Tensor]:
    """All chunks at once, relative to the largest score of each row, or to its sink if that is
    larger. `sink_term` makes the sink's term from the sink and what is subtracted.
    """

    def answer(chunks: Chunks, sink: Tensor) -> Tensor:
        scores, values = zip(*chunks, strict=True)
        z = torch.cat(scores, dim=1)
        m = z.amax(dim=-1, keepdim=True)
        if above_the_sink:
            m = torch.maximum(m, sink[:, None])
        e = (z - m).exp()
        term = sink_term(sink[:, None], m)
        return e @ torch.cat(values) / (e.sum(dim=-1, keepdim=True) + term)

    return answer


_sink_forgotten = mistake(
    "Your sink has no share, so the weights of the values sum to 1.",
    lambda e: (
        unwrapped(f"""The sum that they are divided by has to include e to the sink. It is lost if
    you never add it, if you normalize the weights of the values again, or if you add the sink to
    each score, where it cancels. {_gentle(e)}""")
    ),
    cases=("gentle",),
)(_collected(lambda sink, _: torch.zeros_like(sink)))

_sink_is_a_constant = mistake(
    "You added 1 to the sum, whatever the sink is, instead of e to the sink.",
    lambda e: (
        unwrapped(f"""In a sum relative to a maximum m, the sink's term is e^(b − m), so 1 is right
    only if m is the sink itself. {_gentle(e)}""")
    ),
    cases=("gentle",),
    also=(
        _collected(lambda _, m: (-m).exp()),
        _collected(lambda sink, m: (torch.maximum(m, sink) - m).exp()),
    ),
)(_collected(lambda sink, _: torch.ones_like(sink)))

_sink_not_relative = mistake(
    "Your sum is relative to a maximum m, but the sink's term in it isn't e^(b − m).",
    lambda e: (
        unwrapped(f"""All terms of a sum have to be relative to the same m. Next to e^(z − m), a
    term e^b is e^m times as large as it should be. If m starts as the sink itself, its term is 1.
    {_gentle(e)}""")
    ),
    cases=("gentle",),
    also=(
        _collected(lambda sink, m: (2 * sink - m).exp()),
        _collected(lambda sink, _: sink.exp(), above_the_sink=True),
    ),
)(_collected(lambda sink, _: sink.exp()))


def _sink_again(first: float) -> Callable[[Chunks, Tensor], Tensor]:
    """The sum starts with 0 or with the sink's term, and each chunk adds that term again."""

    def answer(chunks: Chunks, sink: Tensor) -> Tensor:
        m, total, weighted = sink[:, None], torch.full_like(sink[:, None], first), torch.zeros(1)
        for scores, values in chunks:
            new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
            shrink, e = (m - new).exp(), (scores - new).exp()
            total = total * shrink + e.sum(dim=-1, keepdim=True) + (sink[:, None] - new).exp()
            weighted = weighted * shrink + e @ values
            m = new
        return weighted / total

    return answer


_sink_in_every_chunk = mistake(
    "You add the sink to the sum in every chunk, but it belongs there only once.",
    lambda e: f"Then the share that goes nowhere grows with the number of chunks. {_gentle(e)}",
    cases=("gentle",),
    also=(_sink_again(1.0),),
)(_sink_again(0.0))


@mistake(
    "You added the sink itself to the sum, but it is a logit, so e to the sink belongs there.",
    _gentle,
    cases=("gentle",),
    also=(_collected(lambda sink, _: sink),),
)
def _sink_not_exponentiated(chunks: Chunks, sink: Tensor) -> Tensor:
    scores, values = zip(*chunks, strict=True)
    e = torch.cat(scores, dim=1).exp()
    return e @ torch.cat(values) / (e.sum(dim=-1, keepdim=True) + sink[:, None])


_not_divided = mistake(
    "You return the running weighted sum without dividing it by the running sum.",
    _gentle,
    cases=("gentle",),
)(Like("left-out-the-new-sum"))


@mistake(
    "You divide by the running sum in the loop instead of once, after all chunks.",
    lambda e: (
        unwrapped(f"""Then what comes from the first chunk is divided again with every chunk that
    follows, but what comes from the last one only once. {_gentle(e)}""")
    ),
    cases=("gentle",),
)
def _divided_in_the_loop(chunks: Chunks, sink: Tensor) -> Tensor:
    m, total, found = sink[:, None], torch.ones_like(sink)[:, None], torch.zeros(1)
    for scores, values in chunks:
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True)
        found = (found * shrink + e @ values) / total
        m = new
    return found


def _limited(most: float) -> Callable[[Chunks, Tensor], Tensor]:
    def answer(chunks: Chunks, sink: Tensor) -> Tensor:
        total, weighted = sink.clamp(-most, most).exp()[:, None], torch.zeros(1)
        for scores, values in chunks:
            e = scores.clamp(-most, most).exp()
            total = total + e.sum(dim=-1, keepdim=True)
            weighted = weighted + e @ values
        return weighted / total

    return answer


_scores_limited = mistake(
    "You clamp the scores to keep e to them finite, so all scores beyond the limit become equal.",
    lambda e: f"Subtract the largest one instead, which changes no weight. {_steep(e)}",
    cases=("gentle", "steep"),
    also=tuple(_limited(most) for most in (30.0, 50.0, 60.0, 85.0, 88.0)),
)(_limited(80.0))


@mistake(
    "You use one maximum for all rows, so a row far below it becomes 0 / 0.",
    lambda e: (
        f"Each row needs its own, because the largest scores of two rows are {_tops(e)}. {_low(e)}"
    ),
    cases=("gentle", "low"),
)
def _one_maximum_for_all_rows(chunks: Chunks, sink: Tensor) -> Tensor:
    m = sink.max()
    total, weighted = (sink[:, None] - m).exp(), torch.zeros(1)
    for scores, values in chunks:
        new = torch.maximum(m, scores.max())
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True)
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / total


@mistake(
    "You multiply a chunk's own terms by e^(old − new), too, but they use the new maximum already.",
    _gentle,
    cases=("gentle",),
)
def _new_terms_shrink_too(chunks: Chunks, sink: Tensor) -> Tensor:
    m, total, weighted = sink[:, None], torch.ones_like(sink)[:, None], torch.zeros(1)
    for scores, values in chunks:
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = (total + e.sum(dim=-1, keepdim=True)) * shrink
        weighted = (weighted + e @ values) * shrink
        m = new
    return weighted / total


@mistake(
    "You took the softmax of each chunk and averaged the results.",
    lambda e: f"A chunk with larger scores has to count for more. {_gentle(e)}",
    cases=("gentle",),
    also=(lambda chunks, _: torch.stack([z.softmax(dim=-1) @ v for z, v in chunks]).mean(dim=0),),
)
def _chunks_averaged(chunks: Chunks, sink: Tensor) -> Tensor:
    means = [sink_average([chunk], sink) for chunk in chunks]
    return torch.stack(means).mean(dim=0)


def _variant(
    *,
    largest: Start = lambda sink: sink,
    total_of: Start = torch.ones_like,
    total_shrinks: bool = True,
    weighted_shrinks: bool = True,
    inverse: bool = False,
    new_shrinks: bool = False,
    running: bool = True,
    divides: bool = True,
    late: bool = False,
    keeps: bool = True,
    own: bool = False,
) -> Callable[[Chunks, Tensor], Tensor]:
    """A stream that starts or updates its running maximum and sums in some other way."""

    def answer(chunks: Chunks, sink: Tensor) -> Tensor:
        m = largest(sink)[:, None]  # (T, 1)
        total, weighted = total_of(sink)[:, None], torch.zeros(1)
        for scores, values in chunks:
            here = scores.amax(dim=-1, keepdim=True)
            new = torch.maximum(m, here) if running else here
            shrink, e = (m - new).exp(), (scores - (m if late else here if own else new)).exp()
            if inverse:
                shrink = 1 / shrink
            if new_shrinks:
                e = e * shrink
            total = total * (shrink if total_shrinks else 1) + e.sum(dim=-1, keepdim=True)
            weighted = weighted * (shrink if weighted_shrinks else 1) + e @ values
            m = new if keeps else m
        return weighted / total if divides else weighted

    return answer


@mistake("Your result depends only on the last chunk.", _gentle, cases=("gentle", "steep"))
def _last_chunk_alone(chunks: Chunks, sink: Tensor) -> Tensor:
    *_, last = chunks
    return _variant()([last], sink)


def _row_of_nan(evidence: Evidence) -> str:
    t = int(np.isnan(evidence.yours("hidden")).any(axis=1).argmax())
    return unwrapped(f"""This happens in row {t}. The largest score of such a chunk is −∞, and
    −∞ − (−∞) is NaN. So the maximum that you subtract has to be finite, as the sink is.""")


_hidden_scores_are_zeros = mistake(
    "A hidden score of −∞ counts as 0 in your answer, so it gets a weight of its own.",
    lambda e: f"e to −∞ is 0, and e⁰ is 1. {farthest(e, 'hidden')}",
    cases=("hidden",),
)(lambda chunks, sink: sink_average([(z.nan_to_num(neginf=0.0), v) for z, v in chunks], sink))


def _sink_with_a_value(evidence: Evidence) -> Finding | None:
    """If each row is off by its sink's share times one number, as if the sink had that value."""
    scores, sink = (evidence.inputs[name].astype(float) for name in ("gentle", "sink"))
    own = np.exp(sink)
    share = own / (own + np.exp(scores).sum(axis=1))
    gap = evidence.yours("gentle") - evidence.right("gentle").astype(float)
    value = float((gap * share[:, None]).sum() / (len(gap[0]) * (share**2).sum()))
    if evidence.same("gentle") or not close(gap, value * share[:, None]).all():
        return None
    return Finding(
        "sink-with-a-value",
        f"Your outputs are right but for the sink's share times {number(value)}.",
        "The sink has no value, so nothing should be added for its share, and nothing subtracted. "
        f"{_gentle(evidence)}",
        STREAM,
    )


def _other_sums(evidence: Evidence) -> Finding | None:
    """If each row is the right one times a factor: which sum it seems to be divided by."""
    mine, right = evidence.yours("gentle").astype(float), evidence.right("gentle").astype(float)
    factors = (mine * right).sum(axis=1) / (right * right).sum(axis=1)
    made = factors[:, None] * right
    if close(mine, right).all() or not close(mine, made).all() or not factors.all():
        return None
    t = int(abs(np.log(abs(factors))).argmax())
    terms = float(np.exp(evidence.inputs["gentle"][t].astype(float)).sum())
    own = float(np.exp(evidence.inputs["sink"][t]))
    # As many decimals as the smaller one needs, so that the two add up as shown.
    places = max(2, 2 - math.floor(math.log10(min(terms, own))))
    terms, own = round(terms, places), round(own, places)
    made = (terms + own) / float(factors[t])
    return Finding(
        "other-sums",
        "Your weights have the right proportions, but you divide them by the wrong sum.",
        f"In row {t}, e to the scores adds up to {terms:.{places}f} and e to the sink is "
        f"{own:.{places}f}, so the sum is {terms + own:.{places}f}. You seem to divide by "
        f"{numbers_apart(made, terms + own)[0]}. Check the sink's term and the running sum.",
        STREAM,
    )


def _solved(evidence: Evidence) -> tuple[Array, Array] | None:
    """The weights (T, S) with which your rows add up the values in a case, and the right ones; None
    if there are none.
    """
    values, found = evidence.inputs["values"], []
    for side in (evidence.yours, evidence.right):
        weights = [weights_on(values, row) for row in side("gentle")]
        known = [one for one in weights if one is not None]
        if len(known) < len(weights):
            return None
        found.append(np.array(known))
    return found[0], found[1]


def _of_scores(places: Iterable[int]) -> str:
    places = list(places)
    return f"score {places[0]}" if len(places) == 1 else f"scores {listed(places)}"


def _alike(values: Array) -> bool:
    """True if all rows of (T, n) hold one number each."""
    return bool(np.allclose(values, values[:, :1], rtol=_NEAR, atol=_NEAR))


def _of_weights(mine: Array, right: Array) -> str:
    """What the weights (T, S) of scores near 0 have in common; empty if nothing is known."""
    ratio, S = mine / right, mine.shape[1]
    none = (abs(ratio) < _NEAR).all(axis=0)
    if none.any() and not none.all() and _alike(ratio[:, ~none]):
        unread = np.flatnonzero(none).tolist()
        of = [i for i, (start, end) in enumerate(edges(S)) if list(range(start, end)) == unread]
        which = f", all of chunk {of[0]}" if of else ""
        return (
            f"You give no weight to {_of_scores(unread)}{which}. The weights of the others have "
            "the right proportions."
        )
    if mine.all() and all(_alike(ratio[:, start:end]) for start, end in edges(S)):
        return _of_chunks(ratio, S)
    return ""


def _of_chunks(ratio: Array, S: int) -> str:
    """A sentence on chunks that count for more or less than they should, (T, S)."""
    starts = [start for start, _ in edges(S)]
    of_chunks = ratio[:, starts] / ratio[:, starts[-1:]]
    t = int(abs(np.log(np.maximum(abs(of_chunks), 1e-9))).max(axis=1).argmax())
    told = ", ".join(number(float(one)) for one in of_chunks[t])
    return unwrapped(f"""Within a chunk, weights have the right proportions, but chunks don't count
    alike: in row {t} they count {told} times as much as the last one, in this order. So the terms
    of your chunks aren't relative to the same maximum when you add them up.""")


def _other_weights(evidence: Evidence) -> Finding | None:
    """What the weights of scores near 0 have in common, if they can be solved for."""
    mine, right = evidence.yours("gentle"), evidence.right("gentle")
    if mine.shape != right.shape or close(mine, right).all() or not np.isfinite(mine).all():
        return None
    solved = _solved(evidence)
    if solved is None:
        return None
    said = _of_weights(*solved)
    t = int(abs(solved[0] - solved[1]).sum(axis=1).argmax())
    yours, wanted = (row_of_weights(side[t]) for side in solved)
    return Finding(
        "other-weights",
        "Your weights aren't those of a softmax over the scores and the sink.",
        f"{said} The weights of row {t} are {yours} instead of {wanted}.".strip(),
        STREAM,
    )


def _only_large_scores(evidence: Evidence) -> bool:
    return evidence.same("gentle") and bool(_far(evidence))


def _far(evidence: Evidence) -> list[str]:
    """The cases with scores far from 0 in which some results aren't finite."""
    cases = ("steep", "low", "hidden")
    return [name for name in cases if not np.isfinite(evidence.yours(name)).all()]


def _row_far(evidence: Evidence) -> str:
    name = _far(evidence)[0]
    t = int((~np.isfinite(evidence.yours(name))).any(axis=1).argmax())
    if name == "hidden":
        return _row_of_nan(evidence)
    top, sink = float(evidence.inputs[name][t].max()), float(evidence.inputs[f"{name}_sink"][t])
    return unwrapped(f"""This happens in row {t}, whose largest score is {number(top, 4)} and whose
    sink is {number(sink, 4)}. Either e to something above 88 overflows, or all terms become 0, and
    0 / 0 is NaN. Neither happens if you always subtract the largest score of that row so far, its
    sink included.""")


@mistake(
    lambda e: (
        "If a chunk holds only −∞ for a row, your output is NaN."
        if _far(e)[0] == "hidden"
        else "Your answer is right for scores near 0, but for scores far from 0 it gives NaN or "
        "infinity."
    ),
    _row_far,
    recognized=_only_large_scores,
)
def _far_from_0(chunks: Chunks, sink: Tensor) -> Tensor:
    total, weighted = sink.exp()[:, None], torch.zeros(1)
    for scores, values in chunks:
        total = total + scores.exp().sum(dim=-1, keepdim=True)
        weighted = weighted + scores.exp() @ values
    return weighted / total


TASK = Task(
    "A share that goes nowhere",
    sink_average,
    STREAM,
    (
        Part("The sink and the values have their shares.", 2, matches("gentle")),
        Part("Scores of up to 300 and below −400 do no harm.", 2, matches("steep", "low")),
        Part("Where all is hidden, nothing is NaN.", 2, matches("hidden")),
    ),
    properties=(_other_sums, _sink_with_a_value, _other_weights),
    steps={
        "the largest so far": Step("The sink counts like a score, so it may be the largest."),
        "the sum so far": Step("Relative to itself, the sink adds e⁰ = 1."),
        "the weighted values so far": Step("The sink has no value, so it adds nothing here."),
        "the largest scores of a chunk": Step("Each row has a largest score of its own."),
        "the new largest": Step("What is subtracted has to be the largest of all that was seen."),
        "the correction": Step(
            "What was summed relative to the old largest has to shrink to the new one."
        ),
        "the powers": Step("Relative to the largest, no power is above 1."),
        "the new sum": Step("Both sums shrink before a chunk is added."),
        "the new weighted values": Step("Both sums shrink before a chunk is added."),
        "the update of the largest": Step(
            "The sums are now relative to the new largest, so the next chunk has to start from it."
        ),
        "your output": Step(
            "The sum includes the sink, so the weights of the values sum to less than 1."
        ),
    },
)
