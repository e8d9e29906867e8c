"""Which of a chapter's own cells run in a page, and what has to be run before each.

A rule decides, by reading the code: a cell runs if it and the cells above that it needs import only
what a page has, read no file, look at no clock and train nothing. What it needs is found by names:
the cells above that make, or change, what it uses, and the last one that starts the random numbers.
Chapters are edited without a thought for this; a cell that must not carry the button although the
rule lets it, because it computes for long, says ``"course": {"run": false}`` in its metadata.
"""

from __future__ import annotations

import ast
import builtins
import functools
import symtable
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from course_page import archive

KEY = "run"
"""Under `course` in a cell's metadata: false leaves the button out."""

_SEED = "the random numbers"
"""What a cell changes that starts them, as if it were a name."""

_OF_TESTS = frozenset({"assertion", "remove-cell"})

# What a page has beside the standard library and the course, and of that what it has not.
_PACKAGES = frozenset({"torch", "matplotlib", "numpy"})
_MISSING = frozenset({"torch.utils", "torch.profiler"})

# What is not for a page, as it is called: training, files, clocks. A dot stands for any object.
_REFUSED = frozenset(
    [
        *("fit", ".fit", ".step", "live_model"),
        *(".read_text", ".read_bytes", ".write_text", "open", ".mkdtemp", ".save"),
        *(".process_time", ".perf_counter", ".monotonic", ".sleep"),
    ]
)


@dataclass(frozen=True)
class Run:
    """A cell that runs in a page.

    Attributes
    ----------
    cell : str
        Its id.
    imports : tuple of str
        Statements that are run first.
    before : tuple of str
        What is run then of the cells above: all but their imports.
    source : str
        The cell itself, without its imports.
    seeded : bool
        Whether what starts the chapter's random numbers is run, too.
    """

    cell: str
    imports: tuple[str, ...]
    before: tuple[str, ...]
    source: str
    seeded: bool

    @property
    def loads(self) -> bool:
        """Whether a text is loaded, which is the built-in play in a page."""
        return any("data.load(" in one for one in (*self.before, self.source))


@dataclass
class _Cell:
    """What a cell of code does, as far as it can be read off."""

    id: str
    source: str
    offered: bool = True
    uses: set[str] = field(default_factory=set)
    uses_later: set[str] = field(default_factory=set)
    """What its functions use, which has to be there when they are called."""
    makes: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """A name, the statement that imports it, and what that is."""
    inside: dict[str, set[str]] = field(default_factory=dict)
    """A function or class, and what is called in it."""
    given: list[tuple[str, set[str]]] = field(default_factory=list)
    """A function that is called by its name, and the names that it is given."""


def of_chapter(notebook: Mapping[str, Any]) -> tuple[Run, ...]:
    """The cells of a chapter that run in a page.

    Parameters
    ----------
    notebook : mapping
        The notebook's JSON.
    """
    cells = [_read(cell) for cell in notebook["cells"] if _is_told(cell)]
    refused = _refused(cells)
    for cell in cells:
        for function, names in cell.given:
            if function in refused:  # what is trained is another thing afterwards
                cell.changes |= names
    found = []
    for at, cell in enumerate(cells):
        # With the random numbers of the chapter, if what starts them runs here; else with others.
        for seeded in (True, False) if cell.offered else ():
            needed = _needed(cells, at, seeded)
            if needed is None or any(cells[k].calls & refused for k in (*needed[0], at)):
                continue
            above, imports = needed
            found.append(
                Run(cell.id, imports, tuple(cells[k].source for k in above), cell.source, seeded)
            )
            break
    return tuple(found)


def _is_told(cell: Mapping[str, Any]) -> bool:
    """Whether a cell is code of the chapter, and not of its tests."""
    tags = set(cell.get("metadata", {}).get("tags", []))
    return cell["cell_type"] == "code" and not tags & _OF_TESTS


# ---- What a cell does --------------------------------------------------------------------------


def _read(cell: Mapping[str, Any]) -> _Cell:
    text = "".join(cell["source"])
    body = ast.parse(text).body
    found = _Cell(str(cell.get("id", "")), _without_imports(text, body))
    _read_body(body, found)
    says_no = cell.get("metadata", {}).get("course", {}).get(KEY) is False
    shows = any(
        not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom)
        for node in body
    )
    found.offered = shows and not says_no
    return found


def _without_imports(text: str, body: Sequence[ast.stmt]) -> str:
    lines = text.splitlines(keepends=True)
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                lines[number - 1] = ""
    return "".join(lines).strip("\n")


def _read_body(body: Sequence[ast.stmt], found: _Cell) -> None:
    for node in body:
        _read_statement(node, found)


