"""Judges 10/mask: weights of a padded text, with gradients that stay finite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch10_jax.sections import MASK
from course_judges.ch10_jax.wording import gap
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.properties import NEGLIGIBLE, rows_sum_to_one, scores_times_a_factor
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.ch10_jax.sides import InTorch
from course_tasks.verdict import Finding


def _past(real: Tensor) -> Tensor:
    return torch.ones(len(real), len(real)).tril().bool()


def _right(real: Tensor) -> Tensor:
    """(T, T) bool: real positions see the real ones of their past."""
    return _past(real) & real & real[:, None]


def safe_softmax(scores: Tensor, visible: Tensor, dim: int = -1) -> Tensor:
    """Softmax over what is visible, and zeros in rows where nothing is."""
    sees = visible.any(dim, keepdim=True)
    hidden = torch.where(visible, scores, -torch.inf)
    return torch.where(sees, torch.where(sees, hidden, 0.0).softmax(dim), 0.0)


def _added(scores: Tensor, visible: Tensor) -> Tensor:
    bias = torch.zeros_like(scores).masked_fill(~visible, -torch.inf)
    weights = (scores + bias).softmax(-1)
    return torch.where(visible.any(-1, keepdim=True), weights, 0.0)


def _overflowing(scores: Tensor, visible: Tensor) -> Tensor:
    e = torch.where(visible, scores, -torch.inf).exp()
    total = e.sum(-1, keepdim=True)
    return e / torch.where(total > 0, total, 1.0)


def _past_alone_before(scores: Tensor, visible: Tensor) -> Tensor:
    """Hides the future before the softmax, but padding after it."""
    past = torch.ones_like(visible).tril()
    return torch.where(past, scores, -torch.inf).softmax(-1) * visible


# Relative to the largest score's, an exponential in float32 is 0 if its score is at least _LOST
# below, and isn't if it is at most _KEPT below.
_LOST, _KEPT = 104.0, 60.0


def _largest_of_the_row(scores: Tensor, visible: Tensor) -> Tensor:
    powers = torch.where(visible, (scores - scores.amax(-1, keepdim=True)).exp(), 0.0)
    return powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)


@dataclass(frozen=True)
class Variant:
    """The weights, right unless told otherwise."""

    visible: Callable[[Tensor], Tensor] = _right
    softmax: Callable[[Tensor, Tensor], Tensor] = safe_softmax

    def __call__(self, scores: Tensor, real: Tensor) -> Tensor:
        """(T, T), (T,) → (T, T)."""
        return self.softmax(scores, self.visible(real))


def _sees(evidence: Evidence) -> Array:
    return evidence.inputs["real"]


def _rows_right(evidence: Evidence) -> bool:
    """True if the rows of real positions are right, with padding and without."""
    rows = _sees(evidence)
    return evidence.same("whole") and all(
        np.allclose(evidence.yours(case)[rows], evidence.right(case)[rows], atol=1e-5)
        for case in ("values", "large")
    )


def _largest_visible(evidence: Evidence) -> Array:
    """(T,): the largest of the large scores that a row sees; −∞ if it sees nothing."""
    visible = _right(torch.from_numpy(_sees(evidence))).numpy()
    return np.where(visible, evidence.inputs["large"], -np.inf).max(axis=1)


def _empty(evidence: Evidence) -> Array:
    """(T,): which rows see something but have no weights, with the large scores."""
    mine = evidence.yours("large")
    return _sees(evidence) & ((mine == 0).all(axis=1) | np.isnan(mine).any(axis=1))


def _subtracts(evidence: Evidence, largest: Array) -> bool:
    """True if rows that see scores far below this one are empty, and rows near it are right."""
    sees = _largest_visible(evidence)
    seeing = np.isfinite(sees)
    below = np.where(seeing, largest - sees, 0.0)
    close = np.asarray(
        np.isclose(evidence.yours("large"), evidence.right("large"), atol=1e-5).all(axis=1)
    )
    near, far = seeing & (below < _KEPT), np.asarray(below > _LOST)
    return bool(far.any() and _empty(evidence)[far].all() and close[near].all())


def _largest_of(evidence: Evidence) -> tuple[str, Array] | None:
    """Whether the largest score of a row or of all rows was subtracted, and its value for each row;
    None if neither was.
    """
    scores = evidence.inputs["large"]
    both = ("in its row", scores.max(axis=1)), ("in any row", np.full(len(scores), scores.max()))
    return next((one for one in both if _subtracts(evidence, one[1])), None)


def _empty_row(evidence: Evidence) -> str:
    found = _largest_of(evidence)
    assert found is not None  # or the mistake is not recognized
    which, largest = found
    row = int(np.flatnonzero(_empty(evidence))[0])
    sees = number(float(_largest_visible(evidence)[row]))
    return unwrapped(f"""With the large scores, your row {row} has no weights left. It sees scores
    up to {sees}, but the largest score {which} is {number(float(largest[row]))}, and relative to
    that every exponential is 0. Mask first, so that the largest score is one that the row sees.""")


def _gradients(evidence: Evidence) -> list[tuple[str, Array]]:
    return [(case, evidence.yours(case)) for case in ("gradient", "wild")]


def _values(evidence: Evidence) -> str:
    padding = listed(np.flatnonzero(~_sees(evidence)))
    return f"Positions {padding} are padding. {gap(evidence, 'values')}"


def _nan_share(evidence: Evidence) -> str:
    case, gradient = next((case, g) for case, g in _gradients(evidence) if not np.isfinite(g).all())
    rows = np.flatnonzero(~np.isfinite(gradient).all(axis=1))
    why = (
        "If a NaN comes up on the way, such as 0 / 0 in a row that sees nothing, you can replace it"
        " in the weights, but it stays in the gradient. Choose harmless numbers with `jnp.where`"
        " before you divide, not after."
        if case == "gradient"
        else f"Hidden scores reach {number(float(evidence.inputs['wild'].max()))} here. If you"
        " compute something like `exp` from them before you mask, it can be infinite, and the mask"
        " keeps that out of the weights, but not out of the gradient. Mask the scores first."
    )
    right = "Your weights are right" if evidence.same(*_CASES) else "With small scores they are"
    return f"{right}, but the gradient isn't finite in rows {listed(rows)}. {why}"


_CASES = ("whole", "values", "large")


_padding_ignored = mistake("You treated padding like any other position.", _values)(
    InTorch(Variant(_past))
)

_padding_is_seen = mistake("You let real positions look at padding.", _values)(
    InTorch(Variant(lambda real: _past(real) & real[:, None]))
)

_padding_looks = mistake(
    "You hid padding from the other positions, but its own rows have to be 0, too.", _values
)(InTorch(Variant(lambda real: _past(real) & real)))

_real_hidden = mistake(
    "You hid the real positions and kept the padding.",
    lambda e: f"`real` is true where a position counts. {_values(e)}",
)(InTorch(Variant(lambda real: _past(real) & ~real & ~real[:, None])))

_padding_only_at_the_end = mistake(
    "You treated padding as if it were always at the end.",
    lambda e: unwrapped(f"""Padding may be anywhere, and `real` says where, position by position.
    {_values(e)}"""),
)(InTorch(Variant(lambda real: _right(torch.arange(len(real)) < real.sum()))))

_padding_ends_the_text = mistake(
    "You hid everything after the first padding, as if the text ended there.",
    lambda e: f"Padding may be anywhere, even before real symbols. {_values(e)}",
)(InTorch(Variant(lambda real: _right(real.long().cumprod(0).bool()))))

_no_causal_mask = mistake("You didn't hide the future.", _values)(
    InTorch(Variant(lambda real: real & real[:, None]))
)

_upper_triangle = mistake("You hid the past instead of the future.", _values)(
    InTorch(Variant(lambda real: _past(real).T & real & real[:, None]))
)

_diagonal_excluded = mistake("You hid each position from itself.", _values)(
    InTorch(Variant(lambda real: _past(real).tril(-1) & real & real[:, None]))
)

_nan_rows = mistake(
    "Your rows that see nothing are NaN, because their softmax is 0 / 0.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("values")).any(axis=1).sum())} of {e.number("T")}
    rows are NaN, and they turn every sum that includes them into NaN."""),
)(InTorch(Variant(softmax=lambda s, v: torch.where(v, s, -torch.inf).softmax(-1))))

