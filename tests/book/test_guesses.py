"""Boxes that ask for a guess: what they call right is what the stored output below them shows."""

import copy
import json
import re
from pathlib import Path

import pytest

from course_page import guesses
from course_page.errors import PageError

ROOT = Path(__file__).parents[2]
NOTEBOOKS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "book").glob("*.ipynb"))
}
BOXES = {
    (name, guess.cell): guess
    for name, notebook in NOTEBOOKS.items()
    for guess in guesses.of_notebook(notebook)
}
WINDOW = {"width": 1300, "height": 900}
READY = "() => document.documentElement.dataset.guesses === 'ready'"


def output(name, guess):
    """What a reader sees below a box, as text: printed lines, values, and pictures in words."""
    outputs = [o for at in guess.shown_by for o in NOTEBOOKS[name]["cells"][at]["outputs"]]
    texts = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs]
    return "\n".join("".join(text) for text in texts)


def text_below(name, guess):
    """The text that follows the output."""
    cells = NOTEBOOKS[name]["cells"][guess.shown_by[-1] + 1 :]
    return "".join(next(cell["source"] for cell in cells if cell["cell_type"] == "markdown"))


def numbers(text):
    return [float(one.replace(",", "")) for one in re.findall(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?", text)]


def line(text, beginning):
    """The numbers of the line that begins so."""
    (rest,) = re.findall(rf"^\s*{re.escape(beginning)}(.*)$", text, re.MULTILINE)
    return numbers(rest)


def least(values):
    """From 1, which is the smallest."""
    return 1 + min(range(len(values)), key=values.__getitem__)


def most(values):
    return least([-value for value in values])


def says(*words):
    """1 if the output says all of this, else 0."""
    return lambda text: int(all(word in text for word in words))


def trues(text):
    return re.findall(r"\b(True|False)\b", text)


def english(text):
    """Whether most of its words, the first and last apart, are words of this book's text."""
    words = re.findall(r"[a-z']+", text.lower())[1:-1]
    cells = (c for n in NOTEBOOKS.values() for c in n["cells"] if c["cell_type"] == "markdown")
    known = set(re.findall(r"[a-z']+", " ".join("".join(c["source"]) for c in cells).lower()))
    return 2 * sum(word in known for word in words) > len(words)


def first_english(text):
    samples = re.split(r"----- n = \d+\n", text)[2:]  # n = 1, 4, 12
    return 1 + [english(sample) for sample in samples].index(True)


def larger_step(text):
    alike, shares, pairs = (line(text, name)[0] for name in ("all alike", "frequencies", "pairs"))
    steps = [alike - shares, shares - pairs]
    return 3 if max(steps) < 1.05 * min(steps) else most(steps)


def between(text):
    """The middle of the two looks between which the loss falls below that of the bigram."""
    looks = re.findall(r"step +(\d+): validation ([\d.]+)", text)
    below = [float(loss) < 2.5 for _, loss in looks].index(True)
    return (int(looks[below - 1][0]) + int(looks[below][0])) / 2


def kinds(text):
    """Which of weight, (1 − p)·weight and weight / (1 − p) the unscaled mean is close to."""
    weight, _, _, unscaled = numbers(text)
    return least([abs(unscaled - one) for one in (weight, 0.8 * weight, weight / 0.8)])


# What each output shows: the right choice, from 1, or the number.
SHOWN = {
    ("01-averages", "3280edc6"): lambda t: 1 + ("ones from the left\n tensor([[ 9., 12.]" not in t),
    ("01-averages", "90146e7e"): lambda t: numbers(t)[-1],
    ("01-averages", "ba8ae66e"): lambda t: {(5,): 1, (5, 6, 7): 2, tuple(range(8)): 3}[
        tuple(k for k, moved in enumerate(trues(t)) if moved == "True")
    ],
    ("01-averages", "f0ae2032"): lambda t: 1 if set(numbers(t)) == {0.0} else 2,
    ("01-averages", "35a0330a"): lambda t: most(
        [sum(line(t, f"near counts more, {rate}")) for rate in ("0.005 ", "0.2 ")]
        + [sum(line(t, "all equal"))]
    ),
    ("02-affinities", "342e13cc"): lambda t: line(t, "opposite")[0],
    ("02-affinities", "959f2e16"): says("cat the same weight in both places"),
    ("02-affinities", "96b8a56f"): lambda t: 2 * says("In every sentence the framed subject")(t),
    ("02-affinities", "001ecae0"): lambda t: least(
        [abs(line(t, "D = 1024: variance")[0] - one) for one in (1, 32, 1024)]
    ),
    ("03-text", "0df311e0"): first_english,
    ("03-text", "bc1706d8"): lambda t: 3 * says("is not one of the 65 symbols")(t),
    ("03-text", "fe96d61b"): lambda t: 100 - line(t, "seed 0:")[0],
    ("04-bigram", "10c958ab"): larger_step,
    ("04-bigram", "2e1422a1"): lambda t: least([line(t, k)[0] for k in ("0.001", "1 ", "100 ")]),
    ("04-bigram", "69592d85"): lambda t: 1 if min(line(t, "1.0")[:3]) > line(t, "0.0")[0] else 2,
    ("04-bigram", "9afc7a5f"): lambda t: 2 * (trues(t) == ["True"]),
    ("05-head", "needs-mask"): lambda t: 3 * (trues(t) == ["True"] * 7 + ["False"]),
    ("05-head", "f3f8e329"): lambda t: 2 * says("same output: True")(t),
    ("05-head", "0f28dd39"): lambda t: (
        2 if max(map(float, re.findall(r"the capital ([\d.]+)%", t))) < 1 else 1
    ),
    ("06-heads", "worked-heads-read"): lambda t: (
        1 if len(set(re.findall(r"[\d,]+(?= p)", t))) == 1 else 2
    ),
    ("06-heads", "05a661c9"): kinds,
    ("06-heads", "bfaf16fd"): lambda t: 1 if "alone: [[0, 1, 2], [3, 4, 5]" in t else 2,
    ("06-heads", "a47d05ba"): lambda t: least(
        [min(line(t, "1 × 32:")[1:]), max(line(t, "4 ×  8:")[1:])]
    ),
    ("06-heads", "155b8c57"): lambda t: (
        1 if sorted(numbers(t)[2:7], reverse=True) == numbers(t)[2:7] else 2
    ),
    ("06-heads", "c23d42c2"): lambda t: line(t, "position")[-1],
    ("06-heads", "ddf32078"): lambda t: line(t, "seed 0:")[-1],
    ("07-block", "cac2bde2"): lambda t: least([line(t, "with ReLU")[0], line(t, "without")[0]]),
    ("07-block", "5a9166e0"): lambda t: 3 * (line(t, "depth 32")[0] < 1e-30),
    ("07-block", "worked-block-read"): lambda t: 2 * says("output equals input: True")(t),
    ("07-block", "3447dcea"): lambda t: most(
        [line(t, f"no {part}")[0] for part in ("attention", "skip connections", "norms")]
    ),
    ("08-gpt", "3bb3cc47"): between,
    ("08-gpt", "gpt025"): lambda t: (
        2 if 2 * numbers(t)[0] < numbers(t)[1] < 3 else 1
    ),  # it starts above ln 65
    ("08-gpt", "abb2516c"): says("all 40 losses equal: True"),
    ("09-names", "378f724c"): lambda t: line(t, "split by entry, counted")[0],
    ("09-names", "c6d3d3a9"): lambda t: 2 if line(t, "carried and detached")[1] == 0 else 3,
    ("09-names", "69087a07"): lambda t: (
        1
        if all(float(a) > float(b) for a, b in re.findall(r"([\d.]+) at position 0, ([\d.]+)", t))
        else 2
    ),
    ("09-names", "692b2214"): lambda t: (
        3
        if all(
            cold > warm
            for cold, warm in zip(
                line(t, "LSTM    at 0.5:"), line(t, "LSTM    at 1.0:"), strict=True
            )
        )
        else 0
    ),
    ("10-jax", "b3dbd74d"): lambda t: numbers(t.splitlines()[3])[0],
    ("10-jax", "ad8a42b1"): lambda t: numbers(t)[1],
    ("10-jax", "3cddb1c1"): lambda t: 2 * (t.splitlines()[0].count("nan") == 5),
    ("10-jax", "433b76af"): lambda t: line(t, "growing context:")[0],
    ("11-looking-inside", "ask-hand"): lambda t: numbers(t)[1],
    ("12-faster", "c007"): lambda t: line(t, "T =   128:")[-1],
    ("12-faster", "c051"): lambda t: (
        2 if min(line(t, "again_from_p")[:3]) > 10 * max(line(t, "kept_and_next")[:3]) else 1
    ),
    ("13-two-sequences", "8147658b"): lambda t: 2 * says("reverse has fallen far below sort")(t),
    ("asides-averages", "cee22445"): lambda t: 1 if "a is most like i, o, u" in t else 2,
    ("asides-averages", "d00ddd17"): lambda t: (
        2 if line(t, "τ = 0.1: entropy")[0] < line(t, "τ = 1.0: entropy")[0] else 1
    ),
    ("asides-averages", "stable-title"): lambda t: 3 * ("1000: tensor([nan, nan, nan])" in t),
    ("asides-averages", "40f3fa77"): lambda t: least(
        [max(line(t, f"h = {h}: off by")) for h in ("0.05", " 0.3", " 2.0")]
    ),
    ("asides-averages", "tokens-ask"): lambda t: 3 * ("first:   'e '" in t),
    ("asides-transformer", "gpt006"): lambda t: 4 * says("{'dropout': 0.0}: fine")(t),
}

# Where the output is a picture of which no number is stored: a sentence of the text below it, or of
# the cell that checks it.
SAID_BELOW = {
    ("03-text", "b770466a"): 'assert most.get("names", "a") == "a"',
    ("03-text", "050bb33b"): "every window held out shares most of its targets with neighbors",
}


@pytest.mark.parametrize("box", SHOWN, ids="/".join)
def test_what_a_box_calls_right_is_what_the_output_shows(box):
    guess = BOXES[box]
    shown = SHOWN[box](output(box[0], guess))
    if guess.choices:
        assert shown == guess.right
    else:
        assert abs(shown - guess.number) <= guess.within


def test_every_box_is_held_against_its_output():
    assert not SHOWN.keys() & SAID_BELOW.keys()
    assert SHOWN.keys() | SAID_BELOW.keys() == BOXES.keys()
    for (name, cell), words in SAID_BELOW.items():
        cells = NOTEBOOKS[name]["cells"][BOXES[name, cell].shown_by[-1] :][:3]
        assert any(words in "".join(one["source"]) for one in cells)


def test_no_chapter_asks_in_the_old_way():
    for name, notebook in NOTEBOOKS.items():
        for cell in notebook["cells"]:
            assert "**Before you" not in "".join(cell["source"]), name


def notebook_with(box, about, outputs=({"output_type": "stream", "text": "9\n"},)):
    asks = {"cell_type": "markdown", "id": "asks", "metadata": {}, "source": box}
    if about is not None:
        asks["metadata"] = {"course": {"guess": about}}
    shows = {
        "cell_type": "code",
        "id": "shows",
        "metadata": {},
        "source": "print(9)",
        "outputs": list(outputs),
    }
    return {"cells": [asks, copy.deepcopy(shows)]}


CHOICES = "> **Guess first:** how many?\n>\n> - eight\n> - nine"


@pytest.mark.parametrize(
    ("notebook", "says"),
    [
        (notebook_with(CHOICES, None), "no `guess` in its metadata"),
        (notebook_with("No box.", {"right": 1}), "holds 0 boxes"),
        (notebook_with(CHOICES, {"right": 3}), "2 choices, of which 3 is right"),
        (notebook_with(CHOICES, {}), "of which 0 is right"),
        (notebook_with(CHOICES[:-9], {"right": 1}), "1 choices"),
        (notebook_with(CHOICES + "\n> - 1\n> - 2\n> - 3", {"right": 1}), "5 choices"),
        (notebook_with("> **Guess first:** how many?", {"right": 1}), "lists no choices"),
        (notebook_with(CHOICES, {"right": 1}, outputs=()), "no output below answers it"),
    ],
)
def test_box_that_cannot_be_answered_is_refused(notebook, says):
    with pytest.raises(PageError, match=re.escape(says)):
        guesses.of_notebook(notebook)


def test_box_knows_its_choices_and_the_output_below():
    (guess,) = guesses.of_notebook(notebook_with(CHOICES, {"right": 2}))
    assert (guess.choices, guess.right, guess.shown_by) == (("eight", "nine"), 2, (1,))
    asked = notebook_with("> **Guess first:** how many?", {"number": 9, "within": 1})
    (guess,) = guesses.of_notebook(asked)
    assert (guess.choices, guess.number, guess.within) == ((), 9, 1)


def sees(page, cell):
    """Whether the reader sees the output that a box asks about."""
    return page.locator(f".guessed-{cell}").first.evaluate(
        "one => one.checkVisibility({contentVisibilityAuto: false, opacityProperty: true}) && "
        "one.firstElementChild.checkVisibility()"
    )


@pytest.mark.browser
@pytest.mark.slow
def test_output_stays_folded_until_a_guess_and_the_guess_is_kept(served, visit):
    reader = visit(served, viewport=WINDOW)
    page = reader.open(f"{served}/book/01-averages.html")
    page.wait_for_function(READY)
    products, quarter, moved, kept = "3280edc6", "90146e7e", "ba8ae66e", "f0ae2032"
    assert not any(sees(page, cell) for cell in (products, quarter, moved, kept))

    page.locator(f"#guess-{products}").get_by_role("button", name="from the left").click()
    assert sees(page, products)
    assert not sees(page, moved)
    said = page.locator(f"#guess-{products} .guess-said")
    assert said.inner_text().startswith("✓ Right.")

    page.locator(f"#guess-{moved}").get_by_role("button", name="all").click()
    said = page.locator(f"#guess-{moved} .guess-said")
    assert said.inner_text().startswith("✗ It is the one marked ✓.")
    assert "1 of 2 right on this page" in said.inner_text()

    number = page.locator(f"#guess-{quarter} input")
    number.fill("a quarter")
    number.press("Enter")
    assert not sees(page, quarter)
    number.fill("0,25")
    number.press("Enter")
    assert sees(page, quarter)
    assert "2 of 3 right" in page.locator(f"#guess-{quarter} .guess-said").inner_text()

    page.locator(f"#fold-{kept}").get_by_role("button", name="Show the output").click()
    assert sees(page, kept)
    assert "2 of 3 right" in page.locator(f"#guess-{moved} .guess-said").inner_text()

    page.reload()
    page.wait_for_function(READY)
    assert all(sees(page, cell) for cell in (products, quarter, moved, kept))
    chosen = page.locator(f"#guess-{moved} button[aria-pressed=true]")
    assert chosen.inner_text().strip() == "all"
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_whoever_does_not_want_to_guess_is_not_asked_again(served, visit):
    reader = visit(served, viewport=WINDOW)
    page = reader.open(f"{served}/book/asides-transformer.html")
    page.wait_for_function(READY)
    assert not sees(page, "gpt006")
    page.get_by_role("button", name="always show outputs").click()
    assert sees(page, "gpt006")
    page = reader.open(f"{served}/book/01-averages.html")
    page.wait_for_function(READY)
    assert sees(page, "3280edc6")
    page.get_by_role("button", name="Fold them").click()
    assert not sees(page, "3280edc6")
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_paper_and_a_page_without_scripts_show_every_output(served, visit):
    reader = visit(served, viewport=WINDOW)
    page = reader.open(f"{served}/book/01-averages.html")
    page.wait_for_function(READY)
    page.emulate_media(media="print")
    assert sees(page, "3280edc6")
    assert not page.locator("#fold-3280edc6").is_visible()
    plain = visit(served, viewport=WINDOW, java_script_enabled=False).page
    plain.goto(f"{served}/book/01-averages.html")
    assert plain.locator(".guessed-3280edc6").is_visible()
    assert plain.locator("#guess-3280edc6 li").first.is_visible()
    assert not plain.locator("#fold-3280edc6").is_visible()
