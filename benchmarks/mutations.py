"""Small changes to a piece of Python, one at a time: what `benchmarks.mutants` hands in.

Each changes one place of the syntax tree, as a slip of the keyboard or of the mind would: a number
by one, a comparison, an operator, an axis, a slice's end, a dropped line or argument, an exchanged
name, a negated condition, a copy made in place, a mode left as it was.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mod, ast.Div),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
# A call and the ones that it is easily confused with.
_NEIGHBOURS = {
    "tril": ("triu",), "triu": ("tril",), "ones": ("zeros",), "zeros": ("ones",),
    "max": ("min", "sum"), "min": ("max",), "amax": ("amin",), "amin": ("amax",),
    "mean": ("sum",), "sum": ("mean",), "cumsum": ("cumprod",),
    "softmax": ("log_softmax", "sigmoid"), "log_softmax": ("softmax",),
    "exp": ("exp2",), "log": ("log2", "log10"), "sqrt": ("square",), "rsqrt": ("sqrt",),
    "argmax": ("argmin",), "argsort": ("sort",), "floor": ("ceil",), "ceil": ("floor",),
    "view": ("reshape",), "relu": ("gelu",), "gelu": ("relu",), "var": ("std",), "std": ("var",),
    "eval": ("train",), "train": ("eval",), "zeros_like": ("ones_like",),
    "ones_like": ("zeros_like",), "zeros_": ("ones_",), "ones_": ("zeros_",),
    "clone": ("detach",), "randint": ("rand",),
    "append": ("extend",), "sorted": ("list",), "cat": ("stack",), "stack": ("cat",),
    "int64": ("float32",), "float": ("double", "int"), "long": ("int",),
}  # fmt: skip
_IN_PLACE = ("masked_fill", "add", "sub", "mul", "div", "exp", "clamp", "copy", "fill")


@dataclass(frozen=True)
class Mutant:
    """One changed version of a piece of code.

    Attributes
    ----------
    line : int
        Where, counted from 1 in the original.
    change : str
        What was changed, for a reader: "`t + 1` → `t - 1`"; with a number behind it where the line
        has several places like it: "`1` → `2` (2)".
    source : str
        The whole changed code.
    """

    line: int
    change: str
    source: str


def mutants(source: str, lines: range | None = None) -> Iterator[Mutant]:
    """Every change of one place, each as a program of its own, no two alike.

    Parameters
    ----------
    source : str
        What is changed.
    lines : range, optional
        Only places that begin on these lines, counted from 1; all by default.

    Yields
    ------
    Mutant

    Raises
    ------
    SyntaxError
        If the source is no Python.
    """
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    alike: Counter[tuple[int, str]] = Counter()
    names = _names_of_functions(tree)
    count = sum(1 for _ in ast.walk(tree))
    docstrings = {id(node) for node in _docstrings(tree)}
    skipped = {n for n, node in enumerate(ast.walk(tree)) if id(node) in docstrings}
    for place in range(count):
        if place in skipped:
            continue
        original = _node(tree, place)
        line = getattr(original, "lineno", None)
        if line is None or (lines is not None and line not in lines):
            continue
        for change in _changes(original, names.get(place, ())):
            changed = copy.deepcopy(tree)
            node, parent, field, index = _with_parent(changed, place)
            before = ast.unparse(node)
            new = change(node)
            if new is not node:
                _replace(parent, field, index, new)
            try:
                text = ast.unparse(ast.fix_missing_locations(changed))
                ast.parse(text)
            except (SyntaxError, ValueError, AttributeError):
                continue
            if text in seen:
                continue
            seen.add(text)
            after = "nothing" if isinstance(new, ast.Pass) else ast.unparse(new)
            said = f"`{_short(before)}` → `{_short(after)}`"
            alike[line, said] += 1
            number = alike[line, said]
            yield Mutant(line, said if number == 1 else f"{said} ({number})", text)


_Change = Callable[[ast.AST], ast.AST]


def _changes(node: ast.AST, names: tuple[str, ...]) -> Iterator[_Change]:
    if isinstance(node, ast.Constant):
        yield from _constant(node)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for kind in _COMPARISONS.get(type(node.ops[0]), ()):
            yield lambda n, kind=kind: _set(n, ops=[kind()])
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        for other in _ARITHMETIC.get(type(node.op), ()):
            yield lambda n, other=other: _set(n, op=other())
        if isinstance(node, ast.BinOp):
            yield lambda n: n.left
            if isinstance(node.op, ast.MatMult | ast.Sub | ast.Div):
                yield lambda n: _set(n, left=n.right, right=n.left)
    elif isinstance(node, ast.UnaryOp):
        yield lambda n: n.operand
    elif isinstance(node, ast.BoolOp):
        swapped = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield lambda n: _set(n, op=swapped())
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield lambda n: _set(n, test=ast.UnaryOp(ast.Not(), n.test))
    elif isinstance(node, ast.Slice):
        yield from _slice(node)
    elif isinstance(node, ast.Call):
        yield from _call(node)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for name in names:
            yield lambda n, name=name: _set(n, id=name)
    elif isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.For | ast.Assert | ast.Raise):
        yield lambda _: ast.Pass()
    elif isinstance(node, ast.With):
        yield lambda n: ast.If(ast.Constant(True), n.body, [])


def _constant(node: ast.Constant) -> Iterator[_Change]:
    value = node.value
    if isinstance(value, bool):
        yield lambda n: _set(n, value=not n.value)
    elif isinstance(value, int | float):
        yield lambda n: _set(n, value=n.value + 1)
        yield lambda n: _set(n, value=n.value - 1)
        # Twice a tiny number is as tiny: no data tells the two apart.
        if abs(value) > 1e-3 and abs(value) != 1:
            yield lambda n: _set(n, value=n.value * 2)


def _slice(node: ast.Slice) -> Iterator[_Change]:
    for end in ("lower", "upper", "step"):
        if getattr(node, end) is not None:
            yield lambda n, end=end: _set(n, **{end: None})
            for sign in (ast.Add, ast.Sub):
                yield lambda n, end=end, sign=sign: _set(
                    n, **{end: ast.BinOp(getattr(n, end), sign(), ast.Constant(1))}
                )


def _call(node: ast.Call) -> Iterator[_Change]:
    for number in range(len(node.args)):
        yield lambda n, number=number: _set(n, args=n.args[:number] + n.args[number + 1 :])
    exchangeable = () if _is_called(node, "transpose") else range(len(node.args) - 1)
    for number in exchangeable:
        yield lambda n, number=number: _set(
            n,
            args=[*n.args[:number], n.args[number + 1], n.args[number], *n.args[number + 2 :]],
        )
    for number in range(len(node.keywords)):
        yield lambda n, number=number: _set(
            n, keywords=n.keywords[:number] + n.keywords[number + 1 :]
        )
    if isinstance(node.func, ast.Attribute | ast.Name):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        others = _NEIGHBOURS.get(name, ())
        # In place on what was just computed changes nothing that anybody sees.
        owner = getattr(node.func, "value", None)
        if name in _IN_PLACE and isinstance(owner, ast.Name):
            others += (name + "_",)
        for other in others:
            field = "attr" if isinstance(node.func, ast.Attribute) else "id"
            yield lambda n, other=other, field=field: _set(
                n, func=_set(copy.copy(n.func), **{field: other})
            )
    if isinstance(node.func, ast.Attribute):
        yield lambda n: n.func.value  # the method is not called


def _is_called(node: ast.Call, name: str) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr == name


def _set(node: ast.AST, **fields: object) -> ast.AST:
    for name, value in fields.items():
        setattr(node, name, value)
    return node


def _names_of_functions(tree: ast.AST) -> dict[int, tuple[str, ...]]:
    """For each place, up to two other names that the same function knows."""
    places = {id(node): n for n, node in enumerate(ast.walk(tree))}
    found: dict[int, tuple[str, ...]] = {}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.Lambda):
            continue
        arguments = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
        stored = [
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        known = list(dict.fromkeys(a for a in (*arguments, *stored) if a != "self"))
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in known:
                at = known.index(node.id)
                found[places[id(node)]] = tuple(
                    dict.fromkeys(n for n in (*known[at + 1 :], *known[:at]))
                )[:2]
    return found


def _docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(
            node
        ):
            yield from ast.walk(node.body[0])


def _node(tree: ast.AST, place: int) -> ast.AST:
    for number, node in enumerate(ast.walk(tree)):
        if number == place:
            return node
    raise IndexError(f"the tree has no node {place}")


def _with_parent(tree: ast.AST, place: int) -> tuple[ast.AST, ast.AST, str, int | None]:
    wanted = _node(tree, place)
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is wanted:
                return wanted, parent, field, None
            if isinstance(value, list):
                for index, one in enumerate(value):
                    if one is wanted:
                        return wanted, parent, field, index
    raise IndexError("the tree itself has no parent")


def _replace(parent: ast.AST, field: str, index: int | None, new: ast.AST) -> None:
    if index is None:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[index] = new


def _short(text: str, most: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
