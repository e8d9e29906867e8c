"""How a text differs from the right one; a list of names is a text, too, an entry a line."""

from __future__ import annotations

from collections import Counter

# So many characters of a text before and after the place where two texts part.
_AROUND = 24
# So many entries of a list are quoted.
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
        return "another-order", "Your text has the right symbols in another order."
    if mine == right[:-1] or mine == right[1:]:
        which = "last" if mine == right[:-1] else "first"
        return f"{which}-missing", f"Your text is right, but its {which} symbol is missing."
    if right in mine:
        return "too-many", "Your text holds the right one, and more."
    if mine.lower() == right.lower():
        return "another-case", "Your text differs in capital and small letters alone."
    return "difference", "Your answer returns another text."


def _lines_differ(mine: list[str], right: list[str]) -> tuple[str, str]:
    """The same of lists, whose entries are the lines of a text."""
    if sorted(mine) == sorted(right):
        return "another-order", "You have the right entries in another order."
    if sorted(one.lower() for one in mine) == sorted(one.lower() for one in right):
        return "another-case", "Your entries differ from the right ones in capital letters."
    missing, extra = Counter(right) - Counter(mine), Counter(mine) - Counter(right)
    if extra and missing:
        return "", ""
    some = missing or extra
    quoted = ", ".join(f"`{one}`" for one in list(some)[:_QUOTED])
    name, said = ("entries-missing", "missing") if missing else ("entries-too-many", "too many")
    return (
        name,
        f"{some.total()} of your entries are {said}: {quoted}{'…' * (len(some) > _QUOTED)}.",
    )


def around_the_difference(mine: str, right: str) -> str:
    """Two texts around the place where they part; of lists, whose entries are lines, the entries
    from there on.
    """
    if "\n" in right:
        lists = mine.split("\n"), right.split("\n")
        pairs = zip(*lists, strict=False)
        first = next((n for n, (a, b) in enumerate(pairs) if a != b), min(map(len, lists)))
        told = [", ".join(one[first : first + _QUOTED]) or "nothing" for one in lists]
        return f"From entry {first} on yours are {told[0]}; expected {told[1]}."
    part = next(
        (n for n, (a, b) in enumerate(zip(mine, right, strict=False)) if a != b),
        min(len(mine), len(right)),
    )
    begin = max(part - _AROUND, 0)
    shown = [
        ("…" if begin else "") + text[begin : part + _AROUND] + ("…" * (part + _AROUND < len(text)))
        for text in (mine, right)
    ]
    where = f"They part at character {part}. " if part else ""
    return f"{where}Yours: {shown[0]!r}; expected: {shown[1]!r}."
