"""Judges 12/seconds: the seconds of each part, on a model whose seconds are known."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course_judges.ch12_faster.sections import COST
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.wording import number, results_by_name, unwrapped
from course_tasks.answers import Array
from course_tasks.ch12_faster.seconds import PARTS
from course_tasks.verdict import Finding

Measured = Callable[[nn.Module, Tensor, int, Callable[[], float]], dict[str, float]]


def _parts_of(model: Any, blocks: slice) -> dict[str, list[nn.Module]]:
    layers = list(model.blocks)[blocks]
    return {
        "embedding": [model.embedding],
        "attention": [block.attention for block in layers],
        "feed_forward": [block.feed_forward for block in layers],
        "output": [model.output],
    }


def _variant(
    *,
    warm_up: bool = True,
    adds: bool = True,
    blocks: slice = slice(None),
    grows: bool = True,
    reads: Callable[[Tensor, int], Tensor] = lambda text, size: text[:, -size:],
    exclusive: bool = True,
    mean: bool = False,
    removes: bool = True,
    fresh: bool = True,
    starts_late: bool = True,
    mode: bool | None = None,
    clears: bool = False,
    more: int = 0,
    shares: bool = False,
    mean_of_blocks: bool = False,
    uses_first: bool = False,
    moved: tuple[str, ...] = (),
    under: str = "output",
) -> Measured:
    def answer(
        model: Any, prompt: Tensor, count: int, clock: Callable[[], float]
    ) -> dict[str, float]:
        model.train(model.training if mode is None else mode)
        seconds = dict.fromkeys(PARTS, 0.0)
        began: dict[nn.Module, float] = {}
        hooks = []
        for name, parts in _parts_of(model, blocks).items():
            for part in parts:

                def start(module: nn.Module, _: Any) -> None:
                    began[module] = clock()

                def stop(module: nn.Module, *_: Any, name: str = name) -> None:
                    seconds[name] = seconds[name] * adds + clock() - began[module]

                hooks.append(part.register_forward_pre_hook(start))
                hooks.append(part.register_forward_hook(stop))
        text, early = prompt, clock()
        if warm_up:
            logits, _ = model(reads(text, model.block_size))
            if uses_first:
                text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
            if fresh:
                seconds.update(dict.fromkeys(PARTS, 0.0))
        first = clock() if starts_late else early
        for _ in range(count + more):
            logits, _ = model(reads(text, model.block_size))
            if grows:
                text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
        whole = clock() - first
        for hook in hooks if removes else []:
            hook.remove()
        for module in model.modules() if clears else []:
            module._forward_hooks.clear()
            module._forward_pre_hooks.clear()
        for name in moved:
            seconds[under] += seconds[name]
            seconds[name] = 0.0
        seconds["elsewhere"] = whole - (sum(seconds.values()) if exclusive else 0)
        if mean_of_blocks:
            seconds["attention"] /= len(model.blocks)
            seconds["feed_forward"] /= len(model.blocks)
        if shares:
            return {name: s / whole for name, s in seconds.items()}
        return {name: s / count if mean else s for name, s in seconds.items()}

    return answer


def _shown(evidence: Evidence) -> str:
    case = "cropped" if evidence.same("growing.seconds") else "growing"
    mine, right = (
        {name: float(value(f"{case}.seconds.{name}")) for name in PARTS}
        for value in (evidence.yours, evidence.right)
    )
    worst = max(PARTS, key=lambda name: abs(mine[name] - right[name]))
    return (
        f"Of {number(sum(right.values()), 4)} s, {worst.replace('_', '-')} took "
        f"{number(right[worst], 4)} s, but your answer says {number(mine[worst], 4)} s."
    )


def _seconds(case: str) -> Callable[[Evidence], bool]:
    return lambda evidence: evidence.same(f"{case}.seconds")


def _under_one_name(evidence: Evidence) -> str:
    mine, right = (
        {name: float(side(f"growing.seconds.{name}")) for name in PARTS}
        for side in (evidence.yours, evidence.right)
    )
    moved = [name for name in PARTS if abs(mine[name]) < right[name] / 1000]
    under = max(PARTS, key=lambda name: mine[name] - right[name])
    return unwrapped(f"""Your `{under}` has {number(mine[under], 4)} s instead of
    {number(right[under], 4)} s, because the seconds of {results_by_name(moved)} are in it, too. If
    you define functions in a loop and they use its variable, each looks the name up only when it is
    called, and by then the variable holds the loop's last name. Define them in a function that
    takes the name as an argument.""")


_under_the_last_name = mistake(
    "You added up the seconds of different parts under one name.",
    _under_one_name,
    cases=("growing.seconds",),
    also=(
        *(
            _variant(moved=tuple(name for name in PARTS[:4] if name != under), under=under)
            for under in PARTS[:3]
        ),
        _variant(moved=("attention",), under="feed_forward"),  # a loop within each block alone
        _variant(moved=("feed_forward",), under="attention"),
    ),
)(_variant(moved=PARTS[:3]))

_first_call_counted = mistake(
    "You counted the first call of the model, which should only warm it up.",
    lambda e: f"Call it once before you measure, because a first call prepares things. {_shown(e)}",
    cases=("growing.seconds",),
)(_variant(warm_up=False))

_warm_up_in_the_parts = mistake(
    "You counted the warm-up call in the seconds of the parts.",
    lambda e: f"Set them to 0 after that call. {_shown(e)}",
    cases=("growing.seconds",),
)(_variant(fresh=False))

_warm_up_in_elsewhere = mistake(
    "You counted the warm-up call in `elsewhere`, so start timing the whole after that call.",
    _shown,
    cases=("growing.seconds",),
)(_variant(starts_late=False))

_last_call_alone = mistake(
    "Each part has only the seconds of its last call, but all calls should be added up.",
    _shown,
    cases=("growing.seconds",),
)(_variant(adds=False))

_first_block_alone = mistake(
    "You timed attention and feed-forward in the first block only, but all blocks count.",
    _shown,
    cases=("growing.seconds",),
)(_variant(blocks=slice(1)))

_last_block_alone = mistake(
    "You timed attention and feed-forward in the last block only, but all blocks count.",
    _shown,
    cases=("growing.seconds",),
)(_variant(blocks=slice(-1, None)))

_text_does_not_grow = mistake(
    "All your calls read the prompt alone, without the symbols that were written.",
    _shown,
    cases=("growing.seconds",),
)(_variant(grows=False))

_last_symbol_alone = mistake(
    "Your calls read only the last symbol, as with a cache, but the plain loop reads the whole "
    "text.",
    _shown,
    cases=("growing.seconds",),
)(_variant(reads=lambda text, _: text[:, -1:]))

_parts_counted_twice = mistake(
    "Your `elsewhere` is the whole time. Subtract what the parts took.",
    _shown,
    cases=("growing.seconds",),
)(_variant(exclusive=False))

_mean_of_the_calls = mistake(
    "You divided by the number of symbols instead of returning the seconds of the whole text.",
    _shown,
    cases=("growing.seconds",),
)(_variant(mean=True))

_shares_of_the_whole = mistake(
    "You returned shares of the whole instead of seconds.",
    lambda e: f"Your five numbers add up to 1. {_shown(e)}",
    cases=("growing.seconds",),
)(_variant(shares=True))

_mean_of_the_blocks = mistake(
    "You averaged attention and feed-forward over the blocks instead of adding them up.",
    _shown,
    cases=("growing.seconds.attention", "growing.seconds.feed_forward"),
)(_variant(mean_of_blocks=True))

_one_symbol_too_few = mistake(
    "Your loop writes one symbol too few.",
    lambda e: (
        f"`count` is {e.number('count')}, and the warm-up call isn't one of these. {_shown(e)}"
    ),
    cases=("growing.seconds",),
)(_variant(more=-1))

_first_symbol_not_timed = mistake(
    "You used the warm-up call to write the first symbol, so one symbol isn't timed.",
    lambda e: (
        unwrapped(f"""All {e.number("count")} symbols should be written after that call, starting
    from the prompt again. {_shown(e)}""")
    ),
    cases=("growing.seconds",),
)(_variant(uses_first=True, more=-1))

_first_symbol_kept = mistake(
    "You kept the symbol of the warm-up call, so your text is one symbol too long.",
    lambda e: f"After that call, start writing from the prompt alone. {_shown(e)}",
    cases=("growing.seconds",),
)(_variant(uses_first=True))

_reads_the_beginning = mistake(
    "You read the first `block_size` tokens of the text, but the plain loop reads the last ones.",
    lambda e: (
        unwrapped(f"""Once the text is longer than that, the model never sees new symbols, so all
    calls give the same. {_shown(e)}""")
    ),
    cases=("growing.seconds", "cropped.seconds"),
)(_variant(reads=lambda text, size: text[:, :size]))

_one_symbol_too_many = mistake(
    "Your loop writes one symbol too many.",
    lambda e: f"`count` is {e.number('count')}. {_shown(e)}",
    cases=("growing.seconds",),
)(_variant(more=1))

_reads_more_than_fits = mistake(
    "You showed the model more than `block_size` tokens. Show it only the last ones.",
    lambda e: (
        f"Here it reads at most {e.number('short')}, so it refused your text when that got longer."
    ),
    recognized=lambda e: (
        e.same("growing")
        and "cropped" in e.answers.errors
        and "reads at most" in e.answers.errors["cropped"].message
    ),
)(_variant(reads=lambda text, _: text))


def _left(evidence: Evidence) -> tuple[int, int]:
    """How many of the answer's hooks, and of the `forward`s it replaced, are left in the model."""
    hooks, replaced = (evidence.yours(f"growing.given.{kind}") for kind in ("hooks", "replaced"))
    return int(hooks), int(replaced)


