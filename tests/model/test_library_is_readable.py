"""The library stays small, without circles, and its reading order leaves nothing out."""

import ast
import inspect
import re
from pathlib import Path

import course_lib
from course_lib import training

ROOT = Path(course_lib.__file__).parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
    if path != ROOT / "__init__.py"
}
PACKAGES = {"data", "data.play"}  # they pass on what their modules hold
TOOLS = {"role_map", "own_program"}  # they serve a program of one's own, and no chapter
READING_ORDER = re.findall(r"`((?:data\.)?(?:play\.)?[a-z_]+)`", inspect.getdoc(course_lib))


def imported_by(path: Path) -> set[str]:
    """Modules of the library that a file imports when it is imported itself."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "course_lib":
            start = node.module.removeprefix("course_lib").removeprefix(".")
            for alias in node.names:
                full = f"{start}.{alias.name}".removeprefix(".")
                names.add(full if full in MODULES else start)
    return names


def test_library_can_be_read_in_an_evening():
    taught = MODULES.items() - {(name, MODULES[name]) for name in TOOLS}
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in taught}
    assert sum(lines.values()) <= 6750
    assert max(lines.values()) <= 400, max(lines, key=lines.__getitem__)


def test_no_chapter_and_no_module_that_is_read_needs_a_tool():
    for name in MODULES.keys() - TOOLS:
        assert not imported_by(MODULES[name]) & TOOLS, name
    for path in (ROOT.parent / "book").glob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        named = [name for name in TOOLS if re.search(rf"course_lib\S* (import )?{name}\b", text)]
        assert not named, f"{path.name}: {named}"


def test_fit_reads_down_on_a_few_screens():
    assert len(inspect.getsource(training.fit).splitlines()) <= 150


def test_training_names_no_corpus():
    assert not re.search(r"\b(play|shakespeare|names)\b[\"'.]", inspect.getsource(training))


def test_reading_order_names_every_module():
    assert MODULES.keys() - PACKAGES <= set(READING_ORDER)


def test_each_module_needs_only_those_above_it():
    place = {name: READING_ORDER.index(name) for name in MODULES if name in READING_ORDER}
    last = {"plots", "errors"}  # every part may use these two
    for name, path in MODULES.items():
        for needed in imported_by(path) - last:
            if name not in PACKAGES and name in place and needed in place:
                assert place[needed] < place[name], f"{name} imports {needed}, which comes later"
