"""Judges 02/alike: which word is most like which."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch02_affinities.sections import ANGLE
from course_judges.judging import mistake
from course_judges.observations import Numbers, exchanged, lies, middle, noted
from course_judges.wording import number

RANGES = {
    "shakespeare": {"words": (4.759, 4.855), "dot": (8.049, 8.211), "cosine": (4.567, 4.659)},
    "play": {"words": (5.075, 5.178), "dot": (7.534, 7.686), "cosine": (4.91, 5.01)},
}


@mistake(
    "You compared each word with itself, too.",
    lambda e: (
        "By the cosine a word is most like itself, so the chosen words are as long as all "
        f"words, {number(noted(e, 'cosine'))} letters on average. Leave out the diagonal."
    ),
    recognized=lambda e: (
        abs(noted(e, "cosine") - noted(e, "words")) < 0.05
        and lies(RANGES, "words", noted(e, "words"), e)
    ),
)
def _with_itself() -> Numbers:
    return middle(RANGES, cosine=float(middle(RANGES)["words"]))


_exchanged = exchanged(RANGES, "dot", "cosine")
_dot_for_words = exchanged(RANGES, "words", "dot")


TASK = observations.experiment(
    "Which word is most like which?", RANGES, ANGLE, {"words": 1, "dot": 2, "cosine": 1}
)
