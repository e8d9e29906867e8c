"""All questions that can be asked about a student's code, kind by kind.

Every key was run, and every wrong option is the result of another change or of a misreading that
was computed. Options of a question differ visibly with two decimals, and never agree in any draw.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from course_judges import catalogue
from course_judges.defending.contract import Option, Question
from course_judges.defending.program import RETURNED
from course_judges.defending.shown import GENERATOR, Shown, Variant, part_said, short
from course_judges.defending.values import Value, places, presentable, written, written_shape

WRONG = 3
_INDICES_OF_A_LINE = 3
_LONGEST_VALUE = 16
_STOPS = "It stops with an error."
# What doubling a dimension can do to a line; within so much of it, a count is said to do it.
_GROWTHS = ((1, "It stays as it is."), (2, "It doubles."), (4, "It becomes 4 times as large."))
_NEVER = (8, "It becomes 8 times as large.")
_WITHIN = 0.12
_LEAST_COUNT = 6

# Changes that a person makes by mistake, and can give a reason against.
_MISREADINGS = frozenset({
    "axis", "call", "left-out", "left-alone", "right-alone", "exchanged", "transpose", "view",
    "comparison", "arithmetic", "keyword", "correction", "diagonal", "function", "root", "fill",
    "everything", "slice", "negated-mask", "exchanged-choices", "sign", "axes", "argument",
})  # fmt: skip
_QUESTIONS_IN_WORDS = 6

Options = Sequence[Option]
_One = TypeVar("_One")


def questions(shown: Shown, rng: np.random.Generator, most: int | None = None) -> list[Question]:
    """Every question that can be asked.

    Parameters
    ----------
    shown : Shown
    rng : Generator
        Chooses wrong options and their order.
    most : int, optional
        So many of a kind, and no more; all by default.
    """
    found: list[Question] = []
    for make in (_read, _shape, _change, _same, _stop, _find, _leak, _nan, _scale, _why):
        found += itertools.islice(make(shown, rng), most)
    return found


def _mixed(ones: Iterable[_One], rng: np.random.Generator) -> list[_One]:
    """In another order, so that the first few are about any line."""
    held = list(ones)
    return [held[n] for n in rng.permutation(len(held))]


def _asked(
    shown: Shown,
    kind: str,
    topic: str,
    lines: tuple[int, int] | None,
    text: str,
    options: Options,
    rng: np.random.Generator,
) -> Question:
    order = rng.permutation(len(options))
    quoted = shown.program.quoted(*lines) if lines else ()
    return Question(kind, topic, quoted, text, tuple(options[n] for n in order))


def _take(
    right: Value, candidates: Sequence[tuple[Value, str]], write: Callable[[Value], str]
) -> list[Option]:
    """So many wrong options that differ from the right one and from each other."""
    taken: list[tuple[Value, str]] = []
    for value, reason in candidates:
        if len(taken) == WRONG:
            break
        if presentable(value) and all(
            value.apart(other) for other in (right, *(one for one, _ in taken))
        ):
            taken.append((value, reason))
    return [Option(write(value), right=False, reason=reason) for value, reason in taken]


def _read(shown: Shown, rng: np.random.Generator) -> Iterator[Question]:
    """What an entry holds after a line."""
    if not shown.on_paper:
        return
    given = list(shown.arguments.values())
    for line, name, count, value in _mixed(shown.seen(), rng):
        if not _legible(value) or any(value.same(one) for one in given):
            continue
        indices = list(places(value.shape))
        made = 0
        for number in rng.permutation(len(indices)):
            index = indices[number]
            right = value.at(index)
            if not presentable(right) or made == _INDICES_OF_A_LINE:
                continue
            candidates = list(_misread(shown, line, name, value, index, rng))
            wrong = _take(right, candidates, lambda v: f"`{written(v)}`")
            if len(wrong) < WRONG:
                continue
            made += 1
            all_of_it = index and presentable(value)
            whole = f" All of it: `{written(value)}`." if all_of_it else ""
            because = f"Your code was run on this input.{whole}"
            options = [Option(f"`{written(right)}`", right=True, reason=because), *wrong]
            what = _entry(name, index, value, line)
            said = _after(line, count)
            topic = f"read {line} {name} {index} {written(right)}"
            statement = _lines_of(shown, line)
            text = f"What does {what} hold {said}?" if name_is_plain(name) else f"What is {what}?"
            yield _asked(shown, "read", topic, statement, text, options, rng)


def _legible(value: Value) -> bool:
    """Whether all of a value was kept, so that a part of it can be asked for."""
    return value.kind == "text" or (value.array is not None and len(value.shape) <= 4)


def name_is_plain(name: str) -> bool:
    """Whether a value has a name of its own, and is not only returned."""
    return name.isidentifier()


def _after(line: int, count: int) -> str:
    times = " has run for the first time" if count > 1 else ""
    return f"right after your line {line}{times}"


def _entry(name: str, index: tuple[int, ...], value: Value, line: int) -> str:
    at = ""
    if index and value.python:
        at = "".join(f"[{n}]" for n in index)
    elif index:
        at = f"[{', '.join(map(str, index))}]"
    if name_is_plain(name):
        return f"`{name}{at}`"
    part = part_said(name, f"line {line}")
    return f"entry `{at}` of {part}" if at else part


def _misread(
    shown: Shown,
    line: int,
    name: str,
    value: Value,
    index: tuple[int, ...],
    rng: np.random.Generator,
) -> Iterator[tuple[Value, str]]:
    """Wrong answers to a reading question, the most plausible first, and where they come from."""
    if len(index) >= 2:
        turned = (*index[:-2], index[-1], index[-2])
        if all(n < length for n, length in zip(turned, value.shape, strict=True)):
            reason = f"That is {_entry(name, turned, value, line)}: row and column exchanged."
            yield value.at(turned), reason
    for number in rng.permutation(len(shown.variants)):
        one = shown.variants[number]
        other = shown.of_variant(one, line, name)
        if other is None or not _legible(other) or other.shape != value.shape:
            continue
        if presentable(other.at(index)):
            yield other.at(index), f"That comes out if {one.edit.condition}."
    others = list(places(value.shape))
    for number in rng.permutation(len(others)):
        other_index = others[number]
        if other_index != index and presentable(value.at(other_index)):
            yield value.at(other_index), f"That is {_entry(name, other_index, value, line)}."
    for before, other_name, _, held in shown.seen():
        known = before < line and _legible(held) and held.shape == value.shape
        if known and presentable(held.at(index)):
            reason = f"That is {_entry(other_name, index, held, before)} after line {before}."
            yield held.at(index), reason


def _lines_of(shown: Shown, line: int) -> tuple[int, int]:
    """All lines of the statement that begins on one, without what it repeats."""
    for statement in shown.program.statements:
        if statement.lineno == line:
            return line, statement.end_lineno or line
    return line, line


def _shape(shown: Shown, rng: np.random.Generator) -> Iterator[Question]:
    """Which shape a value has after a line."""
    # Of what a class is built with, the paper has the parameters.
    known = [
        value.kind in ("text", "array") or "(" in name or value.text == GENERATOR
        for name, value in shown.arguments.items()
    ]
    if not all(known) or not known:
        return
    for line, name, count, value in _mixed(shown.seen(), rng):
        if value.kind != "array" or value.python or not 1 <= len(value.shape) <= 5:
            continue
        candidates = _other_shapes(shown, line, name, value, rng)
        taken: dict[tuple[int, ...], str] = {}
        for shape, reason in candidates:
            if shape != value.shape and len(taken) < WRONG:
                taken.setdefault(shape, reason)
        if len(taken) < WRONG:
            continue
        options = [
            Option(
                f"`{written_shape(value.shape)}`",
                right=True,
                reason="Your code was run on this input.",
            ),
            *(Option(f"`{written_shape(s)}`", right=False, reason=r) for s, r in taken.items()),
        ]
        what = f"`{name}`" if name_is_plain(name) else _entry(name, (), value, line)
        said = f" {_after(line, count)}" if name_is_plain(name) else ""
        topic = f"shape {line} {name} {value.shape}"
        text = f"What is the shape of {what}{said}?"
        yield _asked(shown, "shape", topic, _lines_of(shown, line), text, options, rng)


def _other_shapes(
    shown: Shown, line: int, name: str, value: Value, rng: np.random.Generator
) -> list[tuple[tuple[int, ...], str]]:
    found: list[tuple[tuple[int, ...], str]] = []
    for one in shown.variants:
        other = shown.of_variant(one, line, name)
        if other is not None and other.kind == "array":
            found.append((other.shape, f"That comes out if {one.edit.condition}."))
    for own, given in shown.arguments.items():
        if given.kind == "array" and given.shape:
            found.append((given.shape, f"That is the shape of `{own}`."))
    for at, other_name, _, held in shown.seen():
        if held.kind == "array" and held.shape and at != line and name_is_plain(other_name):
            found.append((held.shape, f"That is the shape of `{other_name}` after line {at}."))
    found = [found[n] for n in rng.permutation(len(found))]
    if len(value.shape) > 1:
        exchanged = (*value.shape[:-2], value.shape[-1], value.shape[-2])
        found.insert(0, (exchanged, "The last two axes are exchanged."))
        found.append((value.shape[:-1], "The last axis is still there."))
        found.append((value.shape[1:], "The first axis is still there."))
    found.append(((*value.shape, 1), "Nothing adds an axis of length 1 at the end."))
    found.append(((1, *value.shape), "Nothing adds an axis of length 1 in front."))
    longer = (*value.shape[:-1], value.shape[-1] + 1)
    found.append((longer, "The last axis is one shorter than that."))
    return found


def _views(value: Value) -> Iterator[tuple[int, ...]]:
    """Parts of a value that are small enough, the whole first."""
    if not value.shape and _legible(value):
        yield ()
    if value.array is None:
        return
    for depth in range(value.array.ndim):
        size = int(np.prod(value.shape[depth:]))
        if size <= (_LONGEST_VALUE if depth == 0 else 8):
            yield from places(value.shape[:depth])
            return


def _part(value: Value, index: tuple[int, ...], shape: tuple[int, ...]) -> Value | None:
    """The same part of another result; all of it if that has another shape."""
    if not _legible(value):
        return None
    return value.at(index) if value.shape == shape else value


def _said(value: Value, right: Value) -> str:
    if value.shape == right.shape or (value.kind == "text" and presentable(value)):
        return f"`{written(value)}`"
    if presentable(value) and value.array is not None and value.array.size <= _LONGEST_VALUE:
        if not value.shape:
            return f"the number `{written(value)}`"
        return f"`{written(value)}`, of shape `{written_shape(value.shape)}`"
    return f"numbers of shape `{written_shape(value.shape)}`"


def _change(shown: Shown, rng: np.random.Generator) -> Iterator[Question]:
    """What comes out with one change."""
    if not shown.on_paper:
        return
    changed = [one for one in shown.variants if one.differs and (one.returned or one.stopped)]
    for one in _mixed(changed, rng):
        yield from itertools.islice(_of_change(shown, one, changed, rng), 1)


def _of_change(
    shown: Shown, one: Variant, changed: Sequence[Variant], rng: np.random.Generator
) -> Iterator[Question]:
    edit = one.edit
    for part, own in shown.returned.items():
        for index in _views(own):
            mine = _part(own, index, own.shape)
            if mine is None or not presentable(mine):
                continue
            held = one.returned.get(part)
            after = _part(held, index, own.shape) if held is not None else None
            if not one.stopped and (
                after is None or not presentable(after) or not after.apart(mine)
            ):
                continue
            texts: list[tuple[Value | None, str, str]] = []
            if after is not None:
                because = f"Your code was run with this change. Without it: `{written(mine)}`."
                texts.append((after, _said(after, mine), because))
            else:
                texts.append((None, _STOPS, f"It was run with this change: {_error(one)}."))
            texts.append((mine, _said(mine, mine), "That is what your code returns unchanged."))
            partners = [one]
            for number in rng.permutation(len(changed)):
                other = changed[number]
                if len(texts) > WRONG or other is one:
                    continue
                if not all(shown.unlike(other, known) for known in partners):
                    continue
                value = other.returned.get(part)
                seen = _part(value, index, own.shape) if value is not None else None
                if seen is None:
                    if other.stopped and all(known is not None for known, _, _ in texts):
                        reason = f"It stops if {other.edit.condition}."
                        texts.append((None, _STOPS, reason))
                        partners.append(other)
                    continue
                if presentable(seen) and all(
                    known is None or seen.apart(known) for known, _, _ in texts
                ):
                    reason = f"That comes out if {other.edit.condition}."
                    texts.append((seen, _said(seen, mine), reason))
                    partners.append(other)
            if len(texts) <= WRONG:
                continue
            options = [Option(text, n == 0, reason) for n, (_, text, reason) in enumerate(texts)]
            text = f"{_told(one)} {_what(shown, part, index)}"
            topic, lines = f"change {edit.source} {part}{index}", (edit.first, edit.last)
            yield _asked(shown, "change", topic, lines, text, options, rng)


def _error(one: Variant) -> str:
    return one.run.error or one.run.stopped(0)


def _told(one: Variant) -> str:
    said = one.edit.said
    if not one.edit.after:
        return f"You leave out {one.edit.where}."
    return f"{said[0].upper()}{said[1:]}."


def _what(shown: Shown, part: str, index: tuple[int, ...]) -> str:
    if not index and part == RETURNED:
        return f"What does {shown.called} return then?"
    return f"What is {_at(index)}{shown.where(part)} then?"


def _at(index: tuple[int, ...]) -> str:
    return f"entry `[{', '.join(map(str, index))}]` of " if index else ""


def _same(shown: Shown, rng: np.random.Generator) -> Iterator[Question]:
    """Which of four changes leaves the result as it is."""
    equal = [one for one in shown.variants if one.same and not one.stopped]
    # A copy changes nothing anywhere, which says little; it is asked about if nothing else is left.
    told = [one for one in equal if one.edit.operator != "copied"]
    equal = told or equal[:1]
    others = [one for one in shown.variants if one.differs]
    for one in _mixed(equal, rng):
        wrong = _in_other_lines(one, others, rng)
        if len(wrong) < WRONG:
            continue
        draws = len(shown.found.draws)
        options = [
            Option(_capital(one.edit.said), True, f"The results were equal in all {draws} draws."),
            *(Option(_capital(w.edit.said), False, _effect(shown, w)) for w in wrong),
        ]
        text = "Each of these changes one place of your code. Which leaves every result as it is?"
        yield _asked(shown, "same", f"same {one.edit.source}", None, text, options, rng)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _in_other_lines(
    one: Variant, others: Sequence[Variant], rng: np.random.Generator
) -> list[Variant]:
    """Three others, from other lines if there are some, one of them at most with an error."""
    mixed = [others[n] for n in rng.permutation(len(others)) if others[n] is not one]
    mixed.sort(key=lambda other: other.stopped)
    taken: list[Variant] = []
    lines = {one.edit.first}
    for strict in (True, False):
        for other in mixed:
            if len(taken) == WRONG or other in taken or (strict and other.edit.first in lines):
                continue
            if other.stopped and any(known.stopped for known in taken):
                continue
            taken.append(other)
            lines.add(other.edit.first)
    return taken


def _effect(shown: Shown, one: Variant) -> str:
    if one.stopped:
        return f"It stops: {_error(one)}."
    if one.same:
        return "The result stays as it is."
    for part, own in shown.returned.items():
        held = one.returned.get(part)
        few = presentable(own) and held is not None and presentable(held)
        if shown.on_paper and few and held is not None and held.apart(own):
            return f"For the input above, it gives {short(held)} instead of {short(own)}."
    often = "in every draw" if one.differs else "in some draws"
    return f"The result was another one {often}."


def _stop(shown: Shown, rng: np.random.Generator) -> Iterator[Question]:
    """Which of four changes stops the code with an error."""
    drawn = shown.found.draws
    stopping = [one for one in shown.variants if one.stopped and all(map(one.run.stopped, drawn))]
    running = [
        one for one in shown.variants if not one.stopped and not any(map(one.run.stopped, drawn))
    ]
    for one in _mixed(stopping, rng):
        wrong = _in_other_lines(one, running, rng)
        if len(wrong) < WRONG:
            continue
        options = [
            Option(_capital(one.edit.said), True, f"It was run, and stopped: {_error(one)}."),
            *(Option(_capital(w.edit.said), False, f"It runs. {_effect(shown, w)}") for w in wrong),
        ]
        text = (
            "Each of these changes one place of your code. Which of them makes it stop with an "
            "error?"
        )
        yield _asked(shown, "stop", f"stop {one.edit.source}", None, text, options, rng)


def _find(shown: Shown, rng: np.random.Generator) -> Iterator[Question]:
    """Which change gave this output."""
    if not shown.on_paper:
        return
    running = [one for one in shown.variants if one.differs and one.returned and not one.stopped]
    for one in _mixed(running, rng):
        for part, own in shown.returned.items():
            index = next((i for i in _views(own) if _fits(one, part, i, own)), None)
            if index is None:
                continue
            options = _of_find(shown, one, running, part, index, own, rng)
            if len(options) <= WRONG:
                continue
            held = _part(one.returned[part], index, own.shape)
            assert held is not None
            text = (
                f"With one of these changes, {_at(index)}{shown.where(part)} is "
                f"{_said(held, own.at(index))}. With which?"
            )
            topic = f"find {one.edit.source} {part}{index}"
            yield _asked(shown, "find", topic, None, text, options, rng)
            break


def _fits(one: Variant, part: str, index: tuple[int, ...], own: Value) -> bool:
    held = one.returned.get(part)
    mine = _part(held, index, own.shape) if held is not None else None
    # A result of another shape gives away which change it was.
    if mine is None or mine.shape != own.at(index).shape:
        return False
    return presentable(mine) and mine.apart(own.at(index))


def _of_find(
    shown: Shown,
    one: Variant,
    running: Sequence[Variant],
    part: str,
    index: tuple[int, ...],
    own: Value,
    rng: np.random.Generator,
) -> list[Option]:
    held = _part(one.returned[part], index, own.shape)
    assert held is not None
    because = "Your code was run with this change, and gave this."
    options = [Option(_capital(one.edit.said), True, because)]
    partners, values = [one], [held]
    mixed = [running[n] for n in rng.permutation(len(running))]
    for strict in (True, False):
        for other in mixed:
            lines = {known.edit.first for known in partners}
            if len(options) > WRONG or other in partners:
                continue
            if strict and other.edit.first in lines:
                continue
            value = other.returned.get(part)
            seen = _part(value, index, own.shape) if value is not None else None
            if seen is None or not all(shown.unlike(other, known) for known in partners):
                continue
            if all(seen.apart(known) for known in values):
                reason = f"With it, that is {short(seen)}."
                options.append(Option(_capital(other.edit.said), False, reason))
                partners.append(other)
                values.append(seen)
    return options


def _leak(shown: Shown, rng: np.random.Generator) -> Iterator[Question]:
    """Which of four changes lets the future leak."""
    axis = _axis_of_time(shown)
    if axis is None:
        return
    name, at = axis
    leaking, others = [], []
    for one in shown.variants:
        if one.run.error or any(
            one.run.stopped(n) for pair in shown.found.plan.pairs for n in pair[:2]
        ):
            continue
        seen = [_moves(one.run.results, pair, name, at) for pair in _pairs(shown, "last")]
        if all(earlier for earlier, _ in seen) and one.differs:
            leaking.append(one)
        # What follows from no position here, as zeros do, may leak elsewhere.
        elif not any(earlier for earlier, _ in seen) and all(end for _, end in seen):
            others.append(one)
    others.sort(key=lambda one: one.same)
    for one in _mixed(leaking, rng):
        wrong = _in_other_lines(one, [other for other in others if not other.same] or others, rng)
        if len(wrong) < WRONG:
            continue
        because = "When only the last position of the input changed, earlier results changed, too."
        options = [
            Option(_capital(one.edit.said), True, because),
            *(
                Option(
                    _capital(w.edit.said),
                    False,
                    "When only the last position changed, no earlier result did.",
                )
                for w in wrong
            ),
        ]
        text = (
            "Each of these changes one place of your code. Which of them makes a result depend on "
            "a later position of the input?"
        )
        yield _asked(shown, "leak", f"leak {one.edit.source}", None, text, options, rng)


def _pairs(shown: Shown, which: str) -> list[tuple[int, int]]:
    return [(one, other) for one, other, what in shown.found.plan.pairs if what == which]


def _axis_of_time(shown: Shown) -> tuple[str, int] | None:
    """Along which axis of which result the student's own code is causal; None if along none."""
    last, first = _pairs(shown, "last"), _pairs(shown, "first")
    results = shown.own.results
    if not last or any(shown.own.stopped(n) for pair in (*last, *first) for n in pair):
        return None
    for name, value in results.get(last[0][0], {}).items():
        for at in range(len(value.shape)):
            moved = [_moves(results, pair, name, at) for pair in last]
            begun = [_moves(results, pair, name, at) for pair in first]
            causal = not any(earlier for earlier, _ in moved) and all(end for _, end in moved)
            if causal and all(end for _, end in begun) and value.shape[at] > 2:
                return name, at
    return None


