"""A program of the reader's own, in a file or a notebook: what stands in it, and how it trains.

The program is the one of the project *The GPT you wrote*: it defines `GPT`, `train` and `write`.
It runs with the rights of whoever runs it, so only one's own belongs here.
"""

from __future__ import annotations

import contextlib
import functools
import json
import linecache
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from course_lib.config import Config
from course_lib.errors import ConfigError

NAMES = ("GPT", "train", "write")
SIZES = ("vocab_size", "block_size", "n_embd", "n_head", "n_layer")

LADDER = {
    "bigram": 2.513,
    "one head": 2.355,
    "four heads": 2.209,
    "one block": 2.018,
    "four blocks": 1.978,
    "context of 64": 1.916,
}
"""Losses of chapter 08 on Tiny Shakespeare, means of three seeds."""

# Cells that no program needs: they ask the course something.
_ASKS = ("check(", "experiment(", "from course_tasks", "import course_tasks", "%", "!")


@dataclass(frozen=True)
class Program:
    """A program that has been read and run, but has trained nothing.

    Attributes
    ----------
    source : str
        Its text.
    GPT : type
    train : callable (text, seconds) -> model
    write : callable (model, prompt, n) -> str
    """

    source: str
    GPT: Any
    train: Callable[[str, float], nn.Module]
    write: Callable[[nn.Module, str, int], str]


def read(path: str | Path) -> Program:
    """The program in a file of Python, or in the cells of a notebook.

    Parameters
    ----------
    path : path
        Of a notebook, cells that check something are left out.

    Raises
    ------
    ConfigError
        If there is no such file, it is neither of both, it stops, or a name is missing.
    """
    path = Path(path)
    source = _source(path)
    linecache.cache[str(path)] = (len(source), None, source.splitlines(keepends=True), str(path))
    space: dict[str, Any] = {"__name__": "my_gpt"}
    try:
        exec(compile(source, str(path), "exec"), space)
    except Exception as error:  # whatever a program of the reader's raises
        raise ConfigError(
            f"{path} stops with {type(error).__name__}: {error}. Run it from the top yourself, and "
            "correct the line"
        ) from error
    missing = [name for name in NAMES if name not in space]
    if missing:
        raise ConfigError(
            f"{path} defines no {' and no '.join(missing)}; the program of the project defines "
            f"{', '.join(NAMES)}"
        )
    return Program(source, *(space[name] for name in NAMES))


