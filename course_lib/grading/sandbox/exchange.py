"""What goes into the sandbox for one submission, and what comes out of it, which nobody trusts."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_lib.errors import BrokenFrame
from course_lib.grading.sandbox.inside import frames
from course_lib.grading.sandbox.inside.limits import MEGABYTE, Limits
from course_lib.grading.sandbox.sanitise import Work

# A runner that does not take its job within this time never will.
SECONDS_TO_HAND_OVER = 15.0


@dataclass(frozen=True)
class StepResult:
    """What one step of a submission left.

    Attributes
    ----------
    outputs : list of dict
        As nbformat has them. They come from student code: escape before showing.
    problem : str
        Empty, or what stopped the step: an exception's name, "interrupted", why there is no answer.
    seconds : float
    answers : bytes
        For a check: the answers as safetensors; empty where there are none.
    """

    outputs: list[dict[str, Any]]
    problem: str = ""
    seconds: float = 0.0
    answers: bytes = b""


@dataclass(frozen=True)
class RawStep:
    """One frame as it came, unparsed and untrusted."""

    header: bytes
    payload: bytes


@dataclass(frozen=True)
class Ran:
    """One submission's run as bytes; the grader's own process never parses what is in it.

    Attributes
    ----------
    raw : tuple of RawStep
        As many as were reached.
    ended : str
        Empty if all of them were; otherwise what ended the run.
    seconds : float
    repeat : str
        Why this run proves nothing and is to be repeated alone; empty otherwise.
    """

    raw: tuple[RawStep, ...]
    ended: str
    seconds: float
    repeat: str = ""


def read_steps(ran: Ran, work: Work, limits: Limits) -> tuple[tuple[StepResult, ...], str]:  # noqa: ARG001
    """Parse strictly: results up to the first bad one, and what is wrong with that, or ""."""
    steps: list[StepResult] = []
    for number, raw in enumerate(ran.raw):
        result = read_result(json.loads(raw.header), raw.payload, number)
        if result is None:
            return tuple(steps), "what the run sent was not the result of its next step"
        steps.append(result)
    return tuple(steps), ""


def send_job(wire: socket.socket, work: Work, inputs: Mapping[str, bytes], limits: Limits) -> None:
    """Send what is to be run: the student's code, the names of checks, and each task's inputs."""
    steps: list[dict[str, Any]] = []
    for step in work.steps:
        if step.kind == "code":
            steps.append({"kind": "code", "source": step.source})
        elif step.check is not None:
            asked = {"task": step.check.task, "answer": step.check.answer}
            steps.append({"kind": "check", **asked})
    wire.settimeout(SECONDS_TO_HAND_OVER)
    frames.send(wire, {"steps": steps, "inputs": len(inputs), "limits": limits.as_dict()})
    for task, content in inputs.items():
        frames.send(wire, {"task": task}, content)


def collect(
    wire: socket.socket, work: Work, limits: Limits, deadline: float, results: list[RawStep]
) -> str:
    """Take results until all are there; what is odd about them ends the run, in words."""
    taken = 0
    while len(results) < runnable(work):
        try:
            received = frames.receive(wire, deadline)
        except BrokenFrame as error:
            return f"what the run sent was not a result: {error}"
        if received is None:
            return ""
        # Lone surrogates, which JSON can hold, would stop whoever writes these words to a file.
        words = json.dumps(received[0], ensure_ascii=False).encode("utf-8", "replace")
        payload = received[1]
        taken += len(payload) + len(words)
        if taken > limits.answer_megabytes * MEGABYTE:
            return f"the run sent more than {limits.answer_megabytes} MB"
        results.append(RawStep(words, payload))
    return ""


def runnable(work: Work) -> int:
    """How many results a whole run sends."""
    return sum(step.kind in ("code", "check") for step in work.steps)


def read_result(header: Mapping[str, Any], payload: bytes, number: int) -> StepResult | None:
    """Plain values from what student code may have written, or None."""
    outputs, problem = header.get("outputs"), header.get("problem")
    seconds = header.get("seconds")
    if (
        header.get("step") != number
        or not isinstance(outputs, list)
        or not all(isinstance(output, dict) for output in outputs)
        or not isinstance(problem, str)
        or not isinstance(seconds, int | float)
    ):
        return None
    return StepResult(outputs, problem[:1000], float(seconds), payload)
