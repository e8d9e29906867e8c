"""Judges 05/choosing: what choosing is worth."""

from __future__ import annotations

from dataclasses import replace

from course_judges import observations
from course_judges.ch05_head.sections import PASSED
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


_first_evaluation = measured_otherwise(
    RANGES,
    "You probably took the first evaluation instead of the last.",
    "`fit` evaluates ten times, for the first time after only 40 of the 400 steps. The task "
    "asks for the last one, `history.evaluations[-1].loss`.",
    SLIPS["first-evaluation"],
)

_zeroed_afterwards = measured_otherwise(
    RANGES,
    "You probably set the queries to zero after the training.",
    "The rest of the model was then trained with queries that choose, so it can do little "
    "with equal weights. Set them to zero before the training, and keep them there.",
    SLIPS["zeroed-afterwards"],
)

_nothing_passed_on = measured_otherwise(
    RANGES,
    "You probably set the value weights to zero, instead of the query weights or along with them.",
    "A head whose values are zero passes nothing on, so its logits can't depend on what it "
    "reads. Set only `model.head.query.weight` to zero.",
    SLIPS["nothing-passed-on"],
)


_default_rate = measured_otherwise(
    RANGES,
    "You probably left the learning rate out.",
    "The default of `fit` is 0.001, and with it the models are far from done after 400 steps. "
    "The task asks for `lr=0.01`.",
    SLIPS["default-rate"],
)

_default_batch = measured_otherwise(
    RANGES,
    "You probably left the batch size out.",
    "The default of `fit` is 32 windows a step, so in 400 steps the models see a quarter of the "
    "text that they should. The task asks for `batch_size=128`.",
    SLIPS["default-batch"],
)

_longer_context = measured_otherwise(
    RANGES,
    "You probably exchanged two sizes of the model.",
    "It should be `OneHead(V, 8, 32, 32)`: a context of 8 symbols comes first, then 32 channels. "
    "With a context of 32 and 8 channels, the plain mean is taken over up to 32 symbols.",
    SLIPS["longer-context"],
)

_bits = in_bits(RANGES, "chosen", "equal")
_perplexity = as_perplexity(RANGES, "chosen", "equal")


@mistake(
    "Both of your numbers fit the head that chooses.",
    "The query weights were probably never set to zero, or training moved them again. "
    "`requires_grad_(False)` keeps them where they are.",
    recognized=lambda e: all(
        lies(RANGES, "chosen", noted(e, name), e) for name in ("chosen", "equal")
    ),
)
def _queries_trained() -> Numbers:
    return middle(RANGES, equal=float(middle(RANGES)["chosen"]))


def _where_to_look(evidence: Evidence) -> Finding | None:
    """What it says that one number fits, or that both are too large or too small."""
    text = evidence.answers.values["observed.text"]
    off = {}
    for name, (low, high) in RANGES[str(text)].items():
        value = noted(evidence, name)
        if not low <= value <= high:
            off[name] = "large" if value > high else "small"
    if not off:
        return None
    if list(off) == ["equal"]:
        what = f"`chosen` is what runs give, but `equal` is too {off['equal']}."
        advice = (
            "So text, model and training seem to fit, and what is left is how queries are kept "
            "at 0. Build the second model afresh after the same seed, set its "
            "`model.head.query.weight` to zero before the training, and call "
            "`requires_grad_(False)` on it, but change nothing else."
        )
    elif list(off) == ["chosen"]:
        what = f"`equal` is what runs give, but `chosen` is too {off['chosen']}."
        advice = (
            "So text and settings seem to fit for one of the models. The other one should be "
            "trained as it is built, after the same seed and with the same settings, with nothing "
            "set to zero."
        )
    else:
        how = set(off.values())
        side = how.pop() if len(how) == 1 else "far off"
        what = f"Both of your numbers are too {side}." if side != "far off" else "Both are off."
        advice = (
            "So compare what both runs have in common: `OneHead(V, 8, 32, 32)`, `steps=400`, "
            "`batch_size=128`, `lr=0.01`, and the last of `history.evaluations`. Fewer steps, "
            "smaller batches and a lower rate make both losses larger."
        )
    noted_ones = ", ".join(f"{number(noted(evidence, name))} for `{name}`" for name in off)
    return Finding("not-what-runs-give", what, f"You noted {noted_ones}. {advice}", PASSED)


TASK = observations.experiment("What choosing is worth", RANGES, PASSED, {"chosen": 2, "equal": 2})
TASK = replace(TASK, properties=(*TASK.properties[:-1], _where_to_look))
