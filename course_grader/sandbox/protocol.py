"""What goes into the sandbox for one submission, and what comes out of it, which nobody trusts.

The grader's own process takes results as bytes, with bounds on their lengths, and never looks into
them: `read_steps` does, in a process that may end. How long a step took is what passed here between
two results, since a number that the sandbox sends is the student's to choose.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any, NoReturn

from course_grader.sandbox.sanitize import SanitizedSubmission
from course_tasks.errors import FrameError, FrameTimeoutError, MessageTooLargeError
from course_tasks.runner import frames
from course_tasks.runner.limits import MEGABYTE, Limits
from course_tasks.runner.outputs import MOST_OUTPUTS_OF_A_CELL, PICTURE, TEXTS

# A runner that does not take its job within this time never will.
SECONDS_TO_HAND_OVER = 15.0

# The kinds of steps that are run; others are only shown.
RUN = ("code", "check", "defend")

# Of all cells together; each output costs the page of feedback its frame, however small it is.
MOST_OUTPUTS_OF_A_RUN = 5000

# What an output holds beside its text and its pictures: the name and the words of an exception.
_MOST_NAME, _MOST_WORDS, _MOST_PROBLEM = 200, 2000, 1000
_BESIDE = MOST_OUTPUTS_OF_A_CELL * (_MOST_NAME + _MOST_WORDS + 100)

# JSON writes a character as up to six ASCII ones, and three bytes of a picture as four.
_ESCAPED = 6

# An execution count, or the number of a step: no notebook has cells of more digits.
_MOST_DIGITS = 9


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
        For a check: the answers as safetensors; empty where there are none. For variants of an
        answer: what their runs found, as JSON.
    """

    outputs: list[dict[str, Any]]
    problem: str = ""
    seconds: float = 0.0
    answers: bytes = b""


@dataclass(frozen=True)
class RawStep:
    """One result as it came, unparsed and untrusted.

    Attributes
    ----------
    header : bytes
        Should be JSON.
    payload : bytes
        Should be the answers to a check.
    seconds : float
        Wall time from the result before it to this one, as the grader saw it.
    """

    header: bytes
    payload: bytes
    seconds: float = 0.0


@dataclass(frozen=True)
class RunResult:
    """One submission's run, as bytes; see `read_steps`.

    Attributes
    ----------
    raw : tuple of RawStep
        As many as came.
    ended : str
        Empty if all of them did; otherwise what ended the run.
    seconds : float
    repeat : str
        Empty, or why this run proves nothing and is to be repeated alone, in words for people:
        something that the sandbox did not send killed it, or others kept the processor.
    """

    raw: tuple[RawStep, ...]
    ended: str
    seconds: float
    repeat: str = ""


def send_job(
    wire: socket.socket, work: SanitizedSubmission, inputs: Mapping[str, bytes], limits: Limits
) -> None:
    """Send what is to be run: the student's code, the names of checks, and each task's inputs."""
    steps: list[dict[str, Any]] = []
    for step in work.steps:
        if step.kind == "code":
            steps.append({"kind": "code", "source": step.source})
        elif step.kind == "defend":
            steps.append({"kind": "defend", "task": step.source})
        elif step.check is not None:
            asked = {"task": step.check.task, "answer": step.check.answer}
            steps.append({"kind": "check", **asked})
    wire.settimeout(SECONDS_TO_HAND_OVER)
    frames.send(wire, {"steps": steps, "inputs": len(inputs), "limits": limits.as_dict()})
    for task, content in inputs.items():
        frames.send(wire, {"task": task}, content)


def most_header_bytes(limits: Limits) -> int:
    """How long the header of one result can be, if nobody forged it."""
    texts = limits.output_kilobytes * 1024 + _BESIDE
    return texts * _ESCAPED + limits.picture_kilobytes * 1024 * 4 // 3 + MEGABYTE


