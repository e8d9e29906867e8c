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
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.ch10_jax.sides import InTorch
from course_tasks.verdict import Finding


def _past(real: Tensor) -> Tensor:
    return torch.ones(len(real), len(real)).tril().bool()


def _right(real: Tensor) -> Tensor:
    """(T, T): real positions see the real ones of their past."""
    return _past(real) & real & real[:, None]


def safe_softmax(scores: Tensor, visible: Tensor, dim: int = -1) -> Tensor:
    """Softmax over what is visible; zeros where nothing is."""
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
    """The future is hidden before the softmax, and padding after it."""
    past = torch.ones_like(visible).tril()
    return torch.where(past, scores, -torch.inf).softmax(-1) * visible


# So far below the largest score an exponential in float32 is 0 beside it, and so near it is not.
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
    """Rows of real positions, where padding is in the game and where it is not."""
    rows = _sees(evidence)
    return evidence.same("whole") and all(
        np.allclose(evidence.yours(case)[rows], evidence.right(case)[rows], atol=1e-5)
        for case in ("values", "large")
    )


def _largest_visible(evidence: Evidence) -> Array:
    """(T,): of the large scores that a row sees; −∞ where it sees nothing."""
    visible = _right(torch.from_numpy(_sees(evidence))).numpy()
    return np.where(visible, evidence.inputs["large"], -np.inf).max(axis=1)


def _empty(evidence: Evidence) -> Array:
    """(T,): which rows that see something have no weights among the large scores."""
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
    """Of which scores the largest is subtracted, and it for each row; None where neither fits."""
    scores = evidence.inputs["large"]
    both = ("in its row", scores.max(axis=1)), ("in any row", np.full(len(scores), scores.max()))
    return next((one for one in both if _subtracts(evidence, one[1])), None)


def _empty_row(evidence: Evidence) -> str:
    found = _largest_of(evidence)
    assert found is not None  # or the mistake is not recognized
    which, largest = found
    row = int(np.flatnonzero(_empty(evidence))[0])
    sees = number(float(_largest_visible(evidence)[row]))
    return unwrapped(f"""Row {row} of the large scores has no weights left. It sees scores up to
    {sees}, and the largest {which} is {number(float(largest[row]))}: beside that one, every
    exponential is 0. Mask first, so that the largest score is one that the row sees.""")


def _gradients(evidence: Evidence) -> list[tuple[str, Array]]:
    return [(case, evidence.yours(case)) for case in ("gradient", "wild")]


def _values(evidence: Evidence) -> str:
    padding = listed(np.flatnonzero(~_sees(evidence)))
    return f"Positions {padding} are padding. {gap(evidence, 'values')}"


def _nan_share(evidence: Evidence) -> str:
    case, gradient = next((case, g) for case, g in _gradients(evidence) if not np.isfinite(g).all())
    rows = np.flatnonzero(~np.isfinite(gradient).all(axis=1))
    why = (
        "A NaN that arises on the way, such as 0 / 0 in a row that sees nothing, can be replaced in"
        " the weights; in the gradient it stays. Choose harmless numbers with `jnp.where` before"
        " you divide, not after."
        if case == "gradient"
        else f"Hidden scores reach {number(float(evidence.inputs['wild'].max()))} here. What is"
        " computed of them before they are masked, such as `exp`, can be infinite: the mask keeps"
        " it out of the weights, not out of the gradient. Mask the scores first."
    )
    fine = "Your weights are right" if evidence.same(*_CASES) else "Small scores get right weights"
    return f"{fine}, and the gradient is not finite in rows {listed(rows)}. {why}"


_CASES = ("whole", "values", "large")


_padding_ignored = mistake("Padding looks and is looked at, like any other position.", _values)(
    InTorch(Variant(_past))
)

_padding_is_seen = mistake("Padding does not look, but it is looked at.", _values)(
    InTorch(Variant(lambda real: _past(real) & real[:, None]))
)

