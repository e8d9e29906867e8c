"""Checkpoints: one file that is either whole or not there, and that runs nothing when it is read.

A checkpoint is a safetensors file: tensors by name, and beside them facts as JSON in its header.
It is written under another name, flushed, and renamed, so a crash leaves the old file or the new
one. Reading it never unpickles.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save as tensors_to_bytes
from torch import Tensor, nn

from course_lib.atomic import write_atomically
from course_lib.errors import CheckpointError, ConfigError
from course_lib.model import GPT, Config, FusedMultiHead, fuse
from course_lib.nanogpt import with_gelu

FORMAT = "averages-to-transformers 1"

# How files begin that torch.save writes: a zip, and before torch 1.6 a pickle.
_PICKLED = b"PK\x03\x04", b"\x80\x02"


def write_checkpoint(
    path: str | os.PathLike[str], tensors: Mapping[str, Tensor], facts: Mapping[str, Any]
) -> Path:
    """Write tensors and facts to one file, atomically.

    Parameters
    ----------
    path : path
        The file; its folder is made if it is not there. An older checkpoint is replaced only when
        the new one is complete.
    tensors : mapping of str to Tensor
        Any devices; copied to the CPU.
    facts : mapping
        What JSON can hold.

    Returns
    -------
    Path
        The file.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    header = {"format": FORMAT, "facts": json.dumps(dict(facts))}
    write_atomically(path, tensors_to_bytes(on_cpu, header), durable=True)
    return path


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `write_checkpoint` wrote.

    Returns
    -------
    tensors : dict of str to Tensor
        On the CPU.
    facts : dict
        As they were given.

    Raises
    ------
    CheckpointError
        If the file is missing, cut off, or not a checkpoint of this course.
    """
    from safetensors import safe_open

    path = Path(path)
    if not path.is_file():
        raise CheckpointError(f"{path}: no such file; a checkpoint is what save or fit wrote")
    with path.open("rb") as file:
        if file.read(4).startswith(_PICKLED):
            raise CheckpointError(
                f"{path} is a pickle, as torch.save writes them, which may run code when it is "
                f"read: state = torch.load({str(path)!r}, weights_only=True) gives its tensors. "
                "Then model.load_state_dict(state) takes them, or course_lib.nanogpt.gpt_of(state) "
                "where a nanoGPT wrote them, and save(path, model) makes a checkpoint"
            )
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        facts = json.loads(header["facts"]) if header.get("format") == FORMAT else None
    except (SafetensorError, json.JSONDecodeError, KeyError, OSError) as error:
        raise CheckpointError(
            f"{path} ({path.stat().st_size:,} bytes) is not a whole checkpoint: {error}. "
            "It was cut off or changed; use an earlier one or train again"
        ) from error
    if facts is None:
        raise CheckpointError(
            f"{path} is a safetensors file, but not a checkpoint of this course "
            f"(format {header.get('format')!r}, expected {FORMAT!r})"
        )
    return tensors, facts


def save(path: str | os.PathLike[str], model: nn.Module) -> Path:
    """Keep a model's weights, and its Config where it has one.

    Parameters
    ----------
    path : path
        Usually ends in `.safetensors`.
    model : nn.Module
        Any model of the course.

    Returns
    -------
    Path
        The file.
    """
    return write_checkpoint(path, model_tensors(model), {"model": describe_model(model)})


def load(path: str | os.PathLike[str], model: nn.Module | None = None) -> nn.Module:
    """Get a model back.

    Parameters
    ----------
    path : path
        What `save`, or `fit(checkpoint=…)`, wrote.
    model : nn.Module, optional
        Takes the weights, in place. A `GPT` can be left out: its Config is in the file.

    Returns
    -------
    nn.Module
        `model`, or a new `GPT`, in evaluation mode.

    Raises
    ------
    CheckpointError
        If the file is no whole checkpoint, or one of another model. The model is then unchanged.
    """
    tensors, facts = read_checkpoint(path)
    if model is None:
        described = facts.get("model", {})
        if described.get("config") is None:
            raise CheckpointError(
                f"{path} holds a {described.get('class')}, which has no Config to build it from: "
                "pass a model of the same sizes, load(path, model)"
            )
        try:
            config = Config(**described["config"])
        except (TypeError, ConfigError) as error:
            raise CheckpointError(f"{path} holds a Config that cannot be: {error}") from error
        model = GPT(config)
        if described.get("gelu"):
            model = with_gelu(model)
        if described.get("fused"):
            model = fuse(model)
    check_same_model(path, tensors, facts, model)
    load_model_tensors(model, tensors)
    return model.eval()


def describe_model(model: nn.Module) -> dict[str, Any]:
    """Class, Config if any, fused heads, GELU for ReLU: what a checkpoint says of a model."""
    config = getattr(model, "config", None)
    return {
        "class": type(model).__name__,
        "config": dataclasses.asdict(config) if isinstance(config, Config) else None,
        "fused": any(isinstance(part, FusedMultiHead) for part in model.modules()),
        "gelu": any(isinstance(part, nn.GELU) for part in model.modules()),
    }


def model_tensors(model: nn.Module) -> dict[str, Tensor]:
    """A model's parameters and buffers as `model.NAME`; of tied weights the first name only."""
    found: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            found[f"model.{name}"] = tensor
    return found


def load_model_tensors(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Copy `model.NAME` into the model, in place; `check_same_model` must have passed."""
    with torch.no_grad():
        for name, tensor in model_tensors(model).items():
            tensor.copy_(tensors[name])


def check_same_model(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Tensor],
    facts: Mapping[str, Any],
    model: nn.Module,
) -> None:
    """Refuse a checkpoint of another model, and name what differs.

    Raises
    ------
    CheckpointError
        Names the first settings or tensors that differ, and both values.
    """
    theirs, ours = facts.get("model", {}), describe_model(model)
    differences = []
    if theirs.get("config") and ours["config"]:
        differences = [
            f"{name}: {theirs['config'].get(name)} in the file, {value} in the model"
            for name, value in ours["config"].items()
            if theirs["config"].get(name) != value
        ]
    if not differences and theirs.get("gelu", False) != ours["gelu"]:
        kinds = ("ReLU", "GELU")
        differences = [
            f"feed-forward networks with {kinds[theirs.get('gelu', False)]} in the file, "
            f"{kinds[ours['gelu']]} in the model"
        ]
    if not differences and theirs.get("fused") != ours["fused"]:
        differences = [
            f"heads {'fused' if theirs.get('fused') else 'plain'} in the file, "
            f"{'fused' if ours['fused'] else 'plain'} in the model"
        ]
    if not differences:
        expected = {name: tuple(tensor.shape) for name, tensor in model_tensors(model).items()}
        found = {
            name: tuple(tensor.shape)
            for name, tensor in tensors.items()
            if name.startswith("model.")
        }
        differences = [
            f"{name.removeprefix('model.')}: {found.get(name, 'absent')} in the file, "
            f"{expected.get(name, 'absent')} in the model"
            for name in sorted(expected.keys() | found.keys())
            if expected.get(name) != found.get(name)
        ]
    if differences:
        more = f", and {len(differences) - 3} more" if len(differences) > 3 else ""
        raise CheckpointError(
            f"{path} holds another model ({theirs.get('class')}): {'; '.join(differences[:3])}"
            f"{more}. Build the model with the file's settings; nothing was loaded"
        )
