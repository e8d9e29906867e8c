"""Promises of a page's checks and cells: what is said, what is shown, and what an error becomes."""

import json

import pytest

from course_page import session

SETUP = "import math\n\nimport torch\n\nfrom course_tasks import check"
RIGHT = """def attention_scores(x, w_query, w_key):
    return (x @ w_query) @ (x @ w_key).mT / math.sqrt(w_key.shape[-1])
"""
UNSCALED = RIGHT.replace(" / math.sqrt(w_key.shape[-1])", "")
STUB = """def attention_scores(x, w_query, w_key):
    raise NotImplementedError  # replace this line with your answer
"""
CALL = 'check("05/scores", attention_scores)'


def checked(source, before=(SETUP,), call=CALL, write=None, **more):
    request = {"before": list(before), "source": source, "call": call, **more}
    return json.loads(session.check("05/scores", json.dumps(request), write))


def ran(source, before=(SETUP,), write=None):
    request = {"before": list(before), "source": source}
    return json.loads(session.run(json.dumps(request), write))


def test_a_right_answer_gets_all_points():
    found = checked(RIGHT)
    assert (found["points"], found["outOf"], found["state"]) == (4, 4, "right")
    assert found["task"] == "05/scores"
    assert found["text"].startswith("✓ 4 of 4 points")
    assert 'class="course-verdict"' in found["html"]
    assert found["error"] is None


def test_a_wrong_answer_is_called_by_its_name_with_a_link_into_the_book():
    found = checked(UNSCALED, book="../..")
    assert found["points"] < found["outOf"]
    assert 'href="../../book/05-head.html#' in found["html"]
    assert "href" not in checked(UNSCALED)["html"]


def test_a_stub_is_not_attempted():
    assert checked(STUB)["state"] == "not attempted"


def test_the_namespace_is_new_in_each_check():
    checked(RIGHT + "\nleft_behind = 1")
    found = checked("attention_scores = left_behind")
    assert found["error"]["type"] == "NameError"


def test_earlier_answers_can_be_used():
    earlier = "def halves(x):\n    return x / 2"
    assert checked("print(halves(3))\n" + RIGHT, [SETUP, earlier])["stdout"] == "1.5\n"


def test_a_cell_that_does_not_compile_is_shown_with_its_line():
    found = checked("def attention_scores(x:\n    return x")
    assert found["points"] == 0
    assert found["outOf"] == 4
    assert found["state"] == "interrupted"
    assert found["error"]["type"] == "SyntaxError"
    assert found["error"]["line"] == 1
    assert "SyntaxError" in found["html"]


def test_a_name_that_an_earlier_cell_should_have_made_names_that_cell():
    found = checked("attention_scores = helper", [SETUP, "raise ValueError('no')", "helper = oops"])
    assert found["error"]["type"] == "NameError"
    assert "helper = oops" in found["html"]
    assert "raise ValueError" in found["html"]


def test_an_error_inside_an_answer_is_the_verdicts_and_names_the_line():
    found = checked("def attention_scores(x, w_query, w_key):\n    return x @ w_query.T @ nothing")
    assert found["error"] is None
    assert "NameError" in found["text"] or "RuntimeError" in found["text"]
    assert "x @ w_query.T @ nothing" in found["text"]


def test_what_is_printed_comes_as_it_is_printed_and_in_the_result():
    heard = []
    found = checked("print('hello')\n" + RIGHT, write=lambda text, stream: heard.append(stream))
    assert found["stdout"].startswith("hello\n")
    assert heard
    assert set(heard) == {"stdout"}


def test_endless_printing_is_cut():
    found = ran("for i in range(40_000):\n    print('a line of some length')")
    assert len(found["stdout"]) < session.MOST_CHARACTERS + 200
    assert "the rest is left out" in found["stdout"]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>"])
def test_no_words_of_an_answer_become_markup(text):
    for source in (
        f"raise ValueError({text!r})",
        f"def attention_scores(*a):\n    raise ValueError({text!r})",
    ):
        found = checked(source)
        assert text not in found["html"]
        assert "&lt;" in found["html"]


def test_a_cell_shows_its_last_expression():
    assert ran("x = 2\nx + 1")["result"] == "3"
    assert ran("x = 2")["result"] is None
    assert ran("torch.ones(2)")["result"] == "tensor([1., 1.])"
    assert ran("1 / 0")["error"]["type"] == "ZeroDivisionError"


def test_a_cell_shows_a_verdict_as_html():
    assert 'class="course-verdict"' in ran(f"{RIGHT}\n{CALL}")["html"]


def test_a_cell_shows_figures_of_the_course_and_of_matplotlib():
    ours = "from course_lib import plots\nfig, ax = plots.figure()\nplots.show(fig, alt='A line.')"
    assert "<svg" in ran(ours)["html"]
    plain = (
        "import matplotlib\nmatplotlib.use('agg')\nfrom matplotlib import pyplot\npyplot.plot([1])"
    )
    (picture,) = ran(plain)["pictures"]
    assert "<svg" in picture
    assert ran("1")["pictures"] == []


def test_leaving_is_an_error_like_any_other():
    assert ran("raise SystemExit(3)")["error"]["type"] == "SystemExit"


def test_a_text_of_ones_own_that_is_long_becomes_a_corpus(in_page):
    code = "from course_lib import data; print(len(data.of_text('mine', 'ab' * 3_000_000).text))"
    done = in_page("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "6000000\n"


LONG = """def attention_scores(x, w_query, w_key):
    query = x @ w_query
    key = x @ w_key
    return query @ key.mT / math.sqrt(w_key.shape[-1])
"""


def defended(source, before=(SETUP,), seed=1):
    request = {"before": list(before), "source": source, "own": [source], "call": CALL}
    return json.loads(session.defend("05/scores", json.dumps({**request, "seed": seed})))


@pytest.mark.slow
def test_questions_about_an_answer_have_one_right_option_each_and_differ_by_seed():
    found = defended(LONG)
    assert found["code"][1] == [2, "    query = x @ w_query"]
    assert len(found["questions"]) >= 3
    for question in found["questions"]:
        assert sum(option["right"] for option in question["options"]) == 1
        assert len({option["text"] for option in question["options"]}) == 4
    assert found == defended(LONG)
    assert found["given"] != defended(LONG, seed=2)["given"]


def test_what_cannot_be_asked_about_is_said():
    assert "No function" in defended("attention_scores = max")["says"]
    assert "stopped" in defended(STUB)["says"]


def test_nobody_is_asked_about_an_experiment():
    request = {"before": [], "source": "", "call": "", "own": [], "seed": 0}
    found = json.loads(session.defend("05/choosing", json.dumps(request)))
    assert "an experiment" in found["says"]


def test_markup_in_an_answer_is_text_in_questions():
    found = defended(LONG.replace("query = x", "query = x  # </code><img>\n    query = x"))
    assert "<img" not in json.dumps([found["questions"], found["given"]])