_padding_looks = mistake(
    "Padding is not looked at, but it still looks: its rows have to be 0.", _values
)(InTorch(Variant(lambda real: _past(real) & real)))

_real_hidden = mistake(
    "`real` is true where a position counts; you hid these and kept the padding.", _values
)(InTorch(Variant(lambda real: _past(real) & ~real & ~real[:, None])))

_padding_only_at_the_end = mistake(
    "You count the real symbols and take the first of the positions for them.",
    lambda e: unwrapped(f"""Padding may stand anywhere; where, `real` says position by position.
    {_values(e)}"""),
)(InTorch(Variant(lambda real: _right(torch.arange(len(real)) < real.sum()))))

_padding_ends_the_text = mistake(
    "Behind the first padding all is hidden, as if the text ended there.",
    lambda e: f"Padding may stand anywhere, before real symbols, too. {_values(e)}",
)(InTorch(Variant(lambda real: _right(real.long().cumprod(0).bool()))))

_no_causal_mask = mistake("Positions see the future.", _values)(
    InTorch(Variant(lambda real: real & real[:, None]))
)

_upper_triangle = mistake("Positions see the future and not the past.", _values)(
    InTorch(Variant(lambda real: _past(real).T & real & real[:, None]))
)

_diagonal_excluded = mistake("Positions do not see themselves.", _values)(
    InTorch(Variant(lambda real: _past(real).tril(-1) & real & real[:, None]))
)

