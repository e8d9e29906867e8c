"""What an error of an answer said."""

from __future__ import annotations

from course_judges.judging import Evidence


def words(evidence: Evidence, case: str) -> str:
    """What an error said, ready to be quoted in a sentence."""
    return " ".join(evidence.answers.errors[case].message.split()).rstrip(".") or "nothing"
