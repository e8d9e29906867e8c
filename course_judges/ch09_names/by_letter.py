"""Judges 09/by-letter: the loss at each place of a name, wherever the name is in its window."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001

from __future__ import annotations

import functools

import numpy as np
import torch
import torch.nn.functional as F

from course_judges.ch09_names.losses import in_another_unit
from course_judges.ch09_names.sections import POSITION
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import listed, number, numbers_apart, rows_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.ch09_names.by_letter import WITHOUT_A_BOUNDARY
from course_tasks.verdict import Finding

_UNKNOWN = 10_000


def loss_by_letter(logits, x, y, boundary, longest):
    """A right answer."""
    return _means(_losses(logits, y), _place(x, boundary), y >= 0, longest)


def _losses(logits, y):
    return F.cross_entropy(logits.transpose(1, 2), y, reduction="none")  # (B, T)


def _place(x, boundary):
    """(B, T): letters since the last boundary; huge before the first."""
    where = torch.arange(x.shape[1]).expand_as(x)
    last = torch.where(x == boundary, where, -_UNKNOWN).cummax(dim=1).values
    return where - last


def _means(losses, place, counts, longest):
    return torch.stack([losses[(place == k) & counts].mean() for k in range(longest)])


def _both(evidence: Evidence) -> str:
    mine, right = rows_apart(evidence.yours("losses"), evidence.right("losses"))
    return f"Your losses at places 0, 1, … are {mine}, but should be {right}."


def _boundaries(evidence: Evidence) -> str:
    count = int((evidence.inputs["x"] == evidence.number("boundary")).sum())
    return f"`x` contains {count} boundaries. {_both(evidence)}"


def _ignored(evidence: Evidence) -> str:
    return f"{int((evidence.inputs['y'] == -100).sum())} targets are −100"


def _row_before(evidence: Evidence) -> str:
    x = evidence.inputs["x"]
    first = int((x[0] == evidence.number("boundary")).argmax())
    return f"In row 0, the first boundary is at position {first}. {_both(evidence)}"


def _unknown_before(evidence: Evidence) -> str:
    return unwrapped(f"""{_row_before(evidence)} The positions before a row's first boundary have no
    place, because you can't tell which letters of their name they hold.""")


def _padded(evidence: Evidence) -> str:
    ignored, longest = evidence.inputs["y"] == -100, evidence.number("longest")
    place = _place(torch.from_numpy(evidence.inputs["x"]), evidence.number("boundary")).numpy()
    asked = int(ignored[place < longest].sum())
    return unwrapped(f"""{_ignored(evidence)}, {asked} of them at places 0 to {longest - 1}, where
    each one counts with a loss of 0. {_both(evidence)}""")


@mistake("You averaged by position in the window instead of by place in the name.", _row_before)
def _by_window_position(logits, x, y, boundary, longest):
    where = torch.arange(x.shape[1]).expand_as(x)
    return _means(_losses(logits, y), where, y >= 0, longest)


@mistake(
    "You looked for the boundary among the targets, so you count the letters one too high.",
    lambda e: f"The target where `x` is the boundary is at place 0. {_both(e)}",
)
def _counted_from_the_target(logits, x, y, boundary, longest):
    return _means(_losses(logits, y), _place(y, boundary), y >= 0, longest)


@mistake(
    "You treated the start of each row as the start of a name.",
    _unknown_before,
)
def _window_taken_for_a_name(logits, x, y, boundary, longest):
    place = _place(x, boundary)
    where = torch.arange(x.shape[1]).expand_as(x)
    return _means(_losses(logits, y), torch.minimum(place, where), y >= 0, longest)


@mistake(
    "Your count of letters starts at 0 at the beginning of each row.",
    _unknown_before,
)
def _counts_from_the_row(logits, x, y, boundary, longest):
    place = _place(x, boundary)
    where = torch.arange(x.shape[1]).expand_as(x)
    place = torch.where(place < _UNKNOWN - x.shape[1], place, where + 1)
    return _means(_losses(logits, y), place, y >= 0, longest)