_nan_rows = mistake(
    "Rows that see nothing are NaN: their softmax is 0 / 0.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("values")).any(axis=1).sum())} of {e.number("T")}
    rows are NaN, and every sum that meets them will be."""),
)(InTorch(Variant(softmax=lambda s, v: torch.where(v, s, -torch.inf).softmax(-1))))

_uniform_empty_rows = mistake(
    "Rows that see nothing look at everything alike: all their scores are the same.", _values
)(InTorch(Variant(softmax=lambda s, v: torch.where(v, s, -1000000000.0).softmax(-1))))

_zero_mask = families.zero_mask(_values)(
    InTorch(Variant(softmax=lambda s, v: torch.where(v, s, 0.0).softmax(-1)))
)

_weights_cut_afterwards = mistake(
    "You hide after the softmax: rows no longer sum to 1.",
    _values,
    also=(InTorch(Variant(softmax=_past_alone_before)),),
)(InTorch(Variant(softmax=lambda s, v: s.softmax(-1) * v)))

_softmax_over_queries = mistake(
    "Your softmax runs down the columns, over the positions that ask.",
    lambda e: f"{_values(e)} Each row is an average of its own: `axis=-1`.",
)(InTorch(Variant(softmax=lambda s, v: safe_softmax(s, v, dim=0))))

_largest_of_hidden_scores = mistake(
    "Scores that a row does not see count in your softmax: those far below them are lost.",
    _empty_row,
    recognized=lambda e: e.same("whole", "values") and _largest_of(e) is not None,
)(InTorch(Variant(softmax=_largest_of_the_row)))

_overflow = mistake(
    "Large scores overflow: their exponential is infinite.",
    lambda e: unwrapped(f"""With scores up to {number(float(e.inputs["large"].max()))}
    {int((~np.isfinite(e.yours("large"))).sum())} entries are NaN or infinite. Subtract the largest
    visible score of a row first, or let `jax.nn.softmax` do it."""),
    recognized=lambda e: e.same("whole", "values") and not np.isfinite(e.yours("large")).all(),
)(InTorch(Variant(softmax=_overflowing)))

_nan_gradients = mistake(
    "The gradient behind your weights is not finite.",
    _nan_share,
    recognized=lambda e: (
        e.same("values") and any(not np.isfinite(g).all() for _, g in _gradients(e))
    ),
)(InTorch(Variant(softmax=_added)))

_gradient_stopped = mistake(
    "No gradient passes: it is 0 everywhere.",
    lambda e: unwrapped(f"""The right one reaches
    {number(float(np.abs(e.right("gradient")).max()))}. Finite is not enough; the model has to learn
    from it."""),
    recognized=lambda e: e.same("values") and not any(g.any() for _, g in _gradients(e)),
)(InTorch(Variant(softmax=lambda s, v: safe_softmax(s.detach(), v) + 0 * s)))


def _stopped(evidence: Evidence) -> str:
    raised = evidence.answers.errors["ends"]
    where = f" at `{raised.line}`" if raised.line else ""
    return unwrapped(f"""It stopped with {raised.kind}{where}: {raised.message.rstrip(".")}. With
    nothing to see, every row is one of zeros.""")


def _below_the_least(scores: Tensor, visible: Tensor) -> Tensor:
    least = scores[visible].min().detach()
    weights = torch.where(visible, scores, least - 1e5).softmax(-1)
    return torch.where(visible.any(-1, keepdim=True), weights, 0.0)


_stops_without_real_symbols = mistake(
    "Where a text is all padding, your function stops.",
    _stopped,
    recognized=lambda e: (
        e.same(*_CASES) and "ends" in e.answers.errors and not e.inputs["ends"].any()
    ),
)(InTorch(Variant(softmax=_below_the_least)))


def _only_large(evidence: Evidence) -> Finding | None:
    if not evidence.same("whole", "values") or evidence.same("large"):
        return None
    scores = evidence.inputs["large"]
    return Finding(
        "large-scores",
        "Your weights are right for ordinary scores and wrong for large ones.",
        f"With scores from {number(float(scores.min()))} to {number(float(scores.max()))}: "
        f"{gap(evidence, 'large')} If you fill hidden scores with a number, it has to be below "
        "every score, which −∞ is; if you make scores smaller first, differences get lost; if you "
        "cut weights after a softmax, those that are left may be 0 already.",
        MASK,
    )


def _rows_of_padding(evidence: Evidence) -> Finding | None:
    """Right for real positions, and something where rows of zeros are asked for."""
    if not _rows_right(evidence) or evidence.same("values"):
        return None
    mine, padding = evidence.yours("values"), np.flatnonzero(~_sees(evidence))
    row = next(int(t) for t in padding if not (mine[t] == 0).all())
    return Finding(
        "rows-of-padding",
        "The rows of real positions are right, and those of padding are not zeros.",
        f"Positions {listed(padding)} are padding; row {row} of yours sums to "
        f"{number(float(mine[row].sum()))}.",
        MASK,
    )


def _only_elsewhere(evidence: Evidence) -> Finding | None:
    """Right with the padding of most cases, and wrong with it at other places."""
    if not evidence.same(*_CASES) or evidence.same("ends"):
        return None
    padding = np.flatnonzero(~evidence.inputs["ends"])
    where = "everywhere" if len(padding) == evidence.number("T") else f"at {listed(padding)}"
    raised = evidence.answers.errors.get("ends")
    said = f"it stopped with {raised.kind}." if raised else gap(evidence, "ends")
    return Finding(
        "padding-elsewhere",
        "Your weights are right with padding at some positions, and not at others.",
        f"With padding {where}: {said} With padding at {listed(np.flatnonzero(~_sees(evidence)))} "
        "they are right.",
        MASK,
    )


def _another_gradient(evidence: Evidence) -> Finding | None:
    if not evidence.same(*_CASES, "ends") or evidence.same("gradient"):
        return None
    if "gradient" in evidence.answers.errors:
        return None
    return Finding(
        "another-gradient",
        "Your weights are right, and their gradient is finite and another one than that of a "
        "softmax.",
        f"{gap(evidence, 'gradient')} Does something between scores and weights not let the "
        "gradient through, such as `stop_gradient`, or change it?",
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
            "Gradients are right and finite, whatever stands in hidden scores.",
            2,
            lambda e: e.same("gradient", "wild"),
        ),
    ),
    properties=(_rows_of_padding, _only_large, _only_elsewhere, _another_gradient),
    cases=_CASES,
)
