"""A program's training as a generator, so that it can rest between two steps.

Nothing that runs in a page's Python can be interrupted and go on later. So the reader's functions
are read as syntax trees: after each statement that calls `.step()` they yield what took the step,
and functions that call such a function pass it on. Nothing else of them changes, and lines keep
their numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

# What runs in a frame of its own, where a `yield` would be another's.
_NESTS = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def stepwise(cells: Sequence[str], name: str) -> list[ast.Module] | None:
    """Cells in which a function has become a generator that yields after each step.

    Parameters
    ----------
    cells : sequence of str
        Sources, in order.
    name : str
        The function, which one of them defines.

    Returns
    -------
    list of Module, or None
        None if that cannot be done: the function takes no step itself and calls none that does, a
        step stands where nothing can yield, such as in a method, or it yields already.

    Raises
    ------
    SyntaxError
        If a cell is no Python.
    """
    trees = [ast.parse(source) for source in cells]
    functions = [one for tree in trees for one in _functions(tree)]
    stepping = {one.name for one in functions if any(map(_takes_step, _own(one)))}
    while True:
        more = {
            one.name for one in functions if any(_calls(node, stepping) for node in _own(one))
        } | stepping
        if more == stepping:
            break
        stepping = more
    ours = [one for one in functions if one.name in stepping]
    if name not in stepping or not all(map(_can_yield, ours)):
        return None
    # Where a function that steps is called elsewhere, or only named, nobody would go through it.
    inside = {id(node) for one in ours for node in _own(one) if _calls(node, stepping)}
    for tree in trees:
        called = {id(node.func) for node in ast.walk(tree) if id(node) in inside}  # type: ignore[attr-defined]
        for node in ast.walk(tree):
            named = isinstance(node, ast.Name) and node.id in stepping
            if named and id(node) not in called:
                return None
    for one in ours:
        _Yields(stepping).change(one)
    return [ast.fix_missing_locations(tree) for tree in trees]


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """Functions at the top and inside of functions; no methods."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node
        if not isinstance(node, ast.ClassDef):
            yield from _functions(node)


def _own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What a function runs itself: nothing of the functions and classes inside of it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _NESTS):
            waiting += ast.iter_child_nodes(node)


def _takes_step(node: ast.AST) -> bool:
    value = getattr(node, "value", None)
    return (
        isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign)
        and isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "step"
    )


def _calls(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _can_yield(function: ast.FunctionDef) -> bool:
    if function.decorator_list:
        return False
    return not any(
        isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) for node in _own(function)
    )


class _Yields(ast.NodeTransformer):
    """Puts a `yield` behind each step of one function, and `yield from` before what steps."""

    def __init__(self, stepping: set[str]) -> None:
        self._stepping = stepping

    def change(self, function: ast.FunctionDef) -> None:
        function.body = [
            made for statement in function.body for made in (self._as_list(self.visit(statement)))
        ]

    @staticmethod
    def _as_list(made: ast.AST | list[ast.stmt]) -> list[ast.stmt]:
        return made if isinstance(made, list) else [made]  # type: ignore[list-item]

    def _leave(self, node: ast.AST) -> ast.AST:
        return node  # a function inside is changed by itself, if it steps

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _leave

    def _statement(self, node: ast.Expr | ast.Assign | ast.AnnAssign) -> ast.AST | list[ast.AST]:
        self.generic_visit(node)
        if not _takes_step(node):
            return node
        called: ast.Attribute = node.value.func  # type: ignore[union-attr]
        # A name can be looked at twice; anything else would be computed twice.
        who = called.value if isinstance(called.value, ast.Name) else None
        behind = ast.Expr(ast.Yield(who))
        return [node, ast.copy_location(behind, node)]

    visit_Expr = visit_Assign = visit_AnnAssign = _statement

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not _calls(node, self._stepping):
            return node
        return ast.copy_location(ast.YieldFrom(node), node)
