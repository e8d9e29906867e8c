"""The grammar of the play: every rule in one table, and the notation its templates are written in.

A rule is a list of options, each a weight and a template; an option is drawn with probability
weight / sum of weights. A template is text with slots:

``{rule}``            write what the rule draws
``{rule@a}``          write what a variant of the rule draws: the one called ``rule.value``,
                      where value is what register a holds
``{rule@a,b}``        the same with two registers (``rule.value,value``)
``{rule=a}``          write what the rule draws, a single word, and remember it in register a;
                      ``{rule@a=b}`` does both
``{=a}``              write again what register a remembers
``{a:value}``         set register a, write nothing
``{a<b}``             copy register b to register a, write nothing

The options of a rule begin with text, of their own or of the rule they call first, and no
beginning is a prefix of another one. So the text alone tells every choice, and the probability of
its next character is a ratio of weights.
"""

import functools
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from course_lib.data.play import cast, lexicon, lines, structure
from course_lib.errors import GrammarError

START = "comedy"

Rules = Mapping[str, tuple[tuple[int, str], ...]]


class Literal(NamedTuple):
    """Text that is written as it stands."""

    text: str


class Call(NamedTuple):
    """A rule, or the variant of it that the registers name; `remember` keeps the word drawn."""

    rule: str
    registers: tuple[str, ...] = ()
    remember: str = ""


class Echo(NamedTuple):
    """What a register remembers, written again."""

    register: str


class Set(NamedTuple):
    """A register set to a value."""

    register: str
    value: str


class Copy(NamedTuple):
    """A register set to the value of another one."""

    register: str
    source: str


Item = Literal | Call | Echo | Set | Copy

_SLOT = re.compile(
    r"=(?P<echo>[\w-]+)"
    r"|(?P<set>[\w-]+):(?P<value>[^{}]+)"
    r"|(?P<copy>[\w-]+)<(?P<source>[\w-]+)"
    r"|(?P<rule>[\w.,-]+)(?:@(?P<registers>[\w,-]+))?(?:=(?P<remember>[\w-]+))?"
)


def parse(template: str) -> tuple[Item, ...]:
    """Split a template into its text and slots.

    Parameters
    ----------
    template : str
        Text with slots in the notation of this module.

    Returns
    -------
    tuple of Literal, Call, Echo, Set and Copy

    Raises
    ------
    GrammarError
        If a slot is not in the notation.
    """
    items: list[Item] = []
    for number, part in enumerate(re.split(r"\{([^{}]*)\}", template)):
        if number % 2 == 0:
            if part:
                items.append(Literal(part))
            continue
        slot = _SLOT.fullmatch(part)
        if slot is None:
            raise GrammarError(f"slot {{{part}}} of {template!r} is not in the play's notation")
        if slot["echo"]:
            items.append(Echo(slot["echo"]))
        elif slot["set"]:
            items.append(Set(slot["set"], slot["value"]))
        elif slot["copy"]:
            items.append(Copy(slot["copy"], slot["source"]))
        else:
            registers = tuple(slot["registers"].split(",")) if slot["registers"] else ()
            items.append(Call(slot["rule"], registers, slot["remember"] or ""))
    return tuple(items)


@functools.cache
def rules() -> Rules:
    """All rules of the play: name -> options, each a weight and a template.

    Returns
    -------
    mapping of str to tuple of (int, str)
        Built once; the same at every call.
    """
    return {**_words(), **_sentences(), **_people(), **_scenes()}


def _options(block: str) -> tuple[tuple[int, str], ...]:
    """Options written one a line as ``weight|template``, with / for the end of a line."""
    options = []
    for line in block.strip().splitlines():
        weight, _, template = line.partition("|")
        template = re.sub(r"/(?![^{}]*\})", "\n", template)
        options.append((int(weight), template))
    return tuple(options)


