"""Judges 11/previous-head: the weights of a head that looks one position back."""

from __future__ import annotations

import itertools
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
from course_judges.wording import listed, number, row, unwrapped
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
    mine, right = (side("head.weights")[0] for side in (evidence.yours, evidence.right))
    off = abs(mine - right).max(-1)  # (T,)
    t = int(len(off) - 1 - off[::-1].round(6).argmax())
    strength = f"with strength {float(evidence.inputs['strength']):g} on position {t - 1} "
    return unwrapped(f"""The weights of position {t} are {row(mine[t])}, but {strength if t else ""}
    they should be {row(right[t])}.""")


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

_scaled_by_D = mistake(
    "In query and key together, you multiplied by D, but the scores are divided by √D.", _row
)(
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


def _score_of_the_one_before(evidence: Evidence, case: str) -> float | None:
    """What t gives t − 1, if it gives nothing to others and the same to each."""
    mine, right = evidence.yours(f"{case}.scores"), evidence.right(f"{case}.scores")
    if mine.shape != right.shape or len(mine) < 2:
        return None
    score = float(mine[1, 0])
    strength = float(evidence.inputs["strength"])
    return score if close(mine, right * score / strength).all() else None


def _factors(V: int, T: int) -> dict[str, float]:
    """What strength may have been multiplied by, as it is written behind it."""
    lengths = {"max(V, T)": max(V, T), "T": T, "V": V, "(V + T)": V + T, "C": V + T + V}
    made: dict[str, float] = {}
    for name, length in lengths.items():
        made |= {
            f" / √{name}": length**-0.5,
            f" · √{name}": length**0.5,
            f" / {name}": 1 / length,
            f" · {name}": float(length),
        }
    for name, other in itertools.permutations(lengths, 2):
        made[f" · √{name} / √{other}"] = (lengths[name] / lengths[other]) ** 0.5
    return made


def _undone(evidence: Evidence, scores: dict[str, float]) -> str:
    """How the scores of one or both cases come from strength, in words."""
    strength, V, T = float(evidence.inputs["strength"]), evidence.number("V"), evidence.number("T")
    times = {case: score / strength for case, score in scores.items()}
    if all(abs(score - 1) < 1e-3 for score in scores.values()):
        return " Your score is always 1, as if strength weren't used."
    if all(abs(one - strength) < 1e-3 for one in times.values()):
        return " That is strength squared, as if both query and key contained it."
    known = {"head": _factors(V, T), "wide": _factors(T, V)}
    for name in known["head"]:
        if all(abs(one - known[case][name]) < 1e-3 for case, one in times.items()):
            return f" That is strength{name}."
    one = times.get("head", next(iter(times.values())))
    return f" That is {number(one)} times strength."


def _another_score(evidence: Evidence) -> Finding | None:
    """Positions look one back and nowhere else, but with another score than `strength`."""
    strength, score = float(evidence.inputs["strength"]), _score_of_the_one_before(evidence, "head")
    if score is None or abs(score - strength) < 1e-3:
        return None
    wide = _score_of_the_one_before(evidence, "wide")
    scores = {"head": score} if wide is None else {"head": score, "wide": wide}
    return Finding(
        "another-score",
        "Your scores are in the right places, but the score of t for t − 1 isn't `strength`.",
        f"After the division by √D, the score is {number(score)} instead of "
        f"{number(strength)}.{_undone(evidence, scores)} Query and key together have to make up "
        f"for the division by √D, where D is the number of rows of your query. {_row(evidence)}",
        BUILD,
    )


def _right_for_few_tokens(evidence: Evidence) -> Finding | None:
    """Another score than `strength`, but only if there are more tokens than positions."""
    if not evidence.same("head.weights", "head.scores") or evidence.same("wide.scores"):
        return None
    score, few = _score_of_the_one_before(evidence, "wide"), evidence.number("V")
    if score is None:
        return None
    strength = float(evidence.inputs["strength"])
    return Finding(
        "another-score",
        "If there are more tokens than positions, your score of t for t − 1 isn't `strength`.",
        f"With V = {evidence.number('T')}, T = {few} and strength {number(strength)}, the score of "
        f"t for t − 1 is {number(score)} after the division by √D."
        f"{_undone(evidence, {'wide': score, 'head': strength})} With V = {few} and "
        f"T = {evidence.number('T')}, it is {number(strength)}, as it should be. D is the number "
        "of rows of your query. Does your factor use that D, or the number of positions?",
        BUILD,
    )


def _misplaced(evidence: Evidence) -> Finding | None:
    """The right weights, but the wrong numbers written."""
    if not evidence.same("head.weights") or evidence.same("head.written"):
        return None
    right = evidence.right("head.written")
    mine, V = evidence.shaped("head.written", right.shape), evidence.number("V")
    elsewhere, there = abs(mine[..., :-V]).max() > 1e-4, abs(mine[..., -V:]).max() > 1e-4
    what = "Your head looks where it should, but it doesn't write the right numbers."
    if not elsewhere and not there:
        what = "Your head looks where it should, but it writes only zeros."
    elif not there:
        what = "Your head looks where it should, but it writes nothing into the last V channels."
    elif elsewhere and close(mine[..., -V:], right[..., -V:]).all():
        what = "Your head writes the right token, but not only into the last V channels."
    return Finding(
        "written-differs",
        what,
        f"{_copied(evidence)}{_written(evidence)} {farthest(evidence, 'head.written')}",
        BUILD,
    )


def _copied(evidence: Evidence) -> str:
    """What becomes of each token, if the head writes into the last V channels."""
    V = evidence.number("V")
    right = evidence.right("head.written")[..., -V:].reshape(-1, V)
    mine = evidence.shaped("head.written", evidence.right("head.written").shape)
    made = mine[..., -V:].reshape(-1, V)
    # Row i: what is written for a position that looks at token i alone.
    table, _, rank, _ = np.linalg.lstsq(right, made, rcond=None)
    if rank < V or not np.allclose(right @ table, made, atol=1e-4) or not table.any():
        return ""
    if np.allclose(table, table[0, 0] * np.eye(V), atol=1e-4) and V > 1:
        times = float(table[0, 0])
        return (
            ""
            if abs(times - 1) < 1e-3
            else (f"You write the token with factor {number(times)} instead of 1. ")
        )
    lost = [i for i in range(V) if not abs(table[i]).max() > 1e-4]
    if lost:
        which = f"token {lost[0]} doesn't" if len(lost) == 1 else f"tokens {listed(lost)} don't"
        return f"Of {V} tokens, {which} arrive in the last V channels at all. "
    off = abs(table - np.eye(V)).max(-1) > 1e-4
    if not off.any():
        return ""
    i = int(off.argmax())
    return f"For token {i}, it writes {row(table[i])}, which should be {row(np.eye(V)[i])}. "


def _depends_on_tokens(evidence: Evidence) -> str:
    """What differs between texts, although only positions matter; empty if nothing does."""
    mine = evidence.shaped("head.weights", evidence.right("head.weights").shape)
    off = np.argwhere(~close(mine, np.broadcast_to(mine[:1], mine.shape)))
    if not len(off):
        return ""
    text, t, _ = (int(i) for i in off[0])
    V, T = evidence.number("V"), evidence.number("T")
    return (
        f"The weights of position {t} are {row(mine[0, t])} in text 0, but {row(mine[text, t])} in "
        f"text {text}. Channels 0 to {V - 1} of the stream are the token, and channels {V} to "
        f"{V + T - 1} the position. Query and key should read only the position."
    )


def _other_scores(evidence: Evidence) -> Finding | None:
    """Wrong scores: where they are, and the first of them."""
    mine, right = (side("head.scores") for side in (evidence.yours, evidence.right))
    wrong = np.argwhere(abs(mine - right) > 1e-4)
    if evidence.same("head.weights") or not len(wrong):
        return None
    of_tokens = _depends_on_tokens(evidence)
    if of_tokens:
        said = "Where your head looks depends on the tokens, but only positions should matter."
        return Finding("other-scores", said, of_tokens, BUILD)
    T = len(mine)
    visible = np.tril(abs(mine) > 1e-4)
    lost = [t for t in range(1, T) if not visible[t].any()]
    places = [sorted({t - s for s in range(t + 1) if visible[t, s]}) for t in range(T)]
    back = sorted({k for some in places for k in some})
    alike = all(some == [k for k in back if k <= t] for t, some in enumerate(places))
    said = "Some of your scores are wrong."
    if 0 < len(lost) < T - 1:
        which = f"Position {lost[0]} gives" if len(lost) == 1 else f"Positions {listed(lost)} give"
        said = f"{which} no position a score, but each should give one to the position before."
    elif alike and back and back != [1]:
        also = [_back(k) for k in back if k != 1]
        some = f"{', '.join(also[:3])}{', …' if len(also) > 3 else ''}"
        said = (
            f"Position t gives a score not only to t − 1, but also to {some}."
            if 1 in back
            else f"Position t gives a score to {some} instead of t − 1."
        )
    t, s = (int(i) for i in wrong[0])
    return Finding(
        "other-scores",
        said,
        f"After the division by √D and before the mask, position {t} gives position {s} the "
        f"score {number(float(mine[t, s]))} instead of {number(float(right[t, s]))}. "
        f"In all, {len(wrong)} of {mine.size} scores {'is' if len(wrong) == 1 else 'are'} wrong. "
        f"{_row(evidence)}",
        BUILD,
    )


def _back(k: int) -> str:
    return f"t − {k}" if k else "t itself"


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
            "Each position looks one back, as sharply as asked.",
            2,
            matches("head.weights", "head.scores", "wide.scores"),
        ),
        Part(
            "It writes the token found there.",
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
