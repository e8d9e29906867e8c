"""What the tasks of chapter 03 ask: texts and tokens drawn fresh, one call of the answer a case.

Tokens are drawn without repetition, so that a token also says from which position it was read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_tasks.answers import input_text, text_input
from course_tasks.probing import Inputs, Probe

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_VOWELS = "aeiou"
# None of these is a word of English, so an error that holds one names it.
_UNKNOWN = "éñüßøłåçžœ"


def _names(rng: np.random.Generator, count: int, letters: str) -> list[str]:
    """Distinct names of three to six letters, vowels and consonants in turn."""
    vowels = [c for c in letters if c in _VOWELS]
    consonants = [c for c in letters if c not in _VOWELS]
    names: list[str] = []
    while len(names) < count:
        first = int(rng.integers(2))
        length = int(rng.integers(3, 7))
        name = "".join(
            str(rng.choice(vowels if (i + first) % 2 else consonants)) for i in range(length)
        )
        if name not in names:
            names.append(name)
    return names


def _tokens(rng: np.random.Generator, count: int) -> np.ndarray:
    """(N,) int64: 1 … N in random order, so that 0 is none of them."""
    return rng.permutation(count) + 1


def _long(given: Inputs, name: str) -> Tensor:
    return torch.from_numpy(given[name])


def _pair(result: Any) -> dict[str, Any]:
    """Inputs and targets, as tensors, arrays, lists of numbers or lists of rows."""
    x, y = _two(result, "inputs and targets")
    return {"x": _stacked(x), "y": _stacked(y)}


def _two(result: Any, names: str) -> tuple[Any, Any]:
    try:
        first, second = result
    except (TypeError, ValueError):
        if hasattr(result, "shape"):
            found = f"one of shape {tuple(result.shape)}"
        elif isinstance(result, list | tuple):
            found = f"a {type(result).__name__} of {len(result)}"
        else:
            found = repr(result)[:40]
        raise TypeError(f"two results are expected, {names}; returned was {found}") from None
    return first, second


def _stacked(rows: Any) -> Any:
    tensors = isinstance(rows, list | tuple) and all(isinstance(row, Tensor) for row in rows)
    return torch.stack(list(rows)) if tensors and rows else rows


# vocabulary


def _vocabulary_inputs(rng: np.random.Generator) -> Inputs:
    vowels = rng.choice(list("aeiou"), 4, replace=False)
    consonants = rng.choice(list("bcdfghklmnrst"), 7, replace=False)
    letters = "".join(vowels) + "".join(consonants)
    names = _names(rng, int(rng.integers(5, 8)), letters)
    used = sorted(set("".join(names)))
    names[0] = used[-1] + used[0] + names[0]  # the order of appearance is not the alphabet's
    bad, place = names[-1], int(rng.integers(1, 3))
    unknown = str(rng.choice(list(_UNKNOWN)))
    return {
        "names": text_input("\n".join(names)),
        # All of these come after 'z' in the order of code points.
        "boundary": text_input(str(rng.choice(list("|}~")))),
        "name": text_input(names[int(rng.integers(len(names) - 1))]),
        "bad": text_input(bad[:place] + unknown + bad[place:]),
        "unknown": text_input(unknown),
        "place": np.array([place]),
    }


def _vocabulary(answer: Any, given: Inputs) -> Any:
    return answer(input_text(given["names"]).split("\n"), input_text(given["boundary"]))


def _vocabulary_symbols(answer: Any, given: Inputs) -> Any:
    return "".join(_vocabulary(answer, given).symbols)


def _vocabulary_encode(answer: Any, given: Inputs) -> Any:
    return _vocabulary(answer, given).encode(input_text(given["name"]))


def _vocabulary_decode(answer: Any, given: Inputs) -> Any:
    """Tokens are made by the answer's own `encode`, whatever its numbering."""
    vocabulary = _vocabulary(answer, given)
    return vocabulary.decode(vocabulary.encode(input_text(given["name"])))


def _vocabulary_refuses(answer: Any, given: Inputs) -> Any:
    """The words of the error, which are what the task asks for; any other ending stays one."""
    vocabulary = _vocabulary(answer, given)
    try:
        return vocabulary.encode(input_text(given["bad"]))
    except ValueError as error:
        return str(error)


# windows