def _ranked(words: Iterable[str]) -> tuple[tuple[int, str], ...]:
    """Words with weights that fall to a quarter from the first to the last."""
    listed = tuple(words)
    return tuple(
        (24 * len(listed) // (len(listed) + 3 * rank), word) for rank, word in enumerate(listed)
    )


def _even(words: Iterable[str]) -> tuple[tuple[int, str], ...]:
    return tuple((1, word) for word in words)


def _starts_with_vowel(word: str) -> bool:
    return word[0] in "aeio" or (word[0] == "u" and not word.startswith("uni"))


def _by_sound(words: Iterable[str]) -> tuple[list[str], list[str]]:
    """The words that take a, and those that take an."""
    listed = list(words)
    return (
        [word for word in listed if not _starts_with_vowel(word)],
        [word for word in listed if _starts_with_vowel(word)],
    )


def _words() -> dict[str, tuple[tuple[int, str], ...]]:
    nouns, adjectives = lexicon.NOUNS.split(), lexicon.ADJECTIVES.split()
    props = lexicon.PROPS.split()
    table = {
        "noun": _ranked(nouns),
        "plural": _ranked(noun + "s" for noun in nouns),
        "adj": _ranked(adjectives),
        "mass": _ranked(lexicon.MASS.split()),
        "stem": _ranked(lexicon.VERBS.split()),
        "adverb": _ranked(lexicon.ADVERBS.split()),
        "place": _ranked(lexicon.PLACES.split()),
        "name": _ranked(cast.NAMES.split()),
        "initial": _ranked(cast.EPITHETS),
        "beast": _ranked(cast.BEASTS.split()),
        "cast": _even(cast.FAVOURITES),
    }
    for kind, words in (("noun", nouns), ("adj", adjectives), ("prop", props)):
        for sound, some in zip(("consonant", "vowel"), _by_sound(words), strict=True):
            table[f"{sound}-{kind}"] = _ranked(some)
    for row in lexicon.RHYMES.strip().splitlines():
        for word in row.split():
            table[f"closing.{word}"] = _even(other for other in row.split() if other != word)
    table["opening"] = _even(lexicon.RHYMES.split())
    for initial, epithets in cast.EPITHETS.items():
        table[f"epithet.{initial}"] = _even(epithets.split())
    table["title-quality"] = _even(structure.TITLE_QUALITIES.split())
    table["title-noun"] = _even(structure.TITLE_NOUNS.split())
    table["title-place"] = _even(structure.TITLE_PLACES.split())
    return table


def _sentences() -> dict[str, tuple[tuple[int, str], ...]]:
    table = {
        "say": _options(lines.SAY),
        "personal": _options(lines.PERSONAL),
        "gossip": _options(lines.GOSSIP),
        "tell": _options(lines.TELL),
        "ask": _options(lines.ASK),
        "inquire": _options(lines.INQUIRE),
        "again": _options(lines.AGAIN),
        "cry": _options(lines.CRY),
        "adjunct": _options(lines.ADJUNCT),
        "link": _options(lines.LINK),
        "after": _options(lines.AFTER),
        "rejoinder": _options(lines.REJOINDER),
        "predicate": _options(lines.PREDICATE),
        "does": _options(lines.DOES),
        "thing": _options(lines.THING),
        "a-thing": _options(lines.A_THING),
        "nickname": _options(lines.NICKNAME),
        "bracket": _options(lines.BRACKET),
        "couplet": _options(lines.COUPLET),
        "second": _options(lines.SECOND),
        "stanza": _options(lines.STANZA),
        "close": _options(lines.CLOSE),
        "noun-phrase": _options(lines.NOUN_PHRASE),
        "consonant-noun-phrase": _options(lines.CONSONANT_NOUN_PHRASE),
        "vowel-noun-phrase": _options(lines.VOWEL_NOUN_PHRASE),
    }
    for register in ("topic", "prop"):
        table[f"a-{register}"] = _options(
            f"3|a {{consonant-prop={register}}}\n1|an {{vowel-prop={register}}}"
        )
    for mood, mark in lines.ENDS.items():
        table[f"end.{mood}"] = ((1, mark),)
        table[f"tail.{mood}"] = _options(lines.TAIL.replace("{end}", mark))
    for quote, mark in lines.QUOTES.items():
        table[f"quoted.{quote}"] = _options(lines.QUOTED.replace("{mark}", mark))
    for person, ending in lines.ENDINGS.items():
        table[f"ending.{person}"] = ((1, ending),)
        table[f"object.{person}"] = _options(lines.OBJECT.replace("{own}", lines.OWN[person]))
    return table


def _people() -> dict[str, tuple[tuple[int, str], ...]]:
    table = {}
    for name in cast.FAVOURITES:
        table[f"favourite.{name}"] = _even(cast.FAVOURITES[name].split())
        table[f"oath.{name}"] = _even(_stripped(cast.OATHS[name]))
        table[f"address.{name}"] = _options(lines.ADDRESS.replace("{name}", name.title()))
        for mood, block in cast.SAYINGS[name].items():
            table[f"{mood}.{name}"] = _even(_stripped(block))
        table[f"line.{name}"] = _options(lines.LINE.replace("{own}", name))
        table[f"more.{name}"] = _options(lines.MORE.replace("{own}", name))
    return table


def _stripped(block: str) -> list[str]:
    return [line.strip() for line in block.strip().splitlines()]


def _scenes() -> dict[str, tuple[tuple[int, str], ...]]:
    table = {
        "comedy": _options(structure.COMEDY),
        "new-act": _options(structure.NEW_ACT),
        "new-scene": _options(structure.NEW_SCENE),
        "setting": _options(structure.SETTING),
        "entrance": _options(structure.ENTRANCE),
        "bearing": _options(structure.BEARING),
        "business": _options(structure.BUSINESS),
        "speech": _options(structure.SPEECH),
    }
    numerals = structure.NUMERALS
    for before, after in zip(("none", *numerals[:-1]), numerals, strict=True):
        table[f"number.{before}"] = ((1, after),)
    for act in numerals:
        for scene in numerals:
            last = act == numerals[-1]
            options = [(structure.ACT_ENDS[scene], structure.FINIS if last else "{new-act}")]
            if scene != numerals[-1]:
                options.append((structure.ACT_GOES_ON, "{new-scene}"))
            table[f"onward.{act},{scene}"] = tuple(options)
    people = tuple(cast.FAVOURITES)
    for speaker in people:
        others = [name for name in people if name != speaker]
        table[f"companion.{speaker}"] = _even(others)
        for partner in others:
            table[f"turn.{speaker},{partner}"] = tuple(
                (
                    structure.ANSWERS if name == partner else structure.INTERRUPTS,
                    structure.NEXT_SPEECH.replace("{name}", name),
                )
                for name in others
            ) + _options(structure.INTERLUDE)
    return table
