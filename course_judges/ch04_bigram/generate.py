"""Judges 04/generate: a text continued by any model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges.ch04_bigram.outcomes import words, wrong_shape
from course_judges.ch04_bigram.sections import WRITING
from course_judges.chance import follows, softmax, worst_share
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import unwrapped
from course_tasks.verdict import Finding


def generate(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """The tokens (B, T) and `count` more, (B, T + count)."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, _loss = model(tokens[:, -model.block_size :])
            tokens = _append(tokens, logits[:, -1], generator)
    model.train(was_training)
    return tokens


def _append(tokens: Tensor, logits: Tensor, generator: torch.Generator) -> Tensor:
    """One symbol drawn from logits (B, V), put at the end of tokens (B, T)."""
    drawn = torch.multinomial(logits.float().softmax(dim=-1), 1, generator=generator)  # (B, 1)
    return torch.cat([tokens, drawn], dim=1)


def _writes(
    context: Callable[[Tensor, int], Tensor] = lambda tokens, size: tokens[:, -size:],
    read: Callable[[Tensor], Tensor] = lambda logits: logits[:, -1],
    *,
    quiet: bool = True,
    restore: bool = True,
) -> Callable[..., Tensor]:
    """An answer that differs from the right one in one place."""

    def answer(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
        was_training = model.training
        if quiet:
            model.eval()
        for _ in range(count):
            logits, _loss = model(context(tokens, model.block_size))
            tokens = _append(tokens, read(logits), generator)
        if quiet and restore:
            model.train(was_training)
        return tokens

    return answer


def _dice_right(evidence: Evidence) -> bool:
    if not evidence.comparable("chance.tokens"):
        return False
    wanted = softmax(evidence.inputs["dice"])
    tokens = evidence.yours("chance.tokens")  # (DRAWS, 3)
    return all(follows(tokens[:, position], wanted) for position in (1, 2))


def _chance_right(evidence: Evidence) -> bool:
    return _dice_right(evidence) and _repeats(evidence)


def _dice_follow_logits(evidence: Evidence) -> bool:
    weights = evidence.inputs["dice"]
    return follows(evidence.yours("chance.tokens")[:, 1], weights / weights.sum())


def _repeats(evidence: Evidence) -> bool:
    return evidence.comparable("chance.first") and np.array_equal(
        evidence.yours("chance.first"), evidence.yours("chance.repeated")
    )


def _only_the_best(evidence: Evidence) -> bool:
    tokens = evidence.yours("chance.tokens")[:, 1:]
    return bool((tokens == evidence.inputs["dice"].argmax()).all()) and tokens.shape[1] == 2


def _two_texts(case: str) -> Callable[[Evidence], str]:
    """The first row of the answer where it differs, beside the right one."""

    def say(evidence: Evidence) -> str:
        mine, right = evidence.yours(case), evidence.right(case)
        block_size = evidence.number("block_size")
        if mine.shape != right.shape:
            return unwrapped(f"""You return {mine.shape[-1]} tokens a row; expected
            {right.shape[-1]}: the prompt and everything that was written (block_size =
            {block_size}).""")
        row = int(np.argmax((mine != right).any(axis=1)))
        at = int(np.argmax(mine[row] != right[row]))
        return unwrapped(f"""With block_size = {block_size}, row {row} is the same as it should be
        up to position {at - 1}; then you have symbol {int(mine[row, at])} where the model says
        {int(right[row, at])}.""")

    return say


def _dice_share(evidence: Evidence) -> str:
    tokens, wanted = evidence.yours("chance.tokens"), softmax(evidence.inputs["dice"])
    position = 1 if not follows(tokens[:, 1], wanted) else 2
    return worst_share(tokens[:, position], wanted)


def _dice_are_off(evidence: Evidence) -> Finding | None:
    if wrong_shape(evidence, "chance.tokens") or _dice_right(evidence):
        return None
    return Finding(
        "wrong-frequencies",
        "The symbols do not come up as often as their probabilities say.",
        _dice_share(evidence),
        WRITING,
    )


_no_crop = mistake(
    "The whole text went into the model; it reads at most `block_size` tokens.",
    lambda e: unwrapped(f"""With block_size = {e.number("block_size")} the model stopped:
    “{words(e, "beyond")}”. Show it the last block_size tokens only."""),
    recognised=lambda e: e.same("short") and {"beyond", "long"} <= set(e.answers.errors),
)(_writes(context=lambda tokens, _: tokens))

_reads_first_logits = mistake(
    "You read the logits of the first position; the next symbol stands in those of the last.",
    _two_texts("beyond"),
)(_writes(read=lambda logits: logits[:, 0]))

_last_token_only = mistake(
    unwrapped("""You showed the model the last token only, which is all that a bigram needs and too
    little for any other model."""),
    _two_texts("short"),
)(_writes(context=lambda tokens, _: tokens[:, -1:]))

_crops_the_end = mistake(
    "You kept the first `block_size` tokens of the text; the model needs the last ones.",
    lambda e: unwrapped(f"""From token {e.number("block_size")} on, what was written is never read.
    {_two_texts("beyond")(e)}"""),
)(_writes(context=lambda tokens, size: tokens[:, :size]))

_crops_one_too_many = mistake(
    "Your context is one token shorter than the model can read.", _two_texts("beyond")
)(_writes(context=lambda tokens, size: tokens[:, -(size - 1) :]))


@mistake(
    "You cropped the text itself; only what the model is shown is to be cropped.",
    _two_texts("beyond"),
)
def _cropped_for_good(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    was_training = model.training
    model.eval()
    for _ in range(count):
        tokens = tokens[:, -model.block_size :]
        logits, _loss = model(tokens)
        tokens = _append(tokens, logits[:, -1], generator)
    model.train(was_training)
    return tokens


@mistake("You return what was written without the text that it continues.", _two_texts("beyond"))
def _prompt_dropped(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    return generate(model, tokens, count, generator)[:, tokens.shape[1] :]


@mistake(
    "What was drawn is never shown to the model: every symbol continues the prompt.",
    _two_texts("short"),
)
def _context_not_extended(
    model: Any, tokens: Tensor, count: int, generator: torch.Generator
) -> Tensor:
    was_training = model.training
    model.eval()
    logits, _loss = model(tokens[:, -model.block_size :])
    for _ in range(count):
        tokens = _append(tokens, logits[:, -1], generator)
    model.train(was_training)
    return tokens


_train_mode_sampling = mistake(
    "You let the model write in the mode that it was in; in training mode, dropout is active.",
    lambda e: unwrapped(f"""The text of a model in training mode differs from that of the same model
    in evaluation mode. {_two_texts("training.tokens")(e)} Call `model.eval()` before, and put the
    mode back afterwards."""),
    cases=("short", "training"),
)(_writes(quiet=False))

_mode_not_restored = mistake(
    "You left the model in another mode than you found it in.",
    lambda e: (
        "It was in training mode and is in evaluation mode now, so the training that goes"
        " on has no dropout."
        if not e.yours("training.training_afterwards")
        else "It was in evaluation mode and is in training mode now."
    ),
    recognised=lambda e: e.same("training.tokens") and not e.same("training"),
)(_writes(restore=False))


@mistake(
    "You take the most likely symbol every time; nothing is drawn.",
    lambda e: f"{_dice_share(e)} The text would be the same every time.",
    recognised=_only_the_best,
)
def _argmax_for_sampling(
    model: Any,
    tokens: Tensor,
    count: int,
    generator: torch.Generator,  # noqa: ARG001
) -> Tensor:
    was_training = model.training
    model.eval()
    for _ in range(count):
        logits, _loss = model(tokens[:, -model.block_size :])
        tokens = torch.cat([tokens, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
    model.train(was_training)
    return tokens


@mistake(
    "You drew in proportion to the logits; the softmax is missing.",
    lambda e: f"{_dice_share(e)} Logits may be negative, and only their differences count.",
    recognised=lambda e: _dice_follow_logits(e) and not _dice_right(e),
)
def _no_softmax(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    was_training = model.training
    model.eval()
    for _ in range(count):
        logits, _loss = model(tokens[:, -model.block_size :])
        drawn = torch.multinomial(logits[:, -1].float(), 1, generator=generator)  # (B, 1)
        tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


@mistake(
    "Your draws do not come from the given generator.",
    unwrapped("""Two generators with the same seed gave different texts; pass `generator=generator`
    to what draws."""),
    recognised=lambda e: _dice_right(e) and not _repeats(e),
)
def _generator_ignored(
    model: Any,
    tokens: Tensor,
    count: int,
    generator: torch.Generator,  # noqa: ARG001
) -> Tensor:
    return generate(model, tokens, count, torch.default_generator)


TASK = Task(
    "Write with any model",
    generate,
    WRITING,
    (
        Part("A short text continues as the model says.", 2, matches("short")),
        Part(
            "A text longer than the model's memory goes on, from its last `block_size` tokens.",
            2,
            matches("beyond", "long"),
        ),
        Part(
            "The model writes in evaluation mode and is left in the mode it was in.",
            1,
            matches("training"),
        ),
        Part("Symbols are drawn, by the given generator.", 1, _chance_right),
    ),
    properties=(_dice_are_off,),
    cases=("short", "beyond"),
)