def _source(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read ({error.strerror}): give the file of your program, or the "
            "notebook that it stands in"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is no text: give a .py file or a notebook") from error
    if path.suffix != ".ipynb":
        return text
    try:
        cells = [
            "".join(cell["source"])
            for cell in json.loads(text)["cells"]
            if cell["cell_type"] == "code"
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is no notebook of this format: save it in JupyterLab") from error
    kept = (
        "\n".join(line for line in cell.splitlines() if not line.startswith(_ASKS)).strip()
        for cell in cells
    )
    return "\n\n\n".join(cell for cell in kept if cell) + "\n"


@contextlib.contextmanager
def models_noted(GPT: Any) -> Iterator[list[tuple[nn.Module, dict[str, int]]]]:
    """Inside, each model that a class makes is noted, with the sizes that it was made with."""
    noted: list[tuple[nn.Module, dict[str, int]]] = []
    original: Callable[..., None] = GPT.__init__

    @functools.wraps(original)
    def init(self: Any, *args: Any, **named: Any) -> None:
        given = {**dict(zip(SIZES, args, strict=False)), **named}
        noted.append((self, {name: int(given[name]) for name in SIZES if name in given}))
        original(self, *args, **named)

    GPT.__init__ = init
    try:
        yield noted
    finally:
        GPT.__init__ = original


def warm_up() -> None:
    """Take a step with an optimizer, whose first one imports much.

    That takes seconds on a slow machine, and they are not the program's.
    """
    weight = torch.zeros(1, requires_grad=True)
    (weight * weight).sum().backward()
    torch.optim.AdamW([weight], lr=0.1).step()


@dataclass
class Progress:
    """How far a training has come.

    Attributes
    ----------
    seconds : float
        Of all runs together.
    steps : int
    model : dict
        The model's state, or nothing before the first step.
    optimizer : dict
    """

    seconds: float = 0.0
    steps: int = 0
    model: Mapping[str, Any] = field(default_factory=dict)
    optimizer: Mapping[str, Any] = field(default_factory=dict)


def config_of(sizes: Mapping[str, int]) -> Config:
    """The sizes that a model was made with, checked.

    Raises
    ------
    ConfigError
        If some are missing, or no model can have them.
    """
    missing = [name for name in SIZES if name not in sizes]
    if missing:
        raise ConfigError(
            f"GPT was called without {', '.join(missing)}: call it as GPT({', '.join(SIZES)})"
        )
    return Config(**{name: sizes[name] for name in SIZES})  # type: ignore[arg-type]


def trained(
    program: Program,
    text: str,
    seconds: float,
    before: Progress,
    said: Callable[[nn.Module, Config, Progress], None],
    *,
    every: float,
) -> tuple[nn.Module, Config, Progress]:
    """Let a program train, from where it was before.

    Its own `train` does it, and is only watched: at its first step, weights and optimizer get the
    state of before, and that step moves nothing.

    Parameters
    ----------
    program : Program
    text : str
    seconds : float
        How many this time.
    before : Progress
    said : callable (model, Config, Progress)
        Told every so many seconds, and at the end; it may read the model.
    every : float
        Seconds.

    Returns
    -------
    model : Module
        What `train` returned.
    config : Config
        Its sizes.
    progress : Progress
        Of all runs together.

    Raises
    ------
    ConfigError
        If `train` makes no GPT, or one of another shape than before.
    KeyboardInterrupt
        If a person stops it; what was told last is where it can go on.
    """
    # In a page, where nothing trains in this way, there is no such hook.
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    warm_up()
    began = time.monotonic()
    state: dict[str, Any] = {"steps": 0, "told": began, "optimizer": None}

    def now(model: nn.Module) -> Progress:
        kept = {name: one.detach().clone() for name, one in model.state_dict().items()}
        optimizer: Any = state["optimizer"]
        return Progress(
            before.seconds + time.monotonic() - began,
            before.steps + state["steps"],
            kept,
            {} if optimizer is None else optimizer.state_dict(),
        )

    with models_noted(program.GPT) as noted:

        def at_step(optimizer: Any, *_: Any) -> None:
            if not noted:
                return
            model = noted[-1][0]
            own = {id(one) for one in model.parameters()}
            moved = [one for group in optimizer.param_groups for one in group["params"]]
            if not own & {id(one) for one in moved}:
                return
            if state["steps"] == 0 and before.model:
                _restore(model, optimizer, before)
                for one in moved:
                    one.grad = None  # it was computed with other weights
            state["steps"] += 1
            state["optimizer"] = optimizer
            if time.monotonic() - state["told"] >= every:
                said(model, config_of(noted[-1][1]), now(model))
                state["told"] = time.monotonic()

        hook = register_optimizer_step_pre_hook(at_step)
        try:
            model = program.train(text, seconds)
        finally:
            hook.remove()
    if not noted or not isinstance(model, nn.Module):
        raise ConfigError(
            f"train returned {type(model).__name__}: it should make a GPT(…) and return it"
        )
    config = config_of(noted[-1][1])
    progress = now(model)
    said(model, config, progress)
    return model, config, progress


def _restore(model: nn.Module, optimizer: Any, before: Progress) -> None:
    try:
        model.load_state_dict(before.model)
        optimizer.load_state_dict(dict(before.optimizer))
    except (RuntimeError, ValueError, KeyError) as error:
        raise ConfigError(
            "the training of before was of another model: its weights don't fit the GPT that train "
            f"makes now ({' '.join(str(error).split())[:200]}). Begin anew with --fresh"
        ) from error


def save(path: Path, progress: Progress, text: str) -> None:
    """Keep a training, so that it can go on later; the file is replaced when it is complete."""
    partial = path.with_name(f"{path.name}.partial")
    torch.save({**vars(progress), "text": len(text), "begins": text[:200]}, partial)
    partial.replace(path)


def load(path: Path, text: str) -> Progress:
    """A training that was kept; an empty one if there is none.

    Raises
    ------
    ConfigError
        If the file is damaged, or the training was of another text.
    """
    if not path.is_file():
        return Progress()
    try:
        kept = torch.load(path, weights_only=True)
        other = (kept.pop("text"), kept.pop("begins")) != (len(text), text[:200])
        progress = Progress(**kept)
    except Exception as error:  # a file that anything may have happened to
        raise ConfigError(
            f"{path} cannot be read: delete it, or begin anew with --fresh"
        ) from error
    if other:
        raise ConfigError(f"{path} is a training of another text: begin anew with --fresh")
    return progress
