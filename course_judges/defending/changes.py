"""A student's program with one small change, written as they would have written it.

The changes are those of `course_judges.edits.operators`, and some that look like one and leave
everything as it is. Whether a change changes anything is found by running it.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_judges.defending.program import Program
from course_judges.edits.operators import MODULES, Change, called, misreadings, slips

# What may be done to a value before what doesn't care: a softmax, a mean that is subtracted.
_AROUND = (
    ("added", "(V) + 1"),
    ("scaled", "(V) * 2"),
    ("copied", "(V).clone()"),
)
# Names are exchanged only for so many others, or they would crowd out everything else.
_MOST_NAMES = 2
_LONGEST_LINE = 110
# What becomes of −1 by a slip, and gives itself away.
_MINUS_ZERO = re.compile(r"[(,=\[: ]-0(?![.\d])")


@dataclass(frozen=True)
class Edit:
    """One small change.

    Attributes
    ----------
    operator : str
        Which kind of change it is: "axis", "left-out".
    first, last : int
        The lines of the program that change, counted from 1.
    before, after : str
        These lines as they were and as they are, without their indentation.
    source : str
        The whole changed program.
    """

    operator: str
    first: int
    last: int
    before: str
    after: str
    source: str

    @property
    def where(self) -> str:
        """ "line 4" or "lines 4–6"."""
        one = self.first == self.last
        return f"line {self.first}" if one else f"lines {self.first}–{self.last}"

    @property
    def said(self) -> str:
        """The change as a question quotes it."""
        if not self.after:
            return f"leave out {self.where}: `{self.before}`"
        becomes = "becomes" if self.first == self.last else "become"
        return f"{self.where} {becomes} `{self.after}`"

    @property
    def condition(self) -> str:
        """The change behind an "if"."""
        if self.after:
            return self.said
        return f"{self.where} {'is' if self.first == self.last else 'are'} left out"


def edits(
    program: Program, most: int | None = None, rng: np.random.Generator | None = None
) -> list[Edit]:
    """Changes of one place of a program's functions that stay Python, no two alike.

    Parameters
    ----------
    program : Program
    most : int, optional
        How many are made; all by default.
    rng : Generator, optional
        Which of them; the first by default.

    Returns
    -------
    list of Edit
        In the order of the lines.
    """
    found: dict[str, Edit] = {}
    seen = {ast.dump(program.tree)}
    places = [
        (statement, node, change)
        for statement in program.statements
        if not isinstance(statement, ast.Assert | ast.Raise | ast.Pass)
        for node, change in _changes(statement, program)
    ]
    if rng is not None:
        places = [places[n] for n in rng.permutation(len(places))]
    trees = _Trees(program)
    for statement, node, change in places:
        if most is not None and len(found) >= most:
            break
        made = _made(program, trees, statement, node, change)
        if made is not None and made[1] not in seen:
            seen.add(made[1])
            found[made[0].source] = made[0]
    return sorted(found.values(), key=lambda one: (one.first, one.last, one.after))


def _changes(statement: Any, program: Program) -> Iterator[tuple[Any, Change]]:
    names = _known_names(statement, program)
    for node in _own(statement):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            continue
        own = getattr(node, "id", "")
        others = tuple(n for n in names if n != own)[:_MOST_NAMES] if own in names else ()
        found = (*slips(node, others), *misreadings(node), *equivalents(node))
        yield from ((node, change) for change in found if change.operator != "context")
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Assign | ast.Return) and value is not None:
        for operator, code in _AROUND:
            if not isinstance(value, ast.Tuple | ast.Constant):
                yield value, Change(operator, _put(code))


def _own(statement: Any) -> Iterator[Any]:
    """The nodes of a statement, and none of what it repeats or of what it stores in."""
    waiting = [statement]
    while waiting:
        node = waiting.pop(0)
        yield node
        for field, value in ast.iter_fields(node):
            if field in ("body", "orelse", "handlers", "finalbody") and isinstance(value, list):
                continue
            if field in ("targets", "target", "annotation", "type_comment", "func"):
                if field == "func" and isinstance(value, ast.Attribute):
                    waiting.append(value.value)
                continue
            held = value if isinstance(value, list) else [value]
            waiting += [one for one in held if isinstance(one, ast.AST)]


def _known_names(statement: Any, program: Program) -> tuple[str, ...]:
    """The names that have a value before a statement, in its own function."""
    for function in ast.walk(program.tree):
        if isinstance(function, ast.FunctionDef) and statement in list(ast.walk(function)):
            arguments = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
            stored = [
                node.id
                for node in ast.walk(function)
                if isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Store)
                and node.lineno < statement.lineno
            ]
            known = dict.fromkeys(reversed([*arguments, *stored]))
            return tuple(name for name in known if name != "self")
    return ()


def equivalents(node: Any) -> Iterator[Change]:
    """Changes of an expression that may leave its value as it is."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr):
            yield Change("turned", lambda n: ast.BinOp(n.right, n.op, n.left))
        if isinstance(node.op, ast.MatMult):
            yield Change("another-way", _put("torch.matmul(L, R)", "L", "R"))
            yield Change("another-way", _put("(R.mT @ L.mT).mT", "L", "R"))
        if isinstance(node.op, ast.Div):
            yield Change("another-way", _put("L * (1 / R)", "L", "R"))
        if isinstance(node.op, ast.Sub):
            yield Change("another-way", _put("-(R - L)", "L", "R"))
    elif isinstance(node, ast.Attribute) and node.attr == "mT":
        yield Change("another-way", _transposed)
    elif isinstance(node, ast.Call):
        name = called(node)
        if name in ("softmax", "log_softmax", "argmax", "argsort", "topk", "normalize"):
            for operator, code in _AROUND:
                yield Change(operator, lambda n, code=code: _of_the_tensor(n, code))
        if name == "transpose" and len(node.args) == 2:
            yield Change("arguments-exchanged", _with_arguments_exchanged)
        if name == "sqrt" and len(node.args) == 1:
            half = ast.Constant(0.5)
            yield Change("another-way", lambda n: ast.BinOp(n.args[0], ast.Pow(), half))


