"""What the tasks of chapter 06 ask: inputs and calls, no answers.

Sizes that stand for different things differ, so that a size in the wrong place shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course_tasks.answers import Array
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Case, Inputs, Probe, load_weights

# Samples whose heads are dropped: enough that a share of 0.25 is told from one of 0.3.
SAMPLES = 2000


def _matrix(rng: Rng, rows: int, columns: int, width: int, gain: float = 1.0) -> Array:
    """A float32 matrix that keeps the size of vectors of `width` entries, times the gain."""
    return (rng.normal(size=(rows, columns)) * gain / np.sqrt(width)).astype(np.float32)


def _values(rng: Rng, *shape: int) -> Array:
    return rng.normal(size=shape).astype(np.float32)


def _seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# --- concat ---------------------------------------------------------------------------------------


def _concat_inputs(rng: Rng) -> Inputs:
    B, T, C = int(rng.choice([2, 4])), int(rng.integers(6, 9)), int(rng.integers(9, 12))
    D, sizes = int(rng.choice([4, 5])), rng.permutation([2, 3, 5])
    inputs = {
        "x": _values(rng, B, T, C),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "H": whole(3),
        "D": whole(D),
        "sizes": sizes.astype(np.int64),
    }
    for case, widths in (("equal", [D] * 3), ("unequal", sizes)):
        for h, width in enumerate(widths):
            for part in ("query", "key", "value"):
                inputs[f"{case}_{part}_{h}"] = _matrix(rng, C, int(width), C, gain=1.5)
    return inputs


def _concat(case: str) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        heads = [
            tuple(tensor(given[f"{case}_{part}_{h}"]) for part in ("query", "key", "value"))
            for h in range(3)
        ]
        return answer(tensor(given["x"]), heads)

    return ask


# --- projection -----------------------------------------------------------------------------------


class RunningMean(nn.Module):
    """A head that looks at all of its past alike: (B, T, C) → (B, T, D)."""

    def __init__(self, weight: Tensor):
        super().__init__()
        self.value = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
        with torch.no_grad():
            self.value.weight.copy_(weight)

    def forward(self, x: Tensor) -> Tensor:
        """The mean of the values so far."""
        T = x.shape[1]
        past = torch.ones(T, T).tril()
        return past / past.sum(dim=1, keepdim=True) @ self.value(x)  # (T, T) @ (B, T, D)


def _projection_inputs(rng: Rng) -> Inputs:
    B, T = int(rng.integers(2, 4)), int(rng.integers(6, 9))
    H, D, C = 4, 5, int(rng.choice([9, 10, 11]))
    return {
        "x": _values(rng, B, T, C),
        "heads": np.stack([_matrix(rng, D, C, C) for _ in range(H)]),
        "weight": _matrix(rng, C, H * D, H * D, gain=1.5),
        "bias": _values(rng, C),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "H": whole(H),
        "D": whole(D),
    }


def _built(answer: Any, given: Inputs) -> nn.Module:
    heads = [RunningMean(tensor(weight)) for weight in given["heads"]]
    module = answer(heads, int(given["D"]), int(given["C"]))
    if not isinstance(module, nn.Module):
        raise TypeError(
            f"calling the class should make an nn.Module; it made a {type(module).__name__}"
        )
    return module


def _project(answer: Any, given: Inputs, *, silent: bool) -> Any:
    module = _built(answer, given)
    weight = np.zeros_like(given["weight"]) if silent else given["weight"]
    load_weights(module, {"projection.weight": weight, "projection.bias": given["bias"]})
    return module(tensor(given["x"]))


def _count(answer: Any, given: Inputs) -> Any:
    return sum(parameter.numel() for parameter in _built(answer, given).parameters())


# --- split ----------------------------------------------------------------------------------------


def _labels(rng: Rng, *shape: int) -> Array:
    """Numbers that occur once each: whoever meets one knows where it came from."""
    return rng.permutation(int(np.prod(shape))).reshape(shape).astype(np.float32)


def _split_inputs(rng: Rng) -> Inputs:
    B, H = 3, int(rng.choice([2, 4]))
    D, T = (int(n) for n in rng.choice([5, 6, 7, 8], size=2, replace=False))
    return {
        "x": _labels(rng, B, T, 3 * H * D),
        "B": whole(B),
        "T": whole(T),
        "H": whole(H),
        "D": whole(D),
    }


def _split(answer: Any, given: Inputs) -> Any:
    result = answer(tensor(given["x"]), int(given["H"]))
    if isinstance(result, str) or not hasattr(result, "__len__") or len(result) != 3:
        raise TypeError(
            "the function should return three tensors, queries, keys and values; "
            f"it returned a {type(result).__name__}"
        )
    return {"query": result[0], "key": result[1], "value": result[2]}


# --- merge ----------------------------------------------------------------------------------------


def _merge_inputs(rng: Rng) -> Inputs:
    B, H, D = 2, int(rng.choice([4, 5])), 3
    T = int(rng.integers(6, 9))
    silenced = np.sort(rng.choice(H, size=int(rng.integers(1, 3)), replace=False))
    return {
        # No entry is 0, which only a silenced head may leave behind.
        "found": _labels(rng, B, H, T, D) + 1,
        "silenced": silenced.astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "H": whole(H),
        "D": whole(D),
    }


def _merge_all(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["found"]), [])


def _merge_silenced(answer: Any, given: Inputs) -> Any:
    found = tensor(given["found"])
    # A copy, because a merged tensor may share its memory with the one that came in.
    merged = torch.as_tensor(answer(found, given["silenced"].tolist())).clone()
    return {"merged": merged, "given": found}


# --- dropout --------------------------------------------------------------------------------------


def _dropout_inputs(rng: Rng) -> Inputs:
    H, T, D = 4, 2, 3
    signs = rng.choice([-1.0, 1.0], size=(SAMPLES, H, T, D))
    return {
        # Far from 0, so that what was dropped is told from what was small.
        "found": (signs * rng.uniform(0.5, 2.0, size=(SAMPLES, H, T, D))).astype(np.float32),
        "p": np.asarray(float(rng.choice([0.2, 0.25, 0.3, 0.7, 0.75, 0.8]))),
        "few": _values(rng, 5, H, 7, D),
        "H": whole(H),
        "seed": whole(int(rng.integers(2**31))),
    }


def _drop(training: bool, found: str, p: float | None = None) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        share = float(given["p"]) if p is None else p
        return answer(tensor(given[found]), share, training, _seeded(int(given["seed"])))

    return ask


def _drop_again(answer: Any, given: Inputs) -> Any:
    found, seed = tensor(given["found"][:60]), int(given["seed"])
    generator = _seeded(seed)
    return {
        "first": answer(found.clone(), 0.5, True, generator),
        "second": answer(found.clone(), 0.5, True, generator),
        "repeated": answer(found.clone(), 0.5, True, _seeded(seed)),
        "other": answer(found.clone(), 0.5, True, _seeded(seed + 1)),
    }


# --- fused ----------------------------------------------------------------------------------------


def _fused_inputs(rng: Rng) -> Inputs:
    B, H = (int(n) for n in rng.choice([2, 3, 4], size=2, replace=False))
    D, T = 5, int(rng.choice([6, 7, 8]))
    C = H * D
    t = int(rng.integers(2, T - 1))
    x = _values(rng, B, T, C)
    later, others = x.copy(), x.copy()
    later[:, t:] += 1
    others[1:] += 1
    return {
        "x": x,
        "later": later,
        "others": others,
        "qkv": _matrix(rng, 3 * C, C, C, gain=1.5),
        "projection": _matrix(rng, C, C, C),
        # Different for every head, and none of them wide enough to see everything.
        "reach": rng.choice(np.arange(2, T - 1), size=H, replace=False).astype(np.int64)
        if T - 3 >= H
        else rng.permutation(np.arange(2, 2 + H)).astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "H": whole(H),
        "D": whole(D),
        "t": whole(t),
    }


def _fused(x: str, *, wide: bool) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        T, H = int(given["T"]), int(given["H"])
        reach = [T + 1 + h for h in range(H)] if wide else given["reach"].tolist()
        return answer(tensor(given[x]), tensor(given["qkv"]), tensor(given["projection"]), reach)

    return ask


PROBES: dict[str, Probe] = {
    "concat": Probe(_concat_inputs, {"equal": _concat("equal"), "unequal": _concat("unequal")}),
    "projection": Probe(
        _projection_inputs,
        {
            "output": lambda answer, given: _project(answer, given, silent=False),
            "silent": lambda answer, given: _project(answer, given, silent=True),
            "parameters": _count,
        },
    ),
    "split": Probe(_split_inputs, {"heads": _split}),
    "merge": Probe(_merge_inputs, {"all": _merge_all, "some": _merge_silenced}),
    "dropout": Probe(
        _dropout_inputs,
        {
            "many": _drop(True, "found"),
            "evaluation": _drop(False, "few"),
            "none": _drop(True, "few", 0.0),
            "every": _drop(True, "few", 1.0),
            "seeded": _drop_again,
        },
    ),
    "fused": Probe(
        _fused_inputs,
        {
            "plain": _fused("x", wide=True),
            "reach": _fused("x", wide=False),
            "future": _fused("later", wide=True),
            "samples": _fused("others", wide=True),
        },
    ),
}
