"""How a vocabulary for names is judged."""

# mypy: allow-untyped-defs
# ruff: noqa: D102

from __future__ import annotations

import re

import numpy as np
import torch

from course_judges.ch03_text.sections import ENCODE, UNKNOWN
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import integers
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import input_text
from course_tasks.verdict import Finding


class NameVocabulary:
    """A right answer."""

    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names)) - {boundary}))
        self.token = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.token:
                raise ValueError(f"unknown symbol {symbol!r} at position {position} of {name!r}")
        return torch.tensor([self.token[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens).strip(self.boundary)


def _refusals_are_right(evidence: Evidence) -> bool:
    return _refusal_names_symbol_and_place(evidence) and not _refused_otherwise(evidence)


# Further names that must be refused, and the cases that ask for them.
_REFUSED = {
    "bad_first": "refuses_first",
    "bad_twice": "refuses_twice",
    "bad_turned": "refuses_turned",
    "bad_last": "refuses_last",
    "bad_capital": "refuses_capital",
}


def _refused_otherwise(evidence: Evidence) -> str:
    """The first of these names whose error doesn't give an unknown symbol with its position; empty
    if there is none.
    """
    for asked, case in _REFUSED.items():
        words, name = evidence.answers.values.get(case), input_text(evidence.inputs[asked])
        if not isinstance(words, str):
            return asked
        # A message may quote the whole name, which holds every symbol.
        besides = words.replace(name, "")
        numbers = set(map(int, re.findall(r"\d+", besides)))
        unknown = _unknown_in(name, evidence)
        meant = [one for one in unknown if one[0] in besides]
        if not meant and name in words:
            meant = unknown
        if not any(place in numbers for _, place in meant):
            return asked
    return ""


def _unknown_in(name: str, evidence: Evidence) -> list[tuple[str, int]]:
    """The symbols that no name of the vocabulary has, and their positions."""
    known = set(input_text(evidence.inputs["names"]))
    return [(symbol, place) for place, symbol in enumerate(name) if symbol not in known]


def _says_otherwise(evidence: Evidence) -> str:
    asked = _refused_otherwise(evidence)
    name = input_text(evidence.inputs[asked])
    there = " and ".join(
        f"`{symbol}` at position {place}" for symbol, place in _unknown_in(name, evidence)
    )
    said = evidence.answers.values.get(_REFUSED[asked])
    ending = f"your error says “{said}”" if isinstance(said, str) else "`encode` raises no error"
    more = (
        " If you test whether there is a position, use `is not None`, because 0 counts as False."
        if asked == "bad_first" and not isinstance(said, str)
        else " A capital is a symbol of its own, and no name of the vocabulary has this one."
        if asked == "bad_capital"
        else " Look at every position, including the last, and count all letters before it."
        if asked == "bad_last"
        else " Give the first unknown symbol together with its own position."
    )
    return f"`{name}` holds {there}, but {ending}.{more}"


def _refusal_names_symbol_and_place(evidence: Evidence) -> bool:
    words = evidence.answers.values["refuses"]
    return (
        isinstance(words, str)
        and input_text(evidence.inputs["unknown"]) in words
        and _says_the_place(evidence)
    )


def _says_the_place(evidence: Evidence) -> bool:
    words = str(evidence.answers.values["refuses"])
    return int(evidence.inputs["place"][0]) in map(int, re.findall(r"\d+", words))


def _says_a_number(evidence: Evidence) -> bool:
    return bool(re.search(r"\d", str(evidence.answers.values["refuses"])))


def _counts_the_boundary(evidence: Evidence) -> bool:
    """True if the error gives the symbol with its position among the tokens, not in the name."""
    words = str(evidence.answers.values["refuses"])
    place = int(evidence.inputs["place"][0]) + 1
    symbol = input_text(evidence.inputs["unknown"])
    return symbol in words and place in map(int, re.findall(r"\d+", words))


def _why_it_matters(evidence: Evidence) -> str:
    if _counts_the_boundary(evidence):
        return (
            "That would be right if the boundary counted too, or if positions began at 1. Anyone "
            "who looks there will look one letter too far."
        )
    return "In a long text, nobody could find the symbol with that."


def _bad(evidence: Evidence) -> str:
    """The name with an unknown symbol and where it is, for a sentence."""
    return unwrapped(f"""`{input_text(evidence.inputs["bad"])}` holds
    `{input_text(evidence.inputs["unknown"])}` at position {int(evidence.inputs["place"][0])}""")


def _symbols(evidence: Evidence) -> str:
    return str(evidence.answers.values["symbols"])


def _place_of_the_boundary(evidence: Evidence) -> int:
    return _symbols(evidence).index(input_text(evidence.inputs["boundary"]))


@mistake(
    "Your symbols are in the order in which they first appear.",
    lambda e: unwrapped(f"""They are `{_symbols(e)}`. If the same names came in another order,
    letters could get other tokens and a trained table would no longer fit, so sort the
    letters."""),
    cases=("symbols",),
)
class _OrderOfAppearance(NameVocabulary):
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = tuple(dict.fromkeys(boundary + "".join(names)))
        self.token = {symbol: token for token, symbol in enumerate(self.symbols)}


@mistake(
    "You sorted the boundary in among the letters.",
    lambda e: unwrapped(f"""Your symbols are `{_symbols(e)}`, so
    `{input_text(e.inputs["boundary"])}` is token {_place_of_the_boundary(e)}. If you sort it
    together with the letters, its place depends on its code point. The task asks for it as token 0,
    whatever symbol it is."""),
    cases=("symbols",),
)
class _BoundarySortedIn(NameVocabulary):
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = tuple(sorted(set("".join(names) + boundary)))
        self.token = {symbol: token for token, symbol in enumerate(self.symbols)}


def _letters_in_another_order(evidence: Evidence) -> bool:
    """True if the symbols are right and the boundary is first, but the letters aren't sorted."""
    mine, right = _symbols(evidence), str(evidence.expected.values["symbols"])
    return mine != right and mine[:1] == right[:1] and sorted(mine) == sorted(right)


@mistake(
    "Your letters aren't in sorted order.",
    lambda e: unwrapped(f"""Your symbols are `{_symbols(e)}` instead of
    `{e.expected.values["symbols"]}`. If they come from a set, their order can change with the next
    run of Python, and then a trained table no longer fits. `sorted(…)` turns a set into a sorted
    list."""),
    recognized=lambda e: _letters_in_another_order(e) and not e.same("symbols"),
)
class _LettersUnsorted(NameVocabulary):
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names)), reverse=True))
        self.token = {symbol: token for token, symbol in enumerate(self.symbols)}