def collect(
    wire: socket.socket,
    work: SanitizedSubmission,
    limits: Limits,
    deadline: float,
    kept: Collected,
    received: Callable[[int], None],
) -> str:
    """Take results until all are there; what is odd about their lengths ends the run, in words.

    Parameters
    ----------
    wire : socket
    work : SanitizedSubmission
    limits : Limits
    deadline : float
        By `time.monotonic()`.
    kept : Collected
        Where they go.
    received : callable (int)
        Called with the number of results that have come, after each.

    Raises
    ------
    FrameTimeoutError
        If nothing came by the deadline, long after the run should have been ended.
    OSError
        If the runner is gone.
    """
    left = limits.answer_megabytes * MEGABYTE
    most = most_header_bytes(limits)
    while len(kept) < runnable(work):
        try:
            lengths = frames.receive_into(kept.file, wire, deadline, most_header=most, most=left)
        except MessageTooLargeError:
            return f"the run sent more than {limits.answer_megabytes} MB"
        except FrameTimeoutError:
            raise
        except FrameError as error:
            return f"what the run sent was not a result: {error}"
        if lengths is None:
            return ""
        left -= sum(lengths)
        kept.note(*lengths)
        received(len(kept))
    return ""


class Collected:
    """Results of one run as they come: on disk where they are large, in a file without a name.

    Eight runs at once, each with all that it may send, would otherwise fill the grader's memory.

    Parameters
    ----------
    file : binary file
        Empty; closed by whoever opened it.
    """

    def __init__(self, file: IO[bytes]):
        self.file = file
        self.bytes = 0
        self._steps: list[tuple[int, int, float]] = []
        self._last = time.monotonic()

    def __len__(self) -> int:
        return len(self._steps)

    def start(self) -> None:
        """The first step starts now."""
        self._last = time.monotonic()

    def note(self, header: int, payload: int) -> None:
        """The next result is in the file, with these lengths."""
        now = time.monotonic()
        self._steps.append((header, payload, now - self._last))
        self.bytes += header + payload
        self._last = now

    def read(self) -> tuple[RawStep, ...]:
        """All of them, in memory."""
        self.file.seek(0)
        return tuple(
            RawStep(self.file.read(header), self.file.read(payload), seconds)
            for header, payload, seconds in self._steps
        )


def runnable(work: SanitizedSubmission) -> int:
    """How many results a whole run sends."""
    return sum(step.kind in RUN for step in work.steps)


class _OddFrameError(Exception):
    """What student code sent is not what a runner sends."""


def read_steps(
    ran: RunResult, work: SanitizedSubmission, limits: Limits
) -> tuple[tuple[StepResult, ...], str]:
    """Read what a run sent, and nothing but plain values that a runner could have written.

    Call it in a process with limits on memory and time: what it reads comes from student code.

    Parameters
    ----------
    ran : RunResult
    work : SanitizedSubmission
        What was run.
    limits : Limits
        Under which it was run.

    Returns
    -------
    tuple of StepResult
        Up to the first that is odd.
    str
        What is odd about it; empty if nothing is.
    """
    kinds = [step.kind for step in work.steps if step.kind in RUN]
    found: list[StepResult] = []
    outputs = 0
    try:
        if len(ran.raw) > len(kinds):
            raise _OddFrameError("there are more results than steps")
        for number, (raw, kind) in enumerate(zip(ran.raw, kinds, strict=False)):
            result = _read_step(raw, number, kind, limits)
            outputs += len(result.outputs)
            if outputs > MOST_OUTPUTS_OF_A_RUN:
                raise _OddFrameError(f"its cells show more than {MOST_OUTPUTS_OF_A_RUN} outputs")
            found.append(result)
    except _OddFrameError as error:
        return tuple(found), f"result {len(found) + 1} of the run is none: {error}"
    except (ValueError, RecursionError, MemoryError) as error:
        kind_of_error = type(error).__name__
        return tuple(found), f"result {len(found) + 1} of the run cannot be read: {kind_of_error}"
    return tuple(found), ""


