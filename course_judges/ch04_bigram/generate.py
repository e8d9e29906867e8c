"""Judges 04/generate: a text continued by any model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges import families
from course_judges.ch04_bigram.outcomes import words
from course_judges.ch04_bigram.sections import WRITING
from course_judges.chance import (
    dice_right,
    dice_share,
    follows,
    only_the_best,
    repeats,
    softmax,
)
from course_judges.judging import Evidence, Part, Step, Task, matches, mistake
from course_judges.wording import listed, unwrapped
from course_judges.writing import Writer, drawn, drawn_by_global_chance, likeliest
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def generate(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """The tokens (B, T) and `count` more, (B, T + count)."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            context = tokens[:, -model.block_size :]  # what the model is shown (B, k)
            logits = model(context)[0]  # the logits (B, k, V)
            last = logits[:, -1]  # the logits of the last position (B, V)
            new = drawn(last, generator)  # your new symbols (B,)
            tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)  # your text (B, T + 1)
    model.train(was_training)
    return tokens


def _seed_is_fixed(evidence: Evidence) -> bool:
    """True if a second call with the same generator gave the same text."""
    one, other = (evidence.yours(f"chance.{name}") for name in ("first", "second"))
    return np.array_equal(one, other)


def _in_proportion_to_logits(logits: Tensor, generator: torch.Generator) -> Tensor:
    return torch.multinomial(logits.float(), 1, generator=generator).squeeze(1)


def _dice_follow_logits(evidence: Evidence) -> bool:
    weights = evidence.inputs["dice"].astype(np.float64)
    return follows(evidence.yours("chance.tokens")[:, 1], weights / weights.sum())


def _two_texts(case: str) -> Callable[[Evidence], str]:
    """Where the first wrong row of the answer leaves the right one."""

    def say(evidence: Evidence) -> str:
        mine, right = evidence.yours(case), evidence.right(case)
        block_size = evidence.number("block_size")
        if mine.shape != right.shape:
            return unwrapped(f"""You return {mine.shape[-1]} tokens per row instead of
            {right.shape[-1]}, which are the prompt and everything that was written (with block_size
            = {block_size}).""")
        row = int(np.argmax((mine != right).any(axis=1)))
        at = int(np.argmax(mine[row] != right[row]))
        return unwrapped(f"""With block_size = {block_size}, row {row} is right before position
        {at}, but there you have symbol {int(mine[row, at])} where the model says
        {int(right[row, at])}.""")

    return say


def _dice_are_off(evidence: Evidence) -> Finding | None:
    if not evidence.comparable("chance.tokens") or dice_right(evidence):
        return None
    return Finding(
        "wrong-frequencies",
        "Your symbols don't come up as often as their probabilities say.",
        dice_share(evidence),
        WRITING,
    )


def _shown(evidence: Evidence) -> int:
    """How many tokens of a long prompt the model was shown when it refused them; 0 if it didn't."""
    said = evidence.answers.errors["long"].message
    held = re.fullmatch(r"the context holds (\d+) tokens, the model has positions for \d+", said)
    return int(held[1]) if held and evidence.same("short") else 0


_no_crop = families.no_crop(
    "beyond",
    lambda e: _shown(e) == e.inputs["long_prompt"].shape[1] and "beyond" in e.answers.errors,
)(Writer(context=lambda tokens, _: tokens))

_another_size = mistake(
    "You show the model more tokens than it can read.",
    lambda e: unwrapped(f"""You showed it {_shown(e)} tokens of a prompt of
    {e.inputs["long_prompt"].shape[1]}, but it reads at most block_size = {e.number("block_size")}.
    Each model has its own `model.block_size`, and a slice that starts at minus that number holds
    exactly that many tokens. Cut the prompt, too, in the first step."""),
    recognized=lambda e: _shown(e) > 0,
)(Writer(context=lambda tokens, size: tokens[:, -(size + 1) :]))


_reads_first_logits = families.reads_first_logits(_two_texts("beyond"))(
    Writer(read=lambda logits: logits[:, 0])
)

_last_token_only = families.last_token_only(_two_texts("short"))(
    Writer(context=lambda tokens, _: tokens[:, -1:])
)


_crops_the_end = families.crops_the_end(
    lambda e: unwrapped(f"""From token {e.number("block_size")} on, the model never reads what it
    wrote. {_two_texts("beyond")(e)}""")
)(Writer(context=lambda tokens, size: tokens[:, :size]))

