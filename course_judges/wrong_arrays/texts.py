"""How a text differs from the right one; a list of names is a text, too, with one entry a line."""

from __future__ import annotations

from collections import Counter

# So many characters of a text are quoted on both sides of the place where two texts part.
_AROUND = 24
# At most so many entries of a list are quoted.
_QUOTED = 4


def differs(mine: str, right: str) -> tuple[str, str]:
    """How one text differs from another: a name and a sentence."""
    if not mine:
        return "empty-text", "Your answer returns an empty text."
    if "\n" in right:
        name, what = _lines_differ(mine.split("\n"), right.split("\n"))
        if name:
            return name, what
    if sorted(mine) == sorted(right):
        return "another-order", "Your text has the right symbols, but in the wrong order."
    if mine == right[:-1] or mine == right[1:]:
        which = "last" if mine == right[:-1] else "first"
        return f"{which}-missing", f"Your text is right, but its {which} symbol is missing."
    if right in mine:
        return "too-many", "Your text contains the right one, but also more than that."
    if mine.lower() == right.lower():
        return "another-case", "Your text differs only in upper and lower case."
    return "difference", "Your text differs from the right one."


def _lines_differ(mine: list[str], right: list[str]) -> tuple[str, str]:
    """The same for lists, whose entries are the lines of a text."""
    if sorted(mine) == sorted(right):
        return "another-order", "You have the right entries, but in the wrong order."
    if sorted(one.lower() for one in mine) == sorted(one.lower() for one in right):
        return "another-case", "Your entries differ from the right ones in upper and lower case."
    missing, extra = Counter(right) - Counter(mine), Counter(mine) - Counter(right)
    if extra and missing:
        return "", ""
    some = missing or extra
    quoted = ", ".join(f"`{one}`" for one in list(some)[:_QUOTED])
    entries = "1 entry" if some.total() == 1 else f"{some.total()} entries"
    said = f"Your answer lacks {entries}" if missing else f"Your answer has {entries} too many"
    return (
        "entries-missing" if missing else "entries-too-many",
        f"{said}: {quoted}{', …' * (len(some) > _QUOTED)}.",
    )


def around_the_difference(mine: str, right: str) -> str:
    """A sentence that quotes two texts around the place where they part, or two lists, whose
    entries are lines, from there on.
    """
    if "\n" in right:
        lists = mine.split("\n"), right.split("\n")
        pairs = zip(*lists, strict=False)
        first = next((n for n, (a, b) in enumerate(pairs) if a != b), min(map(len, lists)))
        told = [", ".join(one[first : first + _QUOTED]) or "nothing" for one in lists]
        return f"From entry {first} on, you have {told[0]} instead of {told[1]}."
    part = next(
        (n for n, (a, b) in enumerate(zip(mine, right, strict=False)) if a != b),
        min(len(mine), len(right)),
    )
    begin = max(part - _AROUND, 0)
    shown = [
        ("…" if begin else "") + text[begin : part + _AROUND] + ("…" * (part + _AROUND < len(text)))
        for text in (mine, right)
    ]
    where = f"From character {part} on, you" if part else "You"
    return f"{where} have {shown[0]!r} instead of {shown[1]!r}."