def _what_is_left(evidence: Evidence) -> str:
    hooks, replaced = _left(evidence)
    said = []
    if hooks:
        said.append(
            unwrapped(f"""{"1 hook" if hooks == 1 else f"{hooks} hooks"} of yours
            {"is" if hooks == 1 else "are"} still in the model. Did you keep the handles of all your
            hooks, both before and after each part, and call `remove()` on each?""")
        )
    if replaced:
        said.append(
            unwrapped(f"""{replaced} of the model's modules still
            {"has" if replaced == 1 else "have"} a `forward` that you replaced. Put back each one
            (`del part.forward`).""")
        )
    right = "The seconds are right, but " if evidence.same("cropped.seconds") else ""
    return f"{right}{' '.join(said)} What is left in a model slows down every later call."


_hooks_left = mistake(
    "You left your measurement in the model, as hooks or as replaced `forward`s.",
    _what_is_left,
    recognized=lambda e: e.same("growing.seconds") and max(_left(e)) > 0,
)(_variant(removes=False))


def _others_removed(evidence: Evidence) -> str:
    gone = int(evidence.yours("growing.given.removed"))
    return unwrapped(f"""The model came with two hooks of somebody else, and
    {"both are" if gone == 2 else "one is"} gone. `register_forward_hook` returns a handle for your
    own hook, so call `remove()` on that.""")