@mistake(
    "You count from the first boundary of each row only, but every boundary begins a new name.",
    _boundaries,
)
def _first_boundary_alone(logits, x, y, boundary, longest):
    first = (x == boundary).int().argmax(dim=1, keepdim=True)
    place = torch.arange(x.shape[1]) - first
    return _means(_losses(logits, y), place, y >= 0, longest)


@mistake(
    "You treated targets of −100 as token 0, but they don't count.",
    lambda e: f"{_ignored(e)}. {_both(e)}",
)
def _ignored_as_token_zero(logits, x, y, boundary, longest):
    return _means(_losses(logits, y.clamp(min=0)), _place(x, boundary), y > -1000, longest)


@mistake(
    "You left out the targets that are token 0, but only those of −100 don't count.",
    lambda e: f"{int((e.inputs['y'] == 0).sum())} targets are token 0. {_both(e)}",
)
def _token_zero_left_out(logits, x, y, boundary, longest):
    return _means(_losses(logits, y), _place(x, boundary), y > 0, longest)


@mistake(
    "You number places from 1, so what you return at place 0 belongs to place 1.",
    lambda e: f"Where `x` is the boundary, the target is at place 0. {_both(e)}",
)
def _places_from_one(logits, x, y, boundary, longest):
    return _means(_losses(logits, y), _place(x, boundary) - 1, y >= 0, longest)


@mistake(
    "Your mean at place k includes the letters at earlier places, too.",
    lambda e: f"It should include only the letters at place k itself. {_both(e)}",
    also=(
        lambda logits, x, y, boundary, longest: (
            loss_by_letter(logits, x, y, boundary, longest).cumsum(0) / torch.arange(1, longest + 1)
        ),
    ),
)
def _up_to_that_place(logits, x, y, boundary, longest):
    losses, place = _losses(logits, y), _place(x, boundary)
    return torch.stack([losses[(place <= k) & (y >= 0)].mean() for k in range(longest)])


@mistake("You included targets of −100 in your means.", _padded)
def _padding_counts(logits, x, y, boundary, longest):
    return _means(_losses(logits, y), _place(x, boundary), y > -1000, longest)


def _place_across_rows(x, boundary):
    """(B, T): letters since the last boundary, in this row or in one before it."""
    return _place(x.flatten()[None], boundary).view(x.shape)


def _counted_on(evidence: Evidence) -> str:
    """Which row is the first to get a place that counts from the row before it."""
    x, y = (torch.from_numpy(evidence.inputs[name]) for name in ("x", "y"))
    boundary = evidence.number("boundary")
    mine = _place_across_rows(x, boundary)
    counted = (mine < evidence.number("longest")) & (y >= 0)
    b = int(((mine != _place(x, boundary)) & counted).any(dim=1).int().argmax())
    why = (
        "begins within a name, so the places before its first boundary are unknown"
        if (x[b] == boundary).any()
        else "has no boundary, so its places are unknown"
    )
    return f"Row {b} {why}, but you count on from row {b - 1}. {_both(evidence)}"


@mistake("You keep counting letters from the end of one row into the next.", _counted_on)
def _places_cross_rows(logits, x, y, boundary, longest):
    return _means(_losses(logits, y), _place_across_rows(x, boundary), y >= 0, longest)


@mistake(
    "You count the letters beyond the last place as if they were at the last place.",
    lambda e: unwrapped(f"""Place {e.number("longest") - 1} should include only its own letters, and
    later ones don't count at all. {_both(e)}"""),
    also=(
        # Positions whose place is unknown, and huge, are clamped with the others.
        lambda logits, x, y, boundary, longest: _means(
            _losses(logits, y), _place(x, boundary).clamp(max=longest - 1), y >= 0, longest
        ),
    ),
)
def _rest_in_the_last_place(logits, x, y, boundary, longest):
    place = _place(x, boundary)
    place = torch.where(place < _UNKNOWN, place.clamp(max=longest - 1), place)
    return _means(_losses(logits, y), place, y >= 0, longest)


