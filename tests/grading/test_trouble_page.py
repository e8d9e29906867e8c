"""Every finding of `course doctor`, and every wall of the sandbox, has its row in the guide."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book" / "trouble.md").read_text(encoding="utf-8")

# Names that a finding has by what it found: which row they belong to.
BY_KIND = {"DISTRIBUTION": "averages-to-transformers", "requirement.name": "packages"}
BY_KIND |= {"name": "a corpus"}


def tree(name):
    return ast.parse((ROOT / "course_grader" / name).read_text(encoding="utf-8"))


def calls(module, name):
    return [
        node
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]


def said(node):
    """A text in the program, without what is put into it; None if it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return " ".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    return None


def rows(heading):
    """First and last cells of a table below a heading."""
    table = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ")[0]
    cells = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")]
    return {row[0].strip(): row[-1].strip() for row in cells[2:]}


def test_each_finding_of_the_doctor_has_a_row():
    known = rows("What `course doctor` finds")
    found = set()
    for call in calls("doctor.py", "Diagnosis"):
        name = call.args[0]
        found.add(said(name) or BY_KIND[ast.unparse(name)])
    assert len(found) > 8
    assert {name.strip() for name in found} == set(known)


def test_each_remedy_of_the_doctor_stands_in_the_table():
    text = " ".join(rows("What `course doctor` finds").values()).replace("`", "")
    remedies = [
        said(call.args[4]) for call in calls("doctor.py", "Diagnosis") if len(call.args) > 4
    ]
    remedies = [words for words in remedies if words]
    assert len(remedies) >= 5
    for words in remedies:
        if words.startswith("sudo apt-get install --reinstall"):
            continue  # the program is there and broken: the same package again
        assert words.strip() in text, words


def test_each_wall_has_a_row_with_its_remedy():
    module = tree("sandbox/selftest.py")
    constants = {
        target.id: said(node.value)
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and said(node.value)
    }
    remedy_of = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            walls = {said(key): value for key, value in pairs if isinstance(value, ast.Tuple)}
            remedy_of |= {name: ast.unparse(value.elts[-1]) for name, value in walls.items()}
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Wall", "_wall", "_ends"):
            name = said(node.args[0])
            if name is not None and name not in remedy_of:
                last = ast.unparse(node.args[-1])
                remedy_of[name] = last if last in constants else "_KERNEL"
    table = rows("Which wall did not hold")
    listed = {wall: remedy for walls, remedy in table.items() for wall in walls.split(", ")}
    assert len(remedy_of) > 12
    assert set(listed) == set(remedy_of)
    for wall, constant in remedy_of.items():
        beginning = constants[constant].split(" (in a container")[0]
        assert listed[wall].startswith(beginning), wall


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([\w-]+\.md)", PAGE))))
def test_pages_that_are_named_exist(link):
    assert (ROOT / "book" / link).is_file()
