"""A task's answer, read as steps: each line whose comment says in a student's words what it is.

    query = x @ w_query  # the queries (…, T, D)

is the step “the queries”, and its value is called that. What is in brackets or follows a colon is
for the reader of the code. Lines without a comment are no steps: they are never changed, and never
speak.
"""

from __future__ import annotations

import ast
import copy
import inspect
import io
import re
import textwrap
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from course_judges.edits import operators
from course_judges.edits.operators import Change, changed
from course_judges.edits.sentences import phrase, said, teaches

_AXES = re.compile(r"used axis (\S+) instead of axis (\S+) ")
_FOR_THE_READER = re.compile(r"\s*[(:].*$")


@dataclass(frozen=True)
class Step:
    """One line of an answer.

    Attributes
    ----------
    name : str
        In a student's words: "the queries".
    node : ast.stmt
    lines : range
        Of the source, counted from 0; of a loop or a condition, only its head.
    known : tuple of str
        The variables that have a value before it, in the order in which they get it.
    amounts : tuple of str
        Of these, arguments and lengths: what a value may be multiplied by or added to. Arguments
        that are one number only where the answer returns; else most of them mean nothing.
    of_self : tuple of str
        Of a class, what it assigns to `self`.
    compared : bool
        Whether its value is only compared with others, so that most of what is done to it gives the
        same.
    """

    name: str
    node: Any
    lines: range
    known: tuple[str, ...]
    amounts: tuple[str, ...] = ()
    of_self: tuple[str, ...] = ()
    compared: bool = False


@dataclass(frozen=True)
class Edit:
    """One change of an answer, or the same one at two steps that are alike.

    Attributes
    ----------
    operator : str
    says : str
        What was done, in the past tense: "left out the division by √D in your scores".
    step : str
        Where: the name of the step, and of the second one after " and ".
    lines : mapping of int to str
        The lines that are different, counted from 0.
    teaches : str
        What holds of every edit of this kind; may be empty.
    """

    operator: str
    says: str
    step: str
    lines: dict[int, str] = field(hash=False)
    teaches: str = ""


def source_of(answer: Any) -> str:
    """The source of a function or class, without the blanks in front of it."""
    return textwrap.dedent(inspect.getsource(answer))


def steps(source: str) -> list[Step]:
    """The steps of an answer, in the order of its lines."""
    comments = {
        token.start[0] - 1: _FOR_THE_READER.sub("", token.string.lstrip("# ").strip())
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and not token.string.startswith("# noqa")
    }
    found = []
    tree = ast.parse(source)
    of_self = tuple(
        dict.fromkeys(
            name
            for node in ast.walk(tree)
            for target in _targets(node)
            if (name := ast.unparse(target)).startswith("self.")
        )
    )
    for function in _functions(tree):
        known = [one.arg for one in (*function.args.args, *function.args.kwonlyargs)]
        amounts = [one for one in known if one != "self"]
        single = {one.arg for one in function.args.args if _is_one_number(one.annotation)}
        for node in _statements(function):
            body = getattr(node, "body", None)
            last = body[0].lineno - 2 if body else node.end_lineno - 1
            lines = range(node.lineno - 1, max(last, node.lineno - 1) + 1)
            name = next((comments[n] for n in lines if comments.get(n)), "")
            targets = [ast.unparse(target) for target in _targets(node)]
            if name:
                before = tuple(
                    dict.fromkeys(one for one in known if one != "self" and one[0] != "_")
                )
                returned = isinstance(node, ast.Return)
                by = tuple(one for one in amounts if returned or one not in single)
                compared = bool(targets) and all(_only_compared(one, function) for one in targets)
                found.append(Step(name, node, lines, before, by, of_self, compared))
            known += targets
            amounts += targets if operators.is_length(getattr(node, "value", None)) else []
    return found


def _only_compared(name: str, function: Any) -> bool:
    """True if a variable is read, and only in comparisons."""
    compared = {
        id(inner)
        for node in ast.walk(function)
        if isinstance(node, ast.Compare)
        for inner in ast.walk(node)
    }
    read = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id == name
    ]
    return bool(read) and all(id(node) in compared for node in read)


def _is_one_number(annotation: Any) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id in ("int", "float", "bool")


def names(found: list[Step]) -> dict[str, str]:
    """What the values of variables are called: {"query": "the queries"}."""
    called: dict[str, str] = {}
    for step in found:
        for target in _targets(step.node):
            called.setdefault(ast.unparse(target), step.name)
    return called


