"""Whatever a submitted file or a run's results hold, the grader's processes stay small and go on,
and a person is told what happened.
"""

import json
import os
import signal
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from classes import class_without_gradebook

from course_grader import judge_pool, submission_worker, verdicts
from course_grader.assignment import Assignment, Check, read
from course_grader.course import Course
from course_grader.doubts import doubted
from course_grader.errors import FaultyAssignmentError, MachineError, NotWrittenError
from course_grader.grade_one import ClassSettings, grade_one, job_of
from course_grader.judge_job import Prepared
from course_grader.judge_pool import Handling, JudgePool
from course_grader.outcome import Outcome, Results, Status
from course_grader.reports import pages
from course_grader.reports.feedback import verdict_html
from course_grader.sandbox.protocol import RawStep, RunResult, StepResult
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_grader.submission_worker import SubmissionWorker
from course_grader.submissions import Submission
from course_tasks import catalogue, ch10_jax
from course_tasks.runner.limits import MEGABYTE

HERE = Course(Path(__file__).parents[2])
NAME = "05-head"
SOLVED = HERE.solutions / NAME / f"{NAME}.ipynb"
CHECKS = {one.grade_id: one for one in Assignment.of(read(SOLVED)).checks}

pytestmark = [pytest.mark.slow]


def code(*sources):
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return [{**cell, "id": f"c{number}", "source": each} for number, each in enumerate(sources)]


def notebook(*sources, cells=(), **changed):
    content = json.loads(SOLVED.read_text(encoding="utf-8"))
    content["cells"] = [*content["cells"], *code(*sources), *cells]
    return json.dumps({**content, **changed})


def empty_objects():
    """Eight megabytes; a reader without a limit takes 1.6 GB for them."""
    return notebook(metadata={"x": 0}).replace('"x": 0', f'"x": [{",".join(["{}"] * 2_700_000)}]')


def empty_outputs():
    cell = code("1")[0]
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": []}] * 130_000
    return notebook(cells=[cell])


NESTED = {
    "parentheses": "(" * 50_000 + ")" * 50_000,
    "brackets": "x = " + "[" * 199_000,
    "signs": "-" * 190_000 + "1",
    "not": "not " * 49_000 + "1",
    "attributes": "a." * 90_000 + "b",
    "powers": "x" + "**x" * 60_000,
    "lambda": "lambda:" * 28_000 + "0",
    "blocks": "".join(" " * depth + "if 1:\n" for depth in range(600)),
    "f-strings": "f'{" * 30_000,
    "text without end": "'''" + "\n" * 199_000,
    "continued": "\\\n" * 99_000,
}


class Fake:
    """A runner that runs nothing: it hands over what it was given."""

    form, slots = "warm", 1

    def __init__(self, *raw, ended=""):
        self.ran = RunResult(tuple(raw), ended, 0.1)

    def run(self, work, inputs, limits, *, alone=False):
        return self.ran


@pytest.fixture(scope="module")
def judges():
    with JudgePool(1) as judges:
        yield judges


@pytest.fixture
def hand_in(tmp_path, judges):
    """Grades the text of a notebook, with what its run is said to have sent."""

    def graded(text, runner=None, pool=judges, **settings):
        folder = tmp_path / NAME
        folder.mkdir(exist_ok=True)
        (folder / f"{NAME}.ipynb").write_text(text, encoding="utf-8")
        where = (tmp_path / "graded.ipynb", tmp_path / "page.html")
        whole = class_without_gradebook(HERE, NAME, where, **settings)
        one = Submission("ada", NAME, folder)
        return grade_one(one, whole, runner or Fake(ended="nothing ran"), pool)

    graded.page = tmp_path / "page.html"
    graded.graded = tmp_path / "graded.ipynb"
    return graded


