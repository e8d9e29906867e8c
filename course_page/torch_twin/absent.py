"""Parts of PyTorch that a page has no use for, where code asks whether they are there."""

from __future__ import annotations

import types

from . import generators


def _module(name, **held):
    made = types.ModuleType(f"torch.{name}")
    made.__dict__.update(held)
    return made


def _no_device(*_, **__):
    raise RuntimeError("a page computes on the CPU; it has no other device")


def _nothing(*_, **__):
    return None


cuda = _module(
    "cuda",
    is_available=lambda: False,
    device_count=lambda: 0,
    get_rng_state=_no_device,
    set_rng_state=_no_device,
    manual_seed=_nothing,
    manual_seed_all=_nothing,
    synchronize=_nothing,
    empty_cache=_nothing,
)
mps = _module("mps", is_available=lambda: False, get_rng_state=_no_device, set_rng_state=_no_device)
backends = _module(
    "backends",
    mps=_module("backends.mps", is_available=lambda: False, is_built=lambda: False),
    cuda=_module("backends.cuda", is_built=lambda: False),
    cudnn=_module("backends.cudnn", is_available=lambda: False, deterministic=False),
)
random = _module(
    "random",
    fork_rng=generators.fork_rng,
    manual_seed=generators.manual_seed,
    seed=generators.seed,
    initial_seed=generators.initial_seed,
    get_rng_state=generators.get_rng_state,
    set_rng_state=generators.set_rng_state,
    default_generator=generators.default_generator,
)
version = _module("version", cuda=None, hip=None)


class autocast:
    """Numbers of one type only are computed with here, so enabling it is refused."""

    def __init__(self, device_type="cpu", dtype=None, enabled=True, **_):
        self.enabled = enabled

    def __enter__(self):
        if self.enabled:
            raise RuntimeError("the torch of this page has no mixed precision; `make lab` has it")
        return self

    def __exit__(self, *_):
        return None

    def __call__(self, function):
        return function


def compile(model=None, **_):
    """What is compiled is the function itself."""
    return (lambda function: function) if model is None else model


def get_num_threads():
    """How many threads compute: one."""
    return 1


def set_num_threads(_):
    """Accept any number: one thread computes."""


def save(*_, **__):
    """Refuse: a page has no files."""
    raise RuntimeError("a page keeps no files, so torch.save is not there; `make lab` has it")


def load(*_, **__):
    """Refuse: a page has no files."""
    raise RuntimeError("a page keeps no files, so torch.load is not there; `make lab` has it")
