"""In every task of every chapter, answers that do no work earn no points, and answers that only
claim to be large take no memory.
"""

import functools
import tracemalloc

import numpy as np
import pytest
import safetensors.numpy
import torch
from students import seeds_of
from torch import nn

from course_judges import catalogue as judges
from course_judges.equality import same_value
from course_judges.judging import Evidence, judge, reference_of
from course_tasks import catalogue
from course_tasks.answers import (
    MOST_BYTES,
    MOST_BYTES_OF_A_TEXT,
    MOST_HEADER_BYTES,
    Answers,
    Raised,
)
from course_tasks.errors import InvalidAnswerError
from course_tasks.probing import Run, passes, run

pytestmark = [
    pytest.mark.usefixtures("kept_runs"),
    # Judges divide by numbers that are 0 here, and catch the result.
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

TASKS = catalogue.names()
MOST_DRAWS = 3
MIXTURES = 200

# For a judge that compares the largest answer that is read, as float64, with the right one.
MOST_MEGABYTES_TO_JUDGE = 200


def first_tensor(given, named):
    """The first tensor among what a function is given."""
    for value in (*given, *named.values()):
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, torch.Tensor):
                return one
    return torch.zeros(3)


def raising(kind):
    def answer(*_, **__):
        raise kind("no")

    return answer


def returning(value):
    return lambda *_, **__: value


def module(forward):
    class Module(nn.Module):
        def __init__(self, *_, **__):
            super().__init__()

        def forward(self, x, *_, **__):
            return forward(x)

    return Module


class Empty:
    pass


class Accepting:
    """Takes all that it is given as its attributes."""

    def __init__(self, *_, **named):
        self.__dict__ |= named

    def __call__(self, *_, **__):
        return 0


class Refusing:
    """Refuses all that it is given, and repeats it in the message."""

    def __init__(self, *_, **named):
        raise ValueError("; ".join(f"{name} = {value}" for name, value in named.items()))


class Obliging:
    """Has every attribute, is every function, and counts as 0 or as empty."""

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Obliging()

    def __call__(self, *_, **__):
        return Obliging()

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __float__(self):
        return 0.0

    def __index__(self):
        return 0


IDLE = {
    **{f"returns {value!r}": returning(value) for value in (None, 0, 1, -1, 0.5, True, False)},
    **{f"returns {value!r}": returning(value) for value in ("", "a", (), [], {}, [""], ("", ""))},
    **{f"returns {value!r}": returning(value) for value in ((0, 0), ([], []), float("nan"))},
    "returns its first argument": lambda *a, **_: a[0] if a else 0,
    "returns its second argument": lambda *a, **_: a[1] if len(a) > 1 else 0,
    "returns its last argument": lambda *a, **_: a[-1] if a else 0,
    "returns all arguments": lambda *a, **_: a,
    "returns its argument twice": lambda *a, **_: (a[0], a[0]) if a else 0,
    "returns zeros": lambda *a, **k: torch.zeros_like(first_tensor(a, k)),
    "returns ones": lambda *a, **k: torch.ones_like(first_tensor(a, k)),
    "returns zeros twice": lambda *a, **k: (torch.zeros_like(first_tensor(a, k)),) * 2,
    "returns ones twice": lambda *a, **k: (torch.ones_like(first_tensor(a, k)),) * 2,
    "returns an empty tensor": returning(torch.zeros(0)),
    "returns no rows": returning(torch.zeros(0, 3)),
    "returns no whole numbers": returning(torch.zeros(0, dtype=torch.long)),
    "returns two empty tensors": returning((torch.zeros(0, 3, 4),) * 2),
    "returns an empty array": returning(np.zeros(0)),
    "returns a function": returning(lambda *a, **_: a[0] if a else 0),
    "returns a function of nothing": returning(lambda *_, **__: 0),
    **{
        f"raises {kind.__name__}": raising(kind)
        for kind in (ValueError, TypeError, KeyError, RuntimeError, SystemExit)
    },
    "an empty class": Empty,
    "a class that accepts everything": Accepting,
    "a class that refuses everything": Refusing,
    "a class that is everything": Obliging,
    "a module that does nothing": module(lambda _: None),
    "a module that returns its input": module(lambda x: x),
    "a module that returns zeros": module(lambda x: torch.zeros_like(x) if x is not None else 0),
    "None": None,
    "a number": 3,
    "a module": nn.Identity(),
}


