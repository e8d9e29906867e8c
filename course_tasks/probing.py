"""How a task asks: draw inputs, run the student's answer on them, keep plain values.

This half of a task may run beside student code. It knows inputs and calls, but no right answer.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import random
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import nn

from course_lib.errors import CourseError, JaxMissingError
from course_tasks.answers import (
    Answers,
    Array,
    Raised,
    Value,
    arrays_from_bytes,
)
from course_tasks.errors import (
    ExplainedError,
    JudgesMissingError,
    ReturnedTypeError,
    UnfilledTaskError,
)
from course_tasks.flattening import NOTHING_RETURNED, described, flatten
from course_tasks.scaffold_line import left_above_an_answer
from course_tasks.watching import Watch

Inputs: TypeAlias = Mapping[str, Array]
Case: TypeAlias = Callable[[Any, Inputs], Any]

# A check asks on two draws of inputs and then on the first again, because an answer may be right by
# luck once, or remember what it was asked. Names of inputs and values of the second draw begin with
# SECOND, and names of values of the last pass begin with REPEATED.
SECOND = "second/"
REPEATED = "repeated/"

# Code that an error may pass through, but that no student wrote.
_OURS = tuple(
    Path(__file__).resolve().parents[1] / name
    for name in ("course_lib", "course_tasks", "course_judges")
)


@dataclass(frozen=True)
class Probe:
    """The questions of one task.

    Attributes
    ----------
    inputs : callable (numpy Generator) -> mapping of str to ndarray
        Draws fresh inputs. Dimensions differ from each other and from draw to draw.
    cases : mapping of str to callable (answer, inputs) -> value
        Each runs the student's function, class or module once and returns what came out. A case
        that raises does not stop the others.
    kept_back : frozenset of str
        Names of drawn inputs that only the judge may see, such as the symbols that a trained model
        has to predict. No case ever gets them, and no graded run finds them in its file of inputs.
    one_draw : str
        Why one draw is enough, for a task that takes long; empty for all others.
    same_sizes : str
        Why the second draw has the same dimensions; empty if they should differ.
    second : callable (numpy Generator) -> mapping of str to ndarray, optional
        Draws the second inputs instead of `inputs`, at an edge of what the task allows, such as a
        batch of one sample. Anything else that can go wrong has to show in the first draw, too.
    """

    inputs: Callable[[np.random.Generator], Inputs]
    cases: Mapping[str, Case]
    kept_back: frozenset[str] = frozenset()
    one_draw: str = ""
    same_sizes: str = ""
    second: Callable[[np.random.Generator], Inputs] | None = None

    def shown(self, inputs: Inputs) -> Inputs:
        """The drawn inputs that student code may see: all that is not kept back.

        A grader writes these to the file of inputs, but gives all inputs to the judge.
        """
        return {
            name: array
            for name, array in inputs.items()
            if name.removeprefix(SECOND) not in self.kept_back
        }


def both(first: Inputs, second: Inputs) -> Inputs:
    """Two draws as the inputs of one check."""
    return {**first, **{f"{SECOND}{name}": array for name, array in second.items()}}


def passes(inputs: Inputs) -> tuple[tuple[str, Inputs], ...]:
    """In which order a check asks: for each pass, what the names of its values begin with, and its
    inputs.
    """
    first = {name: array for name, array in inputs.items() if not name.startswith(SECOND)}
    second = {
        name.removeprefix(SECOND): array
        for name, array in inputs.items()
        if name.startswith(SECOND)
    }
    if not second:
        return (("", first),)
    return (("", first), (SECOND, second), (REPEATED, first))


def drawn_by_the_judge(_rng: np.random.Generator) -> Inputs:
    """Replaces `Probe.inputs` in a task whose inputs depend on the right answer.

    Raises
    ------
    JudgesMissingError
        Always: `course_judges.catalogue.inputs` draws them.
    """
    raise JudgesMissingError("the inputs of this task are drawn by its judge")


@dataclass(frozen=True)
class Run:
    """The results of running a probe.

    Attributes
    ----------
    answers : Answers
        The values and errors, case by case.
    warnings : tuple of str
        What was written to stderr and what Python warned of; shown, but never counted.
    called : mapping of str to str
        For each case, the arguments of the last call in words, if calls are described; empty for
        classes.
    arguments : mapping of str to (mapping of str to Any)
        For each case, the arguments of a function by their names, if it was called once.
    results : mapping of str to int
        For each case, how many things a function returned; 0 for classes.
    """

    answers: Answers
    warnings: tuple[str, ...] = ()
    called: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    results: Mapping[str, int] = field(default_factory=dict)


def run(
    probe: Probe,
    answer: Any,
    inputs: Inputs,
    *,
    until: Callable[[str, Answers], bool] | None = None,
    watched: bool = True,
    described: bool = False,
    restored: bool = True,
) -> Run:
    """Run an answer on the inputs of a task.

    Parameters
    ----------
    probe : Probe
        The questions.
    answer : object
        The student's function, class or module.
    inputs : mapping of str to ndarray
        One draw of `probe.inputs`, or two that `both` puts together. Each case gets its own copy of
        all that the probe does not keep back.
    until : callable (case, Answers) -> bool, optional
        Asked after each case, with the answers so far; no further case is run if it returns True.
    watched : bool
        Whether to observe what an answer does besides returning, such as `Answers.changed`. This
        takes half of the time, so our own answers are not watched.
    described : bool
        Whether to fill `Run.called`, too.
    restored : bool
        Whether global random states are left as they were; False only within `own_randomness`, or
        if nothing draws from them.

    Returns
    -------
    Run
        A value or an error for every case. What the answer raises is kept and not raised, except
        for `KeyboardInterrupt`, so that a person can stop an endless answer, and `JaxMissingError`
        and `UnfilledTaskError`, which are not the answer's fault.
    """
    values: dict[str, Value] = {}
    errors: dict[str, Raised] = {}
    changed: dict[str, str] = {}
    called: dict[str, str] = {}
    arguments: dict[str, Mapping[str, Any]] = {}
    results: dict[str, int] = {}
    noise = io.StringIO()
    with (
        own_randomness() if restored else contextlib.nullcontext(),
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stderr(noise),
    ):
        warnings.simplefilter("always")
        turns = passes(probe.shown(inputs))
        bits = {
            prefix: {key: array.tobytes() for key, array in drawn.items()}
            for prefix, drawn in turns
        }
        asked = [(prefix, drawn, case) for prefix, drawn in turns for case in probe.cases]
        watch = Watch(describes=described)
        for prefix, drawn, case in asked:
            if prefix and not Answers(values, errors).attempted:
                break  # an unfilled scaffold stays unfilled
            name = prefix + case
            given = {key: array.copy() for key, array in drawn.items()}
            watch.begin()
            try:
                values |= flatten(
                    name, probe.cases[case](watch.on(answer) if watched else answer, given)
                )
            except (KeyboardInterrupt, JaxMissingError, UnfilledTaskError):
                raise
            except BaseException as error:  # SystemExit in an answer is an answer, too
                errors[name] = _raised(error, watch)
            called[name] = watch.called
            arguments[name] = watch.arguments
            results[name] = watch.results
            if watched and (watch.changed or _written_into(given, bits[prefix])):
                changed[name] = ", ".join(watch.changed)
            if until is not None and until(name, Answers(values, errors)):
                break
    said = dict.fromkeys(str(w.message) for w in caught)
    if noise.getvalue().strip():
        said[noise.getvalue().strip()] = None
    return Run(Answers(values, errors, changed), tuple(said), called, arguments, results)


def _written_into(given: Inputs, bits: Mapping[str, bytes]) -> bool:
    """True if an array has changed since it was drawn."""
    return any(array.tobytes() != bits[name] for name, array in given.items())


def run_on_bytes(probe: Probe, answer: Any, inputs: bytes) -> bytes:
    """Run an answer with bytes as inputs and results: the half of a check that runs in a sandbox.

    Parameters
    ----------
    probe : Probe
        The questions.
    answer : object
        The student's function, class or module.
    inputs : bytes
        As `course_tasks.answers.arrays_to_bytes` writes what `probe.shown` leaves.

    Returns
    -------
    bytes
        As `Answers.to_bytes` writes them.

    Raises
    ------
    InvalidAnswerError
        If the inputs cannot be read, or the answer is larger than a task can ask for.
    CourseError
        If the inputs hold what the probe keeps back. Student code could already have read it, so
        dropping it here would be too late.
    """
    given = arrays_from_bytes(inputs)
    leaked = sorted(probe.kept_back & {name.removeprefix(SECOND) for name in given})
    if leaked:
        raise CourseError(
            f"the inputs hold {', '.join(leaked)}, which only the judge may see: "
            "write `probe.shown(inputs)` to the file, and give the judge all inputs"
        )
    return run(probe, answer, MappingProxyType(given)).answers.to_bytes()


def load_weights(module: nn.Module, weights: Mapping[str, Array]) -> dict[str, nn.Parameter]:
    """Give a student's module the weights of the inputs, by the names that the scaffold fixes.

    Parameters
    ----------
    module : Module
        The student's.
    weights : mapping of str to ndarray
        Parameter names and values.

    Returns
    -------
    dict of str to Parameter
        All parameters of the module.

    Raises
    ------
    AttributeError
        If a parameter of that name is missing or has another shape; the message names it, and what
        the module has.
    """
    parameters = dict(module.named_parameters())
    for name, value in weights.items():
        if name not in parameters:
            have = ", ".join(f"{k} {tuple(v.shape)}" for k, v in parameters.items()) or "none"
            raise AttributeError(f"your module has no parameter named {name!r}; it has {have}")
        if tuple(parameters[name].shape) != value.shape:
            raise AttributeError(
                f"parameter {name!r} has shape {tuple(parameters[name].shape)} "
                f"instead of {value.shape}"
            )
        with torch.no_grad():
            parameters[name].copy_(torch.from_numpy(value))
    return parameters


@contextlib.contextmanager
def own_randomness() -> Iterator[None]:
    """Leave every global random state as it was, whatever is seeded or drawn inside the block."""
    python, numpy = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)


def _raised(error: BaseException, watch: Watch) -> Raised:
    """The error of a case; if the probe stumbled over None or a module, it says what came back."""
    line = _line_of(error)
    error = left_above_an_answer(error) or error
    if not line and not isinstance(error, ReturnedTypeError | ExplainedError):
        found = watch.returned
        if found is None:
            error = ReturnedTypeError(NOTHING_RETURNED)
        # A task may ask for a module, and lack something in it. Python's own errors name the type.
        elif isinstance(error, TypeError) and f"'{type(found).__name__}'" in str(error):
            error = ReturnedTypeError(f"returned {described(found)}")
    return Raised.of(error, line)


def _line_of(error: BaseException) -> str:
    """The last line of the student's own code on the way to the error."""
    for frame, number in reversed(list(traceback.walk_tb(error.__traceback__))):
        path = frame.f_code.co_filename
        if "site-packages" in path or any(Path(path).is_relative_to(one) for one in _OURS):
            continue
        text = linecache.getline(path, number).strip()
        if text:
            return text
    return ""
