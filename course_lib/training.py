"""Training: one loop for every model of the course, and the history that it leaves.

The loop wastes little: a batch is one gather, AdamW is one kernel, the validation split is read
whole but rarely and in large batches. It loses nothing: Ctrl-C, a loss that is not finite and a
crash all leave the model, the history, or a checkpoint from which training goes on exactly.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import math
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm

from course_lib import checkpoints, data, optimizers, schedules
from course_lib.errors import CheckpointError, ConfigError, NonFiniteLossError, ShapeError
from course_lib.sampling import evaluation_mode

if TYPE_CHECKING:
    from course_lib.data import Corpus
    from course_lib.data.play import Play
    from course_lib.plots import Picture

# Logits of one evaluation batch: 2 ** 13 tokens × 65 symbols × 4 bytes = 2.1 MB, which stays in
# the cache of an ordinary processor; larger batches were slower, and held more memory.
EVALUATION_TOKENS = 2**13

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class Evaluation:
    """The loss over the whole validation split after some step.

    Attributes
    ----------
    step : int
        Steps done.
    seconds : float
        Since training began, evaluation included.
    loss : float
        Mean over every target of the split, in nats.
    """

    step: int
    seconds: float
    loss: float


@dataclass
class History:
    """What happened in a training; the last expression of a cell draws it.

    Attributes
    ----------
    losses : list of float
        Loss of the batch of each step, before that step.
    evaluations : list of Evaluation
        Losses over the whole validation split, in order.
    seconds : float
        Spent in training, evaluation included, over all its parts if it was resumed.
    tokens : int
        Targets seen, repeated ones counted again.
    stopped : {"steps", "target", "seconds", "interrupted"}
        What ended it.
    """

    losses: list[float] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    seconds: float = 0.0
    tokens: int = 0
    stopped: str = "steps"

    @property
    def steps(self) -> int:
        """Steps done."""
        return len(self.losses)

    @property
    def validation(self) -> float:
        """The last loss over the whole validation split; NaN if there was none."""
        return self.evaluations[-1].loss if self.evaluations else math.nan

    @property
    def tokens_per_second(self) -> float:
        """Targets seen for each second of training."""
        return self.tokens / self.seconds if self.seconds > 0 else math.nan

    def seconds_to(self, loss: float) -> float | None:
        """When validation first was at most `loss`; None if it never was."""
        return next((e.seconds for e in self.evaluations if e.loss <= loss), None)

    def plot(self, against: str = "step") -> Picture:
        """Batch losses, their running mean, and the validation losses.

        Parameters
        ----------
        against : {"step", "seconds"}
            The horizontal axis; of seconds, only validation is known.

        Raises
        ------
        ConfigError
            If the axis has another name.
        """
        from course_lib import plots

        if against not in ("step", "seconds"):
            raise ConfigError(f"against = {against!r}: 'step' or 'seconds'")
        drawing, ax = plots.figure(height=3.0)
        if against == "step" and self.losses:
            # A picture is 600 pixels wide: more points than that only make the file heavy.
            stride = max(1, len(self.losses) // 300)
            where = list(range(0, len(self.losses), stride))
            means = [_mean(self.losses[i : i + stride]) for i in where]
            ax.plot(
                [i + stride / 2 for i in where],
                means,
                color=plots.PALETTE[0],
                alpha=0.6,
                linewidth=1.0,
                label="batches",
            )
        ax.plot(
            [e.step if against == "step" else e.seconds for e in self.evaluations],
            [e.loss for e in self.evaluations],
            color=plots.PALETTE[1],
            marker=plots.MARKERS[1],
            label="whole validation split",
        )
        ax.set_xlabel("steps" if against == "step" else "seconds")
        ax.set_ylabel("loss (nats)")
        if self.evaluations:
            ax.set_title(f"Validation loss ends at {self.validation:.3f}")
            ax.legend()
        return plots.show(
            drawing,
            alt=f"Loss against {against} over {self.steps} steps and {self.seconds:.1f} seconds. "
            f"The validation loss ends at {self.validation:.3f}.",
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        bundle = self.plot()._repr_mimebundle_()
        return {**bundle, "text/plain": str(self)}

    def __str__(self) -> str:
        """One line: steps, seconds, tokens per second, last losses, and what ended it."""
        last = f"{self.losses[-1]:.4f}" if self.losses else "none"
        return (
            f"History: {self.steps} steps, {self.seconds:.1f} s, "
            f"{self.tokens_per_second:,.0f} tokens/s, last batch {last}, "
            f"validation {self.validation:.4f}, ended by {self.stopped}"
        )

    __repr__ = __str__


@dataclass(frozen=True)
class Settings:
    """Everything that decides which losses a training meets; `fit` documents each."""

    steps: int
    batch_size: int
    block_size: int
    optimizer: str
    lr: float
    betas: tuple[float, float]
    weight_decay: float
    muon_lr: float
    schedule: str
    clip: float | None
    seed: int
    precision: str


def fit(
    model: nn.Module,
    corpus: Corpus,
    *,
    steps: int = 1000,
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
    seed: int = 0,
    device: str | torch.device | None = None,
    precision: str = "float32",
    compile: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> History:
    """Train a model, in place, and return what happened.

    Parameters
    ----------
    model : nn.Module
        Called as `logits, loss = model(tokens, targets)`.
    corpus : Corpus
        Its train split is trained on, its validation split is evaluated whole.
    steps : int
        Batches to train on, and the length of the schedule.
    batch_size, block_size : int
        B windows of T tokens a batch; `block_size` defaults to the model's own.
    optimiser : {"adamw", "muon", "sgd"}
        See `course_lib.optimizers.build`, also for `lr`, `betas`, `weight_decay` and `muon_lr`.
    schedule : str or function
        "constant", "linear", "cosine", "one_cycle", or a function from `course_lib.schedules`.
    clip : float, optional
        The largest norm that all gradients together may have; longer ones are shortened to it.
    evaluate_every : int, optional
        Steps between evaluations; a tenth of `steps` if left out. The last step is always followed
        by one, unless training was interrupted.
    target : float, optional
        Stop when an evaluation gives at most this loss.
    seconds : float, optional
        Stop at the first step after so many seconds, with a last evaluation.
    seed : int
        Decides the batches and the dropout; the global generators are left as they were. The same
        seed on the same machine gives the same losses.
    device : str, optional
        "cpu", "cuda", "mps"; the model is moved there. Left out: where the model is.
    precision : {"float32", "bfloat16"}
        bfloat16 runs matrix products in half the bits (autocast); it pays on GPUs and on processors
        that have it, for wide models.
    compile : bool
        `torch.compile` the training step's forward and backward: tens of seconds at the start,
        repaid on long trainings only.
    checkpoint : path, optional
        Written after each evaluation, when interrupted and at the end, atomically.
    resume : path, optional
        Go on from this checkpoint, exactly as if training had not stopped.
    progress : bool
        Show a bar with loss, seconds and tokens per second. Switch it off in notebooks whose output
        is stored or graded.

    Returns
    -------
    History
        Losses, evaluations, seconds. Ctrl-C returns it too, with the model as it is then; a second
        Ctrl-C does not wait for the step to end.

    Raises
    ------
    ConfigError
        If a setting is impossible: names it, its value and the rule.
    ShapeError
        If the model's V is not the corpus's.
    CorpusTooShortError
        If a split is shorter than a window.
    CheckpointError
        If `resume` is damaged, or belongs to another model, corpus or training.
    NonFiniteLossError
        If a loss or gradient is not finite. The model is as it was before that step, and the
        error's `history` holds everything up to it.
    """
    block_size = block_size if block_size is not None else getattr(model, "block_size", None)
    _check_settings(model, steps, batch_size, block_size, clip, evaluate_every, seconds, precision)
    assert block_size is not None
    place = _place(model, device)
    _check_target(corpus, target)
    factor = schedules.named(schedule)
    settings = Settings(
        steps=steps,
        batch_size=batch_size,
        block_size=block_size,
        optimizer=optimizer,
        lr=lr,
        betas=betas,
        weight_decay=weight_decay,
        muon_lr=muon_lr,
        schedule=json.dumps([factor(step, steps) for step in _sample(steps)]),
        clip=clip,
        seed=seed,
        precision=precision,
    )
    model.to(place)
    train, validation = corpus.train.to(place), corpus.validation.to(place)
    _check_vocabulary(model, corpus)
    data.random_windows(
        train, 1, block_size, torch.Generator()
    )  # CorpusTooShortError now, not later
    data.evaluation_windows(validation, block_size)
    with _own_randomness(place, seed):
        run = _Run(
            model,
            optimizers.build(
                optimizer, model, lr, betas=betas, weight_decay=weight_decay, muon_lr=muon_lr
            ),
            torch.Generator().manual_seed(seed),
            settings,
            History(),
        )
        if resume is not None:
            run.restore(resume, corpus)
        forward = torch.compile(model) if compile else model
        mixed = (
            torch.autocast(place.type, PRECISIONS[precision])
            if precision != "float32"
            else nullcontext()
        )
        if evaluate_every is None:
            evaluate_every = max(1, steps // 10)
        history = run.history
        history.stopped = "steps"
        began = time.perf_counter() - history.seconds
        bar = tqdm(
            total=steps, initial=history.steps, disable=not progress, leave=False, unit="step"
        )

        def assess() -> float:
            loss = evaluate(model, validation, block_size)
            history.seconds = time.perf_counter() - began
            history.evaluations.append(Evaluation(history.steps, history.seconds, loss))
            bar.set_postfix(_postfix(history))
            if checkpoint is not None:
                run.keep(checkpoint, corpus)
            return loss

        with _interruptible() as interrupted, bar:
            modes = [(part, part.training) for part in model.modules()]
            model.train()
            try:
                while history.steps < steps:
                    if interrupted.is_set():
                        raise KeyboardInterrupt
                    run.step(forward, train, factor, mixed)
                    history.seconds = time.perf_counter() - began
                    if bar.update():
                        bar.set_postfix(_postfix(history), refresh=False)
                    out_of_time = seconds is not None and history.seconds >= seconds
                    if history.steps % evaluate_every == 0 or history.steps == steps or out_of_time:
                        loss = assess()
                        if target is not None and loss <= target:
                            history.stopped = "target"
                            break
                    if out_of_time:
                        history.stopped = "seconds"
                        break
            except KeyboardInterrupt:
                history.seconds = time.perf_counter() - began
                history.stopped = "interrupted"
                if checkpoint is not None:
                    run.keep(checkpoint, corpus)
            finally:
                for part, mode in modes:
                    part.training = mode
    return history


def evaluate(model: nn.Module, tokens: Tensor, block_size: int, lead: int = 0) -> float:
    """The mean loss over all targets of a split, each counted exactly once.

    Parameters
    ----------
    model : nn.Module
        Evaluated with dropout off; its mode is restored.
    tokens : (N,) int64
        The split.
    block_size : int
        T, the windows' length; the first target of a window has one token of context, the last T.
    lead : int
        How many tokens a window repeats of the one before it, as context only: no target but the
        first few of the split then has fewer than lead + 1 tokens of context.

    Returns
    -------
    float
        Nats for each target.

    Raises
    ------
    CorpusTooShortError
        If the split holds fewer than two tokens.
    ConfigError
        If lead leaves no target to a window.
    """
    if not 0 <= lead < block_size:
        raise ConfigError(f"lead = {lead}: at least 0 and below block_size = {block_size}")
    device = next(model.parameters()).device
    x, y = data.evaluation_windows(tokens, block_size)  # (N, T) each
    if lead:
        # Windows that begin block_size − lead apart; the padded end repeats from the first form.
        flat_x, flat_y = x.flatten(), y.flatten()
        fresh = block_size - lead
        missing = -(len(flat_x) - block_size) % fresh
        x = F.pad(flat_x, (0, missing)).unfold(0, block_size, fresh)  # (N, T)
        y = F.pad(flat_y, (0, missing), value=-100).unfold(0, block_size, fresh).clone()  # (N, T)
        y[1:, :lead] = -100
    rows = max(1, EVALUATION_TOKENS // block_size)
    total = torch.zeros((), dtype=torch.float64)
    with evaluation_mode(model), torch.inference_mode():
        for start in range(0, len(x), rows):
            targets = y[start : start + rows]
            counted = int((targets >= 0).sum())
            if counted:
                loss = model(x[start : start + rows].to(device), targets.to(device))[1]
                total += loss.double().cpu() * counted
    return float(total) / (len(tokens) - 1)


@dataclass
class _Run:
    """All that changes while training, so that it can be written down and taken up again."""

    model: nn.Module
    optimizers: list[torch.optim.Optimizer]
    batches: torch.Generator
    settings: Settings
    history: History

    def step(self, forward: Any, train: Tensor, factor: schedules.Schedule, mixed: Any) -> None:
        settings, step = self.settings, self.history.steps
        # A step that is not finished must move neither the place in the data nor the dropout.
        order, draws = self.batches.get_state(), _random_states(self.model)
        x, y = data.random_windows(train, settings.batch_size, settings.block_size, self.batches)
        try:
            with mixed:
                loss = forward(x, y)[1]
            for optimizer in self.optimizers:
                optimizer.zero_grad(set_to_none=True)
            loss.backward()
            value = float(loss.detach())
            if not math.isfinite(value):
                raise self._not_finite(value, "loss")
            if settings.clip is not None:
                norm = float(nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip))
                if not math.isfinite(norm):
                    raise self._not_finite(norm, "norm of the gradient")
        except BaseException:
            self.batches.set_state(order)
            _set_random_states(draws)
            raise
        share = factor(step, settings.steps)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group.setdefault("full_lr", group["lr"])
                group["lr"] = group["full_lr"] * share
            optimizer.step()
        self.history.losses.append(value)
        self.history.tokens += y.numel()

    def _not_finite(self, value: float, what: str) -> NonFiniteLossError:
        step, losses = self.history.steps + 1, self.history.losses
        broken = [
            name
            for name, parameter in self.model.named_parameters()
            if not bool(torch.isfinite(parameter).all())
        ]
        causes = []
        if broken:
            causes.append(f"weights that are not finite already ({', '.join(broken[:3])})")
        if len(losses) >= 2 and losses[-1] > min(losses) + 0.5:
            causes.append(
                f"a learning rate that is too high: the loss rose from {min(losses):.3f} to "
                f"{losses[-1]:.3f} before; try lr = {self.settings.lr / 10:g}"
            )
        elif not broken:
            causes.append(f"a learning rate that is too high (lr = {self.settings.lr:g})")
        if self.settings.clip is None:
            causes.append("one long gradient: try clip = 1.0 and a schedule with warm-up")
        if step == 1:
            causes.insert(0, "the model itself: a row of scores that is masked whole, or log(0)")
        if self.settings.precision != "float32":
            causes.append("too few bits: try precision = 'float32'")
        error = NonFiniteLossError(
            f"step {step}: the {what} is {value}. Likeliest causes: {'; '.join(causes)}. "
            "The model is as it was before this step"
        )
        error.history = self.history
        return error

    def keep(self, path: str | os.PathLike[str], corpus: Corpus) -> None:
        """Write all of it to one file."""
        tensors = checkpoints.model_tensors(self.model)
        groups = []
        for i, optimizer in enumerate(self.optimizers):
            state = optimizer.state_dict()
            groups.append(state["param_groups"])
            for j, values in state["state"].items():
                for name, value in values.items():
                    if value is not None:
                        tensors[f"optimiser.{i}.{j}.{name}"] = torch.as_tensor(value)
        tensors["random.batches"] = self.batches.get_state()
        for device, random_state in _random_states(self.model).items():
            tensors[f"random.{device}"] = random_state
        history = self.history
        tensors["history.losses"] = torch.tensor(history.losses, dtype=torch.float64)
        tensors["history.evaluations"] = torch.tensor(
            [dataclasses.astuple(e) for e in history.evaluations], dtype=torch.float64
        ).view(-1, 3)  # (E, 3): step, seconds, loss
        facts = {
            "model": checkpoints.describe_model(self.model),
            "settings": dataclasses.asdict(self.settings),
            "corpus": _digest(corpus),
            "optimisers": groups,
            "seconds": history.seconds,
            "tokens": history.tokens,
        }
        checkpoints.write_checkpoint(path, tensors, facts)

    def restore(self, path: str | os.PathLike[str], corpus: Corpus) -> None:
        """Take up what `keep` wrote; everything is checked before anything changes."""
        tensors, facts = checkpoints.read_checkpoint(path)
        if "settings" not in facts:
            raise CheckpointError(
                f"{path} holds a model, but no training to resume: it was written by save. "
                "load(path, model) gives its weights"
            )
        checkpoints.check_same_model(path, tensors, facts, self.model)
        ours = json.loads(json.dumps(dataclasses.asdict(self.settings)))
        names = {"schedule": "schedule (the learning rates it gives)"}
        differences = [
            f"{names.get(name, name)}: {_short(facts['settings'].get(name))} in the file, "
            f"{_short(value)} now"
            for name, value in ours.items()
            if facts["settings"].get(name) != value
        ]
        if facts["corpus"] != _digest(corpus):
            differences.insert(0, f"the corpus is another than the file's (now {corpus.name!r})")
        if differences:
            raise CheckpointError(
                f"{path} belongs to another training: {'; '.join(differences)}. Resume with the "
                "settings of the file, or load(path, model) to start anew from its weights"
            )
        checkpoints.load_model_tensors(self.model, tensors)
        states: list[dict[int, dict[str, Tensor]]] = [{} for _ in self.optimizers]
        for name, tensor in tensors.items():
            if name.startswith("optimiser."):
                _, i, j, key = name.split(".", 3)
                states[int(i)].setdefault(int(j), {})[key] = tensor
        for optimizer, kept, groups in zip(
            self.optimizers, states, facts["optimisers"], strict=True
        ):
            optimizer.load_state_dict({"state": kept, "param_groups": groups})
        self.batches.set_state(tensors["random.batches"])
        _set_random_states(
            {
                name.removeprefix("random."): state
                for name, state in tensors.items()
                if name.startswith("random.") and name != "random.batches"
            }
        )
        self.history.losses = tensors["history.losses"].tolist()
        self.history.evaluations = [
            Evaluation(int(step), seconds, loss)
            for step, seconds, loss in tensors["history.evaluations"].tolist()
        ]
        self.history.seconds = facts["seconds"]
        self.history.tokens = facts["tokens"]


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """The first Ctrl-C sets the event, so that no step is left half done; the second one raises."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def ask(*_: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _own_randomness(place: torch.device, seed: int) -> Iterator[None]:
    """Dropout draws from the global generators: seed them inside, give them back as they were."""
    before = _global_states(place)
    torch.manual_seed(seed)
    try:
        yield
    finally:
        _set_random_states(before)