def _moves(results: object, pair: tuple[int, int], name: str, axis: int) -> tuple[bool, bool]:
    """Whether results before the last position differ between two sets, and those at it."""
    assert isinstance(results, dict)
    one, other = (results.get(n, {}).get(name) for n in pair)
    if one is None or other is None or one.array is None or other.array is None:
        return True, False
    if one.shape != other.shape or axis >= len(one.shape):
        return True, True
    front, end = np.split(np.moveaxis(one.array, axis, 0), [-1])
    front_other, end_other = np.split(np.moveaxis(other.array, axis, 0), [-1])
    return (
        not Value("array", front, front.shape).same(Value("array", front_other, front.shape)),
        not Value("array", end, end.shape).same(Value("array", end_other, end.shape)),
    )


def _nan(shown: Shown, rng: np.random.Generator) -> Iterator[Question]:
    """Which input makes NaN of the result."""
    if not shown.on_paper or _has_nan(shown, 0):
        return
    names = shown.names_of_inputs
    special = [
        (number, _capital(words.format(name=names[name])))
        for number, name, words in shown.found.plan.special
        if name in names and not shown.own.stopped(number) and number in shown.own.results
    ]
    bad = [one for one in special if _has_nan(shown, one[0])]
    good = [one for one in special if not _has_nan(shown, one[0])]
    for _, words in bad:
        if len(good) < WRONG:
            return
        wrong = [good[n] for n in rng.permutation(len(good))[:WRONG]]
        options = [
            Option(words, True, "Your code was run on it, and returned NaN."),
            *(
                Option(text, False, "Your code was run on it, and returned no NaN.")
                for _, text in wrong
            ),
        ]
        text = (
            "The input above is changed in one of these ways. With which does a result become NaN?"
        )
        yield _asked(shown, "nan", f"nan {words}", None, text, options, rng)


