"""What the right numbers of an experiment say about its wrong ones."""

from __future__ import annotations

from collections.abc import Mapping

from course_judges.judging import Evidence, Property
from course_judges.observations import Ranges, lies, noted
from course_judges.wording import number, results_by_name
from course_tasks.verdict import Finding, Section

# By how much a number may lie beside the middle of its range to be called close to it.
_CLOSE = 0.05


def told_by_the_right_ones(
    ranges: Ranges, words: Mapping[tuple[str, ...], str], section: Section, close: str = ""
) -> Property:
    """A property of an experiment that asks for several numbers.

    Parameters
    ----------
    ranges : mapping of str to mapping of str to (float, float)
        What runs give, by text and name.
    words : mapping of tuple of str to str
        What follows if exactly these numbers are right.
    section : Section
    close : str
        What follows instead if all wrong numbers are nearly right.
    """

    def ask(evidence: Evidence) -> Finding | None:
        text = str(evidence.answers.values["observed.text"])
        values = {name: noted(evidence, name) for name in ranges[text]}
        right = tuple(name for name, value in values.items() if lies(ranges, name, value, evidence))
        wrong = [name for name in values if name not in right]
        middles = {name: sum(ranges[text][name]) / 2 for name in wrong}
        nearly = all(abs(values[name] / middles[name] - 1) < _CLOSE for name in wrong)
        follows = close if close and nearly else words.get(right, "")
        if not wrong or not follows:
            return None
        first = wrong[0]
        side = "smaller" if values[first] < middles[first] else "larger"
        are = "is" if len(wrong) == 1 else "are"
        but = (
            f", but {results_by_name(right)} {'is' if len(right) == 1 else 'are'}" if right else ""
        )
        return Finding(
            "other-numbers",
            f"{results_by_name(wrong)} {are} not what runs give{but}.",
            f"You noted {number(values[first])} for `{first}`, which is {side} than in any run on "
            f"this text. {follows}",
            section,
        )

    return ask
