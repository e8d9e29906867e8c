"""In a container: prove a sandbox, and run in it what comes on standard input; see `containers`.

python -m course_grader.sandbox.container_worker
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from pathlib import Path

from course_grader import private_tasks
from course_grader.errors import MachineError, NoVerdictError
from course_grader.sandbox.cluster_worker import SandboxPlugin, to_bytes
from course_tasks.runner import frames


def main() -> None:
    """Answer until standard input ends."""
    # What a library prints must not stand between two answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    jobs = sys.stdin.buffer
    greeting = frames.read(jobs)
    if greeting is None:
        return
    private_tasks.join_chapters()
    grader, _ = greeting
    worker = SandboxPlugin("warm", str(grader["library"]), dict(grader["versions"]))
    with contextlib.ExitStack() as stack:
        stack.callback(worker.end)
        worker.start(Path.cwd())
        answers.write(frames.pack({"refused": worker.refused}))
        answers.flush()
        while worker.sandbox is not None and (message := frames.read(jobs)) is not None:
            # From the grader, who holds the other end, and from nobody else.
            work, inputs, limits, alone = pickle.loads(message[1])
            try:
                ran = worker.sandbox.run(work, inputs, limits, alone=alone)
                answer = frames.pack({}, to_bytes(ran, worker.sandbox.form))
            except NoVerdictError as error:
                answer = frames.pack({"no_verdict": str(error)})
            except MachineError as error:
                answer = frames.pack({"machine": str(error)})
            answers.write(answer)
            answers.flush()


if __name__ == "__main__":
    main()
