"""At the desk and in a page: questions about an answer that stands in this process."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from course_judges.defending.asking import found, plan
from course_judges.defending.choosing import seed_of
from course_judges.defending.contract import Paper
from course_judges.defending.papers import paper
from course_judges.defending.program import program_of
from course_tasks import catalogue
from course_tasks.variant_runs import run_variants

# Three questions need no more, and a page computes some ten times as slowly as PyTorch.
EDITS, DRAWS = 14, 16


def paper_at_desk(
    task: str, call: str, sources: Sequence[str], space: Mapping[str, Any], seed: int
) -> Paper | None:
    """A paper about an answer, made here and now.

    Parameters
    ----------
    task : str
    call : str
        The cell that checks it: `check("05/scores", attention_scores)`.
    sources : sequence of str
        The student's own cells of the task.
    space : mapping of str to object
        What all cells have defined. They have been run here already, so their code may be, too.
    seed : int
        Decides which questions are asked.

    Returns
    -------
    Paper or None
        None if the cells hold no definition that can be asked about.
    """
    program = program_of(sources, checked_name(call))
    if program is None:
        return None
    made = plan(task, program, seed_of(seed, task), counts=_counts(), most=EDITS, draws=DRAWS)
    ran = run_variants(
        *(catalogue.probe(task), space, program.name, made.case),
        *(made.programs, made.sets, made.roles),
    )
    return paper(found(made, ran), "you", seed)


def checked_name(call: str) -> str:
    """The function or class that a cell checks; empty if it checks none by its name."""
    try:
        calls = [node for node in ast.walk(ast.parse(call)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return ""
    second = [one.args[1] for one in calls if len(one.args) > 1]
    return next((one.id for one in second if isinstance(one, ast.Name)), "")


def _counts() -> bool:
    """Whether operations can be counted: only PyTorch itself tells of each."""
    try:
        from torch.overrides import TorchFunctionMode  # noqa: F401
    except ImportError:
        return False
    return True
