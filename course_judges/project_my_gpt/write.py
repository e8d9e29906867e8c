"""Judges my-gpt/write: whether a text is drawn from the model's own probabilities.

Each symbol that was written is placed in the distribution that the model gives after the symbols
before it, the likeliest first. If symbols are drawn from these distributions, the places are
uniform between 0 and 1, which a chi-square test decides: a right program fails it once in ten
million checks.
"""

from __future__ import annotations

import numpy as np

from course_judges.evidence import Evidence
from course_judges.project_my_gpt import program
from course_judges.project_my_gpt.saying import finding, stopped
from course_judges.rubric import Part, Task
from course_judges.wording import number
from course_tasks.answers import Array
from course_tasks.project_my_gpt.program import as_text
from course_tasks.project_my_gpt.write import LENGTH, PROMPT
from course_tasks.verdict import Finding, Section

_BINS = 20
# The quantile of chi-square with 19 degrees of freedom that is exceeded once in ten million times.
_MOST = 69.78

WRITING = Section("08-gpt", "Writing to the end")
CHOICE = Section("08-gpt", "Choosing the next symbol")
TRAINING = Section("08-gpt", "Sampling in training mode")


def _codes(e: Evidence, name: str) -> Array:
    found = e.answers.array(f"text.{name}")
    if found is None or found.ndim != 1 or found.dtype.kind != "i":
        raise ValueError(f"there is no text {name}")
    return found


def _continues(e: Evidence, name: str, prompt: str, n: int) -> bool:
    found, begun = _codes(e, name), e.inputs[prompt]
    return (
        len(found) == len(begun) + n
        and bool((found[: len(begun)] == begun).all())
        and bool(np.isin(found, e.inputs["alphabet"]).all())
    )


def _writes(e: Evidence) -> bool:
    return _continues(e, "written", "prompt", LENGTH) and _continues(e, "nothing", "prompt", 0)


def _places(e: Evidence, name: str = "probabilities") -> Array:
    """(LENGTH,) Where each symbol stands in its distribution; uniform if drawn from it."""
    V = len(e.inputs["alphabet"])
    shares = e.shaped(f"text.{name}", (LENGTH, V)).astype(np.float64)
    if not (np.isfinite(shares).all() and np.allclose(shares.sum(-1), 1, atol=1e-3)):
        raise ValueError("no distribution")
    drawn = np.searchsorted(e.inputs["alphabet"], _codes(e, "written")[PROMPT:])
    own = shares[np.arange(LENGTH), drawn]
    before = (shares * (shares > own[:, None])).sum(axis=-1)
    ties = (shares == own[:, None]).sum(axis=-1)
    return before + np.random.default_rng(0).random(LENGTH) * own * ties


def _chi_square(places: Array) -> float:
    counts = np.bincount((places * _BINS).astype(int).clip(0, _BINS - 1), minlength=_BINS)
    return float(((counts - LENGTH / _BINS) ** 2).sum() / (LENGTH / _BINS))


def _drawn(e: Evidence) -> bool:
    return _continues(e, "written", "prompt", LENGTH) and _chi_square(_places(e)) < _MOST


def _is_text(codes: Array, least: int) -> bool:
    return len(codes) >= least and len(np.unique(codes)) > 2


