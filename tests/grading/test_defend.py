"""`course defend` asks about code that was handed in, and runs it only in the sandbox."""

from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from course_grader.assignment import read
from course_grader.cli import app
from course_grader.defend.papers import kept
from course_grader.privacy import traces

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


# Right, and written by somebody who wants more than points.
HOSTILE = """import os
def attention_scores(x, w_query, w_key):
    query = x @ w_query  # </code><script>alert(1)</script>
    print("<img src=x onerror=alert(1)>")
    key = x @ w_key
    return query @ key.mT / w_key.shape[1] ** 0.5
"""


def when_defended(*lines):
    """An answer that sees that no check runs it, and then does something else."""
    inside = "\n".join(f"        {line}" for line in lines)
    return ANSWER.replace("    key", f"    if '__at__' in globals():\n{inside}\n    key", 1)


def attacks(root):
    """Whoever hands these in harms no paper but their own."""
    return {
        "ends": when_defended("import os", "os._exit(1)"),
        "files": when_defended(
            "import pathlib",
            f"root = pathlib.Path({str(root)!r})",
            "try:",
            "    (root / 'planted').write_text('x')",
            "    (root / 'submitted/ada/05-head/05-head.ipynb').write_text('{')",
            "except OSError:",
            "    pass",
        ),
        "keys": when_defended("import course_judges", "raise Exception(course_judges.__file__)"),
        "forges": when_defended(
            "import course_tasks.variant_runs as runs",
            "said = {'is': 'text', 'text': '<script>alert(1)</script>'}",
            "one = {'results': {'0': {'batch': said}}, 'given': {'attention_scores': {'x': said}}}",
            "one |= {'saw': [[n, '', 1, said] for n in range(9)], 'counts': {}}",
            "text = str([one]).replace(chr(39), chr(34))",
            "runs.json.dumps = lambda *given, **named: text",
        ),
        "builtins": when_defended(
            "import builtins",
            "builtins.all = builtins.any = lambda values: True",
            "builtins.sum = lambda *given, **named: 10**6",
        ),
        "odd": when_defended(
            "class Odd(BaseException):",
            "    def __str__(self): raise self",
            "raise Odd",
        ),
    }


def class_of(course, **answers):
    for student, answer in answers.items():
        folder = course.submitted / student / "05-head"
        folder.mkdir(parents=True)
        filled(folder / "05-head.ipynb", answer)
    wide = {"COLUMNS": "300", "NO_COLOR": "1"}
    for words in (["release", "05", "--gradebook"], ["grade", "05"]):
        done = CliRunner().invoke(app, [*words, "--course", str(course.root)], env=wide)
        assert done.exit_code == 0, done.output
    return course.root / "exports" / "05-head-defense"


@pytest.mark.slow
@pytest.mark.sandbox
def test_everybody_who_passed_gets_a_paper_about_their_own_code_and_nobody_stops_the_others(
    course, monkeypatch
):
    wrong, hostile = ANSWER.replace(" ** 0.5", ""), attacks(course.root)
    folder = class_of(course, ada=ANSWER, bob=ANSWER, eve=HOSTILE, dan=wrong, **hostile)
    done = defend(course.root, monkeypatch, "05")
    assert done.exit_code == 1, done.output
    assert "ends: the process ended itself" in done.output
    assert "keys: the code stopped: ModuleNotFoundError" in done.output
    assert not (course.root / "planted").exists()
    assert "dan: passed no task that can be asked about" in done.output
    everybody = {one.student: one for one in kept(course, "05-head")}
    papers = {name: one for name, one in everybody.items() if name not in hostile}
    assert set(papers) == {"ada", "bob", "eve"}
    assert all(len(one.questions) == 8 for one in papers.values())
    assert "alert(1)" not in (folder / "ada/paper.html").read_text()
    # Who handed in the same code is asked something else.
    ada, bob = (
        {q.text + str(q.options) for q in papers[name].questions} for name in ("ada", "bob")
    )
    assert len(ada & bob) <= 1
    for name in ("papers.html", "key.html", "eve/paper.html"):
        page = (folder / name).read_text()
        assert "<script" not in page
        assert "<img" not in page
    page = (folder / "ada/paper.html").read_text()
    assert "query = x @ w_query" in page
    assert "bob" not in page
    assert "Your code was run" not in page  # no reason, and so no key
    assert "Your code was run" in (folder / "key.html").read_text()

    # Once more: one file has become none, and the others keep their papers.
    (course.submitted / "bob/05-head/05-head.ipynb").write_text("{")
    done = defend(course.root, monkeypatch, "05")
    assert done.exit_code == 1
    assert "bob: " in done.output
    again = {one.student: one for one in kept(course, "05-head") if one.student not in hostile}
    assert again == {name: papers[name] for name in ("ada", "eve")}
    done = defend(course.root, monkeypatch, "05", "--fresh", "--student", "ada")
    assert done.exit_code == 0
    (fresh,) = kept(course, "05-head")
    assert fresh != papers["ada"]

    # What was made of a student is forgotten with the rest.
    assert folder / "eve" in traces(course, "eve").folders


def test_a_class_that_was_not_graded_is_told_so(course, monkeypatch):
    done = defend(course.root, monkeypatch, "05")
    assert done.exit_code == 2
    assert "no submission" in done.output
