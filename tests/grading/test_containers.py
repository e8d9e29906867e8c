"""Submissions run in containers, one at a time in each, with what a sandbox promises.

A program stands in for the runtime: it takes the words of `podman run`, writes them down, and runs
the worker as a process of this machine. That a real container keeps anything apart is not tried
here; `course doctor` inside the image tries the walls of the sandbox in it.
"""

import json
import os
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sandboxed_runs import SOON, printed, read, work
from typer.testing import CliRunner

import course_lib
from course_grader import private_tasks
from course_grader.cli import app
from course_grader.errors import NoVerdictError, SandboxUnavailableError
from course_grader.sandbox.containers import Containers

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

# The end of a container is the end of its worker. What `BEFORE` holds runs first.
STAND_IN = """#!{python}
import json, os, sys
words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(words) + "\\n")
assert words[0] == "run", words
place = words.index("an-image")
command = [{python!r} if word == "python" else word for word in words[place + 1:]]
{before}
os.environ["PYTHONPATH"] = {course!r}
os.execv(command[0], command)
"""


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    """Puts a runtime of this name on the path; what it was told, it keeps."""
    folder = tmp_path / "bin"
    folder.mkdir()
    log = tmp_path / "told"

    def put(name="podman", before=""):
        program = folder / name
        program.write_text(
            STAND_IN.format(
                python=sys.executable,
                log=str(log),
                course=str(Path(course_lib.__file__).parents[1]),
                before=before,
            )
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", os.pathsep.join((str(folder), os.environ["PATH"])))
        return lambda: [json.loads(line) for line in log.read_text().splitlines()]

    return put


def containers(count=1, runtime="podman"):
    return Containers(SOON, "an-image", count, runtime)


def test_each_run_has_a_container_to_itself_with_the_walls_of_a_sandbox(runtime):
    told = runtime()
    with containers(2) as some:
        assert some.slots == 2
        with ThreadPoolExecutor(2) as threads:
            asked = [
                threads.submit(some.run, work(f"import os; print({n}, os.getuid())"), {}, SOON)
                for n in range(4)
            ]
            ran = [one.result() for one in asked]
        assert [printed(one) for one in ran] == [f"{n} 1000\n" for n in range(4)]
        assert {(one.ended, one.repeat) for one in ran} == {("", "")}
        soon = replace(SOON, cell_seconds=0.5)
        (endless,) = read(some.run(work("while True: pass"), {}, soon))
        assert endless.problem == "interrupted"
    first, second = told()
    assert first[first.index("--name") + 1] != second[second.index("--name") + 1]
    for option in ("--rm", "--interactive", "seccomp=unconfined", "unmask=ALL"):
        assert option in first
    for option, value in (("--network", "none"), ("--cap-drop", "ALL")):
        assert first[first.index(option) + 1] == value
    # Beside what a run may take, there is room for the worker and its walls.
    most = int(first[first.index("--memory") + 1].removesuffix("m"))
    assert most > SOON.memory_megabytes + SOON.file_megabytes + 1000
    assert first[first.index("--memory-swap") + 1] == f"{most}m"
    assert int(first[first.index("--pids-limit") + 1]) > SOON.processes


def test_container_that_ends_in_a_run_costs_nobody_anything_and_twice_asks_for_a_person(
    runtime, tmp_path
):
    told = runtime(before=f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))")

    def end_it():
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)

    with containers() as some:
        assert printed(some.run(work("print(1)"), {}, SOON)) == "1\n"
        end_it()
        assert printed(some.run(work("print(2)"), {}, SOON)) == "2\n"
        assert len(told()) == 2
        # One that ends before it answers, and so does the next.
        real, calls = some._another, []

        def dying(gone=None):
            made = real(gone)
            calls.append(made)
            end_it()
            return made

        some._another = dying
        end_it()
        with pytest.raises(NoVerdictError, match="container ended twice"):
            some.run(work("print(3)"), {}, SOON)
        some._another = real
        assert printed(some.run(work("print(4)"), {}, SOON)) == "4\n"


def test_missing_runtime_is_named_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    some = Containers(SOON, "an-image", 1)
    with pytest.raises(SandboxUnavailableError, match=r"docker or podman, .* not installed"), some:
        pytest.fail("nothing may run")


def test_runtime_that_does_not_start_is_quoted(runtime):
    runtime(before="sys.exit('Error: no such image: an-image')")
    with pytest.raises(SandboxUnavailableError, match="start: Error: no such image"), containers(2):
        pytest.fail("nothing may run")


def test_image_with_another_release_is_refused(runtime, tmp_path):
    """As a cluster's worker: it would ask other questions."""
    course = Path(course_lib.__file__).parents[1]
    other = tmp_path / "other"
    for package in ("course_lib", "course_tasks", "course_judges", "course_grader"):
        shutil.copytree(course / package, other / package)
    with (other / "course_tasks" / "catalogue.py").open("a") as file:
        file.write("# another one\n")
    runtime(
        before=f"os.chdir({str(other)!r})\nsys.path.insert(0, {str(other)!r})\n"
        f"os.environ['PYTHONPATH'] = {str(other)!r}\nos.execv(command[0], command)"
    )
    with pytest.raises(SandboxUnavailableError, match="cannot grade: it has"), containers():
        pytest.fail("nothing may run")


def test_container_is_shown_questions_of_private_tasks_and_never_their_judges(
    tmp_path, monkeypatch
):
    monkeypatch.setenv(private_tasks.VARIABLE, str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    command = Containers(SOON, "an-image", 1)._command()
    mounted = command[command.index("--volume") + 1]
    assert mounted == f"{tmp_path}/course_tasks:/opt/private/course_tasks:ro"
    assert command.count("--volume") == 1
    assert f"{private_tasks.VARIABLE}=/opt/private" in command
    assert "systempaths=unconfined" in command
    assert command[0] == "/usr/bin/docker"


def test_class_is_graded_in_containers_as_in_processes(entered, runtime):
    told = runtime("docker")
    for student, source in (("ada", entered.solutions), ("bob", entered.exercises)):
        shutil.copytree(source / "01-averages", entered.submitted / student / "01-averages")
    settings = entered.root / "nbgrader_config.py"
    settings.write_text(settings.read_text() + "\nc.CourseGrade.image = 'an-image'\n")
    points = []
    for isolation in ("container", "process"):
        said = CliRunner().invoke(
            app,
            [
                *("grade", "01", "--course", str(entered.root), "--jobs", "2", "--force"),
                *("--json", "--isolation", isolation),
            ],
        )
        assert said.exit_code == 0, said.output
        found = json.loads(said.stdout)["submissions"]
        points.append({one["student"]: (one["points"], one["out_of"]) for one in found})
    assert points[0] == points[1]
    assert points[0]["ada"][0] == points[0]["ada"][1] > points[0]["bob"][0]
    assert len(told()) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--isolation", "container", "--no-sandbox"], "choose one of the two"),
        (["--isolation", "container", "--scheduler", "tcp://127.0.0.1:9"], "choose one of the two"),
        (["--isolation", "jail"], "there are process and container"),
    ],
)
def test_options_that_do_not_go_together_are_refused(entered, options, words):
    said = CliRunner().invoke(app, ["grade", "01", "--course", str(entered.root), *options])
    assert said.exit_code == 2
    assert words in " ".join(said.output.split())
