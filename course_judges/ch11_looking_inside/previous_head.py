"""Judges 11/previous-head: the weights of a head that looks one position back."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch11_looking_inside.sections import BUILD
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import no_weight_on_the_future
from course_judges.quoting import farthest
from course_judges.wording import number, row, unwrapped
from course_tasks.verdict import Finding

Made = dict[str, Tensor]


def _made(
    V: int,
    T: int,
    strength: float,
    *,
    back: int = 1,
    gain: Callable[[int, int], float] = lambda D, V: math.sqrt(D),  # noqa: ARG005
    reads: str = "tokens",
    writes: str = "previous",
    copies: int | None = None,
    last: bool = True,
) -> Made:
    """The head, with what can go wrong in it as settings."""
    C, D = V + T + V, max(V, T)
    slots = {"tokens": slice(0, V), "positions": slice(V, V + T), "previous": slice(V + T, C)}
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    key[:T, slots["positions"]] = torch.eye(T)
    # Column t of the query is what position t asks for: the key of position t − back.
    asks = torch.diag(torch.ones(T - abs(back)), back)
    query[:T, slots["positions"]] = asks * strength * gain(D, V)
    if not last:
        query[:, slots["positions"].stop - 1] = 0
    few = min(T, V)
    if reads == "tokens":
        value[:V, slots["tokens"]] = torch.diag((torch.arange(V) < (copies or V)).float())
    else:
        value[:few, slots["positions"]] = torch.eye(T)[:few]
    output[slots[writes], :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


def previous_token_head(V: int, T: int, strength: float) -> Made:
    """A right answer to 11/previous-head."""
    return _made(V, T, strength)


def _row(evidence: Evidence) -> str:
    t = evidence.number("T") - 1
    mine, right = (
        w[0, t] for w in (evidence.yours("head.weights"), evidence.right("head.weights"))
    )
    return unwrapped(f"""Position {t} looks with the weights {row(mine)}; with
    strength {float(evidence.inputs["strength"]):g} on position {t - 1} they are {row(right)}.""")


def _written(evidence: Evidence) -> str:
    V, T = evidence.number("V"), evidence.number("T")
    mine = abs(evidence.yours("head.written")).max(axis=(0, 1))
    names = ("token", "position", "previous token")
    cuts = (slice(0, V), slice(V, V + T), slice(V + T, None))
    parts = [f"{name} {mine[cut].max():.2f}" for name, cut in zip(names, cuts, strict=True)]
    return f"The largest number that it writes into each part of the stream: {', '.join(parts)}."


_PATTERN = ("head.weights",)

_no_scale = mistake(
    "The scores are divided by √D, and your matrices do not make up for it.",
    lambda e: f"{_row(e)} Multiply the query or the key by √D, D being the rows of your query.",
)(lambda V, T, strength: _made(V, T, strength, gain=lambda T, V: 1.0))  # noqa: ARG005

_scale_by_channels = mistake(
    "You made up for √C; the scores are divided by √D, D being the rows of your query.", _row
)(lambda V, T, strength: _made(V, T, strength, gain=lambda T, V: math.sqrt(V + T + V)))

_scaled_by_D = mistake("You multiplied by D; the scores are divided by √D.", _row)(
    lambda V, T, strength: _made(V, T, strength, gain=lambda T, V: float(T))  # noqa: ARG005
)

_looks_at_itself = mistake(
    "Every position looks at itself: query and key of a position are the same.", _row
)(lambda V, T, strength: _made(V, T, strength, back=0))

_two_back = mistake("The head looks two positions back.", _row)(
    lambda V, T, strength: _made(V, T, strength, back=2)
)

_last_looks_nowhere = mistake(
    "The last position looks back like no other: all of its scores are 0.",
    lambda e: f"{_row(e)} Positions are 0 to T − 1; does a loop or a shift end one too early?",
)(lambda V, T, strength: _made(V, T, strength, last=False))

_looks_ahead = mistake(
    "Query and key are exchanged, or shifted the wrong way: position t asks for t + 1.",
    lambda e: f"{_row(e)} What comes later is masked, so no position finds what it asks for.",
)(lambda V, T, strength: _made(V, T, strength, back=-1))

_reads_positions = mistake(
    "The value reads the position, not the token.",
    lambda e: f"The weights are right. {farthest(e, 'head.written')}",
    cases=("head",),
)(lambda V, T, strength: _made(V, T, strength, reads="positions"))

_as_wide_as_the_positions = mistake(
    "Your D is the number of positions; with more tokens than that, some are never copied.",
    lambda e: unwrapped(f"""With {e.number("T")} tokens and {e.number("V")} positions a value of
    {e.number("V")} numbers tells {e.number("V")} tokens apart. D is your choice: it has to hold
    both. {farthest(e, "wide.written")}"""),
    cases=("head", "wide"),
)(lambda V, T, strength: _made(V, T, strength, copies=min(V, T)))

_writes_over_the_token = mistake(
    "The head writes into the channels of the token itself.",
    lambda e: unwrapped(f"""{_written(e)} There it is added to the token of the position, and
    nobody can tell the two apart any more."""),
    cases=("head",),
)(lambda V, T, strength: _made(V, T, strength, writes="tokens"))


def _another_score(evidence: Evidence) -> Finding | None:
    """Positions look one back and nowhere else, with one score that is not the one asked for."""
    mine, right = evidence.yours("head.scores"), evidence.right("head.scores")
    strength, T = float(evidence.inputs["strength"]), evidence.number("T")
    if mine.shape != right.shape or T < 2:
        return None
    score = float(mine[1, 0])
    if abs(score - strength) < 1e-3 or not close(mine, right * score / strength).all():
        return None
    times = score / strength
    undone = f" That is {number(times)} times strength."
    for root, sign in ((times**-2 if score else 0.0, "/"), (times**2, "·")):
        if root > 1.5 and abs(root - round(root)) < 1e-3:
            undone = f" That is strength {sign} √{round(root)}."
    if abs(times - strength) < 1e-3:
        undone = " That is strength squared, as if query and key both held it."
    return Finding(
        "another-score",
        "Scores are where they should be, but the score of t for t − 1 is not `strength`.",
        f"After the division by √D the score is {number(score)}; strength is "
        f"{number(strength)}.{undone} Query and key together have to make up for the division "
        f"by √D, D being the rows of your query. {_row(evidence)}",
        BUILD,
    )


def _right_for_few_tokens(evidence: Evidence) -> Finding | None:
    """Another score than the one asked for, only where there are more tokens than positions."""
    if not evidence.same("head.weights", "head.scores") or evidence.same("wide.scores"):
        return None
    mine, right = evidence.yours("wide.scores"), evidence.right("wide.scores")
    strength, few = float(evidence.inputs["strength"]), evidence.number("V")
    if mine.shape != right.shape or few < 2:
        return None
    score = float(mine[1, 0])
    if not close(mine, right * score / strength).all():
        return None
    return Finding(
        "another-score",
        "With more tokens than positions, the score of t for t − 1 is not `strength`.",
        f"With V = {evidence.number('T')}, T = {few} and strength {number(strength)}, scores are "
        f"where they should be, and the score of t for t − 1 is {number(score)} after the division "
        f"by √D; with V = {few}, T = {evidence.number('T')} it is {number(strength)}. The division "
        "is by the root of D, the rows of your query: does your factor take that very D, or the "
        "number of positions, where D is larger?",
        BUILD,
    )


def _misplaced(evidence: Evidence) -> Finding | None:
    """The right weights, and something else written."""
    if not evidence.same("head.weights") or evidence.same("head.written"):
        return None
    return Finding(
        "written-differs",
        "The head looks where it should, and writes something else.",
        f"{_written(evidence)} {farthest(evidence, 'head.written')}",
        BUILD,
    )


def _other_scores(evidence: Evidence) -> Finding | None:
    """The first score before the mask that is not right."""
    mine, right = (side("head.scores") for side in (evidence.yours, evidence.right))
    wrong = np.argwhere(abs(mine - right) > 1e-4)
    if evidence.same("head.weights") or not len(wrong):
        return None
    t, s = (int(i) for i in wrong[0])
    return Finding(
        "other-scores",
        "Some of your scores are not those that were asked for.",
        f"After the division by √D, and before the mask, position {t} gives position {s} the "
        f"score {number(float(mine[t, s]))}; it should be {number(float(right[t, s]))}. So is it "
        f"with {len(wrong)} of {mine.size} scores. {_row(evidence)}",
        BUILD,
    )


def _hidden_scores(evidence: Evidence) -> Finding | None:
    """The right weights, because the mask hides scores that are not right."""
    off = [
        case
        for case in ("head", "wide")
        if evidence.same(f"{case}.weights") and not evidence.same(f"{case}.scores")
    ]
    if not off:
        return None
    mine, right = (side(f"{off[0]}.scores") for side in (evidence.yours, evidence.right))
    t, s = (int(i) for i in np.argwhere(abs(mine - right) > 1e-4)[0])
    return Finding(
        "hidden-scores",
        "Your weights are right because the mask hides a score that is not."
        if s > t
        else "Your weights are right because position 0 sees only itself, whatever its score is.",
        f"Position {t} gives position {s} the score {number(float(mine[t, s]))}; it should be "
        f"{number(float(right[t, s]))}. Only the position before t has a score, and before 0 there "
        "is none.",
        BUILD,
    )


TASK = Task(
    "A previous-token head by hand",
    previous_token_head,
    BUILD,
    (
        Part(
            "Each position looks one back, as sharply as asked, and nowhere else.",
            2,
            matches("head.weights", "head.scores", "wide.scores"),
        ),
        Part(
            "It writes the token found there, into channels of its own.",
            2,
            matches("head.weights", "head.written", "wide.weights", "wide.written"),
        ),
    ),
    properties=(
        _another_score,
        _right_for_few_tokens,
        _misplaced,
        _hidden_scores,
        no_weight_on_the_future("head.weights", BUILD),
        _other_scores,
    ),
    cases=_PATTERN,
)
