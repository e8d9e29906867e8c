"""Runs of a few cells in a sandbox, and what the grader reads of them."""

import json
import time

import psutil

from course_grader.sandbox.protocol import RawStep, RunResult, read_steps
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_tasks.runner.limits import Limits

SOON = Limits(
    cell_seconds=10, total_seconds=30, memory_megabytes=256, processes=48, file_megabytes=64
)

# What student code needs to write to the grader as the runner does.
FORGE = """
import json, os, stat, struct
def is_socket(n):
    try:
        return stat.S_ISSOCK(os.fstat(n).st_mode)
    except OSError:
        return False
wire = next(n for n in range(3, 256) if is_socket(n))
def send(header, payload=b""):
    words = header if isinstance(header, bytes) else json.dumps(header).encode()
    left = memoryview(struct.pack("!II", len(words), len(payload)) + words + payload)
    while left:
        left = left[os.write(wire, left):]
"""


def work(*cells):
    return SanitizedSubmission(tuple(Step("code", cell) for cell in cells))


def run(sandbox, *cells, limits=SOON, times=4):
    """Run cells, and again, as if alone, where other programs kept this machine busy."""
    for number in range(times):
        ran = sandbox.run(work(*cells), {}, limits, alone=number > 0)
        if "held the processor" not in ran.repeat:
            break
    return ran


def read(ran, *cells, limits=SOON):
    steps, odd = read_steps(ran, work(*cells or ("",) * len(ran.raw)), limits)
    assert not odd, odd
    return steps


def printed(ran, number=0):
    outputs = read(ran)[number].outputs
    return "".join(one["text"] for one in outputs if one["output_type"] == "stream")


def header(number=0, outputs=(), problem="", **more):
    return json.dumps(
        {"step": number, "outputs": list(outputs), "problem": problem, **more}
    ).encode()


def ran_of(*headers, payload=b""):
    return RunResult(tuple(RawStep(one, payload, 0.5) for one in headers), "", 1.0)


def stream(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def wait_for_children(sandbox, count):
    """Until the runs of a sandbox have so many processes."""
    process, end = psutil.Process(sandbox.started.number), time.monotonic() + 120
    while len(process.children(recursive=True)) < count and time.monotonic() < end:
        time.sleep(0.05)
