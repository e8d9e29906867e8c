"""Judges 04/little-text: how much text does a table need."""

from __future__ import annotations

import math

from course_judges import observations
from course_judges.ch04_bigram.sections import COUNTING
from course_judges.judging import mistake
from course_judges.observations import (
    Numbers,
    as_perplexity,
    in_bits,
    lies,
    measured,
    measured_otherwise,
    middle,
    noted,
)
from course_judges.wording import number, unwrapped

RANGES, SLIPS = measured(__file__)

_NAMES = tuple(RANGES["shakespeare"])


_part_itself = measured_otherwise(
    RANGES,
    "You probably measured the loss on the same part of the text that you counted.",
    "A table fits the pairs that it was counted on better than new ones, most of all if they "
    "are few. Measure all three losses on the whole validation split.",
    SLIPS["part-itself"],
)

_training_loss = measured_otherwise(
    RANGES,
    "You probably measured the loss on the training split.",
    "A table fits the pairs that it was counted on better than new ones. Measure all three "
    "losses on the whole validation split.",
    SLIPS["training-loss"],
)

_last_part = measured_otherwise(
    RANGES,
    "You probably counted the last part of the training split instead of the first.",
    "The text isn't the same throughout, so another part gives another table. Of N tokens, "
    "the first 1 % are the first N // 100.",
    SLIPS["last-part"],
)


# On the play, the upper end of this range is in reach of right runs.
_SHARES_OF_PLAY = {
    **SLIPS["share-of-validation"]["play"],
    "one_percent": (2.567, 2.605),
}

_share_of_validation = measured_otherwise(
    RANGES,
    "You probably cut the validation split to 1 % and 10 % as well.",
    "Only the text that you count becomes shorter. Measure all three losses on the whole "
    "validation split.",
    {**SLIPS["share-of-validation"], "play": _SHARES_OF_PLAY},
)

_pairs_from_everywhere = measured_otherwise(
    RANGES,
    "You probably counted 1 % and 10 % of the pairs from all over the training split.",
    "The text isn't the same throughout, so pairs from everywhere make a better table than its "
    "beginning. Of N tokens, the first 1 % are the first N // 100.",
    SLIPS["pairs-from-everywhere"],
    SLIPS["pairs-from-everywhere (every nth)"],
)

_every_nth_symbol = measured_otherwise(
    RANGES,
    "You probably took every 100th and every 10th symbol of the training split.",
    "In `train[::100]`, neighbors are 100 symbols apart in the text, so they say nothing about "
    "what follows. Of N tokens, take the first N // 100, `train[: N // 100]`.",
    SLIPS["every-nth-symbol"],
)

_less_added = measured_otherwise(
    RANGES,
    "You probably added less than 1 to every count.",
    "With little text, many pairs have a count of 0, and all that they get is what you add. Add 1, "
    "whatever the number of tokens or symbols.",
    SLIPS["less-added"],
    SLIPS["less-added (0.01)"],
    SLIPS["less-added (1 / V)"],
)

_counted_in_validation = measured_otherwise(
    RANGES,
    "You probably counted in the validation split instead of the training split.",
    "Count in parts of `corpus.train`, and measure on the whole `corpus.validation`.",
    SLIPS["counted-in-validation"],
    SLIPS["counted-in-validation (measured on training)"],
)

_table_turned = measured_otherwise(
    RANGES,
    "You probably read the table the wrong way round when you measured.",
    "Row i holds what follows symbol i, so the current symbol comes first: "
    "`probabilities[validation[:-1], validation[1:]]`.",
    SLIPS["table-turned"],
)

_current_ignored = measured_otherwise(
    RANGES,
    "You probably used how often each symbol occurs, whatever symbol comes before it.",
    "A table of pairs has a row of its own for each current symbol. Divide each row by its sum.",
    SLIPS["current-ignored"],
)

_symbols_for_pairs = measured_otherwise(
    RANGES,
    "You probably looked up the probability of each symbol after itself.",
    "Read what the table gives to the next symbol: "
    "`probabilities[validation[:-1], validation[1:]]`.",
    SLIPS["symbols-for-pairs"],
)

_two_apart = measured_otherwise(
    RANGES,
    "You probably counted pairs that are two steps apart.",
    "The pairs of a text are `tokens[:-1]` and `tokens[1:]`, one step apart.",
    SLIPS["two-apart"],
)

_logarithm_of_the_mean = measured_otherwise(
    RANGES,
    "You probably took −log of the mean probability instead of the mean of −log.",
    "The loss is the mean surprise, and the surprise of each pair is −log of its own probability. "
    "Take the logarithms first, and then their mean.",
    SLIPS["logarithm-of-the-mean"],
)


@mistake(
    "Your loss is infinite.",
    "A pair of the validation split that you have never counted gets a probability of 0, and "
    "−log 0 is infinite. So add 1 to every count before you divide, and then no probability is 0.",
    recognized=lambda e: "is inf" in e.answers.errors["observed"].message,
)
def _nothing_added() -> Numbers:
    return middle(RANGES, one_percent=math.inf, ten_percent=math.inf, everything=math.inf)


@mistake(
    "Your losses have the wrong sign.",
    lambda e: unwrapped(f"""You noted {number(noted(e, "everything"))} for `everything`. Logarithms
    of probabilities are negative, and a loss is minus their mean."""),
    recognized=lambda e: all(lies(RANGES, name, -noted(e, name), e) for name in _NAMES),
)
def _sign_forgotten() -> Numbers:
    return {
        name: value if isinstance(value, str) else -value for name, value in middle(RANGES).items()
    }


_bits = in_bits(RANGES, "one_percent", "ten_percent", "everything")
_perplexity = as_perplexity(RANGES, "one_percent", "ten_percent", "everything")


TASK = observations.experiment(
    "How much text does a table need?",
    RANGES,
    COUNTING,
    {"one_percent": 2, "ten_percent": 1, "everything": 1},
)