@mistake(
    "You return sums instead of means.",
    lambda e: unwrapped(f"""At place 0 you return {number(e.yours("losses")[0], 4)}, but the mean
    there is {number(e.right("losses")[0], 4)}."""),
)
def _summed(logits, x, y, boundary, longest):
    losses, place = _losses(logits, y), _place(x, boundary)
    return torch.stack([losses[(place == k) & (y >= 0)].sum() for k in range(longest)])


@mistake(
    "You averaged within each row first and then over the rows.",
    lambda e: f"{_both(e)} A row with one such letter then counts as much as a row with three.",
)
def _rows_averaged_first(logits, x, y, boundary, longest):
    losses, place = _losses(logits, y), _place(x, boundary)
    rows = [
        _means(losses[b], place[b], y[b] >= 0, longest) for b in range(len(x))
    ]  # B × (longest,)
    return torch.stack(rows).nanmean(dim=0)


@mistake(
    "You treated a row that has no boundary at all as if it began with one.",
    lambda e: unwrapped(f"""Row {WITHOUT_A_BOUNDARY} has no boundary, so none of its places are
    known. If you look for the first boundary with `argmax`, it returns 0 for a row in which nothing
    is True, which looks like a boundary at position 0. {_both(e)}"""),
)
def _no_boundary_taken_for_one(logits, x, y, boundary, longest):
    x = x.clone()
    x[(x != boundary).all(dim=1), 0] = boundary
    return _means(_losses(logits, y), _place(x, boundary), y >= 0, longest)


@mistake(
    "You took token 0 as the boundary, but the argument `boundary` says which token it is.",
    lambda e: f"Here it is {e.number('boundary')}. {_both(e)}",
)
def _zero_for_the_boundary(logits, x, y, boundary, longest):
    return _means(_losses(logits, y), _place(x, 0), y >= 0, longest)


@mistake(
    "You left out the boundaries that end a name, but each counts as the next letter of its name.",
    lambda e: unwrapped(f"""{int((e.inputs["y"] == e.number("boundary")).sum())} targets are the
    boundary. {_both(e)}"""),
)
def _ends_left_out(logits, x, y, boundary, longest):
    return _means(_losses(logits, y), _place(x, boundary), (y >= 0) & (y != boundary), longest)


@mistake(
    "You divided the sum at each place by the number of all positions.",
    lambda e: unwrapped(f"""All your losses are too small, because you divided by
    {e.inputs["y"].size} instead of by the number of targets at that place. If you multiply the
    losses by a mask and call `mean`, the masked positions still count. {_both(e)}"""),
)
def _shares_of_all(logits, x, y, boundary, longest):
    losses, place = _losses(logits, y), _place(x, boundary)
    return torch.stack([(losses * ((place == k) & (y >= 0))).mean() for k in range(longest)])


def _ignored_passed_over(logits, x, y, boundary, longest):
    """Drops the positions whose target is ignored before it looks for boundaries."""
    place = torch.full_like(x, _UNKNOWN)
    for b, t in (y >= 0).nonzero().tolist():
        before = place[b, :t][y[b, :t] >= 0]
        place[b, t] = 0 if x[b, t] == boundary else before[-1] + 1 if len(before) else _UNKNOWN
    return _means(_losses(logits, y), place, y >= 0, longest)