def _has_nan(shown: Shown, number: int) -> bool:
    return any(
        value.array is not None
        and value.array.dtype.kind == "f"
        and bool(np.isnan(value.array).any())
        for value in shown.own.results.get(number, {}).values()
    )


def _scale(shown: Shown, rng: np.random.Generator) -> Iterator[Question]:
    """How the operations of a line grow when there are twice as many positions."""
    counted = shown.found.plan.roles["counted"]
    if len(counted) != 2 or len(shown.own.counts) != 2:
        return
    longer = _lengths(shown, *counted)
    if not longer:
        return
    once, twice = (shown.own.counts[n] for n in counted)
    growths: dict[int, int] = {}
    for line, count in once.items():
        ratio = twice.get(line, 0) / max(1, count)
        near = [n for n, _ in (*_GROWTHS, _NEVER) if abs(ratio / n - 1) <= _WITHIN]
        if count >= _LEAST_COUNT and near and line <= len(shown.program.lines):
            growths[line] = near[0]
    how = "An operation is a multiplication of a matrix product, or a number that is read or made."
    for line, growth in _mixed(growths.items(), rng):
        options = [
            Option(
                text,
                n == growth,
                f"Counted: {once[line]} operations, and then {twice[line]}.",
            )
            for n, text in (*_GROWTHS, _NEVER)
        ]
        text = f"{longer} What happens to the number of operations of your line {line}? {how}"
        yield _asked(shown, "scale", f"scale {line} {growth}", (line, line), text, options, rng)
    most = [line for line, growth in growths.items() if growth == 4]
    less = [line for line, growth in growths.items() if growth < 4]
    for line in most:
        if len(less) < WRONG:
            return
        wrong = [less[n] for n in rng.permutation(len(less))[:WRONG]]
        options = [
            Option(
                f"Line {n}: `{shown.program.lines[n - 1].strip()}`",
                n == line,
                f"Counted: {once[n]} operations, and then {twice[n]}.",
            )
            for n in (line, *wrong)
        ]
        text = f"{longer} Which line then makes 4 times as many operations? {how}"
        yield _asked(shown, "scale", f"scale which {line}", None, text, options, rng)


