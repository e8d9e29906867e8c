"""What of the course works on this machine, what does not, and how to mend it.

Nothing is believed that can be tried: the kernel is started, the sandbox runs a program, the
browser says its version, and every corpus is read.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from course_lib.errors import CourseError

DISTRIBUTION = "averages-to-transformers"

# The packages that a question about the course should name first; all others share one line.
SHOWN = ("torch", "numpy", "jupyterlab", "nbgrader", "jupyter-book")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# A kernel starts in a second or two; on a machine that is busy or has a cold disk, in many.
KERNEL_SECONDS = 60.0

# `bwrap` and `chromium --version` answer at once, or hang.
PROGRAM_SECONDS = 20.0


class Need(Enum):
    """Who cannot work without a thing."""

    STUDENT = "students"
    INSTRUCTOR = "instructors"
    CONTRIBUTOR = "contributors"


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was tried.

    Attributes
    ----------
    name : str
        For example "kernel".
    need : Need
        Who cannot work without it.
    works : bool
    found : str
        What is there, or what went wrong.
    remedy : str
        What to do; empty if nothing is to be done.
    optional : bool
        If it is missing, something else stands in for it.
    """

    name: str
    need: Need
    works: bool
    found: str
    remedy: str = ""
    optional: bool = False

    @property
    def stops_students(self) -> bool:
        """Whether a student cannot work until this is mended."""
        return not self.works and not self.optional and self.need is Need.STUDENT


def examine(*parts: str) -> Iterator[Diagnosis]:
    """Try everything, one after the other; takes some seconds.

    Parameters
    ----------
    parts : str
        Only these: "python", "packages", "chapters", "path", "kernel", "corpora", "course",
        "sandbox", "browser".

    Yields
    ------
    Diagnosis
        As soon as it is known. None of the attempts raises: what goes wrong is the diagnosis.
    """
    attempts: dict[str, Callable[[], Iterator[Diagnosis]]] = {
        "python": _python,
        "packages": _packages,
        "chapters": _chapters,
        "path": _path,
        "kernel": _kernel,
        "corpora": _corpora,
        "course": _course,
        "sandbox": _sandbox,
        "browser": _browser,
    }
    for part in parts or attempts:
        yield from attempts[part]()


def _python() -> Iterator[Diagnosis]:
    version = platform.python_version()
    yield Diagnosis(
        "Python",
        Need.STUDENT,
        sys.version_info >= (3, 11),
        f"{version}, {sys.executable}",
        "Install Python 3.11 or newer, delete .venv and set up again: make book",
    )


def _packages() -> Iterator[Diagnosis]:
    from packaging.requirements import Requirement

    install = "pip install -r requirements.txt"
    try:
        required = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        yield Diagnosis(DISTRIBUTION, Need.STUDENT, False, "not installed", f"{install} -e .")
        return
    fitting = 0
    for requirement in map(Requirement, required):
        need, remedy = Need.STUDENT, install
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            if not requirement.marker.evaluate({"extra": "grading"}):
                continue
            need, remedy = Need.INSTRUCTOR, 'pip install -e ".[grading]"'
        wanted = f"wanted {requirement.specifier}" if requirement.specifier else ""
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            yield Diagnosis(requirement.name, need, False, f"not installed; {wanted}", remedy)
            continue
        works = requirement.specifier.contains(version, prereleases=True)
        fitting += works
        if requirement.name in SHOWN or not works:
            found = version if works else f"{version}; {wanted}"
            yield Diagnosis(requirement.name, need, works, found, remedy)
    yield Diagnosis("packages", Need.STUDENT, True, f"{fitting} in the range they were tested in")


def _chapters() -> Iterator[Diagnosis]:
    """A chapter that needs more than the course's own packages: reading it does not."""
    try:
        from course_tasks import catalogue

        lacking = catalogue.lacking()
    except ImportError:  # torch's absence is told among the packages
        return
    for chapter, names in lacking.items():
        yield Diagnosis(
            f"chapter {chapter}",
            Need.STUDENT,
            False,
            f"its exercises are written and graded with {', '.join(names)}, not installed here",
            'pip install -e ".[jax]" in the folder of the course, or leave the chapter out',
            optional=True,
        )


def _path() -> Iterator[Diagnosis]:
    programs = Path(sys.executable).parent
    found = shutil.which("nbgrader")
    on_path = found is not None and Path(found).parent.resolve() == programs.resolve()
    activate = programs / ("activate.bat" if os.name == "nt" else "activate")
    yield Diagnosis(
        "PATH",
        Need.INSTRUCTOR,
        on_path,
        f"{programs} is found first"
        if on_path
        else f"`nbgrader` is {found or 'not found'}, not the one in {programs}",
        f"source {activate}",
    )


def _kernel() -> Iterator[Diagnosis]:
    remedy = f"{sys.executable} -m ipykernel install --sys-prefix --name python3"
    try:
        python = _python_of_kernel()
    except Exception as error:  # whatever stands between a kernel and this machine
        reason = str(error) or type(error).__name__
        yield Diagnosis("kernel", Need.STUDENT, False, f"python3 does not start: {reason}", remedy)
        return
    same = Path(python).resolve() == Path(sys.executable).resolve()
    found = "python3 starts" if same else f"python3 is another Python: {python}"
    yield Diagnosis("kernel", Need.STUDENT, same, found, remedy)


