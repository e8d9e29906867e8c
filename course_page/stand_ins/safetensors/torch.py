"""Tensors of torch in the safetensors format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import DTYPES, deserialize, written


def tensor_of(entry: dict[str, Any]) -> torch.Tensor:
    """One tensor from its type, shape and bytes."""
    array = np.frombuffer(entry["data"], dtype=DTYPES[entry["dtype"]])
    return torch.from_numpy(array.reshape(entry["shape"]).copy())


def save(tensors: dict[str, torch.Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """Tensors as bytes."""
    return written({name: one.detach().numpy() for name, one in tensors.items()}, metadata)


def load(data: bytes) -> dict[str, torch.Tensor]:
    """Tensors from bytes."""
    return {name: tensor_of(entry) for name, entry in deserialize(data)}


def save_file(
    tensors: dict[str, torch.Tensor],
    filename: str | Path,
    metadata: dict[str, str] | None = None,
) -> None:
    """Tensors into a file."""
    Path(filename).write_bytes(save(tensors, metadata))


def load_file(filename: str | Path, device: str = "cpu") -> dict[str, torch.Tensor]:
    """Tensors from a file."""
    del device
    return load(Path(filename).read_bytes())
