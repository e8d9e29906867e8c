"""The variants of a task's answer, made once and kept beside its judge as `<task>.json`.

    python -m course_judges.edits.making 05/scores       # makes a table again
    python -m course_judges.edits.making 05 --check      # says whether tables are those of the code

Every edit of a labeled step is run on several draws. Kept is what goes wrong in each of them with
numbers that can be compared, and comes to an end soon; edits with equal results in all draws are
listed with each other, because no answer tells which of them it holds.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from course_judges import catalogue
from course_judges.edits import steps
from course_judges.edits.operators import changed
from course_judges.edits.table import ending, made, path_of, same_compared, tells
from course_judges.evidence import Evidence
from course_judges.judging import reference_of
from course_judges.rubric import Task
from course_tasks import catalogue as asked
from course_tasks.answers import Answers
from course_tasks.probing import REPEATED, Probe, passes, run

SEEDS = range(5)
# Of the processor: a variant that takes longer in a draw is dropped. A right answer takes some
# milliseconds.
MOST_SECONDS = 1.0
# Of these, the steps themselves are right.
_OF_NO_STEP = ("afterwards", "order", "each-as-the-other")
_MOST_ALIKE = 3
# Of several edits with equal results, one of the least far-fetched kind is spoken of.
_FAR_FETCHED = ("name", "number", "afterwards", "order")


def digest(task: Task) -> str:
    """Of what a table is made from: the answer, and every edit of it."""
    source = steps.source_of(task.answer)
    parts = [
        source,
        *(f"{e.operator}: {e.says}: {e.lines}: {e.teaches}" for e in steps.edits(source)),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def build(name: str) -> dict[str, Any]:
    """The table of a task as it is stored.

    Parameters
    ----------
    name : str
        For example "05/scores".
    """
    task, probe = catalogue.as_written(name), asked.probe(name)
    source, module = steps.source_of(task.answer), task.answer.__module__
    draws = [
        (place, Evidence(given, _always(reference_of(task, probe, given)), Answers()))
        for seed in SEEDS
        for place, (prefix, given) in enumerate(
            passes(catalogue.inputs(name, np.random.default_rng(seed)))
        )
        if prefix != REPEATED
    ]
    kept: list[tuple[Any, list[Answers], tuple[str, ...]]] = []
    for edit in steps.edits(source):
        answer = made(changed(source, edit.lines), module)
        outcomes = []
        for _, draw in draws:
            with _at_most(MOST_SECONDS) as limit:
                outcomes.append(run(probe, answer, draw.inputs, watched=False).answers)
            if limit.reached or not tells(outcomes[0], draws[0][1], probe):
                break
        if len(outcomes) == len(draws) and all(
            tells(one, draw, probe) or _is_right(one, draw, probe)
            for one, (_, draw) in zip(outcomes, draws, strict=True)
        ):
            kept.append((edit, outcomes, _stable(outcomes, draws, probe)))
    kept.sort(key=lambda one: _far_fetched(one[0].operator))
    groups: list[list[tuple[Any, list[Answers], tuple[str, ...]]]] = []
    right = [draw.expected for _, draw in draws]
    for one in kept:
        group = next((g for g in groups if _equal(g[0], one, right, probe)), None)
        groups.append([one]) if group is None else group.append(one)
    return {
        "digest": digest(task),
        "source": source,
        "variants": list(_entries(groups)),
    }


def _entries(
    groups: Sequence[Sequence[tuple[Any, list[Answers], tuple[str, ...]]]],
) -> Iterator[Any]:
    taken: dict[str, int] = {}
    for (edit, _, ends), *others in groups:
        name = slug(edit.says)
        taken[name] = taken.get(name, 0) + 1
        # Another axis of the same step may be the same one, counted from the other end.
        alike = [
            other.says
            for other, _, _ in others
            if (other.operator, other.step) != (edit.operator, edit.step)
        ][:_MOST_ALIKE]
        yield {
            "name": name if taken[name] == 1 else f"{name}-{taken[name]}",
            "says": edit.says,
            "step": "" if edit.operator in _OF_NO_STEP else edit.step,
            "lines": {str(n): text for n, text in edit.lines.items()},
            "ends": list(ends),
            **({"teaches": edit.teaches} if edit.teaches else {}),
            **({"alike": alike} if alike else {}),
        }


def slug(says: str) -> str:
    """A phrase as a name: letters and digits with hyphens between."""
    plain = says.replace("√", "root-of-").replace("−", "minus-").replace("∞", "infinity")
    plain = (
        plain.replace("≤", "less-or-equal").replace("≥", "greater-or-equal").replace("<", "less")
    )
    plain = plain.replace(">", "greater").replace("²", "-squared").replace("≠", "unequal")
    return re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-")


def _far_fetched(operator: str) -> int:
    return _FAR_FETCHED.index(operator) + 1 if operator in _FAR_FETCHED else 0


def _always(made: Any) -> Callable[..., Any]:
    return lambda **_: made


def _is_right(answers: Answers, draw: Evidence, probe: Probe) -> bool:
    return all(ending(answers, draw, case) == "=" for case in probe.cases)


def _stable(
    outcomes: Sequence[Answers], draws: Sequence[tuple[int, Evidence]], probe: Probe
) -> tuple[str, ...]:
    """How each case ends in the draws that come first, and in those that come second; "?" where
    that depends on the draw.
    """
    found: dict[tuple[int, str], set[str]] = {}
    for answers, (place, draw) in zip(outcomes, draws, strict=True):
        for case in probe.cases:
            found.setdefault((place, case), set()).add(ending(answers, draw, case))
    return tuple(
        " ".join(
            next(iter(ends)) if len(ends) == 1 else "?"
            for (at, _), ends in found.items()
            if at == place
        )
        for place in sorted({place for place, _ in found})
    )


def _equal(one: Any, other: Any, right: Sequence[Answers], probe: Probe) -> bool:
    return one[2] == other[2] and all(
        same_compared(a, b, expected, case)
        for a, b, expected in zip(one[1], other[1], right, strict=True)
        for case in probe.cases
    )


class _Limit:
    reached = False


class _TooLongError(Exception):
    """A variant has run for too long."""


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[_Limit]:
    """Ends what takes more processor time, and says so."""
    limit = _Limit()

    def stop(*_: Any) -> None:
        limit.reached = True
        raise _TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield limit
    except _TooLongError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make or check the tables of some tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="+", help="tasks or chapters whose answers are in steps")
    parser.add_argument("--check", action="store_true", help="write nothing")
    chosen = parser.parse_args(arguments)
    for name in asked.names():
        task = (
            catalogue.as_written(name)
            if any(name.startswith(one) for one in chosen.tasks)
            else None
        )
        if task is None or not task.steps:
            continue
        path = path_of(task)
        if chosen.check:
            held = json.loads(path.read_text(encoding="utf-8"))["digest"] if path.exists() else ""
            print(f"{name}: {'as the code' if held == digest(task) else 'to be made again'}")
            continue
        table = build(name)
        path.write_text(_one_a_line(table), encoding="utf-8")
        alike = sum(1 for one in table["variants"] if "alike" in one)
        print(f"{name}: {len(table['variants'])} variants, {alike} of them with others alike")


def _one_a_line(table: dict[str, Any]) -> str:
    """JSON with one variant a line, so that a difference shows which are new."""
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in table["variants"])
    head = {name: value for name, value in table.items() if name != "variants"}
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "variants": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    import warnings

    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    main()
