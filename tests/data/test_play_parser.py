"""The play read back: text alone gives the derivation and the same likelihood.

The reader here has the rules and a text, and nothing that wrote it. It follows every derivation
that the text so far allows at once, as in a forward algorithm, and drops those that the next
character rules out. What is alive before a character, and what is left after it, gives the
probability of that character given all before it; a derivation is recovered where one alone is
left. It never assumes that beginnings are prefix-free, so it also tests that they are.
"""

import itertools
import math
import re
from typing import NamedTuple

import numpy as np
import pytest

from course_lib.data import play
from course_lib.data.play import grammar

pytestmark = pytest.mark.slow

SLOT = re.compile(r"\{([^{}]*)\}")


class Reading(NamedTuple):
    """One derivation that is still possible: it expects `text` next, then what `todo` holds."""

    text: str
    todo: tuple | None  # (item, rest), a linked list
    registers: dict
    probability: float
    choices: tuple | None  # (rule, option, earlier choices), a linked list


class UnreadableError(Exception):
    """No derivation begins with this text."""

    def __init__(self, position, symbol):
        super().__init__(f"no derivation goes on with {symbol!r} at {position}")
        self.position = position


def split(template):
    """[('text', t), ('slot', s), ...] of a template."""
    parts = SLOT.split(template)
    return [("slot" if k % 2 else "text", part) for k, part in enumerate(parts) if k % 2 or part]


class Recognizer:
    def __init__(self, rules, start):
        self.rules = {
            name: [
                (weight / sum(w for w, _ in options), split(template))
                for weight, template in options
            ]
            for name, options in rules.items()
        }
        self.start = start

    def read(self, text):
        """(nats of each character, readings left at the end, each with its choices)."""
        nll = []
        alive = self.expand(Reading("", (("slot", self.start), None), {}, 1.0, None), 0, text)
        for position, symbol in enumerate(text):
            before = sum(reading.probability for reading in alive)
            left = []
            for reading in alive:
                if reading.text[0] == symbol:
                    reading = reading._replace(text=reading.text[1:])
                    left += [reading] if reading.text else self.expand(reading, position + 1, text)
            if not left:
                raise UnreadableError(position, symbol)
            after = sum(reading.probability for reading in left)
            nll.append(-math.log(after / before))
            # Only ratios matter: a fresh scale keeps long texts from vanishing.
            alive = [reading._replace(probability=reading.probability / after) for reading in left]
        return nll, alive

    def expand(self, reading, position, text):
        """All ways to go on from a reading until each expects a character."""
        open_readings, ready = [reading], []
        while open_readings:
            reading = open_readings.pop()
            (kind, content), todo = reading.todo
            if kind == "text":
                ready.append(reading._replace(text=content, todo=todo))
            elif kind == "keep":
                register, begin = content
                registers = {**reading.registers, register: text[begin:position]}
                open_readings.append(reading._replace(todo=todo, registers=registers))
            elif content[0] == "=":
                word = reading.registers[content[1:]]
                ready.append(reading._replace(text=word, todo=todo))
            elif ":" in content or "<" in content:
                register, mark, value = re.split("([:<])", content, maxsplit=1)
                value = value if mark == ":" else reading.registers[value]
                registers = {**reading.registers, register: value}
                open_readings.append(reading._replace(todo=todo, registers=registers))
            else:
                call, _, register = content.partition("=")
                if register:
                    todo = (("keep", (register, position)), todo)
                rule, _, names = call.partition("@")
                if names:
                    values = [reading.registers[name] for name in names.split(",")]
                    rule = f"{rule}.{','.join(values)}"
                for number, (probability, parts) in enumerate(self.rules[rule]):
                    rest = todo
                    for part in reversed(parts):
                        rest = (part, rest)
                    open_readings.append(
                        reading._replace(
                            todo=rest,
                            probability=reading.probability * probability,
                            choices=(rule, number, reading.choices),
                        )
                    )
        return ready


def tell(choices):
    """The choices of a reading in the order in which they were made."""
    told = []
    while choices is not None:
        rule, number, choices = choices
        told.append((rule, number))
    return told[::-1]


@pytest.fixture(scope="module")
def recognizer():
    return Recognizer(grammar.rules(), grammar.START)


@pytest.mark.parametrize("seed", [play.DEFAULT_SEED, 2])
def test_reader_of_the_text_alone_finds_the_same_cost_of_every_character(recognizer, seed):
    comedy = play.write(20_000, seed=seed)
    nll, _ = recognizer.read(comedy.text)
    np.testing.assert_allclose(nll, comedy.nll, rtol=1e-9, atol=1e-9)
    assert sum(nll) == pytest.approx(comedy.nll.sum(), rel=1e-9)


@pytest.mark.parametrize("characters", [1, 2, 60, 333, 1200])
def test_cost_of_a_cut_text_is_exact_wherever_it_is_cut(recognizer, characters):
    comedy = play.write(characters, seed=11)
    nll, _ = recognizer.read(comedy.text)
    assert sum(nll) == pytest.approx(comedy.nll.sum(), rel=1e-9)


def test_derivation_is_recovered_from_the_text(recognizer):
    comedy = play.write(3000, seed=4)
    end = comedy.text.rindex(":\n") + 2
    _, readings = recognizer.read(comedy.text[:end])
    derivations = [tell(reading.choices) for reading in readings]
    settled = [
        choices[0]
        for choices in itertools.takewhile(
            lambda choices: len(set(choices)) == 1, zip(*derivations, strict=False)
        )
    ]
    cost = -sum(math.log(recognizer.rules[rule][number][0]) for rule, number in settled)
    assert cost == pytest.approx(comedy.nll[:end].sum(), rel=1e-9)


def cost(recognizer, text):
    """Nats of a text; infinite for one that the grammar cannot write."""
    try:
        return sum(recognizer.read(text)[0])
    except UnreadableError:
        return math.inf


def test_one_wrong_character_is_refused_or_costs_something_else(recognizer):
    comedy = play.write(1500, seed=6)
    whole = comedy.nll.sum()
    for place in range(3, 1500, 71):
        wrong = "q" if comedy.text[place] != "q" else "z"
        text = comedy.text[:place] + wrong + comedy.text[place + 1 :]
        assert cost(recognizer, text) != pytest.approx(whole, rel=1e-9)
