"""Judges my-gpt/train: a model by its predictions for contexts that it has not seen."""

from __future__ import annotations

import math

import numpy as np

from course_judges.evidence import Evidence
from course_judges.project_my_gpt import program
from course_judges.project_my_gpt.saying import finding, stopped
from course_judges.rubric import Part, Task
from course_judges.wording import number
from course_tasks.answers import Array
from course_tasks.project_my_gpt.train import CONTEXTS
from course_tasks.verdict import Finding, Section

# Counted pairs with a small addition are still counted pairs.
BELOW_PAIRS = 0.05
_LITTLE = 0.1
_SAME = 1e-4
_CLEARLY = 0.05
_SMOOTHING = 0.1

# A loop that looks at the clock once in a while may be over by so many times what it was given, and
# so many seconds; one that doesn't look at it goes on for minutes.
_LATE_TIMES, _LATE_SECONDS = 3, 5.0

LOOP = Section("08-gpt", "The training loop")
RATE = Section("08-gpt", "A rate that rises and falls")
WRITING = Section("08-gpt", "Writing to the end")
TARGETS = Section("03-text", "Context and target")


def _probabilities(e: Evidence) -> Array:
    found = e.shaped("model.probabilities", (CONTEXTS, e.number("V"))).astype(np.float64)
    if not (np.isfinite(found).all() and np.allclose(found.sum(-1), 1, atol=1e-3)):
        raise ValueError("no distribution")
    return found


def _score(probabilities: Array, targets: Array) -> float:
    given = probabilities[np.arange(len(targets)), targets]
    return float(-np.log(np.maximum(given, 1e-12)).mean())


def _loss(e: Evidence) -> float:
    return _score(_probabilities(e), e.inputs["targets"])


def _counted(e: Evidence) -> tuple[float, float]:
    """The losses of counted symbols and of counted pairs on these contexts."""
    V, text, targets = e.number("V"), e.inputs["text"], e.inputs["targets"]
    tokens = np.searchsorted(np.unique(text), text)
    singles = np.bincount(tokens, minlength=V) + _SMOOTHING
    pairs = np.bincount(tokens[:-1] * V + tokens[1:], minlength=V * V).reshape(V, V) + _SMOOTHING
    rows = pairs[e.inputs["contexts"][:, -1]]
    return (
        _score(np.tile(singles / singles.sum(), (len(targets), 1)), targets),
        _score(rows / rows.sum(axis=1, keepdims=True), targets),
    )


def _standing(e: Evidence) -> str:
    singles, pairs = _counted(e)
    return (
        f"On {CONTEXTS} unseen contexts your model has a loss of {_loss(e):.3f} nats. Counted "
        f"pairs have {pairs:.3f}, counted symbols {singles:.3f}, and a model that knows nothing "
        f"{math.log(e.number('V')):.3f}."
    )


def _apart(e: Evidence, other: str) -> float:
    mine = _probabilities(e)[:200]
    return float(np.abs(mine - e.shaped(f"model.{other}", mine.shape)).max())


def _in_time(e: Evidence) -> bool:
    allowed = float(e.shaped("model.allowed", ()))
    late = float(e.shaped("model.late", ()))
    return late < _LATE_TIMES * allowed + _LATE_SECONDS and bool(_probabilities(e).std() > 1e-6)


def _beats_symbols(e: Evidence) -> bool:
    return _loss(e) < _counted(e)[0] - _LITTLE


def _beats_pairs(e: Evidence) -> bool:
    return _loss(e) < _counted(e)[1] - BELOW_PAIRS


def _stays(e: Evidence) -> bool:
    before, after = e.answers.array("both.before"), e.answers.array("both.after")
    if before is None or after is None or before.shape != after.shape or before.ndim != 3:
        raise ValueError("there are no logits")
    return bool(np.ptp(before) > 1e-6 and np.abs(before - after).max() < _SAME)


def _error(e: Evidence) -> Finding | None:
    calls = {"model": "train(text, seconds)", "both": "train, called twice with short texts,"}
    return stopped(e, calls, LOOP)