@mistake(
    "Your count of letters skips the positions whose target is −100.",
    lambda e: unwrapped(f"""{_ignored(e)}, some of them within a name. Their losses don't count, but
    each of them still takes up a place in its name. {_both(e)}"""),
    also=(_ignored_passed_over,),
)
def _ignored_take_no_place(logits, x, y, boundary, longest):
    counts = y >= 0
    began = torch.where(x == boundary, torch.arange(x.shape[1]), -_UNKNOWN).cummax(dim=1).values
    before = F.pad(counts.long().cumsum(dim=1), (1, 0))  # (B, T + 1)
    place = before[:, :-1] - before.gather(1, began.clamp(min=0))
    return _means(_losses(logits, y), torch.where(began < 0, _UNKNOWN, place), counts, longest)


def _counting_otherwise(counts):
    """An answer that counts only the targets in the mask (B, T) `counts(x, y, boundary)`."""

    def answer(logits, x, y, boundary, longest):
        return _means(
            _losses(logits, y), _place(x, boundary), (y >= 0) & counts(x, y, boundary), longest
        )

    return answer


_stops_at_ignored = mistake(
    "You stop at the first target of −100 in each row, but the targets after it count, too.",
    lambda e: f"{_ignored(e)}, some of them in the middle of a row. {_both(e)}",
)(_counting_otherwise(lambda _, y, __: (y < 0).cumsum(dim=1) == 0))

_whole_names_alone = mistake(
    "You left out names that don't end within their row, but their letters count, too.",
    _both,
    also=(
        # Keeps the boundary that such a name begins with.
        _counting_otherwise(
            lambda x, _, boundary: (x == boundary).flip(1).cumsum(dim=1).flip(1) > 0
        ),
    ),
)(
    _counting_otherwise(
        lambda x, _, boundary: (
            (x == boundary).flip(1).cumsum(dim=1).flip(1) - (x == boundary).int() > 0
        )
    )
)

_first_name_alone = mistake(
    "You count only the first name of each row, but every boundary begins another one.",
    _boundaries,
)(_counting_otherwise(lambda x, _, boundary: (x == boundary).cumsum(dim=1) == 1))


@mistake(
    "You compare the logits at t with `y[b, t + 1]`, but they predict `y[b, t]`.",
    _both,
    also=(lambda logits, x, y, *rest: loss_by_letter(logits[:, :-1], x[:, 1:], y[:, 1:], *rest),),
)
def _shifted_again(logits, x, y, boundary, longest):
    return loss_by_letter(logits[:, :-1], x[:, :-1], y[:, 1:], boundary, longest)


def _with_places(place_of):
    """An answer with its own way to find places: (B, T) `place_of(x, y, boundary, longest)`."""

    def answer(logits, x, y, boundary, longest):
        place = place_of(x, y, boundary, longest)
        return _means(_losses(logits, y), place, y >= 0, longest)

    return answer


def _with_losses(losses_of):
    """An answer with its own losses: (B, T) `losses_of(logits, x, y)`."""

    def answer(logits, x, y, boundary, longest):
        return _means(losses_of(logits, x, y), _place(x, boundary), y >= 0, longest)

    return answer


_reset_too_late = mistake(
    "You set your count back one position too late.",
    lambda e: unwrapped(f"""Each target then has the place of the position before it. Where `x` is
    the boundary, the place is 0 already, so set the count back before you use it.
    {_both(e)}"""),
)(
    _with_places(
        lambda x, _, boundary, __: F.pad(_place(x, boundary), (1, 0), value=_UNKNOWN)[:, :-1]
    )
)


@mistake(
    "Your mean at place k includes the letters at later places, too.",
    lambda e: f"It should include only the letters at place k itself. {_both(e)}",
    also=(
        # Positions whose place is unknown, and huge, are at later places, too.
        lambda logits, x, y, boundary, longest: torch.stack(
            [
                _losses(logits, y)[(_place(x, boundary) >= k) & (y >= 0)].mean()
                for k in range(longest)
            ]
        ),
    ),
)
def _from_that_place(logits, x, y, boundary, longest):
    losses, place = _losses(logits, y), _place(x, boundary)
    known = (y >= 0) & (place < x.shape[1])
    return torch.stack([losses[(place >= k) & known].mean() for k in range(longest)])