def constants(right):
    """Values that say nothing, instead of a right one."""
    if isinstance(right, str):
        return ["", "a", "\n", "0", "a b c", np.zeros(0), np.ones(())]
    found = [np.full(right.shape, c) for c in (0.0, 1.0, -1.0, np.nan, np.inf, 1e30, 0.5)]
    found += [np.full(right.shape, c) for c in (0, 1, False, True)]
    found += [np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(()), np.ones(()), ""]
    if right.ndim:
        found += [np.zeros((0, *right.shape[1:]), dtype=kind) for kind in (right.dtype, float)]
        found += [np.zeros((*right.shape[:-1], 0)), np.zeros((0,) * right.ndim, right.dtype)]
        found += [np.ones((1,) * right.ndim), np.zeros((1,) * right.ndim, dtype=np.int64)]
    return found


@functools.cache  # read by each test of the task; none changes it
def drawn(task, seed):
    """A task as its judge knows it, with inputs and the right answers to them."""
    known, probe = judges.task(task), catalogue.probe(task)
    # One of the two draws of a check: what no work earns in one, it earns in none.
    _, inputs = passes(judges.inputs(task, np.random.default_rng(seed)))[0]
    return known, inputs, reference_of(known, probe, inputs).answers


def earned(known, inputs, right, answers):
    """The claims that a judge holds to be true of some answers."""
    evidence = Evidence(inputs, lambda **_: Run(right), answers)
    return [part.name for part in known.parts if part.earned_by(evidence)]


@pytest.mark.parametrize("task", TASKS)
def test_answer_that_does_no_work_earns_nothing(task):
    probe = catalogue.probe(task)
    for seed in seeds_of(task, MOST_DRAWS):
        known, inputs, right = drawn(task, seed)
        for name, answer in IDLE.items():
            answers = run(probe, answer, inputs).answers
            assert not earned(known, inputs, right, answers), f"seed {seed}: {name}"


@pytest.mark.parametrize("task", TASKS)
def test_constants_and_empty_values_earn_nothing(task):
    """No values that are all wrong earn anything."""
    for seed in seeds_of(task, MOST_DRAWS):
        known, inputs, right = drawn(task, seed)
        rng = np.random.default_rng(seed)
        wrong = {
            name: [c for c in constants(value) if not same_value(c, value)]
            for name, value in right.values.items()
        }
        longest = max(map(len, wrong.values()), default=0)
        alike = [{n: c[i % len(c)] for n, c in wrong.items()} for i in range(longest)]
        mixed = [{n: c[rng.integers(len(c))] for n, c in wrong.items()} for _ in range(MIXTURES)]
        for values in (*alike, *mixed):
            found = earned(known, inputs, right, Answers(values))
            assert not found, f"seed {seed}: {found} for {values}"


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["ValueError", "TypeError", "IndexError", "NotImplementedError"])
def test_raising_everywhere_earns_nothing(task, kind):
    known, inputs, right = drawn(task, 0)
    words = " ".join(inputs)
    errors = {case: Raised(kind, words) for case in catalogue.probe(task).cases}
    assert not earned(known, inputs, right, Answers({}, errors))


