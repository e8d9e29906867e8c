"""Seconds, the machine they were measured on, and the file that keeps both."""

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def median_seconds(
    alternatives: Mapping[str, Callable[[], object]], *, rounds: int = 21, warm_up: int = 3
) -> dict[str, float]:
    """Median wall-clock seconds of one call of each alternative.

    The alternatives take turns, one call each in every round, so that a moment in which the
    machine is busy with something else slows all of them alike: ratios of the medians are worth
    more than the medians.

    Parameters
    ----------
    alternatives : mapping of str to callable
        What is compared: a name and a function without arguments.
    rounds : int
        How often each is timed.
    warm_up : int
        Rounds before that, which are not counted (caches, allocators, lazy initialisation).

    Returns
    -------
    dict of str to float
        Seconds, under the same names.

    Raises
    ------
    ValueError
        If there is nothing to time or no round to time it in.
    """
    if not alternatives or rounds < 1:
        raise ValueError(
            f"nothing to time: {len(alternatives)} alternatives, {rounds} rounds; "
            "give at least one of each"
        )
    seconds: dict[str, list[float]] = {name: [] for name in alternatives}
    for counted in [False] * warm_up + [True] * rounds:
        for name, function in alternatives.items():
            start = time.perf_counter()
            function()
            elapsed = time.perf_counter() - start
            if counted:
                seconds[name].append(elapsed)
    return {name: statistics.median(values) for name, values in seconds.items()}


def peak_megabytes() -> int:
    """The most memory that this process has held so far, in millions of bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6)  # Linux counts in KiB


def describe_machine() -> dict[str, Any]:
    """What a reader needs to know about the machine to judge a time; nothing that identifies it.

    Returns
    -------
    dict
        ``processor`` (str), ``cores`` (int, those this process may use), ``system`` (str),
        ``python`` (str), ``torch`` (str) and ``torch_threads`` (int).
    """
    import torch

    return {
        "processor": _processor_name(),
        "cores": _usable_cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torch_threads": torch.get_num_threads(),
    }


def write_results(name: str, results: Mapping[str, Any], folder: Path = RESULTS) -> Path:
    """Keep results and the machine's description as ``results/NAME.json``.

    Parameters
    ----------
    name : str
        File stem: the name of the benchmark.
    results : mapping
        Anything that JSON can hold; it becomes the entry ``results``, beside ``machine``.
    folder : Path
        Where the file goes; ``benchmarks/results`` unless told otherwise.

    Returns
    -------
    Path
        The file that was written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    content = {"machine": describe_machine(), "results": dict(results)}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _processor_name() -> str:
    if platform.system() == "Darwin":
        asked = subprocess.run(
            ["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True
        )
        if asked.returncode == 0 and asked.stdout.strip():
            return asked.stdout.strip()
    description = Path("/proc/cpuinfo")
    if description.exists():
        for line in description.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine() or "unknown"


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