def edits(source: str) -> Iterator[Edit]:
    """Every change of one step that can be said, and every such change of two steps alike."""
    found = steps(source)
    called = names(found)
    lines = source.splitlines()
    seen = {source}
    made: dict[int, list[tuple[tuple[int, int, str], Edit]]] = {}
    for number, step in enumerate(found):
        made[number] = []
        for place, text, change, words, lesson in _changed(step, called):
            edit = Edit(change, words, step.name, _replaced(step, text, lines), lesson)
            program = changed(source, edit.lines)
            if program not in seen and _compiles(program):
                seen.add(program)
                made[number].append((place, edit))
    for first, second in pairwise(found):
        swapped = _exchanged(first, second, lines)
        if swapped and _compiles(changed(source, swapped.lines)):
            yield swapped
    for of_step in made.values():
        yield from (edit for _, edit in of_step)
    for number, (first, second) in enumerate(pairwise(found)):
        if _alike(first, second):
            yield from _at_both(dict(made[number]), dict(made[number + 1]))
            yield from _each_as_the_other(first, second, lines, called)
    yield from _along_another_axis([edit for of_step in made.values() for _, edit in of_step])


def _functions(tree: ast.AST) -> Iterator[Any]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _statements(function: Any) -> Iterator[Any]:
    for node in function.body:
        if isinstance(node, ast.FunctionDef):
            continue
        yield node
        if hasattr(node, "body"):
            yield from _statements(node)
            yield from _statements(ast.Module(getattr(node, "orelse", []), []))


def _targets(node: Any) -> list[Any]:
    if isinstance(node, ast.Assign):
        found = node.targets[0]
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
        found = node.target
    else:
        return []
    return list(found.elts) if isinstance(found, ast.Tuple) else [found]


def _head(node: Any) -> list[Any]:
    """What a statement computes itself: not its targets, and not what it repeats."""
    if isinstance(node, ast.If | ast.While):
        return [node.test]
    if isinstance(node, ast.For):
        return [node.iter]
    value = getattr(node, "value", None)
    return [value] if value is not None else []


def _changed(
    step: Step, called: dict[str, str]
) -> Iterator[tuple[tuple[int, int, str], str, str, str, str]]:
    """(place, new text of the statement, operator, words, lesson) of each change of a step.

    A place is the same for the same change of two steps that are alike.
    """
    # A variable that gets its value in this step still has its old one inside it.
    own = {ast.unparse(target) for target in _targets(step.node)}
    inside = {name: words for name, words in called.items() if name not in own}
    for top in _head(step.node):
        spoken_of = {id(node) for node in _said_otherwise(top)}
        for number, node in enumerate(ast.walk(top)):
            for count, change in enumerate(_changes(node, top, step, inside)):
                if id(node) in spoken_of and change.operator in ("number", "sign"):
                    continue
                statement = copy.deepcopy(step.node)
                (copied,) = _head(statement)
                target = list(ast.walk(copied))[number]
                try:
                    new = change.make(target)
                    _put(statement, copied, target, new)
                    text = _text(statement)
                except (AttributeError, ValueError, TypeError, IndexError):
                    continue
                words = change.words.replace("{step}", step.name) or phrase(
                    change.operator, node, new, step.name, inside
                )
                if operators.is_length(top) and (of := said(_head(statement)[0], inside)):
                    words = f"used {of} for {step.name}"
                if words:
                    lesson = teaches(change.operator, node, new)
                    yield (number, count, change.operator), text, change.operator, words, lesson
    if isinstance(step.node, ast.Assign | ast.AugAssign | ast.Expr):
        words = phrase("left-out", step.node, None, step.name, called)
        yield (-1, 0, "left-out"), "pass", "left-out", words, ""


def _said_otherwise(top: Any) -> Iterator[Any]:
    """Numbers that `misreadings` change with the name of their argument, axes and diagonals, and
    those that are negative, which are changed with their sign.
    """
    nodes: list[Any] = list(ast.walk(top))
    for node in nodes:
        if operators.is_negative(node):
            yield node.operand
        if isinstance(node, ast.keyword) and node.arg in ("dim", "dims", "axis", "diagonal"):
            yield from ast.walk(node.value)


def _changes(node: Any, top: Any, step: Step, called: dict[str, str]) -> Iterator[Change]:
    others = tuple(name for name in step.known if name.isidentifier())
    if isinstance(node, ast.Name) and node.id in step.known:
        yield from operators.slips(node, tuple(n for n in others if n != node.id))
    elif isinstance(node, ast.Attribute) and ast.unparse(node) in step.of_self:
        others_of_self = (name for name in step.of_self if name != ast.unparse(node))
        yield from operators.attributes(name.partition(".")[2] for name in others_of_self)
    elif not isinstance(node, ast.Name):
        yield from operators.slips(node, ())
    yield from operators.misreadings(node)
    # Many numbers may stand in the place of a single one by chance.
    whole = isinstance(step.node, ast.Assign | ast.AugAssign | ast.Return)
    if node is top and isinstance(node, ast.Tuple):
        yield from operators.exchanged_results(node)
    elif node is top and whole and not operators.is_length(node) and not step.compared:
        values = [(n, called.get(n, f"`{n}`")) for n in step.amounts]
        yield from operators.afterwards(values, last=isinstance(step.node, ast.Return))


