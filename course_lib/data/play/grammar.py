"""The grammar of the play: every rule in one table, and the notation its templates are written in.

`words.txt` and `sentences.txt` beside this module hold what the rules draw from.

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
import importlib.resources
import itertools
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from course_lib.data.play import structure
from course_lib.errors import GrammarError

START = "comedy"

Options: TypeAlias = tuple[tuple[int, str], ...]
Rules: TypeAlias = Mapping[str, Options]

# What has a variant for each of these is written once, in the last part of `sentences.txt`.
ENDS = {"say": ".", "ask": "?", "cry": "!"}
QUOTES = {"single": "'", "dollar": "$"}
PERSONS = {  # the ending of the verb, and the possessive
    "I": (" ", "my"),
    "thou": ("est ", "thy"),
    "he": ("eth ", "his"),
    "she": ("eth ", "her"),
    "we": (" ", "our"),
}
# Lists that are no rules themselves: others are made of them.
FILLED_IN = (
    "prop", "rhymes", "interlude", "a-register",
    "tail", "quoted", "object", "address", "line", "more",
)  # fmt: skip


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


class Section(NamedTuple):
    """A list as a text file of this package holds it: how its lines are read, and the lines."""

    kind: str
    lines: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """The words of all lines, in order."""
        return " ".join(self.lines).split()

    def options(self, **filled: str) -> Options:
        """Weights and templates; {name} is replaced first, for every name that is given."""
        if self.kind == "ranked":
            return ranked(self.words)
        if self.kind in ("words", "lines"):
            return even(self.words if self.kind == "words" else self.lines)
        found = []
        for line in self.lines:
            weight, _, template = line.partition("|")
            for name, text in filled.items():
                template = template.replace(f"{{{name}}}", text)
            # A slash outside of a slot ends a line of the play.
            found.append((int(weight), re.sub(r"/(?![^{}]*\})", "\n", template)))
        return tuple(found)


@functools.cache
def sections() -> Mapping[str, Section]:
    """All lists of `words.txt` and `sentences.txt`, by the names that head them."""
    found: dict[str, tuple[str, list[str]]] = {}
    for file in ("words.txt", "sentences.txt"):
        text = importlib.resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
        for line in text.splitlines():
            heading = re.fullmatch(r"\[([\w.-]+)(?:: (ranked|words|lines))?\]", line)
            if heading:
                current: list[str] = []
                found[heading[1]] = (heading[2] or "options", current)
            elif line and not line.startswith("#"):
                current.append(line)
    return {name: Section(kind, tuple(lines)) for name, (kind, lines) in found.items()}


def people() -> list[str]:
    """Who is on the stage: those whose favourite things are listed."""
    start = "favourite."
    return [name.removeprefix(start) for name in sections() if name.startswith(start)]


@functools.cache
def rules() -> Rules:
    """All rules of the play: name -> options, each a weight and a template.

    Returns
    -------
    mapping of str to tuple of (int, str)
        Built once; the same at every call.
    """
    plain = {n: s.options() for n, s in sections().items() if n not in FILLED_IN}
    return {**plain, **_words(), **_variants(), **_scenes()}


def ranked(words: Iterable[str]) -> Options:
    """Words with weights that fall to a quarter from the first to the last."""
    listed = tuple(words)
    return tuple(
        (24 * len(listed) // (len(listed) + 3 * rank), word) for rank, word in enumerate(listed)
    )


def even(words: Iterable[str]) -> Options:
    """Words, or whole templates, of equal weight."""
    return tuple((1, word) for word in words)


def _words() -> dict[str, Options]:
    """Rules whose words follow from other lists."""
    table = {
        "plural": ranked(noun + "s" for noun in sections()["noun"].words),
        "initial": ranked(n.removeprefix("epithet.") for n in sections() if "epithet." in n),
        "cast": even(people()),
        "opening": even(sections()["rhymes"].words),
    }
    for kind in ("noun", "adj", "prop"):
        words = sections()[kind].words
        table[f"consonant-{kind}"] = ranked(word for word in words if not _takes_an(word))
        table[f"vowel-{kind}"] = ranked(word for word in words if _takes_an(word))
    for row in sections()["rhymes"].lines:
        for word in row.split():
            table[f"closing.{word}"] = even(other for other in row.split() if other != word)
    return table


def _takes_an(word: str) -> bool:
    return word[0] in "aeio" or (word[0] == "u" and not word.startswith("uni"))


def _variants() -> dict[str, Options]:
    """Rules with one variant for each mark, person, speaker or register."""
    table: dict[str, Options] = {}
    for register in ("topic", "prop"):
        table[f"a-{register}"] = tuple(
            (weight, template.replace("REGISTER", register))
            for weight, template in sections()["a-register"].options()
        )
    for mood, mark in ENDS.items():
        table[f"end.{mood}"] = ((1, mark),)
        table[f"tail.{mood}"] = sections()["tail"].options(end=mark)
    for quote, mark in QUOTES.items():
        table[f"quoted.{quote}"] = sections()["quoted"].options(mark=mark)
    for person, (ending, own) in PERSONS.items():
        table[f"ending.{person}"] = ((1, ending),)
        table[f"object.{person}"] = sections()["object"].options(own=own)
    for name in people():
        table[f"address.{name}"] = sections()["address"].options(name=name.title())
        table[f"line.{name}"] = sections()["line"].options(own=name)
        table[f"more.{name}"] = sections()["more"].options(own=name)
    return table


def _scenes() -> dict[str, Options]:
    """Which number follows which, whether an act goes on, and who speaks next."""
    table: dict[str, Options] = {}
    numerals = structure.NUMERALS
    for before, after in zip(("none", *numerals[:-1]), numerals, strict=True):
        table[f"number.{before}"] = ((1, after),)
    for act, scene in itertools.product(numerals, numerals):
        end = structure.FINIS if act == numerals[-1] else "{new-act}"
        options = [(structure.ACT_ENDS[scene], end)]
        if scene != numerals[-1]:
            options.append((structure.ACT_GOES_ON, "{new-scene}"))
        table[f"onward.{act},{scene}"] = tuple(options)
    for speaker in people():
        others = [name for name in people() if name != speaker]
        table[f"companion.{speaker}"] = even(others)
        for partner in others:
            speeches = tuple(
                (
                    structure.ANSWERS if name == partner else structure.INTERRUPTS,
                    structure.NEXT_SPEECH.replace("{name}", name),
                )
                for name in others
            )
            table[f"turn.{speaker},{partner}"] = speeches + sections()["interlude"].options()
    return table
