"""The play: its text, its costs, its dependencies, and what it refuses."""

import hashlib
import itertools
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from course_lib.data import play
from course_lib.data.play import grammar, structure
from course_lib.data.play.automaton import Automaton, spell
from course_lib.errors import GrammarError

SYMBOLS = "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DIGEST = "293716d35b25df293289e49723b5fffd7774b6fc6bf052c1591849b30b8df26a"


@pytest.fixture(scope="module")
def comedy():
    return play.write()


def digest(text):
    return hashlib.sha256(text.encode("ascii")).hexdigest()


@pytest.mark.slow
def test_default_text_is_the_one_everyone_has(comedy):
    assert len(comedy.text) == 1_000_000
    assert digest(comedy.text) == DIGEST


@pytest.mark.slow
def test_text_does_not_depend_on_the_order_of_hashes():
    code = (
        "import hashlib; from course_lib.data import play; "
        "print(hashlib.sha256(play.write(50_000, seed=7).text.encode()).hexdigest())"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert told == digest(play.write(50_000, seed=7).text)


def test_another_seed_writes_another_play():
    assert play.write(2000, seed=2).text != play.write(2000, seed=3).text


def test_play_uses_exactly_the_symbols_of_tiny_shakespeare(comedy):
    assert len(SYMBOLS) == 65
    assert "".join(sorted(set(comedy.text))) == SYMBOLS
    assert "".join(sorted(set(comedy.text[:900_000]))) == SYMBOLS


@pytest.mark.parametrize("characters", [1, 2, 37, 500, 501])
def test_shorter_play_is_the_beginning_of_a_longer_one(characters):
    short, long = play.write(characters, seed=5), play.write(2000, seed=5)
    assert short.text == long.text[:characters]
    np.testing.assert_array_equal(short.nll, long.nll[:characters])
    np.testing.assert_array_equal(short.positions, long.positions[:characters])
    assert len(short.text) == len(short.nll) == len(short.positions) == characters


def test_speeches_are_set_like_those_of_tiny_shakespeare(comedy):
    paragraphs = comedy.text.split("\n\n")
    heads = [part.split("\n")[0] for part in paragraphs]
    spoken = [head for head in heads if head.endswith(":") and head[:-1] in grammar.people()]
    assert {head[:-1] for head in spoken} == set(grammar.people())
    assert len(spoken) > 0.75 * len(paragraphs)


def test_weights_are_what_the_text_is_drawn_with(comedy):
    automaton, written = comedy.derivation.automaton, comedy.derivation.pieces
    for rule in ("after", "place", "initial", "beast"):
        choice = automaton.expansion(rule)
        counts = [int((written == index).sum()) for index in choice.pieces]
        total = sum(counts)
        assert total > 1000
        for count, (text, share) in zip(counts, choice.probability.items(), strict=True):
            spread = math.sqrt(total * share * (1 - share))
            assert abs(count - total * share) < 5 * spread, (rule, text)


@pytest.mark.parametrize("characters", [0, -3])
def test_length_below_one_is_refused(characters):
    with pytest.raises(ValueError, match=f"characters must be at least 1, got {characters}"):
        play.write(characters)


@pytest.mark.parametrize("seed", [1.5, "7", None, True])
def test_seed_that_is_no_integer_is_refused(seed):
    with pytest.raises(TypeError, match="seed must be an integer"):
        play.write(10, seed=seed)


def test_negative_seed_is_refused_because_it_would_repeat_the_positive_one():
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        play.write(10, seed=-1)


def test_integers_of_numpy_are_integers():
    assert play.write(np.int64(100), seed=np.int32(4)).text == play.write(100, seed=4).text


# What a character costs


def test_costs_are_finite_and_never_negative(comedy):
    assert comedy.nll.dtype == np.float64
    assert np.isfinite(comedy.nll).all()
    assert (comedy.nll >= 0).all()


def test_floor_is_the_mean_cost_of_the_characters_asked_for(comedy):
    validation = slice(900_000, None)
    assert comedy.floor() == pytest.approx(comedy.nll.sum() / 1_000_000, rel=1e-12)
    assert comedy.floor(validation) == pytest.approx(comedy.nll[900_000:].mean(), rel=1e-12)
    assert comedy.floor(validation) == pytest.approx(comedy.floor(), abs=0.02)


@pytest.mark.parametrize("where", [slice(None), slice(900_000, None), slice(17, 40)])
def test_floor_by_position_adds_up_to_the_floor(comedy, where):
    parts = comedy.floor_by_position(where)
    assert set(parts) <= set(play.POSITIONS)
    assert sum(part.share for part in parts.values()) == pytest.approx(1)
    assert sum(part.share * part.floor for part in parts.values()) == pytest.approx(
        comedy.floor(where)
    )


def test_settled_text_costs_nothing_and_first_letters_cost_most(comedy):
    parts = comedy.floor_by_position()
    assert parts["settled"].floor == 0
    assert parts["first letter"].floor == max(part.floor for part in parts.values())
    assert set(parts) == set(play.POSITIONS)


def test_slice_without_characters_is_refused(comedy):
    with pytest.raises(ValueError, match="holds none of the 1000000 characters"):
        comedy.floor(slice(2_000_000, None))
    with pytest.raises(ValueError, match="holds none"):
        comedy.floor_by_position(slice(5, 5))


def test_counted_bigram_stays_far_above_the_floor(comedy):
    codes = np.frombuffer(comedy.text.encode("ascii"), dtype=np.uint8).astype(np.int64)
    train, validation = codes[:900_000], codes[900_000:]
    counts = np.ones((128, 128))
    np.add.at(counts, (train[:-1], train[1:]), 1)
    probabilities = counts / counts.sum(axis=1, keepdims=True)
    loss = -np.log(probabilities[validation[:-1], validation[1:]]).mean()
    assert 2.2 < loss < 2.6
    assert comedy.floor(slice(900_000, None)) < 0.6


# The draws


def every_choice():
    """(name of the variant, texts to draw from) of every rule and variant of the grammar."""
    automaton = Automaton(grammar.rules())
    return {
        rule: [opening.text for opening in automaton.openings(rule)]
        for rule, options in grammar.rules().items()
        if len(options) > 1
    }


def test_no_beginning_of_an_option_begins_another_one():
    for rule, texts in every_choice().items():
        assert all(texts), rule
        for one, next_one in itertools.pairwise(sorted(texts)):
            assert not next_one.startswith(one), (rule, one, next_one)


def test_variants_of_a_rule_can_be_told_apart_by_one_who_forgot_which_it_is():
    automaton = Automaton(grammar.rules())
    for dependency in structure.DEPENDENCIES:
        for rule in dependency.reads:
            texts = {
                opening.text
                for variant in grammar.rules()
                if variant.startswith(f"{rule}.")
                for opening in automaton.openings(variant)
            }
            assert len(texts) > 1
            for one, next_one in itertools.pairwise(sorted(texts)):
                assert not next_one.startswith(one), (rule, one, next_one)


def test_every_rule_is_called_and_every_call_has_a_rule():
    rules = grammar.rules()
    called = {
        item.rule
        for options in rules.values()
        for _, template in options
        for item in grammar.parse(template)
        if isinstance(item, grammar.Call)
    }
    for rule in rules:
        assert rule == grammar.START or {rule, rule.split(".")[0]} & called, rule
    for rule in called:
        assert rule in rules or any(name.startswith(f"{rule}.") for name in rules), rule


def test_spelling_spreads_the_cost_by_the_words_that_are_left():
    words, weights = ["key", "keg", "kin", "query"], [4, 2, 1, 1]
    for word, weight, (nll, _) in zip(words, weights, spell("toy", words, weights), strict=True):
        assert nll.sum() == pytest.approx(-math.log(weight / 8))
        for stop, cost in enumerate(nll):
            before = sum(w for t, w in zip(words, weights, strict=True) if t[:stop] == word[:stop])
            after = sum(
                w for t, w in zip(words, weights, strict=True) if t[: stop + 1] == word[: stop + 1]
            )
            assert cost == pytest.approx(-math.log(after / before))


@pytest.mark.slow
def test_next_symbols_of_every_draw_have_probabilities_that_add_up_to_one():
    automaton = Automaton(grammar.rules())
    for rule in every_choice():
        openings = automaton.openings(rule)
        texts = [opening.text for opening in openings]
        weights = [
            int(opening.weight * math.lcm(*(o.weight.denominator for o in openings)))
            for opening in openings
        ]
        following = {}
        for text, (nll, _) in zip(texts, spell(rule, texts, weights), strict=True):
            for stop, cost in enumerate(nll):
                following.setdefault(text[:stop], {})[text[stop]] = math.exp(-cost)
        for prefix, chances in following.items():
            assert sum(chances.values()) == pytest.approx(1, rel=1e-9), (rule, prefix)


def test_forgetting_the_last_letter_costs_what_the_mean_over_it_says():
    words, weights = ["aba", "aca", "bbb"], [1, 1, 2]
    (_, blind), *_ = spell("toy", words, weights)
    # a: 2 of 4. b, not knowing the a: 3 of 4. a, knowing the first a alone: 2 of 2.
    assert blind == pytest.approx(-math.log(2 / 4) - math.log(3 / 4) - math.log(2 / 2))


@pytest.mark.parametrize("words", [["key", "keyhole"], ["keyhole", "key"], ["key", "key"], [""]])
def test_words_that_begin_one_another_are_refused(words):
    with pytest.raises(GrammarError, match="toy"):
        spell("toy", words, [1] * len(words))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (((1, "{nowhere}"), (1, "b")), "'nowhere', which the grammar lacks"),
        (((1, "a {b@}"), (1, "b")), "notation"),
        (((1, "{=a}"), (1, "b")), "begin it with text"),
        (((1, "a{=b}"), (1, "ab")), "begins another"),
        (((2**53, "a"), (1, "b")), "use smaller ones"),
    ],
)
def test_rule_that_cannot_be_read_back_is_refused(options, message):
    with pytest.raises(GrammarError, match=message):
        Automaton({"comedy": options}).expansion("comedy")


