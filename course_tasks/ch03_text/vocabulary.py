"""What 03/vocabulary asks."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from course_tasks.answers import input_text, text_input
from course_tasks.ch03_text.shared import (
    random_names,
)
from course_tasks.probing import Inputs, Probe

# None of these is a word of English, so an error that holds one names it.
_UNKNOWN = "éñüßøłåçžœ"
# These are in names, and known.
_ACCENTED = "äêîôû"


def _vocabulary_inputs(rng: np.random.Generator) -> Inputs:
    vowels = rng.choice(list("aeiou"), 4, replace=False)
    consonants = rng.choice(list("bcdfghklmnrst"), 7, replace=False)
    letters = "".join(vowels) + "".join(consonants)
    names = random_names(rng, int(rng.integers(5, 8)), letters)
    # A capital is a letter of its own, and so is one that English does not have. The name that is
    # asked for holds both: who knows them not cannot encode it, nor get it back.
    asked = int(rng.integers(len(names) - 1))
    names[asked] = names[asked].capitalize() + str(rng.choice(list(_ACCENTED)))
    capital = names[asked][0]
    first, last = rng.choice(list("pqvwxz"), 2, replace=False)
    # Nobody who leaves out the first name or the last one knows all letters.
    names[0] += str(first)
    names[-1] += str(last)
    used = sorted(set("".join(names)))
    names[0] = used[-1] + used[0] + names[0]  # the order of appearance is not the alphabet's
    names[asked] += names[asked][0]  # one letter comes twice
    # No name holds this letter as a capital.
    small = next(s for s in names[0] if s.isascii() and s.upper() != capital)
    bad, place = names[-1], int(rng.integers(1, 3))
    unknown, other = (str(symbol) for symbol in rng.choice(list(_UNKNOWN), 2, replace=False))
    return {
        "names": text_input("\n".join(names)),
        # All of these come after 'z' in the order of code points.
        "boundary": text_input(str(rng.choice(list("|}~¦§¶·")))),
        "name": text_input(names[asked]),
        "bad": text_input(bad[:place] + unknown + bad[place:]),
        # An unknown symbol at the very first position; two of them in one name, in either order.
        "bad_first": text_input(unknown + bad),
        "bad_twice": text_input(bad[:1] + unknown + bad[1:] + other),
        "bad_turned": text_input(bad[:1] + other + bad[1:] + unknown),
        # At the very last position, behind a letter that came before.
        "bad_last": text_input(bad + bad[0] + unknown),
        "bad_capital": text_input(bad + small.upper()),
        "letter": text_input(small),
        "unknown": text_input(unknown),
        "place": np.array([place]),
    }


def _vocabulary(answer: Any, given: Inputs) -> Any:
    return _and_names(answer, given)[0]


def _and_names(answer: Any, given: Inputs) -> tuple[Any, list[str]]:
    """A vocabulary, and the list of names that it was made of."""
    names, boundary = input_text(given["names"]).split("\n"), input_text(given["boundary"])
    first = names[0]
    asked = answer(names, boundary)
    # Another one beside it, of other letters: what it knows is none of the first one's business.
    answer([first[::-1] + input_text(given["unknown"])], boundary)
    return asked, names


def _short_names(answer: Any, given: Inputs) -> Any:
    """One vocabulary is asked several times: for a name of one letter, for one of none, and for
    what was asked before.
    """
    vocabulary = _vocabulary(answer, given)
    asked = {name: vocabulary.encode(input_text(given[name])) for name in ("letter", "name")}
    asked["nothing"] = vocabulary.encode("")
    return {
        "tokens": asked,
        "names": {name: vocabulary.decode(tokens) for name, tokens in asked.items()},
    }


def _names_afterwards(answer: Any, given: Inputs) -> Any:
    """The names that a vocabulary was made of, after it was asked, whatever came of that."""
    vocabulary, names = _and_names(answer, given)
    with suppress(Exception):
        vocabulary.decode(vocabulary.encode(input_text(given["name"])))
    return "\n".join(names)


def _vocabulary_symbols(answer: Any, given: Inputs) -> Any:
    return "".join(_vocabulary(answer, given).symbols)


def _vocabulary_encode(answer: Any, given: Inputs) -> Any:
    return _vocabulary(answer, given).encode(input_text(given["name"]))


def _vocabulary_decode(answer: Any, given: Inputs) -> Any:
    """Tokens are made by the answer's own `encode`, whatever its numbering."""
    vocabulary = _vocabulary(answer, given)
    return vocabulary.decode(vocabulary.encode(input_text(given["name"])))


def _vocabulary_refuses(bad: str) -> Any:
    """The words of the error, which are what the task asks for; any other ending stays one."""

    def case(answer: Any, given: Inputs) -> Any:
        vocabulary = _vocabulary(answer, given)
        try:
            returned = vocabulary.encode(input_text(given[bad]))
        except ValueError as error:
            return str(error)
        # Words that are returned are no error that is raised.
        return np.zeros(0, dtype=np.int64) if isinstance(returned, str) else returned

    return case


PROBE = Probe(
    _vocabulary_inputs,
    {
        "symbols": _vocabulary_symbols,
        "encode": _vocabulary_encode,
        "decode": _vocabulary_decode,
        "refuses": _vocabulary_refuses("bad"),
        "refuses_first": _vocabulary_refuses("bad_first"),
        "refuses_twice": _vocabulary_refuses("bad_twice"),
        "refuses_turned": _vocabulary_refuses("bad_turned"),
        "refuses_last": _vocabulary_refuses("bad_last"),
        "refuses_capital": _vocabulary_refuses("bad_capital"),
        "short": _short_names,
        "given": _names_afterwards,
    },
)
