"""The verdicts on every answer of a chapter's collections, as one line of JSON each.

`python verdicts.py 05 0,1,2 scores,weights 2` takes two answers of each kind. It judges with the
module `torch` that is found first on the path: PyTorch, or in a page its twin.
"""

import itertools
import json
import sys
import time


def answers_of(task, most):
    """Kind, name and answer: right in some style, or wrong with the mistake's name."""
    from students import students_of

    held = students_of(task)
    for kind, answers in (("right", held.RIGHT), ("wrong", held.WRONG)):
        for name, answer in itertools.islice(answers.items(), most):
            yield kind, name, answer


def main(chapter, seeds, names="", most=None):
    from students import students_of

    from course_tasks import catalogue, check

    for task in catalogue.names():
        if not task.startswith(f"{chapter}/") or (
            names and task.partition("/")[2] not in names.split(",")
        ):
            continue
        drawn = [int(seed) for seed in seeds.split(",")]
        drawn = [seed for seed in drawn if seed in getattr(students_of(task), "SEEDS", drawn)]
        for kind, name, answer in answers_of(task, None if most is None else int(most)):
            for seed in drawn:
                begun = time.perf_counter()
                try:
                    verdict = check(task, answer, seed=seed)
                except Exception as error:
                    found = {"failed": f"{type(error).__name__}: {error}"}
                else:
                    found = {
                        "points": verdict.points,
                        "out_of": verdict.out_of,
                        "finding": verdict.findings[0].name if verdict.findings else "",
                        "text": str(verdict),
                    }
                found["seconds"] = round(time.perf_counter() - begun, 4)
                row = {"task": task, "kind": kind, "name": name, "seed": seed, **found}
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
