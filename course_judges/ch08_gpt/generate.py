"""Judges 08/generate: a batch of texts, each written to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges.ch08_gpt.sections import WRITING
from course_judges.chance import follows, softmax, worst_share
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import unwrapped


def generate(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    """At most `count` tokens more; a row that wrote `stop` is filled up with it."""
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            if done.all():
                break
            logits, _loss = model(tokens[:, -model.block_size :])
            drawn = _draw(logits[:, -1], generator).masked_fill(done, stop)  # (B,)
            done |= drawn == stop
            tokens = torch.cat([tokens, drawn.unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


def _draw(logits: Tensor, generator: torch.Generator) -> Tensor:
    return torch.multinomial(logits.float().softmax(dim=-1), 1, generator=generator).squeeze(1)


def _writes(
    context: Callable[[Tensor, int], Tensor] = lambda tokens, size: tokens[:, -size:],
    read: Callable[[Tensor], Tensor] = lambda logits: logits[:, -1],
    draw: Callable[[Tensor, torch.Generator], Tensor] = _draw,
    *,
    quiet: bool = True,
    restore: bool = True,
    fill: bool = True,
    from_prompt: bool = False,
    enough: Callable[[Tensor], bool] = lambda done: bool(done.all()),
) -> Callable[..., Tensor]:
    """An answer that differs from the right one in one place."""

    def answer(
        model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
    ) -> Tensor:
        was_training = model.training
        if quiet:
            model.eval()
        done = (tokens == stop).any(dim=1) & from_prompt
        for _ in range(count):
            if enough(done):
                break
            logits, _loss = model(context(tokens, model.block_size))
            drawn = draw(read(logits), generator)
            drawn = drawn.masked_fill(done & fill, stop)
            done = done | (drawn == stop)
            tokens = torch.cat([tokens, drawn.unsqueeze(1)], dim=1)
        if quiet and restore:
            model.train(was_training)
        return tokens

    return answer


def _repeats(evidence: Evidence) -> bool:
    return evidence.comparable("chance.first") and np.array_equal(
        evidence.yours("chance.first"), evidence.yours("chance.repeated")
    )


def _dice_right(evidence: Evidence) -> bool:
    return evidence.comparable("chance.tokens") and follows(
        evidence.yours("chance.tokens")[:, 1], softmax(evidence.inputs["dice"])
    )


def _dice_share(evidence: Evidence) -> str:
    return worst_share(evidence.yours("chance.tokens")[:, 1], softmax(evidence.inputs["dice"]))


def _only_the_best(evidence: Evidence) -> bool:
    drawn = evidence.yours("chance.tokens")[:, 1:]
    return bool((drawn == evidence.inputs["dice"].argmax()).all()) and drawn.shape[1] == 1


def _rows(case: str) -> Callable[[Evidence], str]:
    """What differs: the length, or the first row that goes another way."""

    def say(evidence: Evidence) -> str:
        mine, right = evidence.yours(case), evidence.right(case)
        stop, T = evidence.number("stop"), evidence.number("T")
        if mine.shape != right.shape:
            return unwrapped(f"""You return {mine.shape[-1]} tokens a row, {right.shape[-1]} were
            asked for; the rows meet the stop symbol after {_after(evidence)} new ones.""")
        row = int(np.argmax((mine != right).any(axis=1)))
        at = int(np.argmax(mine[row] != right[row]))
        return (
            f"Row {row} should go on as {right[row, T:].tolist()} (the stop symbol is {stop});"
            f" yours has {int(mine[row, at])} at position {at - T} of that."
            if at >= T
            else f"Row {row} of your answer does not begin with its prompt."
        )

    return say


def _after(evidence: Evidence) -> str:
    return ", ".join(str(int(n)) for n in evidence.inputs["after"])


_no_crop = mistake(
    "The whole text went into the model; it reads at most `block_size` tokens.",
    lambda e: unwrapped(f"""With block_size = {e.number("block_size")} the model stopped:
    “{e.answers.errors["all"].message.rstrip(".")}”. Show it the last ones only."""),
    recognised=lambda e: e.same("one") and "all" in e.answers.errors,
)(_writes(context=lambda tokens, _: tokens))

_reads_first_logits = mistake(
    "You read the logits of the first position; the next symbol stands in those of the last.",
    _rows("one"),
)(_writes(read=lambda logits: logits[:, 0]))

_last_token_only = mistake(
    "You showed the model the last token only, which is too little for anything but a bigram.",
    _rows("one"),
)(_writes(context=lambda tokens, _: tokens[:, -1:]))

_crops_the_end = mistake(
    "You kept the first `block_size` tokens of the text; the model needs the last ones.",
    _rows("all"),
)(_writes(context=lambda tokens, size: tokens[:, :size]))


@mistake("You return what was written without the text that it continues.", _rows("one"))
def _prompt_dropped(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    return generate(model, tokens, count, stop, generator)[:, tokens.shape[1] :]


_stop_ignored = mistake(
    "The stop symbol stops nothing: all rows are written to the full count.", _rows("all")
)(_writes(fill=False, enough=lambda _: False))

_writes_after_stop = mistake(
    "A row that has written the stop symbol is written on while others are not done.", _rows("some")
)(_writes(fill=False))

_runs_to_the_count = mistake(
    "You write to the full count although every row has stopped.", _rows("all")
)(_writes(enough=lambda _: False))

_first_stop_ends_all = mistake("The first row that stops ends the others, too.", _rows("all"))(
    _writes(enough=lambda done: bool(done.any()))
)


@mistake(
    "Writing ended before the stop symbol was appended, and for all rows at once.", _rows("all")
)
def _stop_left_out(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    was_training = model.training
    model.eval()
    for _ in range(count):
        logits, _loss = model(tokens[:, -model.block_size :])
        drawn = _draw(logits[:, -1], generator)
        if (drawn == stop).any():
            break
        tokens = torch.cat([tokens, drawn.unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


_stops_at_the_prompt = mistake(
    "A stop symbol in the prompt ends the text before it begins.",
    lambda e: unwrapped(f"""The prompt's first symbol was {e.number("stop")}, the stop symbol, in
    every row, and you wrote {e.yours("seen").shape[1] - e.number("T")} symbols where
    {e.right("seen").shape[1] - e.number("T")} were asked for. Look at what is drawn, not at the
    whole text."""),
    recognised=lambda e: e.same("one", "some", "all") and not e.same("seen"),
)(_writes(from_prompt=True))

_train_mode_sampling = mistake(
    "You let the model write in the mode that it was in; in training mode, dropout is active.",
    lambda e: f"The same model writes another text in training mode. {_rows('training.tokens')(e)}",
    recognised=lambda e: e.same("one", "some") and not e.same("training.tokens"),
)(_writes(quiet=False))

_mode_not_restored = mistake(
    "You left the model in another mode than you found it in.",
    lambda e: (
        "It was in training mode and is in evaluation mode now: the training that"
        " goes on has no dropout."
        if not e.yours("training.training_afterwards")
        else "It was in evaluation mode and is in training mode now."
    ),
    recognised=lambda e: e.same("training.tokens") and not e.same("training"),
)(_writes(restore=False))

_argmax_for_sampling = mistake(
    "You take the likeliest symbol every time; nothing is drawn.",
    lambda e: f"{_dice_share(e)} The text would be the same every time.",
    recognised=_only_the_best,
)(_writes(draw=lambda logits, _: logits.argmax(dim=-1)))

_generator_ignored = mistake(
    "Your draws do not come from the given generator.",
    unwrapped("""Two generators with the same seed gave different texts; pass `generator=generator`
    to what draws."""),
    recognised=lambda e: _dice_right(e) and not _repeats(e),
)(_writes(draw=lambda logits, _: _draw(logits, torch.default_generator)))


TASK = Task(
    "Write to the end",
    generate,
    WRITING,
    (
        Part("One symbol is written as the model says, from the last logits.", 1, matches("one")),
        Part("A row that wrote `stop` is filled up with it, the others go on.", 1, matches("some")),
        Part(
            "Writing ends when every row has stopped; a `stop` in the prompt does not count.",
            2,
            matches("all", "seen"),
        ),
        Part(
            "The model writes in evaluation mode and is left in the mode it was in.",
            1,
            matches("training"),
        ),
        Part(
            "Symbols are drawn, by the given generator.",
            1,
            lambda e: _dice_right(e) and _repeats(e),
        ),
    ),
    cases=("one", "some", "all"),
)
