"""What my-gpt/train asks: a model of a text that nobody could foresee, after some seconds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from course_lib import own_program
from course_lib.contexts import evaluation_mode
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe
from course_tasks.project_my_gpt.model import read
from course_tasks.project_my_gpt.program import as_model, as_text, as_tokens, drawn_text

SECONDS = 6.0

# For what is no more than a trial.
FEW_SECONDS = 0.3

SYMBOLS = 12_000
CONTEXT = 12
CONTEXTS = 1500

# With less of a processor than this, a training has had no chance, and gets another with more time.
LEAST_SHARE = 0.5
_TRIES = 2
_LONGER = 3


def _inputs(rng: Rng) -> Inputs:
    letters = int(rng.integers(10, 15))
    text = drawn_text(rng, letters, SYMBOLS + 2 * CONTEXTS + CONTEXT + 1)
    alphabet = np.unique(text[:SYMBOLS])
    held_out = as_tokens(text[SYMBOLS:], alphabet)
    windows = held_out[2 * np.arange(CONTEXTS)[:, None] + np.arange(CONTEXT + 1)]
    return {
        "text": text[:SYMBOLS],
        "contexts": windows[:, :-1],
        "targets": windows[:, -1],
        "another_text": drawn_text(rng, letters - 3, 2000),
        "seconds": number(SECONDS),
        "seed": whole(int(rng.integers(2**31))),
        "V": whole(len(alphabet)),
    }


def _train(answer: Any, given: Inputs) -> Any:
    seconds = float(given["seconds"])
    torch.manual_seed(int(given["seed"]))
    own_program.warm_up()
    for trial in range(_TRIES):
        seconds *= _LONGER**trial
        began, worked = time.monotonic(), time.process_time()
        model = as_model(answer(as_text(given["text"]), seconds))
        took, work = time.monotonic() - began, time.process_time() - worked
        if work > LEAST_SHARE * took or took > 3 * seconds:
            break
    contexts = tensor(given["contexts"])
    few, others = contexts[:200], contexts[-200:]
    with evaluation_mode(model), torch.no_grad():

        def predict(tokens: torch.Tensor) -> torch.Tensor:
            return read(model, tokens)[:, -1].double().softmax(dim=-1)

        found = {
            "probabilities": predict(contexts),
            "again": predict(few),
            "other_last": predict(torch.cat([few[:, :-1], others[:, -1:]], dim=1)),
            "other_past": predict(torch.cat([others[:, :-1], few[:, -1:]], dim=1)),
        }
    return found | {"late": max(min(took, work) - seconds, 0.0), "allowed": seconds}


def _one_after_the_other(answer: Any, given: Inputs) -> Any:
    first = as_model(answer(as_text(given["text"][:3000]), FEW_SECONDS))
    V = len(np.unique(given["text"][:3000]))
    tokens = tensor(given["contexts"][:20] % V)
    with evaluation_mode(first):
        before = read(first, tokens)
    as_model(answer(as_text(given["another_text"]), FEW_SECONDS))
    with evaluation_mode(first):
        return {"before": before, "after": read(first, tokens)}


PROBE = Probe(
    _inputs,
    {"model": _train, "both": _one_after_the_other},
    kept_back=frozenset({"targets"}),
    one_draw="a training takes seconds",
)