# What depends on what


def test_dependencies_reach_from_one_character_to_hundreds(comedy):
    lengths = {dependency.name: dependency.length for dependency in comedy.dependencies()}
    assert lengths["spelling"] == 1
    assert 8 <= lengths["epithet"] <= 12
    assert 8 <= lengths["doublet"] <= 15
    assert 25 <= lengths["rhyme"] <= 60
    assert 25 <= lengths["naming"] <= 60
    assert 40 <= lengths["mood"] <= 80
    assert 60 <= lengths["vocabulary"] <= 200
    assert 150 <= lengths["recall"] <= 400
    assert 150 <= lengths["turn"] <= 400
    assert list(lengths.values()) == sorted(lengths.values())


def test_every_dependency_is_worth_something_and_the_near_and_far_ones_visibly_so(comedy):
    worth = {dependency.name: dependency.worth for dependency in comedy.dependencies()}
    assert all(value > 0 for value in worth.values())
    assert worth["spelling"] > 0.2
    for name in ("epithet", "naming", "rhyme", "doublet"):
        assert worth[name] > 0.01, name
    for name in ("agreement", "mood", "vocabulary", "recall", "turn"):
        assert worth[name] > 0.006, name


def test_worth_of_the_epithet_is_the_cost_without_the_capital_less_the_cost_with_it(comedy):
    derivation = comedy.derivation
    pieces = [derivation.automaton.pieces[index] for index in derivation.pieces]
    written = [(piece.values[0], piece.text) for piece in pieces if piece.rule == "epithet"]
    initials = [initial for _, initial in grammar.rules()["initial"]]
    share = {one: sum(one == other for other, _ in written) for one in initials}
    lost = 0.0
    for initial, word in written:
        known = 1 / len(grammar.rules()[f"epithet.{initial}"])
        lost -= math.log(share[initial] / len(written) * known) - math.log(known)
        assert word[0] == initial
    (epithet,) = (one for one in comedy.dependencies() if one.name == "epithet")
    assert epithet.worth == pytest.approx(lost / len(comedy.text), rel=1e-3)


