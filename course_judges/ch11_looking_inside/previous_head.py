"""Judges 11/previous-head: the weights of a head that looks one position back."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch11_looking_inside.sections import BUILD
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import no_weight_on_the_future
from course_judges.quoting import farthest
from course_judges.wording import listed, number, row, unwrapped
from course_tasks.verdict import Finding

Made = dict[str, Tensor]


def previous_token_head(V: int, T: int, strength: float) -> Made:
    """A right answer to 11/previous-head."""
    C, D = V + T + V, max(V, T)
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    asks = torch.eye(T).roll(-1, dims=0)  # what positions look for: column t holds t − 1 (T, T)
    asks[-1, 0] = 0.0  # the empty query of position 0
    factor = strength * math.sqrt(D)  # the factor of your query
    query[:T, V : V + T] = asks * factor  # your query
    key[:T, V : V + T] = torch.eye(T)  # your key
    value[:V, :V] = torch.eye(V)  # your value
    output[V + T :, :V] = torch.eye(V)  # your output
    return {"query": query, "key": key, "value": value, "output": output}


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


def _with_score(times: Callable[[int, int], float]) -> Callable[..., Made]:
    """A head that gives t − 1 another score than `strength`."""
    return lambda V, T, strength: previous_token_head(V, T, strength * times(V, T))


_no_scale = mistake(
    "Your matrices don't make up for the division of the scores by √D.",
    lambda e: unwrapped(f"""{_row(e)} Multiply the query or the key by √D, where D is the number of
    rows of your query."""),
    also=(_with_score(lambda V, T: (V + T) ** -0.5),),
)(Like("left-out-the-factor-root-of-D-in-the-factor-of-your-query"))

_scale_by_channels = mistake(
    "You made up for a division by √C, but the scores are divided by √D.",
    lambda e: f"{_row(e)} D is the number of rows of your query.",
)(Like("used-C-instead-of-D-in-the-factor-of-your-query"))

_scale_by_positions = mistake(
    "You made up for a division by √T, but the scores are divided by √D.",
    lambda e: unwrapped(f"""D is the number of rows of your query, which isn't T here.
    {farthest(e, "wide.scores")}"""),
    cases=("head", "wide"),
    also=(_with_score(lambda V, T: math.sqrt(T / (V + T))),),
)(Like("used-T-instead-of-D-in-the-factor-of-your-query"))

_scaled_by_D = mistake(
    "In query and key together, you multiplied by D, but the scores are divided by √D.", _row
)(Like("left-out-the-root-of-D-in-the-factor-of-your-query"))

_strength_twice = mistake(
    "Query and key together contain `strength` twice, so the score is its square.", _row
)(lambda V, T, strength: previous_token_head(V, T, strength**2))

_looks_at_itself = mistake(
    "Your head lets every position look at itself instead of one position back.",
    lambda e: f"The query of a position asks for the key of the same position. {_row(e)}",
)(Like("left-out-roll-in-what-positions-look-for"))


@mistake(
    "Your last position doesn't look back, because all of its scores are equal.",
    lambda e: f"{_row(e)} Positions go from 0 to T − 1. Does a loop or a shift end one too early?",
)
def _last_looks_nowhere(V: int, T: int, strength: float) -> Made:
    made = previous_token_head(V, T, strength)
    made["query"][:, V + T - 1] = 0.0
    return made


def _asks_for_the_next(evidence: Evidence) -> bool:
    """True if position t has a score for t + 1 and for no other. The weights can't tell that from
    scores that are all 0.
    """
    scores = evidence.shaped("head.scores", evidence.right("head.scores").shape)
    ahead = np.eye(len(scores), k=1, dtype=bool)
    return bool(ahead.any() and ((abs(scores) > 1e-6) == ahead).all())


@mistake(
    "Your head lets position t look for position t + 1 instead of t − 1.",
    lambda e: unwrapped(f"""{_row(e)} The future is masked, so no position finds what it looks for.
    Did you swap query and key, or shift one of them the wrong way?"""),
    recognized=_asks_for_the_next,
)
def _looks_ahead(V: int, T: int, strength: float) -> Made:
    made = previous_token_head(V, T, strength)
    return {**made, "query": made["key"], "key": made["query"]}


@mistake(
    "If there are more tokens than positions, your head doesn't copy all tokens.",
    lambda e: unwrapped(f"""With {e.number("T")} tokens and {e.number("V")} positions, it copies
    only {e.number("V")} of the tokens. Is your D the number of positions? You may choose D, but it
    has to be large enough for both. {farthest(e, "wide.written")}"""),
    cases=("head", "wide"),
)
def _as_wide_as_the_positions(V: int, T: int, strength: float) -> Made:
    made = previous_token_head(V, T, strength)
    made["value"][T:] = 0.0
    return made


@mistake(
    "Your head writes into the channels of the token itself.",
    lambda e: unwrapped(f"""{_written(e)} There, the previous token is added to the position's own
    token, so later layers can't tell the two apart."""),
    cases=("head",),
)
def _writes_over_the_token(V: int, T: int, strength: float) -> Made:
    made = previous_token_head(V, T, strength)
    return {**made, "output": made["output"].roll(-(V + T), dims=0)}


def _score_of_the_one_before(evidence: Evidence) -> float | None:
    """What t gives t − 1, if it gives nothing to others and the same to each."""
    mine, right = evidence.yours("head.scores"), evidence.right("head.scores")
    score = float(mine[1, 0])
    strength = float(evidence.inputs["strength"])
    return score if close(mine, right * score / strength).all() else None


def _another_score(evidence: Evidence) -> Finding | None:
    """Positions look one back and nowhere else, but with another score than `strength`."""
    strength, score = float(evidence.inputs["strength"]), _score_of_the_one_before(evidence)
    if score is None or abs(score - strength) < 1e-3:
        return None
    return Finding(
        "another-score",
        "Your scores are in the right places, but the score of t for t − 1 isn't `strength`.",
        f"After the division by √D, the score is {number(score)} instead of {number(strength)}. "
        "Query and key together have to make up for the division by √D, where D is the number of "
        f"rows of your query. {_row(evidence)}",
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
        f"{_written(evidence)} {farthest(evidence, 'head.written')}",
        BUILD,
    )


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
        _misplaced,
        _hidden_scores,
        no_weight_on_the_future("head.weights", BUILD),
        _other_scores,
    ),
    cases=_PATTERN,
    steps={
        "what positions look for": Step("Position t looks for position t − 1."),
        "the empty query of position 0": Step(
            "No position comes before position 0, so it has a score of 0 with every position."
        ),
        "the factor of your query": Step(
            "The scores are divided by √D, and D is the number of rows of your query."
        ),
        "your query": Step("The query of a position asks for the key of the position before it."),
        "your key": Step("The key of a position says which position it is."),
        "your value": Step("The value reads the token and nothing else, with a factor of 1."),
        "your output": Step("The output writes each token into its own of the last V channels."),
    },
)
