"""Seconds of one training step: torch and JAX, as they come and compiled, and a loop in one piece.

    python -m benchmarks.jax_steps

The model and its training are the published ones of chapter 10: C 32, 4 heads, context 8, batches
of 32, AdamW. In both frameworks the heads are one product and not a list. `torch.compile` is given
the model, and compiles its backward pass with it; the optimizer stays torch's own fused kernel,
while `jit` compiles the update as well. First calls, which compile, are measured in a fresh process
each; the others take turns in one process, all on one core. torch.compile needs a C++ compiler;
where there is none, its entry says what happened and holds no time.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

NAME = "jax_steps"
B, SCANNED = 32, 100
SIZES: dict[str, int] = {"block_size": 8, "n_embd": 32, "n_head": 4}
WAYS = ("torch eager", "torch compiled", "JAX without jit", "JAX with jit", "JAX scan")


def quiet_environment(cache: str) -> dict[str, str]:
    """JAX on the processor, and no kernels that an earlier run has compiled."""
    return os.environ | {
        "JAX_PLATFORMS": "cpu",
        "OMP_NUM_THREADS": "1",
        "TORCHINDUCTOR_CACHE_DIR": cache,
    }


def stay_on_one_core() -> None:
    """One core for everybody: XLA makes a thread for each core that it may use."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def torch_step(compiled: bool) -> Callable[[], object]:
    import torch

    from course_lib import data
    from course_lib.model import ManyHeads, fuse

    torch.set_num_threads(1)
    torch.manual_seed(0)
    corpus = data.load("shakespeare")
    model = fuse(ManyHeads(len(corpus.vocabulary), **SIZES))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)
    forward = torch.compile(model) if compiled else model
    x, y = data.random_windows(corpus.train, B, SIZES["block_size"])

    def step() -> float:
        optimizer.zero_grad()
        loss = forward(x, y)[1]
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def jax_step(way: str) -> Callable[[], object]:
    import jax
    import jax.numpy as jnp
    import optax

    from course_lib import data, jax_model

    corpus = data.load("shakespeare")
    tokens = jnp.array(corpus.train.numpy())
    optimizer = optax.adamw(1e-2, weight_decay=0.01)
    parameters = jax_model.initialize(jax.random.key(0), len(corpus.vocabulary), **SIZES)
    x, y = jax_model.draw_windows(jax.random.key(1), tokens, B, SIZES["block_size"])
    if way == "JAX scan":
        key = jax.random.key(2)
        return lambda: jax_model.scan_training(
            parameters, tokens, key, optimizer=optimizer, steps=SCANNED, batch_size=B
        )[1].block_until_ready()

    def update(parameters: Any, state: Any) -> Any:
        loss, gradients = jax.value_and_grad(jax_model.loss_of)(parameters, x, y)
        updates, state = optimizer.update(gradients, state, parameters)
        return optax.apply_updates(parameters, updates), state, loss

    call = jax.jit(update) if way == "JAX with jit" else update
    now = [parameters, optimizer.init(parameters)]

    def step() -> float:
        *now[:], loss = call(*now)
        return float(loss)

    return step


def prepare(way: str) -> Callable[[], object]:
    return torch_step(way == "torch compiled") if way.startswith("torch") else jax_step(way)


def first_call(way: str) -> None:
    """Seconds of the very first step in this process, as JSON on stdout."""
    step = prepare(way)
    start = time.perf_counter()
    try:
        step()
    except Exception as error:  # a compiler that is missing is a result, and shown as one
        print(json.dumps({"failed": f"{type(error).__name__}: {error}"[:200]}))
        return
    print(json.dumps({"first_seconds": time.perf_counter() - start}))


def later_calls(ways: list[str], rounds: int) -> None:
    """Median seconds of one step, the ways taking turns, as JSON on stdout."""
    from benchmarks.measuring import median_seconds

    seconds = median_seconds({way: prepare(way) for way in ways}, rounds=rounds)
    if "JAX scan" in seconds:
        seconds["JAX scan"] /= SCANNED
    print(json.dumps(seconds))


def ask(*options: str, cache: str) -> Any:
    """What this command prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.jax_steps", *options],
        env=quiet_environment(cache),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--first", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--later", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first or options.later:
        stay_on_one_core()
    if options.first:
        first_call(options.first)
        return
    if options.later:
        later_calls(options.later.split(","), options.rounds)
        return
    results: dict[str, Any] = {}
    for way in WAYS:
        with tempfile.TemporaryDirectory() as cache:
            results[way] = ask("--first", way, cache=cache)
        print(f"{way}: {results[way]}", flush=True)
    working = [way for way in WAYS if "failed" not in results[way]]
    with tempfile.TemporaryDirectory() as cache:
        later = ask("--later", ",".join(working), "--rounds", str(options.rounds), cache=cache)
    for way, seconds in later.items():
        results[way]["step_seconds"] = seconds
        print(f"{way}: {1000 * seconds:.3f} ms a step", flush=True)

    from importlib.metadata import version

    from benchmarks.measuring import write_results

    results["versions"] = {name: version(name) for name in ("jax", "flax", "optax")}
    write_results(NAME, results)


if __name__ == "__main__":
    main()