def _read_statement(node: ast.stmt, found: _Cell) -> None:
    """Add what a statement uses, makes and changes, in the order in which it does."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                one: ast.stmt = ast.ImportFrom(node.module, [alias], node.level)
                name, what = alias.asname or alias.name, f"{node.module}.{alias.name}"
            else:
                one = ast.Import([alias])
                name, what = alias.asname or alias.name.partition(".")[0], alias.name
            found.imports[name] = ast.unparse(one), what
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        found.uses_later |= _free(ast.unparse(node), "exec") - found.makes - {node.name}
        found.makes.add(node.name)
        found.inside[node.name] = set(_called(node))
        return
    bodies: list[Sequence[ast.stmt]] = []
    for name, value in ast.iter_fields(node):
        if name in ("body", "orelse", "finalbody"):
            bodies.append(value)
        elif name == "handlers":
            bodies += [handler.body for handler in value]
            found.makes |= {handler.name for handler in value if handler.name}
    targets = [getattr(node, "target", None), *getattr(node, "targets", [])]
    items = getattr(node, "items", [])
    targets += [item.optional_vars for item in items]
    targets = [one for one in targets if one is not None]
    values = [getattr(node, part, None) for part in ("value", "iter", "test", "exc", "msg")]
    values += [item.context_expr for item in items]
    for value in values:
        if isinstance(value, ast.expr):
            _read_expression(value, found)
    if isinstance(node, ast.AugAssign):
        found.uses |= _names(node.target) - found.makes
    for target in targets:
        _bind(target, found)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        _read_order(node.value, found)
    for part in bodies:
        _read_body(part, found)


def _read_expression(value: ast.expr, found: _Cell) -> None:
    found.uses |= _free(ast.unparse(value), "eval") - found.makes
    found.makes |= {one.target.id for one in ast.walk(value) if isinstance(one, ast.NamedExpr)}
    found.calls |= set(_called(value))
    for one in ast.walk(value):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name):
            given = [*one.args, *(keyword.value for keyword in one.keywords)]
            found.given.append((one.func.id, set().union(*map(_names, given))))


def _read_order(call: ast.Call, found: _Cell) -> None:
    """A call whose result nobody uses is there to change something."""
    if isinstance(call.func, ast.Attribute):
        root = _root(call.func)
        found.changes |= {root} if root else set()
        if root == "torch" and call.func.attr == "manual_seed":
            found.changes.add(_SEED)
    elif _root(call.func) not in dir(builtins):
        found.changes |= set().union(*map(_names, call.args))


def _bind(target: ast.expr, found: _Cell) -> None:
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                found.uses |= {node.id} - found.makes
            else:
                found.makes.add(node.id)
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            root = _root(node)
            found.changes |= {root} if root else set()


def _free(code: str, kind: str) -> set[str]:
    """Names that a piece of code takes from outside."""

    def inside(table: symtable.SymbolTable, top: bool) -> Iterator[str]:
        for symbol in table.get_symbols():
            made = symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
            if symbol.is_referenced() and (symbol.is_global() or (top and not made)):
                yield symbol.get_name()
        for child in table.get_children():
            yield from inside(child, False)

    return set(inside(symtable.symtable(code, "cell", kind), True)) - set(dir(builtins))


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _root(node: ast.AST) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _called(tree: ast.AST) -> Iterator[str]:
    """What is called, or handed over to be called: "name", or ".name" for that of any object."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for part in (node.func, *node.args, *(one.value for one in node.keywords)):
                if isinstance(part, ast.Attribute):
                    yield f".{part.attr}"
                elif isinstance(part, ast.Name):
                    yield part.id


def _refused(cells: Sequence[_Cell]) -> frozenset[str]:
    """What no cell of a page may call: what is named above, and functions that call it."""
    refused = _REFUSED
    while True:
        more = {
            name for cell in cells for name, calls in cell.inside.items() if calls & refused
        } - refused
        if not more:
            return refused
        refused |= more


# ---- What it needs -----------------------------------------------------------------------------


def _needed(
    cells: Sequence[_Cell], at: int, seeded: bool
) -> tuple[tuple[int, ...], tuple[str, ...]] | None:
    """The cells above and the imports that a cell needs; None if a page cannot have them."""
    above: set[int] = set()
    imports: dict[str, str] = {}
    asked = list(_wanted(cells[at], at, at))
    if seeded and _SEED not in cells[at].changes:
        asked.append((_SEED, at))
    done: set[tuple[str, int]] = set()
    while asked:
        name, place = one = asked.pop()
        if one in done:
            continue
        done.add(one)
        imported, places = _sources(cells, name, place)
        if imported is None and not places and name != _SEED:
            return None
        if imported:
            statement, what = imported
            if not _importable(what):
                return None
            imports[name] = statement
        for k in places - above - {at}:
            above.add(k)
            asked += _wanted(cells[k], k, at)
    return tuple(sorted(above)), tuple(sorted(set(imports.values())))


def _wanted(cell: _Cell, place: int, last: int) -> Iterator[tuple[str, int]]:
    """The names that a cell needs, and from which cell upwards they are looked for."""
    of_python = {_SEED, *dir(builtins)}
    for name in (cell.uses | (cell.changes - cell.makes)) - of_python:
        yield name, place
    for name in cell.uses_later - of_python:
        yield name, last + 1


def _sources(
    cells: Sequence[_Cell], name: str, place: int
) -> tuple[tuple[str, str] | None, set[int]]:
    """Where a name comes from, seen from a cell: the statement that imports it, or the last cell
    above that makes it and those that change it since.
    """
    changed: set[int] = set()
    for k in range(min(place, len(cells) - 1), -1, -1):
        cell = cells[k]
        if name in cell.imports:  # calls of a module's functions change nothing of it
            return cell.imports[name], set()
        if k == place:
            continue
        if name in cell.makes or (name == _SEED and _SEED in cell.changes):
            return None, {*changed, k}
        if name in cell.changes:
            changed.add(k)
    return None, set()


def _importable(what: str) -> bool:
    """Whether a page has what is imported, by its full name."""
    if any(what == one or what.startswith(f"{one}.") for one in _MISSING):
        return False
    root, *parts = what.split(".")
    if root in _PACKAGES or root in sys.stdlib_module_names:
        return True
    held = _held()
    places = ["/".join([root, *parts[:length]]) for length in range(len(parts), -1, -1)]
    return root == "course_lib" and (
        f"{places[0]}.py" in held
        or f"{places[0]}/__init__.py" in held
        or (len(parts) > 0 and f"{places[1]}.py" in held)
        or (len(parts) > 0 and len(places) > 2 and f"{places[1]}/__init__.py" in held)
    )


@functools.cache
def _held() -> frozenset[str]:
    return frozenset(archive.files())
