"""What a training refuses before it begins, and what it says when a loss is not finite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import nn

from course_lib import data
from course_lib.config import longest_context
from course_lib.contexts import evaluation_mode
from course_lib.data.windows import check_sizes
from course_lib.errors import ConfigError, NonFiniteLossError, ShapeError

if TYPE_CHECKING:
    from course_lib.data import Corpus
    from course_lib.history import History
    from course_lib.resuming import Settings

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def check_counts(**counts: int | None) -> None:
    """Refuse what is no whole number of at least 1; None says that a setting was left out."""
    for name, value in counts.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and not (whole and value >= 1):
            raise ConfigError(f"{name} = {value!r}: must be a whole number of at least 1")


def check_settings(settings: Settings, seconds: float | None) -> None:
    """Refuse a length, a limit or a precision that no training can have."""
    if settings.steps is None and seconds is None:
        raise ConfigError("steps = None, seconds = None: say how long, by one of them at least")
    if seconds is not None and not seconds > 0:
        raise ConfigError(f"seconds = {seconds}: must be above 0, or None")
    if settings.clip is not None and not 0 < settings.clip < math.inf:
        raise ConfigError(f"clip = {settings.clip}: must be above 0 and finite, or None")
    if settings.precision not in PRECISIONS:
        known = ", ".join(map(repr, PRECISIONS))
        raise ConfigError(f"precision = {settings.precision!r}: known are {known}")


def find_device(model: nn.Module, device: str | torch.device | None) -> torch.device:
    """The device that was asked for, or the model's own; refused if this machine lacks it."""
    if device is None:
        return next(model.parameters()).device
    try:
        place = torch.device(device)
    except RuntimeError as error:
        raise ConfigError(f"device = {device!r}: 'cpu', 'cuda' or 'mps'") from error
    missing = (place.type == "cuda" and not torch.cuda.is_available()) or (
        place.type == "mps" and not torch.backends.mps.is_available()
    )
    if missing:
        raise ConfigError(
            f"device = {str(device)!r}: this machine, or this build of torch, has none; use 'cpu'"
        )
    return place


def check_data(
    model: nn.Module,
    corpus: Corpus | None,
    block_size: int,
    target: float | None,
    batches: object,
    checkpoint: object,
) -> None:
    """Refuse a corpus that does not fit the model, a target out of reach, or nothing to read."""
    if batches is not None and checkpoint is not None:
        raise ConfigError(
            f"checkpoint or resume = {checkpoint}: no place in the batches that are given can be "
            "found again; leave it out, or leave batches out"
        )
    if corpus is None:
        if batches is None or target is not None:
            raise ConfigError("corpus = None: give batches, and no target: nothing is evaluated")
        return
    if not block_size:
        raise ConfigError(
            f"block_size is missing: a {type(model).__name__} reads windows of any length, "
            "so say which, for example block_size=8"
        )
    longest = longest_context(model) or block_size
    if block_size > longest:
        raise ConfigError(f"block_size = {block_size}: the model has {longest} positions")
    floor = data.floor(corpus) if target is not None else 0.0
    if target is not None and not target > floor:
        raise ConfigError(
            f"target = {target}: no model gets below {floor:.4f} on the validation split of "
            f"{corpus.name!r}, so training would never stop; choose a higher target"
        )
    V = _try(model, min(2, block_size))
    if len(corpus.vocabulary) != V:
        raise ShapeError(
            f"the model has V = {V}, the corpus {corpus.name!r} has {len(corpus.vocabulary)} "
            "symbols: build the model with vocab_size=len(corpus.vocabulary)"
        )
    check_sizes(corpus.splits["train"], block_size + 1, block_size=block_size)
    check_sizes(corpus.splits["validation"], 2, block_size=block_size)


def _try(model: nn.Module, T: int) -> int:
    """V, by one call as an evaluation makes it; refuse a model that answers in another form."""
    name = type(model).__name__
    form = (
        "fit calls `logits, loss = model(tokens, targets)`, logits (B, T, V) and the mean loss: "
        f"give a module whose forward returns these two, for example one that calls this {name}"
    )
    tokens = torch.zeros(1, T, dtype=torch.int64, device=next(model.parameters()).device)
    with evaluation_mode(model), torch.inference_mode():
        try:
            answer = model(tokens, tokens)
        except TypeError as error:
            raise ConfigError(
                f"a {name} cannot be called with targets ({error}); {form}"
            ) from error
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise ConfigError(f"a {name} returns {type(answer).__name__}; {form}")
    shapes = [tuple(part.shape) if isinstance(part, torch.Tensor) else part for part in answer]
    if len(shapes[0] or ()) != 3 or shapes[0][:2] != (1, T) or shapes[1] != ():
        raise ShapeError(
            f"a {name} returns {shapes[0]} and {shapes[1]} for tokens and targets of shape "
            f"{(1, T)}, where (1, {T}, V) and a single number belong; {form}"
        )
    return shapes[0][-1]


def not_finite(
    loss: float, norm: float, model: nn.Module, settings: Settings, history: History
) -> NonFiniteLossError:
    """The error for a step whose loss or gradient is not finite, with the likeliest causes.

    Parameters
    ----------
    loss, norm : float
        Of the batch, and of its gradient; at least one of them is not finite.
    model : nn.Module
        As it was before the step.
    settings, history : Settings, History
        Of the training; the error keeps the history.
    """
    losses, causes = history.losses, []
    broken = [name for name, value in model.named_parameters() if not torch.isfinite(value).all()]
    if not losses:
        causes.append("the model itself: a row of scores that is masked whole, or log(0)")
    if broken:
        causes.append(f"weights that are not finite already ({', '.join(broken[:3])})")
    if len(losses) >= 2 and losses[-1] > min(losses) + 0.5:
        causes.append(
            f"a learning rate that is too high: the loss rose from {min(losses):.3f} to "
            f"{losses[-1]:.3f} before; try lr = {settings.lr / 10:g}"
        )
    elif not broken:
        causes.append(f"a learning rate that is too high (lr = {settings.lr:g})")
    if settings.clip is None:
        causes.append("one long gradient: try clip = 1.0 and a schedule with warm-up")
    if settings.precision != "float32":
        causes.append("too few bits: try precision = 'float32'")
    what = f"loss is {loss}" if not math.isfinite(loss) else f"norm of the gradient is {norm}"
    error = NonFiniteLossError(
        f"step {len(losses) + 1}: the {what}. Likeliest causes: {'; '.join(causes)}. "
        "The model is as it was before this step"
    )
    error.history = history
    return error