_others_hooks_removed = mistake(
    "You removed hooks that weren't yours.",
    _others_removed,
    recognized=lambda e: e.same("growing.seconds") and int(e.yours("growing.given.removed")) > 0,
)(_variant(clears=True))


def _mode_left(case: str) -> Callable[[Evidence], bool]:
    return lambda e: e.same(f"{case}.seconds") and int(e.yours(f"{case}.given.other_mode")) > 0


def _mode_alone(case: str) -> Callable[[Evidence], str]:
    def say(evidence: Evidence) -> str:
        right = evidence.same("growing.seconds", "cropped.seconds")
        return unwrapped(f"""{"The seconds are right. " if right else ""}This concerns
        {int(evidence.yours(f"{case}.given.other_mode"))} of its modules. Restore the mode that you
        found, or leave it alone.""")

    return say


_left_in_evaluation = mistake(
    "You left the model in evaluation mode, but it was in training mode.",
    _mode_alone("growing"),
    recognized=_mode_left("growing"),
)(_variant(mode=False))

_left_in_training = mistake(
    "You left the model in training mode, but it was in evaluation mode.",
    _mode_alone("cropped"),
    recognized=_mode_left("cropped"),
)(_variant(mode=True))


def _of_elsewhere(mine: Array, right: Array) -> str:
    """Why only `elsewhere` is wrong, as far as its number tells."""
    for many in (1, 2, 3, 4):
        for some in itertools.combinations(range(4), many):
            if close(mine[4], right[4] + right[list(some)].sum()):
                return unwrapped(f"""`elsewhere` is too large by exactly what
                {results_by_name([PARTS[i] for i in some])} took, so subtract that, too. """)
    if close(mine[4], -right[4]):
        return "`elsewhere` has the wrong sign, since it should be the whole minus the parts. "
    return ""


def _times_as_long(evidence: Evidence) -> Finding | None:
    """By which factors the seconds are wrong, of a text that fits or else of one that doesn't."""
    case = "cropped" if evidence.same("growing.seconds") else "growing"
    mine, right = (
        np.array([float(side(f"{case}.seconds.{name}")) for name in PARTS])
        for side in (evidence.yours, evidence.right)
    )
    if evidence.same(f"{case}.seconds") or not mine.min() < mine.max() < np.inf:
        return None
    if close(mine[[0, 2, 1, 3, 4]], right).all():
        return None  # that two are swapped says more
    off = ~close(mine, right)
    why = ""
    if off[0] and not off[1:].any():
        why = (
            "Since only the embedding's seconds depend on which symbols are read: does your text "
            "hold other symbols? "
        )
    elif off[4] and not off[:4].any():
        why = _of_elsewhere(mine, right)
    wrong = [name for name, one in zip(PARTS, off, strict=True) if one]
    factors = [f"{number(one)} for {name}" for name, one in zip(PARTS, mine / right, strict=True)]
    long = " for a text that grows beyond `block_size`" if case == "cropped" else ""
    return Finding(
        "other-seconds",
        f"These of your five numbers{long} are wrong: {results_by_name(wrong)}."
        if len(wrong) > 1
        else f"Only {results_by_name(wrong)} is wrong among your five numbers{long}.",
        f"Your seconds divided by the right ones are {', '.join(factors[:-1])}, and {factors[-1]}. "
        f"{_shown(evidence)} {why}Count the {evidence.number('count')} calls that write, and each "
        "block once in each call.",
        COST,
    )


TASK = Task(
    "Where do the seconds go?",
    _variant(),
    COST,
    (
        Part(
            "The seconds of each part cover all blocks and all symbols.",
            4,
            _seconds("growing"),
        ),
        Part(
            "It works beyond the context, too, and leaves the model as it was.",
            2,
            lambda e: e.same("growing", "cropped"),
        ),
    ),
    properties=(_times_as_long,),
)
