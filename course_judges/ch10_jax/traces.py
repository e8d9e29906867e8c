"""Judges 10/traces: how often a jitted function is traced."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch10_jax.sections import TRACED
from course_judges.judging import mistake
from course_judges.observations import Numbers, lies, measured, measured_otherwise, middle, noted
from course_judges.wording import number

RANGES, SLIPS = measured(__file__)


_mean_of_lines = measured_otherwise(
    RANGES,
    "You probably averaged the lines' shares of padding.",
    "In that average a short line weighs as much as a long one, and short lines hold a larger "
    "share of padding. Divide all padding by all positions of the padded lines.",
    SLIPS["mean-of-lines"],
)

_empty_lines_too = measured_otherwise(
    RANGES,
    "You probably kept the empty lines among the 300.",
    "Empty lines take the places of lines with text, so you measured fewer of these. Leave "
    "empty lines out first, and then take 300.",
    SLIPS["empty-lines-too"],
)

_empty_lines_counted = measured_otherwise(
    RANGES,
    "You probably took the first 300 lines and left out the empty ones afterwards.",
    "You are left with fewer than 300 lines. Leave empty lines out first, and then take 300.",
    SLIPS["empty-lines-counted"],
)

_to_the_longest = measured_otherwise(
    RANGES,
    "You probably padded all lines to the length of the longest.",
    "A single trace is enough then, but there is more padding. The task pads each line to the "
    "next multiple of 16.",
    SLIPS["to-the-longest"],
)

_always_padded = measured_otherwise(
    RANGES,
    "You probably added 16 positions to lines whose length was a multiple of 16 already.",
    "A line of 32 symbols needs no padding, so look at what your formula gives for 32.",
    SLIPS["always-padded"],
)

_counted_on = measured_otherwise(
    RANGES,
    "You probably didn't set the count back before the second measurement.",
    "`padded` then includes the traces of the lines as they are. Begin each measurement with "
    "a count of 0 and a newly jitted function.",
    SLIPS["counted-on"],
)


_one_function = measured_otherwise(
    RANGES,
    "You probably called the same jitted function for both measurements.",
    "It keeps what it has compiled, so padded lengths that it met as lengths of lines aren't "
    "traced again. Jit a new function for each measurement.",
    SLIPS["one-function"],
)

_lines_padded = measured_otherwise(
    RANGES,
    "You probably took the share of lines that get any padding.",
    "`waste` is the share of positions: all padding divided by all positions of the padded lines.",
    SLIPS["lines-padded"],
)

_with_newlines = measured_otherwise(
    RANGES,
    "You probably kept the newline at the end of each line.",
    "Each line is longer by one symbol then. `splitlines()` leaves newlines out.",
    SLIPS["with-newlines"],
)

_to_other_lengths = measured_otherwise(
    RANGES,
    "You probably padded the lines to other lengths than multiples of 16.",
    "A line of 17 symbols is padded to 32, and one of 33 to 48. Check what your formula gives.",
    SLIPS["to-other-lengths (8)"],
    SLIPS["to-other-lengths (32)"],
    SLIPS["to-other-lengths (powers)"],
)


@mistake(
    "You counted 300 traces, which is the number of calls.",
    "The body of a jitted function runs only once for each new shape. Did you count outside of it, "
    "or jit a new function for every line?",
    recognized=lambda e: noted(e, "as_they_are") == 300,
)
def _calls() -> Numbers:
    return middle(RANGES, as_they_are=300.0, padded=300.0)


@mistake(
    "You seem to have divided the padding by the number of symbols instead of all positions.",
    lambda e: (
        f"A share of {number(noted(e, 'waste'))} of the symbols is "
        f"{number(noted(e, 'waste') / (1 + noted(e, 'waste')))} of all positions."
    ),
    recognized=lambda e: (
        not lies(RANGES, "waste", noted(e, "waste"), e)
        and lies(RANGES, "waste", noted(e, "waste") / (1 + noted(e, "waste")), e)
    ),
)
def _of_symbols() -> Numbers:
    waste = float(middle(RANGES)["waste"])
    return middle(RANGES, waste=waste / (1 - waste))


TASK = observations.experiment(
    "How often is it traced?", RANGES, TRACED, {"as_they_are": 1, "padded": 1, "waste": 2}
)
