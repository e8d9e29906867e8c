"""What my-gpt/write asks: texts of a model that the same program has trained for a moment."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course_lib import own_program
from course_lib.contexts import evaluation_mode, training_mode
from course_tasks.errors import ReturnedTypeError
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe
from course_tasks.project_my_gpt.model import read
from course_tasks.project_my_gpt.program import (
    as_codes,
    as_model,
    as_text,
    as_tokens,
    beside,
    drawn_text,
)

# Not more: a model that is sure of what comes next writes the same with other probabilities.
SECONDS = 1.0
FEW_SECONDS = 0.2
LETTERS = 12
LENGTH = 600
PROMPT = 5


def _inputs(rng: Rng) -> Inputs:
    text = drawn_text(rng, LETTERS, 6000)
    start = int(rng.integers(1000))
    return {
        "text": text,
        "another_text": drawn_text(rng, LETTERS - 4, 2000),
        "prompt": text[start : start + PROMPT],
        "long_prompt": text[start : start + 600],
        "alphabet": np.unique(text),
        "seconds": number(SECONDS),
        "seed": whole(int(rng.integers(2**31))),
    }


def _modeled(answer: Any, given: Inputs, text: str, seconds: float) -> tuple[nn.Module, int]:
    """A model of the program, and its block_size."""
    train, GPT = beside(answer, "train"), beside(answer, "GPT")
    own_program.warm_up()
    with own_program.models_noted(GPT) as noted:
        model = as_model(train(as_text(given[text]), seconds))
    if not noted:
        raise ReturnedTypeError("`train` made no `GPT`; `write` is asked for a model of yours")
    return model, noted[-1][1].get("block_size", 0)


def _write(answer: Any, given: Inputs) -> Any:
    torch.manual_seed(int(given["seed"]))
    model, block_size = _modeled(answer, given, "text", float(given["seconds"]))
    prompt, alphabet = as_text(given["prompt"]), given["alphabet"]
    found: dict[str, Any] = {"block_size": block_size}
    with _modes_noted(model) as modes:
        written = as_codes(answer(model, prompt, LENGTH), "`write`")
    found |= {"written": written, "in_training": any(modes)}
    found["again"] = as_codes(answer(model, prompt, 40), "`write`")
    found["once_more"] = as_codes(answer(model, prompt, 40), "`write`")
    found["nothing"] = as_codes(answer(model, prompt, 0), "`write`")
    found["after_long"] = as_codes(answer(model, as_text(given["long_prompt"]), 8), "`write`")
    for mode in (True, False):
        model.train(mode)
        answer(model, prompt, 2)
        found["kept_training" if mode else "kept_evaluation"] = model.training is mode
    tokens = tensor(as_tokens(np.clip(written, alphabet[0], alphabet[-1]), alphabet))
    tokens = tokens.clamp(max=len(alphabet) - 1)
    with evaluation_mode(model), torch.no_grad():
        found["probabilities"] = _along(model, tokens, block_size, PROMPT)
        found["of_last"] = _along(model, tokens, 1, PROMPT)
    with training_mode(model), torch.no_grad():
        window = tokens[None, :block_size]
        found["wavers"] = not torch.equal(read(model, window), read(model, window))
    _modeled(answer, given, "another_text", FEW_SECONDS)
    found["after_another"] = as_codes(answer(model, prompt, 20), "`write`")
    return found


def _along(model: nn.Module, tokens: Tensor, most: int, first: int) -> Tensor:
    """Probabilities (n, V) of each token from `first` on, after the `most` tokens before it."""
    rows = []
    whole_windows = []
    for place in range(first, len(tokens)):
        if place < most:
            rows.append(read(model, tokens[None, :place])[:, -1])
        else:
            whole_windows.append(tokens[place - most : place])
    if whole_windows:
        rows.append(read(model, torch.stack(whole_windows))[:, -1])
    return torch.cat(rows).double().softmax(dim=-1)


class _modes_noted:
    """Inside, it is noted in which mode a model is whenever it is called."""

    def __init__(self, model: nn.Module):
        self._model = model
        self._modes: list[bool] = []

    def __enter__(self) -> list[bool]:
        forward = self._model.forward

        def noting(*args: Any, **named: Any) -> Any:
            self._modes.append(bool(self._model.training))
            return forward(*args, **named)

        self._model.forward = noting
        return self._modes

    def __exit__(self, *_: object) -> None:
        del self._model.forward


PROBE = Probe(
    _inputs,
    {"text": _write},
    one_draw="a model is trained first, and hundreds of symbols are written",
)