def _keeps_mode(e: Evidence) -> bool:
    return (
        bool(e.shaped("text.kept_training", ()))
        and bool(e.shaped("text.kept_evaluation", ()))
        and _is_text(_codes(e, "written"), LENGTH // 2)
    )


def _with_dropout(e: Evidence) -> bool:
    return bool(e.shaped("text.wavers", ())) and bool(e.shaped("text.in_training", ()))


def _keeps_nothing(e: Evidence) -> bool:
    after = _codes(e, "after_another")
    return (
        _is_text(after, 20) and bool(np.isin(after, e.inputs["alphabet"]).all()) and not _alike(e)
    )


def _alike(e: Evidence) -> bool:
    first, second = _codes(e, "again"), _codes(e, "once_more")
    return len(first) == len(second) and bool((first == second).all())


def _always_likeliest(e: Evidence) -> bool:
    V = len(e.inputs["alphabet"])
    shares = e.shaped("text.probabilities", (LENGTH, V))
    drawn = np.searchsorted(e.inputs["alphabet"], _codes(e, "written")[PROMPT:])
    return bool((shares.argmax(axis=-1) == drawn).mean() > 0.98)


def _shown(e: Evidence, name: str, most: int = 40) -> str:
    return as_text(_codes(e, name)[:most].clip(32, 0x10FFFF))


def _told_of_chance(e: Evidence) -> str:
    places = _places(e)
    return (
        f"In {LENGTH} symbols, {100 * float((places < 0.5).mean()):.0f} % fell into the likelier "
        "half of the model's own probabilities, and half of them should. A chi-square test of "
        f"20 classes gives {number(_chi_square(places))}; a right program exceeds {_MOST:.0f} once "
        "in ten million times."
    )


_EXPLAINED = (
    lambda e: stopped(
        e,
        {"text": "asked to write with a model that `train` made, long texts and short ones"},
        WRITING,
    ),
    finding(
        "prompt-missing",
        "Your text doesn't begin with the prompt.",
        WRITING,
        lambda e: len(_codes(e, "written")) == LENGTH,
        lambda e: (
            f"For the prompt “{as_text(e.inputs['prompt'])}” it begins “{_shown(e, 'written')}”. "
            "Return the prompt and what follows it."
        ),
    ),
    finding(
        "wrong-length",
        "Your text is not n symbols longer than the prompt.",
        WRITING,
        lambda e: (
            len(_codes(e, "written")) != LENGTH + PROMPT or len(_codes(e, "nothing")) != PROMPT
        ),
        lambda e: (
            f"A prompt of {PROMPT} symbols and n = {LENGTH} gave {len(_codes(e, 'written'))} "
            f"symbols, and n = 0 gave {len(_codes(e, 'nothing'))}."
        ),
    ),
    finding(
        "other-symbols",
        "Your text holds something else than the prompt and symbols of the text.",
        WRITING,
        lambda e: not _writes(e),
        lambda e: (
            f"For the prompt “{as_text(e.inputs['prompt'])}” it begins “{_shown(e, 'written')}”. "
            "Token i is the i-th symbol of `sorted(set(text))`."
        ),
    ),
    finding(
        "always-the-likeliest",
        "You always take the likeliest symbol instead of drawing one.",
        CHOICE,
        _always_likeliest,
        lambda e: f"Your text begins “{_shown(e, 'written')}”. Draw with `torch.multinomial`.",
    ),
    finding(
        "always-the-same",
        "Asked twice, you write the same text.",
        CHOICE,
        _alike,
        lambda e: f"Twice it was “{_shown(e, 'again')}”. Don't seed inside of `write`.",
    ),
    finding(
        "dropout-while-writing",
        "While you write, dropout is still at work.",
        TRAINING,
        _with_dropout,
        lambda _: (
            "The model was in training mode when it was called. Call `model.eval()` first, "
            "and put it back into its own mode afterwards."
        ),
    ),
    finding(
        "reads-one-symbol",
        "You show the model the last symbol alone.",
        WRITING,
        lambda e: not _drawn(e) and _chi_square(_places(e, "of_last")) < _MOST,
        lambda e: (
            "Your text fits the probabilities after one symbol, not those after all that the "
            f"model can read. {_told_of_chance(e)}"
        ),
    ),
    finding(
        "too-cautious",
        "You draw likely symbols more often than the model's probabilities say.",
        CHOICE,
        lambda e: not _drawn(e) and float((_places(e) < 0.5).mean()) > 0.56,
        lambda e: (
            f"{_told_of_chance(e)} Is there a temperature below 1, a top-k, or a softmax too many?"
        ),
    ),
    finding(
        "other-probabilities",
        "You draw from other probabilities than the model's.",
        CHOICE,
        lambda e: not _drawn(e),
        lambda e: (
            f"{_told_of_chance(e)} Do you read the logits of the last position, take one "
            "softmax of them, and show the model the last block_size symbols?"
        ),
    ),
    finding(
        "long-prompt",
        "A prompt longer than block_size is cut.",
        WRITING,
        lambda e: not _continues(e, "after_long", "long_prompt", 8),
        lambda e: (
            f"A prompt of {len(e.inputs['long_prompt'])} symbols and n = 8 gave "
            f"{len(_codes(e, 'after_long'))}. Only what the model reads is cut, not the text."
        ),
    ),
    finding(
        "mode-changed",
        "After writing, the model is in another mode than before.",
        TRAINING,
        lambda e: not _keeps_mode(e),
        lambda _: (
            "If training goes on, it does so without dropout, or evaluates with it. Keep "
            "`model.training` first, and give it to `model.train(…)` in the end."
        ),
    ),
    finding(
        "another-alphabet",
        "After another text has been trained on, your first model writes that one's symbols.",
        WRITING,
        lambda e: not _keeps_nothing(e),
        lambda e: (
            f"It wrote “{_shown(e, 'after_another')}”. The alphabet belongs to the model: keep "
            "it there, and not in a variable outside."
        ),
    ),
    lambda _: Finding(
        "no-text",
        "Your `write` gives no text that can be judged.",
        "It should return the prompt and n further symbols, as one text.",
        WRITING,
    ),
)

TASK = Task(
    "Writing",
    program.write,
    WRITING,
    (
        Part("The prompt and n symbols of the text come back.", 2, _writes),
        Part(
            "Symbols are drawn from the model's own probabilities.",
            3,
            lambda e: _drawn(e) and not _with_dropout(e),
        ),
        Part(
            "A long prompt is continued, and only the model's window is cut.",
            1,
            lambda e: _continues(e, "after_long", "long_prompt", 8),
        ),
        Part("The model's mode stays as it was.", 1, _keeps_mode),
        Part("Nothing is kept outside of the model.", 1, _keeps_nothing),
    ),
    explained=_EXPLAINED,
)
