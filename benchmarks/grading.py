"""How fast a class is graded, against stock `nbgrader autograde` on the same submissions.

    python -m benchmarks.grading          classes of 30, 60, 300 and 1,000; a quarter hour
    python -m benchmarks.grading --classes 30 --repeat 1 --stock 4 --large 60     two minutes

Each submission is one notebook of an assignment that imports torch: every third unfilled, the
others solved. Its experiment, which the course doesn't run again for grading and stock nbgrader
would run for seconds, is left out on both sides. Sandbox, self-test, judge, gradebook, feedback and
report are on. Stock nbgrader runs
`--stock` submissions of the same class in the same run, and is reported per submission. Both take
turns `--repeat` times, and the run of the median stands for all. Writes `results/grading.json`, and
the same as tables beside it.
"""

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measuring import RESULTS, write_results
from course_grader import batch
from course_grader.course import Course

ROOT = Path(__file__).parents[1]
ASSIGNMENT = "05-head"
EXPERIMENT = "run-experiment"  # the cell that runs it

# Stages of a whole run, of which some overlap: while nbgrader is imported, sandbox and judges
# import torch. And stages of each submission: as many at once as there are workers, but for the
# gradebook, which is written by one.
START_AND_END = (
    "Python and the course's imports",
    "sandbox",
    "self-test",
    "until the first submission",
    "report",
)
EACH = ("read", "run", "judge", "pages", "gradebook")

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_TO_SETTLE = 3.0
MEMORY_AT_HAND = 4 * 2**30

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
    enter(course)
    for number in range(size):
        part = course.solutions if number % 3 else course.exercises
        target = course.submitted / f"s{number:04d}" / ASSIGNMENT
        target.mkdir(parents=True)
        notebook = f"{ASSIGNMENT}.ipynb"
        handed_in = without_experiment((part / ASSIGNMENT / notebook).read_text(encoding="utf-8"))
        (target / notebook).write_text(handed_in, encoding="utf-8")
    return course


def without_experiment(text: str) -> str:
    """A notebook without the call that runs its experiment."""
    notebook = json.loads(text)
    calls = [cell for cell in notebook["cells"] if cell["id"] == EXPERIMENT]
    assert len(calls) == 1, f"{ASSIGNMENT} has no cell {EXPERIMENT}"
    calls[0]["source"] = []
    return json.dumps(notebook)


def afresh(course: Course) -> Course:
    """The same class, of which nothing was graded yet."""
    for product in (course.autograded, course.feedback, course.root / "reports"):
        shutil.rmtree(product, ignore_errors=True)
    (course.root / "gradebook.db").unlink()
    enter(course)
    return course


def enter(course: Course) -> None:
    """Release the assignment and enter it into the gradebook."""
    # Not above: the measured process would import it, too, which `course grade` does not.
    from course_grader.release import release

    release(course, ASSIGNMENT, gradebook=True)


def started(course: Course, jobs: int | None = None) -> subprocess.Popen[str]:
    """A process that grades a class, as the command does."""
    words = [sys.executable, "-m", "benchmarks.grading", "--one", str(course.root)]
    words += ["--jobs", str(jobs)] if jobs else []
    words += ["--began", str(time.time())]
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def by_course(course: Course, jobs: int | None = None) -> dict[str, Any]:
    """Grade a class and measure how long that takes."""
    settle()
    began = time.perf_counter()
    process = started(course, jobs)
    said, _ = process.communicate()
    seconds = time.perf_counter() - began
    assert process.returncode == 0, said
    found: dict[str, Any] = {"seconds": seconds, **json.loads(said.splitlines()[-1])}
    if found["graded"]:
        found["seconds_each"] = seconds / found["graded"]
        # The start and the report are one for the whole class.
        rest = seconds - found["start_and_end"]["until the first submission"]
        rest -= found["start_and_end"]["report"]
        found["seconds_each_without_start"] = rest / found["graded"]
    return found


