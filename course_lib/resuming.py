"""Going on with a training: everything that changes while it runs, written down and taken up."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from course_lib import checkpoints
from course_lib.contexts import random_states, set_random_states
from course_lib.errors import CheckpointError
from course_lib.history import Evaluation, History
from course_lib.schedules import Schedule

if TYPE_CHECKING:
    from course_lib.data import Corpus


@dataclass(frozen=True)
class Settings:
    """Everything that decides which losses a training meets; `training.fit` documents each."""

    steps: int | None
    batch_size: int
    block_size: int
    optimizer: str
    lr: float
    betas: tuple[float, float]
    weight_decay: float
    muon_lr: float
    schedule: str
    clip: float | None
    seed: int | None
    precision: str


@dataclass(frozen=True)
class Training:
    """A training between two of its steps.

    Attributes
    ----------
    model : nn.Module
    optimizers : sequence of Optimizer
    batches : torch.Generator
        Draws the batches.
    history : History
    settings : Settings
    corpus : Corpus or None
        A checkpoint keeps a digest of its training split; without one, there is no checkpoint.
    """

    model: nn.Module
    optimizers: Sequence[torch.optim.Optimizer]
    batches: torch.Generator
    history: History
    settings: Settings
    corpus: Corpus | None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to one file, which is whole or not there."""
        history = self.history
        tensors = checkpoints.model_tensors(self.model)
        for i, optimizer in enumerate(self.optimizers):
            for j, values in optimizer.state_dict()["state"].items():
                for name, value in values.items():
                    if value is not None:
                        tensors[f"optimizer.{i}.{j}.{name}"] = torch.as_tensor(value)
        tensors["random.batches"] = self.batches.get_state()
        for device, state in random_states(self._place).items():
            tensors[f"random.{device}"] = state
        tensors["history.losses"] = torch.tensor(history.losses, dtype=torch.float64)
        rows = [dataclasses.astuple(evaluation) for evaluation in history.evaluations]
        # (E, 4): step, seconds, loss, share
        tensors["history.evaluations"] = torch.tensor(rows, dtype=torch.float64).view(-1, 4)
        facts = {
            "model": checkpoints.describe_model(self.model),
            "settings": dataclasses.asdict(self.settings),
            "corpus": _digest(self.corpus),
            "optimizers": [each.state_dict()["param_groups"] for each in self.optimizers],
            "seconds": history.seconds,
            "tokens": history.tokens,
        }
        checkpoints.write_checkpoint(path, tensors, facts)

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Take up what `save` wrote; everything is checked before anything changes.

        Raises
        ------
        CheckpointError
            If the file is damaged, holds no training, or one of another model, corpus or setting.
        """
        tensors, facts = checkpoints.read_checkpoint(path)
        self._check_same_training(path, tensors, facts)
        checkpoints.load_model_tensors(self.model, tensors)
        states: list[dict[int, dict[str, Tensor]]] = [{} for _ in self.optimizers]
        for name, tensor in _below("optimizer", tensors).items():
            i, j, key = name.split(".", 2)
            states[int(i)].setdefault(int(j), {})[key] = tensor
        for optimizer, state, groups in zip(
            self.optimizers, states, facts["optimizers"], strict=True
        ):
            optimizer.load_state_dict({"state": state, "param_groups": groups})
        random = _below("random", tensors)
        self.batches.set_state(random.pop("batches"))
        set_random_states(random)
        self.history.losses = tensors["history.losses"].tolist()
        self.history.evaluations = [
            Evaluation(int(step), *rest) for step, *rest in tensors["history.evaluations"].tolist()
        ]
        self.history.seconds, self.history.tokens = facts["seconds"], facts["tokens"]

    @property
    def _place(self) -> torch.device:
        return next(self.model.parameters()).device

    def _check_same_training(
        self, path: str | os.PathLike[str], tensors: dict[str, Tensor], facts: dict[str, Any]
    ) -> None:
        if "settings" not in facts:
            raise CheckpointError(
                f"{path} holds a model, but no training to resume: it was written by save. "
                "load(path, model) gives its weights"
            )
        checkpoints.check_same_model(path, tensors, facts, self.model)
        theirs = facts["settings"]
        ours = json.loads(json.dumps(dataclasses.asdict(self.settings)))
        shown = {"schedule": "schedule (the learning rates it gives)"}
        differences = [
            f"{shown.get(name, name)}: {_short(theirs.get(name))} in the file, {_short(value)} now"
            for name, value in ours.items()
            if theirs.get(name) != value
        ]
        if facts["corpus"] != _digest(self.corpus):
            now = f"(now {self.corpus.name!r})" if self.corpus is not None else ""
            differences.insert(0, f"the corpus is another than the file's {now}")
        if differences:
            raise CheckpointError(
                f"{path} belongs to another training: {'; '.join(differences)}. Resume with the "
                "settings of the file, or load(path, model) to start anew from its weights"
            )


def describe_schedule(schedule: Schedule, steps: int | None) -> str:
    """The rates of a schedule at some steps: enough to tell any two apart that differ."""
    if steps is None:
        return "by the clock"
    some = {0, 1, *(steps * k // 16 for k in range(16)), steps - 1} & set(range(steps))
    return json.dumps([schedule(step, steps) for step in sorted(some)])


def _below(start: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with `start` and a dot, without that beginning."""
    start += "."
    return {name.removeprefix(start): t for name, t in tensors.items() if name.startswith(start)}


def _digest(corpus: Corpus | None) -> str:
    assert corpus is not None  # `fit` refuses a checkpoint without one
    return hashlib.sha256(corpus.splits["train"].cpu().numpy().tobytes()).hexdigest()


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"
