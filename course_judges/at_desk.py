"""At the desk: an answer is run on fresh inputs and judged at once, in the student's process."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np

from course_judges import catalogue
from course_judges.judging import interrupted, judge
from course_tasks import catalogue as asked
from course_tasks.probing import own_randomness, run
from course_tasks.verdict import Verdict

# Nearly every task of the course returns within a second or two, so after this long a person should
# know how to stop it.
PATIENCE_SECONDS = 10.0


def judge_at_desk(task: str, answer: Any, seed: int | None = None) -> Verdict:
    """Run an answer on fresh inputs, compare, and say what was found; see `course_tasks.check`."""
    known, probe = catalogue.task(task), asked.probe(task)
    inputs = catalogue.inputs(task, np.random.default_rng(seed))
    started = time.monotonic()
    reminder = threading.Timer(PATIENCE_SECONDS, _say_how_to_stop)
    reminder.daemon = True
    with contextlib.suppress(RuntimeError):  # a page has no threads, but a button of its own
        reminder.start()
    try:
        outcome = run(probe, answer, inputs)
    except KeyboardInterrupt:
        return interrupted(task, known, time.monotonic() - started, compiled=_may_be_compiled())
    finally:
        reminder.cancel()
    with own_randomness():
        verdict = judge(task, known, probe, inputs, outcome.answers)
    return replace(
        verdict,
        notes=verdict.notes
        + tuple(f"While your answer ran, Python said: {w}" for w in outcome.warnings),
    )


def _may_be_compiled() -> bool:
    """True if JAX is there: it compiles what an answer does when that is called first."""
    return "jax" in sys.modules


def _say_how_to_stop() -> None:
    """After a while, how to end what may be endless; not while it may only be compiled."""
    why = (
        "JAX compiles each operation for shapes that it has not met, which can take a minute on a "
        "slow machine. You can stop it "
        if _may_be_compiled()
        else "If it should have returned by now, look for a loop that never ends, and stop it "
    )
    print(
        f"Your answer has been running for {PATIENCE_SECONDS:.0f} s. {why}"
        "with the ■ button above (or with Kernel → Interrupt, or Ctrl-C in a terminal).",
        flush=True,
    )
