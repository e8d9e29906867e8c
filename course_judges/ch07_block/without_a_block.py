"""Judges 07/without-a-block: one block less."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch07_block.sections import STREAM
from course_judges.judging import Evidence, mistake
from course_judges.observations import (
    Numbers,
    as_perplexity,
    exchanged,
    in_bits,
    lies,
    measured_otherwise,
    middle,
    noted,
)

RANGES = {
    "shakespeare": {
        "all_four": (2.292, 2.378),
        "without_first": (3.454, 6.267),
        "without_last": (2.33, 2.578),
    },
    "play": {
        "all_four": (2.169, 2.261),
        "without_first": (3.078, 5.639),
        "without_last": (2.18, 2.455),
    },
}

SLIPS = {
    "trained-afresh": {
        "shakespeare": {
            "all_four": (2.298, 2.359),
            "without_first": (2.306, 2.367),
            "without_last": (2.306, 2.367),
        },
        "play": {
            "all_four": (2.174, 2.261),
            "without_first": (2.161, 2.227),
            "without_last": (2.161, 2.227),
        },
    },
    "both-cut": {
        "shakespeare": {
            "all_four": (2.298, 2.359),
            "without_first": (4.024, 4.963),
            "without_last": (3.374, 6.257),
        },
        "play": {
            "all_four": (2.174, 2.261),
            "without_first": (3.752, 5.105),
            "without_last": (4.158, 5.342),
        },
    },
}

# Evaluated again, a model has exactly the same loss, which may have been rounded differently.
SAME_LOSS = 0.001

_both_cut = measured_otherwise(
    RANGES,
    "You probably took the last block out of a model that had already lost its first.",
    "Keep a list of all four blocks, and make each of the two shorter stacks from that list.",
    SLIPS["both-cut"],
)

_bits = in_bits(RANGES, "all_four", "without_first", "without_last")
_perplexity = as_perplexity(RANGES, "all_four", "without_first", "without_last")
_exchanged = exchanged(RANGES, "without_first", "without_last")


def _is_one_loss(evidence: Evidence) -> bool:
    names = ("all_four", "without_first", "without_last")
    losses = [noted(evidence, name) for name in names]
    return max(losses) - min(losses) < SAME_LOSS and all(
        lies(RANGES, "all_four", loss, evidence) for loss in losses
    )


@mistake(
    "All three of your losses are those of the whole model.",
    "Slicing the list of blocks doesn't change the model, so assign the shorter stack to "
    "`model.blocks` before you evaluate.",
    recognized=_is_one_loss,
)
def _never_cut() -> Numbers:
    full = float(middle(RANGES)["all_four"])
    return middle(RANGES, without_first=full, without_last=full)


_trained_afresh = measured_otherwise(
    RANGES,
    "You probably trained new models with three blocks.",
    "A model that never had a fourth block learns to do without it. The task asks what a "
    "block is worth in a model that was trained with all four, so train once, and then take a "
    "block out.",
    SLIPS["trained-afresh"],
)


TASK = observations.experiment(
    "One block less", RANGES, STREAM, {"all_four": 1, "without_first": 2, "without_last": 1}
)
