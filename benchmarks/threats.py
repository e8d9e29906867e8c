"""The cases of tests/threats under `course grade` and under stock `nbgrader autograde`.

    python -m benchmarks.threats                    all that have no result yet; an hour
    python -m benchmarks.threats --again honest     one class, anew
    python -m benchmarks.threats --most 0           only the tables, from what was measured

Writes `results/threats.json` and `results/threats.md`. Everything that nbgrader runs here is inside
a bubblewrap sandbox of its own, because nbgrader has none: its hostile notebooks would otherwise
reach this machine. Inside, the course's folder is as open to them as it is in a class.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from benchmarks.measuring import RESULTS, write_results
from course_lib.grading.batch import grade
from course_lib.grading.outcome import Status
from course_lib.grading.sandbox.inside.limits import Limits

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "threats"))

from threat_suite import ASSIGNMENT, CLASSES, Case, Class, cases, hand_in

LIMITS = Limits(cell_seconds=10, total_seconds=30, memory_megabytes=700, file_megabytes=128)
NBGRADER_CELL_SECONDS = 20
# For one nbgrader command; one that hangs is ended, and whoever it had not graded is ungraded.
NBGRADER_SECONDS = 200

# Cases in one class of submissions: what was measured is written after each.
AT_ONCE = 4

_SETTINGS = f"""
c = get_config()
c.CourseDirectory.course_id = "averages-to-transformers"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.Execute.timeout = {NBGRADER_CELL_SECONDS}
c.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--IPKernelApp.log_level=40"]
"""


def by_course(chosen: Sequence[Case]) -> dict[str, str]:
    """What `course grade` did with each case: empty if it held, or else how it failed."""
    with tempfile.TemporaryDirectory() as folder, hand_in(Path(folder), chosen) as made:
        summary = grade(made.course, ASSIGNMENT, jobs=2, limits=LIMITS)
        outcomes = {one.student: one for one in summary.outcomes}
        points = {
            student: None if one.status is not Status.GRADED else one.points
            for student, one in outcomes.items()
        }
        return judged(made, points)


def by_nbgrader(chosen: Sequence[Case]) -> dict[str, str]:
    """What stock `nbgrader autograde` did with each case."""
    with tempfile.TemporaryDirectory() as folder, hand_in(Path(folder), chosen) as made:
        (made.course.root / "nbgrader_config.py").write_text(_SETTINGS, encoding="utf-8")
        stopped: set[str] = set()
        while left := sorted(set(made.members) - set(graded(made)) - stopped):
            _autograde(made, "autograde")
            still = sorted(set(made.members) - set(graded(made)) - stopped)
            # A culprit stops the batch: it and all that come after it have no grade. It is taken
            # out of the way, as an instructor would, and the command is given again.
            if still:
                culprit = still[0]
                after = [one for one in still if one > culprit]
                if after:
                    stopped.add(culprit)
                    shutil.rmtree(made.course.submitted / culprit, ignore_errors=True)
                    continue
            if still == left:
                break
        _autograde(made, "generate_feedback")
        found = judged(made, graded(made))
        for student in stopped:
            case = made.members[student]
            if case is not None:
                found[case.name] = "stops the batch"
        return found


def graded(made: Class) -> dict[str, float]:
    """Points of everybody whom nbgrader's gradebook and folder of graded notebooks know."""
    points = {}
    url = f"sqlite:///{made.course.root}/gradebook.db"
    with Gradebook(url, "averages-to-transformers") as book:
        for student in made.members:
            if not (made.course.autograded / student / ASSIGNMENT).is_dir():
                continue
            try:
                grades = book.find_submission(ASSIGNMENT, student).notebooks[0].grades
            except (MissingEntry, IndexError):
                continue
            points[student] = sum(grade.score or 0.0 for grade in grades)
    return points


def judged(made: Class, points: Mapping[str, float | None]) -> dict[str, str]:
    """For each case what went wrong, in a few words; empty if nothing did."""
    found = {}
    for student, case in made.members.items():
        if case is not None:
            faults = list(_faults(made, student, case, points))
            found[case.name] = "; ".join(faults)
    return found


