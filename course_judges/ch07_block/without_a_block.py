"""Judges 07/without-a-block: one block less."""

from __future__ import annotations

from dataclasses import replace

from course_judges import observations
from course_judges.ch07_block.sections import STREAM
from course_judges.judging import Evidence, mistake
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
from course_judges.wording import number
from course_tasks.verdict import Finding

RANGES, SLIPS = measured(__file__)


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


_trained_in_each_round = measured_otherwise(
    RANGES,
    "You probably called `fit` in each round, so that the shorter stacks were trained further.",
    "Then the three blocks have learned to do without the fourth. Train once, before the loop, and "
    "only evaluate in it.",
    SLIPS["trained-in-each-round"],
)

_default_rate = measured_otherwise(
    RANGES,
    "You probably left out the learning rate, so that `fit` took its own.",
    "Another rate makes another model, whose blocks are worth more or less. Pass `lr=0.01`.",
    SLIPS["default-rate"],
)

_untrained = measured_otherwise(
    RANGES,
    "You probably measured a model that was never trained.",
    "Without training, all three models guess, with a loss near ln V. Call `fit` before you take "
    "a block out.",
    SLIPS["untrained"],
)


_BLOCKS = {
    "all_four": "Did you measure it with the whole list of blocks, before you took one out?",
    "without_first": "Did you take out `blocks[0]`? `blocks[1]` is already the second block.",
    "without_last": "Did you take out the fourth block, and only that one?",
}


def _one_loss_off(evidence: Evidence) -> Finding | None:
    """One number that no run gives, beside two that are losses: it is hardly a difference."""
    losses = {name: noted(evidence, name) for name in _BLOCKS}
    off = [name for name, loss in losses.items() if not lies(RANGES, name, loss, evidence)]
    if len(off) != 1:
        return None
    name, loss = off[0], losses[off[0]]
    low, high = RANGES[str(evidence.answers.values["observed.text"])][name]
    side, end = ("smaller", low) if loss < low else ("larger", high)
    return Finding(
        "one-loss-off",
        f"`{name}` is {number(loss)}, which is {side} than in any run on this text.",
        f"Runs give {'at least' if loss < low else 'at most'} {number(end)}. The other two of your "
        f"losses are what runs give. {_BLOCKS[name]}",
        STREAM,
    )


_TASK = observations.experiment(
    "One block less", RANGES, STREAM, {"all_four": 1, "without_first": 2, "without_last": 1}
)
_unknown_text, *_others = _TASK.properties
TASK = replace(_TASK, properties=(_unknown_text, _one_loss_off, *_others))