def _read_step(raw: RawStep, number: int, kind: str, limits: Limits) -> StepResult:
    if len(raw.header) > most_header_bytes(limits):
        raise _OddFrameError(f"its header has {len(raw.header)} bytes")
    if raw.payload and kind == "code":
        raise _OddFrameError("a cell has answers")
    texts = limits.output_kilobytes * 1024 + _BESIDE
    # Each of them becomes an object of its own; in a text they may stand, but not more often.
    if raw.header.count(b"{") + raw.header.count(b"[") > texts:
        raise _OddFrameError("it holds too many objects")
    header = json.loads(
        raw.header.decode("utf-8", "strict"),
        object_pairs_hook=_once,
        parse_int=_short_int,
        parse_float=_no_number,
        parse_constant=_no_number,
    )
    if not isinstance(header, dict) or set(header) != {"step", "outputs", "problem"}:
        raise _OddFrameError("its header is not that of a result")
    step, outputs, problem = header["step"], header["outputs"], header["problem"]
    if type(step) is not int or step != number:
        raise _OddFrameError(f"it is not the one of step {number + 1}")
    if not isinstance(outputs, list) or len(outputs) > MOST_OUTPUTS_OF_A_CELL + 1:
        raise _OddFrameError(f"its outputs are no list of at most {MOST_OUTPUTS_OF_A_CELL + 1}")
    problem = _text(problem, _MOST_PROBLEM)
    room = {"text": texts, "picture": limits.picture_kilobytes * 1024}
    return StepResult([_output(one, room) for one in outputs], problem, raw.seconds, raw.payload)


def _output(output: Any, room: dict[str, int]) -> dict[str, Any]:
    """One output made anew, of the keys that an output of its kind has."""
    kind = output.get("output_type") if isinstance(output, dict) else None
    if kind == "stream":
        name, text = _fields(output, "name", "text")
        if name not in ("stdout", "stderr"):
            raise _OddFrameError("a stream is neither stdout nor stderr")
        return {"output_type": "stream", "name": name, "text": _fit(text, room, "text")}
    if kind == "error":
        name, words, lines = _fields(output, "ename", "evalue", "traceback")
        if not isinstance(lines, list):
            raise _OddFrameError("a traceback is not a list")
        return {
            "output_type": "error",
            "ename": _fit(_text(name, _MOST_NAME), room, "text"),
            "evalue": _fit(_text(words, _MOST_WORDS), room, "text"),
            "traceback": [_fit(line, room, "text") for line in lines],
        }
    if kind == "display_data":
        data, metadata = _fields(output, "data", "metadata")
        return {"output_type": kind, "data": _shown(data, metadata, room), "metadata": {}}
    if kind == "execute_result":
        data, metadata, count = _fields(output, "data", "metadata", "execution_count")
        if count is not None and type(count) is not int:
            raise _OddFrameError("an execution count is not a number")
        shown = _shown(data, metadata, room)
        return {"output_type": kind, "data": shown, "metadata": {}, "execution_count": count}
    raise _OddFrameError("an output is of no known kind")


def _shown(data: Any, metadata: Any, room: dict[str, int]) -> dict[str, str]:
    if not isinstance(data, dict) or not set(data) <= {*TEXTS, PICTURE} or metadata != {}:
        raise _OddFrameError("an output has a form that no cell's has")
    return {
        key: _fit(value, room, "picture" if key == PICTURE else "text")
        for key, value in data.items()
    }


def _fields(output: dict[str, Any], *names: str) -> list[Any]:
    if set(output) != {"output_type", *names}:
        raise _OddFrameError("an output has other parts than those of its kind")
    return [output[name] for name in names]


def _fit(text: Any, room: dict[str, int], what: str) -> str:
    text = _text(text)
    room[what] -= len(text) * 3 // 4 if what == "picture" else len(text)
    if room[what] < 0:
        raise _OddFrameError(f"a step shows more {what} than it may")
    return text


def _text(text: Any, most: int | None = None) -> str:
    """A text that files and databases can hold: no half of a character, no zero."""
    if not isinstance(text, str) or (most is not None and len(text) > most):
        raise _OddFrameError("what should be words is none, or too long")
    return (
        text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _OddFrameError("an object has a key twice")
    return made


def _short_int(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise _OddFrameError(f"it has a number of {len(digits)} digits")
    return int(digits)


def _no_number(_words: str) -> NoReturn:
    raise _OddFrameError("it has a number that is not a count")
