"""The cases of tests/threats under `course grade`: as an ordinary user, as root in a container, and
beside stock `nbgrader autograde`.

    sudo python -m benchmarks.threats                 every case under both conditions, and hogs;
                                                      takes most of an hour
    python -m benchmarks.threats --conditions here    as whoever runs it; needs no root
    python -m benchmarks.threats neighbours root      some classes only
    python -m benchmarks.threats --nbgrader           stock nbgrader beside it; takes hours
    python -m benchmarks.threats --tables             only the tables, from what was measured

Each condition grades all cases in one class, every case between two honest neighbours, and then two
classes of chapter 08, whose honest notebooks compute for seconds: eight submissions that take all
they can get, with two jobs, and the same with twice as many jobs as there are cores.

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
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from benchmarks.conditions import CONDITIONS, inside
from benchmarks.measuring import RESULTS, write_results
from course_grader.batch import grade
from course_grader.outcome import Status
from course_grader.sandbox.sandbox import cores
from course_tasks.runner.limits import Limits

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


# Chapter 08's honest notebooks train a model: whoever takes their time, takes their points.
LONG_ASSIGNMENT = "08-gpt"
HOGS = (
    "neighbours/busy-loops-in-sessions",
    "neighbours/busy-loops-in-groups",
    "neighbours/busy-threads",
    "neighbours/memory-busy",
    "neighbours/disk-busy",
    "neighbours/who-dies-first",
    "neighbours/scheduling-groups",
    "resources/stubborn-loop",
)


def by_course(
    chosen: Sequence[Case],
    *,
    assignment: str = ASSIGNMENT,
    jobs: int = 2,
    limits: Limits | None = LIMITS,
) -> dict[str, str]:
    """What `course grade` did with each case: empty if it held, or else how it failed."""
    with tempfile.TemporaryDirectory() as folder, hand_in(Path(folder), chosen, assignment) as made:
        summary = grade(made.course, assignment, jobs=jobs, limits=limits)
        outcomes = {one.student: one for one in summary.outcomes}
        points = {
            student: None if one.status is not Status.GRADED else one.points
            for student, one in outcomes.items()
        }
        found = judged(made, points)
        for student, case in made.members.items():
            one = outcomes.get(student)
            if case is None or one is None:
                continue
            said = " ".join([one.reason, *(task.reason for task in one.tasks)])
            faults = [found[case.name]] if found[case.name] else []
            if one.status is Status.FAILED:
                faults.append(f"the machine's fault: {one.reason}")
            elif case.reason not in said:
                faults.append(f"another reason: {said.strip()[:200] or 'none'}")
            if case.set_aside and one.status is not Status.SET_ASIDE:
                faults.append("not set aside")
            if case.shown not in made.shown(student):
                faults.append(f"does not show {case.shown!r}")
            found[case.name] = "; ".join(faults)
        return found


def here(chosen: Sequence[Case]) -> dict[str, str]:
    """All cases, and two classes with hogs, as whoever runs this."""
    found = by_course(chosen)
    known = {case.name: case for case in cases()}
    # What they get themselves is a matter of their luck; their neighbours' is not.
    hogs = [replace(known[name], points="some", shown="", leak="", reason="") for name in HOGS]
    for words, jobs in (("two jobs", 2), ("twice as many jobs as cores", 2 * cores())):
        beside = by_course(hogs, assignment=LONG_ASSIGNMENT, jobs=jobs, limits=None)
        found |= {f"{name}, {LONG_ASSIGNMENT}, {words}": said for name, said in beside.items()}
    return found


def under(condition: str, classes: Sequence[str]) -> dict[str, str]:
    """What `here` finds under a condition."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.chmod(0o755)
        found = home / "found.json"
        mine = [sys.executable, "-m", "benchmarks.threats", "--conditions", "here"]
        environment = {**os.environ, "TMPDIR": folder, "OMP_NUM_THREADS": "1"}
        environment["PYTHONPATH"] = str(Path(__file__).parents[1])
        for name in ("MPLCONFIGDIR", "XDG_CACHE_HOME"):
            environment[name] = str(home / "cache")
        subprocess.run(
            [*inside(condition, home), *mine, "--to", str(found), *classes],
            env=environment,
            check=True,
        )
        said: dict[str, str] = json.loads(found.read_text(encoding="utf-8"))
        return said


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
    got, (fewest, most) = points.get(student), made.wanted(case)
    if got is None:
        if not (case.set_aside or case.may_be_set_aside or most == 0):
            yield "not graded"
    elif not fewest <= got <= most:
        yield f"gets {got:g} points; right: {f'{fewest:g} to ' * (fewest < most)}{most:g}"
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
    """All in Markdown: a summary by class, then each case that somebody does not withstand."""
    threats = {case.name: case.threat for case in cases()}
    columns = [who for who in (*CONDITIONS, "nbgrader") if any(who in r for r in results.values())]
    heads = [
        f"`course grade` {CONDITIONS[who]}" if who in CONDITIONS else "stock `nbgrader autograde`"
        for who in columns
    ]
    lines = [f"| Class | Cases | {' | '.join(heads)} |", "|---" * (len(columns) + 2) + "|"]
    for one in (*CLASSES, LONG_ASSIGNMENT):
        names = [n for n in results if n.startswith(f"{one}/") != (f", {one}, " in n)]
        if one in CLASSES:
            names = [name for name in names if name in threats]
        told = [[results[n][who] for n in names if who in results[n]] for who in columns]
        held = [
            f"{sum(not said for said in each)} of {len(each)}" if each else "–" for each in told
        ]
        lines.append(f"| {one.replace('-', ' ')} | {len(names)} | {' | '.join(held)} |")
    lines += ["", f"| What is tried | {' | '.join(heads)} |", "|---" * (len(columns) + 1) + "|"]
    for name, said in results.items():
        if any(said.values()):
            words = re.sub(r"([|<>*_`])", r"\\\1", threats.get(name, name))
            each = [said.get(who, "not tried") or "holds" for who in columns]
            cells = (re.sub(r"([|<>*_`])", r"\\\1", one) for one in each)
            lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("classes", nargs="*", default=[], metavar="CLASS", help=", ".join(CLASSES))
    parser.add_argument(
        "--conditions", nargs="+", choices=CONDITIONS, default=["user", "container"], metavar="WHO"
    )
    parser.add_argument("--nbgrader", action="store_true", help="also stock nbgrader; takes hours")
    parser.add_argument("--again", action="store_true", help="nbgrader: also what has a result")
    parser.add_argument("--tables", action="store_true", help="only the tables")
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    said = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    chosen = cases(said.classes or CLASSES)
    if said.to is not None:
        said.to.write_text(json.dumps(here(chosen)), encoding="utf-8")
        return
    path = RESULTS / "threats.json"
    results: dict[str, dict[str, str]] = {}
    if path.is_file():
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
    # Of cases and columns that are no more, nothing is kept.
    known = {case.name for case in cases()}
    columns = {*CONDITIONS, "nbgrader"}
    results = {
        name: {who: said for who, said in found.items() if who in columns}
        for name, found in results.items()
        if name in known or LONG_ASSIGNMENT in name
    }
    for condition in () if said.tables else said.conditions:
        for name, fault in under(condition, said.classes).items():
            results.setdefault(name, {})[condition] = fault
        write_results("threats", results)
    if said.nbgrader:
        todo = [c for c in chosen if said.again or "nbgrader" not in results.get(c.name, {})]
        for start in range(0, len(todo), AT_ONCE):
            for name, fault in by_nbgrader(todo[start : start + AT_ONCE]).items():
                results.setdefault(name, {})["nbgrader"] = fault
            write_results("threats", results)
    words = table(results)
    (RESULTS / "threats.md").write_text(words, encoding="utf-8")
    print(words)
    broken = [(n, w) for n, r in results.items() for w in r if r[w] and w != "nbgrader"]
    for name, who in broken:
        print(f"{name}, {CONDITIONS.get(who, who)}: {results[name][who]}", file=sys.stderr)
    if broken:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
