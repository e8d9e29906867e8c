"""What an edit did, in the words of the step that it is in.

A phrase is in the past tense, so that it can follow "you" and "as if you had": "left out the
division by √D in your scores". Expressions are said by what the steps call their values. Where one
can't be said shortly, the edit has no phrase and never speaks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

from course_judges.edits.operators import MODULES, called

_MOST_CHARACTERS = 60

_NOUNS = {
    "softmax": "the softmax",
    "log_softmax": "the softmax",
    "exp": "the exponential",
    "log": "the logarithm",
    "sqrt": "the root",
    "rsqrt": "the root",
    "sum": "the sum",
    "mean": "the mean",
    "cumsum": "the running sum",
    "var": "the variance",
    "std": "the standard deviation",
    "norm": "the length",
    "transpose": "the transpose",
    "masked_fill": "the mask",
    "abs": "the absolute value",
    "square": "the square",
    "clamp": "the limit",
    "max": "the maximum",
    "amax": "the maximum",
    "argmax": "the choice of the largest",
    "relu": "the ReLU",
    "gelu": "the GELU",
    "tanh": "the tanh",
}
_SIGNS: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "≤",
    ast.Gt: ">",
    ast.GtE: "≥",
    ast.Eq: "=",
    ast.NotEq: "≠",
}
_JOINED: dict[type[ast.AST], str] = {
    ast.Add: "the sum of {} and {}",
    ast.Sub: "the difference of {} and {}",
    ast.Mult: "the product of {} and {}",
    ast.MatMult: "the product of {} and {}",
    ast.Div: "{} divided by {}",
}
_LEFT_OUT: dict[type[ast.AST], str] = {
    ast.Add: "left out {} in {step}",
    ast.Sub: "left out the subtraction of {} in {step}",
    ast.Mult: "left out the factor {} in {step}",
    ast.MatMult: "left out the product with {} in {step}",
    ast.Div: "left out the division by {} in {step}",
    ast.FloorDiv: "left out the division by {} in {step}",
    ast.Mod: "left out the remainder by {} in {step}",
    ast.BitAnd: "left out {} in {step}",
    ast.BitOr: "left out {} in {step}",
}
_INSTEAD: dict[tuple[type[ast.AST], type[ast.AST]], str] = {
    (ast.Add, ast.Sub): "subtracted instead of adding {} in {step}",
    (ast.Sub, ast.Add): "added instead of subtracting {} in {step}",
    (ast.Mult, ast.Div): "divided instead of multiplying by {} in {step}",
    (ast.Div, ast.Mult): "multiplied instead of dividing by {} in {step}",
    (ast.BitAnd, ast.BitOr): "used “or” instead of “and” in {step}",
    (ast.BitOr, ast.BitAnd): "used “and” instead of “or” in {step}",
    (ast.Pow, ast.Mult): "multiplied by {} instead of using it as an exponent in {step}",
}


def said(node: Any, names: Mapping[str, str]) -> str:
    """An expression in words; empty if it can't be said shortly.

    Parameters
    ----------
    node : ast.expr
    names : mapping of str to str
        What the values of variables are called: {"query": "the queries"}.
    """
    text = _said(node, names)
    return text if len(text) <= _MOST_CHARACTERS else ""


def _said(node: Any, names: Mapping[str, str]) -> str:
    if (code := ast.unparse(node)) in names:
        return names[code]
    if isinstance(node, ast.Name):
        return f"`{node.id}`"
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
        return f"`{code}`"
    if code in ("torch.inf", "math.inf", "float('inf')"):
        return "∞"
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        if isinstance(node.value, bool):
            return str(node.value)
        return re.sub(r"e(-?)\+?0*", r"e\1", f"{node.value:g}").replace("-", "−")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _said(node.operand, names)
        return f"−{inner}" if inner and " " not in inner else ""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        inner = _said(node.operand, names)
        return f"the opposite of {inner}" if inner else ""
    if isinstance(node, ast.BinOp):
        return _of_two(node, names)
    if isinstance(node, ast.Attribute) and node.attr in ("mT", "T"):
        inner = _said(node.value, names)
        return f"{inner} transposed" if inner else ""
    if isinstance(node, ast.Call):
        return _of_call(node, names)
    if isinstance(node, ast.Subscript):
        return _of_subscript(node, names)
    return ""


def _of_two(node: ast.BinOp, names: Mapping[str, str]) -> str:
    if isinstance(node.op, ast.Pow):
        base, power = _said(node.left, names), ast.unparse(node.right)
        return _power(base, power) if base else ""
    parts = _said(node.left, names), _said(node.right, names)
    form = _JOINED.get(type(node.op), "")
    if isinstance(node.op, ast.Div) and parts[1] == "2":
        return f"half of {parts[0]}"
    if isinstance(node.op, ast.Mult) and "2" in parts:
        return f"twice {parts[0] if parts[1] == '2' else parts[1]}"
    return form.format(*parts) if all(parts) else ""


def _power(base: str, power: str) -> str:
    short = " " not in base
    if power == "0.5":
        return f"√{base}" if short else f"the root of {base}"
    if power == "2":
        return f"{base}²" if short else f"the square of {base}"
    return ""


def _of_call(node: ast.Call, names: Mapping[str, str]) -> str:
    name = called(node)
    of = node.args[0] if node.args else None
    if isinstance(node.func, ast.Attribute):
        owner = ast.unparse(node.func.value)
        if owner not in MODULES:
            of = node.func.value
    inner = _said(of, names) if of is not None else ""
    if not inner:
        return ""
    if name == "sqrt":
        return _power(inner, "0.5")
    if name == "transpose":
        return f"{inner} transposed"
    if name in ("long", "float", "to", "int"):
        return inner
    if name == "clamp":
        return f"{inner} within its limits"
    return f"{_NOUNS[name]} of {inner}" if name in _NOUNS else ""


def _of_subscript(node: ast.Subscript, names: Mapping[str, str]) -> str:
    inner = node.value
    if isinstance(inner, ast.Attribute) and inner.attr == "shape":
        whose, axis = _said(inner.value, names), ast.unparse(node.slice).replace("-", "−")
        return f"the length of axis {axis} of {whose}" if whose else ""
    whose = _said(inner, names)
    # What only adds an axis, or cuts to a length, is the same thing.
    return (
        whose
        if not any(
            isinstance(n, ast.Constant | ast.Name) and not _is_none(n) for n in _indices(node.slice)
        )
        else ""
    )


def _indices(node: Any) -> list[Any]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _is_none(node: Any) -> bool:
    return isinstance(node, ast.Constant) and node.value in (None, ...)


def phrase(operator: str, before: Any, after: Any, step: str, names: Mapping[str, str]) -> str:
    """What an edit did to a step; empty if it can't be said.

    Parameters
    ----------
    operator : str
        Its `Change.operator`.
    before, after : AST
        The node as it was, and what stands in its place.
    step : str
        What the step is called: "your scores".
    names : mapping of str to str
        What the values of variables are called.
    """
    say = _PHRASES.get(operator)
    text = say(before, after, names) if say else ""
    return text.replace("{step}", step).replace(f"{step} in {step}", step)


def _instead(before: Any, after: Any, names: Mapping[str, str]) -> str:
    old, new = said(before, names), said(after, names)
    return f"used {new} instead of {old} in {{step}}" if old and new and old != new else ""


def _exchanged(before: Any, _: Any, names: Mapping[str, str]) -> str:
    one, other = said(before.left, names), said(before.right, names)
    return f"exchanged {one} and {other} in {{step}}" if one and other and one != other else ""


def _indices_exchanged(before: Any, _: Any, names: Mapping[str, str]) -> str:
    one, other = (said(index, names) for index in before.slice.elts)
    return f"exchanged the indices {one} and {other} in {{step}}" if one and other else ""


def _results(before: Any, after: Any, names: Mapping[str, str]) -> str:
    words = [
        said(old, names)
        for old, new in zip(before.elts, after.elts, strict=True)
        if ast.dump(old) != ast.dump(new)
    ]
    return f"exchanged {' and '.join(words)} in {{step}}" if all(words) and len(words) == 2 else ""


def _arguments(before: Any, after: Any, names: Mapping[str, str]) -> str:
    moved = [a for a, b in zip(before.args, after.args, strict=True) if ast.dump(a) != ast.dump(b)]
    words = [said(one, names) for one in moved]
    return f"exchanged {' and '.join(words)} in {{step}}" if all(words) and len(words) == 2 else ""


def _left_alone(before: Any, _: Any, names: Mapping[str, str]) -> str:
    if isinstance(before.op, ast.Pow):
        return _power_left_out(before, names)
    return _operand_left_out(before.op, said(before.right, names))


def _operand_left_out(operation: ast.operator, what: str) -> str:
    form = _LEFT_OUT.get(type(operation), "")
    if isinstance(operation, ast.Mult) and " " in what:
        form = "left out the multiplication by {} in {step}"
    return form.replace("{}", what) if what else ""


def _power_left_out(before: Any, names: Mapping[str, str]) -> str:
    base, power = said(before.left, names), ast.unparse(before.right)
    if power in ("0.5", "2"):
        kind = "root" if power == "0.5" else "square"
        return f"left out the {kind} of {base} in {{step}}" if base else ""
    exponent = said(before.right, names)
    return f"used {base} without the exponent {exponent} in {{step}}" if base and exponent else ""


def _right_alone(before: Any, _: Any, names: Mapping[str, str]) -> str:
    what = said(before.left, names)
    if isinstance(before.op, ast.Sub):
        return f"used only what should be subtracted from {what} in {{step}}" if what else ""
    return _operand_left_out(before.op, what)


def _arithmetic(before: Any, after: Any, names: Mapping[str, str]) -> str:
    right = getattr(before, "right", None) or before.value
    what, form = said(right, names), _INSTEAD.get((type(before.op), type(after.op)), "")
    return form.replace("{}", what) if what else ""


def _root(_: Any, after: Any, names: Mapping[str, str]) -> str:
    inner = said(after, names)
    return f"left out the root of {inner} in {{step}}" if inner else ""


def _comparison(before: Any, after: Any, _: Mapping[str, str]) -> str:
    old, new = (_SIGNS.get(type(node.ops[0]), "") for node in (before, after))
    return f"compared with {new} instead of {old} in {{step}}" if old and new else ""


def _axis(before: Any, after: Any, _: Mapping[str, str]) -> str:
    held = [
        next(k.value for k in node.keywords if k.arg in ("dim", "dims", "axis"))
        for node in (before, after)
    ]
    old, new = (ast.unparse(one).replace("-", "−") for one in held)
    return f"used axis {new} instead of axis {old} for {_noun(before)} in {{step}}"


def _noun(node: Any) -> str:
    return _NOUNS.get(called(node), f"`{called(node)}`")


def _call_left_out(before: Any, after: Any, names: Mapping[str, str]) -> str:
    if isinstance(after, ast.Name) and after.id in MODULES:
        return ""
    if called(before) == "sqrt" and before.args:
        return _root(before, before.args[0], names)
    return f"left out {_noun(before)} in {{step}}"


def _fill(before: Any, after: Any, names: Mapping[str, str]) -> str:
    return f"filled with {said(after, names)} instead of {said(before, names)} in {{step}}"


def _diagonal(before: Any, after: Any, _: Mapping[str, str]) -> str:
    old, new = (
        next((_plain(k.value) for k in node.keywords if k.arg == "diagonal"), "0")
        for node in (before, after)
    )
    return f"used `{called(after)}` with diagonal {new} instead of {old} in {{step}}"


def _slice(before: Any, after: Any, _: Mapping[str, str]) -> str:
    for end, one, words in (
        ("lower", "began", ("used a slice from the start", "one place later", "one place earlier")),
        ("upper", "ended", ("used a slice to the end", "one place later", "one place earlier")),
    ):
        old, new = getattr(before, end), getattr(after, end)
        if old is None or (new is not None and ast.dump(old) == ast.dump(new)):
            continue
        if new is None:
            return f"{words[0]} in {{step}}"
        side = words[1] if isinstance(new.op, ast.Add) else words[2]
        return f"used a slice that {one} {side} in {{step}}"
    return ""


def _number(before: Any, after: Any, names: Mapping[str, str]) -> str:
    if isinstance(getattr(before, "value", None), bool):
        return ""
    return f"used {said(after, names)} instead of {said(before, names)} in {{step}}"


def _function(before: Any, after: Any, _: Mapping[str, str]) -> str:
    return f"used `{called(after)}` instead of `{called(before)}` in {{step}}"


def _keyword(before: Any, after: Any, _: Mapping[str, str]) -> str:
    kept = {one.arg for one in after.keywords}
    gone = next((one.arg for one in before.keywords if one.arg not in kept), "")
    return f"left out `{gone}` for {_noun(before)} in {{step}}"


def _correction(_: Any, after: Any, __: Mapping[str, str]) -> str:
    by = next(ast.unparse(k.value) for k in after.keywords if k.arg == "correction")
    divisor = "n − 1 instead of n" if by == "1" else "n instead of n − 1"
    return f"divided by {divisor} for {_noun(after)} in {{step}}"


_PHRASES = {
    "name": _instead,
    "half": _instead,
    "double": _instead,
    "exchanged": _exchanged,
    "arguments-exchanged": _arguments,
    "indices": _indices_exchanged,
    "results": _results,
    "left-alone": _left_alone,
    "right-alone": _right_alone,
    "arithmetic": _arithmetic,
    "root": _root,
    "comparison": _comparison,
    "axis": _axis,
    "call": _call_left_out,
    "fill": _fill,
    "diagonal": _diagonal,
    "slice": _slice,
    "number": _number,
    "function": _function,
    "keyword": _keyword,
    "correction": _correction,
    "sign": lambda before, _, __: (
        "left out the negation in {step}"
        if isinstance(before.op, ast.Not | ast.Invert)
        else "left out the sign in {step}"
    ),
    "condition": lambda *_: "turned the condition round in {step}",
    "left-out": lambda *_: "left out {step}",
    "everything": lambda before, *_: f"used {_noun(before)} over everything at once in {{step}}",
    "twice": lambda before, *_: f"used {_noun(before)} twice in {{step}}",
    "transpose": lambda *_: "left out the transpose in {step}",
    "view": lambda *_: "used `view` or `reshape` instead of a transpose in {step}",
    "axes": lambda _, after, __: (
        f"exchanged axes {_plain(after.args[0])} and {_plain(after.args[1])} in {{step}}"
    ),
    "in-turn": lambda *_: "used `repeat` instead of `repeat_interleave` in {step}",
    "exchanged-choices": lambda *_: "exchanged the two choices in {step}",
    "negated-mask": lambda *_: "masked exactly what should be seen in {step}",
}


def teaches(operator: str, before: Any, after: Any) -> str:
    """What holds of every edit of a kind, whatever the task; empty if there is nothing to add.

    Parameters
    ----------
    operator : str
        Its `Change.operator`.
    before, after : AST
        The node as it was, and what stands in its place.
    """
    say = _TEACHES.get(operator)
    return say(before, after) if say else ""


def _of_keyword(before: Any, after: Any) -> str:
    kept = {one.arg for one in after.keywords}
    gone = {one.arg for one in before.keywords} - kept
    if gone & {"keepdim", "keepdims"}:
        return (
            "Without it the axis is gone, and broadcasting then aligns what is left from the end."
        )
    return ""


def _of_function(before: Any, after: Any) -> str:
    return _OF_FUNCTIONS.get((called(before), called(after)), "")


def _of_diagonal(before: Any, _: Any) -> str:
    return {
        "tril": "Diagonal 0 is the last one that `tril` keeps; 1 also keeps the place after it, "
        "and −1 leaves it out.",
        "triu": "Diagonal 0 is the first one that `triu` keeps; −1 also keeps the place before "
        "it, and 1 leaves it out.",
    }[called(before)]


def _of_comparison(before: Any, after: Any) -> str:
    signs = {_SIGNS.get(type(node.ops[0]), "") for node in (before, after)}
    if signs in ({"<", "≤"}, {">", "≥"}):
        return "The two differ only where both sides are equal."
    return ""


_OF_FUNCTIONS = {
    ("exp", "exp2"): "`exp2` has powers of 2 instead of e.",
    ("log", "log2"): "`log2` counts in powers of 2, so it is log / log(2).",
    ("log", "log10"): "`log10` counts in powers of 10.",
    ("sum", "mean"): "A mean is a sum divided by how many there are.",
    ("mean", "sum"): "A sum grows with how many there are.",
    ("softmax", "sigmoid"): "A sigmoid looks at each number alone, so a row doesn't sum to 1.",
    ("softmax", "log_softmax"): "`log_softmax` gives the logarithms of the weights.",
    ("log_softmax", "softmax"): "`softmax` gives the weights themselves, not their logarithms.",
    ("var", "std"): "`std` is the root of `var`.",
    ("std", "var"): "`var` is the square of `std`.",
    (
        "tril",
        "triu",
    ): "`tril` keeps what lies on and below the diagonal, and `triu` what lies on and above it.",
    (
        "triu",
        "tril",
    ): "`triu` keeps what lies on and above the diagonal, and `tril` what lies on and below it.",
    ("cat", "stack"): "`stack` makes a new axis, and `cat` joins along one that is there.",
    ("stack", "cat"): "`cat` joins along an axis that is there, and `stack` makes a new one.",
}
_TEACHES: dict[str, Callable[[Any, Any], str]] = {
    "view": lambda *_: (
        "`view` and `reshape` only read the same numbers in the same order; a transpose moves them."
    ),
    "half": lambda *_: (
        "`n ** 1 / 2` is half of n, because `**` binds more tightly than `/`. Write `n ** 0.5`."
    ),
    "double": lambda *_: (
        "`x / n ** 1 / 2` divides by n and then by 2, because `**` binds more tightly than `/`. "
        "Write `n ** 0.5`."
    ),
    "in-turn": lambda *_: (
        "`repeat_interleave` puts the copies of an item beside each other, and `repeat` puts "
        "copies of the whole one after the other."
    ),
    "keyword": _of_keyword,
    "function": _of_function,
    "diagonal": _of_diagonal,
    "comparison": _of_comparison,
    "correction": lambda *_: "`var` and `std` divide by n − 1 unless you write `correction=0`.",
    "everything": lambda *_: "Without `dim`, it takes all numbers of the tensor together.",
}


def _plain(node: Any) -> str:
    return ast.unparse(node).replace("-", "−")
