"""What the tasks of chapter 09 ask: inputs and calls, no answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_tasks.answers import Array, input_text, text_input
from course_tasks.ch09_names.models import Echoes, Recurrent
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Case, Inputs, Probe


def _several(result: Any, names: str) -> dict[str, Any]:
    """What an answer returns as a tuple, by names."""
    wanted = names.split()
    if not isinstance(result, list | tuple) or len(result) != len(wanted):
        found = type(result).__name__
        raise TypeError(f"{len(wanted)} results are expected, {', '.join(wanted)}; got a {found}")
    return dict(zip(wanted, result, strict=True))


def _stacked(result: Any) -> Any:
    tensors = isinstance(result, list | tuple) and all(isinstance(r, Tensor) for r in result)
    return torch.stack(list(result)) if tensors and result else result


# --- split ----------------------------------------------------------------------------------------

_SYLLABLES = ("an", "el", "io", "ra", "mi", "tu", "os", "ke", "ya", "du")


def _names(rng: Rng, count: int) -> list[str]:
    names: dict[str, None] = {}
    while len(names) < count:
        names["".join(rng.choice(_SYLLABLES, int(rng.integers(2, 4))))] = None
    return list(names)


def _split_inputs(rng: Rng) -> Inputs:
    distinct = _names(rng, int(rng.integers(22, 27)))
    entries = [*distinct, *distinct[:7], *(name.capitalize() for name in distinct[3:12])]
    entries += [name.upper() for name in distinct[9:14]]
    listed = [entries[i] for i in rng.permutation(len(entries))]
    K = len(distinct)
    return {
        "names": text_input("\n".join(listed)),
        "order": rng.permutation(K).astype(np.int64),
        "held_out": whole(int(rng.integers(4, 7))),
        "K": whole(K),
    }


def _split(answer: Any, given: Inputs) -> Any:
    names = input_text(given["names"]).split("\n")
    result = answer(names, given["order"].tolist(), int(given["held_out"]))
    parts = _several(result, "train validation test")
    return {name: "\n".join(part) for name, part in parts.items()}


# --- stream ---------------------------------------------------------------------------------------


def _stream_inputs(rng: Rng) -> Inputs:
    B, T = int(rng.choice([2, 3])), int(rng.choice([5, 6]))
    each = int(rng.integers(5, 7))
    K = B * each
    # At least four steps, so never as many as rows; a letter also says where it came from.
    lengths = rng.integers(4, 8, size=K)
    letters = rng.permutation(int(lengths.sum())) + 1
    order = rng.permutation(K)
    while (lengths[order[:each]] + 1).sum() % T == 0:  # a cut after whole windows would be right
        order = rng.permutation(K)
    return {
        "letters": letters.astype(np.int64),
        "lengths": lengths.astype(np.int64),
        "order": order.astype(np.int64),
        "batch_size": whole(B),
        "block_size": whole(T),
    }


def _stream(answer: Any, given: Inputs) -> Any:
    names = [part.tolist() for part in np.split(given["letters"], given["lengths"].cumsum()[:-1])]
    sizes = int(given["batch_size"]), int(given["block_size"])
    result = answer(names, given["order"].tolist(), *sizes)
    return {name: _stacked(part) for name, part in _several(result, "x y").items()}


# --- carried --------------------------------------------------------------------------------------


def _carried_inputs(rng: Rng) -> Inputs:
    B, T, V = int(rng.integers(3, 5)), int(rng.integers(5, 7)), int(rng.integers(9, 12))
    C, H, S = 7, 8, 4
    fresh = np.zeros((S, B), dtype=bool)
    fresh[0] = True
    fresh[2, int(rng.integers(B))] = True  # one row begins anew, the others go on
    shapes = {"embedding": (V, C), "inward": (C, H), "across": (H, H), "output": (H, V)}
    weights = {
        name: (rng.normal(size=shape) * 0.9 / np.sqrt(shape[0] if shape[0] != V else 1)).astype(
            np.float32
        )
        for name, shape in shapes.items()
    }
    return {
        **weights,
        "x": rng.integers(V, size=(S, B, T)).astype(np.int64),
        "y": rng.integers(V, size=(S, B, T)).astype(np.int64),
        "fresh": fresh,
    }


def _carried(answer: Any, given: Inputs) -> Any:
    model = Recurrent(*(tensor(given[n]) for n in ("embedding", "inward", "across", "output")))
    batches = list(zip(tensor(given["x"]), tensor(given["y"]), tensor(given["fresh"]), strict=True))
    losses = answer(model, batches)
    gradients = {
        name: torch.zeros_like(p) if p.grad is None else p.grad
        for name, p in model.named_parameters()
    }
    return {"losses": [float(loss) for loss in losses], "gradients": gradients}


# --- last -----------------------------------------------------------------------------------------


def _echoes(rng: Rng, V: int, block_size: int) -> dict[str, Array]:
    return {
        "table": (1.2 * rng.normal(size=(V, V))).astype(np.float32),
        "fading": number(int(rng.integers(55, 81)) / 100),
        "block_size": whole(block_size),
    }


def _model(given: Inputs) -> Echoes:
    return Echoes(tensor(given["table"]), float(given["fading"]), int(given["block_size"]))


def _last_inputs(rng: Rng) -> Inputs:
    V, longest = int(rng.integers(9, 13)), int(rng.integers(6, 9))
    lengths = np.array([2, int(rng.integers(3, 5)), longest])
    return {
        **_echoes(rng, V, longest),
        "tokens": rng.integers(V, size=int(rng.integers(35, 45))).astype(np.int64),
        "lengths": rng.permutation(lengths).astype(np.int64),
    }


def _last(answer: Any, given: Inputs) -> Any:
    found = answer(_model(given).eval(), tensor(given["tokens"]), given["lengths"].tolist())
    return [float(loss) for loss in found]


# --- by-letter ------------------------------------------------------------------------------------


def _by_letter_inputs(rng: Rng) -> Inputs:
    B, T, V = 9, int(rng.integers(14, 18)), int(rng.integers(8, 12))
    letters = rng.integers(1, V, size=(B, T + 1))
    longest = 4
    for row in letters:  # a boundary every few letters, and not at the beginning of the row
        place = int(rng.integers(1, 4))
        while place <= T:
            row[place] = 0
            place += int(rng.integers(longest + 1, longest + 3))
    y = letters[:, 1:].copy()
    y[-1, -int(rng.integers(3, 6)) :] = -100
    return {
        "logits": (1.5 * rng.normal(size=(B, T, V))).astype(np.float32),
        "x": letters[:, :-1].astype(np.int64),
        "y": y.astype(np.int64),
        "longest": whole(longest),
    }


def _by_letter(answer: Any, given: Inputs) -> Any:
    x, y, logits = tensor(given["x"]), tensor(given["y"]), tensor(given["logits"])
    return answer(logits, x, y, 0, int(given["longest"]))


# --- one-cycle ------------------------------------------------------------------------------------


def _one_cycle_inputs(rng: Rng) -> Inputs:
    return {
        "steps": whole(10 * int(rng.integers(3, 5))),
        "rise": number(float(rng.choice([0.2, 0.3, 0.4]))),
        "peak": number(int(rng.integers(2, 10)) / 100),
        "start_factor": number(int(rng.integers(5, 30))),
        "final_factor": number(int(rng.integers(40, 90))),
        "low": number(int(rng.integers(75, 86)) / 100),
        "high": number(int(rng.integers(92, 99)) / 100),
    }


def _one_cycle(answer: Any, given: Inputs) -> Any:
    names = ("rise", "peak", "start_factor", "final_factor", "low", "high")
    settings = {name: float(given[name]) for name in names}
    steps = int(given["steps"])
    both = [_several(answer(step, steps, **settings), "rate momentum") for step in range(steps)]
    # In units in which both are of the size of 1: a final rate of 1e-5 would drown in a tolerance.
    return {
        "rate": [float(b["rate"]) / settings["peak"] for b in both],
        "momentum": [float(b["momentum"]) for b in both],
        "end": float(np.log(max(float(both[-1]["rate"]), 1e-300))),
    }


# --- spell ----------------------------------------------------------------------------------------

NAMES_A_CASE = 16


def _spell_inputs(rng: Rng) -> Inputs:
    V, block_size = int(rng.integers(9, 12)), 4
    longest = int(rng.integers(8, 10))
    inputs = _echoes(rng, V, block_size)
    # Letters are unlikelier than a logit of 0, names end soon, and hardly ever before they begin.
    inputs["table"] = 0.5 * inputs["table"] - 1.0
    inputs["table"][:, 0] = -0.4
    inputs["table"][0, 0] = -4.0
    return {
        **inputs,
        "V": whole(V),
        "prefixes": rng.integers(1, V, size=(NAMES_A_CASE, 3)).astype(np.int64),
        "uniform": rng.uniform(0.02, 0.98, size=(NAMES_A_CASE, 12)),
        "temperature": number(float(rng.choice([0.4, 0.5, 0.6]))),
        "shortest": whole(5),
        "longest": whole(longest),
    }


def _spell(prefix: int, shortest: bool) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        least = int(given["shortest"]) if shortest else 0
        rows = np.full((NAMES_A_CASE, 16), -1)
        for row, start, uniform in zip(rows, given["prefixes"], given["uniform"], strict=True):
            model = _model(given).train()
            found = answer(
                model,
                start[:prefix].tolist(),
                least,
                int(given["longest"]),
                float(given["temperature"]),
                uniform.tolist(),
            )
            letters = [int(token) for token in found][:16]
            row[: len(letters)] = letters
            row[15] = -2 if model.training else -3  # the mode it was left in is an answer, too
        return rows

    return ask


PROBES: dict[str, Probe] = {
    "split": Probe(_split_inputs, {"split": _split}),
    "stream": Probe(_stream_inputs, {"stream": _stream}),
    "carried": Probe(_carried_inputs, {"pieces": _carried}),
    "last": Probe(_last_inputs, {"losses": _last}),
    "by-letter": Probe(_by_letter_inputs, {"losses": _by_letter}),
    "one-cycle": Probe(_one_cycle_inputs, {"cycle": _one_cycle}),
    "spell": Probe(
        _spell_inputs,
        {
            "empty": _spell(0, shortest=False),
            "prefix": _spell(3, shortest=False),
            "shortest": _spell(2, shortest=True),
        },
    ),
}