def settle() -> None:
    """Wait until what came before is on the disk, and its last processes are gone.

    A virtual machine gives memory that nobody uses back to its host; having it fetched again took
    half the time of a class of 30. So it is fetched before the clock starts, for both sides.
    """
    os.sync()
    time.sleep(SECONDS_TO_SETTLE)
    bytearray(MEMORY_AT_HAND)  # filled with zeros, and given to whoever comes next


def megabytes(course: Course) -> int:
    """The most memory that grading a class took at a time, all its processes together.

    A page that several of them share counts once, divided among them. In a run of its own, because
    the kernel walks through every process at each look.
    """
    # Not above, like the next one: the measured process would import it, too.
    import psutil

    process, most = started(course), 0.0
    while process.poll() is None:
        held = 0.0
        with contextlib.suppress(psutil.Error):
            root = psutil.Process(process.pid)
            for one in (root, *root.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    held += one.memory_full_info().pss / 1e6
        most = max(most, held)
        time.sleep(SECONDS_BETWEEN_LOOKS)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    return round(most)


def one(root: Path, jobs: int | None, began: float) -> None:
    """In the measured process: grade, and print what only it can know."""
    seconds: dict[str, float] = defaultdict(float)
    seconds["Python and the course's imports"] = time.time() - began
    clocks(seconds, began)
    summary = batch.grade(Course(root), ASSIGNMENT, jobs=jobs)
    assert summary.complete
    count = len(summary.outcomes)
    for part in ("read", "run", "judge", "pages"):
        seconds[part] = sum(outcome.seconds.get(part, 0.0) for outcome in summary.outcomes)
    said = {
        "graded": count,
        "unchanged": len(summary.unchanged),
        "start_and_end": {name: seconds[name] for name in START_AND_END},
        "mean_seconds": {name: seconds[name] / max(count, 1) for name in EACH},
    }
    print(json.dumps(said))


def clocks(seconds: dict[str, float], began: float) -> None:
    """Put a clock around each stage of this process."""
    from course_grader.sandbox import selftest
    from course_grader.sandbox.sandbox import Sandbox

    def around(owner: Any, name: str, stage: str) -> None:
        real = getattr(owner, name)

        def clocked(*given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return real(*given, **named)
            finally:
                seconds[stage] += time.perf_counter() - start

        setattr(owner, name, clocked)

    around(Sandbox, "__enter__", "sandbox")
    around(selftest, "prove", "self-test")
    outcomes = batch._outcomes

    def first(*given: Any) -> Any:
        seconds["until the first submission"] = time.time() - began
        # Imported by now; sooner, nbgrader's import would not share its time with the sandbox's.
        from course_grader.gradebook.record import Recorder
        from course_grader.reports import report

        around(Recorder, "record_all", "gradebook")
        around(report, "write", "report")
        return outcomes(*given)

    batch._outcomes = first


def by_nbgrader(folder: Path, count: int) -> dict[str, Any]:
    """Stock `nbgrader autograde` and its feedback on so many of the same submissions."""
    course = class_of(count, folder / "stock")
    (course.root / "nbgrader_config.py").write_text(_SETTINGS, encoding="utf-8")
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settle()
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


def measure(classes: list[int], repeat: int, stock: int, large: int, jobs: list[int]) -> Any:
    results: dict[str, Any] = {"assignment": ASSIGNMENT, "repeat": repeat, "speed_up": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        courses = {size: class_of(size, folder) for size in classes}
        rounds = []
        for number in range(repeat):
            found = {"nbgrader": by_nbgrader(folder / str(number), stock)}
            found |= {str(size): by_course(afresh(course)) for size, course in courses.items()}
            rounds.append(found)
        each = {one: [found[one]["seconds_each"] for found in rounds] for one in rounds[0]}
        results["seconds_each_of_all_rounds"] = each
        middle = {one: statistics.median_low(all_of_it) for one, all_of_it in each.items()}
        chosen = {one: rounds[each[one].index(middle[one])][one] for one in each}
        results["nbgrader"] = chosen.pop("nbgrader")
        for found in chosen.values():
            # nbgrader's cost grows in step with the class: measured on some, said for all.
            found["times_as_fast_as_nbgrader"] = middle["nbgrader"] / found["seconds_each"]
        results["course"] = chosen
        course = class_of(large, folder / "large")
        for count in jobs:
            results["speed_up"][str(count)] = by_course(afresh(course), count)
        results["large"] = large
        results["unchanged"] = by_course(course)
        results["megabytes_of_all_processes"] = {
            str(size): megabytes(afresh(course))
            for size, course in {**courses, large: course}.items()
        }
    return results


def tables(results: dict[str, Any]) -> str:
    """The results in Markdown, for the instructor guide."""
    stock = results["nbgrader"]
    rows = [(int(size), "as many as cores", found) for size, found in results["course"].items()]
    rows += [(results["large"], jobs, found) for jobs, found in results["speed_up"].items()]
    head = ["Class", "Workers", "Seconds", "Seconds each", "without start and report"]
    head += ["Against stock nbgrader"]
    lines = ["| " + " | ".join(head) + " |", "|--:" * len(head) + "|"]
    for size, jobs, found in rows:
        times = stock["seconds_each"] / found["seconds_each"]
        lines.append(
            f"| {size:,} | {jobs} | {found['seconds']:.1f} | {found['seconds_each']:.3f} "
            f"| {found['seconds_each_without_start']:.3f} | {times:.0f} times as fast |"
        )
    unchanged = f"{results['unchanged']['seconds']:.1f}"
    lines.append(f"| {results['large']:,}, unchanged | | {unchanged} | | | |")
    each = f"{stock['seconds']:.1f} | {stock['seconds_each']:.3f}"
    lines.append(f"| {stock['graded']}, stock `nbgrader autograde` | | {each} | | |")
    memory = ", ".join(
        f"{held:,} MB for {int(size):,}"
        for size, held in results["megabytes_of_all_processes"].items()
    )
    lines += ["", *_speed_up(results["speed_up"]), f"Memory of all processes together: {memory}."]
    return "\n".join([*lines, "", *_stages(rows)]) + "\n"


def _speed_up(found: dict[str, Any]) -> Iterator[str]:
    alone = found.get("1")
    if alone is None:
        return
    for jobs, other in found.items():
        if jobs != "1":
            times = alone["seconds_each_without_start"] / other["seconds_each_without_start"]
            yield (
                f"{jobs} workers are {times:.2f} times as fast as one, "
                f"{times / int(jobs):.2f} a worker.  "
            )


def _stages(rows: list[tuple[int, Any, dict[str, Any]]]) -> Iterator[str]:
    """Where the time of the smallest and of the largest class goes."""
    shown = (rows[0], rows[-1])
    sizes = " | ".join(f"class of {size:,}, workers: {jobs}" for size, jobs, _ in shown)
    yield f"| Where the time goes, in seconds | {sizes} |"
    yield "|:--|--:|--:|"
    for title, key, names in (
        ("once", "start_and_end", START_AND_END),
        ("each submission", "mean_seconds", EACH),
    ):
        for name in names:
            numbers = " | ".join(f"{found[key][name]:.3f}" for *_, found in shown)
            yield f"| {title}: {name} | {numbers} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", type=int, nargs="*", default=[30, 60, 300])
    parser.add_argument("--repeat", type=int, default=3, help="rounds; the median is published")
    parser.add_argument("--stock", type=int, default=30, help="submissions for stock nbgrader")
    parser.add_argument("--large", type=int, default=1000, help="the class for jobs and memory")
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder of the results")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--began", type=float, default=time.time(), help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.one:
        one(said.one, said.jobs[0] if len(said.jobs) == 1 else None, said.began)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    results = measure(said.classes, said.repeat, said.stock, said.large, said.jobs)
    write_results("grading", results, said.out)
    (said.out / "grading.md").write_text(tables(results), encoding="utf-8")
    print(tables(results))


if __name__ == "__main__":
    main()
