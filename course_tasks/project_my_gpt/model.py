"""What my-gpt/model asks: a GPT from outside, whatever it looks like inside.

All weights are drawn anew before most questions, because a program may begin with zeros where it
pleases, and zeros hide what is wired wrongly. The judge compares logits with logits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course_lib import role_map
from course_lib.errors import CheckpointError
from course_tasks.errors import ReturnedTypeError
from course_tasks.flattening import described
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe

START_ROWS = 16

# Times which what lies outside of the blocks is taken, so that normalized branches add next to
# nothing to the stream.
LARGE = 1000.0

_NUMBER = re.compile(r"\d+")

# H and D; 2 · H · D is no other size, and D is even for those who rotate.
_HEADS = ((2, 6), (4, 4), (4, 6), (2, 8))


def _inputs(rng: Rng) -> Inputs:
    H, D = _HEADS[rng.integers(len(_HEADS))]
    T, V = int(rng.integers(8, 11)), int(rng.integers(13, 20))
    start = rng.integers(V, size=(START_ROWS, T + 1))
    return {
        "tokens": rng.permutation(V)[:T].astype(np.int64),  # (T,), all different
        "other": rng.permutation(V)[:T].astype(np.int64),
        "start": start[:, :-1].astype(np.int64),
        "start_targets": start[:, 1:].astype(np.int64),
        "seed": whole(int(rng.integers(2**31))),
        "V": whole(V),
        "T": whole(T),
        "C": whole(H * D),
        "H": whole(H),
    }


def made(answer: Any, given: Inputs, n_layer: int, **others: int) -> nn.Module:
    """A new model of the inputs' sizes, in evaluation mode.

    Raises
    ------
    ReturnedTypeError
        If it is no module.
    """
    sizes = {name: int(given[name]) for name in "VTCH"} | others
    torch.manual_seed(int(given["seed"]))
    model = answer(sizes["V"], sizes["T"], sizes["C"], sizes["H"], n_layer)
    if not isinstance(model, nn.Module):
        raise ReturnedTypeError(f"returned {described(model)}; it should be an nn.Module")
    return model.eval()


def drawn(model: nn.Module, given: Inputs) -> nn.Module:
    """The model with all weights drawn anew."""
    return role_map.with_drawn_weights(model, int(given["seed"]))


def read(model: nn.Module, tokens: Tensor) -> Tensor:
    """Logits (B, T, V), whatever else the model gives.

    Raises
    ------
    ReturnedTypeError
        If there are none among what it gave.
    """
    B, T = tokens.shape
    result = model(tokens, tokens)
    given = result if isinstance(result, tuple | list) else [result]
    V = next((one.shape[-1] for one in given if isinstance(one, Tensor) and one.ndim > 1), 0)
    try:
        return role_map.logits_in(result, B, T, V).detach()
    except CheckpointError as error:
        raise ReturnedTypeError(str(error)) from error


def _start(answer: Any, given: Inputs) -> Any:
    """A model as it begins."""
    model = made(answer, given, 2)
    tokens, targets = tensor(given["start"]), tensor(given["start_targets"])
    result = model(tokens, targets)
    scalars = [
        one for one in (result if isinstance(result, tuple | list) else ()) if _is_number(one)
    ]
    if not scalars:
        raise ReturnedTypeError(
            "called with tokens and targets, it returned no loss; it should return logits and loss"
        )
    alone = model(tokens[:1])
    alone = alone[0] if isinstance(alone, tuple | list) else alone
    V = int(given["V"])
    return {
        "logits": _logits_of(result, tokens, V),
        "alone": alone.detach().reshape(-1, V)[-1],
    }


def _logits_of(result: Any, tokens: Tensor, V: int) -> Tensor:
    """Logits (B, T, V) of a result, or the error in a student's words."""
    try:
        return role_map.logits_in(result, len(tokens), tokens.shape[1], V).detach()
    except CheckpointError as error:
        raise ReturnedTypeError(str(error)) from error


def _is_number(one: Any) -> bool:
    return isinstance(one, Tensor) and one.ndim == 0


def _counts(answer: Any, given: Inputs) -> Any:
    """How many parameters models of several sizes have."""

    def count(n_layer: int = 2, least_axes: int = 0, **others: int) -> int:
        parameters = made(answer, given, n_layer, **others).parameters()
        return sum(one.numel() for one in parameters if one.ndim >= least_axes)

    V, T = int(given["V"]), int(given["T"])
    return {
        "of": count(),
        "in_matrices": count(2, 2),
        "in_matrices_of_a_block_more": count(3, 2),
        "a_symbol_more": count(V=V + 1),
        "a_position_more": count(T=T + 1),
    }


def _influence(answer: Any, given: Inputs) -> Any:
    """Logits after a change of each token, and of shorter texts."""
    model = drawn(made(answer, given, 1), given)
    tokens, other = tensor(given["tokens"]), tensor(given["other"])
    T = len(tokens)
    rows = tokens.repeat(T + 1, 1)
    for s in range(T):
        rows[s + 1, s] = other[s] if other[s] != tokens[s] else (other[s] + 1) % int(given["V"])

    def apart(texts: Tensor) -> Tensor:  # so that what mixes texts is not taken for something else
        return torch.cat([read(model, text[None]) for text in texts])

    swapped = tokens.repeat(T - 2, 1)
    for s in range(T - 2):
        swapped[s, s], swapped[s, s + 1] = tokens[s + 1], tokens[s]
    return {
        "changed": apart(rows),  # (T + 1, T, V)
        "swapped": apart(swapped)[:, -1],  # (T - 2, V)
        "shorter": read(model, rows[:1, : T - 2])[0],  # (T - 2, V)
    }


