"""What 10/keys asks."""

from __future__ import annotations

from typing import Any

from course_tasks.ch10_jax.shared import dimensions
from course_tasks.ch10_jax.sides import side_of
from course_tasks.errors import ReturnedTypeError
from course_tasks.inputs import Rng, parts_of, whole
from course_tasks.probing import Case, Inputs, Probe

# Numbers drawn from the key that comes back: enough to be told from every leaf.
DRAWS = 200


def _keys_inputs(rng: Rng) -> Inputs:
    # Rows and columns differ by a factor of 2 and more, so that their roots are told apart.
    C, D, V = dimensions(rng, (40, 16, 100), (44, 12, 110))
    return {
        "seed": whole(int(rng.integers(2**31))),
        "C": whole(C),
        "D": whole(D),
        "V": whole(V),
    }


def shapes_of(given: Inputs) -> dict[str, Any]:
    """The tree of shapes that is to be drawn."""
    C, D, V = (int(given[name]) for name in ("C", "D", "V"))
    head = {"query": (C, D), "key": (C, D), "value": (C, D)}
    return {"tokens": (V, C), "head": head, "output": (C, V)}


def _drawn(answer: Any, given: Inputs, shift: int) -> dict[str, Any]:
    side, function = side_of(answer)
    result = function(side.key(int(given["seed"]) + shift), shapes_of(given))
    parts = parts_of(result, "tree", "key")
    if isinstance(parts["key"], dict):
        raise ReturnedTypeError("returned a tree in the second place; expected the tree first")
    return {"tree": parts["tree"], "next": side.normal(parts["key"], DRAWS)}


def _keys(shift: int) -> Case:
    return lambda answer, given: _drawn(answer, given, shift)


def _keys_given(answer: Any, given: Inputs) -> Any:
    """What the given key itself draws; the answer is only asked whether it runs at all."""
    side, function = side_of(answer)
    function(side.key(int(given["seed"])), shapes_of(given))
    return side.normal(side.key(int(given["seed"])), DRAWS)


def _keys_watched(answer: Any, given: Inputs) -> Any:
    side, function = side_of(answer)
    with side.watching_keys():
        parts = parts_of(function(side.key(int(given["seed"])), shapes_of(given)), "tree", "key")
        side.normal(parts["key"], 1)
    return 1


PROBE = Probe(
    _keys_inputs,
    {
        "first": _keys(0),
        "again": _keys(0),
        "other": _keys(1),
        "given": _keys_given,
        "watched": _keys_watched,
    },
    same_sizes="JAX compiles every operation again for other sizes, which takes seconds",
)
