# ruff: noqa: E501 - programs are short texts
"""A program's training becomes a generator that rests after each step, and gives what it gave."""

import ast

import pytest
from students.project_my_gpt import programs

from course_page.stepwise import stepwise

OPTIMIZER = """
class Optimizer:
    count = 0
    def step(self):
        self.count += 1
        return self.count
"""

STEPS = {
    "a loop": "def train(n):\n    o = Optimizer()\n    for _ in range(n):\n        o.step()\n    return o.count",
    "while, if and with": (
        "def train(n):\n    o = Optimizer()\n    while o.count < n:\n        with open('/dev/null'):\n"
        "            if True:\n                o.step()\n    return o.count"
    ),
    "a result that is kept": (
        "def train(n):\n    o = Optimizer()\n    for _ in range(n):\n        m: int = o.step()\n    return m"
    ),
    "a function that steps": (
        "def once(o):\n    o.step()\n    return o.count\n\n"
        "def train(n):\n    o = Optimizer()\n    for _ in range(n):\n        last = once(o)\n    return last"
    ),
    "functions that call each other": (
        "def train(n):\n    return go(Optimizer(), n)\n\n"
        "def go(o, n):\n    for _ in range(n):\n        once(o)\n    return o.count\n\n"
        "def once(o):\n    o.step()"
    ),
    "a function inside": (
        "def train(n):\n    o = Optimizer()\n    def once():\n        o.step()\n        return o.count\n"
        "    return [once(), once(), once()][-1] if n == 3 else None"
    ),
    "an attribute": (
        "class Kept:\n    pass\n\ndef train(n):\n    k = Kept()\n    k.o = Optimizer()\n"
        "    for _ in range(n):\n        k.o.step()\n    return k.o.count"
    ),
}

REFUSED = {
    "no step": "def train(n):\n    return n",
    "no such function": "def fit(n):\n    Optimizer().step()",
    "a step in a method": (
        "class Fit:\n    def go(self):\n        Optimizer().step()\n\ndef train(n):\n    Fit().go()"
    ),
    "a generator": "def train(n):\n    Optimizer().step()\n    yield n",
    "a decorated function": (
        "def same(f):\n    return f\n\n@same\ndef train(n):\n    Optimizer().step()"
    ),
    "a function that is handed on": (
        "def once():\n    Optimizer().step()\n\ndef train(n):\n    once()\n    return map(once, [])"
    ),
    "called in a method": (
        "def train(n):\n    Optimizer().step()\n\nclass A:\n    def go(self):\n        train(1)"
    ),
    "called in a lambda": (
        "def once(o):\n    o.step()\n\ndef train(n):\n    o = Optimizer()\n    once(o)\n"
        "    return (lambda: once(o))()"
    ),
    "called in a comprehension": (
        "def once(o):\n    o.step()\n\ndef train(n):\n    o = Optimizer()\n"
        "    return [once(o) for _ in range(n)]"
    ),
}  # fmt: skip


def gone_through(trees):
    space = {}
    for tree in trees:
        exec(compile(tree, "<cell>", "exec"), space)
    training, steps = space["train"](3), []
    while True:
        try:
            steps.append(next(training))
        except StopIteration as end:
            return steps, end.value


@pytest.mark.parametrize("source", STEPS.values(), ids=STEPS)
def test_it_rests_after_each_step_and_gives_what_it_gave(source):
    steps, result = gone_through(stepwise([OPTIMIZER, source], "train"))
    assert len(steps) == 3
    assert result == 3


def test_it_says_what_took_the_step():
    steps, _ = gone_through(stepwise([OPTIMIZER, STEPS["a loop"]], "train"))
    assert {type(one).__name__ for one in steps} == {"Optimizer"}


@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED)
def test_what_cannot_rest_is_refused_and_not_changed_half(source):
    assert stepwise([OPTIMIZER, source], "train") is None


def test_lines_keep_their_numbers():
    source = "def train(n):\n    Optimizer().step()\n    raise ValueError(n)"
    trees = stepwise([OPTIMIZER, source], "train")
    with pytest.raises(ValueError, match="3") as caught:
        gone_through(trees)
    assert caught.traceback[-1].lineno + 1 == 3


@pytest.mark.parametrize("style", [*programs.STYLES, "a file of a known shape"])
def test_programs_of_every_style_can_rest(style):
    own = programs.OF_A_KNOWN_SHAPE
    source = programs.changed(programs.STYLES[style]) if style in programs.STYLES else own
    trees = stepwise([source], "train")
    assert sum(isinstance(node, ast.Yield) for node in ast.walk(trees[0])) == 1
