"""What came back from an answer: an array of the wrong shape, or an error in words."""

from __future__ import annotations

from course_judges.judging import Evidence


def wrong_shape(evidence: Evidence, value: str) -> bool:
    """True if a value is missing or differs in shape from the right one."""
    mine = evidence.answers.array(value)
    return mine is None or mine.shape != evidence.right(value).shape


def words(evidence: Evidence, case: str) -> str:
    """What an error said, ready to be quoted in a sentence."""
    return " ".join(evidence.answers.errors[case].message.split()).rstrip(".") or "nothing"
