"""Training: one step, the loop around it, and the loss over a whole split.

`step` is what every training repeats. `fit` is the one loop of the course: it reads from top to
bottom as draw a batch, take a step, now and then evaluate, stop. What surrounds it lies elsewhere:
`history` (what happened), `resuming` (checkpoints to go on from), `contexts` (modes, random
numbers, Ctrl-C) and `training_checks` (what is refused, and why a loss is not finite).
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm

from course_lib import data, schedules
from course_lib.config import longest_context
from course_lib.contexts import (
    evaluation_mode,
    interruptible,
    seeded,
    training_mode,
    undone_if_broken,
)
from course_lib.errors import ConfigError
from course_lib.history import Evaluation, History
from course_lib.optimizers import build as build_optimizers
from course_lib.resuming import Settings, Training, describe_schedule
from course_lib.training_checks import (
    PRECISIONS,
    check_counts,
    check_data,
    check_settings,
    find_device,
    not_finite,
)

if TYPE_CHECKING:
    from course_lib.data import Corpus

# Logits of one evaluation batch: 2 ** 13 tokens × 65 symbols × 4 bytes = 2.1 MB, which stays in
# the cache of an ordinary processor; larger batches were slower, and held more memory.
EVALUATION_TOKENS = 2**13

# A schedule that follows the clock is read as if the training had so many steps.
CLOCK_STEPS = 10_000


def step(
    model: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    batch: Sequence[Any],
    *,
    forward: Callable[..., Any] | None = None,
    rate: float = 1.0,
    clip: float | None = None,
    autocast: AbstractContextManager[Any] | None = None,
) -> tuple[float, float]:
    """One step of training: loss, gradients, and the weights moved against them.

    Parameters
    ----------
    model : nn.Module
        The one that is trained.
    optimizers : sequence of Optimizer
        Each holds some of the model's parameters, at their full learning rate.
    batch : sequence
        x (B, T), y (B, T), and whatever else `forward` takes.
    forward : function, optional
        Called as `_, loss = forward(*batch)`; the model itself if left out.
    rate : float
        Share of the full learning rates in this step.
    clip : float, optional
        The largest norm that all gradients together may have; longer ones are shortened to it.
    autocast : context manager, optional
        Around the forward pass, for a lower precision.

    Returns
    -------
    loss : float
        Of the batch, before the step.
    norm : float
        Of all gradients together, before they were shortened; 0 without `clip`. Where one of the
        two numbers is not finite, no weight was moved.
    """
    with autocast or nullcontext():
        _, loss = (forward or model)(*batch)
    for optimizer in optimizers:
        optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = 0.0
    if clip is not None:
        norm = float(nn.utils.clip_grad_norm_(model.parameters(), clip))
    value = loss.item()
    if math.isfinite(value) and math.isfinite(norm):
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group.setdefault("full_lr", group["lr"]) * rate
            optimizer.step()
    return value, norm


def fit(
    model: nn.Module,
    corpus: Corpus | None,
    *,
    steps: int | None = 1000,
    batch_size: int = 32,
    block_size: int | None = None,
    optimizer: str = "adamw",
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.99),
    weight_decay: float = 0.01,
    muon_lr: float = 0.02,
    schedule: str | schedules.Schedule = "constant",
    clip: float | None = None,
    evaluate_every: int | None = None,
    target: float | None = None,
    seconds: float | None = None,
    seed: int | None = 0,
    device: str | torch.device | None = None,
    precision: str = "float32",
    compile: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: bool = True,
    batches: Iterator[Sequence[Any]] | None = None,
    forward: Callable[..., Any] | None = None,
    after_step: Callable[[History], None] | None = None,
) -> History:
    """Train a model, in place, and return what happened.

    Parameters
    ----------
    model : nn.Module
        Called as `logits, loss = model(tokens, targets)`. It need not know targets of −100.
    corpus : Corpus or None
        Trained on and evaluated; None, if `batches` are given and nothing is to be evaluated.
    steps, seconds : int, float, optional
        Stop after so many steps or seconds, evaluations included: one that would take over a fifth
        of `seconds` is made on a part of the split, and says so. The schedule is as long as
        `steps`; with `steps=None` it follows the clock, and lasts `seconds`.
    batch_size, block_size : int
        B windows of T tokens a batch; `block_size` defaults to the model's own.
    optimizer : {"adamw", "muon", "sgd"}
        See `optimizers.build`, also for `lr`, `betas`, `weight_decay` and `muon_lr`.
    schedule : str or function
        "constant", "linear", "cosine", "one_cycle", or a function from `course_lib.schedules`.
    clip, precision : float, {"float32", "bfloat16"}
        See `step`; bfloat16 pays on GPUs, and on processors that have it, for wide models.
    evaluate_every : int, optional
        Steps between evaluations, a tenth of `steps` if left out; the last step has one, too.
    target : float, optional
        Stop when an evaluation gives at most this loss.
    seed : int or None
        Of batches and dropout; global generators stay as they were. None: dropout draws from them.
    device, compile : str, bool
        Where the model is moved; whether to `torch.compile` it, which pays for long trainings only.
    checkpoint, resume : path, optional
        Write all to this file at each evaluation and at Ctrl-C; go on exactly from that one.
    progress : bool
        Show a bar; switch it off in notebooks whose output is stored or graded.
    batches, forward : iterator, function
        What trains in place of random windows and of the model itself; see `step`.
    after_step : function, optional
        Called with the history after each step; its time counts as training.

    Returns
    -------
    History
        After Ctrl-C, too: the first one lets the step end, a second one does not.

    Raises
    ------
    ConfigError, ShapeError, CorpusTooShortError, CheckpointError
        If a setting, the model, the corpus or the file does not fit, before anything changes.
    NonFiniteLossError
        If a loss or gradient is not finite: the model is as before, `history` tells the rest.
    """
    T = block_size if block_size is not None else longest_context(model) or 0
    check_counts(
        steps=steps, batch_size=batch_size, block_size=block_size, evaluate_every=evaluate_every
    )
    rate = schedules.named(schedule)
    settings = Settings(
        steps=steps, batch_size=batch_size, block_size=T, optimizer=optimizer, lr=lr,
        betas=betas, weight_decay=weight_decay, muon_lr=muon_lr, clip=clip, seed=seed,
        schedule=describe_schedule(rate, steps), precision=precision,
    )  # fmt: skip
    check_settings(settings, seconds)
    place = find_device(model, device)
    check_data(model, corpus, T, target, batches, checkpoint or resume)
    model.to(place)
    limit, reserve = time_limits(model, corpus, T, seconds)
    generator = torch.Generator().manual_seed(seed or 0)
    if corpus is not None:
        train, validation = (corpus.splits[s].to(place) for s in ("train", "validation"))
        batches = batches or random_batches(train, batch_size, T, generator)
    assert batches is not None  # `check_data` asks for a corpus or for batches
    evaluate_every = evaluate_every or max(1, (steps or CLOCK_STEPS) // 10)
    forward = torch.compile(forward or model) if compile else forward
    autocast = torch.autocast(place.type, PRECISIONS[precision], enabled=precision != "float32")
    history = History()
    with seeded(seed, place):
        optimizers = build_optimizers(
            optimizer, model, lr, betas=betas, weight_decay=weight_decay, muon_lr=muon_lr
        )
        training = Training(model, optimizers, generator, history, settings, corpus)
        if resume is not None:
            training.restore(resume)
        began = time.perf_counter() - history.seconds
        ended = "steps" if history.steps == steps else None
        bar = tqdm(total=steps, initial=history.steps, disable=not progress, leave=False)
        with training_mode(model), interruptible() as interrupted, bar:
            while ended is None and not interrupted.is_set():
                share = rate(*schedule_position(history, steps, seconds))
                with undone_if_broken(generator, place):
                    batch = next(batches)
                    loss, norm = step(
                        model, optimizers, batch,
                        forward=forward, rate=share, clip=clip, autocast=autocast,
                    )  # fmt: skip
                if not math.isfinite(loss + norm):
                    raise not_finite(loss, norm, model, settings, history)
                history.losses.append(loss)
                history.tokens += int((batch[1] >= 0).sum())
                history.seconds = time.perf_counter() - began
                if after_step is not None:
                    after_step(history)
                if bar.update():
                    bar.set_postfix(history.brief(), refresh=False)
                reason = "steps" if history.steps == steps else None
                if history.seconds >= limit - reserve:
                    reason = "seconds"
                if corpus is not None and (reason or history.steps % evaluate_every == 0):
                    left = min(limit / 5, limit - history.seconds)
                    found, share = evaluate_within(left, model, validation, T)
                    history.seconds = time.perf_counter() - began
                    now = Evaluation(history.steps, history.seconds, found, share)
                    history.evaluations.append(now)
                    bar.set_postfix(history.brief())
                    if checkpoint is not None:
                        training.save(checkpoint)
                    if target is not None and found <= target:
                        reason = "target"
                ended = reason
        history.stopped = ended or "interrupted"
        if ended is None:
            history.seconds = time.perf_counter() - began
            if checkpoint is not None:
                training.save(checkpoint)
    return history


def random_batches(
    tokens: Tensor, batch_size: int, block_size: int, generator: torch.Generator
) -> Iterator[tuple[Tensor, Tensor]]:
    """Windows (B, T) from anywhere in the tokens (N,), and their targets (B, T), without end."""
    while True:
        x, y = data.random_windows(tokens, batch_size, block_size, generator)
        yield x.long(), y.long()


def schedule_position(
    history: History, steps: int | None, seconds: float | None
) -> tuple[int, int]:
    """Step and number of steps as a schedule takes them: counted, or by the share of the time."""
    if steps is not None:
        return history.steps, steps
    assert seconds is not None  # `check_settings` asks for one of the two
    return int(history.seconds / seconds * CLOCK_STEPS), CLOCK_STEPS


def evaluate(model: nn.Module, tokens: Tensor, block_size: int, overlap: int = 0) -> float:
    """The mean loss over all targets of a split, each counted exactly once.

    Parameters
    ----------
    model : nn.Module
        Evaluated with dropout off; its mode is restored.
    tokens : (N,) int64
        The split.
    block_size : int
        T, the windows' length; the first target of a window has one token of context, the last T.
    overlap : int
        How many tokens a window repeats of the one before it, as context only: no target but the
        first few of the split then has fewer than overlap + 1 tokens of context.

    Returns
    -------
    float
        Nats for each target.

    Raises
    ------
    CorpusTooShortError
        If the split holds fewer than two tokens.
    ConfigError
        If overlap leaves no target to a window.
    """
    return evaluate_within(math.inf, model, tokens, block_size, overlap)[0]


def evaluate_within(
    seconds: float, model: nn.Module, tokens: Tensor, block_size: int, overlap: int = 0
) -> tuple[float, float]:
    """`evaluate`, on as much of a split as can be read in so many seconds: at least one batch.

    Returns
    -------
    loss : float
        Nats for each target.
    share : float
        How much of the split this is the mean of: 1, or windows drawn from all over it, the same
        ones each time.
    """
    if not 0 <= overlap < block_size:
        raise ConfigError(f"overlap = {overlap}: at least 0 and below block_size = {block_size}")
    device = next(model.parameters()).device
    x, y = data.evaluation_windows(tokens, block_size)  # (N, T) each
    if overlap:
        # The same tokens as one row, cut again so that windows begin block_size − overlap apart;
        # the last one is padded as above.
        flat_x, flat_y = x.flatten(), y.flatten()
        fresh = block_size - overlap
        missing = -(len(flat_x) - block_size) % fresh
        x = F.pad(flat_x, (0, missing)).unfold(0, block_size, fresh)  # (N, T)
        y = F.pad(flat_y, (0, missing), value=-100).unfold(0, block_size, fresh).clone()  # (N, T)
        y[1:, :overlap] = -100
    began, rows = time.perf_counter(), max(1, EVALUATION_TOKENS // block_size)
    whole = (y >= 0).all(dim=1)  # (N,): whether all of a window's targets count
    kinds = whole, ~whole & (y >= 0).any(dim=1)
    parts = [part for kind in kinds if kind.any() for part in kind.nonzero()[:, 0].split(rows)]
    if seconds < math.inf:
        order = torch.randperm(len(parts), generator=torch.Generator().manual_seed(0))
        parts = [parts[i] for i in order.tolist()]
    total, counted = torch.zeros((), dtype=torch.float64), 0
    with evaluation_mode(model), torch.inference_mode():
        for part in parts:
            if counted and time.perf_counter() - began >= seconds:
                break
            inputs, targets = x[part].long().to(device), y[part].long().to(device)
            number = int((targets >= 0).sum())
            # Other people's models do not know −100, so no model is given it.
            logits, loss = model(inputs, targets.clamp(min=0))
            if number < targets.numel():
                loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
            total += loss.double().cpu() * number
            counted += number
    return float(total) / counted, counted / (len(tokens) - 1)


def time_limits(
    model: nn.Module, corpus: Corpus | None, block_size: int, seconds: float | None
) -> tuple[float, float]:
    """How long a training may take, and how much of that its last evaluation is to have.

    As much as the whole split will take, by the time of one batch; at most a fifth.
    """
    if seconds is None or corpus is None:
        return (math.inf if seconds is None else seconds), 0.0
    some = corpus.splits["validation"][: EVALUATION_TOKENS + 1]
    began = time.perf_counter()
    evaluate(model, some, block_size)
    expected = (time.perf_counter() - began) * len(corpus.splits["validation"]) / len(some)
    return seconds, min(expected, seconds / 5)