def _global_states(place: torch.device) -> dict[str, Tensor]:
    states = {"cpu": torch.get_rng_state()}
    if place.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(place)
    elif place.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def _random_states(model: nn.Module) -> dict[str, Tensor]:
    return _global_states(next(model.parameters()).device)


def _set_random_states(states: Mapping[str, Tensor]) -> None:
    for device, state in states.items():
        if device == "cpu":
            torch.set_rng_state(state)
        elif device == "cuda" and torch.cuda.is_available():
            torch.cuda.set_rng_state(state)
        elif device == "mps" and torch.backends.mps.is_available():
            torch.mps.set_rng_state(state)


def _place(model: nn.Module, device: str | torch.device | None) -> torch.device:
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


def _check_settings(
    model: nn.Module,
    steps: int,
    batch_size: int,
    block_size: int | None,
    clip: float | None,
    evaluate_every: int | None,
    seconds: float | None,
    precision: str,
) -> None:
    if block_size is None:
        raise ConfigError(
            f"block_size is missing: a {type(model).__name__} reads windows of any length, "
            "so say which, for example block_size=8"
        )
    counts = {"steps": steps, "batch_size": batch_size, "block_size": block_size}
    if evaluate_every is not None:
        counts["evaluate_every"] = evaluate_every
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ConfigError(f"{name} = {value!r}: must be a whole number of at least 1")
    longest = getattr(model, "block_size", block_size)
    if block_size > longest:
        raise ConfigError(f"block_size = {block_size}: the model has {longest} positions")
    if clip is not None and not 0 < clip < float("inf"):
        raise ConfigError(f"clip = {clip}: must be above 0 and finite, or None")
    if seconds is not None and not seconds > 0:
        raise ConfigError(f"seconds = {seconds}: must be above 0, or None")
    if precision not in PRECISIONS:
        known = ", ".join(map(repr, PRECISIONS))
        raise ConfigError(f"precision = {precision!r}: known are {known}")