def _transposed(node: Any) -> Any:
    minus: list[ast.expr] = [ast.UnaryOp(ast.USub(), ast.Constant(n)) for n in (2, 1)]
    return ast.Call(ast.Attribute(node.value, "transpose", ast.Load()), minus, [])


def _with_arguments_exchanged(node: Any) -> Any:
    node.args = node.args[::-1]
    return node


def _of_the_tensor(node: Any, code: str) -> Any:
    """A call with its tensor changed."""
    around = _put(code)
    if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) not in MODULES:
        node.func.value = around(node.func.value)
    elif node.args:
        node.args[0] = around(node.args[0])
    return node


def _put(code: str, left: str = "", right: str = "") -> Any:
    """Puts a node where `V` stands, or its two operands where `left` and `right` do."""

    def make(node: Any) -> Any:
        parts = {"V": node}
        if left:
            parts = {left: node.left, right: node.right}

        class Put(ast.NodeTransformer):
            def visit_Name(self, name: ast.Name) -> Any:
                return copy.deepcopy(parts[name.id]) if name.id in parts else name

        return Put().visit(ast.parse(code, mode="eval").body)

    return make


class _Trees:
    """The trees of a program with one node replaced, made in a copy of its own."""

    def __init__(self, program: Program) -> None:
        copied = copy.deepcopy(program.tree)
        nodes = zip(ast.walk(program.tree), ast.walk(copied), strict=True)
        self._tree, self._of = copied, {id(one): other for one, other in nodes}
        self._places: dict[int, tuple[Any, str, int | None]] = {}
        for parent in ast.walk(copied):
            for field, value in ast.iter_fields(parent):
                for number, one in enumerate(value if isinstance(value, list) else [value]):
                    if isinstance(one, ast.AST):
                        at = number if isinstance(value, list) else None
                        self._places[id(one)] = (parent, field, at)

    def replaced(self, node: Any, new: Any) -> str | None:
        """The dump of the program with another node in the place of one; None if it is no Python.

        Parameters
        ----------
        node : AST
            Of the program's own tree.
        new : AST
        """
        old: Any = self._of[id(node)]
        parent, field, at = self._places[id(old)]
        try:
            new = _as_parsed(new, isinstance(node, ast.stmt))
        except (SyntaxError, ValueError, AttributeError, TypeError):
            return None
        if hasattr(node, "body") and isinstance(node, ast.stmt):
            new.body, new.orelse = old.body, old.orelse
        if at is None:
            setattr(parent, field, new)
        else:
            getattr(parent, field)[at] = new
        try:
            return ast.dump(self._tree)
        finally:
            if at is None:
                setattr(parent, field, old)
            else:
                getattr(parent, field)[at] = old


def _as_parsed(new: Any, statement: bool) -> Any:
    """A node as Python reads what it is written as: of −1, a sign and a number."""
    text = ast.unparse(ast.fix_missing_locations(new))
    read: Any
    if statement:
        return ast.parse(text).body[0]
    if isinstance(new, ast.keyword | ast.Starred):
        read = ast.parse(f"f({text})", mode="eval").body
        return (read.keywords or read.args)[0]
    if any(isinstance(one, ast.Slice) for one in (new, *getattr(new, "elts", ()))):
        read = ast.parse(f"a[{text.removeprefix('(').removesuffix(')')}]", mode="eval").body
        return read.slice
    return ast.parse(f"({text})", mode="eval").body


