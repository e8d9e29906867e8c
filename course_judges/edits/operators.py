"""Small changes to a piece of Python, one at a time.

`slips` change one place of the syntax tree as the keyboard or the mind would: a number by one, a
comparison, an operator, a slice's end, a dropped line or argument, an exchanged name, a negated
condition, a copy made in place, a mode left as it was. `misreadings` are what is made of tensors
besides: another axis, a call left out, a root forgotten, another fill, a view for a transpose.
`mutants` makes a program of each slip.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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
_NEIGHBORS = {
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
        for change in slips(original, names.get(place, ())):
            changed = copy.deepcopy(tree)
            node, parent, field, index = _with_parent(changed, place)
            before = ast.unparse(node)
            new = change.make(node)
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


@dataclass(frozen=True)
class Change:
    """One way to change a node.

    Attributes
    ----------
    operator : str
        Which kind of change it is: "name", "axis".
    make : callable (AST) -> AST
        Gets a copy of the node and returns what stands in its place, the copy itself if it changed.
    words : str
        What was done, in the past tense, where the tree alone does not tell it; with `{step}` for
        the name of the step.
    """

    operator: str
    make: Callable[..., Any]
    words: str = ""


def slips(node: Any, names: tuple[str, ...]) -> Iterator[Change]:
    """What a slip may make of a node, where `names` are the other names that it may be given."""
    if isinstance(node, ast.Constant):
        yield from _constant(node)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for kind in _COMPARISONS.get(type(node.ops[0]), ()):
            yield Change("comparison", lambda n, kind=kind: _set(n, ops=[kind()]))
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        for other in _ARITHMETIC.get(type(node.op), ()):
            yield Change("arithmetic", lambda n, other=other: _set(n, op=other()))
        if isinstance(node, ast.BinOp):
            yield Change("left-alone", lambda n: n.left)
            if isinstance(node.op, ast.MatMult | ast.Sub | ast.Div | ast.Pow):
                yield Change("exchanged", lambda n: _set(n, left=n.right, right=n.left))
    elif isinstance(node, ast.UnaryOp):
        yield Change("sign", lambda n: n.operand)
        if is_negative(node):
            for by in (1, -1):
                yield Change("number", lambda n, by=by: _whole(-n.operand.value + by))
    elif isinstance(node, ast.BoolOp):
        swapped = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield Change("and-or", lambda n: _set(n, op=swapped()))
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield Change("condition", lambda n: _set(n, test=ast.UnaryOp(ast.Not(), n.test)))
    elif isinstance(node, ast.Slice):
        yield from _slice(node)
    elif isinstance(node, ast.Subscript) and _are_two_indices(node.slice):
        yield Change("indices", lambda n: _set(n, slice=ast.Tuple(n.slice.elts[::-1], n.slice.ctx)))
    elif isinstance(node, ast.Call):
        yield from _call(node)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for name in names:
            yield Change("name", lambda n, name=name: _set(n, id=name))
    elif isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.For | ast.Assert | ast.Raise):
        yield Change("left-out", lambda _: ast.Pass())
    elif isinstance(node, ast.With):
        yield Change("context", lambda n: ast.If(ast.Constant(True), n.body, []))


def _constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield Change("number", lambda n: _set(n, value=not n.value))
    elif isinstance(value, int | float):
        yield Change("number", lambda n: _set(n, value=n.value + 1))
        yield Change("number", lambda n: _set(n, value=n.value - 1))
        # Twice a tiny number is as tiny: no data tells the two apart.
        if abs(value) > 1e-3 and abs(value) != 1:
            yield Change("number", lambda n: _set(n, value=n.value * 2))


def _slice(node: ast.Slice) -> Iterator[Change]:
    for end in ("lower", "upper", "step"):
        if getattr(node, end) is not None:
            yield Change("slice", lambda n, end=end: _set(n, **{end: None}))
            for sign in (ast.Add, ast.Sub):
                yield Change(
                    "slice",
                    lambda n, end=end, sign=sign: _set(
                        n, **{end: ast.BinOp(getattr(n, end), sign(), ast.Constant(1))}
                    ),
                )


def _call(node: Any) -> Iterator[Change]:
    for number in range(len(node.args)):
        yield Change(
            "argument",
            lambda n, number=number: _set(n, args=n.args[:number] + n.args[number + 1 :]),
        )
    exchangeable = () if _is_called(node, "transpose") else range(len(node.args) - 1)
    for number in exchangeable:
        yield Change(
            "arguments-exchanged",
            lambda n, number=number: _set(n, args=_with_neighbors_exchanged(n.args, number)),
        )
    for number, keyword in enumerate(node.keywords):
        if keyword.arg in ("correction", "unbiased"):
            continue  # `misreadings` says by what is divided then
        yield Change(
            "keyword",
            lambda n, number=number: _set(
                n, keywords=n.keywords[:number] + n.keywords[number + 1 :]
            ),
        )
    if isinstance(node.func, ast.Attribute | ast.Name):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        others = _NEIGHBORS.get(name, ())
        # In place on what was just computed changes nothing that anybody sees.
        owner = getattr(node.func, "value", None)
        if name in _IN_PLACE and isinstance(owner, ast.Name):
            others += (name + "_",)
        for other in others:
            field = "attr" if isinstance(node.func, ast.Attribute) else "id"
            yield Change(
                "function",
                lambda n, other=other, field=field: _set(
                    n, func=_set(copy.copy(n.func), **{field: other})
                ),
            )
    if isinstance(node.func, ast.Attribute):
        yield Change("call", lambda n: n.func.value)  # the method is not called


# Along which axes a tensor is added up, averaged, cut or joined: the last by default, or all.
_ALONG = frozenset({
    "softmax", "log_softmax", "sum", "mean", "var", "std", "max", "min", "amax", "amin", "argmax",
    "argmin", "cumsum", "cumprod", "logsumexp", "norm", "normalize", "sort", "argsort", "cat",
    "stack", "flip", "roll", "topk",
})  # fmt: skip
_AXES = (-1, -2, -3, 0, 1, 2)
# Whose functions are called with the tensor as an argument.
MODULES = ("torch", "F", "math", "np", "nn.functional", "torch.linalg")
# Applied twice, these give something else.
_AGAIN = frozenset({"softmax", "log_softmax", "exp", "log", "sqrt", "normalize", "cumsum", "relu"})
_FILLS = (0.0, 1.0, -1.0, 1e9, -1e9, -100.0)

# What may be done to the value of a step that ends as it should: words, and code around `_V`,
# which no answer calls a variable.
_AFTERWARDS = (
    ("turned the sign of {step}", "-(_V)"),
    ("transposed {step}", "(_V).mT"),
    ("applied a softmax to {step}", "(_V).softmax(-1)"),
    ("applied a softmax down the columns of {step}", "(_V).softmax(-2)"),
    (
        "applied a softmax to each item of {step} as a whole",
        "(_V).flatten(1).softmax(-1).view_as(_V)",
    ),
    ("subtracted its mean from each row of {step}", "(_V) - (_V).mean(-1, keepdim=True)"),
    ("subtracted its largest number from each row of {step}", "(_V) - (_V).amax(-1, keepdim=True)"),
    ("divided each row of {step} by its sum", "(_V) / (_V).sum(-1, keepdim=True)"),
    ("divided each row of {step} by its length", "(_V) / (_V).norm(dim=-1, keepdim=True)"),
    (
        "brought each row of {step} to mean 0 and variance 1",
        "((_V) - (_V).mean(-1, keepdim=True)) / (_V).std(-1, correction=0, keepdim=True)",
    ),
    ("set the negative numbers of {step} to 0", "(_V).clamp(min=0)"),
    ("used the absolute value of {step}", "(_V).abs()"),
    ("set what lies above the diagonal of {step} to 0", "(_V).tril()"),
    ("masked the future in {step}", "(_V) + (_V).new_full((_V).shape, -torch.inf).triu(1)"),
    ("masked the past in {step}", "(_V) + (_V).new_full((_V).shape, -torch.inf).tril(-1)"),
    ("set the diagonal of {step} to 0", "(_V) - (_V) * torch.eye((_V).shape[-1])"),
    ("reversed {step} along the last axis", "(_V).flip(-1)"),
    ("moved {step} one place on along the last axis", "(_V).roll(1, -1)"),
    ("moved {step} one place on along the axis before the last", "(_V).roll(1, -2)"),
    ("moved {step} one place back along the axis before the last", "(_V).roll(-1, -2)"),
    ("used the first item of {step} for all items", "(_V)[:1].expand((_V).shape)"),
    ("used the last item of {step} for all items", "(_V)[-1:].expand((_V).shape)"),
    ("used the mean over all items of {step}", "(_V).mean(0, keepdim=True).expand((_V).shape)"),
    ("kept no gradient of {step}", "(_V).detach()"),
    ("negated {step}", "~(_V)"),
    ("squared {step}", "(_V) ** 2"),
    ("added 1 to {step}", "(_V) + 1"),
    ("subtracted 1 from {step}", "(_V) - 1"),
)
# What may be done to the last step besides.
_AT_THE_END = (
    ("used the logarithm of {step}", "(_V).log()"),
    ("applied a softmax and the logarithm to {step}", "(_V).log_softmax(-1)"),
    ("raised e to the power of {step}", "(_V).exp()"),
    ("used the root of {step}", "(_V) ** 0.5"),
    ("put a sigmoid around {step}", "(_V).sigmoid()"),
    ("put a tanh around {step}", "(_V).tanh()"),
    ("doubled {step}", "(_V) * 2"),
    ("halved {step}", "(_V) / 2"),
    ("rounded {step} to whole numbers", "(_V).round()"),
    ("set NaN in {step} to 0", "(_V).nan_to_num(0.0)"),
    ("divided each column of {step} by its sum", "(_V) / (_V).sum(-2, keepdim=True)"),
)


def afterwards(names: Sequence[tuple[str, str]], *, last: bool) -> Iterator[Change]:
    """What may be done to the value of a step.

    Parameters
    ----------
    names : sequence of (str, str)
        The names of other values, and what they are called.
    last : bool
        Whether it is the value that is returned.
    """
    for words, code in (*_AFTERWARDS, *(_AT_THE_END if last else ())):
        yield Change("afterwards", _around(code), words)
    for name, called in names:
        for words, code in (
            (f"added {called} to {{step}}", f"(_V) + ({name})"),
            (f"multiplied {{step}} by {called}", f"(_V) * ({name})"),
            (f"divided {{step}} by {called}", f"(_V) / ({name})"),
            (f"divided {{step}} by the root of {called}", f"(_V) / ({name}) ** 0.5"),
        ):
            yield Change("afterwards", _around(code), words)


def exchanged_results(node: ast.Tuple) -> Iterator[Change]:
    """Two neighbors of what an answer returns, in the other order."""
    for number in range(len(node.elts) - 1):
        yield Change(
            "results",
            lambda n, number=number: _set(n, elts=_with_neighbors_exchanged(n.elts, number)),
        )


def _with_neighbors_exchanged(items: list[Any], number: int) -> list[Any]:
    return [*items[:number], items[number + 1], items[number], *items[number + 2 :]]


def _are_two_indices(node: Any) -> bool:
    return (
        isinstance(node, ast.Tuple)
        and len(node.elts) == 2
        and not any(isinstance(one, ast.Slice | ast.Constant) for one in node.elts)
    )


def attributes(others: Iterable[str]) -> Iterator[Change]:
    """Another attribute of the same object."""
    for name in others:
        yield Change("name", lambda n, name=name: _set(n, attr=name))


def is_negative(node: Any) -> bool:
    """True of a negative whole number, which is one number and not a sign before another."""
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
        and type(node.operand.value) is int
    )


def is_length(node: Any) -> bool:
    """True of the length of an axis, which is one number."""
    return isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith(".shape")


def _around(code: str) -> Callable[[Any], Any]:
    """Puts a node in the place of each `_V` in an expression."""

    def make(node: Any) -> Any:
        class Put(ast.NodeTransformer):
            def visit_Name(self, name: ast.Name) -> Any:
                return copy.deepcopy(node) if name.id == "_V" else name

        return Put().visit(ast.parse(code, mode="eval").body)

    return make


def misreadings(node: Any) -> Iterator[Change]:
    """What else is made of an expression with tensors."""
    if isinstance(node, ast.Call):
        yield from _of_axes(node)
        yield from _of_call(node)
    elif isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Add | ast.Mult | ast.Sub | ast.BitAnd | ast.BitOr):
            yield Change("right-alone", lambda n: n.right)
        if isinstance(node.op, ast.Pow) and ast.unparse(node.right) in ("0.5", "-0.5"):
            yield Change("root", lambda n: n.left)
    elif isinstance(node, ast.Attribute) and node.attr in ("mT", "T"):
        yield Change("transpose", lambda n: n.value)
        yield Change("view", _as_view)
    if (said := ast.unparse(node)) in ("-math.inf", "-torch.inf", "-float('inf')", "float('-inf')"):
        for fill in _FILLS:
            yield Change("fill", lambda _, fill=fill: ast.parse(repr(fill), mode="eval").body)
        yield Change("fill", lambda _: ast.parse(said.replace("-", ""), mode="eval").body)


def _of_axes(node: Any) -> Iterator[Change]:
    name = called(node)
    if name not in _ALONG:
        return
    for number, keyword in enumerate(node.keywords):
        if keyword.arg not in ("dim", "dims", "axis"):
            continue
        held = ast.unparse(keyword.value)
        for axis in _AXES:
            if str(axis) != held:
                yield Change(
                    "axis",
                    lambda n, axis=axis, number=number: _set(
                        n,
                        keywords=[
                            *n.keywords[:number],
                            ast.keyword(n.keywords[number].arg, _whole(axis)),
                            *n.keywords[number + 1 :],
                        ],
                    ),
                )
        if name in ("sum", "mean", "var", "std", "amax", "amin", "logsumexp", "norm"):
            rest = ("keepdim", "keepdims", keyword.arg)
            yield Change(
                "everything",
                lambda n, rest=rest: _set(
                    n, keywords=[one for one in n.keywords if one.arg not in rest]
                ),
            )


def _of_call(node: Any) -> Iterator[Change]:
    name = called(node)
    if isinstance(node.func, ast.Attribute) and _is_module(node.func.value) and node.args:
        yield Change("call", lambda n: n.args[0])
    if name in _AGAIN:
        yield Change("twice", _twice)
    if name == "sqrt" and node.args:
        yield Change("half", lambda n: ast.BinOp(n.args[0], ast.Div(), _whole(2)))
        yield Change("double", lambda n: ast.BinOp(n.args[0], ast.Mult(), _whole(2)))
    if name == "transpose" and isinstance(node.func, ast.Attribute):
        yield Change("view", _as_view)
        for axes in ((0, 1), (1, 2), (-3, -2)):
            if ast.unparse(ast.Tuple([_whole(a) for a in axes], ast.Load())) != ast.unparse(
                ast.Tuple(list(node.args), ast.Load())
            ):
                yield Change(
                    "axes",
                    lambda n, axes=axes: _set(n, args=[_whole(axis) for axis in axes]),
                )
    if name in ("tril", "triu"):
        rest, held = [k for k in node.keywords if k.arg != "diagonal"], _diagonal(node)
        for by in (1, -1):
            begins = ast.keyword("diagonal", _whole(held + by))
            yield Change(
                "diagonal", lambda n, rest=rest, begins=begins: _set(n, keywords=[*rest, begins])
            )
    if name == "repeat_interleave" and isinstance(node.func, ast.Attribute):
        yield Change("in-turn", _copied_in_turn)
    if name == "where" and len(node.args) == 3:
        yield Change("exchanged-choices", lambda n: _set(n, args=[n.args[0], *n.args[:0:-1]]))
    if name in ("masked_fill", "where") and node.args:
        yield Change(
            "negated-mask",
            lambda n: _set(n, args=[ast.UnaryOp(ast.Invert(), n.args[0]), *n.args[1:]]),
        )
    if name in ("var", "std"):
        yield Change("correction", _other_correction)


def _copied_in_turn(node: Any) -> Any:
    """Copies of the whole along the axis along which each item should be copied."""
    times = next((k.value for k in node.keywords if k.arg == "repeats"), (*node.args, None)[0])
    axis = next((k.value for k in node.keywords if k.arg == "dim"), (*node.args, None, None)[1])
    whole = ast.BinOp(ast.List([node.func.value], ast.Load()), ast.Mult(), times)
    cat = ast.Attribute(ast.Name("torch", ast.Load()), "cat", ast.Load())
    return ast.Call(cat, [whole], [ast.keyword("dim", axis)])


def _diagonal(node: Any) -> int:
    held = next((k.value for k in node.keywords if k.arg == "diagonal"), None)
    return 0 if held is None else int(ast.literal_eval(held))


def _other_correction(node: Any) -> Any:
    held = {k.arg: ast.unparse(k.value) for k in node.keywords}
    none = held.get("correction") == "0" or held.get("unbiased") == "False"
    rest = [k for k in node.keywords if k.arg not in ("correction", "unbiased")]
    return _set(node, keywords=[*rest, ast.keyword("correction", _whole(1 if none else 0))])


def _twice(node: Any) -> Any:
    inner = copy.deepcopy(node)
    if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
        return _set(node, func=ast.Attribute(inner, node.func.attr, ast.Load()))
    return _set(node, args=[inner, *node.args[1:]])


def _as_view(node: Any) -> Any:
    """`x.reshape(x.mT.shape)` for `x.mT`: the shape of a transpose, with nothing moved."""
    held = node.value if isinstance(node, ast.Attribute) else node.func.value
    made = _around("(_V).reshape(_W.shape)")(held)

    class Put(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> Any:
            return copy.deepcopy(node) if name.id == "_W" else name

    return Put().visit(made)


def _whole(number: int) -> Any:
    if number < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-number))
    return ast.Constant(number)


def _is_module(node: Any) -> bool:
    return ast.unparse(node) in MODULES


def called(node: Any) -> str:
    """The name of a function or method."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)


def _is_called(node: Any, name: str) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr == name


def _set(node: Any, **fields: object) -> Any:
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


def changed(source: str, lines: dict[int, str]) -> str:
    """The source with other lines; one that becomes empty is left out."""
    return "\n".join(lines.get(n, line) for n, line in enumerate(source.splitlines()))
