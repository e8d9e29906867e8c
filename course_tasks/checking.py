"""`check`: what a student calls under a task, and what a graded run answers for."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.errors import CourseError
from course_tasks import catalogue
from course_tasks.probing import run, run_on_bytes
from course_tasks.verdict import Verdict

# Every task of the course returns within a second or two, so after this long a person should know
# how to stop it.
PATIENCE_SECONDS = 10.0

# Set by whoever grades: a folder with inputs/, into which answers/ are written. Then nothing is
# judged here. The inputs are those that `Probe.shown` leaves.
PROBE_FOLDER = "COURSE_PROBE_FOLDER"


@dataclass(frozen=True)
class Recorded:
    """What `check` gives in a graded run: the answer is written down and judged elsewhere."""

    task: str

    def __str__(self) -> str:
        return f"{self.task}: recorded"


def check(task: str, answer: Any, *, seed: int | None = None) -> Verdict | Recorded:
    """Check an answer: run it on fresh inputs, compare, and say what was found.

    Parameters
    ----------
    task : str
        As the notebook names it, for example "01/window".
    answer : object
        Your function or class.
    seed : int, optional
        Draws the same inputs again; by default they are new in each call.

    Returns
    -------
    Verdict
        Points and findings; never an exception for what the answer does. In a graded run, where the
        environment names a folder in `COURSE_PROBE_FOLDER`, a `Recorded`: the answer is kept as
        bytes and judged in another process.

    Raises
    ------
    UnknownTaskError
        If no task has this name.
    """
    folder = os.environ.get(PROBE_FOLDER)
    if folder:
        return _record(task, answer, Path(folder))

    from course_judges.judging import interrupted, judge

    known, probe = catalogue.task(task), catalogue.probe(task)
    inputs = probe.inputs(np.random.default_rng(seed))
    started = time.monotonic()
    reminder = threading.Timer(PATIENCE_SECONDS, _say_how_to_stop)
    reminder.daemon = True
    reminder.start()
    try:
        outcome = run(probe, answer, inputs)
    except KeyboardInterrupt:
        return interrupted(task, known, time.monotonic() - started)
    finally:
        reminder.cancel()
    verdict = judge(task, known, probe, inputs, outcome.answers)
    return replace(
        verdict, notes=verdict.notes + tuple(f"Python warned: {w}" for w in outcome.warnings)
    )


def input_file(folder: Path, task: str) -> Path:
    """Where a graded run finds the inputs of a task."""
    return folder / "inputs" / f"{task.replace('/', '-')}.safetensors"


def answer_file(folder: Path, task: str) -> Path:
    """Where a graded run leaves the answers to a task."""
    return folder / "answers" / f"{task.replace('/', '-')}.safetensors"


def _record(task: str, answer: Any, folder: Path) -> Recorded:
    """The probe alone: inputs from a file, answers to a file, nothing judged."""
    probe = catalogue.probe(task)
    source = input_file(folder, task)
    if not source.is_file():
        raise CourseError(
            f"no inputs for task {task!r}: {source.name} is missing from the folder "
            f"that {PROBE_FOLDER} names"
        )
    answers = run_on_bytes(probe, answer, source.read_bytes())
    target = answer_file(folder, task)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as draft:
        draft.write(answers)
    os.replace(draft.name, target)
    return Recorded(task)


def _say_how_to_stop() -> None:
    print(
        f"Your answer has been running for {PATIENCE_SECONDS:.0f} s. "
        "If it should have returned by now, stop it: the ■ button above "
        "(or Kernel → Interrupt; Ctrl-C in a terminal), then look for a loop that never ends.",
        flush=True,
    )