def _windows_inputs(rng: np.random.Generator) -> Inputs:
    T = int(rng.integers(5, 8))
    stride = int(rng.integers(2, T - 1))
    M = int(rng.integers(8, 11))
    # The last window ends one token before the text does in the first, which is just enough for
    # its last target, and with the text in the second, which is one too late.
    exact = T + 1 + (M - 1) * stride
    return {
        "tokens": _tokens(rng, exact),
        "longer": _tokens(rng, exact - 1 + stride),
        "block_size": np.array(T),
        "stride": np.array(stride),
    }


def _windows(name: str) -> Any:
    return lambda answer, given: _pair(
        answer(_long(given, name), int(given["block_size"]), int(given["stride"]))
    )


# batch


def _batch_inputs(rng: np.random.Generator) -> Inputs:
    T = int(rng.integers(5, 9))
    N = int(rng.integers(30, 40))
    B = int(rng.integers(3, 5))
    # One window near the beginning lacks at least two tokens; one has the last token as a target.
    ends = np.concatenate([[rng.integers(0, T - 3)], rng.integers(T, N - 2, size=B - 2), [N - 2]])
    return {
        "tokens": _tokens(rng, N),
        "ends": ends.astype(np.int64),
        "block_size": np.array(T),
        "padding": np.array(N + int(rng.integers(1, 4))),
    }


def _batch(answer: Any, given: Inputs) -> Any:
    return _pair(
        answer(
            _long(given, "tokens"),
            _long(given, "ends"),
            int(given["block_size"]),
            int(given["padding"]),
        )
    )


# sequential


def _sequential_inputs(rng: np.random.Generator) -> Inputs:
    B = int(rng.choice([2, 3]))
    T = int(rng.choice([5, 6, 7]))
    # Four steps, the last of them not full; the last row shorter than the others.
    length = 3 * T + int(rng.integers(1, T))
    N = B * length - int(rng.integers(B - 1))
    return {
        "tokens": _tokens(rng, N),
        "batch_size": np.array(B),
        "block_size": np.array(T),
        "padding": np.array(N + int(rng.integers(1, 4))),
    }


def _sequential(answer: Any, given: Inputs) -> Any:
    return _pair(
        answer(
            _long(given, "tokens"),
            int(given["batch_size"]),
            int(given["block_size"]),
            int(given["padding"]),
        )
    )


# split


def _split_inputs(rng: np.random.Generator) -> Inputs:
    distinct = _names(rng, 40, _LETTERS)
    # A quarter of the names stands in the list three times, as the popular ones do.
    names = sorted(distinct + distinct[:10] + distinct[:10])
    first, other = rng.choice(1000, 2, replace=False)
    return {
        "names": text_input("\n".join(names)),
        "fraction": np.array(float(rng.choice([0.1, 0.2, 0.3]))),
        "seed": np.array(int(first)),
        "other": np.array([other]),
    }


def _split(seed: str) -> Any:
    def case(answer: Any, given: Inputs) -> Any:
        names = input_text(given["names"]).split("\n")
        result = answer(names, float(given["fraction"]), int(given[seed].flat[0]))
        train, validation = _two(result, "training and validation")
        return {"train": "\n".join(train), "validation": "\n".join(validation)}

    return case


# evaluation


def _evaluation_inputs(rng: np.random.Generator) -> Inputs:
    stride = int(rng.integers(2, 4))
    T = 2 * stride + int(rng.integers(1, 3))
    N = T + 1 + 2 * stride + int(rng.integers(1, stride))  # four windows, the last not full
    return {
        "tokens": _tokens(rng, N),
        "short": _tokens(rng, T - 1),
        "block_size": np.array(T),
        "stride": np.array(stride),
    }


def _evaluation(name: str) -> Any:
    return lambda answer, given: _pair(
        answer(_long(given, name), int(given["block_size"]), int(given["stride"]))
    )


PROBES: dict[str, Probe] = {
    "vocabulary": Probe(
        _vocabulary_inputs,
        {
            "symbols": _vocabulary_symbols,
            "encode": _vocabulary_encode,
            "decode": _vocabulary_decode,
            "refuses": _vocabulary_refuses,
        },
    ),
    "windows": Probe(_windows_inputs, {"exact": _windows("tokens"), "longer": _windows("longer")}),
    "split": Probe(
        _split_inputs, {"split": _split("seed"), "again": _split("seed"), "other": _split("other")}
    ),
    "batch": Probe(_batch_inputs, {"batch": _batch}),
    "sequential": Probe(_sequential_inputs, {"steps": _sequential}),
    "evaluation": Probe(
        _evaluation_inputs, {"long": _evaluation("tokens"), "short": _evaluation("short")}
    ),
}