def test_letter_after_a_hyphen_repeats_the_capital_before_it(comedy):
    links, text = comedy.links("epithet"), comedy.text
    for target, source in links:
        assert text[target - 1] == "-"
        assert text[source] == text[target]
        assert text[source].isupper()
        assert not any(symbol.isupper() for symbol in text[source + 1 : target])
    assert [target - 1 for target, _ in links] == [
        place for place, symbol in enumerate(text[:-1]) if symbol == "-"
    ]
    assert len(links) > 5000
    assert (links[:, 0] - links[:, 1]).max() <= 15


@pytest.mark.parametrize("name", ["doublet", "naming", "recall"])
def test_echo_repeats_the_word_at_its_source(comedy, name):
    words = {
        "doublet": grammar.sections()["noun"].words,
        "naming": grammar.sections()["prop"].words,
        "recall": grammar.sections()["prop"].words,
    }[name]
    for target, source in comedy.links(name)[:-1]:
        (word,) = (word for word in words if comedy.text.startswith(word, source))
        assert comedy.text.startswith(word, target)
        assert source < target


def test_rhyme_ends_a_line_and_looks_at_the_end_of_an_earlier_one(comedy):
    rows = [row.split() for row in grammar.sections()["rhymes"].lines]
    sound = {word: number for number, row in enumerate(rows) for word in row}
    for target, source in comedy.links("rhyme")[:-1]:
        first = comedy.text[source : comedy.text.index(",\n", source)]
        second = next(word for word in sound if comedy.text.startswith(word, target))
        assert sound[first] == sound[second]
        assert first != second