def _put(statement: Any, top: Any, target: Any, new: Any) -> None:
    for parent in ast.walk(statement):
        for name, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, name, new)
                return
            if isinstance(value, list):
                for index, one in enumerate(value):
                    if one is target:
                        value[index] = new
                        return
    raise ValueError(f"{ast.unparse(target)} is no part of {ast.unparse(top)}")


def _text(statement: Any) -> str:
    """A statement on one line; of a loop or a condition, its head."""
    if hasattr(statement, "body"):
        statement.body, statement.orelse = [ast.Pass()], []
        return ast.unparse(ast.fix_missing_locations(statement)).split("\n")[0]
    return ast.unparse(ast.fix_missing_locations(statement))


def _replaced(step: Step, text: str, lines: list[str]) -> dict[int, str]:
    first = lines[step.lines[0]]
    indent = first[: len(first) - len(first.lstrip())]
    return {step.lines[0]: indent + text, **dict.fromkeys(step.lines[1:], "")}


def _exchanged(first: Step, second: Step, lines: list[str]) -> Edit | None:
    """Two steps that follow each other, in the other order."""
    adjacent = first.lines[-1] + 1 == second.lines[0]
    simple = not any(hasattr(step.node, "body") for step in (first, second))
    if not adjacent or not simple or isinstance(second.node, ast.Return):
        return None
    held = [lines[n] for n in (*second.lines, *first.lines)]
    return Edit(
        "order",
        f"exchanged the order of two steps: {first.name}, and {second.name}",
        f"{first.name} and {second.name}",
        dict(zip((*first.lines, *second.lines), held, strict=True)),
    )


def _alike(one: Step, other: Step) -> bool:
    """True if two steps do the same with other variables."""
    return _shape(one.node) == _shape(other.node)


def _shape(node: Any) -> str:
    node = copy.deepcopy(node)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            inner.id = "_"
        elif isinstance(inner, ast.Attribute) and ast.unparse(inner.value) in ("self", "_"):
            inner.attr = "_"
    return ast.dump(node)


def _along_another_axis(made: list[Edit]) -> Iterator[Edit]:
    """Another axis at every step that runs along the same one."""
    groups: dict[tuple[str, str], list[Edit]] = {}
    for edit in made:
        if edit.operator == "axis" and (axes := _AXES.match(edit.says)):
            groups.setdefault((axes[1], axes[2]), []).append(edit)
    for (new, old), edits_of_axis in groups.items():
        steps_of_axis = list(dict.fromkeys(edit.step for edit in edits_of_axis))
        if len(steps_of_axis) == len(edits_of_axis) > 1:
            both = " and ".join(steps_of_axis)
            lines = {number: text for edit in edits_of_axis for number, text in edit.lines.items()}
            yield Edit("axis", f"used axis {new} instead of axis {old} in {both}", both, lines)


def _at_both(
    first: dict[tuple[int, int, str], Edit], second: dict[tuple[int, int, str], Edit]
) -> Iterator[Edit]:
    """The same change at two steps."""
    for place, one in first.items():
        other = second.get(place)
        if other is None or one.operator == "name":
            continue
        if one.says.replace(one.step, "") == other.says.replace(other.step, ""):
            both = f"{one.step} and {other.step}"
            says = one.says.replace(one.step, both)
            yield Edit(one.operator, says, both, {**one.lines, **other.lines}, one.teaches)


def _each_as_the_other(
    first: Step, second: Step, lines: list[str], called: dict[str, str]
) -> Iterator[Edit]:
    """Two steps alike of which each uses what the other one should."""
    pairs = {
        (a.id, b.id)
        for a, b in zip(
            ast.walk(_head(first.node)[0]), ast.walk(_head(second.node)[0]), strict=True
        )
        if isinstance(a, ast.Name) and isinstance(b, ast.Name) and a.id != b.id
    }
    if len(pairs) != 1:
        return
    ((one, other),) = pairs
    both = f"{first.name} and {second.name}"
    words = [called.get(name, f"`{name}`") for name in (one, other)]
    swapped: dict[int, str] = {}
    for step, old, new in ((first, one, other), (second, other, one)):
        statement = copy.deepcopy(step.node)
        for node in ast.walk(_head(statement)[0]):
            if isinstance(node, ast.Name) and node.id == old:
                node.id = new
        swapped |= _replaced(step, _text(statement), lines)
    yield Edit("each-as-the-other", f"exchanged {' and '.join(words)} in {both}", both, swapped)


def _compiles(program: str) -> bool:
    """True unless Python refuses a program, or warns of it before it runs."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)
            compile(program, "<variant>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True