class TestFiles:
    def test_larger_than_the_setting_is_not_opened(self, hand_in):
        outcome = hand_in(" " * (11 * MEGABYTE))
        assert outcome.status is Status.SET_ASIDE
        assert "more than 10 MB are not opened" in outcome.reason
        assert "notebook_megabytes" in outcome.reason
        opened = hand_in(" " * (11 * MEGABYTE), notebook_megabytes=12)
        assert "is empty" in opened.reason

    def test_that_takes_gigabytes_to_read_is_set_aside_with_the_reason(self, hand_in):
        outcome = hand_in(empty_objects())
        assert outcome.status is Status.SET_ASIDE
        assert outcome.reason == (
            f"reading it took more than {judge_pool.MEGABYTES_OF_A_CHILD} MB of memory: "
            "open it by hand"
        )
        assert "MB of memory" in hand_in.page.read_text(encoding="utf-8")
        assert {cell.source for cell in read(hand_in.graded).cells} >= {
            check.source for check in CHECKS.values()
        }

    def test_with_megabytes_of_code_is_set_aside_and_not_parsed_for_minutes(self, hand_in):
        outcome = hand_in(notebook(*["x = 1\n" * 33_000] * 40))
        assert outcome.status is Status.SET_ASIDE
        assert "more than 1,000,000 characters" in outcome.reason

    def test_with_more_cells_than_anybody_writes_is_read_up_to_a_bound(self, hand_in):
        outcome = hand_in(notebook(*["x"] * 20_000))
        assert outcome.status is Status.GRADED
        assert "only the first 1000 of" in outcome.notes[0]

    def test_with_very_many_outputs_is_read(self, hand_in):
        assert hand_in(empty_outputs()).status in (Status.GRADED, Status.SET_ASIDE)

    @pytest.mark.parametrize("kind", NESTED)
    def test_with_code_that_is_nested_without_end_is_read(self, hand_in, kind):
        outcome = hand_in(notebook(NESTED[kind]))
        assert outcome.status is Status.GRADED, outcome.reason

    def test_of_numbers_and_lists_without_end_are_no_notebooks(self, hand_in):
        for text in ('{"nbformat": ' + "1" * 5000 + "}", "[" * 100_000, '{"a":' * 100_000):
            outcome = hand_in(text)
            assert outcome.status is Status.SET_ASIDE
            assert "is not a notebook" in outcome.reason


def answers_of(task, shape):
    """Answers whose arrays have no elements and an enormous shape."""
    claim = {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]}
    header = json.dumps(dict.fromkeys(catalogue.probe(task).cases, claim)).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header


def frame(number, payload=b"", **changed):
    header = {"step": number, "outputs": [], "problem": "", **changed}
    return RawStep(json.dumps(header).encode(), payload)


class TestResults:
    def prepared(self, judges, tmp_path, name=NAME):
        """What of a solved assignment is run."""
        where = (tmp_path / "graded.ipynb", tmp_path / "page.html")
        whole = class_without_gradebook(HERE, name, where)
        one = Submission("ada", name, HERE.solutions / name)
        handling = Handling(judges, job_of(one, whole, one.notebook), whole.checks)
        found = handling.prepare()
        assert isinstance(found, Prepared)
        return handling, found.work.steps

    @pytest.mark.parametrize("shape", [[0, 150_000_000], [0, 2**40], [2**62, 0], [0] * 8])
    def test_answer_of_no_elements_and_enormous_shape_is_refused_before_it_is_judged(
        self, judges, tmp_path, shape
    ):
        handling, steps = self.prepared(judges, tmp_path)
        sent = [
            frame(number, answers_of(step.check.task, shape) if step.check else b"")
            for number, step in enumerate(steps)
        ]
        with handling:
            outcome = handling.finish(RunResult(tuple(sent), "", 0.1))
        assert outcome.points == 0
        assert outcome.status is Status.GRADED
        if max(shape) > 10**6:
            assert all("shape" in task.reason for task in outcome.tasks), outcome.tasks[0].reason

    @pytest.mark.parametrize(
        "header",
        [
            b'{"step": 0, "outputs": [' + b",".join([b"{}"] * 5_000_000) + b"]}",
            b'{"step": 0, "problem": "", "outputs": ' + b"[" * 200_000,
            b'{"step": 1' + b"0" * 400 + b"}",
            b'{"step": NaN}',
            b"\xff" * 1000,
            b"",
        ],
        ids=["objects", "nested", "10^400", "NaN", "no text", "nothing"],
    )
    def test_result_that_is_none_ends_neither_the_grader_nor_its_child(
        self, judges, tmp_path, header
    ):
        handling, _ = self.prepared(judges, tmp_path)
        with handling:
            outcome = handling.finish(RunResult((RawStep(header, b""),), "", 0.1))
        assert outcome.status in (Status.GRADED, Status.SET_ASIDE)
        assert outcome.points == 0
        assert outcome.reason


