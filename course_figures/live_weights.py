"""The model that lives in the page: its rounded weights in a file, and how to get it back.

`live_training` trains it and writes the file that comes with the course.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from course_figures import sources
from course_figures.foreign import missing
from course_lib import checkpoints
from course_lib.contexts import evaluation_mode
from course_lib.data import Vocabulary
from course_lib.errors import CheckpointError, ConfigError
from course_lib.model import GPT, Config, fuse
from course_lib.nanogpt import with_gelu

WEIGHTS = sources.LIVE_WEIGHTS
"""The committed weights: Tiny Shakespeare, at most 600 kB."""

# The largest int8 of either sign; -128 would make the range lopsided.
LARGEST = 127


def quantize(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Round each row to 255 evenly spaced values.

    Parameters
    ----------
    matrix : (m, n) float

    Returns
    -------
    whole : (m, n) int8
        Between -127 and 127.
    scale : (m,) float32
        `whole * scale[:, None]` is the rounded matrix, off by at most half a scale; of a row of
        zeros, 1.
    """
    largest = matrix.abs().amax(dim=1)  # (m,)
    scale = torch.where(largest == 0, 1.0, largest / LARGEST)  # NaN stays NaN, to be seen
    whole = (matrix / scale.unsqueeze(1)).round().clamp(-LARGEST, LARGEST)
    return whole.to(torch.int8), scale.float()


def pack(model: nn.Module) -> dict[str, Tensor]:
    """A fused model's weights as they are stored: matrices as int8 and scales, vectors as they are.

    Returns
    -------
    dict of str to Tensor
        `NAME` and, for a matrix, `NAME.scale`.
    """
    packed: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        if tensor.ndim == 2:
            packed[name], packed[f"{name}.scale"] = quantize(tensor)
        else:
            packed[name] = tensor.float()
    return packed


def unpack(packed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The rounded weights in float32, the very numbers that the page computes with."""
    return {
        name: tensor.float() * packed[f"{name}.scale"].unsqueeze(1) if tensor.ndim == 2 else tensor
        for name, tensor in packed.items()
        if not name.endswith(".scale")
    }


def digest(packed: Mapping[str, Tensor]) -> str:
    """SHA-256 over names and bytes, in the order of the names."""
    total = hashlib.sha256()
    for name in sorted(packed):
        total.update(name.encode())
        total.update(packed[name].contiguous().numpy().tobytes())
    return total.hexdigest()


def write_packed(path: Path, model: GPT, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a GPT's rounded weights in one file, which the page and `live_model` read.

    Parameters
    ----------
    path : Path
        Replaced when the new file is complete.
    model : GPT
        Plain or fused, of the library or as chapter 08 writes it; it stays as it is.
    facts : mapping
        Kept beside them; `vocabulary` (all symbols in one text) must be there.

    Returns
    -------
    dict
        The facts with `digest` and `model` added.

    Raises
    ------
    ConfigError
        If the model is no GPT, or computes something else than the GPT of the library.
    """
    fused = _library_model(model)
    return keep(path, pack(fused), fused, facts)


def _library_model(model: nn.Module) -> GPT:
    """The library's fused GPT with the weights of a model, which may be a class of the reader's."""
    name = type(model).__name__
    absent = missing(model, (f"config.{field.name}" for field in dataclasses.fields(Config)))
    if absent:
        raise ConfigError(
            f"a {name} cannot live in the page: it has no attribute `{absent}`; give a GPT of the "
            "course, or one that course_lib.nanogpt.gpt_of made of a nanoGPT's weights"
        )
    sizes: Any = model.config
    kept = {field.name: getattr(sizes, field.name) for field in dataclasses.fields(Config)}
    weights = model.state_dict()
    plain = like(Config(**kept), weights, gelu=checkpoints.describe_model(model)["gelu"])
    ours = fuse(plain) if any("query_key_value" in key for key in weights) else plain
    try:
        ours.load_state_dict(weights)
    except RuntimeError as error:
        raise ConfigError(
            f"this {name} cannot live in the page: its parameters are not those of the GPT of "
            f"chapter 08; {' '.join(str(error).split())}"
        ) from error
    tokens = torch.arange(min(kept["block_size"], kept["vocab_size"])).unsqueeze(0)  # (1, T)
    with evaluation_mode(model), evaluation_mode(ours), torch.inference_mode():
        theirs = model(tokens.to(next(model.parameters()).device))[0].cpu()
        same = torch.allclose(ours(tokens)[0], theirs, rtol=1e-3, atol=1e-3, equal_nan=True)
    if not same:
        raise ConfigError(
            f"this {name} cannot live in the page: from the same weights it computes other logits "
            "than the GPT of chapter 08, which is what the page computes"
        )
    fused = fuse(ours)
    assert isinstance(fused, GPT)
    return fused


def like(config: Config, weights: Mapping[str, Tensor], *, gelu: bool) -> GPT:
    """A new GPT that takes weights with or without an output bias, with a GELU or a ReLU."""
    model = GPT(config)
    if "output.bias" in weights:
        model.output = nn.Linear(config.n_embd, config.vocab_size)
    return with_gelu(model) if gelu else model


def keep(
    path: Path, packed: Mapping[str, Tensor], fused: nn.Module, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Keep weights that are rounded already in one file.

    Parameters
    ----------
    path : Path
        Replaced when the new file is complete.
    packed : mapping of str to Tensor
        As `pack` gives them.
    fused : Module
        The model that they are of.
    facts : mapping
        Kept beside them.

    Returns
    -------
    dict
        The facts with `digest` and `model` added.
    """
    facts = {**facts, "digest": digest(packed), "model": checkpoints.describe_model(fused)}
    checkpoints.write_checkpoint(path, packed, facts)
    return facts


def live_model(path: Path = WEIGHTS) -> tuple[GPT, Vocabulary, dict[str, Any]]:
    """The model of the page in torch, with the same rounded weights.

    Parameters
    ----------
    path : Path
        A file that `live_training.write_weights` or `write_packed` wrote.

    Returns
    -------
    model : GPT
        Plain (heads as chapter 06 writes them), in evaluation mode.
    vocabulary : Vocabulary
        Of the text that it was trained on.
    facts : dict
        As whatever wrote the file returned them.

    Raises
    ------
    CheckpointError
        If the file is missing or damaged, or its weights are not those that its digest names.
    """
    packed, facts = checkpoints.read_checkpoint(path)
    if digest(packed) != facts.get("digest"):
        raise CheckpointError(
            f"{path.name} holds other weights than its digest says: take the file from the course "
            "again, or write it anew with python -m course_figures.live_training"
        )
    model = like(Config(**facts["model"]["config"]), packed, gelu=bool(facts["model"].get("gelu")))
    model.load_state_dict(_apart(unpack(packed), model.config))
    return model.eval(), Vocabulary(facts["vocabulary"]), facts


def _apart(fused: Mapping[str, Tensor], config: Config) -> dict[str, Tensor]:
    """Weights of a fused model under the names of the plain one: (3C, C) → 3H × (D, C)."""
    plain: dict[str, Tensor] = {}
    for name, tensor in fused.items():
        if not name.endswith("query_key_value.weight"):
            plain[name] = tensor
            continue
        prefix = name.removesuffix("query_key_value.weight")
        parts = iter(tensor.split(config.head_size))
        for part in ("query", "key", "value"):
            for head in range(config.n_head):
                plain[f"{prefix}heads.{head}.{part}.weight"] = next(parts)
    return plain
