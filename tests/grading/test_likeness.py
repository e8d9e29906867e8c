"""Which programs of a class are alike, whatever was renamed; a hint on the report of a project."""

import json
import re

import pytest
from students.project_my_gpt.programs import OF_A_KNOWN_SHAPE, PLAIN, STYLES, changed

from course_grader import likeness
from course_judges.project_my_gpt import program


def alike(one, other):
    return likeness.share(likeness.runs_of(one), likeness.runs_of(other))


def renamed(source):
    for old, new in (("scores", "a"), ("tokens", "b"), ("Layer", "Floor"), ("queries", "asks")):
        source = re.sub(rf"\b{old}\b", new, source)
    return source.replace("0.02", "0.03") + "\n# of my own\n"


def test_renaming_everything_changes_nothing():
    assert alike(PLAIN, renamed(PLAIN)) == 1


@pytest.mark.parametrize("style", ["fused", "SwiGLU", "rotary positions"])
def test_one_change_leaves_programs_alike(style):
    assert alike(PLAIN, renamed(changed(STYLES[style]))) > likeness.ALIKE


def test_programs_that_were_written_apart_are_not():
    with open(program.__file__, encoding="utf-8") as file:
        judges = file.read()
    pairs = [(PLAIN, OF_A_KNOWN_SHAPE), (PLAIN, judges), (OF_A_KNOWN_SHAPE, judges)]
    assert max(alike(*pair) for pair in pairs) < 0.35


def notebook(folder, name, source):
    path = folder / f"{name}.ipynb"
    cells = [{"cell_type": "code", "source": [source], "metadata": {}}]
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return path


def test_class_is_compared_whatever_was_handed_in(tmp_path):
    paths = {
        "anna": notebook(tmp_path, "anna", PLAIN),
        "ben": notebook(tmp_path, "ben", renamed(PLAIN)),
        "cleo": notebook(tmp_path, "cleo", OF_A_KNOWN_SHAPE),
        "dora": notebook(tmp_path, "dora", "(" * 40_000),
        "emil": notebook(tmp_path, "emil", "def f(:"),
    }
    (tmp_path / "fay.ipynb").write_text("[" * 100_000, encoding="utf-8")
    found, why_not = likeness.of_class({**paths, "fay": tmp_path / "fay.ipynb"})
    assert [(pair.one, pair.other) for pair in found] == [("anna", "ben")]
    assert why_not == ""


def test_comparison_that_comes_to_no_end_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(likeness, "SECONDS", 0.01)
    assert likeness.of_class({"anna": notebook(tmp_path, "anna", PLAIN)}) == (
        [],
        "comparing them took longer than 0 s",
    )