def _check_target(corpus: Corpus, target: float | None) -> None:
    if target is None:
        return
    floor = _floor(corpus)
    if not target > floor:
        raise ConfigError(
            f"target = {target}: no model gets below {floor:.4f} on the validation split of "
            f"{corpus.name!r}, so training would never stop; choose a higher target"
        )


def _floor(corpus: Corpus) -> float:
    """The loss that no model can beat: known for the built-in play; 0 for any other text."""
    if corpus.name != "play":
        return 0.0
    comedy = _play()
    return comedy.floor(slice(len(corpus.train), None)) if comedy.text == corpus.text else 0.0


@functools.cache
def _play() -> Play:
    """Written once a process: it takes seconds, and only a target on the play asks for it."""
    from course_lib.data import play

    return play.write()


def _check_vocabulary(model: nn.Module, corpus: Corpus) -> None:
    device = next(model.parameters()).device
    with evaluation_mode(model), torch.inference_mode():
        V = model(torch.zeros(1, 1, dtype=torch.int64, device=device))[0].shape[-1]
    if len(corpus.vocabulary) != V:
        raise ShapeError(
            f"the model has V = {V}, the corpus {corpus.name!r} has {len(corpus.vocabulary)} "
            "symbols: build the model with vocab_size=len(corpus.vocabulary)"
        )


def _digest(corpus: Corpus) -> str:
    return hashlib.sha256(corpus.train.cpu().numpy().tobytes()).hexdigest()


def _sample(steps: int) -> list[int]:
    """Steps at which two schedules are compared: enough to tell any two apart that differ."""
    return sorted({0, 1, *(steps * k // 16 for k in range(16)), steps - 1} & set(range(steps)))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _postfix(history: History) -> dict[str, str]:
    shown = {"loss": f"{history.losses[-1]:.3f}"}
    if history.evaluations:
        shown["validation"] = f"{history.validation:.3f}"
    shown["tokens/s"] = f"{history.tokens_per_second:,.0f}"
    return shown