def _decoded(evidence: Evidence) -> str:
    """What `decode` made of the tokens of a name, and that name."""
    return unwrapped(f"""It returns `{evidence.answers.values["decode"]}` for the tokens of
    `{input_text(evidence.inputs["name"])}`, so `decode` doesn't undo `encode`.""")


def _decoded_otherwise(evidence: Evidence) -> str:
    """What `decode` does that leaves boundaries in or letters out; empty if it is neither."""
    name, boundary = (input_text(evidence.inputs[asked]) for asked in ("name", "boundary"))
    known = {
        f"{boundary}{name}{boundary}": "leaves the boundaries in",
        f"{name}{boundary}": "leaves the boundary at the end in",
        f"{boundary}{name}": "leaves the boundary at the beginning in",
        name[1:]: "leaves out the first letter of a name",
        name[:-1]: "leaves out the last letter of a name",
        name[1:-1]: "leaves out the first and the last letter of a name",
        "": "stops at the boundary in front of a name, so it returns an empty text",
    }
    return known.get(str(evidence.answers.values["decode"]), "") if evidence.same("encode") else ""


@mistake(
    lambda e: f"Your decoding {_decoded_otherwise(e)}.",
    _decoded,
    recognized=lambda e: bool(_decoded_otherwise(e)),
)
class _DecodeKeepsBoundaries(NameVocabulary):
    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens)


def _shifted(name: str, by: int, evidence: Evidence) -> str:
    """A name whose letters are replaced by neighbors of theirs among the symbols."""
    symbols = str(evidence.expected.values["symbols"])
    return "".join(symbols[(symbols.index(letter) + by) % len(symbols)] for letter in name)


@mistake(
    "Your decoding takes a neighbor of each symbol.",
    lambda e: unwrapped(f"""{_decoded(e)} Token t stands for `symbols[t]`. The boundary is
    `symbols[0]`, so nothing has to be added to t or subtracted from it."""),
    recognized=lambda e: (
        e.same("encode")
        and str(e.answers.values["decode"])
        in (_shifted(input_text(e.inputs["name"]), by, e) for by in (-1, 1))
    ),
)
class _DecodeOffByOne(NameVocabulary):
    def decode(self, tokens):
        return "".join(self.symbols[token - 1] for token in tokens[1:-1])


