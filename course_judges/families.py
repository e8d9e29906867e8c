"""Mistakes that many tasks share: what is said of them everywhere, around numbers of the run.

Each function makes a decorator as `judging.mistake` does. `shows` says what the mistake does to the
data of this task; the section and the rest are those of `mistake`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from course_judges.judging import Evidence, Mistake, mistake
from course_tasks.verdict import Section

Shows: TypeAlias = Callable[[Evidence], str]


class Family(Protocol):
    """What a task calls to have a mistake of its own of this kind."""

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

no_scale = _family("The scores are not divided by √D.")
scale_by_channels = _family(
    "You divided the scores by √C; a score is a sum of D products, so the scale is √D."
)
scale_by_values = _family(
    "You divided the scores by the root of a value's dimension; scores come from queries and keys."
)
swapped_query_key = _family(
    "Queries and keys changed places: row t holds how much others look at t."
)

# Masks.

no_causal_mask = _family(
    "Nothing is hidden: every position sees the whole text, future included.",
    "If you did call `masked_fill`, keep what it returns.",
)
zero_mask = _family(
    "You hid positions by setting their scores to 0.",
    "A score of 0 is a score like any other, and e⁰ = 1: what is hidden needs −inf.",
)
zeros_hidden = _family(
    "Wherever a score is exactly 0, you hide the position, though it may be seen.",
    "Ask the mask what is hidden, not the scores: 0 is a score like any other.",
)
masked_after_softmax = _family(
    "You took the softmax first and cut the hidden positions out of it afterwards.",
    "The share of what was cut is missing.",
)
upper_triangle = _family(
    "You look at what comes after each position, not at what comes before it.",
    "The past of row t lies to the left of column t.",
)

# Axes.

softmax_over_queries = _family(
    "Your softmax runs down the columns, over the positions that ask.",
    "Each row is an average of its own: `dim=-1`.",
)
divides_columns = _family("You divided by the sums of the columns.")
keepdim_forgotten = _family(
    "You divided column s, and not row s, by what belongs to row s.",
    "In a column, with an axis of dimension 1 at the end, they belong to the rows: "
    "`sum(dim=1, keepdim=True)`, or `[:, None]` behind counts of your own.",
)

# Writing with a model.

reads_first_logits = _family(
    "You read the logits of the first position; the next symbol stands in those of the last."
)
last_token_only = _family(
    "You showed the model the last token only, which is too little for anything but a bigram."
)
crops_the_end = _family(
    "You kept the first `block_size` tokens of the text; the model needs the last ones."
)
prompt_dropped = _family("You return what was written without the text that it continues.")
train_mode_sampling = _family(
    "You let the model write in the mode that it was in; in training mode, dropout is active.",
    "Call `model.eval()` before, and put the mode back afterwards.",
)
argmax_for_sampling = _family(
    "You take the most likely symbol every time; nothing is drawn.",
    "The text would be the same every time.",
)
temperature_multiplied = _family(
    "You multiplied the logits by the temperature; they are divided by it."
)


def no_crop(case: str, recognized: Callable[[Evidence], bool]) -> Callable[[Any], Mistake]:
    """The whole text went into a model that has positions for `block_size` tokens.

    Parameters
    ----------
    case : str
        The case in which the model refuses it.
    recognized : callable (Evidence) -> bool
    """

    def says(evidence: Evidence) -> str:
        said = evidence.answers.errors[case].message.rstrip(".")
        size = evidence.number("block_size")
        return f"With block_size = {size} the model stopped: “{said}”. Show it the last ones only."

    what = "The whole text went into the model; it reads at most `block_size` tokens."
    return mistake(what, says, recognized=recognized)


def generator_ignored(
    drawn: str, recognized: Callable[[Evidence], bool]
) -> Callable[[Any], Mistake]:
    """Chance does not come from the generator that was given.

    Parameters
    ----------
    drawn : str
        What two generators with one seed drew differently: "texts".
    recognized : callable (Evidence) -> bool
    """
    return mistake(
        "Your draws do not come from the given generator.",
        f"Two generators with the same seed gave different {drawn}; pass `generator=generator` to "
        "what draws.",
        recognized=recognized,
    )


def mode_not_restored(recognized: Callable[[Evidence], bool]) -> Callable[[Any], Mistake]:
    """A model is left in another mode than it was given in."""

    def says(evidence: Evidence) -> str:
        if not evidence.yours("training.whole_afterwards"):
            return (
                "The model itself is in its mode again, and the modules inside it are not: "
                "`model.training = …` sets one attribute, `model.train(…)` reaches them all."
            )
        if evidence.yours("training.training_afterwards"):
            return "It was in evaluation mode and is in training mode now."
        return (
            "It was in training mode and is in evaluation mode now, so the training that goes on "
            "has no dropout. Read `model.training` before you call `model.eval()`, and restore it "
            "at the end."
        )

    what = "You left the model in another mode than you found it in."
    return mistake(what, says, recognized=recognized)
