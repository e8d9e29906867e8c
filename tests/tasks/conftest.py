"""What tests of judges share."""

import dataclasses
import hashlib

import pytest

from course_judges import catalogue, judging, variants
from course_tasks.answers import Answers, arrays_to_bytes
from course_tasks.probing import Run, run


def together(*runs):
    """What was seen in several runs of different cases."""
    answers = (
        {name: value for run in runs for name, value in getattr(run.answers, part).items()}
        for part in ("values", "errors", "changed")
    )
    seen = (
        {case: value for run in runs for case, value in getattr(run, part).items()}
        for part in ("called", "arguments", "results")
    )
    return Run(Answers(*answers), (), *seen)


@pytest.fixture(scope="module")
def kept_runs():
    """What a judge runs, references and mistakes, is run once for each case and draw, and not again
    for every answer that it is compared with; inputs are drawn once for each seed. Students'
    answers are run each time, on a copy.
    """
    kept, last, drawn = {}, [None, b""], {}
    draw = catalogue.inputs

    def draw_once(task, rng):
        key = task, str(rng.bit_generator.state)
        if key not in drawn:
            drawn[key] = draw(task, rng)
        return {name: array.copy() for name, array in drawn[key].items()}

    def digest(inputs):
        if last[0] is not inputs:
            last[:] = inputs, hashlib.sha256(arrays_to_bytes(inputs)).digest()
        return last[1]

    def run_once(probe, answer, inputs, *, until=None, watched=True, described=False, **_):
        found = Run(Answers({}, {}))
        for name, case in probe.cases.items():
            key = id(probe), id(answer), digest(inputs), name, watched, described
            if key not in kept:  # with the answer, so that its id stays its own
                single = dataclasses.replace(probe, cases={name: case})
                kept[key] = (
                    answer,
                    run(single, answer, inputs, watched=watched, described=described),
                )
            found = together(found, kept[key][1])
            if until is not None and until(name, found.answers):
                break
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "run", run_once)
        patch.setattr(variants, "run", run_once)
        patch.setattr(catalogue, "inputs", draw_once)
        yield