@mistake("You return medians instead of means.", _both)
def _medians(logits, x, y, boundary, longest):
    losses, place = _losses(logits, y), _place(x, boundary)
    return torch.stack([losses[(place == k) & (y >= 0)].median() for k in range(longest)])


_inputs_for_targets = mistake(
    "You compare the logits with `x[b, t]`, the token that was read, but they predict `y[b, t]`.",
    _both,
)(_with_losses(lambda logits, x, _: _losses(logits, x)))

_softmax_twice = mistake(
    "You took a softmax before `F.cross_entropy`, which takes one itself.",
    lambda e: f"`F.cross_entropy` needs the logits as they are. {_both(e)}",
)(_with_losses(lambda logits, _, y: _losses(logits.softmax(dim=-1), y)))

_pairs_mixed = mistake(
    "You compare logits with the targets of other rows and positions.",
    lambda e: unwrapped(f"""One of the two is flattened or viewed row by row, the other position by
    position. {_both(e)}"""),
)(_with_losses(lambda logits, _, y: _losses(logits, y.T.reshape(y.shape))))

_logits_before = mistake(
    "You compare the target at t with the logits at t − 1, but those at t predict it.", _both
)(_with_losses(lambda logits, _, y: _losses(logits.roll(1, dims=1), y)))

_rows_left_out = mistake(
    "You left out every row that has a target of −100.",
    lambda e: unwrapped(f"""{int((e.inputs["y"] < 0).any(axis=1).sum())} of {len(e.inputs["y"])}
    rows have one, but their other targets count. {_both(e)}"""),
)(_counting_otherwise(lambda _, y, __: (y >= 0).all(dim=1, keepdim=True)))


def _beyond(x, boundary, longest):
    """(B, T) bool: letters beyond the last place."""
    place = _place(x, boundary)
    return (place >= longest) & (place < x.shape[1])


def _until(beyond):
    """An answer that stops in each row at the first True of (B, T) `beyond(x, y, boundary, n)`."""

    def answer(logits, x, y, boundary, longest):
        counts = (y >= 0) & (beyond(x, y, boundary, longest).cumsum(dim=1) == 0)
        return _means(_losses(logits, y), _place(x, boundary), counts, longest)

    return answer


_stops_at_a_long_name = mistake(
    "You stop in each row at the first letter beyond the last place.",
    lambda e: unwrapped(f"""Later names of the row count again. Leave out the position (`continue`)
    instead of the rest of the row (`break`). {_both(e)}"""),
    # A target of −100 may be left out before that is asked.
    also=(_until(lambda x, y, boundary, longest: _beyond(x, boundary, longest) & (y >= 0)),),
)(_until(lambda x, _, boundary, longest: _beyond(x, boundary, longest)))


def _counted_on_place(logits, x, y, boundary, longest, around=False):
    """Counts every position that is k after any boundary, whether or not a name began since."""
    losses, begins, found = _losses(logits, y), x == boundary, []
    for k in range(longest):
        after = begins.roll(k, 1) if around else F.pad(begins, (k, 0))[:, : x.shape[1]]
        found.append(losses[after & (y >= 0)].mean())
    return torch.stack(found)


_beyond_the_end = mistake(
    "You go on counting after a name has ended.",
    lambda e: unwrapped(f"""What is k positions after a boundary is at place k only if no other
    boundary is in between. {_both(e)}"""),
    also=(functools.partial(_counted_on_place, around=True),),
)(_counted_on_place)


def _earlier_name_first(x, _, boundary, longest):
    place = torch.full_like(x, _UNKNOWN)
    for b, t in (x == boundary).nonzero().tolist():
        for k in range(min(longest, x.shape[1] - t)):
            if place[b, t + k] == _UNKNOWN:
                place[b, t + k] = k
    return place


