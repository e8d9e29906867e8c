"""Takes submissions through the sandbox, and brings back the questions about their code."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from course_grader.errors import (
    ChildEndedError,
    MachineError,
    NoVerdictError,
    SandboxUnavailableError,
)
from course_grader.grade_one import ClassSettings, Runner, job_of
from course_grader.judge_pool import JudgePool
from course_grader.submissions import Submission
from course_judges.defending.contract import Paper
from course_tasks.runner.limits import Limits

if TYPE_CHECKING:
    from nbformat import NotebookNode

BESIDE_IT = "The grader's sandbox does not start here, so your code ran with your own rights."


@dataclass(frozen=True)
class Asked:
    """What came of one submission.

    Attributes
    ----------
    student : str
    papers : tuple of Paper
        For each task that was asked about, all questions that can be asked.
    problem : str
        Why there are none; empty if there are.
    """

    student: str
    papers: tuple[Paper, ...] = ()
    problem: str = ""


def ask_one(
    one: Submission, tasks: Sequence[str], whole: ClassSettings, runner: Runner, judges: JudgePool
) -> Asked:
    """What can be asked about one submission; whatever it does, this returns.

    Parameters
    ----------
    one : Submission
    tasks : sequence of str
        Those that were passed.
    whole : ClassSettings
        Its seed decides which questions are asked.
    runner : Runner
    judges : JudgePool
    """
    if one.misnamed:
        return Asked(one.student, problem=one.misnamed)
    problem = ""
    for alone in (False, True):
        try:
            child = judges.take()
            try:
                prepared = child.prepare_defense(job_of(one, whole, one.notebook), tasks)
                if isinstance(prepared, str):
                    return Asked(one.student, problem=prepared)
                ran = runner.run(prepared.work, prepared.inputs, whole.limits, alone=alone)
                if ran.repeat and not alone:
                    continue
                papers = child.finish_defense(ran)
                return Asked(one.student, tuple(Paper.from_plain(plain) for plain in papers))
            finally:
                judges.give_back(child)
        except (ChildEndedError, MachineError, NoVerdictError) as error:
            problem = str(error)
        except Exception as error:  # one notebook stops nobody else's paper
            return Asked(one.student, problem=f"{type(error).__name__}: {error}")
    return Asked(one.student, problem=problem or "its run proved nothing twice")


def ask_until(
    one: Submission,
    tasks: Sequence[str],
    enough: Callable[[Paper], bool],
    whole: ClassSettings,
    runner: Runner,
    judges: JudgePool,
) -> Asked:
    """Ask about one task after the other, until a paper is good enough; see `ask_one`."""
    papers: tuple[Paper, ...] = ()
    for task in tasks:
        asked = ask_one(one, [task], whole, runner, judges)
        papers += asked.papers
        if asked.problem or any(enough(paper) for paper in asked.papers):
            break
    return Asked(one.student, papers, "" if papers else asked.problem)


def ask_class(
    ones: Sequence[tuple[Submission, Sequence[str]]],
    enough: Callable[[Paper], bool],
    whole: ClassSettings,
    runner: Runner,
    judges: JudgePool,
    jobs: int,
) -> Iterator[Asked]:
    """What can be asked about many submissions, in the order in which they are done.

    Parameters
    ----------
    ones : sequence of (Submission, tasks)
        The tasks in the order in which they are tried.
    enough : callable (Paper) -> bool
        Whether no other task has to be tried.
    whole : ClassSettings
    runner : Runner
    judges : JudgePool
    jobs : int
        How many at once.
    """
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [
            pool.submit(ask_until, one, tasks, enough, whole, runner, judges)
            for one, tasks in ones
            if tasks
        ]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            for one in waiting:
                one.cancel()


def ask_me(
    path: Path, notebook: NotebookNode, tasks: Sequence[str], seed: int
) -> tuple[Asked, str]:
    """What can be asked about one's own notebook, and how it was run.

    Parameters
    ----------
    path : Path
    notebook : NotebookNode
        What stands in it.
    tasks : sequence of str
    seed : int
        Decides which questions are asked.
    """
    from course_grader.check_as_graded import as_if_released
    from course_grader.sandbox.sandbox import Sandbox

    with tempfile.TemporaryDirectory(prefix="course-defend-") as made:
        name = path.stem
        folder = Path(made) / "you" / name
        folder.mkdir(parents=True)
        shutil.copyfile(path, folder / f"{name}.ipynb")
        whole = ClassSettings(
            released=json.dumps(as_if_released(notebook)),
            checks={},
            places=lambda _: (Path(made) / "graded.ipynb", Path(made) / "page.html"),
            limits=Limits(),
            seed=seed,
        )
        mine = Submission("you", name, folder)
        with JudgePool(1) as judges:
            try:
                with Sandbox() as sandbox:
                    return ask_one(mine, tasks, whole, sandbox, judges), ""
            except SandboxUnavailableError:
                with Sandbox("bare") as sandbox:
                    return ask_one(mine, tasks, whole, sandbox, judges), BESIDE_IT