def test_mark_that_ends_a_sentence_agrees_with_how_it_opened(comedy):
    opened = {}
    for target, source in comedy.links("mood"):
        mark = comedy.text[target]
        if mark in ".?!":
            opened.setdefault(comedy.text[source : source + 9], set()).add(mark)
    assert opened["Why doth "] == {"?"}
    assert opened["Behold a "] == {"!"}
    assert opened["They say "] == {"."}
    assert all(len(marks) == 1 for marks in opened.values())


def test_verb_and_possessive_agree_with_the_pronoun(comedy):
    seen = set()
    for target, source in comedy.links("agreement"):
        pronoun = comedy.text[source : source + 4]
        seen.add((pronoun.split()[0].lower(), comedy.text[target : target + 3].strip()))
    assert {("thou", "est"), ("thou", "thy"), ("he", "eth"), ("he", "his"), ("i", "my")} <= seen
    assert not {("thou", "eth"), ("he", "est"), ("i", "thy"), ("she", "his")} & seen


def test_turn_looks_at_the_name_of_the_one_who_is_to_answer(comedy):
    for target, source in comedy.links("turn")[:-1]:
        (answering,) = (name for name in grammar.people() if comedy.text.startswith(name, target))
        assert comedy.text.startswith(answering, source)


def test_links_lie_inside_the_text_and_point_back(comedy):
    for characters in (100, 1000, 5003):
        short = play.write(characters)
        for dependency in structure.DEPENDENCIES:
            links = short.links(dependency.name)
            assert links.shape[1] == 2
            assert (links < characters).all()
            assert (links[:, 1] < links[:, 0]).all()


def test_link_of_unknown_name_lists_the_names(comedy):
    with pytest.raises(ValueError, match=r"'spelling': choose from \['epithet'"):
        comedy.links("spelling")
