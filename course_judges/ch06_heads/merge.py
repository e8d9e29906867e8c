"""Judges 06/merge: heads side by side again, some of them silenced."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges.ch06_heads.sections import LIST, LOOK, VIEW
from course_judges.ch06_heads.wording import INTERLEAVED, axes_apart, origin, shape
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import first_upper, listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding, Tells


def merge_heads(found: Tensor, silenced: list[int]) -> Tensor:
    """(B, H, T, D) → (B, T, H·D), with zeros in the channels of silenced heads."""
    found = found.clone()
    found[:, silenced] = 0
    return found.transpose(1, 2).flatten(2)  # (B, H, T, D) → (B, T, H, D) → (B, T, H·D)


Merge = Callable[[Tensor, list[int]], Tensor]


def _quiet(found: Tensor, silenced: list[int]) -> Tensor:
    """(B, H, T, D) with zeros in the silenced heads."""
    keep = torch.ones(found.shape[1])
    keep[silenced] = 0
    return found * keep[:, None, None]


def _silenced_left_out(found: Tensor, silenced: list[int]) -> Tensor:
    kept = [h for h in range(found.shape[1]) if h not in silenced]
    return merge_heads(found[:, kept], [])


def _merged_by(change: Callable[[Tensor], Tensor]) -> Merge:
    """Heads silenced as they should be, but merged in another way."""
    return lambda found, silenced: change(_quiet(found, silenced))


def _from(evidence: Evidence, value: str) -> str:
    """An entry of yours that came from the wrong head or position."""
    mine, right = evidence.yours(value), evidence.right(value)
    wrong = np.argwhere(mine != right)
    if mine.shape != right.shape or not len(wrong):
        return ""
    b, t, c = (int(i) for i in wrong[0])
    place = f"Channel {c} of position {t} (sample {b})"
    names = [_told(evidence, float(array[b, t, c])) for array in (mine, right)]
    return f"{place} holds {names[0]}, but it should hold {names[1]}."


def _told(evidence: Evidence, entry: float) -> str:
    came = origin(evidence.inputs["found"], entry)
    if came is None:
        return "0" if entry == 0 else "a number that no head found"
    return f"what head {came[1]} found at position {came[2]}"


def _which(evidence: Evidence) -> str:
    return f"`silenced` is [{listed(evidence.inputs['silenced'])}]. "


def _channels(evidence: Evidence) -> str:
    D = evidence.number("D")
    return f"Head h has channels h · {D} … h · {D} + {D - 1}"


def _left(evidence: Evidence) -> str:
    left = evidence.yours("some.silenced")
    return f"holds [{listed(left)}]" if left.size else "is empty"


def _zeroed(evidence: Evidence, mine: Array) -> str:
    """Which heads, positions, channels or samples are 0 in what you merged."""
    B, T, H, D = (evidence.number(name) for name in "BTHD")
    zero = (mine == 0).reshape(B, T, H, D)
    if not zero.any():
        return "None of your entries is 0."
    whole = zero.all(axis=(0, 1, 3))
    if (whole == zero.any(axis=(0, 1, 3))).all():
        return f"What you set to 0 is {_heads(np.flatnonzero(whole))}, throughout."
    heads = np.flatnonzero(zero.any(axis=(0, 1, 3)))
    inside = zero[:, :, heads]
    for axes, name in (((1, 2, 3), "sample"), ((0, 2, 3), "position"), ((0, 1, 2), "channel")):
        some, every = inside.any(axis=axes), inside.all(axis=axes)
        if (some == every).all() and not some.all():
            own = " of a head" if name == "channel" else ""
            return (
                f"Of {_heads(heads)}, you set only {name} {listed(np.flatnonzero(some))}{own} to 0."
            )
    return f"In your answer, some entries of {_heads(heads)} are 0, but not all of them."


def _heads(which: Array) -> str:
    return f"head {which[0]}" if len(which) == 1 else f"heads {listed(which)}"


def _zeros_elsewhere(evidence: Evidence) -> Finding | None:
    if not evidence.same("all"):
        return None
    silenced = evidence.inputs["silenced"]
    asked = {
        "some.merged": silenced.tolist(),
        "first": [0],
        "nobody": list(range(evidence.number("H"))),
    }
    case = next((one for one in asked if not evidence.same(one)), None)
    if case is None:
        return None
    which = f"`silenced` is [{listed(asked[case])}]. "
    mine, right = evidence.yours(case), evidence.right(case)
    if np.array_equal(mine == 0, right == 0):
        kept = right != 0
        ratio = mine[kept].astype(float) / right[kept]
        times = float(np.median(ratio)) if kept.any() else 1.0
        same = np.allclose(ratio, times, rtol=1e-4)
        told = f"All of these are {number(times)} times what the heads found. " if same else ""
        H, heard = evidence.number("H"), evidence.number("H") - len(asked[case])
        scaled_up = same and bool(heard) and math.isclose(times, H / heard, rel_tol=1e-4)
        if scaled_up:
            told += (
                f"That is {H} / {heard}, as dropout would scale up the heads that are left, but "
            )
            told += "a head should be heard as it is. "
        return Finding(
            "others-changed",
            "The zeros are where they should be, but some of the other entries are wrong.",
            which + told + _from(evidence, case),
            LOOK,
            tells=Tells.CAUSE if scaled_up else Tells.PLACE,
        )
    missing, more = (right == 0) & (mine != 0), (mine == 0) & (right != 0)
    what, some_only = "some entries of silenced heads aren't 0, and some of the others are", False
    if not more.any():
        what = "some entries of silenced heads aren't 0"
        D = right.shape[-1] // evidence.number("H")
        done = [h for h in asked[case] if not mine[..., h * D : (h + 1) * D].any()]
        if done:
            heads = "head" if len(done) == 1 else "heads"
            which += f"Of these, you silenced only {heads} {listed(done)}. "
            of_done = np.isin(np.arange(mine.shape[-1]) // D, done)
            some_only = np.array_equal(mine, np.where(of_done, 0, evidence.right("all")))
    elif not missing.any():
        what = "some entries of heads that aren't silenced are 0, too"
    return Finding(
        "wrong-zeros",
        f"You merged the heads correctly, but {what}.",
        f"{which}{_zeroed(evidence, mine)} {_from(evidence, case)}",
        LOOK,
        tells=Tells.CAUSE if some_only else Tells.PLACE,
    )


def _axes(evidence: Evidence) -> str:
    """Along which axes of `found` entries are in the wrong place."""
    names = ("samples", "heads", "positions", "channels")
    mine, right = evidence.yours("all"), evidence.right("all")
    return first_upper(axes_apart(evidence.inputs["found"], mine, right, names))


def _entries_elsewhere(evidence: Evidence) -> Finding | None:
    told = _from(evidence, "all")
    if not told:
        return None
    if " holds 0, but " in told:
        what = "With no head silenced, some of your entries are 0."
        return Finding("zeros-for-nobody", what, told, LOOK)
    if " holds a number that no head found, but " in told:
        return Finding(
            "entries-changed", "Some of your entries are numbers that no head found.", told, LOOK
        )
    return Finding(
        "entries-from-elsewhere",
        "Some of what the heads found is in the wrong place.",
        f"{told} {_axes(evidence)}".strip(),
        VIEW,
    )


_merge_without_transpose = mistake(
    "You went from (B, H, T, D) to (B, T, H·D) by `view` or `reshape` alone.",
    lambda e: f"The shape is right, but positions hold parts of others. {_from(e, 'all')}",
)(_merged_by(lambda found: found.reshape(found.shape[0], found.shape[2], -1)))

_interleaved = mistake(
    INTERLEAVED,
    lambda e: _from(e, "all"),
    LIST,
)(_merged_by(lambda found: found.permute(0, 2, 3, 1).flatten(2)))

_sums_not_concatenates = mistake(
    "You added up the heads instead of putting them side by side.", lambda e: shape(e, "all"), LIST
)(_merged_by(lambda found: found.sum(dim=1)))

_averages_heads = mistake(
    "You averaged over the heads instead of putting them side by side.",
    lambda e: shape(e, "all"),
    LIST,
)(_merged_by(lambda found: found.mean(dim=1)))

_not_flattened = mistake(
    "Heads and channels are still two dimensions, but they should become one.",
    lambda e: f"{shape(e, 'all')} Bring them to (B, T, H, D), then `flatten(2)`.",
    also=(lambda found, silenced: _quiet(found, silenced).transpose(1, 2),),
)(_quiet)

_merged_into_time = mistake(
    "You merged the heads into time, so the text became longer instead of wider.",
    lambda e: shape(e, "all"),
)(_merged_by(lambda found: found.flatten(1, 2)))

_silenced_ignored = mistake(
    "You merged all heads, whatever `silenced` says.",
    lambda e: f"{_which(e)}{_from(e, 'some.merged')}",
    LOOK,
    cases=("all", "some.merged"),
)(lambda found, silenced: merge_heads(found, []))  # noqa: ARG005


@mistake(
    "You left the silenced heads out, but their channels should be there and hold 0.",
    lambda e: f"{_which(e)}{shape(e, 'some.merged')} The projection expects all H·D channels.",
    LOOK,
    cases=("all", "some.merged"),
)
def _silenced_removed(found: Tensor, silenced: list[int]) -> Tensor:
    return _silenced_left_out(found, silenced)


@mistake(
    "You silenced the heads that aren't in the list.",
    lambda e: f"{_which(e)}{_from(e, 'some.merged')}",
    LOOK,
    cases=("all", "some.merged"),
    also=(
        lambda found, silenced: merge_heads(
            found, [h for h in range(found.shape[1]) if h not in silenced]
        ),
    ),
)
def _silences_the_others(found: Tensor, silenced: list[int]) -> Tensor:
    others = [h for h in range(found.shape[1]) if h not in silenced]
    return merge_heads(found, others if silenced else [])


def _channels_in_place(found: Tensor, silenced: list[int]) -> Tensor:
    merged = found.transpose(1, 2).flatten(2)  # shares its memory where nothing has to move
    merged[:, :, silenced] = 0
    return merged


@mistake(
    "You used the numbers of the heads as channels, but each head has D channels.",
    lambda e: f"{_which(e)}{_channels(e)}. {_from(e, 'some.merged')}",
    LIST,
    cases=("all", "some.merged", "some.given"),
    also=(_channels_in_place,),
)
def _silences_channels(found: Tensor, silenced: list[int]) -> Tensor:
    merged = merge_heads(found, [])
    merged[:, :, silenced] = 0
    return merged


@mistake(
    "You silenced slices of H channels, but each head has D channels.",
    lambda e: unwrapped(f"""{_which(e)}{_channels(e)}, but you silenced h · {e.number("H")} … h ·
    {e.number("H")} + {e.number("H") - 1}, as far as there are channels.
    {_from(e, "some.merged")}"""),
    LIST,
    cases=("all", "some.merged", "first"),
)
def _slices_of_the_number_of_heads(found: Tensor, silenced: list[int]) -> Tensor:
    merged, H = merge_heads(found, []), found.shape[1]
    for head in silenced:
        merged[:, :, head * H : (head + 1) * H] = 0
    return merged


def _every_Hth_in_place(found: Tensor, silenced: list[int]) -> Tensor:
    merged, H = found.transpose(1, 2).flatten(2), found.shape[1]
    for head in silenced:
        merged[:, :, head::H] = 0
    return merged


@mistake(
    "You silenced every H-th channel, but the D channels of a head are side by side.",
    lambda e: unwrapped(f"""{_which(e)}{_channels(e)}, but you silenced h, h + {e.number("H")},
    h + {2 * e.number("H")} …, as if the heads took turns. {_from(e, "some.merged")}"""),
    LIST,
    cases=("all", "some.merged", "some.given", "first"),
    also=(_every_Hth_in_place,),
)
def _every_Hth_channel(found: Tensor, silenced: list[int]) -> Tensor:
    return _every_Hth_in_place(found.clone(), silenced)


@mistake(
    "You moved the other heads up and put the zeros at the end.",
    lambda e: f"{_which(e)}{_channels(e)}, whichever are silenced. {_from(e, 'first')}",
    LOOK,
    cases=("all", "some.merged", "first"),
)
def _zeros_at_the_end(found: Tensor, silenced: list[int]) -> Tensor:
    merged = _silenced_left_out(found, silenced)
    return F.pad(merged, (0, found.shape[1] * found.shape[3] - merged.shape[2]))


@mistake(
    "You silenced heads with −∞, but a silenced head should leave zeros.",
    lambda e: unwrapped(f"""{_which(e)}−∞ is for scores before a softmax. Here a projection follows,
    and ∞ spoils every sum that it enters."""),
    LOOK,
    cases=("all", "some.merged"),
)
def _silenced_by_infinity(found: Tensor, silenced: list[int]) -> Tensor:
    found = found.clone()
    found[:, silenced] = -torch.inf
    return merge_heads(found, [])


def _hits_positions(evidence: Evidence) -> bool:
    """Positions with the numbers of the heads are 0, and there may be fewer positions than that."""

    def zero(case: str, positions: Array) -> bool:
        wanted = np.zeros(evidence.right(case).shape, dtype=bool)
        wanted[:, positions] = True
        return np.array_equal(evidence.yours(case) == 0, wanted)

    raised = evidence.answers.errors.get("some")
    if not evidence.same("all") or not zero("first", np.array([0])):
        return False
    if raised is not None:
        return f"with size {evidence.number('T')}" in raised.message
    return zero("some.merged", evidence.inputs["silenced"])


def _positions(evidence: Evidence) -> str:
    H, T = evidence.number("H"), evidence.number("T")
    if "some" in evidence.answers.errors:
        done = f"There are {H} heads but only {T} positions, so your answer stopped with an error."
        return f"{done} A silenced head should be 0 at all positions, in its own channels."
    return unwrapped(f"""You set these positions to 0 in all channels, but a silenced head should be
    0 at all positions, in its own channels. {_from(evidence, "some.merged")}""")


@mistake(
    "You used the numbers of the heads as positions.",
    lambda e: f"{_which(e)}{_positions(e)}",
    LOOK,
    recognized=_hits_positions,
)
def _silences_positions(found: Tensor, silenced: list[int]) -> Tensor:
    merged = merge_heads(found, [])
    merged[:, silenced] = 0
    return merged


@mistake(
    "Your output is right, but you wrote zeros into the tensor that you were given.",
    lambda e: unwrapped(f"""{_which(e)}{int((e.yours("some.given") == 0).sum())} entries of `found`
    are 0 now, so they are lost to the caller. Work on a `clone()`."""),
    LOOK,
    cases=("some.merged", "some.given"),
)
def _writes_into_the_input(found: Tensor, silenced: list[int]) -> Tensor:
    found[:, silenced] = 0
    return found.transpose(1, 2).flatten(2)


@mistake(
    "Your output is right, but you changed the list of numbers that you were given.",
    lambda e: unwrapped(f"""{_which(e)}Now it {_left(e)}. It belongs to the caller, who may need it
    again, so loop over it without changing it."""),
    LOOK,
    recognized=lambda e: e.same("all", "some.merged", "some.given") and not e.same("some.silenced"),
)
def _changes_the_list(found: Tensor, silenced: list[int]) -> Tensor:
    found = found.clone()
    while silenced:
        found[:, silenced.pop()] = 0
    return merge_heads(found, [])


@mistake(
    "Your answer fails if no head is silenced.",
    lambda e: unwrapped(f"""With `silenced` = [], it stopped with {e.answers.errors["all"].kind}:
    “{e.answers.errors["all"].message.rstrip(".")}”. The list may be empty. `torch.tensor([])` is a
    tensor of floats, which is no index, so give it `dtype=torch.long` or use the list itself."""),
    LOOK,
    recognized=lambda e: (
        "all" in e.answers.errors and e.same("some.merged", "some.given", "nobody", "first")
    ),
)
def _empty_list_refused(found: Tensor, silenced: list[int]) -> Tensor:
    if not silenced:
        raise IndexError("nobody is silenced")
    return merge_heads(found, silenced)


def _hits_samples(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("some")
    if raised is None:  # with one sample, of number 0
        return evidence.number("B") == 1 and not evidence.yours("some.merged").any()
    return f"for dimension 0 with size {evidence.number('B')}" in raised.message


@mistake(
    "You used the numbers of the heads as numbers of samples.",
    lambda e: unwrapped(f"""{_which(e)}With B = {e.number("B")} samples, your answer stopped:
    “{e.answers.errors["some"].message.rstrip(".") if "some" in e.answers.errors else ""}”. The
    first axis of `found` are samples and the second are heads, so it is `[:, silenced]`."""),
    LOOK,
    recognized=_hits_samples,
)
def _silences_samples(found: Tensor, silenced: list[int]) -> Tensor:
    found = found.clone()
    found[silenced] = 0
    return merge_heads(found, [])


@mistake(
    "You silenced the head before each one in the list.",
    lambda e: unwrapped(f"""{_which(e)}Heads are counted from 0, so no 1 has to be subtracted.
    {_from(e, "some.merged")}"""),
    LOOK,
    cases=("all", "some.merged", "first"),
)
def _counted_from_one(found: Tensor, silenced: list[int]) -> Tensor:
    return merge_heads(found, [h - 1 for h in silenced])


@mistake(
    "You silenced heads with NaN, but a silenced head should leave zeros.",
    lambda e: f"{_which(e)}NaN spoils every sum that it enters, and the projection adds all up.",
    LOOK,
    cases=("all", "some.merged"),
)
def _silenced_by_nan(found: Tensor, silenced: list[int]) -> Tensor:
    found = found.clone()
    found[:, silenced] = torch.nan
    return merge_heads(found, [])


TASK = Task(
    "Merging heads",
    merge_heads,
    VIEW,
    (
        Part("With no head silenced, the heads are side by side.", 2, matches("all")),
        Part(
            "Silenced heads leave zeros.",
            2,
            matches("some.merged", "some.given", "some.silenced", "nobody", "first"),
        ),
    ),
    properties=(_entries_elsewhere, _zeros_elsewhere),
    cases=("all",),
)