def _repeats_input(e: Evidence) -> bool:
    last = e.inputs["contexts"][:, -1]
    return bool(_probabilities(e)[np.arange(len(last)), last].mean() > 0.5)


def _reads_nothing(e: Evidence) -> bool:
    return bool(np.ptp(_probabilities(e), axis=0).max() < _SAME)


def _untrained(e: Evidence) -> bool:
    near = abs(_loss(e) - math.log(e.number("V"))) < 0.1
    return near and float(_probabilities(e).max(axis=-1).mean()) < 3 / e.number("V")


_EXPLAINED = (
    _error,
    finding(
        "too-late",
        "Your `train` takes much longer than it is given.",
        LOOP,
        lambda e: not _in_time(e) and float(e.shaped("model.late", ())) > 0,
        lambda e: (
            f"It was given {number(float(e.shaped('model.allowed', ())))} seconds and came "
            f"back {number(float(e.shaped('model.late', ())))} seconds later. Compare "
            "`time.monotonic()` with the start in every step."
        ),
    ),
    finding(
        "unshifted-targets",
        "Your model repeats the last symbol of the context.",
        TARGETS,
        _repeats_input,
        lambda e: f"{_standing(e)} Are the targets the inputs, instead of what follows them?",
    ),
    finding(
        "same-for-every-context",
        "Your model predicts the same for every context.",
        LOOP,
        lambda e: _reads_nothing(e) and not _untrained(e),
        _standing,
    ),
    finding(
        "untrained",
        "Your model predicts as if it had never been trained.",
        LOOP,
        _untrained,
        lambda e: (
            f"{_standing(e)} Does every step end with `optimizer.step()`, does the optimizer "
            "have this model's parameters, and is the learning rate large enough?"
        ),
    ),
    finding(
        "worse-than-nothing",
        "Your predictions are worse than those of a model that knows nothing.",
        RATE,
        lambda e: _loss(e) > math.log(e.number("V")) + 0.1,
        lambda e: (
            f"{_standing(e)} Is token i the i-th symbol of `sorted(set(text))`, are gradients "
            "set to zero before each step, and is the learning rate low enough?"
        ),
    ),
    finding(
        "hardly-learned",
        "Your predictions are hardly better than those of counted symbols.",
        RATE,
        lambda e: not _beats_symbols(e),
        lambda e: (
            f"{_standing(e)} Are gradients set to zero before each step? Are the model and "
            "its batches small enough for hundreds of steps in this time?"
        ),
    ),
    finding(
        "last-token-only",
        "Your predictions depend on the last symbol of the context alone.",
        LOOP,
        lambda e: (
            not _beats_pairs(e) and _apart(e, "other_past") < _CLEARLY < _apart(e, "other_last")
        ),
        lambda e: f"When all other symbols are replaced, they stay nearly the same. {_standing(e)}",
    ),
    finding(
        "pairs-not-beaten",
        "Your model learns, but counted pairs still predict better.",
        RATE,
        lambda e: not _beats_pairs(e),
        lambda e: (
            f"{_standing(e)} It has to be {BELOW_PAIRS} below counted pairs. Look at how many "
            "steps you make: a smaller model or a smaller batch makes more of them. Then try the "
            "rate."
        ),
    ),
    finding(
        "changed-by-another",
        "When another text is trained on, your earlier model changes.",
        LOOP,
        lambda e: not _stays(e),
        lambda _: (
            "Two calls of `train` share something: a model, a table or weights that are made "
            "once outside of it. Make all of it inside."
        ),
    ),
    lambda _: Finding(
        "no-model",
        "What `train` returned gives no probabilities.",
        "It should return a GPT that, called with tokens, gives logits over the symbols of "
        "`sorted(set(text))`.",
        LOOP,
    ),
)

TASK = Task(
    "Training",
    program.train,
    LOOP,
    (
        Part("A model comes back in time.", 1, _in_time),
        Part("It beats counted symbols on a text never seen.", 2, _beats_symbols),
        Part("It beats counted pairs there.", 4, _beats_pairs),
        Part("Another training leaves it as it is.", 1, _stays),
    ),
    explained=_EXPLAINED,
)