def swollen(right, count):
    """Values that are large, or claim to be, or take much memory to work with."""
    room = 8 * 2**20 // max(count, 1)  # bytes: all values of an answer come together
    if isinstance(right, str):
        most = min(room, MOST_BYTES_OF_A_TEXT)
        yield from ("\n" * most, "a\n" * (most // 2), "é" * (most // 2), "[" * most)
        yield np.zeros(room, dtype=bool)
        return
    yield np.zeros((0, MOST_BYTES // 2), dtype=np.float32)
    yield np.zeros((MOST_BYTES // 2, 0), dtype=np.float32)
    yield np.zeros(room, dtype=bool)
    yield np.full(right.shape, 2**62)
    yield np.full(right.shape, -(2**62))
    yield "0 " * (min(room, MOST_BYTES_OF_A_TEXT) // 2)
    for axis in range(right.ndim):
        others = [max(size, 1) for n, size in enumerate(right.shape) if n != axis]
        for rest in (others, [1] * len(others), [0] * len(others)):
            shape = list(rest)
            shape.insert(axis, max(room // max(int(np.prod(rest)), 1), 1))
            yield np.ones(shape, dtype=bool)
    yield np.ones((room, *(1,) * right.ndim), dtype=bool)
    yield np.ones((1000, *(1,) * right.ndim), dtype=np.int64)


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_large_answer_costs_a_judge_little_memory_and_no_error(task):
    known, probe = judges.task(task), catalogue.probe(task)
    _, inputs, right = drawn(task, 0)
    count = len(right.values)
    large = {name: list(swollen(value, count)) for name, value in right.values.items()}
    judge(task, known, probe, inputs, right)  # what references and mistakes take is not counted
    for number in range(max(map(len, large.values()))):
        values = {name: found[number % len(found)] for name, found in large.items()}
        answers = Answers(values)
        tracemalloc.start()
        try:
            verdict = judge(task, known, probe, inputs, answers)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        shapes = {name: np.shape(value) for name, value in list(values.items())[:3]}
        assert peak < MOST_MEGABYTES_TO_JUDGE * 2**20, f"{peak / 2**20:.0f} MB for {shapes}"
        assert verdict.points == 0, shapes
        assert len(str(verdict)) < 5000


class TestRefusals:
    @pytest.mark.parametrize("shape", [(0, 150_000_000), (3, 0, 2**40), (2**60, 0)])
    def test_empty_array_of_absurd_shape_is_refused(self, shape):
        empty = Answers({"a": np.zeros(shape, dtype=np.float32)})
        with pytest.raises(InvalidAnswerError, match="no answer to a task is as large"):
            empty.to_bytes()
        sent = safetensors.numpy.save({"a": empty.values["a"]})
        with pytest.raises(InvalidAnswerError, match="no answer to a task is as large"):
            Answers.from_bytes(sent)

    def test_header_of_megabytes_is_refused_before_it_is_read(self):
        sent = safetensors.numpy.save({f"a{n}": np.zeros(0, np.uint8) for n in range(20_000)})
        with pytest.raises(InvalidAnswerError, match=f"at most {MOST_HEADER_BYTES} are read"):
            Answers.from_bytes(sent)

    def test_text_of_megabytes_is_refused(self):
        with pytest.raises(InvalidAnswerError, match=f"at most {MOST_BYTES_OF_A_TEXT} are read"):
            Answers({"a": "x" * (MOST_BYTES_OF_A_TEXT + 1)}).to_bytes()
        long = np.zeros(MOST_BYTES_OF_A_TEXT + 1, dtype=np.uint8)
        for kind in ("text", "error"):
            sent = safetensors.numpy.save({f"{kind}:a": long})
            with pytest.raises(
                InvalidAnswerError, match=f"at most {MOST_BYTES_OF_A_TEXT} are read"
            ):
                Answers.from_bytes(sent)

    def test_array_that_would_swell_beside_the_right_one_is_not_calculated_with(self):
        right = Answers({"a": np.zeros((1, 300))})
        evidence = Evidence({}, lambda **_: Run(right), Answers({"a": np.zeros((5000, 1))}))
        with pytest.raises(ValueError, match=r"shape \(5000, 1\), the right one \(1, 300\)"):
            evidence.yours("a")
