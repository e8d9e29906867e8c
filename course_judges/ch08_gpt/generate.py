"""Judges 08/generate: a batch of texts, each written until its stop symbol."""

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
from course_judges.wording import listed, number, unwrapped
from course_judges.writing import Writer, drawn, drawn_by_global_chance, likeliest
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def generate(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    """Append at most `count` tokens; a row that wrote `stop` is filled up with it."""
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
    """Returns from inside the loop, so the mode isn't restored."""
    was_training, T = model.training, tokens.shape[1]
    written = generate(model, tokens, count, stop, generator)
    stopped = (written[:, T:] == stop).any(dim=1).all()
    return written if not was_training or not stopped else _in_evaluation(model, written)


def _in_evaluation(model: Any, written: Tensor) -> Tensor:
    model.eval()
    return written


def _squeezes_everything(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    """A batch of one row loses its first dimension."""
    written = generate(model, tokens, count, stop, generator)
    return written.squeeze(0) if len(tokens) == 1 else written


def _done_for_one_step(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    """Ends only if all rows draw the stop symbol in the same step."""
    T, written = tokens.shape[1], Writer(fill=False, enough=lambda _: False)
    tokens = written(model, tokens, count, stop, generator)
    together = (tokens[:, T:] == stop).all(dim=0)
    end = int(together.int().argmax()) + 1 if together.any() else count
    return tokens[:, : T + end]


def _filling_by(
    update: Callable[[Tensor, Tensor, Tensor, int], Tensor],
) -> Callable[..., Tensor]:
    """An answer whose rows are done by `update(done, new, last, stop)`: whether they were, what
    they drew, and what they were given in the step before.
    """

    def answer(
        model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
    ) -> Tensor:
        done = torch.zeros(len(tokens), dtype=torch.bool)
        last = torch.full((len(tokens),), -1)

        def draw(logits: Tensor, generator: torch.Generator) -> Tensor:
            nonlocal done, last
            new = drawn(logits, generator)
            before, last = last, new.masked_fill(done, stop)
            done = update(done, new, before, stop)
            return last

        written = Writer(draw=draw, fill=False, enough=lambda _: bool(done.all()))
        return written(model, tokens, count, generator)

    return answer


def _rows(case: str) -> Callable[[Evidence], str]:
    """What differs: the length, or the first row with another symbol."""

    def say(evidence: Evidence) -> str:
        mine, right = evidence.yours(case), evidence.right(case)
        stop, T = evidence.number("stop"), evidence.number("T")
        if mine.shape != right.shape:
            lengths = f"Your rows have length {mine.shape[-1]} instead of {right.shape[-1]}"
            when = listed(evidence.inputs["after"])
            stops = f" The rows draw the stop symbol as new symbol number {when}, respectively."
            return f"{lengths} (prompt and new symbols).{stops * (case != 'one')}"
        row = int(np.argmax((mine != right).any(axis=1)))
        at = int(np.argmax(mine[row] != right[row]))
        return (
            f"Row {row} should continue with {right[row, T:].tolist()} (the stop symbol is {stop}),"
            f" but yours has {int(mine[row, at])} at position {at - T} of that."
            if at >= T
            else f"Row {row} of your answer doesn't begin with its prompt."
        )

    return say


def _seen(evidence: Evidence) -> str:
    """What the answer does with prompts that contain a stop symbol."""
    mine, right = evidence.yours("seen.tokens"), evidence.right("seen.tokens")
    if mine.shape == right.shape:
        return _rows("seen.tokens")(evidence)
    T = evidence.number("T")
    return f"You write {mine.shape[-1] - T} symbols instead of {right.shape[-1] - T}."


def _even(evidence: Evidence) -> bool:
    """True if the draws can have come from a fair die, but not from the loaded one."""
    symbols = len(evidence.inputs["dice"])
    drawn = evidence.yours("chance.tokens")[:, 1]
    if dice_right(evidence) or not follows(drawn, np.full(symbols, 1 / symbols)):
        return False
    # A softmax of probabilities is nearly even, too, so the likelier of the two explanations wins.
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


_prompt_dropped = families.prompt_dropped(_rows("one"))(
    lambda model, tokens, *asked: generate(model, tokens, *asked)[:, tokens.shape[1] :]
)

_stop_ignored = mistake(
    "All your rows continue up to the full count, even those that have written `stop`.",
    lambda e: unwrapped(f"""{_rows("all")(e)} Do you check for `stop` at all? If you keep a mask
    `done`, a row that is done has to remain done: `done = done | (drawn == stop)`. Then fill such
    rows with `stop`."""),
    also=(_done_for_one_step,),
)(Writer(fill=False, enough=lambda _: False))

_writes_after_stop = mistake(
    "You keep writing in a row that has already stopped while other rows continue.", _rows("some")
)(Writer(fill=False))

_runs_to_the_count = mistake(
    "You write up to the full count although every row has stopped.",
    lambda e: unwrapped(f"""{_rows("all")(e)} Do you check whether every row has stopped by now? The
    rows stop at different steps."""),
)(Writer(enough=lambda _: False))


@mistake(
    "You fill rows that have stopped with 0 instead of `stop`.",
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
    "When every row has stopped, the symbols drawn last are missing from your texts.",
    lambda e: unwrapped(f"""{_rows("all")(e)} Append the new symbols first, and then check whether
    every row has stopped."""),
    cases=("one", "some", "all"),
)
def _last_step_left_out(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    written, T = generate(model, tokens, count, stop, generator), tokens.shape[1]
    done = len(tokens) and bool((written[:, T:] == stop).any(dim=1).all())
    return written[:, :-1] if done else written


_text_cut = mistake(
    "You cut the text itself to what the model can read, so its beginning is lost.",
    lambda e: unwrapped(f"""With block_size = {e.number("block_size")} your texts never have more
    than {e.yours("all").shape[-1]} tokens. Only cut what you show the model. {_rows("all")(e)}"""),
    cases=("one", "all"),
)(lambda model, *asked: generate(model, *asked)[:, -model.block_size - 1 :])


def _counted(by: int) -> Callable[..., Tensor]:
    return lambda model, tokens, count, *others: generate(
        model, tokens, max(count + by, 0), *others
    )


_one_more_than_count = mistake(
    "You write one symbol too many: `count` + 1.", _rows("one"), cases=("one", "some")
)(_counted(1))

_one_fewer_than_count = mistake(
    "You write one symbol too few: `count` − 1.", _rows("one"), cases=("one", "some")
)(_counted(-1))


_count_is_the_length = mistake(
    "You took `count` for the length of the whole text, but it's the number of new symbols.",
    lambda e: unwrapped(f"""The prompts have {e.number("T")} symbols. With count = 5 you return rows
    of {e.yours("some").shape[-1]} symbols instead of {e.right("some").shape[-1]}."""),
    cases=("one", "some"),
)(
    lambda model, tokens, count, *others: generate(
        model, tokens, max(count - tokens.shape[1], 0), *others
    )
)

_zero_for_stop = mistake(
    "You check for symbol 0 instead of `stop`.",
    lambda e: f"The stop symbol is {e.number('stop')} here. {_rows('all')(e)}",
    cases=("one", "some", "all"),
)(_filling_by(lambda done, new, _last, _stop: done | (new == 0)))

_row_zero_for_all = mistake(
    "You append the symbol that was drawn for row 0 to every row.",
    lambda e: f"Each row has its own logits and needs its own draw. {_rows('one')(e)}",
)(Writer(draw=lambda logits, generator: drawn(logits[:1], generator).expand(len(logits))))

_first_stop_ends_all = mistake("You stop all rows as soon as one has stopped.", _rows("all"))(
    Writer(enough=lambda done: bool(done.any()))
)


@mistake(
    "You stop all rows as soon as one draws the stop symbol, and you don't append that symbol.",
    _rows("all"),
)
def _stop_left_out(
    model: Any, tokens: Tensor, count: int, stop: int, generator: torch.Generator
) -> Tensor:
    written = Writer(enough=lambda done: bool(done.any()))(model, tokens, count, stop, generator)
    stopped = (written[:, tokens.shape[1] :] == stop).any()
    return written[:, :-1] if stopped else written


_noticed_late = mistake(
    "You notice a `stop` one step late, so each row writes one more symbol after it.",
    lambda e: unwrapped(f"""{_rows("some")(e)} Update `done` with the symbols just drawn, not with
    the last ones of the text before them."""),
    cases=("one", "some", "all"),
)(_filling_by(lambda done, _new, last, stop: done | (last == stop)))

_stops_at_the_prompt = mistake(
    "Your answer is wrong if the prompt contains the stop symbol.",
    lambda e: unwrapped(f"""Here every prompt begins with the stop symbol, {e.number("stop")}, and
    that of row 0 also ends with it. {_seen(e)} Only check the symbols that you draw."""),
    recognized=lambda e: e.same("one", "some", "all") and not e.same("seen.tokens"),
)(Writer(from_prompt=True))

_train_mode_sampling = families.train_mode_sampling(
    _rows("training.tokens"),
    recognized=lambda e: e.same("one", "some") and not e.same("training.tokens"),
)(Writer(quiet=False))

_mode_lost_at_the_stop = mistake(
    "When every row has stopped, you leave the model in evaluation mode.",
    "After the full count you do restore its mode. A `return` inside the loop would skip the code "
    "after it, but a `break` doesn't.",
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
    "You write a symbol even if `count` is 0.",
    lambda e: unwrapped(f"""The texts had {e.number("T")} tokens before and
    {e.yours("none").shape[-1]} afterwards. Check whether there is anything left to write before you
    write."""),
    cases=("one", "none", "some", "all"),
)(lambda model, tokens, count, *others: generate(model, tokens, max(count, 1), *others))

_argmax_for_sampling = families.argmax_for_sampling(
    dice_share, recognized=lambda e: only_the_best(e) and not _goes_on(e)
)(Writer(draw=likeliest))

_draws_are_even = mistake(
    "You draw all symbols equally often instead of from the softmax of the logits.",
    lambda e: unwrapped(f"""{dice_share(e)} Do you draw with the logits, and does the softmax run
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
    "Your draws are more even than a single softmax of the logits would make them.",
    lambda e: f"{dice_share(e)} A second softmax or a sigmoid would explain this.",
    recognized=_twice_softened,
)(Writer(draw=lambda logits, generator: drawn(logits.softmax(dim=-1), generator)))

_generator_ignored = families.generator_ignored(
    "texts", lambda e: dice_right(e) and not repeats(e)
)(Writer(draw=drawn_by_global_chance))


_context_too_short = mistake(
    "You show the model less of the text than it can read.",
    lambda e: unwrapped(f"""With block_size = {e.number("block_size")} and a longer prompt, the
    shortest context that you gave it had {int(e.yours("alone.shown"))} tokens."""),
    recognized=lambda e: (
        e.same("one", "some", "all", "seen.tokens", "alone.tokens") and not e.same("alone.shown")
    ),
)(Writer(context=lambda tokens, size: tokens[:, -size:][:, 1:]))

_one_row_refused = mistake(
    "Your answer is wrong for a batch with one row.",
    lambda e: unwrapped(f"""With B = {e.number("B")} rows it is right. `squeeze()` without a
    dimension also removes the batch dimension if it is 1."""),
    recognized=lambda e: (
        e.same("one", "some", "all", "seen.tokens")
        and not e.same("alone.tokens")
        and not ("alone.tokens" in e.answers.values and e.yours("alone.tokens").ndim == 2)
    ),
)(_squeezes_everything)


_long_prompt_cut = mistake(
    "Your answer is wrong for a prompt that is longer than `block_size`.",
    lambda e: unwrapped(f"""With block_size = {e.number("block_size")} and a prompt of
    {e.number("block_size") + 2} symbols you return {e.yours("alone.tokens").shape[-1]} tokens, but
    the whole prompt with the new symbols has {e.right("alone.tokens").shape[-1]}. Shorter prompts
    are right."""),
    recognized=lambda e: (
        e.same("one", "some", "all", "seen.tokens")
        and not e.same("alone.tokens")
        and e.yours("alone.tokens").ndim == 2
    ),
)(lambda model, tokens, *asked: generate(model, tokens[:, -model.block_size :], *asked))


def _after_one_symbol_alone(evidence: Evidence) -> bool:
    """True if draws are right after a prompt with one position, but not after longer ones."""
    T = evidence.number("T")
    mine, right = (side("one") for side in (evidence.yours, evidence.right))
    return (
        mine.shape == right.shape
        and bool((mine[:, :T] == right[:, :T]).all())
        and not np.array_equal(mine, right)
        and dice_right(evidence)
    )


_logits_averaged = mistake(
    "Your draws are right if all prompts are one and the same symbol, but not otherwise.",
    lambda e: (
        unwrapped(f"""{_rows("one")(e)} Each row needs the logits of the last position of its own
    whole prompt. A mean over positions or over rows would mix them.""")
    ),
    recognized=_after_one_symbol_alone,
)(Writer(read=lambda logits: logits.mean(dim=1)))


def _other_tokens(evidence: Evidence) -> Finding | None:
    for case in ("one", "some", "all", "seen.tokens"):
        if evidence.same(case) or evidence.yours(case).ndim != 2:
            continue
        told = _rows(case)(evidence)
        if case == "seen.tokens":
            told = f"Here every prompt contains a stop symbol. {_seen(evidence)}"
        return Finding("other-tokens", "You don't write the right tokens.", told, WRITING)
    return None


def _wrong_from_the_stop(evidence: Evidence) -> Finding | None:
    """Rows that are right up to their stop symbol: it is missing, or something else follows it."""
    mine, right = evidence.yours("some"), evidence.right("some")
    stop, T = evidence.number("stop"), evidence.number("T")
    if mine.shape != right.shape or not evidence.same("one") or evidence.same("some"):
        return None
    stops = right[:, T:] == stop
    rows = [int(b) for b in np.flatnonzero(stops.any(axis=1))]
    places = {b: T + int(stops[b].argmax()) for b in rows}
    going = np.setdiff1d(np.arange(len(right)), rows)
    if not rows or not (mine[going] == right[going]).all():
        return None
    if any((mine[b, : places[b]] != right[b, : places[b]]).any() for b in rows):
        return None
    b = next(b for b in rows if (mine[b] != right[b]).any())
    at = places[b]
    if all(mine[b, places[b]] != stop for b in rows):
        return Finding(
            "stop-replaced",
            "Your rows are right up to their `stop`, but you write something else in its place.",
            f"In row {b}, new symbol number {at - T + 1} should be {stop}, but yours is"
            f" {int(mine[b, at])}. Do you update `done` before you fill? Then fill first.",
            WRITING,
        )
    if any(mine[b, places[b]] != stop for b in rows):
        return None
    after = np.concatenate([mine[b, places[b] + 1 :] for b in rows])
    if not len(after) or (after != after[0]).any() or after[0] == stop:
        return None
    return Finding(
        "filled-with-another",
        f"You fill rows that have stopped with {int(after[0])} instead of `stop`.",
        f"The stop symbol is {stop} here. {_rows('some')(evidence)}",
        WRITING,
    )


def _other_context(evidence: Evidence) -> Finding | None:
    if not evidence.same("one", "some", "all", "seen.tokens", "alone"):
        return None
    T, size = evidence.number("T"), evidence.number("block_size")
    if int(evidence.yours("seen.shortest")) > T:
        return Finding(
            "context-padded",
            "You show the model more than the text.",
            f"The prompts have {T} symbols, but even the shortest context that you showed the model"
            f" has {int(evidence.yours('seen.shortest'))}. A short text doesn't need padding.",
            WRITING,
        )
    shown = int(evidence.yours("seen.longest"))
    if shown == int(evidence.right("seen.longest")):
        return None
    return Finding(
        "context-does-not-grow",
        "You show the model less of the text than it can read.",
        f"You wrote 5 symbols after prompts of {T}, but with block_size = {size}"
        f" the longest context that you showed the model had {shown}.",
        WRITING,
    )


def _mode_after_nothing(evidence: Evidence) -> Finding | None:
    if evidence.same("training.training_after_nothing"):
        return None
    return Finding(
        "mode-lost-at-nothing",
        "You leave the model in evaluation mode if `count` is 0.",
        "When symbols are written you do restore its mode. A `return` before the loop would skip "
        "the code after it.",
        WRITING,
    )


def _chance_off(evidence: Evidence) -> Finding | None:
    """Mistakes that show only in the draws, whose values can't be predicted."""
    if evidence.yours("chance.tokens").shape != evidence.right("chance.tokens").shape:
        return None
    drawn = evidence.yours("chance.tokens")[:, 1]
    if (drawn == drawn[0]).all():
        return Finding(
            "one-draw-for-all",
            "You draw one symbol for all rows of a batch.",
            f"{dice_share(evidence)} Each row needs its own draw.",
            WRITING,
        )
    if not dice_right(evidence):
        return Finding(
            "other-shares",
            "How often you draw the symbols doesn't match their probabilities.",
            f"{dice_share(evidence)}{_as_at_a_temperature(evidence, drawn)}",
            WRITING,
        )
    if not _goes_on(evidence):
        return Finding(
            "generator-begins-anew",
            "Two calls in a row with the same generator give the same text.",
            "After a draw, a generator should continue with new numbers. Do you set a seed in your "
            "function, for this generator or another one?",
            WRITING,
        )
    return None


def _as_at_a_temperature(evidence: Evidence, drawn: Array) -> str:
    """The temperature at which a softmax would give these draws, if there is one."""
    shares = np.bincount(drawn, minlength=len(evidence.inputs["dice"])) / len(drawn)
    if shares.min() == 0 or len(shares) != len(evidence.inputs["dice"]):
        return ""
    x, y = (a - a.mean() for a in (evidence.inputs["dice"].astype(float), np.log(shares)))
    temperature = float((x * x).sum() / (x * y).sum())
    if temperature < 0 or not follows(drawn, softmax(evidence.inputs["dice"] / temperature)):
        return ""
    return f" A temperature of about {number(temperature, 1)} would give such draws, but use none."


def _goes_on(evidence: Evidence) -> bool:
    """True if a generator gives another text after it has been used."""
    return evidence.comparable("chance.further") and not np.array_equal(
        evidence.yours("chance.first"), evidence.yours("chance.further")
    )


def _written_after_the_stop(evidence: Evidence) -> dict[int, tuple[int, int]]:
    """The rows that are right up to their stop symbol, but are later filled with it only at times:
    where the stop symbol is, and where the first other one; none if other rows are wrong.
    """
    mine, right = evidence.yours("some"), evidence.right("some")
    stop, T = evidence.number("stop"), evidence.number("T")
    if mine.shape != right.shape or not evidence.same("one"):
        return {}
    found = {}
    for b in np.flatnonzero((mine != right).any(axis=1)):
        at, first = (int((row[T:] == stop).argmax()) + T for row in (right[b], mine[b]))
        after = mine[b, at:]
        if at != first or (mine[b, :at] != right[b, :at]).any() or (after[1:] == stop).sum() == 0:
            return {}
        found[int(b)] = at, at + int((after != stop).argmax())
    return found


def _what_follows(evidence: Evidence) -> str:
    """Which symbol follows the stop symbol of the first such row."""
    T = evidence.number("T")
    b, (at, other) = next(iter(_written_after_the_stop(evidence).items()))
    return unwrapped(f"""In row {b}, new symbol number {at - T + 1} is the stop symbol,
    {evidence.number("stop")}, but number {other - T + 1} is
    {int(evidence.yours("some")[b, other])}. A row that is done has to stay done in all later steps,
    as with `done = done | (drawn == stop)`.""")


_done_is_replaced = mistake(
    "A row that has stopped doesn't stay filled with `stop` in your answer.",
    _what_follows,
    recognized=lambda e: bool(_written_after_the_stop(e)),
)(_filling_by(lambda _done, new, _last, stop: new == stop))


TASK = Task(
    "Write to the end",
    generate,
    WRITING,
    (
        Part(
            "Symbols are written from the last logits.",
            1,
            lambda e: e.same("one", "none") and integers(e, "one", "none"),
        ),
        Part("A row that wrote `stop` is filled with it.", 1, matches("some")),
        Part(
            "Writing ends when every row has stopped.",
            2,
            matches("all", "seen", "alone"),
        ),
        Part(
            "The mode is right, and restored.",
            1,
            matches("training"),
        ),
        Part(
            "Symbols are drawn with the given generator.",
            1,
            lambda e: dice_right(e) and repeats(e) and _goes_on(e),
        ),
    ),
    properties=(
        _wrong_from_the_stop,
        _other_tokens,
        holds_integers(("training.tokens",), WRITING),
        _other_context,
        _mode_after_nothing,
        _chance_off,
    ),
    cases=("one", "some", "all"),
)
