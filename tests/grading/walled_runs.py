"""Asks from inside a sandbox: functions that run there as cells, and what they returned."""

import json

from course_grader.sandbox.protocol import read_steps
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_tasks.runner.limits import Limits

LIMITS = Limits(
    cell_seconds=20, total_seconds=40, memory_megabytes=256, processes=32, file_megabytes=32
)

# Prints, as JSON, whatever the cell's function `found` returns, or the error that stopped it.
REPORT = """
import json
def report(ask):
    try:
        return ask()
    except OSError as error:
        return error.strerror
print(json.dumps(report(found)))
"""


def run(sandbox, *cells, limits=LIMITS):
    """A run of these cells, and what each of them left."""
    work = SanitizedSubmission(tuple(Step("code", cell) for cell in cells))
    ran = sandbox.run(work, {}, limits)
    steps, odd = read_steps(ran, work, limits)
    assert not odd
    return ran, steps


def ask(sandbox, *cells, limits=LIMITS):
    """What the function `found` of each cell returned; all of them run in one run."""
    ran, steps = run(sandbox, *(cell + REPORT for cell in cells), limits=limits)
    said = ["".join(one.get("text", str(one)) for one in step.outputs) for step in steps]
    assert len(said) == len(cells), ran.ended or ran.repeat
    return [json.loads(words) for words in said]
