"""Judges 06/tiny-heads: as many heads as channels."""

from __future__ import annotations

from dataclasses import replace

from course_judges import observations
from course_judges.ch06_heads.sections import LIST
from course_judges.judging import Evidence
from course_judges.observations import as_perplexity, in_bits, measured, measured_otherwise, noted
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

_default_rate = measured_otherwise(
    RANGES,
    "You probably left the learning rate out.",
    "The default of `fit` is 0.001, and with it the model is far from done after 400 steps. "
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

_default_steps = measured_otherwise(
    RANGES,
    "You probably left the number of steps out.",
    "The default of `fit` is 1000 steps. The task asks for `steps=400`.",
    SLIPS["default-steps"],
)

_one_channel_each = measured_otherwise(
    RANGES,
    "You probably gave the model as many channels as heads.",
    "The model is `ManyHeads(V, 8, 32, n_head)`: it always has 32 channels, and only the number of "
    "heads changes. With 1 channel in all, a single number has to stand for each symbol.",
    SLIPS["one-channel-each"],
)

_bits = in_bits(RANGES, "heads_1", "heads_32")
_perplexity = as_perplexity(RANGES, "heads_1", "heads_32")


def _where_to_look(evidence: Evidence) -> Finding | None:
    """What it says that one number fits, or that both are too large or too small."""
    text = str(evidence.answers.values["observed.text"])
    off = {}
    for name, (low, high) in RANGES[text].items():
        value = noted(evidence, name)
        if not low <= value <= high:
            off[name] = "large" if value > high else "small"
    if not off:
        return None
    if len(off) == 1:
        name, other = *off, *(one for one in RANGES[text] if one not in off)
        what = f"`{other}` is what runs give, but `{name}` is too {off[name]}."
        advice = (
            f"So text and settings seem to fit for `{other}`. The other model differs from it in "
            f"one number, `ManyHeads(V, 8, 32, {name.partition('_')[2]})`. Build it afresh after "
            "the same seed, and train it with the same settings."
        )
    else:
        how = set(off.values())
        what = f"Both of your numbers are too {how.pop()}." if len(how) == 1 else "Both are off."
        advice = (
            "So compare what both runs have in common: `ManyHeads(V, 8, 32, n_head)`, `steps=400`, "
            "`batch_size=128`, `lr=0.01`, and the last of `history.evaluations`. Fewer steps, "
            "smaller batches and a lower rate make both losses larger."
        )
    noted_ones = ", ".join(f"{number(noted(evidence, name))} for `{name}`" for name in off)
    return Finding("not-what-runs-give", what, f"You noted {noted_ones}. {advice}", LIST)


TASK = observations.experiment(
    "As many heads as channels", RANGES, LIST, {"heads_1": 2, "heads_32": 2}
)
TASK = replace(TASK, properties=(*TASK.properties[:-1], _where_to_look))
