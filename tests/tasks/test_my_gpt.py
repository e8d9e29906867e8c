"""What a judge of whole programs rests on: chance, time, and sentences that belong together."""

import ast
import inspect
from pathlib import Path

import nbformat
import numpy as np
import pytest
from students.project_my_gpt import model, train, write

from course_judges import catalogue as judges
from course_judges.judging import judge
from course_judges.project_my_gpt import program
from course_judges.project_my_gpt import write as writing
from course_tasks import catalogue
from course_tasks.answers import Answers
from course_tasks.project_my_gpt.write import LENGTH

RIGHT_PROGRAMS = 4000
SOLUTION = Path(__file__).parents[2] / "solutions" / "my-gpt" / "my-gpt.ipynb"


class _Bare(ast.NodeTransformer):
    """Leaves out what changes nothing: types, docstrings, and assertions for a type checker."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns = None
        node.body = [one for one in node.body if not _is_text(one)]
        return node

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        node.body = [one for one in node.body if not _is_text(one)]
        return node

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_Assert(self, node):
        return None

    def visit_AnnAssign(self, node):
        if node.value is None:
            return None
        return ast.Assign([node.target], node.value, lineno=node.lineno)


def _is_text(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def definitions(source):
    """What a program defines: name -> its statements, however they are annotated."""
    bare = _Bare().visit(ast.parse(source))
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {one.name: ast.unparse(one) for one in bare.body if isinstance(one, kinds)}


def test_solution_is_the_program_that_is_judged_with_a_clock_that_counts_looks():
    cells = nbformat.read(SOLUTION, as_version=4).cells
    solution = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert definitions(solution) == definitions(inspect.getsource(program))


def test_places_of_what_is_drawn_from_a_distribution_pass_in_a_class_of_any_size():
    """Chance alone exceeds the limit once in ten million checks: of some thousand, none."""
    rng = np.random.default_rng(3)
    largest = max(writing._chi_square(rng.random(LENGTH)) for _ in range(RIGHT_PROGRAMS))
    assert 40 < largest < writing._MOST


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_another_temperature_is_seen(temperature):
    rng = np.random.default_rng(4)
    logits = rng.normal(size=(LENGTH, 13)) * 2
    shares, others = (np.exp(one) for one in (logits, logits / temperature))
    shares /= shares.sum(-1, keepdims=True)
    others /= others.sum(-1, keepdims=True)
    places = []
    for own, taken in zip(shares, others, strict=True):
        one = rng.choice(13, p=taken)
        places.append(own[own > own[one]].sum() + rng.random() * own[one])
    assert writing._chi_square(np.array(places)) > writing._MOST


def judged(**changed):
    """The verdict on a model of counted words, as if a training had returned it."""
    known, probe = judges.task("my-gpt/train"), catalogue.probe("my-gpt/train")
    inputs = judges.inputs("my-gpt/train", np.random.default_rng(0))
    V, targets = int(inputs["V"]), inputs["targets"]
    shares = np.full((len(targets), V), 0.1 / (V - 1))
    shares[np.arange(len(targets)), targets] = 0.9
    values = {
        "model.probabilities": shares,
        "model.again": shares[:200],
        "model.other_last": shares[200:400],
        "model.other_past": shares[400:600],
        "model.late": np.array(0.1),
        "model.allowed": np.array(6.0),
        "both.before": np.arange(20 * 12 * V, dtype=float).reshape(20, 12, V),
        "both.after": np.arange(20 * 12 * V, dtype=float).reshape(20, 12, V),
    }
    return judge("my-gpt/train", known, probe, inputs, Answers(values | changed))


def test_a_training_that_comes_back_late_is_told_how_late():
    assert judged().points == 8
    verdict = judged(**{"model.late": np.array(40.0)})
    assert (verdict.points, verdict.findings[0].name) == (7, "too-late")
    assert "40 seconds later" in verdict.findings[0].effect


@pytest.mark.parametrize("answers", [model, train, write], ids=["model", "train", "write"])
def test_rows_of_slips_have_names_of_their_own(answers):
    names = [name for name, *_ in answers.SLIPS]
    assert len(set(names)) == len(names)


def test_there_are_as_many_styles_and_slips_as_the_guide_says():
    assert len(model.RIGHT) >= 24
    assert sum(len(one.SLIPS) for one in (model, train, write)) >= 115