_reads_the_first_row = mistake(
    "You continue every row with the logits of row 0 instead of its own.", _two_texts("beyond")
)(Writer(read=lambda logits: logits[:1, -1].expand(len(logits), -1)))

_reads_last_but_one = mistake(
    "You read the logits of the second-to-last position instead of the last.",
    _two_texts("beyond"),
)(Writer(read=lambda logits: logits[:, -2:][:, 0]))


_filled_up_in_front = mistake(
    "You pad a short text with token 0, which the model reads as text.",
    lambda e: unwrapped(f"""{_two_texts("short")(e)} A model can also read fewer tokens than
    `block_size`, so show it only the text that there is."""),
)(
    Writer(
        context=lambda tokens, size: F.pad(tokens[:, -size:], (max(0, size - tokens.shape[1]), 0))
    )
)


@mistake(
    "You return only the last `block_size` tokens instead of the whole text.",
    _two_texts("beyond"),
)
def _returns_what_fits(
    model: Any, tokens: Tensor, count: int, generator: torch.Generator
) -> Tensor:
    return generate(model, tokens, count, generator)[:, -model.block_size :]


@mistake(
    "You return the first row for all rows.",
    lambda e: unwrapped(f"""Row 1 of the prompt is {listed(e.inputs["prompt"][1])}, but your row 1
    begins with {listed(e.yours("beyond")[1, : e.number("T")])}, like row 0."""),
    recognized=lambda e: (
        e.comparable("beyond")
        and not dice_right(e)
        and all((text == text[:1]).all() for text in map(e.yours, ("beyond", "chance.tokens")))
    ),
)
def _first_row_for_all(
    model: Any, tokens: Tensor, count: int, generator: torch.Generator
) -> Tensor:
    return generate(model, tokens[:1], count, generator).expand(len(tokens), -1)


def _another_count(evidence: Evidence) -> str:
    T, mine = evidence.number("T"), evidence.yours("beyond").shape[1]
    return f"With a prompt of {T} tokens and count = 12 you return {mine} instead of {T + 12}."


_writes_one_too_many = mistake("You write one symbol more than `count`.", _another_count)(
    lambda model, tokens, count, generator: generate(model, tokens, count + 1, generator)
)

_count_for_length = mistake(
    "You took `count` for the length of the whole text instead of the number of new symbols.",
    _another_count,
)(
    lambda model, tokens, count, generator: generate(
        model, tokens, max(0, count - tokens.shape[1]), generator
    )
)

_stops_when_full = mistake(
    "You stop writing when the text is as long as `block_size`.",
    lambda e: unwrapped(f"""{_another_count(e)} With block_size = {e.number("block_size")}, a longer
    text goes on from its last {e.number("block_size")} tokens."""),
    cases=("beyond", "short"),
)(
    lambda model, tokens, count, generator: generate(
        model, tokens, min(count, max(0, model.block_size - tokens.shape[1])), generator
    )
)

_writes_one_too_few = mistake("You write one symbol fewer than `count`.", _another_count)(
    lambda model, tokens, count, generator: generate(model, tokens, count - 1, generator)
)