@mistake(
    "Your decoding returns the letters of a name in another order or number.",
    _decoded,
    recognized=lambda e: (
        e.same("encode")
        and set(str(e.answers.values["decode"])) == set(input_text(e.inputs["name"]))
        and not e.same("decode")
    ),
)
class _DecodeReorders(NameVocabulary):
    def decode(self, tokens):
        return "".join(self.symbols[token] for token in sorted(set(tokens.tolist())) if token)


@mistake(
    "You only keep lowercase letters, but a capital is a symbol of its own.",
    lambda e: unwrapped(f"""Your symbols are `{_symbols(e)}`, but the names also hold
    `{"".join(sorted(s for s in set(input_text(e.inputs["names"])) if s.isupper()))}`. If you encode
    capitals as lowercase letters, `decode` can't give the same name back."""),
    cases=("symbols",),
)
class _LowercaseLetters(NameVocabulary):
    def __init__(self, names, boundary):
        super().__init__([name.lower() for name in names], boundary)


def _letters_are_off(evidence: Evidence) -> tuple[set[str], set[str]]:
    """The symbols that are missing, and those that no name has."""
    mine, right = set(_symbols(evidence)), set(str(evidence.expected.values["symbols"]))
    return right - mine, mine - right


@mistake(
    "Some of your symbols occur several times.",
    lambda e: unwrapped(f"""Your symbols are `{_symbols(e)}`, with `{_repeated(e)}`
    {_symbols(e).count(_repeated(e))} times. Each letter is one symbol with one token, and a `set`
    keeps each only once."""),
    recognized=lambda e: bool(_repeated(e)) and not _letters_are_off(e)[1],
)
class _SymbolsRepeated(NameVocabulary):
    def __init__(self, names, boundary):
        super().__init__(names, boundary)
        self.symbols = (boundary, *sorted("".join(names)))


def _repeated(evidence: Evidence) -> str:
    """The first symbol that occurs several times; empty if there is none."""
    symbols = _symbols(evidence)
    return next((symbol for symbol in symbols if symbols.count(symbol) > 1), "")


@mistake(
    lambda e: (
        "Your symbols lack letters that names have."
        if _letters_are_off(e)[0]
        else "Your symbols hold something that no name has."
    ),
    lambda e: unwrapped(f"""They {"lack" if _letters_are_off(e)[0] else "hold"}
    {_some_letters(_letters_are_off(e)[0] or _letters_are_off(e)[1])}. The symbols
    should be the boundary and every letter of every name, and nothing else. Take them from the
    names, not from an alphabet or a range of letters."""),
    recognized=lambda e: any(_letters_are_off(e)),
)
class _OtherSymbols(NameVocabulary):
    def __init__(self, names, boundary):
        letters = "".join(names)
        between = map(chr, range(ord(min(letters)), ord(max(letters)) + 1))
        super().__init__(["".join(between)], boundary)


def _some_letters(letters: set[str]) -> str:
    return ", ".join(f"`{letter}`" for letter in sorted(letters)[:6]) + (
        " and others" if len(letters) > 6 else ""
    )


@mistake(
    "You refuse a symbol that is in the vocabulary.",
    lambda e: unwrapped(f"""`encode` raises a `ValueError` for the name
    `{input_text(e.inputs["name"])}`, all of whose symbols are known. The error says:
    “{e.answers.errors["encode"].message}”. If you ask `symbol in names` with the list of names, it
    looks for a whole name of one letter, so ask the symbols instead."""),
    recognized=lambda e: e.same("symbols") and e.answers.errors["encode"].kind == "ValueError",
)
class _RefusesKnownSymbols(NameVocabulary):
    def __init__(self, names, boundary):
        super().__init__(names, boundary)
        self.names = names

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.names:
                raise ValueError(f"unknown symbol {symbol!r} at position {position}")
        return super().encode(name)


@mistake(
    "All your vocabularies share one table, so what one knows, the others know too.",
    lambda e: unwrapped(f"""The check made a second vocabulary with names that hold
    `{input_text(e.inputs["unknown"])}`, and now the first one encodes this symbol too. A table in
    the body of the class or outside of it is shared by all, so make it in `__init__`."""),
    UNKNOWN,
)
class _SharedTable(NameVocabulary):
    token = {}  # noqa: RUF012

    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names))))
        self.token.update({symbol: token for token, symbol in enumerate(self.symbols)})


