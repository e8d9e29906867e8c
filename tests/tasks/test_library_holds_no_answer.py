"""Nothing that student code can import answers a task, neither called directly nor row by row.

Every function and class of the packages that the sandbox holds is handed in, for every task whose
answer it could be called like. A task that one of them answers has to ask for something else.
"""

import contextlib
import importlib
import inspect
import io
import itertools
import json
import multiprocessing
import os
import pkgutil
import resource
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import filelock
import numpy as np
import pytest
import torch

from course_grader.sandbox.bubblewrap import BESIDE_STUDENT_CODE
from course_judges import catalogue as judges
from course_judges.judging import judge
from course_tasks import catalogue
from course_tasks.probing import run

# For one callable: what trains, or draws a figure, is no short answer to a task. A second clock
# ends what waits instead of computing.
PROCESSOR_SECONDS, SECONDS = 0.5, 2.0
BYTES = 6 << 30
SEED = 0
ROOT = Path(__file__).parents[2]


def handed_in():
    """Every function and class that a package in the sandbox defines, by its full name."""
    found = {}
    for package in map(importlib.import_module, BESIDE_STUDENT_CODE):
        for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            # What runs in the sandbox makes processes and limits; it is not for a student's cell.
            if info.name.startswith("course_tasks.runner"):
                continue
            module = importlib.import_module(info.name)
            for name, value in vars(module).items():
                if callable(value) and getattr(value, "__module__", "") == info.name:
                    found[f"{info.name}.{name}"] = value
    return found


def by_row(function, keyword=None):
    """Call it with each row of what it is given, and stack what comes back.

    With a keyword, the second argument's rows are passed by that name, as plain numbers.
    """

    def answer(x, *others, **named):
        if keyword is None:
            rows = [function(row, *others, **named) for row in x]
        else:
            rows = [
                function(row, **{keyword: value.item()})
                for row, value in zip(x, others[0], strict=True)
            ]
        return torch.stack(rows) if isinstance(x, torch.Tensor) else rows

    return answer


def ways_to_hand_in(candidate, right):
    """A candidate as an answer: as it is, row by row, and with its own names for the settings."""
    if could_be_called_like(candidate, right):
        yield "directly", candidate
        yield "row by row", by_row(candidate)
    if not inspect.isclass(candidate) and len(positional(right)) == 2:
        for setting in list(inspect.signature(candidate).parameters)[1:]:
            yield f"row by row with {setting}=", by_row(candidate, setting)


def positional(function):
    """Parameters that may be given by their place."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def could_be_called_like(candidate, right):
    """True if the right answer's positional arguments fit what a candidate takes."""
    wanted = positional(right)
    least = sum(p.default is p.empty for p in wanted)
    try:
        signature = inspect.signature(candidate)
    except (TypeError, ValueError):
        return True
    for count in range(least, len(wanted) + 1):
        with contextlib.suppress(TypeError):
            signature.bind(*range(count))
            return True
    return False


class TookTooLongError(BaseException):
    """Not an Exception, so that no probe takes it for the answer's own."""


def raised(_case, answers):
    """True if a case raised, because then the candidate is called wrongly and given up."""
    return bool(answers.errors)


def points_of_all(task, results, candidates, reached):
    """What candidates from `reached` on earn in a task, from a process of its own.

    It ends early where memory has run out, since then nothing after it could be tried.
    """
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))

    def ring(*_):
        raise TookTooLongError

    for clock in (signal.SIGVTALRM, signal.SIGALRM):
        signal.signal(clock, ring)
    warnings.simplefilter("ignore")
    known, probe = judges.task(task), catalogue.probe(task)
    inputs = judges.inputs(task, np.random.default_rng(SEED))
    while reached.value < len(candidates):
        name, answer = candidates[reached.value]
        reached.value += 1
        signal.setitimer(signal.ITIMER_VIRTUAL, PROCESSOR_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                answers = run(probe, answer, inputs, until=raised).answers
            points = 0 if answers.errors else judge(task, known, probe, inputs, answers).points
        except TookTooLongError:
            continue
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
        # Opened for each, since some of what was called has closed descriptors of this process.
        with results.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps([name, points]) + "\n")


def try_tasks(folder, chapters):
    """Try all tasks of some chapters; each writes what its candidates earn.

    Some candidates eat memory or end the process they are in: the next one gets a new process.
    """
    # Every optimizer of torch imports it when the first one is made, for longer than a candidate
    # may take. Imported here, it is there in each new process.
    importlib.import_module("torch._dynamo")
    context = multiprocessing.get_context("fork")
    everything = handed_in()
    for task in (one for chapter in chapters for one in TASKS[chapter]):
        results = folder / file_of(task)
        candidates = [
            (f"{name} {how}", answer)
            for name, candidate in everything.items()
            for how, answer in ways_to_hand_in(candidate, judges.task(task).answer)
        ]
        reached = context.Value("i", 0)
        while (first := reached.value) < len(candidates):
            child = context.Process(target=points_of_all, args=(task, results, candidates, reached))
            child.start()
            child.join()
            assert reached.value > first, f"{task}: nothing could be tried after {first} candidates"


def file_of(task):
    return f"{task.replace('/', '-')}.jsonl"


# Candidates for tasks that train would train for seconds each; their judges ask for a model that
# they then try themselves.
TASKS = {
    chapter: [task for task in tasks if task not in ("08/train", "my-gpt/train", "my-gpt/write")]
    for chapter, tasks in itertools.groupby(catalogue.names(), lambda task: task.partition("/")[0])
}


@pytest.fixture(scope="module")
def results(request, tmp_path_factory, worker_id, testrun_uid):
    """The folder of what candidates earn in the chapters that are asked for. They are tried once,
    by the process that comes first among those that share the tests.
    """
    own = tmp_path_factory.getbasetemp()
    place = (own if worker_id == "master" else own.parent) / f"no-answer-{testrun_uid}"
    place.mkdir(exist_ok=True)
    found, elsewhere, done = place / "results", place / "elsewhere", place / "done"
    chapters = [
        item.callspec.params["chapter"]
        for item in request.session.items
        if item.path == request.path
    ]
    with filelock.FileLock(place / "lock"):
        if not done.is_file():
            for folder in (found, elsewhere):  # some of what is called writes files
                folder.mkdir()
            # An interpreter of its own: a fork of one in which JAX ran waits for threads for ever.
            subprocess.run(
                [sys.executable, __file__, str(found), *chapters],
                cwd=elsewhere,
                env=os.environ
                | {"PYTHONPATH": str(ROOT), "HOME": str(elsewhere), "TMPDIR": str(elsewhere)},
                check=True,
            )
            done.touch()
    return found


@pytest.mark.slow
@pytest.mark.timeout(1800)  # a minute where nothing else runs: one process starts for all chapters
@pytest.mark.parametrize("chapter", TASKS)
def test_nothing_that_the_sandbox_holds_answers_a_task(results, chapter):
    answers = []
    for task in TASKS[chapter]:
        lines = (results / file_of(task)).read_text(encoding="utf-8").splitlines()
        points = dict(map(json.loads, lines))
        assert len(points) > 20, f"hardly anything was tried on {task}"
        # A class that the chapter itself defines may hold half of what its task asks for.
        most = judges.task(task).points / 2
        answers += [(task, candidate, paid) for candidate, paid in points.items() if paid > most]
    assert not answers


if __name__ == "__main__":
    try_tasks(Path(sys.argv[1]), sys.argv[2:])
