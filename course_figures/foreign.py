"""Models that are not the course's: which attribute a figure misses in them."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import TYPE_CHECKING

from course_figures.errors import FigureError

if TYPE_CHECKING:
    from torch import nn

# What figures of a whole GPT read of it, outermost first.
_PARTS = (
    *(f"config.{size}" for size in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd")),
    "embedding.tokens",
    "embedding.positions",
    "blocks",
    "norm",
    "output",
)


def missing(model: nn.Module, paths: Iterable[str]) -> str:
    """The first of these attributes (`config.n_layer`) that a model lacks, or nothing."""
    for path in paths:
        names = path.split(".")
        for depth in range(1, len(names) + 1):
            try:
                attrgetter(".".join(names[:depth]))(model)
            except AttributeError:
                return ".".join(names[:depth])
    return ""


def need_gpt(figure: str, model: nn.Module) -> None:
    """Refuse a model that lacks a part of the GPT of chapter 08.

    Raises
    ------
    FigureError
        Names the figure, the model's class and the attribute.
    """
    absent = missing(model, _PARTS)
    if absent:
        raise FigureError(
            f"{figure} shows a GPT of the course, and a {type(model).__name__} has no attribute "
            f"`{absent}`. A program of your own becomes one by course_lib.role_map.gpt_of, and the "
            "weights of a nanoGPT by course_lib.nanogpt.gpt_of"
        )