@mistake(
    "You cropped the text itself instead of only what you show the model.",
    _two_texts("beyond"),
)
def _cropped_for_good(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    was_training = model.training
    model.eval()
    for _ in range(count):
        tokens = tokens[:, -model.block_size :]
        logits, _loss = model(tokens)
        tokens = torch.cat([tokens, drawn(logits[:, -1], generator).unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


@mistake(
    "You put each new symbol in front of the text instead of after it.",
    lambda e: unwrapped(f"""Row 0 of the prompt is {listed(e.inputs["prompt"][0])}, but your row
    ends with it, and begins with {listed(e.yours("beyond")[0, : e.number("T")])}."""),
)
def _written_in_front(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    was_training = model.training
    model.eval()
    for _ in range(count):
        logits, _loss = model(tokens[:, -model.block_size :])
        tokens = torch.cat([drawn(logits[:, -1], generator).unsqueeze(1), tokens], dim=1)
    model.train(was_training)
    return tokens


@families.prompt_dropped(_two_texts("beyond"))
def _prompt_dropped(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    return generate(model, tokens, count, generator)[:, tokens.shape[1] :]


@mistake(
    "You never show the model what you drew, so every symbol continues the prompt alone.",
    _two_texts("short"),
)
def _context_not_extended(
    model: Any, tokens: Tensor, count: int, generator: torch.Generator
) -> Tensor:
    was_training = model.training
    model.eval()
    logits, _loss = model(tokens[:, -model.block_size :])
    for _ in range(count):
        tokens = torch.cat([tokens, drawn(logits[:, -1], generator).unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


_train_mode_sampling = families.train_mode_sampling(
    _two_texts("training.tokens"), cases=("short", "training")
)(Writer(quiet=False))


@mistake(
    "Your model writes its first symbol in evaluation mode, but the others in training mode.",
    _two_texts("training.tokens"),
    cases=("short", "training"),
)
def _mode_restored_too_early(
    model: Any, tokens: Tensor, count: int, generator: torch.Generator
) -> Tensor:
    was_training = model.training
    model.eval()
    for _ in range(count):
        logits, _loss = model(tokens[:, -model.block_size :])
        tokens = torch.cat([tokens, drawn(logits[:, -1], generator).unsqueeze(1)], dim=1)
        model.train(was_training)
    return tokens


_always_in_training = mistake(
    "Your model writes in training mode, whatever its mode was.",
    lambda e: unwrapped(f"""{_two_texts("short")(e)} The model was in evaluation mode before that
    call. Call `model.eval()` before writing, and `model.train()` afterwards only if the model was
    in training mode."""),
    cases=("beyond", "short"),
)(
    lambda model, tokens, count, generator: Writer(quiet=False)(
        model.train(), tokens, count, generator
    )
)

_mode_not_restored = families.mode_not_restored(
    lambda e: e.same("training.tokens") and not e.same("training")
)(Writer(restore=False))


_argmax_for_sampling = families.argmax_for_sampling(
    dice_share, recognized=lambda e: only_the_best(e) and e.same("short")
)(Writer(draw=likeliest))


_no_softmax = mistake(
    "You drew in proportion to the logits, without a softmax.",
    lambda e: f"{dice_share(e)} Logits may be negative, and only their differences matter.",
    recognized=lambda e: _dice_follow_logits(e) and not dice_right(e),
)(Writer(draw=_in_proportion_to_logits))


def _dice_follow_twice(evidence: Evidence) -> bool:
    """True if two softmaxes explain the draws, and better than equal chances, which are close."""
    tokens = evidence.yours("chance.tokens")[:, 1]
    wrong = softmax(softmax(evidence.inputs["dice"].astype(np.float64)))
    return (
        evidence.comparable("chance.tokens")
        and follows(tokens, wrong)
        and float(np.log(wrong * len(wrong))[tokens].sum()) > 0
    )


_softmax_twice = mistake(
    "You took the softmax twice, because you treated probabilities as logits.",
    lambda e: f"That makes the symbols almost equally likely. {dice_share(e)}",
    recognized=_dice_follow_twice,
)(Writer(draw=lambda logits, generator: drawn(logits.float().softmax(dim=-1), generator)))

_equal_chances = mistake(
    "In the check's draws, your symbols all come up equally often, whatever their logits.",
    lambda e: unwrapped(f"""{dice_share(e)} If your softmax runs over the batch or the positions,
    equal rows get equal chances. It has to run over the V symbols, with `dim=-1`."""),
    recognized=lambda e: (
        not dice_right(e) and follows(e.yours("chance.tokens")[:, 1], np.full(5, 1 / 5))
    ),
)(
    Writer(
        draw=lambda logits, generator: torch.multinomial(
            logits.float().softmax(dim=0), 1, generator=generator
        ).squeeze(1)
    )
)

_generator_ignored = families.generator_ignored(
    "texts", lambda e: dice_right(e) and not repeats(e)
)(Writer(draw=drawn_by_global_chance))


@mistake(
    "Your draws start over in every call.",
    "Two calls in a row with the same generator wrote the same 60 texts. Pass `generator=generator`"
    " to the function that draws. The generator moves on by itself unless you seed it, copy it or "
    "restore its state.",
    recognized=lambda e: dice_right(e) and repeats(e) and _seed_is_fixed(e),
)
def _seed_fixed_inside(
    model: Any,
    tokens: Tensor,
    count: int,
    generator: torch.Generator,  # noqa: ARG001
) -> Tensor:
    return generate(model, tokens, count, torch.Generator().manual_seed(1))


_begins_anew = mistake(
    "When the context is full, you begin an empty one instead of moving it on by one token.",
    lambda e: unwrapped(f"""{_two_texts("beyond")(e)} The model should always be shown the last
    {e.number("block_size")} tokens."""),
)(Writer(context=lambda tokens, size: tokens[:, (tokens.shape[1] - 1) // size * size :]))

_mean_of_positions = mistake(
    "You use the logits of all positions together, but the last position's are enough.",
    lambda e: unwrapped(f"""{_two_texts("beyond")(e)} The logits at a position are the model's guess
    of what follows it, so only those at the last position are about the next symbol."""),
)(Writer(read=lambda logits: logits.mean(dim=1)))

_reads_the_last_row = mistake(
    "You continue every row with the logits of the last row instead of its own.",
    _two_texts("beyond"),
)(Writer(read=lambda logits: logits[-1:, -1].expand(len(logits), -1)))


@mistake(
    "You always read the logits at the position where the prompt ends.",
    lambda e: unwrapped(f"""{_two_texts("beyond")(e)} The text grows, so the last position moves on:
    `logits[:, -1]`."""),
)
def _reads_where_the_prompt_ends(
    model: Any, tokens: Tensor, count: int, generator: torch.Generator
) -> Tensor:
    last = min(tokens.shape[1], model.block_size) - 1
    return Writer(read=lambda logits: logits[:, last])(model, tokens, count, generator)


@mistake(
    "You return only the last `block_size` tokens of a long prompt.",
    _two_texts("long"),
    cases=("short", "beyond", "long"),
)
def _long_prompt_cut(model: Any, tokens: Tensor, count: int, generator: torch.Generator) -> Tensor:
    return generate(model, tokens[:, -model.block_size :], count, generator)


# Three texts that are written, and the prompts that they continue.
_TEXTS = {"short": "prompt", "beyond": "prompt", "long": "long_prompt"}


def _says(shown: Array, evidence: Evidence) -> Array:
    """What the model predicts when it is shown these tokens (B, k): (B,)."""
    turned = (shown + 1) * evidence.inputs["wheels"][: shown.shape[1]] + 1
    return np.asarray(turned.sum(axis=1) % evidence.number("V"))


def _shown_instead(evidence: Evidence) -> Iterator[tuple[str, Callable[[int, int], list[int]]]]:
    """Which tokens an answer may show the model instead of the last `block_size`: in words, and
    their positions in a text of `at` tokens whose prompt had T.
    """
    size = evidence.number("block_size")

    def last(positions: Iterable[int]) -> list[int]:
        return list(positions)[-size:]

    yield (
        "You drop the oldest token at every step, even while the model has room for it.",
        lambda at, T: list(range(at - min(T, size), at)),
    )
    yield (
        "You never show the model the newest token of the text.",
        lambda at, T: last(range(at - 1)),  # noqa: ARG005
    )
    yield (
        "After the first symbol, you never show the model the newest token of the text.",
        lambda at, T: last(range(max(T, at - 1))),
    )
    yield (
        "You show the model the newest token alone, except in the first step.",
        lambda at, T: last(range(T) if at == T else [at - 1]),
    )
    yield (
        "You show the model only the last token of the prompt and what it wrote itself.",
        lambda at, T: last(range(T - 1, at)),
    )
    yield (
        "You show the model the text backwards.",
        lambda at, T: last(range(at))[::-1],  # noqa: ARG005
    )
    yield (
        "You always show the model the first token of the text, and the newest ones after it.",
        lambda at, T: [0, *list(range(1, at))[1 - size :]],  # noqa: ARG005
    )
    for few in range(1, size):
        tokens = "token" if few == 1 else "tokens"
        yield (
            f"You always show the model {'one' if few == 1 else few} {tokens} fewer than fit.",
            lambda at, T, few=few: last(range(at))[few:],  # type: ignore[misc]  # noqa: ARG005
        )
        yield (
            f"You never show the model more than {size - few} tokens.",
            lambda at, T, few=few: last(range(at))[few - size :],  # type: ignore[misc]  # noqa: ARG005
        )
        yield (
            f"When the text is longer than block_size, you show the model {few} {tokens} of it.",
            lambda at, T, few=few: list(range(0 if at <= size else at - few, at)),  # type: ignore[misc]  # noqa: ARG005
        )


def _tokens_shown(
    evidence: Evidence,
) -> tuple[str, Callable[[int, int], list[int]]] | None:
    """Which tokens the model was shown, if that explains all symbols of all texts; else None."""
    if evidence.same(*_TEXTS) or any(
        evidence.yours(case).shape != evidence.right(case).shape for case in _TEXTS
    ):
        return None
    for said, positions in _shown_instead(evidence):
        if all(
            np.array_equal(_says(text[:, positions(at, T)], evidence), text[:, at])
            for case, prompt in _TEXTS.items()
            for T in (evidence.inputs[prompt].shape[1],)
            for text in (evidence.yours(case),)
            for at in range(T, text.shape[1])
        ):
            return said, positions
    return None


def _what_was_shown(evidence: Evidence) -> str:
    found = _tokens_shown(evidence)
    return found[0] if found else ""


def _tokens_instead(evidence: Evidence) -> str:
    """What the model was shown before the first wrong symbol, and what it should be shown."""
    found = _tokens_shown(evidence)
    if not found:
        return ""
    case = next(case for case in _TEXTS if not evidence.same(case))
    text, right = evidence.yours(case), evidence.right(case)
    b, at = (int(i) for i in np.argwhere(text != right)[0])
    T, size = evidence.inputs[_TEXTS[case]].shape[1], evidence.number("block_size")
    shown, fits = text[b, found[1](at, T)], text[b, max(0, at - size) : at]
    return unwrapped(f"""With block_size = {size} and a prompt of {T} tokens, row {b} is right
    before position {at}. There you show the model {_tokens(shown)}, so it predicts
    {int(text[b, at])}. It should be shown {_tokens(fits)}, and then it predicts
    {int(right[b, at])}. Show it the whole text, or its last `block_size` tokens if the text is
    longer.""")


def _tokens(shown: Array) -> str:
    return f"only {listed(shown)}" if len(shown) == 1 else listed(shown) or "nothing"


@mistake(
    _what_was_shown,
    _tokens_instead,
    recognized=lambda e: _tokens_shown(e) is not None,
)
def _other_tokens_shown(
    model: Any, tokens: Tensor, count: int, generator: torch.Generator
) -> Tensor:
    fits = min(tokens.shape[1], model.block_size)
    return Writer(context=lambda text, _: text[:, -fits:])(model, tokens, count, generator)


@mistake(
    "Your function stops with an error when the prompt is a single token.",
    lambda e: unwrapped(f"""The error says: “{words(e, "chance")}”. A text of one token is a text
    like any other, so show the model all of it."""),
    recognized=lambda e: set(e.answers.errors) == {"chance"},
)
def _stops_at_one_token(
    model: Any, tokens: Tensor, count: int, generator: torch.Generator
) -> Tensor:
    return generate(model, tokens, count, generator)[:, : 10**9 // (tokens.shape[1] - 1)]


def _worked_out(evidence: Evidence) -> Finding | None:
    """Where the text leaves the right one, and what the model should be shown there."""
    for case, prompt in _TEXTS.items():
        if evidence.same(case):
            continue
        mine, right = evidence.yours(case), evidence.right(case)
        if mine.shape != right.shape:
            return None
        b, at = (int(i) for i in np.argwhere(mine != right)[0])
        shown = right[b, max(0, at - evidence.number("block_size")) : at]
        return Finding(
            "another-symbol",
            "Your text isn't the one that the model predicts.",
            f"Row {b}, with a prompt of {evidence.inputs[prompt].shape[1]} tokens, is right before "
            f"position {at}. When the model is shown {listed(shown)}, which is all it may see, "
            f"it predicts {int(right[b, at])}, but you have {mine[b, at]:.4g}.",
            WRITING,
        )
    return None


TASK = Task(
    "Write with any model",
    generate,
    WRITING,
    (
        Part("A short text continues as the model says.", 2, matches("short")),
        Part(
            "A text longer than `block_size` goes on.",
            2,
            matches("beyond", "long"),
        ),
        Part(
            "The mode is right, and restored.",
            1,
            matches("training"),
        ),
        Part(
            "Symbols are drawn, by the given generator.",
            1,
            lambda e: dice_right(e) and repeats(e) and not _seed_is_fixed(e),
        ),
    ),
    properties=(_dice_are_off, _worked_out),
    cases=("beyond",),  # which begins like "short", and writes something in every draw
    steps={
        "what the model is shown": Step(
            "The model reads the last `block_size` tokens of the text so far."
        ),
        "the logits": Step("Each step asks the model about the text as it is by then."),
        "the logits of the last position": Step(
            "The logits at a position are the model's guess of what follows it."
        ),
        "your new symbols": Step("Each row draws a symbol of its own, from its own logits."),
        "your text": Step("New symbols come after the text, and are part of it from then on."),
    },
)