def _lengths(shown: Shown, one: int, two: int) -> str:
    """All that is twice as long, as the student's code calls it; nothing if that is not certain."""
    sets = shown.found.plan.sets
    said = []
    for name, own in shown.names_of_inputs.items():
        a, b = sets[one][name].shape, sets[two][name].shape
        if a != b and all(y in (x, 2 * x) for x, y in zip(a, b, strict=True)):
            said.append(
                f"`{own}` has the shape `{written_shape(b)}` instead of `{written_shape(a)}`"
            )
    for name in shown.found.plan.numbers_of_positions:
        value, a, b = (int(sets[number][name]) for number in (0, one, two))
        given = [
            own
            for own, held in shown.arguments.items()
            if held.python and not held.shape and held.array is not None and held.array == value
        ]
        if len(given) > 1:
            return ""
        said += [
            f"`{own.removesuffix('=…)').rpartition('(')[2]}` is {b} instead of {a}" for own in given
        ]
    return f"{' and '.join(said)}." if said else ""


def _why(shown: Shown, rng: np.random.Generator) -> Iterator[Question]:
    """One sentence that a person reads."""
    task = catalogue.as_written(shown.found.plan.task)
    for name, step in task.steps.items():
        section = step.section or task.section
        if name.startswith("your "):
            continue
        text = f"In one sentence: what is “{name}” for in this task?"
        yield Question("why", f"why {name}", (), text, model_answer=f"{step.why} See {section}.")
    changed = [
        one
        for one in shown.variants
        if one.differs and not one.stopped and one.edit.operator in _MISREADINGS
    ]
    # Rather such as can be seen on the input of the paper.
    changed = sorted(_mixed(changed, rng), key=lambda one: one.run.same(shown.own, 0))
    for one in changed[:_QUESTIONS_IN_WORDS]:
        text = f"{_told(one)} In one sentence: what goes wrong then, and why?"
        answer = f"{_effect(shown, one)} See {task.section}."
        lines = shown.program.quoted(one.edit.first, one.edit.last)
        yield Question("why", f"why {one.edit.source}", lines, text, model_answer=answer)
