"""`course hint` gives the verdict on one task and one hint, and nothing of an answer."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from course_grader.assignment import Assignment, read
from course_grader.cli import app
from course_grader.course import Course
from course_grader.errors import NothingToCheckError
from course_grader.hints import hints_of
from course_grader.release import release

ROOT = Path(__file__).parents[2]
COURSE = Course(ROOT)
SCORES = ROOT / "exercises/05-head/05-head.ipynb"


def exercises():
    return [COURSE.exercises / name / f"{name}.ipynb" for name in COURSE.assignments]


def test_every_folded_hint_of_the_exercises_is_read_once_and_without_markup():
    folded = found = 0
    for path in exercises():
        notebook = read(path)
        folded += sum(cell.source.count("<summary>Hint") for cell in notebook.cells)
        for check in Assignment.of(notebook).checks:
            hints = hints_of(notebook, check.task, path)
            assert [hint.number for hint in hints] == list(range(1, len(hints) + 1))
            for hint in hints:
                assert hint.of == len(hints)
                assert hint.text
                assert "<" not in hint.text.replace("<=", "").replace(" < ", ""), hint.text
            found += len(hints)
    assert found == folded > 200


def test_task_of_another_notebook_is_refused_with_those_that_are_there():
    with pytest.raises(NothingToCheckError, match=r"05-head.*does not check 06/fused.*05/scores"):
        hints_of(read(SCORES), "06/fused", SCORES)


def hint(folder, monkeypatch, *words):
    monkeypatch.chdir(folder)
    return CliRunner().invoke(app, ["hint", *words], env={"COLUMNS": "300", "NO_COLOR": "1"})


@pytest.mark.slow  # a notebook is run
def test_assistant_gets_the_verdict_and_the_next_hint_and_nothing_else(tmp_path, monkeypatch):
    notebook = read(SCORES)
    numbers = {cell.source: place for place, cell in enumerate(notebook.cells)}
    stub = next(text for text in numbers if text.startswith("def attention_scores"))
    wrong = "def attention_scores(x, w_query, w_key):\n    return (x @ w_query) @ (x @ w_key).mT\n"
    notebook.cells[numbers[stub]].source = wrong
    nbformat.write(notebook, tmp_path / "05-head.ipynb")
    done = hint(tmp_path, monkeypatch, "05/scores", "--json", "--after", "1")
    assert done.exit_code == 1, done.output
    said = json.loads(done.output)
    assert set(said) == {"task", "state", "points", "out_of", "findings", "hint"}
    assert said["hint"]["number"] == 2
    assert "left out the division by √D" in said["findings"][0]["what"]
    assert said["points"] < said["out_of"]


def test_notebook_that_is_not_here_is_asked_for(tmp_path, monkeypatch):
    done = hint(tmp_path, monkeypatch, "05/scores")
    assert done.exit_code == 2
    assert "name yours with --notebook" in done.output


def test_policy_of_an_assignment_is_released_beside_it_and_the_common_one_stays(tmp_path):
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    name = "01-averages"
    shutil.copytree(COURSE.solutions / name, tmp_path / "solutions" / name)
    (tmp_path / "exercises").mkdir()
    shutil.copy(ROOT / "exercises/AGENTS.md", tmp_path / "exercises")
    (tmp_path / "solutions" / name / "AGENTS.md").write_text("Open.\n", encoding="utf-8")
    release(Course(tmp_path), name)
    assert (tmp_path / "exercises" / name / "AGENTS.md").read_text("utf-8") == "Open.\n"
    assert (tmp_path / "exercises/AGENTS.md").is_file()


def test_what_the_request_names_is_there():
    text = (ROOT / "exercises/AGENTS.md").read_text(encoding="utf-8")
    for folder in ("solutions", "course_judges", "tests"):
        assert f"`{folder}/`" in text
        assert (ROOT / folder).is_dir()
    assert "course hint 05/scores --json" in text