def _faults(made: Class, student: str, case: Case, points: Mapping[str, float | None]) -> Any:
    got, wanted = points.get(student), made.wanted(case)
    if case.points == "none" or case.set_aside:
        if got:
            yield f"gets {got:g} of {made.full:g} points"
    elif got != wanted:
        yield "not graded" if got is None else f"gets {got:g} of {wanted:g} points"
    if made.leaked(student):
        yield "reads what is hidden"
    if made.unsafe(student):
        yield "a script reaches the reader"
    harmed = [one for one in made.beside(student) if points.get(one) != made.full]
    if harmed:
        yield "harms a neighbour"


def _autograde(made: Class, command: str) -> None:
    """One nbgrader command, in a sandbox around all of it."""
    place = made.course.root.parent
    programs = Path(sys.executable).parent
    walls = [
        "bwrap",
        "--new-session",
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--die-with-parent",
    ]
    walls += ["--uid", "1000", "--gid", "1000", "--ro-bind", "/", "/", "--dev", "/dev"]
    walls += ["--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", str(Path.home())]
    for prefix in (sys.base_prefix, sys.prefix):  # Python may be at home
        walls += ["--ro-bind", prefix, prefix]
    walls += ["--bind", str(place), str(place), "--chdir", str(made.course.root)]
    environment = {
        "PATH": f"{programs}:/usr/bin:/bin",
        "HOME": str(made.home),
        "COURSE_SECRET": made.loot,
        "OMP_NUM_THREADS": "1",
        "LANG": "C.UTF-8",
        "JUPYTER_PLATFORM_DIRS": "1",
    }
    bounded = 'ulimit -v 8000000; exec "$@"'
    run = [sys.executable, "-m", "nbgrader", command, ASSIGNMENT]
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [*walls, "--", "bash", "-c", bounded, "bash", *run],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=NBGRADER_SECONDS,
            check=False,
            start_new_session=True,
        )


def table(results: Mapping[str, Mapping[str, str]]) -> str:
    """Both in Markdown: a summary by class, then each case that one of them does not withstand."""
    threats = {case.name: case.threat for case in cases()}
    lines = ["| Class | Cases | `course grade` holds | stock `nbgrader autograde` holds |"]
    lines.append("|---|---|---|---|")
    for one in CLASSES:
        names = [name for name in threats if name.startswith(f"{one}/") and name in results]
        held = [sum(not results[name][who] for name in names) for who in ("course", "nbgrader")]
        lines.append(f"| {one.replace('-', ' ')} | {len(names)} | {held[0]} | {held[1]} |")
    fell = [name for name in threats if any(results.get(name, {}).values())]
    lines += ["", "| What is tried | `course grade` | stock `nbgrader autograde` |"]
    lines.append("|---|---|---|")
    for name in fell:
        said = [results[name][who] or "holds" for who in ("course", "nbgrader")]
        words = re.sub(r"([|<>*_`])", r"\\\1", threats[name])
        lines.append(f"| {words} | {said[0]} | {said[1]} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("classes", nargs="*", default=[], metavar="CLASS", help=", ".join(CLASSES))
    parser.add_argument("--again", action="store_true", help="also cases that have a result")
    parser.add_argument("--most", type=int, default=10**6, help="end after so many cases")
    said = parser.parse_args()
    path = RESULTS / "threats.json"
    results: dict[str, dict[str, str]] = {}
    if path.is_file():
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    todo = [c for c in cases(said.classes or CLASSES) if said.again or c.name not in results]
    for start in range(0, len(todo[: said.most]), AT_ONCE):
        chosen = todo[start : min(start + AT_ONCE, said.most)]
        course, nbgrader = by_course(chosen), by_nbgrader(chosen)
        for case in chosen:
            results[case.name] = {"course": course[case.name], "nbgrader": nbgrader[case.name]}
        write_results("threats", results)
    (RESULTS / "threats.md").write_text(table(results), encoding="utf-8")
    print(table(results))


if __name__ == "__main__":
    main()
