"""Judges 03/seen-before: how much has been seen before."""

from __future__ import annotations

from dataclasses import replace

from course_judges import observations
from course_judges.ch03_text.sections import SPLITS
from course_judges.judging import Evidence, mistake
from course_judges.observations import (
    Numbers,
    Ranges,
    lies,
    measured,
    measured_otherwise,
    middle,
    noted,
)
from course_judges.wording import number
from course_tasks.verdict import Finding

RANGES, SLIPS = measured(__file__)

_NAMES = tuple(RANGES["shakespeare"])


_distinct = measured_otherwise(
    RANGES,
    "You probably counted each piece of the validation split only once.",
    "Pieces that occur often are the ones that the training split is most likely to have, and "
    "the task counts them each time. Keep the pieces that you ask for in a list instead of a "
    "set.",
    SLIPS["distinct"],
)

_every_nth = measured_otherwise(
    RANGES,
    "You probably cut the training split into pieces that don't overlap.",
    "A piece may begin at any symbol, but yours begin only at every n-th. Let one begin at "
    "each symbol of the training split.",
    SLIPS["every-nth"],
)

_splits_exchanged = measured_otherwise(
    RANGES,
    "You probably looked for pieces of the training split in the validation split.",
    "The validation split is much shorter, so it holds fewer different pieces. Take the "
    "pieces of the validation split, and look for them in the training split.",
    SLIPS["splits-exchanged"],
)

_whole_text = measured_otherwise(
    RANGES,
    "You probably looked for the pieces in a text that includes the validation split.",
    "Every piece occurs there, since that is where you took it from. Look only in `corpus.train`.",
    SLIPS["whole-text"],
)


_one_symbol_longer = measured_otherwise(
    RANGES,
    "You probably took pieces of n + 1 symbols.",
    "`train[i : i + n]` holds n symbols, because a slice leaves out its end.",
    SLIPS["one-symbol-longer"],
)

_one_symbol_shorter = measured_otherwise(
    RANGES,
    "You probably took pieces of n − 1 symbols.",
    "`train[i : i + n]` holds n symbols, because a slice leaves out its end.",
    SLIPS["one-symbol-shorter"],
)

_distinct_hits = measured_otherwise(
    RANGES,
    "You probably counted each piece that you found only once.",
    "You divided by the number of all pieces, in which one that occurs several times counts each "
    "time. So count it each time when you find it, too: ask for every piece of a list instead of a "
    "set.",
    SLIPS["distinct-hits"],
)

_share_of_training = measured_otherwise(
    RANGES,
    "You probably measured which share of the different training pieces validation has.",
    "The question is the other way round. Ask for each piece of the validation split whether the "
    "training split has it, and divide by the number of pieces of the validation split.",
    SLIPS["share-of-training"],
)

_lower_case = measured_otherwise(
    RANGES,
    "You probably turned capitals into small letters first.",
    "Then pieces count as seen that differ from all of training by a capital. Compare the text as "
    "it is.",
    SLIPS["lower-case"],
)

_begins_of_training = measured_otherwise(
    RANGES,
    "You probably looked for the pieces only in the beginning of the training split.",
    "If one loop or `zip` runs over both splits, it ends with the shorter one. Collect the pieces "
    "of the whole training split first.",
    SLIPS["begins-of-training"],
)


def _closely(slip: Ranges) -> Ranges:
    """A thousandth around what runs with a slip give, for one whose numbers are nearly right."""
    return {
        text: {name: (sum(ends) / 2 - 0.001, sum(ends) / 2 + 0.001) for name, ends in found.items()}
        for text, found in slip.items()
    }


_earlier_validation = measured_otherwise(
    RANGES,
    "You probably counted a piece as seen if it occurs earlier in the validation split, too.",
    "Only what the training split has counts. Collect its pieces first, and add none of the "
    "validation split.",
    _closely(SLIPS["earlier-validation"]),
)

_same_place = measured_otherwise(
    RANGES,
    "You found hardly any of the pieces.",
    "If you compare a piece only with the one at the same place of the training split, look for it "
    "anywhere there. If your pieces are tensors, or tuples of tensors, a set doesn't find equal "
    "ones, because each tensor is an object of its own. Use strings, or numbers from `tolist()`.",
    SLIPS["same-place"],
)


@mistake(
    "You counted the pieces that are new instead of those seen before.",
    lambda e: (
        f"Your `seen_8` is {number(noted(e, 'seen_8'))}, but the share of pieces that occur in "
        f"training is one minus that, {number(1 - noted(e, 'seen_8'))}."
    ),
    recognized=lambda e: all(
        lies(RANGES, name, 1 - noted(e, name), e) for name in ("seen_4", "seen_16")
    ),
)
def _new_ones() -> Numbers:
    return {
        name: value if isinstance(value, str) else 1 - value
        for name, value in middle(RANGES).items()
    }


def _one_nearly_right(evidence: Evidence) -> Finding | None:
    """One share is a little off and the others are right."""
    wrong = [name for name in _NAMES if not lies(RANGES, name, noted(evidence, name), evidence)]
    if len(wrong) != 1:
        return None
    name, value = wrong[0], noted(evidence, wrong[0])
    low, high = RANGES[str(evidence.answers.values["observed.text"])][name]
    if not 0.7 * low < value < 1.3 * high:
        return None
    return Finding(
        "nearly-right",
        f"Your `{name}` is a little too {'small' if value < low else 'large'}, but the other two "
        "shares are right.",
        f"You noted {number(value)}. Did you write down enough digits? If so, see whether you ask "
        "for every piece of the validation split, one beginning at each symbol. With only some of "
        "them, for example every n-th, the share comes out near the right one.",
        SPLITS,
    )


_EXPERIMENT = observations.experiment(
    "How much has been seen before?", RANGES, SPLITS, {"seen_4": 1, "seen_8": 2, "seen_16": 1}
)
TASK = replace(_EXPERIMENT, properties=(_one_nearly_right, *_EXPERIMENT.properties))
