"""Runs an answer and variants of it on given inputs, and says what each line left: what questions
about a student's own code are made of.

This may run beside student code, because it knows no right answer. Everything that it returns is
plain: numbers, texts, lists and dicts of them.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import json
import math
import random
import signal
import sys
import threading
import time
import traceback
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType, FrameType
from typing import Any

import numpy as np
import torch

from course_tasks.answers import (
    ABSOLUTE_TOLERANCE,
    RELATIVE_TOLERANCE,
    Array,
    Value,
    arrays_from_bytes,
    arrays_to_bytes,
)
from course_tasks.flattening import flatten
from course_tasks.probing import Case, Inputs, Probe, own_randomness

# A program's hooks, which `course_judges.defending.program` puts around its statements.
AT, SAW, GIVEN = "__at__", "__saw__", "__given__"
# What each program is compiled as, so that its lines are known among all others.
FILE = "<defended>"

# Instead of results that are others each time, as those that read memory nobody has written.
UNSTEADY = "gives another result each time"
# Nobody can say of these that they stop with an error.
TOO_LONG, TOO_MUCH = "takes too long", "takes too much memory"
# In place of values: the name of an error, and what stands there if the error is not the program's.
ERROR, OUTSIDE = "error", "(outside)"

# Of the processor, for all runs of one program. A right answer takes milliseconds on small inputs;
# a variant may have a loop that never ends, and none needs many times what the answer took.
SECONDS_OF_A_PROGRAM = 1.0
SECONDS_OF_THE_FIRST = 4.0
SECONDS_OF_ALL = 8.0
# An answer in loops is asked in all cases as often as there is time for.
_SECONDS_OF_ALL_CASES = 0.5
# Hooks come first: what they raise leaves nothing half done.
_LATER = 0.2
_TIMES_THE_FIRST, _LEAST_SECONDS = 8, 0.1
# Of some programs most variants stop with an error, or say nothing. Then more of them are run than
# otherwise, until so many do say something.
_MANY, _ENOUGH = 36, 12
# What is so much farther apart than a judge allows is another result for certain.
_LOOSER = 10
_LOOKS = 32
# Larger arrays are told apart by some sums of theirs.
MOST_NUMBERS = 400
MOST_NUMBERS_OF_A_DRAW = 64
MOST_SHOWN_NUMBERS = 120
_SUMS = 6
_MOST_CHARACTERS = 200
# Calls of a function that are told apart; a loop may make thousands.
_MOST_SEEN = 400
_LENGTH_BYTES = 8
# Runs with other seeds: a permutation of three is often the same again.
_OTHER_SEEDS = ("seed 1", "seed 2", "seed 3")
# Of a list, a set or a dictionary that is shown.
_MOST_IN_A_TEXT = 16
# That are returned together.
_MOST_PARTS = 6


class TooLongError(BaseException):
    """A variant runs for too long. No `except Exception` in it holds this back."""


def packed(order: str, sets: Sequence[Inputs]) -> bytes:
    """What `run_variants_on_bytes` takes: a text and sets of arrays in one message."""
    parts = [order.encode(), *(arrays_to_bytes(one) for one in sets)]
    return b"".join(len(part).to_bytes(_LENGTH_BYTES, "big") + part for part in parts)


def run_variants_on_bytes(probe: Probe, space: Mapping[str, Any], message: bytes) -> bytes:
    """The half of *Defend it* that runs in a sandbox: bytes in, JSON out.

    Parameters
    ----------
    probe, space
        See `run_variants`.
    message : bytes
        As `packed` makes it: JSON with its arguments `answer`, `case`, `programs` and `roles`, and
        the sets of inputs.
    """
    parts = []
    while message:
        end = _LENGTH_BYTES + int.from_bytes(message[:_LENGTH_BYTES], "big")
        parts.append(message[_LENGTH_BYTES:end])
        message = message[end:]
    asked = json.loads(parts[0])
    sets = [arrays_from_bytes(part) for part in parts[1:]]
    found = run_variants(
        probe, space, asked["answer"], asked["case"], asked["programs"], sets, asked["roles"]
    )
    return json.dumps(found).encode()


def run_variants(
    probe: Probe,
    space: Mapping[str, Any],
    answer: str,
    case: str,
    programs: Sequence[Mapping[str, str]],
    sets: Sequence[Inputs],
    roles: Mapping[str, Sequence[int]],
) -> list[dict[str, Any]]:
    """Run programs on sets of inputs.

    Parameters
    ----------
    probe : Probe
        Of the task that is answered.
    space : mapping of str to object
        What the student's cells have defined.
    answer : str
        The name of the function or class that is asked.
    case : str
        Which of the probe's cases is run.
    programs : sequence of mapping
        Each with `traced`, a program with hooks, and `plain`, the same without them. The first is
        the student's own.
    sets : sequence of (mapping of str to ndarray)
    roles : mapping of str to (sequence of int)
        Which sets are `shown` (values are kept), `counted` (operations are counted, of the
        student's own program alone), `own` (run by it alone), and `drawn`; by which of these
        options are told apart: `told`; and in which all cases are asked: `whole`.

    Returns
    -------
    list of dict
        For each program `results` (set number to outcome), `saw`, `given`, and `counts`; `random`,
        whether other seeds in the inputs give something else; and `mixed` for one that gives the
        same as the first in some draws and not in others, after which it isn't run any more. Or
        `error`, if it does not even define the answer, or nothing more was needed.
    """
    began = time.process_time()
    ends, most = began + SECONDS_OF_ALL, SECONDS_OF_THE_FIRST
    asked = _Asked(probe, space, answer, case, sets, roles)
    found: list[dict[str, Any]] = []
    useful = 0
    for number, program in enumerate(programs):
        if time.process_time() > ends or (number > _MANY and useful >= _ENOUGH):
            found.append({"error": "not run"})
            continue
        seconds = min(most, ends - time.process_time())
        with _quiet():
            found.append(_of_program(asked, program, seconds))
        if number == 0:
            if "error" in found[0]:
                break
            asked = replace(asked, own=found[0]["results"], whole=frozenset(found[0].pop("whole")))
            took = time.process_time() - began
            most = min(SECONDS_OF_A_PROGRAM, max(_LEAST_SECONDS, _TIMES_THE_FIRST * took))
        shown = found[-1].get("results", {}).get(str(roles["shown"][0]), {ERROR: ""})
        useful += ERROR not in shown and not found[-1].get("mixed")
    return found


@dataclass(frozen=True)
class _Asked:
    """What all programs are asked; see `run_variants`. `own` is what the first one gave, and
    `whole` the sets for which it was asked in all cases.
    """

    probe: Probe
    space: Mapping[str, Any]
    answer: str
    case: str
    sets: Sequence[Inputs]
    roles: Mapping[str, Sequence[int]]
    own: Mapping[str, Mapping[str, Any]] | None = None
    whole: frozenset[int] = frozenset()

    def outcome(self, answer: Any, number: int, most: int) -> dict[str, Any]:
        """What an answer gives for a set in the case that is asked everywhere."""
        return _outcome(self.probe.cases[self.case], answer, self.case, self.sets[number], most)

    def others(self, answer: Any, number: int, most: int) -> dict[str, Any]:
        """What it gives in all other cases."""
        found: dict[str, Any] = {}
        for case, ask in self.probe.cases.items():
            if case != self.case:
                more = _outcome(ask, answer, case, self.sets[number], most)
                found |= {f"{ERROR}.{case}" if k == ERROR else k: v for k, v in more.items()}
        return found

    def near(self, outcome: Mapping[str, Any], number: int) -> bool:
        """True if an outcome is about what the own program gave."""
        own = (self.own or {}).get(str(number), {})
        return all(name in own and _near(value, own[name]) for name, value in outcome.items())


def _near(one: Any, other: Any) -> bool:
    if one == other:
        return True
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return False
    if (one["is"], one.get("shape")) != (other["is"], other.get("shape")):
        return False
    first, second = (value.get("numbers") or value.get("sums") or [] for value in (one, other))
    tolerance = {"rtol": _LOOSER * RELATIVE_TOLERANCE, "atol": _LOOSER * ABSOLUTE_TOLERANCE}
    return len(first) == len(second) > 0 and np.allclose(first, second, **tolerance, equal_nan=True)


class _Clock:
    def __init__(self, seconds: float) -> None:
        self.ends = time.process_time() + seconds
        self._looks = 0

    def look(self) -> None:
        self._looks += 1
        # To ask the system takes as long as some statements.
        if self._looks % _LOOKS == 0 and time.process_time() > self.ends:
            raise TooLongError


@contextlib.contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """A statement that grows without end, and so never comes to a hook, is ended by a signal."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError

    here = threading.current_thread() is threading.main_thread()
    if not here or not hasattr(signal, "setitimer"):
        yield  # in a page, only hooks look at the clock
        return
    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class _Record:
    """What one run of a traced program leaves."""

    def __init__(self, clock: _Clock, *, keeps: bool) -> None:
        self._clock, self._keeps = clock, keeps
        self.saw: dict[tuple[int, str], list[Any]] = {}
        self.given: dict[str, dict[str, Any]] = {}

    def at(self, _line: int) -> None:
        self._clock.look()

    def see(self, line: int, name: str, value: Any) -> Any:
        self._clock.look()
        if not self._keeps:
            return value
        for part, one in _parts(name, value):
            known = self.saw.get((line, part))
            if known is not None:
                known[0] += 1
            elif len(self.saw) < _MOST_SEEN:
                self.saw[line, part] = [1, _as_one(one)]
        return value

    def take(self, function: str, values: Mapping[str, Any]) -> None:
        """What a function is given, at its first call."""
        self._clock.look()
        if not self._keeps or function in self.given or len(self.given) > _MOST_SEEN:
            return
        held = {name: plain(v, MOST_SHOWN_NUMBERS) for name, v in values.items() if name != "self"}
        module = values.get("self")
        if isinstance(module, torch.nn.Module) and not function.endswith("__init__"):
            for name, weight in module.named_parameters():
                held[f"self.{name}"] = plain(weight, MOST_SHOWN_NUMBERS)
        self.given[function] = held


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    """A value; of several that are returned together, each by how it is reached: "[0]"."""
    if not name and isinstance(value, tuple) and 1 < len(value) <= _MOST_PARTS:
        return [(f"[{n}]", one) for n, one in enumerate(value)]
    if not name and isinstance(value, dict) and 0 < len(value) <= _MOST_PARTS:
        return [(f"[{key!r}]", one) for key, one in value.items() if isinstance(key, str | int)]
    return [(name, value)]


def _of_program(asked: _Asked, program: Mapping[str, str], seconds: float) -> dict[str, Any]:
    try:
        with _ended_after(seconds + _LATER):
            return _in_time(asked, program, _Clock(seconds))
    except TooLongError:
        return {"error": TOO_LONG}


def _in_time(asked: _Asked, program: Mapping[str, str], clock: _Clock) -> dict[str, Any]:
    case, roles, sets = asked.case, asked.roles, asked.sets
    ask, first = asked.probe.cases[case], asked.own is None
    found: dict[str, Any] = {"results": {}, "saw": [], "given": {}, "counts": {}}
    names = ("keeps", "again", *_OTHER_SEEDS, "not")
    records = {name: _Record(clock, keeps=name != "not") for name in names}
    try:
        code = compile(program["traced"], FILE, "exec")
        of = {name: _defined(code, asked.space, asked.answer, r) for name, r in records.items()}
        for one in roles["shown"]:
            found["results"][str(one)] = asked.outcome(of["keeps"], one, MOST_NUMBERS)
        seen: set[tuple[bool, bool]] = set()
        for one in [*roles["drawn"], *(roles["own"] if first else ())]:
            outcome = asked.outcome(of["not"], one, MOST_NUMBERS_OF_A_DRAW)
            found["results"][str(one)] = outcome
            if first:
                continue
            near = asked.near(outcome, one)
            # What differs in one case needs no other.
            if near and one in asked.whole:
                outcome |= asked.others(of["not"], one, MOST_NUMBERS_OF_A_DRAW)
                near = asked.near(outcome, one)
            seen.add((near, one in roles["told"]))
            if _says_nothing(seen):
                found["mixed"] = True
                break
        if first:
            found["whole"] = []
            ends = time.process_time() + _SECONDS_OF_ALL_CASES
            for one in roles["whole"]:
                if time.process_time() < ends:
                    more = asked.others(of["not"], one, MOST_NUMBERS_OF_A_DRAW)
                    found["results"][str(one)] |= more
                    found["whole"].append(one)
        for one in roles["shown"]:
            known = json.dumps(found["results"][str(one)])
            with _memory_filled():
                if json.dumps(_outcome(ask, of["again"], case, sets[one])) != known:
                    return {"error": UNSTEADY}
            for other, reseeded in enumerate(_OTHER_SEEDS, start=1):
                given = {name: _reseeded(name, array, other) for name, array in sets[one].items()}
                other_outcome = json.dumps(_outcome(ask, of[reseeded], case, given))
                found["random"] = found.get("random", False) or other_outcome != known
        if first and roles["counted"]:
            plain_code = compile(program["plain"], FILE, "exec")
            bare = _defined(plain_code, asked.space, asked.answer, records["not"])
            for one in roles["counted"]:
                found["counts"][str(one)] = _counted(ask, bare, case, sets[one])
    except MemoryError:
        if first:
            raise
        return {"error": TOO_MUCH}
    except (KeyboardInterrupt, TooLongError):
        raise
    except BaseException as error:  # a class of the student's may raise where it is defined
        return {"error": type(error).__name__[:_MOST_CHARACTERS]}
    record = records["keeps"]
    # What was left in memory that nobody has written is nothing to ask about, and neither is what
    # was drawn at random.
    others = [
        {place: json.dumps(seen) for place, seen in records[name].saw.items()}
        for name in ("again", *_OTHER_SEEDS)
    ]
    found["saw"] = [
        [*place, *seen]
        for place, seen in record.saw.items()
        if all(other.get(place, "") in ("", json.dumps(seen)) for other in others)
    ]
    found["given"] = record.given
    return found


def _says_nothing(seen: set[tuple[bool, bool]]) -> bool:
    """Whether a variant is neither always the same nor another one in all draws, by what was seen:
    (whether a result was near, whether that was a draw by which options are told apart).
    """
    near_in_a_draw, far_in_a_draw = (True, True) in seen, (False, True) in seen
    return near_in_a_draw and (far_in_a_draw or (False, False) in seen)


def _defined(code: CodeType, space: Mapping[str, Any], answer: str, record: _Record) -> Any:
    own: dict[str, Any] = {**space, AT: record.at, SAW: record.see, GIVEN: record.take}
    exec(code, own)
    return own[answer]


def _outcome(
    asked: Case, answer: Any, case: str, given: Inputs, most: int = MOST_NUMBERS
) -> dict[str, Any]:
    """What came out, or the name of the error."""
    try:
        _seed()
        result = asked(answer, {name: array.copy() for name, array in given.items()})
        values = flatten(case, result)
        return {name: plain_value(value, most) for name, value in values.items()}
    except (KeyboardInterrupt, MemoryError, TooLongError):
        raise
    except BaseException as error:  # an error is an outcome
        return {ERROR: type(error).__name__[:_MOST_CHARACTERS] if _in_program(error) else OUTSIDE}


def _in_program(error: BaseException) -> bool:
    """True if the program itself stopped, and not what takes apart what it returned."""
    return any(
        frame.f_code.co_filename == FILE for frame, _ in traceback.walk_tb(error.__traceback__)
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """What is printed and warned of stays here, and global random states are left as they were."""
    with (
        own_randomness(),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _memory_filled() -> Iterator[None]:
    """Inside, PyTorch fills memory that nobody has written, so that who reads it is seen."""
    if not hasattr(torch, "set_deterministic_debug_mode"):
        yield  # in a page, there is no such memory
        return
    # `torch.use_deterministic_algorithms` does the same, and imports PyTorch's compiler first: two
    # seconds for each student.
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("warn")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


def _reseeded(name: str, array: Array, other: int) -> Array:
    """A seed of a task's inputs becomes another one."""
    return array + other if "seed" in name and array.dtype.kind == "i" else array


def _seed() -> None:
    """What is drawn is the same each time."""
    # `torch.manual_seed` seeds every device, too, which takes longer than most answers do.
    generator = getattr(torch, "default_generator", None)
    if generator is None:
        torch.manual_seed(0)
    else:
        generator.manual_seed(0)
    np.random.seed(0)
    random.seed(0)


def plain(value: Any, most: int) -> dict[str, Any]:
    """A value of a program as plain data; of what is none, only the name of its type."""
    if value is None or isinstance(value, bool):
        return {"is": "text", "text": repr(value)}
    if isinstance(value, int | float):
        array = np.asarray(value) if abs(value) < 2**62 else np.asarray(float(value))
        return {**plain_value(array, most), "python": True}
    if isinstance(value, np.ndarray | torch.Tensor) or _is_numbers(value):
        with contextlib.suppress(Exception):  # a subclass of the student's may refuse
            flat = flatten("", value)
            if list(flat) == [""]:
                one = plain_value(flat[""], most)
                return {**one, "python": True} if isinstance(value, list | tuple) else one
    if text := _literal(value):
        return {"is": "text", "text": text}
    return {"is": "other", "text": type(value).__name__[:_MOST_CHARACTERS]}


def _literal(value: Any) -> str:
    """How Python writes a text or a small collection, complete; empty for what is longer, and for
    what is none of Python's own.
    """
    kind, text = type(value), ""
    if value is None or kind in (bool, int, str):
        text = repr(value)
    elif kind is float:
        text = repr(value) if round(value, 2) == value else ""
    elif kind is torch.Tensor and value.ndim and 0 < value.numel() <= _MOST_IN_A_TEXT:
        inner = _literal(value.tolist())
        text = f"tensor({inner})" if inner else ""
    elif kind in (list, tuple, set, dict) and len(value) <= _MOST_IN_A_TEXT:
        keys = list(map(_literal, value))
        held = keys
        if kind is dict:
            values = map(_literal, value.values())
            held = [f"{k}: {v}" if k and v else "" for k, v in zip(keys, values, strict=True)]
        around = "[]" if kind is list else "()" if kind is tuple else "{}"
        inner = ", ".join(sorted(held) if kind is set else held)
        comma = "," if kind is tuple and len(held) == 1 else ""
        if all(held) and (held or kind is not set):
            text = f"{around[0]}{inner}{comma}{around[1]}"
    return text if len(text) <= _MOST_CHARACTERS else ""


def _as_one(value: Any) -> dict[str, Any]:
    """A value; a list of tensors of one shape as the array that it looks like on paper."""
    if type(value) in (list, tuple) and value and all(type(v) is torch.Tensor for v in value):
        few = sum(one.numel() for one in value) <= MOST_SHOWN_NUMBERS
        if few and len({one.shape for one in value}) == 1:
            with contextlib.suppress(Exception):  # of several types
                return {**plain(torch.stack(list(value)), MOST_SHOWN_NUMBERS), "python": True}
    return plain(value, MOST_SHOWN_NUMBERS)


def _is_numbers(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and 0 < len(value) <= MOST_SHOWN_NUMBERS
        and all(
            isinstance(one, bool | int | float)
            or (isinstance(one, list) and bool(one) and _is_numbers(one))
            for one in value
        )
    )


def plain_value(value: Value, most: int) -> dict[str, Any]:
    """An array or a text as plain data.

    Parameters
    ----------
    value : ndarray or str
    most : int
        A larger array is told from others by sums of its numbers.
    """
    if isinstance(value, str):
        rest = value[_MOST_CHARACTERS:].encode(errors="surrogatepass")
        more = f" and {len(rest)} bytes, {zlib.crc32(rest):08x}" if rest else ""
        return {"is": "text", "text": f"{value[:_MOST_CHARACTERS]!r}{more}"}
    array = np.asarray(value)
    found = {"is": "array", "shape": list(array.shape), "kind": array.dtype.kind}
    if array.size <= most:
        numbers = array.astype(float) if array.dtype.kind == "f" else array.astype(int)
        return {**found, "numbers": numbers.ravel().tolist()}
    with np.errstate(all="ignore"):
        sums = _weights(array.size) @ array.ravel().astype(float)
    return {**found, "sums": sums.tolist()}


@functools.lru_cache(maxsize=64)
def _weights(size: int) -> Array:
    return np.random.default_rng(0).normal(size=(_SUMS, size)) / math.sqrt(size)


def _counted(asked: Case, answer: Any, case: str, given: Inputs) -> dict[str, int]:
    """How many operations on numbers each line made: of a product of matrices, its
    multiplications; of all else, the numbers that come in or out.
    """
    from torch.overrides import TorchFunctionMode

    counts: dict[str, int] = {}

    class Counting(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, _types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = function(*args, **(kwargs or {}))
            line = _line()
            if line and not isinstance(result, int | float | bool | torch.Size | torch.dtype):
                counts[line] = counts.get(line, 0) + operations(function, args, result)
            return result

    with Counting():
        _outcome(asked, answer, case, copy.deepcopy(dict(given)))
    return counts


def _line() -> str:
    """The innermost line of a program's own that runs now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == FILE:
            return str(frame.f_lineno)
        frame = frame.f_back
    return ""


_PRODUCTS = ("matmul", "mm", "bmm", "linear", "dot", "mv", "__matmul__", "__rmatmul__")


def operations(function: Any, args: Sequence[Any], result: Any) -> int:
    """How many operations on numbers a call makes.

    Parameters
    ----------
    function : callable
        Of torch.
    args : sequence
        Its arguments.
    result : object
        What it returned.
    """
    name = getattr(function, "__name__", "")
    if name in ("__get__", "__set__", "size", "dim"):
        return 0
    made = _numbers(result)
    if name == "__getitem__":  # of a large tensor, only a part is read
        return made
    if name == "__setitem__":
        return _numbers(args[0][args[1]])
    if name in _PRODUCTS and args and isinstance(args[0], torch.Tensor) and args[0].ndim:
        return made * int(args[0].shape[-1])
    if name == "einsum" and args and isinstance(args[0], str):
        return _of_einsum(args[0], [a for a in args[1:] if isinstance(a, torch.Tensor)])
    if name in _VIEWS:
        return 0
    return max([made, *(_numbers(one) for one in args)])


# These move no number.
_VIEWS = frozenset({
    "view", "transpose", "permute", "unsqueeze", "squeeze", "expand", "detach", "chunk", "split",
    "unbind", "narrow", "swapaxes", "movedim", "select", "mT", "T", "as_strided", "view_as",
    "unflatten", "diagonal", "dim", "numel", "item", "tolist", "is_floating_point", "new_tensor",
    "numpy", "__array__",
})  # fmt: skip


def _numbers(value: Any) -> int:
    if isinstance(value, torch.Tensor):
        return int(value.numel())
    if isinstance(value, list | tuple):
        return sum(_numbers(one) for one in value[:MOST_NUMBERS])
    return 0


def _of_einsum(formula: str, tensors: Sequence[torch.Tensor]) -> int:
    lengths: dict[str, int] = {}
    for letters, tensor in zip(formula.split("->")[0].split(","), tensors, strict=False):
        names = list(letters.strip().replace(" ", ""))
        if "." in names:
            before, after = letters.replace(" ", "").split("...")
            fill = tensor.ndim - len(before) - len(after)
            names = [*before, *(f"…{n}" for n in range(-fill, 0)), *after]
        lengths |= dict(zip(names, tensor.shape, strict=False))
    return math.prod(lengths.values())