def _became(evidence: Evidence) -> str:
    return unwrapped(f"""`{input_text(evidence.inputs["name"])}` became
    {listed(evidence.yours("encode"))} instead of {listed(evidence.right("encode"))}.""")


def _each_letter_once(evidence: Evidence) -> str:
    """A hint if a repeated letter gets only one token; else empty."""
    name = input_text(evidence.inputs["name"])
    mine = evidence.yours("encode")
    once = not mine[0] and len(mine) == len(set(name)) + 2 < len(name) + 2
    return f" You have one for each of its {len(set(name))} different letters." if once else ""


@mistake(
    lambda e: unwrapped(f"""Your encoding of `{input_text(e.inputs["name"])}` has
    {len(e.yours("encode"))} tokens instead of {len(e.right("encode"))}."""),
    lambda e: unwrapped(f"""{_became(e)} There should be one token for each place of the name, and a
    boundary on each side.{_each_letter_once(e)}"""),
    recognized=lambda e: (
        e.same("symbols")
        and e.yours("encode").ndim == 1
        and len(e.yours("encode")) != len(e.right("encode"))
    ),
)
class _AnotherNumberOfTokens(NameVocabulary):
    def encode(self, name):
        return super().encode("".join(dict.fromkeys(name)))


def _wrong_token(evidence: Evidence) -> str:
    """The first token of the encoding that is wrong, and what it stands for."""
    name, boundary = (input_text(evidence.inputs[asked]) for asked in ("name", "boundary"))
    mine, right = evidence.yours("encode"), evidence.right("encode")
    symbols = str(evidence.expected.values["symbols"])
    at = int(np.flatnonzero(mine != right)[0])
    token = float(mine[at])
    held = f", which stands for `{symbols[int(token)]}`" if token in range(len(symbols)) else ""
    which = (
        f"`{name[at - 1]}` at position {at - 1} of the name"
        if 0 < at <= len(name)
        else f"The boundary `{boundary}` {'after' if at else 'in front of'} the name"
    )
    return f"{which} should be token {int(right[at])}, but yours is {number(token)}{held}."


@mistake(
    "Some tokens of your encoding aren't the places of their symbols in `symbols`.",
    lambda e: f"{_became(e)} {_wrong_token(e)}",
    recognized=lambda e: (
        e.same("symbols") and e.comparable("encode") and e.repeatable and not e.same("encode")
    ),
)
class _AnotherToken(NameVocabulary):
    def encode(self, name):
        return super().encode(name.lower())


@mistake(
    "You don't raise a `ValueError` for an unknown symbol.",
    lambda e: unwrapped(f"""{_bad(e)}, and your `encode` stops with
    `{e.answers.errors["refuses"].kind}`. Code that calls `encode` can only catch the error that
    the task names, a `ValueError` with the symbol and its position."""),
    UNKNOWN,
    recognized=lambda e: (
        e.same("symbols", "encode", "decode")
        and e.answers.errors["refuses"].kind not in ("ReturnedTypeError", "ValueError")
    ),
)
class _AnotherKindOfError(NameVocabulary):
    def encode(self, name):
        return torch.tensor([self.token[s] for s in self.boundary + name + self.boundary])


@mistake(
    lambda e: (
        "The position in your error is one too large."
        if _counts_the_boundary(e)
        else "Your error gives the unknown symbol, but a wrong position."
        if input_text(e.inputs["unknown"]) in str(e.answers.values["refuses"]) and _says_a_number(e)
        else "Your error gives the unknown symbol, but not its position."
        if input_text(e.inputs["unknown"]) in str(e.answers.values["refuses"])
        else "Your error gives the position, but not the unknown symbol."
        if _says_the_place(e)
        else "Your error doesn't say which symbol is unknown and at which position."
    ),
    lambda e: unwrapped(f"""{_bad(e)}, counted from 0 at the first letter, but your error says
    “{e.answers.values["refuses"]}”. {_why_it_matters(e)}"""),
    UNKNOWN,
    recognized=lambda e: (
        isinstance(e.answers.values["refuses"], str)
        and e.same("symbols", "encode", "decode")
        and not _refusal_names_symbol_and_place(e)
    ),
)
class _ErrorNamesNothing(NameVocabulary):
    def encode(self, name):
        if set(name) - set(self.symbols):
            raise ValueError("the name holds an unknown symbol")
        return super().encode(name)


