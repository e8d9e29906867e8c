"""What the source of a code cell does, read from its text and never run: which check it calls, what
it defines or overwrites, and whether it is a scaffold that nobody has filled.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass

# Cell magics after which the rest of the cell runs as if they were not there.
_TRANSPARENT_MAGICS = frozenset(("time", "capture"))

# A released cell in which students write has some 2,000.
MOST_CHARACTERS_OF_A_SCAFFOLD = 20_000


def called_check(source: str) -> tuple[str, str | None] | None:
    """Task and checked name of a cell that is one call of `check`, else None.

    >>> called_check('check("01/window", window_weights)')
    ('01/window', 'window_weights')
    """
    body = _parsed(source)
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        return None
    call = body[0].value
    if (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "check"
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    ):
        second = call.args[1] if len(call.args) > 1 else None
        return call.args[0].value, second.id if isinstance(second, ast.Name) else None
    return None


def defined_names(source: str) -> tuple[str, ...]:
    """Functions, classes and plain variables that a cell defines at its top level.

    >>> defined_names("def head(x): ...\\nn = head(3)"), defined_names("%%timeit\\nn = 3")
    (('head', 'n'), ())
    """
    return tuple(name for statement in _parsed(source) for name in _bound(statement))


@dataclass(frozen=True)
class Bindings:
    """What becomes of names at the top level of a cell.

    Attributes
    ----------
    defined : frozenset of str
        Names that mean something new afterwards.
    unwritten : frozenset of str
        Those whose definition only raises NotImplementedError.
    overwritten : frozenset of str
        Functions in whose place the cell puts what calling them returned.
    """

    defined: frozenset[str]
    unwritten: frozenset[str]
    overwritten: frozenset[str]


def bindings(source: str) -> Bindings:
    """What a cell does to names; it is parsed once for all of them.

    >>> bindings("head = jit(head)").defined, bindings("head = head(3)").overwritten
    (frozenset({'head'}), frozenset({'head'}))
    """
    defined: set[str] = set()
    unwritten: set[str] = set()
    overwritten: set[str] = set()
    for statement in _parsed(source):
        for name in _bound(statement):
            if _keeps_a_result(statement, name):
                overwritten.add(name)
            elif _only_raises(statement):
                unwritten.add(name)
            else:
                defined.add(name)
    return Bindings(
        frozenset(defined | unwritten), frozenset(unwritten - defined), frozenset(overwritten)
    )


def is_as_released(source: str, released: Collection[str]) -> bool:
    """Whether all that a cell defines is what a released cell defines. Comments, docstrings, layout
    and what else the cell does are not compared.

    Parameters
    ----------
    source : str
    released : collection of str
        Sources of the released cells in which students write.
    """
    if len(source) > MOST_CHARACTERS_OF_A_SCAFFOLD:
        return False
    try:
        own = _dumped(source)
        return bool(own) and any(own <= _dumped(text) for text in released)
    except RecursionError:  # nested so deeply as nothing that was released is
        return False


def imports_modules(source: str) -> bool:
    """Whether a cell imports something, and neither defines nor shows anything."""
    statements = _parsed(source)
    return any(isinstance(each, ast.Import | ast.ImportFrom) for each in statements) and not any(
        isinstance(each, ast.FunctionDef | ast.ClassDef) for each in statements
    )


def hiding_magic(source: str) -> str:
    """The magic on a cell's first line if what the cell defines stays unknown to the notebook.

    >>> hiding_magic("%%timeit\\ndef f(x): ..."), hiding_magic("%%time\\ndef f(x): ...")
    ('%%timeit', '')
    """
    found = re.match(r"\s*%%(\w+)", source)
    return f"%%{found[1]}" if found and found[1] not in _TRANSPARENT_MAGICS else ""


def should_define(source: str, name: str) -> bool:
    """Whether a cell looks as if it defines a name, even where it is no Python that can be parsed.

    >>> should_define("def head(x)\\n    return x", "head"), should_define("head(x)", "head")
    (True, False)
    """
    # No \s here: over many empty lines it would be tried again from each of them.
    lines = rf"^[ \t]*(?:(?:async\s+)?def|class|import|from)\b.*\b{name}\b|^{name}[ \t]*="
    return re.search(lines, source, re.MULTILINE) is not None


def is_prose(source: str) -> bool:
    """Whether a code cell holds words and no code: comments, one text, or no Python at all.

    >>> is_prose("Because rare pairs cost most."), is_prose("%matplotlib inline\\nx = 1")
    (True, False)
    """
    lines = [line for line in source.splitlines() if not line.lstrip().startswith(("%", "!"))]
    words = "\n".join(lines)
    does = (
        statement
        for statement in _parsed(words)
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    )
    return bool(words.strip()) and next(does, None) is None


def first_line(source: str) -> str:
    """The first line that says something, to name a cell by."""
    return next((line.strip() for line in source.splitlines() if line.strip()), "")


# CPython 3.11 counts the depth of what it parses in one place for the whole process. If a garbage
# collection lets another thread parse meanwhile, it ends in a SystemError (python/cpython#106905).
_ONE_PARSES = threading.Lock()


def _parsed(source: str) -> list[ast.stmt]:
    try:
        return _syntax_tree(source)
    except SyntaxError:
        pass
    except (ValueError, RecursionError, MemoryError):
        return []
    try:
        return _syntax_tree(_without_magics(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _syntax_tree(source: str) -> list[ast.stmt]:
    with _ONE_PARSES:
        return ast.parse(source).body


def _without_magics(source: str) -> str:
    """A cell's Python, with `pass` for each line that only IPython understands; empty where its
    first line hands all others to something else.
    """
    lines = source.lstrip().split("\n")
    if lines[0].startswith("%%"):
        if hiding_magic(lines[0]):
            return ""
        lines[0] = ""
    return "\n".join(
        line[: len(line) - len(line.lstrip())] + "pass" if line.lstrip()[:1] in ("%", "!") else line
        for line in lines
    )


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement gives a meaning, apart from imports."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    elif (
        isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and statement.value is not None
    ):
        yield statement.target.id


def _keeps_a_result(statement: ast.stmt, name: str) -> bool:
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or name not in _bound(statement):
        return False
    return any(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == name
        for each in ast.walk(statement)
    )


def _only_raises(statement: ast.stmt) -> bool:
    """Whether a function, or each method of a class, only says that it is not written yet."""
    if isinstance(statement, ast.ClassDef):
        methods = [each for each in statement.body if not _is_text(each)]
        return bool(methods) and all(map(_only_raises, methods))
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    body = [each for each in statement.body if not _is_text(each)]
    return len(body) == 1 and _says_not_written(body[0])


def _says_not_written(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Raise) or statement.exc is None:
        return False
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, or another text that does nothing."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _dumped(source: str) -> set[str]:
    """The definitions of a cell as texts that depend on what they do, and on nothing else."""
    found = set()
    for statement in _parsed(source):
        if any(True for _ in _bound(statement)):
            for each in ast.walk(statement):
                body = getattr(each, "body", None)
                if isinstance(body, list):
                    each.body = [one for one in body if not _is_text(one)]  # type: ignore[attr-defined]
            found.add(ast.dump(statement))
    return found