_next_name_ignored = mistake(
    "You count a name on to the last place even if the next name has begun.",
    lambda e: f"A boundary is always at place 0, also soon after another one. {_both(e)}",
)(_with_places(_earlier_name_first))

_maximum_down_the_columns = mistake(
    "Your running maximum goes down the columns, from row to row.",
    lambda e: unwrapped(f"""Rows don't continue each other. The last boundary is sought along a row,
    with `dim=1`. {_both(e)}"""),
)(
    _with_places(
        lambda x, _, boundary, __: (
            torch.arange(x.shape[1])
            - torch.where(x == boundary, torch.arange(x.shape[1]), -_UNKNOWN).cummax(dim=0).values
        )
    )
)


def _counts(evidence: Evidence) -> Array:
    """How many targets count at each place."""
    place = _place(torch.from_numpy(evidence.inputs["x"]), evidence.number("boundary")).numpy()
    counts = evidence.inputs["y"] >= 0
    return np.array([((place == k) & counts).sum() for k in range(evidence.number("longest"))])


def _one_divisor(evidence: Evidence) -> Finding | None:
    """Sums that are all divided by the same number."""
    if not evidence.comparable("losses") or evidence.same("losses"):
        return None
    mine = evidence.yours("losses")
    if not (mine > 0).all():
        return None
    divisors = evidence.right("losses") * _counts(evidence) / mine
    if not np.allclose(divisors, divisors[0], rtol=1e-3):
        return None
    x, y = evidence.inputs["x"], evidence.inputs["y"]
    known = {
        "the number of rows": len(x),
        "the number of targets that count": int((y >= 0).sum()),
        "the number of all positions": y.size,
        "the number of boundaries": int((x == evidence.number("boundary")).sum()),
        "the number of positions in a row": x.shape[1],
    }
    fitting = [said for said, n in known.items() if abs(divisors[0] - n) < 0.01]
    which = f", {fitting[0]}" if len(fitting) == 1 else ""
    return Finding(
        "one-divisor",
        "You divide the sums of all places by the same number.",
        f"It is {number(float(divisors[0]))}{which}. At places 0, 1, … there are"
        f" {listed(_counts(evidence))} targets, and each sum is divided by its own."
        f" {_both(evidence)}",
        POSITION,
    )


_RULES = {
    (True, True, False): (
        "Your losses are right if every row begins with a boundary, but wrong if some don't.",
        "Positions before a row's first boundary have no place and don't count, nor do rows"
        " without any boundary.",
    ),
    (True, False, True): (
        "Your losses are right if every target counts, but wrong if some are −100.",
        "A target of −100 doesn't count, but its position still takes up a place in its name.",
    ),
    (True, False, False): (
        "Your losses are right if rows begin with a boundary and all targets count, but not else.",
        "Both rules go wrong: positions before a row's first boundary don't count, and nor do"
        " targets of −100.",
    ),
}


def _which_rule(evidence: Evidence) -> Finding | None:
    """Which of the statement's rules goes wrong, from inputs that need only some of them."""
    told = _worked_out(evidence)
    if evidence.same("losses") or told is None:
        return None
    right = tuple(evidence.same(case) for case in ("plain", "ignoring", "unknown"))
    if right in _RULES:
        what, rule = _RULES[right]
        return Finding("one-rule", what, f"{rule} {told.effect}", POSITION)
    if any(right) or not evidence.comparable("apart"):
        return None
    if not evidence.same("apart"):
        mine, wanted = (float(side("apart")[0]) for side in (evidence.yours, evidence.right))
        if np.isnan(mine):
            return Finding(
                "nothing-counts",
                "Your mean at place 0 is NaN even where all places are 0 and all targets count.",
                "With windows of one position each, which is a boundary, you return NaN, the mean"
                " of no numbers at all. Either you give these positions another place, or a"
                f" condition leaves out their targets. {told.what} {told.effect}",
                POSITION,
            )
        shown = numbers_apart(mine, wanted)
        return Finding(
            "other-losses",
            "Your losses are wrong even where all places are 0 and all targets count.",
            "With windows of one position each, which is a boundary, you return"
            f" {shown[0]} instead of {shown[1]}. The loss of a position is `F.cross_entropy` of its"
            " logits and its target. Either your losses differ from that, or you average over only"
            " some of them.",
            POSITION,
        )
    return Finding(
        "other-places",
        "Your losses are wrong even if every row begins with a boundary and every target counts.",
        "With windows of one position they are right. So look at how you count places, and at which"
        f" logits you compare with which targets. {told.what} {told.effect}",
        POSITION,
    )


