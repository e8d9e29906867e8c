"""Judges 08/generate: a batch of texts, each written to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch08_gpt.sections import WRITING
from course_judges.chance import (
    dice_right,
    dice_share,
    follows,
    only_the_best,
    repeats,
    softmax,
)
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import holds_integers, integers
from course_judges.wording import unwrapped
from course_judges.writing import Writer, drawn, drawn_by_global_chance, likeliest
from course_tasks.verdict import Finding


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
            new = drawn(logits[:, -1], generator).masked_fill(done, stop)  # (B,)
            done |= new == stop
            tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


def _leaves_when_all_stop(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    """Returns out of the loop, past the line that puts the mode back."""
    was_training, T = model.training, tokens.shape[1]
    written = generate(model, tokens, count, stop, generator)
    stopped = (written[:, T:] == stop).any(dim=1).all()
    return written if not was_training or not stopped else _in_evaluation(model, written)


def _in_evaluation(model: Any, written: Tensor) -> Tensor:
    model.eval()
    return written


def _at_least_one(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    return generate(model, tokens, max(count, 1), stop, generator)


def _squeezes_everything(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    """A batch of one row loses the dimension of its rows."""
    written = generate(model, tokens, count, stop, generator)
    return written.squeeze(0) if len(tokens) == 1 else written


def _rows(case: str) -> Callable[[Evidence], str]:
    """What differs: the length, or the first row that goes another way."""

    def say(evidence: Evidence) -> str:
        mine, right = evidence.yours(case), evidence.right(case)
        stop, T = evidence.number("stop"), evidence.number("T")
        if mine.shape != right.shape:
            return unwrapped(f"""You return {mine.shape[-1]} tokens a row, prompt and new ones;
            {right.shape[-1]} are right. The rows meet the stop symbol after {_after(evidence)} new
            ones.""")
        row = int(np.argmax((mine != right).any(axis=1)))
        at = int(np.argmax(mine[row] != right[row]))
        return (
            f"Row {row} should go on as {right[row, T:].tolist()} (the stop symbol is {stop});"
            f" yours has {int(mine[row, at])} at position {at - T} of that."
            if at >= T
            else f"Row {row} of your answer does not begin with its prompt."
        )

    return say


def _seen(evidence: Evidence) -> str:
    """What became of prompts with a stop symbol in them."""
    mine, right = evidence.yours("seen.tokens"), evidence.right("seen.tokens")
    if mine.shape == right.shape:
        return _rows("seen.tokens")(evidence)
    T = evidence.number("T")
    return unwrapped(f"""You wrote {mine.shape[-1] - T} symbols where {right.shape[-1] - T} were
    asked for.""")


def _after(evidence: Evidence) -> str:
    return ", ".join(str(int(n)) for n in evidence.inputs["after"])


def _even(evidence: Evidence) -> bool:
    """True if what was drawn can have come from a fair die, and not from the loaded one."""
    symbols = len(evidence.inputs["dice"])
    drawn = evidence.yours("chance.tokens")[:, 1]
    if dice_right(evidence) or not follows(drawn, np.full(symbols, 1 / symbols)):
        return False
    # What a softmax makes of probabilities is nearly even, too: the likelier of the two counts.
    return bool(np.log(symbols * softmax(softmax(evidence.inputs["dice"])))[drawn].sum() < 0)


def _twice_softened(evidence: Evidence) -> bool:
    """True if the draws follow a softmax of the probabilities, which is nearly even."""
    shares = softmax(softmax(evidence.inputs["dice"]))
    drawn = evidence.yours("chance.tokens")[:, 1]
    return not dice_right(evidence) and follows(drawn, shares) and not _even(evidence)


_no_crop = families.no_crop("all", lambda e: e.same("one") and "all" in e.answers.errors)(
    Writer(context=lambda tokens, _: tokens)
)

_reads_first_logits = families.reads_first_logits(_rows("one"))(
    Writer(read=lambda logits: logits[:, 0])
)

_last_token_only = families.last_token_only(_rows("one"))(
    Writer(context=lambda tokens, _: tokens[:, -1:])
)

_crops_the_end = families.crops_the_end(_rows("all"))(
    Writer(context=lambda tokens, size: tokens[:, :size])
)


@families.prompt_dropped(_rows("one"))
def _prompt_dropped(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    return generate(model, tokens, count, stop, generator)[:, tokens.shape[1] :]


_stop_ignored = mistake(
    "The stop symbol ends no row: all are written on, to the full count.", _rows("all")
)(Writer(fill=False, enough=lambda _: False))

_writes_after_stop = mistake(
    "A row that has written the stop symbol is written on while others are not done.", _rows("some")
)(Writer(fill=False))

_runs_to_the_count = mistake(
    "You write to the full count although every row has stopped.",
    lambda e: (
        unwrapped(f"""{_rows("all")(e)} Rows stop at different steps: is it asked whether every
    row has stopped by now, and not in one and the same step?""")
    ),
)(Writer(enough=lambda _: False))


@mistake(
    "A row that has written the stop symbol is filled up with 0; fill it with `stop`.",
    lambda e: f"The stop symbol is {e.number('stop')} here. {_rows('some')(e)}",
    cases=("one", "some"),
)
def _filled_with_zero(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    written, T = generate(model, tokens, count, stop, generator).clone(), tokens.shape[1]
    for row in written[:, T:]:
        stops = (row == stop).nonzero()
        if len(stops):
            row[int(stops[0]) + 1 :] = 0
    return written


@mistake(
    "Where every row has stopped, the last symbols drawn are not in your texts.",
    lambda e: unwrapped(f"""{_rows("all")(e)} Writing ends after the step in which the last row
    stopped; append first, and ask then."""),
    cases=("one", "some", "all"),
)
def _last_step_left_out(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    written, T = generate(model, tokens, count, stop, generator), tokens.shape[1]
    done = len(tokens) and bool((written[:, T:] == stop).any(dim=1).all())
    return written[:, :-1] if done else written


@mistake(
    "You return the last tokens only: the text is cut to what the model can read.",
    lambda e: unwrapped(f"""With block_size = {e.number("block_size")} your texts never have more
    than {e.yours("all").shape[-1]} tokens. Cut what you show the model, and keep the text.
    {_rows("all")(e)}"""),
    cases=("one", "all"),
)
def _text_cut(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    for _ in range(count):
        if done.all():
            break
        tokens = tokens[:, -model.block_size :]
        new = drawn(model(tokens)[0][:, -1], generator).masked_fill(done, stop)
        done |= new == stop
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


def _counted(by: int) -> Writer:
    class Counting(Writer):
        def __call__(
            self, model: Any, tokens: Tensor, count: int, *stop_and_generator: Any
        ) -> Tensor:
            return super().__call__(model, tokens, max(count + by, 0), *stop_and_generator)

    return Counting()


_one_more_than_count = mistake(
    "You write one symbol more than `count`.", _rows("one"), cases=("one", "some")
)(_counted(1))

_one_fewer_than_count = mistake(
    "You write one symbol fewer than `count`.", _rows("one"), cases=("one", "some")
)(_counted(-1))


@mistake(
    "You took `count` for the length of the whole text; it is how many symbols are written.",
    lambda e: unwrapped(f"""The prompts have {e.number("T")} symbols. With count = 5 you return
    {e.yours("some").shape[-1]} a row; asked for are {e.right("some").shape[-1]}."""),
    cases=("one", "some"),
)
def _count_is_the_length(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    return generate(model, tokens, max(count - tokens.shape[1], 0), stop, generator)


@mistake(
    "You ask whether symbol 0 was drawn; which symbol ends a text, `stop` says.",
    lambda e: f"The stop symbol is {e.number('stop')} here. {_rows('all')(e)}",
    cases=("one", "some", "all"),
)
def _zero_for_stop(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    done = torch.zeros(len(tokens), dtype=torch.bool)

    def enough(_: Tensor) -> bool:
        return bool(done.all())

    def draw(logits: Tensor, generator: torch.Generator) -> Tensor:
        nonlocal done
        new = drawn(logits, generator).masked_fill(done, stop)
        done = done | (new == 0)
        return new

    return Writer(draw=draw, enough=enough, fill=False)(model, tokens, count, generator)


_row_zero_for_all = mistake(
    "Every row gets the symbol that was drawn for row 0.",
    lambda e: f"Each row has logits, and a draw, of its own. {_rows('one')(e)}",
)(Writer(draw=lambda logits, generator: drawn(logits[:1], generator).expand(len(logits))))

_first_stop_ends_all = mistake("The first row that stops ends the others, too.", _rows("all"))(
    Writer(enough=lambda done: bool(done.any()))
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
        new = drawn(logits[:, -1], generator)
        if (new == stop).any():
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


_stops_at_the_prompt = mistake(
    "A stop symbol in the prompt ends the text before it begins.",
    lambda e: unwrapped(f"""Every prompt begins with {e.number("stop")}, the stop symbol, and that
    of row 0 ends with it, too. {_seen(e)} Look at what is drawn, not at the text before it."""),
    recognized=lambda e: e.same("one", "some", "all") and not e.same("seen.tokens"),
)(Writer(from_prompt=True))

_train_mode_sampling = families.train_mode_sampling(
    _rows("training.tokens"),
    recognized=lambda e: e.same("one", "some") and not e.same("training.tokens"),
)(Writer(quiet=False))

_mode_lost_at_the_stop = mistake(
    "Where every row has stopped, the model stays in evaluation mode.",
    "Written to the full count, it is put back. A `return` inside the loop leaves out what stands "
    "after the loop; `break` does not.",
    recognized=lambda e: (
        e.same("training.training_afterwards", "training.whole_afterwards")
        and not e.same("training.training_after_stops")
    ),
)(_leaves_when_all_stop)

_mode_not_restored = families.mode_not_restored(
    lambda e: (
        e.same("training.tokens")
        and not (e.same("training.training_afterwards") and e.same("training.evaluation_kept"))
    )
)(Writer(restore=False))

_one_in_any_case = mistake(
    "With a count of 0 you write a symbol all the same.",
    lambda e: unwrapped(f"""The texts had {e.number("T")} tokens and have
    {e.yours("none").shape[-1]} afterwards. Ask whether there is one left to write before you write
    it."""),
    cases=("one", "none", "some", "all"),
)(_at_least_one)

_argmax_for_sampling = families.argmax_for_sampling(
    dice_share, recognized=lambda e: only_the_best(e) and not _goes_on(e)
)(Writer(draw=likeliest))

_draws_are_even = mistake(
    "All symbols come up equally often; they are to be drawn from the softmax of the logits.",
    lambda e: unwrapped(f"""{dice_share(e)} Do the logits reach what draws, and does the softmax run
    over the symbols of each row?"""),
    recognized=_even,
)(
    Writer(
        draw=lambda logits, generator: torch.randint(
            logits.shape[-1], (len(logits),), generator=generator
        )
    )
)

_softmax_twice = mistake(
    "Symbols come up more evenly than they should: you do not draw from one softmax of the logits.",
    lambda e: f"{dice_share(e)} A second softmax, or a sigmoid, makes them as even as that.",
    recognized=_twice_softened,
)(Writer(draw=lambda logits, generator: drawn(logits.softmax(dim=-1), generator)))

_generator_ignored = families.generator_ignored(
    "texts", lambda e: dice_right(e) and not repeats(e)
)(Writer(draw=drawn_by_global_chance))


_context_too_short = mistake(
    "The model is shown less of the text than it can read.",
    lambda e: unwrapped(f"""With block_size = {e.number("block_size")} and a longer prompt, the
    shortest context that you gave it had {int(e.yours("alone.shown"))} tokens."""),
    recognized=lambda e: (
        e.same("one", "some", "all", "seen.tokens", "alone.tokens") and not e.same("alone.shown")
    ),
)(Writer(context=lambda tokens, size: tokens[:, -size:][:, 1:]))

_one_row_refused = mistake(
    "A batch of one row comes out wrong.",
    lambda e: unwrapped(f"""With B = {e.number("B")} rows your answer is right. `squeeze()` without
    a dimension takes away the batch, too, when it has one row."""),
    recognized=lambda e: (
        e.same("one", "some", "all", "seen.tokens")
        and not e.same("alone.tokens")
        and not ("alone.tokens" in e.answers.values and e.yours("alone.tokens").ndim == 2)
    ),
)(_squeezes_everything)


@mistake(
    "A prompt that is longer than `block_size` comes out wrong.",
    lambda e: unwrapped(f"""With block_size = {e.number("block_size")} and a prompt of
    {e.number("block_size") + 2} symbols you return {e.yours("alone.tokens").shape[-1]} tokens;
    asked for are {e.right("alone.tokens").shape[-1]}, the whole prompt before what is written.
    Shorter prompts come out right."""),
    recognized=lambda e: (
        e.same("one", "some", "all", "seen.tokens")
        and not e.same("alone.tokens")
        and e.yours("alone.tokens").ndim == 2
    ),
)
def _long_prompt_cut(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    return generate(model, tokens[:, -model.block_size :], count, stop, generator)


def _after_one_symbol_alone(evidence: Evidence) -> bool:
    """True if draws are right where a prompt has one position, and not where it has several."""
    T = evidence.number("T")
    mine, right = (side("one") for side in (evidence.yours, evidence.right))
    return (
        mine.shape == right.shape
        and bool((mine[:, :T] == right[:, :T]).all())
        and not np.array_equal(mine, right)
        and dice_right(evidence)
    )


_logits_averaged = mistake(
    "After prompts of one symbol you draw as the model says, and after longer ones not.",
    lambda e: (
        unwrapped(f"""{_rows("one")(e)} Is the whole prompt shown to the model, and do you read
    the logits of its last position, and of no other? A mean over positions mixes them.""")
    ),
    recognized=_after_one_symbol_alone,
)(Writer(read=lambda logits: logits.mean(dim=1)))


def _other_tokens(evidence: Evidence) -> Finding | None:
    for case in ("one", "some", "all", "seen.tokens"):
        if evidence.same(case) or evidence.yours(case).ndim != 2:
            continue
        told = _rows(case)(evidence)
        if case == "seen.tokens":
            told = f"With a stop symbol in every prompt: {_seen(evidence)}"
        return Finding("other-tokens", "You write other tokens than asked for.", told, WRITING)
    return None


def _other_context(evidence: Evidence) -> Finding | None:
    if not evidence.same("one", "some", "all", "seen.tokens", "alone"):
        return None
    T, size = evidence.number("T"), evidence.number("block_size")
    if int(evidence.yours("seen.shortest")) > T:
        return Finding(
            "context-padded",
            "The model is shown something before the text that is not text.",
            f"The prompts have {T} symbols, and the first context that you showed the model has"
            f" {int(evidence.yours('seen.shortest'))}. A shorter text needs no filling.",
            WRITING,
        )
    shown = int(evidence.yours("seen.longest"))
    if shown == int(evidence.right("seen.longest")):
        return None
    return Finding(
        "context-does-not-grow",
        "The model is shown less of the text than it can read.",
        f"From prompts of {T} symbols you wrote 5 more; with block_size = {size}"
        f" the longest context that you showed the model had {shown}.",
        WRITING,
    )


def _mode_after_nothing(evidence: Evidence) -> Finding | None:
    if evidence.same("training.training_after_nothing"):
        return None
    return Finding(
        "mode-lost-at-nothing",
        "With a count of 0 the model stays in evaluation mode.",
        "Where symbols are written, it is put back. A `return` before the loop leaves out what "
        "stands after it.",
        WRITING,
    )


def _chance_off(evidence: Evidence) -> Finding | None:
    """What is wrong only where symbols are drawn, whose values nobody can foresee."""
    if evidence.yours("chance.tokens").shape != evidence.right("chance.tokens").shape:
        return None
    drawn = evidence.yours("chance.tokens")[:, 1]
    if (drawn == drawn[0]).all():
        return Finding(
            "one-draw-for-all",
            "All rows of a batch get the same symbol: one number is drawn for all of them.",
            f"{dice_share(evidence)} Each row needs a draw of its own.",
            WRITING,
        )
    if not dice_right(evidence):
        return Finding(
            "other-shares",
            "Symbols come up in other shares than their probabilities.",
            dice_share(evidence),
            WRITING,
        )
    if not _goes_on(evidence):
        return Finding(
            "generator-begins-anew",
            "Two calls in a row with one generator give the same text.",
            "A generator goes on where it stood after the last draw. Do you give it, or another "
            "one, a seed?",
            WRITING,
        )
    return None


def _goes_on(evidence: Evidence) -> bool:
    """True if a generator that was drawn from before gives another text."""
    return evidence.comparable("chance.further") and not np.array_equal(
        evidence.yours("chance.first"), evidence.yours("chance.further")
    )


TASK = Task(
    "Write to the end",
    generate,
    WRITING,
    (
        Part(
            "One symbol is written as the model says, from the last logits, and none if none is "
            "asked for.",
            1,
            lambda e: e.same("one", "none") and integers(e, "one", "none"),
        ),
        Part("A row that wrote `stop` is filled up with it, the others go on.", 1, matches("some")),
        Part(
            "Writing ends when every row has stopped; a `stop` in the prompt does not count.",
            2,
            matches("all", "seen", "alone"),
        ),
        Part(
            "The model writes in evaluation mode and is left in the mode it was in.",
            1,
            matches("training"),
        ),
        Part(
            "Symbols are drawn, by the given generator.",
            1,
            lambda e: dice_right(e) and repeats(e) and _goes_on(e),
        ),
    ),
    properties=(
        _other_tokens,
        holds_integers(("training.tokens",), WRITING),
        _other_context,
        _mode_after_nothing,
        _chance_off,
    ),
    cases=("one", "some", "all"),
)