OWN_MEMORY = """
import json, resource, sys
from pathlib import Path
sys.path.insert(0, str(Path(sys.argv[1]) / "tests" / "grading"))
import test_bounds as t
from classes import class_without_gradebook

folder = Path(sys.argv[2])
hostile = {
    "objects": (t.empty_objects(), t.Fake()),
    "code": (t.notebook(*["x = 1\\n" * 33_000] * 40), t.Fake()),
    "results": (t.notebook(), t.Fake(*[t.RawStep(b"{}" * 2**20, b"x" * 2**22)] * 10)),
}
with t.JudgePool(1) as judges:
    for name, (text, runner) in hostile.items():
        there = folder / name / t.NAME
        there.mkdir(parents=True)
        (there / f"{t.NAME}.ipynb").write_text(text)
        del text
        whole = class_without_gradebook(t.HERE, t.NAME, (folder / "g.ipynb", folder / "p.html"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        outcome = t.grade_one(t.Submission(name, t.NAME, there), whole, runner, judges)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps([name, outcome.status.value, (after - before) // 1024]))
"""


def test_graders_own_process_holds_no_more_for_hostile_files(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", OWN_MEMORY, str(HERE.root), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, *_ in found] == ["objects", "code", "results"]
    assert all(status != "failed" and megabytes < 64 for _, status, megabytes in found), found


def test_child_and_what_it_may_add_stay_under_six_hundred_megabytes(judges):
    judges.require([check.task for check in CHECKS.values()])
    status = Path(f"/proc/{judges.server.pid}/status").read_text()
    (held,) = [int(line.split()[1]) / 1024 for line in status.splitlines() if "VmHWM" in line]
    assert held + judge_pool.MEGABYTES_OF_A_CHILD < 600


def test_largest_honest_assignment_leaves_room(judges, tmp_path):
    """Half of what a child may hold is enough for the assignment that trains most."""
    where = (tmp_path / "graded.ipynb", tmp_path / "page.html")
    whole = class_without_gradebook(HERE, "08-gpt", where)
    one = Submission("ada", "08-gpt", HERE.solutions / "08-gpt")
    worker = SubmissionWorker()
    before = submission_worker.held_bytes()
    said, inputs = worker.prepare(job_of(one, whole, one.notebook))
    assert len(inputs) == len(said["tasks"])
    assert submission_worker.held_bytes() - before < judge_pool.MEGABYTES_OF_A_CHILD * MEGABYTE / 2


ENDLESS = "while True: pass"
SERVER = """
import os, sys
from course_grader import submission_worker

def read(path):
    if "honest" in path.read_text():
        return real(path)
    {what}

real = submission_worker.read
submission_worker.read = read
submission_worker.SECONDS_TO_READ = 1
submission_worker.serve(int(sys.argv[1]))
"""


class TestChildren:
    def pool(self, monkeypatch, what):
        command = (sys.executable, "-c", SERVER.replace("{what}", what))
        monkeypatch.setattr(judge_pool, "SERVER", command)
        if what == ENDLESS:
            monkeypatch.setattr(judge_pool, "SECONDS_TO_READ", 1)
        return JudgePool(1)

    @pytest.mark.parametrize(
        ("what", "said"),
        [
            (ENDLESS, "reading it took more than 1 s: open it by hand"),
            ("os.abort()", "the process that was reading it ended before it was done"),
            ("os._exit(0)", "the process that was reading it ended before it was done"),
            ("bytearray(10**10)", "MB of memory: open it by hand"),
            ("raise RuntimeError('odd')", "cannot be read: RuntimeError: odd"),
        ],
    )
    def test_file_that_ends_its_reader_is_set_aside_and_the_next_one_is_graded(
        self, monkeypatch, hand_in, what, said
    ):
        with self.pool(monkeypatch, what) as pool:
            outcome = hand_in(notebook(), pool=pool)
            assert outcome.status is Status.SET_ASIDE
            assert said in outcome.reason
            assert hand_in(notebook("'honest'"), pool=pool).status is Status.GRADED

    def test_dead_server_is_started_again(self, hand_in):
        with JudgePool(1) as pool:
            pool.server.kill()
            pool.server.wait()
            assert hand_in(notebook(), pool=pool).status is Status.GRADED

    def test_server_that_is_killed_while_it_starts_does_not_stop_the_class(self, monkeypatch):
        real, killed = judge_pool.Child.lacking, []

        def first_time(child, tasks):
            if not killed:
                killed.append(pool.server.pid)
                pool.server.kill()  # before it has forked whom it was asked for
            return real(child, tasks)

        monkeypatch.setattr(judge_pool.Child, "lacking", first_time)
        with JudgePool(1) as pool:
            os.kill(pool.server.pid, signal.SIGSTOP)
            pool.require(["05/scores"])
            assert killed
            assert pool.server.pid not in killed

    def test_server_that_cannot_be_started_is_the_machines_failure(self, monkeypatch, hand_in):
        monkeypatch.setattr(judge_pool, "SERVER", (sys.executable, "-c", "raise SystemExit"))
        with JudgePool(1) as pool:
            assert hand_in(notebook(), pool=pool).status is Status.FAILED

    def test_where_more_run_than_there_are_children_another_one_reads_it_again(self, hand_in):
        outcome = hand_in(notebook(), at_once=2)
        assert outcome.status is Status.GRADED
        assert outcome.reason == "nothing ran"

    def test_pages_that_cannot_be_written_stop_the_class(self, hand_in):
        hand_in.page.mkdir()
        with pytest.raises(NotWrittenError, match=r"page\.html"):
            hand_in(notebook())

    def test_packages_that_answers_need_are_asked_for_before_a_class(self, judges, monkeypatch):
        judges.require(["01/window"])
        monkeypatch.setattr(judge_pool.Child, "lacking", lambda child, tasks: ["jax", "flax"])
        with pytest.raises(FaultyAssignmentError, match=r"jax, flax, not installed .*pip install"):
            judges.require(["10/head"])

    def test_lacking_packages_are_named(self, monkeypatch):
        monkeypatch.setattr(ch10_jax, "REQUIRES", ("jax", "not_installed"))
        assert verdicts.lacking(["10/head", "01/window"]) == ("not_installed",)

    def test_nobody_to_ask_is_the_machines_failure(self, monkeypatch):
        monkeypatch.setattr(judge_pool, "SERVER", (sys.executable, "-c", "raise SystemExit"))
        with JudgePool(1) as pool, pytest.raises(MachineError):
            pool.require(["01/window"])


class TestJudging:
    def test_no_evidence_is_no_points_with_the_reason(self):
        check = Check(1, "check-window", "", 4.0, "01/window", "window_weights")
        for data, why in ((b"", "it never came"), (b"garbage", "not a safetensors file")):
            questions = verdicts.Questions(1)
            (found,) = verdicts.judge_all([(check, data, "it never came")], questions, "")
            assert found.points == 0
            assert why in found.reason

    def test_answer_that_is_not_defined_is_told_with_its_title_and_what_stopped_its_cell(self):
        check = Check(2, "check-window", "", 4.0, "01/window", "window_weights")
        undefined = "`window_weights` is not defined when the check is reached"
        asked = Step("check", "", "check-window", check)
        cell = "the cell that should define it"
        for source, problem, told in (
            ("def window_weights(T, width)\n    pass", "SyntaxError", f"{cell} stopped with"),
            ("window_weights = later", "NameError", f"{cell} stopped with NameError"),
            ("def window_weights(): ...", "interrupted", f"{cell} was interrupted"),
            ("print(window_weights)", "NameError", ""),
            ("def window_weights(): ...\ndel window_weights", "", "a cell defines"),
        ):
            work = SanitizedSubmission((Step("code", source), asked))
            results = Results((StepResult([], problem), StepResult([], undefined)), "", 0.1)
            assignment = Assignment((), (check,), ())
            asked_of = submission_worker._asked(work, results, assignment)
            judged = verdicts.judge_all(asked_of, verdicts.Questions(1), "")
            (found,) = doubted(judged, work, results, assignment)
            assert found.reason.startswith(f"{undefined}: {told}" if told else undefined)
            assert bool(told) == (found.reason != undefined)
            assert "points · Sliding window: nothing to judge" in verdict_html(found)

    def test_class_is_asked_the_same_and_another_run_of_the_command_asks_anew(self, tmp_path):
        where = (tmp_path / "graded.ipynb", tmp_path / "page.html")

        def given(whole, student):
            one = Submission(student, NAME, HERE.solutions / NAME)
            return SubmissionWorker().prepare(job_of(one, whole, one.notebook))[1]

        whole = class_without_gradebook(HERE, NAME, where)
        ada = given(whole, "ada")
        assert len(ada) == len([one for one in CHECKS.values() if one.task])
        assert given(replace(whole, at_once=2), "ben") == ada
        submission_worker._questions.cache_clear()  # as in another process
        assert given(whole, "cem") == ada
        command = ClassSettings(whole.released, whole.checks, whole.places, whole.limits)
        afresh = given(command, "ada")
        # What is drawn for nobody, for answers that are numbers, is the same at each command.
        drawn = [one for one, other in zip(ada, afresh, strict=True) if one != other]
        assert len(drawn) >= 3

    @pytest.mark.parametrize("at", ["judge_all", "read_steps"])
    def test_fault_over_answers_is_a_persons_to_look_at(self, tmp_path, monkeypatch, at):
        def faulty(*_):
            raise ZeroDivisionError("of a judge")

        worker = self.worker(tmp_path)
        monkeypatch.setattr(submission_worker, at, faulty)
        if at == "judge_all":
            outcome = Outcome.from_plain(worker.finish(RunResult((), "", 0.1))["outcome"])
            assert outcome.status is Status.SET_ASIDE
            assert "ZeroDivisionError: of a judge" in outcome.reason
        else:  # its child says so, and the submission is set aside by the grader
            with pytest.raises(ZeroDivisionError):
                worker.finish(RunResult((), "", 0.1))

    def test_page_that_cannot_be_made_is_set_aside(self, tmp_path, monkeypatch):
        real = pages.feedback

        def faulty(outcome, *rest):
            if outcome.ran is not None:
                raise UnicodeEncodeError("utf-8", "x", 0, 1, "no")
            return real(outcome, *rest)

        monkeypatch.setattr(pages, "feedback", faulty)
        outcome = Outcome.from_plain(
            self.worker(tmp_path).finish(RunResult((), "", 0.1))["outcome"]
        )
        assert outcome.status is Status.SET_ASIDE
        assert "cannot be shown" in outcome.reason

    def test_outcome_comes_back_from_json_as_it_was(self, tmp_path):
        said = self.worker(tmp_path).finish(RunResult((), "it \ud800 ended", 0.1))["outcome"]
        back = Outcome.from_plain(json.loads(json.dumps(said)))
        assert back == Outcome.from_plain(said)
        assert [task.task for task in back.tasks] == [check.task for check in CHECKS.values()]

    def worker(self, tmp_path):
        where = (tmp_path / "graded.ipynb", tmp_path / "page.html")
        whole = class_without_gradebook(HERE, NAME, where)
        one = Submission("ada", NAME, HERE.solutions / NAME)
        worker = SubmissionWorker()
        worker.prepare(job_of(one, whole, one.notebook))
        return worker
