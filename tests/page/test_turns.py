"""*Your turn* inside chapters: places, right answers that pass, slips that are told apart."""

import json
import re

import pytest
from reader import ROOT

from course_page import turns
from course_page.errors import PageError

CHAPTERS = sorted(
    path.stem.removeprefix("ch") for path in (ROOT / "course_page/turns").glob("ch*.py")
)
EVERY = [turn for chapter in CHAPTERS for turn in turns.of_chapter(chapter)]
SLIPS = [(turn, slip) for turn in EVERY for slip in turn.slips]
MOST_LINES = 8
FIRST_WITHIN = 400
"""Words of chapter 01 before its first turn."""


def asked(turn, source):
    return json.loads(turns.check(turn.name, json.dumps({"source": source})))


def cells(chapter):
    (path,) = (ROOT / "book").glob(f"{chapter}-*.ipynb")
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def turn_of(cell):
    return cell["metadata"].get("course", {}).get(turns.KEY)


def named(chapter):
    return [turn_of(cell) for cell in cells(chapter) if turn_of(cell)]


@pytest.mark.parametrize("turn", EVERY, ids=lambda turn: turn.name)
def test_a_right_answer_passes_and_what_stands_there_first_does_not(turn):
    assert asked(turn, turn.answer)["passed"]
    found = asked(turn, turn.start)
    assert not found["passed"]
    assert found["text"].startswith("○")


@pytest.mark.parametrize(("turn", "slip"), SLIPS, ids=lambda one: getattr(one, "name", "slip"))
def test_a_slip_is_told_what_it_is(turn, slip):
    found = asked(turn, slip.answer)
    assert not found["passed"]
    assert found["text"] == "✗ " + slip.says.replace("`", "")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_turn_has_one_place_in_its_chapter_and_two_or_three_make_a_chapter(chapter):
    assert sorted(named(chapter)) == sorted(turn.name for turn in turns.of_chapter(chapter))
    assert 2 <= len(named(chapter)) <= 3


@pytest.mark.parametrize("turn", [turn for turn in EVERY if turn.folds], ids=lambda turn: turn.name)
def test_a_folded_cell_holds_what_is_asked_for(turn):
    (cell,) = [cell for cell in cells(turn.name[:2]) if turn_of(cell) == turn.name]
    assert cell["cell_type"] == "code"
    assert "hide-input" not in cell["metadata"].get("tags", [])


@pytest.mark.parametrize("turn", EVERY, ids=lambda turn: turn.name)
def test_a_turn_takes_a_few_lines(turn):
    asks_for = len(turn.answer.splitlines()) - 1
    assert asks_for <= MOST_LINES
    assert turn.start.splitlines()[0] == turn.answer.splitlines()[0]


@pytest.mark.parametrize("turn", EVERY, ids=lambda turn: turn.name)
def test_words_of_a_turn_have_no_marks_but_those_of_code(turn):
    for words in (turn.asks, *(slip.says for slip in turn.slips)):
        assert not re.search(r"[*_]", "".join(words.split("`")[::2])), words


def test_a_reader_writes_within_the_first_words_of_the_course():
    words = 0
    for cell in cells("01"):
        if turn_of(cell):
            break
        if cell["cell_type"] == "markdown":
            words += len(re.findall(r"\w+", "".join(cell["source"])))
    assert words <= FIRST_WITHIN


def test_what_went_wrong_is_shown_with_numbers_or_with_the_line():
    turn = turns.find("01/mean-so-far")
    odd = asked(turn, "def mean_so_far(values, t):\n    return values[: t + 1].max()\n")
    assert "gives 7.0. It should give 4.25." in odd["text"]
    nothing = asked(turn, "def mean_so_far(values, t):\n    values[: t + 1].mean()\n")
    assert "it has no return" in nothing["text"]
    fails = asked(turn, "def mean_so_far(values, t):\n    return values[: t + 1].average()\n")
    assert "Line 2: AttributeError" in fails["text"]
    broken = asked(turn, "def mean_so_far(values, t)\n    return 1\n")
    assert "Line 1: this is no Python yet" in broken["text"]


def test_what_a_reader_wrote_never_becomes_markup():
    turn = turns.find("01/mean-so-far")
    found = asked(turn, "def mean_so_far(values, t):\n    return '<img src=x onerror=alert(1)>'\n")
    assert "<img" not in found["html"]
    assert "&lt;img" in found["html"]


def test_a_turn_that_nobody_wrote_is_named():
    with pytest.raises(PageError, match=r"no turn '01/nothing' in course_page/turns/ch01\.py"):
        turns.find("01/nothing")
    assert turns.of_chapter("99") == ()


IN_A_PAGE = """
import json, sys
from course_page import session
for name, answer in json.load(sys.stdin):
    print(session.turn(name, json.dumps({"source": answer})))
"""


def test_in_a_page_every_answer_passes_and_every_slip_is_told_what_it_is(in_page):
    answers = [(turn, turn.answer, None) for turn in EVERY]
    answers += [(turn, slip.answer, slip.says) for turn, slip in SLIPS]
    asks = json.dumps([(turn.name, answer) for turn, answer, _ in answers])
    done = in_page("-c", IN_A_PAGE, typed=asks)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for (turn, _, says), one in zip(answers, found, strict=True):
        assert one["text"] == (
            f"✓ {turn.passed}".replace("`", "") if says is None else f"✗ {says}".replace("`", "")
        )
