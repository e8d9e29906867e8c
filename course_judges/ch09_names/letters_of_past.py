"""Judges 09/letters-of-past: how many letters should a table know."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch09_names.sections import SAME_PAST
from course_judges.observations import as_perplexity, in_bits, measured, measured_otherwise

RANGES, SLIPS = measured(__file__)


_measured_where_counted = measured_otherwise(
    RANGES,
    "You probably measured the loss on text that you also counted.",
    "The longer the context, the better a table fits the text that it was counted on, and "
    "that says little about new text. Count in `corpus.train` only, and measure on "
    "`corpus.validation`.",
    SLIPS["measured-where-counted"],
    SLIPS["measured-where-counted (whole text)"],
)

_validation_counted = measured_otherwise(
    RANGES,
    "You probably counted in the validation split, and measured the loss there as well.",
    "The validation split is short, so it fills a large table badly, and its text isn't new "
    "to your tables. Count in `corpus.train`, and measure on `corpus.validation`.",
    SLIPS["validation-counted"],
)

_next_among_n = measured_otherwise(
    RANGES,
    "You probably counted the next letter as one of the n letters.",
    "Your table `two`, for example, knows only one letter of the past. A context has n "
    "letters and the next one comes after it, so you count n + 1 neighbors at a time.",
    SLIPS["next-among-n"],
)


_list_counted = measured_otherwise(
    RANGES,
    "You probably counted in the whole list of names, validation names included.",
    "The tables then know the names that they are measured on. Count in `corpus.train` only.",
    SLIPS["list-counted"],
)

_other_ones = measured_otherwise(
    RANGES,
    "You probably didn't add exactly 1 to every count.",
    "Add 1 to all V counts of every row, whether they are 0 or not, and divide by the sum of the "
    "row after that. It is larger by V than before, and V isn't added again.",
    SLIPS["other-ones (for zeros)"],
    SLIPS["other-ones (added again)"],
    SLIPS["other-ones (one a row)"],
    SLIPS["other-ones (a tenth)"],
)

_contexts_averaged = measured_otherwise(
    RANGES,
    "You probably averaged the loss of each context first and then took the mean over contexts.",
    "A context that occurs once then counts as much as one that occurs a thousand times. Take the "
    "mean over all targets.",
    SLIPS["contexts-averaged"],
)

_within_names = measured_otherwise(
    RANGES,
    "You probably began every name with boundaries instead of with the end of the name before it.",
    "Here a context may reach across a boundary into the name before. Take n + 1 neighbors of the "
    "text as they are.",
    SLIPS["within-names"],
)

_mean_before_log = measured_otherwise(
    RANGES,
    "You probably took the mean of the probabilities before the logarithm.",
    "The loss of a target is minus the logarithm of its own probability. Take the mean of those.",
    SLIPS["mean-before-log"],
)

_unseen_contexts_left_out = measured_otherwise(
    RANGES,
    "You probably left out targets whose context doesn't occur in the training split.",
    "There the table guesses all symbols alike, and that is part of its loss. All four tables need "
    "the same targets.",
    SLIPS["unseen-contexts-left-out"],
)

_columns_divided = measured_otherwise(
    RANGES,
    "You probably divided the counts by the sums of the columns instead of the rows.",
    "A row holds what follows one context, and its V probabilities sum to 1.",
    SLIPS["columns-divided"],
)

_counted_once = measured_otherwise(
    RANGES,
    "You probably counted each row only once, however often it occurs.",
    "That is close to log 27 = 3.30, the loss of a table that knows nothing. `counts[rows] += 1` "
    "adds 1 once for each different row. `torch.bincount(rows)` counts all of them.",
    SLIPS["counted-once"],
)

_bits = in_bits(RANGES, "one", "two", "three", "four")
_perplexity = as_perplexity(RANGES, "one", "two", "three", "four")


TASK = observations.experiment(
    "How many letters should a table know?",
    RANGES,
    SAME_PAST,
    {"one": 1, "two": 1, "three": 1, "four": 1},
)
