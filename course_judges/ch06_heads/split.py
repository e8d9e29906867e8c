"""Judges 06/split: the three parts of each head, out of one projection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torch import Tensor

from course_judges.ch06_heads import wording
from course_judges.ch06_heads.sections import STACK, VIEW
from course_judges.ch06_heads.wording import axes_apart, joined, origin, rows_of_view, shape
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, unwrapped
from course_tasks.verdict import Finding

Three = tuple[Tensor, Tensor, Tensor]


def split_heads(x: Tensor, n_head: int) -> Three:
    """Queries, keys and values (B, H, T, D) out of (B, T, H·3·D)."""
    B, T, width = x.shape
    # (B, T, H·3·D) → (B, T, H, 3, D) → (3, B, H, T, D)
    parts = x.view(B, T, n_head, 3, width // (3 * n_head)).permute(3, 0, 2, 1, 4)
    return parts[0], parts[1], parts[2]


def _each(change: Callable[[Tensor], Tensor]) -> Callable[[Tensor, int], Three]:
    """The right parts, all changed in the same way."""

    def answer(x: Tensor, n_head: int) -> Three:
        query, key, value = split_heads(x, n_head)
        return change(query), change(key), change(value)

    return answer


def _cut_by_view(part: Tensor) -> Tensor:
    """(B, T, H·D), cut into (B, H, T, D) by view alone."""
    return part.transpose(1, 2).reshape(part.shape)


def _first_wrong(evidence: Evidence) -> str:
    """An entry of yours that came from the wrong place, and from which."""
    for name, word in (("query", "queries"), ("key", "keys"), ("value", "values")):
        mine, right = evidence.yours(f"heads.{name}"), evidence.right(f"heads.{name}")
        if mine.shape != right.shape:
            continue
        wrong = np.argwhere(mine != right)
        if len(wrong):
            b, h, t, d = (int(i) for i in wrong[0])
            came = origin(evidence.inputs["x"], float(mine[b, h, t, d]))
            wanted = origin(evidence.inputs["x"], float(right[b, h, t, d]))
            assert wanted is not None
            told = "isn't in x"
            if came is not None:
                sample = f"sample {came[0]}, " if came[0] != b else ""
                told = f"comes from {sample}position {came[1]}, channel {came[2]} of x"
            return unwrapped(f"""In your {word} of sample {b}, head {h}, position {t}, entry {d}
            {told}, but it should come from position {wanted[1]}, channel {wanted[2]}.""")
    return ""


def _layout(evidence: Evidence) -> str:
    D = evidence.number("D")
    return unwrapped(f"""In x, the first {3 * D} channels belong to head 0: {D} for its query, {D}
    for its key and {D} for its value. {_first_wrong(evidence)}""")


def _axes(evidence: Evidence) -> str:
    """Along which axes of x entries are wrong, and in which of the three results. A head has three
    parts: query, key and value.
    """
    B, T, H, D = (evidence.number(name) for name in "BTHD")
    x = evidence.inputs["x"].reshape(B, T, H, 3, D)
    off = [name for name in _RESULTS if not evidence.same(f"heads.{name}")]
    good = [word for name, word in _RESULTS.items() if name not in off]
    told = f"Your {' and '.join(good)} are right. " if good and off else ""
    scaled = _scaled(evidence, off, D)
    if scaled:
        return f"{told}{scaled}"
    for name in off:
        mine, right = evidence.yours(f"heads.{name}"), evidence.right(f"heads.{name}")
        axes = axes_apart(x, mine, right, ("samples", "positions", "heads", "parts", "channels"))
        if axes:
            return f"{told}In your {_RESULTS[name]}, {axes}"
    return told.strip()


def _scaled(evidence: Evidence, off: list[str], D: int) -> str:
    """A sentence on entries that are in the right place, but times a factor; empty if they aren't
    all like that.
    """
    pairs = [(evidence.yours(f"heads.{name}"), evidence.right(f"heads.{name}")) for name in off]
    if not pairs or any(mine.shape != right.shape for mine, right in pairs):
        return ""
    whose = f"Your {joined([_RESULTS[name] for name in off])} are"
    factors = [float(np.median(mine / right)) for mine, right in pairs]
    all_alike = np.ptp(factors) < 1e-5 * abs(factors[0])
    pairs_of_factor = zip(pairs, factors, strict=True)
    if all(np.allclose(m, f * r, rtol=1e-5, atol=0) for (m, r), f in pairs_of_factor) and all_alike:
        return f"{whose} {_named(factors[0], D)} times the right ones."
    if all(np.allclose(mine, right, rtol=1e-2, atol=0) for mine, right in pairs):
        return f"{whose} nearly right, as if they were rounded or converted to another dtype."
    ratios = [mine / right for mine, right in pairs]
    if D > 1 and all(np.allclose(one, one[..., :1], rtol=1e-4, atol=0) for one in ratios):
        ones = all(np.allclose(np.linalg.norm(m, axis=-1), 1, atol=1e-4) for m, _ in pairs)
        how = "each divided by its length" if ones else "each times a factor of its own"
        return f"{whose} the right vectors, {how}."
    return ""


def _named(factor: float, D: int) -> str:
    """A factor, with what it is in terms of the head size, if that is known."""
    ways = {"1/√D": D**-0.5, "√D": D**0.5, "1/D": 1 / D, "D": D, "the fourth root of 1/D": D**-0.25}
    names = [name for name, one in ways.items() if np.isclose(factor, one, rtol=1e-5, atol=0)]
    return f"{number(factor)} = {names[0]}" if names else number(factor)


def _other_entries(evidence: Evidence) -> Finding | None:
    told = f"{_first_wrong(evidence)} {_axes(evidence)}".strip()
    if " isn't in x, " in told:
        told += " Splitting moves entries and changes none."
        return Finding(
            "entries-changed", "Some of your entries are numbers that aren't in x.", told, STACK
        )
    return Finding("entries-from-elsewhere", "Some entries come from the wrong place.", told, STACK)


_NAMES = ("queries", "keys", "values")
_RESULTS = dict(zip(("query", "key", "value"), _NAMES, strict=True))


def _taken_for(evidence: Evidence) -> list[int]:
    """Which of the three right results each of yours is.

    Raises
    ------
    ValueError
        If one of them is none.
    """
    right = [evidence.right(f"heads.{name}") for name in ("query", "key", "value")]
    taken = []
    for name in ("query", "key", "value"):
        mine = evidence.yours(f"heads.{name}")
        taken.append([np.array_equal(mine, one) for one in right].index(True))
    return taken


@mistake("You cut x as in the chapter: all queries, then all keys, then all values.", _layout)
def _other_layout(x: Tensor, n_head: int) -> Three:
    B, T, width = x.shape
    parts = x.view(B, T, 3, n_head, width // (3 * n_head)).permute(2, 0, 3, 1, 4)
    return parts[0], parts[1], parts[2]


_view_without_transpose = mistake(
    wording.MOVED_BY_VIEW,
    lambda e: f"{rows_of_view(e)} {_first_wrong(e)}",
    VIEW,
)(_each(_cut_by_view))

_heads_not_in_front = mistake(
    "Your heads still come after time: (B, T, H, D).",
    lambda e: unwrapped(f"""{shape(e, "heads.query")} With `@`, the heads of each position would
    look at each other."""),
)(_each(lambda part: part.transpose(1, 2)))

_time_last = mistake(
    "You swapped time and channels: (B, H, D, T).",
    lambda e: f"{shape(e, 'heads.query')} Transpose the keys where you need them, not here.",
)(_each(lambda part: part.transpose(2, 3)))

_heads_before_batch = mistake(
    "Your heads come before the batch: (H, B, T, D).", lambda e: shape(e, "heads.query")
)(_each(lambda part: part.transpose(0, 1)))


@mistake("You took every third channel, but the D channels of a query are side by side.", _layout)
def _takes_every_third(x: Tensor, n_head: int) -> Three:
    B, T, width = x.shape
    parts = x.view(B, T, n_head, width // (3 * n_head), 3).permute(4, 0, 2, 1, 3)
    return parts[0], parts[1], parts[2]


@mistake(wording.DEALT_OUT, _layout)
def _heads_take_turns(x: Tensor, n_head: int) -> Three:
    B, T, width = x.shape
    parts = x.view(B, T, 3, width // (3 * n_head), n_head).permute(2, 0, 4, 1, 3)
    return parts[0], parts[1], parts[2]


@mistake(
    "Your heads begin D channels apart, but each has 3 · D, for a query, a key and a value.",
    _layout,
)
def _heads_too_close(x: Tensor, n_head: int) -> Three:
    D = x.shape[-1] // (3 * n_head)
    parts = x.unfold(-1, 3 * D, D)[:, :, :n_head].transpose(1, 2)  # (B, H, T, 3D)
    query, key, value = parts.chunk(3, dim=-1)
    return query, key, value


@mistake("You swapped queries and keys.", _first_wrong)
def _swapped_query_key(x: Tensor, n_head: int) -> Three:
    query, key, value = split_heads(x, n_head)
    return key, query, value


@mistake("You returned values, queries, keys instead of queries, keys, values.", _first_wrong)
def _value_first(x: Tensor, n_head: int) -> Three:
    query, key, value = split_heads(x, n_head)
    return value, query, key


@mistake(
    lambda e: unwrapped(f"""You returned {", ".join(_NAMES[n] for n in _taken_for(e))} instead of
    queries, keys, values."""),
    _first_wrong,
    recognized=lambda e: _taken_for(e) != [0, 1, 2],
)
def _results_in_another_order(x: Tensor, n_head: int) -> Three:
    query, key, value = split_heads(x, n_head)
    return query, value, key


_heads_reversed = mistake(
    "Your heads are in reverse order: the last one comes first.", _first_wrong
)(_each(lambda part: part.flip(1)))

_heads_for_samples = mistake(
    "You mixed up heads and samples: the heads of one sample are spread over several.",
    lambda e: unwrapped(f"""{_first_wrong(e)} (H · B, T, D) and (B · H, T, D) hold the same texts in
    a different order, and a `view` or `reshape` doesn't move the batch to the front."""),
    VIEW,
)(_each(lambda part: part.transpose(0, 1).reshape(part.shape)))


TASK = Task(
    "Splitting heads",
    split_heads,
    STACK,
    (
        Part("The values of every head and position are right.", 2, matches("heads.value")),
        Part(
            "Queries and keys are right, and in this order.",
            2,
            matches("heads.query", "heads.key"),
        ),
    ),
    properties=(_other_entries,),
)