_uniform_empty_rows = mistake(
    "Your rows that see nothing look at all positions equally instead of at none.",
    lambda e: f"If all scores of a row are equal, so are its weights. {_values(e)}",
)(InTorch(Variant(softmax=lambda s, v: torch.where(v, s, -1000000000.0).softmax(-1))))

_zero_mask = families.zero_mask(_values)(
    InTorch(Variant(softmax=lambda s, v: torch.where(v, s, 0.0).softmax(-1)))
)

_weights_cut_afterwards = mistake(
    "You hid positions after the softmax, so the rows of real positions don't all sum to 1.",
    _values,
    also=(InTorch(Variant(softmax=_past_alone_before)),),
)(InTorch(Variant(softmax=lambda s, v: s.softmax(-1) * v)))

_softmax_over_queries = mistake(
    "You took the softmax down the columns instead of along the rows.",
    lambda e: f"{_values(e)} Each row is an average of its own, so use `axis=-1`.",
)(InTorch(Variant(softmax=lambda s, v: safe_softmax(s, v, dim=0))))

_largest_of_hidden_scores = mistake(
    "In your softmax, large scores that a row doesn't see wipe out the ones that it sees.",
    _empty_row,
    recognized=lambda e: e.same("whole", "values") and _largest_of(e) is not None,
)(InTorch(Variant(softmax=_largest_of_the_row)))