@mistake(
    lambda e: (
        "You don't refuse an unknown symbol at position 0 as you should."
        if _refused_otherwise(e) == "bad_first"
        else "You don't refuse an unknown capital as you should."
        if _refused_otherwise(e) == "bad_capital"
        else "You don't refuse an unknown symbol at the last position as you should."
        if _refused_otherwise(e) == "bad_last"
        else "With two unknown symbols, your error doesn't give one with its own position."
    ),
    _says_otherwise,
    UNKNOWN,
    recognized=lambda e: (
        e.same("symbols", "encode", "decode")
        and _refusal_names_symbol_and_place(e)
        and bool(_refused_otherwise(e))
    ),
)
class _RefusesOnlySome(NameVocabulary):
    def encode(self, name):
        position = next((p for p, symbol in enumerate(name) if symbol not in self.token), None)
        if position:
            raise ValueError(f"unknown symbol {name[position]!r} at position {position}")
        return torch.tensor([self.token.get(s, 0) for s in self.boundary + name + self.boundary])


def _encodes(evidence: Evidence) -> bool:
    return evidence.same("encode", "short.tokens") and integers(evidence, "encode")


_CASES_THAT_REFUSE = {"bad": "refuses", **_REFUSED}


def _accepted(evidence: Evidence) -> str:
    """The first name with an unknown symbol that became tokens; empty if none did."""
    for asked, case in _CASES_THAT_REFUSE.items():
        if isinstance(evidence.answers.values.get(case), np.ndarray):
            return asked
    return ""


def _says_accepted(evidence: Evidence) -> str:
    name = input_text(evidence.inputs[_accepted(evidence)])
    symbol, place = _unknown_in(name, evidence)[0]
    return unwrapped(f"""`{name}` holds `{symbol}` at position {place}, which is in no name of this
    vocabulary, but your `encode` raised no error. Raise a `ValueError` with `raise`, so that nobody
    goes on with a name that the vocabulary can't represent.""")


@mistake(
    "You don't refuse a name with a symbol that isn't in the vocabulary.",
    _says_accepted,
    UNKNOWN,
    recognized=lambda e: e.repeatable and e.same("symbols", "encode") and bool(_accepted(e)),
)
class _UnknownAccepted(NameVocabulary):
    def encode(self, name):
        last = len(self.symbols) - 1
        return torch.tensor([0, *(self.token.get(symbol, last) for symbol in name), 0])


def _decimals(evidence: Evidence) -> Finding | None:
    if not evidence.same("encode") or integers(evidence, "encode"):
        return None
    return Finding(
        "kind-of-number",
        "Your tokens are right, but they are decimal numbers.",
        "A token is a place in the list of symbols, so it has to be an integer.",
        ENCODE,
    )


def _of_several_calls(evidence: Evidence) -> Finding | None:
    """What only goes wrong in a vocabulary that was used before, or for a short name."""
    if not evidence.same("symbols", "encode", "decode"):
        return None
    letter, name = (input_text(evidence.inputs[asked]) for asked in ("letter", "name"))
    if not evidence.same("given"):
        return Finding(
            "changes-its-names",
            "Your vocabulary changes the list of names that it is given.",
            "The caller may still need that list. `sorted(names)` returns a new list, while "
            "`names.sort()` changes the old one.",
            ENCODE,
        )
    said = [
        evidence.answers.values[f"short.names.{which}"] for which in ("letter", "name", "nothing")
    ]
    if said != [letter, name, ""]:
        return Finding(
            "short-name",
            "Your decoding goes wrong when one vocabulary decodes several names.",
            f"The tokens of `{letter}`, `{name}` and an empty name, decoded one after the other, "
            f"became {', '.join(f'`{one}`' for one in said)}.",
            ENCODE,
        )
    return None


TASK = Task(
    "A vocabulary for names",
    NameVocabulary,
    ENCODE,
    (
        Part(
            "The boundary is token 0 and the letters follow in order.",
            1,
            matches("symbols", "given"),
        ),
        Part("A name is encoded between two boundaries.", 1, _encodes),
        Part(
            "Decoding gives the name back, without boundaries.", 1, matches("decode", "short.names")
        ),
        Part("An unknown symbol is refused, with its position.", 1, _refusals_are_right),
    ),
    cases=("refuses",),
    properties=(_of_several_calls, _decimals),
)
