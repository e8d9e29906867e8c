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
    # Column t of the query is what position t looks for: the key of position t − back.
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
    return unwrapped(f"""The weights of position {t} are {row(mine)}, but with strength
    {float(evidence.inputs["strength"]):g} on position {t - 1} they should be {row(right)}.""")


def _written(evidence: Evidence) -> str:
    V, T = evidence.number("V"), evidence.number("T")
    mine = abs(evidence.yours("head.written")).max(axis=(0, 1))
    names = ("token", "position", "previous token")
    cuts = (slice(0, V), slice(V, V + T), slice(V + T, None))
    parts = [
        f"{mine[cut].max():.2f} into the {name}" for name, cut in zip(names, cuts, strict=True)
    ]
    return f"The largest numbers that it writes are {', '.join(parts)}."


_PATTERN = ("head.weights",)

_no_scale = mistake(
    "Your matrices don't make up for the division of the scores by √D.",
    lambda e: unwrapped(f"""{_row(e)} Multiply the query or the key by √D, where D is the number of
    rows of your query."""),
)(lambda V, T, strength: _made(V, T, strength, gain=lambda T, V: 1.0))  # noqa: ARG005

_scale_by_channels = mistake(
    "You made up for a division by √C, but the scores are divided by √D.",
    lambda e: f"{_row(e)} D is the number of rows of your query.",
)(lambda V, T, strength: _made(V, T, strength, gain=lambda T, V: math.sqrt(V + T + V)))

_scaled_by_D = mistake("You multiplied by D, but the scores are divided by √D.", _row)(
    lambda V, T, strength: _made(V, T, strength, gain=lambda T, V: float(T))  # noqa: ARG005
)

_looks_at_itself = mistake(
    "Your head lets every position look at itself instead of one position back.",
    lambda e: f"The query of a position asks for the key of the same position. {_row(e)}",
)(lambda V, T, strength: _made(V, T, strength, back=0))

_two_back = mistake("Your head looks two positions back instead of one.", _row)(
    lambda V, T, strength: _made(V, T, strength, back=2)
)

_last_looks_nowhere = mistake(
    "Your last position doesn't look back, because all of its scores are equal.",
    lambda e: f"{_row(e)} Positions go from 0 to T − 1. Does a loop or a shift end one too early?",
)(lambda V, T, strength: _made(V, T, strength, last=False))


def _asks_for_the_next(evidence: Evidence) -> bool:
    """True if position t has a score for t + 1 and for no other. The weights can't tell that from
    scores that are all 0.
    """
    scores = evidence.shaped("head.scores", evidence.right("head.scores").shape)
    ahead = np.eye(len(scores), k=1, dtype=bool)
    return bool(ahead.any() and ((abs(scores) > 1e-6) == ahead).all())


_looks_ahead = mistake(
    "Your head lets position t look for position t + 1 instead of t − 1.",
    lambda e: unwrapped(f"""{_row(e)} The future is masked, so no position finds what it looks for.
    Did you swap query and key, or shift one of them the wrong way?"""),
    recognized=_asks_for_the_next,
)(lambda V, T, strength: _made(V, T, strength, back=-1))

_reads_positions = mistake(
    "Your value reads the position instead of the token.",
    lambda e: f"The weights are right, but not what is written. {farthest(e, 'head.written')}",
    cases=("head",),
)(lambda V, T, strength: _made(V, T, strength, reads="positions"))

_as_wide_as_the_positions = mistake(
    "If there are more tokens than positions, your head doesn't copy all tokens.",
    lambda e: unwrapped(f"""With {e.number("T")} tokens and {e.number("V")} positions, it copies
    only {e.number("V")} of the tokens. Is your D the number of positions? You may choose D, but it
    has to be large enough for both. {farthest(e, "wide.written")}"""),
    cases=("head", "wide"),
)(lambda V, T, strength: _made(V, T, strength, copies=min(V, T)))

_writes_over_the_token = mistake(
    "Your head writes into the channels of the token itself.",
    lambda e: unwrapped(f"""{_written(e)} There, the previous token is added to the position's own
    token, so later layers can't tell the two apart."""),
    cases=("head",),
)(lambda V, T, strength: _made(V, T, strength, writes="tokens"))


def _another_score(evidence: Evidence) -> Finding | None:
    """Positions look one back and nowhere else, but with another score than `strength`."""
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
        undone = " That is strength squared, as if both query and key contained it."
    return Finding(
        "another-score",
        "Your scores are in the right places, but the score of t for t − 1 isn't `strength`.",
        f"After the division by √D, the score is {number(score)} instead of "
        f"{number(strength)}.{undone} Query and key together have to make up for the division "
        f"by √D, where D is the number of rows of your query. {_row(evidence)}",
        BUILD,
    )


def _right_for_few_tokens(evidence: Evidence) -> Finding | None:
    """Another score than `strength`, but only if there are more tokens than positions."""
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
        "If there are more tokens than positions, your score of t for t − 1 isn't `strength`.",
        f"With V = {evidence.number('T')}, T = {few} and strength {number(strength)}, the score of "
        f"t for t − 1 is {number(score)} after the division by √D. With V = {few} and "
        f"T = {evidence.number('T')}, it is {number(strength)}, as it should be. D is the number "
        "of rows of your query. Does your factor use that D, or the number of positions?",
        BUILD,
    )


def _misplaced(evidence: Evidence) -> Finding | None:
    """The right weights, but the wrong numbers written."""
    if not evidence.same("head.weights") or evidence.same("head.written"):
        return None
    return Finding(
        "written-differs",
        "Your head looks where it should, but it doesn't write the right numbers.",
        f"{_written(evidence)} {farthest(evidence, 'head.written')}",
        BUILD,
    )


def _other_scores(evidence: Evidence) -> Finding | None:
    """The first wrong score before the mask."""
    mine, right = (side("head.scores") for side in (evidence.yours, evidence.right))
    wrong = np.argwhere(abs(mine - right) > 1e-4)
    if evidence.same("head.weights") or not len(wrong):
        return None
    t, s = (int(i) for i in wrong[0])
    return Finding(
        "other-scores",
        "Some of your scores are wrong.",
        f"After the division by √D and before the mask, position {t} gives position {s} the "
        f"score {number(float(mine[t, s]))} instead of {number(float(right[t, s]))}. "
        f"In all, {len(wrong)} of {mine.size} scores are wrong. {_row(evidence)}",
        BUILD,
    )


def _hidden_scores(evidence: Evidence) -> Finding | None:
    """The right weights, but only because the mask hides wrong scores."""
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
        "Your weights are right, but only because the mask hides a wrong score."
        if s > t
        else "Your weights are right, but only because position 0 can't see anything but itself.",
        f"Position {t} gives position {s} the score {number(float(mine[t, s]))} instead of "
        f"{number(float(right[t, s]))}. Position t should give a score only to position t − 1, and "
        "position 0 to none.",
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
