# ruff: noqa: E501 - what a program does wrong is a row of a table
"""A reader's own GPT trains in a page as it does with PyTorch, rests, and says what stopped it."""

import json
import math
import random
import time
from pathlib import Path

import first_steps
import nbformat
import pytest
from reader import ROOT

from course_figures.training_run import excerpt
from course_page import own_training, session
from course_page.errors import TrainingError
from course_page.own_training import LOOPS, OWN, Clock, OwnTraining

SOLUTION = ROOT / "solutions" / "my-gpt" / "my-gpt.ipynb"
SCRIPT = Path(first_steps.__file__)
LONG = 1e9  # seconds: the rate stays as it is


def cells():
    """What the solution says: imports, the model, `train` and `write`."""
    sources = [cell.source for cell in nbformat.read(SOLUTION, 4).cells if cell.cell_type == "code"]
    return [source for source in sources if not source.startswith("check(")]


SETUP, MODEL, TRAIN, WRITE = cells()


def words(symbols=6000):
    rng = random.Random(0)
    pool = ["the", "head", "reads", "key", "value", "and", "query", "asks", "what", "is", "there"]
    return " ".join(rng.choice(pool) for _ in range(symbols))[:symbols]


def asked(loop=OWN, *, model=MODEL, train=TRAIN, writes=WRITE, text=None, seconds=LONG, seed=0):
    own = loop == OWN
    return {
        "before": [SETUP, model] if own else [SETUP],
        "source": train if own else model,
        "writes": writes,
        "text": words() if text is None else text,
        "loop": loop,
        "seconds": seconds,
        "seed": seed,
    }


def said(request, steps=1, task="my-gpt/train"):
    """What the page is told when a program begins, and after some steps."""
    answer = json.loads(session.train(task, json.dumps({"begin": request})))
    while steps > 0 and not answer.keys() & {"html", "says"}:
        answer = json.loads(session.train(task, json.dumps({"seconds": 1e-9})))
        steps -= 1
    return answer


@pytest.mark.slow
def test_the_first_steps_are_those_of_pytorch(in_page):
    text = excerpt()["text"][:40_000]
    requests = [asked(loop, text=text) for loop in (*LOOPS, OWN)]
    done = in_page(SCRIPT, typed=json.dumps(requests))
    assert done.returncode == 0, done.stderr
    for in_the_page, request in zip(json.loads(done.stdout), requests, strict=True):
        with_torch = first_steps.losses(request)
        assert in_the_page == pytest.approx(with_torch, abs=1e-4)
        assert with_torch[-1] < with_torch[0] - 0.3


@pytest.mark.slow
def test_a_look_changes_nothing_of_the_training():
    looked = first_steps.losses(asked())[-1]
    plain = OwnTraining(asked())
    for _ in range(first_steps.STEPS):
        plain.go_on(1e-9)
        plain.look(exact=False)
    assert plain.held_out_loss(exact=False) == looked


def test_a_report_says_how_far_it_is():
    report = said(asked(), steps=3)
    assert report["step"] == 3
    assert report["speed"] == pytest.approx(3 / report["seconds"])
    assert 2 < report["loss"] < 4
    assert report["done"] is False
    first = said(asked())
    assert len(first["sample"]) > 12
    assert first["ours"] == ""  # the program's own `write` has written it
    assert first["exact"] is False


def test_lines_are_those_of_a_guess_and_of_counts():
    training = OwnTraining(asked())
    lines = {line["name"]: line["loss"] for line in training.lines}
    assert lines["guess"] == pytest.approx(math.log(len(training.alphabet)))
    assert lines["guess"] > lines["symbols counted"] > lines["pairs counted"] > 0.5


def test_a_look_says_on_how_much_of_the_text():
    training = OwnTraining(asked("one head", text=words(240_000)))
    training.go_on(1e-9)
    some, most = training.look(exact=False), training.look(exact=True)
    assert some["targets"] == 1024
    assert most["targets"] == 20_000 < most["of"] < 24_000
    short = OwnTraining(asked("one head"))
    short.go_on(1e-9)
    look = short.look(exact=True)
    assert look["targets"] == look["of"]


