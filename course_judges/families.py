"""Mistakes that many tasks share, with what is said of them everywhere.

Each function makes a decorator as `judging.mistake` does. `shows` says what the mistake does to the
data of this task, with numbers of the run; the section and the rest are those of `mistake`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from course_judges.judging import Evidence, Mistake, mistake
from course_tasks.verdict import Section

Shows: TypeAlias = Callable[[Evidence], str]


class Family(Protocol):
    """What a task calls to get a mistake of this kind with words of its own."""

    def __call__(
        self, shows: Shows, section: Section | None = None, **how: Any
    ) -> Callable[[Any], Mistake]:
        """A decorator for the wrong answer."""


def _family(what: str, advice: str = "") -> Family:
    def of_a_task(
        shows: Shows, section: Section | None = None, **how: Any
    ) -> Callable[[Any], Mistake]:
        return mistake(what, lambda e: f"{shows(e)} {advice}".strip(), section, **how)

    return of_a_task


# Scores.

no_scale = _family("You didn't divide the scores by √D.")
scale_by_channels = _family(
    "You divided the scores by √C instead of √D.",
    "A score is a sum of D products, so D sets its scale.",
)
scale_by_values = _family(
    "You divided the scores by the square root of the values' dimension.",
    "Scores come from queries and keys, so their dimension sets the scale.",
)
swapped_query_key = _family(
    "You exchanged queries and keys.",
    "Row t of your scores says how much the other positions look at t.",
)

# Masks.

no_causal_mask = _family(
    "You let every position see the whole text, including its future.",
    "If you did call `masked_fill`, check that you keep what it returns.",
)
zero_mask = _family(
    "You hid positions by setting their scores to 0.",
    "A score of 0 is a score like any other, and since e⁰ = 1, hidden positions still get weight. "
    "They need a score of −inf.",
)
zeros_hidden = _family(
    "You hide every position whose score is exactly 0, even if it may be seen.",
    "Let the mask decide what is hidden, not the scores, because 0 is a score like any other.",
)
masked_after_softmax = _family(
    "You took the softmax first and removed the hidden positions afterwards.",
    "The weight of the hidden positions is missing now, so the rest of a row doesn't sum to 1.",
)
upper_triangle = _family(
    "You look at what comes after each position instead of what comes before it.",
    "The past of row t lies to the left of column t.",
)

# Axes.

softmax_over_queries = _family(
    "Your softmax runs down the columns, over the queries.",
    "Each row has to be an average of its own, so the softmax belongs on `dim=-1`.",
)
divides_columns = _family("You divided by the sums of the columns instead of the rows.")
keepdim_forgotten = _family(
    "You divided column s, instead of row s, by the number that belongs to row s.",
    "To keep each number with its row, give the numbers a last axis of length 1, with "
    "`sum(dim=1, keepdim=True)` or, if you counted yourself, with `[:, None]`.",
)

# Writing with a model.

reads_first_logits = _family(
    "You read the next symbol from the logits of the first position instead of the last."
)
last_token_only = _family(
    "You showed the model only the last token, which is enough for a bigram but for nothing else."
)
crops_the_end = _family(
    "You kept the first `block_size` tokens of the text, but the model needs the last ones."
)
prompt_dropped = _family("You return only the new symbols, without the text that they continue.")
train_mode_sampling = _family(
    "You didn't switch to evaluation mode, so dropout is active if the model was in training mode.",
    "Call `model.eval()` first, and restore the mode afterwards.",
)
argmax_for_sampling = _family(
    "You take the most likely symbol every time instead of drawing one.",
    "Every text with the same beginning would go on in the same way.",
)
temperature_multiplied = _family(
    "You multiplied the logits by the temperature instead of dividing by it."
)


def no_crop(case: str, recognized: Callable[[Evidence], bool]) -> Callable[[Any], Mistake]:
    """The whole text went into a model that only has positions for `block_size` tokens.

    Parameters
    ----------
    case : str
        The case in which the model refuses it.
    recognized : callable (Evidence) -> bool
    """

    def says(evidence: Evidence) -> str:
        said = evidence.answers.errors[case].message.rstrip(".")
        size = evidence.number("block_size")
        return f"With block_size = {size}, it stopped with “{said}”. Show it only the last ones."

    what = "You gave the model the whole text, but it reads at most `block_size` tokens."
    return mistake(what, says, recognized=recognized)


def generator_ignored(
    drawn: str, recognized: Callable[[Evidence], bool]
) -> Callable[[Any], Mistake]:
    """The random numbers don't come from the generator that was given.

    Parameters
    ----------
    drawn : str
        What came out differently with two generators of the same seed: "texts".
    recognized : callable (Evidence) -> bool
    """
    return mistake(
        "Your draws don't come from the given generator.",
        f"Two generators with the same seed gave different {drawn}, so pass `generator=generator` "
        "to the function that draws.",
        recognized=recognized,
    )


def mode_not_restored(recognized: Callable[[Evidence], bool]) -> Callable[[Any], Mistake]:
    """A model is left in another mode than the one it was given in."""

    def says(evidence: Evidence) -> str:
        if not evidence.yours("training.whole_afterwards"):
            return (
                "The model itself is in its old mode again, but the modules inside it are not, "
                "because `model.training = …` sets one attribute while `model.train(…)` reaches "
                "all of them."
            )
        if evidence.yours("training.training_afterwards"):
            return "It was in evaluation mode and is in training mode now."
        return (
            "It was in training mode and is in evaluation mode now, so the rest of the training "
            "has no dropout. Read `model.training` before you call `model.eval()`, and restore it "
            "at the end."
        )

    what = "You didn't leave the model in the mode that it was in."
    return mistake(what, says, recognized=recognized)