def _alone(answer: Any, given: Inputs) -> Any:
    """Texts of one batch, and each alone; and the same text twice."""
    model = drawn(made(answer, given, 2), given)
    rows = tensor(given["start"])[:3]
    return {
        "together": read(model, rows),
        "again": read(model, rows),
        "alone": torch.cat([read(model, row[None]) for row in rows]),
    }


def _heads(answer: Any, given: Inputs) -> Any:
    """The same weights in a model of many heads and in one of a single head, if they fit."""
    many = drawn(made(answer, given, 1), given)
    one = made(answer, given, 1, H=1)
    tokens = tensor(given["tokens"])[None]
    shapes = [{n: tuple(p.shape) for n, p in m.named_parameters()} for m in (many, one)]
    fits = shapes[0] == shapes[1]
    if fits:
        with torch.no_grad():
            for mine, theirs in zip(one.parameters(), many.parameters(), strict=True):
                mine.copy_(theirs)
    return {"many": read(many, tokens), "one": read(one, tokens), "fits": fits}


@dataclass(frozen=True)
class _Weight:
    """Numbers of blocks: a parameter, or a part of one that holds those of several blocks."""

    numbers: Tensor
    is_matrix: bool


@dataclass(frozen=True)
class _Weights:
    """Where the weights of a model are: outside of its blocks, in them, and in all but the first.

    A parameter that belongs to blocks and to the output as well is in none of them.
    """

    outside: list[Tensor]
    blocks: list[_Weight]
    later: list[_Weight]


def _weights(model: nn.Module, short: nn.Module, n_layer: int) -> _Weights:
    """Tell them by what a model of one block, `short`, lacks, and give that one the same weights.

    It lacks parameters such as "blocks.2.norm.weight", or rows of those whose first axis is the
    blocks.
    """
    names, common = dict(model.named_parameters()), dict(short.named_parameters())
    kinds = {_NUMBER.sub("#", name, count=1) for name in names.keys() - common.keys()}
    found = _Weights([], [], [])
    for name, one in names.items():
        first = common.get(name)
        if first is None:
            found.blocks.append(_Weight(one, one.ndim >= 2))
            found.later.append(found.blocks[-1])
        elif first.shape == one.shape:
            first.copy_(one)
            if _NUMBER.sub("#", name, count=1) in kinds:
                found.blocks.append(_Weight(one, one.ndim >= 2))
            else:
                found.outside.append(one)
        elif one.shape == (n_layer * len(first), *first.shape[1:]):
            first.copy_(one[: len(first)])
            found.blocks.append(_Weight(one, one.ndim >= 3))
            found.later.append(_Weight(one[len(first) :], one.ndim >= 3))
    return found


def _stream(answer: Any, given: Inputs) -> Any:
    """What is left of a text when the later blocks are switched off."""
    model = drawn(made(answer, given, 3), given)
    short = drawn(made(answer, given, 1), given)
    tokens = torch.stack([tensor(given["tokens"]), tensor(given["other"])])
    with torch.no_grad():
        later = _weights(model, short, 3).later
        whole_model = read(model, tokens)
        for one in later:
            if one.is_matrix:
                one.numbers.zero_()
        without_matrices = read(model, tokens)
        for one in later:
            one.numbers.zero_()
        without = read(model, tokens)
    return {
        "whole": whole_model,
        "without_matrices": without_matrices,
        "without": without,
        "short": read(short, tokens),
        "later": len(later),
    }


def _norms(answer: Any, given: Inputs) -> Any:
    """What blocks add to a stream that is a thousand times as large."""
    model = drawn(made(answer, given, 3), given)
    tokens = tensor(given["tokens"])[None]
    usual = read(model, tokens)
    with torch.no_grad():
        weights = _weights(model, made(answer, given, 1), 3)
        for one in weights.outside:
            if one.ndim >= 2:
                one.mul_(LARGE)
        large = read(model, tokens)
        for weight in weights.blocks:
            weight.numbers.zero_()
        without = read(model, tokens)
    return {"usual": usual, "large": large, "without": without}


def _gradients(answer: Any, given: Inputs) -> Any:
    """Which parameters a loss reaches, by name."""
    model = drawn(made(answer, given, 2), given)
    tokens, targets = tensor(given["start"]), tensor(given["start_targets"])
    result = model(tokens, targets)
    loss = next(one for one in result if _is_number(one))
    logits = _logits_of(result, tokens, int(given["V"]))
    loss.backward()
    learned = {n: one for n, one in model.named_parameters() if one.requires_grad}
    sizes = [-1.0 if one.grad is None else float(one.grad.abs().max()) for one in learned.values()]
    return {
        "names": "\n".join(learned),
        "largest": np.array(sizes),
        "logits": logits,
        "loss": loss.detach().double(),
    }


def _state(answer: Any, given: Inputs) -> Any:
    """All weights of a small model, and its logits."""
    model = drawn(made(answer, given, 1), given)
    tokens = torch.stack([tensor(given["tokens"]), tensor(given["other"])])
    parameters = dict(model.named_parameters())
    buffers: Mapping[str, Tensor] = {
        name: one for name, one in model.named_buffers() if one.numel() < 10_000
    }
    return {
        "names": "\n".join([*parameters, "", *buffers]),
        "parameters": list(parameters.values()) or [torch.zeros(1)],
        "buffers": [*buffers.values(), torch.zeros(1)],
        "logits": read(model, tokens),
    }


PROBE = Probe(
    _inputs,
    {
        "start": _start,
        "counts": _counts,
        "influence": _influence,
        "alone": _alone,
        "heads": _heads,
        "stream": _stream,
        "norms": _norms,
        "gradients": _gradients,
        "state": _state,
    },
)