_overflow = mistake(
    "Large scores overflow in your softmax.",
    lambda e: unwrapped(f"""With scores up to {number(float(e.inputs["large"].max()))},
    {int((~np.isfinite(e.yours("large"))).sum())} entries are NaN or infinite. Subtract the largest
    visible score of a row first, or let `jax.nn.softmax` do it."""),
    recognized=lambda e: e.same("whole", "values") and not np.isfinite(e.yours("large")).all(),
)(InTorch(Variant(softmax=_overflowing)))

_nan_gradients = mistake(
    "The gradient through your weights isn't finite.",
    _nan_share,
    recognized=lambda e: (
        e.same("values") and any(not np.isfinite(g).all() for _, g in _gradients(e))
    ),
)(InTorch(Variant(softmax=_added)))

_gradient_stopped = mistake(
    "Your weights let no gradient through.",
    lambda e: unwrapped(f"""Yours is 0 everywhere, but the right one reaches
    {number(float(np.abs(e.right("gradient")).max()))}. It isn't enough that a gradient is finite,
    because the model has to learn from it."""),
    recognized=lambda e: e.same("values") and not any(g.any() for _, g in _gradients(e)),
)(InTorch(Variant(softmax=lambda s, v: safe_softmax(s.detach(), v) + 0 * s)))


def _stopped(evidence: Evidence) -> str:
    raised = evidence.answers.errors["ends"]
    where = f" at `{raised.line}`" if raised.line else ""
    return unwrapped(f"""It stopped with {raised.kind}{where}: {raised.message.rstrip(".")}. If
    there is nothing to see, all rows should be zeros.""")


def _below_the_least(scores: Tensor, visible: Tensor) -> Tensor:
    least = scores[visible].min().detach()
    weights = torch.where(visible, scores, least - 1e5).softmax(-1)
    return torch.where(visible.any(-1, keepdim=True), weights, 0.0)


_stops_without_real_symbols = mistake(
    "Your function stops with an error if a text is all padding.",
    _stopped,
    recognized=lambda e: (
        e.same(*_CASES) and "ends" in e.answers.errors and not e.inputs["ends"].any()
    ),
)(InTorch(Variant(softmax=_below_the_least)))


def _positions_seen(evidence: Evidence) -> Finding | None:
    """The first row that gives weight to other positions than the ones it should see."""
    if not evidence.comparable("values"):
        return None
    mine, right = evidence.yours("values") > NEGLIGIBLE, evidence.right("values") > NEGLIGIBLE
    off = np.flatnonzero((mine != right).any(axis=1))
    if not len(off):
        return None
    row = int(off[0])
    seen, wanted = (np.flatnonzero(side[row]) for side in (mine, right))
    zeros = [s for s in wanted if s not in seen and evidence.inputs["scores"][row, s] == 0]
    why = (
        f" The score of position {zeros[0]} is 0, which is a score like any other." if zeros else ""
    )
    return Finding(
        "other-positions-seen",
        "Some of your rows see other positions than they should.",
        f"Positions {listed(np.flatnonzero(~_sees(evidence)))} are padding. Your row {row} gives"
        f" weight to {_position(seen)} instead of {_position(wanted)}.{why}",
        MASK,
    )


