"""What a chapter prints is what the library holds.

A code cell tagged `in-library` defines classes or functions that `course_lib` also defines. The two
definitions are compared as syntax trees, without docstrings, annotations and comments: a chapter
explains in its text what the library says there. Everything that runs is compared: names, defaults,
decorators, base classes, every statement. The library is searched by name, so a definition can move
from one module to another; it must stand in one only.
"""

import ast
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "course_lib"
TAG = "in-library"
# These hold answers and tools, and never what a chapter teaches.
NOT_TAUGHT = ("tasks", "grading", "publishing")


class _Bare(ast.NodeTransformer):
    """Takes docstrings and annotations away."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns = None
        return _without_docstring(node)

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        return _without_docstring(node)

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_AnnAssign(self, node):
        """`name: type = value` becomes `name = value`.

        The fields of a dataclass keep their order, and one without a value its name.
        """
        self.generic_visit(node)
        if node.value is None:
            return ast.Expr(node.target)
        return ast.Assign([node.target], node.value)


def _without_docstring(node):
    first = node.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    if is_text and isinstance(first.value.value, str):
        node.body = node.body[1:] or [ast.Pass()]
    return node


def shape(definition):
    """A definition as text that two of them share exactly if they run alike."""
    return ast.dump(_Bare().visit(ast.parse(ast.unparse(definition))), indent=1)


def definitions(source):
    """Classes and functions that a module or cell defines at its top level: name to syntax tree."""
    return {
        node.name: node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def differences(cell, library):
    """What is wrong with a tagged cell, in words.

    Parameters
    ----------
    cell : str
        Source of the cell.
    library : mapping of str to str
        Module name to source.
    """
    printed = definitions(cell)
    if not printed:
        return [f"the cell is tagged {TAG} and defines nothing"]
    found = []
    for name, definition in printed.items():
        homes = {
            module: there[name]
            for module, source in library.items()
            if name in (there := definitions(source))
        }
        if not homes:
            found.append(f"{name} is nowhere in the library")
        elif len(homes) > 1:
            found.append(f"{name} is in the library more than once: {', '.join(sorted(homes))}")
        else:
            ((module, other),) = homes.items()
            if shape(definition) != shape(other):
                found.append(f"{name} is not what {module} holds")
    return found


def the_library():
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in sorted(LIBRARY.rglob("*.py"))
        if path.relative_to(LIBRARY).parts[0] not in NOT_TAUGHT
    }


def tagged_cells():
    for path in sorted((ROOT / "book").glob("*.ipynb")):
        for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            if TAG in cell["metadata"].get("tags", []):
                yield pytest.param("".join(cell["source"]), id=f"{path.stem}, cell {number + 1}")


@pytest.mark.parametrize("cell", list(tagged_cells()))
def test_chapter_prints_what_the_library_holds(cell):
    assert differences(cell, the_library()) == []


def test_some_cell_is_compared():
    assert list(tagged_cells())


LIBRARY_SOURCE = '''
class Scale(Base):
    """Multiplies.

    Parameters
    ----------
    factor : float
    """

    kind: str
    factor: float = 2.0

    def forward(self, x: "Tensor", *, shift: int = 1) -> "Tensor":
        """(B, T) → (B, T)."""
        y: "Tensor" = x * self.factor  # (B, T)
        return y + shift
'''
PRINTED = """
class Scale(Base):
    kind: str
    factor = 2.0

    def forward(self, x, *, shift=1):
        y = x * self.factor
        return y + shift
"""


class TestComparison:
    def test_docstrings_annotations_and_comments_do_not_count(self):
        assert differences(PRINTED, {"scale": LIBRARY_SOURCE}) == []

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("x * self", "x + self"),
            ("x * self.factor", "self.factor * x"),
            ("shift=1", "shift=2"),
            ("*, shift", "shift"),
            ("factor = 2.0", "factor = 3.0"),
            ("Base", "Other"),
            ("kind: str", "sort: str"),
            ("y = x * self.factor\n        ", "y = x * self.factor\n        print(y)\n        "),
            ("class Scale", "@final\nclass Scale"),
        ],
    )
    def test_anything_that_runs_differently_is_noticed(self, before, after):
        assert before in PRINTED
        changed = PRINTED.replace(before, after)
        assert differences(changed, {"scale": LIBRARY_SOURCE}) == ["Scale is not what scale holds"]

    def test_definition_that_the_library_lacks_is_noticed(self):
        changed = PRINTED.replace("Scale", "Rescale")
        assert differences(changed, {"scale": LIBRARY_SOURCE}) == [
            "Rescale is nowhere in the library"
        ]

    def test_definition_in_two_modules_is_noticed(self):
        both = {"one": LIBRARY_SOURCE, "two": LIBRARY_SOURCE}
        assert differences(PRINTED, both) == ["Scale is in the library more than once: one, two"]

    def test_second_definition_of_a_cell_is_compared_too(self):
        library = LIBRARY_SOURCE + "\n\ndef double(x):\n    return 2 * x\n"
        cell = PRINTED + "\n\ndef double(x):\n    return x ** 2\n"
        assert differences(cell, {"scale": library}) == ["double is not what scale holds"]

    def test_tag_on_a_cell_without_a_definition_is_noticed(self):
        assert differences("x = 1", {}) == ["the cell is tagged in-library and defines nothing"]
