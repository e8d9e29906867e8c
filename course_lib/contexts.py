"""What training and sampling change around them, and put back: modes, random numbers, Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import Tensor, nn


def evaluation_mode(model: nn.Module) -> AbstractContextManager[nn.Module]:
    """Dropout off inside the `with`, and every part back in its own mode afterwards."""
    return _mode(model, training=False)


def training_mode(model: nn.Module) -> AbstractContextManager[nn.Module]:
    """Dropout on inside the `with`, and every part back in its own mode afterwards."""
    return _mode(model, training=True)


@contextmanager
def _mode(model: nn.Module, training: bool) -> Iterator[nn.Module]:
    modes = {part: part.training for part in model.modules()}
    model.train(training)
    try:
        yield model
    finally:
        for part, mode in modes.items():
            part.training = mode


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Ctrl-C sets the event, so that a step can end; a second one ends the `with` at once.

    A KeyboardInterrupt ends the `with` and not the program: what was done inside is kept.
    """
    asked = threading.Event()

    def ask(*_: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    in_main_thread = threading.current_thread() is threading.main_thread()  # gets the signals
    before = signal.signal(signal.SIGINT, ask) if in_main_thread else None
    try:
        yield asked
    except KeyboardInterrupt:
        asked.set()
    finally:
        if in_main_thread:
            signal.signal(signal.SIGINT, before)


@contextmanager
def seeded(seed: int | None, place: torch.device) -> Iterator[None]:
    """Dropout draws from the global generators: seed them inside, and put them back afterwards.

    Parameters
    ----------
    seed : int or None
        None leaves the generators alone: what is drawn inside follows from the caller's seed.
    place : torch.device
        Where the model is; a GPU has a generator of its own.
    """
    if seed is None:
        yield
        return
    before = random_states(place)
    torch.manual_seed(seed)
    try:
        yield
    finally:
        set_random_states(before)


@contextmanager
def undone_if_broken(batches: torch.Generator, place: torch.device) -> Iterator[None]:
    """An exception inside leaves all generators as they were, so that a step can be repeated."""
    order, draws = batches.get_state(), random_states(place)
    try:
        yield
    except BaseException:
        batches.set_state(order)
        set_random_states(draws)
        raise


def random_states(place: torch.device) -> dict[str, Tensor]:
    """The states of the global generators that a model on this device draws from."""
    states = {"cpu": torch.get_rng_state()}
    if place.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(place)
    elif place.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def set_random_states(states: Mapping[str, Tensor]) -> None:
    """Put generators into states that `random_states` gave; skip a device that is not there."""
    for device, state in states.items():
        if device == "cpu":
            torch.set_rng_state(state)
        elif device == "cuda" and torch.cuda.is_available():
            torch.cuda.set_rng_state(state)
        elif device == "mps" and torch.backends.mps.is_available():
            torch.mps.set_rng_state(state)