def _position(positions: Array) -> str:
    """ "no position", "position 1" or "positions 1, 2"."""
    if not len(positions):
        return "no position"
    return f"position{'s' if len(positions) > 1 else ''} {listed(positions)}"


def _visible_scores(evidence: Evidence) -> Array:
    visible = _right(torch.from_numpy(_sees(evidence))).numpy()
    return np.where(visible, evidence.inputs["scores"], -np.inf).astype(float)


def _only_large(evidence: Evidence) -> Finding | None:
    if not evidence.same("whole", "values") or evidence.same("large"):
        return None
    scores = evidence.inputs["large"]
    return Finding(
        "large-scores",
        "Your weights are right for ordinary scores, but wrong for large ones.",
        f"Here, scores go from {number(float(scores.min()))} to {number(float(scores.max()))}. "
        f"{gap(evidence, 'large')} If you fill hidden scores with a number, it has to be below "
        "every score, as −∞ is. If you make scores smaller first, differences get lost. And if you "
        "cut weights after a softmax, those that are left may already be 0.",
        MASK,
    )


def _rows_of_padding(evidence: Evidence) -> Finding | None:
    """Right for real positions, but not zeros for padding."""
    if not _rows_right(evidence) or evidence.same("values"):
        return None
    mine, padding = evidence.yours("values"), np.flatnonzero(~_sees(evidence))
    row = next(int(t) for t in padding if not (mine[t] == 0).all())
    return Finding(
        "rows-of-padding",
        "Your rows of real positions are right, but those of padding aren't zeros.",
        f"Positions {listed(padding)} are padding, but your row {row} sums to "
        f"{number(float(mine[row].sum()))}.",
        MASK,
    )


def _only_elsewhere(evidence: Evidence) -> Finding | None:
    """Right with the padding of most cases, but wrong with padding in other places."""
    if not evidence.same(*_CASES) or evidence.same("ends"):
        return None
    padding = np.flatnonzero(~evidence.inputs["ends"])
    where = "everywhere" if len(padding) == evidence.number("T") else f"at {listed(padding)}"
    raised = evidence.answers.errors.get("ends")
    said = f"your function stops with {raised.kind}" if raised else "they are wrong"
    return Finding(
        "padding-elsewhere",
        "Your weights are right with padding at some positions, but not at others.",
        f"With padding at {listed(np.flatnonzero(~_sees(evidence)))} they are right, but with "
        f"padding {where} {said}. {gap(evidence, 'ends')}".strip(),
        MASK,
    )


def _another_gradient(evidence: Evidence) -> Finding | None:
    if not evidence.same(*_CASES, "ends") or evidence.same("gradient"):
        return None
    if "gradient" in evidence.answers.errors:
        return None
    return Finding(
        "another-gradient",
        "Your weights are right, but their gradient isn't that of a softmax.",
        f"{gap(evidence, 'gradient').replace('answer', 'gradient')} Does something between the "
        "scores and the weights block the gradient, such as `stop_gradient`, or change it?",
        MASK,
    )


TASK = Task(
    "Padding and safe gradients",
    InTorch(Variant()),
    MASK,
    (
        Part("Real positions average the real ones of their past.", 2, _rows_right),
        Part(
            "Positions of padding get rows of zeros.",
            1,
            lambda e: e.same(*_CASES, "ends"),
        ),
        Part(
            "Gradients are right and finite.",
            2,
            lambda e: e.same("gradient", "wild"),
        ),
    ),
    properties=(
        _rows_of_padding,
        _positions_seen,
        rows_sum_to_one("values", MASK),
        scores_times_a_factor("values", _visible_scores, MASK),
        _only_large,
        _only_elsewhere,
        _another_gradient,
    ),
    cases=_CASES,
)