def _first_place_empty(evidence: Evidence) -> bool:
    mine, right = evidence.yours("losses"), evidence.right("losses")
    return (
        mine.shape == right.shape
        and bool(np.isnan(mine[0]))
        and bool(np.isfinite(mine[1:]).all())
        and not np.isnan(right[0])
    )


def _why_empty(evidence: Evidence) -> str:
    mine, right = evidence.yours("losses"), evidence.right("losses")
    if np.allclose(mine[1:], right[:-1], 1e-4):
        why = "What you return at place k + 1 belongs to place k, because places start at 0."
    elif np.allclose(mine[1:], right[1:], 1e-4):
        why = "Your other places are right."
    else:
        why = _both(evidence)
    return (
        "The mean of no numbers at all is NaN. But a position where `x` is the boundary counts, "
        f"and its place is 0. {why}"
    )


@mistake(
    "Your loss at place 0 is NaN, but those at the other places are numbers.",
    _why_empty,
    recognized=_first_place_empty,
)
def _places_one_late(logits, x, y, boundary, longest):
    return _means(_losses(logits, y), _place(x, boundary) + 1, y >= 0, longest)


def _first_letter_alone(evidence: Evidence) -> Finding | None:
    if not evidence.same("losses") or not evidence.comparable("first"):
        return None
    return Finding(
        "one-place",
        "Your losses are right for several rows and places, but wrong for one row and one place.",
        unwrapped(f"""With B = 1 and longest = 1, you return
        {number(float(evidence.yours("first")[0]), 4)} instead of
        {number(float(evidence.right("first")[0]), 4)}."""),
        POSITION,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    """Which targets are at the first place whose mean is wrong."""
    if not evidence.comparable("losses"):
        return None
    mine, right = evidence.yours("losses"), evidence.right("losses")
    k = int((~(abs(mine - right) < 1e-4 * right)).argmax())
    x, y = (torch.from_numpy(evidence.inputs[name]) for name in ("x", "y"))
    at = ((_place(x, evidence.number("boundary")) == k) & (y >= 0)).nonzero()
    b, t = (int(i) for i in at[0])
    loss = float(_losses(torch.from_numpy(evidence.inputs["logits"]), y)[b, t])
    return Finding(
        "another-mean",
        f"Your mean at place {k} is wrong.",
        unwrapped(f"""{len(at)} targets count at place {k}, in {len(at[:, 0].unique())} of {len(x)}
        rows. The first one is in row {b} at position {t} and has a loss of {number(loss, 4)}. Their
        mean is {number(float(right[k]), 4)}, but yours is {number(float(mine[k]), 4)}."""),
        POSITION,
    )


TASK = Task(
    "Loss by letter",
    loss_by_letter,
    POSITION,
    (
        Part(
            "The first letter of a name has the right loss.",
            2,
            lambda e: bool(abs(e.yours("losses")[0] - e.right("losses")[0]) < 1e-4),
        ),
        Part("All places have the right loss.", 2, matches("losses", "first")),
    ),
    properties=(
        _first_letter_alone,
        in_another_unit("losses", POSITION),
        _one_divisor,
        _which_rule,
    ),
    examples=(_worked_out,),
    cases=("losses",),
)