def _python_of_kernel() -> str:
    """Start the kernel that notebooks name, and ask for its interpreter."""
    from jupyter_client.manager import start_new_kernel

    answer: list[str] = []

    def listen(message: dict[str, dict[str, str]]) -> None:
        answer.append(message["content"].get("text", ""))

    manager, client = start_new_kernel(
        startup_timeout=KERNEL_SECONDS,
        kernel_name="python3",
        extra_arguments=["--IPKernelApp.log_level=40"],
        stderr=subprocess.DEVNULL,
    )
    try:
        client.execute_interactive(
            "import sys, course_lib\nprint(sys.executable)",
            timeout=KERNEL_SECONDS,
            output_hook=listen,
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    said = "".join(answer).strip()
    if not said:
        raise CourseError("it cannot import course_lib")
    return said


def _corpora() -> Iterator[Diagnosis]:
    try:
        from course_lib.data.corpora import SOURCES
        from course_lib.data.fetching import stored_attempts
    except ImportError as error:
        yield Diagnosis(
            "data", Need.STUDENT, False, f"cannot be read: {error}", "repair the packages first"
        )
        return
    for name, source in SOURCES.items():
        try:
            attempts = stored_attempts(source)
        except CourseError as error:
            yield Diagnosis(name, Need.STUDENT, False, str(error), optional=True)
            continue
        works = attempts[-1].content is not None
        refused = "; ".join(str(attempt) for attempt in attempts if attempt.refused)
        yield Diagnosis(
            name,
            Need.STUDENT,
            works,
            attempts[-1].place
            if works
            else refused or "not on this machine; the play is used instead",
            f"course data {name}",
            optional=True,
        )


def _course() -> Iterator[Diagnosis]:
    from course_grader.course import Course

    try:
        course = Course.find()
        found = f"{len(course.assignments)} assignments in {course.root}"
    except CourseError as error:
        yield Diagnosis("course", Need.INSTRUCTOR, False, str(error), "cd to the course's folder")
        return
    yield Diagnosis("course", Need.INSTRUCTOR, True, found)


def _sandbox() -> Iterator[Diagnosis]:
    if not sys.platform.startswith("linux"):
        yield Diagnosis(
            "sandbox",
            Need.INSTRUCTOR,
            False,
            f"bubblewrap is for Linux, this is {platform.system()}",
            "grade a class on Linux, or in a container or virtual machine with it",
        )
        return
    program = shutil.which("bwrap")
    if program is None:
        yield Diagnosis(
            "sandbox",
            Need.INSTRUCTOR,
            False,
            "bubblewrap is not installed",
            "sudo apt-get install bubblewrap",
        )
        return
    works, found, remedy = walls(Path.cwd())
    yield Diagnosis("sandbox", Need.INSTRUCTOR, works, f"{_version(program)}; {found}", remedy)


def walls(root: Path) -> tuple[bool, str, str]:
    """Whether every wall held when it was tried, what was found, and the remedy."""
    try:
        from course_grader.sandbox import selftest
        from course_grader.sandbox.sandbox import Sandbox

        with Sandbox("warm") as sandbox:
            walls = selftest.prove(sandbox, root)
    except CourseError as error:
        return False, str(error), selftest.NAMESPACES
    except ImportError as error:
        return False, f"cannot be tried: {error}", "repair the packages first"
    broken = [wall for wall in walls if not wall.holds]
    if not broken:
        known = {wall.name: wall.found for wall in walls}
        held = f"each of its {len(walls)} walls held when it was tried"
        return True, f"{held}; memory is {known['memory']}; users: {known['users']}", ""
    found = "; ".join(f"{wall.name}: {wall.found}" for wall in broken)
    return False, found, "; ".join(dict.fromkeys(wall.remedy for wall in broken))


def _browser() -> Iterator[Diagnosis]:
    programs = [path for path in map(shutil.which, BROWSERS) if path]
    if not programs:
        yield Diagnosis(
            "browser",
            Need.CONTRIBUTOR,
            False,
            "no Chromium; the tests of the pages need one",
            "sudo apt-get install chromium",
        )
        return
    works, said = _try([programs[0], "--version"])
    yield Diagnosis(
        "browser",
        Need.CONTRIBUTOR,
        works,
        f"{said}, {programs[0]}" if works else f"{programs[0]} does not start: {said}",
        "sudo apt-get install --reinstall chromium",
    )


def _version(program: str) -> str:
    return _try([program, "--version"])[1]


def _try(command: list[str]) -> tuple[bool, str]:
    """Run a program; whether it did, and the last line that it said."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PROGRAM_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False, f"no answer within {PROGRAM_SECONDS:g} s"
    except OSError as error:
        return False, str(error)
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
    return done.returncode == 0, lines[-1].strip() if lines else f"exit code {done.returncode}"
