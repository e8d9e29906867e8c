"""The code with which a student answers a task: their own definitions, and no one else's."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from course_tasks.variant_runs import AT, GIVEN, SAW

# A longer program is not read by anybody in the time of a question.
MOST_LINES = 120
MOST_CHARACTERS_OF_A_LINE = 200
# "after your line 4": what a function returns has no name.
RETURNED = ""

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
_BLOCKS = ("body", "orelse", "finalbody", "handlers")


@dataclass(frozen=True)
class Program:
    """A student's own code for one task.

    Attributes
    ----------
    name : str
        The function or class that is asked.
    source : str
        As the student wrote it, without docstrings; questions count its lines from 1.
    """

    name: str
    source: str

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Its lines; the first has the number 1 in questions."""
        return tuple(self.source.splitlines())

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree; nobody may change it."""
        return ast.parse(self.source)

    @cached_property
    def statements(self) -> tuple[ast.stmt, ...]:
        """Those inside functions, in their order; definitions are none."""
        return tuple(
            one
            for function in ast.walk(self.tree)
            if isinstance(function, ast.FunctionDef)
            for one in _inside(function.body)
        )

    @cached_property
    def traced(self) -> str:
        """The same with hooks around each statement; see `course_tasks.variant_runs`."""
        return traced(self.source)

    def quoted(self, first: int, last: int) -> tuple[tuple[int, str], ...]:
        """Some lines with their numbers, as the student wrote them."""
        return tuple((n, self.lines[n - 1]) for n in range(first, last + 1))


def program_of(sources: Sequence[str], name: str) -> Program | None:
    """The code that answers a task.

    Parameters
    ----------
    sources : sequence of str
        The student's cells, in their order; one that is no Python is passed over.
    name : str
        The function or class that the task asks.

    Returns
    -------
    Program or None
        The last definition of that name with all of the student's own that it uses; None if there
        is none, or it is longer than `MOST_LINES`.
    """
    found: dict[str, tuple[tuple[int, int], Any, str]] = {}
    for number, source in enumerate(sources):
        text = _python(source)
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for place, node in enumerate(tree.body):
            for defined in _defines(node):
                found[defined] = ((number, place), node, text)
    if name not in found:
        return None
    wanted, waiting = {}, [name]
    while waiting:
        one = waiting.pop()
        if one in wanted or one not in found:
            continue
        wanted[one] = found[one]
        waiting += [n.id for n in ast.walk(found[one][1]) if isinstance(n, ast.Name)]
    if not any(isinstance(node, _DEFINITIONS) for _, node, _ in wanted.values()):
        return None
    parts = {place: _text(node, text) for place, node, text in wanted.values()}
    source = "\n".join(parts[place] for place in sorted(parts))
    try:
        program = Program(name, source)
        longest = max(map(len, program.lines), default=0)
        fits = len(program.lines) <= MOST_LINES and longest <= MOST_CHARACTERS_OF_A_LINE
        fits = fits and bool(program.statements)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return program if fits else None


def _python(source: str) -> str:
    """A cell without the lines that only IPython reads."""
    return "\n".join(
        "" if line.lstrip()[:1] in ("%", "!", "?") else line for line in source.splitlines()
    )


def _defines(node: ast.stmt) -> list[str]:
    if isinstance(node, _DEFINITIONS):
        return [node.name]
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        return [target.id] if isinstance(target, ast.Name) else []
    return []


def _text(node: Any, source: str) -> str:
    """The lines of a definition, without docstrings, and without what stands beside it."""
    lines = source.split("\n")
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    dropped: set[int] = set()
    for inner in ast.walk(node):
        if not isinstance(inner, _DEFINITIONS) or ast.get_docstring(inner) is None:
            continue
        said = inner.body[0]
        alone = said.lineno > inner.lineno and not (
            len(inner.body) > 1 and inner.body[1].lineno <= (said.end_lineno or said.lineno)
        )
        if alone and len(inner.body) > 1:
            dropped |= set(range(said.lineno, (said.end_lineno or said.lineno) + 1))
    kept = [lines[n - 1].rstrip() for n in range(first, node.end_lineno + 1) if n not in dropped]
    return "\n".join(line for line in kept if line.strip())


def _inside(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, (*_DEFINITIONS, ast.AsyncFunctionDef)):
            continue
        yield node
        for block in _BLOCKS:
            for inner in getattr(node, block, []):
                yield from _inside(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def traced(source: str) -> str:
    """A program with hooks.

    Parameters
    ----------
    source : str

    Returns
    -------
    str
        Before each statement of a function it calls `AT`, behind it `SAW` with each name that got a
        value, around what is returned `SAW`, and at the beginning of each function `GIVEN`.
    """
    tree = ast.parse(source)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            function.body = _hooked(function.body)
    for name, function in _functions(tree):
        spec = function.args
        names = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
        names += [a.arg for a in (spec.vararg, spec.kwarg) if a is not None]
        given = ast.Dict([ast.Constant(n) for n in names], [_read(n) for n in names])
        function.body.insert(0, ast.Expr(_call(GIVEN, ast.Constant(name), given)))
    return ast.unparse(ast.fix_missing_locations(tree))


def _functions(node: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Each function with its name: "Head.forward" in a class."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.FunctionDef):
            yield f"{inside}{inner.name}", inner
            yield from _functions(inner, f"{inside}{inner.name}.")
        else:
            own = f"{inside}{inner.name}." if isinstance(inner, ast.ClassDef) else inside
            yield from _functions(inner, own)


def _hooked(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for node in body:
        line = node.lineno
        if isinstance(node, ast.Return) and node.value is not None:
            node.value = _call(SAW, ast.Constant(line), ast.Constant(RETURNED), node.value)
        elif not isinstance(node, _DEFINITIONS):
            for block in ("body", "orelse", "finalbody"):
                if inner := getattr(node, block, None):
                    setattr(node, block, _hooked(inner))
            for handler in getattr(node, "handlers", []):
                handler.body = _hooked(handler.body)
        if not isinstance(node, ast.Nonlocal | ast.Global):
            found.append(ast.Expr(_call(AT, ast.Constant(line))))
        found.append(node)
        if not hasattr(node, "body"):
            found += [
                ast.Expr(_call(SAW, ast.Constant(line), ast.Constant(name), _read(name)))
                for name in changed_names(node)
            ]
    return found


def changed_names(node: ast.AST) -> list[str]:
    """The plain names that a statement gives a value, or whose value it writes into."""
    targets: list[Any] = []
    if isinstance(node, ast.Assign):
        targets = list(node.targets)
    elif isinstance(node, ast.AugAssign | ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        func = node.value.func
        if isinstance(func, ast.Attribute) and (func.attr.endswith("_") or func.attr == "append"):
            targets = [func.value]
    names: list[str] = []
    while targets:
        one = targets.pop(0)
        if isinstance(one, ast.Tuple | ast.List):
            targets += one.elts
        elif isinstance(one, ast.Starred):
            targets.append(one.value)
        else:
            while isinstance(one, ast.Subscript):
                one = one.value
            if isinstance(one, ast.Name) and one.id not in names:
                names.append(one.id)
    return names


def _call(hook: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_read(hook), list(arguments), [])


def _read(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