def test_looks_that_take_long_are_further_apart(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(own_training, "_now", lambda: now[0])
    training = OwnTraining(asked("one head"))
    training._one_step = lambda _: now.__setitem__(0, now[0] + 0.5)  # each takes half a second
    training._made, looks = (lambda: None), []
    monkeypatch.setattr(own_training, "count_parameters", lambda _: 0)

    def look(*, exact):
        looks.append(training._spent)
        now[0] += 2
        return {}

    training.look = look
    for _ in range(20):
        training.go_on(0.1)
    assert looks == [0.5, 4.5, 8.5]


def test_it_ends_by_itself_with_the_loss_on_all_of_the_held_out_text(monkeypatch):
    ticks = iter(range(10**9))
    monkeypatch.setattr(own_training, "_now", lambda: float(next(ticks)))
    training = OwnTraining(asked("one head", seconds=100))
    report = training.go_on(LONG)
    assert report["done"]
    assert report["exact"]
    assert report["validation"] < report["step"]


def test_the_clock_of_a_program_rests_with_it(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(own_training, "_now", lambda: now[0])
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    clock = Clock()
    with clock.running():
        began = time.monotonic()
        now[0] += 3
    now[0] += 50  # the reader thinks
    with clock.running():
        now[0] += 4
        assert time.monotonic() - began == 7
    assert time.monotonic() == now[0]


def test_two_trainings_do_not_mix():
    said(asked("one head"), task="my-gpt/model")
    said(asked(), task="my-gpt/train", steps=2)
    of_model, of_train = (
        json.loads(session.train(task, json.dumps({"seconds": 0})))
        for task in ("my-gpt/model", "my-gpt/train")
    )
    assert (of_model["step"], of_train["step"]) == (1, 2)
    assert of_model["parameters"] != of_train["parameters"]


def test_a_training_that_python_has_lost_is_said_to_be_lost():
    own_training._place().clear()
    answer = json.loads(session.train("my-gpt/train", json.dumps({"seconds": 1})))
    assert "was lost" in answer["says"]


STUB_MODEL = (
    "class GPT(nn.Module):\n    def __init__(self, *sizes):\n        raise NotImplementedError\n"
)
STOPPED = (
    ("a misspelled name", {"model": MODEL.replace("self.norm(x)", "self.nrom(x)")}, "nrom", "self.nrom(x)"),
    ("no Python", {"train": TRAIN.replace("def train(", "def train")}, "SyntaxError", "def train"),
    ("a cell of the model that stops", {"model": MODEL + "\n1 / 0\n"}, "ZeroDivisionError", "1 / 0"),
    ("no model yet", {"model": STUB_MODEL}, "NotImplementedError", "still as it was released"),
    ("no matching shapes", {"train": TRAIN.replace("data[places + 1]", "data[places + 1][:1]")}, "ValueError", "Line"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "error", "where"), [row[1:] for row in STOPPED], ids=[row[0] for row in STOPPED]
)
def test_a_program_that_stops_is_told_what_and_where(changes, error, where):
    answer = said(asked(**changes))
    assert "Your program stopped" in answer["html"]
    assert error in answer["html"]
    assert where in answer["html"]


SAYS = (
    ("no train yet", {"train": "def train(text, seconds):\n    raise NotImplementedError"}, "There is no `train` yet"),
    ("nothing that steps", {"train": "def train(text, seconds):\n    return GPT(30, 16, 32, 2, 2)"}, "optimizer.step()"),
    ("another model", {"train": TRAIN.replace("GPT(len(alphabet)", "GPT(9 + len(alphabet)")}, "logits over the"),
    ("a rate too high", {"train": TRAIN.replace("loss.backward()", "(loss * math.nan).backward()")}, "no number any more"),
    ("a short text", {"text": "too short"}, "The text has 9 symbols"),
    ("many symbols", {"text": "".join(map(chr, range(300, 3000)))}, "different symbols"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "why"), [row[1:] for row in SAYS], ids=[row[0] for row in SAYS]
)
def test_what_cannot_be_trained_is_told_why(changes, why):
    assert why in said(asked(**changes), steps=3)["says"]


def test_a_write_that_fails_is_told_and_the_page_writes():
    answer = said(asked(writes="def write(model, prompt, n):\n    return prompt + new"))
    assert "your `write` stopped with NameError" in answer["ours"]
    assert len(answer["sample"]) > 12


def test_a_model_without_a_loss_trains_all_the_same():
    logits_only = MODEL + (
        "\nclass _Whole(GPT):\n"
        "    def forward(self, tokens, targets=None):\n"
        "        return super().forward(tokens, targets)[0]\n\n\nGPT = _Whole\n"
    )
    answer = said(asked("one head", model=logits_only), steps=2)
    assert answer["loss"] is None
    assert answer["step"] == 2


def test_a_text_of_another_system_is_read_with_its_line_ends():
    lines = "\r\n".join(words(3000)[i : i + 40] for i in range(0, 3000, 40))
    assert "\r" not in OwnTraining(asked(text=lines)).alphabet


def test_a_text_that_is_too_long_is_refused_before_anything_is_run():
    with pytest.raises(TrainingError, match="choose one with 2,000 to"):
        OwnTraining(asked(text=""))
