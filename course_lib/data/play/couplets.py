"""Couplets of the play beside their plain form, and which word of the verse made each plain word.

A couplet is drawn from the play's own rules. Its plain form has the same words in the order of
prose, the second line first, and is made from the same draws, so the links between the two texts
are known.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import accumulate
from random import Random
from typing import NamedTuple

from course_lib.data.play import grammar

# A line of the play's couplets, and how it is said plainly: a number is an item of the line,
# `when<0` is the word "when", made from item 0, and a bare word comes from none.
FIRST = {
    "Whenever {plural} {stem} the {opening=rhyme}": "when<0 1 2 3 4",
    "Beyond the {noun}, above the {opening=rhyme}": "past<0 1 2 and<3 over<4 5 6",
    "Since {nickname} {stem}ed the {opening=rhyme}": "because<0 1 2 3 4 5",
    "Through {mass} and through the {opening=rhyme}": "through<0 1 2 4 5",
    "Around the {place}, around the {opening=rhyme}": "round<0 1 2 and<3 5 6",
    "While {mass} did {stem} the {opening=rhyme}": "as<0 1 3 -ed<2 4 5",
    "Sweet {noun}, sweet {noun}, sweet {opening=rhyme}": "my sweet<0 1 2 4 and<5 7",
    "We'll {stem} {mass} by the {opening=rhyme}": "we<0 will<0 1 2 3 4 5",
    "Farewell, {noun}, farewell, {opening=rhyme}": "goodbye<0 2 and<3 6",
    "Sing {mass}, and sing the {opening=rhyme}": "sing<0 of 1 and<3 of 5 6",
    "Though {nickname} {stem}s the {opening=rhyme}": "although<0 1 2 3 4 5",
}
SECOND = {
    "And {nickname} {stem}ed my {closing@rhyme}": "4 5 was 2 3 by 1",
    "There {stem}s some {adj} {closing@rhyme}": "3 4 5 1 2",
    "The {adj} {closing@rhyme}": "the<0 2 is 1",
    "I {stem} the {adj} {closing@rhyme}": "2 4 0 1 is 3",
    "No {noun} {stem}s the {closing@rhyme}": "4 5 is 2 -ed<3 by no<0 1",
    "My {noun} and my {closing@rhyme}": "3 4 2 my<0 1",
    "To {stem} the {noun} or {closing@rhyme}": "to<0 1 2 3 4 the 5",
    "For {nickname} and the {closing@rhyme}": "for<0 3 4 2 1",
    "O {adj}, {adj} {closing@rhyme}": "the 4 is 1 and<2 3",
}
NICKNAME = "1 , 2 0 5 of<4 the 3"  # mad K the goat-Kisser: K, the mad Kisser of the goat


class Pair(NamedTuple):
    """A source, its target, and for each target word the place of the source word that made it.

    Attributes
    ----------
    source, target : list of str
        Words; an ending, a comma and a hyphen are words of their own.
    links : list of int or None
        One for each target word: the place in the source, or None if no word made it.
    drawn : list of bool
        One for each target word: whether it was drawn from a list of words.
    """

    source: list[str]
    target: list[str]
    links: list[int | None]
    drawn: list[bool]


class Made(NamedTuple):
    """Plain words, as in `Pair`: what one item of the verse becomes."""

    words: list[str]
    links: list[int | None]
    drawn: list[bool]


def _items_of(template: str) -> list[str]:
    """Words and slots of a line: an ending, a comma and a hyphen are words of their own."""
    template = re.sub(r"\}(ed|s)\b", r"} -\1", template).replace(",", " ,")
    return template.replace("}-{", "} - {").split()


@cache
def _options_of(rule: str) -> tuple[list[str], list[int]]:
    """The options of one of the play's rules, and the running sums of their weights."""
    weights, options = zip(*grammar.rules()[rule], strict=True)
    return list(options), list(accumulate(weights))


def _draw(rule: str, random: Random) -> str:
    """An option of one of the play's rules."""
    options, sums = _options_of(rule)
    return random.choices(options, cum_weights=sums)[0]


def _write_line(template: str, plain: str, random: Random, kept: dict[str, str]) -> Pair:
    """A line of the play and its plain form, from the same draws."""
    source: list[str] = []
    made: list[Made] = []  # for each item of the verse, what it becomes
    for item in _items_of(template):
        start = len(source)
        slot = re.fullmatch(r"\{([\w-]+)(?:@(\w+))?(?:=(\w+))?\}", item)
        if slot and slot[1] == "nickname":
            name = _write_line(_draw(slot[1], random), NICKNAME, random, kept)
            source += name.source
            moved = [None if s is None else start + s for s in name.links]
            made.append(Made(name.target, moved, name.drawn))
            continue
        word = _draw(f"{slot[1]}.{kept[slot[2]]}" if slot[2] else slot[1], random) if slot else item
        if slot and slot[3]:
            kept[slot[3]] = word
        source.append(word)
        made.append(Made([word], [start], [bool(slot)]))
    parts: list[Made] = []
    for item in plain.split():
        word, _, origin = item.partition("<")
        place = made[int(origin)].links[0] if origin else None
        parts.append(made[int(item)] if item.isdigit() else Made([word], [place], [False]))
    return Pair(
        source,
        [word for part in parts for word in part.words],
        [place for part in parts for place in part.links],
        [is_drawn for part in parts for is_drawn in part.drawn],
    )


def couplet(random: Random) -> Pair:
    """A couplet of the play, and its plain form: the second line first, in prose order.

    Parameters
    ----------
    random : random.Random
        What is drawn from; one with the same seed gives the same couplets.
    """
    kept: dict[str, str] = {}
    first, second = _draw("couplet", random).split(",\n")[0], _draw("second", random)
    a, b = (
        _write_line(line, table[line], random, kept)
        for line, table in ((first, FIRST), (second, SECOND))
    )
    end, n = random.choices(".!", [3, 1])[0], len(a.source)
    moved = [None if s is None else n + 1 + s for s in b.links]
    return Pair(
        [*a.source, ",", *b.source, end],
        [*b.target, ",", *a.target, end],
        [*moved, n, *a.links, n + 1 + len(b.source)],
        [*b.drawn, False, *a.drawn, False],
    )


def text_of(words: list[str]) -> str:
    """Words as a reader expects them: endings, hyphens and marks joined to what they belong to."""
    text = re.sub(r" -(ed|s)\b", r"\1", " ".join(words))
    return re.sub(r" ([,.!])", r"\1", text).replace(" - ", "-")
