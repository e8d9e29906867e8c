"""How fast a class is graded, against stock `nbgrader autograde` on the same submissions.

    python -m benchmarks.grading                        classes of 30, 300 and 1,000; an hour
    python -m benchmarks.grading --classes 30 --stock 8 --large 200     minutes

Each submission is one notebook of an assignment that imports torch: every third unfilled, the
others solved. Sandbox, self-test, judge, gradebook, feedback and report are on. Stock nbgrader runs
`--stock` submissions of the same class in the same run, and is reported per submission. Writes
`results/grading.json`, and the same as a table beside it.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measuring import RESULTS, write_results
from course_lib.grading.batch import Summary, grade
from course_lib.grading.course import Course
from course_lib.grading.release import release

ROOT = Path(__file__).parents[1]
ASSIGNMENT = "05-head"

_SETTINGS = """
c = get_config()
c.CourseDirectory.course_id = "averages-to-transformers"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--IPKernelApp.log_level=40"]
"""


def class_of(size: int, folder: Path) -> Course:
    """A released assignment, handed in by so many students."""
    root = folder / f"class-{size}"
    for part in ("solutions", "exercises"):
        shutil.copytree(ROOT / part / ASSIGNMENT, root / part / ASSIGNMENT)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    course = Course(root)
    release(course, ASSIGNMENT, gradebook=True)
    for number in range(size):
        part = course.solutions if number % 3 else course.exercises
        target = course.submitted / f"s{number:04d}" / ASSIGNMENT
        target.mkdir(parents=True)
        shutil.copy(part / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", target)
    return course


def by_course(course: Course, jobs: int | None = None) -> dict[str, Any]:
    """Grade a class in a process of its own, as the command does, and measure it."""
    words = [sys.executable, "-m", "benchmarks.grading", "--one", str(course.root)]
    words += ["--jobs", str(jobs)] if jobs else []
    began = time.perf_counter()
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - began
    graded, unchanged, read, run, judge, megabytes = map(float, done.stdout.split()[-6:])
    found = {"seconds": seconds, "graded": int(graded), "unchanged": int(unchanged)}
    found["grader_megabytes"] = megabytes
    if graded:
        found["seconds_each"] = seconds / graded
        found["mean_seconds"] = {"read": read, "run": run, "judge": judge}
    return found


def one(root: Path, jobs: int | None) -> None:
    """In the measured process: grade, and print what only it can know."""
    summary: Summary = grade(Course(root), ASSIGNMENT, jobs=jobs)
    assert summary.complete
    count = max(len(summary.outcomes), 1)
    parts = [
        sum(outcome.seconds.get(part, 0.0) for outcome in summary.outcomes) / count
        for part in ("read", "run", "judge")
    ]
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(len(summary.outcomes), len(summary.unchanged), *parts, megabytes)


def by_nbgrader(folder: Path, count: int) -> dict[str, Any]:
    """Stock `nbgrader autograde` and its feedback on so many of the same submissions."""
    course = class_of(count, folder / "stock")
    (course.root / "nbgrader_config.py").write_text(_SETTINGS, encoding="utf-8")
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    began = time.perf_counter()
    for command in ("autograde", "generate_feedback"):
        subprocess.run(
            [sys.executable, "-m", "nbgrader", command, ASSIGNMENT],
            cwd=course.root,
            env={**os.environ, "PATH": programs},
            capture_output=True,
            check=True,
        )
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "graded": count, "seconds_each": seconds / count}


def measure(classes: list[int], stock: int, large: int, jobs: list[int]) -> dict[str, Any]:
    results: dict[str, Any] = {"assignment": ASSIGNMENT, "course": {}, "speed_up": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results["nbgrader"] = by_nbgrader(folder, stock)
        stock_each = results["nbgrader"]["seconds_each"]
        for size in classes:
            found = by_course(class_of(size, folder))
            # nbgrader's cost grows in step with the class: measured on some, said for all.
            found["times_as_fast_as_nbgrader"] = stock_each / found["seconds_each"]
            results["course"][str(size)] = found
        course = class_of(large, folder / "large")
        for count in jobs:
            for product in (course.autograded, course.feedback):
                shutil.rmtree(product, ignore_errors=True)
            (course.root / "gradebook.db").unlink()
            release(course, ASSIGNMENT, gradebook=True)
            results["speed_up"][str(count)] = by_course(course, count)
        results["large"] = large
        results["unchanged"] = by_course(course)
    return results


def table(results: dict[str, Any]) -> str:
    """The results in Markdown, for the instructor guide."""
    stock = results["nbgrader"]
    lines = ["| Class | Workers | Seconds | Seconds each | Against stock nbgrader |"]
    lines.append("|--:|--:|--:|--:|--:|")
    rows = [(int(size), "as many as cores", found) for size, found in results["course"].items()]
    rows += [(results["large"], jobs, found) for jobs, found in results["speed_up"].items()]
    for size, jobs, found in rows:
        times = stock["seconds_each"] / found["seconds_each"]
        each = f"{found['seconds']:.1f} | {found['seconds_each']:.3f} | {times:.0f} times as fast"
        lines.append(f"| {size:,} | {jobs} | {each} |")
    lines.append(
        f"| {results['large']:,}, unchanged | | {results['unchanged']['seconds']:.1f} | | |"
    )
    each = f"{stock['seconds']:.1f} | {stock['seconds_each']:.3f} |"
    lines.append(f"| {stock['graded']}, stock `nbgrader autograde` | | {each} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", type=int, nargs="*", default=[30, 300])
    parser.add_argument("--stock", type=int, default=30, help="submissions for stock nbgrader")
    parser.add_argument("--large", type=int, default=1000, help="the class for jobs and memory")
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.one:
        one(said.one, said.jobs[0] if len(said.jobs) == 1 else None)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    results = measure(said.classes, said.stock, said.large, said.jobs)
    write_results("grading", results)
    (RESULTS / "grading.md").write_text(table(results), encoding="utf-8")
    print(table(results))


if __name__ == "__main__":
    main()
