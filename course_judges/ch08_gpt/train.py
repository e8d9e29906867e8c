"""Judges 08/train: a model by what it predicts for contexts that it has not seen.

Nothing that an answer reports is believed. Its probabilities are scored against symbols that never
left the judge. How it came to them is its own affair: the batches are all the text that it gets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges.ch08_gpt.sections import CHOICE, PAST, RATE, START, WRITING
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.wording import unwrapped
from course_lib import optimizers, schedules
from course_lib.model import GPT, Config, fuse
from course_tasks.answers import Array
from course_tasks.ch08_gpt.train import ASKED_AGAIN
from course_tasks.verdict import Finding

TARGET = 3.05  # nats; the released task says so
# So far may the mean over the contexts lie from what the model is worth: to the student's favour.
# It also puts the limit between what was measured: right answers of four styles lost 2.55 to 3.06
# nats in 40 draws each, and the notebook's solution without `zero_grad` 3.28 to 3.55 in 20.
DOUBT = 0.03
# Counted pairs with a trifle added, such as repetitions looked up, are still counted pairs.
CLEARLY_BELOW_PAIRS = 0.05
SMOOTHING = 0.1  # counts are few for so many pairs: a whole one more each would mislead

# Two calls in evaluation mode agree to rounding; what moves less than this is not looked at.
_SAME = 1e-4
# Who is not so much below counted symbols has learned little, or does not show it.
_LITTLE = 0.1
# An untrained model reads its context too, faintly.
_CLEARLY = 0.05

_Predict = Callable[[Tensor], Tensor]


def train(batches: Any, vocab_size: int, block_size: int) -> _Predict:
    """A small GPT, one step a batch, the rate up and down."""
    model = fuse(GPT(Config(vocab_size, block_size, n_layer=1, n_head=4, n_embd=32)))
    built = optimizers.build("muon", model, 0.02, betas=(0.9, 0.95), muon_lr=0.03)
    groups = [(group, group["lr"]) for each in built for group in each.param_groups]
    steps, rate = len(batches), schedules.one_cycle(0.15)
    for step, (x, y) in enumerate(batches):
        for group, full in groups:
            group["lr"] = full * rate(step, steps)
        model.zero_grad()
        model(x, y)[1].backward()
        for optimizer in built:
            optimizer.step()
    model.eval()

    def predict(contexts: Tensor) -> Tensor:
        with torch.no_grad():
            return model(contexts)[0][:, -1].softmax(dim=-1)

    return predict


def _quickly(
    steps: int = 60,
    shift: Callable[[Tensor, Tensor], Tensor] = lambda _, y: y,
    answer: Callable[[Tensor], Tensor] = lambda logits: logits[:, -1].softmax(dim=-1),
    dropout: float = 0.0,
    shown: Callable[[Tensor], Tensor] = lambda contexts: contexts,
) -> Callable[..., _Predict]:
    """An answer with something wrong in it, trained for as long as it takes to show."""

    def wrong(batches: Any, vocab_size: int, block_size: int) -> _Predict:
        config = Config(vocab_size, block_size, n_layer=1, n_head=2, n_embd=32, dropout=dropout)
        model = fuse(GPT(config))
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
        for _, (x, y) in zip(range(steps), batches, strict=False):
            loss = model(shown(x), shift(x, y)[:, -shown(x).shape[1] :])[1]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.train(dropout > 0)
        return lambda contexts: answer(model(shown(contexts))[0].detach())

    return wrong


def _probabilities(evidence: Evidence) -> Array:
    shape = len(evidence.inputs["targets"]), evidence.number("V")
    return evidence.shaped("model.probabilities", shape).astype(np.float64)


def _is_distribution(value: Array) -> bool:
    return bool(
        np.isfinite(value).all() and (value >= 0).all() and np.allclose(value.sum(-1), 1, atol=1e-3)
    )


def score(probabilities: Array, targets: Array) -> float:
    """Mean −log of what each target was given, in nats; infinite where one was given nothing."""
    given = probabilities[np.arange(len(targets)), targets]
    with np.errstate(divide="ignore"):
        return float(-np.log(given).mean())


def _loss(evidence: Evidence) -> float:
    """The score of the answer; infinite where it is no distribution."""
    value = _probabilities(evidence)
    return score(value, evidence.inputs["targets"]) if _is_distribution(value) else math.inf


def _counted(evidence: Evidence) -> tuple[float, float]:
    """What symbols, and pairs of symbols, counted in the training text, lose on these contexts."""
    V, text = evidence.number("V"), evidence.inputs["text"]
    singles = np.bincount(text, minlength=V) + SMOOTHING
    pairs = np.bincount(text[:-1] * V + text[1:], minlength=V * V).reshape(V, V) + SMOOTHING
    last, targets = evidence.inputs["contexts"][:, -1], evidence.inputs["targets"]
    rows = pairs[last] / pairs[last].sum(axis=1, keepdims=True)
    return (
        score(np.tile(singles / singles.sum(), (len(targets), 1)), targets),
        score(rows, targets),
    )


def _moved_by(evidence: Evidence, other: str) -> float:
    mine = _probabilities(evidence)[:ASKED_AGAIN]
    return float(np.abs(mine - evidence.shaped(f"model.{other}", mine.shape)).max())


def _wavers(evidence: Evidence) -> bool:
    return _moved_by(evidence, "again") > _SAME


def _taken(evidence: Evidence) -> str:
    taken, all_ = int(evidence.shaped("model.batches_taken", ())), evidence.number("steps")
    return f"{taken} of {all_} batches"


def _standing(evidence: Evidence) -> str:
    """The loss beside what it has to be compared with."""
    singles, pairs = _counted(evidence)
    loss = _loss(evidence)
    mine = (
        f"loses {loss:.3f} nats" if math.isfinite(loss) else "gave a true symbol no chance at all"
    )
    return unwrapped(f"""On {len(evidence.inputs["targets"])} unseen contexts your model {mine}; the
    target is {TARGET:.2f}. Counted pairs lose {pairs:.3f}, counted symbols {singles:.3f}, knowing
    nothing {math.log(evidence.number("V")):.3f}.""")


def _as_distribution(evidence: Evidence, value: Array) -> bool:
    """True if this reading of the answer predicts better than counted symbols do."""
    return (
        _is_distribution(value)
        and score(value, evidence.inputs["targets"]) < _counted(evidence)[0] - _LITTLE
    )


def _softmax(value: Array) -> Array:
    weights = np.exp(value - value.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _is_logs(evidence: Evidence) -> bool:
    value = _probabilities(evidence)
    return bool((value <= 1e-6).all()) and _as_distribution(evidence, np.exp(value))


def _is_logits(evidence: Evidence) -> bool:
    value = _probabilities(evidence)
    return not _is_distribution(value) and _as_distribution(evidence, _softmax(value))


def _over_contexts(evidence: Evidence) -> bool:
    value = _probabilities(evidence)
    return bool(np.allclose(value.sum(axis=0), 1, atol=1e-3)) and not _is_distribution(value)


def _repeats_its_input(evidence: Evidence) -> bool:
    last = evidence.inputs["contexts"][:, -1]
    value = _probabilities(evidence)
    return bool(value[np.arange(len(last)), last].mean() > 0.5)


def _repeat_share(evidence: Evidence) -> str:
    last = evidence.inputs["contexts"][:, -1]
    given = _probabilities(evidence)[np.arange(len(last)), last].mean()
    twice = float((last == evidence.inputs["targets"]).mean())
    return unwrapped(f"""It gives the symbol that it has just read {100 * given:.0f} % on average;
    it really comes twice {100 * twice:.0f} % of the time. {_standing(evidence)}""")


def _all_positions(evidence: Evidence) -> bool:
    shape = _shape(evidence)
    return len(shape) == 3 and shape[0] == len(evidence.inputs["targets"])


def _shape(evidence: Evidence) -> tuple[int, ...]:
    return np.shape(evidence.answers.values["model.probabilities"])


def _knows_nothing(evidence: Evidence) -> bool:
    value = _probabilities(evidence)
    untrained = _loss(evidence) > math.log(evidence.number("V")) - 0.2
    return _is_distribution(value) and untrained and float(value.max(axis=-1).mean()) < 0.5


def _reads_nothing(evidence: Evidence) -> bool:
    value = _probabilities(evidence)
    alike = bool(np.ptp(value, axis=0).max() < _SAME)
    return alike and _is_distribution(value) and not _knows_nothing(evidence)


def _is_one_hot(evidence: Evidence) -> bool:
    value = _probabilities(evidence)
    return _is_distribution(value) and bool((value.max(axis=-1) > 1 - 1e-6).mean() > 0.99)


def _percent_right(evidence: Evidence) -> float:
    likeliest = _probabilities(evidence).argmax(axis=-1)
    return 100 * float((likeliest == evidence.inputs["targets"]).mean())


def _not_there_yet(evidence: Evidence) -> Finding | None:
    value = _probabilities(evidence)
    if not _is_distribution(value):
        sums = value.sum(axis=-1)
        return Finding(
            "no-distribution",
            "What you predict is not a distribution over the symbols.",
            f"Rows sum to between {sums.min():.3g} and {sums.max():.3g}, the smallest entry is"
            f" {value.min():.3g}.",
            CHOICE,
        )
    if int(evidence.shaped("model.batches_taken", ())) < 0.9 * evidence.number("steps"):
        return Finding(
            "budget-left",
            f"Your model is not good enough yet, and you took only {_taken(evidence)}.",
            _standing(evidence),
            PAST,
        )
    loss, (singles, _) = _loss(evidence), _counted(evidence)
    if loss > math.log(evidence.number("V")):
        return Finding(
            "worse-than-nothing",
            "Your predictions are worse than those of a model that knows nothing.",
            f"{_standing(evidence)} They are sure of what does not come. Are gradients set to zero "
            "before each step, is the rate far too high, or do x and y, or the logits that you "
            "read, belong to other positions?",
            RATE,
        )
    if loss > singles - _LITTLE:
        return Finding(
            "hardly-learned",
            "Your predictions are hardly better than those of counted symbols, or worse.",
            f"{_standing(evidence)} Either the training did little (a rate that is too low, "
            "gradients that are not set to zero), or the answer leaves out what was learned: it "
            "is the softmax of the last position's logits, once.",
            RATE,
        )
    return Finding(
        "target-missed",
        "Your model learns, and is not below the target yet.",
        _standing(evidence) + " A loss that still falls quickly at the end asks for a higher rate;"
        " one that jumps about asks for a warm-up, or for a rate that falls towards the end. If"
        " your batches lose less than that, look at the prediction: one softmax, of the last"
        " position's logits.",
        RATE,
    )


_all_positions_returned = mistake(
    unwrapped("""You return a distribution for every position of the context; only the one after the
    last is asked for."""),
    lambda e: unwrapped(f"""Your answer has shape {_shape(e)}; asked for is
    ({len(e.inputs["targets"])}, {e.number("V")})."""),
    WRITING,
    recognized=_all_positions,
)(_quickly(steps=1, answer=lambda logits: logits.softmax(dim=-1)))

_logarithms_for_probabilities = mistake(
    "You return logarithms of probabilities; take their exponentials.",
    lambda e: f"Your first row sums to {_probabilities(e)[0].sum():.1f}, its exponentials to 1.",
    CHOICE,
    recognized=_is_logs,
)(_quickly(answer=lambda logits: logits[:, -1].log_softmax(dim=-1)))

_softmax_over_contexts = mistake(
    "Your softmax runs over the contexts; it should run over the symbols of each.",
    lambda e: f"Columns sum to 1, and row 0 sums to {_probabilities(e)[0].sum():.3f}.",
    CHOICE,
    recognized=_over_contexts,
)(_quickly(answer=lambda logits: logits[:, -1].softmax(dim=0)))

_logits_for_probabilities = mistake(
    "You return logits; the softmax is missing.",
    lambda e: unwrapped(f"""Your first row sums to {_probabilities(e)[0].sum():.1f} and its smallest
    entry is {_probabilities(e)[0].min():.1f}."""),
    CHOICE,
    recognized=_is_logits,
)(_quickly(answer=lambda logits: logits[:, -1]))

_only_the_likeliest = mistake(
    "You are certain of one symbol each time; asked for is a probability for every one.",
    lambda e: unwrapped(f"""What you were certain of was right in {_percent_right(e):.0f} % of the
    contexts. For the others a model that gives no chance loses without limit. That comes of an
    `argmax`, or of a training that went out of hand."""),
    CHOICE,
    recognized=_is_one_hot,
)(_quickly(answer=lambda logits: F.one_hot(logits[:, -1].argmax(dim=-1), logits.shape[-1]).float()))

_dropout_in_evaluation = mistake(
    "Your model predicts in training mode: dropout is still on.",
    lambda e: unwrapped(f"""The same context got probabilities that differ by up to
    {_moved_by(e, "again"):.2f} when it was asked twice. Call `model.eval()` before you return."""),
    WRITING,
    recognized=_wavers,
)(_quickly(dropout=0.4, steps=100))

_unshifted_targets = mistake(
    "Your model repeats the last symbol of the context, as one does that is trained on its input.",
    _repeat_share,
    recognized=_repeats_its_input,
)(_quickly(shift=lambda x, _: x))


@mistake(
    "Every context gets the same prediction, whatever stands in it.",
    _standing,
    recognized=_reads_nothing,
)
def _same_for_every_context(batches: Any, vocab_size: int, block_size: int) -> _Predict:  # noqa: ARG001
    counts = torch.ones(vocab_size)
    for _, y in batches:
        counts += torch.bincount(y.flatten(), minlength=vocab_size)
    return lambda contexts: (counts / counts.sum()).expand(len(contexts), -1)


_reads_first_logits = mistake(
    "Your prediction does not depend on the last symbol of the context.",
    lambda e: unwrapped(f"""With another last symbol it moved by {_moved_by(e, "other_last"):.4f}.
    {_standing(e)} Is the last symbol shown to the model, and do you read the logits of the last
    position? Those of the first, or of the one before the last, have not seen it."""),
    WRITING,
    recognized=lambda e: _moved_by(e, "other_last") < _SAME < _CLEARLY < _moved_by(e, "other_past"),
)(_quickly(answer=lambda logits: logits[:, 0].softmax(dim=-1)))

_last_token_only = mistake(
    "Your model looks at the last symbol only.",
    lambda e: unwrapped(f"""With all other symbols of the context exchanged, its predictions stay
    the same. {_standing(e)}"""),
    recognized=lambda e: _moved_by(e, "other_past") < _SAME < _CLEARLY < _moved_by(e, "other_last"),
)(_quickly(steps=100, shown=lambda contexts: contexts[:, -1:]))

_untrained = mistake(
    "Your model predicts as one does that was never trained.",
    lambda e: unwrapped(f"""You took {_taken(e)}. {_standing(e)} Does every step end with
    `optimizer.step()`, on this model's parameters, and is the rate large enough to be seen?"""),
    START,
    recognized=_knows_nothing,
)(_quickly(steps=0))


TASK = Task(
    f"Train below {TARGET}",
    train,
    PAST,
    (
        Part(
            "Predictions are distributions, and better than counted symbols.",
            1,
            lambda e: _loss(e) < _counted(e)[0] - _LITTLE,
        ),
        Part(
            f"Predictions beat those of counted pairs, by {CLEARLY_BELOW_PAIRS} nats at least.",
            2,
            lambda e: _loss(e) < _counted(e)[1] - CLEARLY_BELOW_PAIRS,
        ),
        Part(
            "Every context gets the same answer each time it is asked.",
            1,
            lambda e: _loss(e) < _counted(e)[0] - _LITTLE and not _wavers(e),
        ),
        Part(
            f"The loss on unseen contexts is below {TARGET} nats.",
            4,
            lambda e: _loss(e) < TARGET + DOUBT,
        ),
    ),
    properties=(_not_there_yet,),
)