def _made(
    program: Program, trees: _Trees, statement: Any, node: Any, change: Change
) -> tuple[Edit, str] | None:
    """A change in the text, with all around it as the student wrote it; and its tree's dump."""
    first, last = node.lineno if node is not statement else statement.lineno, 0
    try:
        new = change.make(copy.deepcopy(node))
        if isinstance(new, ast.Pass):
            if hasattr(statement, "body"):
                return None
            return _left_out(program, statement)
        text = ast.unparse(ast.fix_missing_locations(new)) if node is not statement else _head(new)
        if isinstance(new, ast.Name) and new.id in MODULES:
            return None  # nobody takes a module for a value
    except (AttributeError, ValueError, TypeError, IndexError, SyntaxError):
        return None
    wanted = trees.replaced(node, new)
    if wanted is None:
        return None
    if node is statement:
        first, last, _, _ = _extent(statement)
        start, end = statement.col_offset, None
    else:
        last, start, end = node.end_lineno, node.col_offset, node.end_col_offset
    text = _quoted_alike(text, program)
    for written in (text, f"({text})"):
        source = _put_text(program.lines, (first, start), (last, end), written)
        try:
            if ast.dump(ast.parse(source)) == wanted:
                edit = _edit(change.operator, program, statement, source)
                return None if edit is None else (edit, wanted)
        except (SyntaxError, ValueError):
            continue
    return None


def _quoted_alike(text: str, program: Program) -> str:
    """Texts in the quotes in which the student wrote them."""

    def one(found: re.Match[str]) -> str:
        double = f'"{found.group(1)}"'
        return double if double in program.source else found.group()

    return re.sub(r"'([^'\"\\\\]*)'", one, text)


def _head(statement: Any) -> str:
    """A statement on one line; of a loop or a condition, its head."""
    if hasattr(statement, "body"):
        statement.body, statement.orelse = [ast.Pass()], []
        return ast.unparse(ast.fix_missing_locations(statement)).split("\n")[0]
    return ast.unparse(ast.fix_missing_locations(statement))


def _extent(statement: Any) -> tuple[int, int, int, int | None]:
    """The lines of a statement, or of its head, and where it begins and ends in these."""
    body = getattr(statement, "body", None)
    if body:
        return (
            statement.lineno,
            max(statement.lineno, body[0].lineno - 1),
            statement.col_offset,
            None,
        )
    return statement.lineno, statement.end_lineno, statement.col_offset, statement.end_col_offset


def _put_text(
    lines: tuple[str, ...], begin: tuple[int, int], end: tuple[int, int | None], text: str
) -> str:
    """The source with another text between two places; columns count bytes, as `ast` does."""
    before = lines[begin[0] - 1].encode()[: begin[1]].decode()
    after = "" if end[1] is None else lines[end[0] - 1].encode()[end[1] :].decode()
    return "\n".join([*lines[: begin[0] - 1], before + text + after, *lines[end[0] :]])


def _left_out(program: Program, statement: Any) -> tuple[Edit, str] | None:
    first, last, column, end = _extent(statement)
    source = _put_text(program.lines, (first, column), (last, end), "pass")
    try:
        compile(source, "<variant>", "exec")
        dumped = ast.dump(ast.parse(source))
    except (SyntaxError, ValueError):
        return None
    before = " ".join(_bare(line) for line in program.lines[first - 1 : last])
    return Edit("left-out", first, last, before, "", source), dumped


def _edit(operator: str, program: Program, statement: Any, source: str) -> Edit | None:
    first, last, _, _ = _extent(statement)
    grown = len(source.splitlines()) - len(program.lines)
    old, new = program.lines[first - 1 : last], source.splitlines()[first - 1 : last + grown]
    # Of a statement over several lines, only those that differ are quoted.
    while len(old) > 1 and len(new) > 1 and old[0] == new[0]:
        old, new, first = old[1:], new[1:], first + 1
    while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
        old, new, last = old[:-1], new[:-1], last - 1
    before, after = (" ".join(_bare(line) for line in part) for part in (old, new))
    if not after or max(len(before), len(after)) > _LONGEST_LINE or _MINUS_ZERO.search(after):
        return None
    try:
        compile(source, "<variant>", "exec")
    except (SyntaxError, ValueError):
        return None
    return Edit(operator, first, last, before, after, source)


def _bare(line: str) -> str:
    """A line without its indentation and the comment behind it."""
    quote = ""
    for place, sign in enumerate(line):
        if quote:
            quote = "" if sign == quote and line[place - 1] != "\\" else quote
        elif sign in "'\"":
            quote = sign
        elif sign == "#":
            return line[:place].strip()
    return line.strip()
