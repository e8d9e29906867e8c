"""Judges 09/by-letter: the loss at each place of a name, wherever the name is in its window."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from course_judges.ch09_names.losses import in_another_unit
from course_judges.ch09_names.sections import POSITION
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import number, numbers_apart, rows_apart, unwrapped
from course_tasks.ch09_names.by_letter import WITHOUT_A_BOUNDARY
from course_tasks.verdict import Finding

_UNKNOWN = 10_000


def loss_by_letter(logits, x, y, boundary, longest):
    """A right answer."""
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")  # the losses (B, T)
    where = torch.arange(x.shape[1]).expand_as(x)  # the positions (B, T)
    begins = x == boundary
    seen = torch.where(begins, where, -_UNKNOWN)  # where names begin (B, T)
    last = seen.cummax(dim=1).values  # where the last name began (B, T)
    place = where - last  # the places (B, T)
    counts = y >= 0  # the targets that count (B, T)
    found = []
    for k in range(longest):
        at = (place == k) & counts  # the letters at a place (B, T)
        mean = losses[at].mean()  # the mean at a place
        found.append(mean)
    return torch.stack(found)  # your losses (longest,)


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


_token_zero_left_out = mistake(
    "You left out the targets that are token 0, but only those of −100 don't count.",
    lambda e: f"{int((e.inputs['y'] == 0).sum())} targets are token 0. {_both(e)}",
)(Like("compared-with-greater-instead-of-greater-or-equal-in-the-targets-that-count"))

_padding_counts = mistake("You included targets of −100 in your means.", _padded)(
    Like("left-out-the-targets-that-count-in-the-letters-at-a-place")
)


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
        in_another_unit("losses", POSITION),
        _which_rule,
    ),
    examples=(_worked_out,),
    cases=("losses",),
    steps={
        "the losses": Step("The logits at t predict the target at t."),
        "the positions": Step("A place is counted along a row."),
        "where names begin": Step("A name begins where `x` is the boundary."),
        "where the last name began": Step(
            "Each row counts for itself, and before its first boundary no place is known."
        ),
        "the places": Step("Where `x` is the boundary, the target is at place 0."),
        "the targets that count": Step("Only targets of −100 don't count."),
        "the letters at a place": Step("A mean is over the letters at that place alone."),
        "the mean at a place": Step("All letters at a place count equally, whatever their row."),
        "your losses": Step("There is one mean for each place."),
    },
)
