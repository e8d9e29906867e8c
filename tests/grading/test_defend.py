"""`course defend` asks about code that was handed in, and runs it only in the sandbox."""

from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from course_grader.assignment import read
from course_grader.cli import app

ROOT = Path(__file__).parents[2]
HEAD = ROOT / "exercises/05-head/05-head.ipynb"

ANSWER = """def attention_scores(x, w_query, w_key):
    query = x @ w_query
    key = x @ w_key
    return query @ key.mT / w_key.shape[1] ** 0.5
"""


def filled(path, answer):
    """The released notebook with one task filled."""
    notebook = read(HEAD)
    cell = next(c for c in notebook.cells if c.source.startswith("def attention_scores"))
    cell.source = answer
    nbformat.write(notebook, path)
    return path


def defend(folder, monkeypatch, *words, said=""):
    monkeypatch.chdir(folder)
    return CliRunner().invoke(
        app, ["defend", *words], input=said, env={"COLUMNS": "300", "NO_COLOR": "1"}
    )


@pytest.mark.slow  # a notebook is run
def test_three_questions_about_my_own_answer_are_answered_at_once(tmp_path, monkeypatch):
    filled(tmp_path / "05-head.ipynb", ANSWER)
    done = defend(tmp_path, monkeypatch, "05/scores", "--me", said="a\nz\nb\nc\n")
    assert done.exit_code == 0, done.output
    assert "2      query = x @ w_query" in done.output
    assert done.output.count("Your answer (a, b, c, d)") == 4  # z is none
    assert "of 3 right. It counts nowhere" in done.output
    assert done.output.count("✓") + done.output.count("✗") == 3


@pytest.mark.slow
def test_an_empty_answer_and_another_task_are_told_what_is_missing(tmp_path, monkeypatch):
    filled(tmp_path / "05-head.ipynb", "attention_scores = print\n")
    done = defend(tmp_path, monkeypatch, "05/scores", "--me")
    assert done.exit_code == 2
    assert "no definition of attention_scores was found" in done.output
    done = defend(tmp_path, monkeypatch, "06/fused", "--me")
    assert done.exit_code == 2
    assert "no notebook of 06/fused" in done.output
