"""The page of *The GPT you wrote*: it begins with earlier answers, and trains what was written."""

import json

import pytest
from browsing import browser, violations
from reader import ROOT
from test_in_browser import SET, book, desk, keep, served, solved

from course_page import assignments, projects

__all__ = ["book", "browser", "desk", "served"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MODEL, TRAIN = ('[data-task="my-gpt/model"]', '[data-task="my-gpt/train"]')
GET = "(task) => coursePage.get(task)"
TWO = "x = 1\n\n\ny = 2"


def passed(*sources, points=4):
    """A verdict that a browser keeps of an answer that was checked."""
    return {"points": points, "outOf": 4, "checked": json.dumps(sources)}


def start(page):
    """Press the button below the model; what the page says then."""
    page.locator(f"{MODEL} button", has_text="Start from my answers").click()
    return page.locator(f"{MODEL} > .cp-note[role=status]").inner_text()


def small(answers):
    """The solution with a model that takes no time."""
    text = answers["answer-train"].replace("time.monotonic(), 32", "time.monotonic(), 8")
    made = text.replace("T, 48, 4, 2)", "T, 16, 2, 1)")
    assert made.count("16, 2, 1") == 1
    assert text != answers["answer-train"]
    return {**answers, "answer-train": made}


def write(page, answers):
    for task in ("model", "train", "write"):
        page.evaluate(SET, [f"my-gpt/{task}", answers[f"answer-{task}"], None])


def steps(page, more_than):
    """Wait for more steps than these; how many there are."""
    page.wait_for_function(
        "([place, n]) => { const { step, state } = document.querySelector(place).dataset;"
        " return Number(step) > n || state === 'off'; }",
        arg=[f"{TRAIN} .cp-training", more_than],
    )
    panel = page.locator(f"{TRAIN} .cp-training")
    assert panel.get_attribute("data-state") != "off", panel.inner_text()
    return int(panel.get_attribute("data-step"))


def test_a_page_multiplies_by_the_kernel(desk):
    page = desk("my-gpt")
    trial = page.locator(f"{MODEL} .cp-trial")
    trial.locator("summary").click()
    trial.locator("textarea").fill("torch.simd._gemm() is None")
    trial.locator("button", has_text="Run").click()
    trial.locator(".cp-printed", has_text="False").wait_for()


def test_every_earlier_answer_is_one_that_a_page_checks():
    known = {
        task.task
        for path in (ROOT / "exercises").glob("*/*.ipynb")
        for task in assignments.read(json.loads(path.read_text(encoding="utf-8"))).tasks
    }
    named = {one for some in projects.STARTS.values() for one in some}
    assert named <= known
    assert {one[:2] for one in named} == {"05", "06", "07", "08"}
    assert set(projects.STARTS) | set(projects.TRAINS) <= known


def test_a_project_starts_from_answers_that_passed(desk):
    page = desk("my-gpt")
    released = page.evaluate(GET, "my-gpt/model")
    assert "None of your answers" in start(page)
    links = page.locator(f"{MODEL} > .cp-note a")
    assert links.count() == 4
    assert links.first.get_attribute("href").endswith("exercises/05-head/05-head.html")
    page.evaluate("() => window.ran = 0")
    verdicts = {
        "05/scores": passed("def attention_scores(x):\n    return x\n"),
        "05/weights": passed("wrong = True", points=3),
        "05/head": {"points": 4, "outOf": 4, "checked": "no JSON"},
    }
    keep(page, {"cells": {}, "verdicts": verdicts}, "0.0.1")  # by an earlier version
    keep(page, {"cells": {}, "verdicts": {"06/split": passed("x = 1\n", "y = 2")}}, name="06-heads")
    page.reload()
    page.evaluate("() => coursePage.ready")
    said = start(page)
    assert "2 answers are at the beginning of the cell" in said
    assert "exercises 05 (weights, head, positions)" in said
    assert page.evaluate(GET, "my-gpt/model") == (
        "# 05/scores, Task 1 · Scores\ndef attention_scores(x):\n    return x\n\n\n"
        f"# 06/split, Task 3 · Splitting heads\n{TWO}\n\n\n{released}"
    )
    assert "in the cell already" in start(page)
    page.evaluate(SET, ["my-gpt/model", released, None])
    start(page)
    page.locator(f"{MODEL} > .cp-note button", has_text="Undo").click()
    assert page.evaluate(GET, "my-gpt/model") == released


def test_a_program_trains_in_the_page_rests_and_is_looked_into(desk, tmp_path):
    page = desk("my-gpt")
    write(page, small(solved("my-gpt")))
    page.locator(f"{TRAIN} [data-train]").click()
    panel = page.locator(f"{TRAIN} .cp-training")
    assert steps(page, 2) < 10_000
    assert "parameters, held-out loss" in panel.inner_text()
    assert len(panel.locator(".cp-sample").inner_text()) > 12
    # What is run meanwhile has its turn.
    trial = page.locator(f"{TRAIN} .cp-trial")
    trial.locator("summary").click()
    trial.locator("textarea").fill("print(6 * 7)")
    trial.locator("button", has_text="Run").click()
    trial.locator(".cp-printed", has_text="42").wait_for()
    panel.locator("button", has_text="Pause").click()
    page.locator(f'{TRAIN} .cp-training[data-exact="true"]').wait_for()
    assert "On all of the held-out text its loss is" in panel.inner_text()
    rested = steps(page, 0)
    assert violations(page, context={"include": [["article"]]}) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    panel.locator("button", has_text="Look inside").click()
    frame = page.frame_locator(f"{TRAIN} iframe")
    frame.locator(".course-figure-mount[data-mounted]").nth(1).wait_for()
    assert "heads on" in frame.locator("body").inner_text()
    with page.expect_download() as download:
        panel.locator("button", has_text="Save it as one file").click()
    download.value.save_as(tmp_path / "my-gpt.html")
    sent = (tmp_path / "my-gpt.html").read_text(encoding="utf-8")
    assert "def train(text" in sent
    assert "from course_tasks" not in sent
    assert len(sent) < 1_000_000
    panel.locator("button", has_text="Go on").click()
    assert steps(page, rested) > rested
    answers = small(solved("my-gpt"))
    broken = answers["answer-model"].replace("self.norm(x)", "self.nrom(x)")
    page.evaluate(SET, ["my-gpt/model", broken, None])
    panel.locator("button", has_text="From the beginning").click()
    panel.locator(".cp-verdict", has_text="Your program stopped").wait_for()
    assert "nrom" in panel.locator(".cp-verdict").inner_text()
